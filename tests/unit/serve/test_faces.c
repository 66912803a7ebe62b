/* test_faces: what the page of metrics shows as each release, and in which words. */
#include "ctl/serve/totals.h"

#include "proto/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct totals *totals;
static struct arena memory;
static struct buffer page;
static struct totals_filter filter;

static int set_up(void **state)
{
    (void)state;
    totals = totals_new(1);
    filter = (struct totals_filter){0};
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

/* What was counted so far, as that release shows it. */
static void show(int64_t release)
{
    struct metrics m = {.instance = STR_LITERAL("queue"), .incarnation = 1};
    metrics_fill(&m, false, &memory);
    totals_take(totals, 0, &m);
    filter.view.release = release_of(release);
    buffer_reset(&page);
    totals_print(totals, &filter, &page);
}

static bool has(const char *text)
{
    return strstr(page.at, text) != NULL;
}

static void count(enum metric metric, const char *a, const char *b, const char *c)
{
    const struct str *values = METRIC_VALUES(str_of(a), str_of(b), str_of(c));
    if (metric_info(metric)->kind == METRIC_histogram)
        series_observe(metric_series(metric, values), 1);
    else
        series_set(metric_series(metric, values), 1);
}

static void a_metric_is_there_from_its_release_on(void **state)
{
    (void)state;
    count(METRIC_scheduler_queued_entities, "active", "pod", "");
    count(METRIC_scheduler_queue_incoming_entities_total, "BackoffComplete", "active", "pod");
    show(36);
    assert_false(has("entities"));
    count(METRIC_scheduler_queued_entities, "active", "pod", "");
    show(37);
    assert_true(has("\nscheduler_queued_entities{queue=\"active\",type=\"pod\"} 1\n"));
    assert_true(has("\nscheduler_queue_incoming_entities_total{event=\"BackoffComplete\","
                    "queue=\"active\",type=\"pod\"} 1\n"));
}

static void a_metric_goes_with_its_release(void **state)
{
    (void)state;
    count(METRIC_scheduler_resourceclaim_creates_total, "success", "", "");
    count(METRIC_dynamic_resource_allocation_resourceclaim_creates_total, "false", "", "Pod");
    show(36);
    assert_true(has("\nscheduler_resourceclaim_creates_total{status=\"success\"} 1\n"));
    assert_false(has("dynamic_resource_allocation"));
    show(37);
    assert_false(has("scheduler_resourceclaim_creates_total"));
    assert_true(has("\ndynamic_resource_allocation_resourceclaim_creates_total{admin_access="
                    "\"false\",owner_api_group=\"\",owner_api_kind=\"Pod\",status=\"\"} 1\n"));
}

static void what_is_deprecated_is_hidden_until_it_is_asked_for(void **state)
{
    (void)state;
    count(METRIC_scheduler_preemption_goroutines_duration_seconds, "success", "", "");
    show(36);
    assert_true(has("# HELP scheduler_preemption_goroutines_duration_seconds [ALPHA] Duration"));
    assert_int_equal(faces_hidden(&(struct release_view){.release = release_of(36), .gates = ""}),
                     0);
    show(37);
    assert_false(has("scheduler_preemption_goroutines_duration_seconds"));
    assert_int_equal(faces_hidden(&(struct release_view){.release = release_of(37), .gates = ""}),
                     1);
    filter.view.hidden = true;
    show(37);
    assert_true(has("# HELP scheduler_preemption_goroutines_duration_seconds [ALPHA] (Deprecated "
                    "since 1.37.0) Duration in"));
}

static void some_are_there_with_their_gate_alone(void **state)
{
    (void)state;
    count(METRIC_scheduler_preemption_evaluation_duration_seconds, "pod", "Success", "");
    count(METRIC_scheduler_preemption_pdb_violations_total, "pod", "", "");
    show(37);
    assert_false(has("preemption_evaluation") || has("pdb_violations") || has("workload_"));
    filter.view.gates = "GenericWorkload=true";
    show(36);
    assert_false(has("preemption_evaluation") || has("pdb_violations") || has("workload_"));
    show(37);
    assert_true(has("scheduler_preemption_evaluation_duration_seconds_count{preemptor=\"pod\","
                    "result=\"Success\"} 1\n"));
    assert_true(has("\nscheduler_preemption_pdb_violations_total{preemptor=\"pod\"} 1\n"));
    assert_true(has("\nscheduler_workload_preemption_victims_count 0\n"));
    assert_true(has("\nscheduler_podgroup_scheduling_algorithm_duration_seconds_count 0\n"));
}

static void a_release_has_its_own_words(void **state)
{
    (void)state;
    count(METRIC_scheduler_queue_incoming_pods_total, "UnschedulablePodAdd", "active", "");
    count(METRIC_scheduler_pending_pods, "active", "", "");
    count(METRIC_scheduler_pending_pods, "incomplete", "", "");
    show(36);
    assert_true(has("{event=\"UnschedulablePodAdd\",queue=\"active\"} 1\n"));
    assert_true(has("# HELP scheduler_scheduling_algorithm_duration_seconds [ALPHA] "));
    assert_true(has("pods in unschedulablePods that"));
    assert_false(has("\"incomplete\""));
    count(METRIC_scheduler_pending_pods, "incomplete", "", "");
    show(37);
    assert_true(has("{event=\"UnscheduledPodAdd\",queue=\"active\"} 1\n"));
    assert_true(has("# HELP scheduler_scheduling_algorithm_duration_seconds [BETA] "));
    assert_true(has("pods in unschedulableEntities that"));
    assert_true(has("\nscheduler_pending_pods{queue=\"incomplete\"} 1\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_metric_is_there_from_its_release_on),
        TEST(a_metric_goes_with_its_release),
        TEST(what_is_deprecated_is_hidden_until_it_is_asked_for),
        TEST(some_are_there_with_their_gate_alone),
        TEST(a_release_has_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
