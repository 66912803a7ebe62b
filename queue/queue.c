/* queue: from messages to steps of the queues and back.
 *
 * The watcher says which pods are pending and what happens in the cluster; the scheduler says how
 * many attempts it can hold (credit) and how each ended. What must stay true: an attempt is handed
 * out only on credit and only after a first whole snapshot; every attempt is closed by its own
 * outcome, or taken back when its scheduler or its leadership term is over; words of another life,
 * another cycle or an older version are counted and change nothing. */
#include "queue/queue.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/gang.h"
#include "queue/hints.h"
#include "queue/kins.h"
#include "queue/measure.h"
#include "queue/mirror.h"
#include "queue/move.h"
#include "queue/owners.h"
#include "queue/queue_inside.h"

#include <inttypes.h>

#define STREAM_WINDOW 2048
#define CREDIT_MAX    65536 /* a peer's number bounds our memory nowhere */
#define TELL_MOST     32    /* messages about waiting groups at once */
#define TELL_PAUSE_MS 20

/* CoschedulingArgs where no configuration was told. */
#define GANG_WAIT_S            60
#define GANG_REJECT_PERCENTAGE 10

/* What hints may look up for the pods of a profile. */
static struct surroundings surroundings_of(struct queue *q, const struct profile *p)
{
    bool told = p != NULL && p->gangs.len > 0;
    uint64_t pre_enqueue = p != NULL ? plugins_of(&p->pre_enqueue) : PLUGINS_all;
    return (struct surroundings){
        .profile = p,
        .owners = q->owners,
        .mirror = q->mirror,
        .timing = &q->timing,
        .fifo = q->options.fifo,
        .gang_sort = q->options.gang_sort,
        .gangs = p == NULL || !str_is(p->gangs, "off"),
        .gangs_named = p != NULL && str_is(p->gangs, "on"),
        .built_in_gangs = !told || p->gang_built_in,
        .gang_wait_s = told ? p->gang_wait_s : GANG_WAIT_S,
        .gang_backoff_s = told ? p->gang_backoff_s : 0,
        .gang_reject_percentage = told ? p->gang_reject_percentage : GANG_REJECT_PERCENTAGE,
        .obeys_gates = (pre_enqueue & plugins_bit("SchedulingGates")) != 0,
        .obeys_claims = (pre_enqueue & plugins_bit("DynamicResources")) != 0};
}

static struct served *served_of(const struct queue *q, struct str name)
{
    struct served *s = q->served;
    while (s != NULL && !str_equal(str_of(s->name), name))
        s = s->next;
    return s;
}

/* The profile of that name, from now on; NULL: the default one. */
static void serve(struct queue *q, struct str name, const struct profile *p)
{
    struct served *s = served_of(q, name);
    if (s == NULL) {
        s = memory_take(sizeof(*s));
        s->name = str_copy(name);
        s->next = q->served;
        q->served = s;
    }
    s->around = surroundings_of(q, p);
    s->ours = true;
}

static void serve_all(struct queue *q, const struct profile *profiles, uint32_t count)
{
    for (struct served *s = q->served; s != NULL; s = s->next)
        s->ours = false;
    for (uint32_t i = 0; i < count; i++)
        serve(q, profiles[i].scheduler_name, &profiles[i]);
    if (count == 0)
        serve(q, STR_LITERAL("default-scheduler"), NULL);
}

struct queue *queue_new(const struct queue_options *options)
{
    struct queue *q = memory_take(sizeof(*q));
    struct queues_options inner = {.backoff_initial = options->backoff_initial,
                                   .backoff_max = options->backoff_max,
                                   .unschedulable_max = options->unschedulable_max,
                                   .wall_us_at_zero = options->wall_us_at_zero,
                                   .first_cycle = options->first_cycle};
    q->options = *options;
    q->scheduler.process = SCHEDULER;
    q->mirror = mirror_new();
    q->owners = owners_new();
    q->timing.clock = options->clock;
    serve_all(q, options->profiles, options->profile_count);
    q->config_hash = options->config_hash;
    q->config_generation = 1;
    queues_init(&q->queues, &inner);
    q->queues.measured.clock = options->clock;
    subscriber_init(&q->stream, STREAM_WINDOW);
    return q;
}

