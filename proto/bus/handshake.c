/* handshake: how two processes come to know each other and start numbering, and how they find out
 * that they lost each other.
 *
 * The connecting side starts a session: hello is frame 1 and carries the session's number; the door
 * answers with its own hello, frame 1 too, with the same session. Whatever goes wrong (a gap, a
 * silence, another life of the other side) ends in a new session. The door cannot start one: it
 * asks for it with a hello of session 0. A hello said twice has the same session and changes
 * nothing; an answer to an older session is ignored. So lost, doubled and late hellos all end with
 * both sides in the newest session.
 *
 * A link is opened anew, by its name, when nobody of whom it is for has been heard on it for long:
 * ZeroMQ never connects again after a handshake that failed for good, and keeps a connection to
 * somebody else, who got the address, as long as that one lives.
 *
 * What must stay true: no frame of one session is taken for one of another, because a ROUTER gives
 * every connection a name of its own, frames on one connection stay in order, and the hello that
 * starts a session stands before all of its frames. */
#include "proto/bus/inside.h"
#include "proto/bus/options.h"

#include "proto/base/must.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define GREETINGS_A_SESSION 20 /* hellos without an answer before another session is tried */

static struct span times(struct span s, int n)
{
    return (struct span){s.ns * n};
}

void handshake_expect(struct bus *bus, struct peer *peer, int heartbeats)
{
    peer->reopen_at = moment_after(bus->now, times(bus->heartbeat, heartbeats));
}

static void reopen(struct bus *bus, struct peer *peer)
{
    must(peer->connecting && peer->state == PEER_greeting);
    handshake_expect(bus, peer, REOPEN_AFTER);
    if (!waiting_reopen(bus, peer->wire)) {
        log_debug("link not opened anew|endpoint=%s error=\"%s\"", peer->wire->endpoint,
                  bus->wires.error);
        return;
    }
    log_debug("link opened anew|endpoint=%s", peer->wire->endpoint);
    peer->session++;
    peer->greetings = 0;
    peer->greeted_at = (struct moment){0};
}

/* A hello is repeated quickly: until it is answered nothing else can happen on the link. */
static struct span greeting_interval(const struct bus *bus)
{
    return (struct span){bus->heartbeat.ns / 5};
}

/* refused: with session 0 why a caller may not come in, else NULL. */
static int say_hello(struct bus *bus, struct peer *peer, int64_t session, const char *refused)
{
    struct message m = {.type = MSG_hello,
                        .hello = {.process = str_of(process_name(bus->process)),
                                  .instance = str_of(bus->instance),
                                  .incarnation = bus->incarnation,
                                  .pid = getpid(),
                                  .version = STR_LITERAL(OPTIONS_VERSION),
                                  .session = session,
                                  .packs = true,
                                  .refused = str_of(refused != NULL ? refused : "")}};
    return peer_say(bus, peer, &m);
}

void handshake(struct bus *bus, struct peer *peer)
{
    must(peer->connecting && peer->state == PEER_greeting);
    struct moment due = moment_after(peer->greeted_at, greeting_interval(bus));
    if (peer->greeted_at.ns != 0 && !moment_reached(bus->now, due))
        return;
    peer->greeted_at = bus->now;
    peer->sent = 0;
    wire_refresh(peer->wire);
    if (say_hello(bus, peer, peer->session, NULL) != 0)
        return; /* not connected yet */
    if (++peer->greetings >= GREETINGS_A_SESSION) {
        peer->session++;
        peer->greetings = 0;
    }
}

void handshake_ask(struct bus *bus, struct peer *peer)
{
    must(!peer->connecting);
    if (peer->state != PEER_greeting)
        return;
    struct moment due = moment_after(peer->greeted_at, bus->heartbeat);
    if (peer->greeted_at.ns != 0 && !moment_reached(bus->now, due))
        return;
    peer->greeted_at = bus->now;
    say_hello(bus, peer, 0, NULL);
}

