/* DynamicResources: claims that have been allocated already keep a pod on the nodes that can use
 * their devices; those that are to be allocated, on nodes where they all can be. The latter is
 * found out behind PreFilter (device_findings.c) and only looked up here.
 *
 * What must stay true: everything that upstream finds before it allocates is found here too, in its
 * order and with its words. */
#include "proto/kube/objects/device_ready.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/device_book.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/rules/node_selector.h"
#include "scheduler/table/resource.h"
#include "scheduler/table/wrap.h"

#include <stdlib.h>

#include <string.h>

/* Since then a group that is missing is told of in the scheduler's own words. */
#define RELEASE_OF_WORDS 37

/* ---- PreFilter ---- */

static bool reject(struct pre_filter *out, struct str reason)
{
    out->code = CODE_unresolvable;
    out->reason = reason;
    return false;
}

static struct str group_is_missing(const struct pre_filter_question *q)
{
    const struct pod *pod = q->pod;
    if (q->framework->profile.features.release < RELEASE_OF_WORDS)
        return arena_print(q->arena, "podgroup.scheduling.k8s.io \"%.*s\" not found",
                           STR_ARG(pod->gang));
    return arena_print(q->arena, "pod group object not found for pod group podgroup/%.*s/%.*s",
                       STR_ARG(pod->namespace_name), STR_ARG(pod->gang));
}

/* Made for the pod or, where that counts, for its PodGroup. */
static bool is_owned(const struct pre_filter_question *q, const struct resource_claim *claim,
                     struct pre_filter *out)
{
    const struct pod *pod = q->pod;
    bool groups = group_claims_count(&q->framework->profile.features, pod);
    if (str_equal(claim->owner_uid, pod->uid) || (groups && group_claims_made_for(pod, claim)))
        return true;
    struct str who = STR_LITERAL("Pod is not owner");
    if (groups)
        who =
            arena_print(q->arena, "neither Pod nor PodGroup %.*s is the owner", STR_ARG(pod->gang));
    return reject(out, arena_print(q->arena,
                                   "ResourceClaim %.*s/%.*s was not created for Pod %.*s/%.*s "
                                   "(%.*s)",
                                   STR_ARG(pod->namespace_name), STR_ARG(claim->name),
                                   STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(who)));
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
    return !named->generated || is_owned(q, *claim, out);
}

/* False when it cannot be told for whom its claims are to be reserved. */
static bool can_be_bound(const struct pre_filter_question *q, struct pre_filter *out)
{
    const struct pod *pod = q->pod;
    const struct features *features = &q->framework->profile.features;
    const struct device_claim *malformed = NULL;
    const struct gang *group = group_claims_owner(q->catalog, features, pod);
    if (!group_claims_count(features, pod))
        return true;
    if (group == NULL)
        return reject(out, group_is_missing(q));
    for (uint32_t i = 0; i < pod->device_claims.count && malformed == NULL; i++)
        (void)group_claims_bind(group, &pod->device_claims.at[i], &malformed);
    return malformed == NULL ||
           reject(out, arena_print(q->arena,
                                   "PodGroup %.*s/%.*s claim %.*s: none of the supported fields "
                                   "are set",
                                   STR_ARG(group->namespace_name), STR_ARG(group->name),
                                   STR_ARG(malformed->name)));
}

/* Upstream asks for the classes even where a later claim may fail for another reason. */
static bool class_exists(const struct pre_filter_question *q, const struct device_request *request,
                         const struct device_ask *ask, struct pre_filter *out)
{
    bool exact = request->exactly;
    if (ask->class_name.len == 0) {
        out->code = CODE_error;
        out->reason = arena_print(q->arena, "request %.*s%s%.*s: unsupported request type",
                                  STR_ARG(request->name), exact ? "" : "/",
                                  exact ? 0 : (int)ask->name.len, exact ? "" : ask->name.at);
        return false;
    }
    if (catalog_device_class(q->catalog, ask->class_name) != NULL)
        return true;
    return reject(out, arena_print(q->arena, "request %.*s%s%.*s: device class %.*s does not exist",
                                   STR_ARG(request->name), exact ? "" : "/",
                                   exact ? 0 : (int)ask->name.len, exact ? "" : ask->name.at,
                                   STR_ARG(ask->class_name)));
}

