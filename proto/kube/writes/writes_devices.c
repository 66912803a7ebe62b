/* writes_devices: ResourceClaims as they are made and put back: with devices, with a finalizer,
 * with a pod that they are reserved for, and without all that again. The one idea: what was read is
 * changed in a few places and is else byte for byte what it was, in the form that it was read in; a
 * driver's parameters may not change, and JSON alone cannot carry them unchanged through the API
 * server. Its resourceVersion lets the API server refuse what somebody else has changed meanwhile.
 * What must stay true: devices are never given to a claim that has some, or that is going. */
#include "proto/kube/writes/writes_internal.h"

#include "proto/base/json_string.h"
#include "proto/base/moment.h"
#include "proto/kube/documents/json_build.h"
#include "proto/kube/documents/json_edit.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_edit.h"
#include "proto/kube/documents/protobuf_put.h"

#include <stdio.h>

#define FINALIZER  "resource.kubernetes.io/delete-protection"
#define ANNOTATION "resource.kubernetes.io/extended-resource-claim"

/* Fields of messages, as in generated.proto. */
enum { CLAIM_metadata = 1, CLAIM_status = 3 };
enum { META_finalizers = 14, META_managed_fields = 17 };
enum { STATUS_allocation = 1, STATUS_reserved_for = 2, STATUS_devices = 4 };
enum { ALLOCATION_time = 5, TIME_seconds = 1 };
enum { CONSUMER_group = 1, CONSUMER_resource = 3, CONSUMER_name = 4, CONSUMER_uid = 5 };

#define POD_GROUPS     "podgroups"
#define POD_GROUPS_API "scheduling.k8s.io"

/* ---- a claim that was read ---- */

struct subject {
    struct str body;
    struct kube_json *root; /* NULL: it is none */
    struct arena arena;
};

static bool is_claim(const struct subject *c)
{
    struct str kind = kube_protobuf_is(c->body) ? kube_protobuf_kind(c->body)
                                                : kube_json_text(kube_json_get(c->root, "kind"));
    return kube_json_is_object(c->root) && (kind.len == 0 || str_is(kind, "ResourceClaim")) &&
           kube_json_is_object(kube_json_get(c->root, "metadata"));
}

static struct subject read_claim(struct str body)
{
    struct subject c = {.body = body};
    c.root = body.len > 0 ? kube_answer_parse(body, NULL, &c.arena) : NULL;
    if (!is_claim(&c))
        kube_json_free(&c.root);
    return c;
}

static enum writes_change done(struct subject *c, enum writes_change change)
{
    kube_json_free(&c->root);
    arena_free(&c->arena);
    return change;
}

static bool text_is(const struct kube_json *object, const char *path, struct str value)
{
    return str_equal(kube_json_text(kube_json_path(object, path)), value);
}

/* WRITES_changed: nothing is in the way. uid is empty where any will do. */
static enum writes_change look(const struct subject *c, struct str uid)
{
    if (c->root == NULL)
        return WRITES_malformed;
    if (kube_json_path(c->root, "metadata.deletionTimestamp") != NULL ||
        (uid.len > 0 && !text_is(c->root, "metadata.uid", uid)))
        return WRITES_deleted;
    return WRITES_changed;
}

static const struct kube_json *allocation_of(const struct subject *c)
{
    const struct kube_json *allocation = kube_json_path(c->root, "status.allocation");
    return kube_json_is_object(allocation) ? allocation : NULL;
}

static bool is_reserved(const struct subject *c, struct str uid)
{
    const struct kube_json *i = kube_json_first(kube_json_path(c->root, "status.reservedFor"));
    for (; i != NULL; i = kube_json_next(i))
        if (text_is(i, "uid", uid))
            return true;
    return false;
}

/* Pods know their PodGroup by its name. */
static bool is_reserved_for(const struct subject *c, const struct writes_consumer *consumer)
{
    const struct kube_json *i = kube_json_first(kube_json_path(c->root, "status.reservedFor"));
    for (; i != NULL && consumer->group.len > 0; i = kube_json_next(i))
        if (text_is(i, "resource", STR_LITERAL(POD_GROUPS)) &&
            text_is(i, "apiGroup", STR_LITERAL(POD_GROUPS_API)) &&
            text_is(i, "name", consumer->group))
            return true;
    return is_reserved(c, consumer->uid);
}

static bool has_finalizer(const struct subject *c)
{
    const struct kube_json *i = kube_json_first(kube_json_path(c->root, "metadata.finalizers"));
    for (; i != NULL; i = kube_json_next(i))
        if (str_is(kube_json_text(i), FINALIZER))
            return true;
    return false;
}

