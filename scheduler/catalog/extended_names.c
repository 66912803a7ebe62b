/* extended_names: two maps, from resources to classes and from classes to what they said last. The
 * one idea: upstream's cache depends on the order of what it was told, so what it was told is done
 * to these maps in the same order, its oddities included.
 *
 * What must stay true: a class that loses a name to another changes nothing at all, not even its
 * own name, and a class that leaves a name takes it away from whoever has it. */
#include "scheduler/catalog/extended_names.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"

#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

/* A class as it was when it took a name, or as it was told of last. */
struct known {
    struct arena memory;
    struct str name, resource;
    int64_t created;
};

struct extended_names {
    struct map *by_resource; /* struct known, each one's own copy */
    struct map *by_class;
};

struct extended_names *extended_names_new(void)
{
    struct extended_names *n = memory_take(sizeof(*n));
    n->by_resource = map_new();
    n->by_class = map_new();
    return n;
}

static void drop(struct map *map, struct str key)
{
    struct known *k = map_remove(map, key);
    if (k == NULL)
        return;
    arena_free(&k->memory);
    memory_free(k);
}

static void put(struct map *map, struct str key, const struct device_class *class)
{
    struct known *k = memory_take(sizeof(*k));
    k->memory.first = 128;
    k->name = arena_copy(&k->memory, class->name);
    k->resource = arena_copy(&k->memory, class->extended_resource);
    k->created = class->created;
    drop(map, key);
    map_set(map, key, k);
}

static void drop_all(struct map *map)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(map, &at, &key, &value)) {
        struct known *k = value;
        arena_free(&k->memory);
        memory_free(k);
    }
}

void extended_names_clear(struct extended_names *n)
{
    drop_all(n->by_resource);
    drop_all(n->by_class);
    map_free(&n->by_resource);
    map_free(&n->by_class);
    n->by_resource = map_new();
    n->by_class = map_new();
}

void extended_names_free(struct extended_names **names)
{
    struct extended_names *n = *names;
    if (n == NULL)
        return;
    drop_all(n->by_resource);
    drop_all(n->by_class);
    map_free(&n->by_resource);
    map_free(&n->by_class);
    memory_free(n);
    *names = NULL;
}

/* The class's own name as a resource. */
static struct str own_name(struct str class, struct arena *a)
{
    return arena_print(a, CLASS_PREFIX "%.*s", STR_ARG(class));
}

static bool loses(const struct extended_names *n, const struct device_class *class)
{
    const struct known *other = class->extended_resource.len == 0
                                    ? NULL
                                    : map_get(n->by_resource, class->extended_resource);
    if (other == NULL || class->created > other->created)
        return false;
    return class->created < other->created || str_compare(class->name, other->name) >= 0;
}

static void forget(struct extended_names *n, const struct known *old, struct arena *a)
{
    drop(n->by_resource, own_name(old->name, a));
    if (old->resource.len > 0)
        drop(n->by_resource, old->resource);
}

void extended_names_set(struct extended_names *n, const struct device_class *class)
{
    struct arena scratch = {0};
    const struct known *old = map_get(n->by_class, class->name);
    if (!loses(n, class)) {
        if (old != NULL)
            forget(n, old, &scratch);
        if (class->extended_resource.len > 0)
            put(n->by_resource, class->extended_resource, class);
        put(n->by_resource, own_name(class->name, &scratch), class);
    }
    put(n->by_class, class->name, class);
    arena_free(&scratch);
}

void extended_names_gone(struct extended_names *n, struct str class)
{
    struct arena scratch = {0};
    const struct known *old = map_get(n->by_class, class);
    if (old != NULL) {
        forget(n, old, &scratch);
        drop(n->by_class, class);
    }
    arena_free(&scratch);
}

struct str extended_names_class(const struct extended_names *n, struct str resource)
{
    const struct known *k = map_get(n->by_resource, resource);
    return k != NULL ? k->name : (struct str){0};
}
