/* process: the bus of a process and the rounds of actor.c around its core. What must stay true: a
 * round takes no time, and its core sees one reading of the clocks. */
#include "tests/simulation/process.h"

#include "binder/binder.h"
#include "proto/base/must.h"
#include "proto/journal/journal.h"
#include "scheduler/coordinator/coordinator.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/core.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/promises.h"
#include "tests/simulation/record.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/wires.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <string.h>

#define TURN        512 /* messages a round, as ACTOR_TURN */
#define ROUND_LEAST (50 * INT64_C(1000))
#define PULSE_LEAST (6 * SECOND) /* of silence until its supervisor kills it, see ctl/pulse.h */
#define PULSE_MOST  (10 * SECOND)
#define SPIN_ROUNDS 20000 /* in a second: it does not wait for anything */

static struct proc *current;

struct proc *proc_current(void)
{
    return current;
}

static void enter(struct proc *p)
{
    current = p;
    account_to(p != NULL ? &p->account : NULL);
    clock_at(p != NULL ? p->host : NULL);
    journal_use(p != NULL ? p->journal : NULL);
}

/* ---- start ---- */

static void connect_to(struct bus_options *o, int group, enum process kind, char *room)
{
    struct proc *to = world_find(group, kind);
    snprintf(room, 48, "%s", to->door);
    o->peers[o->peer_count++] = (struct bus_peer_option){kind, room};
}

/* Whom each kind connects to, as in their main.c. */
static void connect_all(struct proc *p, struct bus_options *o, char doors[PROC_PEERS][48])
{
    if (p->kind == QUEUE || p->kind == SCHEDULER)
        connect_to(o, p->group, WATCHER, doors[0]);
    if (p->kind == SCHEDULER) {
        connect_to(o, p->group, QUEUE, doors[1]);
        connect_to(o, p->group, BINDER, doors[2]);
    }
    if (p->kind == WORKER)
        connect_to(o, p->group, SCHEDULER, doors[0]);
}

static void send_all(void *context);

void proc_start(struct proc *p)
{
    static char doors[PROC_PEERS][48];
    char error[256];
    must(!p->alive);
    enter(p);
    wires_owner(p);
    p->alive = true;
    p->stopping = p->reread = false;
    p->hung_until = p->starved_until = p->busy_until = 0;
    p->life++;
    p->started_at = clock_now();
    struct bus_options o = {
        .process = p->kind, .instance = p->name, .listen = p->door, .tap = "sim://tap"};
    connect_all(p, &o, doors);
    p->bus = bus_open(&o, error, sizeof(error));
    must(p->bus != NULL);
    p->config = world_config_number(p->group);
    p->reconfigure = false;
    record_begin(p);
    core_start(p);
    p->out = (struct outbox){.send = send_all, .context = p};
    p->wake_at = INT64_MAX;
    enter(NULL);
    trace(1, "%s starts", p->door);
    proc_wake(p, clock_now());
}

void proc_start_stranger(struct proc *p, const struct proc *to, int64_t term)
{
    char error[256];
    must(!p->alive);
    enter(p);
    wires_owner(p);
    p->alive = true;
    p->stopping = false;
    p->hung_until = p->starved_until = p->busy_until = 0;
    p->life++;
    struct bus_options o = {
        .process = p->kind, .instance = p->name, .listen = p->door, .tap = "sim://tap"};
    o.peers[o.peer_count++] = (struct bus_peer_option){ANY, to->door};
    p->bus = bus_open(&o, error, sizeof(error));
    must(p->bus != NULL);
    bus_set_term(p->bus, term);
    p->out = (struct outbox){.send = send_all, .context = p};
    p->wake_at = INT64_MAX;
    enter(NULL);
    proc_wake(p, clock_now());
}

void proc_reconfigure(struct proc *p)
{
    p->reconfigure = true;
    proc_wake(p, clock_now());
}

void proc_dump(struct proc *p)
{
    enter(p);
    journal_dump();
    p->actor.dump(p->actor.state);
    enter(NULL);
    proc_wake(p, clock_now());
}

/* ---- a round ---- */

int64_t proc_term(const struct proc *p)
{
    return p->core == NULL        ? 0
           : p->kind == BINDER    ? binder_term(p->core)
           : p->kind == SCHEDULER ? coordinator_term(p->core)
                                  : 0;
}

/* From level 4 on with all that it says. */
static void trace_message(const struct proc *p, size_t i)
{
    struct arena memory = {0};
    struct buffer text = {0};
    struct message m;
    enum message_type type = p->out.at[i].type;
    if (trace_level > 3 && outbox_get(&p->out, i, &m, &memory))
        codec_print(message_info[type].record, message_body(&m), &text);
    buffer_add_text(&text, "");
    trace(3, "%s says %s to=%s %s", p->door, message_info[type].record->name,
          process_name(p->out.at[i].to.process), text.at);
    buffer_free(&text);
    arena_free(&memory);
}

static void send_all(void *context)
{
    struct proc *p = context;
    p->stirred |= p->out.count > 0;
    for (size_t i = 0; i < p->out.count && trace_level > 2; i++)
        trace_message(p, i);
    if (p->core != NULL) {
        promises_said(p);
        journal_send(&p->out, proc_term(p));
    }
    if (p->core != NULL && (p->kind == BINDER || p->kind == SCHEDULER))
        bus_set_term(p->bus, proc_term(p));
    bus_send(p->bus, &p->out);
}

static void take(struct proc *p, struct moment now, const struct delivery *in)
{
    cover("message", core_message_name(p->kind, in->message->type));
    promises_heard(p, in);
    journal_delivery(now, in);
    p->actor.handle(p->actor.state, now, in, &p->out);
}

void proc_reread(struct proc *p)
{
    p->reread = true;
    proc_wake(p, clock_now());
}

