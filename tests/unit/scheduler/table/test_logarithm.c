/* The logarithm, bit for bit: values of Go's math.Log on amd64, some of which differ from glibc's.
 */
#include "scheduler/table/logarithm.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <string.h>

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

static void single_values_have_upstreams_bits(void **state)
{
    (void)state;
    static const struct {
        double x;
        uint64_t bits;
    } table[] = {
        {2, 0x3fe62e42fefa39ef},      {3, 0x3ff193ea7aad030a},  {4, 0x3ff62e42fefa39ef},
        {5, 0x3ff9c041f7ed8d33},      {6, 0x3ffcab0bfa2a2002},  {7, 0x3fff2272ae325a57},
        {9, 0x400193ea7aad030b},      {12, 0x4003e116bcd39e7d}, {5002, 0x40210901f6dc84b9},
        {100002, 0x402706a0c9b7a3ab},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(bits_of(logarithm(table[i].x)), table[i].bits);
}

/* FNV-1a over the little-endian bits of ln 2 … ln 1000000; the sum was made with Go. */
static void a_million_values_have_upstreams_bits(void **state)
{
    (void)state;
    uint64_t sum = UINT64_C(14695981039346656037);
    for (int i = 2; i <= 1000000; i++) {
        uint64_t bits = bits_of(logarithm(i));
        for (int k = 0; k < 8; k++)
            sum = (sum ^ (bits >> (8 * k) & 255)) * UINT64_C(1099511628211);
    }
    assert_int_equal(sum, UINT64_C(0x7abc722ea57917f7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values_have_upstreams_bits),
        cmocka_unit_test(a_million_values_have_upstreams_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
