/* plugin_facts: each node in question as a plugin on the bus is told of it, with what its facts in
 * the configuration name. What must stay true: a question fits into a message, or is not asked. */
#include "scheduler/merge/plugin_facts.h"

#include <string.h>

#define FACTS_MAX ((size_t)12 << 20) /* bytes about nodes in a message; a frame holds 16 MiB */

static void add_amount(struct plugin_node *n, const struct quantity *more, struct arena *a)
{
    for (uint32_t i = 0; i < n->requested.count; i++)
        if (str_equal(n->requested.at[i].name, more->name)) {
            n->requested.at[i].amount += more->amount;
            return;
        }
    struct quantity *grown = arena_take(a, (n->requested.count + 1) * sizeof(*grown));
    if (n->requested.count > 0)
        memcpy(grown, n->requested.at, n->requested.count * sizeof(*grown));
    grown[n->requested.count++] = (struct quantity){arena_copy(a, more->name), more->amount};
    n->requested.at = grown;
}

struct summing {
    struct plugin_node *node;
    bool tells;    /* of each pod */
    uint32_t room; /* for them */
    struct arena *arena;
};

/* A copy, as the pod lasts no longer than the call. */
static void tell_pod(struct summing *s, const struct pod *pod, bool assumed)
{
    struct plugin_node *n = s->node;
    if (n->pods_there.count == s->room) {
        struct plugin_pod *former = n->pods_there.at;
        s->room = s->room > 0 ? 2 * s->room : 16;
        n->pods_there.at = arena_take(s->arena, s->room * sizeof(*former));
        if (n->pods_there.count > 0)
            memcpy(n->pods_there.at, former, n->pods_there.count * sizeof(*former));
    }
    const struct plugin_pod told = {.namespace_name = pod->namespace_name,
                                    .name = pod->name,
                                    .uid = pod->uid,
                                    .labels = {pod->labels.count, pod->labels.at},
                                    .requested = {pod->usage.count, pod->usage.at},
                                    .priority = pod->priority,
                                    .assumed = assumed};
    codec_copy(&plugin_pod_record, &n->pods_there.at[n->pods_there.count++], &told, s->arena);
}

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct summing *s = context;
    s->node->pods++;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        add_amount(s->node, &pod->usage.at[i], s->arena);
    if (s->tells)
        tell_pod(s, pod, assumed);
}

static size_t size_of_labels(uint32_t count, const struct label *at)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += 16 + at[i].key.len + at[i].value.len;
    return size;
}

static size_t size_of_amounts(uint32_t count, const struct quantity *at)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += 16 + at[i].name.len;
    return size;
}

static size_t size_of_pod(const struct plugin_pod *p)
{
    return 48 + p->namespace_name.len + p->name.len + p->uid.len +
           size_of_labels(p->labels.count, p->labels.at) +
           size_of_amounts(p->requested.count, p->requested.at);
}

static size_t size_of(const struct plugin_node *n)
{
    size_t size = 48 + n->name.len + n->rejected_by.len;
    size += size_of_labels(n->labels.count, n->labels.at);
    size += size_of_labels(n->conditions.count, n->conditions.at);
    size += size_of_labels(n->annotations.count, n->annotations.at);
    size += size_of_amounts(n->allocatable.count, n->allocatable.at);
    size += size_of_amounts(n->requested.count, n->requested.at);
    for (uint32_t i = 0; i < n->taints.count; i++)
        size += 24 + n->taints.at[i].key.len + n->taints.at[i].value.len;
    for (uint32_t i = 0; i < n->reasons.count; i++)
        size += 8 + n->reasons.at[i].len;
    for (uint32_t i = 0; i < n->pods_there.count; i++)
        size += size_of_pod(&n->pods_there.at[i]);
    return size;
}

/* What the plugin wants to know of a node; a node that just went is told as its name. */
static struct plugin_node describe(const struct cache *cache, const struct bus_plugin *plugin,
                                   struct str name, struct arena *a)
{
    struct plugin_node out = {.name = name};
    struct node node;
    if (plugin->facts == FACTS_names || !cache_node_get(cache, name, &node, a))
        return out;
    out.labels.count = node.labels.count;
    out.labels.at = node.labels.at;
    out.taints.count = node.taints.count;
    out.taints.at = node.taints.at;
    out.unschedulable = node.unschedulable;
    out.allocatable.count = node.allocatable.count;
    out.allocatable.at = node.allocatable.at;
    out.conditions.count = node.conditions.count;
    out.conditions.at = node.conditions.at;
    out.annotations.count = node.annotations.count;
    out.annotations.at = node.annotations.at;
    struct summing s = {.node = &out, .tells = plugin->facts == FACTS_pods, .arena = a};
    if (plugin->facts != FACTS_node)
        cache_each_pod(cache, name, add_pod, &s);
    return out;
}

static void add_why(struct plugin_node *told, const struct verdict *why)
{
    told->reasons = why->reasons;
    told->rejected_by = why->plugin;
    told->unresolvable = why->code != VERDICT_unschedulable;
}

bool plugin_facts(const struct cache *cache, const struct consultation_turn *t,
                  struct plugin_ask *ask, struct arena *a)
{
    size_t size = 0;
    if (t->why_not != NULL)
        ask->reason = t->why_not->reason;
    ask->nodes.at = arena_take(a, t->nodes->count * sizeof(*ask->nodes.at));
    for (uint32_t i = 0; i < t->nodes->count && size <= FACTS_MAX; i++) {
        struct plugin_node *told = &ask->nodes.at[ask->nodes.count++];
        *told = describe(cache, t->plugin, t->nodes->at[i], a);
        if (t->why_not != NULL)
            add_why(told, &t->why_not->nodes[i]);
        size += size_of(told);
    }
    return size <= FACTS_MAX;
}
