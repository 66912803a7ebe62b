/* test_access: what is decided without the API server: open paths, members of system:masters,
 * client certificates, front proxies, strangers; and that without an API server nothing else is
 * granted. */
#include "ctl/serve/access.h"

#include "proto/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct access *access_of_test;
static struct buffer why;

static int set_up(void **state)
{
    (void)state;
    access_of_test =
        access_new(&(struct access_options){.token_ttl = span_of_ms(10000),
                                            .allowed_ttl = span_of_ms(10000),
                                            .denied_ttl = span_of_ms(10000),
                                            .always_allowed = "/healthz,readyz,/open/*"});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    access_free(&access_of_test);
    buffer_free(&why);
    metrics_reset();
    return 0;
}

static enum access_verdict ask(const struct access_question *q)
{
    buffer_reset(&why);
    return access_ask(access_of_test, (struct moment){1000000000}, q, &why);
}

static enum access_verdict get(const char *path)
{
    return ask(&(struct access_question){.method = "GET", .path = path});
}

static void open_paths_are_for_everybody(void **state)
{
    (void)state;
    assert_int_equal(get("/healthz"), ACCESS_granted);
    assert_int_equal(get("/readyz"), ACCESS_granted);
    assert_int_equal(get("/open/any/thing"), ACCESS_granted);
    assert_int_equal(get("/healthz/leaderElection"), ACCESS_refused);
    assert_int_equal(get("/livez"), ACCESS_refused);
    assert_int_equal(get("/healthzz"), ACCESS_refused);
}

