/* test_totals: the page of metrics: numbers and labels as upstream prints them, and sums that a
 * restarted process does not take back. */
#include "ctl/serve/totals.h"

#include "proto/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct totals *totals;
static struct arena memory;
static struct buffer page;

static int set_up(void **state)
{
    (void)state;
    totals = totals_new(2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    totals_free(&totals);
    arena_free(&memory);
    buffer_free(&page);
    metrics_reset();
    return 0;
}

/* What the process in this life of it has counted, by way of its own table. */
static void report(size_t source, const char *instance, int64_t incarnation)
{
    struct metrics m = {.instance = str_of(instance), .incarnation = incarnation};
    metrics_fill(&m, false, &memory);
    totals_take(totals, source, &m);
    metrics_reset();
}

static void expect(const char *line)
{
    buffer_reset(&page);
    totals_print(totals, NULL, &page);
    if (strstr(page.at, line) == NULL)
        fail_msg("no \"%s\" in:\n%s", line, page.at);
}

static void expect_not(const char *line)
{
    buffer_reset(&page);
    totals_print(totals, NULL, &page);
    if (strstr(page.at, line) != NULL)
        fail_msg("\"%s\" in:\n%s", line, page.at);
}

static void scheduled(int64_t count)
{
    series_add(metric_series(METRIC_scheduler_schedule_attempts_total,
                             METRIC_VALUES(str_of("scheduled"), str_of("default-scheduler"))),
               count);
}

static void families_have_help_and_type_and_labels_by_name(void **state)
{
    (void)state;
    scheduled(3);
    report(0, "scheduler", 1);
    expect("# HELP scheduler_schedule_attempts_total [STABLE] Number of attempts to schedule pods, "
           "by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means "
           "an internal scheduler problem.\n"
           "# TYPE scheduler_schedule_attempts_total counter\n"
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} "
           "3\n");
}

static void a_histogram_is_cumulative(void **state)
{
    (void)state;
    metric_observe(METRIC_scheduler_preemption_victims, 1);
    metric_observe(METRIC_scheduler_preemption_victims, 3);
    metric_observe(METRIC_scheduler_preemption_victims, 100);
    report(0, "scheduler", 1);
    expect("# TYPE scheduler_preemption_victims histogram\n"
           "scheduler_preemption_victims_bucket{le=\"1\"} 1\n"
           "scheduler_preemption_victims_bucket{le=\"2\"} 1\n"
           "scheduler_preemption_victims_bucket{le=\"4\"} 2\n");
    expect("scheduler_preemption_victims_bucket{le=\"64\"} 2\n"
           "scheduler_preemption_victims_bucket{le=\"+Inf\"} 3\n"
           "scheduler_preemption_victims_sum 104\n"
           "scheduler_preemption_victims_count 3\n");
}

static void what_several_processes_count_is_added(void **state)
{
    (void)state;
    scheduled(3);
    metric_set(METRIC_process_resident_memory_bytes, 1000);
    metric_set(METRIC_process_start_time_seconds, INT64_C(9000000000));
    report(0, "a", 1);
    scheduled(4);
    metric_set(METRIC_process_resident_memory_bytes, 500);
    metric_set(METRIC_process_start_time_seconds, INT64_C(8000000000));
    metric_set(METRIC_berth_process_resident_memory_bytes, 500);
    report(1, "b", 1);
    expect("result=\"scheduled\"} 7\n");
    expect("\nprocess_resident_memory_bytes 1500\n");
    expect("\nprocess_start_time_seconds 8\n");
    expect("\nberth_process_resident_memory_bytes{instance=\"b\"} 500\n");
}

static void a_restarted_process_takes_nothing_back(void **state)
{
    (void)state;
    scheduled(3);
    report(0, "scheduler", 1);
    scheduled(5);
    report(0, "scheduler", 1); /* the same life has counted on */
    expect("result=\"scheduled\"} 5\n");
    scheduled(1);
    report(0, "scheduler", 2);
    expect("result=\"scheduled\"} 6\n");
}

