/* test_queue: the queue's parts by themselves, and what a scenario cannot say: the table of
 * messages, snapshots before there is anything, profiles, and a peer that talks nonsense. */
#include "queue/queue.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "queue/hooks/hooks.h"
#include "queue/queues.h"
#include "queue/settings.h"
#include "tests/unit/queue/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND 1000000000LL

/* ---- the core behind its messages ---- */

struct world {
    struct queue *queue;
    struct outbox out;
    struct arena arena;
    int64_t sequence, part;
    struct moment now;
};

static const struct queue_options plain = {.backoff_initial = {SECOND},
                                           .backoff_max = {10 * SECOND},
                                           .unschedulable_max = {300 * SECOND},
                                           .wall_us_at_zero = 5000000,
                                           .first_cycle = 70};

static struct world open_world(const struct queue_options *options)
{
    struct world w = {.queue = queue_new(options), .now = {100 * SECOND}};
    log_open("test", LOG_LEVEL_error);
    return w;
}

static void close_world(struct world *w)
{
    check_queues(queue_inside(w->queue));
    queue_free(&w->queue);
    outbox_free(&w->out);
    arena_free(&w->arena);
}

static void from(struct world *w, enum process process, uint32_t peer, const struct message *m)
{
    struct delivery in = {.from = {process, peer}, .message = m};
    if (process == WATCHER && m->type >= MSG_snapshot_begin) {
        if (m->type == MSG_snapshot_begin)
            w->part = 1;
        in.part = w->part;
        w->sequence += w->part == 0 || m->type == MSG_snapshot_begin;
        w->part = m->type == MSG_snapshot_end || w->part == 0 ? 0 : w->part + 1;
        in.epoch = 1;
        in.sequence = w->sequence;
    }
    queue_handle(w->queue, w->now, &in, &w->out);
    queue_tick(w->queue, w->now, &w->out);
    check_queues(queue_inside(w->queue));
}

static void say(struct world *w, enum process process, enum message_type type)
{
    from(w, process, 7, &(struct message){.type = type});
}

static struct pod pod_named(const char *name)
{
    return (struct pod){.uid = str_of(name),
                        .name = str_of(name),
                        .namespace_name = STR_LITERAL("ns"),
                        .scheduler_name = STR_LITERAL("default-scheduler")};
}

static void set_pod(struct world *w, const struct pod *pod)
{
    struct message m = {.type = MSG_pod_set, .pod_set = {.pod = *pod}};
    from(w, WATCHER, 7, &m);
}

static void pull(struct world *w, int64_t credit)
{
    struct message m = {.type = MSG_pull, .pull = {.credit = credit}};
    from(w, SCHEDULER, 7, &m);
}

/* The attempts sent so far; the last one in *last. */
static size_t attempts(struct world *w, struct attempt *last)
{
    size_t count = 0;
    for (size_t i = 0; i < w->out.count; i++) {
        struct message m;
        if (w->out.at[i].type != MSG_attempt)
            continue;
        assert_true(outbox_get(&w->out, i, &m, &w->arena));
        *last = m.attempt;
        count++;
    }
    return count;
}

static struct message outcome_of(const struct pod *pod, const struct attempt *a,
                                 enum outcome_result result)
{
    return (struct message){.type = MSG_outcome,
                            .outcome = {.uid = pod->uid,
                                        .namespace_name = pod->namespace_name,
                                        .name = pod->name,
                                        .cycle = a->cycle,
                                        .result = result}};
}

static bool status_says(struct world *w, const char *line)
{
    struct buffer lines = {0};
    queue_status(w->queue, &lines);
    bool found = strstr(lines.at, line) != NULL;
    buffer_free(&lines);
    return found;
}

static void sync(struct world *w)
{
    say(w, WATCHER, MSG_peer_up);
    say(w, WATCHER, MSG_snapshot_begin);
    say(w, WATCHER, MSG_snapshot_end);
    say(w, SCHEDULER, MSG_peer_up);
}

static void takes_exactly_the_messages_addressed_to_it(void **state)
{
    (void)state;
    for (int t = 1; t < MSG_COUNT; t++) {
        const struct message_info *info = &message_info[t];
        bool local = t == MSG_peer_up || t == MSG_peer_down;
        bool to_us = info->record != NULL && info->to != ANY && (info->to & QUEUE) != 0;
        assert_int_equal(queue_takes((enum message_type)t), local || to_us);
    }
}

static void nothing_is_offered_before_the_first_whole_snapshot(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a"), b = pod_named("b");
    struct attempt last = {0};
    b.priority = 1;
    say(&w, SCHEDULER, MSG_peer_up);
    pull(&w, 1);
    say(&w, WATCHER, MSG_peer_up);
    say(&w, WATCHER, MSG_snapshot_begin);
    set_pod(&w, &a);
    set_pod(&w, &b);
    assert_int_equal(attempts(&w, &last), 0);
    say(&w, WATCHER, MSG_snapshot_end);
    assert_int_equal(attempts(&w, &last), 1);
    assert_true(str_is(last.pod.name, "b"));
    close_world(&w);
}

static void an_attempt_says_when_where_and_which(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct attempt last = {0};
    sync(&w);
    set_pod(&w, &a);
    w.now = (struct moment){103 * SECOND};
    pull(&w, 1);
    assert_int_equal(attempts(&w, &last), 1);
    assert_int_equal(last.first_us, 5000000 + 100 * 1000000);
    assert_int_equal(last.cycle, 71);
    assert_int_equal(last.attempts, 1);
    assert_int_equal(last.epoch, 1);
    assert_int_equal(last.sequence, w.sequence);
    close_world(&w);
}

