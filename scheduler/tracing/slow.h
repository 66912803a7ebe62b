/* slow: what upstream logs of a decision that took long (k8s.io/utils/trace, "Scheduling"). */
#ifndef SCHEDULER_TRACING_SLOW_H
#define SCHEDULER_TRACING_SLOW_H

#include "proto/base/buffer.h"

#define SLOW_MS 100 /* upstream's threshold */

struct slow_decision {
    int64_t number; /* in Trace[…]; upstream's is a random one */
    struct str namespace_name, name;
    int64_t began_us;                 /* wall clock */
    int64_t took_ns, prioritizing_ns; /* all of it; of this PreScore and Score */
    bool scored;                      /* there were nodes to choose from */
};

/* Upstream's text, in lines. Steps that took less than their share are left out, as there. */
void slow_print(const struct slow_decision *d, struct buffer *out);

#endif
