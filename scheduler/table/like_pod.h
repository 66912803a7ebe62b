/* like_pod: what pods that ask for the same have in common, so that what is known for one holds for
 * the next. Each asks for more or less of it: batches and runs for all that is not a pod's own,
 * classes of a worker for what rules look at.
 *
 * The queue has its own idea of who is alike (queue/equals.h): it is another process, whose pods
 * are packed, so there it is the same pieces that pods share (proto/packed_store.h). */
#ifndef SCHEDULER_TABLE_LIKE_POD_H
#define SCHEDULER_TABLE_LIKE_POD_H

#include "proto/messages.h"

#include <stdbool.h>

/* The pod without what is its own alone: its names, its versions, and when it was made. */
struct pod like_pod(const struct pod *from);
/* That, as by_row rules see it; with_labels: also as those see it that count. */
struct pod like_pod_to_rules(const struct pod *from, bool with_labels);
/* A hash of all that is in it. */
uint64_t pod_print(const struct pod *pod);

#endif
