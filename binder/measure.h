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
    struct span preparing, posting;
};

/* PreBindPreFlight, PreBind, Bind and PostBind of one pod. */
void measure_bind(const struct bind *bind, const struct measured_bind *how);
/* Sets the gauges of the lanes. */
void measure_lanes(const struct lanes *lanes, struct moment now);

#endif
