/* like_pod: what pods that ask for the same have in common, so that what is known for one holds for
 * the next. */
#ifndef SCHEDULER_WORKER_LIKE_POD_H
#define SCHEDULER_WORKER_LIKE_POD_H

#include "proto/messages.h"

#include <stdbool.h>

/* The pod as by_row rules see it; with_labels: also as those see it that count. */
struct pod like_pod(const struct pod *from, bool with_labels);

#endif
