/* volume_index: two maps to lists that know their neighbours: by the claim that a volume names, and
 * by class for those that name none. The one idea: nearly all volumes of a cluster are some
 * claim's, so that what is free of a class, and what names one claim, is little.
 *
 * What must stay true: a link is in exactly one list, the one that its volume's record says, and a
 * list is in its map exactly while it is not empty. */
#include "scheduler/catalog/volume_index.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct volume_link {
    struct volume_link *before, *next;
    void *owner;
};

struct volume_index {
    struct map *named; /* "namespace/name" of a claim → its first link */
    struct map *free;  /* class, behind a letter since it may be empty → likewise */
};

struct volume_index *volume_index_new(void)
{
    struct volume_index *x = memory_take(sizeof(*x));
    x->named = map_new();
    x->free = map_new();
    return x;
}

void volume_index_free(struct volume_index **index)
{
    struct volume_index *x = *index;
    if (x == NULL)
        return;
    must(map_count(x->named) == 0 && map_count(x->free) == 0);
    map_free(&x->named);
    map_free(&x->free);
    memory_free(x);
    *index = NULL;
}

/* Keys in buffers that the caller frees. */
static struct buffer named_key(struct str space, struct str name)
{
    struct buffer key = {0};
    buffer_add_str(&key, space);
    buffer_add(&key, "/", 1);
    buffer_add_str(&key, name);
    return key;
}

static struct buffer free_key(struct str class)
{
    struct buffer key = {0};
    buffer_add(&key, "c", 1);
    buffer_add_str(&key, class);
    return key;
}

static struct map *place_of(const struct volume_index *x, const struct volume *v,
                            struct buffer *key)
{
    *key =
        v->has_claim_ref ? named_key(v->claim_namespace, v->claim_name) : free_key(v->class_name);
    return v->has_claim_ref ? x->named : x->free;
}

struct volume_link *volume_index_put(struct volume_index *x, const struct volume *v, void *owner)
{
    struct volume_link *link = memory_take(sizeof(*link));
    struct buffer key;
    struct map *lists = place_of(x, v, &key);
    link->owner = owner;
    link->next = map_set(lists, buffer_str(&key), link);
    if (link->next != NULL)
        link->next->before = link;
    buffer_free(&key);
    return link;
}

void volume_index_take_out(struct volume_index *x, const struct volume *v,
                           struct volume_link **place)
{
    struct volume_link *link = *place;
    if (link == NULL)
        return;
    if (link->next != NULL)
        link->next->before = link->before;
    if (link->before != NULL) {
        link->before->next = link->next;
    } else {
        struct buffer key;
        struct map *lists = place_of(x, v, &key);
        const struct volume_link *first = link->next != NULL
                                              ? map_set(lists, buffer_str(&key), link->next)
                                              : map_remove(lists, buffer_str(&key));
        must(first == link);
        buffer_free(&key);
    }
    memory_free(link);
    *place = NULL;
}

/* ---- what a claim could have ---- */

static const struct volume_link *first_named(const struct volume_index *x,
                                             const struct claim *claim)
{
    struct buffer key = named_key(claim->namespace_name, claim->name);
    const struct volume_link *first = map_get(x->named, buffer_str(&key));
    buffer_free(&key);
    return first;
}

static const struct volume_link *first_free(const struct volume_index *x, const struct claim *claim)
{
    struct buffer key = free_key(claim->class_name);
    const struct volume_link *first = map_get(x->free, buffer_str(&key));
    buffer_free(&key);
    return first;
}

void *volume_index_next(const struct volume_index *x, const struct claim *claim,
                        struct volume_walk *walk)
{
    if (walk->at != NULL)
        walk->at = walk->at->next;
    else if (!walk->begun)
        walk->at = first_named(x, claim);
    walk->begun = true;
    if (walk->at == NULL && !walk->among_free) {
        walk->among_free = true;
        walk->at = first_free(x, claim);
    }
    return walk->at == NULL ? NULL : walk->at->owner;
}
