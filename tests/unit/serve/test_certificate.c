/* test_certificate: serial numbers of certificates are positive whatever the random number is, as
 * DER writes them; and one that is not is noticed. Whose a certificate is. */
#include "ctl/serve/certificate.h"

#include "proto/base/moment.h"
#include "proto/base/random.h"

#include <gnutls/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_serial_number_is_positive_and_short(void **state)
{
    (void)state;
    static const uint64_t edges[] = {0, 1, 0x80, 0xff, 1ull << 63, (1ull << 63) - 1, UINT64_MAX};
    struct random dice = {7};
    for (size_t i = 0; i < 10000; i++) {
        unsigned char serial[CERTIFICATE_SERIAL_SIZE];
        certificate_serial(i < sizeof(edges) / sizeof(edges[0]) ? edges[i] : random_next(&dice),
                           serial);
        assert_in_range(serial[0], 0x01, 0x7f); /* neither negative nor with a zero in front */
    }
}

static void serial_numbers_are_told_apart(void **state)
{
    (void)state;
    unsigned char one[CERTIFICATE_SERIAL_SIZE], other[CERTIFICATE_SERIAL_SIZE];
    certificate_serial(1, one);
    certificate_serial(256, other);
    assert_memory_not_equal(one, other, sizeof(one));
    assert_int_equal(one[CERTIFICATE_SERIAL_SIZE - 1], 1);
}

static void serial_of(const struct buffer *pem, unsigned char *serial, size_t *size)
{
    gnutls_x509_crt_t crt;
    gnutls_datum_t text = {(unsigned char *)pem->at, (unsigned)pem->len};
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_crt_get_serial(crt, serial, size), 0);
    gnutls_x509_crt_deinit(crt);
}

static void what_is_made_has_such_a_number(void **state)
{
    (void)state;
    struct buffer certificate = {0}, key = {0}, why = {0};
    for (int i = 0; i < 40; i++) { /* with half of all wrong: 1 in 10^12 to see none */
        unsigned char serial[64];
        size_t size = sizeof(serial);
        buffer_reset(&certificate);
        assert_true(certificate_make("::", &certificate, &key, &why));
        serial_of(&certificate, serial, &size);
        assert_int_equal(size, CERTIFICATE_SERIAL_SIZE);
        assert_in_range(serial[0], 0x01, 0x7f);
        assert_false(certificate_odd(buffer_str(&certificate)));
    }
    buffer_free(&certificate);
    buffer_free(&key);
    buffer_free(&why);
}

/* As earlier versions made half of theirs. */
static struct str negative_one(gnutls_datum_t *pem)
{
    static const unsigned char serial[] = {0xfe, 1, 2, 3, 4, 5, 6, 7};
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t crt;
    time_t now = (time_t)(moment_wall_us() / 1000000);
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_set_key(crt, key), 0);
    assert_int_equal(gnutls_x509_crt_set_version(crt, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(crt, serial, sizeof(serial)), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(crt, now), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, now + 60), 0);
    assert_int_equal(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, pem), 0);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return (struct str){(const char *)pem->data, pem->size};
}

static void a_negative_number_is_noticed(void **state)
{
    (void)state;
    gnutls_datum_t pem = {NULL, 0};
    assert_true(certificate_odd(negative_one(&pem)));
    gnutls_free(pem.data);
    assert_false(certificate_odd(STR_LITERAL("")));
    assert_false(certificate_odd(STR_LITERAL("no certificate")));
}

/* ---- whose it is ---- */

static void name_it(gnutls_x509_crt_t crt, const char *oid, const char *text)
{
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(crt, oid, 0, text, (unsigned)strlen(text)), 0);
}

#define CN GNUTLS_OID_X520_COMMON_NAME
#define O  GNUTLS_OID_X520_ORGANIZATION_NAME

static void a_subject_is_read_as_it_stands(void **state)
{
    (void)state;
    char longest[3000], group[32];
    struct client_chain chain = {.count = 1};
    struct arena memory = {0};
    struct strs groups;
    struct str name;
    assert_int_equal(gnutls_x509_crt_init(&chain.at[0]), 0);
    certificate_subject(&chain, &name, &groups, &memory);
    assert_int_equal(name.len + groups.count, 0);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    name_it(chain.at[0], O, longest);
    for (int i = 1; i < 50; i++) {
        snprintf(group, sizeof(group), "group \"%d\"", i);
        name_it(chain.at[0], O, group);
    }
    certificate_subject(&chain, &name, &groups, &memory);
    assert_int_equal(name.len, 0);
    name_it(chain.at[0], CN, "first");
    name_it(chain.at[0], CN, "kim, #1+\xc3\xa9 ");
    certificate_subject(&chain, &name, &groups, &memory);
    assert_true(str_is(name, "kim, #1+\xc3\xa9 "));
    assert_int_equal(groups.count, 50);
    assert_true(str_is(groups.at[0], longest) && str_is(groups.at[49], "group \"49\""));
    name_it(chain.at[0], CN, longest);
    certificate_subject(&chain, &name, &groups, &memory);
    assert_true(str_is(name, longest));
    certificate_drop(&chain);
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_serial_number_is_positive_and_short),
        cmocka_unit_test(serial_numbers_are_told_apart),
        cmocka_unit_test(what_is_made_has_such_a_number),
        cmocka_unit_test(a_negative_number_is_noticed),
        cmocka_unit_test(a_subject_is_read_as_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
