/* feed: the thin shell between the core and the API server: sends what the core's sources want
 * through the client, and brings the answers back. */
#ifndef WATCHER_FEED_H
#define WATCHER_FEED_H

#include "proto/kube/access/client.h"
#include "watcher/watcher.h"

struct feed;

/* Both are borrowed; without a client the journal in force is played back. */
struct feed *feed_new(struct watcher *watcher, struct kube_client *client);
void feed_free(struct feed **feed);
/* Does what is due on the client and sends what the core wants; never blocks. */
void feed_work(struct feed *feed, struct moment now);
int feed_fd(const struct feed *feed);
/* When feed_work must run even if the descriptor is not readable. */
struct moment feed_deadline(const struct feed *feed, struct moment now);

#endif
