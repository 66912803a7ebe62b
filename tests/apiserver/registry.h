/* The store: versions of objects, sorted by key, and a bounded history of changes a resource. */
#ifndef APISERVER_REGISTRY_H
#define APISERVER_REGISTRY_H

#include "resources.h"
#include "tree.h"

struct selection;

/* One version of one object. Never changed once stored; several owners share it. */
struct object {
    unsigned refs;
    const struct resource *resource; /* of its shelf, so never a view */
    uint64_t version;
    char *key; /* "namespace/name", or "name" where there are no namespaces */
    const char *name;
    char *namespace;
    char uid[40];
    char **labels; /* key, value, key, value … */
    size_t label_count;
    const char *fields[RESOURCE_FIELDS_MAX]; /* as the resource lists them, "" when absent */
    char *field_bytes;
    int64_t deletion_us; /* when it has to be gone, 0 while nobody deletes it */
    bool finalized;      /* true when nothing holds a deletion back */
    struct blob *json;
    struct blob *view; /* in the shape of a view, made when first asked for; else NULL */
    const struct resource *view_of; /* which view that is */
};

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
    enum change_type type;
    uint64_t version;
    struct object *before; /* NULL when added */
    struct object *now;    /* when deleted: the last state, with the version of the deletion */
    struct object *gone;   /* `before` with this version, for selectors that it left; else NULL */
};

/* All objects of one resource, and its latest changes. Changes are numbered from 0; those from
 * `oldest` up to, but not including, `next` are still kept. */
struct shelf {
    struct object **objects;
    size_t count, room;
    struct change *ring;
    size_t history; /* how many changes the ring holds */
    uint64_t oldest, next;
    uint64_t forgotten; /* the version of the latest change that is no longer kept */
};

struct registry {
    struct shelf shelves[RESOURCE_COUNT];
    uint64_t version;
    size_t history;
    bool gated; /* GATED resources are served, too */
    int minor;  /* version that the server says it is */
    void (*changed)(void *context, int shelf);
    void *context;
};

/* Which objects are listed. */
struct list_range {
    const char *namespace;             /* "" = all */
    uint64_t version;                  /* as they were then */
    const char *after;                 /* only keys behind this one; NULL = from the first */
    size_t most;                       /* no more than so many; 0 = all */
    const struct selection *selection; /* NULL = whatever is there */
};

/* A consistent list, borrowed references kept by refs. */
struct object_list {
    struct object **objects;
    size_t count;
    size_t beyond; /* how many more there are, where `most` ended it; with a selection 1 or 0 */
};

void registry_init(struct registry *registry, size_t history);
void registry_free(struct registry *registry);

/* "namespace/name" or "name"; the caller gives it back. */
char *registry_key(const struct resource *resource, const char *namespace, const char *name);
struct object *registry_find(const struct registry *registry, const struct resource *resource,
                             const char *namespace, const char *name);
/* False for a CUSTOM resource without its CustomResourceDefinition, for a GATED one that nobody
 * asked for, and for what the server's release has not. */
bool registry_serves(const struct registry *registry, const struct resource *resource);
/* Stores a tree (stored shape, with name and namespace set) as a new object or as the next version
 * of an old one, under the next resourceVersion, which it writes into the tree. */
struct object *registry_put(struct registry *registry, const struct resource *resource,
                            cJSON *tree);
/* Removes it; returns the last state with the version of the deletion, owned by the history. */
struct object *registry_remove(struct registry *registry, struct object *object);
/* The same, with a last state that differs from the stored one. */
struct object *registry_remove_as(struct registry *registry, struct object *object,
                                  cJSON *last_tree);
/* The objects of a range in key order, each kept once. Costs what is listed (and what changed since
 * the version), not what is on the shelf. False when the history does not reach back so far. */
bool registry_list(const struct registry *registry, const struct resource *resource,
                   const struct list_range *range, struct object_list *list);
void object_list_free(struct object_list *list);
/* Forgets the history of a shelf, so that every resume from before now is refused. */
void registry_compact(struct registry *registry, int shelf);
struct change *registry_change(struct shelf *shelf, uint64_t number);
/* The number of the first kept change after a version; false when older ones were forgotten. */
bool registry_seek(const struct shelf *shelf, uint64_t version, uint64_t *number);
/* `change->gone`, made when first asked for. */
struct object *change_gone(struct change *change);

struct object *object_keep(struct object *object);
void object_drop(struct object *object);
const char *object_label(const struct object *object, const char *key);
cJSON *object_tree(const struct object *object);

#endif
