/* config_policy: the Policy that kube-scheduler had until 1.22, in place of profiles.
 *
 * A file of kind Policy is read wherever a configuration is (config_file.h); here is what it takes
 * to put a Policy beside a configuration, as kube-scheduler's old flags did. */
#ifndef KUBE_CONFIG_CONFIG_POLICY_H
#define KUBE_CONFIG_CONFIG_POLICY_H

#include "proto/kube/config/config_file.h"

/* The key of a ConfigMap that holds a Policy. */
#define CONFIG_POLICY_KEY "policy.cfg"

/* Whether a document says that it is a Policy. */
bool config_policy_is(const struct kube_json *document);
/* The Policy, as text, that an --algorithm-provider stood for; NULL: there was none of that name.
 */
const char *config_policy_of_provider(const char *provider);
/* Puts what a Policy (YAML or JSON; apiVersion and kind may be missing) says in the place of the
 * configuration's profiles and extenders; all else stays. Everything lives in the arena. False,
 * with the reason in error, when it is no good; then config is of no use. */
bool scheduler_config_take_policy(struct str policy, struct scheduler_config *config,
                                  struct arena *a, struct str *error);

#endif
