/* test_preempting: from a decision that names victims to the outcome that lets the pod be tried
 * again. */
#define POST_FILTER "post_filter=[\"DefaultPreemption\"] "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static const struct address tool = {TOOL, 77};

/* Nodes a (4 cores) and b (2) are full of pods of priority 0; p asks for 3 and has priority 9. */
static void fill(void)
{
    lead(5);
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" resource_version=1"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" resource_version=2"));
    stream("pod_set %s", pod_text("w", 2000, "node_name=\"b\" resource_version=3"));
}

static void attempt_high(int cycle)
{
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text("p", 3000, "priority=9"), cycle);
}

static void result(bool done)
{
    say(binder,
        "preempt_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
        "done=%s message=\"why\"",
        done ? "true" : "false");
}

static void victims_go_and_the_outcome_waits_for_them(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "a"));
    assert_int_equal(m.preempt.victims.count, 2);
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(m.pod_failed.set_nominated);
    assert_true(str_is(m.pod_failed.nominated_node, "a"));
    assert_false(take(QUEUE, MSG_outcome, &m));
    result(true);
    assert_false(take(QUEUE, MSG_outcome, &m)); /* not seen yet */
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" deleting=true resource_version=10"));
    assert_false(take(QUEUE, MSG_outcome, &m));
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    int64_t all_go = w.sequence;
    stream("pod_gone uid=\"u-w\" namespace_name=\"default\" name=\"w\""); /* may help */
    tick_after(99);
    assert_false(take(QUEUE, MSG_outcome, &m)); /* v1 may be gone in a moment */
    tick_after(1);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_true(str_is(m.outcome.nominated_node, "a"));
    assert_int_equal(m.outcome.plugins.count, 1);
    assert_false(m.outcome.activate);
    assert_true(m.outcome.gated_epoch != 0); /* v1 is still there: wait for its end */
    assert_int_equal(m.outcome.gated_sequence, all_go);
}

/* The queue's link broke, and it has begun anew: it saw the victims go before this attempt. */
static void an_attempt_that_is_offered_again_may_have_missed_the_end_of_its_victims(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    assert_false(take(QUEUE, MSG_outcome, &m));
    say(queue, "peer_down");
    say(queue, "peer_up");
    attempt_high(2);
    assert_false(take(BINDER, MSG_preempt, &m));
    result(true);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.cycle, 2);
    assert_true(m.outcome.result == OUTCOME_unschedulable && m.outcome.behind);
}

