/* writes_devices: ResourceClaims as they are made and put back: with devices, with a finalizer,
 * with a pod that they are reserved for, and without all that again. The one idea: what was read is
 * changed in as few places as possible, so that its resourceVersion lets the API server refuse what
 * somebody else has changed meanwhile. What must stay true: devices are never given to a claim that
 * has some, or that is going. */
#include "proto/kube/writes_internal.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "proto/kube/config_internal.h"
#include "proto/kube/json.h"

#include <stdio.h>

#define FINALIZER  "resource.kubernetes.io/delete-protection"
#define ANNOTATION "resource.kubernetes.io/extended-resource-claim"

/* ---- pieces ---- */

static void add_text(cJSON *object, const char *key, struct str value)
{
    char *copy = memory_copy(value.at, value.len);
    must(cJSON_AddStringToObject(object, key, copy) != NULL);
    memory_free(copy);
}

static void add_text_if(cJSON *object, const char *key, struct str value)
{
    if (value.len > 0)
        add_text(object, key, value);
}

static cJSON *add_object(cJSON *object, const char *key)
{
    cJSON *child = cJSON_AddObjectToObject(object, key);
    must(child != NULL);
    return child;
}

static cJSON *add_list(cJSON *object, const char *key)
{
    cJSON *child = cJSON_AddArrayToObject(object, key);
    must(child != NULL);
    return child;
}

static cJSON *add_item(cJSON *list)
{
    cJSON *item = cJSON_CreateObject();
    must(item != NULL && cJSON_AddItemToArray(list, item));
    return item;
}

static void add_texts_if(cJSON *object, const char *key, const struct strs *texts)
{
    if (texts->count == 0)
        return;
    cJSON *list = add_list(object, key);
    for (uint32_t i = 0; i < texts->count; i++) {
        char *copy = memory_copy(texts->at[i].at, texts->at[i].len);
        cJSON *item = cJSON_CreateString(copy);
        must(item != NULL && cJSON_AddItemToArray(list, item));
        memory_free(copy);
    }
}

/* ---- what a claim is given ---- */

static void add_tolerations(cJSON *result, const struct allocated_device *device)
{
    if (device->tolerations.count == 0)
        return;
    cJSON *list = add_list(result, "tolerations");
    for (uint32_t i = 0; i < device->tolerations.count; i++) {
        const struct device_toleration *t = &device->tolerations.at[i];
        cJSON *item = add_item(list);
        add_text_if(item, "key", t->key);
        add_text_if(item, "operator", t->operator_name);
        add_text_if(item, "value", t->value);
        add_text_if(item, "effect", t->effect);
        if (t->has_seconds)
            must(cJSON_AddNumberToObject(item, "tolerationSeconds", (double)t->seconds) != NULL);
    }
}

static void add_results(cJSON *devices, const struct device_allocation *allocation)
{
    cJSON *list = add_list(devices, "results");
    for (uint32_t i = 0; i < allocation->devices.count; i++) {
        const struct allocated_device *device = &allocation->devices.at[i];
        cJSON *result = add_item(list);
        add_text(result, "request", device->request);
        add_text(result, "driver", device->driver);
        add_text(result, "pool", device->pool);
        add_text(result, "device", device->device);
        if (device->has_admin_access)
            must(cJSON_AddBoolToObject(result, "adminAccess", device->admin_access) != NULL);
        add_tolerations(result, device);
        add_texts_if(result, "bindingConditions", &device->binding_conditions);
        add_texts_if(result, "bindingFailureConditions", &device->binding_failure_conditions);
        add_text_if(result, "shareID", device->share_id);
        if (device->consumed.count == 0)
            continue;
        cJSON *consumed = add_object(result, "consumedCapacity");
        for (uint32_t k = 0; k < device->consumed.count; k++) {
            char *key = memory_copy(device->consumed.at[k].key.at, device->consumed.at[k].key.len);
            add_text(consumed, key, device->consumed.at[k].value);
            memory_free(key);
        }
    }
}

/* As it was written; what is no JSON would spoil all that is around it. */
static void add_parameters(cJSON *opaque, struct str parameters)
{
    struct buffer why = {0};
    bool good = parameters.len > 0 && kube_json_explain(parameters, &why);
    char *copy = good ? memory_copy(parameters.at, parameters.len) : NULL;
    must(cJSON_AddRawToObject(opaque, "parameters", good ? copy : "null") != NULL);
    memory_free(copy);
    buffer_free(&why);
}

