/* holdings: what the watcher holds, for whoever compares; and what is read anew. */
#ifndef WATCHER_HOLDINGS_H
#define WATCHER_HOLDINGS_H

#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

struct watcher;

/* Answers a holdings_request: every kind that is served, as it was listed, and nodes and pods as
 * the stream tells them. */
void holdings_tell(const struct watcher *w, const struct delivery *in, struct outbox *out);
/* Lists the kinds that the reread names, or all. */
void holdings_reread(struct watcher *w, const struct delivery *in);

#endif
