/* device_records: devices as the messages have them, and as scheduler/devices has them. */
#ifndef SCHEDULER_CATALOG_DEVICE_RECORDS_H
#define SCHEDULER_CATALOG_DEVICE_RECORDS_H

#include "proto/base/random.h"
#include "proto/messages.h"
#include "scheduler/devices/allocate.h"

/* Each borrows its texts from what it is made of, and takes the rest from the arena. */
struct dra_slice dra_slice_of(const struct resource_slice *slice, struct arena *a);
struct dra_class dra_class_of(const struct device_class *class, struct arena *a);
struct dra_claim dra_claim_of(const struct resource_claim *claim, struct arena *a);
/* What is in use by these devices; so many of them. */
struct dra_use *dra_uses_of(const struct allocated_device *at, uint32_t count, struct arena *a);

/* What a claim is given, as the binder writes it: all of it in the arena. Shares get random names.
 */
struct device_allocation device_allocation_of(const struct dra_allocation *from,
                                              const struct resource_claim *claim,
                                              struct random *random, struct arena *a);

/* Upstream's computeScore of one claim: what it has got of the alternatives of its requests. */
int64_t device_claim_score(const struct resource_claim *claim);

#endif
