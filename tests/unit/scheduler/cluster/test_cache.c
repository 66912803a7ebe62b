/* test_cache: pods by UID, ghosts, shares that come and go, images, claims and snapshots; and,
 * after any history, that each worker holds exactly what the cache says it has. */
#include "tests/unit/scheduler/cluster.h"

#include "scheduler/cluster/cache.h"
#include "scheduler/worker/shard_inside.h"

#include <stdlib.h>

enum { WORKERS = 4, RANDOM_NODES = 12, RANDOM_PODS = 30, RANDOM_PORTS = 4 };

struct fleet {
    struct cluster *c;
    struct cache *cache;
    struct shard *shards[WORKERS];
    int told[MSG_COUNT];
    bool paced, must_hear;
    int on_the_way[WORKERS], most_on_the_way;
    int64_t nodes, image_count, image_size;  /* as told last */
    bool in_use[RANDOM_NODES][RANDOM_PORTS]; /* ports, as upstream's sets have them */
};

static void on_tell(void *context, uint32_t worker, const struct message *m)
{
    struct fleet *f = context;
    struct shard *s = f->shards[worker];
    f->told[m->type]++;
    f->on_the_way[worker] = m->type == MSG_shard_reset ? 1 : f->on_the_way[worker] + 1;
    if (f->on_the_way[worker] > f->most_on_the_way)
        f->most_on_the_way = f->on_the_way[worker];
    switch (m->type) {
    case MSG_shard_reset:
        shard_reset(s, m->shard_reset.profiles.at, m->shard_reset.profiles.count);
        break;
    case MSG_shard_node: shard_node_set(s, &m->shard_node.node); break;
    case MSG_shard_node_gone: shard_node_gone(s, m->shard_node_gone.name); break;
    case MSG_shard_pod: shard_pod_told(s, &m->shard_pod); break;
    case MSG_shard_pod_gone: shard_pod_gone(s, m->shard_pod_gone.uid); break;
    case MSG_shard_nominated: shard_nominated(s, &m->shard_nominated.pod); break;
    case MSG_shard_nominated_gone: shard_nominated_gone(s, m->shard_nominated_gone.uid); break;
    case MSG_shard_images:
        f->nodes = m->shard_images.nodes;
        for (uint32_t i = 0; i < m->shard_images.counts.count; i++) {
            f->image_count = m->shard_images.counts.at[i].count;
            f->image_size = m->shard_images.sizes.at[i].count;
        }
        shard_images(s, &m->shard_images);
        break;
    default: fail_msg("message %d", m->type);
    }
}

static bool may_wait(void *context)
{
    return !((struct fleet *)context)->must_hear;
}

static struct fleet *fleet_of(struct cluster *c, uint32_t window)
{
    struct fleet *f = arena_take(&c->arena, sizeof(*f));
    f->c = c;
    for (int i = 0; i < WORKERS; i++)
        f->shards[i] = shard_new();
    const struct cache_options options = {.profiles = &c->profile,
                                          .profile_count = 1,
                                          .tell = on_tell,
                                          .context = f,
                                          .window = window,
                                          .may_wait = may_wait};
    f->paced = window > 0;
    f->cache = cache_new(&options);
    return f;
}

static struct fleet *fleet_new(struct cluster *c)
{
    return fleet_of(c, 0);
}

static void fleet_free(struct fleet *f)
{
    cache_free(&f->cache);
    for (int i = 0; i < WORKERS; i++)
        shard_free(&f->shards[i]);
}

static void add_nodes(struct fleet *f, int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%02d", i);
        cache_node_set(f->cache, make_node(f->c, name, 1000, GIB));
    }
}

/* ---- pods by UID ---- */

static void pods_with_terms_are_counted(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 1);
    struct pod *p = make_pod(f->c, "p", 100, 0), *q = make_pod(f->c, "q", 100, 0);
    *APPEND(&f->c->arena, p->anti_affinity_preferred) = (struct affinity_term){.weight = 1};
    assert_true(cache_assume(f->cache, p, STR_LITERAL("n00")));
    assert_true(cache_assume(f->cache, q, STR_LITERAL("n00")));
    assert_int_equal(cache_pods_with_terms(f->cache), 1);
    cache_pod_set(f->cache, on_node(p, "n00"));
    assert_int_equal(cache_pods_with_terms(f->cache), 1);
    assert_true(cache_forget(f->cache, q->uid));
    q->affinity_required.count = 1;
    q->affinity_required.at = p->anti_affinity_preferred.at;
    cache_pod_set(f->cache, on_node(q, "elsewhere")); /* a ghost's pod, too */
    assert_int_equal(cache_pods_with_terms(f->cache), 2);
    q->affinity_required.count = 0;
    cache_pod_set(f->cache, q);
    assert_int_equal(cache_pods_with_terms(f->cache), 1);
    cache_pod_gone(f->cache, p->uid);
    assert_int_equal(cache_pods_with_terms(f->cache), 0);
    fleet_free(f);
}

