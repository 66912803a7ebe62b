/* inquiry: questions about what is held, and their answers, which come in parts. What must stay
 * true: however many do not answer, each question ends when the time is over; and an answer of
 * which a part was lost is none.
 */
#include "ctl/doctor/inquiry.h"

#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

#define THINGS_MAX 5000000 /* of one answer; beyond that it is no answer */

static struct told *told_of(struct inquiry *t, struct address from, bool own)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->told[i].from.peer == from.peer && t->told[i].own == own)
            return &t->told[i];
    return NULL;
}

/* The worker inside that scheduler, which is known once it has said something. */
static struct told *own_worker_of(struct inquiry *t, uint32_t peer)
{
    struct told *last = &t->told[t->count - 1];
    if (!last->own) {
        last = &t->told[t->count++];
        last->own = true;
        last->name = STR_LITERAL(OWN_WORKER);
    }
    last->from = (struct address){WORKER, peer};
    last->said.id = t->id;
    return last;
}

/* ---- taking ---- */

static void meet(struct inquiry *t, struct address who)
{
    const char *endpoint = bus_endpoint_of(t->bus, who);
    for (size_t i = 0; i < t->count; i++)
        if (endpoint != NULL && !t->told[i].own &&
            strcmp(t->asking->doors[i].endpoint, endpoint) == 0) {
            t->told[i].from = who;
            t->asking->doors[i].answered = true;
        }
}

static void add_things(struct told *told, const struct holdings *said)
{
    if (said->things.count > THINGS_MAX - told->count) {
        told->torn = true;
        return;
    }
    while (told->room < told->count + said->things.count) {
        told->room = told->room * 2 + 4096;
        told->things = memory_resize(told->things, told->room * sizeof(*told->things));
    }
    for (uint32_t i = 0; i < said->things.count; i++) {
        const struct held_thing *thing = &said->things.at[i];
        told->things[told->count++] = (struct held_thing){
            arena_copy(&told->memory, thing->name), arena_copy(&told->memory, thing->uid),
            thing->version, arena_copy(&told->memory, thing->node)};
    }
}

static void take_holdings(struct inquiry *t, struct told *told, const struct holdings *said)
{
    if (said->id != t->id || told->answered)
        return;
    told->torn = told->torn || said->part != told->said.part + 1;
    told->said.part = said->part;
    add_things(told, said);
    if (!said->last)
        return;
    struct holdings last = *said;
    last.things.count = 0;
    codec_copy(message_info[MSG_holdings].record, &told->said, &last, &told->memory);
    told->answered = !told->torn;
}

static void lose(struct inquiry *t, uint32_t peer)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->told[i].from.peer == peer)
            t->told[i].from.peer = 0;
}

static void free_told(struct told *told)
{
    arena_free(&told->memory);
    memory_free(told->things);
    *told = (struct told){0};
}

/* Its answers come before its scheduler's: one that has said nothing by then has made way for
 * worker processes, and is nobody any more. */
static void forget_own_worker(struct inquiry *t, const struct told *scheduler)
{
    struct told *own = told_of(t, scheduler->from, true);
    if (own != NULL && scheduler->answered && !own->answered && !own->torn) {
        free_told(own); /* it is the last */
        t->count--;
    }
}

static void take(struct inquiry *t, const struct delivery *in)
{
    struct told *told = told_of(t, in->from, false);
    const struct holdings *said =
        in->message->type == MSG_holdings && told != NULL ? &in->message->holdings : NULL;
    if (in->message->type == MSG_peer_up)
        meet(t, in->from);
    else if (in->message->type == MSG_peer_down && told != NULL)
        lose(t, in->from.peer);
    else if (said != NULL && said->own_worker)
        take_holdings(t, own_worker_of(t, in->from.peer), said);
    else if (said != NULL) {
        take_holdings(t, told, said);
        forget_own_worker(t, told);
    } else if (t->hear != NULL)
        t->hear(t->context, told, in);
}