void queue_free(struct queue **queue)
{
    if (*queue == NULL)
        return;
    queues_free(&(*queue)->queues);
    mirror_free(&(*queue)->mirror);
    owners_free(&(*queue)->owners);
    for (struct served *s = (*queue)->served, *next; s != NULL; s = next) {
        next = s->next;
        memory_free(s->name);
        memory_free(s);
    }
    roll_clear(&(*queue)->roll);
    arena_free(&(*queue)->configs);
    arena_free(&(*queue)->scratch);
    memory_free(*queue);
    *queue = NULL;
}

const struct queues *queue_inside(const struct queue *queue)
{
    return &queue->queues;
}

static void refuse(struct queue *q, struct moment now, const char *what, struct str name)
{
    q->count.refused++;
    if (log_limited(&q->refused_log, now))
        log_warn("refused: %s|object=\"%.*s\" suppressed=%u", what, STR_ARG(name),
                 q->refused_log.suppressed_before);
}

/* ---- pods ---- */

static struct str key_of(struct queue *q, struct str namespace_name, struct str name)
{
    return mirror_key(namespace_name, name, &q->scratch);
}

/* NULL for the pods of other schedulers. */
static const struct surroundings *ours(const struct queue *q, const struct pod *pod)
{
    const struct served *s = served_of(q, pod->scheduler_name);
    return s != NULL && s->ours ? &s->around : NULL;
}

/* Whoever it may help is woken. */
static void tell_of_event(struct queue *q, struct moment now, const struct event *event)
{
    move_all(&q->queues, now, event, NULL);
    measure_handled(&q->queues.measured, event_label(event));
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
    bool heard = (q->queues.unschedulable.plugins & PLUGINS_other) != 0;
    if (heard || q->queues.in_flight.count > 0)
        tell_of_pod(q, now, EVENT_UPDATE, pod, pod);
}

