/* ImageLocality prefers nodes that hold the pod's images already, the more the bigger they are, and
 * the more widely an image is spread the more it counts, so that a rare image draws no crowd.
 *
 * An image weighs the same on every node that has it, so that weight is computed once a cycle. */
#include "scheduler/plugin.h"

#include "scheduler/wrap.h"

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
    w->most = wrap_mul(PER_CONTAINER, c->pod->container_count);
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

/* The node's images are sorted by address. */
static bool holds(const struct node_entry *node, const struct image_state *image)
{
    uint32_t low = 0, high = node->image_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)node->images[middle] < (uintptr_t)image)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->image_count && node->images[low] == image;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct wanted *w = state;
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (holds(n->entry[row], w->at[i].image))
            sum = wrap_add(sum, w->at[i].weight);
    if (sum < THRESHOLD_MIN)
        sum = THRESHOLD_MIN;
    else if (sum > w->most)
        sum = w->most;
    int64_t range = wrap_sub(w->most, THRESHOLD_MIN);
    return range == 0 ? 0 : wrap_mul(SCORE_MAX, wrap_sub(sum, THRESHOLD_MIN)) / range;
}

const struct plugin plugin_image_locality = {
    .name = "ImageLocality",
    .score_begin = score_begin,
    .score = score,
    .by_row = true,
};
