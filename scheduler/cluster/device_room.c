/* device_room: which claims of a pod take something of a node. The one idea: in 1.36 those that are
 * allocated with this decision, since 1.37 all of them. What must stay true: a claim that stands
 * for some of a node's own resources is for one pod alone. */
#include "scheduler/cluster/device_room.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/device_book.h"
#include "scheduler/catalog/device_records.h"

bool device_claim_reaches(const struct resource_claim *claim, const struct node *node)
{
    bool reaches = !claim->has_terms;
    for (uint32_t i = 0; i < claim->terms.count && !reaches; i++)
        reaches = node_term_matches(&claim->terms.at[i], node, NULL);
    return reaches;
}

bool device_node_skips(const struct node *node)
{
    return strs_hold(node->features, STR_LITERAL("DRAOptionalNodeOperations"));
}

bool device_claim_skips(const struct features *features, const struct resource_claim *claim)
{
    bool skips = false;
    for (uint32_t i = 0; features->release >= 37 && i < claim->devices.count; i++)
        skips |= claim->devices.at[i].skips.count > 0;
    return skips;
}

static bool is_shared(const struct device_room *r, const struct resource_claim *claim,
                      const struct room_claim *given)
{
    const struct dra_room_question q = {.devices = r->store,
                                        .release = r->features->release,
                                        .namespace_name = claim->namespace_name,
                                        .claim = claim->name,
                                        .use_count = given->use_count,
                                        .uses = given->uses};
    return claim->reserved_for.count > 0 && !strs_hold(claim->reserved_for, r->pod->uid) &&
           dra_room_maps(&q);
}

static void take(struct device_room *r, const struct resource_claim *claim)
{
    struct room_claim *given = &r->given[r->count];
    *given =
        (struct room_claim){.name = claim->name,
                            .use_count = claim->devices.count,
                            .uses = dra_uses_of(claim->devices.at, claim->devices.count, r->arena)};
    r->claims[r->count] = claim;
    r->shared[r->count++] = is_shared(r, claim, given);
}

struct device_room device_room_of(const struct catalog *catalog, const struct features *features,
                                  const struct pod *pod, struct arena *a)
{
    struct device_room r = {.store = device_book_store(catalog_devices(catalog)),
                            .features = features,
                            .pod = pod,
                            .arena = a};
    uint32_t count = pod->device_claims.count;
    r.on =
        features->device_node_resources && pod->amounts.count > 0 && devices_take_of_nodes(r.store);
    if (!r.on || features->release < 37)
        return r;
    r.claims = arena_take(a, count * sizeof(struct resource_claim *));
    r.given = arena_take(a, count * sizeof(*r.given));
    r.shared = arena_take(a, count * sizeof(*r.shared));
    for (uint32_t i = 0; i < count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded ? NULL
                            : catalog_resource_claim(catalog, pod->namespace_name, named->claim);
        if (claim != NULL && claim->allocated)
            take(&r, claim);
    }
    r.each_node = r.count > 0;
    return r;
}

struct str device_room_refuses(const struct device_room *r, const struct node *node)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->shared[i] && device_claim_reaches(r->claims[i], node) &&
            (device_node_skips(node) || !device_claim_skips(r->features, r->claims[i])))
            return arena_print(r->arena,
                               "node allocatable resource claim %.*s has a mapped device and "
                               "cannot be shared across pods",
                               STR_ARG(r->claims[i]->name));
    return (struct str){0};
}

static struct room_claim found_for(const struct room_search *found, uint32_t i, struct arena *a)
{
    struct room_claim claim = {.name = found->names.at[i]};
    struct dra_allocation allocation;
    struct str error;
    if (!dra_search_result(found->search, i, a, &allocation, &error))
        return claim; /* whoever takes it is told */
    struct dra_use *uses = arena_take(a, allocation.result_count * sizeof(*uses));
    for (uint32_t k = 0; k < allocation.result_count; k++)
        uses[k] = allocation.results[k].use;
    claim.use_count = allocation.result_count;
    claim.uses = uses;
    return claim;
}

struct pod_room device_room_on(const struct device_room *r, const struct room_search *found,
                               struct arena *a)
{
    uint32_t searched = found->search != NULL ? found->names.count : 0;
    struct room_claim *claims = arena_take(a, (r->count + searched) * sizeof(*claims));
    struct room_question q = {.devices = r->store,
                              .features = r->features,
                              .pod = r->pod,
                              .node = found->node,
                              .claims = claims};
    for (uint32_t i = 0; i < r->count; i++)
        claims[q.count++] = r->given[i];
    for (uint32_t i = 0; i < searched; i++)
        claims[q.count++] = found_for(found, i, a);
    return claim_room_of(&q, a);
}
