/* test_coordinator: attempts to decisions and back: leadership, barriers, binds, workers and peers
 * that come and go. */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void takes_exactly_the_messages_addressed_to_it(void **state)
{
    (void)state;
    for (int t = 10; t < MSG_COUNT; t++) {
        if (message_info[t].record == NULL || message_info[t].to == ANY)
            continue; /* no message, or one that the bus answers, as those below 10 */
        assert_int_equal(coordinator_takes((enum message_type)t),
                         (message_info[t].to & SCHEDULER) != 0);
        assert_int_equal(worker_takes((enum message_type)t), (message_info[t].to & WORKER) != 0);
    }
}

static void a_pod_is_bound_on_the_emptier_node(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    assert_true(take(QUEUE, MSG_pull, &m));
    attempt("p", 1000, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_false(take(QUEUE, MSG_outcome, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound);
    assert_int_equal(m.outcome.cycle, 1);
}

static void room_is_taken_at_once_and_given_back_when_the_bind_fails(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 4000, 1);
    attempt("q", 4000, 2); /* only a is large enough */
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.pod.name, "q"));
    assert_true(str_is(m.pod_failed.message, "0/2 nodes are available: 2 Insufficient cpu."));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_int_equal(m.outcome.plugins.count, 1);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "code=409 message=\"no\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.message, "running Bind plugin \"DefaultBinder\": no"));
    world_sent_us = 1700000000000123;
    attempt("q", 4000, 3);
    world_sent_us = 0;
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
    assert_int_equal(m.bind.popped_us, 1700000000000123);
}

/* Of one that is asked about for 3 ms, and one that waits behind it for as long. */
static void a_bind_says_where_the_time_of_its_decision_went(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    w.paused = true;
    world_sent_us = 1700000000000000;
    world_received_us = world_sent_us + 40;
    attempt("p", 100, 1);
    attempt("q", 200, 2);
    world_sent_us = 0;
    tick_after(3);
    world_sent_us = 1700000000003000;
    world_received_us = world_sent_us + 20;
    resume();
    world_sent_us = world_received_us = 0;
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "p"));
    assert_int_equal(m.bind.hops.to_scheduler, 40);
    assert_int_equal(m.bind.hops.line, 0);
    assert_int_equal(m.bind.hops.worker, 2980);
    assert_int_equal(m.bind.hops.back, 20);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
    assert_int_equal(m.bind.hops.to_scheduler, 40);
    assert_int_equal(m.bind.hops.line, 3000);
    assert_int_equal(m.bind.hops.worker, 0); /* at once, so its answer was not under way either */
    assert_int_equal(m.bind.hops.back, 0);
}

