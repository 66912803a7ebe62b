/* test_classes: what a share keeps for a class of pods is what looking at every row would give,
 * after any history of pods and nodes, for rules by row, by zone and by host, alone and among
 * several workers; and when nothing is kept. */
#include "proto/codec.h"
#include "scheduler/worker/classes_inside.h"
#include "scheduler/worker/shard_inside.h"
#include "tests/unit/scheduler/cluster.h"

enum { NODES = 150, PODS = 200, STEPS = 250, KINDS = 9, SHARDS_MAX = 3 };

static const char *const zones[] = {"a", "b", "c", "d"};
static const char *const apps[] = {"web", "db", "cache"};

struct world {
    struct cluster *c;
    struct random random;
    uint32_t shard_count;
    struct shard *shards[SHARDS_MAX];
    struct pod *pods[PODS]; /* NULL: not there */
    struct pod *kinds[KINDS];
    struct frameworks frameworks;
    int64_t cycle;
};

static void add_score(struct cluster *c, const char *name, int64_t weight)
{
    *APPEND(&c->arena, c->profile.score) = (struct score_plugin){str_of(name), weight};
}

static struct shard *owner_of(const struct world *w, uint32_t node)
{
    return w->shards[node % w->shard_count];
}

static void set_node(struct world *w, uint32_t i)
{
    struct cluster *c = w->c;
    struct random *r = &w->random;
    char *name = arena_take(&c->arena, 16);
    snprintf(name, 16, "n%u", i);
    struct node *n = make_node(c, name, 1000 + (int64_t)random_below(r, 4) * 1000, 8 * GIB);
    add_label(c, n, "kubernetes.io/hostname", name);
    if (random_below(r, 20) > 0)
        add_label(c, n, "zone", zones[random_below(r, 4)]);
    if (random_below(r, 4) == 0)
        add_label(c, n, "disk", random_below(r, 2) == 0 ? "ssd" : "hdd");
    if (random_below(r, 8) == 0)
        add_taint(c, n, "k", random_below(r, 2) == 0 ? "NoSchedule" : "PreferNoSchedule");
    n->unschedulable = random_below(r, 30) == 0;
    if (random_below(r, 3) == 0)
        add_image(c, n, random_below(r, 2) == 0 ? "app:v1" : "other:v1", 900 * MIB);
    shard_node_set(owner_of(w, i), n);
}

/* On how many nodes there are images, as if the coordinator had counted anew. */
static void tell_images(struct world *w)
{
    struct cluster *c = w->c;
    struct shard_images m = {.nodes = NODES + (int64_t)random_below(&w->random, 2)};
    const char *names[] = {"app:v1", "other:v1"};
    for (size_t i = 0; i < 2; i++) {
        *APPEND(&c->arena, m.sizes) = (struct tally){str_of(names[i]), 900 * MIB};
        *APPEND(&c->arena, m.counts) =
            (struct tally){str_of(names[i]), 1 + (int64_t)random_below(&w->random, 3)};
    }
    for (uint32_t i = 0; i < w->shard_count; i++)
        shard_images(w->shards[i], &m);
}

static struct affinity_term term(struct cluster *c, const char *app, const char *key,
                                 int64_t weight)
{
    struct affinity_term t = {.selector = {.present = true},
                              .namespaces = strs_of(&c->arena, "default"),
                              .topology_key = str_of(key),
                              .weight = weight};
    *APPEND(&c->arena, t.selector.labels) = (struct label){STR_LITERAL("app"), str_of(app)};
    return t;
}

static void spread(struct cluster *c, struct pod *p, const char *key, const char *what)
{
    struct spread_constraint s = {.topology_key = str_of(key),
                                  .max_skew = 1,
                                  .when_unsatisfiable = str_of(what),
                                  .selector = {.present = true}};
    *APPEND(&c->arena, s.selector.labels) = p->labels.at[0];
    *APPEND(&c->arena, p->spread) = s;
    p->has_spread = true;
}

