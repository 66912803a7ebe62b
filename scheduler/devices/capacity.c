/* capacity: how much of a device's capacity a request consumes, and whether that is left. Mirrors
 * upstream's consumable_capacity.go. What must stay true: what upstream computes in whole units or
 * in thousandths (steps of a range) is computed in those here. */
#include "scheduler/devices/inside.h"

#define WHOLE ((dra_nano)1000000000)
#define MILLI ((dra_nano)1000000)

static int64_t whole(const struct amount *a)
{
    return kube_quantity_value((struct kube_quantity){a->nano});
}

static bool in_thousandths(const struct amount *a, int64_t *milli)
{
    *milli = (int64_t)(a->nano / MILLI);
    return a->nano % MILLI == 0 && a->nano / MILLI <= INT64_MAX && a->nano / MILLI >= INT64_MIN;
}

/* DRAFractionalCapacityRange: a range is dealt with in thousandths where all of it allows that. */
static bool fractional(const struct features *f, const struct policy *p)
{
    int64_t milli;
    return f->fractional_capacity &&
           (p->least.text.len == 0 || in_thousandths(&p->least, &milli)) &&
           (p->most.text.len == 0 || in_thousandths(&p->most, &milli)) &&
           in_thousandths(&p->step, &milli) && milli >= 1;
}

/* ---- what a request consumes ---- */

/* In units of scale, from the least on; false when it gets too large. */
static bool step_up(int64_t requested, int64_t least, int64_t step, int64_t *value)
{
    int64_t added, steps, sum;
    if (__builtin_sub_overflow(requested, least, &added))
        return false;
    steps = added / step + (added % step != 0);
    if (__builtin_mul_overflow(steps, step, &sum))
        return false;
    return !__builtin_add_overflow(sum, least, value);
}

static struct amount too_large(const struct amount *requested, struct arena *texts,
                               struct str *error, const char *before, const char *behind)
{
    if (error != NULL) {
        enum amount_format format = amount_format_of(requested->text);
        struct str text = amount_text(requested->nano, format, texts);
        *error = arena_print(texts,
                             "capacity request cannot be represented in the device's range "
                             "arithmetic: %s%.*s%s",
                             before, STR_ARG(text), behind);
    }
    return *requested;
}

static struct amount in_format(dra_nano nano, const struct amount *step, struct arena *texts)
{
    struct amount up = {.nano = nano};
    if (texts != NULL)
        up.text = amount_text(nano, amount_format_of(step->text), texts);
    return up;
}

static struct amount up_to_thousandths(const struct amount *requested, const struct policy *p,
                                       struct arena *texts, struct str *error)
{
    int64_t asked, least = 0, step, value;
    if (!in_thousandths(requested, &asked))
        return too_large(requested, texts, error, "request ",
                         " is not a representable milli value");
    in_thousandths(&p->least, &least);
    in_thousandths(&p->step, &step);
    if (!step_up(asked, least, step, &value))
        return too_large(requested, texts, error, "rounding request ",
                         " up to the next step passes the milli-value range");
    return in_format((dra_nano)value * MILLI, &p->step, texts);
}

static struct amount up_to_whole(const struct amount *requested, const struct policy *p,
                                 struct arena *texts, struct str *error)
{
    int64_t value;
    if (requested->nano > (dra_nano)INT64_MAX * WHOLE)
        return too_large(requested, texts, error, "request ", " exceeds MaxInt64");
    if (!step_up(whole(requested), whole(&p->least), whole(&p->step), &value))
        return too_large(requested, texts, error, "rounding request ",
                         " up to the next step passes MaxInt64");
    return in_format((dra_nano)value * WHOLE, &p->step, texts);
}

/* 1.36 writes all of them in BinarySI, and caps what gets too large. */
static struct amount up_to_binary(const struct amount *requested, const struct policy *p,
                                  struct arena *texts)
{
    int64_t value, added;
    if (__builtin_sub_overflow(whole(requested), whole(&p->least), &added))
        return *requested;
    if (!step_up(whole(requested), whole(&p->least), whole(&p->step), &value))
        value = INT64_MAX;
    struct amount up = {.nano = (dra_nano)value * WHOLE};
    if (texts != NULL)
        up.text = amount_text(up.nano, AMOUNT_binary, texts);
    return up;
}

