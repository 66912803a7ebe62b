/* model_day: what was recorded, into the model. What must stay true: of a pod that came without a
 * node nothing is taken that the recorded scheduler made of it; an entry that cannot be read is
 * passed over, as a replay has named it before. */
#include "ctl/record/member.h"
#include "ctl/record/model_inside.h"

#include "proto/base/memory.h"
#include "proto/kube/objects/requests.h"
#include "scheduler/table/resource.h"

/* ---- pods ---- */

/* Whether a pod that comes now is what a controller made in the place of one that was evicted then,
 * and is not here. */
static bool is_replacement(struct model *m, const struct pod *pod)
{
    for (size_t i = 0; i < m->spared.count; i++) {
        struct fate *f = m->spared.at[i];
        bool same = str_equal(f->name, pod->name) ||
                    (f->owner.len > 0 && str_equal(f->owner, pod->owner_uid));
        if (f->evicted || !same || !str_equal(f->space, pod->namespace_name))
            continue;
        f->replaced = true;
        m->spared.at[i] = m->spared.at[--m->spared.count];
        return true;
    }
    return false;
}

static struct fate *meet(struct model *m, const struct pod *pod)
{
    struct fate *f = memory_take(sizeof(*f));
    *f = (struct fate){.uid = arena_copy(&m->memory, pod->uid),
                       .space = arena_copy(&m->memory, pod->namespace_name),
                       .name = arena_copy(&m->memory, pod->name),
                       .owner = arena_copy(&m->memory, pod->owner_uid),
                       .gang = arena_copy(&m->memory, pod->gang),
                       .gang_api = arena_copy(&m->memory, pod->gang_api),
                       .priority = pod->priority,
                       .seen_us = m->now_us};
    f->ours = pod->node_name.len == 0 && world_framework(m->world, pod) != NULL;
    f->skipped = f->ours && m->complete && is_replacement(m, pod);
    f->waits = f->ours && !f->skipped;
    f->node = f->ours ? f->node : arena_copy(&m->memory, pod->node_name);
    map_set(m->fates, f->uid, f);
    if (f->waits)
        model_add(&m->waiting, f);
    return f;
}

static void note_recorded(struct model *m, struct fate *f, struct str node)
{
    if (!f->ours || f->recorded.len > 0 || node.len == 0)
        return;
    f->recorded = arena_copy(&m->memory, node);
    f->recorded_us = m->now_us;
}

/* As it would be here: on its node here, or on none, with its nomination here. */
static struct pod as_here(struct model *m, const struct fate *f, const struct pod *pod)
{
    struct pod known, here = *pod;
    bool there = world_pod(m->world, f->space, f->name, &known, &m->step);
    if (!f->ours || str_equal(f->node, pod->node_name))
        return here;
    here = world_pod_unbound(m->world, pod, &m->step);
    here.node_name = f->node;
    here.nominated_node = there ? known.nominated_node : (struct str){NULL, 0};
    if (f->node.len > 0 && there)
        here.labels = known.labels;
    return here;
}

static void take_pod(struct model *m, const struct pod *told)
{
    struct fate *f = map_get(m->fates, told->uid);
    struct pod counted = requests_as_of(told, &m->features);
    if (f == NULL)
        f = meet(m, told);
    f->stamp = m->stamp;
    note_recorded(m, f, told->node_name);
    if (f->skipped || f->evicted || f->gone || f->spared)
        return;
    f->cpu = resource_amount(counted.usage.at, counted.usage.count, STR_LITERAL("cpu"));
    f->memory = resource_amount(counted.usage.at, counted.usage.count, STR_LITERAL("memory"));
    if (told->deleting)
        f->waits = false;
    struct pod here = as_here(m, f, &counted);
    world_pod_set(m->world, &here);
}

static void lose_pod(struct model *m, struct fate *f)
{
    if (f == NULL || f->spared || f->gone)
        return;
    f->gone = true;
    f->waits = false;
    if (f->skipped || f->evicted)
        return;
    world_pod_gone(m->world, f->space, f->name);
    model_wake(m);
}

/* ---- nodes and the rest ---- */

static void take_node(struct model *m, const struct node *node)
{
    struct model_node *n = map_get(m->nodes, node->name);
    if (n == NULL) {
        n = memory_take(sizeof(*n));
        map_set(m->nodes, node->name, n);
    }
    n->stamp = m->stamp;
    n->cpu = resource_amount(node->allocatable.at, node->allocatable.count, STR_LITERAL("cpu"));
    n->memory =
        resource_amount(node->allocatable.at, node->allocatable.count, STR_LITERAL("memory"));
    world_node_set(m->world, node);
    model_wake(m);
}

static void lose_node(struct model *m, struct str name)
{
    world_node_gone(m->world, name);
    memory_free(map_remove(m->nodes, name));
    model_wake(m);
}

/* Claims and volumes that are known change by the model's decisions alone, and a volume that was
 * made for a claim since is the recorded decision's. */