static void the_least_priority_is_that_of_pods_that_are_there(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 1);
    struct pod *p = make_pod(f->c, "p", 100, 0), *q = make_pod(f->c, "q", 100, 0);
    p->priority = 5;
    q->priority = -2;
    assert_true(cache_least_priority(f->cache) == INT64_MAX);
    assert_true(cache_assume(f->cache, p, STR_LITERAL("n00")));
    assert_true(cache_least_priority(f->cache) == 5);
    assert_true(cache_assume(f->cache, q, STR_LITERAL("n00")));
    assert_true(cache_least_priority(f->cache) == -2);
    cache_pod_set(f->cache, on_node(p, "n00"));
    assert_true(cache_forget(f->cache, q->uid));
    assert_true(cache_least_priority(f->cache) == 5);
    p->priority = 3;
    p->resource_version++;
    cache_pod_set(f->cache, on_node(p, "n00"));
    assert_true(cache_least_priority(f->cache) == 3);
    cache_pod_gone(f->cache, p->uid);
    assert_true(cache_least_priority(f->cache) == INT64_MAX);
    fleet_free(f);
}

static void a_pod_is_assumed_confirmed_and_gone(void **state)
{
    struct fleet *f = fleet_new(*state);
    struct str node = {0};
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    struct pod *p = make_pod(f->c, "p", 100, 0);
    assert_int_equal(cache_pod_set(f->cache, p), CACHE_nothing); /* pending */
    assert_true(cache_assume(f->cache, p, STR_LITERAL("n00")));
    assert_false(cache_assume(f->cache, p, STR_LITERAL("n00")));
    assert_int_equal(cache_pod(f->cache, p->uid, &node), CACHE_assumed);
    assert_str(node, "n00");
    assert_int_equal(shard_pods(f->shards[0]), 1);
    assert_int_equal(cache_pod_set(f->cache, p), CACHE_nothing); /* still seen pending */
    assert_int_equal(cache_assumed(f->cache), 1);
    assert_int_equal(cache_pod_set(f->cache, on_node(p, "n00")), CACHE_confirmed);
    assert_int_equal(cache_assumed(f->cache), 0);
    assert_false(cache_forget(f->cache, p->uid));
    assert_int_equal(cache_pod_set(f->cache, p), CACHE_updated);
    assert_int_equal(cache_pod_gone(f->cache, p->uid), CACHE_removed);
    assert_int_equal(cache_pod_gone(f->cache, p->uid), CACHE_nothing);
    assert_int_equal(cache_pod(f->cache, p->uid, NULL), CACHE_absent);
    assert_int_equal(shard_pods(f->shards[0]), 0);
    fleet_free(f);
}

static void a_forgotten_pod_gives_its_room_back(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    struct pod *p = make_pod(f->c, "p", 100, 0), *q = make_pod(f->c, "q", 100, 0);
    cache_assume(f->cache, p, STR_LITERAL("n00"));
    assert_true(cache_forget(f->cache, p->uid));
    assert_false(cache_forget(f->cache, p->uid));
    assert_int_equal(shard_pods(f->shards[0]), 0);
    cache_assume(f->cache, q, STR_LITERAL("n00"));
    q->deleting = true;
    assert_int_equal(cache_pod_set(f->cache, q), CACHE_forgotten);
    cache_assume(f->cache, p, STR_LITERAL("n00"));
    assert_int_equal(cache_pod_gone(f->cache, p->uid), CACHE_forgotten);
    assert_int_equal(cache_pods(f->cache), 0);
    fleet_free(f);
}

static void a_pod_seen_elsewhere_is_moved(void **state)
{
    struct fleet *f = fleet_new(*state);
    struct str node = {0};
    cache_worker_join(f->cache, 0, 1);
    cache_worker_join(f->cache, 1, 1);
    add_nodes(f, 2);
    struct pod *p = make_pod(f->c, "p", 100, 0);
    cache_assume(f->cache, p, STR_LITERAL("n00"));
    assert_int_equal(cache_pod_set(f->cache, on_node(p, "n01")), CACHE_moved);
    assert_int_equal(cache_pod(f->cache, p->uid, &node), CACHE_assigned);
    assert_str(node, "n01");
    assert_int_equal(shard_pods(f->shards[0]) + shard_pods(f->shards[1]), 1);
    fleet_free(f);
}

static void what_workers_do_not_use_is_not_told_again(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    struct pod *p = make_pod(f->c, "p", 100, 0);
    cache_assume(f->cache, p, STR_LITERAL("n00"));
    on_node(p, "n00")->resource_version = 77;
    cache_pod_set(f->cache, p);
    assert_int_equal(f->told[MSG_shard_pod], 1);
    p->priority = 5;
    cache_pod_set(f->cache, p);
    assert_int_equal(f->told[MSG_shard_pod], 2);
    fleet_free(f);
}

/* ---- ghosts ---- */

static void pods_of_an_unknown_node_wait_and_no_worker_has_them(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    cache_pod_set(f->cache, on_node(make_pod(f->c, "p", 100, 0), "n00"));
    assert_int_equal(cache_nodes(f->cache), 0);
    assert_int_equal(shard_pods(f->shards[0]), 0);
    add_nodes(f, 1);
    assert_int_equal(shard_pods(f->shards[0]), 1);
    cache_node_gone(f->cache, STR_LITERAL("n00"));
    assert_int_equal(cache_pods(f->cache), 1);
    assert_int_equal(shard_pods(f->shards[0]), 0);
    assert_false(cache_has_node(f->cache, STR_LITERAL("n00")));
    add_nodes(f, 1);
    assert_int_equal(shard_pods(f->shards[0]), 1);
    fleet_free(f);
}