static void add_config(cJSON *devices, const struct device_allocation *allocation)
{
    if (allocation->config.count == 0)
        return;
    cJSON *list = add_list(devices, "config");
    for (uint32_t i = 0; i < allocation->config.count; i++) {
        const struct opaque_config *config = &allocation->config.at[i];
        cJSON *item = add_item(list);
        add_text(item, "source", config->source);
        add_texts_if(item, "requests", &config->requests);
        if (config->driver.len == 0)
            continue;
        cJSON *opaque = add_object(item, "opaque");
        add_text(opaque, "driver", config->driver);
        add_parameters(opaque, config->parameters);
    }
}

static void add_requirements(cJSON *term, const char *key, uint32_t count,
                             const struct requirement *at)
{
    if (count == 0)
        return;
    cJSON *list = add_list(term, key);
    for (uint32_t i = 0; i < count; i++) {
        cJSON *item = add_item(list);
        add_text(item, "key", at[i].key);
        add_text(item, "operator", at[i].operator_name);
        add_texts_if(item, "values", &at[i].values);
    }
}

static void add_selector(cJSON *to, const struct device_allocation *allocation)
{
    if (!allocation->has_terms)
        return;
    cJSON *terms = add_list(add_object(to, "nodeSelector"), "nodeSelectorTerms");
    for (uint32_t i = 0; i < allocation->terms.count; i++) {
        const struct node_term *term = &allocation->terms.at[i];
        cJSON *item = add_item(terms);
        add_requirements(item, "matchExpressions", term->expressions.count, term->expressions.at);
        add_requirements(item, "matchFields", term->fields.count, term->fields.at);
    }
}

/* ---- claims ---- */

static bool is_reserved(const cJSON *reserved, struct str uid)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, reserved) if (writes_member_is(entry, "uid", uid)) return true;
    return false;
}

static void reserve(cJSON *status, const struct writes_consumer *consumer)
{
    cJSON *reserved = cJSON_GetObjectItemCaseSensitive(status, "reservedFor");
    if (!cJSON_IsArray(reserved)) {
        cJSON_DeleteItemFromObjectCaseSensitive(status, "reservedFor");
        reserved = add_list(status, "reservedFor");
    }
    cJSON *entry = add_item(reserved);
    add_text(entry, "resource", STR_LITERAL("pods"));
    add_text(entry, "name", consumer->pod);
    add_text(entry, "uid", consumer->uid);
}

/* The time from which drivers have to make devices ready. */
static void add_time(cJSON *allocation, int64_t wall_us)
{
    char text[32];
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(allocation, "allocationTimestamp")))
        return;
    cJSON_DeleteItemFromObjectCaseSensitive(allocation, "allocationTimestamp");
    moment_print_seconds(wall_us, text, sizeof(text));
    add_text(allocation, "allocationTimestamp", str_of(text));
}

/* WRITES_changed: nothing is in the way. uid is empty where any will do. */
static enum writes_change look(const cJSON *root, struct str uid)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    if (!cJSON_IsObject(meta))
        return WRITES_malformed;
    if (cJSON_GetObjectItemCaseSensitive(meta, "deletionTimestamp") != NULL ||
        (uid.len > 0 && !writes_member_is(meta, "uid", uid)))
        return WRITES_deleted;
    return WRITES_changed;
}

static cJSON *allocation_of(const cJSON *root)
{
    cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
    cJSON *allocation = cJSON_GetObjectItemCaseSensitive(status, "allocation");
    return cJSON_IsObject(allocation) ? allocation : NULL;
}

enum writes_change writes_reservation_put(struct buffer *out, struct str json,
                                          const struct writes_consumer *consumer)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
    enum writes_change seen = look(root, (struct str){NULL, 0});
    if (seen == WRITES_changed && allocation_of(root) == NULL)
        seen = WRITES_conflict;
    else if (seen == WRITES_changed &&
             is_reserved(cJSON_GetObjectItemCaseSensitive(status, "reservedFor"), consumer->uid))
        seen = WRITES_same;
    if (seen != WRITES_changed)
        return writes_put(out, root, seen);
    reserve(status, consumer);
    add_time(allocation_of(root), consumer->wall_us);
    return writes_put(out, root, WRITES_changed);
}

static bool has_finalizer(const cJSON *finalizers)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, finalizers)
    {
        const char *text = cJSON_GetStringValue(entry);
        if (text != NULL && str_is(STR_LITERAL(FINALIZER), text))
            return true;
    }
    return false;
}

