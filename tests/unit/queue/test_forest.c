/* test_forest: trees of groups at random, from a seed: groups come, go and come again under other
 * parents, also in circles; pods of them come and go, and attempts end somehow. After every step
 * the queue's places and its trees are in order (check.h), and what is offered is a whole tree. In
 * the end, when all groups are there, every pod is offered. */
#include "queue/queue.h"

#include "proto/base/log.h"
#include "proto/base/random.h"
#include "tests/unit/queue/check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define IN_TREE "scheduling.k8s.io"
#define TREE    "scheduling.k8s.io/CompositePodGroup"
#define TREES   4
#define LEAVES  4
#define PODS    10
#define STEPS   300
#define SEEDS   1000
#define CREDIT  20
#define SECOND  1000000000LL

struct world {
    struct random random;
    struct queue *queue;
    struct outbox out;
    struct arena arena;
    struct moment now;
    int64_t sequence, part, stamp;
    bool held[PODS], offered[PODS], exists[PODS];
    int64_t cycles[PODS], uids[PODS];
};

static size_t attempts;

static uint64_t pick(struct world *w, uint64_t below)
{
    return random_below(&w->random, below);
}

static void take(struct world *w, const struct gang_attempt *a)
{
    attempts += a->tree.count > 2;
    must(a->members.count > 0 && (a->tree.count > 0 ? a->needed == 1 : a->needed > 0));
    must(a->tree.count > 0 || str_is(a->group.api, IN_TREE));
    for (uint32_t i = 0; i < a->members.count; i++) {
        int64_t pod;
        uint32_t k = 0;
        struct str name = a->members.at[i].pod.name;
        must(str_to_i64((struct str){name.at + 1, name.len - 1}, &pod) && pod < PODS);
        must(!w->held[pod]);
        w->held[pod] = w->offered[pod] = true;
        w->cycles[pod] = a->members.at[i].cycle;
        while (k < a->tree.count && !str_equal(a->tree.at[k].group.name, a->members.at[i].pod.gang))
            k++;
        must(k < a->tree.count || a->tree.count == 0);
    }
    for (uint32_t i = 0; i < a->tree.count; i++)
        must(a->tree.at[i].parent < i && (a->tree.at[i].parent < 0) == (i == 0));
}

static void tick(struct world *w)
{
    (void)queue_tick(w->queue, w->now, &w->out);
    check_queues(queue_inside(w->queue));
    for (size_t i = 0; i < w->out.count; i++) {
        struct message m;
        if (w->out.at[i].to.process != SCHEDULER)
            continue;
        must(outbox_get(&w->out, i, &m, &w->arena));
        must(m.type != MSG_attempt);
        if (m.type == MSG_gang_attempt)
            take(w, &m.gang_attempt);
    }
    outbox_reset(&w->out);
    arena_reset(&w->arena);
}

static void say(struct world *w, enum process process, const struct message *m)
{
    struct delivery in = {.from = {process, 1}, .message = m};
    if (process == WATCHER && m->type >= MSG_snapshot_begin) {
        in.epoch = 1;
        in.sequence = w->part > 0 ? w->sequence : ++w->sequence;
        in.part = w->part > 0 ? w->part++ : 0;
    }
    queue_handle(w->queue, w->now, &in, &w->out);
    tick(w);
}

/* Number 0 to TREES - 1 are CompositePodGroups, the others PodGroups. */
static void say_group(struct world *w, uint64_t i, bool well)
{
    static char name[16], parent[16], uid[32];
    bool leaf = i >= TREES;
    uint64_t up = well && !leaf ? i + 1 : pick(w, TREES + 1);
    snprintf(name, sizeof(name), "g%d", (int)i);
    snprintf(uid, sizeof(uid), "u%lld", (long long)++w->stamp);
    snprintf(parent, sizeof(parent), up < TREES ? "g%d" : "", (int)up);
    struct message m = {.type = MSG_pod_group_set,
                        .pod_group_set = {.group = {.api = str_of(leaf ? IN_TREE : TREE),
                                                    .namespace_name = STR_LITERAL("ns"),
                                                    .name = str_of(name),
                                                    .uid = str_of(uid),
                                                    .resource_version = w->stamp,
                                                    .created = (int64_t)pick(w, 3) * 1000000,
                                                    .parent = str_of(parent)}}};
    if (!well)
        m.pod_group_set.group.min_member = (int64_t)pick(w, 3);
    say(w, WATCHER, &m);
}

static void group_goes(struct world *w, uint64_t i)
{
    static char name[16];
    snprintf(name, sizeof(name), "g%d", (int)i);
    say(w, WATCHER,
        &(struct message){.type = MSG_object_gone,
                          .object_gone = {.kind = OBJECT_pod_group,
                                          .api = str_of(i >= TREES ? IN_TREE : TREE),
                                          .namespace_name = STR_LITERAL("ns"),
                                          .name = str_of(name)}});
}