static void nothing_is_decided_before_the_barrier(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\"");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "barrier");
    attempt("p", 100, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(WATCHER, MSG_barrier, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id + 1); /* somebody else's */
    assert_false(take(BINDER, MSG_bind, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_true(take(BINDER, MSG_bind, &m));
}

/* So that the watcher's first lists answer it. */
static void the_barrier_is_asked_for_before_the_first_snapshot(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\"");
    assert_true(take(WATCHER, MSG_barrier, &m));
    int64_t id = m.barrier.id;
    tick_after(60000); /* however long the lists take */
    assert_false(take(WATCHER, MSG_barrier, &m));
    w.sequence = 50;
    stream("snapshot_begin");
    w.sequence--;
    stream("snapshot_end");
    stream("view synced=true");
    tick_after(5000);
    assert_false(take(WATCHER, MSG_barrier, &m));
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "barrier");
    stream("barrier_reached id=%lld", (long long)id);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

/* Whatever the lists take: what is repeated has the same number, by which the watcher knows it. */
static void a_barrier_under_way_is_not_asked_for_anew(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    lead(5);
    say(binder, "leadership leading=true lead_term=6 identity=\"me\" holder=\"me\"");
    assert_true(take(WATCHER, MSG_barrier, &m));
    int64_t id = m.barrier.id;
    int repeated = 0;
    for (int i = 0; i < 60; i++) {
        tick_after(1000);
        stream("view synced=true");
        for (; take(WATCHER, MSG_barrier, &m); repeated++) /* it may have been lost */
            assert_true(m.barrier.id == id);
    }
    assert_in_range(repeated, 5, 7);
    stream("barrier_reached id=%lld", (long long)id);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

/* The question may have gone with the link, or wait at the watcher all the same. */
static void any_barrier_of_the_term_will_do(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    int64_t ids[3];
    lead(5);
    for (int term = 6; term < 8; term++) {
        say(binder, "leadership leading=true lead_term=%d identity=\"me\" holder=\"me\"", term);
        for (int i = 0; i < 3; i++) {
            assert_true(take(WATCHER, MSG_barrier, &m));
            ids[i] = m.barrier.id;
            say(watcher, "peer_down");
            say(watcher, "peer_up");
        }
        assert_true(ids[0] != ids[1] && ids[1] != ids[2]);
        assert_true(take(WATCHER, MSG_barrier, &m));
    }
    say(binder, "leadership leading=true lead_term=8 identity=\"me\" holder=\"me\"");
    for (int i = 0; i < 3; i++)
        stream("barrier_reached id=%lld", (long long)ids[i]); /* of the term before */
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "barrier");
    assert_true(take(WATCHER, MSG_barrier, &m));
    say(watcher, "peer_down");
    say(watcher, "peer_up");
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

/* Without a lease nobody else knows that it died, and what it may have had under way. */
static void a_binder_that_died_is_given_time_to_have_written(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    lead(5);
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=true lead_term=6 identity=\"me\" holder=\"me\"");
    attempt("p", 100, 1);
    for (int i = 0; i < 9; i++) {
        tick_after(1000);
        say(binder, "peer_down"); /* and its link breaks again and again */
        say(binder, "peer_up");
        say(binder, "leadership leading=true lead_term=6 identity=\"me\" holder=\"me\"");
    }
    tick_after(999);
    stream("view synced=true");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "writes of a former binder");
    assert_false(take(WATCHER, MSG_barrier, &m));
    tick_after(1);
    assert_true(take(WATCHER, MSG_barrier, &m)); /* so that it shows them */
    assert_false(take(BINDER, MSG_bind, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

/* Without a lease the next one leads at once; that it is stopped says nothing of the one before. */
static void a_farewell_does_not_end_the_wait_for_a_former_binder(void **state)
{
    (void)state;
    lead(5);
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=true lead_term=6 identity=\"me\" holder=\"me\"");
    tick_after(1000);
    say(binder, "leadership leading=false lead_term=6");
    say(binder, "leadership leading=false lead_term=6"); /* as each second */
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=true lead_term=7 identity=\"me\" holder=\"me\"");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "writes of a former binder");
    tick_after(9000);
    assert_string_not_equal(coordinator_waits_for(w.coordinator, w.now),
                            "writes of a former binder");
}