/* Pods that ask for much the same, but for what counts. */
static struct pod *pod_of_kind(struct world *w, uint32_t kind)
{
    struct cluster *c = w->c;
    const char *app = apps[kind % 3];
    struct pod *p = make_pod(c, "p", 100, 100 * MIB);
    *APPEND(&c->arena, p->labels) = (struct label){STR_LITERAL("app"), str_of(app)};
    if (kind % 2 == 0)
        p->images = strs_of(&c->arena, "app:v1");
    switch (kind) {
    case 1: spread(c, p, "zone", "DoNotSchedule"); break;
    case 2:
        spread(c, p, "kubernetes.io/hostname", "ScheduleAnyway");
        spread(c, p, "zone", "ScheduleAnyway");
        break;
    case 3:
        *APPEND(&c->arena, p->anti_affinity_required) = term(c, app, "kubernetes.io/hostname", 0);
        break;
    case 4: *APPEND(&c->arena, p->affinity_required) = term(c, app, "zone", 0); break;
    case 5:
        *APPEND(&c->arena, p->affinity_preferred) = term(c, apps[0], "zone", 7);
        *APPEND(&c->arena, p->anti_affinity_preferred) =
            term(c, apps[1], "kubernetes.io/hostname", 3);
        break;
    case 6:
        spread(c, p, "kubernetes.io/hostname", "DoNotSchedule");
        *APPEND(&c->arena, p->affinity_preferred) = term(c, apps[2], "zone", 9);
        break;
    case 7: prefer(c, p, 5, one_term(c, "disk", "In", "ssd")); break;
    case 8: *APPEND(&c->arena, p->anti_affinity_required) = term(c, apps[0], "zone", 0); break;
    default: break;
    }
    return p;
}

static void world_start(struct world *w, struct cluster *c, uint64_t seed, uint32_t shards)
{
    *w = (struct world){.c = c, .random = {seed}, .shard_count = shards};
    c->profile.pre_filter = strs_of(&c->arena, "NodeAffinity NodePorts NodeResourcesFit "
                                               "VolumeBinding PodTopologySpread InterPodAffinity");
    c->profile.pre_score =
        strs_of(&c->arena, "TaintToleration NodeAffinity NodeResourcesFit PodTopologySpread "
                           "InterPodAffinity NodeResourcesBalancedAllocation");
    c->profile.hard_affinity_weight = 1;
    if (c->profile.score.count == 5) {
        add_score(c, "PodTopologySpread", 2);
        add_score(c, "InterPodAffinity", 2);
    }
    frameworks_build(&w->frameworks, &c->profile, 1);
    for (uint32_t i = 0; i < shards; i++) {
        w->shards[i] = shard_new();
        shard_reset(w->shards[i], &c->profile, 1);
    }
    for (uint32_t i = 0; i < NODES; i++)
        set_node(w, i);
    tell_images(w);
    for (uint32_t i = 0; i < KINDS; i++)
        w->kinds[i] = pod_of_kind(w, i);
}

static void world_end(struct world *w)
{
    for (uint32_t i = 0; i < w->shard_count; i++)
        shard_free(&w->shards[i]);
    frameworks_clear(&w->frameworks);
}

/* ---- one decision ---- */

struct gist {
    enum decision_kind kind;
    int64_t total, best_count, feasible;
    struct str node, message;
};

static struct gist decide(struct world *w, const struct pod *pod, bool detail)
{
    struct reduce *reduce = reduce_new();
    struct reduce_start start = {.cycle = ++w->cycle,
                                 .framework = &w->frameworks.at[0],
                                 .catalog = w->c->catalog,
                                 .pod = pod,
                                 .shards = w->shard_count,
                                 .nodes = NODES,
                                 .own_hostnames = true,
                                 .tie_break = TIE_BREAK_first,
                                 .detail = detail};
    enum reduce_step step = reduce_start(reduce, &start);
    while (step == REDUCE_ask) {
        bool asked[SHARDS_MAX];
        for (uint32_t i = 0; i < w->shard_count; i++)
            asked[i] = reduce_asks(reduce, i);
        for (uint32_t i = 0; i < w->shard_count; i++) {
            struct map_result result;
            if (!asked[i])
                continue;
            shard_map(w->shards[i], reduce_request(reduce), &result, &w->c->arena);
            step = reduce_add(reduce, i, &result);
        }
    }
    const struct decision *d = reduce_decision(reduce);
    const struct gist g = {.kind = d->kind,
                           .total = d->total,
                           .best_count = d->best_count,
                           .feasible = d->feasible,
                           .node = arena_copy(&w->c->arena, d->node),
                           .message = arena_copy(&w->c->arena, d->message)};
    reduce_free(&reduce);
    return g;
}

