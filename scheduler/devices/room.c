/* room: what devices take of their node. The one idea: a device is looked up by its names among the
 * slices that the node sees, whatever becomes of their pools, and amounts are added up by resource.
 * What must stay true: sums are exact, and written as upstream writes them: an amount keeps the
 * kind of suffix of the first one that is not zero. */
#include "scheduler/devices/room.h"

#include "scheduler/devices/inside.h"

#include <stdlib.h>
#include <string.h>

#define MOST  ((dra_nano)1 << 110)
#define WHOLE ((dra_nano)1000000000)

/* ---- amounts ---- */

static dra_nano bounded(dra_nano value)
{
    return value > MOST ? MOST : value < -MOST ? -MOST : value;
}

/* a * b, rounded up below a billionth. */
static dra_nano product(dra_nano a, dra_nano b)
{
    dra_nano units = a / WHOLE, rest = a % WHOLE, whole, part;
    if (__builtin_mul_overflow(units, b, &whole) || __builtin_mul_overflow(rest, b, &part))
        return (a < 0) == (b < 0) ? MOST : -MOST;
    part = part > 0 ? (part + WHOLE - 1) / WHOLE : part / WHOLE;
    return bounded(bounded(whole) + part);
}

struct sum {
    struct str name;
    bool set;
    dra_nano nano;
    enum amount_format format;
};

static void add(struct sum *s, dra_nano nano, enum amount_format format)
{
    if (!s->set || s->nano == 0)
        s->format = format;
    s->nano = bounded(s->nano + nano);
    s->set = true;
}

static void add_text(struct sum *s, struct str text)
{
    struct amount a;
    (void)amount_parse(text, &a);
    add(s, a.nano, amount_format_of(text));
}

static struct str text_of(const struct sum *s, struct arena *a)
{
    return s->set ? amount_text(s->nano, s->format, a) : (struct str){0};
}

/* ---- the device ---- */

/* The slice is one that the node sees. A selector in error matches nothing. */
static bool sees(const struct dra_node *node, const struct slice *slice)
{
    const struct dra_reach *reach = &slice->said.reach;
    if (node == NULL || slice->said.per_device)
        return true;
    bool named = reach->node_name.len > 0 || reach->all_nodes;
    return (named || slice->bad_reach.len == 0) && reach_matches(reach, node);
}

static bool device_sees(const struct dra_node *node, const struct device *device)
{
    const struct dra_reach *reach = &device->said.reach;
    bool named = reach->node_name.len > 0 || reach->all_nodes;
    return node == NULL || !device->slice->said.per_device ||
           ((named || device->bad_reach.len == 0) && reach_matches(reach, node));
}

static const struct device *device_in(const struct slice *slice, struct str name)
{
    for (uint32_t i = 0; i < slice->device_count; i++)
        if (str_equal(slice->devices[i].said.name, name))
            return &slice->devices[i];
    return NULL;
}

/* The release knows what is said there. */
static bool knows(const struct dra_room_question *q, const struct dra_node_resource *r)
{
    return r->old == (q->release < 37);
}

static uint32_t resources_of(const struct dra_room_question *q, const struct device *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->said.node_resource_count; i++)
        count += knows(q, &d->said.node_resources[i]);
    return count;
}

/* The newest slices first. Upstream has them in no order, and in 1.36 does not look at nodes. */
static const struct device *find(const struct dra_room_question *q, const struct dra_use *use)
{
    const struct dra_node *node = q->release >= 37 ? q->node : NULL;
    const struct pool *pool = pool_find(q->devices, use->driver, use->pool);
    for (const struct edition *e = pool != NULL ? pool->editions : NULL; e != NULL; e = e->next)
        for (uint32_t i = 0; i < e->slices.count; i++) {
            const struct slice *slice = e->slices.at[i];
            const struct device *d = sees(node, slice) ? device_in(slice, use->device) : NULL;
            if (d != NULL)
                return d;
        }
    return NULL;
}

static struct str not_found(const struct dra_room_question *q, const struct dra_use *u, bool there,
                            struct arena *a)
{
    if (q->release < 37)
        return arena_print(a, "claim %.*s/%.*s, device %.*s: device %.*s not found in pool %.*s",
                           STR_ARG(q->namespace_name), STR_ARG(q->claim), STR_ARG(u->device),
                           STR_ARG(u->device), STR_ARG(u->pool));
    if (there)
        return arena_print(a,
                           "claim %.*s/%.*s, device %.*s, driver %.*s: device %.*s does not match "
                           "node",
                           STR_ARG(q->namespace_name), STR_ARG(q->claim), STR_ARG(u->device),
                           STR_ARG(u->driver), STR_ARG(u->device));
    return arena_print(a,
                       "claim %.*s/%.*s, device %.*s, driver %.*s: device %.*s not found in pool "
                       "%.*s for driver %.*s",
                       STR_ARG(q->namespace_name), STR_ARG(q->claim), STR_ARG(u->device),
                       STR_ARG(u->driver), STR_ARG(u->device), STR_ARG(u->pool),
                       STR_ARG(u->driver));
}

/* ---- a claim ---- */

struct totals {
    uint32_t room, count;
    struct total {
        struct str name;
        struct sum mapped, per_pod, per_container;
    } * at;
};

static struct total *total_of(struct totals *t, struct str name)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (str_equal(t->at[i].name, name))
            return &t->at[i];
    t->at[t->count] = (struct total){.name = name};
    return &t->at[t->count++];
}

