/* bus: opens the sockets, moves frames in and out, and decides which frames a core may see.
 *
 * A frame that came in passes these gates in this order: it opens (version, envelope), its sender
 * said hello, it is the next of its link, it is short enough, its term is one that a lease can
 * hold, its number is a message that travels from such a sender to us, it is not from an older
 * generation or term, its body decodes to the last byte. What fails is refused with the gate's
 * name. What must stay true: only an opened frame of an up peer moves a link's numbering, and it
 * does so before anything else can refuse it, so that a refused frame is not a gap. */
#include "proto/bus/debug.h"
#include "proto/bus/inside.h"
#include "proto/bus/roles.h"

#include "proto/base/log_pods.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEARTBEAT_MS 500
#define WORKERS_MAX  1000
#define TERM_MAX     INT32_MAX /* one more than a lease's transitions, which the API has as int32 */
#define TOGETHER_MAX                                                                               \
    64                /* frames that travel as parts of one ZeroMQ message, to who reads no packs */
#define LOOK_EVERY 64 /* frames from busy links, before the others are looked at */

/* ---- open and close ---- */

static bool too_long(struct bus *bus, const char *run_dir)
{
    snprintf(bus->wires.error, sizeof(bus->wires.error),
             "run directory %.300s: path too long for a socket", run_dir);
    return false;
}

/* Opens the default door; a worker without a name takes the first that is free. */
static bool open_default_door(struct bus *bus, const struct bus_options *o)
{
    bool pick = o->process == WORKER && o->instance == NULL;
    for (int i = 0; i < (pick ? WORKERS_MAX : 1); i++) {
        char endpoint[ENDPOINT_MAX];
        if (pick)
            snprintf(bus->instance, sizeof(bus->instance), "worker-%d", i);
        if (!endpoint_in_dir(endpoint, o->run_dir, bus->instance, "sock"))
            return too_long(bus, o->run_dir);
        if (wire_open(&bus->wires, &bus->door, WIRE_door, endpoint))
            return true;
        if (!bus->wires.in_use)
            return false;
    }
    return false;
}

static bool open_door(struct bus *bus, const struct bus_options *o)
{
    if (o->no_door)
        return true;
    if (o->listen == NULL)
        bus->has_door = open_default_door(bus, o);
    else
        bus->has_door = wire_open(&bus->wires, &bus->door, WIRE_door, o->listen);
    return bus->has_door;
}

static bool open_tap(struct bus *bus, const struct bus_options *o)
{
    char endpoint[ENDPOINT_MAX];
    if (o->no_door && o->tap == NULL)
        return true;
    if (o->tap == NULL && !endpoint_in_dir(endpoint, o->run_dir, bus->instance, "tap"))
        return too_long(bus, o->run_dir);
    bus->has_tap = wire_open(&bus->wires, &bus->tap, WIRE_tap, o->tap ? o->tap : endpoint);
    return bus->has_tap;
}

static bool open_links(struct bus *bus, const struct bus_options *o)
{
    bus->links = memory_take_array(o->peer_count ? o->peer_count : 1, sizeof(*bus->links));
    for (size_t i = 0; i < o->peer_count; i++) {
        const struct bus_peer_option *option = &o->peers[i];
        char endpoint[ENDPOINT_MAX];
        if (option->endpoint == NULL &&
            !endpoint_in_dir(endpoint, o->run_dir, process_name(option->process), "sock"))
            return too_long(bus, o->run_dir);
        struct wire *wire = &bus->links[i];
        if (!wire_open(&bus->wires, wire, WIRE_link,
                       option->endpoint ? option->endpoint : endpoint))
            return false;
        bus->link_count++;
        peer_add(bus, wire, true)->expected = option->process;
    }
    return true;
}

/* A run directory is needed unless everything was given an address of its own. */
static bool needs_run_dir(const struct bus_options *o)
{
    bool needs = !o->no_door && (o->listen == NULL || o->tap == NULL);
    for (size_t i = 0; i < o->peer_count; i++)
        needs = needs || o->peers[i].endpoint == NULL;
    return needs;
}

