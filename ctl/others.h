/* others: who else has a say in decisions than the rules. */
#ifndef CTL_OTHERS_H
#define CTL_OTHERS_H

#include "proto/kube/config/config_file.h"

/* Extenders, by URL, and plugins on the bus that a configuration names; from the arena. */
struct strs others_of(const struct scheduler_config *config, struct arena *a);
/* Those of the names that are no plugins of these profiles: plugins are asked. */
struct strs others_but_plugins(struct strs names, const struct profile *profiles, uint32_t count,
                               struct arena *a);

#endif
