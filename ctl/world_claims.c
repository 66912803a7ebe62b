/* world_claims: what becomes of a simulated pod's volumes and resource claims: what Reserve holds
 * for it, and what binder and controllers would write. What must stay true: what is held is written
 * with the bind or given back. */
#include "ctl/world_inside.h"

#include "ctl/claim_configs.h"
#include "ctl/controller.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/cluster/cache_view.h"
#include "scheduler/rules/plugin.h"

static bool hold_devices(struct world *w, const struct pod *pod, const struct node *node,
                         struct held *held, struct str *error)
{
    const struct device_reserve_question q = {.pod = pod,
                                              .features =
                                                  &world_framework(w, pod)->profile.features,
                                              .open = reduce_decision(w->reduce)->open_claims,
                                              .node = node,
                                              .random = &w->random};
    struct str why = STR_LITERAL("claim allocation not found for node");
    if (device_reserve(w->catalog, &q, &held->devices, &why, held->arena) == DEVICES_reserved)
        return true;
    *error =
        arena_print(held->arena, "running Reserve plugin \"DynamicResources\": %.*s", STR_ARG(why));
    return false;
}

static struct attempt_question question_of(struct world *w, const struct pod *pod, struct str node,
                                           struct held *held)
{
    return (struct attempt_question){.framework = world_framework(w, pod),
                                     .catalog = w->catalog,
                                     .cluster = cache_view(w->cache),
                                     .pod = pod,
                                     .node = node,
                                     .now_us = moment_wall_us(),
                                     .arena = held->arena,
                                     .kept = held->arena};
}

static bool reserve_hook(const struct plugin *p, struct attempt_question *q, struct held *held,
                         struct str *error)
{
    const struct hook_reply said = hook_reserve(p, q, &held->hooks, NULL);
    if (said.code == CODE_success)
        return true;
    *error = arena_print(held->arena, "running Reserve plugin \"%s\": %.*s", p->name,
                         STR_ARG(said.reason));
    return false;
}

static bool hold_volumes(struct world *w, const struct pod *pod, const struct node *node,
                         struct held *held, struct str *error)
{
    const struct reserve_question q = {
        .pod = pod, .findings = &reduce_request(w->reduce)->findings.volumes, .node = node};
    return volume_reserve(w->catalog, &q, &held->reserved, error, held->arena);
}

bool world_hold(struct world *w, const struct pod *pod, struct str node, struct held *held,
                struct str *error)
{
    const struct framework *fw = world_framework(w, pod);
    struct node chosen = {.name = node};
    struct attempt_question q = question_of(w, pod, node, held);
    bool fine = true;
    held->reserved = (struct reservation){0};
    held->devices = (struct device_reservation){0};
    held->hooks = (struct hooks_held){.node = node};
    held->asked = (struct held_asked){0};
    held->rejected_by = (struct str){0};
    (void)cache_node_get(w->cache, node, &chosen, &w->arena);
    for (uint32_t i = 0; fine && i < fw->profile.reserve.count; i++) {
        struct str name = fw->profile.reserve.at[i];
        const struct plugin *p = hooked_find(&fw->reserve, name);
        if (p != NULL)
            fine = reserve_hook(p, &q, held, error);
        else if (str_is(name, "VolumeBinding"))
            fine = hold_volumes(w, pod, &chosen, held, error);
        else if (str_is(name, "DynamicResources"))
            fine = hold_devices(w, pod, &chosen, held, error);
    }
    if (fine && world_plugins_hold(w, &q, held, error))
        return true;
    world_give_back(w, pod, held);
    return false;
}

static void add(struct strs *list, struct str text, struct arena *a)
{
    struct str *longer = arena_take(a, (list->count + 1) * sizeof(*longer));
    for (uint32_t i = 0; i < list->count; i++)
        longer[i] = list->at[i];
    longer[list->count++] = text;
    list->at = longer;
}

static bool is_reserved(const struct world *w, const struct pod *pod,
                        const struct resource_claim *claim)
{
    bool groups = group_claims_count(&world_framework(w, pod)->profile.features, pod);
    return groups ? group_claims_reserved(pod, claim) : strs_hold(claim->reserved_for, pod->uid);
}

/* For the pod, or for its group where the claim is that one's. */
static void reserve(const struct world *w, const struct pod *pod, struct resource_claim *claim,
                    struct arena *a)
{
    const struct gang *group =
        group_claims_owner(w->catalog, &world_framework(w, pod)->profile.features, pod);
    bool for_group = false;
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        for_group |= str_equal(pod->device_claims.at[i].claim, claim->name) &&
                     group_claims_bind(group, &pod->device_claims.at[i], NULL);
    add(&claim->reserved_for, for_group ? group->uid : pod->uid, a);
    if (for_group)
        add(&claim->reserved_groups, group->name, a);
}

bool world_group_is_active(const struct world *w, const struct pod *pod)
{
    const struct gang *group =
        group_claims_owner(w->catalog, &world_framework(w, pod)->profile.features, pod);
    return group != NULL && cache_gang_on_nodes(w->cache, group) > 0;
}

const struct pod *world_held_pod(const struct world *w, const struct pod *pod,
                                 const struct held *held, struct arena *a)
{
    const struct features *features = &world_framework(w, pod)->profile.features;
    struct pod *placed = arena_take(a, sizeof(*placed));
    *placed = device_reserved_pod(&held->devices, features, pod, a);
    return placed;
}

/* What the binder writes into a claim: devices, if it is given some, and whom it is reserved for
 * (NULL: nobody).
 */
