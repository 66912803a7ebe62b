/* live: one conversation with a watcher, a queue and a scheduler. The one idea: the scheduler is
 * asked first, since with its profiles the world is made that the watcher's snapshot goes into.
 *
 * What must stay true: a cluster is whole or it is none, since a node or pod that is missing would
 * give another answer; and however little comes, it ends. */
#include "ctl/explain/live.h"

#include "proto/kube/objects/requests.h"

#include <stdio.h>

#define WINDOW 2000 /* messages of the snapshot that may be on their way */

/* The conversation; what came of it is in live. */
struct talk {
    struct live *live;
    struct bus *bus;
    struct address watcher, scheduler, queue; /* peer 0: not there */
    bool begun, torn;                         /* the snapshot */
    int64_t epoch, sequence, part;
    uint32_t used; /* since the last grant */
    struct moment heard;
};

void live_init(struct live *l, const char *command, unsigned wait_s)
{
    *l = (struct live){.has_pending = false};
    asking_init(&l->asking, command, wait_s);
}

void live_free(struct live *l)
{
    world_free(&l->world);
    arena_free(&l->memory);
}

/* ---- asking ---- */

static void say(struct talk *t, struct address to, const struct message *m)
{
    struct outbox out = {0};
    outbox_put(&out, to, m);
    bus_send(t->bus, &out);
    outbox_free(&out);
}

static void ask_scheduler(struct talk *t)
{
    const struct message m = {
        .type = MSG_explain_request,
        .explain_request = {.namespace_name = t->live->namespace_name, .name = t->live->name}};
    say(t, t->scheduler, &m);
}

static void ask_queue(struct talk *t)
{
    const struct message m = {
        .type = MSG_pending_request,
        .pending_request = {.namespace_name = t->live->namespace_name, .name = t->live->name}};
    say(t, t->queue, &m);
}

/* The world of the last attempt, if any, is not whole. */
static void ask_watcher(struct talk *t)
{
    struct live *l = t->live;
    const struct message m = {.type = MSG_subscribe, .subscribe = {.credit = WINDOW, .once = true}};
    if (l->no_cluster || t->watcher.peer == 0 || !l->has_explained)
        return;
    world_free(&l->world);
    l->world = world_new(l->explained.profiles.at, l->explained.profiles.count, 1);
    t->begun = t->torn = false;
    t->used = 0;
    say(t, t->watcher, &m);
}

static void meet(struct talk *t, struct address who)
{
    if (who.process == SCHEDULER) {
        t->scheduler = who;
        ask_scheduler(t);
    } else if (who.process == QUEUE) {
        t->queue = who;
        ask_queue(t);
    } else if (who.process == WATCHER) {
        t->watcher = who;
        ask_watcher(t);
    }
}

/* ---- the cluster ---- */

static void grant(struct talk *t)
{
    const struct message m = {.type = MSG_credit, .credit = {.count = ++t->used}};
    if (t->used < WINDOW / 2)
        return;
    t->used = 0;
    say(t, t->watcher, &m);
}

/* Is it the very next of the snapshot? */
static bool follows(struct talk *t, const struct delivery *in)
{
    if (in->message->type == MSG_snapshot_begin && !t->begun) {
        t->begun = true;
        t->epoch = in->epoch;
        t->sequence = in->sequence;
        t->part = 1;
        return true;
    }
    return t->begun && in->epoch == t->epoch && in->sequence == t->sequence &&
           in->part == ++t->part;
}

/* What it asks for is counted as the scheduler's release does. */
static void take_pod(struct live *l, const struct pod *pod)
{
    const struct profile *first = l->explained.profiles.at;
    const struct pod counted =
        l->explained.profiles.count > 0 ? requests_as_of(pod, &first->features) : *pod;
    world_pod_set(l->world, &counted);
}

