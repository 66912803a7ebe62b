/* release: takes one thing back of a ResourceClaim: the pod's reservation, its devices, or all of
 * it; or of the pod's status what its claims take of a node.
 *
 * As upstream's Unreserve and PostFilter of DynamicResources. What may be done twice without harm
 * is done again when an answer is lost; a claim that is gone, or is another one of its name, is as
 * it was asked for. */
#ifndef BINDER_RELEASE_H
#define BINDER_RELEASE_H

#include "binder/lanes.h"
#include "proto/base/random.h"
#include "proto/messages.h"

struct release_end {
    bool done;
    int code; /* HTTP status of what failed; 0: no answer, or none was asked for */
    struct str message;
};

struct release_options {
    struct lanes *lanes;
    struct random *random; /* for jitter */
    void *owner;
    /* Called once, as the last thing that a call into the lanes does: it may free the release. */
    void (*ended)(void *owner, struct instant at, const struct release_end *end);
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
    void *forbidden_owner;
};

struct release;

/* NULL when it can be acted upon; else what is wrong with it. */
const char *release_problem(const struct claim_release *order);
/* The order is borrowed. NULL when the lane is full. */
struct release *release_new(const struct release_options *options,
                            const struct claim_release *order, struct moment now);
/* Ends it without a word; a request on the wire is cancelled. */
void release_free(struct release **release);

#endif
