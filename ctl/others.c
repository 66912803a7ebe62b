/* others: extenders and plugins on the bus by name. What must stay true: whoever has a say and is
 * not asked is named. */
#include "ctl/others.h"

#include "scheduler/merge/consultation.h"

struct strs others_of(const struct scheduler_config *config, struct arena *a)
{
    uint32_t most = config->extenders.count;
    for (uint32_t i = 0; i < config->profiles.count; i++)
        most += config->profiles.at[i].bus_plugins.count;
    struct strs names = {0, arena_take(a, (most + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < config->extenders.count; i++)
        names.at[names.count++] = config->extenders.at[i].url_prefix;
    for (uint32_t i = 0; i < config->profiles.count; i++) {
        const struct profile *p = &config->profiles.at[i];
        for (uint32_t k = 0; k < p->bus_plugins.count; k++)
            if (!strs_hold(names, p->bus_plugins.at[k].name))
                names.at[names.count++] = p->bus_plugins.at[k].name;
    }
    return names;
}

struct strs others_but_plugins(struct strs names, const struct profile *profiles, uint32_t count,
                               struct arena *a)
{
    struct strs left = {0, arena_take(a, (names.count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < names.count; i++) {
        bool plugin = false;
        for (uint32_t k = 0; k < count; k++)
            plugin |= bus_plugin_of(&profiles[k], names.at[i]) != NULL;
        if (!plugin)
            left.at[left.count++] = names.at[i];
    }
    return left;
}
