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
#include "scheduler/rules/node_selector.h"

#include <stdlib.h>

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
        for (uint32_t k = 0; k < request->asks.count; k++)
            if (!class_exists(q, request, &request->asks.at[k], out))
                return false;
    }
    return true;
}

/* Whether any node may use what the claim has been given. */
static bool is_usable(const struct pre_filter_question *q, const struct resource_claim *claim)
{
    int64_t timeout_ms = q->framework->profile.device_binding_timeout_ms;
    enum device_ready ready = device_ready(claim, timeout_ms, q->now_us, NULL);
    return ready == DEVICE_ready || ready == DEVICE_waiting;
}

static void add_place(const struct pre_filter_question *q, const struct resource_claim *claim)
{
    bool usable = is_usable(q, claim);
    if (!claim->has_terms && usable)
        return;
    struct device_place *place = &q->findings->device_places.at[q->findings->device_places.count++];
    place->claim = claim->name;
    place->terms.count = usable ? claim->terms.count : 0;
    place->terms.at = claim->terms.at;
}

static bool take_claim(const struct pre_filter_question *q, const struct resource_claim *claim,
                       struct pre_filter *out)
{
    if (claim->allocated) {
        add_place(q, claim);
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

struct places {
    uint32_t count;
    struct place {
        uint32_t count;
        struct node_matcher **terms;
    } * at;
    bool *unavailable; /* by place: on some node that was looked at; filter notes it */
    const struct device_verdict *others; /* of all nodes that are not listed; NULL: none needed */
    uint32_t listed_count;
    struct verdict_of *listed; /* sorted by atom */
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

static void *filter_begin(const struct cycle *c)
{
    struct places *p = arena_take(c->arena, sizeof(*p));
    p->count = c->findings->device_places.count;
    p->at = arena_take(c->arena, p->count * sizeof(*p->at));
    p->unavailable = arena_take(c->arena, p->count * sizeof(bool));
    for (uint32_t i = 0; i < p->count; i++) {
        const struct device_place *place = &c->findings->device_places.at[i];
        p->at[i].terms = arena_take(c->arena, place->terms.count * sizeof(struct node_matcher *));
        for (uint32_t k = 0; k < place->terms.count; k++) {
            struct node_matcher *m = node_matcher_make(c, &place->terms.at[k]);
            if (m != NULL)
                p->at[i].terms[p->at[i].count++] = m;
        }
    }
    take_verdicts(c, p);
    return p;
}

static bool reaches(const struct cycle *c, const struct place *place, const struct node_entry *node)
{
    for (uint32_t i = 0; i < place->count; i++)
        if (node_matcher_matches(c->atoms, place->terms[i], node))
            return true;
    return false;
}

/* As upstream: what cannot be allocated is told before what cannot be used here. */
static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct places *p = state;
    const struct device_verdict *verdict = verdict_on(p, n->entry[row]);
    if (verdict != NULL && !verdict->fits) {
        ruling_reject(out, verdict->fails ? CODE_error : CODE_unresolvable, "", verdict->reason);
        return;
    }
    bool available = true;
    for (uint32_t i = 0; i < p->count; i++) {
        if (reaches(c, &p->at[i], n->entry[row]))
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
    (void)c;
    return verdict != NULL && verdict->fits ? verdict->score : 0;
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
    .by_row = true,
};
