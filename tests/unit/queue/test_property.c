/* test_property: random clusters, schedulers and accidents in virtual time, from a seed; what pods
 * ask for and what storage objects say is random bytes in the shape of the records; in every other
 * run pods ask for little, so that many are equals.
 *
 * Pods name PodGroups that come, change and go. What must hold after every step: each entry is in
 * exactly one place and the heaps are in order (check.h); the queue knows exactly the pods that
 * pend by what it was told; what it offers pends, is not gated, and goes on credit; a group goes as
 * a whole or not at all. And at the end, when everything is up and quiet: every pod that can be
 * tried is offered within the flush limit, even though every attempt is rejected.
 */
#include "queue/queue.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/random.h"
#include "tests/unit/queue/check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND      1000000000LL
#define PODS        14
#define NODES       3
#define GROUPS      3
#define STEPS       400
#define SEEDS       400
#define CREDIT_MOST 6
/* Longest wait: 5 min for an event, up to 30 s until that is noticed, 30 s + 30 s for a bound pod
 * that is not confirmed, and a last backoff of up to 11 s; rounded up. */
#define PATIENCE_S 420

/* A pod as the API server has it. */
struct truth {
    bool exists, assigned, deferred, deleting, gated, foreign;
    int64_t uid, version, priority, shape, gang; /* gang: 0 = none, else which */
};

struct group_truth {
    bool exists;
    int64_t uid, version, min_member;
};

/* An attempt that the scheduler of the test holds. */
struct held {
    char uid[24], name[16];
    int64_t cycle;
};

struct world {
    struct queue *queue;
    struct outbox out;
    struct arena arena;
    struct random random;
    struct moment now, next;
    struct truth pods[PODS];
    struct group_truth groups[GROUPS];
    bool served, unread, plain, resizes;
    bool nodes[NODES];
    int64_t node_shape[NODES];
    bool watcher_up, in_snapshot, scheduler_up, reject_all;
    uint32_t watcher_peer, scheduler_peer;
    int64_t sequence, part, stamp, credit;
    struct held held[64];
    size_t held_count;
    bool offered[PODS]; /* since the end began */
};

static uint64_t pick(struct world *w, uint64_t below)
{
    return random_below(&w->random, below);
}

static bool chance(struct world *w, uint64_t percent)
{
    return pick(w, 100) < percent;
}

/* ---- what comes out ---- */

/* The queue has it: not on a node, or with a resize that was put off there. */
static bool waits(const struct world *w, const struct truth *t)
{
    return t->exists && !t->foreign && (!t->assigned || (w->resizes && t->deferred));
}

static bool pends(const struct world *w, const struct truth *t)
{
    return waits(w, t) && !t->deleting;
}

static size_t resizes_taken;

static void hold_pod(struct world *w, const struct attempt *attempt)
{
    struct str name = attempt->pod.name;
    struct held *held = &w->held[w->held_count++];
    int64_t index;
    must(w->held_count <= 64);
    must(str_to_i64((struct str){name.at + 1, name.len - 1}, &index));
    must(attempt->attempts > 0 && attempt->pod.gates.count == 0);
    must(attempt->pod.node_name.len == 0 || (w->resizes && attempt->pod.gang.len == 0));
    resizes_taken += attempt->pod.node_name.len > 0;
    must(pends(w, &w->pods[index]) || !w->watcher_up || w->in_snapshot);
    snprintf(held->uid, sizeof(held->uid), "%.*s", STR_ARG(attempt->pod.uid));
    snprintf(held->name, sizeof(held->name), "%.*s", STR_ARG(name));
    held->cycle = attempt->cycle;
    w->offered[index] = true;
}

/* Never a member by itself while its group has not minMember on nodes. */
static void take_attempt(struct world *w, const struct attempt *attempt)
{
    struct str key = arena_print(&w->arena, "ns/%.*s", STR_ARG(attempt->pod.name));
    const struct entry *e = queues_get(queue_inside(w->queue), key);
    must(e != NULL && e->place == PLACE_in_flight && !group_holds(e));
    must((int64_t)w->held_count < w->credit);
    hold_pod(w, attempt);
}

static size_t groups_taken, members_taken, waits_taken, spared;