static void set_assigned(struct queue *q, struct moment now, struct str key, const struct pod *pod)
{
    struct pod before;
    struct event_changes changes;
    if (queues_get(&q->queues, key) != NULL) {
        queues_assigned(&q->queues, key);
        measure_handled(&q->queues.measured, "UnschedulablePodDelete");
    }
    switch (mirror_set_pod(q->mirror, key, pod, &before, &q->scratch)) {
    case MIRROR_outdated: q->count.outdated++; break;
    case MIRROR_same: tell_of_any_update(q, now, pod); break;
    case MIRROR_new: tell_of_pod(q, now, EVENT_ADD, NULL, pod); break;
    case MIRROR_changed:
        gangs_assigned(&q->queues, &before, pod);
        changes = event_assigned_changes(&before, pod);
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
    const struct surroundings *around = ours(q, pod);
    if (around == NULL) {
        if (e != NULL)
            queues_deleted(&q->queues, now, key);
        return;
    }
    if (e == NULL) {
        e = queues_add(&q->queues, now, key, pod, around);
        measure_handled(&q->queues.measured, "UnschedulablePodAdd");
    } else if (pod->resource_version != 0 && pod->resource_version == e->kept->version) {
        q->count.repeated++;
    } else {
        queues_update(&q->queues, now, e, pod);
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

/* ---- one handler a message ---- */

typedef void handler(struct queue *q, struct moment now, const struct delivery *in);

static void take_back(struct queue *q, struct moment now, const char *why)
{
    if (q->queues.in_flight.count > 0)
        log_info("attempts are taken back|reason=\"%s\" count=%zu", why, q->queues.in_flight.count);
    queues_take_back(&q->queues, now);
}

static void meet(struct queue *q, struct moment now, struct address scheduler)
{
    take_back(q, now, "another life of the scheduler");
    gangs_untell(&q->queues.gangs, now);
    q->scheduler = scheduler;
    q->term = 0; /* another life says anew which term it is */
}

static void on_peer_up(struct queue *q, struct moment now, const struct delivery *in)
{
    if (in->from.process != SCHEDULER || in->from.peer == q->scheduler.peer)
        return;
    meet(q, now, in->from);
    q->credit = 0;
}

static void on_peer_down(struct queue *q, struct moment now, const struct delivery *in)
{
    if (in->from.process != SCHEDULER || in->from.peer != q->scheduler.peer)
        return;
    take_back(q, now, "the scheduler is gone");
    q->scheduler.peer = 0;
    q->credit = 0;
}

/* Another configuration: pods that it serves and the former did not are in the watcher's next
 * snapshot, and pods that it does not serve are not kept from it. The order of the queue stays. */
static void on_queue_config(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct queue_config *config = &in->message->queue_config;
    q->config_generation = config->generation;
    if (config->hash == q->config_hash || config->profiles.count == 0)
        return;
    struct queue_config *kept = arena_take(&q->configs, sizeof(*kept));
    codec_copy(message_info[MSG_queue_config].record, kept, config, &q->configs);
    serve_all(q, kept->profiles.at, kept->profiles.count);
    q->config_hash = kept->hash;
    if (!q->options.backoff_given && kept->backoff_initial_s > 0 &&
        kept->backoff_max_s >= kept->backoff_initial_s) {
        q->queues.options.backoff_initial = span_of_seconds((double)kept->backoff_initial_s);
        q->queues.options.backoff_max = span_of_seconds((double)kept->backoff_max_s);
    }
    gangs_follow_all(&q->queues, now);
    queues_wake_all(&q->queues, now);
    queues_look_at_gates(&q->queues, now);
    subscriber_again(&q->stream);
    log_info("configuration changed|generation=%" PRId64 " hash=%016" PRIx64 " profiles=%u",
             kept->generation, (uint64_t)kept->hash, kept->profiles.count);
}

static void on_snapshot_begin(struct queue *q, struct moment now, const struct delivery *in)
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

static void tell_of_object(struct queue *q, struct moment now, struct event event)
{
    event.action = EVENT_UPDATE;
    if (event.old_object == NULL)
        event.action = EVENT_ADD;
    else if (event.new_object == NULL)
        event.action = EVENT_DELETE;
    tell_of_event(q, now, &event);
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
    gangs_snapshot_end(&q->queues);
}

static void on_snapshot_end(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)in;
    if (!q->in_snapshot)
        return;
    drop_unseen_entries(q, now);
    drop_unseen_pods_and_nodes(q, now);
    drop_unseen_objects(q, now);
    mirror_snapshot_end(q->mirror);
    q->in_snapshot = false;
    log_info("snapshot applied|pending=%zu assigned=%zu nodes=%zu", map_count(q->queues.entries),
             mirror_pods(q->mirror), mirror_nodes(q->mirror));
}

static void on_node_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct node *node = &in->message->node_set.node;
    struct node before;
    struct event event = {.resource = EVENT_OF_node, .new_node = node};
    struct event_changes changes;
    if (node->name.len == 0) {
        refuse(q, now, "node without a name", node->uid);
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
        changes = event_node_changes(&before, node);
        event.old_node = &before;
        for (uint32_t i = 0; i < changes.count; i++) {
            event.action = changes.at[i];
            tell_of_event(q, now, &event);
        }
        break;
    }
}

static void on_node_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    struct node before;
    if (!mirror_remove_node(q->mirror, in->message->node_gone.name, &before, &q->scratch))
        return;
    gangs_node(&q->queues, &before, NULL);
    struct event event = {.resource = EVENT_OF_node, .action = EVENT_DELETE, .old_node = &before};
    tell_of_event(q, now, &event);
}

static void on_pod_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct pod *pod = &in->message->pod_set.pod;
    if (pod->uid.len == 0 || pod->name.len == 0 || pod->namespace_name.len == 0) {
        refuse(q, now, "pod without UID, namespace or name", pod->name);
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

static void on_pod_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct pod_gone *gone = &in->message->pod_gone;
    struct str key = key_of(q, gone->namespace_name, gone->name);
    const struct entry *e = queues_get(&q->queues, key);
    struct pod before;
    if (e != NULL && entry_has_uid(e, gone->uid)) {
        queues_deleted(&q->queues, now, key);
        measure_handled(&q->queues.measured, "UnschedulablePodDelete");
    } else if (gone->uid.len > 0 &&
               mirror_remove_pod(q->mirror, key, gone->uid, &before, &q->scratch))
        tell_of_pod(q, now, EVENT_DELETE, &before, NULL);
}

