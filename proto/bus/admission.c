/* admission: who may come in through the door. Three questions, asked of every hello: does this
 * door serve such a kind, is the caller's key one of that kind, and is the place free?
 *
 * Who a caller is comes from ZeroMQ, not from what the caller writes: with CURVE the name of its
 * key file, as our door-keeper found it; on ipc the user and the process that the kernel names; on
 * plain tcp nothing. What must stay true: a living process is never displaced by another one, so
 * who is refused has to come again (a link does so ten times a second); who is dead displaces
 * nobody, as speaking to it shows that. */
#include "proto/bus/inside.h"
#include "proto/bus/roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ZeroMQ names an ipc peer as HOST:UID:GID:PID. */
static void know_user(struct peer *peer, const char *address)
{
    const char *end = address != NULL ? strrchr(address, ':') : NULL;
    const char *at = end;
    for (int colons = 1; at != NULL && at > address && colons < 3;)
        colons += *--at == ':';
    if (at == NULL || at == address)
        return;
    peer->pid = strtoll(end + 1, NULL, 10);
    snprintf(peer->party, sizeof(peer->party), "uid %ld", strtol(at + 1, NULL, 10));
}

/* Asked of the frame, not of the routing id before it: a ROUTER that was asked whether it has
 * something (ZMQ_EVENTS) hands out a routing id that knows nothing (libzmq 4.3.4). */
void admission_know(struct bus *bus, struct peer *peer)
{
    const struct wire *door = peer->wire;
    peer->permitted = ANY;
    if (endpoint_is_ipc(door->endpoint)) {
        know_user(peer, zmq_msg_gets(&bus->incoming, "Peer-Address"));
    } else if (door->keyed) {
        const char *key = zmq_msg_gets(&bus->incoming, "User-Id");
        peer->permitted = curve_role(key != NULL ? key : "");
        snprintf(peer->party, sizeof(peer->party), "key %s", key != NULL ? key : "unknown");
    }
}

static bool same_party(const struct peer *a, const struct peer *b)
{
    return a->party[0] != 0 && strcmp(a->party, b->party) == 0;
}

bool admission_same_process(const struct peer *a, const struct peer *b)
{
    return same_party(a, b) && a->pid == b->pid;
}

/* Its connection stands, as far as the kernel knows. */
static bool lives(struct bus *bus, struct peer *peer)
{
    struct message beat = {.type = MSG_heartbeat};
    return peer_say(bus, peer, &beat) != EHOSTUNREACH;
}

/* Would the caller take the place that this one has? Of a kind that there may be many of, one name
 * belongs to one key or user; tools have no names that matter. */
static bool in_the_way(const struct peer *other, const struct peer *peer, enum process kind,
                       const struct hello *hello)
{
    if (other == peer || other->connecting || other->state != PEER_up || other->process != kind)
        return false;
    if (other->incarnation == hello->incarnation && admission_same_process(other, peer))
        return false; /* itself, on an older connection */
    if (kind & roles_single())
        return true;
    return kind != TOOL && str_is(hello->instance, other->instance) && !same_party(other, peer);
}

enum refusal admission_check(struct bus *bus, const struct peer *peer, const struct hello *hello)
{
    enum process kind = process_of(hello->process);
    if (!(kind & bus->serves))
        return REFUSED_not_served;
    if (!(kind & peer->permitted))
        return REFUSED_wrong_key;
    for (size_t i = 0; i < bus->peer_count; i++)
        if (in_the_way(bus->peers[i], peer, kind, hello) && lives(bus, bus->peers[i]))
            return REFUSED_place_taken;
    return REFUSED_nothing;
}

void admission_log(struct bus *bus, struct peer *peer, enum refusal why, const struct hello *hello)
{
    bool told = peer->turned_away;
    peer->turned_away = true;
    if (told || !log_limited(&bus->counts.caller_log, bus->now))
        return;
    log_warn("caller refused: %s|reason=%s kind=%.*s name=\"%.*s\" by=\"%s\" pid=%lld "
             "suppressed=%u",
             refusal_text(why), refusal_name(why), STR_ARG(hello->process),
             STR_ARG(hello->instance), peer->party, (long long)peer->pid,
             bus->counts.caller_log.suppressed_before);
}