static void assert_alike(struct world *w, uint32_t kind, uint64_t seed, int step)
{
    const struct gist whole = decide(w, w->kinds[kind], true),
                      kept = decide(w, w->kinds[kind], false);
    if (whole.kind != kept.kind || whole.total != kept.total ||
        whole.best_count != kept.best_count || whole.feasible != kept.feasible ||
        !str_equal(whole.node, kept.node) || !str_equal(whole.message, kept.message))
        fail_msg("seed %u step %d kind %u: %.*s %d of %d, %d; kept %.*s %d of %d, %d",
                 (unsigned)seed, step, kind, STR_ARG(whole.node), (int)whole.best_count,
                 (int)whole.feasible, (int)whole.total, STR_ARG(kept.node), (int)kept.best_count,
                 (int)kept.feasible, (int)kept.total);
}

/* ---- what happens ---- */

static void happen_to_pod(struct world *w, uint32_t node, uint32_t pod)
{
    struct random *r = &w->random;
    if (w->pods[pod] != NULL)
        for (uint32_t i = 0; i < w->shard_count; i++)
            shard_pod_gone(w->shards[i], w->pods[pod]->uid);
    w->pods[pod] = NULL;
    if (random_below(r, 4) == 0)
        return;
    w->pods[pod] = pod_of_kind(w, (uint32_t)random_below(r, KINDS));
    w->pods[pod]->deleting = random_below(r, 10) == 0;
    w->pods[pod]->node_name = arena_print(&w->c->arena, "n%u", node);
    shard_pod_set(owner_of(w, node), w->pods[pod]);
}

static void happen(struct world *w)
{
    struct random *r = &w->random;
    uint32_t node = (uint32_t)random_below(r, NODES), pod = (uint32_t)random_below(r, PODS);
    switch (random_below(r, 40)) {
    case 0: shard_node_gone(owner_of(w, node), arena_print(&w->c->arena, "n%u", node)); break;
    case 1: break;
    case 2: tell_images(w); return;
    default: happen_to_pod(w, node, pod); return;
    }
    set_node(w, node);
}

static uint64_t answers(const struct world *w)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < w->shard_count; i++)
        all += classes_status(w->shards[i]->classes).answers;
    return all;
}

/* What decides whether there is room for another class. */
static void assert_all_bytes_are_counted(const struct world *w)
{
    for (uint32_t i = 0; i < w->shard_count; i++)
        assert_int_equal(classes_held(w->shards[i]->classes),
                         classes_status(w->shards[i]->classes).bytes);
}

static void what_is_kept_is_what_looking_gives(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct world w;
        world_start(&w, *state, seed, 1 + (uint32_t)seed % SHARDS_MAX);
        for (int step = 0; step < STEPS; step++) {
            for (uint64_t i = random_below(&w.random, 6); i > 0; i--)
                happen(&w);
            /* twice: one that was left behind is brought in step */
            uint32_t kind = (uint32_t)random_below(&w.random, KINDS);
            for (uint64_t times = 1 + random_below(&w.random, 2); times > 0; times--)
                assert_alike(&w, kind, seed, step);
            assert_all_bytes_are_counted(&w);
        }
        assert_true(answers(&w) > STEPS / 2);
        world_end(&w);
    }
}