/* False when what the claim asks for cannot be looked for on any node. */
static bool can_be_asked(const struct pre_filter_question *q, const struct resource_claim *claim,
                         struct pre_filter *out)
{
    for (uint32_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.at[i];
        if (request->asks.count == 0)
            return reject(out, arena_print(q->arena,
                                           "resource claim %.*s/%.*s, request %.*s: unknown "
                                           "request type",
                                           STR_ARG(claim->namespace_name), STR_ARG(claim->name),
                                           STR_ARG(request->name)));
        if (!request->exactly && !q->framework->profile.features.device_alternatives)
            return reject(out, arena_print(q->arena,
                                           "resource claim %.*s/%.*s, request %.*s: has "
                                           "subrequests, but the DRAPrioritizedList feature is "
                                           "disabled",
                                           STR_ARG(claim->namespace_name), STR_ARG(claim->name),
                                           STR_ARG(request->name)));
        for (uint32_t k = 0; k < request->asks.count; k++)
            if (!class_exists(q, request, &request->asks.at[k], out))
                return false;
    }
    return true;
}

/* Whether any node may use what the claim has been given. */
static bool is_usable(const struct pre_filter_question *q, const struct resource_claim *claim)
{
    const struct features *features = &q->framework->profile.features;
    int64_t timeout_ms = q->framework->profile.device_binding_timeout_ms;
    if (!features->device_binding || !features->device_status)
        return true;
    enum device_ready ready = device_ready(claim, timeout_ms, q->now_us, NULL);
    return ready == DEVICE_ready || ready == DEVICE_waiting;
}

/* Since 1.37, with or without its gate: a device is only for nodes that can do without operations
 * of its driver. */
static bool skips(const struct pre_filter_question *q, const struct resource_claim *claim)
{
    bool any = false;
    for (uint32_t i = 0; i < claim->devices.count; i++)
        any |= claim->devices.at[i].skips.count > 0;
    return any && q->framework->profile.features.release >= 37;
}

static void add_place(const struct pre_filter_question *q, const struct resource_claim *claim,
                      bool usable)
{
    if (!claim->has_terms && usable && !skips(q, claim))
        return;
    struct device_place *place = &q->findings->device_places.at[q->findings->device_places.count++];
    place->claim = claim->name;
    place->anywhere = usable && !claim->has_terms;
    place->skips = skips(q, claim);
    place->terms.count = usable ? claim->terms.count : 0;
    place->terms.at = claim->terms.at;
}

/* A pod of its group is being given the devices. Upstream looks at where they are since 1.37;
 * before, the bind of a pod that is elsewhere fails, and its group has started in part. */
static void add_place_of_pending(const struct pre_filter_question *q,
                                 const struct resource_claim *claim,
                                 const struct device_allocation *pending)
{
    struct resource_claim given = {
        .name = claim->name, .has_terms = pending->has_terms, .terms = claim->terms};
    given.terms.count = pending->terms.count;
    given.terms.at = pending->terms.at;
    add_place(q, &given, true);
}

static bool take_claim(const struct pre_filter_question *q, const struct resource_claim *claim,
                       struct pre_filter *out)
{
    if (claim->allocated) {
        add_place(q, claim, is_usable(q, claim));
        return true;
    }
    const struct device_allocation *pending =
        device_book_pending(catalog_devices(q->catalog), claim->uid);
    if (pending != NULL) {
        add_place_of_pending(q, claim, pending);
        return true;
    }
    if (device_book_in_flight(catalog_devices(q->catalog), claim->uid))
        return reject(out, arena_print(q->arena,
                                       "resource claim %.*s/%.*s is in the process of being "
                                       "allocated",
                                       STR_ARG(claim->namespace_name), STR_ARG(claim->name)));
    return can_be_asked(q, claim, out);
}

