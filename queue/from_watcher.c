/* from_watcher: which pods are pending, and what happens in the cluster.
 *
 * What must stay true: a pod is pending here, assigned in the mirror, or not known, and two of
 * these only while its node has put off its resize; what changed is told with what was known
 * before; an older version is counted and changes nothing, except in a snapshot, which is the
 * truth. */
#include "queue/from_watcher.h"

#include "proto/base/log.h"
#include "proto/kube/objects/requests.h"
#include "queue/gang.h"
#include "queue/mirror.h"
#include "queue/move.h"
#include "queue/owners.h"

/* ---- what is told to those who wait ---- */

/* Whoever it may help is woken. */
static void tell_of_event(struct queue *q, struct moment now, const struct event *what)
{
    struct event event = *what;
    event.release = q->queues.options.release;
    move_all(&q->queues, now, &event, NULL);
    measure_handled(&q->queues.measured, event_label(&event));
}

static void tell_of_pod(struct queue *q, struct moment now, uint32_t action, const struct pod *old,
                        const struct pod *new)
{
    if (action == EVENT_ADD || action == EVENT_DELETE)
        gangs_assigned(&q->queues, old, new);
    struct event event = {
        .resource = EVENT_OF_assigned_pod, .action = action, .old_pod = old, .new_pod = new};
    tell_of_event(q, now, &event);
}

/* An update that is of no kind, such as a kubelet's word on a pod's status: only plugins that
 * nobody knows ask for those. */
static void tell_of_any_update(struct queue *q, struct moment now, const struct pod *pod)
{
    bool heard = (q->queues.unschedulable.plugins & (PLUGINS_other | PLUGINS_bus)) != 0;
    if (heard || q->queues.in_flight.count > 0)
        tell_of_pod(q, now, EVENT_UPDATE, pod, pod);
}

/* Upstream hears of it through the slices whose devices have another taint then. */
static void tell_of_taint_rule(struct queue *q, struct moment now)
{
    const struct resource_slice any = {0};
    struct event event = {.resource = EVENT_OF_resource_slice,
                          .action = EVENT_UPDATE,
                          .old_object = &any,
                          .new_object = &any};
    if (q->features.device_taint_rules)
        tell_of_event(q, now, &event);
}

static void tell_of_object(struct queue *q, struct moment now, struct event event)
{
    event.action = EVENT_UPDATE;
    if (event.old_object == NULL)
        event.action = EVENT_ADD;
    else if (event.new_object == NULL)
        event.action = EVENT_DELETE;
    if (event.resource == EVENT_OF_device_taint_rule)
        tell_of_taint_rule(q, now);
    else
        tell_of_event(q, now, &event);
}

/* ---- pods ---- */

static struct str key_of(struct queue *q, struct str namespace_name, struct str name)
{
    return mirror_key(namespace_name, name, &q->scratch);
}

/* Room is to be made on its node. */
static void set_resizing(struct queue *q, struct moment now, struct str key, const struct pod *pod)
{
    const struct pod tried = requests_as_tried(pod);
    struct entry *e = queues_get(&q->queues, key);
    if (e == NULL) {
        e = queues_add(&q->queues, now, key, &tried, profiles_ours(q, pod));
        measure_handled(&q->queues.measured, "UnschedulablePodAdd");
    } else if (pod->resource_version != 0 && pod->resource_version == e->kept->version) {
        q->count.repeated++;
    } else {
        queues_update(&q->queues, now, e, &tried);
    }
    e->seen = q->snapshot;
}

/* It is tried no more, or has been bound; then room may be made for its resize. */
static void follow_assigned(struct queue *q, struct moment now, struct str key,
                            const struct pod *pod)
{
    const struct entry *e = queues_get(&q->queues, key);
    bool resizes = pod->resize_deferred && profiles_ours(q, pod) != NULL;
    if (e != NULL && !(resizes && e->on_node)) {
        queues_assigned(&q->queues, now, key, pod->node_name);
        measure_handled(&q->queues.measured, "UnschedulablePodDelete");
    }
    if (resizes)
        set_resizing(q, now, key, pod);
}

