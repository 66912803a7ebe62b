/* NodeResourcesFit rejects nodes without room for what the pod asks for, and scores by how much of
 * a node is used: least, most, or a function of the ratio.
 *
 * Filter tells every resource that is short, not just the first. When one of them exceeds all that
 * the node has, removing pods cannot help. Score counts 100m and 200Mi for containers that ask for
 * nothing, and ignores pod-level requests of the incoming pod, as upstream does. */
#include "scheduler/scored_resources.h"
#include "scheduler/wrap.h"

#include <math.h>

struct ask {
    uint32_t resource; /* atom; 0: no node of the share has it */
    int64_t amount;
    struct str name;
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
                (struct ask){atom_find(c->atoms, q->name), q->amount, q->name};
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
        no[i] |= ask->amount > room;
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

enum strategy { LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO };

struct scoring {
    struct scored_resources *resources;
    enum strategy strategy;
    uint32_t point_count;
    const struct shape_point *points;
    double by_percent[101]; /* the shape's score of a utilization */
};

/* The shape's scores go to 10, ours to 100. Straight lines between its points, cut toward zero. */
static int64_t on_shape(const struct scoring *s, int64_t utilization)
{
    for (uint32_t i = 0; i < s->point_count; i++) {
        const struct shape_point *p = &s->points[i];
        if (utilization > p->utilization)
            continue;
        if (i == 0 || p->utilization == p[-1].utilization)
            return p->score * 10;
        return p[-1].score * 10 + (p->score - p[-1].score) * 10 *
                                      (utilization - p[-1].utilization) /
                                      (p->utilization - p[-1].utilization);
    }
    return s->point_count == 0 ? 0 : s->points[s->point_count - 1].score * 10;
}

static void *score_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct scoring *s = arena_take(c->arena, sizeof(*s));
    s->resources = scored_resources_make(c, profile->fit_resources.at, profile->fit_resources.count,
                                         c->pod->score_request.at, c->pod->score_request.count);
    s->resources->with_defaults = true;
    if (str_is(profile->fit_strategy, "MostAllocated"))
        s->strategy = MOST_ALLOCATED;
    else if (str_is(profile->fit_strategy, "RequestedToCapacityRatio"))
        s->strategy = REQUESTED_TO_CAPACITY_RATIO;
    s->points = profile->fit_shape.at;
    s->point_count = profile->fit_shape.count;
    for (int percent = 0; percent <= 100 && s->strategy == REQUESTED_TO_CAPACITY_RATIO; percent++)
        s->by_percent[percent] = (double)on_shape(s, percent);
    return s;
}

static int64_t rate(const struct scoring *s, int64_t used, int64_t room)
{
    switch (s->strategy) {
    case LEAST_ALLOCATED: return used > room ? 0 : wrap_mul(wrap_sub(room, used), SCORE_MAX) / room;
    case MOST_ALLOCATED: return wrap_mul(used > room ? room : used, SCORE_MAX) / room;
    case REQUESTED_TO_CAPACITY_RATIO: break;
    }
    return on_shape(s, used > room ? 100 : wrap_mul(used, 100) / room);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct scoring *s = state;
    int64_t sum = 0, weights = 0;
    for (uint32_t i = 0; i < s->resources->count; i++) {
        const struct scored_resource *r = &s->resources->at[i];
        int64_t room_used[2];
        if (!scored_resource_on(s->resources, i, n, row, room_used))
            continue;
        int64_t rated = rate(s, wrap_add(room_used[1], r->asked), room_used[0]);
        if (s->strategy == REQUESTED_TO_CAPACITY_RATIO && rated <= 0)
            continue;
        sum = wrap_add(sum, wrap_mul(rated, r->weight));
        weights = wrap_add(weights, r->weight);
    }
    if (weights == 0)
        return 0;
    if (s->strategy == REQUESTED_TO_CAPACITY_RATIO)
        return cut_to_i64(round((double)sum / (double)weights));
    return sum / weights;
}

static void add_on_shape(const struct scoring *s, const struct kernel_resource *r, double weight,
                         uint32_t count, struct kernel_sums *sums)
{
    int32_t percent[KERNEL_ROWS];
    kernel_percent(r, count, percent);
    for (uint32_t i = 0; i < count; i++) {
        double rated = s->by_percent[percent[i]];
        bool counts = r->room[i] != 0 && rated > 0;
        sums->sum[i] += counts ? rated * weight : 0;
        sums->weights[i] += counts ? weight : 0;
    }
}

static void round_quotient(const struct kernel_sums *sums, uint32_t count, int64_t *raw)
{
    for (uint32_t i = 0; i < count; i++)
        raw[i] = sums->weights[i] == 0 ? 0 : cut_to_i64(round(sums->sum[i] / sums->weights[i]));
}

/* The resources that take part, as columns; those that one call of a kernel may be about. */
struct columns {
    uint32_t count;
    double weights[RESOURCE_COUNT];
    struct kernel_resource at[RESOURCE_COUNT];
};

/* False when something is in the way of the kernels. */
static bool find_columns(const struct scoring *s, const struct nodes *n, struct row_range rows,
                         struct columns *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < s->resources->count; i++) {
        const struct scored_resource *r = &s->resources->at[i];
        if (r->left_out)
            continue;
        if (out->count == RESOURCE_COUNT || r->weight < 0 || r->weight > KERNEL_WEIGHT ||
            !scored_resource_column(s->resources, i, n, rows, &out->at[out->count]))
            return false;
        out->weights[out->count++] = (double)r->weight;
    }
    return true;
}

static void score_sums(const struct scoring *s, const struct columns *c, uint32_t count,
                       int64_t *raw)
{
    struct kernel_sums sums = {{0}, {0}};
    for (uint32_t i = 0; i < c->count; i++)
        if (s->strategy == LEAST_ALLOCATED)
            kernel_add_least(&c->at[i], c->weights[i], count, &sums);
        else if (s->strategy == MOST_ALLOCATED)
            kernel_add_most(&c->at[i], c->weights[i], count, &sums);
        else
            add_on_shape(s, &c->at[i], c->weights[i], count, &sums);
    if (s->strategy == REQUESTED_TO_CAPACITY_RATIO)
        round_quotient(&sums, count, raw);
    else
        kernel_quotient(&sums, count, raw);
}

/* Of at most KERNEL_ROWS rows. False: the kernels cannot. */
static bool score_block(const struct scoring *s, const struct nodes *n, struct row_range rows,
                        int64_t *raw)
{
    struct columns c;
    if (!find_columns(s, n, rows, &c))
        return false;
    if (c.count == 2 && s->strategy == LEAST_ALLOCATED)
        kernel_least_of_two(c.at, c.weights, rows.count, raw);
    else
        score_sums(s, &c, rows.count, raw);
    return true;
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    const struct scoring *s = state;
    uint32_t end = rows.from + rows.count;
    while (rows.from < end) {
        rows.count = end - rows.from < KERNEL_ROWS ? end - rows.from : KERNEL_ROWS;
        bool done = score_block(s, n, rows, raw);
        for (uint32_t i = 0; i < rows.count && !done; i++)
            raw[i] = score(c, state, n, rows.from + i);
        raw += rows.count;
        rows.from += rows.count;
    }
}

const struct plugin plugin_node_resources_fit = {
    .name = "NodeResourcesFit",
    .filter_begin = filter_begin,
    .filter = filter,
    .score_begin = score_begin,
    .score = score,
    .filter_rows = filter_rows,
    .score_rows = score_rows,
    .by_row = true,
};
