/* peers: the table of peers, the numbering of what is sent to them, and the events that tell a core
 * who came and went. What must stay true: a peer has a number exactly while the core believes it to
 * be up; every frame to an up peer takes the next link number, also one that could not be sent, so
 * that the other side can see the loss; what is in the pack is for one peer, which is up, and more
 * of it is promised. */
#include "proto/bus/inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A pack is sent when it is so long; longer frames go alone, as copying them costs more. */
#define PACK_BYTES     (48u << 10)
#define PACK_FRAME_MAX (16u << 10)

struct peer *peer_add(struct bus *bus, struct wire *wire, bool connecting)
{
    if (bus->peer_count == bus->peer_room) {
        bus->peer_room = bus->peer_room ? bus->peer_room * 2 : 8;
        bus->peers = memory_resize(bus->peers, bus->peer_room * sizeof(struct peer *));
    }
    struct peer *peer = memory_take(sizeof(*peer));
    peer->wire = wire;
    peer->connecting = connecting;
    peer->session = connecting ? 1 : 0;
    peer->heard_at = bus->now;
    if (connecting)
        handshake_expect(bus, peer, REOPEN_AFTER);
    bus->peers[bus->peer_count++] = peer;
    return peer;
}

struct peer *peer_by_routing(struct bus *bus, struct str routing)
{
    for (size_t i = 0; i < bus->peer_count; i++) {
        struct peer *peer = bus->peers[i];
        if (!peer->connecting && peer->state != PEER_gone &&
            str_equal((struct str){peer->routing, peer->routing_len}, routing))
            return peer;
    }
    return NULL;
}

struct peer *peer_by_wire(struct bus *bus, const struct wire *wire)
{
    for (size_t i = 0; i < bus->peer_count; i++)
        if (bus->peers[i]->connecting && bus->peers[i]->wire == wire)
            return bus->peers[i];
    return NULL;
}

struct peer *peer_by_number(const struct bus *bus, uint32_t number)
{
    for (size_t i = 0; i < bus->peer_count; i++)
        if (bus->peers[i]->number == number && number != 0)
            return bus->peers[i];
    return NULL;
}

static void mirror(struct bus *bus, struct tapped *tapped)
{
    tapped->at_us = moment_wall_us();
    tapped->process = str_of(process_name(bus->process));
    tapped->instance = str_of(bus->instance);
    tapped->tap_sequence = bus->tap_sequence;
    buffer_reset(&bus->mirror);
    codec_encode(&tapped_record, tapped, &bus->mirror);
    wire_send(&bus->tap, (struct str){NULL, 0}, buffer_str(&bus->mirror), false);
}

void bus_mirror(struct bus *bus, const struct peer *peer, bool sent, struct str frame)
{
    bus->tap_sequence++;
    if (!bus->mirrored)
        return;
    bool known = peer && peer->process != 0;
    struct tapped tapped = {.sent = sent,
                            .peer_process = str_of(known ? process_name(peer->process) : ""),
                            .peer_instance = str_of(known ? peer->instance : ""),
                            .frame = frame};
    mirror(bus, &tapped);
}

void bus_mirror_handed(struct bus *bus, const struct outgoing *head, struct str body)
{
    bool sent = head->to.process != bus->process;
    struct traffic *count = sent ? bus->counts.sent : bus->counts.received;
    count[head->type].messages++;
    count[head->type].bytes += body.len;
    bus->tap_sequence++;
    if (!bus->mirrored)
        return;
    struct envelope envelope = {.type = head->type,
                                .term = bus->term,
                                .generation = bus->generation,
                                .sent_us = moment_wall_us(),
                                .incarnation = bus->incarnation};
    frame_build(&bus->frame, &envelope, body);
    struct tapped tapped = {.sent = sent,
                            .peer_process = STR_LITERAL("worker"),
                            .peer_instance = STR_LITERAL(OWN_WORKER),
                            .frame = buffer_str(&bus->frame)};
    mirror(bus, &tapped);
}

