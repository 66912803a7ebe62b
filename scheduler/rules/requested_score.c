/* requested_score: scores a node by how much of it is asked for, with the pod: least, most, or a
 * function of the ratio. What must stay true: it counts 100m and 200Mi for containers that ask for
 * nothing, and ignores pod-level requests of the incoming pod, as upstream does. */
#include "scheduler/rules/requested_score.h"

#include "scheduler/rules/scored_resources.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/wrap.h"

#include <math.h>

struct scoring {
    struct scored_resources *resources;
    enum requested_kind strategy;
    uint32_t point_count;
    const struct shape_point *points;
    double by_percent[101]; /* the shape's score of a utilization */
};

int64_t shape_score(const struct shape_point *points, uint32_t count, int64_t utilization)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct shape_point *p = &points[i];
        if (utilization > p->utilization)
            continue;
        if (i == 0 || p->utilization == p[-1].utilization)
            return p->score * 10;
        return p[-1].score * 10 + (p->score - p[-1].score) * 10 *
                                      (utilization - p[-1].utilization) /
                                      (p->utilization - p[-1].utilization);
    }
    return count == 0 ? 0 : points[count - 1].score * 10;
}

static int64_t on_shape(const struct scoring *s, int64_t utilization)
{
    return shape_score(s->points, s->point_count, utilization);
}

void *requested_begin(const struct cycle *c, const struct requested_strategy *strategy)
{
    struct scoring *s = arena_take(c->arena, sizeof(*s));
    s->resources = scored_resources_make(c, strategy->resources, strategy->count,
                                         c->pod->score_request.at, c->pod->score_request.count);
    s->resources->with_defaults = true;
    s->strategy = strategy->kind;
    s->points = strategy->points;
    s->point_count = strategy->point_count;
    for (int percent = 0; percent <= 100 && s->strategy == STRATEGY_requested_to_capacity_ratio;
         percent++)
        s->by_percent[percent] = (double)on_shape(s, percent);
    return s;
}

static int64_t rate(const struct scoring *s, int64_t used, int64_t room)
{
    switch (s->strategy) {
    case STRATEGY_least_allocated:
        return used > room ? 0 : wrap_mul(wrap_sub(room, used), SCORE_MAX) / room;
    case STRATEGY_most_allocated: return wrap_mul(used > room ? room : used, SCORE_MAX) / room;
    case STRATEGY_requested_to_capacity_ratio: break;
    }
    return on_shape(s, used > room ? 100 : wrap_mul(used, 100) / room);
}

int64_t requested_score(const struct cycle *c, const void *state, const struct nodes *n,
                        uint32_t row)
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
        if (s->strategy == STRATEGY_requested_to_capacity_ratio && rated <= 0)
            continue;
        sum = wrap_add(sum, wrap_mul(rated, r->weight));
        weights = wrap_add(weights, r->weight);
    }
    if (weights == 0)
        return 0;
    if (s->strategy == STRATEGY_requested_to_capacity_ratio)
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
        if (s->strategy == STRATEGY_least_allocated)
            kernel_add_least(&c->at[i], c->weights[i], count, &sums);
        else if (s->strategy == STRATEGY_most_allocated)
            kernel_add_most(&c->at[i], c->weights[i], count, &sums);
        else
            add_on_shape(s, &c->at[i], c->weights[i], count, &sums);
    if (s->strategy == STRATEGY_requested_to_capacity_ratio)
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
    if (c.count == 2 && s->strategy == STRATEGY_least_allocated)
        kernel_least_of_two(c.at, c.weights, rows.count, raw);
    else
        score_sums(s, &c, rows.count, raw);
    return true;
}

void requested_score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                          struct row_range rows, int64_t *raw)
{
    const struct scoring *s = state;
    uint32_t end = rows.from + rows.count;
    while (rows.from < end) {
        rows.count = end - rows.from < KERNEL_ROWS ? end - rows.from : KERNEL_ROWS;
        bool done = score_block(s, n, rows, raw);
        for (uint32_t i = 0; i < rows.count && !done; i++)
            raw[i] = requested_score(c, state, n, rows.from + i);
        raw += rows.count;
        rows.from += rows.count;
    }
}
