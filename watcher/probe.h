/* probe: a small GET on the watches' connection every few seconds, so that a dead connection is
 * told from an idle cluster, and the server's version is known. */
#ifndef WATCHER_PROBE_H
#define WATCHER_PROBE_H

#include "proto/kube/watch/reflector.h"

/* Zero-initialise. */
struct probe {
    uint64_t number;
    bool asked;              /* a request is under way */
    struct moment last, due; /* of the last one, and the next; 0: at once */
    uint32_t failures;       /* in a row */
};

bool probe_next(struct probe *p, struct moment now, struct reflector_request *request);
/* A connection or a watch broke: the next one is due within a second. */
void probe_soon(struct probe *p, struct moment now);
/* Something else came from the server: it is not dead, only slow to answer. */
void probe_heard(struct probe *p);
enum probe_verdict { PROBE_nothing, PROBE_alive, PROBE_dead };
enum probe_verdict probe_response(struct probe *p, struct moment now, uint64_t number,
                                  const struct kube_response *response);
struct moment probe_deadline(const struct probe *p);

#endif
