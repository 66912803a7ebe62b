/* day: the scheduler's process (scheduler/program.h) without a bus: what it is told comes from the
 * trace and from what it said itself, a millisecond or two later. The one idea: everything that is
 * to be told stands in one list by time, and the clock goes from one to the next.
 *
 * What must stay true: the core is called as the loop of a process calls it (proto/bus/actor.c),
 * so that its program plays the journal back; and it is told nothing of the future. */
#include "ctl/import/day.h"

#include "ctl/import/tries.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/options.h"
#include "proto/journal/journal.h"
#include "proto/kube/config/config_file.h"
#include "scheduler/program.h"

#define ANSWER_US   1000    /* until the binder answers */
#define SEEN_US     2000    /* until the watch shows what was written */
#define VIEW_US     1000000 /* between two words of the watcher, and of the binder */
#define TAIL_US     11000000
#define QUIET_US    600000000 /* in which an attempt ends, or never does */
#define IDENTITY    "import"
#define CREDIT      256
#define JOURNAL_MAX ((size_t)1 << 32) /* bytes in memory, of which push takes them */

static const struct address watcher = {WATCHER, 1}, queue = {QUEUE, 2}, binder = {BINDER, 3};

/* Something that it is to be told. */
struct later {
    int64_t at_us;
    struct address from;
    struct message message; /* in memory */
    struct arena memory;
};

struct known {
    struct pod pod; /* as the API server has it */
    struct arena memory;
};

struct living {
    struct day *day;
    struct journal *journal;
    struct actor actor;
    struct outbox out;
    int64_t now_us, told_us; /* told_us: of the last view */
    int64_t moved_us;        /* when something happened last, but for time passing */
    size_t next;             /* in the trace */
    struct later *later;     /* by time; what is before first was told */
    size_t later_first, later_count, later_room;
    struct map *pods; /* by UID */
    const struct scheduler_config *config;
    struct tries tries;
    int64_t sequence, part, credit, version;
    struct moment due; /* of the core */
};

static struct moment moment_of(const struct living *l)
{
    int64_t zero_us = l->day->trace->at[0].at_us - VIEW_US; /* no clock shows 0 */
    return (struct moment){(l->now_us - zero_us) * 1000};
}

static bool push(void *state, struct buffer *bytes)
{
    const struct living *l = state;
    return l->day->push(l->day->state, bytes);
}

static void clocks(void *state, struct moment *now, int64_t *wall_us)
{
    const struct living *l = state;
    *now = moment_of(l);
    *wall_us = l->now_us;
}

/* ---- telling ---- */

/* part: place in a snapshot, or 0. */
static void deliver(struct living *l, struct address from, const struct message *m, int64_t part)
{
    struct delivery in = {.from = from,
                          .instance = str_of(process_name(from.process)),
                          .term = 1,
                          .sent_us = l->now_us,
                          .received_us = l->now_us,
                          .message = m};
    bool streamed = from.process == WATCHER && m->type != MSG_peer_up;
    if (streamed) {
        in.epoch = 1;
        in.sequence = part > 0 ? l->sequence : ++l->sequence;
        in.part = part;
    }
    journal_delivery(moment_of(l), &in);
    l->actor.handle(l->actor.state, moment_of(l), &in, &l->out);
}

/* Something is still to be told. */
static bool owes(const struct living *l)
{
    return l->later_first < l->later_count;
}

/* Behind whatever is to be told by then; the message is copied. */
static void tell_later(struct living *l, int64_t after_us, struct address from,
                       const struct message *m)
{
    struct later one = {.at_us = l->now_us + after_us, .from = from};
    one.message.type = m->type;
    codec_copy(message_info[m->type].record, message_body(&one.message), message_body_const(m),
               &one.memory);
    if (l->later_first > 0 && l->later_first == l->later_count)
        l->later_first = l->later_count = 0;
    if (l->later_count == l->later_room) {
        l->later_room = 2 * l->later_room + 64;
        l->later = memory_resize(l->later, l->later_room * sizeof(*l->later));
    }
    size_t at = l->later_count++;
    for (; at > l->later_first && l->later[at - 1].at_us > one.at_us; at--)
        l->later[at] = l->later[at - 1];
    l->later[at] = one;
}

static void tell_pod_later(struct living *l, struct known *k)
{
    struct message m = {.type = MSG_pod_set};
    k->pod.resource_version = ++l->version;
    m.pod_set.pod = k->pod;
    tell_later(l, SEEN_US, watcher, &m);
}

/* ---- the API server ---- */

