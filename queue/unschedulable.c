/* unschedulable: a list, and the union of the plugins that its pods wait for, so that the many
 * events that can help none of them cost nothing. What must stay true: by_plugin counts exactly
 * the bits of the pods in the list, so an entry's rejectors change only outside of it. */
#include "queue/unschedulable.h"

#include "proto/base/must.h"

static void count(struct unschedulable *u, const struct entry *e, int change)
{
    uint64_t set = e->rejectors | e->pending_plugins;
    for (int i = 0; set >> i != 0; i++) {
        if ((set >> i & 1) != 0)
            u->by_plugin[i] += (uint32_t)change;
        if (u->by_plugin[i] > 0)
            u->plugins |= (uint64_t)1 << i;
        else
            u->plugins &= ~((uint64_t)1 << i);
        if (i == 63)
            break;
    }
    u->gated += e->gate != GATE_none ? (size_t)change : 0;
}

void unschedulable_init(struct unschedulable *u)
{
    needs_init(&u->needs);
}

void unschedulable_free(struct unschedulable *u)
{
    needs_free(&u->needs);
}

void unschedulable_add(struct unschedulable *u, struct entry *e)
{
    must(e->place == PLACE_nowhere);
    must(e->gate == GATE_deleting || (e->rejectors | e->pending_plugins) != 0);
    e->place = PLACE_unschedulable;
    entry_list_add(&u->list, e);
    count(u, e, 1);
    needs_add(&u->needs, e);
}

void unschedulable_remove(struct unschedulable *u, struct entry *e)
{
    must(e->place == PLACE_unschedulable);
    needs_remove(&u->needs, e);
    count(u, e, -1);
    entry_list_remove(&u->list, e);
    e->place = PLACE_nowhere;
}
