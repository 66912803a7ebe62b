/* spread_constraints: the coordinator's part of topology spread. The one idea: workers get
 * selectors that are complete, so they know nothing of Services, controllers or matchLabelKeys.
 *
 * What must stay true: everything taken from the catalog or the profile is copied, as both may
 * change while workers are at it. */
#include "scheduler/rules/spread_constraints.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/catalog.h"

#include <string.h>

bool spread_constraint_is_hard(const struct spread_constraint *c)
{
    return str_is(c->when_unsatisfiable, "DoNotSchedule");
}

bool spread_constraint_is_soft(const struct spread_constraint *c)
{
    return str_is(c->when_unsatisfiable, "ScheduleAnyway");
}

bool spread_constraints_check(const struct pod *pod, bool hard, struct buffer *error)
{
    for (uint32_t i = 0; i < pod->spread.count; i++) {
        const struct spread_constraint *c = &pod->spread.at[i];
        if ((hard ? spread_constraint_is_hard(c) : spread_constraint_is_soft(c)) &&
            c->selector.present && !label_selector_check(&c->selector, error))
            return false;
    }
    return true;
}

/* Makes room for more expressions behind those that are there. */
static void widen(struct selector *s, uint32_t more, struct arena *a)
{
    struct requirement *at = arena_take(a, (s->expressions.count + more) * sizeof(*at));
    if (s->expressions.count > 0)
        memcpy(at, s->expressions.at, s->expressions.count * sizeof(*at));
    s->expressions.at = at;
}

/* The label has to have that value, whatever else is asked of it. */
static void add_equality(struct selector *s, struct str key, struct str value, struct arena *a)
{
    struct str *values = arena_take(a, sizeof(*values));
    *values = value;
    s->expressions.at[s->expressions.count++] =
        (struct requirement){key, STR_LITERAL("In"), {1, values}};
}

/* ---- the pod's own ---- */

/* The API server may have done the same already; the labels may have changed since, and then both
 * have to hold. */
static void merge_label_keys(const struct pod *pod, struct spread_constraint *c, struct arena *a)
{
    if (!c->selector.present || c->match_label_keys.count == 0)
        return;
    widen(&c->selector, c->match_label_keys.count, a);
    for (uint32_t i = 0; i < c->match_label_keys.count; i++) {
        struct str key = c->match_label_keys.at[i], value;
        if (kube_label_find(pod->labels.at, pod->labels.count, key, &value))
            add_equality(&c->selector, key, value, a);
    }
}

/* ---- the defaults ---- */

/* As a Go map: the later value of a key replaces the earlier one. Sorted by key. */
static void put_label(struct selector *s, const struct label *l, struct arena *a)
{
    uint32_t i = 0;
    while (i < s->labels.count && str_compare(s->labels.at[i].key, l->key) < 0)
        i++;
    if (i == s->labels.count || !str_equal(s->labels.at[i].key, l->key)) {
        memmove(&s->labels.at[i + 1], &s->labels.at[i],
                (s->labels.count++ - i) * sizeof(*s->labels.at));
        s->labels.at[i].key = arena_copy(a, l->key);
    }
    s->labels.at[i].value = arena_copy(a, l->value);
}

static void put_labels(struct selector *s, const struct selector *from, struct arena *a)
{
    struct label *at = arena_take(a, (s->labels.count + from->labels.count) * sizeof(*at));
    if (s->labels.count > 0)
        memcpy(at, s->labels.at, s->labels.count * sizeof(*at));
    s->labels.at = at;
    for (uint32_t i = 0; i < from->labels.count; i++)
        put_label(s, &from->labels.at[i], a);
}

static bool selects(const struct owner *service, const struct pod *pod)
{
    struct str value;
    for (uint32_t i = 0; i < service->selector.labels.count; i++) {
        const struct label *l = &service->selector.labels.at[i];
        if (!kube_label_find(pod->labels.at, pod->labels.count, l->key, &value) ||
            !str_equal(value, l->value))
            return false;
    }
    return service->selector.present;
}

