/* device_findings: one search, asked about node after node. The one idea: most nodes either have
 * devices of their own, or are like all others; of the latter one is asked about, and what comes
 * out most often is said once for all.
 *
 * What must stay true: the verdict of each node that workers may look at is what a search for that
 * node alone would say. A search whose time has run out is that node's alone: another filter may
 * refuse the node before anybody reads it. Once LATE_MAX have run out the others are not searched,
 * as the coordinator waits meanwhile. */
#include "scheduler/cluster/device_findings.h"

#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/device_records.h"
#include "scheduler/cluster/device_memo.h"

#include <stdlib.h>
#include <string.h>

/* The claims to be searched for on nodes with the same need of devices for extended resources. */
struct variant {
    struct variant *next;
    uint64_t need;
    struct extended_claim special; /* of a need of anything */
    struct dra_search *inner;
};

#define NOTHING "cannot allocate all claims" /* upstream's words */

/* Errors that name a device differ from node to node; any of them tells what is wrong. */
#define ERRORS_MAX 64

/* Nodes whose search may run out of time before the others count as late, too. */
#define LATE_MAX 3

struct device_search {
    struct device_question q;
    struct arena *arena;
    struct open_claims claims;
    bool named; /* the pod has claims of its own */
    struct extended_plan plan;
    struct variant *variants;
    struct extended_claim empty;
    struct device_found found; /* of the node that was asked about last */
    struct dra_node asked;     /* the inner search borrows it until it is asked again */
    int64_t base;              /* what claims that have devices already score, on any node */
    struct moment began;
    uint32_t late_nodes;        /* their time has run out */
    struct device_verdict late; /* of the last of them */
    struct device_room room;
    struct pod_room taken; /* on the node that was asked about last */
    struct arena scratch;  /* of a node */
};

struct open_claims open_claims_of(const struct catalog *catalog, const struct pod *pod,
                                  struct arena *a)
{
    uint32_t room = pod->device_claims.count;
    struct open_claims open = {.at = arena_take(a, room * sizeof(struct resource_claim *)),
                               .shared = arena_take(a, room * sizeof(struct resource_claim *))};
    for (uint32_t i = 0; i < pod->device_claims.count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded ? NULL
                            : catalog_resource_claim(catalog, pod->namespace_name, named->claim);
        if (claim == NULL || claim->allocated)
            continue;
        if (device_book_pending(catalog_devices(catalog), claim->uid) != NULL)
            open.shared[open.shared_count++] = claim;
        else
            open.at[open.count++] = claim;
    }
    return open;
}

static int64_t score_of_pending(const struct resource_claim *claim,
                                const struct device_allocation *pending)
{
    struct resource_claim given = *claim;
    given.devices.count = pending->devices.count;
    given.devices.at = pending->devices.at;
    return device_claim_score(&given);
}

static int64_t score_of_allocated(const struct catalog *catalog, const struct pod *pod)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < pod->device_claims.count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded ? NULL
                            : catalog_resource_claim(catalog, pod->namespace_name, named->claim);
        const struct device_allocation *pending =
            claim != NULL ? device_book_pending(catalog_devices(catalog), claim->uid) : NULL;
        if (claim != NULL && claim->allocated)
            score += device_claim_score(claim);
        else if (pending != NULL)
            score += score_of_pending(claim, pending);
    }
    return score;
}

/* ---- one node ---- */

static bool names_any(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        if (!pod->device_claims.at[i].unneeded)
            return true;
    return false;
}

struct device_search *device_search_new(const struct device_question *q, struct arena *a)
{
    struct device_search *s = arena_take(a, sizeof(*s));
    *s = (struct device_search){.q = *q,
                                .arena = a,
                                .claims = open_claims_of(q->catalog, q->pod, a),
                                .named = names_any(q->pod),
                                .plan = extended_plan_of(q->catalog, q->pod, a)};
    s->base = score_of_allocated(q->catalog, q->pod);
    s->room = device_room_of(q->catalog, q->features, q->pod, a);
    return s;
}

void device_search_free(struct device_search **search)
{
    struct device_search *s = *search;
    for (struct variant *v = s != NULL ? s->variants : NULL; v != NULL; v = v->next)
        dra_search_free(&v->inner);
    if (s != NULL)
        arena_free(&s->scratch);
    *search = NULL;
}

const struct open_claims *device_search_claims(const struct device_search *s)
{
    return &s->claims;
}

uint32_t device_search_open(const struct device_search *s)
{
    return s->claims.count + s->claims.shared_count + (s->plan.wanted && s->plan.stale == NULL);
}

struct device_found device_search_found(const struct device_search *s)
{
    return s->found;
}

const struct pod_room *device_search_room(const struct device_search *s)
{
    return &s->taken;
}

bool device_search_looks(const struct device_search *s)
{
    return s->room.each_node;
}