void handshake_again(struct bus *bus, struct peer *peer, enum down_reason reason)
{
    peer_down(bus, peer, reason);
    if (peer->connecting) {
        handshake(bus, peer);
    } else {
        peer->state = PEER_greeting; /* the connection stands: keep it and ask */
        peer->session = 0;
        peer->greeted_at = (struct moment){0};
        handshake_ask(bus, peer);
    }
}

/* The kind must be exactly one and the name fit to be printed. */
static bool hello_is_usable(const struct hello *hello)
{
    if (process_of(hello->process) == 0 || hello->instance.len == 0 ||
        hello->instance.len > INSTANCE_MAX || hello->incarnation == 0 || hello->session < 0)
        return false;
    for (uint32_t i = 0; i < hello->instance.len; i++)
        if (hello->instance.at[i] <= ' ' || hello->instance.at[i] > '~' ||
            hello->instance.at[i] == '"' || hello->instance.at[i] == '/')
            return false;
    return true;
}

static bool is_printable(struct str text)
{
    for (uint32_t i = 0; i < text.len; i++)
        if (text.at[i] < ' ' || text.at[i] > '~' || text.at[i] == '"')
            return false;
    return text.len <= 200;
}

/* Processes of two versions may share a bus, during an upgrade; whoever wonders why they decide
 * otherwise finds it here. Tools and plugins have versions of their own. */
static void note_version(const struct bus *bus, const struct peer *peer, const struct hello *hello)
{
    enum process kind = process_of(hello->process);
    if (peer->incarnation == hello->incarnation || ((kind | bus->process) & (TOOL | PLUGIN)) != 0 ||
        str_is(hello->version, OPTIONS_VERSION) || !is_printable(hello->version))
        return;
    log_warn("another version on the bus|kind=%s name=%.*s version=\"%.*s\" ours=" OPTIONS_VERSION,
             process_name(kind), STR_ARG(hello->instance), STR_ARG(hello->version));
}

static void learn(const struct bus *bus, struct peer *peer, const struct hello *hello)
{
    note_version(bus, peer, hello);
    peer->process = process_of(hello->process);
    memcpy(peer->instance, hello->instance.at, hello->instance.len);
    peer->instance[hello->instance.len] = 0;
    peer->incarnation = hello->incarnation;
    peer->session = hello->session;
    peer->packs = hello->packs;
    peer->received = 1;
    peer->turned_away = false;
}

/* The same process on an older connection, or an earlier life of it whose connection is gone. Two
 * living processes of one name are both served: that they are two is for the log. */
static void retire_namesakes(struct bus *bus, const struct peer *peer, const struct hello *hello)
{
    for (size_t i = 0; i < bus->peer_count; i++) {
        struct peer *other = bus->peers[i];
        if (other == peer || other->connecting || other->state != PEER_up ||
            other->process != process_of(hello->process) ||
            !str_is(hello->instance, other->instance))
            continue;
        if (other->incarnation == hello->incarnation && admission_same_process(other, peer)) {
            peer_down(bus, other, DOWN_disconnected);
            continue;
        }
        struct message beat = {.type = MSG_heartbeat};
        if (peer_say(bus, other, &beat) == 0)
            log_warn("two processes use one name|kind=%s name=%s", process_name(other->process),
                     other->instance);
    }
}

static enum refusal take_at_door(struct bus *bus, struct peer *peer, const struct hello *hello)
{
    if (hello->session == 0)
        return REFUSED_malformed_hello;
    bool same_life = peer->incarnation == hello->incarnation;
    if (peer->state == PEER_up && same_life && peer->session == hello->session)
        return REFUSED_nothing; /* said twice; our answer is on its way */
    enum refusal why = admission_check(bus, peer, hello);
    if (why != REFUSED_nothing) {
        admission_log(bus, peer, why, hello);
        say_hello(bus, peer, 0, refusal_text(why));
        return why;
    }
    retire_namesakes(bus, peer, hello);
    if (peer->state == PEER_up)
        peer_down(bus, peer, same_life ? DOWN_gap : DOWN_restarted);
    learn(bus, peer, hello);
    peer->state = PEER_up;
    peer->sent = 0;
    int failed = say_hello(bus, peer, hello->session, NULL);
    if (failed == 0)
        peer_up(bus, peer);
    else if (failed == EAGAIN)
        peer->state = PEER_greeting; /* it says hello again */
    return REFUSED_nothing;
}