/* The queue may be behind the scheduler in the watcher's stream. */
static void nobody_is_evicted_for_a_pod_that_has_gone(void **state)
{
    (void)state;
    struct message m;
    fill();
    stream("pod_set %s", pod_text("p", 3000, "priority=9 resource_version=4"));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    attempt_high(1);
    assert_false(take(BINDER, MSG_preempt, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    say(queue, "attempt %s attempts=1 cycle=2", pod_text("low", 2000, ""));
    assert_true(take(BINDER, MSG_bind, &m)); /* no claim keeps it out */
    assert_true(str_is(m.bind.node_name, "a"));
}

static void in_snapshot(int64_t position, const char *text)
{
    w.sequence = position - 1;
    stream("%s", text);
}

/* Of nodes a and b, v1, v2 and w. */
static void snapshot_begins(int64_t position)
{
    in_snapshot(position, "snapshot_begin");
    w.sequence = position - 1;
    node("a", 4000);
    w.sequence = position - 1;
    node("b", 2000);
    for (int i = 0; i < 3; i++) {
        char text[2048];
        const char *names[] = {"v1", "v2", "w"};
        const char *where =
            i < 2 ? "node_name=\"a\" resource_version=1" : "node_name=\"b\" resource_version=3";
        snprintf(text, sizeof(text), "pod_set %s", pod_text(names[i], 2000, where));
        in_snapshot(position, text);
    }
}

/* And of pending pods this one, if any. */
static void snapshot(int64_t position, const char *pending)
{
    snapshot_begins(position);
    if (pending != NULL)
        in_snapshot(position, pending);
    in_snapshot(position, "snapshot_end");
}

static void attempt_high_at(int cycle, int64_t position)
{
    say(queue, "attempt %s attempts=1 cycle=%d epoch=7 sequence=%lld",
        pod_text("p", 3000, "priority=9"), cycle, (long long)position);
}

/* The queue has read so many positions beyond the one before the snapshot. */
static void offered_though_a_snapshot_does_not_show_it(int64_t read)
{
    struct message m;
    fill();
    stream("pod_set %s", pod_text("p", 3000, "priority=9 resource_version=4"));
    int64_t before = w.sequence;
    snapshot(before + 1, NULL);
    attempt_high_at(1, before + read);
    assert_false(take(BINDER, MSG_preempt, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
}

/* The queue has not read the snapshot yet. */
static void nobody_is_evicted_for_a_pod_that_the_snapshot_does_not_show(void **state)
{
    (void)state;
    struct message m;
    offered_though_a_snapshot_does_not_show_it(0);
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    say(queue, "attempt %s attempts=1 cycle=2", pod_text("low", 2000, ""));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
}

static void who_is_in_the_snapshot_or_came_behind_it_has_not_gone(void **state)
{
    (void)state;
    struct message m;
    char shown[2048];
    fill();
    int64_t before = w.sequence;
    snprintf(shown, sizeof(shown), "pod_set %s", pod_text("p", 3000, "priority=9"));
    snapshot(before + 1, shown);
    attempt_high_at(1, before);
    assert_true(take(BINDER, MSG_preempt, &m));
    result(false);
    snapshot(before + 2, NULL);
    stream("%s", shown);
    attempt_high_at(2, w.sequence);
    assert_true(take(BINDER, MSG_preempt, &m));
}

/* With a claim on another node, or none, by then. */
static void who_is_nominated_in_the_middle_of_the_snapshot_has_not_gone(void **state)
{
    static const char *const before[] = {"", "nominated_node=\"a\""};
    struct message m;
    char shown[2048];
    int cycle = 0;
    (void)state;
    fill();
    for (int i = 0; i < 2; i++) {
        int64_t position = w.sequence;
        snapshot_begins(position + 1);
        snprintf(shown, sizeof(shown), "pod_set %s", pod_text("p", 3000, before[i]));
        in_snapshot(position + 1, shown);
        attempt_high_at(++cycle, position);
        assert_true(take(BINDER, MSG_preempt, &m));
        in_snapshot(position + 1, "snapshot_end");
        result(false);
        assert_true(take(QUEUE, MSG_outcome, &m));
        assert_true(m.outcome.result == OUTCOME_unschedulable && m.outcome.activate);
        attempt_high_at(++cycle, w.sequence);
        assert_true(take(BINDER, MSG_preempt, &m));
        result(false);
        assert_true(take(QUEUE, MSG_outcome, &m));
    }
}

static void who_is_offered_in_the_middle_of_the_snapshot_may_have_gone(void **state)
{
    (void)state;
    offered_though_a_snapshot_does_not_show_it(1);
}

/* It waits for its turn while nobody leads. */
static void an_attempt_ends_with_a_snapshot_that_does_not_show_its_pod(void **state)
{
    (void)state;
    struct message m;
    fill();
    tick_after(61000); /* nothing is decided on a view as old as that */
    int64_t before = w.sequence;
    attempt_high_at(1, before);
    assert_false(take(QUEUE, MSG_outcome, &m));
    snapshot(before + 1, NULL);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    stream("view synced=true age_ms=10");
    assert_false(take(BINDER, MSG_preempt, &m));
}

/* The API server shows such an end in two steps, and others' ends may be shown in between. */
static void victims_that_go_at_once_are_waited_for(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(true);
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" deleting=true resource_version=10"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" deleting=true resource_version=11"));
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-w\" namespace_name=\"default\" name=\"w\"");
    tick_after(50);
    assert_false(take(QUEUE, MSG_outcome, &m));
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.gated_epoch, 0); /* all that it has heard of lets it be tried */
}

