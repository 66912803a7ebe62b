/* volume_reserve: a plan for the chosen node, turned into assumptions. The one idea: the plan is
 * made again from the findings, by the code that the workers ran, so that nobody has to report it.
 *
 * What must stay true: either all claims of a pod are reserved or none. */
#include "scheduler/catalog/volume_reserve.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/volume_plan.h"
#include "scheduler/catalog/volumes.h"

#include <inttypes.h>

static bool is_selected(void *context, uint32_t claim)
{
    const struct reserve_question *q = context;
    return str_equal(q->findings->delayed.at[claim].selected_node, q->node->name);
}

static bool can_use(void *context, uint32_t candidate)
{
    const struct reserve_question *q = context;
    const struct placed_volume *v = &q->findings->candidates.at[candidate];
    return !v->has_terms || node_labels_match(q->node, v->terms.at, v->terms.count);
}

static bool can_make(void *context, uint32_t claim)
{
    const struct reserve_question *q = context;
    const struct delayed_claim *c = &q->findings->delayed.at[claim];
    return node_labels_match(q->node, c->topologies.at, c->topologies.count);
}

static bool can_reach(void *context, uint32_t claim)
{
    const struct reserve_question *q = context;
    const struct delayed_claim *c = &q->findings->delayed.at[claim];
    for (uint32_t i = 0; i < c->rooms.count; i++)
        if (label_selector_matches(&c->rooms.at[i], q->node->labels.at, q->node->labels.count))
            return true;
    return false;
}

/* Somebody else has bound them meanwhile. */
static bool all_are_bound(const struct catalog *catalog, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        if (!volume_has_claim(&pod->volumes.at[i]))
            continue;
        const struct claim *claim =
            catalog_claim(catalog, pod->namespace_name, pod->volumes.at[i].name);
        if (claim == NULL || !claim_is_bound(claim))
            return false;
    }
    return true;
}

/* Then nothing is left to be done, as upstream; but nobody has looked whether the node can use what
 * they were bound to. Upstream does not ask. */
static bool can_use_bound(const struct catalog *catalog, const struct reserve_question *q,
                          struct str *error, struct arena *a)
{
    for (uint32_t i = 0; i < q->findings->delayed.count; i++) {
        const struct claim *claim =
            catalog_claim(catalog, q->pod->namespace_name, q->findings->delayed.at[i].name);
        const struct volume *v = claim != NULL ? catalog_volume(catalog, claim->volume_name) : NULL;
        if (v == NULL && claim != NULL) { /* the watch of claims may be ahead of that of volumes */
            *error = not_found(a, "persistentvolumes", claim->volume_name);
            return false;
        }
        if (v == NULL || v->migrated_plugin.len > 0 || !v->has_terms ||
            node_labels_match(q->node, v->terms.at, v->terms.count))
            continue;
        *error = arena_print(
            a, "claim \"%.*s\" was bound to pv \"%.*s\" meanwhile, not for node \"%.*s\"",
            STR_ARG(claim->name), STR_ARG(v->name), STR_ARG(q->node->name));
        return false;
    }
    return true;
}

/* ---- is everything still as the findings say? ---- */

static bool out_of_sync(struct str key, int64_t stored, int64_t assumed, struct str *error,
                        struct arena *a)
{
    *error = arena_print(a, "\"%.*s\" is out of sync (stored: %" PRId64 ", assume: %" PRId64 ")",
                         STR_ARG(key), stored, assumed);
    return false;
}

static bool volume_is_current(const struct catalog *catalog, const struct placed_volume *v,
                              struct str *error, struct arena *a)
{
    const struct volume *now = catalog_volume(catalog, v->name);
    if (now == NULL) {
        *error = not_found(a, "persistentvolumes", v->name);
        return false;
    }
    return now->resource_version == v->resource_version ||
           out_of_sync(v->name, now->resource_version, v->resource_version, error, a);
}

