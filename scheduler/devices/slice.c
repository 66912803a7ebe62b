/* slice: a ResourceSlice as the store keeps it, copied into an arena of its own and with its
 * quantities read. What must stay true: nothing in it points into what the caller handed in, and a
 * slice with a malformed quantity does not come to be at all. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"

#include <string.h>

static struct str keep(struct arena *arena, struct str s)
{
    return s.len == 0 ? (struct str){0} : arena_copy(arena, s);
}

/* What is being read, for errors. */
struct reading {
    struct arena *arena;
    const struct dra_slice *slice;
    struct str device; /* empty: shared counters */
    struct buffer *error;
};

static struct amount take_amount(const struct reading *r, struct str text, const char *field,
                                 bool *good)
{
    struct amount a;
    if (!amount_parse(keep(r->arena, text), &a) && *good) {
        *good = false;
        buffer_print(r->error, "ResourceSlice %.*s: ", STR_ARG(r->slice->name));
        if (r->device.len > 0)
            buffer_print(r->error, "device %.*s: ", STR_ARG(r->device));
        buffer_print(r->error, "%s: quantity \"%.*s\" is malformed", field, STR_ARG(text));
    }
    return a;
}

static struct strs take_strs(struct arena *arena, struct strs from)
{
    struct strs copy = {from.count, arena_take(arena, from.count * sizeof(*copy.at))};
    for (uint32_t i = 0; i < from.count; i++)
        copy.at[i] = keep(arena, from.at[i]);
    return copy;
}

static void take_requirements(struct arena *arena, struct requirement *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        at[i].key = keep(arena, at[i].key);
        at[i].operator_name = keep(arena, at[i].operator_name);
        at[i].values = take_strs(arena, at[i].values);
    }
}

/* An array's copy, whose elements still point where they did. */
static void *take_array(struct arena *arena, const void *from, uint32_t count, size_t size)
{
    void *copy = arena_take(arena, count * size);
    if (count > 0)
        memcpy(copy, from, count * size);
    return copy;
}

static struct dra_reach take_reach(struct arena *arena, const struct dra_reach *from,
                                   struct str *bad)
{
    struct dra_reach reach = *from;
    struct buffer errors = {0};
    reach.node_name = keep(arena, from->node_name);
    struct node_term *terms = take_array(arena, from->terms, from->term_count, sizeof(*terms));
    for (uint32_t i = 0; i < from->term_count; i++) {
        struct node_term *t = &terms[i];
        t->expressions.at =
            take_array(arena, t->expressions.at, t->expressions.count, sizeof(*t->expressions.at));
        t->fields.at = take_array(arena, t->fields.at, t->fields.count, sizeof(*t->fields.at));
        take_requirements(arena, t->expressions.at, t->expressions.count);
        take_requirements(arena, t->fields.at, t->fields.count);
        node_term_check(t, "nodeSelectorTerms[0]", &errors);
    }
    reach.terms = terms;
    *bad = keep(arena, buffer_str(&errors));
    buffer_free(&errors);
    return reach;
}

static struct policy take_policy(const struct reading *r, const struct dra_policy *from, bool *good)
{
    struct policy p = {.has_range = from->has_range, .value_count = from->value_count};
    p.standard = take_amount(r, from->standard, "requestPolicy.default", good);
    p.least = take_amount(r, from->least, "requestPolicy.validRange.min", good);
    p.most = take_amount(r, from->most, "requestPolicy.validRange.max", good);
    p.step = take_amount(r, from->step, "requestPolicy.validRange.step", good);
    p.values = arena_take(r->arena, p.value_count * sizeof(*p.values));
    for (uint32_t i = 0; i < p.value_count; i++)
        p.values[i] = take_amount(r, from->values[i], "requestPolicy.validValues", good);
    return p;
}