/* ---- host ports ---- */

static bool is_in_use(struct fleet *f, struct str node, int64_t port)
{
    uint32_t worker;
    assert_true(cache_owner(f->cache, node, &worker));
    const struct shard *s = f->shards[worker];
    const struct node_entry *e = map_get(s->share.by_name, node);
    const struct ports *ports = &s->share.nodes.ports[e->row];
    for (uint32_t i = 0; i < ports->count; i++)
        if (ports->at[i].port == port)
            return true;
    return false;
}

static struct pod *with_port(struct fleet *f, const char *name, int64_t port)
{
    struct pod *p = make_pod(f->c, name, 100, 0);
    add_port(f->c, p, "0.0.0.0", "TCP", port);
    return p;
}

static void a_port_that_was_freed_stays_free_whoever_is_told_of_its_node(void **state)
{
    struct fleet *f = fleet_new(*state);
    const struct str node = STR_LITERAL("n00");
    struct pod *stays = with_port(f, "stays", 80), *goes = with_port(f, "goes", 80);
    add_port(f->c, stays, "0.0.0.0", "TCP", 81);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    cache_pod_set(f->cache, on_node(stays, "n00"));
    cache_pod_set(f->cache, on_node(goes, "n00"));
    cache_pod_gone(f->cache, goes->uid);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(is_in_use(f, node, 80));
        assert_true(is_in_use(f, node, 81));
        if (i == 0)
            cache_worker_join(f->cache, 0, 1); /* it begins anew */
        cache_node_gone(f->cache, node);
        add_nodes(f, 1);
    }
    cache_pod_set(f->cache, stays);
    assert_true(is_in_use(f, node, 80));
    cache_worker_join(f->cache, 0, 1);
    assert_true(is_in_use(f, node, 80));
    fleet_free(f);
}

static void a_pod_that_was_hidden_takes_what_it_had(void **state)
{
    struct fleet *f = fleet_new(*state);
    const struct str node = STR_LITERAL("n00");
    struct pod *a = with_port(f, "a", 80), *b = with_port(f, "b", 80), *c = with_port(f, "c", 80);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    cache_pod_set(f->cache, on_node(a, "n00"));
    cache_pod_set(f->cache, on_node(b, "n00"));
    cache_pod_set(f->cache, on_node(c, "n00"));
    assert_true(cache_hide(f->cache, a->uid));
    cache_show(f->cache, a->uid);
    assert_true(is_in_use(f, node, 80));
    cache_pod_gone(f->cache, c->uid);
    assert_true(cache_hide(f->cache, a->uid));
    cache_show(f->cache, a->uid);
    assert_false(is_in_use(f, node, 80));
    fleet_free(f);
}

/* ---- shares ---- */

static void assert_balanced(struct fleet *f, uint32_t workers, uint32_t nodes)
{
    uint32_t sum = 0;
    assert_int_equal(cache_workers(f->cache), workers);
    for (uint32_t i = 0; i < workers; i++) {
        uint32_t has = cache_worker_nodes(f->cache, i);
        assert_int_equal(has, shard_nodes(f->shards[cache_worker(f->cache, i)]));
        assert_in_range(has, nodes / workers, (nodes + workers - 1) / workers);
        sum += has;
    }
    assert_int_equal(sum, nodes);
}

static void shares_are_balanced_as_workers_come_and_go(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 20);
    for (uint32_t i = 0; i < 3; i++) {
        cache_worker_join(f->cache, i, 1);
        assert_balanced(f, i + 1, 20);
    }
    cache_worker_leave(f->cache, 1);
    cache_worker_leave(f->cache, 1);
    assert_balanced(f, 2, 20);
    cache_worker_join(f->cache, 3, 1);
    assert_balanced(f, 3, 20);
    fleet_free(f);
}

static void joining_moves_only_what_the_newcomer_gets(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 20);
    cache_worker_join(f->cache, 0, 1);
    cache_worker_join(f->cache, 1, 1);
    int before = f->told[MSG_shard_node];
    cache_worker_join(f->cache, 2, 1);
    assert_int_equal(f->told[MSG_shard_node] - before, cache_worker_nodes(f->cache, 2));
    fleet_free(f);
}

static void capacity_weighs(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 20);
    cache_worker_join(f->cache, 0, 1);
    cache_worker_join(f->cache, 1, 3);
    assert_int_equal(cache_worker_nodes(f->cache, 0), 5);
    assert_int_equal(cache_worker_nodes(f->cache, 1), 15);
    fleet_free(f);
}

static void a_worker_that_joins_again_is_told_everything_again(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 5);
    cache_worker_join(f->cache, 0, 1);
    cache_pod_set(f->cache, on_node(make_pod(f->c, "p", 100, 0), "n03"));
    cache_worker_join(f->cache, 0, 1);
    assert_int_equal(cache_workers(f->cache), 1);
    assert_int_equal(shard_nodes(f->shards[0]), 5);
    assert_int_equal(shard_pods(f->shards[0]), 1);
    fleet_free(f);
}

