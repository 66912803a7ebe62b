/* writes: builds each body with cJSON and prints it without spaces; what was read and is put back
 * is edited as a text. The one idea: a body is a pure function of a record, so every one of them
 * has a golden test. What must stay true: strings from peers are only ever escaped JSON values or
 * escaped path segments. */
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "proto/kube/documents/json_build.h"
#include "proto/kube/documents/json_edit.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/writes/writes_internal.h"

#include <stdio.h>
#include <string.h>

#define EVENT_OBJECT_MAX (253 - 17) /* a name of 253 bytes less "." and 16 hex digits */

void writes_segment(struct buffer *path, struct str name)
{
    for (uint32_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_' || (c == '.' && name.len > 2);
        if (plain)
            buffer_add(path, &c, 1);
        else
            buffer_print(path, "%%%02X", c);
    }
}

void writes_path(struct buffer *path, const char *prefix, struct str namespace_name,
                 const char *resource, struct str name)
{
    buffer_add_text(path, prefix);
    if (namespace_name.len > 0) {
        buffer_add_text(path, "/namespaces/");
        writes_segment(path, namespace_name);
    }
    buffer_print(path, "/%s", resource);
    if (name.len > 0) {
        buffer_add_text(path, "/");
        writes_segment(path, name);
    }
}

/* ---- binding ---- */

static cJSON *body_of(struct str api, struct str kind)
{
    cJSON *root = json_build();
    json_add_text(root, "apiVersion", api);
    json_add_text(root, "kind", kind);
    return root;
}

void writes_binding(struct buffer *out, const struct bind *bind)
{
    cJSON *root = body_of(STR_LITERAL("v1"), STR_LITERAL("Binding"));
    cJSON *meta = json_add_object(root, "metadata");
    json_add_text(meta, "name", bind->name);
    json_add_text(meta, "namespace", bind->namespace_name);
    json_add_text(meta, "uid", bind->uid);
    cJSON *target = json_add_object(root, "target");
    json_add_text(target, "kind", STR_LITERAL("Node"));
    json_add_text(target, "name", bind->node_name);
    json_build_print(out, root);
}

/* ---- events ---- */

void writes_event_name(struct buffer *out, struct str object, int64_t wall_ns)
{
    if (object.len > EVENT_OBJECT_MAX)
        object.len = EVENT_OBJECT_MAX;
    buffer_add_str(out, object);
    buffer_print(out, ".%llx", (unsigned long long)wall_ns);
}

uint32_t writes_note_len(struct str note, bool *cut)
{
    *cut = note.len > WRITES_NOTE_MAX;
    if (!*cut)
        return note.len;
    uint32_t len = WRITES_NOTE_MAX - 4;
    while (len > 0 && ((unsigned char)note.at[len] & 0xC0) == 0x80)
        len--; /* at[len] goes: it must be the first byte of a character */
    return len;
}

static void add_reference(cJSON *object, const char *key, const struct writes_object *of)
{
    cJSON *ref = json_add_object(object, key);
    json_add_text_if(ref, "kind", of->kind);
    json_add_text_if(ref, "namespace", of->namespace_name);
    json_add_text_if(ref, "name", of->name);
    json_add_text_if(ref, "uid", of->uid);
    json_add_text_if(ref, "apiVersion", of->api_version);
    json_add_text_if(ref, "resourceVersion", of->resource_version);
}

static void add_note(cJSON *object, const char *key, struct str note)
{
    bool cut;
    struct buffer text = {0};
    note.len = writes_note_len(note, &cut);
    buffer_add_str(&text, note);
    if (cut)
        buffer_add_text(&text, " ...");
    json_add_text_if(object, key, buffer_str(&text));
    buffer_free(&text);
}

static void add_series(cJSON *object, int64_t count, int64_t last_us)
{
    cJSON *series = json_add_object(object, "series");
    json_add_whole(series, "count", count);
    json_add_micros(series, "lastObservedTime", last_us);
}

