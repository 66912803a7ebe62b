/* NodeResourcesFit rejects nodes without room for what the pod asks for, and scores by how much of
 * a node is used: least, most, or a function of the ratio.
 *
 * Filter tells every resource that is short, not just the first. When one of them exceeds all that
 * the node has, removing pods cannot help. The scores are requested_score.c's. */
#include "scheduler/catalog/device_extended.h"
#include "scheduler/rules/requested_score.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/resource.h"
#include "scheduler/table/wrap.h"

struct ask {
    uint32_t resource; /* atom; 0: no node of the share has it */
    int64_t amount;
    struct str name;
    bool delegated; /* a class stands for it: nodes that have none of it are left to the devices */
};

struct asks {
    int64_t fixed[RESOURCE_COUNT];
    uint32_t count;
    struct ask *scalars;
    bool none;
};

static bool ignored(const struct profile *profile, struct str name)
{
    if (!resource_is_extended(name))
        return false;
    struct str group = {name.at, (uint32_t)str_find(name, '/')};
    for (uint32_t i = 0; i < profile->fit_ignored_resources.count; i++)
        if (str_equal(profile->fit_ignored_resources.at[i], name))
            return true;
    for (uint32_t i = 0; i < profile->fit_ignored_groups.count; i++)
        if (str_equal(profile->fit_ignored_groups.at[i], group))
            return true;
    return false;
}

static void prepare(const struct pre_filter_question *q)
{
    extended_note(q->catalog, q->pod, q->findings, q->arena);
}

static void *filter_begin(const struct cycle *c)
{
    struct asks *asks = arena_take(c->arena, sizeof(*asks));
    asks->scalars = arena_take(c->arena, c->pod->request.count * sizeof(*asks->scalars));
    asks->none = true;
    for (uint32_t i = 0; i < c->pod->request.count; i++) {
        const struct quantity *q = &c->pod->request.at[i];
        int fixed = resource_fixed(q->name);
        if (q->amount <= 0 || (fixed < 0 && !resource_is_scalar(q->name)))
            continue;
        asks->none = false;
        if (fixed >= 0)
            asks->fixed[fixed] = q->amount;
        else if (!ignored(&c->framework->profile, q->name))
            asks->scalars[asks->count++] =
                (struct ask){atom_find(c->atoms, q->name), q->amount, q->name,
                             strs_hold(c->findings->device_resources, q->name)};
    }
    return asks;
}

static enum code short_of(int64_t asked, int64_t offered)
{
    return asked > offered ? CODE_unresolvable : CODE_unschedulable;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    static const char *const texts[RESOURCE_COUNT] = {"Insufficient cpu", "Insufficient memory",
                                                      "Insufficient ephemeral-storage"};
    const struct asks *asks = state;
    if (n->pods[row] + 1 > n->pods_allowed[row])
        ruling_reject(out, CODE_unschedulable, "Too many pods", (struct str){0});
    if (asks->none)
        return;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        int64_t asked = asks->fixed[i], offered = n->allocatable[i][row];
        if (asked > 0 && asked > wrap_sub(offered, n->requested[i][row]))
            ruling_reject(out, short_of(asked, offered), texts[i], (struct str){0});
    }
    for (uint32_t i = 0; i < asks->count; i++) {
        const struct ask *ask = &asks->scalars[i];
        const struct scalar *s = nodes_scalar(n, row, ask->resource);
        int64_t offered = s == NULL ? 0 : s->allocatable;
        if (ask->delegated && offered <= 0)
            continue;
        if (ask->amount > wrap_sub(offered, s == NULL ? 0 : s->requested))
            ruling_reject(out, short_of(ask->amount, offered), "Insufficient ", ask->name);
    }
}

static void lacks_scalar(const struct ask *ask, const struct nodes *n, struct row_range rows,
                         uint8_t *no)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        const struct scalar *s = nodes_scalar(n, rows.from + i, ask->resource);
        int64_t room = s == NULL ? 0 : wrap_sub(s->allocatable, s->requested);
        bool left = ask->delegated && (s == NULL || s->allocatable <= 0);
        no[i] |= !left && ask->amount > room;
    }
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    (void)c;
    const struct asks *asks = state;
    kernel_mark_bits(n->marks + rows.from, MARK_full, rows.count, no);
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (asks->fixed[i] > 0)
            kernel_lacks(n->allocatable[i] + rows.from, n->requested[i] + rows.from, asks->fixed[i],
                         rows.count, no);
    for (uint32_t i = 0; i < asks->count; i++)
        lacks_scalar(&asks->scalars[i], n, rows, no);
}

static void *score_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct requested_strategy s = {.resources = profile->fit_resources.at,
                                   .count = profile->fit_resources.count,
                                   .points = profile->fit_shape.at,
                                   .point_count = profile->fit_shape.count};
    if (str_is(profile->fit_strategy, "MostAllocated"))
        s.kind = STRATEGY_most_allocated;
    else if (str_is(profile->fit_strategy, "RequestedToCapacityRatio"))
        s.kind = STRATEGY_requested_to_capacity_ratio;
    return requested_begin(c, &s);
}

const struct plugin plugin_node_resources_fit = {
    .name = "NodeResourcesFit",
    .prepare = prepare,
    .filter_begin = filter_begin,
    .filter = filter,
    .score_begin = score_begin,
    .score = requested_score,
    .filter_rows = filter_rows,
    .score_rows = requested_score_rows,
    .by_row = true,
};
