/* api: what the core needs from outside: somebody who carries requests to the API server, and a
 * clock that can be read at the very moment of writing. Tests bring their own. */
#ifndef BINDER_API_H
#define BINDER_API_H

#include "proto/kube/access/client.h"
#include "proto/kube/extenders/extenders.h"

/* One reading of both clocks. */
struct instant {
    struct moment now;
    int64_t wall_us;
};

struct api {
    void *state;
    /* As kube_client_send: done() comes later, exactly once, never from inside this call. */
    uint64_t (*send)(void *state, const struct kube_request *request);
    /* As kube_client_cancel: ends the request without done(). */
    void (*cancel)(void *state, uint64_t number);
    /* The extender that is to bind instead of us, as it was configured where that was decided;
     * NULL: it is not known here. Until it is released it stays, and requests to it take its route.
     */
    const struct extender_config *(*extender)(void *state, const struct bind *bind,
                                              uint32_t *route);
    void (*release)(void *state, uint32_t route);
    /* Finished spans, to be exported; copied. May be NULL: nothing is. */
    void (*trace)(void *state, const struct spans *spans);
    /* The time now, read anew. */
    struct instant (*clock)(void *state);
};

#endif
