/* devices: what it costs the coordinator to find out where the claim of one pod can be allocated,
 * by how slices say which nodes they are for. Each node has a pool of its own, with one slice of
 * eight devices.
 *
 * What must stay true: every node can give what the pod asks for, whatever its slices say; a run in
 * which that is not so fails. */
#include "proto/base/memory.h"
#include "proto/kube/release/release.h"
#include "scheduler/cluster/device_findings.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/sections.h"

#include <math.h>
#include <stdio.h>

#define DEVICES_OF_A_NODE 8

enum reach_kind {
    REACH_name,
    REACH_hostname,
    REACH_field,
    REACH_device,
    REACH_counters,
    REACH_KINDS
};

static const char *const reach_names[REACH_KINDS] = {"nodeName", "selector", "field", "device",
                                                     "counters"};

struct scene {
    struct arena memory;
    struct catalog *catalog;
    struct cache *cache;
    struct features features;
    struct pod pod;
    uint32_t nodes, fitting;
};

static void tell_nobody(void *context, uint32_t worker, const struct message *m)
{
    (void)context;
    (void)worker;
    (void)m;
}

static void add_node(struct scene *s, const struct shape *shape, uint32_t i)
{
    struct node node = {0};
    cluster_node(shape, i, &node, &s->memory);
    cache_node_set(s->cache, &node);
}

/* ---- slices ---- */

static struct node_term *one_term(struct scene *s, struct str name, bool field)
{
    struct node_term *term = arena_take(&s->memory, sizeof(*term));
    struct requirement *r = arena_take(&s->memory, sizeof(*r));
    struct str *value = arena_take(&s->memory, sizeof(*value));
    *value = name;
    *r = (struct requirement){.key = field ? STR_LITERAL("metadata.name")
                                           : STR_LITERAL("kubernetes.io/hostname"),
                              .operator_name = STR_LITERAL("In"),
                              .values = {1, value}};
    *term = (struct node_term){0};
    if (field) {
        term->fields.count = 1;
        term->fields.at = r;
    } else {
        term->expressions.count = 1;
        term->expressions.at = r;
    }
    return term;
}

static void fill_devices(struct scene *s, struct resource_slice *slice, enum reach_kind kind,
                         struct str node)
{
    slice->devices.count = DEVICES_OF_A_NODE;
    slice->devices.at = arena_take(&s->memory, DEVICES_OF_A_NODE * sizeof(*slice->devices.at));
    for (uint32_t i = 0; i < DEVICES_OF_A_NODE; i++) {
        struct slice_device *d = &slice->devices.at[i];
        *d = (struct slice_device){.name = arena_print(&s->memory, "device-%u", i)};
        if (kind == REACH_device) {
            d->has_terms = true;
            d->terms.count = 1;
            d->terms.at = one_term(s, node, false);
        }
    }
}

static void set_slice(struct scene *s, const struct resource_slice *slice)
{
    struct message m = {.type = MSG_resource_slice_set};
    m.resource_slice_set.slice = *slice;
    catalog_take(s->catalog, &m);
}

static void add_counters(struct scene *s, const struct resource_slice *beside)
{
    struct label counter = {STR_LITERAL("memory"), STR_LITERAL("8")};
    struct device_counters set = {.name = STR_LITERAL("set"), .counters = {1, &counter}};
    struct resource_slice slice = *beside;
    slice.name = arena_print(&s->memory, "%.*s-counters", STR_ARG(beside->name));
    slice.devices.count = 0;
    slice.shared.count = 1;
    slice.shared.at = &set;
    set_slice(s, &slice);
}

