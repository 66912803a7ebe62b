/* wires: what stands in the place of proto/bus/wire.c and waiting.c. A link is connected to a door
 * as soon as there is one; each direction of a connection is a queue of frames in their order, each
 * with the time of its arrival. What must stay true, as ZeroMQ has it: frames of one connection
 * stay in order, none passes from one connection to another, and both ends hear of its end. */
#include "tests/simulation/wires.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/frame.h"
#include "proto/bus/inside.h"
#include "tests/simulation/account.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/sessions.h"
#include "tests/simulation/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FULL          100000 /* frames of one direction, as wire.c's high water */
#define RECONNECT_MIN (50 * MS)
#define RECONNECT_MAX (1000 * MS)

struct parcel {
    struct parcel *next;
    int64_t at;
    uint32_t len;
    char bytes[];
};

struct lane {
    struct parcel *first, *last;
    uint32_t count;
    int64_t last_at, hold_until;
    uint32_t lose;
    bool twice;
};

struct sock;

struct connection {
    struct connection *next;
    struct sock *link, *door; /* NULL: that end is gone */
    char routing[8];          /* of the door's */
    struct lane up, down;     /* to the door, to the link */
    bool ended;               /* no more frames come; what is under way still does */
    struct sessions sessions;
};

struct notice {
    int64_t at;
    enum wire_news news;
};

struct sock {
    struct sock *next;
    struct proc *owner;
    uint64_t life;
    struct wire *wire;
    struct connection *connection; /* a link's */
    struct notice news[64];
    uint32_t news_count;
    int64_t backoff;
};

static struct {
    struct sock *socks;
    struct connection *connections;
    struct proc *owner;
    uint32_t routings;
    int64_t usual, most;
    int64_t torn_until; /* snapshots lose what stands in their middle */
} all;

void wires_owner(struct proc *p)
{
    all.owner = p;
}

void wires_latency(int64_t usual, int64_t most)
{
    all.usual = usual;
    all.most = most;
}

static void tell(struct sock *s, enum wire_news news, int64_t at)
{
    if (s == NULL || s->news_count == sizeof(s->news) / sizeof(s->news[0]))
        return;
    s->news[s->news_count++] = (struct notice){at, news};
    proc_wake(s->owner, at);
}

static bool is_awake(const struct proc *p)
{
    return p->alive && p->hung_until <= clock_now();
}

static struct sock *door_at(const char *endpoint)
{
    for (struct sock *s = all.socks; s != NULL; s = s->next)
        if (s->wire->kind == WIRE_door && strcmp(s->wire->endpoint, endpoint) == 0)
            return s;
    return NULL;
}

static void try_again(struct sock *link);

static void connect_now(void *context, uint64_t life)
{
    struct sock *link = NULL;
    for (struct sock *s = all.socks; s != NULL; s = s->next)
        if (s == context && s->life == life)
            link = s;
    if (link == NULL || (link->connection != NULL && !link->connection->ended))
        return;
    if (link->connection != NULL) { /* its end has not been heard yet */
        try_again(link);
        return;
    }
    struct sock *door = door_at(link->wire->endpoint);
    if (door == NULL || !is_awake(door->owner) || !is_awake(link->owner)) {
        try_again(link);
        return;
    }
    struct connection *c = memory_take(sizeof(*c));
    c->link = link;
    c->door = door;
    snprintf(c->routing, sizeof(c->routing), "r%06u", ++all.routings % 1000000);
    c->next = all.connections;
    all.connections = c;
    link->connection = c;
    link->backoff = 0;
    int64_t at = clock_now() + dice_between(MS / 10, 2 * MS);
    tell(link, WIRE_connected, at);
    tell(door, WIRE_connected, at);
}

static void try_again(struct sock *link)
{
    link->backoff = link->backoff == 0 ? RECONNECT_MIN : link->backoff * 2;
    if (link->backoff > RECONNECT_MAX)
        link->backoff = RECONNECT_MAX;
    clock_call(clock_now() + link->backoff, connect_now, link, link->life);
}

static void drop_parcels(struct lane *l, uint32_t keep)
{
    struct parcel **at = &l->first;
    for (uint32_t i = 0; i < keep && *at != NULL; i++)
        at = &(*at)->next;
    while (*at != NULL) {
        struct parcel *gone = *at;
        *at = gone->next;
        memory_free(gone);
        l->count--;
    }
    l->last = l->first;
    while (l->last != NULL && l->last->next != NULL)
        l->last = l->last->next;
}