/* A long silence: more rows have changed than are remembered. */
static void many_changes_at_once_are_looked_at_anew(void **state)
{
    struct world w;
    world_start(&w, *state, 77, 1);
    for (int round = 0; round < 3; round++) {
        for (uint32_t kind = 0; kind < KINDS; kind++)
            for (int times = 0; times < 3; times++)
                assert_alike(&w, kind, 77, round);
        for (int i = 0; i < TOUCHED_ROOM + 10; i++)
            happen(&w);
    }
    world_end(&w);
}

/* More classes than there is room for. */
static void classes_come_and_go(void **state)
{
    struct cluster *c = *state;
    struct world w;
    world_start(&w, c, 78, 1);
    for (int i = 0; i < 3 * 700; i++) {
        struct pod *p = make_pod(c, "p", 100 + i / 3, 0);
        (void)decide(&w, p, false);
    }
    const struct classes_status status = classes_status(w.shards[0]->classes);
    assert_in_range(status.count, 1, 513);
    assert_all_bytes_are_counted(&w);
    assert_true(status.answers > 1000);
    w.kinds[0] = make_pod(c, "q", 100, 0);
    assert_alike(&w, 0, 78, 0);
    world_end(&w);
}

/* One that is asked so seldom that most has changed each time is no use, until it is asked again
 * at once. */
static void a_class_far_behind_is_left_there_until_it_is_asked_twice(void **state)
{
    struct cluster *c = *state;
    struct world w;
    c->profile.filter = strs_of(&c->arena, "NodeUnschedulable TaintToleration NodeResourcesFit");
    c->profile.score.count = 4; /* and none that counts */
    world_start(&w, c, 79, 1);
    w.kinds[0] = make_pod(c, "p", 100, 0);
    for (int i = 0; i < 3; i++)
        assert_alike(&w, 0, 79, i);
    uint64_t before = answers(&w);
    for (int round = 0; round < 5; round++) {
        for (uint32_t node = 0; node < 40; node++)
            set_node(&w, node);
        assert_alike(&w, 0, 79, 10 + round);
    }
    assert_int_equal(answers(&w), before);
    assert_alike(&w, 0, 79, 20);
    set_node(&w, 3);
    assert_alike(&w, 0, 79, 21);
    assert_int_equal(answers(&w), before + 2);
    world_end(&w);
}

/* Hardly any is forgotten for another of much the same hash. */
static void pods_of_many_kinds_in_turn_make_classes(void **state)
{
    struct cluster *c = *state;
    struct world w;
    world_start(&w, c, 80, 1);
    for (int i = 0; i < 2 * 300; i++)
        (void)decide(&w, make_pod(c, "p", 100 + i % 300, 0), false);
    assert_in_range(classes_status(w.shards[0]->classes).count, 290, 300);
    world_end(&w);
}

/* What is known of so many rows takes more than there is room for: those kinds that there is room
 * for stay, though each comes before any other has been asked twice. */
static void kinds_in_turn_do_not_push_each_other_out(void **state)
{
    struct cluster *c = *state;
    struct world w;
    const int kinds = 400, nodes = 5000;
    uint64_t before = 0;
    world_start(&w, c, 81, 1);
    for (int i = 0; i < nodes; i++)
        shard_node_set(w.shards[0], make_node(c, arena_print(&c->arena, "m%d", i).at, 64000, GIB));
    for (int i = 0; i < 3 * kinds; i++) {
        if (i == 2 * kinds)
            before = answers(&w);
        (void)decide(&w, make_pod(c, "p", 100 + i % kinds, 0), false);
    }
    uint32_t count = classes_status(w.shards[0]->classes).count;
    assert_in_range(count, kinds / 4, kinds - 20);
    assert_in_range(answers(&w) - before, count - 2, count);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(what_is_kept_is_what_looking_gives),
        CLUSTER_TEST(many_changes_at_once_are_looked_at_anew),
        CLUSTER_TEST(classes_come_and_go),
        CLUSTER_TEST(a_class_far_behind_is_left_there_until_it_is_asked_twice),
        CLUSTER_TEST(pods_of_many_kinds_in_turn_make_classes),
        CLUSTER_TEST(kinds_in_turn_do_not_push_each_other_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
