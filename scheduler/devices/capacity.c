/* capacity: how much of a device's capacity a request consumes, and whether that is left. Mirrors
 * upstream's consumable_capacity.go. What must stay true: what upstream computes in whole units
 * (steps of a range) is computed in whole units here. */
#include "scheduler/devices/inside.h"

#define WHOLE ((dra_nano)1000000000)

static int64_t whole(const struct amount *a)
{
    return kube_quantity_value((struct kube_quantity){a->nano});
}

/* A whole number as upstream writes one in BinarySI. */
static struct str binary_text(int64_t value, struct arena *arena)
{
    static const char suffixes[] = "\0KMGTPE";
    uint32_t power = 0;
    if (value == 1000 || value == -1000) /* below 1024 decimal suffixes are used */
        return arena_print(arena, "%dk", value > 0 ? 1 : -1);
    while (power < 6 && value != 0 && value % 1024 == 0) {
        value /= 1024;
        power++;
    }
    if (power == 0)
        return arena_print(arena, "%lld", (long long)value);
    return arena_print(arena, "%lld%ci", (long long)value, suffixes[power]);
}

/* Up to the next step from the least on, in whole units. */
static struct amount up_to_step(const struct amount *requested, const struct policy *p,
                                struct arena *texts)
{
    if (requested->nano < p->least.nano)
        return p->least;
    int64_t step = whole(&p->step), least = whole(&p->least), value = 0, added = 0;
    if (p->step.text.len == 0 || step <= 0 ||
        __builtin_sub_overflow(whole(requested), least, &added))
        return *requested;
    int64_t steps = added / step + (added % step != 0);
    if (__builtin_mul_overflow(steps, step, &value) || __builtin_add_overflow(value, least, &value))
        value = INT64_MAX;
    struct amount up = {.nano = (dra_nano)value * WHOLE};
    if (texts != NULL)
        up.text = binary_text(value, texts);
    return up;
}

static struct amount up_to_value(const struct amount *requested, const struct policy *p)
{
    for (uint32_t i = 0; i < p->value_count; i++)
        if (requested->nano <= p->values[i].nano)
            return p->values[i];
    return *requested;
}

struct amount capacity_consumed(const struct amount *requested, const struct capacity *capacity,
                                struct arena *texts)
{
    const struct policy *p = &capacity->policy;
    if (requested == NULL)
        return p->standard.text.len > 0 ? p->standard : capacity->value;
    if (!capacity->has_policy)
        return *requested;
    if (p->has_range && p->least.text.len > 0)
        return up_to_step(requested, p, texts);
    if (p->value_count > 0)
        return up_to_value(requested, p);
    return *requested;
}

static bool violates_range(const struct amount *a, const struct policy *p)
{
    if (p->most.text.len > 0 && a->nano > p->most.nano)
        return true;
    int64_t step = whole(&p->step), added = 0;
    if (p->step.text.len == 0)
        return false;
    return step <= 0 || __builtin_sub_overflow(whole(a), whole(&p->least), &added) ||
           added % step != 0;
}

static bool violates(const struct amount *a, const struct capacity *capacity)
{
    const struct policy *p = &capacity->policy;
    if (!capacity->has_policy || (p->standard.text.len > 0 && a->nano == p->standard.nano))
        return false;
    if (p->has_range)
        return violates_range(a, p);
    for (uint32_t i = 0; i < p->value_count; i++)
        if (a->nano == p->values[i].nano)
            return false;
    return p->value_count > 0;
}

static const struct amount *requested_of(struct str name, const struct dra_amount *requests,
                                         const struct amount *parsed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(requests[i].name, name))
            return &parsed[i];
    return NULL;
}

bool capacity_fits(const struct device *device, const struct dra_amount *requests,
                   const struct amount *parsed, uint32_t count, const dra_nano *allocating)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < device->capacity_count; i++) {
        const struct capacity *c = &device->capacities[i];
        const struct amount *requested = requested_of(c->name, requests, parsed, count);
        struct amount consumed = capacity_consumed(requested, c, NULL);
        dra_nano sum = consumed.nano + use_consumed(device->use, c->name);
        if (violates(&consumed, c) ||
            sum + (allocating == NULL ? 0 : allocating[i]) > c->value.nano)
            return false;
        known += requested != NULL;
    }
    return known == count; /* else the device has no such capacity */
}
