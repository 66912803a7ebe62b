/* victims: from "this pod is to go" to the truth about it.
 *
 * A pod is marked with the condition DisruptionTarget and deleted; each by its UID, so that another
 * pod of its name is never touched. It is looked at before, unless the scheduler said what marking
 * needs, and whenever it is not clear what became of a request. Several preemptions that want the
 * same pod share one deletion. */
#ifndef BINDER_VICTIMS_H
#define BINDER_VICTIMS_H

#include "binder/lanes.h"
#include "proto/messages.h"

struct target;

/* One preemption wants one pod to go. Fill in the first two; they are borrowed until the end. */
struct want {
    const struct preempt *preempt;
    const struct victim *victim;
    /* the victims' own */
    struct target *target;
    struct want *next;
    bool withdrawn;
};

struct victims_options {
    uint64_t seed; /* of the jitter */
    void *owner;
    /* The pod terminates, is gone, or (problem not "") could not be deleted. */
    void (*ended)(void *owner, struct instant at, struct want *want, const char *problem);
    /* The pod was deleted for that want; version: its resourceVersion as first seen. */
    void (*deleted)(void *owner, struct instant at, const struct want *want, struct str version);
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
};

struct victims;

struct victims *victims_new(const struct victims_options *options, struct lanes *lanes);
void victims_free(struct victims **victims);

/* True: ended() will come, though not from in here. False: the lane is full. Ahead: it goes before
 * what waits, and is always taken. */
bool victims_ask(struct victims *v, struct instant at, struct want *want, bool ahead);
/* The want is given up. True: it is over; false: a request about the pod is on the wire, and
 * ended() comes when that is answered. */
bool victims_leave(struct want *want);
/* Forgets all of them without a word; requests on the wire are cancelled. */
void victims_clear(struct victims *v);

struct victims_stats {
    uint64_t deleted; /* by us */
    uint64_t spared;  /* gone or terminating without us */
    uint64_t failed;
};
struct victims_stats victims_stats(const struct victims *v);

#endif
