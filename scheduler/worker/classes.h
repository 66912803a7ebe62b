/* classes: pods that ask for exactly the same are one class, and what a worker found out about its
 * rows for one of them holds for the next, but for the rows that have changed since.
 *
 * A class is made when the same is asked for a second time. It is used only where its answer is the
 * one that evaluating every row would give: for rules that promise so (plugin.h, by_row and keep),
 * without nominated pods, for all rows and without detail. */
#ifndef SCHEDULER_WORKER_CLASSES_H
#define SCHEDULER_WORKER_CLASSES_H

#include "proto/messages.h"
#include "scheduler/worker/run_question.h"

struct atoms;
struct classes;
struct shard;

/* atoms must outlive it. */
struct classes *classes_new(struct atoms *atoms);
void classes_free(struct classes **classes);
/* Forgets all. */
void classes_clear(struct classes *c);

/* Answers the request from its class, as shard_map would. False when there is none, or when it
 * cannot: then nothing is written. */
bool classes_answer(struct shard *s, const struct map_request *request, struct map_result *result,
                    struct arena *a);

/* Answers a question about a run from its class. q->out->fails when there is none, or it cannot be
 * told; pods that were put by then are to be taken off all the same. */
void classes_list(struct shard *s, const struct run_question *q);
/* Which of the places that the last one told were taken, and how many pods the run had everywhere,
 * for the next. */
void classes_learn(struct classes *c, const struct run_puts *puts, const bool *taken,
                   int64_t placed);

/* For status lines: classes that are held, their bytes, and answers given. */
struct classes_status {
    uint32_t count;
    size_t bytes;
    uint64_t answers, rows_looked_at;
};
struct classes_status classes_status(const struct classes *c);

#endif