static void end_connection(struct connection *c, bool abruptly)
{
    if (c->ended)
        return;
    c->ended = true;
    if (abruptly) {
        drop_parcels(&c->up, (uint32_t)dice(c->up.count + 1));
        drop_parcels(&c->down, (uint32_t)dice(c->down.count + 1));
    }
    int64_t at = clock_now() + dice_between(MS / 10, 3 * MS);
    tell(c->link, WIRE_disconnected, at > c->down.last_at ? at : c->down.last_at);
    tell(c->door, WIRE_disconnected, at > c->up.last_at ? at : c->up.last_at);
    if (c->link != NULL)
        try_again(c->link);
}

static void sweep(void)
{
    for (struct connection **at = &all.connections; *at != NULL;) {
        struct connection *c = *at;
        bool heard = c->ended && (c->link == NULL || c->link->connection != c) &&
                     (c->door == NULL || c->up.count == 0);
        if (!heard) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        drop_parcels(&c->up, 0);
        drop_parcels(&c->down, 0);
        memory_free(c);
    }
}

/* ---- wire.h ---- */

bool wires_open(struct wires *w, const char *curve_dir, enum process process, bool allow_plain_tcp)
{
    *w = (struct wires){
        .curve_dir = curve_dir, .process = process, .allow_plain_tcp = allow_plain_tcp};
    return true;
}

void wires_close(struct wires *w)
{
    *w = (struct wires){0};
}

unsigned wires_keep(struct wires *w)
{
    (void)w;
    return 0;
}

bool wire_open(struct wires *w, struct wire *wire, enum wire_kind kind, const char *endpoint)
{
    static uint64_t lives;
    (void)w;
    *wire = (struct wire){.kind = kind, .lock_fd = -1};
    snprintf(wire->endpoint, sizeof(wire->endpoint), "%s", endpoint);
    if (kind == WIRE_tap)
        return true;
    struct sock *s = account_take_none(sizeof(*s));
    s->owner = all.owner;
    s->life = ++lives;
    s->wire = wire;
    s->next = all.socks;
    all.socks = s;
    wire->socket = s;
    if (kind == WIRE_link)
        clock_call(clock_now() + dice_between(MS / 10, 5 * MS), connect_now, s, s->life);
    return true;
}

