/* score_range: what is kept knows how many stand at its ends: as long as somebody is left at an
 * end, who goes from there changes nothing, so the rows are looked through only when the last one
 * has gone. What must stay true: an ignored score is in no range. */
#include "scheduler/rules/score_range.h"

#include "proto/base/must.h"
#include "scheduler/rules/plugin.h"

struct score_range score_range_begin(const struct plugin *p)
{
    return (struct score_range){.any = p->normalise != NORMALISE_own};
}

void score_range_add(struct score_range *range, int64_t raw)
{
    if (raw != SCORE_IGNORED)
        score_range_join(range, &(struct score_range){true, raw, raw});
}

bool score_range_holds(const struct score_range *range, const struct score_range *part)
{
    return !part->any ||
           (range->any && range->least <= part->least && range->greatest >= part->greatest);
}

struct score_range score_range_told(const struct extreme *at, uint32_t count,
                                    const struct plugin *p)
{
    struct score_range range = {0};
    for (uint32_t i = 0; i < count; i++)
        if (str_is(at[i].plugin, p->name))
            score_range_join(&range, &(struct score_range){true, at[i].least, at[i].greatest});
    return range;
}

struct extreme score_range_tell(const struct score_range *range, const struct plugin *p)
{
    return (struct extreme){str_of(p->name), range->least, range->greatest};
}

void kept_range_begin(struct kept_range *kept, const struct plugin *p)
{
    const struct score_range range = score_range_begin(p);
    *kept = (struct kept_range){range, range.any, range.any};
}

void kept_range_enter(struct kept_range *kept, int64_t raw)
{
    const struct score_range before = kept->range;
    if (raw == SCORE_IGNORED)
        return;
    score_range_add(&kept->range, raw);
    if (!before.any || raw < before.least)
        kept->at_least = 0;
    if (!before.any || raw > before.greatest)
        kept->at_greatest = 0;
    kept->at_least += raw == kept->range.least;
    kept->at_greatest += raw == kept->range.greatest;
}

void kept_range_leave(struct kept_range *kept, int64_t raw)
{
    if (raw == SCORE_IGNORED)
        return;
    must(kept->range.any);
    kept->at_least -= raw == kept->range.least && kept->at_least > 0;
    kept->at_greatest -= raw == kept->range.greatest && kept->at_greatest > 0;
}

bool kept_range_is_worn(const struct kept_range *kept)
{
    return kept->range.any && (kept->at_least == 0 || kept->at_greatest == 0);
}