/* Never fewer than are needed, never of another group; on credit, however many they are. */
static void take_group(struct world *w, const struct gang_attempt *gang)
{
    must((int64_t)w->held_count < w->credit);
    must(gang->needed > 0 && (int64_t)gang->members.count >= gang->needed);
    groups_taken++;
    members_taken += gang->members.count;
    must(gang->needed + gang->placed == gang->group.min_member);
    for (uint32_t i = 0; i < gang->members.count; i++) {
        const struct gang_member *m = &gang->members.at[i];
        must(str_equal(m->pod.gang, gang->group.name));
        must(i == 0 || m->pod.priority <= m[-1].pod.priority);
        hold_pod(w, &(struct attempt){.pod = m->pod, .attempts = m->attempts, .cycle = m->cycle});
    }
}

static void collect(struct world *w)
{
    for (size_t i = 0; i < w->out.count; i++) {
        struct message m;
        if (w->out.at[i].to.process != SCHEDULER)
            continue;
        must(w->scheduler_up && w->out.at[i].to.peer == w->scheduler_peer);
        must(outbox_get(&w->out, i, &m, &w->arena));
        if (m.type == MSG_attempt)
            take_attempt(w, &m.attempt);
        else if (m.type == MSG_gang_attempt)
            take_group(w, &m.gang_attempt);
        else if (m.type == MSG_gang_waits && ++waits_taken > 0)
            must(m.gang_waits.members.count == m.gang_waits.messages.count &&
                 m.gang_waits.message.len + m.gang_waits.members.count > 0);
    }
    outbox_reset(&w->out);
    arena_reset(&w->arena);
}

static void tick(struct world *w)
{
    w->next = queue_tick(w->queue, w->now, &w->out);
    must(queue_inside(w->queue)->gangs.marked == NULL);
    check_queues(queue_inside(w->queue));
    collect(w);
}

/* ---- what goes in ---- */

static void deliver(struct world *w, enum process process, const struct message *m)
{
    struct delivery in = {.from = {process, w->scheduler_peer}, .message = m};
    if (process == WATCHER) {
        in.from.peer = w->watcher_peer;
        if (m->type >= MSG_snapshot_begin) {
            if (m->type == MSG_snapshot_begin)
                w->part = 0;
            w->sequence += !w->in_snapshot;
            in.part = w->in_snapshot ? ++w->part : 0;
            in.epoch = 1;
            in.sequence = w->sequence;
        }
    }
    queue_handle(w->queue, w->now, &in, &w->out);
    check_queues(queue_inside(w->queue));
    if (chance(w, 10)) /* said twice */
        queue_handle(w->queue, w->now, &in, &w->out);
    tick(w);
}

static struct pod pod_of(struct world *w, size_t i)
{
    static const struct str gate = {"g", 1};
    static struct pod_volume volumes[1];
    static struct str gates;
    const struct truth *t = &w->pods[i];
    gates = gate;
    struct pod pod;
    uint64_t seed = (uint64_t)(t->uid * 64 + t->shape);
    if (w->plain)
        pod = (struct pod){.volumes.count = t->shape % 2, .volumes.at = volumes};
    else
        codec_fill(&pod_record, &pod, &seed, &w->arena);
    pod.uid = arena_print(&w->arena, "u%" PRId64, t->uid);
    pod.name = arena_print(&w->arena, "p%zu", i);
    pod.namespace_name = STR_LITERAL("ns");
    pod.scheduler_name = str_of(t->foreign ? "other" : "default-scheduler");
    pod.node_name = str_of(t->assigned ? "n0" : "");
    pod.resize_deferred = t->assigned && t->deferred;
    pod.nominated_node = str_of(t->shape % 7 == 3 && !t->assigned ? "n0" : "");
    pod.resource_version = t->version;
    pod.priority = w->plain ? 0 : t->priority;
    pod.deleting = t->deleting;
    pod.gang = str_of("");
    pod.gang_api = str_of("");
    if (t->gang > 0) {
        pod.gang = arena_print(&w->arena, "g%" PRId64, t->gang - 1);
        pod.gang_api = STR_LITERAL("scheduling.x-k8s.io");
    }
    pod.device_claims.count = 0; /* nobody makes claims here */
    pod.gates = (struct strs){t->gated ? 1 : 0, &gates};
    struct toleration *tolerations = arena_take(&w->arena, sizeof(*tolerations) * 4);
    pod.tolerations.count = w->plain ? 0 : (uint32_t)(t->shape % 4);
    pod.tolerations.at = tolerations;
    for (uint32_t k = 0; k < pod.tolerations.count; k++)
        tolerations[k].key = str_of("k");
    return pod;
}

