/* plugins: sets of plugins, a bit for each that has hints or is a process on the bus. */
#ifndef QUEUE_PLUGINS_H
#define QUEUE_PLUGINS_H

#include "proto/kube/config/config_file.h"

/* clang-format off */
enum plugin {
#define HINTS(name, fields) PLUGIN_##name,
#include "proto/plugins.def"
    PLUGIN_COUNT
};
/* clang-format on */

/* A set of plugins: one bit for each HINTS row of plugins.def, in their order; one for each plugin
 * on the bus that a configuration has named so far; and the top bit for all others. */
#define PLUGINS_other     ((uint64_t)1 << 63)
#define PLUGINS_all       UINT64_MAX
#define PLUGINS_BUS_FIRST 44
#define PLUGINS_bus       ((((uint64_t)1 << CONFIG_BUS_PLUGINS_MAX) - 1) << PLUGINS_BUS_FIRST)

/* The plugins on the bus that have a bit. A name keeps it; for those beyond there is none, and they
 * are among the others. Zero-initialise. */
struct plugins_named {
    uint32_t count;
    char at[CONFIG_BUS_PLUGINS_MAX][CONFIG_BUS_NAME_MAX + 1];
};

/* The bit of a plugin on the bus, which gets one if there is one left. */
uint64_t plugins_learn(struct plugins_named *named, struct str name);
/* As plugins_of, with those on the bus told apart. */
uint64_t plugins_known(const struct plugins_named *named, const struct strs *names);
/* The name behind a bit of a set, 0 to 63; NULL: no plugin has it. */
const char *plugins_behind(const struct plugins_named *named, size_t bit);

/* The set of these names. */
uint64_t plugins_of(const struct strs *names);
uint64_t plugins_bit(const char *name);
/* Name of the i-th plugin, i < plugins_count(); the last stands for all others. */
size_t plugins_count(void);
const char *plugins_name(size_t i);
/* Whether a set holds the i-th plugin. */
bool plugins_has(uint64_t set, size_t i);

#endif
