/* measure: what the binder counts, with upstream's metrics (proto/metrics.def). */
#ifndef BINDER_MEASURE_H
#define BINDER_MEASURE_H

#include "binder/lanes.h"
#include "proto/messages.h"

/* How a bind went, from being asked for to its end. */
struct measured_bind {
    bool prepared; /* there was something to do for its claims first */
    bool posted;   /* nothing but the Binding was left to be done */
    bool bound;
    bool delegated; /* an extender was asked to bind */
    struct span preparing, posting;
};

/* PreBindPreFlight, PreBind, Bind and PostBind of one pod. */
void measure_bind(const struct bind *bind, const struct measured_bind *how);
/* A claim for extended resources was made, or could not be. */
void measure_claim_made(bool made);
/* A bind has waited until devices are ready, and it ended like this; told of each device that its
 * claims have been given, with or without conditions to wait for. status: upstream's success,
 * failure, timeout or error. */
struct measured_device {
    struct str driver;
    bool conditional;
};
void measure_device_wait(const struct bind *bind, const struct measured_device *device,
                         const char *status, struct span took);
/* Sets the gauges of the lanes. */
void measure_lanes(const struct lanes *lanes, struct moment now);

#endif