static void on_object_set(struct queue *q, struct moment now, const struct delivery *in)
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

static enum event_resource resource_of(struct str kind)
{
    static const char *const kinds[EVENT_RESOURCES] = {
        [EVENT_OF_claim] = "PersistentVolumeClaim",  [EVENT_OF_volume] = "PersistentVolume",
        [EVENT_OF_storage_class] = "StorageClass",   [EVENT_OF_csi_node] = "CSINode",
        [EVENT_OF_csi_driver] = "CSIDriver",         [EVENT_OF_csi_capacity] = "CSIStorageCapacity",
        [EVENT_OF_attachment] = "VolumeAttachment",  [EVENT_OF_resource_claim] = "ResourceClaim",
        [EVENT_OF_resource_slice] = "ResourceSlice", [EVENT_OF_device_class] = "DeviceClass"};
    int i = EVENT_OF_claim;
    while (i < EVENT_RESOURCES && !str_is(kind, kinds[i]))
        i++;
    return (enum event_resource)i;
}

static void on_object_gone(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct object_gone *gone = &in->message->object_gone;
    enum event_resource resource = resource_of(gone->kind);
    union mirror_record before;
    if (str_is(gone->kind, "PodGroup"))
        gangs_gone(&q->queues, gone);
    else if (resource == EVENT_RESOURCES)
        owners_gone(q->owners, gone->kind, gone->namespace_name, gone->name);
    else if (mirror_remove_object(q->mirror, resource, gone, &before, &q->scratch))
        tell_of_object(q, now, (struct event){.resource = resource, .old_object = &before});
}

/* What owns pods wakes nobody; hints look it up. */
static void on_owner_set(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    owners_set(q->owners, &in->message->owner_set.owner);
}

static void on_pod_group_set(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct gang *group = &in->message->pod_group_set.group;
    if (group->name.len == 0 || group->api.len == 0)
        refuse(q, now, "PodGroup without API group or name", group->name);
    else if (!gangs_set(&q->queues, group))
        q->count.outdated++;
}

static void on_group_kinds(struct queue *q, struct moment now, const struct delivery *in)
{
    gangs_serve(&q->queues, now, &in->message->group_kinds);
}

/* Namespaces, budgets, barriers and the view's age decide nothing here: no plugin asks to be told
 * of them, and hints do not expand namespace selectors. */
static void on_nothing(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)q;
    (void)now;
    (void)in;
}

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
        uid = shelf_uuid(((const struct entry *)value)->kept, TAG_pod_uid, text);
        struct rolled *there = map_get(q->roll.pods, uid);
        if (there != NULL)
            there->found = true;
        else
            mismatch_redundant(&pods, uid);
    }
    for (at = 0; map_next(q->roll.pods, &at, &uid, &value);) {
        const struct rolled *there = value;
        if (!there->assigned && !there->found && served_of(q, there->scheduler_name) != NULL)
            mismatch_missed(&pods, uid);
    }
    mismatch_log(&pods, "Pods");
    log_info("Cache comparer finished| pending=%zu", map_count(q->queues.entries));
}

static void on_names(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    if (!roll_take(&q->roll, &in->message->names))
        return;
    compare(q);
    roll_clear(&q->roll);
}

/* A scheduler of a newer term or life begins anew: what it held is over, attempts as well as room
 * and claims that kept others out. */
static void follow_term(struct queue *q, struct moment now, int64_t term)
{
    if (term <= q->term)
        return;
    take_back(q, now, "a new term of leadership");
    queues_wake_all(&q->queues, now);
    q->term = term;
}

/* Of a plugin that is not known by name here, whom it has turned away is not known either. */
static void on_plugin_back(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct strs back = {1, (struct str *)&in->message->plugin_back.name}; /* only read */
    if (in->from.process == SCHEDULER && back.at->len == 0)
        queues_wake_all(&q->queues, now);
    else if (in->from.process == SCHEDULER)
        queues_wake_rejected_by(&q->queues, now, plugins_of(&back));
}

static void on_pull(struct queue *q, struct moment now, const struct delivery *in)
{
    int64_t credit = in->message->pull.credit;
    if (in->from.peer != q->scheduler.peer) /* its greeting is still to come, or was lost */
        meet(q, now, in->from);
    follow_term(q, now, in->term);
    q->credit = credit < 0 ? 0 : credit > CREDIT_MAX ? CREDIT_MAX : credit;
}

