/* claims_out: what pods' ResourceClaims were given, as JSON in the API's own words. */
#ifndef CTL_CLAIMS_OUT_H
#define CTL_CLAIMS_OUT_H

#include "ctl/json_out.h"
#include "ctl/world.h"

/* allocations: for each claim of the pod that got devices with its node, in the pod's order, the
 * claim's name and its allocation. Leaves the member out when there are none. */
void claims_out_given(struct json_out *j, const struct pod *pod,
                      const struct device_reservation *given);
/* finalClaims: all claims there are, by namespace and name, with allocation and reservedFor. Leaves
 * the member out when there are none. */
void claims_out_final(struct json_out *j, const struct world *w);

#endif