/* ---- changing it ---- */

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Changes inside of the metadata, and of the status; none there: NULL. */
static enum writes_change put_protobuf(struct buffer *out, struct subject *c,
                                       const struct protobuf_change *in_metadata,
                                       const struct protobuf_change *in_status, size_t count)
{
    const struct protobuf_change unmanaged = {.field = META_managed_fields, .kind = PROTOBUF_drop};
    struct protobuf_change metadata[2] = {unmanaged};
    if (in_metadata != NULL)
        metadata[1] = *in_metadata;
    const struct protobuf_change changes[] = {
        {CLAIM_metadata, PROTOBUF_into, {NULL, 0}, metadata, in_metadata != NULL ? 2 : 1},
        {CLAIM_status, PROTOBUF_into, {NULL, 0}, in_status, count}};
    size_t start = out->len;
    if (protobuf_edit_body(out, c->body, changes, in_status != NULL ? 2 : 1))
        return done(c, WRITES_changed);
    out->len = start;
    return done(c, WRITES_malformed);
}

/* The claim's text, to be changed where it is. */
static struct buffer json_of(const struct subject *c)
{
    struct buffer json = {0};
    buffer_add_str(&json, c->body);
    json_edit_remove(&json, PATH("metadata", "managedFields"));
    return json;
}

static enum writes_change put_json(struct buffer *out, struct subject *c, struct buffer *json)
{
    buffer_add_str(out, buffer_str(json));
    buffer_free(json);
    return done(c, WRITES_changed);
}

static struct str resource_of(const struct writes_consumer *consumer)
{
    return consumer->for_group ? STR_LITERAL(POD_GROUPS) : STR_LITERAL("pods");
}

static void consumer_json(struct buffer *out, const struct writes_consumer *consumer)
{
    cJSON *entry = json_build();
    if (consumer->for_group)
        json_add_text(entry, "apiGroup", STR_LITERAL(POD_GROUPS_API));
    json_add_text(entry, "resource", resource_of(consumer));
    json_add_text(entry, "name", consumer->for_group ? consumer->group : consumer->pod);
    json_add_text(entry, "uid", consumer->for_group ? consumer->group_uid : consumer->uid);
    json_build_print(out, entry);
}

static void consumer_protobuf(struct buffer *out, const struct writes_consumer *consumer)
{
    bool group = consumer->for_group;
    if (group)
        protobuf_put_text(out, CONSUMER_group, STR_LITERAL(POD_GROUPS_API));
    protobuf_put_text(out, CONSUMER_resource, resource_of(consumer));
    protobuf_put_text(out, CONSUMER_name, group ? consumer->group : consumer->pod);
    protobuf_put_text(out, CONSUMER_uid, group ? consumer->group_uid : consumer->uid);
}

static void add_consumer_json(struct buffer *json, const struct writes_consumer *consumer)
{
    struct buffer entry = {0};
    consumer_json(&entry, consumer);
    json_edit_append(json, PATH("status", "reservedFor"), buffer_str(&entry));
    buffer_free(&entry);
}

/* ---- reserved ---- */

static enum writes_change reserve_json(struct buffer *out, struct subject *c,
                                       const struct writes_consumer *consumer, bool timed)
{
    struct buffer json = json_of(c);
    struct buffer quoted = {0};
    char time[32];
    add_consumer_json(&json, consumer);
    moment_print_seconds(consumer->wall_us, time, sizeof(time));
    json_string(&quoted, str_of(time));
    if (!timed)
        json_edit_set(&json, PATH("status", "allocation", "allocationTimestamp"),
                      buffer_str(&quoted));
    buffer_free(&quoted);
    return put_json(out, c, &json);
}

static enum writes_change reserve_protobuf(struct buffer *out, struct subject *c,
                                           const struct writes_consumer *consumer, bool timed)
{
    struct buffer entry = {0}, time = {0};
    consumer_protobuf(&entry, consumer);
    protobuf_put_number(&time, TIME_seconds, consumer->wall_us / 1000000);
    const struct protobuf_change times[] = {
        {.field = ALLOCATION_time, .kind = PROTOBUF_drop},
        {.field = ALLOCATION_time, .kind = PROTOBUF_add, .bytes = buffer_str(&time)}};
    const struct protobuf_change changes[] = {
        {.field = STATUS_reserved_for, .kind = PROTOBUF_add, .bytes = buffer_str(&entry)},
        {STATUS_allocation, PROTOBUF_into, {NULL, 0}, times, 2}};
    enum writes_change change = put_protobuf(out, c, NULL, changes, timed ? 1 : 2);
    buffer_free(&entry);
    buffer_free(&time);
    return change;
}

