/* rounds: what the shards have told, as one: counts and surveys add up, ranges merge to the widest.
 * What must stay true: a shard is asked again exactly when it scored with less than the whole. */
#include "scheduler/merge/reduce_inside.h"
#include "scheduler/table/counts.h"

#include <string.h>

void rounds_ask(struct reduce *r, uint32_t shard)
{
    r->parts[shard].asked = true;
    r->parts[shard].answered = false;
    r->missing++;
}

void rounds_merge_ranges(struct reduce *r)
{
    struct score_range asked_with[SCORE_RANGES_MAX];
    uint64_t any = 0;
    memcpy(asked_with, r->ranges, sizeof(asked_with));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        struct part *p = &r->parts[i];
        score_ranges_merge(&p->ranges, r->ranges, &any);
        if (p->asked)
            score_ranges_use(&p->ranges, r->phase == PHASE_again ? asked_with : NULL);
    }
}

/* True when the part scored with a survey of its own that is not the whole one. */
static bool knows_less(const struct reduce *r, const struct part *p)
{
    if (p->surveyed)
        return false;
    for (uint32_t i = 0; i < r->request.surveys.count; i++) {
        const struct plugin_counts *whole = &r->request.surveys.at[i], none = {0}, *own = &none;
        for (uint32_t k = 0; k < p->surveys.count; k++)
            if (str_equal(p->surveys.at[k].plugin, whole->plugin))
                own = &p->surveys.at[k];
        if (!counts_same(own, whole))
            return true;
    }
    return false;
}

bool rounds_ask_again(struct reduce *r)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        struct part *p = &r->parts[i];
        bool wrong = (p->result->feasible > 0 && knows_less(r, p)) ||
                     score_ranges_differ(&p->ranges, r->start.framework, r->ranges);
        p->asked = false;
        if (wrong) {
            rounds_ask(r, i);
            p->surveyed = true;
            asked++;
        }
    }
    return asked > 0;
}

void rounds_merge_surveys(struct reduce *r)
{
    const struct plugin_counts **lists =
        arena_take(&r->arena, r->start.shards * sizeof(struct plugin_counts *));
    uint32_t *sizes = arena_take(&r->arena, r->start.shards * sizeof(*sizes));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].surveys.count = r->parts[i].result->surveys.count;
        r->parts[i].surveys.at = r->parts[i].result->surveys.at;
        lists[i] = r->parts[i].surveys.at;
        sizes[i] = r->parts[i].surveys.count;
    }
    struct merged_counts all;
    counts_merge(lists, sizes, r->start.shards, &all, &r->arena);
    r->request.surveys.count = all.count;
    r->request.surveys.at = all.at;
}

void rounds_merge_counts(struct reduce *r)
{
    const struct plugin_counts **lists =
        arena_take(&r->arena, r->start.shards * sizeof(struct plugin_counts *));
    uint32_t *sizes = arena_take(&r->arena, r->start.shards * sizeof(*sizes));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        lists[i] = r->parts[i].result->counts.at;
        sizes[i] = r->parts[i].result->counts.count;
    }
    struct merged_counts all;
    counts_merge(lists, sizes, r->start.shards, &all, &r->arena);
    r->request.counts.count = all.count;
    r->request.counts.at = all.at;
}
