/* test_measure: what the queue counts is what moved, and why, in upstream's words. */
#include "queue/measure.h"

#include "proto/metrics.h"
#include "queue/hints.h"
#include "queue/move.h"
#include "queue/queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static struct queues q;
static struct moment now;
static const struct surroundings around = {.obeys_gates = true};

static int set_up(void **state)
{
    (void)state;
    metrics_reset();
    now = (struct moment){100 * SECOND};
    queues_init(&q, &(struct queues_options){.backoff_initial = {SECOND},
                                             .backoff_max = {10 * SECOND},
                                             .unschedulable_max = {300 * SECOND}});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    queues_free(&q);
    metrics_reset();
    return 0;
}

static struct pod pod_of(const char *name)
{
    return (struct pod){.uid = str_of(name),
                        .namespace_name = STR_LITERAL("default"),
                        .name = str_of(name),
                        .scheduler_name = STR_LITERAL("default-scheduler")};
}

static struct entry *add(const char *name)
{
    struct pod pod = pod_of(name);
    return queues_add(&q, now, str_of(name), &pod, &around);
}

static int64_t incoming(const char *event, const char *queue)
{
    return metric_series(METRIC_scheduler_queue_incoming_pods_total,
                         METRIC_VALUES(str_of(event), str_of(queue)))
        ->value;
}

static int64_t gauge(enum metric metric, const struct str *values)
{
    measure_queues(&q);
    return metric_series(metric, values)->value;
}

static int64_t pending(const char *queue)
{
    return gauge(METRIC_scheduler_pending_pods, METRIC_VALUES(str_of(queue)));
}

/* How often a pod by itself came there, as upstream counts it. */
static int64_t entities(const char *cause, const char *queue)
{
    return metric_series(METRIC_scheduler_queue_incoming_entities_total,
                         METRIC_VALUES(str_of(cause), str_of(queue), STR_LITERAL("pod")))
        ->value;
}

/* Whether the gauge is shown, and shows that. */
static bool queued(const char *queue, int64_t count)
{
    const struct series *s = metric_series(METRIC_scheduler_queued_entities,
                                           METRIC_VALUES(str_of(queue), STR_LITERAL("pod")));
    measure_queues(&q);
    return s->read && s->value == count;
}

static void reject(const char *plugin)
{
    struct entry *e = queues_pop(&q, now);
    assert_non_null(e);
    queues_rejected(&q, now, e, plugins_bit(plugin), 0);
}

static void a_pods_way_is_counted_step_by_step(void **state)
{
    (void)state;
    add("p");
    assert_int_equal(incoming("UnschedulablePodAdd", "active"), 1);
    assert_int_equal(pending("active"), 1);
    reject("NodeResourcesFit");
    assert_int_equal(incoming("ScheduleAttemptFailure", "unschedulable"), 1);
    assert_int_equal(pending("unschedulable"), 1);
    assert_int_equal(gauge(METRIC_scheduler_unschedulable_pods,
                           METRIC_VALUES(str_of("NodeResourcesFit"), str_of("default-scheduler"))),
                     1);
    struct pod gone = pod_of("q");
    gone.node_name = STR_LITERAL("n");
    struct event event = {
        .resource = EVENT_OF_assigned_pod, .action = EVENT_DELETE, .old_pod = &gone};
    move_all(&q, now, &event, NULL);
    assert_int_equal(incoming("AssignedPodDelete", "backoff"), 1);
    assert_int_equal(pending("backoff"), 1);
    now = moment_after(now, (struct span){5 * SECOND});
    queues_tick(&q, now);
    assert_int_equal(incoming("BackoffComplete", "active"), 1);
    assert_int_equal(pending("active"), 1);
    assert_int_equal(pending("backoff"), 0);
}

static void a_pod_that_is_taken_early_says_so(void **state)
{
    (void)state;
    struct entry *e = add("p");
    reject("NodeResourcesFit");
    places_requeue(&q, now, e, WORTH_after_backoff);
    assert_non_null(queues_pop(&q, now));
    assert_int_equal(incoming("PopFromBackoffQ", "active"), 1);
    assert_int_equal(gauge(METRIC_scheduler_inflight_events, METRIC_VALUES(str_of("PodPopped"))),
                     1);
    queues_failed(&q, now, e);
    assert_int_equal(incoming("ScheduleAttemptFailure", "backoff"), 2);
}

