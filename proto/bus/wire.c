/* wire: opens sockets with one set of options and turns monitor events into news (wire_news).
 *
 * The one idea: a link exists only while its connection stands (ZMQ_IMMEDIATE, and a ROUTER that
 * names every connection afresh and reports unreachable ones), so ZeroMQ keeps nothing for later
 * behind our back: what is lost shows as a gap in our own numbers. What must stay true: no call
 * here blocks, and a tcp address beyond loopback is used only with CURVE or when that was asked
 * for. */
#include "proto/bus/wire.h"
#include "proto/base/must.h"

#include <czmq.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HIGH_WATER     100000 /* messages per connection */
#define TAP_HIGH_WATER 5000   /* a reader that does not keep up holds no more of our memory */
#define LINGER_MS      200
#define KEEPER_ADDRESS "inproc://zeromq.zap.01"
#define TAP_DOMAIN     "tap"

static void set_int(void *socket, int option, int value)
{
    must(zmq_setsockopt(socket, option, &value, sizeof(value)) == 0);
}

static void set_text(void *socket, int option, const char *value)
{
    must(zmq_setsockopt(socket, option, value, strlen(value)) == 0);
}

__attribute__((format(printf, 2, 3))) static void say(struct wires *all, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(all->error, sizeof(all->error), format, args);
    va_end(args);
}

bool wires_open(struct wires *all, const char *curve_dir, enum process process,
                bool allow_plain_tcp)
{
    *all = (struct wires){
        .curve_dir = curve_dir, .process = process, .allow_plain_tcp = allow_plain_tcp};
    if (curve_dir != NULL) {
        if (!zmq_has("curve")) {
            say(all, "curve directory %s: this ZeroMQ has no CURVE", curve_dir);
            return false;
        }
        if (!curve_load(&all->keys, curve_dir, process, all->error, sizeof(all->error)))
            return false;
        all->has_keys = true;
    }
    all->context = zmq_ctx_new();
    must(all->context != NULL);
    must(zmq_ctx_set(all->context, ZMQ_MAX_SOCKETS, 4096) == 0);
    if (all->has_keys) {
        all->keeper = zmq_socket(all->context, ZMQ_REP);
        must(all->keeper != NULL);
        set_int(all->keeper, ZMQ_LINGER, 0);
        must(zmq_bind(all->keeper, KEEPER_ADDRESS) == 0);
    }
    return true;
}

void wires_close(struct wires *all)
{
    if (all->keeper != NULL)
        zmq_close(all->keeper);
    if (all->context != NULL)
        while (zmq_ctx_term(all->context) != 0 && errno == EINTR)
            continue;
    *all = (struct wires){0};
}

/* A caller's key tells the door who it is; a tap has no hello, and is for tools alone. */
static bool may_connect(const struct wires *all, struct str domain, const unsigned char *key,
                        char name[CURVE_NAME_ROOM])
{
    return curve_find(all->curve_dir, key, name) &&
           (!str_is(domain, TAP_DOMAIN) || curve_role(name) == TOOL);
}

/* RFC 27: version, request id, domain, address, identity, mechanism, credentials. Whom we let in
 * has the name of its key file as user id, which ZeroMQ gives with every message. */
static bool admits(const struct wires *all, zmsg_t *request, char name[CURVE_NAME_ROOM])
{
    enum { VERSION, REQUEST, DOMAIN, ADDRESS, IDENTITY, MECHANISM, KEY, PARTS };
    zframe_t *part[PARTS];
    if (zmsg_size(request) != PARTS)
        return false;
    for (int i = VERSION; i < PARTS; i++)
        part[i] = i == VERSION ? zmsg_first(request) : zmsg_next(request);
    struct str domain = {(const char *)zframe_data(part[DOMAIN]),
                         (uint32_t)zframe_size(part[DOMAIN])};
    return zframe_streq(part[MECHANISM], "CURVE") && zframe_size(part[KEY]) == 32 &&
           may_connect(all, domain, zframe_data(part[KEY]), name);
}

/* Version, request id, status, its text, user id, metadata. */
static zmsg_t *verdict(zmsg_t *request, const char *name, bool allowed)
{
    zmsg_t *answer = zmsg_new();
    zmsg_first(request);
    zframe_t *number = zmsg_next(request);
    must(answer != NULL);
    zmsg_addstr(answer, "1.0");
    zmsg_addmem(answer, number ? zframe_data(number) : NULL, number ? zframe_size(number) : 0);
    zmsg_addstr(answer, allowed ? "200" : "400");
    zmsg_addstr(answer, allowed ? "OK" : "unknown key");
    zmsg_addstr(answer, allowed ? name : "");
    zmsg_addstr(answer, "");
    return answer;
}

static bool keep_one(struct wires *all, bool *allowed)
{
    char name[CURVE_NAME_ROOM] = "";
    zmq_pollitem_t item = {.socket = all->keeper, .events = ZMQ_POLLIN};
    zmsg_t *request = zmq_poll(&item, 1, 0) > 0 ? zmsg_recv(all->keeper) : (zmsg_t *)NULL;
    if (request == NULL)
        return false;
    *allowed = admits(all, request, name);
    zmsg_t *answer = verdict(request, name, *allowed);
    zmsg_destroy(&request);
    zmsg_send(&answer, all->keeper); /* a REP drops what nobody waits for */
    zmsg_destroy(&answer);
    return true;
}

