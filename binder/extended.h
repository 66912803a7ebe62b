/* extended: what an extender has answered that was to bind a pod. */
#ifndef BINDER_EXTENDED_H
#define BINDER_EXTENDED_H

#include "binder/api.h"
#include "proto/kube/extenders/extenders.h"

/* Why the extender did not bind the pod, in upstream's words, into message, which is empty
 * otherwise; false: it did. */
bool extended_failed(const struct extender_config *extender, const struct kube_response *r,
                     struct buffer *message);

#endif
