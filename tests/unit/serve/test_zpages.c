/* test_zpages: /flagz and /statusz as a person and as a program ask for them, TLS flags as GnuTLS
 * wants them, and which certificate is for which name. */
#include "ctl/serve/flags.h"
#include "ctl/serve/named.h"
#include "ctl/serve/slis.h"
#include "ctl/serve/zpages.h"

#include <gnutls/gnutls.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct buffer page;
static const char *type, *warning;
static int64_t release = 36;
static bool cbor; /* the gate */

static int ask(const char *accept, bool status)
{
    static const char *const given[] = {"v=2",
                                        "log-flush-frequency=90s",
                                        "workers=3",
                                        "tls-sni-cert-key=a,b",
                                        "tls-sni-cert-key=c,d:x.example",
                                        "requestheader-allowed-names=a",
                                        "requestheader-allowed-names=b,c"};
    struct zpage z = {.accept = accept,
                      .cbor = cbor,
                      .release = release_of(release),
                      .given = given,
                      .given_count = 7,
                      .up = span_of_ms(3723000),
                      .start_s = 1795352440};
    type = warning = NULL;
    buffer_reset(&page);
    return (status ? zpages_status : zpages_flags)(&z, &type, &warning, &page);
}

static void has(const char *text)
{
    if (strstr(page.at, text) == NULL)
        fail_msg("no \"%s\" in\n%s", text, page.at);
}

static void flags_are_shown_as_given_or_by_default(void **state)
{
    (void)state;
    assert_int_equal(ask("", false), 200);
    has("\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine parseable");
    has("\nv=2\n");
    has("\nlog-flush-frequency=1m30s\n");
    has("\nsecure-port=10259\n");
    has("\nworkers=3\n");
    has("\ntls-sni-cert-key=[a,b;c,d:x.example]\n");
    has("\nauthorization-always-allow-paths=[/healthz,/readyz,/livez]\n");
    has("\nrequestheader-allowed-names=[a,b,c]\n");
}

/* As upstream: what is given takes the default's place, and what is given once more adds to it. */
static void lists_may_be_given_in_parts(void **state)
{
    (void)state;
    struct serve_flags f = {0};
    assert_true(serve_take_authorization_always_allow_paths(&f, ""));
    assert_true(serve_take_authorization_always_allow_paths(&f, "/livez"));
    assert_string_equal(f.authorization_always_allow_paths, "/livez");
    assert_true(serve_take_authorization_always_allow_paths(&f, "/healthz,/metrics"));
    assert_true(serve_take_authorization_always_allow_paths(&f, ""));
    assert_string_equal(f.authorization_always_allow_paths, "/livez,/healthz,/metrics");
    assert_true(serve_take_tls_curve_preferences(&f, "29"));
    assert_true(serve_take_tls_curve_preferences(&f, "23"));
    assert_string_equal(f.tls_curve_preferences, "29,23");
    assert_true(serve_take_bind_address(&f, "1.2.3.4"));
    assert_true(serve_take_bind_address(&f, "5.6.7.8"));
    assert_string_equal(f.bind_address, "5.6.7.8");
    arena_free(&f.memory);
}