enum writes_change writes_claim_finalizer_put(struct buffer *out, struct str json, struct str uid)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    cJSON *finalizers = cJSON_GetObjectItemCaseSensitive(meta, "finalizers");
    enum writes_change seen = look(root, uid);
    if (seen == WRITES_changed && allocation_of(root) != NULL)
        seen = WRITES_conflict;
    else if (seen == WRITES_changed && has_finalizer(finalizers))
        seen = WRITES_same;
    if (seen != WRITES_changed)
        return writes_put(out, root, seen);
    if (!cJSON_IsArray(finalizers)) {
        cJSON_DeleteItemFromObjectCaseSensitive(meta, "finalizers");
        finalizers = add_list(meta, "finalizers");
    }
    must(cJSON_AddItemToArray(finalizers, cJSON_CreateString(FINALIZER)));
    return writes_put(out, root, WRITES_changed);
}

enum writes_change writes_allocation_put(struct buffer *out, struct str json,
                                         const struct device_allocation *allocation,
                                         const struct writes_consumer *consumer)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
    enum writes_change seen = look(root, allocation->uid);
    if (seen == WRITES_changed && allocation_of(root) != NULL)
        seen = WRITES_conflict;
    if (seen != WRITES_changed)
        return writes_put(out, root, seen);
    if (!cJSON_IsObject(status)) {
        cJSON_DeleteItemFromObjectCaseSensitive(root, "status");
        status = add_object(root, "status");
    }
    cJSON_DeleteItemFromObjectCaseSensitive(status, "allocation");
    cJSON *given = add_object(status, "allocation"), *devices = add_object(given, "devices");
    add_results(devices, allocation);
    add_config(devices, allocation);
    add_selector(given, allocation);
    add_time(given, consumer->wall_us);
    reserve(status, consumer);
    return writes_put(out, root, WRITES_changed);
}

/* ---- taken back ---- */

void writes_unreservation(struct buffer *out, struct str claim_uid, struct str pod_uid)
{
    cJSON *root = cJSON_CreateObject();
    must(root != NULL);
    add_text(add_object(root, "metadata"), "uid", claim_uid);
    cJSON *entry = add_item(add_list(add_object(root, "status"), "reservedFor"));
    add_text(entry, "$patch", STR_LITERAL("delete"));
    add_text(entry, "uid", pod_uid);
    writes_put(out, root, WRITES_changed);
}

/* Whether nobody but the pod may use it. */
static bool is_free_for(const cJSON *reserved, struct str uid)
{
    int count = cJSON_GetArraySize(reserved);
    return count == 0 || (count == 1 && is_reserved(reserved, uid));
}

enum writes_change writes_deallocation_put(struct buffer *out, struct str json,
                                           const struct claim_release *release)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
    char version[24];
    snprintf(version, sizeof(version), "%lld", (long long)release->resource_version);
    enum writes_change seen = look(root, release->claim_uid);
    if (seen == WRITES_changed && allocation_of(root) == NULL)
        seen = WRITES_same;
    else if (seen == WRITES_changed &&
             (!writes_member_is(meta, "resourceVersion", str_of(version)) ||
              !is_free_for(cJSON_GetObjectItemCaseSensitive(status, "reservedFor"), release->uid)))
        seen = WRITES_conflict;
    if (seen != WRITES_changed)
        return writes_put(out, root, seen);
    cJSON_DeleteItemFromObjectCaseSensitive(status, "allocation");
    cJSON_DeleteItemFromObjectCaseSensitive(status, "reservedFor");
    cJSON_DeleteItemFromObjectCaseSensitive(status, "devices");
    return writes_put(out, root, WRITES_changed);
}

/* ---- the claim for extended resources ---- */

/* Whether the pod controls it and a scheduler has made it. */
static bool is_special_of(const cJSON *meta, struct str pod_uid)
{
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(meta, "annotations"), *owner;
    bool owned = false;
    cJSON_ArrayForEach(owner, cJSON_GetObjectItemCaseSensitive(meta, "ownerReferences")) owned |=
        writes_member_is(owner, "uid", pod_uid) &&
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(owner, "controller"));
    return owned && writes_member_is(notes, ANNOTATION, STR_LITERAL("true"));
}

