/* scored_resources: resolves names once a cycle, so that reading a node is an index into a column.
 * What must stay true: a resource that a node does not offer, or a scalar that the pod does not ask
 * for, takes no part in any score. */
#include "scheduler/rules/scored_resources.h"

struct scored_resources *scored_resources_make(const struct cycle *c, const struct quantity *names,
                                               uint32_t count, const struct quantity *asks,
                                               uint32_t ask_count)
{
    struct scored_resources *all = arena_take(c->arena, sizeof(*all));
    all->count = count;
    all->at = arena_take(c->arena, count * sizeof(*all->at));
    for (uint32_t i = 0; i < count; i++) {
        struct scored_resource *r = &all->at[i];
        r->fixed = resource_fixed(names[i].name);
        r->weight = names[i].amount;
        r->asked = resource_amount(asks, ask_count, names[i].name);
        if (r->fixed >= 0)
            continue;
        bool is_scalar = resource_is_scalar(names[i].name);
        r->resource = is_scalar ? atom_find(c->atoms, names[i].name) : 0;
        r->left_out = r->resource == 0 || r->asked == 0;
    }
    return all;
}

/* What is used of one of the fixed resources, by row. */
static const int64_t *used_column(const struct scored_resources *all, int fixed,
                                  const struct nodes *n)
{
    _Static_assert((int)SCORED_cpu == (int)RESOURCE_cpu, "cpu comes first in both");
    _Static_assert((int)SCORED_memory == (int)RESOURCE_memory, "memory comes second in both");
    bool scored = all->with_defaults && fixed < SCORED_COUNT;
    return scored ? n->scored[fixed] : n->requested[fixed];
}

bool scored_resource_on(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                        uint32_t row, int64_t room_used[2])
{
    const struct scored_resource *r = &all->at[i];
    if (r->left_out)
        return false;
    if (r->fixed < 0) {
        const struct scalar *s = nodes_scalar(n, row, r->resource);
        room_used[0] = s == NULL ? 0 : s->allocatable;
        room_used[1] = s == NULL ? 0 : s->requested;
    } else {
        room_used[0] = n->allocatable[r->fixed][row];
        room_used[1] = used_column(all, r->fixed, n)[row];
    }
    return room_used[0] != 0;
}

bool scored_resource_column(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                            struct row_range rows, struct kernel_resource *out)
{
    const struct scored_resource *r = &all->at[i];
    if (r->fixed < 0)
        return false;
    *out = (struct kernel_resource){.room = n->allocatable[r->fixed] + rows.from,
                                    .used = used_column(all, r->fixed, n) + rows.from,
                                    .asked = r->asked};
    bool plain = n->inexact == 0 && r->asked >= 0 && r->asked < KERNEL_EXACT / 2;
    return plain || kernel_is_exact(out, rows.count);
}