static void nodes_wait_for_a_worker(void **state)
{
    struct fleet *f = fleet_new(*state);
    uint32_t owner;
    add_nodes(f, 3);
    assert_false(cache_owner(f->cache, STR_LITERAL("n00"), &owner));
    cache_worker_join(f->cache, 2, 1);
    assert_true(cache_owner(f->cache, STR_LITERAL("n00"), &owner));
    assert_int_equal(owner, 2);
    cache_worker_leave(f->cache, 2);
    assert_false(cache_owner(f->cache, STR_LITERAL("n00"), &owner));
    cache_worker_join(f->cache, 1, 1);
    assert_int_equal(shard_nodes(f->shards[1]), 3);
    fleet_free(f);
}

/* ---- the node tree ---- */

static void nodes_are_walked_round_robin_over_zones(void **state)
{
    struct fleet *f = fleet_new(*state);
    static const struct {
        const char *name, *zone;
    } table[] = {{"a1", "a"}, {"a2", "a"}, {"a3", "a"}, {"b1", "b"}, {"b2", "b"}, {"none", ""}};
    static const char *const order[] = {"a1", "b1", "none", "a2", "b2", "a3"};
    static const char *const moved[] = {"a1", "b1", "none", "a3", "b2", "a2"};
    for (size_t i = 0; i < 6; i++) {
        struct node *n = make_node(f->c, table[i].name, 1, 1);
        if (table[i].zone[0] != 0)
            add_label(f->c, n, "topology.kubernetes.io/zone", table[i].zone);
        cache_node_set(f->cache, n);
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_str(cache_node_at(f->cache, i), order[i]);
    struct node *n = make_node(f->c, "a2", 1, 1);
    add_label(f->c, n, "topology.kubernetes.io/zone", "b");
    cache_node_set(f->cache, n); /* to the end of zone b */
    for (uint32_t i = 0; i < 6; i++)
        assert_str(cache_node_at(f->cache, i), moved[i]);
    fleet_free(f);
}

/* ---- images ---- */

static void node_with_image(struct fleet *f, const char *name, int64_t size)
{
    struct node *n = make_node(f->c, name, 1, 1);
    add_image(f->c, n, "app app", size);
    cache_node_set(f->cache, n);
}

static void an_image_keeps_the_size_of_the_node_first_seen(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    node_with_image(f, "n1", 700);
    node_with_image(f, "n2", 650);
    cache_flush(f->cache);
    assert_int_equal(f->nodes, 2);
    assert_int_equal(f->image_count, 2);
    assert_int_equal(f->image_size, 700);
    cache_node_gone(f->cache, STR_LITERAL("n1"));
    cache_flush(f->cache);
    assert_int_equal(f->image_count, 1);
    assert_int_equal(f->image_size, 700);
    node_with_image(f, "n2", 650); /* taken out and in again: seen first now */
    cache_flush(f->cache);
    assert_int_equal(f->image_size, 650);
    cache_node_gone(f->cache, STR_LITERAL("n2"));
    cache_flush(f->cache);
    assert_int_equal(f->image_count, 0);
    assert_int_equal(f->nodes, 0);
    int told = f->told[MSG_shard_images];
    cache_flush(f->cache);
    assert_int_equal(f->told[MSG_shard_images], told);
    fleet_free(f);
}

static int64_t image_score(struct fleet *f, struct shard *shard, const char *node)
{
    struct shard *own = f->c->shard;
    struct pod *p = make_pod(f->c, "p", 0, 0);
    p->images = strs_of(&f->c->arena, "app:latest");
    p->container_count = 1;
    f->c->shard = shard;
    int64_t raw = raw_on(f->c, p, node, "ImageLocality");
    f->c->shard = own;
    return raw;
}

/* Upstream's snapshot keeps what was counted when a node itself last changed: n1 would stay at
 * half, until its next heartbeat or for ever. */
static void an_image_that_others_get_counts_at_once_on_nodes_that_did_not_change(void **state)
{
    struct fleet *f = fleet_new(*state);
    struct shard *shard = f->shards[0];
    cache_worker_join(f->cache, 0, 1);
    struct node *n = make_node(f->c, "n1", 1000, GIB);
    add_image(f->c, n, "app:latest", 1000 * MIB);
    cache_node_set(f->cache, n);
    cache_node_set(f->cache, make_node(f->c, "n2", 1000, GIB));
    cache_flush(f->cache);
    assert_int_equal(image_score(f, shard, "n1"), 100 * (500 - 23) / (1000 - 23));
    n = make_node(f->c, "n2", 1000, GIB);
    add_image(f->c, n, "app:latest", 1000 * MIB);
    cache_node_set(f->cache, n);
    cache_flush(f->cache);
    assert_int_equal(image_score(f, shard, "n1"), 100);
    cache_node_gone(f->cache, STR_LITERAL("n2"));
    cache_node_set(f->cache, make_node(f->c, "n3", 1000, GIB));
    cache_flush(f->cache);
    assert_int_equal(image_score(f, shard, "n1"), 100 * (500 - 23) / (1000 - 23));
    fleet_free(f);
}

/* ---- claims ---- */

/* What a worker would say of the pod: where it does not fit because somebody is nominated there. */
static int64_t nodes_for(struct fleet *f, int worker, const struct pod *p)
{
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *p,
                                  .alone = true,
                                  .step = MAP_STEP_map,
                                  .tie_break = TIE_BREAK_first};
    struct map_result result;
    shard_map(f->shards[worker], &request, &result, &f->c->arena);
    return result.feasible;
}

