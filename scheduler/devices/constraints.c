/* constraints: what devices of a claim must have in common, or must not, by one attribute. Mirrors
 * upstream's matchAttributeConstraint and distinctAttributeConstraint. With DRAListTypeAttributes,
 * since 1.37, attributes are sets, a value that is no list a set of one: those of all devices must
 * share a value, or no two may. With DRADerivedAttributes a request may say by an expression what
 * an attribute is for it. What must stay true: a device that was refused leaves no trace. */
#include "scheduler/devices/search.h"

/* Of a list's values only so many count; the API server allows 48 in all attributes of a device. */
#define VALUES_MAX 64

static const struct cel_attribute *attribute_named(const struct device *device, struct str name)
{
    for (uint32_t i = 0; i < device->said.attribute_count; i++)
        if (str_equal(device->said.attributes[i].name, name))
            return &device->said.attributes[i];
    return NULL;
}

/* By its full name, or by its id alone when the driver's is its domain. */
static const struct cel_attribute *attribute_of(const struct device *device, struct str full)
{
    const struct cel_attribute *found = attribute_named(device, full);
    int64_t slash = str_find(full, '/');
    if (found != NULL || slash < 0)
        return found;
    struct str domain = {full.at, (uint32_t)slash};
    if (!str_equal(domain, device->slice->said.driver))
        return NULL;
    return attribute_named(device,
                           (struct str){full.at + slash + 1, full.len - (uint32_t)slash - 1});
}

static bool same_value(const struct cel_attribute *a, const struct cel_attribute *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_ATTRIBUTE_bool: return a->truth == b->truth;
    case CEL_ATTRIBUTE_int: return a->number == b->number;
    case CEL_ATTRIBUTE_string:
    case CEL_ATTRIBUTE_version: return str_equal(a->text, b->text);
    case CEL_ATTRIBUTE_list:
    case CEL_ATTRIBUTE_none: break;
    }
    return false;
}

/* ---- sets ---- */

static const struct cel_attribute *values_of(const struct cel_attribute *value, uint32_t *count)
{
    *count = value->kind == CEL_ATTRIBUTE_none ? 0 : 1;
    if (value->kind != CEL_ATTRIBUTE_list)
        return value;
    *count = value->value_count < VALUES_MAX ? value->value_count : VALUES_MAX;
    return value->values;
}

/* Which of the one's values are among the other's, as bits. */
static uint64_t common_values(const struct cel_attribute *one, const struct cel_attribute *other)
{
    uint32_t count, others;
    const struct cel_attribute *at = values_of(one, &count), *in = values_of(other, &others);
    uint64_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < others; k++)
            if (same_value(&at[i], &in[k]))
                found |= 1ULL << i;
    return found;
}

/* Notes what of the first device's values is common to all so far. */
static bool shares_value(struct constraint *c, const struct cel_attribute *value)
{
    uint64_t common = common_values(c->devices == 0 ? value : c->value, value);
    if (c->devices > 0)
        common &= c->common[c->devices - 1];
    c->common[c->devices] = common;
    return common != 0;
}

/* ---- one after the other ---- */

static bool is_distinct(const struct dra_search *s, const struct cel_attribute *const *others,
                        uint32_t count, const struct cel_attribute *value)
{
    bool unknown = value->kind == CEL_ATTRIBUTE_none || value->kind == CEL_ATTRIBUTE_list;
    for (uint32_t i = 0; i < count; i++)
        if (others[i] != NULL && (s->ways.sets ? common_values(value, others[i]) != 0
                                               : unknown || same_value(others[i], value)))
            return false;
    return true;
}

/* 1.36 keeps one value for each request, that of its last device, and lets any device be first. */
static bool distinct(const struct dra_search *s, const struct constraint *c,
                     const struct asked_claim *claim, const struct cel_attribute *value)
{
    bool each = s->ways.features.release >= 37;
    if (c->devices == 0 && !each)
        return true;
    if (s->ways.sets && common_values(value, value) == 0)
        return false;
    return each ? is_distinct(s, c->each, c->devices, value)
                : is_distinct(s, c->by_request, claim->request_count, value);
}

static bool satisfies(const struct dra_search *s, struct constraint *c,
                      const struct asked_claim *claim, const struct cel_attribute *value)
{
    if (c->distinct)
        return distinct(s, c, claim, value);
    if (s->ways.sets)
        return shares_value(c, value);
    return c->devices == 0 || same_value(c->value, value);
}

/* ---- attributes that are derived ---- */

/* The last one of that name counts. */
static struct derived *derived_named(const struct choice *choice, struct str name)
{
    for (uint32_t i = choice->said->derived_count; i > 0; i--)
        if (str_equal(choice->derived[i - 1].name, name))
            return &choice->derived[i - 1];
    return NULL;
}

/* NULL with the search's error. */
static const struct cel_attribute *derive(struct dra_search *s, struct derived *derived,
                                          struct device *device)
{
    struct str why = {0};
    if (derived->program->cel == NULL) {
        s->error = arena_print(&s->work, "compile derived attribute %.*s failed: %.*s",
                               STR_ARG(derived->name), STR_ARG(derived->program->error));
        return NULL;
    }
    if (derived->known == NULL)
        derived->known =
            arena_take(&s->arena, s->devices->slots.top * sizeof(struct cel_attribute *));
    if (derived->known[device->slot] != NULL)
        return derived->known[device->slot];
    const struct cel_attribute *made =
        program_derive(s->devices, derived->program, device, &s->arena, &why);
    if (made == NULL) {
        s->error = arena_print(
            &s->work, "evaluate derived attribute %.*s on device %.*s/%.*s/%.*s failed: %.*s",
            STR_ARG(derived->name), STR_ARG(device->slice->said.driver),
            STR_ARG(device->slice->said.pool), STR_ARG(device->said.name), STR_ARG(why));
        return NULL;
    }
    derived->known[device->slot] = made;
    return made;
}

enum reply constraint_add(struct dra_search *s, struct constraint *c,
                          const struct asked_claim *claim, const struct pick *pick)
{
    const struct request *request = &claim->requests[pick->request];
    const struct choice *choice = &request->choices[pick->choice];
    if (!c->applies[choice->number])
        return REPLY_done;
    struct derived *derived = s->ways.derived ? derived_named(choice, c->attribute) : NULL;
    const struct cel_attribute *value = derived != NULL
                                            ? derive(s, derived, pick->what.device)
                                            : attribute_of(pick->what.device, c->attribute);
    if (value == NULL && derived != NULL)
        return REPLY_failed;
    if (value == NULL || !satisfies(s, c, claim, value))
        return REPLY_none;
    if (c->distinct)
        c->by_request[pick->request] = c->each[c->devices] = value;
    else if (c->devices == 0)
        c->value = value;
    c->devices++;
    return REPLY_done;
}

void constraint_remove(struct constraint *c, const struct asked_claim *claim,
                       const struct pick *pick)
{
    const struct request *request = &claim->requests[pick->request];
    if (!c->applies[request->choices[pick->choice].number])
        return;
    c->by_request[pick->request] = NULL;
    c->devices--;
}
