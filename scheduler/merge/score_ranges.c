/* score_ranges: kept by number of the scorer, so that names are compared once for each answer, and
 * not for each scorer and worker. What must stay true: a worker without feasible nodes has none,
 * and the first word about a scorer is the one that counts. */
#include "scheduler/merge/score_ranges.h"

#include "scheduler/rules/plugin.h"

void score_ranges_new(struct score_ranges *r, const struct framework *fw, struct arena *a)
{
    r->own = arena_take(a, 2 * (size_t)fw->score_count * sizeof(*r->own));
    r->used = r->own + fw->score_count;
    r->told = 0;
}

/* Workers tell in the profile's order, so each is looked for behind the one before it. */
void score_ranges_note(struct score_ranges *r, const struct framework *fw, const struct extreme *at,
                       uint32_t count)
{
    uint32_t k = 0;
    r->told = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = fw->score_count;
        for (; left > 0 && !str_is(at[i].plugin, fw->score[k].plugin->name); left--)
            k = k + 1 < fw->score_count ? k + 1 : 0;
        if (left == 0 || (r->told >> k & 1) != 0)
            continue;
        r->own[k] = (struct score_range){true, at[i].least, at[i].greatest};
        r->told |= UINT64_C(1) << k;
    }
}

/* The first of the scorers told of that is not before this one; SCORE_RANGES_MAX: there is none. */
static uint32_t next(uint64_t told, uint32_t from)
{
    uint64_t rest = from < SCORE_RANGES_MAX ? told >> from : 0;
    return rest == 0 ? SCORE_RANGES_MAX : from + (uint32_t)__builtin_ctzll(rest);
}

void score_ranges_merge(const struct score_ranges *r, struct score_range *all, uint64_t *any)
{
    for (uint32_t k = next(r->told, 0); k < SCORE_RANGES_MAX; k = next(r->told, k + 1)) {
        if ((*any >> k & 1) == 0)
            all[k] = r->own[k];
        score_range_join(&all[k], &r->own[k]);
    }
    *any |= r->told;
}

void score_ranges_use(struct score_ranges *r, const struct score_range *asked_with)
{
    for (uint32_t k = next(r->told, 0); k < SCORE_RANGES_MAX; k = next(r->told, k + 1)) {
        r->used[k] = r->own[k];
        if (asked_with != NULL)
            score_range_join(&r->used[k], &asked_with[k]);
    }
}

bool score_ranges_differ(const struct score_ranges *r, const struct framework *fw,
                         const struct score_range *all)
{
    for (uint32_t k = next(r->told, 0); k < SCORE_RANGES_MAX; k = next(r->told, k + 1))
        if (fw->score[k].plugin->normalise != NORMALISE_none &&
            !score_range_same(&r->used[k], &all[k]))
            return true;
    return false;
}