/* An object of no namespace has its events in the default one, as upstream. */
struct str writes_event_namespace(const struct writes_event *event)
{
    struct str ns = event->regarding.namespace_name;
    return ns.len > 0 ? ns : STR_LITERAL("default");
}

static void add_event_meta(cJSON *root, const struct writes_event *event)
{
    cJSON *meta = json_add_object(root, "metadata");
    json_add_text(meta, "name", event->name);
    json_add_text(meta, "namespace", writes_event_namespace(event));
}

void writes_event(struct buffer *out, const struct writes_event *event)
{
    cJSON *root = body_of(STR_LITERAL("events.k8s.io/v1"), STR_LITERAL("Event"));
    add_event_meta(root, event);
    json_add_micros(root, "eventTime", event->time_us);
    if (event->series_count > 0)
        add_series(root, event->series_count, event->series_last_us);
    json_add_text(root, "reportingController", event->controller);
    json_add_text(root, "reportingInstance", event->instance);
    json_add_text(root, "action", event->action);
    json_add_text(root, "reason", event->reason);
    add_reference(root, "regarding", &event->regarding);
    add_note(root, "note", event->note);
    json_add_text(root, "type", event->type);
    json_build_print(out, root);
}

void writes_series(struct buffer *out, int64_t count, int64_t last_us)
{
    cJSON *root = json_build();
    add_series(root, count, last_us);
    json_build_print(out, root);
}

void writes_lease_event(struct buffer *out, const struct writes_event *event)
{
    cJSON *root = body_of(STR_LITERAL("v1"), STR_LITERAL("Event"));
    add_event_meta(root, event);
    add_reference(root, "involvedObject", &event->regarding);
    json_add_text(root, "reason", event->reason);
    add_note(root, "message", event->note);
    cJSON *source = json_add_object(root, "source");
    json_add_text(source, "component", event->controller);
    json_add_seconds(root, "firstTimestamp", event->time_us);
    json_add_seconds(root, "lastTimestamp", event->time_us);
    json_add_whole(root, "count", 1);
    json_add_text(root, "type", event->type);
    json_add_null(root, "eventTime");
    json_add_text(root, "reportingComponent", event->controller);
    json_add_text(root, "reportingInstance", event->instance);
    json_build_print(out, root);
}

/* ---- conditions ---- */

/* A condition as it is to be, and what the pod has. */
struct change {
    const char *type, *status;
    struct str reason, message;
    int64_t generation;
    const struct condition *old; /* an empty status: the pod does not have it */
    struct strs types;           /* of all conditions that it has, in order */
};

/* As a two-way merge writes a string that changed from old to new: absent when equal, null when the
 * new one is empty and so left out of the object. */
static void add_change(cJSON *object, const char *key, struct str old, struct str new)
{
    if (str_equal(old, new))
        return;
    if (new.len > 0)
        json_add_text(object, key, new);
    else
        json_add_null(object, key);
}

static void add_generation(cJSON *element, int64_t old, int64_t new)
{
    if (old == new)
        return;
    if (new != 0)
        json_add_whole(element, "observedGeneration", new);
    else
        json_add_null(element, "observedGeneration");
}

static bool is_new(const struct change *c)
{
    return c->old->status.len == 0;
}

/* The list is merged by type; without this directive its order would be the server's choice. */
static void add_element_order(cJSON *status, const struct change *c)
{
    cJSON *order = json_add_list(status, "$setElementOrder/conditions");
    for (uint32_t i = 0; i < c->types.count + is_new(c); i++)
        json_add_text(json_add_item(order), "type",
                      i < c->types.count ? c->types.at[i] : str_of(c->type));
}

