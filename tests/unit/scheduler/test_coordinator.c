/* test_coordinator: the coordinator with real workers, in one program and in virtual time; the test
 * plays watcher, queue and binder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/memory.h"
#include "scheduler/coordinator.h"
#include "scheduler/worker.h"

#define WORKERS 3

static const struct address watcher = {WATCHER, 101}, queue = {QUEUE, 102}, binder = {BINDER, 103};

struct world {
    struct coordinator *coordinator;
    struct worker *workers[WORKERS];
    bool alive[WORKERS];
    struct outbox out;  /* what is being delivered */
    struct outbox seen; /* what watcher, queue and binder got and no test took yet */
    struct arena arena;
    struct moment now;
    int64_t sequence;
};

static struct world w;

static void coordinator_gets(struct address from, const struct message *m, bool numbered);

/* Delivers what the coordinator and the workers say, until nobody says anything: as deep as a
 * conversation is long. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void settle(struct outbox *out)
{
    struct arena memory = {0};
    for (size_t i = 0; i < out->count; i++) {
        struct message m;
        struct address to = out->at[i].to;
        assert_true(outbox_get(out, i, &m, &memory));
        if (to.process != WORKER) {
            outbox_put(&w.seen, to, &m);
            continue;
        }
        uint32_t k = to.peer - 1;
        assert_true(k < WORKERS);
        if (!w.alive[k])
            continue;
        struct outbox answers = {0};
        struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
        worker_handle(w.workers[k], w.now, &in, &answers);
        for (size_t a = 0; a < answers.count; a++) {
            struct message answer;
            assert_true(outbox_get(&answers, a, &answer, &memory));
            coordinator_gets((struct address){WORKER, k + 1}, &answer, false);
        }
        outbox_free(&answers);
    }
    arena_free(&memory);
}

/* NOLINTNEXTLINE(misc-no-recursion): see settle */
static void coordinator_gets(struct address from, const struct message *m, bool numbered)
{
    struct outbox out = {0};
    struct delivery in = {.from = from, .message = m};
    if (numbered) {
        in.epoch = 7;
        in.sequence = w.sequence;
    }
    coordinator_handle(w.coordinator, w.now, &in, &out);
    settle(&out);
    outbox_free(&out);
}

static void tick_after(int64_t ms)
{
    struct outbox out = {0};
    w.now = moment_after(w.now, span_of_ms(ms));
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

static struct message message(const char *text)
{
    struct message m;
    struct str all = str_of(text), error;
    int64_t blank = str_find(all, ' ');
    struct str name = {all.at, blank < 0 ? all.len : (uint32_t)blank};
    m.type = message_type_of(name);
    assert_true(m.type != MSG_none);
    struct str rest = {all.at + name.len, all.len - name.len};
    if (!codec_parse(message_info[m.type].record, message_body(&m), rest, &w.arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    return m;
}

static void say(struct address from, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = message(text);
    coordinator_gets(from, &m, false);
}

/* A change in the watcher's stream. */
static void stream(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = message(text);
    w.sequence++;
    coordinator_gets(watcher, &m, true);
}

/* The oldest message to that process of that type; false when there is none. Takes it. */
static bool take(enum process to, enum message_type type, struct message *m)
{
    for (size_t i = 0; i < w.seen.count; i++)
        if (w.seen.at[i].to.process == to && w.seen.at[i].type == type) {
            assert_true(outbox_get(&w.seen, i, m, &w.arena));
            codec_copy(message_info[type].record, message_body(m), message_body(m), &w.arena);
            w.seen.at[i].to.process = (enum process)0;
            return true;
        }
    return false;
}

static void join(uint32_t k)
{
    w.alive[k] = true;
    struct message up = {.type = MSG_peer_up};
    struct outbox out = {0};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &up};
    worker_handle(w.workers[k], w.now, &in, &out);
    struct message m;
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &m, &w.arena));
    coordinator_gets((struct address){WORKER, k + 1}, &m, false);
    outbox_free(&out);
}

static void die(uint32_t k)
{
    w.alive[k] = false;
    coordinator_gets((struct address){WORKER, k + 1}, &(struct message){.type = MSG_peer_down},
                     false);
}

static const char *const profile_text =
    "shard_reset profiles=[{scheduler_name=\"default-scheduler\" pre_filter=[\"NodeResourcesFit\"] "
    "filter=[\"NodeUnschedulable\" \"NodeResourcesFit\"] "
    "score=[{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"LeastAllocated\" "
    "fit_resources=[{name=\"cpu\" amount=1} {name=\"memory\" amount=1}]}]";

static void node(const char *name, int cpu)
{
    stream("node_set node={name=\"%s\" allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}]}",
           name, cpu);
}