static void count_sent(struct bus *bus, const struct peer *peer, enum message_type type,
                       struct str frame)
{
    bus->counts.sent[type].messages++;
    bus->counts.sent[type].bytes += frame.len;
    bus_mirror(bus, peer, true, frame);
}

/* lost: how many messages that cannot be said again. */
static int put_on_wire(struct bus *bus, struct peer *peer, struct str bytes, bool more,
                       unsigned lost)
{
    struct str to = {peer->routing, peer->routing_len};
    int failed = wire_send(peer->wire, to, bytes, more);
    if (failed == EHOSTUNREACH) {
        peer_down(bus, peer, DOWN_disconnected);
        bus->counts.dropped[DROPPED_disconnected] += lost > 0 ? lost : 1;
    } else if (failed) {
        bus->counts.dropped[DROPPED_full] += lost;
    } else {
        peer->sent_at = bus->now;
    }
    return failed == 0 || failed == EHOSTUNREACH ? failed : EAGAIN;
}

static int send_pack(struct bus *bus, struct peer *peer)
{
    struct str rest = buffer_str(&bus->pack), frame;
    int failed = put_on_wire(bus, peer, rest, false, bus->packed_count);
    rest = (struct str){rest.at + 1, rest.len - 1};
    for (unsigned i = 0; failed == 0 && i < bus->packed_count; i++) {
        must(pack_next(&rest, &frame) && frame.len == bus->packed[i].bytes);
        count_sent(bus, peer, bus->packed[i].type, frame);
    }
    buffer_reset(&bus->pack);
    bus->packed_count = 0;
    return failed;
}

/* The frame goes with others, now or with a later one. */
static int add_to_pack(struct bus *bus, struct peer *peer, const struct outgoing *head,
                       struct str frame)
{
    pack_add(&bus->pack, frame);
    bus->packed[bus->packed_count++] = (struct packed){head->type, frame.len};
    bool full = bus->packed_count == PACK_FRAMES_MAX || bus->pack.len >= PACK_BYTES;
    return head->more && !full ? 0 : send_pack(bus, peer);
}

static int send_alone(struct bus *bus, struct peer *peer, const struct outgoing *head,
                      struct str frame)
{
    /* A hello is said again; all else is a loss. */
    int failed = put_on_wire(bus, peer, frame, head->more && !peer->packs, head->type != MSG_hello);
    if (failed == 0)
        count_sent(bus, peer, head->type, frame);
    return failed;
}

int peer_transmit(struct bus *bus, struct peer *peer, const struct outgoing *head, struct str body)
{
    /* Asking for a hello is no part of the numbering: the other side does not know us yet. */
    int64_t link = peer->state == PEER_up || peer->connecting ? ++peer->sent : 0;
    struct envelope envelope = {.type = head->type,
                                .link = link,
                                .term = bus->term,
                                .generation = bus->generation,
                                .epoch = head->epoch,
                                .sequence = head->sequence,
                                .part = head->part,
                                .sent_us = moment_wall_us(),
                                .incarnation = bus->incarnation};
    frame_build(&bus->frame, &envelope, body);
    struct str frame = buffer_str(&bus->frame);
    bool begun = bus->packed_count > 0;
    if (peer->packs && frame.len <= PACK_FRAME_MAX && (begun || head->more))
        return add_to_pack(bus, peer, head, frame);
    int failed = begun ? send_pack(bus, peer) : 0;
    return failed == EHOSTUNREACH ? failed : send_alone(bus, peer, head, frame);
}

int peer_say(struct bus *bus, struct peer *peer, const struct message *m)
{
    buffer_reset(&bus->body);
    codec_encode(message_info[m->type].record, message_body_const(m), &bus->body);
    struct outgoing head = {.type = m->type};
    return peer_transmit(bus, peer, &head, buffer_str(&bus->body));
}