/* It was stopped and gave up waiting for an answer, or was killed while it waited. */
static void a_farewell_with_something_unanswered_is_none(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    lead(5);
    say(binder, "leadership leading=false lead_term=5 unanswered=true");
    say(binder, "peer_down"); /* its link broke: it lives */
    say(binder, "peer_up");
    say(binder, "leadership leading=false lead_term=5 unanswered=true");
    tick_after(1000);
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=true lead_term=6 identity=\"me\" holder=\"me\"");
    tick_after(9999);
    stream("view synced=true");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "writes of a former binder");
    assert_false(take(WATCHER, MSG_barrier, &m));
    tick_after(1);
    assert_true(take(WATCHER, MSG_barrier, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
    say(binder, "leadership leading=false lead_term=6 unanswered=true");
    say(binder, "leadership leading=false lead_term=6"); /* the answer has come */
    say(binder, "peer_down");
    say(binder, "peer_up");
    lead(7);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
    say(binder, "leadership leading=false lead_term=7 unanswered=true");
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=false lead_term=8"); /* this one has a lease to go by */
    lead(8);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

/* It lives, or has said farewell, or the next one has a lease and waits by itself. */
static void other_binders_are_followed_at_once(void **state)
{
    (void)state;
    lead(5);
    say(binder, "peer_down");
    say(binder, "peer_up");
    lead(5);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
    say(binder, "leadership leading=false lead_term=5");
    say(binder, "peer_down");
    say(binder, "peer_up");
    lead(6);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
    say(binder, "peer_down");
    say(binder, "peer_up");
    say(binder, "leadership leading=false lead_term=7");
    lead(7);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

static void nothing_is_decided_while_a_former_lifes_bind_is_in_flight(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                "in_flight=[{uid=\"u-x\" node_name=\"a\"}]");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "binds of a former life");
    assert_false(take(WATCHER, MSG_barrier, &m));
    assert_true(take(BINDER, MSG_bind_cancel, &m)); /* it may wait for its claims for minutes */
    assert_true(str_is(m.bind_cancel.uid, "u-x"));
    assert_true(str_is(m.bind_cancel.node_name, "a"));
    lead(5);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
}

static void a_former_lifes_bind_stops_nothing_once_it_is_answered(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                "in_flight=[{uid=\"u-x\" node_name=\"a\"} {uid=\"u-y\" node_name=\"b\"}]");
    say(binder, "bind_result uid=\"u-x\" namespace_name=\"default\" name=\"x\" node_name=\"a\" "
                "bound=true code=201");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "binds of a former life");
    say(binder, "bind_result uid=\"u-y\" namespace_name=\"default\" name=\"y\" node_name=\"b\" "
                "code=409 message=\"no\"");
    assert_true(take(WATCHER, MSG_barrier, &m)); /* the view is to include them */
}

/* The watch is often faster than the answer to the POST. */
static void a_bind_that_the_view_confirms_stops_nothing(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    stream("pod_set %s", pod_text("p", 100, "node_name=\"a\" resource_version=9"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                "in_flight=[{uid=\"u-p\" node_name=\"a\"}]");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
    assert_false(take(BINDER, MSG_bind_cancel, &m));
}

static void a_dead_workers_nodes_are_seen_by_the_others(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    w.alive[0] = w.alive[1] = w.alive[2] = false; /* nobody answers */
    attempt("p", 100, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    w.alive[2] = true;
    die(0);
    die(1);
    assert_true(take(BINDER, MSG_bind, &m)); /* asked again, and only once decided */
    assert_true(str_is(m.bind.node_name, "a"));
    assert_false(take(BINDER, MSG_bind, &m));
}

static void without_workers_pods_wait_and_are_not_failed(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    for (uint32_t k = 0; k < WORKERS; k++)
        die(k);
    attempt("p", 100, 1);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "a worker");
    assert_false(take(BINDER, MSG_pod_failed, &m));
    join(1);
    assert_true(take(BINDER, MSG_bind, &m));
}

static void losing_leadership_gives_pods_back(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder, "leadership lead_term=5 identity=\"me\" holder=\"other\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped && m.outcome.released);
    tick_after(1000);
    bool zero = false;
    while (take(QUEUE, MSG_pull, &m))
        zero = m.pull.credit == 0;
    assert_true(zero);
    attempt("q", 100, 2); /* was under way when the credit was taken back */
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "q") && m.outcome.result == OUTCOME_skipped);
    lead(6);
    attempt("r", 3900, 3); /* fits only because p's room is free again */
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "r"));
}

/* Whoever was turned away meanwhile may fit where it is no more. */
static void a_bind_that_ended_with_its_term_says_that_room_is_free(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    lead(6);
    assert_false(take(QUEUE, MSG_outcome, &m));
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound && m.outcome.released);
}