static struct known *known(const struct living *l, struct str uid)
{
    return map_get(l->pods, uid);
}

/* Another scheduler's pods are none of the queue's. */
static bool is_ours(const struct living *l, const struct pod *pod)
{
    for (uint32_t i = 0; i < l->config->profiles.count; i++)
        if (str_equal(l->config->profiles.at[i].scheduler_name, pod->scheduler_name))
            return true;
    return false;
}

static void add_pod(struct living *l, const struct pod *pod)
{
    if (known(l, pod->uid) != NULL)
        return;
    struct known *k = memory_take(sizeof(*k));
    codec_copy(&pod_record, &k->pod, pod, &k->memory);
    map_set(l->pods, k->pod.uid, k);
    if (pod->node_name.len > 0) /* it came with one */
        return;
    l->day->pods++;
    if (is_ours(l, pod))
        tries_add(&l->tries, l->now_us, &k->pod);
}

static void drop_pod(struct living *l, struct str uid)
{
    struct known *k = known(l, uid);
    if (k == NULL)
        return;
    bool had_room = k->pod.node_name.len > 0;
    tries_drop(&l->tries, uid);
    map_remove(l->pods, uid);
    arena_free(&k->memory);
    memory_free(k);
    if (had_room)
        tries_wake(&l->tries, l->now_us);
}

static void bind(struct living *l, const struct bind *b)
{
    struct known *k = known(l, b->uid);
    struct message m = {.type = MSG_bind_result};
    m.bind_result = (struct bind_result){.uid = b->uid,
                                         .namespace_name = b->namespace_name,
                                         .name = b->name,
                                         .node_name = b->node_name,
                                         .bound = k != NULL,
                                         .gone = k == NULL,
                                         .code = k != NULL ? 201 : 404,
                                         .elapsed_us = ANSWER_US};
    tell_later(l, ANSWER_US, binder, &m);
    if (k == NULL)
        return;
    k->pod.node_name = arena_copy(&k->memory, b->node_name);
    k->pod.nominated_node = (struct str){NULL, 0};
    k->pod.scheduled = (struct condition){0};
    l->day->bound++;
    tell_pod_later(l, k);
}

static void fail(struct living *l, const struct pod_failed *f)
{
    struct known *k = known(l, f->pod.uid);
    if (k == NULL || k->pod.node_name.len > 0 || f->event_only)
        return;
    bool same = str_equal(k->pod.scheduled.message, f->message) && !f->set_nominated;
    if (same)
        return;
    k->pod.scheduled = (struct condition){.status = STR_LITERAL("False"),
                                          .reason = words_text(&condition_reason_words, f->reason),
                                          .message = arena_copy(&k->memory, f->message)};
    if (f->set_nominated)
        k->pod.nominated_node = arena_copy(&k->memory, f->nominated_node);
    tell_pod_later(l, k);
}

static void preempt(struct living *l, const struct preempt *p)
{
    struct message m = {.type = MSG_preempt_result};
    m.preempt_result = (struct preempt_result){.uid = p->pod.uid,
                                               .namespace_name = p->pod.namespace_name,
                                               .name = p->pod.name,
                                               .node_name = p->node_name,
                                               .done = true};
    for (uint32_t i = 0; i < p->victims.count; i++) {
        const struct victim *v = &p->victims.at[i];
        struct message gone = {
            .type = MSG_pod_gone,
            .pod_gone = {.uid = v->uid, .namespace_name = v->namespace_name, .name = v->name}};
        if (known(l, v->uid) == NULL)
            continue;
        l->day->evicted++;
        tell_later(l, ANSWER_US, watcher, &gone);
    }
    tell_later(l, ANSWER_US, binder, &m);
}

/* ---- what it says ---- */

/* A snapshot is told at once: nodes and pods that are there at the beginning. */
static void tell_snapshot(struct living *l)
{
    const struct trace *t = l->day->trace;
    struct message m = {.type = MSG_snapshot_begin};
    tell_later(l, 0, watcher, &m);
    for (; l->next < t->count && t->at[l->next].at_us <= l->now_us; l->next++) {
        const struct message *event = t->at[l->next].message;
        if (event->type == MSG_pod_set)
            add_pod(l, &event->pod_set.pod);
        tell_later(l, 0, watcher, event);
    }
    m.type = MSG_snapshot_end;
    tell_later(l, 0, watcher, &m);
    m = (struct message){.type = MSG_server_version,
                         .server_version = {.major = 1, .minor = l->day->release}};
    tell_later(l, 0, watcher, &m);
}