static void name_instance(struct bus *bus, const struct bus_options *o)
{
    if (o->instance)
        snprintf(bus->instance, sizeof(bus->instance), "%s", o->instance);
    else if (o->process == WORKER || o->process == TOOL)
        snprintf(bus->instance, sizeof(bus->instance), "%s-%ld", process_name(o->process),
                 (long)getpid());
    else
        snprintf(bus->instance, sizeof(bus->instance), "%s", process_name(o->process));
}

/* Sockets, connections, and what else a process holds; a tool holds little else. Callers beyond a
 * few are refused by the door when there is no descriptor for them. */
static unsigned files_needed(const struct bus_options *o)
{
    return (o->no_door ? 24 : 80) + 4 * (unsigned)o->peer_count;
}

struct bus *bus_open(const struct bus_options *o, char *error, size_t room)
{
    must(o->peer_count <= BUS_PEERS_MAX && o->generation >= 0);
    must(o->run_dir != NULL || !needs_run_dir(o));
    struct bus *bus = memory_take(sizeof(*bus));
    bus->process = o->process;
    bus->serves = roles_served(o->process);
    bus->leaders = roles_leaders(o->process);
    bus->incarnation = (int64_t)(random_seed() & (INT64_MAX - 1)) + 1;
    bus->generation = o->generation > 0 ? o->generation : 1;
    bus->heartbeat = o->heartbeat.ns > 0 ? o->heartbeat : span_of_ms(HEARTBEAT_MS);
    bus->now = bus->started = moment_now();
    bus->door.lock_fd = bus->tap.lock_fd = bus->waiter = -1;
    zmq_msg_init(&bus->routing);
    zmq_msg_init(&bus->incoming);
    name_instance(bus, o);
    error[0] = 0;
    bool opened = process_allow_files(files_needed(o), error, room) &&
                  (!needs_run_dir(o) || endpoint_make_dir(o->run_dir, o->no_door, error, room)) &&
                  wires_open(&bus->wires, o->curve_dir, o->process, o->allow_plain_tcp) &&
                  open_door(bus, o) && open_tap(bus, o) && open_links(bus, o);
    if (!opened) {
        if (error[0] == 0)
            snprintf(error, room, "%s", bus->wires.error);
        bus_close(&bus);
        return NULL;
    }
    waiting_open(bus);
    return bus;
}

static void say_goodbye(struct bus *bus)
{
    struct message m = {.type = MSG_goodbye};
    for (size_t i = 0; i < bus->peer_count; i++)
        if (bus->peers[i]->state == PEER_up)
            peer_say(bus, bus->peers[i], &m);
}

void bus_close(struct bus **closing)
{
    struct bus *bus = *closing;
    if (bus == NULL)
        return;
    *closing = NULL;
    bus->now = moment_now();
    say_goodbye(bus);
    waiting_close(bus);
    zmq_msg_close(&bus->routing);
    zmq_msg_close(&bus->incoming);
    for (size_t i = 0; i < bus->link_count; i++)
        wire_close(&bus->links[i]);
    if (bus->has_door)
        wire_close(&bus->door);
    if (bus->has_tap)
        wire_close(&bus->tap);
    wires_close(&bus->wires);
    for (size_t i = 0; i < bus->peer_count; i++)
        memory_free(bus->peers[i]);
    memory_free(bus->peers);
    memory_free(bus->links);
    memory_free(bus->events);
    buffer_free(&bus->frame);
    buffer_free(&bus->body);
    buffer_free(&bus->mirror);
    buffer_free(&bus->pack);
    arena_free(&bus->arena);
    memory_free(bus);
}

/* ---- out ---- */

static void drop(struct bus *bus, enum drop why, enum message_type type, struct address to)
{
    static const char *const names[] = {
#define DROP(name) #name,
        DROPS
#undef DROP
    };
    bus->counts.dropped[why]++;
    struct log_limit *limit = &bus->counts.dropped_log[why];
    if (why == DROPPED_no_peer) /* for whoever is there, and nobody is: as at every start */
        log_debug("nobody to send to|message=%s to=%s", frame_type_name(type),
                  process_name(to.process));
    else if (log_limited(limit, bus->now))
        log_warn("message not sent|reason=%s message=%s to=%s peer=%u suppressed=%u", names[why],
                 frame_type_name(type), process_name(to.process), to.peer,
                 limit->suppressed_before);
}