/* What a snapshot leaves out is told at its one position, at its end. */
static void within_a_snapshot_no_event_is_over(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" deleting=true resource_version=10"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" deleting=true resource_version=11"));
    stream("snapshot_begin");
    result(true);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.gated_epoch, 0); /* v1 and v2 may be missing from it */
}

static void victims_that_are_gone_leave_nothing_to_wait_for(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    assert_false(take(QUEUE, MSG_outcome, &m)); /* the binder has not answered */
    result(true);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_false(m.outcome.activate);
    assert_int_equal(m.outcome.gated_epoch, 0); /* what happened meanwhile lets it be tried again */
}

/* v1 has no DisruptionTarget and v2 has; of who is only assumed nothing is known. */
static void victims_are_described_as_the_watch_shows_them(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("pod_set %s", pod_text("v1", 2000,
                                  "node_name=\"a\" resource_version=21 generation=3 "
                                  "condition_types=[\"PodScheduled\" \"Ready\"]"));
    stream("pod_set %s", pod_text("v2", 2000,
                                  "node_name=\"a\" resource_version=22 "
                                  "condition_types=[\"DisruptionTarget\"]"));
    stream("pod_set %s", pod_text("w", 2000, "node_name=\"b\" resource_version=23"));
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_int_equal(m.preempt.victims.count, 2);
    const struct victim *v1 = &m.preempt.victims.at[0], *v2 = &m.preempt.victims.at[1];
    if (str_is(v1->name, "v2")) {
        v1 = &m.preempt.victims.at[1];
        v2 = &m.preempt.victims.at[0];
    }
    assert_true(v1->unmarked);
    assert_int_equal(v1->resource_version, 21);
    assert_int_equal(v1->generation, 3);
    assert_int_equal(v1->condition_types.count, 2);
    assert_true(str_is(v1->condition_types.at[1], "Ready"));
    assert_false(v2->unmarked);
}

static void an_assumed_victim_is_not_described(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("v1", 4000, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    stream("pod_set %s", pod_text("w", 2000, "node_name=\"b\" resource_version=23"));
    attempt_high(2);
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.victims.at[0].name, "v1"));
    assert_false(m.preempt.victims.at[0].unmarked);
}

/* Its bind was called off for the preemptor; that it is decided for another node, or even for this
 * one again, is no reason to wait for it. */
static void a_victim_whose_bind_failed_is_not_waited_for(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("v1", 2000, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" resource_version=2"));
    stream("pod_set %s", pod_text("w", 2000, "node_name=\"b\" resource_version=23"));
    attempt_high(2);
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_int_equal(m.preempt.victims.count, 2);
    say(binder, "bind_result uid=\"u-v1\" namespace_name=\"default\" name=\"v1\" node_name=\"a\" "
                "message=\"preempted by DefaultPreemption\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    stream("pod_gone uid=\"u-w\" namespace_name=\"default\" name=\"w\"");
    attempt("v1", 2000, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "b"));
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    result(true);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "p"));
    assert_int_equal(m.outcome.gated_epoch, 0);
}

/* Who waits for the API server to evict others takes nobody's turn. */
static void preemptors_are_not_counted_as_credit(void **state)
{
    (void)state;
    struct message m;
    int64_t credit = 0;
    fill();
    while (take(QUEUE, MSG_pull, &m))
        credit = m.pull.credit;
    attempt_high(1);
    assert_true(take(QUEUE, MSG_pull, &m));
    assert_true(m.pull.credit > credit);
    result(false);
    assert_true(take(QUEUE, MSG_pull, &m));
    assert_int_equal(m.pull.credit, credit);
}

