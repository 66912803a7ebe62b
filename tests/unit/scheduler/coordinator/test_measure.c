/* test_measure: what the coordinator counts is what happened: each attempt once, with the result
 * and at the extension points that it went through; gauges and checks speak of now. */
#define POST_FILTER "post_filter=[\"DefaultPreemption\"] "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#include "proto/base/log.h"
#include "proto/metrics.h"
#include "scheduler/coordinator/measure.h"

#include <unistd.h>

#define PROFILE str_of("default-scheduler")

static int begin(void **state)
{
    metrics_reset();
    return start(state);
}

static int end(void **state)
{
    metrics_reset();
    return stop(state);
}

static int64_t attempts_of(const char *result)
{
    return metric_series(METRIC_scheduler_schedule_attempts_total,
                         METRIC_VALUES(str_of(result), PROFILE))
        ->value;
}

static int64_t seen_by(const struct series *s)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i <= metric_info(s->metric)->bucket_count; i++)
        sum += s->buckets[i];
    return sum;
}

static int64_t observed(enum metric metric, const struct str *values)
{
    return seen_by(metric_series(metric, values));
}

static int64_t at_point(const char *point, const char *status)
{
    return observed(METRIC_scheduler_framework_extension_point_duration_seconds,
                    METRIC_VALUES(str_of(point), PROFILE, str_of(status)));
}

static void bound(const char *name, const char *node_name)
{
    say(binder,
        "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"%s\" "
        "bound=true code=201",
        name, name, node_name);
}

static void a_pod_counts_as_scheduled_when_its_bind_is_confirmed(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 1000, 1);
    assert_int_equal(attempts_of("scheduled"), 0);
    tick_after(250);
    bound("p", "a");
    stream("pod_set %s", pod_text("p", 1000, "node_name=\"a\" resource_version=9"));
    assert_int_equal(attempts_of("scheduled"), 1);
    struct series *latency = metric_series(METRIC_scheduler_scheduling_attempt_duration_seconds,
                                           METRIC_VALUES(str_of("scheduled"), PROFILE));
    assert_int_equal(latency->value, 250000000);
    assert_int_equal(observed(METRIC_scheduler_pod_scheduling_attempts, NULL), 1);
    assert_int_equal(observed(METRIC_scheduler_scheduling_algorithm_duration_seconds, NULL), 1);
    assert_int_equal(
        observed(METRIC_scheduler_pod_scheduling_sli_duration_seconds, METRIC_VALUES(str_of("1"))),
        1);
    static const char *const points[] = {"PreFilter", "Filter",  "PreScore",
                                         "Score",     "Reserve", "Permit"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(at_point(points[i], "Success"), 1);
    assert_int_equal(at_point("PostFilter", "Success"), 0);
}

static void the_watch_may_confirm_it_first(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 1000, 1);
    stream("pod_set %s", pod_text("p", 1000, "node_name=\"a\" resource_version=9"));
    bound("p", "a");
    assert_int_equal(attempts_of("scheduled"), 1);
}

static void a_pod_that_fits_nowhere_counts_as_unschedulable_each_time(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 9000, 1);
    attempt("p", 9000, 2);
    assert_int_equal(attempts_of("unschedulable"), 2);
    assert_int_equal(at_point("PostFilter", "Unschedulable"), 2);
    assert_int_equal(at_point("Filter", "Success"), 2);
    assert_int_equal(at_point("Score", "Success"), 0);
    assert_int_equal(metric_series(METRIC_scheduler_preemption_attempts_total, NULL)->value, 2);
    assert_int_equal(observed(METRIC_scheduler_preemption_victims, NULL), 0);
}

static void a_bind_that_fails_counts_as_an_error(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 1000, 1);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "code=500 message=\"no\"");
    assert_int_equal(attempts_of("scheduled"), 0);
    assert_int_equal(attempts_of("error"), 1);
    assert_int_equal(at_point("Unreserve", "Success"), 1);
}

static void a_pod_that_fits_one_node_is_not_scored(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 3000, 1);
    assert_int_equal(at_point("Filter", "Success"), 1);
    assert_int_equal(at_point("Score", "Success"), 0);
}

static void victims_are_counted_with_the_preemption(void **state)
{
    (void)state;
    lead(5);
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" resource_version=1"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" resource_version=2"));
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("p", 3000, "priority=9"));
    struct series *victims = metric_series(METRIC_scheduler_preemption_victims, NULL);
    assert_int_equal(seen_by(victims), 1);
    assert_int_equal(victims->value, 2);
    assert_int_equal(at_point("PostFilter", "Success"), 1);
    assert_int_equal(attempts_of("unschedulable"), 1);
    say(binder, "preempt_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "done=true");
    assert_int_equal(metric_series(METRIC_scheduler_preemption_goroutines_execution_total,
                                   METRIC_VALUES(str_of("success")))
                         ->value,
                     1);
}

static struct moment clock_now;

static struct moment read_clock(void)
{
    clock_now.ns += 1000;
    return clock_now;
}

static int64_t took_at(const char *point)
{
    return metric_series(METRIC_scheduler_framework_extension_point_duration_seconds,
                         METRIC_VALUES(str_of(point), PROFILE, STR_LITERAL("Success")))
        ->value;
}

