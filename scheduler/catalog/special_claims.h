/* special_claims: the ResourceClaims that schedulers have made for extended resources of pods, by
 * the pod that controls them. There should be one of a pod at most; after a bind of which nobody
 * knows how it ended there may be more. */
#ifndef SCHEDULER_CATALOG_SPECIAL_CLAIMS_H
#define SCHEDULER_CATALOG_SPECIAL_CLAIMS_H

#include "proto/messages.h"

struct special_claims;

struct special_claims *special_claims_new(void);
void special_claims_free(struct special_claims **claims);

/* Both ignore claims that are not special. A claim is taken out before it changes or goes. */
void special_claims_put(struct special_claims *claims, const struct resource_claim *claim);
void special_claims_take_out(struct special_claims *claims, const struct resource_claim *claim);

/* One of the pod's. False: it has none. Lives until the next change. */
bool special_claims_find(const struct special_claims *claims, struct str pod_uid, struct str *space,
                         struct str *name);

#endif
