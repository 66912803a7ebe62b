/* ImageLocality prefers nodes that hold the pod's images already, the more the bigger they are, and
 * the more widely an image is spread the more it counts, so that a rare image draws no crowd.
 *
 * An image weighs the same on every node that has it, so that weight is computed once a cycle. */
#include "scheduler/rules/plugin.h"
#include "scheduler/table/kernels.h"

#include "scheduler/table/wrap.h"

#include <string.h>

#define MIB           ((int64_t)1024 * 1024)
#define THRESHOLD_MIN (23 * MIB)
#define PER_CONTAINER (1000 * MIB)

struct wanted {
    int64_t most; /* where the score reaches its maximum */
    uint32_t count;
    struct want {
        const struct image_state *image;
        int64_t weight;
    } * at;
};

static void *score_begin(const struct cycle *c)
{
    struct wanted *w = arena_take(c->arena, sizeof(*w));
    /* Images that are volumes count here since 1.37. */
    bool all = c->framework->profile.features.release >= 37;
    w->most =
        wrap_mul(PER_CONTAINER, all ? (int64_t)c->pod->images.count : c->pod->container_count);
    w->at = arena_take(c->arena, c->pod->images.count * sizeof(*w->at));
    for (uint32_t i = 0; i < c->pod->images.count; i++) {
        const struct image_state *image = map_get(c->images, c->pod->images.at[i]);
        if (image == NULL || image->refs == 0)
            continue;
        double spread = (double)image->count / (double)c->cluster_nodes;
        int64_t weight = cut_to_i64((double)image->size * spread);
        w->at[w->count++] = (struct want){image, weight};
    }
    return w;
}

static int64_t of_sum(const struct wanted *w, int64_t sum)
{
    if (sum < THRESHOLD_MIN)
        sum = THRESHOLD_MIN;
    else if (sum > w->most)
        sum = w->most;
    int64_t range = wrap_sub(w->most, THRESHOLD_MIN);
    return range == 0 ? 0 : wrap_mul(SCORE_MAX, wrap_sub(sum, THRESHOLD_MIN)) / range;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct wanted *w = state;
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (node_holds_image(n->entry[row], w->at[i].image))
            sum = wrap_add(sum, w->at[i].weight);
    return of_sum(w, sum);
}

/* Nodes differ only in which of the wanted images they hold: with few, each combination is scored
 * once. */
#define COMBINED_MAX 6

static void score_combined(const struct wanted *w, const struct nodes *n, struct row_range rows,
                           int64_t *raw)
{
    int64_t scores[1 << COMBINED_MAX];
    for (uint32_t held = 0; held < 1U << w->count; held++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < w->count; k++)
            sum = wrap_add(sum, (held >> k & 1) != 0 ? w->at[k].weight : 0);
        scores[held] = of_sum(w, sum);
    }
    memset(raw, 0, rows.count * sizeof(*raw));
    for (uint32_t k = 0; k < w->count; k++) {
        const uint32_t *there = facts_of_image(n, w->at[k].image) + rows.from;
        for (uint32_t i = 0; i < rows.count; i++)
            raw[i] |= (int64_t)there[i] << k;
    }
    for (uint32_t i = 0; i < rows.count; i++)
        raw[i] = scores[raw[i]];
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    const struct wanted *w = state;
    if (w->count > 0 && w->count <= COMBINED_MAX) {
        score_combined(w, n, rows, raw);
        return;
    }
    if (w->count == 0) {
        kernel_fill(raw, of_sum(w, 0), rows.count);
        return;
    }
    for (uint32_t i = 0; i < rows.count; i++)
        raw[i] = score(c, state, n, rows.from + i);
}

static bool score_alike(const struct cycle *c, const void *state, const struct nodes *n,
                        int64_t *raw)
{
    (void)c;
    (void)n;
    const struct wanted *w = state;
    *raw = of_sum(w, 0);
    return w->count == 0;
}

const struct plugin plugin_image_locality = {
    .name = "ImageLocality",
    .score_begin = score_begin,
    .score = score,
    .score_rows = score_rows,
    .score_alike = score_alike,
    .by_row = true,
};