static void add_slice(struct scene *s, enum reach_kind kind, uint32_t i)
{
    struct str node = cluster_node_name(i, &s->memory);
    struct resource_slice slice = {.name = arena_print(&s->memory, "slice-%.*s", STR_ARG(node)),
                                   .driver = STR_LITERAL("gpu.example.com"),
                                   .pool = node,
                                   .pool_generation = 1,
                                   .pool_slices = kind == REACH_counters ? 2 : 1};
    if (kind == REACH_name || kind == REACH_counters)
        slice.node_name = node;
    slice.by_device = kind == REACH_device;
    if (kind == REACH_hostname || kind == REACH_field) {
        slice.has_terms = true;
        slice.terms.count = 1;
        slice.terms.at = one_term(s, node, kind == REACH_field);
    }
    fill_devices(s, &slice, kind, node);
    set_slice(s, &slice);
    if (kind == REACH_counters)
        add_counters(s, &slice);
}

/* ---- the pod ---- */

static void add_claim(struct scene *s)
{
    struct message m = {.type = MSG_device_class_set};
    struct device_ask ask = {.name = STR_LITERAL("gpu"),
                             .class_name = STR_LITERAL("gpu"),
                             .mode = STR_LITERAL("ExactCount"),
                             .count = 2};
    struct device_request request = {
        .name = STR_LITERAL("gpu"), .exactly = true, .asks = {1, &ask}};
    m.device_class_set.device_class.name = STR_LITERAL("gpu");
    catalog_take(s->catalog, &m);
    m = (struct message){.type = MSG_resource_claim_set};
    m.resource_claim_set.resource_claim =
        (struct resource_claim){.namespace_name = STR_LITERAL("default"),
                                .name = STR_LITERAL("claim"),
                                .uid = STR_LITERAL("claim-uid"),
                                .requests = {1, &request}};
    catalog_take(s->catalog, &m);
    struct device_claim *named = arena_take(&s->memory, sizeof(*named));
    *named = (struct device_claim){.name = STR_LITERAL("gpu"), .claim = STR_LITERAL("claim")};
    s->pod = (struct pod){.uid = STR_LITERAL("pod-uid"),
                          .namespace_name = STR_LITERAL("default"),
                          .name = STR_LITERAL("pod"),
                          .device_claims = {1, named}};
}

static void build(struct scene *s, enum reach_kind kind, uint32_t nodes)
{
    const struct shape shape = {.nodes = nodes, .zones = 3};
    *s = (struct scene){.nodes = nodes, .features = release_features(36)};
    s->catalog = catalog_new();
    s->cache = cache_new(&(struct cache_options){.tell = tell_nobody, .catalog = s->catalog});
    for (uint32_t i = 0; i < nodes; i++)
        add_node(s, &shape, i);
    for (uint32_t i = 0; i < nodes; i++)
        add_slice(s, kind, i);
    add_claim(s);
}

static void clear(struct scene *s)
{
    cache_free(&s->cache);
    catalog_free(&s->catalog);
    arena_free(&s->memory);
}

static void look(void *state)
{
    struct scene *s = state;
    struct arena scratch = {0};
    struct findings found = {0};
    const struct device_question q = {
        .catalog = s->catalog, .features = &s->features, .cache = s->cache, .pod = &s->pod};
    device_findings(&q, &found, &scratch);
    s->fitting = s->nodes - found.device_nodes.count;
    if (found.device_verdicts.count != 1 || !found.device_verdicts.at[0].fits)
        s->fitting = 0;
    arena_free(&scratch);
}

/* ---- the section ---- */

bool devices_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"slices_by", COLUMN_TEXT}, {"nodes", 0}, {"us_a_pod", 0}, {"ns_a_node", 0}};
    report_section(r, "devices", "CPU time of looking for a pod's devices on all nodes", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (enum reach_kind kind = 0; kind < REACH_KINDS; kind++)
        for (uint32_t i = 0; i < o->nodes.count; i++) {
            struct scene s;
            build(&s, kind, o->nodes.at[i]);
            look(&s); /* what is kept of devices is kept */
            double ns = clock_ns_of(look, &s, o->seconds);
            bool well = s.fitting == s.nodes;
            clear(&s);
            if (!well)
                return false;
            report_row(r, (struct cell[]){TEXT(reach_names[kind]), NUMBER(o->nodes.at[i]),
                                          NUMBER(ns / 1000), NUMBER(ns / o->nodes.at[i])});
        }
    return true;
}