/* The special claim comes last. */
static struct variant *make_variant(struct device_search *s, uint64_t need)
{
    struct variant *v = arena_take(s->arena, sizeof(*v));
    struct dra_claim *claims = arena_take(s->arena, (s->claims.count + 1) * sizeof(*claims));
    uint32_t count = 0;
    *v = (struct variant){.next = s->variants, .need = need};
    for (; count < s->claims.count; count++)
        claims[count] = dra_claim_of(s->claims.at[count], s->arena);
    if (need != 0) {
        v->special = extended_claim_for(&s->plan, s->q.pod, need, s->arena);
        const struct resource_claim special = {
            .namespace_name = s->q.pod->namespace_name,
            .name = STR_LITERAL(SPECIAL_CLAIM_NAME),
            .requests = {v->special.requests.count, v->special.requests.at}};
        claims[count++] = dra_claim_of(&special, s->arena);
    }
    v->inner = dra_search_new(device_book_store(catalog_devices(s->q.catalog)), s->q.features,
                              claims, count);
    s->variants = v;
    return v;
}

static struct variant *variant_for(struct device_search *s, uint64_t need)
{
    struct variant *v = s->variants;
    while (v != NULL && v->need != need)
        v = v->next;
    return v != NULL ? v : make_variant(s, need);
}

static bool label(const void *context, struct str key, struct str *value)
{
    const struct node *node = context;
    return node != NULL && kube_label_find(node->labels.at, node->labels.count, key, value);
}

static bool is_over(const void *context)
{
    const struct device_search *s = context;
    return moment_since(s->q.clock(), s->began).ns >= span_of_ms(s->q.timeout_ms).ns;
}

static struct device_verdict timed_out(struct device_search *s, struct str node)
{
    s->late_nodes++;
    s->late = (struct device_verdict){
        .fails = true,
        .reason = arena_print(s->arena, "node %.*s: timed out trying to allocate devices",
                              STR_ARG(node))};
    return s->late;
}

static struct device_verdict search_for(struct device_search *s)
{
    bool timed = s->q.clock != NULL && s->q.timeout_ms > 0;
    const struct dra_limits limits = {.expired = timed ? is_over : NULL, .context = s};
    struct dra_answer answer;
    if (timed)
        s->began = s->q.clock();
    switch (dra_search_node(s->found.search, &s->asked, &limits, &answer)) {
    case DRA_ALLOCATED:
        return (struct device_verdict){.fits = true, .score = s->base + answer.score};
    case DRA_NOTHING: return (struct device_verdict){.reason = STR_LITERAL(NOTHING)};
    case DRA_INVALID_POOLS:
        return (struct device_verdict){.reason = arena_copy(s->arena, answer.text)};
    case DRA_EXPIRED: return timed_out(s, s->asked.name);
    case DRA_ERROR: break;
    }
    return (struct device_verdict){.fails = true, .reason = arena_copy(s->arena, answer.text)};
}

/* Names of the claims that are searched for. */
static struct strs searched(const struct device_search *s)
{
    struct strs names = {0, arena_take(s->arena, (s->claims.count + 1) * sizeof(*names.at))};
    for (; names.count < s->claims.count; names.count++)
        names.at[names.count] = s->claims.at[names.count]->name;
    if (s->found.extended != NULL && s->found.extended->requests.count > 0)
        names.at[names.count++] = STR_LITERAL(SPECIAL_CLAIM_NAME);
    return names;
}

/* The same with what the devices take of the node. Where nothing was to be given, scores are of
 * nodes that they take something of. */
static struct device_verdict with_room(struct device_search *s, const struct dra_node *node,
                                       struct device_verdict verdict)
{
    if (!s->room.on || !verdict.fits)
        return verdict;
    arena_reset(&s->scratch);
    const struct room_search found = {s->found.search, node, searched(s)};
    s->taken = device_room_on(&s->room, &found, &s->scratch);
    if (!s->taken.fits)
        return (struct device_verdict){.fails = s->taken.fails,
                                       .reason = arena_copy(s->arena, s->taken.reason)};
    if (s->taken.count == 0 && device_search_open(s) == 0)
        verdict.score = 0;
    struct device_verdict copy;
    verdict.demand.count = s->taken.demand_count;
    verdict.demand.at = s->taken.demand;
    codec_copy(&device_verdict_record, &copy, &verdict, s->arena);
    return copy;
}