static void take_capacities(const struct reading *r, struct device *device, bool *good)
{
    const struct dra_device *from = &device->said;
    device->capacity_count = from->capacity_count;
    device->capacities = arena_take(r->arena, from->capacity_count * sizeof(*device->capacities));
    for (uint32_t i = 0; i < from->capacity_count; i++) {
        const struct dra_capacity *c = &from->capacities[i];
        struct capacity *mine = &device->capacities[i];
        mine->name = keep(r->arena, c->name);
        mine->value = take_amount(r, c->value, "capacity", good);
        mine->has_policy = c->has_policy;
        if (c->has_policy)
            mine->policy = take_policy(r, &c->policy, good);
    }
    device->said.capacities = NULL;
}

static uint32_t counters_in(const struct dra_counters *sets, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += sets[i].count;
    return sum;
}

/* A set without counters is one entry without a name: it has to exist all the same. */
static void take_consumption(const struct reading *r, struct device *device, bool *good)
{
    const struct dra_device *from = &device->said;
    uint32_t room = counters_in(from->consumes, from->consumes_count) + from->consumes_count;
    device->consumption = arena_take(r->arena, room * sizeof(*device->consumption));
    device->group_uses = arena_take(r->arena, from->consumes_count * sizeof(*device->group_uses));
    for (uint32_t i = 0; i < from->consumes_count; i++) {
        struct str set = keep(r->arena, from->consumes[i].set);
        device->group_uses[device->group_use_count++] =
            (struct group_use){set, take_strs(r->arena, from->consumes[i].groups)};
        device->slice->uses_groups |= from->consumes[i].groups.count > 0;
        device->consumption[device->consumption_count++] =
            (struct consumption){.set = set, .counter = NO_COUNTER};
        for (uint32_t k = 0; k < from->consumes[i].count; k++) {
            const struct dra_amount *a = &from->consumes[i].at[k];
            struct amount amount = take_amount(r, a->value, "consumesCounters", good);
            device->consumption[device->consumption_count++] =
                (struct consumption){set, keep(r->arena, a->name), amount.nano, NO_COUNTER};
        }
    }
    device->said.consumes = NULL;
}

static struct cel_attribute *keep_attributes(struct arena *arena, const struct cel_attribute *from,
                                             uint32_t count)
{
    struct cel_attribute *copy = take_array(arena, from, count, sizeof(*copy));
    for (uint32_t i = 0; i < count; i++) {
        copy[i].name = keep(arena, copy[i].name);
        copy[i].text = keep(arena, copy[i].text);
    }
    return copy;
}

static void take_attributes(struct arena *arena, struct device *device)
{
    uint32_t count = device->said.attribute_count;
    struct cel_attribute *copy = keep_attributes(arena, device->said.attributes, count);
    for (uint32_t i = 0; i < count; i++)
        copy[i].values = keep_attributes(arena, copy[i].values, copy[i].value_count);
    device->said.attributes = copy;
}

static void take_taints(struct arena *arena, struct device *device)
{
    uint32_t count = device->said.taint_count;
    struct dra_taint *copy = take_array(arena, device->said.taints, count, sizeof(*copy));
    for (uint32_t i = 0; i < count; i++) {
        copy[i].key = keep(arena, copy[i].key);
        copy[i].value = keep(arena, copy[i].value);
        copy[i].effect = keep(arena, copy[i].effect);
    }
    device->said.taints = copy;
}

static void take_node_resources(const struct reading *r, struct device *device, bool *good)
{
    const struct dra_device *from = &device->said;
    struct dra_node_resource *mine =
        take_array(r->arena, from->node_resources, from->node_resource_count, sizeof(*mine));
    for (uint32_t i = 0; i < from->node_resource_count; i++) {
        mine[i].name = keep(r->arena, mine[i].name);
        mine[i].capacity_key = keep(r->arena, mine[i].capacity_key);
        mine[i].multiplier = take_amount(r, mine[i].multiplier, "nodeAllocatable", good).text;
        mine[i].per_pod = take_amount(r, mine[i].per_pod, "overhead.perPod", good).text;
        mine[i].per_container =
            take_amount(r, mine[i].per_container, "overhead.perContainer", good).text;
    }
    device->said.node_resources = mine;
    device->slice->takes_of_nodes |= from->node_resource_count > 0;
}

