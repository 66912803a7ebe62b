/* preempts: from "evict these pods for this one" to its one answer.
 *
 * As upstream: first the nominations of lower pods to the node are cleared, then all victims but
 * the last are deleted, then the last. The first failure stops what has not begun. */
#ifndef BINDER_PREEMPTS_H
#define BINDER_PREEMPTS_H

#include "binder/events.h"
#include "binder/victims.h"
#include "proto/bus/outbox.h"

struct preempts_options {
    uint64_t seed; /* of the jitter */
    void *owner;
    /* Clears the pod's nomination. True: preempts_cleared() is or will be called once. */
    bool (*unnominate)(void *owner, struct instant at, const struct pod *pod);
    /* Ends the pod's bind while it only prepares. True: it will not be bound; version is the pod's
     * resourceVersion as the scheduler knew it. */
    bool (*unbind)(void *owner, struct instant at, struct str uid, int64_t *version);
    /* A victim was made to go. */
    void (*preempted)(void *owner, struct instant at, const struct events_victim *victim);
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
};

struct preempts;

struct preempts *preempts_new(const struct preempts_options *options, struct lanes *lanes);
void preempts_free(struct preempts **preempts);

/* Takes a request. A second one for a preemptor that has one under way is answered by that one's
 * answer when it names the same node, else refused when that one ends. */
void preempts_add(struct preempts *p, const struct preempt *preempt);
/* Answers without writing. */
void preempts_refuse(struct preempts *p, const struct preempt *preempt, const char *why);
/* What unnominate was asked for has ended; problem: why not well, else "". */
void preempts_cleared(struct preempts *p, struct str uid, const char *problem);
/* Goes on with what has become possible. Nothing else here calls back into the owner but this. */
void preempts_tick(struct preempts *p, struct instant at);
/* Begins nothing any more; ends when what is on the wire is answered. */
void preempts_stop(struct preempts *p, const char *why);
/* Ends all of them now as not done, for the reason why. */
void preempts_drop(struct preempts *p, const char *why);
uint32_t preempts_count(const struct preempts *p);
/* Preemptions not answered; strings borrow until the next call of anything here. */
void preempts_list(const struct preempts *p, struct leadership *into, struct arena *a);
/* Puts the answers that are known into the outbox. */
void preempts_flush(struct preempts *p, struct outbox *out);

/* Lines of the binder's status. */
void preempts_status(const struct preempts *p, struct moment now, struct buffer *lines);

#endif
