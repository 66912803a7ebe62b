/* objects_devices: ResourceClaims, DeviceClasses and ResourceSlices, and how a pod names its
 * claims. The one idea: a claim made from a template has a name that only the pod's status knows;
 * amounts and expressions stay the texts that they are, for those who compare and evaluate them.
 * What must stay true: maps come out sorted by name, and an absent amount stays apart from a zero.
 */
#include "proto/kube/objects/objects_internal.h"

#include "proto/kube/objects/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Claims that a scheduler has made for extended resources of a pod. */
#define EXTENDED_ANNOTATION "resource.kubernetes.io/extended-resource-claim"

/* What the status says of a claim that is made from a template. */
static void read_generated(const struct cursor *statuses, struct device_claim *claim)
{
    claim->generated = true;
    for (struct cursor i = cursor_first(statuses); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i) || !str_equal(cursor_text(&i, "name"), claim->name))
            continue;
        claim->claim = cursor_text(&i, "resourceClaimName");
        claim->unneeded = claim->claim.len == 0;
        return;
    }
}

struct device_claim *object_device_claims(const struct cursor *spec, const struct cursor *status,
                                          uint32_t *count)
{
    struct cursor list = cursor_list(spec, "resourceClaims");
    struct cursor statuses = cursor_list(status, "resourceClaimStatuses");
    size_t found = kube_json_count(list.value);
    struct device_claim *claims = found ? cursor_take(&list, found, sizeof(*claims)) : NULL;
    *count = 0;
    if (claims == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct device_claim *claim = &claims[(*count)++];
        claim->name = cursor_text(&i, "name");
        claim->claim = cursor_text(&i, "resourceClaimName");
        claim->template = cursor_text(&i, "resourceClaimTemplateName");
        claim->malformed = claim->claim.len == 0 && claim->template.len == 0;
        if (claim->claim.len == 0 && !claim->malformed)
            read_generated(&statuses, claim);
    }
    return claims;
}

/* ---- pieces ---- */

struct named_cursor {
    struct str name;
    struct cursor cursor;
    size_t order; /* in the document, so that the later of two equal names wins */
};

static int by_name(const void *a, const void *b)
{
    const struct named_cursor *x = a, *y = b;
    int order = str_compare(x->name, y->name);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* The members of a map, sorted by name, from the arena; up must outlive them. */
static struct named_cursor *members(const struct cursor *map, uint32_t *count)
{
    size_t found = kube_json_count(map->value), n = 0;
    struct named_cursor *all = found ? cursor_take(map, found, sizeof(*all)) : NULL;
    *count = 0;
    if (all == NULL)
        return NULL;
    for (struct cursor c = cursor_first(map); c.value != NULL; c = cursor_next(&c), n++) {
        all[n] = (struct named_cursor){arena_copy(c.reading->arena, str_of(c.name)), c, n};
        all[n].cursor.name = all[n].name.at;
    }
    qsort(all, n, sizeof(*all), by_name);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_equal(all[i].name, all[i + 1].name))
            all[(*count)++] = all[i];
    return all;
}

/* A quantity as it is written; empty: there is none. */
static struct str own_amount(const struct cursor *s)
{
    if (s->value == NULL || kube_json_is_string(s->value)) {
        (void)cursor_own_quantity(s);
        return cursor_own_text(s);
    }
    struct buffer text = {0};
    (void)cursor_own_quantity(s);
    kube_json_write(s->value, &text);
    struct str copy = arena_copy(s->reading->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static struct str amount(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    return s.value == NULL ? (struct str){0} : own_amount(&s);
}

/* A map of quantities; or, with a member, of objects that have one under that name. */
static struct label *amounts(const struct cursor *map, const char *member, uint32_t *count)
{
    uint32_t found;
    struct named_cursor *all = members(map, &found);
    struct label *out = found ? cursor_take(map, found, sizeof(*out)) : NULL;
    *count = 0;
    for (uint32_t i = 0; out != NULL && i < found; i++) {
        const struct cursor *s = &all[i].cursor;
        if (member != NULL && !cursor_is_object(s))
            continue;
        out[(*count)++] =
            (struct label){all[i].name, member != NULL ? amount(s, member) : own_amount(s)};
    }
    return out;
}

static struct device_toleration *read_tolerations(const struct cursor *up, uint32_t *count)
{
    struct cursor list = cursor_list(up, "tolerations");
    size_t found = kube_json_count(list.value);
    struct device_toleration *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct cursor seconds = cursor_member(&i, "tolerationSeconds");
        out[(*count)++] =
            (struct device_toleration){.key = cursor_text(&i, "key"),
                                       .operator_name = cursor_text(&i, "operator"),
                                       .value = cursor_text(&i, "value"),
                                       .effect = cursor_text(&i, "effect"),
                                       .has_seconds = seconds.value != NULL,
                                       .seconds = cursor_i64(&i, "tolerationSeconds")};
    }
    return out;
}

static struct strs read_selectors(const struct cursor *up)
{
    struct cursor list = cursor_list(up, "selectors");
    size_t found = kube_json_count(list.value);
    struct strs out = {0};
    out.at = found ? cursor_take(&list, found, sizeof(*out.at)) : NULL;
    if (out.at == NULL)
        return out;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        struct cursor cel = {0};
        if (cursor_is_object(&i))
            cel = cursor_object(&i, "cel");
        out.at[out.count++] = cel.value ? cursor_text(&cel, "expression") : (struct str){0};
    }
    return out;
}

