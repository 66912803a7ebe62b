/* slis: /metrics/slis: what every health check said when it was asked for last, and how often it
 * said what, as upstream counts them. */
#ifndef SERVE_SLIS_H
#define SERVE_SLIS_H

#include "proto/base/buffer.h"

#include <stdint.h>

/* A check of a group ("readyz", "healthz") was made. Both names are borrowed for good. */
void slis_observe(const char *group, const char *check, bool well);
/* start_ns: when this process started, since the Unix epoch. */
void slis_print(int64_t start_ns, struct buffer *out);
void slis_reset(void);

#endif
