/* claim_room: a pod's requests with what its claims add to them. The one idea: pods carry their
 * sums as exact quantities (pod_amounts), so that whoever knows the devices can go on adding. What
 * must stay true: it comes to what requests.c makes of the same claims once the pod's status says
 * them. */
#include "scheduler/cluster/claim_room.h"

#include "proto/kube/objects/amounts.h"
#include "proto/kube/objects/requests.h"

#include <stdlib.h>

/* ---- lists ---- */

static struct kube_quantity read(struct str text)
{
    struct kube_quantity q = {0};
    if (text.len > 0)
        (void)kube_quantity_parse(text, &q);
    return q;
}

static void add(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q)
{
    struct amounts one = {0};
    amounts_add(a, &one, name, q);
    amounts_add_all(a, list, &one);
}

static void add_labels(struct arena *a, struct amounts *list, const struct label *at,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add(a, list, at[i].key, read(at[i].value));
}

static const struct str *text_in(const struct label *at, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(at[i].key, name))
            return &at[i].value;
    return NULL;
}

/* perContainer as often as there are containers. */
static void add_room(struct arena *a, struct amounts *list, const struct claim_room *room,
                     uint32_t containers)
{
    add_labels(a, list, room->amounts.at, room->amounts.count);
    for (uint32_t i = 0; i < room->overheads.count; i++) {
        const struct claim_overhead *o = &room->overheads.at[i];
        add(a, list, o->name, read(o->per_pod));
        for (uint32_t k = 0; k < containers; k++)
            add(a, list, o->name, read(o->per_container));
    }
}

static bool whole_counts(const struct features *features, const struct pod_amounts *amounts)
{
    return features->pod_level_resources && amounts->whole.count > 0;
}

/* Containers and claims together, what the pod asks for as a whole in their place, and overhead. */
static void finish(const struct features *features, const struct pod_amounts *amounts,
                   struct amounts *sum, struct arena *a)
{
    for (uint32_t i = 0; whole_counts(features, amounts) && i < amounts->whole.count; i++)
        amounts_set(a, sum, amounts->whole.at[i].key, read(amounts->whole.at[i].value));
    add_labels(a, sum, amounts->overhead.at, amounts->overhead.count);
}

static struct amounts without_whole(const struct pod_amounts *amounts,
                                    const struct claim_room *claims, uint32_t count,
                                    struct arena *a)
{
    struct amounts sum = {0};
    add_labels(a, &sum, amounts->requests.at, amounts->requests.count);
    for (uint32_t i = 0; i < count; i++)
        add_room(a, &sum, &claims[i], claims[i].containers.count);
    return sum;
}

static int64_t rounded(struct str name, struct kube_quantity q)
{
    return str_is(name, "cpu") ? kube_quantity_milli(q) : kube_quantity_value(q);
}

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct quantity *)a)->name, ((const struct quantity *)b)->name);
}

/* ---- what the claims take ---- */

static void name_containers(const struct pod *pod, struct claim_room *room, struct arena *a)
{
    const struct pod_amounts *amounts = &pod->amounts.at[0];
    uint32_t found = 0;
    for (uint32_t i = 0; i < amounts->containers.count; i++)
        found += amounts->containers.at[i].claims.count;
    room->containers.at = arena_take(a, found * sizeof(*room->containers.at));
    for (uint32_t i = 0; i < amounts->containers.count; i++) {
        const struct pod_container *c = &amounts->containers.at[i];
        for (uint32_t k = 0; k < c->claims.count; k++)
            for (uint32_t n = 0; n < pod->device_claims.count; n++) {
                const struct device_claim *named = &pod->device_claims.at[n];
                if (named->unneeded || !str_equal(named->name, c->claims.at[k]))
                    continue;
                if (str_equal(named->claim, room->claim))
                    room->containers.at[room->containers.count++] = c->name;
                break;
            }
    }
}

static int by_claim(const void *a, const void *b)
{
    return str_compare(((const struct claim_room *)a)->claim,
                       ((const struct claim_room *)b)->claim);
}

static bool named_again(const struct room_question *q, uint32_t i)
{
    for (uint32_t k = i + 1; k < q->count; k++)
        if (str_equal(q->claims[k].name, q->claims[i].name))
            return true;
    return false;
}