static void write_claim(struct world *w, const struct pod *pod, const struct str path[2],
                        const struct device_allocation *given)
{
    const struct resource_claim *there = catalog_resource_claim(w->catalog, path[0], path[1]);
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    struct arena memory = {0};
    if (there == NULL)
        return;
    codec_copy(&resource_claim_record, claim, there, &memory);
    if (given != NULL) {
        claim->allocated = true;
        claim->has_terms = given->has_terms;
        claim->terms.count = given->terms.count;
        claim->terms.at = given->terms.at;
        claim->devices.count = given->devices.count;
        claim->devices.at = given->devices.at;
    }
    if (pod != NULL && !is_reserved(w, pod, claim))
        reserve(w, pod, claim, &memory);
    if (given != NULL)
        claim_configs_set(w->configs, path[0], path[1], given);
    claim->resource_version = ++w->version;
    world_take_quietly(w, &m);
    arena_free(&memory);
}

static void delete_claim(struct world *w, struct str space, struct str name)
{
    const struct message m = {
        .type = MSG_object_gone,
        .object_gone = {.kind = OBJECT_resource_claim, .namespace_name = space, .name = name}};
    world_take_quietly(w, &m);
}

static void drop(struct strs *list, struct str text)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!str_equal(list->at[i], text))
            list->at[kept++] = list->at[i];
    list->count = kept;
}

void world_deallocate(struct world *w, const struct pod *pod, const struct deallocation *d)
{
    const struct resource_claim *there =
        catalog_resource_claim(w->catalog, pod->namespace_name, d->claim);
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    struct arena memory = {0};
    if (there == NULL)
        return;
    if (d->deletes) {
        delete_claim(w, pod->namespace_name, d->claim);
        return;
    }
    codec_copy(&resource_claim_record, claim, there, &memory);
    if (d->unreserves) {
        drop(&claim->reserved_for, d->group_uid);
        drop(&claim->reserved_groups, pod->gang);
    } else {
        claim->allocated = claim->has_terms = false;
        claim->allocated_us = 0;
        claim->terms.count = claim->devices.count = claim->device_statuses.count = 0;
        claim->reserved_for.count = claim->reserved_groups.count = 0;
    }
    claim->resource_version = ++w->version;
    world_take_quietly(w, &m);
    arena_free(&memory);
}

struct str world_special_claim_name(const struct pod *pod, struct arena *a)
{
    return arena_print(a, "%.*s-extended-resources-claim", STR_ARG(pod->name));
}

/* What the binder makes for the extended resources that devices stand for. */
static void make_special_claim(struct world *w, const struct pod *pod,
                               const struct extended_claim *special)
{
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    const struct device_allocation *given = &special->allocation;
    struct arena memory = {0};
    struct str uid = pod->uid;
    *claim = (struct resource_claim){
        .namespace_name = pod->namespace_name,
        .name = world_special_claim_name(pod, &memory),
        .uid = arena_print(&memory, "%.*s-extended-resources", STR_ARG(uid)),
        .resource_version = ++w->version,
        .owner_uid = pod->uid,
        .extended = true,
        .allocated = true,
        .has_terms = given->has_terms,
        .terms = {given->terms.count, given->terms.at},
        .reserved_for = {1, &uid},
        .requests = {special->requests.count, special->requests.at},
        .devices = {given->devices.count, given->devices.at}};
    claim_configs_set(w->configs, claim->namespace_name, claim->name, given);
    world_take_quietly(w, &m);
    arena_free(&memory);
}

/* False: PreBind fails behind the pod's own claims, since nothing uses the special one, and takes
 * their reservations back. */
static bool write_claims(struct world *w, const struct pod *pod, struct held *held)
{
    const struct extended_claim *special = held->devices.extended;
    bool fine = special == NULL || special->uses.count > 0;
    for (uint32_t i = 0; i < pod->device_claims.count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct device_allocation *given = NULL;
        for (uint32_t k = 0; k < held->devices.count; k++)
            if (str_equal(held->devices.at[k].claim, named->claim))
                given = &held->devices.at[k];
        const struct str path[2] = {pod->namespace_name, named->claim};
        if (!named->unneeded)
            write_claim(w, fine ? pod : NULL, path, given);
    }
    if (special != NULL && fine)
        make_special_claim(w, pod, special);
    device_unreserve(w->catalog, &held->devices); /* the claims say it now */
    return fine;
}

bool world_bind_held(struct world *w, const struct pod *pod, struct held *held)
{
    const struct framework *fw = world_framework(w, pod);
    if (strs_hold(fw->profile.pre_bind, STR_LITERAL("VolumeBinding")) &&
        !controller_bind(w->controller, &held->reserved))
        return false;
    return !strs_hold(fw->profile.pre_bind, STR_LITERAL("DynamicResources")) ||
           write_claims(w, pod, held);
}

void world_give_back(struct world *w, const struct pod *pod, struct held *held)
{
    struct attempt_question q = question_of(w, pod, held->hooks.node, held);
    world_plugins_give_back(w, pod, held);
    hooks_unreserve(&q, &held->hooks);
    device_unreserve(w->catalog, &held->devices);
    volume_unreserve(w->catalog, &held->reserved);
}

bool world_bind_or_give_back(struct world *w, const struct pod *pod, struct held *held,
                             struct str *error)
{
    if (world_bind_held(w, pod, held))
        return true;
    world_give_back(w, pod, held);
    *error = STR_LITERAL("PreBind: binding volumes: context deadline exceeded");
    return false;
}