static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 %s}",
             name, name, cpu, cpu, cpu, cpu, more);
    return text;
}

static void attempt(const char *name, int cpu, int cycle)
{
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(name, cpu, ""), cycle);
}

/* Everything is there: two nodes, three workers, leadership of term 5, the barrier. */
static void lead(int term)
{
    struct message m = {.type = MSG_none};
    say(binder, "leadership leading=true lead_term=%d identity=\"me\" holder=\"me\"", term);
    assert_true(take(WATCHER, MSG_barrier, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
}

static int start(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    w.now = (struct moment){1000000000};
    struct message profiles = message(profile_text);
    w.coordinator = coordinator_new(
        &(struct coordinator_options){.profiles = profiles.shard_reset.profiles.at,
                                      .profile_count = profiles.shard_reset.profiles.count,
                                      .tie_break = "first",
                                      .credit = 10});
    for (uint32_t k = 0; k < WORKERS; k++) {
        w.workers[k] = worker_new("w", 1);
        join(k);
    }
    say(watcher, "peer_up process=\"watcher\"");
    say(queue, "peer_up process=\"queue\"");
    say(binder, "peer_up process=\"binder\"");
    w.sequence = 0;
    stream("snapshot_begin");
    w.sequence = 0;
    node("a", 4000);
    w.sequence = 0;
    node("b", 2000);
    w.sequence = 0;
    stream("snapshot_end");
    stream("view synced=true");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    coordinator_free(&w.coordinator);
    for (uint32_t k = 0; k < WORKERS; k++)
        worker_free(&w.workers[k]);
    outbox_free(&w.seen);
    arena_free(&w.arena);
    return 0;
}

static void takes_exactly_the_messages_addressed_to_it(void **state)
{
    (void)state;
    for (int t = 10; t < MSG_COUNT; t++) { /* below 10 the bus answers */
        if (message_info[t].record == NULL)
            continue;
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
    assert_true(str_is(m.outcome.result, "bound"));
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
    assert_true(str_is(m.outcome.result, "unschedulable"));
    assert_int_equal(m.outcome.plugins.count, 1);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "code=409 message=\"no\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.result, "error"));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.message, "running Bind plugin \"DefaultBinder\": no"));
    attempt("q", 4000, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
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

static void nothing_is_decided_while_a_former_lifes_bind_is_in_flight(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" "
                "in_flight=[{uid=\"u-x\" node_name=\"a\"}]");
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "binds of a former life");
    assert_false(take(WATCHER, MSG_barrier, &m));
    lead(5);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "");
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
    assert_true(str_is(m.outcome.result, "skipped"));
    tick_after(1000);
    bool zero = false;
    while (take(QUEUE, MSG_pull, &m))
        zero = m.pull.credit == 0;
    assert_true(zero);
    attempt("q", 100, 2); /* was under way when the credit was taken back */
    assert_false(take(BINDER, MSG_bind, &m));
    lead(6);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
    attempt("r", 3900, 3); /* fits only because p's room is free again */
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "r"));
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
    assert_true(str_is(m.outcome.result, "bound"));
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
    assert_true(str_is(m.outcome.result, "bound"));
}

static void a_pod_that_is_gone_or_deleting_is_skipped(void **state)
{
    (void)state;
    struct message m;
    attempt("p", 100, 1);
    attempt("q", 100, 2);
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    stream("pod_set %s", pod_text("q", 100, "deleting=true resource_version=9"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "p"));
    lead(5);
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(m.pod_failed.event_only);
    assert_true(str_is(m.pod_failed.message, "skip schedule deleting pod: default/q"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.result, "skipped"));
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(takes_exactly_the_messages_addressed_to_it),
        TEST(a_pod_is_bound_on_the_emptier_node),
        TEST(room_is_taken_at_once_and_given_back_when_the_bind_fails),
        TEST(nothing_is_decided_before_the_barrier),
        TEST(nothing_is_decided_while_a_former_lifes_bind_is_in_flight),
        TEST(a_dead_workers_nodes_are_seen_by_the_others),
        TEST(without_workers_pods_wait_and_are_not_failed),
        TEST(losing_leadership_gives_pods_back),
        TEST(a_bind_in_flight_survives_the_loss_of_leadership),
        TEST(a_lost_bind_is_sent_again),
        TEST(the_watch_confirms_a_bind_that_nobody_answered),
        TEST(a_pod_that_is_gone_or_deleting_is_skipped),
        TEST(a_stale_view_stops_decisions),
        TEST(an_attempt_waits_until_the_view_is_as_new_as_the_queues),
        TEST(a_queue_that_restarted_gets_no_outcome_it_does_not_know),
    };
    return cmocka_run_group_tests_name("coordinator", tests, NULL, NULL);
}