static int send_to(struct bus *bus, struct peer *peer, const struct outgoing *head, struct str body)
{
    if (log_pods_count() > 0)
        debug_said(peer, head, body);
    int failed = peer_transmit(bus, peer, head, body);
    if (failed == EAGAIN && log_limited(&bus->counts.dropped_log[DROPPED_full], bus->now))
        log_warn("link full, message dropped|message=%s to=%s name=%s", frame_type_name(head->type),
                 process_name(peer->process), peer->instance);
    return failed;
}

static bool fits(const struct outgoing *head)
{
    return head->body_len <= BUS_FRAME_MAX - 256;
}

static bool meant_for(const struct outgoing *head, uint32_t number, const struct peer *peer)
{
    return fits(head) && !head->handed &&
           (head->to.peer ? head->to.peer == number : head->to.process == peer->process);
}

/* All that is for one peer, in order; so many frames go together. */
static void send_all_to(struct bus *bus, struct peer *peer, struct outbox *out)
{
    struct outgoing *last = NULL; /* not sent yet, because it has to know whether more follows */
    uint32_t number = peer->number;
    size_t last_at = 0;
    unsigned together = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct outgoing *head = &out->at[i];
        if (!meant_for(head, number, peer) || peer->number == 0)
            continue;
        head->tried = true;
        /* Which kind a caller is it says itself: that must not be able to end us. */
        if (!(message_info[head->type].to & peer->process)) {
            drop(bus, DROPPED_misdirected, head->type, head->to);
            continue;
        }
        if (last != NULL) {
            last->more = ++together % TOGETHER_MAX != 0 || peer->packs;
            send_to(bus, peer, last, outbox_body(out, last_at));
        }
        last = head;
        last_at = i;
    }
    if (last == NULL)
        return;
    last->more = false;
    if (peer->number != 0)
        send_to(bus, peer, last, outbox_body(out, last_at));
    else
        drop(bus, DROPPED_disconnected, last->type, last->to);
    must(bus->packed_count == 0);
}

void bus_send(struct bus *bus, struct outbox *out)
{
    for (size_t i = 0; i < out->count; i++) {
        must(message_info[out->at[i].type].from & bus->process || out->at[i].handed);
        must(out->at[i].type != MSG_peer_up && out->at[i].type != MSG_peer_down);
        out->at[i].tried = false;
    }
    for (size_t i = 0; out->count > 0 && i < bus->peer_count; i++)
        if (bus->peers[i]->number != 0)
            send_all_to(bus, bus->peers[i], out);
    for (size_t i = 0; i < out->count; i++) {
        const struct outgoing *head = &out->at[i];
        if (head->handed)
            bus_mirror_handed(bus, head, outbox_body(out, i));
        else if (!fits(head))
            drop(bus, DROPPED_oversized, head->type, head->to);
        else if (!head->tried)
            drop(bus, head->to.peer ? DROPPED_disconnected : DROPPED_no_peer, head->type, head->to);
    }
    outbox_reset(out);
    peers_sweep(bus);
}

/* ---- in ---- */

static void answer_status(struct bus *bus, struct peer *peer)
{
    struct arena arena = {0};
    struct message m = {.type = MSG_status};
    report_fill(bus, &m.status, &arena);
    peer_say(bus, peer, &m);
    arena_free(&arena);
}

static void answer_metrics(struct bus *bus, struct peer *peer, const struct metrics_request *asked)
{
    struct arena arena = {0};
    struct message m = {.type = MSG_metrics, .metrics = {.id = asked->id}};
    report_metrics(bus, asked->checks_only, &m.metrics, &arena);
    peer_say(bus, peer, &m);
    arena_free(&arena);
}

/* The next of its link? A hello starts the numbering and is not checked. */
static enum refusal check_order(struct bus *bus, struct peer *peer, const struct envelope *envelope)
{
    if (envelope->incarnation != peer->incarnation) {
        handshake_again(bus, peer, DOWN_restarted);
        return REFUSED_other_life;
    }
    if (envelope->link != peer->received + 1) {
        handshake_again(bus, peer, DOWN_gap);
        return REFUSED_gap;
    }
    peer->received++;
    return REFUSED_nothing;
}