/* abruptly: frames under way may be lost. */
static void close_sock(struct sock *s, bool abruptly)
{
    for (struct connection *c = all.connections; c != NULL; c = c->next) {
        if (c->link != s && c->door != s)
            continue;
        if (c->link == s)
            c->link = NULL;
        if (c->door == s)
            c->door = NULL;
        end_connection(c, abruptly);
        if (c->link != NULL && c->door == NULL)
            drop_parcels(&c->up, 0);
        if (c->link == NULL)
            drop_parcels(&c->down, 0);
    }
    for (struct sock **at = &all.socks; *at != NULL; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    s->wire->socket = NULL;
    memory_free(s);
    sweep();
}

void wire_close(struct wire *wire)
{
    if (wire->socket != NULL)
        close_sock(wire->socket, false);
}

void wires_end(struct proc *p, bool killed)
{
    for (struct sock *s = all.socks, *next; s != NULL; s = next) {
        next = s->next;
        if (s->owner == p)
            close_sock(s, killed);
    }
}

/* The connection whose frame came first. */
static struct connection *earliest(struct sock *s)
{
    struct connection *found = NULL;
    for (struct connection *c = all.connections; c != NULL; c = c->next)
        if (c->door == s && c->up.first != NULL && c->up.first->at <= clock_now() &&
            (found == NULL || c->up.first->at < found->up.first->at))
            found = c;
    return found;
}

static struct lane *waiting_lane(struct sock *s, struct connection **from)
{
    if (s == NULL)
        return NULL;
    *from = s->wire->kind == WIRE_door ? earliest(s) : s->connection;
    if (*from == NULL)
        return NULL;
    struct lane *l = s->wire->kind == WIRE_door ? &(*from)->up : &(*from)->down;
    return l->first != NULL && l->first->at <= clock_now() ? l : NULL;
}

/* A link's end is heard when all that came before is taken; then it may connect anew. */
static bool hears_end(struct sock *s)
{
    struct connection *from;
    if (s->wire->kind != WIRE_link)
        return true;
    if (waiting_lane(s, &from) != NULL)
        return false;
    if (s->connection != NULL && s->connection->ended) {
        s->connection = NULL;
        sweep();
    }
    return true;
}

enum wire_news wire_news(struct wire *wire)
{
    struct sock *s = wire->socket;
    if (s == NULL || s->news_count == 0 || s->news[0].at > clock_now())
        return WIRE_nothing;
    enum wire_news news = s->news[0].news;
    if (news == WIRE_disconnected && !hears_end(s))
        return WIRE_nothing;
    memmove(s->news, s->news + 1, --s->news_count * sizeof(s->news[0]));
    return news;
}

static void enqueue(struct lane *l, struct str frame, int64_t at)
{
    struct parcel *p = account_take_none(sizeof(*p) + frame.len);
    p->len = frame.len;
    memcpy(p->bytes, frame.at, frame.len);
    p->at = at;
    if (l->last != NULL)
        l->last->next = p;
    else
        l->first = p;
    l->last = p;
    l->last_at = at;
    l->count++;
}

/* More of a snapshot comes behind this frame, or pack of them. */
static bool breaks_off(struct str frame)
{
    struct envelope envelope = {0};
    struct byte_cursor body;
    struct str rest = {frame.at + 1, frame.len - 1};
    if (is_pack(frame))
        while (rest.len > 0)
            if (!pack_next(&rest, &frame))
                return false;
    return frame_open(frame, &envelope, &body) == REFUSED_nothing && envelope.part > 0 &&
           envelope.type != MSG_snapshot_end;
}

static void put(struct lane *l, struct str frame, struct proc *to)
{
    int64_t at = clock_now() + dice_spread(20000, all.usual, all.most);
    if (l->lose > 0) {
        l->lose--;
        cover("bus", "frame lost");
        return;
    }
    if (clock_now() < all.torn_until && breaks_off(frame) && dice(2) == 0) {
        cover("bus", "snapshot torn");
        l->lose = 1;
    }
    at = at > l->hold_until ? at : l->hold_until;
    at = at > l->last_at ? at : l->last_at;
    enqueue(l, frame, at);
    if (l->twice) {
        l->twice = false;
        cover("bus", "frame doubled");
        enqueue(l, frame, at);
    }
    proc_wake(to, at);
}

int wire_send(struct wire *wire, struct str to, struct str frame, bool more)
{
    struct sock *s = wire->socket;
    (void)more;
    if (s == NULL)
        return EAGAIN;
    if (wire->kind == WIRE_link) {
        struct connection *c = s->connection;
        if (c == NULL || c->ended || c->up.count >= FULL)
            return EAGAIN;
        sessions_said(&c->sessions, s->owner, frame);
        put(&c->up, frame, c->door->owner);
        return 0;
    }
    for (struct connection *c = all.connections; c != NULL; c = c->next)
        if (c->door == s && !c->ended && to.len == strlen(c->routing) &&
            memcmp(to.at, c->routing, to.len) == 0) {
            if (c->down.count >= FULL)
                return EAGAIN;
            put(&c->down, frame, c->link->owner);
            return 0;
        }
    return EHOSTUNREACH;
}

static struct parcel *take_parcel(struct lane *l)
{
    struct parcel *p = l->first;
    l->first = p->next;
    if (l->first == NULL)
        l->last = NULL;
    l->count--;
    return p;
}

static void fill(zmq_msg_t *m, const void *bytes, size_t len)
{
    zmq_msg_close(m);
    must(zmq_msg_init_size(m, len) == 0);
    memcpy(zmq_msg_data(m), bytes, len);
}

bool wire_receive(struct wire *wire, zmq_msg_t *from, zmq_msg_t *frame)
{
    struct connection *c;
    struct lane *l = waiting_lane(wire->socket, &c);
    if (l == NULL)
        return false;
    struct parcel *p = take_parcel(l);
    if (wire->kind == WIRE_door)
        fill(from, c->routing, strlen(c->routing));
    else
        sessions_heard(&c->sessions, (struct str){p->bytes, p->len});
    fill(frame, p->bytes, p->len);
    memory_free(p);
    return true;
}

bool wire_readable(struct wire *wire)
{
    struct connection *c;
    wire->ready = wire->ready && waiting_lane(wire->socket, &c) != NULL;
    return wire->ready;
}

void wire_refresh(struct wire *wire)
{
    wire->ready = true;
}

/* ---- waiting ---- */

void waiting_open(struct bus *bus)
{
    bus->waiter = -1;
}

bool waiting_reopen(struct bus *bus, struct wire *wire)
{
    char endpoint[ENDPOINT_MAX];
    snprintf(endpoint, sizeof(endpoint), "%s", wire->endpoint);
    wires_owner(proc_current());
    wire_close(wire);
    return wire_open(&bus->wires, wire, WIRE_link, endpoint);
}

void waiting_close(struct bus *bus)
{
    (void)bus;
}

static int64_t later(int64_t soonest, int64_t at)
{
    return at > clock_now() && at < soonest ? at : soonest;
}

/* Marks it; returns when the next thing comes that is under way already. */
static int64_t look(struct wire *wire, bool *any)
{
    struct sock *s = wire->socket;
    struct connection *from;
    int64_t next = INT64_MAX;
    if (s == NULL)
        return next;
    wire->ready = waiting_lane(s, &from) != NULL;
    wire->has_news = s->news_count > 0 && s->news[0].at <= clock_now();
    if (wire->kind == WIRE_link && wire->has_news && s->news[0].news == WIRE_disconnected)
        wire->has_news = !wire->ready;
    *any = *any || wire->ready || wire->has_news;
    if (s->news_count > 0)
        next = later(next, s->news[0].at);
    for (struct connection *c = all.connections; c != NULL; c = c->next) {
        const struct lane *l = c->door == s ? &c->up : c->link == s ? &c->down : NULL;
        if (l != NULL && l->first != NULL)
            next = later(next, l->first->at);
    }
    return next;
}

bool waiting_look(struct bus *bus)
{
    bool any = false;
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < bus->link_count; i++) {
        int64_t at = look(&bus->links[i], &any);
        next = at < next ? at : next;
    }
    if (bus->has_door) {
        int64_t at = look(&bus->door, &any);
        next = at < next ? at : next;
    }
    bus->looked = true;
    bus->since_look = 0;
    if (next != INT64_MAX && proc_current() != NULL)
        proc_wake(proc_current(), next);
    return any;
}

