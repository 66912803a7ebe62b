/* nominated: the claim that a preemptor has on a node while its victims end. */
#ifndef QUEUE_NOMINATED_H
#define QUEUE_NOMINATED_H

#include "queue/entry.h"

/* The node that the pod has a claim on; empty = none. Borrowed until it changes. */
struct str nominated_node(const struct entry *e);
/* An attempt ended: node, when not empty, is its decision; else the pod's own status counts, or
 * nothing when clear is set (an error drops the claim). */
void nominated_decided(struct entry *e, struct str node, bool clear);
/* The pod was added (before is NULL) or replaced: the new status counts, except that a claim which
 * no status has shown yet stays. */
void nominated_follow(struct entry *e, const struct pod *before);

#endif