/* A condition that the pod does not have yet: all of it. */
static cJSON *whole_condition(const struct change *change, int64_t wall_us)
{
    cJSON *c = json_build();
    json_add_null(c, "lastProbeTime");
    json_add_seconds(c, "lastTransitionTime", wall_us);
    json_add_text_if(c, "message", change->message);
    add_generation(c, 0, change->generation);
    json_add_text_if(c, "reason", change->reason);
    json_add_text(c, "status", str_of(change->status));
    json_add_text(c, "type", str_of(change->type));
    return c;
}

/* A condition that the pod has: the members that differ, and the type that the merge goes by. */
static cJSON *changed_condition(const struct change *change, int64_t wall_us)
{
    const struct condition *old = change->old;
    cJSON *c = json_build();
    bool flipped = !str_is(old->status, change->status);
    if (old->probed)
        json_add_null(c, "lastProbeTime");
    if (flipped)
        json_add_seconds(c, "lastTransitionTime", wall_us);
    add_change(c, "message", old->message, change->message);
    add_generation(c, old->observed_generation, change->generation);
    add_change(c, "reason", old->reason, change->reason);
    if (flipped)
        json_add_text(c, "status", str_of(change->status));
    json_add_text(c, "type", str_of(change->type));
    return c;
}

/* observedGeneration alone is no reason to write, as upstream. */
static bool differs(const struct change *c)
{
    return !str_is(c->old->status, c->status) || !str_equal(c->old->reason, c->reason) ||
           !str_equal(c->old->message, c->message) || c->old->probed;
}

static void add_condition(cJSON *status, const struct change *c, int64_t wall_us)
{
    if (c->types.count > 0)
        add_element_order(status, c);
    cJSON *list = json_add_list(status, "conditions");
    must(cJSON_AddItemToArray(list, is_new(c) ? whole_condition(c, wall_us)
                                              : changed_condition(c, wall_us)));
}

bool writes_failure(struct buffer *out, const struct pod_failed *failed, int64_t wall_us)
{
    const struct pod *pod = &failed->pod;
    struct change condition = {.type = "PodScheduled",
                               .status = "False",
                               .reason = words_text(&condition_reason_words, failed->reason),
                               .message = failed->message,
                               .generation = pod->generation,
                               .old = &pod->scheduled,
                               .types = pod->condition_types};
    bool renominated =
        failed->set_nominated && !str_equal(pod->nominated_node, failed->nominated_node);
    bool changed = !failed->event_only && differs(&condition);
    if (!changed && !renominated)
        return false;
    cJSON *root = json_build();
    cJSON *status = json_add_object(root, "status");
    if (changed)
        add_condition(status, &condition, wall_us);
    if (renominated)
        add_change(status, "nominatedNodeName", pod->nominated_node, failed->nominated_node);
    json_build_print(out, root);
    return true;
}

void writes_nomination(struct buffer *out, struct str uid, struct str node)
{
    cJSON *root = json_build();
    json_add_text(json_add_object(root, "metadata"), "uid", uid);
    json_add_text(json_add_object(root, "status"), "nominatedNodeName", node);
    json_build_print(out, root);
}

/* ---- victims ---- */

bool writes_disruption(struct buffer *out, const struct writes_pod *pod,
                       const struct writes_preemptor *by, int64_t wall_us)
{
    struct buffer message = {0};
    buffer_print(&message, "%.*s: preempting to accommodate a higher priority %s",
                 STR_ARG(by->scheduler_name), by->kind);
    struct change condition = {.type = "DisruptionTarget",
                               .status = "True",
                               .reason = STR_LITERAL("PreemptionByScheduler"),
                               .message = buffer_str(&message),
                               .generation = pod->generation,
                               .old = &pod->disruption,
                               .types = pod->condition_types};
    bool changed = differs(&condition);
    if (changed) {
        cJSON *root = json_build();
        json_add_text(json_add_object(root, "metadata"), "uid", pod->uid);
        add_condition(json_add_object(root, "status"), &condition, wall_us);
        json_build_print(out, root);
    }
    buffer_free(&message);
    return changed;
}