static void what_filters_and_scores_take_together_is_told_apart(void **state)
{
    (void)state;
    lead(5);
    for (uint32_t k = 0; k < WORKERS; k++)
        worker_set_clock(w.workers[k], read_clock);
    for (uint32_t k = 0; k < WORKERS; k++)
        worker_time_plugins(w.workers[k], read_clock);
    attempt("p", 1000, 1); /* each worker's first decision is timed */
    int64_t pre_filter = took_at("PreFilter"), filter = took_at("Filter");
    int64_t score = took_at("Score");
    assert_true(pre_filter > 0 && filter > 0 && score > 0);
    attempt("q", 1000, 2); /* the next one is not, mostly */
    assert_true(took_at("PreFilter") > pre_filter && took_at("Filter") > filter);
    assert_true(took_at("Score") > score);
}

static void parts_that_make_no_sense_teach_nothing(void **state)
{
    (void)state;
    lead(5);
    worker_set_clock(w.workers[0], read_clock);
    worker_set_clock(w.workers[1], read_clock);
    struct timed_parts parts[] = {
        {0}, {.filter_ns = -5000, .score_ns = 1000}, {.score_ns = INT64_MAX}, {.filter_ns = 1000}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        measure_run_answer(w.coordinator, &(struct map_run_result){.timed = {1, &parts[i]}});
    attempt("p", 1000, 1);
    assert_true(took_at("Filter") > 0);
    assert_int_equal(took_at("PreFilter"), 0);
    assert_int_equal(took_at("PreScore"), 0);
    assert_int_equal(took_at("Score"), 0);
}

static struct str reason_of(const char *check)
{
    struct metrics report = {0};
    metrics_fill(&report, true, &w.arena);
    for (uint32_t i = 0; i < report.checks.count; i++)
        if (str_is(report.checks.at[i].name, check))
            return report.checks.at[i].reason;
    fail_msg("no check %s", check);
    return (struct str){NULL, 0};
}

static void the_checks_name_what_is_missing(void **state)
{
    (void)state;
    metrics_on_report(coordinator_observe, w.coordinator);
    assert_int_equal(reason_of("workers").len, 0);
    assert_int_equal(reason_of("sched-handler-sync").len, 0);
    assert_int_equal(reason_of("view").len, 0);
    for (uint32_t k = 0; k < WORKERS; k++)
        die(k);
    assert_true(str_is(reason_of("workers"), "no worker has joined"));
    tick_after(61000);
    assert_true(reason_of("view").len > 0);
    stream("view synced=false");
    assert_int_equal(reason_of("view").len, 0);
    assert_true(reason_of("sched-handler-sync").len > 0);
}

static void the_cache_is_counted_as_it_is(void **state)
{
    (void)state;
    lead(5);
    metrics_on_report(coordinator_observe, w.coordinator);
    attempt("p", 1000, 1);
    (void)reason_of("workers");
    static const char *const types[] = {"nodes", "pods", "assumed_pods"};
    static const int64_t counts[] = {2, 1, 1};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            metric_series(METRIC_scheduler_cache_size, METRIC_VALUES(str_of(types[i])))->value,
            counts[i]);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* What the coordinator says while a pod's workers answer so many ms late. */
static void decide_late(int64_t ms, char *said, size_t room)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(saved >= 0);
    dup2(fileno(file), STDERR_FILENO);
    log_set_level(LOG_LEVEL_info);
    lead(5);
    w.paused = true;
    attempt("p", 1000, 1);
    tick_after(ms);
    resume();
    log_set_level(LOG_LEVEL_error);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, room - 1, file)] = 0;
    fclose(file);
}

static void a_slow_decision_is_told_step_by_step(void **state)
{
    (void)state;
    char said[4096];
    decide_late(101, said, sizeof(said));
    assert_non_null(strstr(
        said, "(total time: 101ms): Trace[1]: ---\\\"Computing predicates done\\\" 101ms ("));
    assert_non_null(strstr(said, "END\" pod=default/p took_ms=101.0 prefilter_ms="));
    assert_non_null(
        strstr(said, "msg=\"Trace[1]: \\\"Scheduling\\\" namespace:default,name:p (01-Jan-1970 "));
    assert_non_null(strstr(said, "nodes=2"));
}

static void others_are_not(void **state)
{
    (void)state;
    char said[4096];
    decide_late(99, said, sizeof(said));
    assert_null(strstr(said, "Trace["));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_pod_counts_as_scheduled_when_its_bind_is_confirmed),
        IN_WORLD(the_watch_may_confirm_it_first),
        IN_WORLD(a_pod_that_fits_nowhere_counts_as_unschedulable_each_time),
        IN_WORLD(a_bind_that_fails_counts_as_an_error),
        IN_WORLD(a_pod_that_fits_one_node_is_not_scored),
        IN_WORLD(victims_are_counted_with_the_preemption),
        IN_WORLD(what_filters_and_scores_take_together_is_told_apart),
        IN_WORLD(parts_that_make_no_sense_teach_nothing),
        IN_WORLD(the_checks_name_what_is_missing),
        IN_WORLD(the_cache_is_counted_as_it_is),
        IN_WORLD(a_slow_decision_is_told_step_by_step),
        IN_WORLD(others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
