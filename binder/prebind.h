/* prebind: what is to happen before a pod's Binding: its nomination is said, its claims are bound.
 *
 * As upstream's PreBind of VolumeBinding: each chosen volume is given the claim's name, each claim
 * to be provisioned the node's, and then, once a second, everything is looked at until all claims
 * are bound. As DynamicResources' before that: each resource claim is given its devices and
 * reserved for the pod. Upstream looks into its cache; here nothing is kept, so the API server is
 * asked. */
#ifndef BINDER_PREBIND_H
#define BINDER_PREBIND_H

#include "binder/claim_turns.h"
#include "binder/lanes.h"
#include "proto/base/random.h"
#include "proto/messages.h"

/* How it ended. */
struct prebind_end {
    bool ready;              /* the Binding may be sent */
    bool cancelled;          /* prebind_cancel took effect */
    bool gone;               /* the pod does not exist any more */
    int code;                /* HTTP status of what failed, 0 = none */
    enum bind_plugin plugin; /* which of upstream's PreBind plugins failed */
    struct str message;
};

struct prebind_options {
    struct lanes *lanes;
    struct claim_turns *turns;
    struct random *random; /* for jitter */
    struct span give_up;   /* how long to go on against a server that is busy or unreachable */
    void *owner;
    /* Called once, as the last thing that a call into the lanes does: it may free the prebind. */
    void (*ended)(void *owner, struct instant at, const struct prebind_end *end);
    /* The pod's devices are waited for from now on; may be NULL. */
    void (*waiting)(void *owner, struct instant at);
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
    void *forbidden_owner;
};

struct prebind;

/* Which of upstream's PreBind plugins works for the bind (the first of them); or none. */
enum bind_plugin prebind_plugin(const struct bind *bind);
/* True when the bind needs a prebind. */
bool prebind_needed(const struct bind *bind);
/* bind is borrowed. NULL when too many wait. */
struct prebind *prebind_new(const struct prebind_options *options, const struct bind *bind,
                            struct instant at);
/* What a bind that failed leaves behind in resource claims, one after another from *place on (0 at
 * first): to be taken back. False: nothing more. Strings are borrowed. */
bool prebind_left(const struct prebind *prebind, uint32_t *place, struct claim_release *release);
/* The claim that was made for the pod has been deleted again. */
void prebind_unmade(struct prebind *prebind);
/* Into the answer: which claims' allocations were written. Strings are borrowed. */
void prebind_tell(const struct prebind *prebind, struct bind_result *result, struct arena *a);
/* Ends it without a word; a request on the wire is cancelled. */
void prebind_free(struct prebind **prebind, struct instant at);
/* True: nothing of it that writes is on the wire, it can be freed at once; false: ended() comes
 * with cancelled once the write is answered. */
bool prebind_cancel(struct prebind *prebind, struct instant at);

#endif
