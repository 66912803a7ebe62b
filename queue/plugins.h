/* plugins: sets of plugins, a bit for each that has hints. */
#ifndef QUEUE_PLUGINS_H
#define QUEUE_PLUGINS_H

#include "proto/messages.h"

/* clang-format off */
enum plugin {
#define HINTS(name, fields) PLUGIN_##name,
#include "proto/plugins.def"
    PLUGIN_COUNT
};
/* clang-format on */

/* A set of plugins: one bit for each HINTS row of plugins.def, in their order, and the top bit
 * for all others. */
#define PLUGINS_other ((uint64_t)1 << 63)
#define PLUGINS_all   UINT64_MAX

/* The set of these names. */
uint64_t plugins_of(const struct strs *names);
uint64_t plugins_bit(const char *name);
/* Name of the i-th plugin, i < plugins_count(); the last stands for all others. */
size_t plugins_count(void);
const char *plugins_name(size_t i);
/* Whether a set holds the i-th plugin. */
bool plugins_has(uint64_t set, size_t i);

#endif
