/* device_extended: from what containers ask for to the requests of one claim. The one idea: what
 * runs together needs devices of its own, and an init container that is over before the others
 * begin may use those of whatever comes behind it, so such ones share the greatest rest.
 *
 * What must stay true: requests, their names and their order, and which of them a container is told
 * to use, are upstream's to the letter: the kubelet goes by them. */
#include "scheduler/catalog/device_extended.h"

#include "proto/kube/objects/requests.h"
#include "scheduler/table/resource.h"

#include <stdlib.h>

/* ---- what classes stand for ---- */

bool extended_is_wanted(const struct catalog *catalog, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *q = &pod->request.at[i];
        if (resource_fixed(q->name) < 0 && q->amount > 0 &&
            catalog_class_for(catalog, q->name).len > 0 && requests_may_be_devices(q->name))
            return true;
    }
    return false;
}

struct extended_plan extended_plan_of(const struct catalog *catalog, const struct pod *pod,
                                      struct arena *a)
{
    struct extended_plan plan = {.wanted = extended_is_wanted(catalog, pod)};
    if (!plan.wanted)
        return plan;
    plan.stale = catalog_special_claim(catalog, pod->uid);
    if (plan.stale != NULL && plan.stale->requests.count == 0)
        plan.stale = NULL; /* nothing was ever asked for with it */
    plan.at = arena_take(a, pod->request.count * sizeof(*plan.at));
    for (uint32_t i = 0; i < pod->request.count; i++) {
        struct str name = pod->request.at[i].name;
        if (pod->request.at[i].amount <= 0 || !requests_may_be_devices(name))
            continue;
        if (plan.count == EXTENDED_MAX) {
            plan.too_many = true;
            break;
        }
        plan.at[plan.count++] = (struct extended_resource){name, catalog_class_for(catalog, name)};
    }
    return plan;
}

void extended_note(const struct catalog *catalog, const struct pod *pod, struct findings *findings,
                   struct arena *a)
{
    if (findings->device_resources.count > 0 || catalog_count(catalog, CATALOG_device_class) == 0)
        return;
    const struct extended_plan plan = extended_plan_of(catalog, pod, a);
    findings->device_resources.at = arena_take(a, plan.count * sizeof(struct str));
    for (uint32_t i = 0; i < plan.count; i++)
        if (plan.at[i].class.len > 0)
            findings->device_resources.at[findings->device_resources.count++] = plan.at[i].name;
}

/* ---- on a node ---- */

static const struct quantity *allocatable(const struct node *node, struct str name)
{
    for (uint32_t i = 0; node != NULL && i < node->allocatable.count; i++)
        if (str_equal(node->allocatable.at[i].name, name))
            return &node->allocatable.at[i];
    return NULL;
}

struct extended_need extended_need_on(const struct extended_plan *plan, const struct node *node)
{
    struct extended_need need = {.cannot = plan->too_many};
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct quantity *has = allocatable(node, plan->at[i].name);
        if (plan->at[i].class.len > 0 && (has == NULL || has->amount == 0))
            need.of |= UINT64_C(1) << i;
        else if (has == NULL)
            need.cannot = true;
    }
    return need;
}

/* ---- the claim ---- */

/* A request that is made for a container; count is 0: none is. */
struct made {
    struct str name;
    int64_t count;
};

/* One resource: its asks, with what is made of each. */
struct making {
    const struct extended_ask *asks;
    uint32_t count;
    struct str class;
    struct made *made;
    struct extended_claim *out;
    struct arena *arena;
};

static void use(struct making *m, const struct extended_ask *ask, struct str request)
{
    m->out->uses.at[m->out->uses.count++] =
        (struct extended_use){ask->container, ask->resource, request};
}

static struct made made_for(const struct making *m, const struct extended_ask *ask, int64_t count)
{
    return (struct made){arena_print(m->arena, "container-%lld-request-%lld", (long long)ask->place,
                                     (long long)ask->rank),
                         count};
}

