/* plugin: what rules ask of whoever runs them, and what is the same for all of them. What must stay
 * true: nothing here knows which rules there are. */
#include "scheduler/rules/plugin.h"

#include "scheduler/table/wrap.h"

int64_t plugin_normalise(const struct plugin *p, int64_t raw, const struct score_range *range)
{
    if (raw == SCORE_IGNORED)
        return 0;
    if (p->normalise == NORMALISE_none)
        return raw;
    if (p->normalise == NORMALISE_own)
        return p->normalise_own(raw, range);
    if (range->greatest <= 0)
        return p->normalise == NORMALISE_reversed ? SCORE_MAX : raw;
    int64_t scaled = wrap_mul(SCORE_MAX, raw) / range->greatest;
    return p->normalise == NORMALISE_reversed ? SCORE_MAX - scaled : scaled;
}

uint32_t plugin_folded_key(const struct plugin *p, const struct atoms *atoms,
                           const struct map_request *r)
{
    return r->own_hostnames && p->folds_hostnames
               ? atom_find(atoms, STR_LITERAL("kubernetes.io/hostname"))
               : 0;
}

const struct plugin_counts *plugin_counts_of(const struct plugin_counts *at, uint32_t count,
                                             const struct plugin *p)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(at[i].plugin, p->name))
            return &at[i];
    return NULL;
}

void outlook_add(struct outlook *o, int64_t number)
{
    if (o->count == sizeof(o->at) / sizeof(o->at[0]))
        o->overflow = true;
    else
        o->at[o->count++] = number;
}

static const struct plugin_knowledge *knowledge_of(const struct cycle *c, const struct plugin *p)
{
    for (uint32_t i = 0; i < c->knowledge_count; i++)
        if (c->knowledge[i].plugin == p)
            return &c->knowledge[i];
    return NULL;
}

const struct counts *cycle_counts(const struct cycle *c, const struct plugin *p)
{
    const struct plugin_knowledge *k = knowledge_of(c, p);
    return k == NULL ? NULL : k->counts;
}

const struct counts *cycle_survey(const struct cycle *c, const struct plugin *p)
{
    const struct plugin_knowledge *k = knowledge_of(c, p);
    return k == NULL ? NULL : k->survey;
}
