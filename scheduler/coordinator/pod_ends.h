/* pod_ends: the end of a pod, whether it is told by name or a snapshot does not show the pod.
 *
 * The queue may be behind us in the watcher's stream, and offer pods that it has not heard the end
 * of. Room that is made for such a pod is made for nobody, and as no end of it is told any more,
 * its nomination would keep others out for ever. So it is known whom the last snapshot showed,
 * until the queue has read that one as well. */
#ifndef SCHEDULER_COORDINATOR_POD_ENDS_H
#define SCHEDULER_COORDINATOR_POD_ENDS_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct coordinator;

/* The pending pods of the last snapshot; zero-initialise. */
struct pods_shown {
    uint64_t *hashes; /* of their UIDs; ascending once it is read */
    size_t count, room;
    int64_t epoch, sequence; /* the snapshot's */
    bool coming;             /* it is being read */
    bool whole;              /* it was read, and the queue may be behind it */
};

/* The pod does not exist any more: its attempt lands, now or with the answer that it waits for. */
void pod_ends(struct coordinator *c, struct moment now, struct str uid);
/* Around a snapshot and for each pod that is seen; the cache's snapshot ends between the last two.
 */
void pod_ends_snapshot_begin(struct coordinator *c);
void pod_ends_see(struct coordinator *c, const struct pod *pod);
void pod_ends_snapshot_read(struct coordinator *c);
void pod_ends_snapshot_end(struct coordinator *c, struct moment now);
/* For each pod that the queue has just offered, with the position that the queue had reached. */
void pod_ends_offered(struct coordinator *c, struct moment now, struct str uid, int64_t epoch,
                      int64_t sequence);
void pod_ends_free(struct coordinator *c);

#endif
