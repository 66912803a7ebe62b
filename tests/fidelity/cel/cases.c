/* cases: reads a device of the questions that upstream's selectors and ours are both asked. What
 * must stay true: a member that is not there is what Go makes of it, none of a kind, false or
 * empty. */
#include "tests/fidelity/cel/cases.h"

#include "proto/base/must.h"

const char *const case_verdicts[] = {"no match", "match", "failed"};

static struct cel_attribute value_of(const struct kube_json *v, enum cel_attribute_kind kind)
{
    struct cel_attribute a = {.kind = kind, .truth = kube_json_true(v), .text = kube_json_text(v)};
    must(kind != CEL_ATTRIBUTE_int || kube_json_i64(v, &a.number));
    return a;
}

bool case_list(const struct kube_json *json, struct arena *arena, struct cel_attribute *a)
{
    static const char *const members[] = {"bools", "ints", "strings", "versions"};
    for (uint32_t i = 0; i < 4; i++) {
        const struct kube_json *list = kube_json_get(json, members[i]), *v = NULL;
        struct cel_attribute *values =
            arena_take(arena, (kube_json_count(list) + 1) * sizeof(*values));
        if (list == NULL)
            continue;
        a->kind = CEL_ATTRIBUTE_list;
        for (v = kube_json_first(list); v != NULL; v = kube_json_next(v))
            values[a->value_count++] =
                value_of(v, (enum cel_attribute_kind)(CEL_ATTRIBUTE_bool + i));
        a->values = values;
        return true;
    }
    return false;
}

static struct cel_attribute attribute_of(const struct kube_json *json, struct arena *arena)
{
    struct cel_attribute a = {.name = kube_json_name(json)};
    const struct kube_json *v = NULL;
    if (case_list(json, arena, &a))
        return a;
    if ((v = kube_json_get(json, "bool")) != NULL) {
        a.kind = CEL_ATTRIBUTE_bool;
        a.truth = kube_json_true(v);
    } else if ((v = kube_json_get(json, "int")) != NULL) {
        a.kind = CEL_ATTRIBUTE_int;
        must(kube_json_i64(v, &a.number));
    } else if ((v = kube_json_get(json, "string")) != NULL) {
        a.kind = CEL_ATTRIBUTE_string;
        a.text = kube_json_text(v);
    } else if ((v = kube_json_get(json, "version")) != NULL) {
        a.kind = CEL_ATTRIBUTE_version;
        a.text = kube_json_text(v);
    }
    return a;
}

const struct cel_subject *case_subject(const struct kube_json *device, struct arena *arena)
{
    const struct kube_json *list = kube_json_get(device, "attributes"), *child = NULL;
    struct cel_attribute *attributes =
        arena_take(arena, (kube_json_count(list) + 1) * sizeof(*attributes));
    struct cel_device d = {.driver = kube_json_text(kube_json_get(device, "driver")),
                           .attributes = attributes};
    d.allow_multiple_allocations =
        kube_json_true(kube_json_get(device, "allowMultipleAllocations"));
    for (child = kube_json_first(list); child != NULL; child = kube_json_next(child))
        attributes[d.attribute_count++] = attribute_of(child, arena);
    list = kube_json_get(device, "capacity");
    struct cel_capacity *capacities =
        arena_take(arena, (kube_json_count(list) + 1) * sizeof(*capacities));
    d.capacities = capacities;
    for (child = kube_json_first(list); child != NULL; child = kube_json_next(child))
        capacities[d.capacity_count++] =
            (struct cel_capacity){kube_json_name(child), kube_json_text(child)};
    return cel_subject_new(arena, &d);
}