static bool take_claims(const struct room_question *q, struct pod_room *out, struct arena *a)
{
    out->claims = arena_take(a, q->count * sizeof(*out->claims));
    for (uint32_t i = 0; i < q->count; i++) {
        const struct dra_room_question asked = {.devices = q->devices,
                                                .release = q->features->release,
                                                .node = q->node,
                                                .namespace_name = q->pod->namespace_name,
                                                .claim = q->claims[i].name,
                                                .use_count = q->claims[i].use_count,
                                                .uses = q->claims[i].uses};
        struct claim_room *room = &out->claims[out->count];
        if (named_again(q, i))
            continue;
        switch (dra_room_of(&asked, room, a, &out->reason)) {
        case DRA_ROOM_none: break;
        case DRA_ROOM_empty: out->counts = true; break;
        case DRA_ROOM_error: out->fails = true; return false;
        case DRA_ROOM_some:
            name_containers(q->pod, room, a);
            out->counts = true;
            out->count++;
            break;
        }
    }
    if (out->count > 1)
        qsort(out->claims, out->count, sizeof(*out->claims), by_claim);
    return true;
}

/* 1.36 wants every such claim to be named by a container. */
static bool are_named(const struct room_question *q, struct pod_room *out, struct arena *a)
{
    for (uint32_t i = 0; q->features->release < 37 && i < out->count; i++)
        if (out->claims[i].containers.count == 0) {
            out->reason = arena_print(a,
                                      "claim %.*s: node-allocatable resource claim not referenced "
                                      "by any container within the pod",
                                      STR_ARG(out->claims[i].claim));
            return false;
        }
    return true;
}

/* ---- what the pod says as a whole ---- */

static bool exceeds(const struct amounts *sum, const struct label *most)
{
    const struct kube_quantity *q = amounts_find(sum, most->key);
    return q != NULL && kube_quantity_compare(*q, read(most->value)) > 0;
}

static bool requests_suffice(const struct room_question *q, const struct amounts *sum,
                             struct pod_room *out, struct arena *a)
{
    const struct pod_amounts *amounts = &q->pod->amounts.at[0];
    for (uint32_t i = 0; i < amounts->whole.count; i++)
        if (exceeds(sum, &amounts->whole.at[i])) {
            out->reason = arena_print(a,
                                      "pod level request for %.*s is insufficient to cover the "
                                      "aggregated container and node-allocatable DRA requests",
                                      STR_ARG(amounts->whole.at[i].key));
            return false;
        }
    return true;
}

static bool is_huge(struct str name)
{
    return str_starts_with(name, "hugepages-");
}

static bool huge_limits_suffice(const struct room_question *q, const struct amounts *rooms,
                                struct pod_room *out, struct arena *a)
{
    const struct pod_amounts *amounts = &q->pod->amounts.at[0];
    struct amounts sum = {0};
    add_labels(a, &sum, amounts->huge_limits.at, amounts->huge_limits.count);
    amounts_add_all(a, &sum, rooms);
    for (uint32_t i = 0; i < amounts->whole_limits.count; i++) {
        const struct label *most = &amounts->whole_limits.at[i];
        if (!is_huge(most->key) || !exceeds(&sum, most))
            continue;
        out->reason = arena_print(a,
                                  "pod level limit for %.*s is insufficient to cover the "
                                  "aggregated container and node-allocatable DRA limits",
                                  STR_ARG(most->key));
        return false;
    }
    return true;
}

/* What claims give to a container: all that they take, of each that names it. */
static struct amounts given_to(const struct pod_room *out, struct str container, struct arena *a)
{
    struct amounts sum = {0};
    for (uint32_t i = 0; i < out->count; i++)
        if (strs_hold(out->claims[i].containers, container))
            add_room(a, &sum, &out->claims[i], 1);
    return sum;
}

static bool limits_suffice(const struct room_question *q, struct pod_room *out, struct arena *a)
{
    const struct pod_amounts *amounts = &q->pod->amounts.at[0];
    for (uint32_t i = 0; amounts->whole_limits.count > 0 && i < amounts->containers.count; i++) {
        const struct pod_container *c = &amounts->containers.at[i];
        struct amounts given = given_to(out, c->name, a);
        for (uint32_t k = 0; !c->init && k < c->limits.count; k++) {
            struct str name = c->limits.at[k].key;
            const struct str *most =
                text_in(amounts->whole_limits.at, amounts->whole_limits.count, name);
            if (most == NULL || is_huge(name))
                continue;
            const struct kube_quantity *more = amounts_find(&given, name);
            struct kube_quantity sum = read(c->limits.at[k].value);
            if (more != NULL)
                sum = kube_quantity_add(sum, *more);
            if (kube_quantity_compare(sum, read(*most)) <= 0)
                continue;
            out->reason = arena_print(a,
                                      "pod level limit for %.*s is insufficient to cover the limit "
                                      "and DRA overhead for container %.*s",
                                      STR_ARG(name), STR_ARG(c->name));
            return false;
        }
    }
    return true;
}

