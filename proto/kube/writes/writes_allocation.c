/* writes_allocation: what a ResourceClaim is given, in JSON and in protobuf, and the claim that is
 * made for extended resources. The one idea: the same walk twice, member for member, because a
 * claim is put back in the form that it was read in. What must stay true: opaque parameters are the
 * bytes that they were. */
#include "proto/kube/writes/writes_internal.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "proto/kube/documents/json_build.h"
#include "proto/kube/documents/json_edit.h"
#include "proto/kube/documents/protobuf_put.h"

#include <stdio.h>

#define ANNOTATION "resource.kubernetes.io/extended-resource-claim"

/* ---- what a claim is given ---- */

static void add_tolerations(cJSON *result, const struct allocated_device *device)
{
    if (device->tolerations.count == 0)
        return;
    cJSON *list = json_add_list(result, "tolerations");
    for (uint32_t i = 0; i < device->tolerations.count; i++) {
        const struct device_toleration *t = &device->tolerations.at[i];
        cJSON *item = json_add_item(list);
        json_add_text_if(item, "key", t->key);
        json_add_text_if(item, "operator", t->operator_name);
        json_add_text_if(item, "value", t->value);
        json_add_text_if(item, "effect", t->effect);
        if (t->has_seconds)
            json_add_whole(item, "tolerationSeconds", t->seconds);
    }
}

static void add_results(cJSON *devices, const struct device_allocation *allocation)
{
    cJSON *list = json_add_list(devices, "results");
    for (uint32_t i = 0; i < allocation->devices.count; i++) {
        const struct allocated_device *device = &allocation->devices.at[i];
        cJSON *result = json_add_item(list);
        json_add_text(result, "request", device->request);
        json_add_text(result, "driver", device->driver);
        json_add_text(result, "pool", device->pool);
        json_add_text(result, "device", device->device);
        if (device->has_admin_access)
            json_add_bool(result, "adminAccess", device->admin_access);
        add_tolerations(result, device);
        json_add_texts_if(result, "bindingConditions", &device->binding_conditions);
        json_add_texts_if(result, "bindingFailureConditions", &device->binding_failure_conditions);
        json_add_texts_if(result, "skipNodeOperations", &device->skips);
        json_add_text_if(result, "shareID", device->share_id);
        if (device->consumed.count == 0)
            continue;
        cJSON *consumed = json_add_object(result, "consumedCapacity");
        for (uint32_t k = 0; k < device->consumed.count; k++) {
            char *key = memory_copy(device->consumed.at[k].key.at, device->consumed.at[k].key.len);
            json_add_text(consumed, key, device->consumed.at[k].value);
            memory_free(key);
        }
    }
}

/* As it was written; what is no value would spoil all that is around it. */
static void add_parameters(cJSON *opaque, struct str parameters)
{
    bool good = json_edit_is_value(parameters);
    char *copy = good ? memory_copy(parameters.at, parameters.len) : NULL;
    json_add_raw(opaque, "parameters", good ? copy : "null");
    memory_free(copy);
}

static void add_config(cJSON *devices, const struct device_allocation *allocation)
{
    if (allocation->config.count == 0)
        return;
    cJSON *list = json_add_list(devices, "config");
    for (uint32_t i = 0; i < allocation->config.count; i++) {
        const struct opaque_config *config = &allocation->config.at[i];
        cJSON *item = json_add_item(list);
        json_add_text(item, "source", config->source);
        json_add_texts_if(item, "requests", &config->requests);
        if (config->driver.len == 0)
            continue;
        cJSON *opaque = json_add_object(item, "opaque");
        json_add_text(opaque, "driver", config->driver);
        add_parameters(opaque, config->parameters);
    }
}

static void add_requirements(cJSON *term, const char *key, uint32_t count,
                             const struct requirement *at)
{
    if (count == 0)
        return;
    cJSON *list = json_add_list(term, key);
    for (uint32_t i = 0; i < count; i++) {
        cJSON *item = json_add_item(list);
        json_add_text(item, "key", at[i].key);
        json_add_text(item, "operator", at[i].operator_name);
        json_add_texts_if(item, "values", &at[i].values);
    }
}

static void add_selector(cJSON *to, const struct device_allocation *allocation)
{
    if (!allocation->has_terms)
        return;
    cJSON *terms = json_add_list(json_add_object(to, "nodeSelector"), "nodeSelectorTerms");
    for (uint32_t i = 0; i < allocation->terms.count; i++) {
        const struct node_term *term = &allocation->terms.at[i];
        cJSON *item = json_add_item(terms);
        add_requirements(item, "matchExpressions", term->expressions.count, term->expressions.at);
        add_requirements(item, "matchFields", term->fields.count, term->fields.at);
    }
}

void writes_allocation_json(struct buffer *out, const struct device_allocation *allocation,
                            int64_t wall_us)
{
    cJSON *given = json_build();
    cJSON *devices = json_add_object(given, "devices");
    add_results(devices, allocation);
    add_config(devices, allocation);
    add_selector(given, allocation);
    if (wall_us != 0)
        json_add_seconds(given, "allocationTimestamp", wall_us);
    json_build_print(out, given);
}