static void hear(struct living *l, const struct message *m)
{
    struct message answer = {.type = MSG_barrier_reached};
    switch (m->type) {
    case MSG_subscribe:
        if (l->sequence == 0)
            tell_snapshot(l);
        break;
    case MSG_barrier:
        answer.barrier_reached.id = m->barrier.id;
        tell_later(l, ANSWER_US, watcher, &answer);
        break;
    case MSG_pull: l->credit = m->pull.credit; break;
    case MSG_outcome: tries_ended(&l->tries, l->now_us, &m->outcome); break;
    case MSG_bind: bind(l, &m->bind); break;
    case MSG_pod_failed: fail(l, &m->pod_failed); break;
    case MSG_preempt: preempt(l, &m->preempt); break;
    default: break; /* nothing follows from it */
    }
}

/* Also in the middle of its work: what follows is told later in any case. */
static void send_all(void *context)
{
    struct living *l = context;
    struct arena memory = {0};
    struct message m;
    journal_send(&l->out, l->actor.term != NULL ? l->actor.term(l->actor.state) : 0);
    for (size_t i = 0; i < l->out.count; i++)
        if (l->out.at[i].to.process != WORKER && outbox_get(&l->out, i, &m, &memory))
            hear(l, &m);
    outbox_reset(&l->out);
    arena_free(&memory);
}

/* ---- time ---- */

static void turn(struct living *l)
{
    journal_turn(moment_of(l));
    l->due = l->actor.tick(l->actor.state, moment_of(l), &l->out);
    send_all(l);
}

/* It is there, it leads, and what it was told is fresh. */
static void tell_of_peers(struct living *l)
{
    struct message view = {.type = MSG_view, .view = {.synced = true}};
    struct message leads = {.type = MSG_leadership};
    leads.leadership = (struct leadership){.leading = true,
                                           .lead_term = 1,
                                           .holder = STR_LITERAL(IDENTITY),
                                           .identity = STR_LITERAL(IDENTITY)};
    if (l->told_us != 0 && l->now_us < l->told_us + VIEW_US)
        return;
    l->told_us = l->now_us;
    deliver(l, watcher, &view, 0);
    deliver(l, binder, &leads, 0);
}

static void take_event(struct living *l, const struct message *m)
{
    l->moved_us = l->now_us;
    deliver(l, watcher, m, 0);
    if (m->type == MSG_pod_set)
        add_pod(l, &m->pod_set.pod);
    else if (m->type == MSG_pod_gone)
        drop_pod(l, m->pod_gone.uid);
    else if (m->type == MSG_node_set)
        tries_wake(&l->tries, l->now_us);
}

/* Its place in the snapshot, if it is of one. */
static int64_t part_of(struct living *l, const struct message *m)
{
    if (m->type == MSG_snapshot_begin) {
        l->sequence = 1;
        l->part = 0;
    }
    if (l->part < 0 || l->sequence == 0)
        return 0;
    int64_t part = ++l->part;
    if (m->type == MSG_snapshot_end)
        l->part = -1;
    return part;
}

/* What was written of a pod that has gone since is not told any more. */
static void tell_one(struct living *l, struct address from, const struct message *m)
{
    bool late = m->type == MSG_pod_set && known(l, m->pod_set.pod.uid) == NULL;
    if (late)
        return;
    deliver(l, from, m, from.process == WATCHER ? part_of(l, m) : 0);
    if (m->type == MSG_pod_gone)
        drop_pod(l, m->pod_gone.uid);
}

static void tell_what_is_due(struct living *l)
{
    const struct trace *t = l->day->trace;
    while (owes(l) && l->later[l->later_first].at_us <= l->now_us) {
        struct later one = l->later[l->later_first++];
        l->moved_us = l->now_us;
        tell_one(l, one.from, &one.message);
        arena_free(&one.memory);
    }
    for (; l->part < 0 && l->next < t->count && t->at[l->next].at_us <= l->now_us; l->next++)
        take_event(l, t->at[l->next].message);
}

static void send_attempts(struct living *l)
{
    struct message m = {.type = MSG_attempt};
    struct try *one;
    while (l->tries.sent < l->credit && (one = tries_next(&l->tries, l->now_us)) != NULL) {
        l->moved_us = l->now_us;
        m.attempt = (struct attempt){.pod = *one->pod,
                                     .attempts = one->attempts,
                                     .first_us = one->first_us,
                                     .cycle = one->cycle,
                                     .epoch = 1,
                                     .sequence = l->sequence};
        deliver(l, queue, &m, 0);
    }
}