/* allocationTimestamp is the time from which drivers have to make devices ready. */
enum writes_change writes_reservation_put(struct buffer *out, struct str body,
                                          const struct writes_consumer *consumer)
{
    struct subject c = read_claim(body);
    enum writes_change seen = look(&c, (struct str){NULL, 0});
    if (seen == WRITES_changed && allocation_of(&c) == NULL)
        seen = WRITES_conflict;
    else if (seen == WRITES_changed && is_reserved_for(&c, consumer))
        seen = WRITES_same;
    if (seen != WRITES_changed)
        return done(&c, seen);
    bool timed = consumer->wall_us == 0 ||
                 kube_json_is_string(kube_json_get(allocation_of(&c), "allocationTimestamp"));
    return kube_protobuf_is(body) ? reserve_protobuf(out, &c, consumer, timed)
                                  : reserve_json(out, &c, consumer, timed);
}

/* ---- given ---- */

enum writes_change writes_claim_finalizer_put(struct buffer *out, struct str body, struct str uid)
{
    static const struct protobuf_change add = {.field = META_finalizers,
                                               .kind = PROTOBUF_add,
                                               .bytes = {FINALIZER, sizeof(FINALIZER) - 1}};
    struct subject c = read_claim(body);
    enum writes_change seen = look(&c, uid);
    if (seen == WRITES_changed && allocation_of(&c) != NULL)
        seen = WRITES_conflict;
    else if (seen == WRITES_changed && has_finalizer(&c))
        seen = WRITES_same;
    if (seen != WRITES_changed)
        return done(&c, seen);
    if (kube_protobuf_is(body))
        return put_protobuf(out, &c, &add, NULL, 0);
    struct buffer json = json_of(&c);
    json_edit_append(&json, PATH("metadata", "finalizers"), STR_LITERAL("\"" FINALIZER "\""));
    return put_json(out, &c, &json);
}

static enum writes_change allocate_json(struct buffer *out, struct subject *c,
                                        const struct device_allocation *allocation,
                                        const struct writes_consumer *consumer)
{
    struct buffer json = json_of(c), given = {0};
    writes_allocation_json(&given, allocation, consumer->wall_us);
    json_edit_set(&json, PATH("status", "allocation"), buffer_str(&given));
    buffer_free(&given);
    add_consumer_json(&json, consumer);
    return put_json(out, c, &json);
}

static enum writes_change allocate_protobuf(struct buffer *out, struct subject *c,
                                            const struct device_allocation *allocation,
                                            const struct writes_consumer *consumer)
{
    struct buffer entry = {0}, given = {0};
    consumer_protobuf(&entry, consumer);
    writes_allocation_protobuf(&given, allocation, consumer->wall_us);
    const struct protobuf_change changes[] = {
        {.field = STATUS_allocation, .kind = PROTOBUF_add, .bytes = buffer_str(&given)},
        {.field = STATUS_reserved_for, .kind = PROTOBUF_add, .bytes = buffer_str(&entry)}};
    enum writes_change change = put_protobuf(out, c, NULL, changes, 2);
    buffer_free(&entry);
    buffer_free(&given);
    return change;
}

enum writes_change writes_allocation_put(struct buffer *out, struct str body,
                                         const struct device_allocation *allocation,
                                         const struct writes_consumer *consumer)
{
    struct subject c = read_claim(body);
    enum writes_change seen = look(&c, allocation->uid);
    if (seen == WRITES_changed && allocation_of(&c) != NULL)
        seen = WRITES_conflict;
    if (seen != WRITES_changed)
        return done(&c, seen);
    return kube_protobuf_is(body) ? allocate_protobuf(out, &c, allocation, consumer)
                                  : allocate_json(out, &c, allocation, consumer);
}

/* ---- taken back ---- */

/* Whose reservation goes. */
static struct str who_leaves(const struct claim_release *release)
{
    return release->group_uid.len > 0 ? release->group_uid : release->uid;
}

void writes_unreservation(struct buffer *out, const struct claim_release *release)
{
    cJSON *root = json_build();
    json_add_text(json_add_object(root, "metadata"), "uid", release->claim_uid);
    cJSON *gone = json_add_item(json_add_list(json_add_object(root, "status"), "reservedFor"));
    json_add_text(gone, "$patch", STR_LITERAL("delete"));
    json_add_text(gone, "uid", who_leaves(release));
    json_build_print(out, root);
}

static bool is_for(struct str item, const void *context)
{
    const struct str *uid = context;
    struct arena a = {0};
    struct kube_json *entry = kube_json_parse(item, NULL, &a);
    bool is = text_is(entry, "uid", *uid);
    kube_json_free(&entry);
    arena_free(&a);
    return is;
}

static enum writes_change unreserve_protobuf(struct buffer *out, struct subject *c, struct str uid)
{
    const struct protobuf_change of_it = {.field = CONSUMER_uid, .bytes = uid};
    const struct protobuf_change drop = {
        .field = STATUS_reserved_for, .kind = PROTOBUF_drop_with, .inside = &of_it};
    return put_protobuf(out, c, NULL, &drop, 1);
}

