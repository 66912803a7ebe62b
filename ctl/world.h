/* world: a cluster in memory, with the scheduler's own cache, shards and reduce, that decides pods
 * one after another. What `berth simulate` plays scenarios on. */
#ifndef WORLD_H
#define WORLD_H

#include "proto/messages.h"
#include "scheduler/reduce.h"

struct world;

/* profiles are copied. shards is at least 1. */
struct world *world_new(const struct profile *profiles, uint32_t count, uint32_t shards);
void world_free(struct world **w);

void world_node_set(struct world *w, const struct node *node);
bool world_node_gone(struct world *w, struct str name);
bool world_has_node(const struct world *w, struct str name);
/* A pod as the API server has it: assigned, or pending. */
void world_pod_set(struct world *w, const struct pod *pod);
bool world_pod_gone(struct world *w, struct str namespace_name, struct str name);
/* False when there is no such pod. */
bool world_pod(const struct world *w, struct str namespace_name, struct str name, struct pod *pod,
               struct arena *a);
/* NULL when no profile serves the pod. */
const struct framework *world_framework(const struct world *w, const struct pod *pod);

/* Decides, with every node's verdict, and changes nothing. Borrowed until the next call. */
const struct decision *world_decide(struct world *w, const struct pod *pod);
const struct verdict *world_verdicts(const struct world *w, uint32_t *count);
/* Known nodes, in name order; names from the arena. */
struct strs world_nodes(struct world *w, struct arena *a);
/* Assumes and binds, as the scheduler and then the API server would. */
void world_bind(struct world *w, const struct pod *pod, struct str node);
/* The failed pod's nomination is cleared. */
void world_clear_nomination(struct world *w, const struct pod *pod);

#endif
