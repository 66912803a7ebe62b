/* volume_check: may the pod be bound, as far as one claim and its volume go? Asked in each round of
 * waiting in PreBind; a pure look at what was just read from the API server. */
#ifndef BINDER_VOLUME_CHECK_H
#define BINDER_VOLUME_CHECK_H

#include "proto/base/buffer.h"
#include "proto/kube/objects/objects.h"
#include "proto/messages.h"

#include <stdbool.h>

enum volume_verdict {
    VOLUME_bound,
    VOLUME_not_yet,
    VOLUME_refused, /* it will not be: the pod must be decided anew */
};

struct volume_check {
    const struct volume *volume;
    const struct claim *claim;
    const struct node *node;
    const struct csi_node *csi;          /* only asked when the volume has a migrated plugin */
    const struct claim_binding *binding; /* with a volume: the chosen one; else provisioned */
    struct str node_name;
};

/* checkBindings of upstream's VolumeBinding for one claim. What was refused stands in why. */
enum volume_verdict volume_check(const struct volume_check *q, struct buffer *why);
/* A claim that is being provisioned: the provisioner takes the annotation away to say that it
 * cannot. True when that is not so; annotated: it has any annotations at all. */
bool volume_check_selected(const struct claim *claim, bool annotated,
                           const struct claim_binding *binding, struct str node_name,
                           struct buffer *why);

#endif
