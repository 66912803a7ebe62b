/* measure: what the queue counts, with upstream's metrics (proto/metrics.def). */
#ifndef QUEUE_MEASURE_H
#define QUEUE_MEASURE_H

#include "queue/entry.h"
#include "queue/event.h"

struct group;
struct queues;
struct series;

#define MEASURED_MAX 64 /* more are counted, too, only slower */

/* What is queued: a pod by itself, or an in-tree PodGroup. */
enum queued { QUEUED_pod, QUEUED_podgroup, QUEUED_KINDS };

/* Where, as a gauge says it; what is gated comes into the unschedulable ones. */
enum queued_in { IN_active, IN_backoff, IN_unschedulable, IN_gated, IN_QUEUES };

struct counted {
    const char *cause;
    enum queued kind;
    enum queued_in where;
    struct series *series;
};

/* Series that were looked up once. Zero-initialise. */
struct measured {
    struct counted pods[MEASURED_MAX], entities[MEASURED_MAX];
    /* One was there: a gauge that has begun stays on the page. */
    bool seen[QUEUED_KINDS][IN_QUEUES];
    struct series *gates[MEASURED_MAX]; /* of PreEnqueue, by profile */
    struct {
        const char *label;
        struct series *series;
    } handled[MEASURED_MAX];
    struct moment (*clock)(void); /* NULL: none, and nothing is timed */
    struct moment began;          /* the handling of an event */
};

/* A pod goes into a queue; why, in upstream's words, a text that lives for ever. */
void measure_incoming(struct measured *m, enum queued_in where, const char *cause);
/* The same for what is queued as one. Other than pods upstream counts it only when it is new, or
 * comes into another queue than it was meant for. */
void measure_entity(struct measured *m, enum queued kind, enum queued_in where, const char *cause);
void measure_seen(struct measured *m, enum queued kind, enum queued_in where);
/* Where an in-tree PodGroup is that has pending pods; false: it is not queued as one. */
bool measure_place_of_group(const struct group *g, enum queued_in *where);
/* PreEnqueue was asked about the pod. */
void measure_pre_enqueue(struct measured *m, const struct entry *e);
/* A message begins, and an event that it brought has been handled; the next one of the same message
 * begins there. label: event_label, or another text that lives for ever. */
void measure_message(struct measured *m);
void measure_handled(struct measured *m, const char *label);
/* Sets the gauges of how many wait, and of how long. */
void measure_queues(const struct queues *q);
void measure_oldest(const struct queues *q, struct moment now);

#endif
