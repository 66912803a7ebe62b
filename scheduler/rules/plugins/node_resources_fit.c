/* NodeResourcesFit rejects nodes without room for what the pod asks for, and scores by how much of
 * a node is used: least, most, or a function of the ratio.
 *
 * Filter tells every resource that is short, not just the first. When one of them exceeds all that
 * the node has, removing pods cannot help. A pod that is on a node counts there already, with what
 * it asks for now, so that on that node it only asks for what is beyond that. The scores are
 * requested_score.c's. */
#include "scheduler/catalog/device_extended.h"
#include "scheduler/rules/requested_score.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/pod_demands.h"
#include "scheduler/table/resource.h"
#include "scheduler/table/wrap.h"

#include <string.h>

struct ask {
    uint32_t resource; /* atom; 0: no node of the share has it */
    int64_t amount;
    int64_t beyond; /* what counts for it on its own node already */
    struct str name;
    bool delegated; /* a class stands for it: nodes that have none of it are left to the devices */
};

struct asks {
    int64_t fixed[RESOURCE_COUNT];
    int64_t beyond[RESOURCE_COUNT];
    uint32_t count;
    struct ask *scalars;
    bool none;
    uint32_t own; /* atom of the node that the pod is on; 0: of none of this share */
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

static int64_t less(int64_t asked, int64_t counted)
{
    return asked > counted ? asked - counted : 0;
}

/* What the share counts for the pod may be another version's than the one that is asked about. */
static void subtract(struct asks *asks, const struct pod_demand *counted)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        asks->beyond[i] = less(asks->fixed[i], counted->usage[i]);
    for (uint32_t i = 0; i < asks->count; i++)
        for (uint32_t k = 0; k < counted->scalar_count; k++)
            if (counted->scalars[k].resource == asks->scalars[i].resource)
                asks->scalars[i].beyond =
                    less(asks->scalars[i].amount, counted->scalars[k].requested);
}

static void look_at_own_node(const struct cycle *c, struct asks *asks)
{
    uint32_t row = 0;
    asks->own = atom_find(c->atoms, c->pod->node_name);
    while (row < c->nodes->count && c->nodes->entry[row]->name != asks->own)
        row++;
    if (asks->own == 0 || row == c->nodes->count)
        return;
    const struct node_entry *node = c->nodes->entry[row];
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (str_equal(node_pod_uid(node->pods[i], c->arena), c->pod->uid))
            subtract(asks, node->pods[i]->demand);
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
                (struct ask){atom_find(c->atoms, q->name), q->amount, q->amount, q->name,
                             strs_hold(c->findings->device_resources, q->name)};
    }
    memcpy(asks->beyond, asks->fixed, sizeof(asks->beyond));
    if (c->pod->resize_deferred && c->pod->node_name.len > 0)
        look_at_own_node(c, asks);
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
    bool own = asks->own != 0 && n->entry[row]->name == asks->own;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        int64_t asked = asks->fixed[i], offered = n->allocatable[i][row];
        int64_t wanted = own ? asks->beyond[i] : asked;
        if (asked > 0 && wanted > wrap_sub(offered, n->requested[i][row]))
            ruling_reject(out, short_of(asked, offered), texts[i], (struct str){0});
    }
    for (uint32_t i = 0; i < asks->count; i++) {
        const struct ask *ask = &asks->scalars[i];
        const struct scalar *s = nodes_scalar(n, row, ask->resource);
        int64_t offered = s == NULL ? 0 : s->allocatable;
        int64_t wanted = own ? ask->beyond : ask->amount;
        if (wanted == 0 || (ask->delegated && offered <= 0))
            continue;
        if (wanted > wrap_sub(offered, s == NULL ? 0 : s->requested))
            ruling_reject(out, short_of(wanted, offered), "Insufficient ", ask->name);
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

static void each_row(const struct cycle *c, const void *state, const struct nodes *n,
                     struct row_range rows, uint8_t *no)
{
    const struct asks *asks = state;
    uint32_t room = 1 + RESOURCE_COUNT + asks->count;
    struct reason *unread = arena_take(c->arena, room * sizeof(*unread));
    for (uint32_t i = 0; i < rows.count; i++) {
        struct ruling one = {.reasons = unread, .room = room};
        filter(c, state, n, rows.from + i, &one);
        no[i] |= one.code != CODE_success;
    }
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    const struct asks *asks = state;
    if (asks->own != 0) {
        each_row(c, state, n, rows, no);
        return;
    }
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
    .of_resizes = true,
    .score_rows = requested_score_rows,
    .by_row = true,
};