static void others_are_decided_meanwhile_but_not_in_the_nominated_room(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    attempt("q", 2000, 2); /* a has 4000 free, and 3000 of it are p's */
    assert_false(take(BINDER, MSG_bind, &m));
    attempt("r", 1000, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    result(true);
    attempt_high(4);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "p"));
    assert_true(str_is(m.bind.node_name, "a"));
}

static void a_failed_preemption_is_tried_again_at_once(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(false);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.activate);
    assert_true(m.outcome.result == OUTCOME_unschedulable);
}

/* The pod's condition says what upstream's says, and no word of that. */
static void why_a_preemption_failed_is_told_to_who_asks(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(false);
    say(tool, "explain_request namespace_name=\"default\" name=\"p\"");
    assert_true(take(TOOL, MSG_explained, &m));
    const struct explained *e = &m.explained;
    assert_int_equal(e->decisions.count, 2);
    assert_true(str_is(e->decisions.at[0].message, "preemption on node a failed: why"));
    assert_int_equal(e->decisions.at[0].attempt, 1);
    assert_false(e->decisions.at[0].placed);
    assert_true(str_is(e->decisions.at[1].node, "a"));
}

static void a_binder_that_says_nothing_holds_no_pod_for_ever(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    stream("view synced=true");
    tick_after(29000);
    assert_false(take(QUEUE, MSG_outcome, &m));
    tick_after(2000);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.activate);
    result(true); /* late: nobody waits for it */
    assert_false(take(QUEUE, MSG_outcome, &m));
}

static void a_preemption_that_the_binder_does_not_know_is_decided_again(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    for (int i = 0; i < 5; i++)
        say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                    "preempting=[{uid=\"u-p\" node_name=\"a\"}]");
    assert_false(take(QUEUE, MSG_outcome, &m));
    for (int i = 0; i < 3; i++)
        say(binder, "leadership leading=true lead_term=5 identity=\"me\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.activate);
}

/* Behind the evictions of a thousand others, say. */
static void a_preemption_that_the_binder_lists_may_take_its_time(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    for (int i = 0; i < 6; i++) {
        tick_after(20000);
        say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                    "preempting=[{uid=\"u-p\" node_name=\"a\"}]");
        assert_false(take(QUEUE, MSG_outcome, &m));
    }
    tick_after(31000); /* it says no more */
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.activate);
}

/* Its victims seem to be there: only what is still to come lets it be tried again. */
static void a_watch_that_shows_nothing_holds_no_pod_for_ever(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(true);
    tick_after(29000);
    assert_false(take(QUEUE, MSG_outcome, &m));
    tick_after(2000);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_false(m.outcome.activate);
    assert_true(m.outcome.gated_epoch != 0);
    assert_int_equal(m.outcome.gated_sequence, w.sequence);
}

/* Its status never showed the node, as the write failed: the nomination ends with the next failure
 * that says nothing of it. */
static void a_nomination_that_was_not_written_ends_with_the_next_failure(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(true);
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    say(queue, "attempt %s attempts=2 cycle=2",
        pod_text("p", 5000, "priority=9 preemption_policy=\"Never\""));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    attempt("r", 3000, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
}

/* It is tried before the last victim has gone, and before its status shows the node: the queue has
 * to know that the room is still kept, or others like it would speak for it. */
static void an_attempt_that_only_waits_keeps_a_claim_that_is_not_written_yet(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(true);
    stream("pod_set %s", pod_text("v1", 2000,
                                  "node_name=\"a\" deleting=true preempted=true "
                                  "resource_version=10"));
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    tick_after(100);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.nominated_node, "a"));
    say(queue, "attempt %s attempts=2 cycle=2", pod_text("p", 3000, "priority=9"));
    assert_false(take(BINDER, MSG_preempt, &m) && str_is(m.preempt.node_name, "b"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.cycle, 2);
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_true(str_is(m.outcome.nominated_node, "a"));
}