static enum refusal check_kind(const struct bus *bus, const struct peer *peer,
                               const struct envelope *envelope)
{
    if (frame_record(envelope->type) == NULL)
        return REFUSED_unknown_message;
    if (envelope->type == MSG_peer_up || envelope->type == MSG_peer_down)
        return REFUSED_local_only;
    const struct message_info *info = &message_info[envelope->type];
    if (!(info->from & peer->process) || !(info->to & bus->process))
        return REFUSED_misdirected;
    if (info->fence == FENCED && envelope->generation < bus->generation)
        return REFUSED_stale_generation;
    /* Who leads us is held to its own word alone: another leader's is not its own. */
    int64_t least = peer->process & bus->leaders ? peer->term : bus->term;
    if (info->fence == FENCED && (envelope->term < least || envelope->term < bus->own_term))
        return REFUSED_stale_term;
    return REFUSED_nothing;
}

static void adopt_term(struct bus *bus, struct peer *peer, int64_t term)
{
    if (!(peer->process & bus->leaders) || term <= peer->term)
        return;
    peer->term = term;
    if (term <= bus->term)
        return;
    log_info("term learned|term=%lld before=%lld from=%s", (long long)term, (long long)bus->term,
             peer->instance);
    bus->term = term;
}

/* What the bus answers itself. True when the core is not to see it. */
static bool handle_own(struct bus *bus, struct peer *peer, enum message_type type)
{
    if (type == MSG_goodbye)
        peer_down(bus, peer, DOWN_goodbye);
    if (type == MSG_status_request)
        answer_status(bus, peer);
    if (type == MSG_metrics_request)
        answer_metrics(bus, peer, &bus->message.metrics_request);
    if (type == MSG_verbosity)
        log_set_verbosity(bus->message.verbosity.level);
    bool debugs = type == MSG_debug_pod && bus->process != TOOL;
    if (debugs && peer->process == TOOL)
        debug_take(bus, peer, &bus->message.debug_pod);
    return debugs || type == MSG_verbosity || type == MSG_heartbeat || type == MSG_goodbye ||
           type == MSG_status_request || type == MSG_metrics_request;
}

static enum refusal take_hello(struct bus *bus, struct peer *peer, const struct envelope *envelope,
                               struct byte_cursor body)
{
    enum refusal why = frame_decode(envelope, body, &bus->message, &bus->arena);
    if (why != REFUSED_nothing)
        return why;
    if (envelope->incarnation != bus->message.hello.incarnation)
        return REFUSED_malformed_hello;
    if (envelope->term > TERM_MAX)
        return REFUSED_wild_term;
    peer->reported = envelope->term;
    why = handshake_take(bus, peer, &bus->message.hello);
    if (why == REFUSED_nothing && peer->state == PEER_up)
        adopt_term(bus, peer, envelope->term);
    return why;
}

/* All gates behind the envelope. *deliver tells whether the core gets bus->message. */
static enum refusal admit(struct bus *bus, struct peer *peer, const struct envelope *envelope,
                          struct byte_cursor body, bool *deliver)
{
    size_t len = (size_t)(body.end - body.at);
    *deliver = false;
    if (envelope->type == MSG_hello)
        return len > BUS_FRAME_MAX ? REFUSED_oversized : take_hello(bus, peer, envelope, body);
    if (peer->state != PEER_up) {
        if (!peer->connecting)
            handshake_ask(bus, peer);
        return REFUSED_before_hello;
    }
    peer->heard_at = bus->now;
    enum refusal why = check_order(bus, peer, envelope);
    if (why == REFUSED_nothing && len > BUS_FRAME_MAX)
        why = REFUSED_oversized;
    if (why == REFUSED_nothing && envelope->term > TERM_MAX)
        why = REFUSED_wild_term;
    if (why == REFUSED_nothing)
        why = check_kind(bus, peer, envelope);
    if (why == REFUSED_nothing)
        why = frame_decode(envelope, body, &bus->message, &bus->arena);
    if (why != REFUSED_nothing)
        return why;
    adopt_term(bus, peer, envelope->term);
    if (log_pods_count() > 0 && bus->process != TOOL)
        debug_heard(peer, &bus->message);
    *deliver = !handle_own(bus, peer, bus->message.type);
    return why;
}

/* The peer a frame came from; a caller that we did not know gets an entry, if there is room and its
 * frame could be opened. */