enum writes_change writes_unreservation_put(struct buffer *out, struct str body,
                                            const struct claim_release *release)
{
    struct subject c = read_claim(body);
    struct str uid = who_leaves(release);
    enum writes_change seen = look(&c, release->claim_uid);
    if (seen == WRITES_changed && !is_reserved(&c, uid))
        seen = WRITES_same;
    if (seen != WRITES_changed)
        return done(&c, seen);
    if (kube_protobuf_is(body))
        return unreserve_protobuf(out, &c, uid);
    struct buffer json = json_of(&c);
    json_edit_filter(&json, PATH("status", "reservedFor"), is_for, &uid);
    return put_json(out, &c, &json);
}

/* Whether nobody but the pod, or its group, may use it. */
static bool is_free_for(const struct subject *c, const struct claim_release *release)
{
    size_t count = kube_json_count(kube_json_path(c->root, "status.reservedFor"));
    return count == 0 ||
           (count == 1 && (is_reserved(c, release->uid) ||
                           (release->group_uid.len > 0 && is_reserved(c, release->group_uid))));
}

static enum writes_change deallocate(struct buffer *out, struct subject *c)
{
    static const struct protobuf_change changes[] = {
        {.field = STATUS_allocation, .kind = PROTOBUF_drop},
        {.field = STATUS_reserved_for, .kind = PROTOBUF_drop},
        {.field = STATUS_devices, .kind = PROTOBUF_drop}};
    if (kube_protobuf_is(c->body))
        return put_protobuf(out, c, NULL, changes, 3);
    struct buffer json = json_of(c);
    json_edit_remove(&json, PATH("status", "allocation"));
    json_edit_remove(&json, PATH("status", "reservedFor"));
    json_edit_remove(&json, PATH("status", "devices"));
    return put_json(out, c, &json);
}

enum writes_change writes_deallocation_put(struct buffer *out, struct str body,
                                           const struct claim_release *release)
{
    struct subject c = read_claim(body);
    char version[24];
    snprintf(version, sizeof(version), "%lld", (long long)release->resource_version);
    enum writes_change seen = look(&c, release->claim_uid);
    if (seen == WRITES_changed && allocation_of(&c) == NULL)
        seen = WRITES_same;
    else if (seen == WRITES_changed &&
             (!text_is(c.root, "metadata.resourceVersion", str_of(version)) ||
              !is_free_for(&c, release)))
        seen = WRITES_conflict;
    return seen == WRITES_changed ? deallocate(out, &c) : done(&c, seen);
}

/* ---- the claim for extended resources ---- */

/* Whether the pod controls it and a scheduler has made it. */
static bool is_special_of(const struct subject *c, struct str pod_uid)
{
    const struct kube_json *meta = kube_json_get(c->root, "metadata");
    const struct kube_json *notes = kube_json_get(meta, "annotations");
    const struct kube_json *owner = kube_json_first(kube_json_get(meta, "ownerReferences"));
    bool owned = false;
    for (; owner != NULL; owner = kube_json_next(owner))
        owned |=
            text_is(owner, "uid", pod_uid) && kube_json_true(kube_json_get(owner, "controller"));
    return owned && str_is(kube_json_text(kube_json_get(notes, ANNOTATION)), "true");
}

enum writes_change writes_special_claim_look(struct str body, struct str pod_uid)
{
    struct subject c = read_claim(body);
    enum writes_change seen = look(&c, (struct str){NULL, 0});
    if (seen == WRITES_changed && !is_special_of(&c, pod_uid))
        seen = WRITES_conflict;
    return done(&c, seen);
}

static bool is_finalizer(struct str item, const void *context)
{
    (void)context;
    return str_is(item, "\"" FINALIZER "\"");
}

enum writes_change writes_special_claim_unprotect(struct buffer *out, struct str body,
                                                  const struct claim_release *release)
{
    static const struct protobuf_change drop = {.field = META_finalizers,
                                                .kind = PROTOBUF_drop_text,
                                                .bytes = {FINALIZER, sizeof(FINALIZER) - 1}};
    struct subject c = read_claim(body);
    if (c.root == NULL)
        return done(&c, WRITES_malformed);
    if (release->claim_uid.len > 0 && !text_is(c.root, "metadata.uid", release->claim_uid))
        return done(&c, WRITES_deleted);
    if (!is_special_of(&c, release->uid))
        return done(&c, WRITES_conflict);
    if (!has_finalizer(&c))
        return done(&c, WRITES_same);
    if (kube_protobuf_is(body))
        return put_protobuf(out, &c, &drop, NULL, 0);
    struct buffer json = json_of(&c);
    json_edit_filter(&json, PATH("metadata", "finalizers"), is_finalizer, NULL);
    return put_json(out, &c, &json);
}
