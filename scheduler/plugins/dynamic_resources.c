/* DynamicResources, as far as it goes here: claims that have been allocated already keep a pod on
 * the nodes that can use their devices; a pod with a claim that is still to be allocated is turned
 * away with words that say so. Pods without claims have nothing to do with it.
 *
 * What must stay true: everything that upstream finds before it allocates is found here too, in its
 * order and with its words. */
#include "scheduler/catalog.h"
#include "scheduler/node_selector.h"

#include <string.h>

/* ---- PreFilter ---- */

static bool reject(struct pre_filter *out, struct str reason)
{
    out->code = CODE_unresolvable;
    out->reason = reason;
    return false;
}

/* False when the pod is turned away; *claim is NULL when it needs none. */
static bool find_claim(const struct pre_filter_question *q, const struct device_claim *named,
                       const struct resource_claim **claim, struct pre_filter *out)
{
    const struct pod *pod = q->pod;
    *claim = NULL;
    if (named->unneeded)
        return true;
    if (named->malformed)
        return reject(out,
                      arena_print(q->arena,
                                  "pod \"%.*s/%.*s\", spec.resourceClaim \"%.*s\": none of the "
                                  "supported fields are set",
                                  STR_ARG(pod->namespace_name), STR_ARG(pod->name),
                                  STR_ARG(named->name)));
    if (named->claim.len == 0)
        return reject(out, arena_print(q->arena, "pod \"%.*s/%.*s\": ResourceClaim not created yet",
                                       STR_ARG(pod->namespace_name), STR_ARG(pod->name)));
    *claim = catalog_resource_claim(q->catalog, pod->namespace_name, named->claim);
    if (*claim == NULL)
        return reject(out, arena_print(q->arena, "could not find ResourceClaim \"%.*s/%.*s\"",
                                       STR_ARG(pod->namespace_name), STR_ARG(named->claim)));
    if ((*claim)->deleting)
        return reject(out, arena_print(q->arena, "resourceclaim \"%.*s\" is being deleted",
                                       STR_ARG((*claim)->name)));
    if (named->generated && !str_equal((*claim)->owner_uid, pod->uid))
        return reject(out, arena_print(q->arena,
                                       "ResourceClaim %.*s/%.*s was not created for Pod %.*s/%.*s "
                                       "(Pod is not owner)",
                                       STR_ARG(pod->namespace_name), STR_ARG(named->claim),
                                       STR_ARG(pod->namespace_name), STR_ARG(pod->name)));
    return true;
}

static bool take_claim(const struct pre_filter_question *q, const struct resource_claim *claim,
                       struct pre_filter *out)
{
    if (!claim->allocated)
        return reject(out, arena_print(q->arena,
                                       "resource claim %.*s/%.*s is not allocated, and allocating "
                                       "is not supported yet",
                                       STR_ARG(claim->namespace_name), STR_ARG(claim->name)));
    if (claim->has_terms) {
        struct device_place *place = &q->brief->device_places.at[q->brief->device_places.count++];
        place->claim = claim->name;
        place->terms.count = claim->terms.count;
        place->terms.at = claim->terms.at;
    }
    return true;
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    const struct resource_claim *claim;
    uint32_t count = q->pod->device_claims.count;
    out->skip = count == 0;
    q->brief->device_places.at = arena_take(q->arena, count * sizeof(struct device_place));
    for (uint32_t i = 0; i < count; i++)
        if (!find_claim(q, &q->pod->device_claims.at[i], &claim, out))
            return; /* all are looked up before any is looked at */
    for (uint32_t i = 0; i < count; i++)
        if (find_claim(q, &q->pod->device_claims.at[i], &claim, out) && claim != NULL &&
            !take_claim(q, claim, out))
            return;
}

/* ---- Filter ---- */

struct places {
    uint32_t count;
    struct place {
        uint32_t count;
        struct node_matcher **terms;
    } * at;
};

static void *filter_begin(const struct cycle *c)
{
    struct places *p = arena_take(c->arena, sizeof(*p));
    p->count = c->brief->device_places.count;
    p->at = arena_take(c->arena, p->count * sizeof(*p->at));
    for (uint32_t i = 0; i < p->count; i++) {
        const struct device_place *place = &c->brief->device_places.at[i];
        p->at[i].terms = arena_take(c->arena, place->terms.count * sizeof(struct node_matcher *));
        for (uint32_t k = 0; k < place->terms.count; k++) {
            struct node_matcher *m = node_matcher_make(c, &place->terms.at[k]);
            if (m != NULL)
                p->at[i].terms[p->at[i].count++] = m;
        }
    }
    return p;
}

static bool reaches(const struct cycle *c, const struct place *place, const struct node_entry *node)
{
    for (uint32_t i = 0; i < place->count; i++)
        if (node_matcher_matches(c->atoms, place->terms[i], node))
            return true;
    return false;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct places *p = state;
    for (uint32_t i = 0; i < p->count; i++)
        if (!reaches(c, &p->at[i], n->entry[row])) {
            ruling_reject(out, CODE_unresolvable, "resourceclaim not available on the node",
                          (struct str){0});
            return;
        }
}

/* Upstream prefers nodes by which alternative of a request was allocated there; what was allocated
 * before is no choice any more. */
static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    (void)state;
    (void)n;
    (void)row;
    return 0;
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    (void)c;
    (void)state;
    (void)n;
    memset(raw, 0, rows.count * sizeof(*raw));
}

const struct plugin plugin_dynamic_resources = {
    .name = "DynamicResources",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .score = score,
    .score_rows = score_rows,
    .normalise = NORMALISE_default,
    .by_row = true,
};
