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
    int64_t cycle, bound;
    int64_t walk_next;    /* where the next walk over the nodes begins */
    struct random random; /* names shares of devices */
    struct claim_configs *configs;
};

/* As world_take, and no controller looks at it: what controllers and binder write themselves. */
void world_take_quietly(void *context, const struct message *m);

#endif