static struct peer *sender_of(struct bus *bus, struct wire *wire, bool opened)
{
    if (wire != &bus->door)
        return peer_by_wire(bus, wire);
    struct str routing = {zmq_msg_data(&bus->routing), (uint32_t)zmq_msg_size(&bus->routing)};
    struct peer *peer = peer_by_routing(bus, routing);
    if (peer != NULL || !opened || routing.len > ROUTING_MAX ||
        bus->peer_count - bus->link_count >= BUS_CALLERS_MAX)
        return peer;
    peer = peer_add(bus, wire, false);
    memcpy(peer->routing, routing.at, routing.len);
    peer->routing_len = routing.len;
    admission_know(bus, peer);
    return peer;
}

static void fill_delivery(struct bus *bus, const struct peer *peer, const struct envelope *envelope,
                          struct delivery *in)
{
    *in = (struct delivery){.from = {peer->process, peer->number},
                            .instance = str_of(peer->instance),
                            .term = envelope->term,
                            .generation = envelope->generation,
                            .epoch = envelope->epoch,
                            .sequence = envelope->sequence,
                            .part = envelope->part,
                            .sent_us = envelope->sent_us,
                            .received_us = moment_wall_us(),
                            .message = &bus->message,
                            .kept = frame_is_kept(envelope->type) ? &bus->arena : NULL};
}

/* True when the frame, which lies in bus->incoming, is for the core. */
static bool take_frame(struct bus *bus, struct wire *wire, struct str frame, struct delivery *in)
{
    struct envelope envelope = {0};
    struct byte_cursor body;
    bool deliver = false;
    enum refusal why = frame_open(frame, &envelope, &body);
    struct peer *peer = sender_of(bus, wire, why == REFUSED_nothing);
    if (frame.len <= BUS_FRAME_MAX)
        bus_mirror(bus, peer, false, frame);
    if (why == REFUSED_nothing && peer == NULL)
        why = zmq_msg_size(&bus->routing) > ROUTING_MAX ? REFUSED_long_routing
                                                        : REFUSED_too_many_peers;
    if (why == REFUSED_nothing)
        why = admit(bus, peer, &envelope, body, &deliver);
    if (why != REFUSED_nothing) {
        bus_refuse(bus, why, peer, envelope.type, frame.len);
        /* The sender counts on it having arrived: let both start over, in our term. */
        if (why == REFUSED_stale_term && peer->state == PEER_up)
            handshake_again(bus, peer, DOWN_gap);
        return false;
    }
    must(frame_record(envelope.type) != NULL);
    bus->counts.received[envelope.type].messages++;
    bus->counts.received[envelope.type].bytes += frame.len;
    if (deliver)
        fill_delivery(bus, peer, &envelope, in);
    return deliver;
}

/* The next frame of the pack that came in last. One that breaks off shows as a gap. */
static bool take_unread(struct bus *bus, struct delivery *in)
{
    struct str frame;
    if (bus->unread_taken++ == PACK_FRAMES_MAX || !pack_next(&bus->unread, &frame)) {
        bus_refuse(bus, REFUSED_malformed_pack, sender_of(bus, bus->unread_from, false), 0,
                   bus->unread.len);
        bus->unread = (struct str){NULL, 0};
        return false;
    }
    return take_frame(bus, bus->unread_from, frame, in);
}

/* bus->incoming came in: one frame, or several. */
static bool take_incoming(struct bus *bus, struct wire *wire, struct delivery *in)
{
    struct str bytes = {zmq_msg_data(&bus->incoming), (uint32_t)zmq_msg_size(&bus->incoming)};
    if (!is_pack(bytes) || bytes.len > BUS_FRAME_MAX)
        return take_frame(bus, wire, bytes, in);
    bus->unread = (struct str){bytes.at + 1, bytes.len - 1};
    bus->unread_from = wire;
    bus->unread_taken = 0;
    return false; /* its frames are taken in turn */
}

static bool next_event(struct bus *bus, struct delivery *in)
{
    if (bus->event_next == bus->event_count)
        return false;
    struct event *event = &bus->events[bus->event_next++];
    struct str instance = str_of(event->instance);
    if (event->message.type == MSG_peer_up)
        event->message.peer_up.instance = instance;
    else
        event->message.peer_down.instance = instance;
    *in = (struct delivery){.from = event->from,
                            .instance = instance,
                            .term = bus->term,
                            .generation = bus->generation,
                            .message = &event->message};
    return true;
}

