/* closed: nodes that take no further pods because something on them cannot be understood: a pod
 * that is there, or the node itself. What the stream tells of such a node has a taint more and room
 * for no pod, so that whoever decides keeps off, and says so.
 *
 * A pod that cannot be understood carries why (pod.unreadable). */
#ifndef WATCHER_CLOSED_H
#define WATCHER_CLOSED_H

#include "proto/messages.h"

struct closed;

struct closed *closed_new(void);
void closed_free(struct closed **closed);

/* The stream tells this of a pod (MSG_pod_set or MSG_pod_gone). True: whether the nodes named in
 * changed (two at most, empty: none; borrowed until the next call) are closed has changed. */
bool closed_told(struct closed *closed, const struct message *what, struct str changed[2]);
/* Pods that cannot be understood and are on that node. */
uint32_t closed_pods(const struct closed *closed, struct str node);
/* All pods that cannot be understood, with a node or without. */
uint32_t closed_count(const struct closed *closed);

/* Closes a node's record, or opens it again; what was done is not done twice. New lists come from
 * the arena. */
void closed_close(struct node *node, struct arena *a);
void closed_open(struct node *node, struct arena *a);

#endif
