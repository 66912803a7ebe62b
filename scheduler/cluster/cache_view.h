/* cache_view: what hooks of plugins may look at of the cache. */
#ifndef SCHEDULER_CLUSTER_CACHE_VIEW_H
#define SCHEDULER_CLUSTER_CACHE_VIEW_H

#include "scheduler/rules/attempt_hooks.h"

struct cache;

/* Borrows the cache. */
struct cluster_view cache_view(const struct cache *c);

#endif
