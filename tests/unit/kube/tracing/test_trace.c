/* test_trace: who is sampled, ids and contexts, what is bounded, the bytes of OTLP, and the file
 * that says where spans go. */
#include "proto/kube/config/tracing_config.h"
#include "proto/kube/tracing/exporter.h"
#include "proto/kube/tracing/otlp.h"
#include "proto/kube/tracing/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT "00-0123456789abcdef0123456789abcdef-00000000000000a1-01"
#define LONGER  "00-0123456789abcdef0123456789abcdef-00000000000000a1-01x"

static void as_many_are_sampled_as_the_rate_says(void **state)
{
    struct random random = {7};
    struct trace_context context;
    int none = 0, some = 0, all = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        some += trace_begin(&context, &random, 250000);
        all += trace_begin(&context, &random, 1000000);
        uint64_t before = random.state;
        none += trace_begin(&context, &random, 0);
        assert_true(random.state == before);
    }
    assert_int_equal(none, 0);
    assert_int_equal(all, 20000);
    assert_in_range(some, 4700, 5300);
}

static void a_context_reads_back_and_nothing_else_does(void **state)
{
    static const char *const wrong[] = {"",
                                        "00",
                                        "01-0123456789abcdef0123456789abcdef-00000000000000a1-01",
                                        "00-0123456789abcdef0123456789abcdef-00000000000000a1-00",
                                        "00-0123456789ABCDEF0123456789abcdef-00000000000000a1-01",
                                        "00-00000000000000000000000000000000-00000000000000a1-01",
                                        "00-0123456789abcdef0123456789abcdef-0000000000000000-01",
                                        "00-0123456789abcdef0123456789abcdef000000000000000a1-01",
                                        LONGER};
    struct trace_context context;
    char text[TRACE_CONTEXT + 1];
    (void)state;
    assert_true(trace_read(&context, str_of(CONTEXT)));
    assert_string_equal(context.span_id, "00000000000000a1");
    trace_write(&context, text);
    assert_string_equal(text, CONTEXT);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (trace_read(&context, str_of(wrong[i])))
            fail_msg("taken: %s", wrong[i]);
}

static struct trace_log open_log(struct arena *arena, const char *service)
{
    struct trace_context context;
    struct trace_log log;
    assert_true(trace_read(&context, str_of(CONTEXT)));
    trace_log_init(&log, arena, &context, service);
    return log;
}

static void spans_are_bounded_and_have_ids_of_their_own(void **state)
{
    struct arena arena = {0};
    struct trace_log one = open_log(&arena, "one"), other = open_log(&arena, "other");
    char long_text[3000];
    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    long_text[TRACE_TEXT_MAX - 1] = (char)0xc3; /* is not cut into */
    long_text[TRACE_TEXT_MAX] = (char)0xa4;
    for (int i = 0; i < TRACE_SPANS_MAX; i++)
        assert_non_null(trace_add(&one, (struct str){0}, "a", 5, 3));
    assert_null(trace_add(&one, (struct str){0}, "a", 5, 3));
    assert_int_equal(one.left_out, 1);
    assert_int_equal(one.spans[0].end_us, 5);
    struct trace_span *span = trace_add(&other, one.spans[0].span_id, "b", 1, 2);
    for (int i = 0; i < TRACE_SPANS_MAX; i++) {
        assert_false(str_equal(one.spans[i].span_id, span->span_id));
        for (int k = 0; k < i; k++)
            assert_false(str_equal(one.spans[i].span_id, one.spans[k].span_id));
    }
    for (int i = 0; i < TRACE_ATTRIBUTES_MAX + 3; i++)
        trace_count(&other, span, "n", i);
    assert_int_equal(span->attributes.count, TRACE_ATTRIBUTES_MAX);
    trace_fail(&other, span, (struct str){long_text, sizeof(long_text)});
    assert_int_equal(span->error.len, TRACE_TEXT_MAX - 1);
    trace_say(&other, NULL, "k", STR_LITERAL("v"));
    arena_free(&arena);
}