static void profiles_say_whose_pods_are_ours_and_whether_gates_hold_them(void **state)
{
    (void)state;
    struct str gates = STR_LITERAL("SchedulingGates"), gate = STR_LITERAL("g");
    struct profile profiles[2] = {
        {.scheduler_name = STR_LITERAL("careful"), .pre_enqueue = {1, &gates}},
        {.scheduler_name = STR_LITERAL("careless")}};
    struct queue_options options = plain;
    options.profiles = profiles;
    options.profile_count = 2;
    struct world w = open_world(&options);
    struct pod careful = pod_named("a"), careless = pod_named("b"), other = pod_named("c");
    struct attempt last = {0};
    careful.scheduler_name = profiles[0].scheduler_name;
    careless.scheduler_name = profiles[1].scheduler_name;
    careful.gates = careless.gates = (struct strs){1, &gate};
    sync(&w);
    pull(&w, 9);
    set_pod(&w, &careful);
    set_pod(&w, &careless);
    set_pod(&w, &other);
    assert_int_equal(attempts(&w, &last), 1);
    assert_true(str_is(last.pod.name, "b"));
    assert_true(status_says(&w, "pending=2\n"));
    assert_true(status_says(&w, "gated=1\n"));
    close_world(&w);
}

static void nameless_objects_are_refused_and_counted(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod nobody = pod_named("a");
    sync(&w);
    nobody.uid.len = 0;
    set_pod(&w, &nobody);
    say(&w, WATCHER, MSG_node_set);
    say(&w, WATCHER, MSG_pod_gone);
    say(&w, WATCHER, MSG_node_gone);
    say(&w, SCHEDULER, MSG_outcome);
    assert_true(status_says(&w, "refused=2\n"));
    assert_true(status_says(&w, "pending=0\n"));
    assert_true(status_says(&w, "late_outcomes=1\n"));
    close_world(&w);
}

static void a_credit_without_bounds_is_bounded(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    sync(&w);
    pull(&w, INT64_MAX);
    assert_true(status_says(&w, "credit=65536\n"));
    pull(&w, -5);
    assert_true(status_says(&w, "credit=0\n"));
    close_world(&w);
}

static void a_pull_from_an_unknown_scheduler_is_another_life(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct attempt last = {0};
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    struct message m = {.type = MSG_pull, .pull = {.credit = 1}};
    from(&w, SCHEDULER, 8, &m);
    assert_int_equal(attempts(&w, &last), 2);
    assert_int_equal(last.attempts, 2);
    assert_int_equal(w.out.at[w.out.count - 1].to.peer, 8);
    close_world(&w);
}

static void the_end_of_a_former_life_takes_nothing_back(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    from(&w, SCHEDULER, 6, &(struct message){.type = MSG_peer_down});
    assert_true(status_says(&w, "in_flight=1\n"));
    assert_true(status_says(&w, "scheduler=up\n"));
    from(&w, SCHEDULER, 7, &(struct message){.type = MSG_peer_down});
    assert_true(status_says(&w, "in_flight=0\n"));
    close_world(&w);
}

static void the_next_tick_is_due_with_the_next_flush(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct attempt last = {0};
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    w.now = (struct moment){100 * SECOND + 400};
    assert_int_equal(attempts(&w, &last), 1);
    struct message m = outcome_of(&a, &last, OUTCOME_error);
    from(&w, SCHEDULER, 7, &m);
    struct moment next = queue_tick(w.queue, w.now, &w.out);
    assert_true(next.ns > w.now.ns && next.ns <= 101 * SECOND);
    close_world(&w);
}

/* Of a plugin only those that it turned away are woken; without a name, everybody is. */
static void what_the_scheduler_has_free_again_wakes_whom_it_may_help(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct attempt last = {0};
    struct str fit = STR_LITERAL("NodeResourcesFit");
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    assert_int_equal(attempts(&w, &last), 1);
    struct message m = outcome_of(&a, &last, OUTCOME_unschedulable);
    m.outcome.plugins = (struct strs){1, &fit};
    from(&w, SCHEDULER, 7, &m);
    assert_true(status_says(&w, "\nunschedulable=1\n"));
    m = (struct message){.type = MSG_plugin_back,
                         .plugin_back = {.name = STR_LITERAL("VolumeBinding")}};
    from(&w, SCHEDULER, 7, &m);
    assert_true(status_says(&w, "\nunschedulable=1\n"));
    m.plugin_back.name = (struct str){NULL, 0};
    from(&w, QUEUE, 7, &m); /* whoever says so has to be the scheduler */
    assert_true(status_says(&w, "\nunschedulable=1\n"));
    from(&w, SCHEDULER, 7, &m);
    assert_true(status_says(&w, "\nunschedulable=0\n"));
    close_world(&w);
}

/* It was to be bound to one node first, and is on another one. */
static void room_that_a_bound_pod_gave_back_is_offered_to_others(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a"), b = pod_named("b");
    struct attempt first = {0}, second = {0};
    struct str fit = STR_LITERAL("NodeResourcesFit");
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    assert_int_equal(attempts(&w, &first), 1);
    set_pod(&w, &b);
    pull(&w, 2);
    assert_int_equal(attempts(&w, &second), 2);
    struct message m = outcome_of(&b, &second, OUTCOME_unschedulable);
    m.outcome.plugins = (struct strs){1, &fit};
    from(&w, SCHEDULER, 7, &m);
    assert_true(status_says(&w, "\nunschedulable=1\n"));
    m = outcome_of(&a, &first, OUTCOME_bound);
    m.outcome.released = true;
    from(&w, SCHEDULER, 7, &m);
    assert_true(status_says(&w, "\nunschedulable=0\n"));
    close_world(&w);
}