static void prepare(const struct pre_filter_question *q)
{
    extended_note(q->catalog, q->pod, q->findings, q->arena);
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    const struct resource_claim *claim;
    uint32_t count = q->pod->device_claims.count, found = 0;
    q->findings->device_places.at = arena_take(q->arena, count * sizeof(struct device_place));
    for (uint32_t i = 0; i < count; i++) {
        if (!find_claim(q, &q->pod->device_claims.at[i], &claim, out))
            return; /* all are looked up before any is looked at */
        found += claim != NULL;
    }
    if (!can_be_bound(q, out))
        return;
    out->skip = found == 0 && q->findings->device_resources.count == 0;
    for (uint32_t i = 0; i < count; i++)
        if (find_claim(q, &q->pod->device_claims.at[i], &claim, out) && claim != NULL &&
            !take_claim(q, claim, out))
            return;
}

/* Whether all claims are there; what they are is not asked before the pod is tried. */
static void pre_enqueue(const struct pre_filter_question *q, struct pre_filter *out)
{
    const struct resource_claim *claim;
    for (uint32_t i = 0; i < q->pod->device_claims.count; i++)
        if (!find_claim(q, &q->pod->device_claims.at[i], &claim, out))
            return;
}

/* ---- Filter ---- */

/* A node with a verdict of its own, by the atom of its name. */
struct verdict_of {
    uint32_t name;
    const struct device_verdict *verdict;
};

/* What a pod takes of a node with what its devices take of it. */
struct demand_of {
    const struct device_verdict *verdict;
    struct demanded {
        struct str name;   /* the same text in all verdicts */
        uint32_t resource; /* atom; 0: no node of the share has it */
    } * at;                /* as the verdict has them */
};

/* A pod that uses an allocated claim of this one, on its node. */
struct user_of {
    uint32_t node; /* atom of its name */
    struct str claim, uid;
    struct str used, shared; /* what is said of the claim */
};

struct places {
    uint32_t count;
    struct place {
        uint32_t count;
        struct node_matcher **terms;
        bool anywhere, skips;
    } * at;
    uint32_t skipping; /* the feature that nodes declare then; 0: no node of the share does */
    bool *unavailable; /* by place: on some node that was looked at; filter notes it */
    const struct device_verdict *others; /* of all nodes that are not listed; NULL: none needed */
    uint32_t listed_count;
    struct verdict_of *listed; /* sorted by atom */
    uint32_t demand_count;
    struct demand_of *demands; /* of verdicts that have one, in their order */
    uint32_t user_count;
    struct user_of *users; /* by claim */
};

static int by_atom(const void *one, const void *other)
{
    uint32_t a = ((const struct verdict_of *)one)->name;
    uint32_t b = ((const struct verdict_of *)other)->name;
    return a < b ? -1 : a > b;
}

/* Nodes of other shares have no atoms here, mostly. */
static void take_verdicts(const struct cycle *c, struct places *p)
{
    const struct findings *findings = c->findings;
    uint32_t kinds = findings->device_verdicts.count;
    p->others = kinds > 0 ? &findings->device_verdicts.at[0] : NULL;
    p->listed = arena_take(c->arena, findings->device_nodes.count * sizeof(*p->listed));
    for (uint32_t i = 0; i < findings->device_nodes.count; i++) {
        const struct device_node *node = &findings->device_nodes.at[i];
        uint32_t name = atom_find(c->atoms, node->node);
        if (name != 0 && node->verdict >= 0 && node->verdict < kinds)
            p->listed[p->listed_count++] =
                (struct verdict_of){name, &findings->device_verdicts.at[node->verdict]};
    }
    if (p->listed_count > 1)
        qsort(p->listed, p->listed_count, sizeof(*p->listed), by_atom);
}

static const struct device_verdict *verdict_on(const struct places *p,
                                               const struct node_entry *node)
{
    const struct verdict_of key = {.name = node->name};
    const struct verdict_of *found =
        p->listed_count == 0
            ? NULL
            : bsearch(&key, p->listed, p->listed_count, sizeof(*p->listed), by_atom);
    return found != NULL ? found->verdict : p->others;
}

/* Reasons are told apart by where their texts are. */
static struct str one_text(const struct places *p, struct str name)
{
    for (uint32_t i = 0; i < p->demand_count; i++)
        for (uint32_t k = 0; k < p->demands[i].verdict->demand.count; k++)
            if (str_equal(p->demands[i].at[k].name, name))
                return p->demands[i].at[k].name;
    return name;
}

