/* plugin_facts: what a plugin on the bus is told of the nodes that it is asked about. */
#ifndef SCHEDULER_MERGE_PLUGIN_FACTS_H
#define SCHEDULER_MERGE_PLUGIN_FACTS_H

#include "scheduler/cluster/cache.h"
#include "scheduler/merge/consultation.h"

/* Why one is not asked that this says no for, as the end of a sentence that begins with its name.
 */
#define PLUGIN_FACTS_TOO_LARGE "is to be told more of the nodes than a message holds"

/* Fills in the nodes; memory from the arena, texts borrowed from the cache and the turn. False:
 * they do not fit into a message. */
bool plugin_facts(const struct cache *cache, const struct consultation_turn *t,
                  struct plugin_ask *ask, struct arena *a);

#endif
