/* A search whose time runs out is its node's alone, until too many have. */
#include "proto/kube/release/release.h"
#include "scheduler/cluster/device_findings.h"
#include "tests/unit/scheduler/cluster.h"

#define NODES     40
#define CHOICES   4 /* devices of a node */
#define LATE_MOST 3

static int64_t now_ns;
static uint32_t looks, slow_looks; /* at the clock; the first ones come late */

static struct moment slow_at_first(void)
{
    if (looks++ < slow_looks)
        now_ns += 20000000000;
    return (struct moment){now_ns};
}

static void tell_nobody(void *context, uint32_t worker, const struct message *m)
{
    (void)context;
    (void)worker;
    (void)m;
}

struct scene {
    struct arena memory;
    struct catalog *catalog;
    struct cache *cache;
};

static void add_slice(struct scene *s, struct str node)
{
    struct message m = {.type = MSG_resource_slice_set};
    struct resource_slice *slice = &m.resource_slice_set.slice;
    *slice = (struct resource_slice){.name = node,
                                     .driver = STR_LITERAL("d.example.com"),
                                     .pool = node,
                                     .pool_generation = 1,
                                     .pool_slices = 1,
                                     .node_name = node};
    slice->devices.count = CHOICES;
    slice->devices.at = arena_take(&s->memory, CHOICES * sizeof(*slice->devices.at));
    for (uint32_t d = 0; d < CHOICES; d++)
        slice->devices.at[d] = (struct slice_device){.name = arena_print(&s->memory, "dev%02u", d)};
    catalog_take(s->catalog, &m);
}

static void set_up(struct scene *s)
{
    *s = (struct scene){.catalog = catalog_new()};
    s->cache = cache_new(&(struct cache_options){.tell = tell_nobody, .catalog = s->catalog});
    struct message m = {.type = MSG_device_class_set};
    m.device_class_set.device_class.name = STR_LITERAL("c");
    catalog_take(s->catalog, &m);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct str name = arena_print(&s->memory, "n%02u", i);
        cache_node_set(s->cache, &(struct node){.name = name, .uid = name});
        add_slice(s, name);
    }
    struct device_ask ask = {.name = STR_LITERAL("one"),
                             .class_name = STR_LITERAL("c"),
                             .mode = STR_LITERAL("ExactCount"),
                             .count = 1};
    struct device_request request = {
        .name = STR_LITERAL("one"), .exactly = true, .asks = {1, &ask}};
    m = (struct message){.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    claim->namespace_name = STR_LITERAL("ns");
    claim->name = STR_LITERAL("claim");
    claim->uid = STR_LITERAL("uid-claim");
    claim->requests.count = 1;
    claim->requests.at = &request;
    catalog_take(s->catalog, &m);
}

static void tear_down(struct scene *s)
{
    cache_free(&s->cache);
    catalog_free(&s->catalog);
    arena_free(&s->memory);
}

struct seen {
    uint32_t fit, late; /* nodes */
};

static bool is_late(const struct device_verdict *verdict)
{
    return verdict->fails && strncmp(verdict->reason.at, "node n", 6) == 0 &&
           verdict->reason.len > 40;
}

static struct seen ask(struct scene *s, int64_t timeout_ms)
{
    struct device_claim named = {.name = STR_LITERAL("one"), .claim = STR_LITERAL("claim")};
    const struct pod pod = {.uid = STR_LITERAL("uid-pod"),
                            .namespace_name = STR_LITERAL("ns"),
                            .name = STR_LITERAL("pod"),
                            .device_claims = {1, &named}};
    const struct features features = release_features(37);
    const struct device_question q = {.catalog = s->catalog,
                                      .features = &features,
                                      .cache = s->cache,
                                      .pod = &pod,
                                      .timeout_ms = timeout_ms,
                                      .clock = slow_at_first};
    struct findings all = {0};
    struct seen out = {0};
    assert_int_equal(device_findings(&q, &all, &s->memory), 1);
    uint32_t told = all.device_nodes.count;
    for (uint32_t i = 0; i < told; i++) {
        const struct device_verdict *v = &all.device_verdicts.at[all.device_nodes.at[i].verdict];
        out.fit += v->fits;
        out.late += is_late(v);
    }
    out.fit += all.device_verdicts.at[0].fits ? NODES - told : 0;
    out.late += is_late(&all.device_verdicts.at[0]) ? NODES - told : 0;
    return out;
}

/* Each search looks twice: when it begins, and with its first step. Nobody remembers what searches
 * before came to. */
static struct seen with_late_ones(uint32_t late)
{
    struct scene s;
    set_up(&s);
    looks = 0;
    slow_looks = 2 * late;
    const struct seen seen = ask(&s, 10000);
    tear_down(&s);
    return seen;
}

static void a_late_search_is_of_its_node_alone(void **state)
{
    (void)state;
    for (uint32_t late = 0; late < LATE_MOST; late++) {
        const struct seen seen = with_late_ones(late);
        assert_int_equal(seen.late, late);
        assert_int_equal(seen.fit, NODES - late);
    }
}

static void too_many_late_ones_end_it(void **state)
{
    (void)state;
    assert_int_equal(with_late_ones(NODES).late, NODES);
    assert_int_equal(looks, 2 * LATE_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_late_search_is_of_its_node_alone),
                                       cmocka_unit_test(too_many_late_ones_end_it)};
    return cmocka_run_group_tests_name("device_time", tests, NULL, NULL);
}