unsigned wires_keep(struct wires *all)
{
    unsigned refused = 0;
    bool allowed = false;
    while (all->keeper != NULL && keep_one(all, &allowed))
        refused += !allowed;
    return refused;
}

static bool binds(enum wire_kind kind)
{
    return kind == WIRE_door || kind == WIRE_tap;
}

/* By what the kernel says of the other end (SO_PEERCRED), as the run directory's mode says, too;
 * root could become us anyway. A libzmq without it has the directory alone. */
static void only_our_user(struct wire *w)
{
    const uid_t users[] = {geteuid(), 0};
    for (int i = 0; i < 2; i++)
        zmq_setsockopt(w->socket, ZMQ_IPC_FILTER_UID, &users[i], sizeof(users[i]));
}

static bool secure(struct wires *all, struct wire *w, const char *endpoint)
{
    if (!endpoint_is_tcp(endpoint)) {
        if (binds(w->kind))
            only_our_user(w);
        return true;
    }
    if (!all->has_keys) {
        if (endpoint_is_loopback(endpoint) || all->allow_plain_tcp)
            return true;
        say(all, "%s: tcp beyond loopback needs --curve-dir (or --allow-plain-tcp, unencrypted)",
            endpoint);
        return false;
    }
    if (!binds(w->kind)) {
        if (all->keys.own_secret[0] == 0) {
            curve_say_missing(all->curve_dir, all->process, all->error, sizeof(all->error));
            return false;
        }
        set_text(w->socket, ZMQ_CURVE_SERVERKEY, all->keys.server_public);
        set_text(w->socket, ZMQ_CURVE_PUBLICKEY, all->keys.own_public);
        set_text(w->socket, ZMQ_CURVE_SECRETKEY, all->keys.own_secret);
        return true;
    }
    if (all->keys.server_secret[0] == 0) {
        say(all, "%s: no server.key_secret in %s", endpoint, all->curve_dir);
        return false;
    }
    set_int(w->socket, ZMQ_CURVE_SERVER, 1);
    set_text(w->socket, ZMQ_CURVE_SECRETKEY, all->keys.server_secret);
    set_text(w->socket, ZMQ_ZAP_DOMAIN, w->kind == WIRE_tap ? TAP_DOMAIN : "door");
    w->keyed = true;
    return true;
}

static void set_options(struct wire *w, const char *endpoint)
{
    int high_water = w->kind == WIRE_tap ? TAP_HIGH_WATER : HIGH_WATER;
    int64_t max = WIRE_FRAME_MAX;
    set_int(w->socket, ZMQ_SNDHWM, high_water);
    set_int(w->socket, ZMQ_RCVHWM, high_water);
    set_int(w->socket, ZMQ_LINGER, w->kind == WIRE_tap ? 0 : LINGER_MS);
    set_int(w->socket, ZMQ_RECONNECT_IVL, 50);
    set_int(w->socket, ZMQ_RECONNECT_IVL_MAX, 1000);
    set_int(w->socket, ZMQ_HANDSHAKE_IVL, 10000);
    if (strchr(endpoint, '[') != NULL)
        set_int(w->socket, ZMQ_IPV6, 1); /* names and 127.0.0.1 stay as they are written */
    must(zmq_setsockopt(w->socket, ZMQ_MAXMSGSIZE, &max, sizeof(max)) == 0);
    if (endpoint_is_tcp(endpoint)) {
        /* A cut cable is noticed below our own heartbeats, so that the connection is made anew. */
        set_int(w->socket, ZMQ_HEARTBEAT_IVL, 2000);
        set_int(w->socket, ZMQ_HEARTBEAT_TIMEOUT, 8000);
        set_int(w->socket, ZMQ_CONNECT_TIMEOUT, 3000);
        set_int(w->socket, ZMQ_BACKLOG, 512);
    }
    if (w->kind == WIRE_door)
        set_int(w->socket, ZMQ_ROUTER_MANDATORY, 1);
    if (w->kind == WIRE_link)
        set_int(w->socket, ZMQ_IMMEDIATE, 1);
    if (w->kind == WIRE_tap_reader)
        must(zmq_setsockopt(w->socket, ZMQ_SUBSCRIBE, "", 0) == 0);
}

static void *open_socket(struct wires *all, int type)
{
    void *socket = zmq_socket(all->context, type);
    if (socket == NULL)
        say(all, "cannot open a socket: %s", zmq_strerror(errno));
    return socket;
}

/* A name is free again only some time after its monitor was closed, so each has one of its own. */
static bool open_monitor(struct wires *all, struct wire *w)
{
    char name[64];
    snprintf(name, sizeof(name), "inproc://monitor-%u", ++all->monitors);
    int events = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                 ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_ACCEPT_FAILED;
    w->monitor = open_socket(all, ZMQ_PAIR);
    if (w->monitor == NULL)
        return false;
    set_int(w->monitor, ZMQ_LINGER, 0);
    set_int(w->monitor, ZMQ_RCVHWM, 0);
    if (zmq_socket_monitor(w->socket, name, events) == 0 && zmq_connect(w->monitor, name) == 0)
        return true;
    say(all, "cannot watch a socket: %s", zmq_strerror(errno));
    return false;
}

