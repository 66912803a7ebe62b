/* own_worker: coordinator and worker in one process, for who needs no more than one worker. The
 * one idea: they stay two cores that know of each other by messages alone, and what the one says is
 * handed to the other within the same tick: no socket, no wake, no wait.
 *
 * What must stay true: each hears what the other said in its order, exactly once, and never while
 * it is itself being called; a tick hands over one exchange and asks to be called again, so that
 * what was decided leaves before the next is. While worker processes are there, this one is not:
 * it would keep the coordinator from hearing them. */
#include "scheduler/own_worker.h"

#include "proto/base/must.h"

static const struct address own_worker = {WORKER, PEER_INSIDE};
static const struct address own_coordinator = {SCHEDULER, PEER_INSIDE};

static int64_t term_of(const struct own_worker *o)
{
    const struct actor *c = &o->coordinator;
    return c->term != NULL ? c->term(c->state) : 0;
}

/* What is for the worker is kept for it, all else is for the bus. */
static void sort(void *state)
{
    struct own_worker *o = state;
    for (size_t i = 0; i < o->told.count; i++) {
        const struct outgoing *head = &o->told.at[i];
        bool own = same_address(head->to, own_worker);
        outbox_put_encoded(own ? &o->owed : o->out, head, outbox_body(&o->told, i));
    }
    outbox_reset(&o->told);
}

static void sort_and_send(void *state)
{
    struct own_worker *o = state;
    sort(o);
    outbox_send(o->out);
}

static void tell_coordinator(struct own_worker *o, struct moment now, const struct delivery *in)
{
    o->coordinator.handle(o->coordinator.state, now, in, &o->told);
    sort(o);
}

static struct delivery from_worker(const struct own_worker *o, const struct message *m)
{
    return (struct delivery){
        .from = own_worker, .instance = STR_LITERAL(OWN_WORKER), .term = term_of(o), .message = m};
}

static void tell_worker(struct own_worker *o, struct moment now, const struct message *m)
{
    struct delivery in = {.from = own_coordinator,
                          .instance = STR_LITERAL("scheduler"),
                          .term = term_of(o),
                          .message = m};
    worker_handle(o->worker, now, &in, &o->said);
}

/* ---- what they say to each other ---- */

/* A tool has asked what is held, at the door that both have. */
static void answer_tool(struct own_worker *o, struct address to, struct message *m)
{
    if (m->type == MSG_holdings)
        m->holdings.own_worker = true;
    outbox_put(o->out, to, m);
}

/* Whoever listens at the tap hears what was handed over, too. */
static void show(struct own_worker *o, struct outbox *said)
{
    for (size_t i = 0; i < said->count; i++)
        if (said->at[i].to.peer == PEER_INSIDE) {
            said->at[i].handed = true;
            outbox_put_encoded(o->out, &said->at[i], outbox_body(said, i));
        }
    outbox_reset(said);
}

/* What is owed to one that has made way meanwhile was for nobody. */
static bool hand_to_worker(struct own_worker *o, struct moment now)
{
    if (!o->up)
        outbox_reset(&o->owed);
    bool any = o->owed.count > 0;
    for (size_t i = 0; i < o->owed.count; i++) {
        struct message m;
        arena_reset(&o->memory);
        must(outbox_get(&o->owed, i, &m, &o->memory));
        tell_worker(o, now, &m);
    }
    show(o, &o->owed);
    return any;
}

static bool hand_to_coordinator(struct own_worker *o, struct moment now)
{
    bool any = o->said.count > 0;
    for (size_t i = 0; i < o->said.count; i++) {
        struct message m;
        arena_reset(&o->memory);
        must(outbox_get(&o->said, i, &m, &o->memory));
        struct delivery in = from_worker(o, &m);
        if (same_address(o->said.at[i].to, own_coordinator))
            tell_coordinator(o, now, &in);
        else
            answer_tool(o, o->said.at[i].to, &m);
    }
    show(o, &o->said);
    return any;
}

/* ---- whether the worker is there ---- */

