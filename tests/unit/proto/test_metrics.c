/* test_metrics: what is counted is what a report says, through the codec too; buckets are closed at
 * their upper bound, and the number of series has a bound. */
#include "proto/metrics.h"

#include "proto/base/buffer.h"
#include "proto/commit.h"
#include "proto/process.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ATTEMPTS   METRIC_scheduler_schedule_attempts_total
#define LATENCY    METRIC_scheduler_scheduling_attempt_duration_seconds
#define PENDING    METRIC_scheduler_pending_pods
#define VICTIMS    METRIC_scheduler_preemption_victims
#define UNEXPECTED METRIC_cardinality_enforcement_unexpected_categorizations_total

static int set_up(void **state)
{
    (void)state;
    metrics_reset();
    return 0;
}

static struct arena memory;
static struct metrics report;

static int tear_down(void **state)
{
    (void)state;
    metrics_reset();
    arena_free(&memory);
    return 0;
}

/* What a process on the other side of the bus reads. */
static void take_report(bool checks_only)
{
    struct metrics said = {.process = STR_LITERAL("queue"), .id = 7};
    struct buffer bytes = {0};
    arena_reset(&memory);
    metrics_fill(&said, checks_only, &memory);
    codec_encode(message_info[MSG_metrics].record, &said, &bytes);
    memset(&report, 0, sizeof(report));
    struct byte_cursor in = {(const uint8_t *)bytes.at, (const uint8_t *)bytes.at + bytes.len};
    assert_true(codec_decode(message_info[MSG_metrics].record, &report, &in, &memory));
    struct metrics copy;
    codec_copy(message_info[MSG_metrics].record, &copy, &report, &memory);
    report = copy;
    buffer_free(&bytes);
}

static const struct metric_sample *sample_of(enum metric metric, const char *label)
{
    for (uint32_t i = 0; i < report.samples.count; i++) {
        const struct metric_sample *s = &report.samples.at[i];
        if (metric_of(s->metric) == metric && (label == NULL || str_is(s->labels.at[0], label)))
            return s;
    }
    return NULL;
}

static int64_t bucket_of(const struct metric_sample *s, int64_t place)
{
    for (uint32_t i = 0; i < s->buckets.count; i++)
        if (s->buckets.at[i].place == place)
            return s->buckets.at[i].count;
    return 0;
}

static void series_with_the_same_labels_are_one(void **state)
{
    (void)state;
    char name[] = "default-scheduler";
    struct series *s = metric_series(ATTEMPTS, METRIC_VALUES(str_of("scheduled"), str_of(name)));
    series_add(s, 2);
    name[0] = 'D'; /* the labels were copied */
    assert_ptr_equal(s, metric_series(ATTEMPTS, METRIC_VALUES(str_of("scheduled"),
                                                              str_of("default-scheduler"))));
    series_add(metric_series(ATTEMPTS, METRIC_VALUES(str_of("error"), str_of(name))), 5);
    take_report(false);
    assert_int_equal(report.samples.count, 2);
    assert_int_equal(sample_of(ATTEMPTS, "scheduled")->value, 2);
    assert_int_equal(sample_of(ATTEMPTS, "error")->value, 5);
    assert_true(str_is(sample_of(ATTEMPTS, "error")->labels.at[1], "Default-scheduler"));
}

static void a_bucket_holds_its_upper_bound(void **state)
{
    (void)state;
    struct series *s = metric_series(LATENCY, METRIC_VALUES(str_of("scheduled"), str_of("p")));
    series_observe(s, 1000000); /* 1 ms is the first bound */
    series_observe(s, 1000001);
    series_observe(s, 2000000);
    series_observe(s, INT64_C(100) * 1000000000);
    metric_observe(VICTIMS, 64);
    metric_observe(VICTIMS, 65);
    take_report(false);
    const struct metric_sample *latency = sample_of(LATENCY, NULL),
                               *victims = sample_of(VICTIMS, NULL);
    assert_int_equal(bucket_of(latency, 0), 1);
    assert_int_equal(bucket_of(latency, 1), 2);
    assert_int_equal(bucket_of(latency, 15), 1);
    assert_int_equal(latency->value, 100004000001);
    assert_int_equal(latency->buckets.count, 3);
    assert_int_equal(bucket_of(victims, 6), 1);
    assert_int_equal(bucket_of(victims, 7), 1);
}

static void many_that_share_a_sum_are_in_one_bucket(void **state)
{
    (void)state;
    struct series *s = metric_series(LATENCY, METRIC_VALUES(str_of("scheduled"), str_of("p")));
    series_observe_each(s, 7000006, 7); /* the odd ones are not lost; the average is 1 ms */
    take_report(false);
    const struct metric_sample *latency = sample_of(LATENCY, NULL);
    assert_int_equal(bucket_of(latency, 0), 7);
    assert_int_equal(latency->value, 7000006);
}