static void go(struct world *w, const struct pod *pod)
{
    struct message m = {
        .type = MSG_pod_gone,
        .pod_gone = {.uid = pod->uid, .namespace_name = pod->namespace_name, .name = pod->name}};
    from(w, WATCHER, 7, &m);
}

/* The next attempt, which is the nth, is b's, and no node takes it. */
static void reject(struct world *w, const struct pod *b, size_t nth)
{
    struct attempt last = {0};
    struct str fit = STR_LITERAL("NodeResourcesFit");
    assert_int_equal(attempts(w, &last), nth);
    struct message m = outcome_of(b, &last, OUTCOME_unschedulable);
    m.outcome.plugins = (struct strs){1, &fit};
    from(w, SCHEDULER, 7, &m);
    assert_true(status_says(w, "\nunschedulable=1\n"));
}

/* A queue that starts anew is shown a pod as pending by a view that is behind, and next that it is
 * gone. The scheduler, which has placed it, has said no more than that it skips it. */
static void room_of_a_skipped_pod_that_goes_is_offered_to_others(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a"), b = pod_named("b");
    struct attempt first = {0};
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    assert_int_equal(attempts(&w, &first), 1);
    struct message m = outcome_of(&a, &first, OUTCOME_skipped);
    from(&w, SCHEDULER, 7, &m);
    set_pod(&w, &b);
    pull(&w, 2);
    reject(&w, &b, 2);
    go(&w, &a);
    assert_true(status_says(&w, "\nunschedulable=0\n"));
    close_world(&w);
}

/* The same, of one that was not tried yet: after a snapshot, but not after it has come as new. */
static void room_of_a_pod_that_came_with_a_snapshot_is_offered_when_it_goes(void **state)
{
    (void)state;
    struct pod a = pod_named("a"), b = pod_named("b");
    b.priority = 1;
    for (int with_snapshot = 0; with_snapshot <= 1; with_snapshot++) {
        struct world w = open_world(&plain);
        say(&w, WATCHER, MSG_peer_up);
        say(&w, WATCHER, MSG_snapshot_begin);
        if (with_snapshot)
            set_pod(&w, &a);
        say(&w, WATCHER, MSG_snapshot_end);
        say(&w, SCHEDULER, MSG_peer_up);
        if (!with_snapshot)
            set_pod(&w, &a);
        set_pod(&w, &b);
        pull(&w, 1);
        pull(&w, 0); /* that one alone */
        reject(&w, &b, 1);
        go(&w, &a);
        assert_true(status_says(&w, with_snapshot ? "\nunschedulable=0\n" : "\nunschedulable=1\n"));
        close_world(&w);
    }
}

/* ---- backoff ---- */

static void backoff_doubles_up_to_its_maximum_without_overflow(void **state)
{
    (void)state;
    static const int64_t seconds[] = {0, 1, 2, 4, 8, 10, 10};
    struct backoff b;
    struct entry e = {.timestamp = {7 * SECOND + 999999999}};
    backoff_init(&b, (struct span){SECOND}, (struct span){10 * SECOND});
    for (int64_t i = 0; i < 7; i++) {
        e.unschedulable_count = i;
        assert_int_equal(backoff_length(&b, &e).ns, seconds[i] * SECOND);
    }
    e.error_count = 1; /* errors in a row count by themselves */
    assert_int_equal(backoff_length(&b, &e).ns, SECOND);
    e.error_count = INT64_MAX;
    assert_int_equal(backoff_length(&b, &e).ns, 10 * SECOND);
    b.max = (struct span){0};
    assert_int_equal(backoff_length(&b, &e).ns, 0);
    backoff_free(&b);
}

static void a_strict_backoff_runs_until_after_its_end(void **state)
{
    (void)state;
    struct backoff b;
    struct entry e = {.timestamp = {7 * SECOND + 500000000}, .error_count = 2};
    backoff_init(&b, (struct span){SECOND}, (struct span){10 * SECOND});
    b.strict = true;
    backoff_start(&b, &e);
    assert_int_equal(e.backoff_ends.ns, 9 * SECOND + 500000000);
    assert_true(backoff_runs(&b, &e, (struct moment){9 * SECOND + 500000000}));
    assert_false(backoff_runs(&b, &e, (struct moment){9 * SECOND + 500000001}));
    backoff_free(&b);
}

static void backoff_runs_until_the_second_of_its_end_is_over(void **state)
{
    (void)state;
    struct backoff b;
    struct entry e = {.timestamp = {7 * SECOND + 500000000}, .error_count = 2};
    backoff_init(&b, (struct span){SECOND}, (struct span){10 * SECOND});
    assert_false(backoff_runs(&b, &e, e.timestamp));
    backoff_start(&b, &e);
    assert_int_equal(e.backoff_ends.ns, 9 * SECOND);
    assert_true(backoff_runs(&b, &e, (struct moment){9 * SECOND + 999999999}));
    assert_false(backoff_runs(&b, &e, (struct moment){10 * SECOND}));
    backoff_free(&b);
}

