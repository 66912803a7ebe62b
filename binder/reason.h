/* reason: why a request did not go well, in words for people: the API server's own, if it has any.
 */
#ifndef BINDER_REASON_H
#define BINDER_REASON_H

#include "proto/base/buffer.h"
#include "proto/kube/client.h"

/* Replaces what out holds. */
void reason_of(const struct kube_response *response, struct buffer *out);

#endif