static void claims_of_rivals_count_until_they_are_placed(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 2);
    struct pod *claim = make_pod(f->c, "claim", 800, 0), *p = make_pod(f->c, "p", 300, 0);
    struct pod *lower = make_pod(f->c, "lower", 1, 0), *lost = make_pod(f->c, "lost", 1, 0);
    claim->priority = p->priority = 10;
    lower->priority = 1;
    lost->priority = 99;
    claim->nominated_node = lower->nominated_node = STR_LITERAL("n00");
    lost->nominated_node = STR_LITERAL("no-such-node");
    cache_pod_set(f->cache, lower);
    cache_pod_set(f->cache, lost);
    assert_false(cache_has_rivals(f->cache, p));
    cache_pod_set(f->cache, claim);
    assert_true(cache_has_rivals(f->cache, p));
    assert_int_equal(shard_nominations(f->shards[0]), 2);
    assert_int_equal(nodes_for(f, 0, p), 1);
    assert_false(cache_has_rivals(f->cache, claim));
    assert_int_equal(nodes_for(f, 0, claim), 2);
    cache_assume(f->cache, claim, STR_LITERAL("n01"));
    assert_false(cache_has_rivals(f->cache, p));
    assert_int_equal(shard_nominations(f->shards[0]), 1);
    cache_pod_gone(f->cache, lower->uid);
    assert_int_equal(shard_nominations(f->shards[0]), 0);
    fleet_free(f);
}

static void claims_of_pods_that_the_queue_does_not_have_do_not_count(void **state)
{
    struct fleet *f = fleet_new(*state);
    uint32_t count;
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    struct pod *gated = make_pod(f->c, "gated", 100, 0), *foreign = make_pod(f->c, "foreign", 1, 0);
    const struct pod *p = make_pod(f->c, "p", 100, 0);
    gated->nominated_node = foreign->nominated_node = STR_LITERAL("n00");
    gated->gates = strs_of(&f->c->arena, "g");
    foreign->scheduler_name = STR_LITERAL("somebody-else");
    cache_pod_set(f->cache, foreign);
    cache_pod_set(f->cache, gated);
    assert_false(cache_has_rivals(f->cache, p));
    assert_int_equal(shard_nominations(f->shards[0]), 0);
    cache_pod_set(f->cache, gated); /* upstream's nominator takes it in with an update */
    assert_true(cache_has_rivals(f->cache, p));
    assert_int_equal(shard_nominations(f->shards[0]), 1);
    gated->priority = -1;
    cache_pod_set(f->cache, gated);
    assert_false(cache_has_rivals(f->cache, p));
    assert_int_equal(nodes_for(f, 0, make_pod(f->c, "q", 1000, 0)), 1);
    cache_nominated_below(f->cache, STR_LITERAL("n00"), 0, &count, &f->c->arena);
    assert_int_equal(count, 1);
    fleet_free(f);
}

static void a_claim_made_here_outlives_a_status_that_does_not_know_it_yet(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 2);
    struct pod *claim = make_pod(f->c, "claim", 100, 0), *p = make_pod(f->c, "p", 100, 0);
    cache_nominate(f->cache, claim, STR_LITERAL("n00"));
    cache_pod_set(f->cache, claim);
    assert_true(cache_has_rivals(f->cache, p));
    claim->nominated_node = STR_LITERAL("n00");
    cache_pod_set(f->cache, claim);
    claim->nominated_node = (struct str){0}; /* written, and then cleared by somebody */
    cache_pod_set(f->cache, claim);
    assert_false(cache_has_rivals(f->cache, p));
    cache_nominate(f->cache, claim, STR_LITERAL("n00"));
    cache_nominate(f->cache, claim, (struct str){0});
    assert_false(cache_has_rivals(f->cache, p));
    fleet_free(f);
}

static bool is_kept(const void *context, struct str uid)
{
    return context != NULL && str_equal(uid, ((const struct pod *)context)->uid);
}

static void a_claim_is_not_written_because_its_pod_is_taken_with_it(void **state)
{
    struct fleet *f = fleet_new(*state);
    add_nodes(f, 2);
    struct pod *claim = make_pod(f->c, "claim", 100, 0), *p = make_pod(f->c, "p", 100, 0);
    cache_nominate(f->cache, claim, STR_LITERAL("n00"));
    claim->nominated_node = STR_LITERAL("n00"); /* it is decided again */
    cache_nominate(f->cache, claim, STR_LITERAL("n01"));
    claim->nominated_node = (struct str){0};
    cache_pod_set(f->cache, claim);
    assert_true(cache_has_rivals(f->cache, p));
    assert_false(cache_drop_unwritten(f->cache, is_kept, claim));
    assert_true(cache_has_rivals(f->cache, p));
    assert_true(cache_drop_unwritten(f->cache, is_kept, NULL));
    assert_false(cache_has_rivals(f->cache, p));
    claim->nominated_node = STR_LITERAL("n01");
    cache_pod_set(f->cache, claim);
    assert_false(cache_drop_unwritten(f->cache, is_kept, NULL));
    assert_true(cache_has_rivals(f->cache, p));
    fleet_free(f);
}