static void introduce(struct own_worker *o, struct moment now)
{
    struct message m = {.type = MSG_peer_up,
                        .peer_up = {.process = STR_LITERAL("worker"),
                                    .instance = STR_LITERAL(OWN_WORKER),
                                    .incarnation = 1}};
    o->up = true;
    struct delivery in = from_worker(o, &m);
    tell_coordinator(o, now, &in);
    m.peer_up.process = STR_LITERAL("scheduler");
    m.peer_up.instance = STR_LITERAL("scheduler");
    tell_worker(o, now, &m);
}

static void part(struct own_worker *o, struct moment now)
{
    struct message m = {.type = MSG_peer_down,
                        .peer_down = {.process = STR_LITERAL("worker"),
                                      .instance = STR_LITERAL(OWN_WORKER),
                                      .reason = DOWN_goodbye}};
    struct delivery in = from_worker(o, &m);
    tell_coordinator(o, now, &in);
    m.peer_down.process = STR_LITERAL("scheduler");
    m.peer_down.instance = STR_LITERAL("scheduler");
    tell_worker(o, now, &m);
    outbox_reset(&o->owed);
    outbox_reset(&o->said);
    o->up = false;
}

static void count_others(struct own_worker *o, const struct delivery *in)
{
    if (in->from.process != WORKER)
        return;
    o->others += in->message->type == MSG_peer_up;
    o->others -= in->message->type == MSG_peer_down && o->others > 0;
}

/* ---- as an actor ---- */

/* Its answers to a tool come before the coordinator's, whose last one says that there are no more.
 */
static void pass_question(struct own_worker *o, struct moment now, const struct delivery *in)
{
    worker_handle(o->worker, now, in, &o->said);
    (void)hand_to_coordinator(o, now);
}

static bool is_for_both(const struct own_worker *o, const struct delivery *in)
{
    return o->up && in->message->type == MSG_holdings_request;
}

static bool is_for_worker(const struct delivery *in)
{
    return in->message->type == MSG_reread && in->message->reread.own_worker;
}

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct own_worker *o = state;
    o->out = out;
    count_others(o, in);
    if (o->others > 0 && o->up)
        part(o, now);
    if (is_for_both(o, in) || is_for_worker(in))
        pass_question(o, now, in);
    if (!is_for_worker(in))
        tell_coordinator(o, now, in);
    o->out = NULL;
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct own_worker *o = state;
    o->out = out;
    if (o->others == 0 && !o->up)
        introduce(o, now);
    struct moment next = o->coordinator.tick(o->coordinator.state, now, &o->told);
    sort(o);
    bool heard = hand_to_worker(o, now);
    next = moment_earlier(next, worker_tick(o->worker, now, &o->said));
    bool answered = hand_to_coordinator(o, now);
    o->out = NULL;
    return heard || answered ? now : next;
}

static void status(void *state, struct buffer *lines)
{
    struct own_worker *o = state;
    struct buffer own = {0};
    o->coordinator.status(o->coordinator.state, lines);
    worker_status(o->worker, &own);
    for (uint32_t i = 0; i < own.len; i++)
        if (own.at[i] == '\n')
            own.at[i] = ' ';
    buffer_print(lines, "own_worker=up=%s %.*s\n", o->up ? "yes" : "no", (int)own.len, own.at);
    buffer_free(&own);
}

static void dump(void *state)
{
    struct own_worker *o = state;
    o->coordinator.dump(o->coordinator.state);
}

static void observe(void *state)
{
    struct own_worker *o = state;
    o->coordinator.observe(o->coordinator.state);
}

static int64_t term(const void *state)
{
    return term_of(state);
}

void own_worker_init(struct own_worker *o, const struct actor *coordinator, struct worker *worker)
{
    must(coordinator->work == NULL && coordinator->stop == NULL);
    *o = (struct own_worker){.coordinator = *coordinator, .worker = worker};
    o->told.send = sort_and_send;
    o->told.context = o;
}

void own_worker_free(struct own_worker *o)
{
    outbox_free(&o->told);
    outbox_free(&o->owed);
    outbox_free(&o->said);
    arena_free(&o->memory);
}

bool own_worker_up(const struct own_worker *o)
{
    return o->up;
}

struct actor own_worker_actor(struct own_worker *o)
{
    return (struct actor){.state = o,
                          .handle = handle,
                          .tick = tick,
                          .fd = -1,
                          .status = status,
                          .dump = dump,
                          .observe = observe,
                          .term = term};
}
