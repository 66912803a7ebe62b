/* device_ready: whether the devices that a ResourceClaim has been given are ready for a pod.
 *
 * Some devices must be made ready first: their allocation names conditions to wait for, and others
 * that say that it will not come to be; drivers report both in the claim's status. Scheduler and
 * binder judge the same way, as upstream's Filter and PreBind do. */
#ifndef KUBE_OBJECTS_DEVICE_READY_H
#define KUBE_OBJECTS_DEVICE_READY_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

/* Upstream's default of bindingTimeout. */
#define DEVICE_TIMEOUT_MS 600000

enum device_ready {
    DEVICE_ready,   /* nothing is to be waited for, or all has come */
    DEVICE_waiting, /* something has not come yet; so it is with a claim without devices */
    DEVICE_failed,  /* one of the other conditions is true */
    DEVICE_late     /* something has not come since the allocation, which is too long ago */
};

/* timeout_ms: 0 = the default. Why, in upstream's words, is appended to why (may be NULL) for
 * DEVICE_failed and DEVICE_late. */
enum device_ready device_ready(const struct resource_claim *claim, int64_t timeout_ms,
                               int64_t wall_us, struct buffer *why);
/* True when one of these devices names a condition to wait for. */
bool device_ready_matters(const struct allocated_device *devices, uint32_t count);

#endif