static void workers_hear_of_a_claim_only_when_it_is_another(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 2);
    struct pod *claim = make_pod(f->c, "claim", 800, 0), *p = make_pod(f->c, "p", 300, 0);
    cache_nominate(f->cache, claim, STR_LITERAL("n00"));
    claim->nominated_node = STR_LITERAL("n00");
    claim->scheduled = (struct condition){.status = STR_LITERAL("False")};
    cache_pod_set(f->cache, claim); /* its status was written */
    assert_int_equal(f->told[MSG_shard_nominated], 1);
    *APPEND(&f->c->arena, claim->labels) = (struct label){STR_LITERAL("a"), STR_LITERAL("b")};
    cache_pod_set(f->cache, claim);
    assert_int_equal(f->told[MSG_shard_nominated], 2);
    cache_nominate(f->cache, claim, STR_LITERAL("n01"));
    assert_int_equal(f->told[MSG_shard_nominated], 3);
    assert_int_equal(shard_nominations(f->shards[0]), 1);
    assert_int_equal(nodes_for(f, 0, p), 1);
    cache_nominate(f->cache, claim, (struct str){0});
    assert_int_equal(shard_nominations(f->shards[0]), 0);
    assert_int_equal(nodes_for(f, 0, p), 2);
    fleet_free(f);
}

/* Also nodes that come only then, and those that are there once more. */
static void claims_go_where_their_node_goes(void **state)
{
    struct fleet *f = fleet_new(*state);
    struct pod *early = make_pod(f->c, "early", 800, 0), *late = make_pod(f->c, "late", 800, 0);
    cache_worker_join(f->cache, 0, 1);
    cache_nominate(f->cache, early, STR_LITERAL("n00"));
    assert_int_equal(shard_nominations(f->shards[0]), 0);
    add_nodes(f, 2);
    cache_nominate(f->cache, late, STR_LITERAL("n01"));
    assert_int_equal(shard_nominations(f->shards[0]), 2);
    cache_worker_join(f->cache, 1, 1);
    assert_int_equal(shard_nominations(f->shards[0]), 1);
    assert_int_equal(shard_nominations(f->shards[1]), 1);
    cache_worker_leave(f->cache, 0);
    assert_int_equal(shard_nominations(f->shards[1]), 2);
    cache_node_gone(f->cache, STR_LITERAL("n00"));
    assert_int_equal(shard_nominations(f->shards[1]), 1);
    cache_node_set(f->cache, make_node(f->c, "n00", 1000, GIB));
    assert_int_equal(shard_nominations(f->shards[1]), 2);
    cache_worker_join(f->cache, 1, 1); /* a new life */
    assert_int_equal(shard_nominations(f->shards[1]), 2);
    assert_int_equal(nodes_for(f, 1, make_pod(f->c, "p", 300, 0)), 0);
    fleet_free(f);
}

/* ---- snapshots ---- */

static void what_a_snapshot_does_not_show_is_gone(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 3);
    struct pod *stays = on_node(make_pod(f->c, "stays", 1, 0), "n00");
    struct pod *goes = on_node(make_pod(f->c, "goes", 1, 0), "n00");
    struct pod *pending = make_pod(f->c, "pending", 1, 0),
               *deleted = make_pod(f->c, "deleted", 1, 0);
    struct pod *late = make_pod(f->c, "late", 1, 0);
    cache_pod_set(f->cache, stays);
    cache_pod_set(f->cache, goes);
    cache_assume(f->cache, pending, STR_LITERAL("n01"));
    cache_assume(f->cache, deleted, STR_LITERAL("n01"));
    cache_snapshot_begin(f->cache);
    cache_node_set(f->cache, make_node(f->c, "n00", 1000, GIB));
    cache_node_set(f->cache, make_node(f->c, "n01", 1000, GIB));
    cache_pod_set(f->cache, stays);
    cache_pod_set(f->cache, pending);
    cache_assume(f->cache, late, STR_LITERAL("n01")); /* decided while the snapshot came in */
    cache_snapshot_end(f->cache);
    assert_int_equal(cache_nodes(f->cache), 2);
    assert_int_equal(cache_pod(f->cache, stays->uid, NULL), CACHE_assigned);
    assert_int_equal(cache_pod(f->cache, goes->uid, NULL), CACHE_absent);
    assert_int_equal(cache_pod(f->cache, pending->uid, NULL), CACHE_assumed);
    assert_int_equal(cache_pod(f->cache, deleted->uid, NULL), CACHE_absent);
    assert_int_equal(cache_pod(f->cache, late->uid, NULL), CACHE_assumed);
    assert_int_equal(shard_pods(f->shards[0]), 3);
    fleet_free(f);
}

