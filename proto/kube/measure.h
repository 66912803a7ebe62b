/* measure: what the client counts of requests, with upstream's rest_client_* metrics. */
#ifndef KUBE_MEASURE_H
#define KUBE_MEASURE_H

#include "proto/kube/exchange.h"

/* A request has ended, and was not cancelled. */
void measure_exchange(const struct exchange *r, const struct kube_response *response);
/* A request goes out now; until then it waited for its turn: --kube-api-qps, and how many may be
 * under way. */
void measure_held(const struct exchange *r, struct moment now);
/* The answer to a request for a stream begins; its end is not counted again. */
void measure_stream(const struct exchange *r);

#endif
