/* measure: what the queue counts, with upstream's metrics (proto/metrics.def). */
#ifndef QUEUE_MEASURE_H
#define QUEUE_MEASURE_H

#include "queue/entry.h"
#include "queue/event.h"

struct queues;
struct series;

#define MEASURED_MAX 64 /* more are counted, too, only slower */

/* Series that were looked up once. Zero-initialise. */
struct measured {
    struct {
        const char *queue, *cause;
        struct series *series;
    } incoming[MEASURED_MAX];
    struct series *gates[MEASURED_MAX]; /* of PreEnqueue, by profile */
    struct {
        const char *label;
        struct series *series;
    } handled[MEASURED_MAX];
    struct moment (*clock)(void); /* NULL: none, and nothing is timed */
    struct moment began;          /* the handling of an event */
};

/* A pod goes into a queue ("active", "backoff" or "unschedulable"); why, in upstream's words. Both
 * texts live for ever. */
void measure_incoming(struct measured *m, const char *queue, const char *cause);
/* PreEnqueue was asked about the pod. */
void measure_pre_enqueue(struct measured *m, const struct entry *e);
/* A message begins, and an event that it brought has been handled; the next one of the same message
 * begins there. label: event_label, or another text that lives for ever. */
void measure_message(struct measured *m);
void measure_handled(struct measured *m, const char *label);
/* Sets the gauges. */
void measure_queues(const struct queues *q);

#endif
