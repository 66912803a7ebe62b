/* nominated: the claim that a preemptor has on a node while its victims end, and who is tried when
 * a pod has left that node. */
#ifndef QUEUE_NOMINATED_H
#define QUEUE_NOMINATED_H

#include "proto/base/map.h"
#include "queue/entry.h"

struct nominee;
struct event;
struct queues;

/* All claims by node; zero-initialise. Free when there are none. */
struct nominations {
    struct map *by_node; /* the last claim made on it; NULL while none ever was */
    size_t count;
};

/* The node that the pod has a claim on; empty = none. Borrowed until it changes. Attempts do not
 * say it: the scheduler has to know what no status shows, which ends with the next failure. */
struct str nominated_node(const struct entry *e);
/* An attempt ended: node, when not empty, is its decision; else the pod's own status counts, or
 * nothing when clear is set (an error drops the claim). */
void nominated_decided(struct nominations *all, struct entry *e, struct str node, bool clear);
/* The pod was added (before is NULL) or replaced: the new status counts, except that a claim which
 * no status has shown yet stays. */
void nominated_follow(struct nominations *all, struct entry *e, const struct pod *before);
/* The pod leaves the queue. */
void nominated_leave(struct nominations *all, struct entry *e);
void nominated_free(struct nominations *all);

/* A pod has left a node, by an event that takes a pod away: those asleep who have a claim there are
 * tried after their backoff, whatever their hints say, and attempts under way remember it. Where
 * the node is not known ("?") those of a higher priority are. Returns how many woke. */
size_t nominated_departed(struct queues *q, struct moment now, const struct event *event);
/* In flight, the outcome is being taken: whether a pod has left the claimed node since the attempt
 * was handed out, and after this position of the stream (0 = whenever). */
bool nominated_missed(const struct queues *q, const struct entry *e, int64_t position);

#endif