/* What came while its victims were there still would not have helped it; who has left its node
 * since then, or at all, may. */
static void forget_until_gated(struct queue *q, struct entry *e, const struct outcome *outcome)
{
    bool gated = outcome->gated_epoch != 0 && outcome->gated_epoch == q->stream.epoch;
    if (gated)
        in_flight_gated(e->flight, outcome->gated_sequence);
    if (nominated_missed(&q->queues, e, gated ? outcome->gated_sequence : 0))
        e->flight->woken = true;
}

static void close_attempt(struct queue *q, struct moment now, struct entry *e,
                          const struct outcome *outcome)
{
    uint64_t rejectors = plugins_of(&outcome->plugins);
    uint64_t pending = plugins_of(&outcome->pending_plugins);
    bool rejected = str_is(outcome->result, "unschedulable");
    if (rejected && (rejectors | pending) == 0 && group_holds(e))
        rejectors = q->queues.gangs.coscheduling; /* upstream's in-tree groups name no plugin */
    if (str_is(outcome->result, "bound")) {
        queues_bound(&q->queues, now, e);
    } else if (str_is(outcome->result, "skipped")) {
        queues_skipped(&q->queues, now, e, outcome->released);
    } else if (rejected && (rejectors | pending) != 0) {
        if (outcome->released)
            queues_released(&q->queues, now, e);
        nominated_decided(&q->queues.nominations, e, outcome->nominated_node, false);
        forget_until_gated(q, e, outcome);
        e->flight->woken |= outcome->behind;
        queues_rejected(&q->queues, now, e, rejectors, pending);
        if (!outcome->released && !outcome->activate && !outcome->behind &&
            outcome->gated_epoch == 0)
            kins_speak(e, now);
        if (outcome->activate)
            queues_activate(&q->queues, now, e);
    } else {
        if (!rejected && !str_is(outcome->result, "error"))
            refuse(q, now, "outcome with an unknown result, taken for an error", outcome->result);
        nominated_decided(&q->queues.nominations, e, outcome->nominated_node, !rejected);
        queues_failed(&q->queues, now, e);
    }
}

static void on_outcome(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct outcome *outcome = &in->message->outcome;
    if (in->from.peer != q->scheduler.peer || q->scheduler.peer == 0) {
        q->count.late_outcomes++;
        return;
    }
    follow_term(q, now, in->term);
    struct flight *flight = in_flight_find(&q->queues.in_flight, outcome->cycle);
    if (flight == NULL)
        q->count.late_outcomes++;
    else if (flight->entry == NULL)
        queues_left(&q->queues, now, flight, outcome->released || str_is(outcome->result, "error"));
    else if (!entry_has_uid(flight->entry, outcome->uid))
        refuse(q, now, "outcome with the UID of another pod", outcome->uid);
    else
        close_attempt(q, now, flight->entry, outcome);
}

/* One line a message; the handlers are above, in this order. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_snapshot_begin] = on_snapshot_begin,
    [MSG_snapshot_end] = on_snapshot_end,
    [MSG_node_set] = on_node_set,
    [MSG_node_gone] = on_node_gone,
    [MSG_pod_set] = on_pod_set,
    [MSG_pod_gone] = on_pod_gone,
    [MSG_namespace_set] = on_nothing,
    [MSG_resource_claim_set] = on_object_set,
    [MSG_resource_slice_set] = on_object_set,
    [MSG_device_class_set] = on_object_set,
    [MSG_claim_set] = on_object_set,
    [MSG_volume_set] = on_object_set,
    [MSG_storage_class_set] = on_object_set,
    [MSG_csi_node_set] = on_object_set,
    [MSG_csi_driver_set] = on_object_set,
    [MSG_csi_capacity_set] = on_object_set,
    [MSG_attachment_set] = on_object_set,
    [MSG_owner_set] = on_owner_set,
    [MSG_budget_set] = on_nothing,
    [MSG_pod_group_set] = on_pod_group_set,
    [MSG_group_members] = on_nothing,
    [MSG_group_kinds] = on_group_kinds,
    [MSG_object_gone] = on_object_gone,
    [MSG_namespace_gone] = on_nothing,
    [MSG_barrier_reached] = on_nothing,
    [MSG_names] = on_names,
    [MSG_view] = on_nothing,
    [MSG_queue_config] = on_queue_config,
    [MSG_plugin_back] = on_plugin_back,
    [MSG_pull] = on_pull,
    [MSG_outcome] = on_outcome,
};

bool queue_takes(enum message_type type)
{
    return handlers[type] != NULL;
}

void queue_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct queue *q = state;
    q->now = now;
    if (subscriber_take(&q->stream, now, in, out) == STREAM_ignore ||
        handlers[in->message->type] == NULL)
        return;
    q->queues.in_flight.position = q->stream.sequence;
    measure_message(&q->queues.measured);
    handlers[in->message->type](q, now, in);
    arena_reset(&q->scratch);
}

/* ---- attempts ---- */