/* The door says why it does not let us in; we try again as ever. */
static void note_turned_away(struct bus *bus, struct peer *peer, struct str why)
{
    bus->counts.turned_away++;
    if (!is_printable(why))
        why = STR_LITERAL("unreadable");
    if (!peer->turned_away && log_limited(&bus->counts.caller_log, bus->now))
        log_warn("not let in, trying again|endpoint=%s reason=\"%.*s\"", peer->wire->endpoint,
                 STR_ARG(why));
    peer->turned_away = true;
}

static enum refusal take_on_link(struct bus *bus, struct peer *peer, const struct hello *hello)
{
    if (!(process_of(hello->process) & peer->expected))
        return REFUSED_wrong_process;
    handshake_expect(bus, peer, REOPEN_AFTER);
    if (hello->session == 0 && hello->refused.len > 0) {
        note_turned_away(bus, peer, hello->refused);
        return REFUSED_nothing;
    }
    if (hello->session == 0) {
        /* The door lost us. While greeting, our hello is under way to it already. */
        if (peer->state == PEER_up)
            handshake_again(bus, peer,
                            peer->incarnation == hello->incarnation ? DOWN_gap : DOWN_restarted);
        return REFUSED_nothing;
    }
    if (peer->state != PEER_greeting || hello->session != peer->session)
        return REFUSED_nothing; /* answers an earlier hello */
    learn(bus, peer, hello);
    peer_up(bus, peer);
    return REFUSED_nothing;
}

enum refusal handshake_take(struct bus *bus, struct peer *peer, const struct hello *hello)
{
    if (!hello_is_usable(hello))
        return REFUSED_malformed_hello;
    peer->heard_at = bus->now;
    return peer->connecting ? take_on_link(bus, peer, hello) : take_at_door(bus, peer, hello);
}

/* One peer's timers; returns when it needs the next look. */
static struct moment tick_peer(struct bus *bus, struct peer *peer, struct moment now)
{
    struct moment silent = moment_after(peer->heard_at, times(bus->heartbeat, SILENT_AFTER));
    if (peer->state == PEER_up && moment_reached(now, silent))
        peer_down(bus, peer, DOWN_silent);
    if (peer->state == PEER_greeting && peer->connecting) {
        if (moment_reached(now, peer->reopen_at))
            reopen(bus, peer);
        handshake(bus, peer);
        return moment_after(peer->greeted_at, greeting_interval(bus));
    }
    if (peer->state != PEER_up) {
        if (moment_reached(now, silent)) {
            peer->state = PEER_gone; /* never said hello */
            bus->any_gone = true;
        }
        return silent;
    }
    struct moment beat = moment_after(peer->sent_at, bus->heartbeat);
    if (moment_reached(now, beat)) {
        struct message m = {.type = MSG_heartbeat};
        peer->sent_at = now; /* also when it could not be sent: not to try in a loop */
        peer_say(bus, peer, &m);
        beat = moment_after(now, bus->heartbeat);
    }
    return moment_earlier(beat, silent);
}

/* We were stopped or starved: what was said meanwhile is still unread, so nobody is silent yet. */
static void forgive_silence(struct bus *bus, struct moment now)
{
    for (size_t i = 0; i < bus->peer_count; i++)
        bus->peers[i]->heard_at = now;
    log_info("this process was held up|ms=%lld",
             (long long)span_ms(moment_since(now, bus->ticked)));
}

