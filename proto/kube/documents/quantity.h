/* quantity: Kubernetes resource amounts, exact.
 *
 * A quantity is a decimal or binary-suffixed number such as 100m, 1.5Gi, 12e6. Upstream holds it in
 * arbitrary precision and rounds up when it is read as milli or whole units; so do we, with 128-bit
 * nano-units and saturation beyond int64, as upstream's Value() and MilliValue() do. */
#ifndef KUBE_DOCUMENTS_QUANTITY_H
#define KUBE_DOCUMENTS_QUANTITY_H

#include "proto/base/str.h"

struct kube_quantity {
    /* value * 10^9, rounded up as upstream does below nano; saturated */
    __extension__ __int128 nano;
};

/* False when the text is not a quantity. */
bool kube_quantity_parse(struct str text, struct kube_quantity *q);
struct kube_quantity kube_quantity_add(struct kube_quantity a, struct kube_quantity b);
int kube_quantity_compare(struct kube_quantity a, struct kube_quantity b);
int64_t kube_quantity_value(struct kube_quantity q); /* whole units, rounded up (away from zero) */
int64_t kube_quantity_milli(struct kube_quantity q); /* thousandths, rounded up */

#endif