void writes_deletion(struct buffer *out, struct str uid)
{
    cJSON *root = json_build();
    json_add_text(root, "kind", STR_LITERAL("DeleteOptions"));
    json_add_text(root, "apiVersion", STR_LITERAL("v1"));
    json_add_text(json_add_object(root, "preconditions"), "uid", uid);
    json_build_print(out, root);
}

/* ---- reading ---- */

static struct str text_of(const cJSON *object, const char *key, struct arena *a)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? arena_copy(a, str_of(text)) : (struct str){"", 0};
}

static int64_t number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    double d = cJSON_IsNumber(item) ? item->valuedouble : 0;
    return d > -9e15 && d < 9e15 ? (int64_t)d : 0;
}

/* NULL unless body is an object of that kind; a missing kind is taken for the right one. */
static cJSON *parse_kind(struct str body, const char *kind)
{
    cJSON *root = body.len > 0 ? cJSON_ParseWithLength(body.at, body.len) : NULL;
    const char *is = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "kind"));
    if (cJSON_IsObject(root) && (is == NULL || strcmp(is, kind) == 0))
        return root;
    cJSON_Delete(root);
    return NULL;
}

bool writes_lease_read(struct str body, struct writes_lease *lease, struct arena *a)
{
    cJSON *root = parse_kind(body, "Lease");
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(root, "spec");
    bool good = cJSON_IsObject(meta);
    *lease = (struct writes_lease){0};
    if (good)
        *lease = (struct writes_lease){
            .holder = text_of(spec, "holderIdentity", a),
            .acquired = text_of(spec, "acquireTime", a),
            .renewed = text_of(spec, "renewTime", a),
            .resource_version = text_of(meta, "resourceVersion", a),
            .uid = text_of(meta, "uid", a),
            .handover =
                text_of(cJSON_GetObjectItemCaseSensitive(meta, "annotations"), WRITES_HANDOVER, a),
            .duration_s = number_of(spec, "leaseDurationSeconds"),
            .transitions = number_of(spec, "leaseTransitions"),
        };
    cJSON_Delete(root);
    return good;
}

/* All that have this name: JSON lets one stand twice, and the second would come to light. */
static void drop(cJSON *object, const char *key)
{
    cJSON *child;
    while ((child = cJSON_GetObjectItemCaseSensitive(object, key)) != NULL)
        cJSON_Delete(cJSON_DetachItemViaPointer(object, child));
}

static cJSON *member(cJSON *object, const char *key)
{
    cJSON *child = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsObject(child))
        return child;
    drop(object, key);
    return json_add_object(object, key);
}

static void put_text(cJSON *object, const char *key, struct str value)
{
    drop(object, key);
    json_add_text(object, key, value);
}

static void put_number(cJSON *object, const char *key, int64_t value)
{
    drop(object, key);
    json_add_whole(object, key, value);
}

void writes_lease_put(struct buffer *out, const struct writes_lease *lease, struct str previous,
                      struct str namespace_name, struct str name)
{
    cJSON *root = parse_kind(previous, "Lease");
    if (root == NULL)
        root = json_build();
    put_text(root, "apiVersion", STR_LITERAL("coordination.k8s.io/v1"));
    put_text(root, "kind", STR_LITERAL("Lease"));
    cJSON *meta = member(root, "metadata");
    put_text(meta, "name", name);
    put_text(meta, "namespace", namespace_name);
    cJSON_DeleteItemFromObjectCaseSensitive(meta, "resourceVersion");
    cJSON_DeleteItemFromObjectCaseSensitive(meta, "managedFields"); /* the server's own business */
    json_add_text_if(meta, "resourceVersion", lease->resource_version);
    if (cJSON_HasObjectItem(meta, "annotations"))
        drop(member(meta, "annotations"), WRITES_HANDOVER);
    if (lease->handover.len > 0)
        put_text(member(meta, "annotations"), WRITES_HANDOVER, lease->handover);
    cJSON *spec = member(root, "spec");
    put_text(spec, "holderIdentity", lease->holder);
    put_number(spec, "leaseDurationSeconds", lease->duration_s);
    put_text(spec, "acquireTime", lease->acquired);
    put_text(spec, "renewTime", lease->renewed);
    put_number(spec, "leaseTransitions", lease->transitions);
    json_build_print(out, root);
}

