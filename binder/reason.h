/* reason: what an answer means: whether the request was carried out, and why not, in words for
 * people: the API server's own, if it has any. */
#ifndef BINDER_REASON_H
#define BINDER_REASON_H

#include "proto/base/buffer.h"
#include "proto/kube/access/client.h"

/* It was carried out. */
bool answer_is_good(const struct kube_response *response);
/* The server did not take it now, and nothing was done. */
bool answer_is_busy(const struct kube_response *response);
/* It may or may not have been done. */
bool answer_is_doubtful(const struct kube_response *response);

/* And it may be done yet, by whoever stands between us and the server: for as long as a write may
 * last (LANES_WRITE_MS). */
bool answer_is_open(const struct kube_response *response);

/* Replaces what out holds. */
void reason_of(const struct kube_response *response, struct buffer *out);

#endif