struct moment handshake_tick(struct bus *bus, struct moment now)
{
    struct moment next = moment_after(now, bus->heartbeat);
    if (bus->ticked.ns != 0 &&
        moment_reached(now, moment_after(bus->ticked, times(bus->heartbeat, 2))))
        forgive_silence(bus, now);
    bus->ticked = now;
    bool probe = bus->probe_at.ns != 0 && moment_reached(now, bus->probe_at);
    for (size_t i = 0; i < bus->peer_count; i++) {
        struct peer *peer = bus->peers[i];
        if (probe && !peer->connecting)
            peer->sent_at = (struct moment){0}; /* a heartbeat finds out whether it is there */
        next = moment_earlier(next, tick_peer(bus, peer, now));
    }
    if (probe)
        bus->probe_at = (struct moment){0};
    else if (bus->probe_at.ns != 0)
        next = moment_earlier(next, bus->probe_at);
    peers_sweep(bus);
    return next;
}

static void note_handshake(struct bus *bus, const struct wire *wire)
{
    bus->counts.handshakes_failed++;
    if (!log_limited(&bus->counts.handshake_log, bus->now))
        return;
    unsigned suppressed = bus->counts.handshake_log.suppressed_before;
    if (strncmp(wire->endpoint, "tcp:", 4) == 0)
        log_warn("handshake failed: other keys, or no CURVE on one side|endpoint=%s suppressed=%u",
                 wire->endpoint, suppressed);
    else /* there are no keys on a socket of this machine */
        log_warn("handshake failed: the other end has gone, or does not speak ZeroMQ|endpoint=%s "
                 "suppressed=%u",
                 wire->endpoint, suppressed);
}

static void news_of_link(struct bus *bus, struct wire *wire)
{
    struct peer *peer = peer_by_wire(bus, wire);
    must(peer != NULL);
    bool refused = false;
    wire->has_news = false;
    for (enum wire_news news; (news = wire_news(wire)) != WIRE_nothing;) {
        if (news == WIRE_handshake_failed || news == WIRE_refused)
            note_handshake(bus, wire);
        if (news == WIRE_disconnected) {
            bus->counts.connections_lost++;
            peer_down(bus, peer, DOWN_disconnected);
        }
        refused = refused || news == WIRE_refused;
        if (news == WIRE_connected && peer->state == PEER_greeting) {
            peer->greeted_at = (struct moment){0};
            handshake(bus, peer);
        }
    }
    if (refused && peer->state == PEER_greeting)
        handshake_expect(bus, peer, RETRY_AFTER);
}

static void news_of_door(struct bus *bus)
{
    bus->door.has_news = false;
    for (enum wire_news news; (news = wire_news(&bus->door)) != WIRE_nothing;) {
        if (news == WIRE_handshake_failed || news == WIRE_refused)
            note_handshake(bus, &bus->door);
        if (news == WIRE_not_accepted) {
            bus->counts.not_accepted++;
            if (log_limited(&bus->counts.handshake_log, bus->now))
                log_warn("connection not accepted: of another user, or no descriptor is left|"
                         "endpoint=%s suppressed=%u",
                         bus->door.endpoint, bus->counts.handshake_log.suppressed_before);
        }
        if (news == WIRE_disconnected) {
            /* Whose connection it was shows when each is spoken to; the socket learns of it a
             * moment after its monitor. */
            bus->counts.connections_lost++;
            log_debug("a connection to the door ended|endpoint=%s", bus->door.endpoint);
            bus->probe_at = moment_after(bus->now, span_of_ms(20));
        }
    }
}

void handshake_news(struct bus *bus)
{
    for (size_t i = 0; i < bus->link_count; i++)
        if (bus->links[i].has_news)
            news_of_link(bus, &bus->links[i]);
    if (bus->has_door && bus->door.has_news)
        news_of_door(bus);
}