static bool attach(struct wires *all, struct wire *w, const char *endpoint)
{
    if (!binds(w->kind)) {
        if (zmq_connect(w->socket, endpoint) == 0)
            return true;
        say(all, "%s: cannot connect: %s", endpoint, zmq_strerror(errno));
        return false;
    }
    if (zmq_bind(w->socket, endpoint) != 0) {
        say(all, "%s: cannot listen: %s", endpoint,
            errno == EADDRINUSE ? "address in use" : zmq_strerror(errno));
        return false;
    }
    size_t size = sizeof(w->endpoint);
    must(zmq_getsockopt(w->socket, ZMQ_LAST_ENDPOINT, w->endpoint, &size) == 0);
    return true;
}

bool wire_open(struct wires *all, struct wire *w, enum wire_kind kind, const char *endpoint)
{
    static const int types[] = {ZMQ_ROUTER, ZMQ_DEALER, ZMQ_XPUB, ZMQ_SUB};
    *w = (struct wire){.kind = kind, .lock_fd = -1};
    all->in_use = false;
    if (strlen(endpoint) >= ENDPOINT_MAX) {
        say(all, "%.40s…: endpoint too long", endpoint);
        return false;
    }
    snprintf(w->endpoint, sizeof(w->endpoint), "%s", endpoint);
    if (binds(kind) && endpoint_is_ipc(endpoint)) {
        w->lock_fd = endpoint_claim(endpoint, &all->in_use, all->error, sizeof(all->error));
        if (w->lock_fd < 0)
            return false;
    }
    w->socket = open_socket(all, types[kind]);
    bool monitored = kind == WIRE_door || kind == WIRE_link, opened = w->socket != NULL;
    if (opened)
        set_options(w, endpoint);
    opened = opened && (!monitored || open_monitor(all, w));
    if (opened && secure(all, w, endpoint) && attach(all, w, endpoint))
        return true;
    wire_close(w);
    return false;
}

void wire_close(struct wire *w)
{
    if (w->monitor != NULL) {
        zmq_socket_monitor(w->socket, NULL, 0);
        zmq_close(w->monitor);
    }
    if (w->socket != NULL)
        zmq_close(w->socket);
    endpoint_release(w->endpoint, &w->lock_fd);
    w->socket = w->monitor = NULL;
}

enum wire_news wire_news(struct wire *w)
{
    unsigned char event[16];
    if (w->monitor == NULL)
        return WIRE_nothing;
    if (zmq_recv(w->monitor, event, sizeof(event), ZMQ_DONTWAIT) < 2)
        return WIRE_nothing;
    uint16_t number;
    memcpy(&number, event, sizeof(number));
    char address[ENDPOINT_MAX];
    zmq_recv(w->monitor, address, sizeof(address), ZMQ_DONTWAIT);
    switch (number) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return WIRE_connected;
    case ZMQ_EVENT_DISCONNECTED: return WIRE_disconnected;
    case ZMQ_EVENT_ACCEPT_FAILED: return WIRE_not_accepted;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return WIRE_refused;
    default: return WIRE_handshake_failed;
    }
}

int wire_send(struct wire *w, struct str to, struct str frame, bool more)
{
    bool first = !w->sending;
    w->ready = true;
    w->sending = false;
    if (first && to.len > 0 && zmq_send(w->socket, to.at, to.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
        return errno == EHOSTUNREACH ? EHOSTUNREACH : EAGAIN;
    if (zmq_send(w->socket, frame.at, frame.len, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0)
        return EAGAIN;
    w->sending = more;
    return 0;
}

bool wire_receive(struct wire *w, zmq_msg_t *from, zmq_msg_t *frame)
{
    bool first = !w->receiving;
    w->receiving = false;
    if (w->kind == WIRE_door && first) {
        if (zmq_msg_recv(from, w->socket, ZMQ_DONTWAIT) < 0)
            return false;
        if (!zmq_msg_more(from)) { /* an empty message */
            must(zmq_msg_close(frame) == 0 && zmq_msg_init(frame) == 0);
            return true;
        }
    }
    if (zmq_msg_recv(frame, w->socket, ZMQ_DONTWAIT) < 0)
        return false;
    w->receiving = zmq_msg_more(frame);
    return true;
}

static int events_of(struct wire *w)
{
    int events = 0;
    size_t size = sizeof(events);
    return zmq_getsockopt(w->socket, ZMQ_EVENTS, &events, &size) == 0 ? events : 0;
}

bool wire_readable(struct wire *w)
{
    w->ready = w->ready && (w->receiving || (events_of(w) & ZMQ_POLLIN) != 0);
    return w->ready;
}

void wire_refresh(struct wire *w)
{
    w->ready = true;
    events_of(w);
}
