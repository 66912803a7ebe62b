/* caller: the core of the process that calls HTTP extenders: takes an `extend`, reads the pod,
 * makes the calls that follow from it one after another, and answers with one `extended`.
 *
 * It owns no socket and no clock: requests go out through ports, and what came of them comes back
 * with caller_answered. Any number of questions may be under way; they know nothing of each other.
 */
#ifndef SCHEDULER_EXTENDER_CALLER_H
#define SCHEDULER_EXTENDER_CALLER_H

#include "proto/bus/delivery.h"
#include "proto/kube/access/client.h"
#include "proto/kube/extenders/extenders.h"

struct caller;

/* Who carries the requests. Each gives a number, never 0, for cancel; call is to come back in
 * caller_answered, exactly once unless it is cancelled, and never from inside these. */
struct caller_ports {
    void *state;
    /* A call of an extender: body is copied. */
    uint64_t (*post)(void *state, uint32_t extender, struct str verb, struct str body,
                     uint64_t call);
    /* Reads a pod from the API server. */
    uint64_t (*get_pod)(void *state, struct str namespace_name, struct str name, uint64_t call);
    /* The answer is not wanted any more. extender: as in post, or CALLER_API for get_pod. */
    void (*cancel)(void *state, uint32_t extender, uint64_t number);
    /* A node's JSON; false while it is not known. Borrowed until the next message or answer. */
    bool (*node)(void *state, struct str name, struct str *object);
};
#define CALLER_API UINT32_MAX

struct caller_options {
    const struct extender_config *extenders; /* borrowed, in the configuration's order */
    uint32_t count;                          /* EXTENDERS_MAX at most */
    int64_t hash; /* of them all: who asks with another has other extenders in mind */
    struct caller_ports ports;
};

struct caller *caller_new(const struct caller_options *options);
void caller_free(struct caller **caller);
/* For the actor loop; state is a struct caller. */
void caller_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out);
struct moment caller_tick(void *state, struct moment now, struct outbox *out);
void caller_status(void *state, struct buffer *lines);
/* What came of a request. */
void caller_answered(struct caller *c, struct moment now, uint64_t call,
                     const struct kube_response *response);
/* True when the process handles this message; for the test that holds it to messages.def. */
bool caller_takes(enum message_type type);

#endif