/* ---- events ---- */

static void node_updates_are_named_in_upstreams_order(void **state)
{
    (void)state;
    struct quantity cpu = {STR_LITERAL("cpu"), 1};
    struct label zone = {STR_LITERAL("zone"), STR_LITERAL("a")};
    struct taint taint = {.key = STR_LITERAL("k")};
    struct str feature = STR_LITERAL("f"), who = STR_LITERAL("autoscaler");
    struct node before = {.unschedulable = true}, after = {.allocatable = {1, &cpu},
                                                           .labels = {1, &zone},
                                                           .taints = {1, &taint},
                                                           .conditions = {1, &zone},
                                                           .features = {1, &feature},
                                                           .spares_from_resizes = {1, &who}};
    static const uint32_t order[] = {
        EVENT_NODE_TAINT,     EVENT_NODE_ALLOCATABLE, EVENT_NODE_LABEL,  EVENT_NODE_TAINT,
        EVENT_NODE_CONDITION, EVENT_NODE_PREEMPTION,  EVENT_NODE_FEATURE};
    struct event_changes changes = event_node_changes(&before, &after, 37);
    assert_int_equal(changes.count, 7);
    assert_memory_equal(changes.at, order, sizeof(order));
    changes = event_node_changes(&before, &after, 36); /* which knows of no such policy */
    assert_int_equal(changes.count, 6);
    assert_int_equal(changes.at[5], EVENT_NODE_FEATURE);
    assert_int_equal(event_node_changes(&after, &after, 37).count, 0);
    after.resource_version++;
    assert_int_equal(event_node_changes(&after, &after, 37).count, 0);
}

static void pod_updates_are_named_in_upstreams_order(void **state)
{
    (void)state;
    struct quantity two = {STR_LITERAL("cpu"), 2}, one = {STR_LITERAL("cpu"), 1};
    struct label label = {STR_LITERAL("k"), STR_LITERAL("v")};
    struct toleration toleration = {.key = STR_LITERAL("k")};
    struct str gate = STR_LITERAL("g");
    struct pod before = {.usage = {1, &two}, .gates = {1, &gate}};
    struct pod after = {.usage = {1, &one}, .labels = {1, &label}, .tolerations = {1, &toleration}};
    static const uint32_t order[] = {EVENT_POD_LABEL, EVENT_POD_SCALE_DOWN, EVENT_POD_GATES,
                                     EVENT_POD_TOLERATION};
    struct event_changes changes = event_pending_changes(&before, &after, 36);
    assert_int_equal(changes.count, 4);
    assert_memory_equal(changes.at, order, sizeof(order));
    /* More usage, less gates that are not the last: some update, but none of these. */
    changes = event_pending_changes(&(struct pod){.usage = {1, &one}},
                                    &(struct pod){.usage = {1, &two}}, 36);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.at[0], EVENT_UPDATE);
    assert_int_equal(event_assigned_changes(&(struct pod){.usage = {1, &one}},
                                            &(struct pod){.usage = {1, &two}}, 36)
                         .count,
                     0);
    /* Since 1.37 more usage is a kind. */
    changes = event_assigned_changes(&(struct pod){.usage = {1, &one}},
                                     &(struct pod){.usage = {1, &two}}, 37);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.at[0], EVENT_POD_SCALE_UP);
}

static uint64_t helped(enum event_resource resource, uint32_t action)
{
    static const struct pod pod = {.uid = {"u", 1}};
    static const struct node node;
    struct event event = {.resource = resource,
                          .action = action,
                          .old_pod = action == EVENT_ADD ? NULL : &pod,
                          .new_pod = action == EVENT_DELETE ? NULL : &pod,
                          .new_node = &node};
    return hints_interest(&event);
}

static bool woken(uint64_t set, const char *plugin)
{
    return (set & plugins_bit(plugin)) != 0;
}

static void the_table_matches_events_as_upstream_does(void **state)
{
    (void)state;
    assert_true(woken(helped(EVENT_OF_node, EVENT_ADD), "NodeName"));
    assert_true(woken(helped(EVENT_OF_node, EVENT_NODE_TAINT), "NodeName"));
    assert_false(woken(helped(EVENT_OF_node, EVENT_NODE_LABEL), "NodeName"));
    assert_true(woken(helped(EVENT_OF_assigned_pod, EVENT_DELETE), "NodeResourcesFit"));
    assert_false(woken(helped(EVENT_OF_node, EVENT_DELETE), "NodeResourcesFit"));
    /* A generic update matches only who asked for all of them. */
    assert_true(woken(helped(EVENT_OF_unschedulable_pod, EVENT_UPDATE), "NodeDeclaredFeatures"));
    assert_false(woken(helped(EVENT_OF_unschedulable_pod, EVENT_UPDATE), "PodTopologySpread"));
    assert_true(woken(helped(EVENT_OF_unschedulable_pod, EVENT_POD_LABEL), "NodeDeclaredFeatures"));
    assert_true(woken(helped(EVENT_OF_node, EVENT_NODE_CONDITION), "Homemade"));
    assert_false(woken(helped(EVENT_OF_node, EVENT_NODE_CONDITION), "NodeAffinity"));
}

static bool helps(const struct event *event, const struct pod *pod, const char *plugin)
{
    static const struct surroundings around;
    return hints_helped(event, pod, &around, plugins_bit(plugin)) != 0;
}

