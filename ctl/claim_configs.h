/* claim_configs: the configuration that allocated claims carry for drivers. Scheduling does not
 * look at it, so the claims' records do not have it; who reads a result does. */
#ifndef CTL_CLAIM_CONFIGS_H
#define CTL_CLAIM_CONFIGS_H

#include "proto/kube/documents/json.h"
#include "proto/messages.h"

struct claim_configs;

struct claim_configs *claim_configs_new(void);
void claim_configs_free(struct claim_configs **configs);

/* An object as the API has it: notes what the allocation of a ResourceClaim says; of all other
 * kinds nothing. */
void claim_configs_note(struct claim_configs *configs, const struct kube_json *object);
/* Whether what drivers are told in a scenario (scenario.h) is an object everywhere, as the API
 * server has it; which is the one thing about it that strict reading leaves open. An error with the
 * path, from the arena; empty: nothing is wrong. */
struct str claim_configs_check(const struct kube_json *scenario, struct arena *a);
/* A claim was given devices with some configuration. */
void claim_configs_set(struct claim_configs *configs, struct str space, struct str name,
                       const struct device_allocation *given);
/* What was noted last, its lists from the arena; with nothing in it if that is nothing. */
struct device_allocation claim_configs_get(const struct claim_configs *configs, struct str space,
                                           struct str name, struct arena *a);

#endif