static void a_gated_pod_is_counted_apart(void **state)
{
    (void)state;
    struct pod pod = pod_of("p");
    struct str gate = STR_LITERAL("example.com/gate");
    pod.gates = (struct strs){1, &gate};
    queues_add(&q, now, str_of("p"), &pod, &around);
    assert_int_equal(incoming("UnschedulablePodAdd", "unschedulable"), 1);
    assert_int_equal(pending("gated"), 1);
    assert_int_equal(pending("unschedulable"), 0);
    /* upstream's status of PreEnqueue is Success whatever the gates say */
    struct str profile = STR_LITERAL("default-scheduler");
    const struct series *point =
        metric_series(METRIC_scheduler_framework_extension_point_duration_seconds,
                      METRIC_VALUES(STR_LITERAL("PreEnqueue"), profile, STR_LITERAL("Success")));
    assert_int_equal(point->buckets[0], 1);
}

static void pods_are_entities_too(void **state)
{
    (void)state;
    struct entry *e = add("p");
    assert_int_equal(entities("UnschedulablePodAdd", "active"), 1);
    assert_true(queued("active", 1));
    assert_false(queued("backoff", 0)); /* nothing was there yet */
    reject("NodeResourcesFit");
    assert_true(queued("active", 0));
    assert_true(queued("unschedulable", 1));
    /* where it was to go anyway it is not new */
    assert_int_equal(incoming("ScheduleAttemptFailure", "unschedulable"), 1);
    assert_int_equal(entities("ScheduleAttemptFailure", "unschedulable"), 0);
    places_requeue(&q, now, e, WORTH_after_backoff);
    assert_true(queued("backoff", 1));
    assert_int_equal(entities("ScheduleAttemptFailure", "backoff"), 0);
    now = moment_after(now, (struct span){5 * SECOND});
    queues_tick(&q, now);
    assert_int_equal(entities("BackoffComplete", "active"), 1);
    assert_true(queued("backoff", 0));
}

static int64_t oldest(const char *queue)
{
    measure_oldest(&q, now);
    return metric_series(METRIC_berth_oldest_pending_seconds, METRIC_VALUES(str_of(queue)))->value;
}

static void how_long_a_pod_waits_counts_from_when_it_was_first_seen(void **state)
{
    (void)state;
    assert_int_equal(oldest("active"), 0);
    add("first");
    now = moment_after(now, (struct span){7 * SECOND});
    add("second");
    assert_int_equal(oldest("active"), 7 * SECOND);
    reject("NodeResourcesFit"); /* the first: it came before */
    now = moment_after(now, (struct span){2 * SECOND});
    assert_int_equal(oldest("unschedulable"), 9 * SECOND);
    assert_int_equal(oldest("active"), 2 * SECOND);
    assert_non_null(queues_pop(&q, now)); /* being tried is not waiting */
    assert_int_equal(oldest("active"), 0);
}

static void events_have_upstreams_names(void **state)
{
    (void)state;
    struct event taint = {.resource = EVENT_OF_node, .action = EVENT_NODE_TAINT};
    struct event update = {.resource = EVENT_OF_unschedulable_pod, .action = EVENT_UPDATE};
    struct event driver = {.resource = EVENT_OF_csi_node, .action = EVENT_ADD};
    assert_string_equal(event_label(&taint), "NodeUpdateNodeTaint");
    assert_string_equal(event_label(&update), "UnschedulablePodUpdate");
    update.release = 37;
    assert_string_equal(event_label(&update), "TargetPodUpdate");
    update.action = EVENT_POD_SCALE_UP;
    assert_string_equal(event_label(&update), "TargetPodUpdatePodScaleUp");
    assert_string_equal(event_label(&driver), "storage.k8s.io/CSINodeAdd");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pods_way_is_counted_step_by_step),
        TEST(a_pod_that_is_taken_early_says_so),
        TEST(pods_are_entities_too),
        TEST(a_gated_pod_is_counted_apart),
        TEST(how_long_a_pod_waits_counts_from_when_it_was_first_seen),
        TEST(events_have_upstreams_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