/* When something happens next; INT64_MAX: nothing does. Its own timers count while it has something
 * to do, since a life in which nothing happens need not be told second by second. An attempt that
 * waits for an extender, of which there is none here, is nothing to do. */
static int64_t next_us(const struct living *l)
{
    const struct trace *t = l->day->trace;
    int64_t next = l->next < t->count ? t->at[l->next].at_us : INT64_MAX;
    if (owes(l) && l->later[l->later_first].at_us < next)
        next = l->later[l->later_first].at_us;
    if (l->tries.sent < l->credit && tries_due(&l->tries) < next)
        next = tries_due(&l->tries);
    bool busy = owes(l) || (l->tries.sent > 0 && l->now_us <= l->moved_us + QUIET_US);
    int64_t due_us = l->now_us + moment_since(l->due, moment_of(l)).ns / 1000;
    if (busy && l->due.ns != MOMENT_NEVER.ns && due_us < next)
        next = due_us;
    return next;
}

static void meet(struct living *l, struct address who)
{
    struct message m = {.type = MSG_peer_up,
                        .peer_up = {.process = str_of(process_name(who.process)),
                                    .instance = str_of(process_name(who.process)),
                                    .incarnation = 1}};
    deliver(l, who, &m, 0);
}

/* Behind the end of the trace who waits for room waits for good: only backoffs are waited for. */
static bool goes_on(const struct living *l, int64_t next)
{
    bool over = l->next == l->day->trace->count && !owes(l);
    return next != INT64_MAX && !(over && next > l->now_us + TAIL_US);
}

static void live(struct living *l)
{
    meet(l, watcher);
    meet(l, queue);
    meet(l, binder);
    turn(l);
    for (int64_t next; goes_on(l, next = next_us(l));) {
        l->now_us = next > l->now_us ? next : l->now_us + 1; /* no two rounds at one moment */
        tell_what_is_due(l);
        if (l->part < 0)
            tell_of_peers(l);
        send_attempts(l);
        turn(l);
    }
}

/* ---- life ---- */

static void count_and_free(struct living *l)
{
    struct str uid;
    void *value;
    for (size_t at = 0; map_next(l->pods, &at, &uid, &value);) {
        struct known *k = value;
        l->day->waiting += k->pod.node_name.len == 0;
        arena_free(&k->memory);
        memory_free(k);
    }
    map_free(&l->pods);
    tries_free(&l->tries);
    for (size_t i = l->later_first; i < l->later_count; i++)
        arena_free(&l->later[i].memory);
    memory_free(l->later);
    l->out.send = NULL;
    outbox_free(&l->out);
}

static struct journal *begin_journal(struct living *l, struct arena *a)
{
    struct str arguments[] = {
        STR_LITERAL("--own-worker"), STR_LITERAL("--tie-break=first"), {NULL, 0}};
    bool has_file = l->day->config != NULL;
    if (has_file)
        arguments[2] = arena_print(a, "--config=%s", l->day->config);
    const struct journal_head head = {.program = STR_LITERAL(OPTIONS_VERSION),
                                      .process = STR_LITERAL("scheduler"),
                                      .instance = STR_LITERAL("scheduler"),
                                      .started_us = l->now_us,
                                      .arguments = {has_file ? 3 : 2, arguments}};
    return journal_new(
        &head,
        &(struct journal_options){
            .most = JOURNAL_MAX, .bodies = true, .clocks = clocks, .push = push, .state = l});
}

bool day_live(struct day *d, struct arena *a, struct str *error)
{
    char name[] = "berth-scheduler", *argv[] = {name, NULL};
    struct scheduler_config config;
    struct living l = {
        .day = d, .now_us = d->trace->at[0].at_us, .credit = CREDIT, .config = &config};
    struct settings settings;
    struct program program;
    l.journal = begin_journal(&l, a);
    journal_use(l.journal);
    settings_init(&settings, 1, argv);
    settings.own_worker = true;
    settings.tie_break = TIE_BREAK_first;
    bool good = config_flags_load(&settings.flags, d->config, &config, a, error);
    if (good) {
        program_open(&program, d->config, &config, &settings);
        l.actor = program_actor(&program);
        l.out = (struct outbox){.send = send_all, .context = &l};
        l.pods = map_new();
        live(&l);
        d->seconds = (l.now_us - d->trace->at[0].at_us) / 1000000;
        journal_finish(l.journal);
        journal_flush();
        count_and_free(&l);
        program_close(&program);
    }
    journal_free(&l.journal);
    return good;
}