/* Tools ask and are answered by the bus itself: cores never see them, only tools see each other. */
static struct event *event_add(struct bus *bus, const struct peer *peer, enum message_type type)
{
    static struct event unseen;
    if (peer->process == TOOL && bus->process != TOOL)
        return &unseen;
    if (bus->event_next == bus->event_count)
        bus->event_next = bus->event_count = 0;
    if (bus->event_count == bus->event_room) {
        bus->event_room = bus->event_room ? bus->event_room * 2 : 16;
        bus->events = memory_resize(bus->events, bus->event_room * sizeof(*bus->events));
    }
    struct event *event = &bus->events[bus->event_count++];
    *event = (struct event){.message.type = type, .from = {peer->process, peer->number}};
    memcpy(event->instance, peer->instance, sizeof(event->instance));
    return event;
}

void peer_up(struct bus *bus, struct peer *peer)
{
    must(peer->number == 0 && peer->process != 0);
    if (++bus->numbers == 0)
        bus->numbers = 1;
    peer->number = bus->numbers;
    peer->state = PEER_up;
    peer->up_at = peer->heard_at = bus->now;
    struct event *event = event_add(bus, peer, MSG_peer_up);
    event->message.peer_up.process = str_of(process_name(peer->process));
    event->message.peer_up.incarnation = peer->incarnation;
    event->message.peer_up.term = peer->reported;
    if (peer->process == TOOL)
        log_debug("peer up|kind=%s name=%s", process_name(peer->process), peer->instance);
    else
        log_info("peer up|kind=%s name=%s", process_name(peer->process), peer->instance);
}

/* What it said of the term ends with it, so that nobody's word outlasts him. */
static void forget_term(struct bus *bus, struct peer *peer)
{
    int64_t said = peer->term;
    peer->term = 0;
    if (said == 0 || said < bus->term)
        return;
    bus->term = bus->own_term;
    for (size_t i = 0; i < bus->peer_count; i++)
        if (bus->peers[i]->term > bus->term)
            bus->term = bus->peers[i]->term;
}

void peer_down(struct bus *bus, struct peer *peer, enum down_reason reason)
{
    if (peer->number != 0) {
        handshake_expect(bus, peer, REOPEN_AFTER);
        struct event *event = event_add(bus, peer, MSG_peer_down);
        event->message.peer_down.process = str_of(process_name(peer->process));
        event->message.peer_down.reason = reason;
        if (peer->process != TOOL)
            log_info("peer down|kind=%s name=%s reason=%s", process_name(peer->process),
                     peer->instance, words_text(&down_reason_words, reason).at);
    }
    peer->number = 0;
    peer->sent = peer->received = 0;
    forget_term(bus, peer);
    peer->state = peer->connecting ? PEER_greeting : PEER_gone;
    bus->any_gone = bus->any_gone || !peer->connecting;
    if (peer->connecting) {
        peer->session++;
        peer->greetings = 0;
        peer->greeted_at = (struct moment){0};
    }
}

void peers_sweep(struct bus *bus)
{
    size_t kept = 0;
    if (!bus->any_gone)
        return;
    bus->any_gone = false;
    for (size_t i = 0; i < bus->peer_count; i++) {
        if (bus->peers[i]->state == PEER_gone)
            memory_free(bus->peers[i]);
        else
            bus->peers[kept++] = bus->peers[i];
    }
    bus->peer_count = kept;
}

void bus_refuse(struct bus *bus, enum refusal why, const struct peer *peer, int64_t type,
                size_t bytes)
{
    bus->counts.refused[why]++;
    struct log_limit *limit = &bus->counts.refused_log[why];
    /* What a restarted process still gets from before is nobody's fault; admission.c logs its own.
     */
    if (why == REFUSED_before_hello || why == REFUSED_not_served || why == REFUSED_wrong_key ||
        why == REFUSED_place_taken || !log_limited(limit, bus->now))
        return;
    bool known = peer && peer->process != 0;
    log_warn("frame refused: %s|reason=%s message=%s number=%lld bytes=%zu peer=%s name=\"%s\" "
             "term=%lld suppressed=%u",
             refusal_text(why), refusal_name(why), frame_type_name(type), (long long)type, bytes,
             known ? process_name(peer->process) : "unknown", known ? peer->instance : "",
             (long long)bus->term, limit->suppressed_before);
}