static struct wire *wire_at(struct bus *bus, size_t i)
{
    return i < bus->link_count ? &bus->links[i] : &bus->door;
}

/* True when a wire may have a frame. */
static bool next_ready(struct bus *bus, struct wire **wire)
{
    size_t wires = bus->link_count + bus->has_door;
    if (bus->since_look >= LOOK_EVERY)
        waiting_look(bus);
    for (size_t i = 0; i < wires; i++) {
        *wire = wire_at(bus, bus->turn++ % wires);
        if ((*wire)->ready)
            return true;
    }
    return false;
}

bool bus_receive(struct bus *bus, struct moment now, struct delivery *in)
{
    struct wire *wire;
    bus->now = now;
    /* One frame from each in turn: a busy peer does not shut out the others. */
    for (;;) {
        if (next_event(bus, in))
            return true;
        peers_sweep(bus);
        if (bus->unread.len > 0) {
            bus->since_look++;
            if (take_unread(bus, in))
                return true;
            continue;
        }
        if (!next_ready(bus, &wire)) {
            if (!bus->looked && waiting_look(bus))
                continue;
            bus->looked = false;
            return next_event(bus, in);
        }
        wire->ready = wire_receive(wire, &bus->routing, &bus->incoming);
        bus->since_look++;
        if (wire->ready && take_incoming(bus, wire, in)) {
            must(bus->event_next == bus->event_count); /* what came before was told before */
            return true;
        }
    }
}

/* ---- waiting and time ---- */

static void read_tap_requests(struct bus *bus)
{
    zmq_msg_t unused;
    if (!bus->has_tap || !bus->tap.ready)
        return;
    zmq_msg_init(&unused);
    /* The socket passes on the first subscription and the last cancellation only. */
    while (wire_receive(&bus->tap, NULL, &unused))
        if (zmq_msg_size(&unused) > 0)
            bus->mirrored = ((const char *)zmq_msg_data(&unused))[0] == 1;
    zmq_msg_close(&unused);
    bus->tap.ready = false;
}

/* Everything but frames that waits in a socket. */
static void read_news(struct bus *bus)
{
    read_tap_requests(bus);
    handshake_news(bus);
    if (!bus->wires.keeper_ready)
        return;
    unsigned refused = wires_keep(&bus->wires);
    bus->wires.keeper_ready = false;
    bus->counts.handshakes_failed += refused;
    if (refused > 0 && log_limited(&bus->counts.handshake_log, bus->now))
        log_warn("a client's CURVE key is not one of ours|endpoint=%s", bus->door.endpoint);
}

struct moment bus_tick(struct bus *bus, struct moment now)
{
    bus->now = now;
    read_news(bus);
    log_pods_expire(now);
    struct moment next = handshake_tick(bus, now);
    return bus->event_next < bus->event_count ? now : next;
}

/* ---- settings and questions ---- */

void bus_set_term(struct bus *bus, int64_t term)
{
    if (term > bus->own_term)
        bus->own_term = term;
    if (term > bus->term)
        bus->term = term;
}

int64_t bus_term(const struct bus *bus)
{
    return bus->term;
}

void bus_set_generation(struct bus *bus, int64_t generation)
{
    must(generation >= bus->generation);
    bus->generation = generation;
}

void bus_set_status(struct bus *bus, void (*lines)(void *state, struct buffer *key_value_lines),
                    void *state)
{
    bus->lines = lines;
    bus->lines_state = state;
}

void bus_handled(struct bus *bus, enum message_type type, struct span took)
{
    must(type > MSG_none && type < MSG_COUNT);
    int64_t us = took.ns / 1000;
    bus->counts.handled_us[type] += us;
    if (us > bus->counts.slowest_us[type])
        bus->counts.slowest_us[type] = us;
}

const char *bus_endpoint(const struct bus *bus)
{
    return bus->has_door ? bus->door.endpoint : "";
}

const char *bus_endpoint_of(const struct bus *bus, struct address address)
{
    const struct peer *peer = peer_by_number(bus, address.peer);
    return peer && peer->connecting ? peer->wire->endpoint : NULL;
}