static void take_device(struct reading *r, const struct dra_device *from, struct slice *slice,
                        bool *good)
{
    struct device *device = &slice->devices[slice->device_count++];
    r->device = from->name;
    device->said = *from;
    device->slice = slice;
    device->said.name = keep(r->arena, from->name);
    device->said.binding_conditions = take_strs(r->arena, from->binding_conditions);
    device->said.binding_failure_conditions = take_strs(r->arena, from->binding_failure_conditions);
    device->said.reach = take_reach(r->arena, &from->reach, &device->bad_reach);
    take_attributes(r->arena, device);
    take_taints(r->arena, device);
    take_capacities(r, device, good);
    take_consumption(r, device, good);
    take_node_resources(r, device, good);
    slice->has_binding = slice->has_binding || from->binding_conditions.count > 0;
}

static void take_shared(struct reading *r, struct slice *slice, bool *good)
{
    const struct dra_slice *from = r->slice;
    r->device = (struct str){0};
    slice->set_count = from->shared_count;
    slice->sets = arena_take(r->arena, from->shared_count * sizeof(*slice->sets));
    slice->counters = arena_take(r->arena, counters_in(from->shared, from->shared_count) *
                                               sizeof(*slice->counters));
    for (uint32_t i = 0; i < from->shared_count; i++) {
        struct str set = slice->sets[i] = keep(r->arena, from->shared[i].set);
        for (uint32_t k = 0; k < from->shared[i].count; k++) {
            const struct dra_amount *a = &from->shared[i].at[k];
            struct amount amount = take_amount(r, a->value, "sharedCounters", good);
            slice->counters[slice->counter_count++] =
                (struct counter){set, keep(r->arena, a->name), amount.nano};
        }
    }
    slice->said.shared = NULL;
}

struct slice *slice_make(const struct dra_slice *said, struct buffer *error)
{
    bool good = true;
    struct slice *slice = memory_take(sizeof(*slice));
    struct arena *arena = &slice->arena;
    struct reading r = {.arena = arena, .slice = said, .error = error};
    slice->said = *said;
    slice->arena.first = 1024;
    slice->said.name = keep(arena, said->name);
    slice->said.driver = keep(arena, said->driver);
    slice->said.pool = keep(arena, said->pool);
    slice->said.skips = take_strs(arena, said->skips);
    slice->said.reach = take_reach(arena, &said->reach, &slice->bad_reach);
    slice->said.devices = NULL;
    take_shared(&r, slice, &good);
    slice->devices = arena_take(arena, said->device_count * sizeof(*slice->devices));
    for (uint32_t i = 0; i < said->device_count; i++)
        take_device(&r, &said->devices[i], slice, &good);
    if (!good)
        slice_free(slice);
    return good ? slice : NULL;
}

void slice_free(struct slice *slice)
{
    arena_free(&slice->arena);
    memory_free(slice);
}

int slice_compare(const struct slice *a, const struct slice *b)
{
    int order = str_compare(a->said.driver, b->said.driver);
    if (order == 0)
        order = str_compare(a->said.pool, b->said.pool);
    return order == 0 ? str_compare(a->said.name, b->said.name) : order;
}

/* Where the slice is, or belongs. */
static uint32_t slices_place(const struct slices *list, const struct slice *slice)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (slice_compare(list->at[middle], slice) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void slices_add(struct slices *list, struct slice *slice)
{
    if (list->count == list->room) {
        list->room = list->room == 0 ? 2 : list->room * 2;
        list->at = memory_resize(list->at, list->room * sizeof(struct slice *));
    }
    uint32_t place = slices_place(list, slice);
    memmove(&list->at[place + 1], &list->at[place], (list->count - place) * sizeof(struct slice *));
    list->at[place] = slice;
    list->count++;
}

void slices_remove(struct slices *list, struct slice *slice)
{
    uint32_t place = slices_place(list, slice);
    list->count--;
    memmove(&list->at[place], &list->at[place + 1], (list->count - place) * sizeof(struct slice *));
}