static void programs_name_the_kind(void **state)
{
    (void)state;
    assert_int_equal(ask("application/json;v=v1beta1;g=config.k8s.io;as=Flagz", false), 200);
    assert_string_equal(type, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz");
    has("{\"kind\":\"Flagz\",\"apiVersion\":\"config.k8s.io/v1beta1\",\"metadata\":{\"name\":");
    has("\"v\":\"2\"");
    assert_int_equal(ask("application/json;v=v1alpha1;g=config.k8s.io;as=Statusz", true), 200);
    assert_non_null(strstr(warning, "299"));
    has("\"uptimeSeconds\":3723");
    assert_int_equal(ask("application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz", true), 200);
    assert_string_equal(type, "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz");
    has("apiVersion: config.k8s.io/v1beta1\nbinaryVersion: 1.36.3+berth.");
    has("\nemulationVersion: \"1.36\"\n");
    has("\nmetadata:\n  name: kube-scheduler\npaths:\n- /configz\n");
    assert_int_equal(ask("application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz", false), 200);
    has("  authorization-always-allow-paths: '[/healthz,/readyz,/livez]'\n");
    assert_int_equal(ask("application/yaml", true), 406);
    assert_string_equal(type, "application/yaml");
    has("code: 406\n");
    assert_int_equal(ask("application/json", false), 406);
    assert_string_equal(type, "application/json");
    has("application/json, application/yaml, text/plain");
    assert_int_equal(ask("application/json;v=v1beta1;g=config.k8s.io;as=Statusz", false), 406);
    assert_int_equal(ask("image/png, */*", true), 200);
    has("Up: 1 hr 02 min 03 sec\n");
    has("Paths: /configz /flagz /healthz /livez /metrics /readyz\n");
    buffer_free(&page);
}

/* The bytes that upstream writes, but for the order of members, which it shuffles. */
static void cbor_is_for_who_has_the_gate(void **state)
{
    static const char *const kinds = "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz";
    static const char start[] = "\xd9\xd9\xf7\xa9\x44kind\x47Statusz\x45paths\x86\x48/configz";
    (void)state;
    assert_int_equal(ask(kinds, true), 406);
    assert_string_equal(type, "application/json");
    has("application/json, application/yaml, text/plain\"");
    cbor = true;
    assert_int_equal(ask(kinds, true), 200);
    assert_string_equal(type, "application/cbor;g=config.k8s.io;v=v1beta1;as=Statusz");
    assert_memory_equal(page.at, start, sizeof(start) - 1);
    has("\x4duptimeSeconds\x19\x0e\x8b"
        "\x50"
        "emulationVersion\x44"
        "1.36");
    assert_int_equal(ask("application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz", false), 200);
    has("\x58\x20"
        "authorization-always-allow-paths\x58\x19[/healthz,/readyz,/livez]");
    assert_int_equal(ask("application/cbor", true), 406);
    assert_string_equal(type, "application/cbor");
    has("application/json, application/yaml, text/plain, application/cbor");
    has("\x44"
        "code\x19\x01\x96");
    cbor = false;
    buffer_free(&page);
}

static void the_release_is_named(void **state)
{
    (void)state;
    assert_int_equal(ask("", true), 200);
    has("Binary version: 1.36.3+berth.");
    has("Emulation version: 1.36\n");
    release = 37;
    assert_int_equal(ask("application/json;v=v1beta1;g=config.k8s.io;as=Statusz", true), 200);
    has("\"binaryVersion\":\"1.37.2+berth.");
    has("\"emulationVersion\":\"1.37\"");
    release = 36;
    buffer_free(&page);
}

static void slis_count_what_checks_said(void **state)
{
    (void)state;
    slis_observe("readyz", "view", true);
    slis_observe("readyz", "view", false);
    slis_observe("livez", "ping", true);
    slis_print(1500000000, &page);
    has("kubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n");
    has("kubernetes_healthcheck{name=\"view\",type=\"readyz\"} 0\n");
    has("kubernetes_healthchecks_total{name=\"view\",status=\"error\",type=\"readyz\"} 1\n");
    has("process_start_time_seconds 1.5\n");
    slis_reset();
    buffer_reset(&page);
    slis_print(0, &page);
    assert_null(strstr(page.at, "kubernetes_healthcheck"));
    buffer_free(&page);
}

/* What GnuTLS itself makes of the words is the judge. */
static bool takes(struct serve_flags f)
{
    char words[1024];
    gnutls_priority_t made;
    if (!serve_priorities(&f, words, sizeof(words)))
        return false;
    const char *where;
    if (gnutls_priority_init(&made, words, &where) != GNUTLS_E_SUCCESS)
        fail_msg("GnuTLS does not take %s at %s", words, where);
    gnutls_priority_deinit(made);
    return true;
}

static void tls_flags_are_gnutls_words(void **state)
{
    static const char *const versions[] = {"VersionTLS10", "VersionTLS11", "VersionTLS12",
                                           "VersionTLS13"};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(takes((struct serve_flags){.tls_min_version = versions[i]}));
    assert_false(takes((struct serve_flags){.tls_min_version = "VersionTLS14"}));
    assert_true(takes((struct serve_flags){
        .tls_cipher_suites =
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,"
            "TLS_RSA_WITH_3DES_EDE_CBC_SHA,TLS_ECDHE_RSA_WITH_RC4_128_SHA,"
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"}));
    assert_false(takes((struct serve_flags){.tls_cipher_suites = "TLS_NULL"}));
    assert_true(takes((struct serve_flags){.tls_curve_preferences = "29,4588,23"}));
    assert_false(takes((struct serve_flags){.tls_curve_preferences = "4588"}));
    assert_false(takes((struct serve_flags){.tls_curve_preferences = "7"}));
}

static void patterns_match_one_label(void **state)
{
    (void)state;
    assert_true(named_matches(str_of("*.example.org"), str_of("a.Example.org")));
    assert_false(named_matches(str_of("*.example.org"), str_of("a.b.example.org")));
    assert_false(named_matches(str_of("*.example.org"), str_of("example.org")));
    assert_true(named_matches(str_of("example.org"), str_of("EXAMPLE.org")));
    assert_false(named_matches(str_of("*.example.org"), str_of(".example.org")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_shown_as_given_or_by_default),
        cmocka_unit_test(lists_may_be_given_in_parts),
        cmocka_unit_test(programs_name_the_kind),
        cmocka_unit_test(cbor_is_for_who_has_the_gate),
        cmocka_unit_test(the_release_is_named),
        cmocka_unit_test(slis_count_what_checks_said),
        cmocka_unit_test(tls_flags_are_gnutls_words),
        cmocka_unit_test(patterns_match_one_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
