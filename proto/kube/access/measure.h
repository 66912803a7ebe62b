/* measure: what the client counts of requests, with upstream's rest_client_* metrics. */
#ifndef KUBE_ACCESS_MEASURE_H
#define KUBE_ACCESS_MEASURE_H

#include "proto/kube/access/exchange.h"

/* A request has ended, and was not cancelled. */
void measure_exchange(const struct exchange *r, const struct kube_response *response);
/* A request goes out now; until then it waited for its turn: --kube-api-qps, and how many may be
 * under way. */
void measure_held(const struct exchange *r, struct moment now);
/* An answer that is taken in pieces begins. A watch is counted now, not at its end. */
void measure_opened(const struct exchange *r);

#endif