/* The queue reads the same stream by itself, and may be behind. */
static void a_pod_that_was_seen_to_go_is_not_decided(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    attempt("p", 100, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    stream("pod_set %s", pod_text("p", 100, "resource_version=9")); /* of a restored cluster */
    attempt("p", 100, 2);
    assert_true(take(BINDER, MSG_bind, &m));
}

static void a_bind_in_flight_survives_the_loss_of_leadership(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 4000, 1);
    say(binder, "leadership lead_term=5 identity=\"me\" in_flight=[{uid=\"u-p\" node_name=\"a\"}]");
    assert_false(take(QUEUE, MSG_outcome, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound);
}

static void a_lost_bind_is_sent_again(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    for (int i = 0; i < 3; i++)
        say(binder, "leadership leading=true lead_term=5 identity=\"me\"");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.uid, "u-p"));
    assert_false(take(BINDER, MSG_bind, &m));
}

static void the_watch_confirms_a_bind_that_nobody_answered(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    stream("pod_set %s", pod_text("p", 100, "node_name=\"a\" resource_version=9"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound);
}

/* What it was assumed with was kept for it, and may have turned others away. */
static void a_pod_that_was_resized_while_it_was_bound_lets_others_try(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    stream("pod_set %s", pod_text("p", 50, "resource_version=8 generation=2"));
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    stream("pod_set %s", pod_text("p", 50, "node_name=\"a\" resource_version=9 generation=2"));
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    assert_true(str_is(m.plugin_back.name, "NodeResourcesFit"));
    stream("pod_set %s", pod_text("p", 50, "node_name=\"a\" resource_version=10 generation=3"));
    assert_false(take(QUEUE, MSG_plugin_back, &m)); /* the watch tells the queue itself */
    attempt("q", 100, 2);
    stream("pod_set %s", pod_text("q", 100, "node_name=\"a\" resource_version=11"));
    assert_false(take(QUEUE, MSG_plugin_back, &m));
}

static void a_bind_that_finds_its_pod_gone_says_that_room_is_free(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    assert_false(take(QUEUE, MSG_outcome, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "code=404 gone=true");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    assert_true(m.outcome.released);
}

/* Leads, and what comes waits until there is a view again. */
static void lead_blind(void)
{
    lead(5);
    tick_after(61000);
}

static void a_pod_that_is_gone_or_deleting_is_skipped(void **state)
{
    (void)state;
    struct message m;
    lead_blind();
    attempt("p", 100, 1);
    attempt("q", 100, 2);
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    stream("pod_set %s", pod_text("q", 100, "deleting=true resource_version=9"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "p"));
    stream("view synced=true age_ms=10");
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(m.pod_failed.event_only);
    assert_true(str_is(m.pod_failed.message, "skip schedule deleting pod: default/q"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
}

/* It fits on what of it was understood; its owner hears why it is not placed, and others are. */
static void a_pod_that_is_not_understood_is_not_placed(void **state)
{
    (void)state;
    struct message m;
    lead_blind();
    attempt("p", 100, 1);
    attempt("q", 100, 2);
    stream("pod_set %s", pod_text("p", 100, "unreadable=\"spec: is odd\" resource_version=9"));
    stream("view synced=true age_ms=10");
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.pod.name, "p"));
    assert_int_equal(m.pod_failed.reason, REASON_scheduler_error);
    assert_true(str_is(m.pod_failed.message, "the pod cannot be understood: spec: is odd"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
}

static void a_stale_view_stops_decisions(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    tick_after(61000);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "a fresh view");
    attempt("p", 100, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    stream("view synced=true age_ms=61000");
    assert_false(take(BINDER, MSG_bind, &m));
    stream("view synced=true age_ms=10");
    assert_true(take(BINDER, MSG_bind, &m));
}

static void an_attempt_waits_until_the_view_is_as_new_as_the_queues(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    say(queue, "attempt %s attempts=1 cycle=1 epoch=7 sequence=%lld", pod_text("p", 3000, ""),
        (long long)w.sequence + 2);
    assert_false(take(BINDER, MSG_bind, &m));
    node("c", 100);
    assert_false(take(BINDER, MSG_bind, &m));
    node("b", 64000);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "b"));
    say(queue, "attempt %s attempts=1 cycle=2 epoch=8 sequence=1", pod_text("q", 100, ""));
    assert_false(take(BINDER, MSG_bind, &m));
    tick_after(2000); /* that life of the watcher may have ended */
    assert_true(take(BINDER, MSG_bind, &m));
    /* It may as well be a new one that starts on a clock that has stepped back. */
    say(queue, "attempt %s attempts=1 cycle=3 epoch=6 sequence=1", pod_text("r", 100, ""));
    assert_false(take(BINDER, MSG_bind, &m));
}

/* Else it would sleep beside what it was not seen to need. */
static void whoever_is_turned_away_on_an_older_view_is_said_to_be_behind(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    say(queue, "attempt %s attempts=1 cycle=1 epoch=7 sequence=%lld", pod_text("p", 64000, ""),
        (long long)w.sequence + 1);
    assert_false(take(QUEUE, MSG_outcome, &m));
    tick_after(2000);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_true(m.outcome.behind);
    say(queue, "attempt %s attempts=2 cycle=2 epoch=7 sequence=%lld", pod_text("p", 64000, ""),
        (long long)w.sequence);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_false(m.outcome.behind);
}

/* Its position is told first, what there is comes behind that. */
static void a_snapshot_is_as_new_as_its_position_once_it_is_whole(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    int64_t at = w.sequence + 10;
    w.sequence = at - 1;
    stream("snapshot_begin");
    say(queue, "attempt %s attempts=1 cycle=1 epoch=7 sequence=%lld", pod_text("q", 100, ""),
        (long long)at - 10);
    assert_true(take(BINDER, MSG_bind, &m)); /* what was known before is known still */
    assert_true(str_is(m.bind.name, "q"));
    say(queue, "attempt %s attempts=1 cycle=2 epoch=7 sequence=%lld", pod_text("p", 64000, ""),
        (long long)at);
    w.sequence = at - 1;
    stream("pod_set %s", pod_text("p", 64000, "")); /* else it would have gone */
    w.sequence = at - 1;
    node("a", 4000);
    assert_false(take(QUEUE, MSG_outcome, &m));
    w.sequence = at - 1;
    node("b", 64000);
    w.sequence = at - 1;
    stream("snapshot_end");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "p"));
    assert_true(str_is(m.bind.node_name, "b"));
}