static void say_pod(struct world *w, size_t i)
{
    struct message m = {.type = MSG_pod_set, .pod_set = {.pod = pod_of(w, i)}};
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say_pod_gone(struct world *w, size_t i)
{
    struct pod pod = pod_of(w, i);
    struct message m = {
        .type = MSG_pod_gone,
        .pod_gone = {.uid = pod.uid, .namespace_name = pod.namespace_name, .name = pod.name}};
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say_node(struct world *w, size_t i)
{
    struct quantity room[2] = {{STR_LITERAL("cpu"), w->node_shape[i]}, {STR_LITERAL("pods"), 9}};
    struct message m = {.type = MSG_node_set,
                        .node_set = {.node = {.name = arena_print(&w->arena, "n%zu", i),
                                              .resource_version = ++w->stamp,
                                              .unschedulable = w->node_shape[i] % 2 == 0,
                                              .allocatable = {2, room}}}};
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say_group(struct world *w, size_t i)
{
    struct quantity least[1] = {{STR_LITERAL("cpu"), 3}};
    const struct group_truth *t = &w->groups[i];
    struct message m = {
        .type = MSG_pod_group_set,
        .pod_group_set = {.group = {.api = STR_LITERAL("scheduling.x-k8s.io"),
                                    .namespace_name = STR_LITERAL("ns"),
                                    .name = arena_print(&w->arena, "g%zu", i),
                                    .uid = arena_print(&w->arena, "u%" PRId64, t->uid),
                                    .created = t->uid * 1000,
                                    .resource_version = t->version,
                                    .has_min_resources = t->uid % 5 == 0,
                                    .min_resources = {t->uid % 5 == 0, least},
                                    .min_member = t->min_member}}};
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say_served(struct world *w)
{
    static struct str api = {"scheduling.x-k8s.io", 19};
    static struct unread_kind unread = {
        .api = {"scheduling.x-k8s.io", 19}, .state = UNREAD_served, .message = {"no", 2}};
    struct message m = {.type = MSG_group_kinds,
                        .group_kinds = {.apis = {w->served, &api}, .unread = {w->unread, &unread}}};
    unread.state = w->stamp % 2 ? UNREAD_served : UNREAD_looking;
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say(struct world *w, enum process process, enum message_type type)
{
    deliver(w, process, &(struct message){.type = type});
}

static void say_snapshot(struct world *w, bool whole)
{
    w->in_snapshot = true;
    say(w, WATCHER, MSG_snapshot_begin);
    say_served(w);
    for (size_t i = 0; i < GROUPS; i++)
        if (w->groups[i].exists && (whole || i == 0))
            say_group(w, i);
    for (size_t i = 0; i < NODES; i++)
        if (w->nodes[i])
            say_node(w, i);
    for (size_t i = 0; i < PODS && (whole || i < PODS / 2); i++)
        if (w->pods[i].exists)
            say_pod(w, i);
    if (whole)
        say(w, WATCHER, MSG_snapshot_end);
    w->in_snapshot = false;
}

/* ---- steps ---- */

static void step_pod(struct world *w)
{
    size_t i = pick(w, PODS);
    struct truth *t = &w->pods[i];
    t->version = ++w->stamp;
    if (!t->exists) {
        *t =
            (struct truth){.exists = true,
                           .uid = ++w->stamp,
                           .version = ++w->stamp,
                           .priority = (int64_t)pick(w, 3),
                           .gang = chance(w, w->plain ? 30 : 60) ? (int64_t)pick(w, GROUPS) + 1 : 0,
                           .gated = chance(w, 20),
                           .foreign = chance(w, 10)};
        say_pod(w, i);
    } else if (chance(w, 25)) {
        t->exists = false;
        if (chance(w, 70))
            say_pod_gone(w, i);
        else /* not told before the name is used again */
            *t = (struct truth){.exists = true, .uid = ++w->stamp, .version = ++w->stamp},
            say_pod(w, i);
    } else {
        t->assigned |= chance(w, 15) && !t->gated;
        t->deferred = chance(w, 40);
        t->deleting |= chance(w, 10);
        t->gated &= chance(w, 60);
        t->shape += chance(w, 40);
        t->priority += chance(w, 5);
        if (chance(w, 3))
            t->gang = (int64_t)pick(w, GROUPS + 1);
        say_pod(w, i);
    }
}

static void step_group(struct world *w)
{
    size_t i = pick(w, GROUPS);
    struct group_truth *t = &w->groups[i];
    if (chance(w, 5)) {
        if (chance(w, 50))
            w->served = !w->served;
        else
            w->unread = !w->unread;
        say_served(w);
        return;
    }
    t->version = ++w->stamp;
    if (t->exists && chance(w, 20)) {
        struct message m = {.type = MSG_object_gone,
                            .object_gone = {.kind = OBJECT_pod_group,
                                            .api = STR_LITERAL("scheduling.x-k8s.io"),
                                            .namespace_name = STR_LITERAL("ns"),
                                            .name = arena_print(&w->arena, "g%zu", i)}};
        t->exists = false;
        if (w->watcher_up)
            deliver(w, WATCHER, &m);
        return;
    }
    if (!t->exists || chance(w, 20))
        t->uid = ++w->stamp;
    if (!t->exists || chance(w, 50))
        t->min_member = (int64_t)pick(w, 6);
    t->exists = true;
    say_group(w, i);
}

static void step_node(struct world *w)
{
    size_t i = pick(w, NODES);
    if (w->nodes[i] && chance(w, 30)) {
        struct message m = {.type = MSG_node_gone,
                            .node_gone = {.name = arena_print(&w->arena, "n%zu", i)}};
        w->nodes[i] = false;
        if (w->watcher_up)
            deliver(w, WATCHER, &m);
        return;
    }
    w->nodes[i] = true;
    w->node_shape[i] = (int64_t)pick(w, 6);
    say_node(w, i);
}

/* Any message about storage, owners and budgets, filled with anything, or the end of one. */
static void step_object(struct world *w)
{
    struct message m = {.type = MSG_claim_set + (int)pick(w, MSG_object_gone - MSG_claim_set + 1)};
    uint64_t seed = pick(w, 1000);
    codec_fill(message_info[m.type].record, message_body(&m), &seed, &w->arena);
    if (w->watcher_up)
        deliver(w, WATCHER, &m);
}

static void say_outcome(struct world *w, const struct held *held, enum outcome_result result)
{
    static struct str names[] = {
        {"NodeResourcesFit", 16}, {"TaintToleration", 15},      {"NodeUnschedulable", 17},
        {"VolumeBinding", 13},    {"VolumeZone", 10},           {"VolumeRestrictions", 18},
        {"NodeVolumeLimits", 16}, {"PodTopologySpread", 17},    {"InterPodAffinity", 16},
        {"NodeAffinity", 12},     {"NodeDeclaredFeatures", 20}, {"Homemade", 8}};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = str_of(held->uid),
                                    .namespace_name = STR_LITERAL("ns"),
                                    .name = str_of(held->name),
                                    .cycle = held->cycle,
                                    .result = result}};
    m.outcome.plugins.count = w->reject_all ? 1 : (uint32_t)pick(w, 3);
    m.outcome.plugins.at = &names[w->reject_all ? 0 : pick(w, NAMES - 2)];
    m.outcome.pending_plugins.count = !w->reject_all && chance(w, 10);
    m.outcome.pending_plugins.at = &names[NAMES - 1];
    if (!w->reject_all && chance(w, 20))
        m.outcome.nominated_node = str_of(chance(w, 70) ? "n0" : "n1");
    m.outcome.released = !w->reject_all && chance(w, 5);
    deliver(w, SCHEDULER, &m);
}

/* The API server may or may not have got the binding; the watch tells, if it did. */
static void bind(struct world *w, const struct held *held)
{
    int64_t index, uid;
    must(str_to_i64(str_of(held->name + 1), &index) && str_to_i64(str_of(held->uid + 1), &uid));
    struct truth *t = &w->pods[index];
    if (chance(w, 30) || !t->exists || t->uid != uid || t->deleting)
        return;
    t->assigned = true;
    t->deferred = chance(w, 10);
    t->version = ++w->stamp;
    say_pod(w, (size_t)index);
}

static void step_outcome(struct world *w)
{
    static const enum outcome_result results[] = {
        OUTCOME_unschedulable, OUTCOME_unschedulable, OUTCOME_unschedulable, OUTCOME_error,
        OUTCOME_skipped,       OUTCOME_bound,         OUTCOME_none};
    if (w->held_count == 0)
        return;
    size_t i = pick(w, w->held_count);
    struct held held = w->held[i];
    enum outcome_result result = results[pick(w, 7)];
    w->held[i] = w->held[--w->held_count];
    bool bound = result == OUTCOME_bound, watch_first = chance(w, 50);
    if (bound && watch_first)
        bind(w, &held);
    say_outcome(w, &held, result);
    if (bound && !watch_first)
        bind(w, &held);
    if (chance(w, 10)) { /* a word too late */
        held.cycle -= (int64_t)pick(w, 3);
        bool owed = false;
        for (size_t k = 0; k < w->held_count; k++)
            owed |= w->held[k].cycle == held.cycle;
        if (!owed)
            say_outcome(w, &held, OUTCOME_error);
    }
}

static void set_credit(struct world *w, int64_t credit)
{
    struct message m = {.type = MSG_pull, .pull = {.credit = credit}};
    w->credit = credit;
    deliver(w, SCHEDULER, &m);
}

static void scheduler_rises(struct world *w)
{
    w->scheduler_peer++;
    w->scheduler_up = true;
    w->credit = 0;
    say(w, SCHEDULER, MSG_peer_up);
}

static void step_scheduler(struct world *w)
{
    if (!w->scheduler_up) {
        scheduler_rises(w);
    } else if (chance(w, 30)) {
        w->held_count = 0;
        w->scheduler_up = false;
        say(w, SCHEDULER, MSG_peer_down);
    } else {
        set_credit(w, (int64_t)pick(w, CREDIT_MOST));
    }
}

static void watcher_rises(struct world *w)
{
    w->watcher_up = true;
    w->watcher_peer++;
    say(w, WATCHER, MSG_peer_up);
    if (chance(w, 30)) { /* the first try breaks off */
        say_snapshot(w, false);
        say(w, WATCHER, MSG_peer_down);
        w->watcher_peer++;
        say(w, WATCHER, MSG_peer_up);
    }
    say_snapshot(w, true);
}

static void step_watcher(struct world *w)
{
    if (!w->watcher_up) {
        watcher_rises(w);
    } else if (chance(w, 20)) {
        w->watcher_up = false;
        say(w, WATCHER, MSG_peer_down);
    }
}

static void advance(struct world *w, int64_t ns)
{
    struct moment end = {w->now.ns + ns};
    while (w->next.ns <= end.ns) {
        if (w->next.ns > w->now.ns)
            w->now = w->next;
        tick(w);
        must(w->next.ns > w->now.ns);
    }
    w->now = end;
    tick(w);
}

/* The queue holds what pends by what it was told, and nothing else. */
static void check_membership(struct world *w)
{
    size_t pending = 0;
    if (!w->watcher_up)
        return;
    for (size_t i = 0; i < PODS; i++) {
        struct str key = arena_print(&w->arena, "ns/p%zu", i);
        const struct entry *e = queues_get(queue_inside(w->queue), key);
        const struct truth *t = &w->pods[i];
        must((e != NULL) == waits(w, t));
        must(e == NULL || e->on_node == t->assigned);
        must(e == NULL || (e->gate != GATE_none) ==
                              (e->place == PLACE_unschedulable && (t->gated || t->deleting)));
        pending += e != NULL;
    }
    must(pending == map_count(queue_inside(w->queue)->entries));
    arena_reset(&w->arena);
}

static void step(struct world *w)
{
    uint64_t what = pick(w, 100);
    if (what < 30)
        step_pod(w);
    else if (what < 40)
        step_node(w);
    else if (what < 44)
        step_object(w);
    else if (what < 48)
        step_group(w);
    else if (what < 70)
        step_outcome(w);
    else if (what < 78)
        step_scheduler(w);
    else if (what < 82)
        step_watcher(w);
    else
        advance(w, (int64_t)pick(w, (uint64_t)(chance(w, 5) ? 200 : 3) * SECOND));
    check_membership(w);
}

/* As many of the group are there, on nodes or to be tried, as it asks for. */
static bool group_lets(const struct world *w, int64_t gang)
{
    const struct group_truth *t = &w->groups[gang > 0 ? gang - 1 : 0];
    int64_t there = 0;
    if (gang == 0 || !w->served)
        return true;
    for (size_t i = 0; i < PODS; i++) {
        const struct truth *p = &w->pods[i];
        there += p->gang == gang && p->exists && (p->assigned || (pends(w, p) && !p->gated));
    }
    return t->exists && there >= t->min_member && t->uid % 5 != 0;
}

/* Everything is up and nothing happens any more, but that the scheduler rejects what it gets. */
static void end(struct world *w)
{
    if (!w->watcher_up)
        watcher_rises(w);
    if (!w->scheduler_up)
        scheduler_rises(w);
    w->reject_all = true;
    w->unread = false;
    w->stamp++;
    say_served(w);
    memset(w->offered, 0, sizeof(w->offered));
    for (size_t i = 0; i < w->held_count; i++) {
        int64_t index;
        must(str_to_i64(str_of(w->held[i].name + 1), &index));
        w->offered[index] = true;
    }
    set_credit(w, 64);
    for (int second = 0; second < PATIENCE_S; second++) {
        while (w->held_count > 0) {
            struct held held = w->held[--w->held_count];
            say_outcome(w, &held, OUTCOME_unschedulable);
        }
        advance(w, SECOND);
        check_membership(w);
    }
    for (size_t i = 0; i < PODS; i++)
        must(!pends(w, &w->pods[i]) || w->pods[i].gated || w->offered[i] ||
             (!w->pods[i].assigned && !group_lets(w, w->pods[i].gang)));
}

static void run(uint64_t seed)
{
    struct profile profile = {
        .scheduler_name = STR_LITERAL("default-scheduler"),
        .features = {.release = 37, .pop_from_backoff = true, .resize_preemption = true}};
    bool resizes = seed % 3 == 0;
    struct str gates = STR_LITERAL("SchedulingGates");
    profile.pre_enqueue = (struct strs){1, &gates};
    struct queue_options options = {.profiles = &profile,
                                    .profile_count = resizes,
                                    .backoff_initial = {SECOND},
                                    .backoff_max = {10 * SECOND},
                                    .unschedulable_max = {300 * SECOND}};
    struct world w = {.queue = queue_new(&options),
                      .random = {seed},
                      .served = seed % 8 != 0,
                      .plain = seed % 2 != 0,
                      .resizes = resizes,
                      .now = {100 * SECOND},
                      .next = {100 * SECOND}};
    for (size_t i = 0; i < GROUPS; i++)
        w.groups[i] = (struct group_truth){true, (int64_t)i + 1, 1, (int64_t)i + 2};
    w.stamp = GROUPS;
    for (int i = 0; i < STEPS; i++)
        step(&w);
    end(&w);
    spared += queue_inside(w.queue)->equivalence.spared;
    queue_free(&w.queue);
    outbox_free(&w.out);
    arena_free(&w.arena);
}

/* must() has named the place; this names the run. */
static char run_name[64];

static void name_run(int number)
{
    (void)number;
    if (write(STDERR_FILENO, run_name, sizeof(run_name) - 1) < 0)
        _exit(1);
}

static void no_pod_is_lost_doubled_or_forgotten(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_error);
    signal(SIGABRT, name_run);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        snprintf(run_name, sizeof(run_name), "this was seed=%" PRIu64 "\n", seed);
        run(seed);
    }
    must(groups_taken > 2 * (size_t)SEEDS && 2 * members_taken > 3 * groups_taken &&
         waits_taken > SEEDS && spared > SEEDS / 2 && resizes_taken > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_pod_is_lost_doubled_or_forgotten)};
    return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