/* As with pod_gone: the queue may offer it once more before it hears of its end. */
static void no_claim_is_made_for_a_pod_that_a_snapshot_does_not_show(void **state)
{
    struct fleet *f = fleet_new(*state);
    cache_worker_join(f->cache, 0, 1);
    add_nodes(f, 1);
    struct pod *claimant = make_pod(f->c, "claimant", 1, 0);
    claimant->nominated_node = STR_LITERAL("n00");
    cache_pod_set(f->cache, claimant);
    assert_int_equal(cache_nominated(f->cache), 1);
    cache_snapshot_begin(f->cache);
    cache_node_set(f->cache, make_node(f->c, "n00", 1000, GIB));
    cache_snapshot_end(f->cache);
    assert_int_equal(cache_nominated(f->cache), 0);
    cache_nominate(f->cache, claimant, STR_LITERAL("n00"));
    assert_int_equal(cache_nominated(f->cache), 0);
    cache_pod_set(f->cache, claimant); /* it is there again */
    cache_nominate(f->cache, claimant, STR_LITERAL("n00"));
    assert_int_equal(cache_nominated(f->cache), 1);
    fleet_free(f);
}

/* ---- property ---- */

static struct pod *random_pod(struct cluster *c, unsigned number)
{
    struct pod *p = make_pod(c, "p", 100, 0);
    p->uid = arena_print(&c->arena, "uid-%u", number);
    if (number % 2 == 0)
        add_port(c, p, "0.0.0.0", "TCP", number % 3);
    if (number % 5 == 0)
        add_port(c, p, "0.0.0.0", "TCP", 3);
    return p;
}

static void use_ports(struct fleet *f, const struct pod *p, struct str node, bool use)
{
    const unsigned at = (unsigned)strtoul(node.at + 1, NULL, 10);
    for (uint32_t i = 0; i < p->ports.count; i++)
        f->in_use[at][p->ports.at[i].port] = use;
}

static void random_change(struct fleet *f, struct random *r, struct pod *p, const char *name)
{
    struct cluster *c = f->c;
    uint64_t i = random_below(r, WORKERS);
    struct str node = str_of(name);
    switch (random_below(r, 8)) {
    case 0:
    case 1: cache_nominate(f->cache, p, node); break;
    case 2: cache_nominate(f->cache, p, (struct str){0}); break;
    case 3:
    case 4: cache_node_set(f->cache, make_node(c, name, 1000, GIB)); break;
    case 5: cache_node_gone(f->cache, node); break;
    case 6:
        (f->paced ? cache_worker_join_paced : cache_worker_join)(f->cache, (uint32_t)i, 1);
        break;
    default:
        shard_reset(f->shards[i], &c->profile, 1); /* it dies and forgets */
        cache_worker_leave(f->cache, (uint32_t)i);
    }
}

/* What it was before leaves its ports, what it is now takes them. */
static void random_change_of_pod(struct fleet *f, struct random *r, struct pod *p, const char *name)
{
    struct str before, now;
    const uint64_t what = random_below(r, 4);
    if (cache_pod(f->cache, p->uid, &before) == CACHE_absent)
        before = (struct str){NULL, 0};
    before = arena_copy(&f->c->arena, before);
    bool changed = what == 0   ? cache_assume(f->cache, p, str_of(name))
                   : what == 1 ? cache_forget(f->cache, p->uid)
                   : what == 2 ? cache_pod_set(f->cache, on_node(p, name)) != CACHE_nothing
                               : cache_pod_gone(f->cache, p->uid) != CACHE_nothing;
    if (changed && before.len > 0)
        use_ports(f, p, before, false);
    if (changed && cache_pod(f->cache, p->uid, &now) != CACHE_absent)
        use_ports(f, p, now, true);
}

static void random_step(struct fleet *f, struct random *r)
{
    struct pod *p = random_pod(f->c, (unsigned)random_below(r, RANDOM_PODS));
    unsigned node = (unsigned)random_below(r, RANDOM_NODES);
    const char *name = arena_print(&f->c->arena, "n%u", node).at;
    if (random_below(r, 3) == 0)
        random_change_of_pod(f, r, p, name);
    else
        random_change(f, r, p, name);
}

/* Pods on known nodes, as the cache has them. */
static uint32_t placed_pods(struct fleet *f)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < RANDOM_PODS; i++) {
        struct str node, uid = arena_print(&f->c->arena, "uid-%u", i);
        if (cache_pod(f->cache, uid, &node) != CACHE_absent && cache_has_node(f->cache, node))
            count++;
    }
    return count;
}

/* Those that are nominated to known nodes. */
static uint32_t usable_claims(struct fleet *f)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < RANDOM_PODS; i++) {
        struct str node, uid = arena_print(&f->c->arena, "uid-%u", i);
        if (cache_nomination(f->cache, uid, &node) && cache_has_node(f->cache, node))
            count++;
    }
    return count;
}

static void check_ports(struct fleet *f)
{
    for (unsigned i = 0; i < RANDOM_NODES; i++) {
        uint32_t worker;
        struct str node = arena_print(&f->c->arena, "n%u", i);
        if (!cache_owner(f->cache, node, &worker))
            continue;
        for (unsigned port = 0; port < RANDOM_PORTS; port++)
            assert_int_equal(is_in_use(f, node, port), f->in_use[i][port]);
    }
}

