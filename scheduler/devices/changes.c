/* changes: when something last became different that a search on a node sees. Whoever remembers
 * what a search came to asks whether that is still so.
 *
 * What must stay true: what may matter to several nodes counts for all of them; only what is
 * allocated of a pool whose slices all name one node, and share no counters, is that node's alone.
 */
#include "scheduler/devices/changes.h"
#include "scheduler/devices/inside.h"

#define NODES_SPARE 64 /* names of nodes that have gone may stay, so many beyond the slices */

void changes_all(struct devices *devices)
{
    devices->changes.all = ++devices->changes.count;
}

static bool is_one_nodes(const struct pool *pool)
{
    const struct slice *first = pool->editions->slices.at[0];
    for (const struct edition *e = pool->editions; e != NULL; e = e->next)
        for (uint32_t i = 0; i < e->slices.count; i++) {
            const struct slice *s = e->slices.at[i];
            if (s->set_count > 0 || s->said.reach.node_name.len == 0 ||
                !str_equal(s->said.reach.node_name, first->said.reach.node_name))
                return false;
        }
    return true;
}

static void forget_names(struct devices *devices)
{
    map_free(&devices->changes.nodes);
    devices->changes.nodes = map_new();
    changes_all(devices);
}

void changes_in_pool(struct devices *devices, const struct pool *pool)
{
    if (pool == NULL || pool->editions == NULL) /* nobody sees its devices */
        return;
    if (!is_one_nodes(pool)) {
        changes_all(devices);
        return;
    }
    struct str node = pool->editions->slices.at[0]->said.reach.node_name;
    uintptr_t change = (uintptr_t)++devices->changes.count;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    (void)map_set(devices->changes.nodes, node, (void *)change);
    if (map_count(devices->changes.nodes) > map_count(devices->slices) + NODES_SPARE)
        forget_names(devices);
}

uint64_t devices_changed(const struct devices *devices, struct str node)
{
    uint64_t own = (uintptr_t)map_get(devices->changes.nodes, node);
    return own > devices->changes.all ? own : devices->changes.all;
}