static void offer_group(struct queue *q, const struct group *g, size_t count, struct outbox *out)
{
    const struct gangs *gs = &q->queues.gangs;
    struct gang_member *members = arena_take(&q->scratch, count * sizeof(*members));
    for (size_t i = 0; i < count; i++) {
        struct entry *e = gs->taken[i];
        members[i] = (struct gang_member){.pod = *entry_pod(e),
                                          .attempts = e->attempts,
                                          .first_us = e->first_us,
                                          .cycle = e->flight->cycle};
        members[i].pod.nominated_node = nominated_node(e);
    }
    struct message m = {.type = MSG_gang_attempt,
                        .gang_attempt = {.group = g->record,
                                         .needed = group_needed(g),
                                         .members = {(uint32_t)count, members},
                                         .epoch = q->stream.epoch,
                                         .sequence = q->stream.sequence,
                                         .placed = group_placed(g)}};
    outbox_put(out, q->scheduler, &m);
    arena_reset(&q->scratch);
}

/* A group counts as many as it has members. One that is larger than what is left of the credit goes
 * all the same, and nothing else does then until enough of it is back: so no group is too large,
 * and nobody waits until the scheduler is idle. */
static void offer(struct queue *q, struct moment now, struct outbox *out)
{
    const struct in_flight *f = &q->queues.in_flight;
    const struct group *g;
    struct entry *e;
    size_t count;
    if (!q->stream.synced || q->scheduler.peer == 0)
        return;
    while ((int64_t)f->count < q->credit) {
        if ((g = gangs_pop(&q->queues, now, &count)) != NULL) {
            offer_group(q, g, count, out);
            continue;
        }
        if ((e = queues_pop(&q->queues, now)) == NULL)
            return;
        struct message m = {.type = MSG_attempt,
                            .attempt = {.pod = *entry_pod(e),
                                        .attempts = e->attempts,
                                        .first_us = e->first_us,
                                        .cycle = e->flight->cycle,
                                        .epoch = q->stream.epoch,
                                        .sequence = q->stream.sequence}};
        m.attempt.pod.nominated_node = nominated_node(e);
        outbox_put(out, q->scheduler, &m);
    }
}

/* Why groups wait; a few at once, since nothing holds these messages back. */
static struct moment tell(struct queue *q, struct moment now, struct outbox *out)
{
    struct message m = {.type = MSG_gang_waits};
    if (!q->stream.synced || q->scheduler.peer == 0)
        return MOMENT_NEVER;
    for (int i = 0; i < TELL_MOST; i++) {
        bool any = gangs_tell(&q->queues, now, &m.gang_waits, &q->scratch);
        if (any)
            outbox_put(out, q->scheduler, &m);
        arena_reset(&q->scratch);
        if (!any)
            return gangs_tell_due(&q->queues.gangs);
    }
    return moment_after(now, span_of_ms(TELL_PAUSE_MS));
}

struct moment queue_tick(void *state, struct moment now, struct outbox *out)
{
    struct queue *q = state;
    q->now = now;
    struct moment next =
        moment_earlier(queues_tick(&q->queues, now), subscriber_tick(&q->stream, now, out));
    offer(q, now, out);
    next = moment_earlier(next, kins_due(&q->queues.kins, now));
    return moment_earlier(next, tell(q, now, out));
}