static void set_assigned(struct queue *q, struct moment now, struct str key, const struct pod *pod)
{
    struct pod before;
    struct event_changes changes;
    follow_assigned(q, now, key, pod);
    switch (mirror_set_pod(q->mirror, key, pod, &before, &q->scratch)) {
    case MIRROR_outdated: q->count.outdated++; break;
    case MIRROR_same: tell_of_any_update(q, now, pod); break;
    case MIRROR_new: tell_of_pod(q, now, EVENT_ADD, NULL, pod); break;
    case MIRROR_changed:
        gangs_assigned(&q->queues, &before, pod);
        changes = event_assigned_changes(&before, pod, q->queues.options.release);
        if (changes.count == 0)
            tell_of_any_update(q, now, pod);
        for (uint32_t i = 0; i < changes.count; i++)
            tell_of_pod(q, now, changes.at[i], &before, pod);
        break;
    }
}

static void set_pending(struct queue *q, struct moment now, struct str key, const struct pod *pod)
{
    struct entry *e = queues_get(&q->queues, key);
    const struct pod tried = requests_as_tried(pod);
    const struct surroundings *around = profiles_ours(q, pod);
    if (around == NULL) {
        if (e != NULL)
            queues_deleted(&q->queues, now, key);
        return;
    }
    if (e == NULL) {
        e = queues_add(&q->queues, now, key, &tried, around);
        e->may_hold = q->in_snapshot; /* the scheduler may have placed it before we came */
        measure_handled(&q->queues.measured, "UnschedulablePodAdd");
    } else if (pod->resource_version != 0 && pod->resource_version == e->kept->version) {
        q->count.repeated++;
    } else {
        queues_update(&q->queues, now, e, &tried);
        measure_handled(&q->queues.measured, "UnschedulablePodUpdate");
    }
    e->seen = q->snapshot;
    if (q->in_snapshot && e->place == PLACE_bound)
        queues_unbound(&q->queues, now, e);
}

/* Whoever had this name before, under another UID, is gone, whether we were told or not. */
static void drop_namesake(struct queue *q, struct moment now, struct str key, const struct pod *pod)
{
    struct pod before;
    struct mirrored_pod known;
    const struct entry *e = queues_get(&q->queues, key);
    if (e != NULL && !entry_has_uid(e, pod->uid))
        queues_deleted(&q->queues, now, key);
    if (mirror_pod(q->mirror, key, &known) &&
        (pod->node_name.len == 0 || !mirror_pod_is(&known, pod->uid)) &&
        mirror_remove_pod(q->mirror, key, (struct str){NULL, 0}, &before, &q->scratch))
        tell_of_pod(q, now, EVENT_DELETE, &before, NULL);
}

/* An older version than the one known, in a numbered change, is a straggler. A snapshot is the
 * truth whatever its versions: the API server may have been restored from a backup. */
static bool outdated(struct queue *q, struct str key, const struct pod *pod)
{
    const struct entry *e = queues_get(&q->queues, key);
    struct mirrored_pod assigned;
    if (q->in_snapshot || pod->resource_version == 0)
        return false;
    if (e != NULL)
        return pod->resource_version < e->kept->version;
    return mirror_pod(q->mirror, key, &assigned) && pod->resource_version < assigned.version;
}

void from_watcher_pod_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct pod told = requests_as_of(&in->message->pod_set.pod, &q->features);
    const struct pod *pod = &told;
    if (pod->uid.len == 0 || pod->name.len == 0 || pod->namespace_name.len == 0) {
        q->refused = (struct refusal){"pod without UID, namespace or name", pod->name};
        return;
    }
    struct str key = key_of(q, pod->namespace_name, pod->name);
    if (outdated(q, key, pod)) {
        q->count.outdated++;
        return;
    }
    drop_namesake(q, now, key, pod);
    if (pod->node_name.len > 0)
        set_assigned(q, now, key, pod);
    else
        set_pending(q, now, key, pod);
}