/* ---- claims and volumes ---- */

static const char bound_by_controller[] = "pv.kubernetes.io/bound-by-controller";
static const char selected_node[] = "volume.kubernetes.io/selected-node";

const char *writes_type(struct str body)
{
    return kube_protobuf_is(body) ? WRITES_PROTOBUF : WRITES_JSON;
}

/* An object that is to be put back; NULL when it is none of that kind. */
static struct kube_json *parse_whole(struct str body, const char *kind, struct arena *a)
{
    struct kube_json *root = body.len > 0 ? kube_json_parse(body, NULL, a) : NULL;
    const struct kube_json *is = kube_json_get(root, "kind");
    if (!kube_json_is_object(kube_json_get(root, "metadata")) ||
        (kube_json_is_string(is) && !str_is(kube_json_text(is), kind)))
        kube_json_free(&root);
    return root;
}

static bool member_is(const struct kube_json *object, const char *key, struct str value)
{
    return str_equal(kube_json_text(kube_json_get(object, key)), value);
}

/* Whether it is still what was decided on; 0: whatever it is. */
static bool has_version(const struct kube_json *meta, int64_t version)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)version);
    return version == 0 || member_is(meta, "resourceVersion", str_of(text));
}

/* The claimRef of a volume, as JSON. */
static void claim_reference(struct buffer *out, const struct claim_binding *claim)
{
    char version[24] = "";
    if (claim->resource_version != 0)
        snprintf(version, sizeof(version), "%lld", (long long)claim->resource_version);
    cJSON *holder = json_build();
    add_reference(holder, "claimRef",
                  &(struct writes_object){.kind = STR_LITERAL("PersistentVolumeClaim"),
                                          .api_version = STR_LITERAL("v1"),
                                          .namespace_name = claim->namespace_name,
                                          .name = claim->name,
                                          .uid = claim->uid,
                                          .resource_version = str_of(version)});
    json_build_print(out, cJSON_DetachItemFromObjectCaseSensitive(holder, "claimRef"));
    cJSON_Delete(holder);
}

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Appends the object, without what is the server's own business. */
static void put_edited(struct buffer *out, struct buffer *json)
{
    json_edit_remove(json, PATH("metadata", "managedFields"));
    buffer_add_str(out, buffer_str(json));
    buffer_free(json);
}

/* What has to be changed of a volume. */
static enum writes_change look_at_volume(const struct kube_json *root,
                                         const struct claim_binding *claim, bool *bound,
                                         bool *noted)
{
    const struct kube_json *meta = kube_json_get(root, "metadata");
    const struct kube_json *ref = kube_json_path(root, "spec.claimRef");
    bool reserved = kube_json_is_object(ref);
    bool named = reserved && member_is(ref, "name", claim->name) &&
                 member_is(ref, "namespace", claim->namespace_name);
    *bound = named && member_is(ref, "uid", claim->uid);
    *noted = named || kube_json_get(kube_json_get(meta, "annotations"), bound_by_controller);
    if (root == NULL)
        return WRITES_malformed;
    if (!has_version(meta, claim->volume_version) || (claim->prebound && !reserved) ||
        (reserved && !*bound && !(named && member_is(ref, "uid", (struct str){0}))))
        return WRITES_conflict;
    return WRITES_changed;
}

