/* plugins: the names behind the bits. What must stay true: the order of HINTS rows in plugins.def
 * is that of bits, and a name that has none is one of the others. */
#include "queue/plugins.h"

#include "proto/base/must.h"

#include <stdio.h>

/* clang-format off */
static const char *const names[] = {
#define HINTS(name, fields) #name,
#include "proto/plugins.def"
    "others"
};
/* clang-format on */

_Static_assert(PLUGIN_COUNT <= PLUGINS_BUS_FIRST &&
                   PLUGINS_BUS_FIRST + CONFIG_BUS_PLUGINS_MAX <= 63,
               "a set of plugins has 63 bits and one for the others");

static uint64_t bit(size_t plugin)
{
    return plugin == PLUGIN_COUNT ? PLUGINS_other : (uint64_t)1 << plugin;
}

static uint64_t bit_of(struct str name)
{
    size_t i = 0;
    while (i < PLUGIN_COUNT && !str_is(name, names[i]))
        i++;
    return bit(i);
}

uint64_t plugins_of(const struct strs *list)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < list->count; i++)
        set |= bit_of(list->at[i]);
    return set;
}

static uint64_t bus_bit(const struct plugins_named *named, struct str name)
{
    for (uint32_t i = 0; i < named->count; i++)
        if (str_is(name, named->at[i]))
            return bit(PLUGINS_BUS_FIRST + i);
    return 0;
}

uint64_t plugins_learn(struct plugins_named *named, struct str name)
{
    uint64_t known = bus_bit(named, name);
    if (known != 0)
        return known;
    if (named->count == CONFIG_BUS_PLUGINS_MAX || name.len > CONFIG_BUS_NAME_MAX)
        return PLUGINS_other;
    snprintf(named->at[named->count], sizeof(named->at[0]), "%.*s", STR_ARG(name));
    return bit(PLUGINS_BUS_FIRST + named->count++);
}

uint64_t plugins_known(const struct plugins_named *named, const struct strs *list)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t own = bus_bit(named, list->at[i]);
        set |= own != 0 ? own : bit_of(list->at[i]);
    }
    return set;
}

const char *plugins_behind(const struct plugins_named *named, size_t at)
{
    must(at < 64);
    if (at == 63)
        return names[PLUGIN_COUNT];
    if (at < PLUGIN_COUNT)
        return names[at];
    if (at < PLUGINS_BUS_FIRST || at - PLUGINS_BUS_FIRST >= named->count)
        return NULL;
    return named->at[at - PLUGINS_BUS_FIRST];
}

uint64_t plugins_bit(const char *name)
{
    return bit_of(str_of(name));
}

size_t plugins_count(void)
{
    return PLUGIN_COUNT + 1;
}

const char *plugins_name(size_t i)
{
    must(i <= PLUGIN_COUNT);
    return names[i];
}

bool plugins_has(uint64_t set, size_t i)
{
    return (set & bit(i)) != 0;
}
