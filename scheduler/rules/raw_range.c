/* raw_range: a range and how many stand at its ends. The one idea: as long as somebody is left at
 * an end, who goes from there changes nothing, so the rows are looked through only when the last
 * one has gone. What must stay true: an ignored score is in no range. */
#include "scheduler/rules/raw_range.h"

#include "proto/base/must.h"

void raw_range_start(struct raw_range *range, const struct plugin *p)
{
    bool from_zero = p->normalise != NORMALISE_own;
    *range = (struct raw_range){.any = from_zero, .at_least = from_zero, .at_greatest = from_zero};
}

void raw_range_enter(struct raw_range *range, int64_t raw)
{
    if (raw == SCORE_IGNORED)
        return;
    if (!range->any || raw < range->least) {
        range->least = raw;
        range->at_least = 0;
    }
    if (!range->any || raw > range->greatest) {
        range->greatest = raw;
        range->at_greatest = 0;
    }
    range->any = true;
    range->at_least += raw == range->least;
    range->at_greatest += raw == range->greatest;
}

void raw_range_leave(struct raw_range *range, int64_t raw)
{
    if (raw == SCORE_IGNORED)
        return;
    must(range->any);
    range->at_least -= raw == range->least && range->at_least > 0;
    range->at_greatest -= raw == range->greatest && range->at_greatest > 0;
}

bool raw_range_is_worn(const struct raw_range *range)
{
    return range->any && (range->at_least == 0 || range->at_greatest == 0);
}
