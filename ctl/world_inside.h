/* world_inside: the state of a simulated cluster, for world.c and world_claims.c; nobody else
 * includes it. */
#ifndef CTL_WORLD_INSIDE_H
#define CTL_WORLD_INSIDE_H

#include "ctl/world.h"
#include "proto/base/map.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/worker/shard.h"

struct world {
    struct frameworks frameworks;
    struct cache *cache;
    struct catalog *catalog;
    struct shard **shards;
    uint32_t shard_count;
    struct map *pods;   /* namespace/name → struct packed */
    struct map *groups; /* api/namespace/name → struct packed */
    struct map *nodes;  /* name → struct packed; those that went, too */
    struct reduce *reduce, *shortly;
    struct controller *controller;
    bool settled;
    int64_t version;    /* of the last object that was written */
    struct arena arena; /* of the last decision */
    struct pod decided;
    const struct extension *answers; /* see world_consult */
    bool consulted;
    const struct world_plugins *plugins; /* NULL: nobody is asked */
    struct extension *asked,
        *asked_shortly; /* what they said, of the last decision of each reduce */
    int64_t cycle, bound;
    int64_t walk_next;    /* where the next walk over the nodes begins */
    struct random random; /* names shares of devices */
    struct claim_configs *configs;
};

/* As world_take, and no controller looks at it: what controllers and binder write themselves. */
void world_take_quietly(void *context, const struct message *m);

/* world_plugins.c: plugins on the bus. */
/* A decision for a pod of this profile begins; NULL: nobody is asked. To be freed. */
struct extension *world_extension(const struct world *w, const struct framework *fw);
/* They are asked what the cycle ended with; then another one begins. */
void world_consultation(struct world *w, const struct pod *pod, struct extension *e,
                        const struct reduce_extend *q);
/* Reserve, then Permit with hooks among them. False, and what held says of it: one says no. */
bool world_plugins_hold(struct world *w, struct attempt_question *q, struct held *held,
                        struct str *error);
/* It comes to nothing. */
void world_plugins_give_back(const struct world *w, const struct pod *pod, struct held *held);
/* It is bound. */
void world_plugins_bound(const struct world *w, const struct pod *pod);
/* PreEnqueue: the plugin that keeps the pod out, with its reason; empty: none. */
struct str world_plugins_kept_by(const struct world *w, const struct pod *pod, struct str *reason,
                                 struct arena *a);

#endif
