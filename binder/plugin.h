/* plugin: the contract between the binder and a plugin: PreBind, Bind, PostBind.
 *
 * A hook does not send anything itself, and never waits: it says what is to be sent to the API
 * server, and is called again with the answer, as often as it asks for something. The binder sends
 * it like its own writes: under the lease alone, within its limits, again where the server is busy.
 *
 * Example, Stamp, which writes the node into an annotation of the pod before it is bound:
 *
 *     static void pre_bind(const struct bind_question *q, struct bind_reply *out)
 *     {
 *         if (q->answer == NULL)
 *             ask_for_patch(q, out);          out->says = BIND_SAYS_request, out->request = …
 *         else if (q->answer->status != 200)
 *             *out = (struct bind_reply){.says = BIND_SAYS_fail, .reason = q->answer->body};
 *     }
 *     const struct binder_plugin binder_plugin_stamp = {.name = "Stamp", .pre_bind = pre_bind};
 *
 * in binder/plugins/stamp.c, and in proto/plugins.def
 *
 *     PLUGIN(Stamp, OPT_IN, P(pre_bind), NO_RULE)
 *     BINDER_PLUGIN(stamp)
 *
 * Pod p is to be bound to n1: pre_bind is called without an answer, and the PATCH is sent; it is
 * called with the answer 200, leaves *out as it is, and the Binding is sent. With another answer
 * the attempt fails, `running PreBind plugin "Stamp": …`, all that was reserved is given back, and
 * the pod is tried again after its backoff.
 *
 * PreBind's hooks run in the profile's order, behind what the pod's claims need. Bind's run in its
 * order up to DefaultBinder, unless an extender binds the pod. */
#ifndef BINDER_PLUGIN_H
#define BINDER_PLUGIN_H

#include "proto/base/arena.h"
#include "proto/kube/access/client.h"
#include "proto/messages.h"

/* Of the request that the hook has asked for last; borrowed for the call. */
struct bind_answer {
    int status;        /* HTTP status; 0: there was no answer, */
    const char *error; /* for this reason; else "" */
    struct str body;
    bool maybe_done; /* the server may have carried it out, though it did not say so */
};

struct bind_question {
    const struct bind *bind; /* the pod's names and UID, and its node; always a whole bind */
    const struct bind_answer *answer; /* NULL: nothing was asked for yet */
    uint32_t asked;                   /* requests that it has asked for about this bind */
    struct arena *arena;              /* for what is answered, and for state; lasts until the end */
    void **state;                     /* this hook's own for this bind; *state is NULL at first */
};

enum bind_says {
    BIND_SAYS_done, /* PreBind: go on; Bind: the pod is bound */
    BIND_SAYS_skip, /* PreBind: likewise; Bind: the next plugin is to bind it */
    BIND_SAYS_fail, /* for this reason */
    BIND_SAYS_request
};

#define BIND_REQUESTS_MAX 32 /* of one hook about one bind; one more fails it */

struct bind_reply {
    enum bind_says says;
    struct str reason;
    struct {
        enum kube_method method;
        struct str path, body;    /* such as /api/v1/namespaces/default/pods/p */
        const char *content_type; /* of the body, static; NULL without one */
    } request;
};

/* Hooks that a plugin does not need are NULL. *out says done at first. */
struct binder_plugin {
    const char *name; /* as in the configuration */
    void (*pre_bind)(const struct bind_question *q, struct bind_reply *out);
    /* Who says fail after a write whose answer is doubtful may do so: the pod is looked at. */
    void (*bind)(const struct bind_question *q, struct bind_reply *out);
    void (*post_bind)(const struct bind *bind); /* the pod is bound */
};

#endif