static void pod_comes(struct world *w, uint64_t i, bool gated)
{
    static char name[16], uid[32], gang[16];
    static struct str gate = {"g", 1};
    if (!w->exists[i])
        w->uids[i] = ++w->stamp;
    w->exists[i] = true;
    snprintf(name, sizeof(name), "p%d", (int)i);
    snprintf(uid, sizeof(uid), "u%lld", (long long)w->uids[i]);
    snprintf(gang, sizeof(gang), "g%d", (int)(TREES + i % LEAVES));
    say(w, WATCHER,
        &(struct message){.type = MSG_pod_set,
                          .pod_set = {.pod = {.uid = str_of(uid),
                                              .namespace_name = STR_LITERAL("ns"),
                                              .name = str_of(name),
                                              .scheduler_name = STR_LITERAL("default-scheduler"),
                                              .gang = str_of(gang),
                                              .gang_api = STR_LITERAL(IN_TREE),
                                              .gates = {gated, &gate},
                                              .resource_version = ++w->stamp}}});
}

static void pod_goes(struct world *w, uint64_t i)
{
    static char name[16], uid[32];
    if (!w->exists[i])
        return;
    snprintf(name, sizeof(name), "p%d", (int)i);
    snprintf(uid, sizeof(uid), "u%lld", (long long)w->uids[i]);
    w->exists[i] = false;
    say(w, WATCHER,
        &(struct message){.type = MSG_pod_gone,
                          .pod_gone = {.uid = str_of(uid),
                                       .namespace_name = STR_LITERAL("ns"),
                                       .name = str_of(name)}});
}

static void ends(struct world *w, uint64_t i, enum outcome_result result)
{
    static char name[16], uid[32];
    static struct str fit = {"NodeResourcesFit", 16};
    if (!w->held[i])
        return;
    w->held[i] = false;
    snprintf(name, sizeof(name), "p%d", (int)i);
    snprintf(uid, sizeof(uid), "u%lld", (long long)w->uids[i]);
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = str_of(uid),
                                    .namespace_name = STR_LITERAL("ns"),
                                    .name = str_of(name),
                                    .cycle = w->cycles[i],
                                    .result = result,
                                    .plugins = {result == OUTCOME_unschedulable, &fit}}};
    say(w, SCHEDULER, &m);
}

static void step(struct world *w)
{
    static const enum outcome_result results[] = {OUTCOME_unschedulable, OUTCOME_unschedulable,
                                                  OUTCOME_error, OUTCOME_skipped, OUTCOME_bound};
    uint64_t pod = pick(w, PODS), group = pick(w, TREES + LEAVES);
    w->now.ns += (int64_t)pick(w, 2000) * 1000000;
    switch (pick(w, 6)) {
    case 0: say_group(w, group, false); break;
    case 1: group_goes(w, group); break;
    case 2: pod_comes(w, pod, pick(w, 10) == 0); break;
    case 3:
        if (!w->held[pod])
            pod_goes(w, pod);
        break;
    default: ends(w, pod, results[pick(w, 5)]); break;
    }
}

static void begin(struct world *w)
{
    static struct str api = {IN_TREE, sizeof(IN_TREE) - 1}, gates = {"SchedulingGates", 15};
    static struct profile profile;
    profile = (struct profile){
        .scheduler_name = STR_LITERAL("default-scheduler"),
        .pre_enqueue = {1, &gates},
        .gangs = GANGS_auto,
        .gang_built_in = true,
        .features = {.release = 37, .gangs = true, .gang_counts = true, .group_trees = true}};
    struct queue_options options = {.backoff_initial = span_of_seconds(1),
                                    .backoff_max = span_of_seconds(10),
                                    .unschedulable_max = span_of_seconds(300)};
    w->queue = queue_new(&options);
    say(w, WATCHER, &(struct message){.type = MSG_peer_up});
    say(w, SCHEDULER, &(struct message){.type = MSG_peer_up});
    say(w, SCHEDULER, &(struct message){.type = MSG_pull, .pull = {.credit = CREDIT}});
    say(w, SCHEDULER,
        &(struct message){.type = MSG_queue_config,
                          .queue_config = {.generation = 2,
                                           .hash = 7,
                                           .profiles = {.count = 1, .at = &profile}}});
    w->part = 1;
    w->sequence = 1;
    say(w, WATCHER, &(struct message){.type = MSG_snapshot_begin});
    say(w, WATCHER, &(struct message){.type = MSG_group_kinds, .group_kinds = {.apis = {1, &api}}});
    say(w, WATCHER, &(struct message){.type = MSG_snapshot_end});
    w->part = 0;
}

/* All groups are there, without a circle; every pod's turn comes. */
static void finish(struct world *w)
{
    size_t offered = 0;
    for (uint64_t i = 0; i < TREES + LEAVES; i++)
        say_group(w, i, true);
    for (uint64_t i = 0; i < PODS; i++)
        pod_comes(w, i, false);
    memset(w->offered, 0, sizeof(w->offered));
    for (int round = 0; round < 300 && offered < PODS; round++) {
        w->now.ns += 2 * SECOND;
        tick(w);
        for (uint64_t i = 0; i < PODS; i++)
            ends(w, i, OUTCOME_unschedulable);
        offered = 0;
        for (uint64_t i = 0; i < PODS; i++)
            offered += w->offered[i];
    }
    must(offered == PODS);
}

static void trees_are_in_order_whatever_happens(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.random = {seed}, .now = {SECOND}};
        begin(&w);
        for (int i = 0; i < STEPS; i++)
            step(&w);
        finish(&w);
        queue_free(&w.queue);
        outbox_free(&w.out);
        arena_free(&w.arena);
    }
    assert_true(attempts > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_in_order_whatever_happens)};
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
