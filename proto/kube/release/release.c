/* release: the tables of the releases. The one idea: what differs between two releases is looked up
 * here, and nowhere is a release known by another name than its minor version. What must stay true:
 * tests/fidelity/gates_differ.py holds every row against upstream's source.
 *
 *   RELEASE(minor, version, full)
 *                               full: the version that everything here is held against
 *   BEFORE(first, second)       a difference from the order of proto/plugins.def's default list
 *   LACKS(field)                a field of a configuration that it does not know
 *   WITHOUT(plugin, point)      a point that it does not extend, though proto/plugins.def says so;
 *                               without a point: there is no such plugin
 *   GATE(name, default, stage, otherwise)
 *                               a feature gate, and what becomes of its other value (enum
 *                               gate_effect)
 *   NEEDS(name, need)           what a gate that is on takes: another one that is on
 *   FEATURE(gate, member)       a gate that a decision asks, as a member of struct features; of
 * several gates one is enough
 *
 * Another release is another table, a row here, and the rules that really changed. */
#include "proto/kube/release/release.h"

#include "proto/base/str.h"

#include <string.h>

#define STAGE_GA         ""
#define STAGE_ALPHA      "ALPHA"
#define STAGE_BETA       "BETA"
#define STAGE_DEPRECATED "DEPRECATED"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* One kind of rows at a time; each table is read six times. */
#define RELEASE(number, text, whole)
#define LACKS(field)
#define BEFORE(first, second)
#define WITHOUT(plugin, point)
#define GATE(name, by_default, stage, otherwise)
#define NEEDS(name, need)
#define FEATURE(gate, member)

#undef GATE
#define GATE(name, by_default, stage, otherwise)                                                   \
    {#name, STAGE_##stage, by_default, GATE_##otherwise},
static const struct release_gate gates_36[] = {
#include "proto/kube/release/release_1_36.def"
};
static const struct release_gate gates_37[] = {
#include "proto/kube/release/release_1_37.def"
};
#undef GATE
#define GATE(name, by_default, stage, otherwise)

#undef NEEDS
#define NEEDS(name, need) {#name, #need},
static const struct release_need needs_36[] = {
#include "proto/kube/release/release_1_36.def"
};
static const struct release_need needs_37[] = {
#include "proto/kube/release/release_1_37.def"
};
#undef NEEDS
#define NEEDS(name, need)

#undef FEATURE
#define FEATURE(gate, member) {#gate, offsetof(struct features, member)},
static const struct release_feature features_36[] = {
#include "proto/kube/release/release_1_36.def"
};
static const struct release_feature features_37[] = {
#include "proto/kube/release/release_1_37.def"
};
#undef FEATURE
#define FEATURE(gate, member)

#undef BEFORE
#define BEFORE(first, second) {#first, #second},
static const struct release_order orders_37[] = {
#include "proto/kube/release/release_1_37.def"
};
#undef BEFORE
#define BEFORE(first, second)

#undef LACKS
#define LACKS(field) #field,
static const char *const lacks_36[] = {
#include "proto/kube/release/release_1_36.def"
};
#undef LACKS
#define LACKS(field)

#undef WITHOUT
#define WITHOUT(plugin, point) {#plugin, #point},
static const struct release_without without_36[] = {
#include "proto/kube/release/release_1_36.def"
};
#undef WITHOUT
#define WITHOUT(plugin, point)

#undef RELEASE
#define RELEASE(number, text, whole) .minor = (number), .version = (text), .full = (whole),
static const struct kube_release releases[] = {
    {
#include "proto/kube/release/release_1_36.def"
        .gate_count = COUNT(gates_36),
        .gates = gates_36,
        .need_count = COUNT(needs_36),
        .needs = needs_36,
        .feature_count = COUNT(features_36),
        .features = features_36,
        .without_count = COUNT(without_36),
        .without = without_36,
        .lack_count = COUNT(lacks_36),
        .lacks = lacks_36},
    {
#include "proto/kube/release/release_1_37.def"
        .gate_count = COUNT(gates_37),
        .gates = gates_37,
        .need_count = COUNT(needs_37),
        .needs = needs_37,
        .feature_count = COUNT(features_37),
        .features = features_37,
        .order_count = COUNT(orders_37),
        .orders = orders_37},
};

const struct kube_release *release_of(int64_t minor)
{
    const struct kube_release *nearest = &releases[0];
    for (size_t i = 0; i < COUNT(releases); i++)
        if (releases[i].minor <= minor)
            nearest = &releases[i];
    return nearest;
}

bool release_read(const char *text, int64_t *minor)
{
    struct str version = str_of(text);
    if (str_starts_with(version, "kube="))
        version = str_of(text + strlen("kube="));
    for (size_t i = 0; i < COUNT(releases); i++)
        if (str_is(version, releases[i].version)) {
            *minor = releases[i].minor;
            return true;
        }
    return false;
}

bool release_knows(int64_t minor, const char *field)
{
    const struct kube_release *r = release_of(minor);
    for (size_t i = 0; i < r->lack_count; i++)
        if (strcmp(r->lacks[i], field) == 0)
            return false;
    return true;
}

bool release_extends(int64_t minor, struct str plugin, const char *point)
{
    const struct kube_release *r = release_of(minor);
    for (size_t i = 0; i < r->without_count; i++)
        if (str_is(plugin, r->without[i].plugin) &&
            (r->without[i].point[0] == 0 || strcmp(r->without[i].point, point) == 0))
            return false;
    return true;
}

static bool by_default(const struct kube_release *r, const char *gate)
{
    for (size_t i = 0; i < r->gate_count; i++)
        if (strcmp(r->gates[i].name, gate) == 0)
            return r->gates[i].by_default;
    return false;
}

struct features release_features(int64_t minor)
{
    const struct kube_release *r = release_of(minor);
    struct features features = {.release = r->minor};
    for (size_t i = 0; i < r->feature_count; i++)
        *(bool *)((char *)&features + r->features[i].offset) |= by_default(r, r->features[i].gate);
    return features;
}