static bool whole_suffices(const struct room_question *q, const struct amounts *sum,
                           struct pod_room *out, struct arena *a)
{
    struct amounts rooms = {0};
    bool empty = q->features->release >= 37 && out->count == 0;
    if (!q->features->pod_level_resources || empty)
        return true;
    if (!requests_suffice(q, sum, out, a))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        add_room(a, &rooms, &out->claims[i], out->claims[i].containers.count);
    return q->features->release < 37 ||
           (huge_limits_suffice(q, &rooms, out, a) && limits_suffice(q, out, a));
}

/* ---- all of it ---- */

/* As upstream tells what is short. */
static int in_order(const void *a, const void *b)
{
    static const char *const first[] = {"cpu", "memory", "ephemeral-storage"};
    const struct quantity *x = a, *y = b;
    for (uint32_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (str_is(x->name, first[i]) != str_is(y->name, first[i]))
            return str_is(x->name, first[i]) ? -1 : 1;
    return by_name(a, b);
}

/* Of huge pages a node must not have given more than it has, even where none are asked for. */
static void fill_demand(const struct amounts *sum, struct pod_room *out, struct arena *a)
{
    out->demand = arena_take(a, sum->count * sizeof(*out->demand));
    for (uint32_t i = 0; i < sum->count; i++) {
        struct str name = sum->at[i].name;
        int64_t amount = rounded(name, sum->at[i].quantity);
        bool fixed =
            str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage");
        if (is_huge(name) || (fixed && amount > 0))
            out->demand[out->demand_count++] = (struct quantity){name, amount};
    }
    if (out->demand_count > 1)
        qsort(out->demand, out->demand_count, sizeof(*out->demand), in_order);
}

struct pod_room claim_room_of(const struct room_question *q, struct arena *a)
{
    struct pod_room out = {.fits = true};
    if (q->pod->amounts.count == 0)
        return out;
    out.fits = false;
    if (!take_claims(q, &out, a) || !are_named(q, &out, a))
        return out;
    out.fits = true;
    if (!out.counts)
        return out;
    const struct pod_amounts *amounts = &q->pod->amounts.at[0];
    struct amounts sum = without_whole(amounts, out.claims, out.count, a);
    out.fits = whole_suffices(q, &sum, &out, a);
    finish(q->features, amounts, &sum, a);
    fill_demand(&sum, &out, a);
    return out;
}

/* ---- on its node ---- */

static int64_t amount_in(const struct amounts *sum, struct str name)
{
    const struct kube_quantity *q = amounts_find(sum, name);
    int64_t amount = q != NULL ? rounded(name, *q) : 0;
    return amount > 0 ? amount : 0;
}

/* With the default where nothing else says anything of it. */
static int64_t score_of(const struct features *features, const struct pod_amounts *amounts,
                        const struct amounts *claims, const struct amounts *usage, struct str name)
{
    struct arena scratch = {0};
    if (whole_counts(features, amounts) && amounts_find(usage, name) != NULL)
        return amount_in(usage, name);
    struct amounts sum = {0};
    add(&scratch, &sum, name,
        read(str_is(name, "cpu") ? amounts->score_cpu : amounts->score_memory));
    amounts_add_all(&scratch, &sum, claims);
    finish(features, amounts, &sum, &scratch);
    int64_t amount = amount_in(&sum, name);
    arena_free(&scratch);
    return amount;
}

void claim_room_usage(const struct features *features, struct pod *pod,
                      const struct claim_room *claims, uint32_t count, struct arena *a)
{
    const struct pod_amounts *amounts = &pod->amounts.at[0];
    struct amounts sum = without_whole(amounts, claims, count, a), rooms = {0};
    for (uint32_t i = 0; i < count; i++)
        add_room(a, &rooms, &claims[i], claims[i].containers.count);
    finish(features, amounts, &sum, a);
    pod->usage_score_cpu = score_of(features, amounts, &rooms, &sum, STR_LITERAL("cpu"));
    pod->usage_score_memory = score_of(features, amounts, &rooms, &sum, STR_LITERAL("memory"));
    pod->usage.at = arena_take(a, sum.count * sizeof(*pod->usage.at));
    pod->usage.count = 0;
    for (uint32_t i = 0; i < sum.count; i++) {
        struct str name = sum.at[i].name;
        int64_t amount = rounded(name, sum.at[i].quantity);
        bool kept = requests_is_scalar(name) || str_is(name, "cpu") || str_is(name, "memory") ||
                    str_is(name, "ephemeral-storage");
        if (kept && amount > 0)
            pod->usage.at[pod->usage.count++] = (struct quantity){name, amount};
    }
    if (pod->usage.count > 1)
        qsort(pod->usage.at, pod->usage.count, sizeof(*pod->usage.at), by_name);
}