static void take_demands(const struct cycle *c, struct places *p)
{
    const struct findings *findings = c->findings;
    p->demands = arena_take(c->arena, findings->device_verdicts.count * sizeof(*p->demands));
    for (uint32_t i = 0; i < findings->device_verdicts.count; i++) {
        const struct device_verdict *v = &findings->device_verdicts.at[i];
        if (v->demand.count == 0)
            continue;
        struct demand_of d = {v, arena_take(c->arena, v->demand.count * sizeof(*d.at))};
        for (uint32_t k = 0; k < v->demand.count; k++)
            d.at[k] = (struct demanded){one_text(p, v->demand.at[k].name),
                                        atom_find(c->atoms, v->demand.at[k].name)};
        p->demands[p->demand_count++] = d;
    }
}

static void take_users(const struct cycle *c, struct places *p)
{
    const struct findings *findings = c->findings;
    p->users = arena_take(c->arena, findings->device_users.count * sizeof(*p->users));
    for (uint32_t i = 0; i < findings->device_users.count; i++) {
        const struct device_user *u = &findings->device_users.at[i];
        struct user_of *mine = &p->users[p->user_count];
        *mine = (struct user_of){atom_find(c->atoms, u->node), u->claim, u->uid, {0}, {0}};
        if (p->user_count > 0 && str_equal(mine[-1].claim, u->claim)) {
            mine->used = mine[-1].used;
            mine->shared = mine[-1].shared;
        } else {
            static const char start[] = "node allocatable resource claim";
            mine->used = arena_print(c->arena, "%s %.*s is already used by another pod", start,
                                     STR_ARG(u->claim));
            mine->shared =
                arena_print(c->arena, "%s %.*s shared by multiple pods", start, STR_ARG(u->claim));
        }
        p->user_count++;
    }
}

static void *filter_begin(const struct cycle *c)
{
    struct places *p = arena_take(c->arena, sizeof(*p));
    p->count = c->findings->device_places.count;
    p->at = arena_take(c->arena, p->count * sizeof(*p->at));
    p->unavailable = arena_take(c->arena, p->count * sizeof(bool));
    for (uint32_t i = 0; i < p->count; i++) {
        const struct device_place *place = &c->findings->device_places.at[i];
        p->at[i].anywhere = place->anywhere;
        p->at[i].skips = place->skips;
        p->at[i].terms = arena_take(c->arena, place->terms.count * sizeof(struct node_matcher *));
        for (uint32_t k = 0; k < place->terms.count; k++) {
            struct node_matcher *m = node_matcher_make(c, &place->terms.at[k]);
            if (m != NULL)
                p->at[i].terms[p->at[i].count++] = m;
        }
    }
    p->skipping = atom_find(c->atoms, STR_LITERAL("DRAOptionalNodeOperations"));
    take_verdicts(c, p);
    take_demands(c, p);
    take_users(c, p);
    return p;
}

static bool can_skip(const struct places *p, const struct node_entry *node)
{
    for (uint32_t i = 0; p->skipping != 0 && i < node->feature_count; i++)
        if (node->features[i] == p->skipping)
            return true;
    return false;
}

static bool reaches(const struct cycle *c, const struct place *place, const struct node_entry *node)
{
    if (place->anywhere)
        return true;
    for (uint32_t i = 0; i < place->count; i++)
        if (node_matcher_matches(c->atoms, place->terms[i], node))
            return true;
    return false;
}

/* ---- what devices take of the node itself ---- */

static bool is_there(const struct cycle *c, const struct node_entry *node, struct str uid)
{
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (str_equal(node_pod_uid(node->pods[i], c->arena), uid))
            return true;
    return false;
}

/* As 1.36: a claim that takes of the node is for one of its pods. The first claim that is not
 * free is told; users stand by claim. */
static bool is_free(const struct cycle *c, const struct places *p, const struct node_entry *node,
                    struct ruling *out)
{
    for (uint32_t i = 0, end; i < p->user_count; i = end) {
        struct str claim = p->users[i].claim;
        uint32_t found = 0;
        bool ours = false;
        for (end = i; end < p->user_count && str_equal(p->users[end].claim, claim); end++) {
            const struct user_of *u = &p->users[end];
            if (u->node != node->name || !is_there(c, node, u->uid))
                continue;
            found++;
            ours |= str_equal(u->uid, c->pod->uid);
        }
        if (found == 0 || (found == 1 && ours))
            continue;
        ruling_reject(out, CODE_unresolvable, "",
                      found > 1 ? p->users[i].shared : p->users[i].used);
        return false;
    }
    return true;
}