void from_watcher_pod_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct pod_gone *gone = &in->message->pod_gone;
    struct str key = key_of(q, gone->namespace_name, gone->name);
    const struct entry *e = queues_get(&q->queues, key);
    bool waits = e != NULL && entry_has_uid(e, gone->uid);
    bool assigned = !waits || e->on_node;
    struct pod before;
    if (waits) {
        queues_deleted(&q->queues, now, key);
        measure_handled(&q->queues.measured, "UnschedulablePodDelete");
    }
    if (assigned && gone->uid.len > 0 &&
        mirror_remove_pod(q->mirror, key, gone->uid, &before, &q->scratch))
        tell_of_pod(q, now, EVENT_DELETE, &before, NULL);
}

/* ---- nodes ---- */

void from_watcher_node_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct node *node = &in->message->node_set.node;
    struct node before;
    struct event event = {.resource = EVENT_OF_node, .new_node = node};
    struct event_changes changes;
    if (node->name.len == 0) {
        q->refused = (struct refusal){"node without a name", node->uid};
        return;
    }
    switch (mirror_set_node(q->mirror, node, &before, &q->scratch)) {
    case MIRROR_outdated: q->count.outdated++; break;
    case MIRROR_same: break;
    case MIRROR_new:
        gangs_node(&q->queues, NULL, node);
        event.action = EVENT_ADD;
        tell_of_event(q, now, &event);
        break;
    case MIRROR_changed:
        gangs_node(&q->queues, &before, node);
        changes = event_node_changes(&before, node, q->queues.options.release);
        event.old_node = &before;
        for (uint32_t i = 0; i < changes.count; i++) {
            event.action = changes.at[i];
            tell_of_event(q, now, &event);
        }
        break;
    }
}

void from_watcher_node_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    struct node before;
    if (!mirror_remove_node(q->mirror, in->message->node_gone.name, &before, &q->scratch))
        return;
    gangs_node(&q->queues, &before, NULL);
    struct event event = {.resource = EVENT_OF_node, .action = EVENT_DELETE, .old_node = &before};
    tell_of_event(q, now, &event);
}

/* ---- other objects ---- */

void from_watcher_object_set(struct queue *q, struct moment now, const struct delivery *in)
{
    union mirror_record before;
    struct mirror_update u = mirror_set_object(q->mirror, in->message, &before, &q->scratch);
    struct event event = {.resource = u.resource, .new_object = u.record};
    if (u.change == MIRROR_outdated)
        q->count.outdated++;
    if (u.change == MIRROR_changed)
        event.old_object = &before;
    if (u.change == MIRROR_new || u.change == MIRROR_changed)
        tell_of_object(q, now, event);
}

static enum event_resource resource_of(enum object_kind kind)
{
    switch (kind) {
    case OBJECT_claim: return EVENT_OF_claim;
    case OBJECT_volume: return EVENT_OF_volume;
    case OBJECT_storage_class: return EVENT_OF_storage_class;
    case OBJECT_csi_node: return EVENT_OF_csi_node;
    case OBJECT_csi_driver: return EVENT_OF_csi_driver;
    case OBJECT_csi_capacity: return EVENT_OF_csi_capacity;
    case OBJECT_attachment: return EVENT_OF_attachment;
    case OBJECT_resource_claim: return EVENT_OF_resource_claim;
    case OBJECT_resource_slice: return EVENT_OF_resource_slice;
    case OBJECT_device_class: return EVENT_OF_device_class;
    case OBJECT_device_taint_rule: return EVENT_OF_device_taint_rule;
    default: return EVENT_RESOURCES;
    }
}

void from_watcher_object_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct object_gone *gone = &in->message->object_gone;
    enum event_resource resource = resource_of(gone->kind);
    union mirror_record before;
    if (gone->kind == OBJECT_pod_group)
        gangs_gone(&q->queues, now, gone);
    else if (resource == EVENT_RESOURCES)
        owners_gone(q->owners, gone->kind, gone->namespace_name, gone->name);
    else if (mirror_remove_object(q->mirror, resource, gone, &before, &q->scratch))
        tell_of_object(q, now, (struct event){.resource = resource, .old_object = &before});
}