static bool is_of_a_decision(struct model *m, const struct message *msg)
{
    static char mark;
    struct buffer key = {0};
    bool made = false;
    if (msg->type == MSG_claim_set)
        buffer_print(&key, "c %.*s", STR_ARG(msg->claim_set.claim.uid));
    else if (msg->type == MSG_volume_set)
        buffer_print(&key, "v %.*s", STR_ARG(msg->volume_set.volume.name));
    else if (msg->type == MSG_resource_claim_set)
        buffer_print(&key, "r %.*s", STR_ARG(msg->resource_claim_set.resource_claim.uid));
    if (msg->type == MSG_volume_set)
        made = m->complete && msg->volume_set.volume.has_claim_ref;
    bool known = key.len > 0 && map_set(m->claims, buffer_str(&key), &mark) != NULL;
    buffer_free(&key);
    return m->complete && (known || made);
}

static void take_object(struct model *m, const struct message *msg)
{
    if (is_of_a_decision(m, msg))
        return;
    world_take(m->world, msg);
    model_wake(m);
}

/* ---- snapshots ---- */

static void begin_snapshot(struct model *m)
{
    m->stamp++;
    if (!m->complete)
        world_snapshot_begin(m->world);
}

/* A later one, of another life: who is not in it is gone. */
static void sweep(struct model *m)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(m->fates, &at, NULL, &value))
        if (((struct fate *)value)->stamp != m->stamp)
            lose_pod(m, value);
    at = 0;
    while (map_next(m->nodes, &at, &name, &value))
        if (((struct model_node *)value)->stamp != m->stamp) {
            world_node_gone(m->world, name);
            memory_free(map_remove(m->nodes, name));
        }
}

static void end_snapshot(struct model *m)
{
    if (m->complete) {
        sweep(m);
        return;
    }
    world_snapshot_end(m->world);
    world_settle(m->world);
    m->complete = true;
}

/* ---- entries ---- */

static void take_of_watcher(struct model *m, const struct message *msg)
{
    switch (msg->type) {
    case MSG_snapshot_begin: begin_snapshot(m); break;
    case MSG_snapshot_end: end_snapshot(m); break;
    case MSG_node_set: take_node(m, &msg->node_set.node); break;
    case MSG_node_gone: lose_node(m, msg->node_gone.name); break;
    case MSG_pod_set: take_pod(m, &msg->pod_set.pod); break;
    case MSG_pod_gone: lose_pod(m, map_get(m->fates, msg->pod_gone.uid)); break;
    default:
        if (world_takes(msg->type))
            take_object(m, msg);
        break;
    }
}

/* The queue may know a pod before the scheduler does. */
static struct fate *known(struct model *m, const struct pod *pod)
{
    if (map_get(m->fates, pod->uid) == NULL)
        take_pod(m, pod);
    return map_get(m->fates, pod->uid);
}

/* The recorded queue had them tried now. */
static void take_of_queue(struct model *m, const struct message *msg)
{
    const struct gang_attempt *g = &msg->gang_attempt;
    struct fate *first = NULL;
    if (msg->type == MSG_attempt)
        first = known(m, &msg->attempt.pod);
    for (uint32_t i = 0; msg->type == MSG_gang_attempt && i < g->members.count; i++) {
        struct fate *f = known(m, &g->members.at[i].pod);
        first = first == NULL && f->waits ? f : first;
    }
    if (first != NULL && (first->attempts == 0 || first->woken)) /* else nothing has changed */
        model_try(m, first);
}

static void take_said(struct model *m, const struct message *msg)
{
    const struct preempt *p = &msg->preempt;
    if (msg->type == MSG_bind) {
        struct fate *f = map_get(m->fates, msg->bind.uid);
        if (f != NULL)
            note_recorded(m, f, msg->bind.node_name);
    }
    for (uint32_t i = 0; msg->type == MSG_preempt && i < p->victims.count; i++) {
        struct fate *f = map_get(m->fates, p->victims.at[i].uid);
        if (f == NULL || f->spared || p->victims.at[i].deleting)
            continue;
        f->spared = true;
        model_add(&m->spared, f);
    }
}

void model_foresee(struct model *m, const struct journal_entry *e)
{
    struct message msg;
    struct arena memory = {0};
    bool decides = e->kind == JOURNAL_message && (e->type == MSG_bind || e->type == MSG_preempt);
    if (decides && member_decode(e, e->body, &msg, &memory)) {
        struct str uid = e->type == MSG_bind ? msg.bind.uid : msg.preempt.pod.uid;
        struct str node = e->type == MSG_bind ? msg.bind.node_name : msg.preempt.node_name;
        memory_free(map_set(m->ahead, uid, str_copy(node)));
    }
    arena_free(&memory);
}

void model_take(struct model *m, const struct journal_entry *e, int64_t wall_us)
{
    struct message msg;
    struct arena memory = {0};
    struct str body = e->body;
    if (e->kind == JOURNAL_message && body.len == 0)
        body = m->said; /* as the one before */
    if (e->kind == JOURNAL_message)
        m->said = body;
    bool counts = e->kind == JOURNAL_delivery ? e->process == WATCHER || e->process == QUEUE
                                              : e->kind == JOURNAL_message &&
                                                    (e->type == MSG_bind || e->type == MSG_preempt);
    if (!counts || !member_decode(e, body, &msg, &memory)) {
        arena_free(&memory);
        return;
    }
    if (m->now_us == 0)
        m->now_us = m->sample_us = wall_us;
    model_run(m, wall_us);
    if (e->kind == JOURNAL_message)
        take_said(m, &msg);
    else if (e->process == WATCHER)
        take_of_watcher(m, &msg);
    else
        take_of_queue(m, &msg);
    arena_reset(&m->step);
    arena_free(&memory);
}
