/* test_random: the same state gives the same numbers (the published ones of splitmix64), ranges are
 * kept, and no value below a small bound is favoured. */
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_numbers_are_those_of_splitmix64(void **state)
{
    (void)state;
    struct random r = {1234567};
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    for (int i = 0; i < 5; i++)
        assert_true(random_next(&r) == expected[i]);
}

static void the_state_is_the_seed(void **state)
{
    (void)state;
    struct random a = {0}, b = {0};
    random_next(&a);
    random_next(&b);
    struct random copy = {a.state};
    for (int i = 0; i < 100; i++) {
        assert_true(random_next(&a) == random_next(&b));
        random_next(&copy);
    }
    assert_true(copy.state == a.state);
}

static void ranges_are_kept(void **state)
{
    (void)state;
    struct random r = {3};
    static const uint64_t bounds[] = {1, 2, 3, 1000, UINT64_MAX / 2 + 2, UINT64_MAX};
    for (size_t k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++)
        for (int i = 0; i < 1000; i++)
            assert_true(random_below(&r, bounds[k]) < bounds[k]);
    for (int i = 0; i < 10000; i++) {
        double f = random_fraction(&r);
        assert_true(f >= 0.0 && f < 1.0);
    }
}

/* 60,000 throws of a die: chi-squared with 5 degrees of freedom stays below 20.5 in 999 of 1000
 * cases; the seed is fixed, so this one is among them for ever. */
static void a_die_is_fair(void **state)
{
    (void)state;
    struct random r = {2026};
    int seen[6] = {0};
    for (int i = 0; i < 60000; i++)
        seen[random_below(&r, 6)]++;
    double chi = 0;
    for (int i = 0; i < 6; i++)
        chi += (seen[i] - 10000.0) * (seen[i] - 10000.0) / 10000.0;
    assert_true(chi < 20.5);
}

static void seeds_differ(void **state)
{
    (void)state;
    assert_false(random_seed() == random_seed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_those_of_splitmix64),
        cmocka_unit_test(the_state_is_the_seed),
        cmocka_unit_test(ranges_are_kept),
        cmocka_unit_test(a_die_is_fair),
        cmocka_unit_test(seeds_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
