/* repeats: a question that was asked before, while nothing of the share has changed since, has the
 * answer that it had. Kept where there was nothing to find: no node for a pod, or nobody whose
 * going would make room for it. Pods of one kind that fit nowhere come again and again, each asks
 * both questions, and to answer them each node has to be looked at. */
#ifndef SCHEDULER_WORKER_REPEATS_H
#define SCHEDULER_WORKER_REPEATS_H

#include "proto/messages.h"

struct repeats;
struct shard;

void repeats_free(struct repeats **r);
/* Forgets all. */
void repeats_clear(struct repeats *r);

/* The answer of before, from the arena but for what is the request's own (cycle, round, nodes).
 * False: there is none that holds. */
bool repeats_answer(struct shard *s, const struct map_request *request, struct map_result *result,
                    struct arena *a);
/* Keeps the answer, if it is one to be kept. */
void repeats_keep(struct shard *s, const struct map_request *request,
                  const struct map_result *result);

#endif