static void take_object(struct talk *t, const struct delivery *in)
{
    struct live *l = t->live;
    const struct message *m = in->message;
    if (l->world == NULL || l->whole)
        return;
    if (!follows(t, in)) { /* another life of it, or a message was lost: from the beginning */
        ask_watcher(t);
        return;
    }
    grant(t);
    switch (m->type) {
    case MSG_snapshot_begin: world_snapshot_begin(l->world); break;
    case MSG_snapshot_end:
        world_snapshot_end(l->world);
        l->whole = true;
        break;
    case MSG_node_set: world_node_set(l->world, &m->node_set.node); break;
    case MSG_pod_set: take_pod(l, &m->pod_set.pod); break;
    case MSG_group_members:
    case MSG_group_kinds:
    case MSG_server_version: break;
    default: world_take(l->world, m); break;
    }
}

/* ---- taking ---- */

static void take_explained(struct talk *t, const struct explained *told)
{
    struct live *l = t->live;
    struct str error = {0};
    codec_copy(message_info[MSG_explained].record, &l->explained, told, &l->memory);
    l->has_explained = true;
    if (l->instead != NULL && !l->instead(l->context, &l->explained, &l->memory, &error))
        l->refused = error.len > 0 ? error : STR_LITERAL("refused");
    else
        ask_watcher(t);
}

static void take(struct talk *t, struct moment now, const struct delivery *in)
{
    struct live *l = t->live;
    const struct message *m = in->message;
    t->heard = now;
    if (m->type == MSG_peer_up) {
        meet(t, in->from);
    } else if (m->type == MSG_explained && !l->has_explained) {
        take_explained(t, &m->explained);
    } else if (m->type == MSG_pending_pods && !l->has_pending) {
        codec_copy(message_info[MSG_pending_pods].record, &l->pending, &m->pending_pods,
                   &l->memory);
        l->has_pending = true;
    } else if (in->epoch != 0 && in->from.peer == t->watcher.peer) {
        take_object(t, in);
    }
}

static bool has_all(const struct live *l)
{
    return l->has_explained && l->has_pending && (l->whole || l->no_cluster);
}

static bool is_over(const struct live *l)
{
    return l->refused.len > 0 || has_all(l);
}

/* As long as something comes it goes on: a snapshot takes as long as the cluster is large. */
static void converse(struct talk *t)
{
    struct moment now = moment_now();
    t->heard = now;
    while (!is_over(t->live)) {
        struct moment late = moment_after(t->heard, t->live->asking.wait);
        struct delivery in;
        if (moment_reached(now, late))
            return;
        while (!is_over(t->live) && bus_receive(t->bus, now, &in))
            take(t, now, &in);
        struct moment next = moment_earlier(late, bus_tick(t->bus, now));
        if (!is_over(t->live))
            bus_wait(t->bus, -1, now, next);
        now = moment_now();
    }
}

static bool complain(const struct live *l)
{
    const char *who = !l->has_explained ? "scheduler" : !l->has_pending ? "queue" : "watcher";
    if (l->refused.len > 0)
        fprintf(stderr, "%s: %.*s\n", l->asking.command, STR_ARG(l->refused));
    else if (has_all(l))
        return true;
    else
        fprintf(stderr, "%s: the %s has not answered\n", l->asking.command, who);
    return false;
}

bool live_load(struct live *l)
{
    struct asking *a = &l->asking;
    struct talk t = {.live = l};
    char error[512];
    if (!asking_find(a))
        return false;
    a->bus.peer_count = 0;
    for (size_t i = 0; i < a->count && i < BUS_PEERS_MAX; i++)
        a->bus.peers[a->bus.peer_count++] = (struct bus_peer_option){ANY, a->doors[i].endpoint};
    t.bus = bus_open(&a->bus, error, sizeof(error));
    if (t.bus == NULL) {
        fprintf(stderr, "%s: %s\n", a->command, error);
        return false;
    }
    converse(&t);
    bus_close(&t.bus);
    return complain(l);
}