/* The bytes as the API server sent them; a document that did not come from there has a value, which
 * is written. */
static struct str read_parameters(const struct cursor *opaque)
{
    struct cursor s = cursor_member(opaque, "parameters");
    struct buffer text = {0};
    if (s.value == NULL || kube_json_is_string(s.value))
        return cursor_own_text(&s);
    kube_json_write(s.value, &text);
    struct str copy = arena_copy(s.reading->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static struct opaque_config *read_config(const struct cursor *up, uint32_t *count)
{
    struct cursor list = cursor_list(up, "config");
    size_t found = kube_json_count(list.value);
    struct opaque_config *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct cursor opaque = cursor_object(&i, "opaque");
        out[(*count)++] = (struct opaque_config){.requests = cursor_texts(&i, "requests"),
                                                 .driver = cursor_text(&opaque, "driver"),
                                                 .parameters = read_parameters(&opaque)};
    }
    return out;
}

/* ---- claims ---- */

static struct label *read_derived(const struct cursor *up, uint32_t *count)
{
    struct cursor list = cursor_list(up, "derivedAttributes");
    size_t found = kube_json_count(list.value);
    struct label *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] =
                (struct label){cursor_text(&i, "name"), cursor_text(&i, "expression")};
    return out;
}

static struct device_ask read_ask(const struct cursor *s)
{
    struct cursor capacity = cursor_object(s, "capacity");
    struct cursor requests = cursor_object(&capacity, "requests");
    struct device_ask ask = {.name = cursor_text(s, "name"),
                             .class_name = cursor_text(s, "deviceClassName"),
                             .selectors = read_selectors(s),
                             .mode = cursor_text(s, "allocationMode"),
                             .count = cursor_i64(s, "count"),
                             .admin_access = cursor_bool(s, "adminAccess")};
    ask.tolerations.at = read_tolerations(s, &ask.tolerations.count);
    ask.capacity.at = amounts(&requests, NULL, &ask.capacity.count);
    ask.derived.at = read_derived(s, &ask.derived.count);
    return ask;
}

static void read_request(const struct cursor *s, struct device_request *request)
{
    struct cursor exactly = cursor_object(s, "exactly"), list = cursor_list(s, "firstAvailable");
    size_t found = exactly.value != NULL ? 1 : kube_json_count(list.value);
    request->name = cursor_text(s, "name");
    request->exactly = exactly.value != NULL;
    request->asks.at = found ? cursor_take(s, found, sizeof(*request->asks.at)) : NULL;
    if (request->asks.at == NULL)
        return;
    if (request->exactly) {
        request->asks.at[request->asks.count++] = read_ask(&exactly);
        request->asks.at[0].name = request->name;
        return;
    }
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            request->asks.at[request->asks.count++] = read_ask(&i);
}