static void check_fleet(struct fleet *f)
{
    uint32_t nodes = 0, pods = 0, ghosts = 0, claims = 0;
    for (uint32_t i = 0; i < cache_workers(f->cache); i++) {
        const struct shard *s = f->shards[cache_worker(f->cache, i)];
        assert_int_equal(shard_nodes(s), cache_worker_nodes(f->cache, i));
        nodes += shard_nodes(s);
        pods += shard_pods(s);
        ghosts += shard_ghosts(s);
        claims += shard_nominations(s);
    }
    bool any = cache_workers(f->cache) > 0;
    assert_int_equal(nodes, any ? cache_nodes(f->cache) : 0);
    assert_int_equal(pods, any ? placed_pods(f) : 0);
    assert_int_equal(claims, any ? usable_claims(f) : 0);
    assert_int_equal(ghosts, 0);
    check_ports(f);
}

static void workers_hold_together_what_the_cache_has(void **state)
{
    struct fleet *f = fleet_new(*state);
    struct random r = {42};
    for (int step = 0; step < 3000; step++) {
        random_step(f, &r);
        check_fleet(f);
    }
    assert_int_equal(cache_owed(f->cache), 0);
    fleet_free(f);
}

static void workers_take(struct fleet *f)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        cache_worker_took(f->cache, i, f->on_the_way[i]);
        f->on_the_way[i] = 0;
    }
    cache_catch_up(f->cache);
}

static void slow_workers_catch_up_with_what_the_cache_has(void **state)
{
    struct fleet *f = fleet_of(*state, 4);
    struct random r = {43};
    uint32_t most_owed = 0;
    for (int step = 0; step < 6000; step++) {
        f->must_hear = random_below(&r, 10) == 0;
        random_step(f, &r);
        f->must_hear = false;
        most_owed = cache_owed(f->cache) > most_owed ? cache_owed(f->cache) : most_owed;
        if (random_below(&r, 4) == 0)
            workers_take(f);
        if (random_below(&r, 8) != 0)
            continue;
        for (int round = 0; cache_owed(f->cache) > 0; round++) {
            assert_true(round < 100);
            workers_take(f);
        }
        check_fleet(f);
    }
    assert_true(most_owed > 3); /* it was about something */
    fleet_free(f);
}

static void a_share_is_told_no_faster_than_it_is_taken(void **state)
{
    struct fleet *f = fleet_of(*state, 16);
    add_nodes(f, 90);
    cache_worker_join_paced(f->cache, 0, 1);
    assert_true(cache_owed(f->cache) > 0);
    while (cache_owed(f->cache) > 0)
        workers_take(f);
    assert_int_equal(shard_nodes(f->shards[0]), 90);
    assert_in_range(f->most_on_the_way, 16, 18); /* a node is told with its own end */
    cache_worker_join_paced(f->cache, 1, 1);
    while (cache_owed(f->cache) > 0)
        workers_take(f);
    assert_int_equal(shard_nodes(f->shards[0]), 45);
    assert_int_equal(shard_nodes(f->shards[1]), 45);
    cache_worker_leave(f->cache, 1); /* what it was owed goes with it */
    while (cache_owed(f->cache) > 0)
        workers_take(f);
    assert_int_equal(shard_nodes(f->shards[0]), 90);
    fleet_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_pod_is_assumed_confirmed_and_gone),
        CLUSTER_TEST(pods_with_terms_are_counted),
        CLUSTER_TEST(the_least_priority_is_that_of_pods_that_are_there),
        CLUSTER_TEST(a_forgotten_pod_gives_its_room_back),
        CLUSTER_TEST(a_pod_seen_elsewhere_is_moved),
        CLUSTER_TEST(what_workers_do_not_use_is_not_told_again),
        CLUSTER_TEST(pods_of_an_unknown_node_wait_and_no_worker_has_them),
        CLUSTER_TEST(a_port_that_was_freed_stays_free_whoever_is_told_of_its_node),
        CLUSTER_TEST(a_pod_that_was_hidden_takes_what_it_had),
        CLUSTER_TEST(shares_are_balanced_as_workers_come_and_go),
        CLUSTER_TEST(joining_moves_only_what_the_newcomer_gets),
        CLUSTER_TEST(capacity_weighs),
        CLUSTER_TEST(a_worker_that_joins_again_is_told_everything_again),
        CLUSTER_TEST(nodes_wait_for_a_worker),
        CLUSTER_TEST(nodes_are_walked_round_robin_over_zones),
        CLUSTER_TEST(an_image_keeps_the_size_of_the_node_first_seen),
        CLUSTER_TEST(an_image_that_others_get_counts_at_once_on_nodes_that_did_not_change),
        CLUSTER_TEST(claims_of_rivals_count_until_they_are_placed),
        CLUSTER_TEST(claims_of_pods_that_the_queue_does_not_have_do_not_count),
        CLUSTER_TEST(a_claim_made_here_outlives_a_status_that_does_not_know_it_yet),
        CLUSTER_TEST(a_claim_is_not_written_because_its_pod_is_taken_with_it),
        CLUSTER_TEST(workers_hear_of_a_claim_only_when_it_is_another),
        CLUSTER_TEST(claims_go_where_their_node_goes),
        CLUSTER_TEST(what_a_snapshot_does_not_show_is_gone),
        CLUSTER_TEST(no_claim_is_made_for_a_pod_that_a_snapshot_does_not_show),
        CLUSTER_TEST(workers_hold_together_what_the_cache_has),
        CLUSTER_TEST(slow_workers_catch_up_with_what_the_cache_has),
        CLUSTER_TEST(a_share_is_told_no_faster_than_it_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
