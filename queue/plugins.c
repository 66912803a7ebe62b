/* plugins: the names behind the bits. What must stay true: the order of HINTS rows in plugins.def
 * is that of bits, and a name that has none is one of the others. */
#include "queue/plugins.h"

#include "proto/base/must.h"

/* clang-format off */
static const char *const names[] = {
#define HINTS(name, fields) #name,
#include "proto/plugins.def"
    "others"
};
/* clang-format on */

_Static_assert(PLUGIN_COUNT < 63, "a set of plugins has 63 bits and one for the others");

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