static void a_span_is_these_bytes(void **state)
{
    static const char expected[] = "\x0a\x10\x01\x23\x45\x67\x89\xab\xcd\xef"
                                   "\x01\x23\x45\x67\x89\xab\xcd\xef"
                                   "\x12\x08\x01\x02\x03\x04\x05\x06\x07\x08"
                                   "\x22\x08\x00\x00\x00\x00\x00\x00\x00\xa1"
                                   "\x2a\x01N\x30\x01"
                                   "\x39\xe8\x03\x00\x00\x00\x00\x00\x00" /* 1 us */
                                   "\x41\xd0\x07\x00\x00\x00\x00\x00\x00"
                                   "\x4a\x07\x0a\x01k\x12\x02\x18\x00" /* a 0 is given */
                                   "\x7a\x06\x12\x02no\x18\x02";
    struct span_attribute attribute = {.key = STR_LITERAL("k")};
    struct trace_span span = {.trace_id = STR_LITERAL("0123456789abcdef0123456789abcdef"),
                              .span_id = STR_LITERAL("0102030405060708"),
                              .parent = STR_LITERAL("00000000000000a1"),
                              .name = STR_LITERAL("N"),
                              .begin_us = 1,
                              .end_us = 2,
                              .error = STR_LITERAL("no"),
                              .attributes = {1, &attribute}};
    struct buffer out = {0};
    (void)state;
    assert_true(otlp_takes(&span));
    otlp_add_span(&out, &span);
    assert_int_equal(out.at[0], 0x12);
    assert_int_equal(out.at[1], sizeof(expected) - 1);
    assert_int_equal(out.len, sizeof(expected) + 1);
    assert_memory_equal(out.at + 2, expected, sizeof(expected) - 1);
    span.span_id = STR_LITERAL("010203040506070");
    assert_false(otlp_takes(&span));
    span.span_id = STR_LITERAL("010203040506070X");
    assert_false(otlp_takes(&span));
    buffer_free(&out);
}

/* Nobody listens: what was to be exported is counted as lost, and what is too much at once. */
static void what_is_not_delivered_is_counted(void **state)
{
    struct trace_span span = {.trace_id = STR_LITERAL("0123456789abcdef0123456789abcdef"),
                              .span_id = STR_LITERAL("0102030405060708"),
                              .service = STR_LITERAL("s")};
    char error[256];
    struct exporter *e =
        exporter_new(&(struct exporter_options){.url = "http://127.0.0.1:1", .version = "1"}, error,
                     sizeof(error));
    struct moment now = moment_now(), until = moment_after(now, span_of_ms(8000));
    (void)state;
    assert_non_null(e);
    for (int i = 0; i < 8192 + 5; i++)
        exporter_add(e, now, &span);
    span.span_id = STR_LITERAL("no id");
    exporter_add(e, now, &span);
    assert_int_equal(exporter_stats(e).dropped, 6);
    assert_int_equal(exporter_stats(e).waiting, 8192);
    while (exporter_stats(e).failed == 0 && !moment_reached(moment_now(), until))
        exporter_work(e, moment_now());
    struct exporter_stats stats = exporter_stats(e);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.dropped, 6 + 8192);
    assert_int_equal(stats.exported, 0);
    exporter_free(&e);
}

static void expect_config(const char *text, const char *expected)
{
    struct arena arena = {0};
    struct tracing_config config;
    struct str error = {0};
    char all[300];
    snprintf(all, sizeof(all), "kind: TracingConfiguration\n%s", text);
    bool good = tracing_config_parse(str_of(all), &config, &arena, &error);
    struct str said =
        good ? arena_print(&arena, "%.*s %lld", STR_ARG(config.url), (long long)config.per_million)
             : error;
    if (!str_is(said, expected))
        fail_msg("%s\ngives: %.*s\nnot:   %s", all, STR_ARG(said), expected);
    arena_free(&arena);
}

#define V1 "apiVersion: apiserver.config.k8s.io/v1\n"

static void the_file_is_read_strictly(void **state)
{
    (void)state;
    expect_config(V1, "http://localhost:4318 0");
    expect_config("apiVersion: apiserver.k8s.io/v1beta1\nendpoint: otel:4318\n",
                  "http://otel:4318 0");
    expect_config(V1 "endpoint: https://otel.example:443/\nsamplingRatePerMillion: 1000000\n",
                  "https://otel.example:443 1000000");
    expect_config(V1 "endpoint: http://otel/v1/traces\n",
                  "endpoint: \"http://otel/v1/traces\" is not HOST:PORT, http://HOST:PORT or "
                  "https://HOST:PORT");
    expect_config(V1 "endpoint: unix:///run/otel\n",
                  "endpoint: \"unix:///run/otel\" is not HOST:PORT, http://HOST:PORT or "
                  "https://HOST:PORT");
    expect_config(V1 "samplingRatePerMillion: -1\n",
                  "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive");
    expect_config(V1 "samplingRatePerMillion: 1000001\n",
                  "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must "
                  "be less than or equal to one million");
    expect_config(V1 "sampling: 1\n", "unknown field \"sampling\"");
    expect_config("apiVersion: v1\n", "apiVersion: \"v1\" is not apiserver.config.k8s.io/v1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_sampled_as_the_rate_says),
        cmocka_unit_test(a_context_reads_back_and_nothing_else_does),
        cmocka_unit_test(spans_are_bounded_and_have_ids_of_their_own),
        cmocka_unit_test(a_span_is_these_bytes),
        cmocka_unit_test(what_is_not_delivered_is_counted),
        cmocka_unit_test(the_file_is_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