static void gauges_of_a_process_that_does_not_answer_are_left_out(void **state)
{
    (void)state;
    scheduled(3);
    metric_set_to(METRIC_scheduler_pending_pods, "active", 9);
    report(0, "queue", 1);
    expect("scheduler_pending_pods{queue=\"active\"} 9\n");
    expect("berth_up{instance=\"queue\"} 1\n");
    totals_set_up(totals, 0, false);
    expect_not("scheduler_pending_pods");
    expect("berth_up{instance=\"queue\"} 0\n");
    expect("result=\"scheduled\"} 3\n");
}

static void counters_without_labels_are_there_from_the_start(void **state)
{
    (void)state;
    expect("\nscheduler_preemption_attempts_total 0\n");
    expect("\nscheduler_pod_scheduling_attempts_count 0\n");
    expect_not("scheduler_schedule_attempts_total");
}

static void samples_that_do_not_fit_are_ignored(void **state)
{
    (void)state;
    struct str label = STR_LITERAL("x");
    struct metric_bucket far = {.place = 99, .count = 1};
    struct metric_sample samples[] = {
        {.metric = STR_LITERAL("no_such_metric"), .value = 1},
        {.metric = STR_LITERAL("scheduler_schedule_attempts_total"), .labels = {1, &label}},
        {.metric = STR_LITERAL("scheduler_preemption_victims"), .buckets = {1, &far}}};
    struct metrics m = {.instance = STR_LITERAL("odd"), .incarnation = 1};
    m.samples.count = 3;
    m.samples.at = samples;
    totals_take(totals, 0, &m);
    expect_not("no_such_metric");
    expect_not("scheduler_schedule_attempts_total{");
    expect("scheduler_preemption_victims_count 0\n");
}

static void numbers_are_printed_as_go_does(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {-2.5, "-2.5"},
                 {0.001, "0.001"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {0.00001 * 1.5, "1.5000000000000002e-05"},
                 {16.384, "16.384"},
                 {999999, "999999"},
                 {1000000, "1e+06"},
                 {1048576, "1.048576e+06"},
                 {1795336451.73, "1.79533645173e+09"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buffer_reset(&page);
        totals_print_number(&page, cases[i].number);
        assert_string_equal(page.at, cases[i].text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void a_value_that_is_not_allowed_is_unexpected(void **state)
{
    (void)state;
    static struct totals_filter filter;
    struct str why;
    assert_true(label_rules_read(&filter.allowed,
                                 STR_LITERAL("scheduler_schedule_attempts_total,result=scheduled"),
                                 &memory, &why));
    for (size_t i = 0; i < 2; i++) {
        series_add(metric_series(METRIC_scheduler_schedule_attempts_total,
                                 METRIC_VALUES(STR_LITERAL("scheduled"), STR_LITERAL("p"))),
                   1);
        series_add(metric_series(METRIC_scheduler_schedule_attempts_total,
                                 METRIC_VALUES(STR_LITERAL("error"), STR_LITERAL("p"))),
                   2);
        series_add(metric_series(METRIC_scheduler_schedule_attempts_total,
                                 METRIC_VALUES(STR_LITERAL("unschedulable"), STR_LITERAL("p"))),
                   4);
        report(i, i == 0 ? "a" : "b", 1);
    }
    buffer_reset(&page);
    totals_print(totals, &filter, &page);
    assert_non_null(strstr(
        page.at, "\nscheduler_schedule_attempts_total{profile=\"p\",result=\"scheduled\"} 2\n"
                 "scheduler_schedule_attempts_total{profile=\"p\",result=\"unexpected\"} 12\n"));
    assert_non_null(
        strstr(page.at, "\ncardinality_enforcement_unexpected_categorizations_total 12\n"));
    expect("result=\"error\"} 4\n"); /* without the filter all is there still */
    expect("\ncardinality_enforcement_unexpected_categorizations_total 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(families_have_help_and_type_and_labels_by_name),
        TEST(a_histogram_is_cumulative),
        TEST(what_several_processes_count_is_added),
        TEST(a_restarted_process_takes_nothing_back),
        TEST(gauges_of_a_process_that_does_not_answer_are_left_out),
        TEST(counters_without_labels_are_there_from_the_start),
        TEST(samples_that_do_not_fit_are_ignored),
        TEST(a_value_that_is_not_allowed_is_unexpected),
        TEST(numbers_are_printed_as_go_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