/* Up to the next step from the least on. */
static struct amount up_to_step(const struct features *f, const struct amount *requested,
                                const struct policy *p, struct arena *texts, struct str *error)
{
    if (requested->nano < p->least.nano)
        return p->least;
    if (p->step.text.len == 0)
        return *requested;
    if (fractional(f, p))
        return up_to_thousandths(requested, p, texts, error);
    if (whole(&p->step) <= 0)
        return *requested;
    return f->release >= 37 ? up_to_whole(requested, p, texts, error)
                            : up_to_binary(requested, p, texts);
}

static struct amount up_to_value(const struct amount *requested, const struct policy *p)
{
    for (uint32_t i = 0; i < p->value_count; i++)
        if (requested->nano <= p->values[i].nano)
            return p->values[i];
    return *requested;
}

struct amount capacity_consumed(const struct features *features, const struct amount *requested,
                                const struct capacity *capacity, struct arena *texts,
                                struct str *error)
{
    const struct policy *p = &capacity->policy;
    if (requested == NULL)
        return p->standard.text.len > 0 ? p->standard : capacity->value;
    if (!capacity->has_policy)
        return *requested;
    if (p->has_range && p->least.text.len > 0)
        return up_to_step(features, requested, p, texts, error);
    if (p->value_count > 0)
        return up_to_value(requested, p);
    return *requested;
}

/* ---- whether it is left ---- */

static bool violates_range(const struct features *f, const struct amount *a, const struct policy *p)
{
    int64_t step = whole(&p->step), least = whole(&p->least), value = whole(a), added = 0;
    if (p->most.text.len > 0 && a->nano > p->most.nano)
        return true;
    if (p->step.text.len == 0)
        return false;
    if (fractional(f, p)) {
        if (!in_thousandths(a, &value))
            return true;
        in_thousandths(&p->step, &step);
        in_thousandths(&p->least, &least);
    }
    return step <= 0 || __builtin_sub_overflow(value, least, &added) || added % step != 0;
}

static bool violates(const struct features *f, const struct amount *a,
                     const struct capacity *capacity)
{
    const struct policy *p = &capacity->policy;
    if (!capacity->has_policy || (p->standard.text.len > 0 && a->nano == p->standard.nano))
        return false;
    if (p->has_range)
        return violates_range(f, a, p);
    for (uint32_t i = 0; i < p->value_count; i++)
        if (a->nano == p->values[i].nano)
            return false;
    return p->value_count > 0;
}

static const struct amount *requested_of(const struct capacity_question *q, struct str name)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (str_equal(q->requests[i].name, name))
            return &q->parsed[i];
    return NULL;
}

/* Whether the device has every capacity that is asked for. */
static bool knows(const struct capacity_question *q, const struct device *device)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < device->capacity_count; i++)
        known += requested_of(q, device->capacities[i].name) != NULL;
    return known == q->count;
}

/* Since 1.37 what cannot be consumed at all ends the search: of no device. */
static bool resolvable(const struct capacity_question *q, const struct device *device,
                       struct str *error)
{
    for (uint32_t i = 0; i < device->capacity_count; i++) {
        const struct capacity *c = &device->capacities[i];
        struct str why = {0};
        struct amount consumed =
            capacity_consumed(q->features, requested_of(q, c->name), c, q->texts, &why);
        if (why.len == 0 && consumed.nano < 0)
            why = STR_LITERAL("capacity value is negative");
        if (why.len > 0) {
            *error =
                arena_print(q->texts, "capacity \"%.*s\": %.*s", STR_ARG(c->name), STR_ARG(why));
            return false;
        }
    }
    return true;
}

enum capacity_verdict capacity_fits(const struct capacity_question *q, const struct device *device,
                                    bool taken, const dra_nano *allocating, struct str *error)
{
    if (!knows(q, device))
        return CAPACITY_lacks;
    if (q->features->release >= 37 && !resolvable(q, device, error))
        return CAPACITY_failed;
    for (uint32_t i = 0; i < device->capacity_count; i++) {
        const struct capacity *c = &device->capacities[i];
        struct amount consumed =
            capacity_consumed(q->features, requested_of(q, c->name), c, NULL, NULL);
        dra_nano sum = consumed.nano + (taken ? use_consumed(device->use, c->name) : 0);
        if (violates(q->features, &consumed, c) ||
            sum + (allocating == NULL ? 0 : allocating[i]) > c->value.nano)
            return CAPACITY_lacks;
    }
    return CAPACITY_fits;
}
