/* ServiceSpreading, of the old Policy: spreads the pods of the same services alone
 * over nodes and zones. Today PodTopologySpread's default constraints do so. */
#include "scheduler/rules/sibling_spread.h"

extern const struct plugin plugin_service_spreading;

static bool counts(const struct framework *fw, const struct pod *pod,
                   const struct findings *findings)
{
    (void)fw;
    return pod->spread.count == 0 && findings->owners.count > 0;
}

static void survey(const struct cycle *c, const uint32_t *rows, uint32_t count, struct counts *out)
{
    sibling_spread_survey(c, SIBLINGS_of_services, rows, count, out);
}

static void *score_begin(const struct cycle *c)
{
    const struct counts *zones = cycle_survey(c, &plugin_service_spreading);
    return zones == NULL ? NULL : sibling_spread_begin(c, SIBLINGS_of_services, zones);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    return state == NULL ? 0 : sibling_spread_score(state, n->entry[row]);
}

const struct plugin plugin_service_spreading = {
    .name = "ServiceSpreading",
    .prepare = siblings_prepare,
    .counts = counts,
    .survey = survey,
    .score_skips = sibling_spread_skips,
    .score_begin = score_begin,
    .score = score,
    .normalise = NORMALISE_own,
    .normalise_own = sibling_spread_normalise,
};
