/* names: the names of all nodes and pods into the stream, for whoever compares. */
#ifndef WATCHER_NAMES_H
#define WATCHER_NAMES_H

#include "watcher/mirror.h"

/* Publishes them in parts, one behind the other, so that no change stands between. Either mirror
 * may be NULL. */
void names_publish(struct publisher *publisher, const struct mirror *nodes,
                   const struct mirror *pods, int64_t id);

#endif
