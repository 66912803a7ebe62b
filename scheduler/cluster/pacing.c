/* pacing: plain counters, one pace a worker. What must stay true: owed is the sum over all of them,
 * and nothing is counted for a worker that has none. */
#include "scheduler/cluster/pacing.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct pace *pace_of(const struct paces *l, uint32_t worker)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->at[i].worker == worker)
            return &l->at[i];
    return NULL;
}

void pace_close(struct paces *l, uint32_t worker)
{
    struct pace *pace = pace_of(l, worker);
    if (pace == NULL)
        return;
    l->owed -= pace->owed;
    *pace = l->at[--l->count];
}

void pace_open(struct paces *l, uint32_t worker, bool counts)
{
    pace_close(l, worker);
    if (l->count == l->room) {
        l->room = l->room == 0 ? 4 : l->room * 2;
        l->at = memory_resize(l->at, l->room * sizeof(*l->at));
    }
    l->at[l->count++] = (struct pace){.worker = worker, .counts = counts};
}

void pace_sent(struct paces *l, uint32_t worker)
{
    struct pace *pace = pace_of(l, worker);
    if (pace != NULL && pace->counts)
        pace->on_the_way++;
}

/* A worker that says more than it was sent speaks of what came before it joined again. */
void pace_taken(struct paces *l, uint32_t worker, int64_t count)
{
    struct pace *pace = pace_of(l, worker);
    if (pace == NULL || count <= 0)
        return;
    pace->on_the_way -= count < pace->on_the_way ? (uint32_t)count : pace->on_the_way;
}

void pace_owes(struct paces *l, uint32_t worker, int change)
{
    struct pace *pace = pace_of(l, worker);
    if (pace == NULL)
        return;
    must(change > 0 || (pace->owed > 0 && l->owed > 0));
    pace->owed += (uint32_t)change;
    l->owed += (uint32_t)change;
}

void paces_free(struct paces *l)
{
    memory_free(l->at);
    *l = (struct paces){0};
}