static void add_request(struct making *m, const struct made *made)
{
    struct device_ask *ask = arena_take(m->arena, sizeof(*ask));
    *ask = (struct device_ask){
        .class_name = m->class, .mode = STR_LITERAL("ExactCount"), .count = made->count};
    m->out->requests.at[m->out->requests.count++] =
        (struct device_request){.name = made->name, .exactly = true, .asks = {1, ask}};
}

/* Containers that live on: each has devices of its own. */
static void make_lasting(struct making *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct extended_ask *ask = &m->asks[i];
        if (ask->passing)
            continue;
        m->made[i] = made_for(m, ask, ask->amount);
        use(m, ask, m->made[i].name);
        add_request(m, &m->made[i]);
    }
}

/* What an init container takes of the devices of those behind it; how many it still lacks. */
static int64_t use_later_ones(struct making *m, uint32_t from)
{
    const struct extended_ask *ask = &m->asks[from];
    int64_t sum = 0;
    for (uint32_t i = from; i < m->count && sum < ask->amount; i++)
        if (!m->asks[i].passing) {
            sum += m->made[i].count;
            use(m, ask, m->made[i].name);
        }
    return sum < ask->amount ? ask->amount - sum : 0;
}

/* Init containers that pass: what each lacks they get of the one request with the most. */
static void make_passing(struct making *m)
{
    struct made most = {0};
    uint32_t first = m->out->uses.count;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct extended_ask *ask = &m->asks[i];
        int64_t lacks = ask->passing ? use_later_ones(m, i) : 0;
        if (lacks == 0)
            continue;
        m->made[i] = made_for(m, ask, lacks);
        use(m, ask, m->made[i].name);
        if (lacks > most.count)
            most = m->made[i];
    }
    for (uint32_t k = first; k < m->out->uses.count; k++)
        for (uint32_t i = 0; i < m->count; i++)
            if (m->asks[i].passing && m->made[i].count > 0 &&
                str_equal(m->out->uses.at[k].request, m->made[i].name))
                m->out->uses.at[k].request = most.name;
    if (most.count > 0)
        add_request(m, &most);
}

static int by_name(const void *one, const void *other)
{
    return str_compare(((const struct device_request *)one)->name,
                       ((const struct device_request *)other)->name);
}

/* An init container may use all that come behind it, and one of its own. */
static size_t uses_at_most(const struct extended_ask *asks, uint32_t count)
{
    size_t passing = 0;
    for (uint32_t i = 0; i < count; i++)
        passing += asks[i].passing;
    return count + passing * (count - passing);
}

struct extended_claim extended_claim_for(const struct extended_plan *plan, const struct pod *pod,
                                         uint64_t need, struct arena *a)
{
    struct extended_claim claim = {0};
    uint32_t count = pod->extended_asks.count, end;
    const struct extended_ask *asks = pod->extended_asks.at;
    claim.requests.at = arena_take(a, count * sizeof(struct device_request));
    claim.uses.at = arena_take(a, uses_at_most(asks, count) * sizeof(struct extended_use));
    for (uint32_t from = 0; from < count; from = end) {
        uint32_t i = 0;
        for (end = from + 1; end < count && str_equal(asks[end].resource, asks[from].resource);)
            end++;
        while (i < plan->count && !str_equal(plan->at[i].name, asks[from].resource))
            i++;
        if (i == plan->count || (need >> i & 1) == 0)
            continue;
        struct making m = {.asks = asks + from,
                           .count = end - from,
                           .class = plan->at[i].class,
                           .made = arena_take(a, (end - from) * sizeof(struct made)),
                           .out = &claim,
                           .arena = a};
        make_lasting(&m);
        make_passing(&m);
    }
    if (claim.requests.count > 1)
        qsort(claim.requests.at, claim.requests.count, sizeof(*claim.requests.at), by_name);
    return claim;
}