/* What it says to the tool reaches nobody. */
static void be_asked(struct proc *p, struct moment now)
{
    struct str name = STR_LITERAL("default-scheduler");
    struct message m = {.type = MSG_holdings_request,
                        .holdings_request = {.id = 1,
                                             .schedulers = {1, &name},
                                             .list = p->kind == WORKER ? STR_LITERAL("share-pods")
                                                                       : STR_LITERAL("assigned")}};
    struct delivery in = {.from = {TOOL, UINT32_MAX}, .message = &m};
    p->reread = false;
    take(p, now, &in);
    m = (struct message){.type = MSG_reread};
    take(p, now, &in);
}

static bool handle_all(struct proc *p, struct moment now)
{
    struct delivery in;
    for (int i = 0; i < TURN; i++) {
        if (!bus_receive(p->bus, now, &in))
            return false;
        p->stirred = true;
        if (p->core != NULL)
            take(p, now, &in);
        bus_handled(p->bus, in.message->type, (struct span){0});
    }
    return true;
}

static void check_spin(struct proc *p)
{
    int64_t second = clock_now() / SECOND;
    if (p->rounds_seen != (uint64_t)second) {
        p->rounds_seen = (uint64_t)second;
        p->rounds = 0;
    }
    if (++p->rounds == SPIN_ROUNDS)
        violated("progress", "%s turns %d rounds in a second", p->door, SPIN_ROUNDS);
}

static void finish(struct proc *p, bool killed);

static void turn(struct proc *p)
{
    enter(p);
    struct moment now = moment_now();
    bus_wait(p->bus, -1, now, now);
    p->stirred = false;
    if (p->reread && p->core != NULL)
        be_asked(p, now);
    bool more = handle_all(p, now);
    struct moment next = MOMENT_NEVER;
    if (p->core != NULL) {
        journal_turn(now);
        if (p->actor.work != NULL)
            p->actor.work(p->actor.state, now, &p->out);
        next = p->actor.tick(p->actor.state, now, &p->out);
    }
    send_all(p);
    next = moment_earlier(next, bus_tick(p->bus, now));
    next = moment_earlier(next, moment_after(now, span_of_ms(ACTOR_BEAT_MS)));
    bool done = p->stopping && (p->kind != BINDER || p->core == NULL || binder_done(p->core));
    check_spin(p);
    enter(NULL);
    checks_after_round(p);
    if (done) {
        finish(p, false);
        return;
    }
    int64_t at = more ? clock_now() : clock_true(p->host, next);
    if (p->starved_until > clock_now())
        p->busy_until = clock_now() + dice_between(p->starved / 4, p->starved);
    int64_t least = clock_now() + ROUND_LEAST;
    proc_wake(p, at > least ? at : least);
}

static void round_due(void *context, uint64_t life)
{
    struct proc *p = context;
    if (!p->alive || p->life != life || p->wake_at > clock_now())
        return;
    p->wake_at = INT64_MAX;
    if (p->hung_until > clock_now())
        proc_wake(p, p->hung_until);
    else if (p->busy_until > clock_now())
        proc_wake(p, p->busy_until);
    else
        turn(p);
}

void proc_wake(struct proc *p, int64_t at)
{
    at = at > clock_now() ? at : clock_now();
    if (!p->alive || p->wake_at <= at)
        return;
    p->wake_at = at;
    clock_call(at, round_due, p, p->life);
}

/* ---- end ---- */

static void finish(struct proc *p, bool killed)
{
    bool recorded = p->journal != NULL;
    enter(p);
    record_end(p);
    if (killed)
        wires_end(p, true);
    if (killed && p->calls != NULL)
        calls_detach(p->calls);
    core_free(p);
    bus_close(&p->bus);
    wires_end(p, false);
    if (p->calls != NULL)
        calls_free(&p->calls);
    p->out.send = NULL;
    outbox_free(&p->out);
    p->alive = false;
    p->wake_at = INT64_MAX;
    p->ended_at = clock_now();
    enter(NULL);
    if (p->account.blocks != 0 && !recorded)
        violated("nothing is left behind", "%s has ended and holds %lld blocks of %lld bytes",
                 p->door, (long long)p->account.blocks, (long long)p->account.bytes);
    trace(1, "%s %s", p->door, killed ? "is killed" : "ends");
    world_proc_ended(p);
}

void proc_kill(struct proc *p)
{
    if (p->alive)
        finish(p, true);
}

void proc_stop(struct proc *p)
{
    if (!p->alive || p->stopping)
        return;
    p->stopping = true;
    if (p->kind == BINDER) {
        enter(p);
        struct moment now = moment_now();
        journal_stop(now);
        p->actor.stop(p->actor.state, now, &p->out);
        enter(NULL);
    }
    proc_wake(p, clock_now());
}

/* Its supervisor sees that it does not beat. */
static void missed(void *context, uint64_t life)
{
    struct proc *p = context;
    if (!p->alive || p->life != life || p->hung_until <= clock_now() || p->stranger)
        return;
    int64_t until = p->host->suspended_until;
    if (until > clock_now()) { /* so does the supervisor, which counts on when its host goes on */
        clock_call(until + dice_between(PULSE_LEAST, PULSE_MOST), missed, p, life);
        return;
    }
    cover("killed as hung", process_name(p->kind));
    proc_kill(p);
}

void proc_hang(struct proc *p, int64_t until)
{
    if (!p->alive || until <= p->hung_until)
        return;
    p->hung_until = until;
    clock_call(clock_now() + dice_between(PULSE_LEAST, PULSE_MOST), missed, p, p->life);
}

void proc_starve(struct proc *p, int64_t until, int64_t round)
{
    p->starved_until = until;
    p->starved = round;
}