static enum code short_of(int64_t asked, int64_t offered)
{
    return asked > offered ? CODE_unresolvable : CODE_unschedulable;
}

/* Every resource that is short is told. */
static bool has_room(const struct demand_of *d, const struct nodes *n, uint32_t row,
                     struct ruling *out)
{
    bool room = true;
    for (uint32_t k = 0; k < d->verdict->demand.count; k++) {
        const struct quantity *q = &d->verdict->demand.at[k];
        int fixed = resource_fixed(q->name);
        const struct scalar *s = fixed < 0 ? nodes_scalar(n, row, d->at[k].resource) : NULL;
        int64_t offered = fixed >= 0 ? n->allocatable[fixed][row] : s == NULL ? 0 : s->allocatable;
        int64_t taken = fixed >= 0 ? n->requested[fixed][row] : s == NULL ? 0 : s->requested;
        if (q->amount <= wrap_sub(offered, taken))
            continue;
        ruling_reject(out, short_of(q->amount, offered), "Insufficient ", d->at[k].name);
        room = false;
    }
    return room;
}

static const struct demand_of *demand_of(const struct places *p, const struct device_verdict *v)
{
    for (uint32_t i = 0; v != NULL && v->demand.count > 0 && i < p->demand_count; i++)
        if (p->demands[i].verdict == v)
            return &p->demands[i];
    return NULL;
}

/* As upstream: what cannot be allocated is told before what cannot be used here. */
static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct places *p = state;
    const struct device_verdict *verdict = verdict_on(p, n->entry[row]);
    const struct demand_of *demand = demand_of(p, verdict);
    bool early = verdict != NULL && verdict->early;
    if (p->user_count > 0 && !early && !is_free(c, p, n->entry[row], out))
        return;
    if (demand != NULL && demand->verdict->fits && !has_room(demand, n, row, out))
        return;
    if (verdict != NULL && !verdict->fits) {
        ruling_reject(out, verdict->fails ? CODE_error : CODE_unresolvable, "", verdict->reason);
        return;
    }
    bool available = true;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct place *place = &p->at[i];
        if (reaches(c, place, n->entry[row]) && (!place->skips || can_skip(p, n->entry[row])))
            continue;
        available = false;
        p->unavailable[i] = true;
    }
    if (!available)
        ruling_reject(out, CODE_unresolvable, "resourceclaim not available on the node",
                      (struct str){0});
}

/* Which claims are in the way somewhere: what PostFilter may deallocate. */
static void tell(const struct cycle *c, const void *state, struct map_result *out)
{
    const struct places *p = state;
    out->unavailable.at = arena_take(c->arena, p->count * sizeof(struct str));
    for (uint32_t i = 0; i < p->count; i++)
        if (p->unavailable[i])
            out->unavailable.at[out->unavailable.count++] = c->findings->device_places.at[i].claim;
}

/* ---- Score ---- */

/* Upstream prefers nodes by which alternatives of requests are allocated there; where nothing is to
 * be allocated there is no choice any more. */
static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    const struct device_verdict *verdict = verdict_on(state, n->entry[row]);
    bool counts = c->framework->profile.features.device_alternatives;
    return counts && verdict != NULL && verdict->fits ? verdict->score : 0;
}

static void *score_begin(const struct cycle *c)
{
    struct places *p = arena_take(c->arena, sizeof(*p));
    take_verdicts(c, p);
    return p;
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    const struct places *p = state;
    memset(raw, 0, rows.count * sizeof(*raw));
    for (uint32_t i = 0; p->others != NULL && i < rows.count; i++)
        raw[i] = score(c, p, n, rows.from + i);
}

const struct plugin plugin_dynamic_resources = {
    .name = "DynamicResources",
    .pre_enqueue = pre_enqueue,
    .prepare = prepare,
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .tell = tell,
    .score_begin = score_begin,
    .score = score,
    .score_rows = score_rows,
    .normalise = NORMALISE_default,
    .score_ignores_pods = true, /* it reads the findings */
    .by_row = true,
};
