/* status: the PodScheduled condition and the nomination of pods that could not be placed.
 *
 * One entry a pod; a newer failure replaces one that still waits, but for what it leaves open. A
 * pod's status and its bind are never on the wire together, because a late "False" would overwrite
 * the "True" of the bind. */
#ifndef BINDER_STATUS_H
#define BINDER_STATUS_H

#include "binder/lanes.h"
#include "proto/messages.h"

struct status_options {
    /* The patch that a bind had to wait for has ended. */
    void (*clear)(void *owner, struct instant at, struct str uid);
    /* What statuses_unnominate was asked for has ended; problem: why not well, else "". */
    void (*cleared)(void *owner, struct instant at, struct str uid, const char *problem);
    /* A 403 was seen, for the one warning about it. */
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
    void *owner;
    uint64_t seed; /* of the jitter */
};

struct statuses;

struct statuses *statuses_new(const struct status_options *options, struct lanes *lanes);
void statuses_free(struct statuses **statuses);

/* An attempt failed. binding: a bind of the pod is under way, so it waits for how that ends. */
void statuses_failed(struct statuses *s, struct instant at, const struct pod_failed *failed,
                     bool binding);
/* The pod is nominated nowhere any more: joined with what waits for it. True: cleared()
 * is or will be called; false: there is nothing to wait for. */
bool statuses_unnominate(struct statuses *s, struct instant at, const struct pod *pod);
/* A bind is wanted: what waits is dropped. True: a patch is on the wire, wait for clear(). */
bool statuses_bind(struct statuses *s, struct instant at, struct str uid);
/* The bind ended; when the pod is bound, what was held for it is dropped, else it is sent. */
void statuses_bind_ended(struct statuses *s, struct instant at, struct str uid, bool bound);
/* Forgets what was not answered. */
void statuses_clear(struct statuses *s, struct instant at);

struct statuses_stats {
    uint32_t pods;      /* entries */
    uint64_t replaced;  /* by a newer failure of the same pod before it was sent */
    uint64_t overtaken; /* dropped because the pod was to be bound */
    uint64_t unchanged; /* nothing to write */
    uint64_t dropped;   /* lane full, leadership lost, or refused by the server */
};
struct statuses_stats statuses_stats(const struct statuses *s);

#endif