/* ---- the same in protobuf ---- */

static void put_texts(struct buffer *out, uint32_t field, const struct strs *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        size_t text = protobuf_open(out, field);
        buffer_add_str(out, texts->at[i]);
        protobuf_close(out, text);
    }
}

static void put_tolerations(struct buffer *out, const struct allocated_device *device)
{
    for (uint32_t i = 0; i < device->tolerations.count; i++) {
        const struct device_toleration *t = &device->tolerations.at[i];
        size_t toleration = protobuf_open(out, 6);
        protobuf_put_text(out, 1, t->key);
        protobuf_put_text(out, 2, t->operator_name);
        protobuf_put_text(out, 3, t->value);
        protobuf_put_text(out, 4, t->effect);
        if (t->has_seconds)
            protobuf_put_given(out, 5, t->seconds);
        protobuf_close(out, toleration);
    }
}

static void put_result(struct buffer *out, const struct allocated_device *device)
{
    size_t result = protobuf_open(out, 1);
    protobuf_put_text(out, 1, device->request);
    protobuf_put_text(out, 2, device->driver);
    protobuf_put_text(out, 3, device->pool);
    protobuf_put_text(out, 4, device->device);
    if (device->has_admin_access)
        protobuf_put_given(out, 5, device->admin_access);
    put_tolerations(out, device);
    put_texts(out, 7, &device->binding_conditions);
    put_texts(out, 8, &device->binding_failure_conditions);
    protobuf_put_text(out, 9, device->share_id);
    for (uint32_t i = 0; i < device->consumed.count; i++) {
        size_t pair = protobuf_open(out, 10);
        protobuf_put_text(out, 1, device->consumed.at[i].key);
        size_t amount = protobuf_open(out, 2);
        protobuf_put_text(out, 1, device->consumed.at[i].value);
        protobuf_close(out, amount);
        protobuf_close(out, pair);
    }
    put_texts(out, 11, &device->skips);
    protobuf_close(out, result);
}

static void put_config(struct buffer *out, const struct opaque_config *from)
{
    size_t config = protobuf_open(out, 2);
    protobuf_put_text(out, 1, from->source);
    put_texts(out, 2, &from->requests);
    size_t device = protobuf_open(out, 3);
    if (from->driver.len > 0) {
        size_t opaque = protobuf_open(out, 1);
        protobuf_put_text(out, 1, from->driver);
        size_t parameters = protobuf_open(out, 2);
        protobuf_put_text(out, 1, from->parameters);
        protobuf_close(out, parameters);
        protobuf_close(out, opaque);
    }
    protobuf_close(out, device);
    protobuf_close(out, config);
}

static void put_requirements(struct buffer *out, uint32_t field, uint32_t count,
                             const struct requirement *at)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t requirement = protobuf_open(out, field);
        protobuf_put_text(out, 1, at[i].key);
        protobuf_put_text(out, 2, at[i].operator_name);
        put_texts(out, 3, &at[i].values);
        protobuf_close(out, requirement);
    }
}

static void put_selector(struct buffer *out, const struct device_allocation *allocation)
{
    if (!allocation->has_terms)
        return;
    size_t selector = protobuf_open(out, 3);
    for (uint32_t i = 0; i < allocation->terms.count; i++) {
        const struct node_term *from = &allocation->terms.at[i];
        size_t term = protobuf_open(out, 1);
        put_requirements(out, 1, from->expressions.count, from->expressions.at);
        put_requirements(out, 2, from->fields.count, from->fields.at);
        protobuf_close(out, term);
    }
    protobuf_close(out, selector);
}

void writes_allocation_protobuf(struct buffer *out, const struct device_allocation *allocation,
                                int64_t wall_us)
{
    size_t devices = protobuf_open(out, 1);
    for (uint32_t i = 0; i < allocation->devices.count; i++)
        put_result(out, &allocation->devices.at[i]);
    for (uint32_t i = 0; i < allocation->config.count; i++)
        put_config(out, &allocation->config.at[i]);
    protobuf_close(out, devices);
    put_selector(out, allocation);
    if (wall_us != 0)
        protobuf_put_time(out, 5, wall_us - wall_us % 1000000);
}

/* ---- the claim for extended resources ---- */

static void add_owner(cJSON *meta, const struct bind *bind)
{
    cJSON *owner = json_add_item(json_add_list(meta, "ownerReferences"));
    json_add_text(owner, "apiVersion", STR_LITERAL("v1"));
    json_add_text(owner, "kind", STR_LITERAL("Pod"));
    json_add_text(owner, "name", bind->name);
    json_add_text(owner, "uid", bind->uid);
    json_add_bool(owner, "controller", true);
}

