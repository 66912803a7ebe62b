/* node_picks: where pods that are unlike each other would go if several workers decide about them
 * together (scheduler/coordinator/picks.c).
 *
 * First each is looked at on the nodes as they are, and the best node is named that was not picked
 * for one before it. Then the coordinator says which pods would really come to these nodes, and is
 * told what such a node is to the pods behind them. Pods are put on nodes for that, and taken off
 * again before the answer goes out: the share is as it was. In the end it is told who stays. */
#ifndef SCHEDULER_WORKER_NODE_PICKS_H
#define SCHEDULER_WORKER_NODE_PICKS_H

#include "proto/messages.h"
#include "scheduler/worker/shard.h"

struct node_picks;

struct node_picks *node_picks_new(void);
void node_picks_free(struct node_picks **picks);
/* Forgets the question: no check of it is answered any more. */
void node_picks_forget(struct node_picks *p);

/* A question begins, which is kept: memory is what it lies in, and gets what the last one lay in.
 * NULL: it is copied. */
void node_picks_begin(struct node_picks *p, const struct map_picks *asked, struct arena *memory);
/* Into *out what is known of the question's next pod, and into *result what shard_map says of it.
 * Of the arena; both hold until the share changes. False: there is no further pod. */
bool node_picks_next(struct node_picks *p, struct shard *s, struct node_pick *out,
                     struct map_result *result, struct arena *a);
/* Answers a check of the last question. False: that was another one. */
bool node_picks_check(struct node_picks *p, struct shard *s, const struct map_check *check,
                      struct map_checked *out, struct arena *a);
/* Pods of the last question are on nodes of this share. */
void node_picks_place(struct node_picks *p, struct shard *s, const struct map_picks_end *end);

#endif