static void a_preemptor_that_goes_leaves_no_claim(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    attempt("q", 4000, 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
    result(true);
    assert_true(take(QUEUE, MSG_outcome, &m));
}

static void lost_leadership_gives_the_pod_back(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    assert_true(take(BINDER, MSG_preempt, &m));
    say(binder, "leadership leading=false lead_term=6 identity=\"me\" holder=\"other\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    result(true);
    assert_false(take(QUEUE, MSG_outcome, &m));
}

/* Its pod is not offered again, as a claim of it is missing, say. */
static void a_nomination_that_was_not_written_ends_with_the_term(void **state)
{
    (void)state;
    struct message m;
    fill();
    attempt_high(1);
    result(true);
    stream("pod_gone uid=\"u-v1\" namespace_name=\"default\" name=\"v1\"");
    stream("pod_gone uid=\"u-v2\" namespace_name=\"default\" name=\"v2\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    say(binder, "leadership leading=false lead_term=6 identity=\"me\" holder=\"other\"");
    say(binder, "leadership leading=true lead_term=7 identity=\"me\"");
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    assert_int_equal(m.plugin_back.name.len, 0);
    assert_true(take(WATCHER, MSG_barrier, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    attempt("r", 3000, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
}

static void victims_that_terminate_already_are_only_waited_for(void **state)
{
    (void)state;
    struct message m = {0};
    fill();
    stream("pod_set %s", pod_text("v1", 2000, "node_name=\"a\" deleting=true resource_version=10"));
    stream("pod_set %s", pod_text("v2", 2000, "node_name=\"a\" deleting=true resource_version=11"));
    attempt_high(1);
    assert_false(take(BINDER, MSG_preempt, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.nominated_node, "a"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(victims_go_and_the_outcome_waits_for_them),
        TEST(an_attempt_that_is_offered_again_may_have_missed_the_end_of_its_victims),
        TEST(nobody_is_evicted_for_a_pod_that_has_gone),
        TEST(nobody_is_evicted_for_a_pod_that_the_snapshot_does_not_show),
        TEST(who_is_in_the_snapshot_or_came_behind_it_has_not_gone),
        TEST(who_is_nominated_in_the_middle_of_the_snapshot_has_not_gone),
        TEST(who_is_offered_in_the_middle_of_the_snapshot_may_have_gone),
        TEST(an_attempt_ends_with_a_snapshot_that_does_not_show_its_pod),
        TEST(victims_that_go_at_once_are_waited_for),
        TEST(within_a_snapshot_no_event_is_over),
        TEST(victims_that_are_gone_leave_nothing_to_wait_for),
        TEST(victims_are_described_as_the_watch_shows_them),
        TEST(an_assumed_victim_is_not_described),
        TEST(a_victim_whose_bind_failed_is_not_waited_for),
        TEST(preemptors_are_not_counted_as_credit),
        TEST(others_are_decided_meanwhile_but_not_in_the_nominated_room),
        TEST(a_failed_preemption_is_tried_again_at_once),
        TEST(why_a_preemption_failed_is_told_to_who_asks),
        TEST(a_binder_that_says_nothing_holds_no_pod_for_ever),
        TEST(a_preemption_that_the_binder_does_not_know_is_decided_again),
        TEST(a_preemption_that_the_binder_lists_may_take_its_time),
        TEST(a_watch_that_shows_nothing_holds_no_pod_for_ever),
        TEST(a_nomination_that_was_not_written_ends_with_the_next_failure),
        TEST(an_attempt_that_only_waits_keeps_a_claim_that_is_not_written_yet),
        TEST(a_preemptor_that_goes_leaves_no_claim),
        TEST(lost_leadership_gives_the_pod_back),
        TEST(a_nomination_that_was_not_written_ends_with_the_term),
        TEST(victims_that_terminate_already_are_only_waited_for),
    };
    return cmocka_run_group_tests_name("preempting", tests, NULL, NULL);
}