void bus_wait(struct bus *bus, int extra_fd, struct moment now, struct moment deadline)
{
    (void)extra_fd;
    (void)now;
    (void)deadline;
    waiting_look(bus);
}

/* ---- faults ---- */

uint32_t wires_connections(void)
{
    uint32_t count = 0;
    for (struct connection *c = all.connections; c != NULL; c = c->next)
        count += !c->ended;
    return count;
}

static struct connection *at_number(uint32_t n)
{
    for (struct connection *c = all.connections; c != NULL; c = c->next)
        if (!c->ended && n-- == 0)
            return c;
    return NULL;
}

const char *wires_name(uint32_t n)
{
    static char name[96];
    struct connection *c = at_number(n);
    if (c == NULL)
        return "none";
    snprintf(name, sizeof(name), "%s>%s", c->link->owner->door, c->door->owner->name);
    return name;
}

void wires_cut(uint32_t n)
{
    struct connection *c = at_number(n);
    if (c != NULL)
        end_connection(c, true);
}

void wires_hold(uint32_t n, int64_t until)
{
    struct connection *c = at_number(n);
    if (c == NULL)
        return;
    c->up.hold_until = dice(4) > 0 ? until : 0;
    c->down.hold_until = c->up.hold_until == 0 || dice(2) == 0 ? until : 0;
}

void wires_lose(uint32_t n, uint32_t frames)
{
    struct connection *c = at_number(n);
    if (c != NULL)
        *(dice(2) ? &c->up.lose : &c->down.lose) = frames;
}

void wires_tear(int64_t until)
{
    all.torn_until = until;
}

void wires_double(uint32_t n)
{
    struct connection *c = at_number(n);
    if (c != NULL)
        *(dice(2) ? &c->up.twice : &c->down.twice) = true;
}

/* What was held, or is slow. */
static void let_through(struct lane *l, const struct sock *to)
{
    int64_t soon = clock_now() + MS;
    for (struct parcel *p = l->first; p != NULL; p = p->next)
        p->at = p->at > soon ? soon : p->at;
    l->last_at = l->last_at > soon ? soon : l->last_at;
    if (l->first != NULL && to != NULL)
        proc_wake(to->owner, soon);
}

void wires_heal(void)
{
    for (struct connection *c = all.connections; c != NULL; c = c->next) {
        let_through(&c->up, c->door);
        let_through(&c->down, c->link);
        c->up.hold_until = c->down.hold_until = 0;
        c->up.lose = c->down.lose = 0;
    }
    all.torn_until = 0;
}

void wires_reset(void)
{
    all.usual = MS / 2 + world_traits()->frame / 4;
    all.most = 5 * MS + world_traits()->frame;
}