/* What owns pods wakes nobody; hints look it up. */
void from_watcher_owner_set(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    owners_set(q->owners, &in->message->owner_set.owner);
}

void from_watcher_pod_group_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct gang *group = &in->message->pod_group_set.group;
    if (group->name.len == 0 || group->api.len == 0)
        q->refused = (struct refusal){"PodGroup without API group or name", group->name};
    else if (!gangs_set(&q->queues, now, group))
        q->count.outdated++;
}

void from_watcher_group_kinds(struct queue *q, struct moment now, const struct delivery *in)
{
    gangs_serve(&q->queues, now, &in->message->group_kinds);
}

/* ---- snapshots ---- */

void from_watcher_snapshot_begin(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    (void)in;
    q->snapshot++;
    q->in_snapshot = true;
    mirror_snapshot_begin(q->mirror);
    owners_snapshot_begin(q->owners);
    gangs_snapshot_begin(&q->queues);
}

static void drop_unseen_entries(struct queue *q, struct moment now)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(q->queues.entries, &at, &key, &value)) {
        const struct entry *e = value;
        if (e->seen != q->snapshot)
            queues_deleted(&q->queues, now, key);
    }
}

static void drop_unseen_pods_and_nodes(struct queue *q, struct moment now)
{
    struct pod pod;
    struct node node;
    while (mirror_next_unseen_pod(q->mirror, &pod, &q->scratch)) {
        tell_of_pod(q, now, EVENT_DELETE, &pod, NULL);
        arena_reset(&q->scratch);
    }
    while (mirror_next_unseen_node(q->mirror, &node, &q->scratch)) {
        struct event event = {.resource = EVENT_OF_node, .action = EVENT_DELETE, .old_node = &node};
        gangs_node(&q->queues, &node, NULL);
        tell_of_event(q, now, &event);
        arena_reset(&q->scratch);
    }
}

static void drop_unseen_objects(struct queue *q, struct moment now)
{
    union mirror_record before;
    for (int i = EVENT_OF_claim; i < EVENT_RESOURCES; i++)
        while (mirror_next_unseen_object(q->mirror, i, &before, &q->scratch)) {
            tell_of_object(q, now, (struct event){.resource = i, .old_object = &before});
            arena_reset(&q->scratch);
        }
    owners_snapshot_end(q->owners);
    gangs_snapshot_end(&q->queues, now);
}

void from_watcher_snapshot_end(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)in;
    if (!q->in_snapshot)
        return;
    drop_unseen_entries(q, now);
    drop_unseen_pods_and_nodes(q, now);
    drop_unseen_objects(q, now);
    mirror_snapshot_end(q->mirror);
    q->in_snapshot = false;
    queues_missed(&q->queues, now);
    log_info("snapshot applied|pending=%zu assigned=%zu nodes=%zu", map_count(q->queues.entries),
             mirror_pods(q->mirror), mirror_nodes(q->mirror));
}

/* ---- a comparison ---- */

/* Pods that wait beside what the watcher holds of them; assigned ones are the scheduler's to
 * compare. */
static void compare(struct queue *q)
{
    struct mismatch pods = {0};
    size_t at = 0;
    struct str uid;
    void *value;
    char text[UUID_TEXT];
    while (map_next(q->queues.entries, &at, &uid, &value)) {
        uid = store_uuid(((const struct entry *)value)->kept, TAG_pod_uid, text);
        struct name_told *there = map_get(q->told.pods, uid);
        if (there != NULL)
            there->found = true;
        else
            mismatch_redundant(&pods, uid);
    }
    for (at = 0; map_next(q->told.pods, &at, &uid, &value);) {
        const struct name_told *there = value;
        if (!there->assigned && !there->found && profiles_find(q, there->scheduler_name) != NULL)
            mismatch_missed(&pods, uid);
    }
    mismatch_log(&pods, "Pods");
    log_info("Cache comparer finished| pending=%zu", map_count(q->queues.entries));
}

void from_watcher_names(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    if (!comparer_take(&q->told, &in->message->names))
        return;
    compare(q);
    comparer_clear(&q->told);
}