static struct device_verdict search_with(struct device_search *s, const struct node *node,
                                         struct extended_need need)
{
    s->found = (struct device_found){0};
    s->taken = (struct pod_room){0};
    if (s->late_nodes >= LATE_MAX)
        return s->late;
    if (s->plan.stale != NULL) /* it is to be deleted first */
        return (struct device_verdict){
            .early = true, .reason = STR_LITERAL("cannot schedule extended resource claim")};
    if (need.cannot)
        return (struct device_verdict){.early = true, .reason = STR_LITERAL("cannot fit resource")};
    if (s->plan.wanted && s->named) /* as upstream: with claims of its own there is always one */
        s->found.extended = &s->empty;
    struct str refusal = node != NULL ? device_room_refuses(&s->room, node) : (struct str){0};
    if (refusal.len > 0)
        return (struct device_verdict){.reason = refusal};
    s->asked = (struct dra_node){
        .name = node != NULL ? node->name : (struct str){0}, .label = label, .context = node};
    s->asked.skips = node != NULL && device_node_skips(node);
    if (s->claims.count + s->claims.shared_count == 0 && need.of == 0)
        return with_room(s, &s->asked, (struct device_verdict){.fits = true, .score = s->base});
    struct variant *v = variant_for(s, need.of);
    s->found.search = v->inner;
    if (need.of != 0)
        s->found.extended = &v->special;
    return with_room(s, &s->asked, search_for(s));
}

static struct extended_need need_on(const struct device_search *s, const struct node *node)
{
    return s->plan.wanted ? extended_need_on(&s->plan, node) : (struct extended_need){0};
}

struct device_verdict device_search_node(struct device_search *s, const struct node *node)
{
    return search_with(s, node, need_on(s, node));
}

/* ---- all of them ---- */

struct survey {
    struct device_search *search;
    struct devices *store;
    struct memo_question *question; /* NULL: answers are not remembered */
    uint32_t room;
    struct device_verdict *verdicts; /* distinct ones */
    uint32_t *nodes;                 /* by verdict: how many */
    uint32_t count;
    struct plain { /* the verdicts of nodes that do not differ, by their need */
        struct plain *next;
        struct extended_need need;
        uint32_t verdict;
    } * plain;
};

static uint32_t index_of(struct survey *v, const struct device_verdict *verdict)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (codec_equal(&device_verdict_record, &v->verdicts[i], verdict) ||
            (verdict->fails && v->verdicts[i].fails && v->count >= ERRORS_MAX))
            return i;
    if (v->count == v->room) {
        v->room = v->room == 0 ? 8 : v->room * 2;
        v->verdicts = memory_resize(v->verdicts, v->room * sizeof(*v->verdicts));
        v->nodes = memory_resize(v->nodes, v->room * sizeof(*v->nodes));
    }
    v->verdicts[v->count] = *verdict;
    v->nodes[v->count] = 0;
    return v->count++;
}

static uint32_t plain_verdict(struct survey *v, struct extended_need need)
{
    struct plain *p = v->plain;
    while (p != NULL && (p->need.of != need.of || p->need.cannot != need.cannot))
        p = p->next;
    if (p != NULL)
        return p->verdict;
    struct device_verdict verdict = search_with(v->search, NULL, need);
    p = arena_take(v->search->arena, sizeof(*p));
    *p = (struct plain){v->plain, need, index_of(v, &verdict)};
    v->plain = p;
    return p->verdict;
}

/* An answer is remembered where nothing but the claims and the store decides about it. */
static struct memo_question *question_of(const struct device_search *s, const struct devices *store)
{
    const struct device_question *q = &s->q;
    if (s->claims.count == 0 || s->plan.wanted || s->room.on || s->room.each_node ||
        devices_labels_matter(store) || devices_select_by_labels(store) ||
        devices_skip_operations(store))
        return NULL;
    return device_memo_ask(cache_device_memo(q->cache), q->features, s->claims.at, s->claims.count,
                           cache_nodes(q->cache));
}

/* In errors claims are named, and a search whose time has run out is searched again. */
static bool may_be_remembered(const struct device_verdict *verdict)
{
    return verdict->fits ||
           (!verdict->fails && !verdict->early && str_equal(verdict->reason, STR_LITERAL(NOTHING)));
}

/* The same as search_with for a node with devices of its own, of which its name says all. */
static struct device_verdict recall(struct survey *v, const struct node *node)
{
    struct device_search *s = v->search;
    uint64_t changed = devices_changed(v->store, node->name);
    struct memo_answer known;
    if (s->late_nodes < LATE_MAX && device_memo_get(v->question, node->name, changed, &known))
        return known.fits ? (struct device_verdict){.fits = true, .score = s->base + known.score}
                          : (struct device_verdict){.reason = STR_LITERAL(NOTHING)};
    struct device_verdict verdict = search_with(s, node, (struct extended_need){0});
    known = (struct memo_answer){verdict.fits, verdict.fits ? verdict.score - s->base : 0};
    if (may_be_remembered(&verdict))
        device_memo_set(v->question, node->name, changed, known);
    return verdict;
}