void inquiry_converse(struct inquiry *t, struct moment deadline,
                      bool (*done)(const struct inquiry *t))
{
    struct moment now = moment_now();
    while (!moment_reached(now, deadline) && !done(t)) {
        struct delivery in;
        while (bus_receive(t->bus, now, &in))
            take(t, &in);
        struct moment next = moment_earlier(deadline, bus_tick(t->bus, now));
        if (!done(t))
            bus_wait(t->bus, -1, now, next);
        now = moment_now();
    }
}

/* ---- asking ---- */

static bool all_are_there(const struct inquiry *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->told[i].own && !t->asking->doors[i].answered)
            return false;
    return true;
}

static bool all_have_answered(const struct inquiry *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->told[i].said.id == t->id && t->told[i].from.peer != 0 && !t->told[i].answered &&
            !t->told[i].torn)
            return false;
    return true;
}

static bool never(const struct inquiry *t)
{
    (void)t;
    return false;
}

/* /run/berth/worker-1.sock: worker-1; what is no such path is its own name. */
static struct str name_of(const char *endpoint)
{
    const char *slash = strrchr(endpoint, '/'), *begin = slash != NULL ? slash + 1 : endpoint;
    struct str name = str_of(begin);
    const char *end = strstr(begin, ".sock");
    if (end != NULL && strncmp(endpoint, "ipc:", 4) == 0)
        name.len = (uint32_t)(end - begin);
    return name;
}

bool inquiry_open(struct inquiry *t, struct asking *asking)
{
    char error[512];
    t->asking = asking;
    if (!asking_find(asking))
        return false;
    asking->bus.peer_count = 0;
    if (asking->count > BUS_PEERS_MAX)
        fprintf(stderr, "%s: of %zu doors the first %d are asked\n", asking->command, asking->count,
                BUS_PEERS_MAX);
    for (size_t i = 0; i < asking->count && i < BUS_PEERS_MAX; i++) {
        t->told[t->count++].name = name_of(asking->doors[i].endpoint);
        asking->bus.peers[asking->bus.peer_count++] =
            (struct bus_peer_option){ANY, asking->doors[i].endpoint};
    }
    t->bus = bus_open(&asking->bus, error, sizeof(error));
    if (t->bus == NULL) {
        fprintf(stderr, "%s: %s\n", asking->command, error);
        return false;
    }
    inquiry_converse(t, moment_after(moment_now(), asking->wait), all_are_there);
    return true;
}

void inquiry_send(struct inquiry *t, const struct told *to, const struct message *m)
{
    struct outbox out = {0};
    outbox_put(&out, to->from, m);
    bus_send(t->bus, &out);
    outbox_free(&out);
}

void inquiry_ask(struct inquiry *t, unsigned kinds, struct str list)
{
    struct message m = {
        .type = MSG_holdings_request,
        .holdings_request = {.id = ++t->id, .schedulers = t->schedulers, .list = list}};
    for (size_t i = 0; i < t->count; i++) {
        struct told *told = &t->told[i];
        told->answered = told->torn = false;
        told->count = 0;
        arena_reset(&told->memory);
        told->said = (struct holdings){0};
        if (told->from.peer == 0 || (told->from.process & kinds) == 0)
            continue;
        told->said.id = t->id;
        if (!told->own) /* it answers the scheduler's */
            inquiry_send(t, told, &m);
    }
    inquiry_converse(t, moment_after(moment_now(), t->asking->wait), all_have_answered);
}

void inquiry_pause(struct inquiry *t, struct span pause)
{
    inquiry_converse(t, moment_after(moment_now(), pause), never);
}

struct told *inquiry_of(struct inquiry *t, enum process kind)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->told[i].from.process == kind && t->told[i].answered)
            return &t->told[i];
    return NULL;
}

const struct held_set *told_set(const struct told *told, struct str set)
{
    for (uint32_t i = 0; told != NULL && told->answered && i < told->said.sets.count; i++)
        if (str_equal(told->said.sets.at[i].name, set))
            return &told->said.sets.at[i];
    return NULL;
}

void inquiry_close(struct inquiry *t)
{
    for (size_t i = 0; i < t->count; i++)
        free_told(&t->told[i]);
    if (t->bus != NULL)
        bus_close(&t->bus);
}
