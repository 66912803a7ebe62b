/* queue: the process that decides which pending pod is tried next, and when. */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"

struct queue;
struct queue_plugin;

struct queue_options {
    /* Whose pods are ours; pre_enqueue says whether SchedulingGates holds them. None: the one
     * default profile. Borrowed. */
    const struct profile *profiles;
    uint32_t profile_count;
    int64_t config_hash;             /* of the configuration that they are from; 0: not known */
    bool backoff_given;              /* by flags: a new configuration does not change it */
    bool gang_sort;                  /* QueueSort is Coscheduling's */
    const struct queue_plugin *sort; /* who sorts (plugin.h); NULL: PrioritySort, or */
    struct str sort_plugin;          /* this one on the bus; empty: none's. Borrowed. */
    struct span backoff_initial, backoff_max;
    struct span unschedulable_max; /* longest wait for an event that can help */
    int64_t wall_us_at_zero;       /* wall clock when the moment was 0 */
    struct moment (*clock)(void);  /* NULL: what happens inside a call is not timed */
    int64_t trace_per_million;     /* of attempts that are traced, 0 to 1000000 */
    uint64_t trace_seed;           /* of their ids; another in every life, everywhere */
    int64_t first_cycle; /* numbers of attempts start behind this; another in every life */
};

struct queue *queue_new(const struct queue_options *options);
void queue_free(struct queue **queue);
/* For the actor loop; state is a struct queue. Attempts are handed out by tick, once a batch. */
void queue_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out);
struct moment queue_tick(void *state, struct moment now, struct outbox *out);
/* Logs every pod and where it is. */
void queue_dump(void *state);
/* Sets gauges and health checks (proto/metrics.h). */
void queue_observe(void *state);
void queue_status(void *state, struct buffer *lines);
/* True when the queue handles this message; for the test that holds the table to messages.def. */
bool queue_takes(enum message_type type);
/* The core behind it, for tests that check its invariants. */
const struct queues *queue_inside(const struct queue *queue);

#endif