static void a_stranger_is_anonymous_and_is_told_so(void **state)
{
    (void)state;
    assert_int_equal(get("/metrics"), ACCESS_refused);
    assert_string_equal(why.at,
                        "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
    assert_int_equal(ask(&(struct access_question){.method = "PUT", .path = "/debug/flags/v"}),
                     ACCESS_refused);
    assert_string_equal(why.at,
                        "forbidden: User \"system:anonymous\" cannot put path \"/debug/flags/v\"");
}

static void a_long_path_is_told_in_part(void **state)
{
    (void)state;
    char path[4000] = "/", *at = path + 1;
    for (int i = 0; i < 1000; i++, at += 2)
        memcpy(at, "\xc3\xa9", 3); /* so the 256th byte is within a letter */
    assert_int_equal(get(path), ACCESS_refused);
    path[255] = 0;
    struct buffer want = {0};
    buffer_print(&want, "forbidden: User \"system:anonymous\" cannot get path \"%s\"", path);
    assert_string_equal(why.at, want.at);
    buffer_free(&want);
}

static void a_token_that_nobody_can_be_asked_about_is_nobodys(void **state)
{
    (void)state;
    struct access_question q = {
        .method = "GET", .path = "/healthz", .token = STR_LITERAL("secret")};
    assert_int_equal(ask(&q), ACCESS_unknown);
}

static void a_certificate_counts_with_its_groups(void **state)
{
    (void)state;
    struct str masters = STR_LITERAL("system:masters"), others = STR_LITERAL("others");
    struct access_question q = {.method = "GET",
                                .path = "/metrics",
                                .certificate = CERTIFICATE_client,
                                .subject = {.name = STR_LITERAL("kim"), .groups = {1, &masters}}};
    assert_int_equal(ask(&q), ACCESS_granted);
    q.subject.groups.at = &others;
    assert_int_equal(ask(&q), ACCESS_refused);
    assert_string_equal(why.at, "forbidden: User \"kim\" cannot get path \"/metrics\"");
    q.certificate = CERTIFICATE_bad;
    q.path = "/healthz";
    assert_int_equal(ask(&q), ACCESS_unknown);
}

/* As upstream: who is in system:masters has to have a name as well. */
static void a_certificate_without_a_name_is_nobodys(void **state)
{
    (void)state;
    struct str masters = STR_LITERAL("system:masters");
    struct access_question q = {.method = "GET",
                                .path = "/metrics",
                                .certificate = CERTIFICATE_client,
                                .subject = {.groups = {1, &masters}}};
    assert_int_equal(ask(&q), ACCESS_refused);
    assert_string_equal(why.at,
                        "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
    q.token = STR_LITERAL("secret"); /* it is asked about, then */
    assert_int_equal(ask(&q), ACCESS_unknown);
}

static void a_front_proxy_speaks_for_others(void **state)
{
    (void)state;
    struct str masters = STR_LITERAL("system:masters");
    struct access_question q = {.method = "GET",
                                .path = "/metrics",
                                .certificate = CERTIFICATE_proxy,
                                .subject = {.name = STR_LITERAL("front-proxy-client")},
                                .spoken = {.name = STR_LITERAL("kim"), .groups = {1, &masters}}};
    assert_int_equal(ask(&q), ACCESS_granted);
    q.spoken.groups.count = 0;
    assert_int_equal(ask(&q), ACCESS_refused);
    assert_string_equal(why.at, "forbidden: User \"kim\" cannot get path \"/metrics\"");
    q.spoken.name.len = 0; /* for nobody: it is a stranger then */
    assert_int_equal(ask(&q), ACCESS_refused);
    assert_string_equal(why.at,
                        "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
}

static int64_t counted(enum metric metric, const char *value)
{
    return metric_series(metric, METRIC_VALUES(str_of(value)))->value;
}

/* Upstream tells few names, and a refusal without a word against it is nobody's opinion. */
static void who_asked_is_counted_in_few_words(void **state)
{
    (void)state;
    static const char *const names[] = {"admin", "kim@example.com", "system:kube-proxy", "kim"};
    struct access_wait wait = {0};
    for (size_t i = 0; i < 4; i++)
        ask(&(struct access_question){.method = "GET",
                                      .path = "/metrics",
                                      .certificate = CERTIFICATE_client,
                                      .subject = {.name = str_of(names[i])}});
    assert_int_equal(counted(METRIC_authenticated_user_requests, "admin"), 1);
    assert_int_equal(counted(METRIC_authenticated_user_requests, "email_id"), 1);
    assert_int_equal(counted(METRIC_authenticated_user_requests, "other"), 2);
    assert_int_equal(counted(METRIC_authorization_attempts_total, "no-opinion"), 4);
    assert_int_equal(counted(METRIC_authorization_attempts_total, "denied"), 0);
    assert_int_equal(
        metric_series(METRIC_authentication_duration_seconds, METRIC_VALUES(str_of("success")))
            ->buckets[0],
        4);
    struct access_question again = {.method = "GET", .path = "/healthz", .wait = &wait};
    ask(&again);
    assert_true(wait.began.ns != 0 && wait.known.ns != 0);
    ask(&again); /* the same request, asked about once more: known already */
    assert_int_equal(counted(METRIC_authentication_attempts, "success"), 5);
    assert_int_equal(counted(METRIC_authorization_attempts_total, "allowed"), 2);
}

static void reviews_are_written_and_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buffer body = {0};
    struct review_user user = {0};
    struct review_answer said;
    bool yes = false;
    review_token_body(STR_LITERAL("a\"b\n"), &body);
    assert_string_equal(body.at, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":"
                                 "\"TokenReview\",\"spec\":{\"token\":\"a\\\"b\\n\"}}");
    assert_true(review_token_read(
        str_of("{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"kim\",\"uid\":\"7\","
               "\"groups\":[\"x\",\"y\"]}}}"),
        &yes, &user, &a));
    assert_true(yes && str_is(user.name, "kim") && user.groups.count == 2);
    assert_true(review_token_read(str_of("{\"status\":{\"error\":\"no\"}}"), &yes, &user, &a));
    assert_false(yes);
    assert_false(review_token_read(str_of("{\"kind\":\"Status\"}"), &yes, &user, &a));
    assert_false(review_token_read(str_of("nonsense"), &yes, &user, &a));
    assert_true(review_access_read(str_of("{\"status\":{\"allowed\":true,\"denied\":true,"
                                          "\"reason\":\"because\"}}"),
                                   &said, &a));
    assert_true(!said.allowed && said.denied && str_is(said.reason, "because"));
    assert_true(review_access_read(str_of("{\"status\":{\"allowed\":true}}"), &said, &a));
    assert_true(said.allowed && !said.denied);
    buffer_free(&body);
    arena_free(&a);
}

/* Nothing in a question can leave its place. */
static void questions_are_escaped(void **state)
{
    (void)state;
    struct buffer body = {0};
    struct str groups[] = {STR_LITERAL("g\""), STR_LITERAL("h")};
    struct str extra[] = {STR_LITERAL("k\\"), STR_LITERAL("1"), STR_LITERAL("k\\"),
                          STR_LITERAL("2"),   STR_LITERAL("l"), STR_LITERAL("3")};
    struct review_user user = {STR_LITERAL("kim"), {0}, {2, groups}, {6, extra}};
    review_access_body(&user, "get", STR_LITERAL("/metrics"), &body);
    assert_string_equal(body.at, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                                 "\"SubjectAccessReview\",\"spec\":{\"nonResourceAttributes\":"
                                 "{\"path\":\"/metrics\",\"verb\":\"get\"},\"user\":\"kim\","
                                 "\"groups\":[\"g\\\"\",\"h\"],"
                                 "\"extra\":{\"k\\\\\":[\"1\",\"2\"],\"l\":[\"3\"]}}}");
    buffer_reset(&body);
    struct review_resource asked = {.resource = STR_LITERAL("leases"),
                                    .verb = STR_LITERAL("update"),
                                    .namespace_name = STR_LITERAL("a\",\"verb\":\"get")};
    review_self_access_body(&asked, &body);
    assert_string_equal(body.at, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                                 "\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":"
                                 "{\"group\":\"\",\"resource\":\"leases\",\"subresource\":\"\","
                                 "\"verb\":\"update\","
                                 "\"namespace\":\"a\\\",\\\"verb\\\":\\\"get\",\"name\":\"\"}}}");
    buffer_reset(&body);
    review_self_body(&body);
    assert_string_equal(body.at, "{\"apiVersion\":\"authentication.k8s.io/v1\","
                                 "\"kind\":\"SelfSubjectReview\"}");
    buffer_free(&body);
}

static void the_clusters_authorities_are_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct review_config config;
    assert_true(review_config_read(
        str_of("{\"data\":{\"client-ca-file\":\"PEM\",\"requestheader-allowed-names\":"
               "\"[\\\"proxy\\\"]\",\"requestheader-username-headers\":\"[\\\"X-Remote-User\\\"]\"}"
               "}"),
        &config, &a));
    assert_true(str_is(config.client_ca, "PEM"));
    assert_int_equal(config.proxy_ca.len, 0);
    assert_int_equal(config.proxy_names.count, 1);
    assert_true(str_is(config.user_headers.at[0], "X-Remote-User"));
    assert_int_equal(config.group_headers.count, 0);
    arena_free(&a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_paths_are_for_everybody),
        TEST(a_stranger_is_anonymous_and_is_told_so),
        TEST(a_long_path_is_told_in_part),
        TEST(a_token_that_nobody_can_be_asked_about_is_nobodys),
        TEST(a_certificate_counts_with_its_groups),
        TEST(a_certificate_without_a_name_is_nobodys),
        TEST(a_front_proxy_speaks_for_others),
        TEST(who_asked_is_counted_in_few_words),
        TEST(reviews_are_written_and_read),
        cmocka_unit_test(questions_are_escaped),
        TEST(the_clusters_authorities_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