static uint32_t look_at(struct survey *v, struct str name, struct arena *a)
{
    struct node node = {.name = name};
    const struct dra_node asked = {.name = name, .label = label, .context = &node};
    bool has_own = v->search->plan.wanted && cache_node_has_extended(v->search->q.cache, name);
    bool skips = v->search->q.features->device_skips && devices_skip_operations(v->store);
    bool each = v->search->room.each_node || skips;
    bool known = devices_labels_matter(v->store) || has_own || each;
    if (known)
        (void)cache_node_get(v->search->q.cache, name, &node, a);
    bool differs = each || devices_node_differs(v->store, &asked);
    if (differs && v->question != NULL) {
        struct device_verdict recalled = recall(v, &node);
        return index_of(v, &recalled);
    }
    if (differs && !known)
        (void)cache_node_get(v->search->q.cache, name, &node, a);
    if (!differs)
        return plain_verdict(v, need_on(v->search, &node));
    struct device_verdict verdict = device_search_node(v->search, &node);
    return index_of(v, &verdict);
}

static uint32_t most_common(const struct survey *v)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < v->count; i++)
        if (v->nodes[i] > v->nodes[most])
            most = i;
    return most;
}

static int compare(const void *one, const void *other)
{
    const struct device_node *a = one, *b = other;
    return str_compare(a->node, b->node);
}

/* What comes out most often goes to the front; its nodes need not be told. */
static void tell(struct survey *v, struct device_node *nodes, uint32_t count, struct findings *out,
                 struct arena *a)
{
    uint32_t most = most_common(v), kept = 0;
    struct device_verdict first = v->verdicts[most];
    v->verdicts[most] = v->verdicts[0];
    v->verdicts[0] = first;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].verdict == most)
            continue;
        nodes[kept] = nodes[i];
        nodes[kept].verdict = nodes[i].verdict == 0 ? most : nodes[i].verdict;
        kept++;
    }
    if (kept > 1)
        qsort(nodes, kept, sizeof(*nodes), compare);
    out->device_nodes.count = kept;
    out->device_nodes.at = nodes;
    out->device_verdicts.count = v->count;
    out->device_verdicts.at = arena_take(a, v->count * sizeof(*v->verdicts));
    memcpy(out->device_verdicts.at, v->verdicts, v->count * sizeof(*v->verdicts));
}

/* Those on nodes that the claim is not for do not count. */
static void drop_unreached(const struct device_question *q, const struct resource_claim *claim,
                           struct findings *out, uint32_t from)
{
    struct arena scratch = {0};
    uint32_t kept = from;
    for (uint32_t i = from; claim->has_terms && i < out->device_users.count; i++) {
        struct node node = {.name = out->device_users.at[i].node};
        arena_reset(&scratch);
        (void)cache_node_get(q->cache, node.name, &node, &scratch);
        if (device_claim_reaches(claim, &node))
            out->device_users.at[kept++] = out->device_users.at[i];
    }
    if (claim->has_terms)
        out->device_users.count = kept;
    arena_free(&scratch);
}

/* Who uses allocated claims of the pod: 1.36 asks its nodes. */
static void find_users(const struct device_question *q, struct findings *out, struct arena *a)
{
    const struct pod *pod = q->pod;
    if (!q->features->device_node_resources || q->features->release >= 37)
        return;
    for (uint32_t i = 0; i < pod->device_claims.count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded ? NULL
                            : catalog_resource_claim(q->catalog, pod->namespace_name, named->claim);
        uint32_t before = out->device_users.count;
        if (claim == NULL || !claim->allocated)
            continue;
        cache_room_users(q->cache, pod->namespace_name, claim->name, out, a);
        drop_unreached(q, claim, out, before);
    }
}

uint32_t device_findings(const struct device_question *q, struct findings *out, struct arena *a)
{
    struct arena scratch = {0};
    find_users(q, out, a);
    struct device_search *search = device_search_new(q, a);
    uint32_t open = device_search_open(search);
    uint32_t count = q->narrowed ? q->only.count : cache_nodes(q->cache);
    bool nothing = open == 0 && search->plan.stale == NULL && !search->room.each_node;
    if (nothing || count == 0) {
        device_search_free(&search);
        return 0;
    }
    struct survey v = {.search = search, .store = device_book_store(catalog_devices(q->catalog))};
    v.question = question_of(search, v.store);
    struct device_node *nodes = arena_take(a, count * sizeof(*nodes));
    for (uint32_t i = 0; i < count; i++) {
        struct str name = q->narrowed ? q->only.at[i] : cache_node_at(q->cache, i);
        arena_reset(&scratch);
        uint32_t verdict = look_at(&v, name, &scratch);
        v.nodes[verdict]++;
        nodes[i] = (struct device_node){arena_copy(a, name), verdict};
    }
    tell(&v, nodes, count, out, a);
    memory_free(v.verdicts);
    memory_free(v.nodes);
    arena_free(&scratch);
    device_search_free(&search);
    return open;
}
