/* node_tree: zones in the order in which they were first seen, each with its nodes in the order in
 * which they came. What must stay true: a zone goes with its last node, and a node that changes its
 * zone goes to the new one's end. */
#include "scheduler/cluster/node_tree.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct zone {
    struct str key;
    struct zone *before, *behind;
    struct tree_link *first, *last;
};

struct node_tree {
    struct map *zones;
    struct zone *first, *last;
    uint32_t count;
};

struct node_tree *node_tree_new(void)
{
    struct node_tree *t = memory_take(sizeof(*t));
    t->zones = map_new();
    return t;
}

static void free_zone(struct zone *z)
{
    str_drop(&z->key);
    memory_free(z);
}

void node_tree_free(struct node_tree **t)
{
    if (*t == NULL)
        return;
    for (struct zone *z = (*t)->first; z != NULL;) {
        struct zone *behind = z->behind;
        free_zone(z);
        z = behind;
    }
    map_free(&(*t)->zones);
    memory_free(*t);
    *t = NULL;
}

static struct str label_of(const struct node *node, const char *beta, const char *stable)
{
    struct str found = {0};
    for (uint32_t i = 0; i < node->labels.count; i++) {
        if (str_is(node->labels.at[i].key, beta))
            return node->labels.at[i].value;
        if (str_is(node->labels.at[i].key, stable))
            found = node->labels.at[i].value;
    }
    return found;
}

/* Region and zone, kept apart by what no label value can hold. */
static void zone_key(const struct node *node, struct buffer *key)
{
    struct str region =
        label_of(node, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
    struct str zone =
        label_of(node, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
    if (region.len == 0 && zone.len == 0)
        return;
    buffer_add_str(key, region);
    buffer_add(key, ":\0:", 3);
    buffer_add_str(key, zone);
}

static struct zone *need_zone(struct node_tree *t, struct str key)
{
    struct zone *z = map_get(t->zones, key);
    if (z != NULL)
        return z;
    z = memory_take(sizeof(*z));
    z->key = str_keep(key);
    z->before = t->last;
    if (t->last != NULL)
        t->last->behind = z;
    else
        t->first = z;
    t->last = z;
    map_set(t->zones, key, z);
    return z;
}

static void drop_zone(struct node_tree *t, struct zone *z)
{
    *(z->before != NULL ? &z->before->behind : &t->first) = z->behind;
    *(z->behind != NULL ? &z->behind->before : &t->last) = z->before;
    map_remove(t->zones, z->key);
    free_zone(z);
}

void node_tree_remove(struct node_tree *t, struct tree_link *link)
{
    struct zone *z = link->zone;
    must(z != NULL && t->count > 0);
    *(link->before != NULL ? &link->before->behind : &z->first) = link->behind;
    *(link->behind != NULL ? &link->behind->before : &z->last) = link->before;
    *link = (struct tree_link){0};
    t->count--;
    if (z->first == NULL)
        drop_zone(t, z);
}

void node_tree_set(struct node_tree *t, struct tree_link *link, const struct node *node)
{
    struct buffer key = {0};
    zone_key(node, &key);
    if (link->zone != NULL && str_equal(link->zone->key, buffer_str(&key))) {
        buffer_free(&key);
        return;
    }
    if (link->zone != NULL)
        node_tree_remove(t, link);
    struct zone *z = need_zone(t, buffer_str(&key));
    buffer_free(&key);
    *link = (struct tree_link){.zone = z, .before = z->last};
    *(z->last != NULL ? &z->last->behind : &z->first) = link;
    z->last = link;
    t->count++;
}

uint32_t node_tree_count(const struct node_tree *t)
{
    return t->count;
}

void node_tree_order(const struct node_tree *t, struct tree_link **out)
{
    size_t zones = map_count(t->zones), left = 0;
    struct tree_link **next = memory_take_array(zones, sizeof(struct tree_link *));
    for (const struct zone *z = t->first; z != NULL; z = z->behind)
        next[left++] = z->first;
    must(left == zones);
    uint32_t count = 0;
    while (left > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            out[count++] = next[i];
            if (next[i]->behind != NULL)
                next[kept++] = next[i]->behind;
        }
        left = kept;
    }
    must(count == t->count);
    memory_free(next);
}