static void add_asked(cJSON *spec, const struct extended_claim *extended)
{
    cJSON *requests = json_add_list(json_add_object(spec, "devices"), "requests");
    for (uint32_t i = 0; i < extended->requests.count; i++) {
        const struct device_request *request = &extended->requests.at[i];
        cJSON *item = json_add_item(requests);
        json_add_text(item, "name", request->name);
        if (request->asks.count == 0)
            continue;
        cJSON *exactly = json_add_object(item, "exactly");
        json_add_text(exactly, "deviceClassName", request->asks.at[0].class_name);
        json_add_text(exactly, "allocationMode", STR_LITERAL("ExactCount"));
        json_add_whole(exactly, "count", request->asks.at[0].count);
    }
}

void writes_special_claim(struct buffer *out, const struct bind *bind, struct str name)
{
    struct buffer prefix = {0};
    cJSON *root = json_build();
    must(bind->extended.count == 1);
    buffer_print(&prefix, "%.*s-extended-resources-", STR_ARG(bind->name));
    json_add_text(root, "kind", STR_LITERAL("ResourceClaim"));
    json_add_text(root, "apiVersion", STR_LITERAL("resource.k8s.io/v1"));
    cJSON *meta = json_add_object(root, "metadata");
    json_add_text(meta, "name", name);
    json_add_text(meta, "generateName", buffer_str(&prefix));
    json_add_text(meta, "namespace", bind->namespace_name);
    json_add_text(json_add_object(meta, "annotations"), ANNOTATION, STR_LITERAL("true"));
    add_owner(meta, bind);
    add_asked(json_add_object(root, "spec"), &bind->extended.at[0]);
    json_build_print(out, root);
    buffer_free(&prefix);
}

void writes_special_status(struct buffer *out, const struct bind *bind, struct str claim)
{
    cJSON *root = json_build();
    must(bind->extended.count == 1);
    json_add_text(json_add_object(root, "metadata"), "uid", bind->uid);
    cJSON *status = json_add_object(json_add_object(root, "status"), "extendedResourceClaimStatus");
    cJSON *list = json_add_list(status, "requestMappings");
    for (uint32_t i = 0; i < bind->extended.at[0].uses.count; i++) {
        const struct extended_use *use = &bind->extended.at[0].uses.at[i];
        cJSON *item = json_add_item(list);
        json_add_text(item, "containerName", use->container);
        json_add_text(item, "resourceName", use->resource);
        json_add_text(item, "requestName", use->request);
    }
    json_add_text(status, "resourceClaimName", claim);
    json_build_print(out, root);
}

/* ---- what claims take of the node ---- */

static void add_overheads(cJSON *item, const struct claim_room *room)
{
    if (room->overheads.count == 0)
        return;
    cJSON *list = json_add_list(item, "overhead");
    for (uint32_t i = 0; i < room->overheads.count; i++) {
        const struct claim_overhead *o = &room->overheads.at[i];
        cJSON *one = json_add_item(list);
        json_add_text(one, "name", o->name);
        if (o->per_pod.len > 0)
            json_add_text(one, "perPod", o->per_pod);
        if (o->per_container.len > 0)
            json_add_text(one, "perContainer", o->per_container);
    }
}

/* As a list of names and quantities, or as a map. */
static void add_mapped(cJSON *item, const struct claim_room *room, bool by_kind)
{
    if (room->amounts.count == 0)
        return;
    cJSON *list = by_kind ? json_add_list(item, "mapping") : json_add_object(item, "resources");
    for (uint32_t i = 0; i < room->amounts.count; i++) {
        const struct label *amount = &room->amounts.at[i];
        cJSON *one = by_kind ? json_add_item(list) : NULL;
        if (by_kind) {
            json_add_text(one, "name", amount->key);
            json_add_text(one, "quantity", amount->value);
            continue;
        }
        char *name = str_copy(amount->key);
        json_add_text(list, name, amount->value);
        memory_free(name);
    }
}

void writes_claim_rooms(struct buffer *out, const struct bind *bind)
{
    cJSON *root = json_build();
    json_add_text(json_add_object(root, "metadata"), "uid", bind->uid);
    cJSON *list =
        json_add_list(json_add_object(root, "status"), "nodeAllocatableResourceClaimStatuses");
    for (uint32_t i = 0; i < bind->claim_rooms.count; i++) {
        const struct claim_room *room = &bind->claim_rooms.at[i];
        cJSON *item = json_add_item(list);
        json_add_texts_if(item, "containers", &room->containers);
        add_mapped(item, room, bind->rooms_by_kind);
        add_overheads(item, room);
        json_add_text(item, "resourceClaimName", room->claim);
    }
    json_build_print(out, root);
}

void writes_no_claim_rooms(struct buffer *out, struct str uid)
{
    cJSON *root = json_build();
    json_add_text(json_add_object(root, "metadata"), "uid", uid);
    (void)json_add_list(json_add_object(root, "status"), "nodeAllocatableResourceClaimStatuses");
    json_build_print(out, root);
}
