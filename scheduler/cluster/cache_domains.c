/* cache_domains: nodes that have a label's value in common. The one idea: whoever asks does so once
 * for a whole group of pods, so each node is looked at anew.
 *
 * What must stay true: a node is in one domain, or in none where it lacks the label; who is hidden
 * counts for nothing. */
#include "scheduler/cluster/cache_inside.h"

#include <stdlib.h>
#include <string.h>

static const struct str *value_of(const struct node *node, struct str label)
{
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_equal(node->labels.at[i].key, label))
            return &node->labels.at[i].value;
    return NULL;
}

bool cache_label_of_node(const struct cache *c, struct str name, struct str label,
                         struct str *value, struct arena *a)
{
    struct node node;
    if (!cache_node_get(c, name, &node, a))
        return false;
    const struct str *found = value_of(&node, label);
    if (found != NULL)
        *value = *found;
    return found != NULL;
}

struct labelled {
    struct str value, node;
};

static int compare(const void *one, const void *other)
{
    const struct labelled *l = one, *r = other;
    int order = str_compare(l->value, r->value);
    return order != 0 ? order : str_compare(l->node, r->node);
}

static uint32_t find_labelled(struct cache *c, struct str label, struct labelled *at,
                              struct arena *a)
{
    uint32_t count = 0, nodes = cache_nodes(c);
    struct arena memory = {0};
    for (uint32_t i = 0; i < nodes; i++) {
        struct str name = cache_node_at(c, i), value;
        if (cache_label_of_node(c, name, label, &value, &memory))
            at[count++] = (struct labelled){arena_copy(a, value), arena_copy(a, name)};
        arena_reset(&memory);
    }
    arena_free(&memory);
    return count;
}

uint32_t cache_domains(struct cache *c, struct str label, struct node_domain **domains,
                       struct arena *a)
{
    struct labelled *at = arena_take(a, cache_nodes(c) * sizeof(*at));
    uint32_t nodes = find_labelled(c, label, at, a), count = 0;
    struct str *names = arena_take(a, nodes * sizeof(*names));
    *domains = arena_take(a, nodes * sizeof(**domains));
    if (nodes > 1)
        qsort(at, nodes, sizeof(*at), compare);
    for (uint32_t i = 0; i < nodes; i++) {
        if (i == 0 || !str_equal(at[i].value, at[i - 1].value))
            (*domains)[count++] = (struct node_domain){at[i].value, {0, &names[i]}};
        names[i] = at[i].node;
        (*domains)[count - 1].nodes.count++;
    }
    return count;
}

/* ---- what they have ---- */

static int64_t amount_of(const struct quantity *at, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(at[i].name, name))
            return at[i].amount;
    return 0;
}

static int64_t counts_for(const struct pod *pod, struct str resource)
{
    if (str_is(resource, "cpu"))
        return pod->usage_score_cpu;
    if (str_is(resource, "memory"))
        return pod->usage_score_memory;
    return amount_of(pod->usage.at, pod->usage.count, resource);
}

static int64_t takes_of(const struct pod *pod, struct str resource)
{
    return amount_of(pod->usage.at, pod->usage.count, resource);
}

static void look_at(const struct cache *c, struct str name, struct node_usage *usage,
                    int64_t (*of)(const struct pod *pod, struct str resource))
{
    const struct cached_node *n = find_node(c, name);
    struct arena a = {0};
    struct node node;
    if (n == NULL || !cache_node_get(c, name, &node, &a))
        return;
    for (uint32_t i = 0; i < usage->count; i++)
        usage->allocatable[i] =
            amount_of(node.allocatable.at, node.allocatable.count, usage->resources[i].name);
    for (const struct cached_pod *p = n->first; p != NULL; p = p->behind) {
        struct pod pod;
        if (p->hidden)
            continue;
        get_pod(c, p, &pod, &a);
        for (uint32_t i = 0; i < usage->count; i++)
            usage->requested[i] += of(&pod, usage->resources[i].name);
    }
    arena_free(&a);
}

void cache_node_usage(const struct cache *c, struct str name, struct node_usage *usage)
{
    look_at(c, name, usage, counts_for);
}

void cache_node_taken(const struct cache *c, struct str name, struct node_usage *usage)
{
    look_at(c, name, usage, takes_of);
}