static const struct str *consumed_of(const struct dra_use *use, struct str capacity)
{
    for (uint32_t i = 0; i < use->consumed_count; i++)
        if (str_equal(use->consumed[i].name, capacity))
            return &use->consumed[i].value;
    return NULL;
}

/* What is consumed of the capacity, times the multiplier if there is one. */
static void map_capacity(const struct dra_node_resource *r, struct str consumed, struct sum *to)
{
    struct amount amount, multiplier;
    (void)amount_parse(consumed, &amount);
    (void)amount_parse(r->multiplier, &multiplier);
    dra_nano nano = r->multiplier.len > 0 ? product(amount.nano, multiplier.nano) : amount.nano;
    add(to, nano, amount_format_of(consumed));
}

/* False: it goes by a capacity, and nothing at all is consumed. */
static bool map_resource(const struct dra_room_question *q, const struct dra_node_resource *r,
                         const struct dra_use *use, struct totals *t)
{
    if (r->capacity_key.len > 0) {
        const struct str *consumed = consumed_of(use, r->capacity_key);
        if (consumed != NULL)
            map_capacity(r, *consumed, &total_of(t, r->name)->mapped);
        return use->consumed_count > 0;
    }
    if (r->multiplier.len > 0)
        add_text(&total_of(t, r->name)->mapped, r->multiplier);
    else if (q->release < 37)
        add(&total_of(t, r->name)->mapped, 0, AMOUNT_decimal);
    return true;
}

static bool take_device(const struct dra_room_question *q, const struct dra_use *use,
                        struct totals *t, struct arena *a, struct str *error)
{
    const struct device *d = find(q, use);
    if (d == NULL || !device_sees(q->release >= 37 ? q->node : NULL, d)) {
        *error = not_found(q, use, d != NULL, a);
        return false;
    }
    for (uint32_t i = 0; i < d->said.node_resource_count; i++) {
        const struct dra_node_resource *r = &d->said.node_resources[i];
        if (!knows(q, r))
            continue;
        if (r->maps && !map_resource(q, r, use, t)) {
            *error = arena_print(
                a,
                "claim %.*s/%.*s, device %.*s: ConsumedCapacity is nil, but Capacity key '%.*s' is "
                "set in %s for resource %.*s",
                STR_ARG(q->namespace_name), STR_ARG(q->claim), STR_ARG(use->device),
                STR_ARG(r->capacity_key),
                q->release < 37 ? "NodeAllocatableResourceMappings" : "NodeAllocatableResources",
                STR_ARG(r->name));
            return false;
        }
        if (r->has_overhead && r->per_pod.len > 0)
            add_text(&total_of(t, r->name)->per_pod, r->per_pod);
        if (r->has_overhead && r->per_container.len > 0)
            add_text(&total_of(t, r->name)->per_container, r->per_container);
    }
    return true;
}

/* Whether one of the devices takes anything, and for how many totals there must be room. */
static bool takes_any(const struct dra_room_question *q, struct totals *t)
{
    bool any = false;
    for (uint32_t i = 0; i < q->use_count; i++) {
        const struct device *d = find(q, &q->uses[i]);
        if (d == NULL)
            continue;
        bool there = device_sees(q->release >= 37 ? q->node : NULL, d);
        any |= there && resources_of(q, d) > 0;
        t->room += d->said.node_resource_count;
    }
    return any;
}

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct total *)a)->name, ((const struct total *)b)->name);
}

static void tell(struct totals *t, struct claim_room *out, struct arena *a)
{
    qsort(t->at, t->count, sizeof(*t->at), by_name);
    out->amounts.at = arena_take(a, t->count * sizeof(*out->amounts.at));
    out->overheads.at = arena_take(a, t->count * sizeof(*out->overheads.at));
    for (uint32_t i = 0; i < t->count; i++) {
        const struct total *sum = &t->at[i];
        if (sum->mapped.set)
            out->amounts.at[out->amounts.count++] =
                (struct label){sum->name, text_of(&sum->mapped, a)};
        if (sum->per_pod.set || sum->per_container.set)
            out->overheads.at[out->overheads.count++] = (struct claim_overhead){
                sum->name, text_of(&sum->per_pod, a), text_of(&sum->per_container, a)};
    }
}

enum dra_room dra_room_of(const struct dra_room_question *q, struct claim_room *out,
                          struct arena *a, struct str *error)
{
    struct totals t = {0};
    *out = (struct claim_room){.claim = q->claim};
    if (q->devices->takes_of_nodes == 0 || !takes_any(q, &t))
        return DRA_ROOM_none;
    t.at = arena_take(a, t.room * sizeof(*t.at));
    for (uint32_t i = 0; i < q->use_count; i++)
        if (!take_device(q, &q->uses[i], &t, a, error))
            return DRA_ROOM_error;
    if (t.count == 0)
        return DRA_ROOM_empty;
    tell(&t, out, a);
    return DRA_ROOM_some;
}

bool dra_room_maps(const struct dra_room_question *q)
{
    for (uint32_t i = 0; q->devices->takes_of_nodes > 0 && i < q->use_count; i++) {
        const struct device *d = find(q, &q->uses[i]);
        for (uint32_t k = 0; d != NULL && k < d->said.node_resource_count; k++)
            if (d->said.node_resources[k].maps && knows(q, &d->said.node_resources[k]))
                return true;
    }
    return false;
}