enum writes_change writes_volume_put(struct buffer *out, struct str volume,
                                     const struct claim_binding *claim)
{
    struct arena a = {0};
    bool bound, noted;
    struct kube_json *root = parse_whole(volume, "PersistentVolume", &a);
    enum writes_change seen = look_at_volume(root, claim, &bound, &noted);
    kube_json_free(&root);
    arena_free(&a);
    if (seen != WRITES_changed)
        return seen;
    struct buffer json = {0}, ref = {0};
    buffer_add_str(&json, volume);
    claim_reference(&ref, claim);
    if (!bound)
        json_edit_set(&json, PATH("spec", "claimRef"), buffer_str(&ref));
    if (!noted)
        json_edit_set(&json, PATH("metadata", "annotations", bound_by_controller),
                      STR_LITERAL("\"yes\""));
    put_edited(out, &json);
    buffer_free(&ref);
    return WRITES_changed;
}

enum writes_change writes_claim_put(struct buffer *out, struct str json,
                                    const struct claim_binding *claim, struct str node)
{
    struct arena a = {0};
    struct kube_json *root = parse_whole(json, "PersistentVolumeClaim", &a);
    const struct kube_json *meta = kube_json_get(root, "metadata");
    bool known = root != NULL,
         same = member_is(meta, "uid", claim->uid) && has_version(meta, claim->resource_version);
    kube_json_free(&root);
    arena_free(&a);
    if (!known || !same)
        return known ? WRITES_conflict : WRITES_malformed;
    struct buffer edited = {0}, name = {0};
    buffer_add_str(&edited, json);
    json_string(&name, node);
    json_edit_set(&edited, PATH("metadata", "annotations", selected_node), buffer_str(&name));
    put_edited(out, &edited);
    buffer_free(&name);
    return WRITES_changed;
}

void writes_status_read(struct str body, struct writes_status *status, struct arena *a)
{
    if (kube_protobuf_is(body)) {
        struct kube_json *tree = kube_protobuf_parse(body, NULL, a);
        status->reason = arena_copy(a, kube_json_text(kube_json_get(tree, "reason")));
        status->message = arena_copy(a, kube_json_text(kube_json_get(tree, "message")));
        kube_json_free(&tree);
        return;
    }
    cJSON *root = parse_kind(body, "Status");
    status->reason = text_of(root, "reason", a);
    status->message = text_of(root, "message", a);
    cJSON_Delete(root);
}

static struct condition read_condition(const cJSON *from, struct arena *a)
{
    return (struct condition){
        .status = text_of(from, "status", a),
        .reason = text_of(from, "reason", a),
        .message = text_of(from, "message", a),
        .probed = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(from, "lastProbeTime")),
        .observed_generation = number_of(from, "observedGeneration"),
    };
}

static void read_conditions(const cJSON *list, struct writes_pod *pod, struct arena *a)
{
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    const cJSON *item;
    if (count == 0)
        return;
    pod->condition_types.at = arena_take(a, (size_t)count * sizeof(*pod->condition_types.at));
    must(pod->condition_types.at != NULL);
    cJSON_ArrayForEach(item, list)
    {
        struct str type = text_of(item, "type", a);
        pod->condition_types.at[pod->condition_types.count++] = type;
        if (str_is(type, "DisruptionTarget") && pod->disruption.status.len == 0)
            pod->disruption = read_condition(item, a);
    }
}

bool writes_pod_read(struct str body, struct writes_pod *pod, struct arena *a)
{
    cJSON *root = parse_kind(body, "Pod");
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(root, "spec");
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
    bool good = cJSON_IsObject(meta);
    *pod = (struct writes_pod){
        .uid = text_of(meta, "uid", a),
        .node_name = text_of(spec, "nodeName", a),
        .resource_version = text_of(meta, "resourceVersion", a),
        .generation = number_of(meta, "generation"),
        .deleting = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(meta, "deletionTimestamp")),
    };
    read_conditions(cJSON_GetObjectItemCaseSensitive(status, "conditions"), pod, a);
    cJSON_Delete(root);
    return good;
}