enum writes_change writes_special_claim_look(struct str json, struct str pod_uid)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    enum writes_change seen = look(root, (struct str){NULL, 0});
    if (seen == WRITES_changed && !is_special_of(cJSON_GetObjectItem(root, "metadata"), pod_uid))
        seen = WRITES_conflict;
    cJSON_Delete(root);
    return seen;
}

enum writes_change writes_special_claim_unprotect(struct buffer *out, struct str json,
                                                  const struct claim_release *release)
{
    cJSON *root = writes_parse_whole(json, "ResourceClaim");
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    cJSON *finalizers = cJSON_GetObjectItemCaseSensitive(meta, "finalizers"), *entry, *next;
    if (!cJSON_IsObject(meta))
        return writes_put(out, root, WRITES_malformed);
    if (release->claim_uid.len > 0 && !writes_member_is(meta, "uid", release->claim_uid))
        return writes_put(out, root, WRITES_deleted);
    if (!is_special_of(meta, release->uid))
        return writes_put(out, root, WRITES_conflict);
    if (!has_finalizer(finalizers))
        return writes_put(out, root, WRITES_same);
    for (entry = finalizers->child; entry != NULL; entry = next) {
        next = entry->next;
        if (cJSON_IsString(entry) && str_is(STR_LITERAL(FINALIZER), entry->valuestring))
            cJSON_Delete(cJSON_DetachItemViaPointer(finalizers, entry));
    }
    return writes_put(out, root, WRITES_changed);
}

static void add_owner(cJSON *meta, const struct bind *bind)
{
    cJSON *owner = add_item(add_list(meta, "ownerReferences"));
    add_text(owner, "apiVersion", STR_LITERAL("v1"));
    add_text(owner, "kind", STR_LITERAL("Pod"));
    add_text(owner, "name", bind->name);
    add_text(owner, "uid", bind->uid);
    must(cJSON_AddTrueToObject(owner, "controller") != NULL);
}

static void add_asked(cJSON *spec, const struct extended_claim *extended)
{
    cJSON *requests = add_list(add_object(spec, "devices"), "requests");
    for (uint32_t i = 0; i < extended->requests.count; i++) {
        const struct device_request *request = &extended->requests.at[i];
        cJSON *item = add_item(requests);
        add_text(item, "name", request->name);
        if (request->asks.count == 0)
            continue;
        cJSON *exactly = add_object(item, "exactly");
        add_text(exactly, "deviceClassName", request->asks.at[0].class_name);
        add_text(exactly, "allocationMode", STR_LITERAL("ExactCount"));
        must(cJSON_AddNumberToObject(exactly, "count", (double)request->asks.at[0].count) != NULL);
    }
}

void writes_special_claim(struct buffer *out, const struct bind *bind, struct str name)
{
    struct buffer prefix = {0};
    cJSON *root = cJSON_CreateObject();
    must(root != NULL && bind->extended.count == 1);
    buffer_print(&prefix, "%.*s-extended-resources-", STR_ARG(bind->name));
    add_text(root, "kind", STR_LITERAL("ResourceClaim"));
    add_text(root, "apiVersion", STR_LITERAL("resource.k8s.io/v1"));
    cJSON *meta = add_object(root, "metadata");
    add_text(meta, "name", name);
    add_text(meta, "generateName", buffer_str(&prefix));
    add_text(meta, "namespace", bind->namespace_name);
    add_text(add_object(meta, "annotations"), ANNOTATION, STR_LITERAL("true"));
    add_owner(meta, bind);
    add_asked(add_object(root, "spec"), &bind->extended.at[0]);
    writes_put(out, root, WRITES_changed);
    buffer_free(&prefix);
}

void writes_special_status(struct buffer *out, const struct bind *bind, struct str claim)
{
    cJSON *root = cJSON_CreateObject();
    must(root != NULL && bind->extended.count == 1);
    add_text(add_object(root, "metadata"), "uid", bind->uid);
    cJSON *status = add_object(add_object(root, "status"), "extendedResourceClaimStatus");
    cJSON *list = add_list(status, "requestMappings");
    for (uint32_t i = 0; i < bind->extended.at[0].uses.count; i++) {
        const struct extended_use *use = &bind->extended.at[0].uses.at[i];
        cJSON *item = add_item(list);
        add_text(item, "containerName", use->container);
        add_text(item, "resourceName", use->resource);
        add_text(item, "requestName", use->request);
    }
    add_text(status, "resourceClaimName", claim);
    writes_put(out, root, WRITES_changed);
}

void writes_quoted(struct buffer *out, struct str text)
{
    config_quote(text, out);
}
