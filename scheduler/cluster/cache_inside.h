/* cache_inside: what the files of the cache share; nobody else includes it. cache.c is above the
 * others. */
#ifndef SCHEDULER_CLUSTER_CACHE_INSIDE_H
#define SCHEDULER_CLUSTER_CACHE_INSIDE_H

#include "proto/packed_store.h"
#include "scheduler/catalog/storage_index.h"
#include "scheduler/catalog/volumes.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/cluster/device_memo.h"
#include "scheduler/cluster/freed_ports.h"
#include "scheduler/cluster/gone_pods.h"
#include "scheduler/cluster/image_states.h"
#include "scheduler/cluster/node_tree.h"
#include "scheduler/cluster/nominator.h"
#include "scheduler/cluster/pacing.h"
#include "scheduler/cluster/priorities.h"
#include "scheduler/cluster/room_users.h"
#include "scheduler/cluster/shares.h"
#include "scheduler/rules/condition_sets.h"

#include <stddef.h>

#define GENERATION_MAX 0x3fff /* of a pod, as far as it is kept */

struct cached_pod {
    struct stored *kept; /* what workers may want; mark is the snapshot that last showed it */
    struct cached_node *node;
    struct cached_pod *before, *behind; /* on the node */
    struct storage_links *storage;      /* its claims; NULL: it has none */
    uint64_t printed;                   /* hash of what workers were told; 0: it has no volumes */
    uint32_t hash;                      /* of the UID */
    uint16_t generation : 14;           /* one more than it is; 0: too great to be kept */
    bool resize_deferred : 1;           /* as last seen */
    bool in_gang : 1;                   /* in the list of the PodGroup that it names */
    uint8_t conditions;                 /* number in condition_sets; 0: not known */
    bool assumed : 1;
    bool deleting : 1;
    bool has_terms : 1;   /* of pod affinity or anti-affinity */
    bool hidden : 1;      /* workers and the catalog take it for gone */
    uint8_t priority : 4; /* number in priorities */
};

struct cached_node {
    struct tree_link tree;
    struct share_link share;
    struct str name;
    struct stored *kept; /* NULL: a ghost */
    uint64_t mark;
    uint64_t storage_printed; /* hash of what workers were told of its storage; 0: nothing */
    struct cached_pod *first, *last;
    struct freed_ports freed;
    uint32_t hash;     /* of the name */
    uint32_t place;    /* in the order of the walk, as last built */
    bool odd_hostname; /* its label kubernetes.io/hostname is not its name */
    bool extended;     /* its status lists a resource that devices may stand for */
    bool owed;         /* its worker is told of it, and of all on it, when it has taken in more */
};

struct cache {
    struct cache_options options;
    struct arena profiles; /* the copies */
    struct arena arena;    /* for one telling */
    struct buffer body;    /* likewise */
    struct table nodes, pods;
    uint32_t odd_hostnames; /* nodes that have one */
    struct packed_store *node_store, *pod_store;
    struct node_tree *tree;
    struct image_states *images;
    struct nominator *nominator;
    struct shares *shares;
    struct paces paces;
    struct storage_index *storage; /* NULL: there is no catalog */
    struct map *gangs;             /* members on nodes by PodGroup; NULL: no profile has gangs */
    struct room_users *room_users;
    struct device_memo *device_memo;
    struct condition_sets conditions;
    uint32_t assumed;
    uint32_t with_terms; /* pods with has_terms */
    struct priorities priorities;
    bool count_changed;
    bool told;               /* the worker knows of what is being set */
    bool volumes_may_differ; /* of nominated pods, from what workers were told */
    uint64_t mark;
    struct tree_link **order;
    bool walk_changed; /* a node came or went since the places were given */
    struct gone_pods gone;
};

/* ---- by name and UID ---- */

static inline uint32_t cache_hash_of(struct str key)
{
    return table_hash(str_hash(key));
}

static inline bool has_name(const void *thing, const void *key)
{
    return str_equal(((const struct cached_node *)thing)->name, *(const struct str *)key);
}

static inline struct cached_node *find_node(const struct cache *c, struct str name)
{
    return table_get(&c->nodes, cache_hash_of(name), has_name, &name);
}

static inline bool has_uid(const void *thing, const void *key)
{
    const struct str *uid = key;
    return store_uuid_is(((const struct cached_pod *)thing)->kept, TAG_pod_uid, *uid);
}

static inline struct cached_pod *find_pod(const struct cache *c, struct str uid)
{
    return table_get(&c->pods, cache_hash_of(uid), has_uid, &uid);
}

/* ---- members of gangs (cache_gangs.c); the first three while c->gangs is set ---- */

/* The pod is on a node, or has changed: before is what was kept of it, NULL when it is new; plain
 * what is kept now. */
void cache_gangs_set(struct cache *c, struct cached_pod *p, const struct pod *plain,
                     const struct stored *before);
void cache_gangs_remove(struct cache *c, struct cached_pod *p);
void cache_gangs_free(struct cache *c);
/* After the profiles were set: keeps them from now on, or no more. */
void cache_gangs_begin(struct cache *c);

/* ---- what workers hear (cache_tell.c) ---- */

void cache_tell(struct cache *c, uint32_t worker, const struct message *m);
/* These have changed: whoever has the node is told, unless it is owed it. */
void cache_tell_node(struct cache *c, struct cached_node *n);
void cache_tell_storage(struct cache *c, struct cached_node *n);
void cache_tell_pod(struct cache *c, const struct cached_pod *p);
/* As a change of its claims, not of itself. */
void cache_tell_pod_in_place(struct cache *c, const struct cached_pod *p);
void cache_tell_pod_gone(struct cache *c, const struct cached_pod *p);
/* The worker has the node no more, or has it now. */
void cache_tell_lost(struct cache *c, struct cached_node *n, uint32_t worker);
void cache_tell_given(struct cache *c, struct cached_node *n, uint32_t worker);
/* The worker knows nothing, and its share is told next; counts: it says what it has taken in. */
void cache_tell_start(struct cache *c, uint32_t worker, bool counts);
/* For the shares' and the nominator's listeners; the context is the cache. */
void cache_tell_moved(void *context, const struct share_move *move);
void cache_tell_claim(void *context, const struct pod *pod, uint64_t *printed);
void cache_tell_claim_ended(void *context, const struct pod *pod);

static inline struct cached_node *of_share_link(struct share_link *link)
{
    return (struct cached_node *)((char *)link - offsetof(struct cached_node, share));
}

/* ---- workers (cache_workers.c) ---- */

/* Keeps what they are configured with. */
void cache_workers_profiles(struct cache *c, const struct cache_options *options);

/* What a pod on a node has attached there. */
static inline void resolve(const struct cache *c, struct pod *pod, struct arena *a)
{
    if (c->options.catalog != NULL)
        volumes_resolve(c->options.catalog, pod, a);
}

/* Where it is is not kept twice. */
static inline void get_pod(const struct cache *c, const struct cached_pod *p, struct pod *pod,
                           struct arena *a)
{
    store_get(c->pod_store, p->kept, pod, a);
    pod->node_name = p->node->name;
}

#endif