static bool claim_is_current(const struct catalog *catalog, struct str space,
                             const struct delayed_claim *c, struct str *error, struct arena *a)
{
    const struct claim *now = catalog_claim(catalog, space, c->name);
    struct str key = arena_print(a, "%.*s/%.*s", STR_ARG(space), STR_ARG(c->name));
    if (now == NULL) {
        *error = not_found(a, "persistentvolumeclaims", key);
        return false;
    }
    return now->resource_version == c->resource_version ||
           out_of_sync(key, now->resource_version, c->resource_version, error, a);
}

static bool is_current(const struct catalog *catalog, const struct reserve_question *q,
                       const uint32_t *chosen, struct str *error, struct arena *a)
{
    const struct volume_findings *b = q->findings;
    for (uint32_t i = 0; i < b->delayed.count; i++)
        if (chosen[i] != VOLUME_TO_MAKE &&
            !volume_is_current(catalog, &b->candidates.at[chosen[i]], error, a))
            return false;
    for (uint32_t i = 0; i < b->delayed.count; i++)
        if (!claim_is_current(catalog, q->pod->namespace_name, &b->delayed.at[i], error, a))
            return false;
    return true;
}

/* ---- assuming ---- */

static struct claim_binding *add(struct reservation *out, const struct claim *claim,
                                 struct arena *a)
{
    struct claim_binding *b = &out->at[out->count++];
    b->namespace_name = arena_copy(a, claim->namespace_name);
    b->name = arena_copy(a, claim->name);
    b->uid = arena_copy(a, claim->uid);
    b->resource_version = claim->resource_version;
    return b;
}

static void bind_volume(struct catalog *catalog, const struct claim *claim, struct str volume,
                        struct reservation *out, struct arena *a)
{
    struct claim_binding *b = add(out, claim, a);
    b->volume_name = arena_copy(a, volume);
    const struct volume *v = catalog_volume_seen(catalog, out->profile, volume);
    b->prebound = volume_is_reserved_for(v, claim);
    b->volume_version = v->resource_version;
    catalog_assume_volume(catalog, out->profile, volume, claim);
}

bool volume_reserve(struct catalog *catalog, const struct reserve_question *q,
                    struct reservation *out, struct str *error, struct arena *a)
{
    const struct volume_findings *b = q->findings;
    const struct volume_plan_node node = {.context = (void *)q, /* only read */
                                          .is_selected = is_selected,
                                          .can_use = can_use,
                                          .can_make = can_make,
                                          .can_reach = can_reach};
    *out = (struct reservation){0};
    if (b->delayed.count == 0)
        return true;
    if (all_are_bound(catalog, q->pod))
        return can_use_bound(catalog, q, error, a);
    uint32_t *chosen = arena_take(a, b->delayed.count * sizeof(*chosen));
    if (volume_plan_make(b, &node, chosen) != VOLUME_PLAN_fits) {
        *error = arena_print(a, "no pod volume found for node \"%.*s\"", STR_ARG(q->node->name));
        return false;
    }
    if (!is_current(catalog, q, chosen, error, a))
        return false;
    out->profile = arena_copy(a, q->pod->scheduler_name);
    out->node = arena_copy(a, q->node->name);
    out->at = arena_take(a, b->delayed.count * sizeof(*out->at));
    for (uint32_t i = 0; i < b->delayed.count; i++)
        if (chosen[i] != VOLUME_TO_MAKE)
            bind_volume(catalog,
                        catalog_claim(catalog, q->pod->namespace_name, b->delayed.at[i].name),
                        b->candidates.at[chosen[i]].name, out, a);
    for (uint32_t i = 0; i < b->delayed.count; i++)
        if (chosen[i] == VOLUME_TO_MAKE) {
            const struct claim *claim =
                catalog_claim(catalog, q->pod->namespace_name, b->delayed.at[i].name);
            (void)add(out, claim, a);
            catalog_assume_claim(catalog, out->profile, claim, out->node);
        }
    return true;
}

bool volume_unreserve(struct catalog *catalog, struct reservation *r)
{
    bool freed = false;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct claim_binding *b = &r->at[i];
        if (b->volume_name.len > 0)
            freed |= catalog_restore_volume(catalog, r->profile, b->volume_name, b->uid);
        else
            freed |= catalog_restore_claim(catalog, r->profile, b, r->node);
    }
    *r = (struct reservation){0};
    return freed;
}