static void add_services(const struct pre_filter_question *q, struct selector *out)
{
    size_t at = 0;
    const struct owner *service;
    while ((service = catalog_next_service(q->catalog, q->pod->namespace_name, &at)) != NULL)
        if (selects(service, q->pod))
            put_labels(out, &service->selector, q->arena);
}

/* A malformed selector adds nothing, nor does one that is absent. */
static void add_requirements(struct selector *out, const struct selector *from, struct arena *a)
{
    if (!from->present || !label_selector_check(from, NULL))
        return;
    widen(out, from->labels.count + from->expressions.count, a);
    for (uint32_t i = 0; i < from->labels.count; i++)
        add_equality(out, arena_copy(a, from->labels.at[i].key),
                     arena_copy(a, from->labels.at[i].value), a);
    for (uint32_t i = 0; i < from->expressions.count; i++)
        codec_copy(&requirement_record, &out->expressions.at[out->expressions.count++],
                   &from->expressions.at[i], a);
}

static void add_controller(const struct pre_filter_question *q, struct selector *out)
{
    const struct pod *pod = q->pod;
    bool core = str_is(pod->owner_api, "v1") || str_is(pod->owner_api, "/v1");
    bool apps = str_is(pod->owner_api, "apps/v1");
    enum catalog_kind kind = CATALOG_KINDS;
    if (core && str_is(pod->owner_kind, "ReplicationController"))
        kind = CATALOG_replication_controller;
    else if (apps && str_is(pod->owner_kind, "ReplicaSet"))
        kind = CATALOG_replica_set;
    else if (apps && str_is(pod->owner_kind, "StatefulSet"))
        kind = CATALOG_stateful_set;
    if (kind == CATALOG_KINDS)
        return;
    const struct owner *owner =
        catalog_owner(q->catalog, kind, pod->namespace_name, pod->owner_name);
    if (owner == NULL)
        return;
    if (kind == CATALOG_replication_controller)
        put_labels(out, &owner->selector, q->arena);
    else
        add_requirements(out, &owner->selector, q->arena);
}

static void use_defaults(const struct pre_filter_question *q)
{
    const struct profile *profile = &q->framework->profile;
    const struct spread_constraint system[] = {
        {.max_skew = 3,
         .topology_key = STR_LITERAL("kubernetes.io/hostname"),
         .when_unsatisfiable = STR_LITERAL("ScheduleAnyway")},
        {.max_skew = 5,
         .topology_key = STR_LITERAL("topology.kubernetes.io/zone"),
         .when_unsatisfiable = STR_LITERAL("ScheduleAnyway")},
    };
    bool by_system = profile->spread_system_defaults;
    const struct spread_constraint *defaults = by_system ? system : profile->spread_defaults.at;
    uint32_t count =
        by_system ? sizeof(system) / sizeof(system[0]) : profile->spread_defaults.count;
    struct selector selector = {.present = true};
    if (count == 0)
        return;
    add_services(q, &selector);
    add_controller(q, &selector);
    if (selector.labels.count + selector.expressions.count == 0)
        return;
    q->prepared->spread.count = count;
    q->prepared->spread.at = arena_take(q->arena, count * sizeof(*q->prepared->spread.at));
    for (uint32_t i = 0; i < count; i++) {
        struct spread_constraint *c = &q->prepared->spread.at[i];
        codec_copy(&spread_constraint_record, c, &defaults[i], q->arena);
        c->selector = selector;
    }
}

void spread_constraints_prepare(const struct pre_filter_question *q)
{
    uint32_t own = q->pod->spread.count;
    q->findings->spread_needs_all_keys = own > 0 || !q->framework->profile.spread_system_defaults;
    if (own == 0) {
        use_defaults(q);
        return;
    }
    q->prepared->spread.at = arena_take(q->arena, own * sizeof(*q->prepared->spread.at));
    for (uint32_t i = 0; i < own; i++) {
        q->prepared->spread.at[i] = q->pod->spread.at[i];
        if (q->framework->profile.features.spread_label_keys)
            merge_label_keys(q->pod, &q->prepared->spread.at[i], q->arena);
    }
}
