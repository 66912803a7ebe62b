/* coordinator, InPlacePodVerticalScalingSchedulerPreemption on: pods on nodes whose resize their
 * kubelet has put off. They evict others there, are bound nowhere, and are told nothing. */
#define POST_FILTER                                                                                \
    "post_filter=[\"DynamicResources\" \"DefaultPreemption\"] permit=[\"DeferredPodScheduling\"] "
#define EXTRA_PRE_FILTER " \"NodeName\" \"DeferredPodScheduling\""
#define EXTRA_FILTER     " \"NodeName\" \"DeferredPodScheduling\""
#define EXTRA_PROFILE    " features={release=37 resize_preemption=true gangs=true gang_counts=true}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define DEFERRED "node_name=\"a\" resize_deferred=true priority=9 "

/* Node a (4 cores) has v and p, and p asks for so much; b (2) has room. */
static void fill(int asked, const char *more)
{
    lead(5);
    stream("pod_set %s", pod_text("v", 2000, "node_name=\"a\" resource_version=1"));
    stream("pod_set %s", pod_text("p", asked, more));
}

static void try_it(int asked, const char *more)
{
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("p", asked, more));
}

static void nothing_is_written(void)
{
    struct message m;
    assert_false(take(BINDER, MSG_bind, &m));
    assert_false(take(BINDER, MSG_pod_failed, &m));
    assert_false(take(BINDER, MSG_nominate, &m));
}

static void room_is_made_on_its_node_and_nothing_is_claimed(void **state)
{
    (void)state;
    struct message m;
    fill(3000, DEFERRED);
    try_it(3000, DEFERRED);
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "a"));
    assert_int_equal(m.preempt.victims.count, 1);
    assert_true(str_is(m.preempt.victims.at[0].name, "v"));
    nothing_is_written();
    assert_false(take(QUEUE, MSG_outcome, &m));
    say(binder, "preempt_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "done=true");
    stream("pod_gone uid=\"u-v\" namespace_name=\"default\" name=\"v\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_int_equal(m.outcome.nominated_node.len, 0);
    assert_int_equal(m.outcome.plugins.count, 2);
    assert_true(str_is(m.outcome.plugins.at[0], "NodeName"));
    assert_true(str_is(m.outcome.plugins.at[1], "NodeResourcesFit"));
    nothing_is_written();
    /* Others find the room that it counts for, and no more: it asks for 3 of 4 cores. */
    attempt("q", 1100, 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "b"));
}

static void one_that_fits_ends_as_an_error_without_a_word(void **state)
{
    (void)state;
    struct message m;
    fill(2000, DEFERRED);
    try_it(2000, DEFERRED);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    assert_false(m.outcome.released);
    assert_int_equal(m.outcome.plugins.count, 0);
    nothing_is_written();
    assert_false(take(BINDER, MSG_preempt, &m));
}

/* The queue's version of it and the one that counts on its node need not be the same. */
static void it_asks_for_what_it_does_not_count_for_yet(void **state)
{
    (void)state;
    struct message m;
    fill(1000, DEFERRED);
    try_it(2000, DEFERRED);
    assert_true(take(QUEUE, MSG_outcome, &m)); /* 2 + 1, and 1 more */
    assert_true(m.outcome.result == OUTCOME_error);
    try_it(2001, DEFERRED);
    assert_true(take(BINDER, MSG_preempt, &m));
    say(binder, "preempt_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "done=false");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.activate);
    try_it(4001, DEFERRED); /* more than the node has */
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_false(take(BINDER, MSG_preempt, &m));
    nothing_is_written();
}

static void a_node_may_spare_its_pods(void **state)
{
    (void)state;
    struct message m;
    fill(3000, DEFERRED);
    stream(
        "node_set node={name=\"a\" spares_from_resizes=[\"autoscaler\"] allocatable=[{name=\"cpu\" "
        "amount=4000} {name=\"memory\" amount=8589934592} {name=\"pods\" amount=110}]}");
    try_it(3000, DEFERRED);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    nothing_is_written();
    assert_false(take(BINDER, MSG_preempt, &m));
}

/* A cordon, or what it claims elsewhere, is for who comes. */
static void whatever_asks_where_it_may_go_is_skipped(void **state)
{
    (void)state;
    struct message m;
    const char *more = DEFERRED "device_claims=[{name=\"c\" claim=\"c\"}] gang=\"g\" "
                                "gang_api=\"scheduling.k8s.io\" nominated_node=\"b\"";
    fill(2000, more);
    stream("node_set node={name=\"a\" unschedulable=true allocatable=[{name=\"cpu\" amount=4000} "
           "{name=\"memory\" amount=8589934592} {name=\"pods\" amount=110}]}");
    try_it(2000, more);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error); /* it fits */
    assert_int_equal(m.outcome.nominated_node.len, 0);
    nothing_is_written();
}

static void what_changes_during_the_attempt_counts_for_the_next(void **state)
{
    (void)state;
    struct message m;
    fill(2000, DEFERRED);
    w.paused = true;
    try_it(2000, DEFERRED);
    stream("pod_set %s", pod_text("p", 3000, DEFERRED "resource_version=9"));
    resume();
    assert_true(take(BINDER, MSG_preempt, &m)); /* decided anew, with 3 cores */
    assert_true(str_is(m.preempt.victims.at[0].name, "v"));
    nothing_is_written();
}

static void one_that_is_no_longer_deferred_is_passed_over(void **state)
{
    (void)state;
    struct message m;
    fill(3000, "node_name=\"a\" priority=9");
    try_it(3000, DEFERRED); /* as the queue had it */
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    stream("pod_set %s", pod_text("p", 3000, DEFERRED "resource_version=3"));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    try_it(3000, DEFERRED);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    nothing_is_written();
    assert_false(take(BINDER, MSG_preempt, &m));
}

/* Only who writes a status by hand makes such pods; Permit holds them. */
static void one_without_a_node_is_held_by_permit(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("p", 1000, "resize_deferred=true"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_int_equal(m.outcome.plugins.count, 1);
    assert_true(str_is(m.outcome.plugins.at[0], "DeferredPodScheduling"));
    nothing_is_written();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(room_is_made_on_its_node_and_nothing_is_claimed, start,
                                        stop),
        cmocka_unit_test_setup_teardown(one_that_fits_ends_as_an_error_without_a_word, start, stop),
        cmocka_unit_test_setup_teardown(it_asks_for_what_it_does_not_count_for_yet, start, stop),
        cmocka_unit_test_setup_teardown(a_node_may_spare_its_pods, start, stop),
        cmocka_unit_test_setup_teardown(whatever_asks_where_it_may_go_is_skipped, start, stop),
        cmocka_unit_test_setup_teardown(what_changes_during_the_attempt_counts_for_the_next, start,
                                        stop),
        cmocka_unit_test_setup_teardown(one_that_is_no_longer_deferred_is_passed_over, start, stop),
        cmocka_unit_test_setup_teardown(one_without_a_node_is_held_by_permit, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