static void a_percentile_is_the_bound_above_it(void **state)
{
    int64_t buckets[METRIC_BUCKETS_MAX + 1] = {0};
    const struct metric_info *info = metric_info(LATENCY);
    (void)state;
    assert_int_equal(metric_percentile(LATENCY, buckets, 50), 0);
    buckets[0] = 50; /* up to 1 ms */
    buckets[2] = 49; /* up to 4 ms */
    buckets[info->bucket_count] = 1;
    assert_int_equal(metric_percentile(LATENCY, buckets, 50), 1000000);
    assert_int_equal(metric_percentile(LATENCY, buckets, 51), 4000000);
    assert_int_equal(metric_percentile(LATENCY, buckets, 99), 4000000);
    assert_int_equal(metric_percentile(LATENCY, buckets, 100),
                     info->limits[info->bucket_count - 1]);
}

static void a_gauge_that_nobody_set_is_not_shown(void **state)
{
    (void)state;
    metric_set_to(PENDING, "active", 3);
    metric_set_to(PENDING, "backoff", 0);
    take_report(false);
    assert_int_equal(sample_of(PENDING, "active")->value, 3);
    assert_int_equal(sample_of(PENDING, "backoff")->value, 0);
    metric_set_to(PENDING, "active", 4);
    take_report(false);
    assert_int_equal(sample_of(PENDING, "active")->value, 4);
    assert_null(sample_of(PENDING, "backoff"));
}

static int asked;

static void observe(void *state)
{
    asked++;
    metric_set_to(PENDING, "active", *(int *)state);
    metric_check("sched-handler-sync", *(int *)state > 1 ? "" : "not synced");
}

static void gauges_and_checks_are_set_when_somebody_asks(void **state)
{
    (void)state;
    int pods = 1;
    asked = 0;
    metrics_on_report(observe, &pods);
    take_report(true);
    assert_int_equal(report.samples.count, 0);
    assert_int_equal(report.checks.count, 1);
    assert_true(str_is(report.checks.at[0].name, "sched-handler-sync"));
    assert_true(str_is(report.checks.at[0].reason, "not synced"));
    pods = 2;
    take_report(false);
    assert_int_equal(sample_of(PENDING, "active")->value, 2);
    assert_int_equal(report.checks.count, 1);
    assert_int_equal(report.checks.at[0].reason.len, 0);
    metrics_on_report(NULL, &pods);
    take_report(false);
    assert_int_equal(asked, 2);
}

static void the_number_of_series_is_bounded(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < METRIC_SERIES_MAX + 10; i++) {
        snprintf(name, sizeof(name), "profile-%d", i);
        series_add(metric_series(ATTEMPTS, METRIC_VALUES(str_of("error"), str_of(name))), 1);
    }
    take_report(false);
    assert_int_equal(report.samples.count, METRIC_SERIES_MAX + 1);
    assert_int_equal(sample_of(UNEXPECTED, NULL)->value, 10);
}

static void bounds_are_upstreams(void **state)
{
    (void)state;
    const struct metric_info *info = metric_info(LATENCY);
    assert_int_equal(info->bucket_count, 15);
    assert_true(info->bounds[0] == 0.001 && info->bounds[14] == 16.384);
    assert_int_equal(info->limits[14], INT64_C(16384000000));
    assert_int_equal(metric_info(METRIC_rest_client_request_duration_seconds)->bucket_count, 12);
    assert_int_equal(metric_info(ATTEMPTS)->label_count, 2);
    assert_string_equal(metric_info(ATTEMPTS)->stability, "STABLE");
}

static int64_t voluntary_switches(void)
{
    process_measure("9.8.7");
    take_report(false);
    const struct metric_sample *s =
        sample_of(METRIC_berth_process_context_switches_total, "voluntary");
    assert_non_null(s);
    return s->value;
}

static void sleeping_is_a_turn_given_up(void **state)
{
    (void)state;
    int64_t before = voluntary_switches();
    for (int i = 0; i < 5; i++)
        poll(NULL, 0, 1);
    assert_in_range(voluntary_switches() - before, 5, 1000);
    FILE *known = fopen("/proc/self/schedstat", "r");
    const struct metric_sample *s = sample_of(METRIC_berth_process_run_delay_seconds_total, NULL);
    assert_int_equal(known != NULL, s != NULL); /* some kernels do not say it */
    if (known != NULL)
        fclose(known);
}

/* Tests are linked without a commit (proto/commit.c). */
static void the_build_is_told(void **state)
{
    (void)state;
    process_measure("9.8.7");
    take_report(false);
    const struct metric_sample *s = sample_of(METRIC_berth_build_info, "9.8.7");
    assert_non_null(s);
    assert_int_equal(s->value, 1);
    assert_int_equal(s->labels.count, 3);
    assert_int_equal(s->labels.at[1].len + s->labels.at[2].len, 0);
    assert_string_equal(commit_text(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(series_with_the_same_labels_are_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_bucket_holds_its_upper_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_that_share_a_sum_are_in_one_bucket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_percentile_is_the_bound_above_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_gauge_that_nobody_set_is_not_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gauges_and_checks_are_set_when_somebody_asks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_number_of_series_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_are_upstreams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sleeping_is_a_turn_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_build_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