static void what_wakes_depends_on_the_release(void **state)
{
    (void)state;
    struct resource_claim claim = {.name = STR_LITERAL("c")};
    struct pod pod = pod_named("a");
    struct event taint = {.release = 37, .resource = EVENT_OF_node, .action = EVENT_NODE_TAINT};
    struct event gone = {.release = 37,
                         .resource = EVENT_OF_resource_claim,
                         .action = EVENT_DELETE,
                         .old_object = &claim};
    assert_false(woken(hints_interest(&taint), "NodeName"));
    assert_true(woken(hints_interest(&taint), "TaintToleration"));
    assert_false(helps(&gone, &pod, "DynamicResources"));
    claim.allocated = true;
    assert_true(helps(&gone, &pod, "DynamicResources"));
    taint.release = gone.release = 36;
    assert_true(woken(hints_interest(&taint), "NodeName"));
    assert_false(helps(&gone, &pod, "DynamicResources"));
}

static void tolerations_match_as_upstream_does(void **state)
{
    (void)state;
    struct taint taint = {STR_LITERAL("k"), STR_LITERAL("v"), STR_LITERAL("NoExecute")};
    struct node node = {.taints = {1, &taint}};
    struct event added = {.resource = EVENT_OF_node, .action = EVENT_ADD, .new_node = &node};
    struct {
        struct toleration toleration;
        bool tolerates;
    } cases[] = {
        {{.key = STR_LITERAL("k"), .value = STR_LITERAL("v")}, true},
        {{.key = STR_LITERAL("k"), .value = STR_LITERAL("w")}, false},
        {{.key = STR_LITERAL("k"), .operator_name = STR_LITERAL("Exists")}, true},
        {{.key = STR_LITERAL("l"), .operator_name = STR_LITERAL("Exists")}, false},
        {{.operator_name = STR_LITERAL("Exists"), .effect = STR_LITERAL("NoExecute")}, true},
        {{.operator_name = STR_LITERAL("Exists"), .effect = STR_LITERAL("NoSchedule")}, false},
        {{.value = STR_LITERAL("v")}, true}, /* Equal without a key matches every key */
        {{.key = STR_LITERAL("k"), .operator_name = STR_LITERAL("Gt")}, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod pod = {.tolerations = {1, &cases[i].toleration}};
        assert_int_equal(helps(&added, &pod, "TaintToleration"), cases[i].tolerates);
    }
}

/* What its profile's gates say: TaintTolerationComparisonOperators. */
static void a_changed_value_helps_who_compares_it(void **state)
{
    (void)state;
    struct profile profile = {.features.toleration_comparison = true};
    const struct surroundings around = {.profile = &profile};
    struct taint high = {STR_LITERAL("k"), STR_LITERAL("9"), STR_LITERAL("NoSchedule")};
    struct taint low = {STR_LITERAL("k"), STR_LITERAL("2"), STR_LITERAL("NoSchedule")};
    struct toleration less = {
        .key = STR_LITERAL("k"), .operator_name = STR_LITERAL("Lt"), .value = STR_LITERAL("5")};
    struct node before = {.taints = {1, &high}}, after = {.taints = {1, &low}};
    struct event event = {.resource = EVENT_OF_node,
                          .action = EVENT_NODE_TAINT,
                          .old_node = &before,
                          .new_node = &after};
    struct pod pod = {.tolerations = {1, &less}};
    uint64_t plugin = plugins_bit("TaintToleration");
    assert_true(hints_helped(&event, &pod, &around, plugin) != 0);
    low.value = STR_LITERAL("5");
    assert_false(hints_helped(&event, &pod, &around, plugin) != 0);
    low.value = STR_LITERAL("2");
    profile.features.toleration_comparison = false;
    assert_false(hints_helped(&event, &pod, &around, plugin) != 0);
}

/* MatchLabelKeysInPodTopologySpread: without it a pod of another version counts like any other. */
static void a_pod_of_another_version_helps_where_keys_do_not_count(void **state)
{
    (void)state;
    struct profile profile = {.features.spread_label_keys = true};
    const struct surroundings around = {.profile = &profile};
    struct label one = {STR_LITERAL("v"), STR_LITERAL("1")};
    struct label two = {STR_LITERAL("v"), STR_LITERAL("2")};
    struct str key = STR_LITERAL("v");
    struct spread_constraint spread = {.max_skew = 1,
                                       .topology_key = STR_LITERAL("zone"),
                                       .when_unsatisfiable = STR_LITERAL("DoNotSchedule"),
                                       .selector = {.present = true},
                                       .match_label_keys = {1, &key}};
    struct pod pod = pod_named("a"), gone = pod_named("b");
    pod.labels.count = gone.labels.count = 1;
    pod.labels.at = &two;
    gone.labels.at = &one;
    gone.node_name = STR_LITERAL("n");
    pod.spread.count = 1;
    pod.spread.at = &spread;
    struct event event = {
        .resource = EVENT_OF_assigned_pod, .action = EVENT_DELETE, .old_pod = &gone};
    uint64_t plugin = plugins_bit("PodTopologySpread");
    assert_false(hints_helped(&event, &pod, &around, plugin) != 0);
    profile.features.spread_label_keys = false;
    assert_true(hints_helped(&event, &pod, &around, plugin) != 0);
}

static void taints_that_did_not_keep_the_pod_out_wake_it_not(void **state)
{
    (void)state;
    struct taint soft = {STR_LITERAL("k"), STR_LITERAL(""), STR_LITERAL("PreferNoSchedule")};
    struct node before = {.taints = {1, &soft}}, after = {.name = STR_LITERAL("n")};
    struct event event = {.resource = EVENT_OF_node,
                          .action = EVENT_NODE_TAINT,
                          .old_node = &before,
                          .new_node = &after};
    struct pod pod = pod_named("a");
    assert_false(helps(&event, &pod, "TaintToleration"));
    assert_false(helps(&event, &pod, "NodeUnschedulable"));
    soft.effect = STR_LITERAL("NoSchedule");
    before.unschedulable = true;
    assert_true(helps(&event, &pod, "TaintToleration"));
    assert_true(helps(&event, &pod, "NodeUnschedulable"));
}

static void other_pods_help_only_as_far_as_they_can(void **state)
{
    (void)state;
    struct toleration all = {.operator_name = STR_LITERAL("Exists")};
    struct pod pod = pod_named("a"), other = pod_named("b");
    other.tolerations.count = 1;
    other.tolerations.at = &all;
    struct event event = {.resource = EVENT_OF_assigned_pod,
                          .action = EVENT_POD_TOLERATION,
                          .old_pod = &other,
                          .new_pod = &other};
    assert_false(helps(&event, &pod, "NodeUnschedulable"));
    assert_false(helps(&event, &pod, "PodTopologySpread"));
    /* What looks at the waiting pod itself is not told of one that has a node, not even its own. */
    assert_false(helps(&event, &other, "NodeUnschedulable"));
    event.resource = EVENT_OF_unschedulable_pod;
    assert_false(helps(&event, &pod, "NodeUnschedulable"));
    assert_true(helps(&event, &other, "NodeUnschedulable"));
}

static void ports_clash_as_upstream_does(void **state)
{
    (void)state;
    static const struct {
        struct host_port wanted, used;
        bool clash;
    } cases[] = {{{{"10.0.0.1", 8}, {"TCP", 3}, 80}, {{"10.0.0.1", 8}, {"TCP", 3}, 80}, true},
                 {{{"10.0.0.1", 8}, {"TCP", 3}, 80}, {{"10.0.0.2", 8}, {"TCP", 3}, 80}, false},
                 {{{"10.0.0.1", 8}, {"TCP", 3}, 80}, {{"10.0.0.1", 8}, {"UDP", 3}, 80}, false},
                 {{{"10.0.0.1", 8}, {"TCP", 3}, 80}, {{"10.0.0.1", 8}, {"TCP", 3}, 81}, false},
                 {{{"10.0.0.1", 8}, {"TCP", 3}, 80}, {{"0.0.0.0", 7}, {"TCP", 3}, 80}, true},
                 {{{"0.0.0.0", 7}, {"TCP", 3}, 80}, {{"10.0.0.2", 8}, {"TCP", 3}, 80}, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct host_port wanted = cases[i].wanted, used = cases[i].used;
        struct pod pod = {.ports = {1, &wanted}},
                   gone = {.node_name = STR_LITERAL("n"), .ports = {1, &used}};
        struct event event = {
            .resource = EVENT_OF_assigned_pod, .action = EVENT_DELETE, .old_pod = &gone};
        assert_int_equal(helps(&event, &pod, "NodePorts"), cases[i].clash);
    }
}

/* ---- settings ---- */

static bool take(struct settings *s, const char *name, const char *value)
{
    const struct own_option *o = settings_options;
    while (strcmp(o->name, name) != 0)
        o++;
    return o->take(s, value);
}

static void settings_refuse_what_is_out_of_bounds(void **state)
{
    (void)state;
    struct settings s = {0};
    assert_false(take(&s, "pod-initial-backoff", "0"));
    assert_false(take(&s, "pod-initial-backoff", "1x"));
    assert_false(take(&s, "pod-max-backoff", "-1"));
    assert_false(take(&s, "pod-max-in-unschedulable-pods-duration", "0s"));
    assert_false(take(&s, "pod-max-in-unschedulable-pods-duration", "soon"));
    assert_true(take(&s, "pod-max-in-unschedulable-pods-duration", "1m30s"));
    assert_int_equal(s.unschedulable_max.ns, 90 * SECOND);
}

static void settings_go_over_the_configuration(void **state)
{
    (void)state;
    struct scheduler_config config = {.pod_initial_backoff_s = 2, .pod_max_backoff_s = 20};
    struct settings s = {0};
    struct queue_options options;
    struct str error;
    assert_true(settings_apply(&s, &config, &options, &error));
    assert_int_equal(options.backoff_initial.ns, 2 * SECOND);
    assert_int_equal(options.backoff_max.ns, 20 * SECOND);
    assert_int_equal(options.unschedulable_max.ns, 300 * SECOND);
    assert_true(take(&s, "pod-max-backoff", "3"));
    assert_true(settings_apply(&s, &config, &options, &error));
    assert_int_equal(options.backoff_max.ns, 3 * SECOND);
    assert_true(take(&s, "pod-initial-backoff", "4"));
    assert_false(settings_apply(&s, &config, &options, &error));
    assert_true(str_starts_with(error, "--pod-max-backoff"));
}

static void fifo_is_a_queue_sort_of_the_configuration(void **state)
{
    (void)state;
    const struct {
        const char *text;
        const struct queue_plugin *sort;
    } files[] = {
        {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", NULL},
        {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
         "profiles:\n- plugins:\n    queueSort:\n      enabled:\n      - name: FIFOSort\n"
         "      disabled:\n      - name: PrioritySort\n",
         queue_plugin_find(STR_LITERAL("FIFOSort"))}};
    for (size_t i = 0; i < 2; i++) {
        struct scheduler_config config;
        struct settings s = {0};
        struct queue_options options;
        struct arena memory = {0};
        struct str error = {0};
        if (!scheduler_config_parse(str_of(files[i].text), release_features(36), &config, &memory,
                                    &error))
            fail_msg("refused: %.*s", STR_ARG(error));
        assert_true(settings_apply(&s, &config, &options, &error));
        assert_ptr_equal(options.sort, files[i].sort);
        assert_int_equal(options.sort != NULL, i == 1);
        arena_free(&memory);
    }
}

static void rejected_and_woken(struct queues *q, struct moment now, const char *key)
{
    static const struct surroundings around = {.obeys_gates = true};
    struct pod pod = {.uid = str_of(key), .name = str_of(key + 1)};
    struct entry *e = queues_add(q, now, str_of(key), &pod, &around);
    assert_ptr_equal(queues_pop(q, now), e);
    queues_rejected(q, now, e, plugins_bit("NodeName"), 0);
    places_requeue(q, now, e, WORTH_after_backoff);
    assert_int_equal(e->place, PLACE_backoff);
}

static size_t popped(struct queues *q, struct moment now, struct entry **taken)
{
    size_t count = 0;
    while ((taken[count] = queues_pop(q, now)) != NULL)
        count++;
    return count;
}

/* Pods that events wake and that nothing helps are tried again at a bounded rate, and as soon as
 * one of them is placed, at a greater one. */
static void pods_taken_early_are_few_while_they_fail(void **state)
{
    (void)state;
    enum { PODS = 64 };
    struct queues q;
    struct moment now = {SECOND};
    struct entry *taken[PODS + 1];
    char key[PODS][16];
    queues_init(&q, &(struct queues_options){.backoff_initial = {1000 * SECOND},
                                             .backoff_max = {1000 * SECOND},
                                             .unschedulable_max = {300 * SECOND}});
    for (int i = 0; i < PODS; i++) {
        snprintf(key[i], sizeof(key[i]), "/p%d", i);
        rejected_and_woken(&q, now, key[i]);
    }
    int64_t pause_ms = 0;
    for (int round = 0; round < 10; round++) {
        assert_int_equal(popped(&q, now, taken), EARLY_LEAST);
        for (int i = 0; i < EARLY_LEAST; i++) {
            queues_rejected(&q, now, taken[i], plugins_bit("NodeName"), 0);
            places_requeue(&q, now, taken[i], WORTH_after_backoff);
        }
        assert_null(queues_pop(&q, now));
        struct moment next = queues_tick(&q, now);
        pause_ms = span_ms(moment_since(next, now));
        assert_true(pause_ms > 0 && pause_ms <= EARLY_PAUSE_MS);
        now = next;
    }
    assert_int_equal(pause_ms, EARLY_PAUSE_MS);
    for (size_t wanted = EARLY_LEAST; wanted <= 16; wanted *= 2) {
        assert_int_equal(popped(&q, now, taken), wanted);
        queues_bound(&q, now, taken[0]);
        for (size_t i = 1; i < wanted; i++)
            queues_skipped(&q, now, taken[i], false);
    }
    check_queues(&q);
    queues_free(&q);
}

/* What a plugin's wish to have a pod tried again comes to (upstream's Activate). */
static void an_attempt_whose_pod_is_activated_is_followed_by_another(void **state)
{
    (void)state;
    static const struct surroundings around = {.obeys_gates = true};
    struct queues q;
    struct moment now = {SECOND};
    struct pod pod = {.uid = STR_LITERAL("u"), .name = STR_LITERAL("a")};
    queues_init(&q, &(struct queues_options){.backoff_initial = {SECOND},
                                             .backoff_max = {10 * SECOND},
                                             .unschedulable_max = {300 * SECOND}});
    struct entry *e = queues_add(&q, now, STR_LITERAL("/a"), &pod, &around);
    assert_ptr_equal(queues_pop(&q, now), e);
    queues_activate(&q, now, e);
    queues_rejected(&q, now, e, plugins_bit("NodeName"), 0);
    assert_int_equal(e->place, PLACE_backoff);
    queues_activate(&q, now, e);
    assert_int_equal(e->place, PLACE_active);
    assert_ptr_equal(queues_pop(&q, now), e);
    queues_rejected(&q, now, e, plugins_bit("NodeName"), 0);
    assert_int_equal(e->place, PLACE_unschedulable);
    check_queues(&q);
    queues_free(&q);
}

/* What was decided of it may never have been written: only the scheduler can tell that apart. */
static void an_attempt_has_the_nomination_that_the_status_shows(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct str fit = STR_LITERAL("NodeResourcesFit");
    struct attempt last = {0};
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 1);
    assert_int_equal(attempts(&w, &last), 1);
    struct message m = outcome_of(&a, &last, OUTCOME_unschedulable);
    m.outcome.plugins = (struct strs){1, &fit};
    m.outcome.nominated_node = STR_LITERAL("n");
    m.outcome.activate = true;
    from(&w, SCHEDULER, 7, &m);
    assert_int_equal(attempts(&w, &last), 2);
    assert_int_equal(last.pod.nominated_node.len, 0);
    assert_true(status_says(&w, "nominated=1\n"));
    close_world(&w);
}

static void an_attempt_that_fails_twice_waits_for_its_backoff(void **state)
{
    (void)state;
    struct world w = open_world(&plain);
    struct pod a = pod_named("a");
    struct attempt last = {0};
    sync(&w);
    set_pod(&w, &a);
    pull(&w, 9);
    for (size_t i = 1; i < 4; i++, w.now.ns += 11 * SECOND) {
        queue_tick(w.queue, w.now, &w.out);
        assert_int_equal(attempts(&w, &last), i);
        struct message m = outcome_of(&a, &last, OUTCOME_unschedulable);
        m.outcome.plugins = (struct strs){1, &(struct str){"NodeResourcesFit", 16}};
        m.outcome.activate = true;
        from(&w, SCHEDULER, 7, &m);
        assert_int_equal(status_says(&w, "error_backoff=1\n"), i > 1);
    }
    close_world(&w);
}

/* What led to an attempt goes with it, without a gap; a second begins where the first failed. */
static void an_attempt_that_is_traced_says_what_led_to_it(void **state)
{
    struct queue_options options = plain;
    options.trace_per_million = 1000000;
    options.trace_seed = 3;
    struct world w = open_world(&options);
    struct pod a = pod_named("a");
    struct attempt first, second;
    (void)state;
    sync(&w);
    set_pod(&w, &a);
    w.now.ns += 2 * SECOND;
    pull(&w, 1);
    assert_int_equal(attempts(&w, &first), 1);
    assert_int_equal(first.traceparent.len, 55);
    assert_int_equal(first.spans.count, 1);
    const struct trace_span *wait = first.spans.at;
    assert_true(str_is(wait->name, "Queue") && str_is(wait->service, "berth-queue"));
    assert_int_equal(wait->begin_us, first.first_us);
    assert_int_equal(wait->end_us, 5000000 + w.now.ns / 1000);
    assert_memory_equal(wait->trace_id.at, first.traceparent.at + 3, 32);
    assert_memory_equal(wait->parent.at, first.traceparent.at + 36, 16);
    struct str traceparent = arena_copy(&w.arena, first.traceparent); /* what was sent moves */
    w.now.ns += SECOND;
    int64_t failed_us = 5000000 + w.now.ns / 1000;
    struct message m = outcome_of(&a, &first, OUTCOME_error);
    from(&w, SCHEDULER, 7, &m);
    w.now.ns += 5 * SECOND;
    say(&w, SCHEDULER, MSG_status_request);
    pull(&w, 1);
    assert_int_equal(attempts(&w, &second), 2);
    assert_int_equal(second.attempts, 2);
    assert_int_equal(second.spans.count, 1);
    assert_int_equal(second.spans.at[0].begin_us, failed_us);
    assert_false(str_equal(second.traceparent, traceparent));
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_that_is_traced_says_what_led_to_it),
        cmocka_unit_test(fifo_is_a_queue_sort_of_the_configuration),
        cmocka_unit_test(pods_taken_early_are_few_while_they_fail),
        cmocka_unit_test(an_attempt_whose_pod_is_activated_is_followed_by_another),
        cmocka_unit_test(an_attempt_has_the_nomination_that_the_status_shows),
        cmocka_unit_test(an_attempt_that_fails_twice_waits_for_its_backoff),
        cmocka_unit_test(takes_exactly_the_messages_addressed_to_it),
        cmocka_unit_test(nothing_is_offered_before_the_first_whole_snapshot),
        cmocka_unit_test(an_attempt_says_when_where_and_which),
        cmocka_unit_test(profiles_say_whose_pods_are_ours_and_whether_gates_hold_them),
        cmocka_unit_test(nameless_objects_are_refused_and_counted),
        cmocka_unit_test(a_credit_without_bounds_is_bounded),
        cmocka_unit_test(a_pull_from_an_unknown_scheduler_is_another_life),
        cmocka_unit_test(the_end_of_a_former_life_takes_nothing_back),
        cmocka_unit_test(the_next_tick_is_due_with_the_next_flush),
        cmocka_unit_test(what_the_scheduler_has_free_again_wakes_whom_it_may_help),
        cmocka_unit_test(room_that_a_bound_pod_gave_back_is_offered_to_others),
        cmocka_unit_test(room_of_a_skipped_pod_that_goes_is_offered_to_others),
        cmocka_unit_test(room_of_a_pod_that_came_with_a_snapshot_is_offered_when_it_goes),
        cmocka_unit_test(backoff_doubles_up_to_its_maximum_without_overflow),
        cmocka_unit_test(a_strict_backoff_runs_until_after_its_end),
        cmocka_unit_test(backoff_runs_until_the_second_of_its_end_is_over),
        cmocka_unit_test(node_updates_are_named_in_upstreams_order),
        cmocka_unit_test(pod_updates_are_named_in_upstreams_order),
        cmocka_unit_test(the_table_matches_events_as_upstream_does),
        cmocka_unit_test(what_wakes_depends_on_the_release),
        cmocka_unit_test(tolerations_match_as_upstream_does),
        cmocka_unit_test(a_changed_value_helps_who_compares_it),
        cmocka_unit_test(a_pod_of_another_version_helps_where_keys_do_not_count),
        cmocka_unit_test(taints_that_did_not_keep_the_pod_out_wake_it_not),
        cmocka_unit_test(other_pods_help_only_as_far_as_they_can),
        cmocka_unit_test(ports_clash_as_upstream_does),
        cmocka_unit_test(settings_refuse_what_is_out_of_bounds),
        cmocka_unit_test(settings_go_over_the_configuration),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