static void a_queue_that_restarted_gets_no_outcome_it_does_not_know(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    say(queue, "peer_down process=\"queue\"");
    say(queue, "peer_up process=\"queue\"");
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201");
    assert_false(take(QUEUE, MSG_outcome, &m));
}

static int pods_of_workers(void)
{
    int pods = 0;
    for (uint32_t k = 0; k < WORKERS; k++) {
        struct buffer lines = {0};
        worker_status(w.workers[k], &lines);
        const char *at = strstr(lines.at, "\npods=");
        assert_non_null(at);
        pods += at[strlen("\npods=")] - '0';
        buffer_free(&lines);
    }
    return pods;
}

static void workers_hear_of_changes_between_decisions_only(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    w.alive[2] = false; /* silent, but not known to be */
    attempt("p", 100, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    stream("pod_set %s", pod_text("q", 1000, "node_name=\"a\" resource_version=9"));
    assert_int_equal(pods_of_workers(), 0);
    die(2);
    assert_true(take(BINDER, MSG_bind, &m)); /* decided anew, on what is known now */
    assert_int_equal(pods_of_workers(), 2);
}

/* What it told the binder last, a second later; NULL: nothing. */
static const char *lacks_now(void)
{
    static char lacks[64];
    struct message m;
    int told = 0;
    stream("view synced=true");
    while (take(BINDER, MSG_readiness, &m))
        continue;
    tick_after(1000);
    for (; take(BINDER, MSG_readiness, &m); told++) {
        assert_int_equal(m.readiness.ready, m.readiness.lacks.len == 0);
        snprintf(lacks, sizeof(lacks), "%.*s", STR_ARG(m.readiness.lacks));
    }
    assert_in_range(told, 0, 1);
    return told > 0 ? lacks : NULL;
}

static void the_binder_hears_whether_it_could_decide(void **state)
{
    (void)state;
    struct message m;
    assert_true(take(BINDER, MSG_readiness, &m)); /* as soon as it is there */
    assert_string_equal(lacks_now(), "");         /* it does not lead, but could */
    lead(5);
    assert_string_equal(lacks_now(), "");
    say(queue, "peer_down process=\"queue\"");
    assert_string_equal(lacks_now(), "the queue");
    say(queue, "peer_up process=\"queue\"");
    assert_string_equal(lacks_now(), "");
    say(watcher, "peer_down process=\"watcher\"");
    assert_string_equal(lacks_now(), "the watcher");
    say(watcher, "peer_up process=\"watcher\"");
    assert_string_equal(lacks_now(), "");
    for (uint32_t k = 0; k < WORKERS; k++)
        die(k);
    assert_string_equal(lacks_now(), "a worker");
    join(1);
    assert_string_equal(lacks_now(), "");
    tick_after(3600 * 1000LL);
    while (take(BINDER, MSG_readiness, &m))
        continue;
    tick_after(1000);
    assert_true(take(BINDER, MSG_readiness, &m));
    assert_true(str_is(m.readiness.lacks, "a fresh view"));
    say(binder, "peer_down process=\"binder\"");
    assert_null(lacks_now());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(takes_exactly_the_messages_addressed_to_it),
        TEST(a_pod_is_bound_on_the_emptier_node),
        TEST(room_is_taken_at_once_and_given_back_when_the_bind_fails),
        TEST(a_bind_says_where_the_time_of_its_decision_went),
        TEST(nothing_is_decided_before_the_barrier),
        TEST(the_binder_hears_whether_it_could_decide),
        cmocka_unit_test_setup_teardown(the_barrier_is_asked_for_before_the_first_snapshot,
                                        start_blank, stop),
        TEST(a_barrier_under_way_is_not_asked_for_anew),
        TEST(any_barrier_of_the_term_will_do),
        TEST(a_binder_that_died_is_given_time_to_have_written),
        TEST(a_farewell_does_not_end_the_wait_for_a_former_binder),
        TEST(a_farewell_with_something_unanswered_is_none),
        TEST(other_binders_are_followed_at_once),
        TEST(nothing_is_decided_while_a_former_lifes_bind_is_in_flight),
        TEST(a_former_lifes_bind_stops_nothing_once_it_is_answered),
        TEST(a_bind_that_the_view_confirms_stops_nothing),
        TEST(a_dead_workers_nodes_are_seen_by_the_others),
        TEST(without_workers_pods_wait_and_are_not_failed),
        TEST(losing_leadership_gives_pods_back),
        TEST(a_bind_that_ended_with_its_term_says_that_room_is_free),
        TEST(a_pod_that_was_seen_to_go_is_not_decided),
        TEST(a_bind_in_flight_survives_the_loss_of_leadership),
        TEST(a_lost_bind_is_sent_again),
        TEST(the_watch_confirms_a_bind_that_nobody_answered),
        TEST(a_pod_that_was_resized_while_it_was_bound_lets_others_try),
        TEST(a_bind_that_finds_its_pod_gone_says_that_room_is_free),
        TEST(a_pod_that_is_gone_or_deleting_is_skipped),
        TEST(a_pod_that_is_not_understood_is_not_placed),
        TEST(a_stale_view_stops_decisions),
        TEST(an_attempt_waits_until_the_view_is_as_new_as_the_queues),
        TEST(whoever_is_turned_away_on_an_older_view_is_said_to_be_behind),
        TEST(a_snapshot_is_as_new_as_its_position_once_it_is_whole),
        TEST(workers_hear_of_changes_between_decisions_only),
        TEST(a_queue_that_restarted_gets_no_outcome_it_does_not_know),
    };
    return cmocka_run_group_tests_name("coordinator", tests, NULL, NULL);
}