static void read_requests(const struct cursor *devices, struct resource_claim *claim)
{
    struct cursor list = cursor_list(devices, "requests");
    size_t found = kube_json_count(list.value);
    claim->requests.at = found ? cursor_take(&list, found, sizeof(*claim->requests.at)) : NULL;
    if (claim->requests.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_request(&i, &claim->requests.at[claim->requests.count++]);
}

static void read_constraints(const struct cursor *devices, struct resource_claim *claim)
{
    struct cursor list = cursor_list(devices, "constraints");
    size_t found = kube_json_count(list.value);
    claim->constraints.at =
        found ? cursor_take(&list, found, sizeof(*claim->constraints.at)) : NULL;
    if (claim->constraints.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            claim->constraints.at[claim->constraints.count++] = (struct device_constraint){
                .requests = cursor_texts(&i, "requests"),
                .match_attribute = cursor_text(&i, "matchAttribute"),
                .distinct_attribute = cursor_text(&i, "distinctAttribute")};
}

static void read_result(const struct cursor *s, struct allocated_device *device)
{
    struct cursor consumed = cursor_object(s, "consumedCapacity");
    struct cursor admin = cursor_member(s, "adminAccess");
    *device = (struct allocated_device){.request = cursor_text(s, "request"),
                                        .driver = cursor_text(s, "driver"),
                                        .pool = cursor_text(s, "pool"),
                                        .device = cursor_text(s, "device"),
                                        .has_admin_access = admin.value != NULL,
                                        .admin_access = cursor_bool(s, "adminAccess"),
                                        .binding_conditions = cursor_texts(s, "bindingConditions"),
                                        .binding_failure_conditions =
                                            cursor_texts(s, "bindingFailureConditions"),
                                        .share_id = cursor_text(s, "shareID"),
                                        .skips = cursor_texts(s, "skipNodeOperations")};
    device->tolerations.at = read_tolerations(s, &device->tolerations.count);
    device->consumed.at = amounts(&consumed, NULL, &device->consumed.count);
}

static void read_results(const struct cursor *allocation, struct resource_claim *claim)
{
    struct cursor devices = cursor_object(allocation, "devices");
    struct cursor list = cursor_list(&devices, "results");
    size_t found = kube_json_count(list.value);
    claim->allocated_us = cursor_time(allocation, "allocationTimestamp");
    claim->devices.at = found ? cursor_take(&list, found, sizeof(*claim->devices.at)) : NULL;
    if (claim->devices.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_result(&i, &claim->devices.at[claim->devices.count++]);
}

static void read_device_status(const struct cursor *s, struct device_status *device)
{
    struct cursor list = cursor_list(s, "conditions");
    size_t found = kube_json_count(list.value);
    *device = (struct device_status){.driver = cursor_text(s, "driver"),
                                     .pool = cursor_text(s, "pool"),
                                     .device = cursor_text(s, "device"),
                                     .share_id = cursor_text(s, "shareID")};
    device->conditions.at =
        found ? cursor_take(&list, found, sizeof(*device->conditions.at)) : NULL;
    if (device->conditions.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            device->conditions.at[device->conditions.count++] =
                (struct device_condition){.type = cursor_text(&i, "type"),
                                          .status = cursor_text(&i, "status"),
                                          .reason = cursor_text(&i, "reason"),
                                          .message = cursor_text(&i, "message")};
}

static void read_device_statuses(const struct cursor *status, struct resource_claim *claim)
{
    struct cursor list = cursor_list(status, "devices");
    size_t found = kube_json_count(list.value);
    claim->device_statuses.at =
        found ? cursor_take(&list, found, sizeof(*claim->device_statuses.at)) : NULL;
    if (claim->device_statuses.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_device_status(&i, &claim->device_statuses.at[claim->device_statuses.count++]);
}

static void read_reserved_groups(const struct cursor *status, struct resource_claim *claim)
{
    struct cursor list = cursor_list(status, "reservedFor");
    struct strs *groups = &claim->reserved_groups;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i) || !str_is(cursor_text(&i, "apiGroup"), KUBE_GANG_BUILT_IN) ||
            !str_is(cursor_text(&i, "resource"), "podgroups"))
            continue;
        if (groups->at == NULL)
            groups->at = cursor_take(&list, kube_json_count(list.value), sizeof(*groups->at));
        if (groups->at == NULL)
            return;
        groups->at[groups->count++] = cursor_text(&i, "name");
    }
}

/* In whichever version. */
static struct str name_of_group(const struct controller *owner)
{
    bool is =
        str_is(owner->kind, "PodGroup") && str_starts_with(owner->api, KUBE_GANG_BUILT_IN "/");
    return is ? owner->name : (struct str){NULL, 0};
}

static void read_claim_status(const struct cursor *status, struct resource_claim *claim)
{
    struct cursor allocation = cursor_object(status, "allocation");
    struct cursor selector = cursor_object(&allocation, "nodeSelector");
    struct cursor terms = cursor_list(&selector, "nodeSelectorTerms");
    claim->allocated = allocation.value != NULL;
    claim->has_terms = selector.value != NULL;
    claim->terms.at = kube_read_node_terms(&terms, &claim->terms.count);
    claim->reserved_for = object_each(status, "reservedFor", "uid");
    read_reserved_groups(status, claim);
    read_results(&allocation, claim);
    read_device_statuses(status, claim);
}

bool kube_object_resource_claim(const struct kube_json *object, struct resource_claim *claim,
                                struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    struct str marked;
    object_subject(object, "ResourceClaim", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"),
                  status = cursor_object(&root, "status");
    struct cursor spec = cursor_object(&root, "spec"), devices = cursor_object(&spec, "devices");
    struct cursor deleting = cursor_member(&metadata, "deletionTimestamp");
    *claim = (struct resource_claim){.deleting = deleting.value != NULL};
    claim->namespace_name = cursor_text(&metadata, "namespace");
    claim->name = object_name(&metadata);
    claim->uid = cursor_text(&metadata, "uid");
    claim->resource_version = object_version(&metadata);
    const struct controller owner = object_controller(&metadata);
    claim->owner_uid = owner.uid;
    claim->owner_group = name_of_group(&owner);
    claim->extended =
        object_annotation(&metadata, EXTENDED_ANNOTATION, &marked) && str_is(marked, "true");
    read_requests(&devices, claim);
    read_constraints(&devices, claim);
    claim->config.at = read_config(&devices, &claim->config.count);
    read_claim_status(&status, claim);
    return object_finish(&r, error);
}

/* ---- classes and slices ---- */

bool kube_object_device_class(const struct kube_json *object, struct device_class *device_class,
                              struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "DeviceClass", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    *device_class =
        (struct device_class){.name = object_name(&metadata),
                              .resource_version = object_version(&metadata),
                              .created = cursor_time(&metadata, "creationTimestamp"),
                              .selectors = read_selectors(&spec),
                              .extended_resource = cursor_text(&spec, "extendedResourceName")};
    device_class->config.at = read_config(&spec, &device_class->config.count);
    return object_finish(&r, error);
}

bool kube_object_device_taint_rule(const struct kube_json *object, struct device_taint_rule *rule,
                                   struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "DeviceTaintRule", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    struct cursor selector = cursor_object(&spec, "deviceSelector");
    struct cursor taint = cursor_object(&spec, "taint");
    *rule = (struct device_taint_rule){.name = object_name(&metadata),
                                       .resource_version = object_version(&metadata),
                                       .has_selector =
                                           cursor_member(&spec, "deviceSelector").value != NULL,
                                       .driver = cursor_text(&selector, "driver"),
                                       .pool = cursor_text(&selector, "pool"),
                                       .device = cursor_text(&selector, "device"),
                                       .taint = {.key = cursor_text(&taint, "key"),
                                                 .value = cursor_text(&taint, "value"),
                                                 .effect = cursor_text(&taint, "effect")}};
    return object_finish(&r, error);
}

/* A number, or true or false, as a text. */
static struct str value_text(const struct cursor *s)
{
    int64_t number = 0;
    char text[24] = "";
    if (kube_json_i64(s->value, &number))
        snprintf(text, sizeof(text), "%lld", (long long)number);
    else if (kube_json_is_bool(s->value))
        snprintf(text, sizeof(text), "%s", kube_json_true(s->value) ? "true" : "false");
    else
        cursor_fail(s, "wants a whole number or a bool, has %s", kube_json_kind(s->value));
    struct str made = str_of(text);
    char *at = cursor_take(s, made.len + 1, 1);
    return at == NULL ? (struct str){0} : (struct str){memcpy(at, text, made.len), made.len};
}

static struct strs read_values(const struct cursor *s, const char *member)
{
    struct cursor list = cursor_list(s, member);
    size_t count = kube_json_count(list.value);
    struct strs values = {0, count > 0 ? cursor_take(&list, count, sizeof(*values.at)) : NULL};
    if (values.at == NULL)
        return values;
    for (struct cursor v = cursor_first(&list); v.value != NULL; v = cursor_next(&v))
        values.at[values.count++] =
            kube_json_is_string(v.value) ? cursor_own_text(&v) : value_text(&v);
    return values;
}

static struct device_attribute read_attribute(const struct named_cursor *named)
{
    struct device_attribute out = {.name = named->name};
    if (!cursor_is_object(&named->cursor))
        return out;
    for (uint32_t kind = ATTRIBUTE_int; kind <= ATTRIBUTE_versions; kind++) {
        const char *member = words_text(&attribute_kind_words, kind).at;
        if (cursor_member(&named->cursor, member).value == NULL)
            continue;
        out.kind = (enum attribute_kind)kind;
        if (kind >= ATTRIBUTE_ints)
            out.values = read_values(&named->cursor, member);
        else if (kind == ATTRIBUTE_int)
            out.number = cursor_i64(&named->cursor, member);
        else if (kind == ATTRIBUTE_bool)
            out.number = cursor_bool(&named->cursor, member);
        else
            out.text = cursor_text(&named->cursor, member);
    }
    return out;
}

static void read_attributes(const struct cursor *s, struct slice_device *device)
{
    struct cursor map = cursor_object(s, "attributes");
    uint32_t found;
    struct named_cursor *all = members(&map, &found);
    device->attributes.at = found ? cursor_take(&map, found, sizeof(*device->attributes.at)) : NULL;
    for (uint32_t i = 0; device->attributes.at != NULL && i < found; i++)
        device->attributes.at[device->attributes.count++] = read_attribute(&all[i]);
}

static struct strs read_valid_values(const struct cursor *policy)
{
    struct cursor list = cursor_list(policy, "validValues");
    size_t found = kube_json_count(list.value);
    struct strs out = {0};
    out.at = found ? cursor_take(&list, found, sizeof(*out.at)) : NULL;
    if (out.at == NULL)
        return out;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        out.at[out.count++] = own_amount(&i);
    return out;
}

static struct device_capacity read_capacity_of(const struct named_cursor *named)
{
    struct device_capacity out = {.name = named->name};
    if (!cursor_is_object(&named->cursor))
        return out;
    struct cursor policy = cursor_object(&named->cursor, "requestPolicy");
    struct cursor range = cursor_object(&policy, "validRange");
    out.value = amount(&named->cursor, "value");
    out.has_policy = policy.value != NULL;
    out.default_request = amount(&policy, "default");
    out.valid_values = read_valid_values(&policy);
    out.has_range = range.value != NULL;
    out.range_min = amount(&range, "min");
    out.range_max = amount(&range, "max");
    out.range_step = amount(&range, "step");
    return out;
}

static void read_capacity(const struct cursor *s, struct slice_device *device)
{
    struct cursor map = cursor_object(s, "capacity");
    uint32_t found;
    struct named_cursor *all = members(&map, &found);
    device->capacity.at = found ? cursor_take(&map, found, sizeof(*device->capacity.at)) : NULL;
    for (uint32_t i = 0; device->capacity.at != NULL && i < found; i++)
        device->capacity.at[device->capacity.count++] = read_capacity_of(&all[i]);
}

/* Sets of counters, which say their own name under the given one. */
static struct device_counters *read_counters(const struct cursor *list, const char *name,
                                             uint32_t *count)
{
    size_t found = kube_json_count(list->value);
    struct device_counters *out = found ? cursor_take(list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct cursor counters = cursor_object(&i, "counters");
        struct device_counters *set = &out[(*count)++];
        set->name = cursor_text(&i, name);
        set->counters.at = amounts(&counters, "value", &set->counters.count);
        set->groups = cursor_texts(&i, "compatibilityGroups");
    }
    return out;
}

/* As 1.37 has it. */
static struct device_node_resource read_node_resource(const struct named_cursor *named)
{
    struct device_node_resource out = {.name = named->name};
    if (!cursor_is_object(&named->cursor))
        return out;
    struct cursor mapping = cursor_object(&named->cursor, "mapping");
    struct cursor overhead = cursor_object(&named->cursor, "overhead");
    out.maps = mapping.value != NULL;
    out.capacity_key = cursor_text(&mapping, "capacityKey");
    out.multiplier =
        amount(&mapping, out.capacity_key.len > 0 ? "capacityMultiplier" : "deviceMultiplier");
    out.has_overhead = overhead.value != NULL;
    out.per_pod = amount(&overhead, "perPod");
    out.per_container = amount(&overhead, "perContainer");
    return out;
}

/* As 1.36 has it. */
static struct device_node_resource read_mapping(const struct named_cursor *named)
{
    struct device_node_resource out = {.name = named->name, .maps = true, .old = true};
    if (!cursor_is_object(&named->cursor))
        return out;
    out.capacity_key = cursor_text(&named->cursor, "capacityKey");
    out.multiplier = amount(&named->cursor, "allocationMultiplier");
    return out;
}

/* A server has one of both. */
static void read_node_resources(const struct cursor *s, struct slice_device *device)
{
    struct cursor map = cursor_object(s, "nodeAllocatableResources");
    struct cursor older = cursor_object(s, "nodeAllocatableResourceMappings");
    uint32_t found, old;
    struct named_cursor *all = members(&map, &found), *all_old = members(&older, &old);
    if (found + old == 0)
        return;
    device->node_resources.at = cursor_take(s, found + old, sizeof(*device->node_resources.at));
    for (uint32_t i = 0; device->node_resources.at != NULL && i < found + old; i++)
        device->node_resources.at[device->node_resources.count++] =
            i < found ? read_node_resource(&all[i]) : read_mapping(&all_old[i - found]);
}

static void read_device(const struct cursor *s, struct slice_device *device)
{
    struct cursor selector = cursor_object(s, "nodeSelector");
    struct cursor terms = cursor_list(&selector, "nodeSelectorTerms");
    struct cursor consumes = cursor_list(s, "consumesCounters");
    *device = (struct slice_device){.name = cursor_text(s, "name"),
                                    .node_name = cursor_text(s, "nodeName"),
                                    .has_terms = selector.value != NULL,
                                    .all_nodes = cursor_bool(s, "allNodes"),
                                    .binds_to_node = cursor_bool(s, "bindsToNode"),
                                    .binding_conditions = cursor_texts(s, "bindingConditions"),
                                    .binding_failure_conditions =
                                        cursor_texts(s, "bindingFailureConditions"),
                                    .shareable = cursor_bool(s, "allowMultipleAllocations")};
    read_attributes(s, device);
    read_capacity(s, device);
    read_node_resources(s, device);
    device->consumes.at = read_counters(&consumes, "counterSet", &device->consumes.count);
    device->terms.at = kube_read_node_terms(&terms, &device->terms.count);
    device->taints.at = object_taints(s, &device->taints.count);
}

static void read_devices(const struct cursor *spec, struct resource_slice *slice)
{
    struct cursor list = cursor_list(spec, "devices");
    size_t found = kube_json_count(list.value);
    slice->devices.at = found ? cursor_take(&list, found, sizeof(*slice->devices.at)) : NULL;
    if (slice->devices.at == NULL)
        return;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_device(&i, &slice->devices.at[slice->devices.count++]);
}

bool kube_object_resource_slice(const struct kube_json *object, struct resource_slice *slice,
                                struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "ResourceSlice", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    struct cursor pool = cursor_object(&spec, "pool"),
                  selector = cursor_object(&spec, "nodeSelector");
    struct cursor terms = cursor_list(&selector, "nodeSelectorTerms");
    struct cursor shared = cursor_list(&spec, "sharedCounters");
    *slice = (struct resource_slice){.name = object_name(&metadata),
                                     .resource_version = object_version(&metadata),
                                     .driver = cursor_text(&spec, "driver"),
                                     .pool = cursor_text(&pool, "name"),
                                     .pool_generation = cursor_i64(&pool, "generation"),
                                     .pool_slices = cursor_i64(&pool, "resourceSliceCount"),
                                     .node_name = cursor_text(&spec, "nodeName"),
                                     .has_terms = selector.value != NULL,
                                     .all_nodes = cursor_bool(&spec, "allNodes"),
                                     .by_device = cursor_bool(&spec, "perDeviceNodeSelection"),
                                     .skips = cursor_texts(&spec, "skipNodeOperations")};
    slice->terms.at = kube_read_node_terms(&terms, &slice->terms.count);
    read_devices(&spec, slice);
    slice->shared.at = read_counters(&shared, "name", &slice->shared.count);
    return object_finish(&r, error);
}
