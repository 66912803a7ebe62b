/* inside: what the files of the bus share: the peers, the counters and the bus itself. Nothing
 * outside proto/bus includes it. */
#ifndef INSIDE_H
#define INSIDE_H

#include "proto/base/log.h"
#include "proto/bus/bus.h"
#include "proto/bus/frame.h"
#include "proto/bus/wire.h"

#define ROUTING_MAX  255 /* bytes; ZMTP allows no more */
#define PARTY_MAX    79
#define INSTANCE_MAX 64
#define SILENT_AFTER 6  /* heartbeats */
#define REOPEN_AFTER 40 /* more than connecting and a handshake may take */
#define RETRY_AFTER  2  /* where ZeroMQ does not try again */

enum peer_state {
    PEER_greeting, /* no hello yet: we wait for the other side's */
    PEER_up,       /* both know each other and number their frames */
    PEER_gone      /* a caller that left; taken off the table at the next sweep */
};

/* Another process on one link: one that we connect to, or a caller at our door. */
struct peer {
    bool connecting; /* we connect to it; false: it came in through the door */
    struct wire *wire;
    enum peer_state state;
    uint32_t routing_len;
    char routing[ROUTING_MAX]; /* a caller's name for the door's socket, one a connection; here, so
                                * that whom a frame is from is found with one look at each */
    enum process expected;     /* connecting: which kinds may answer */
    enum process permitted;    /* a caller: which kinds its key permits; ANY without keys */
    char party[PARTY_MAX + 1]; /* a caller's key or user; "" when it cannot be known */
    int64_t pid;               /* a caller's, as the kernel says; 0 when it cannot be known */
    bool turned_away;          /* refused since it last was up: that was logged */
    uint32_t number;           /* of this life, as in struct address; 0 while not up */
    enum process process;
    char instance[INSTANCE_MAX + 1];
    int64_t incarnation;
    int64_t session;        /* which start of the link */
    int64_t sent, received; /* number of the last frame each way */
    int64_t term;           /* of a process that leads us: the highest it has said in this life */
    int64_t reported;       /* the term in its hello */
    unsigned greetings;     /* hellos sent for this session */
    bool packs;             /* it reads packs, as its hello said */
    struct moment up_at, heard_at, sent_at, greeted_at;
    struct moment reopen_at; /* connecting, not up: when another connection is tried */
};

/* A peer_up or peer_down that waits for the core. */
struct event {
    struct message message;
    struct address from;
    char instance[INSTANCE_MAX + 1];
};

/* Why a message was not sent; DROP(name). */
#define DROPS DROP(no_peer) DROP(full) DROP(disconnected) DROP(oversized) DROP(misdirected)

enum drop {
#define DROP(name) DROPPED_##name,
    DROPS
#undef DROP
        DROP_COUNT
};

struct traffic {
    uint64_t messages, bytes;
};

/* A frame that waits in the pack that is being put together. */
struct packed {
    enum message_type type;
    uint32_t bytes;
};

struct counts {
    struct traffic sent[MSG_COUNT], received[MSG_COUNT];
    int64_t handled_us[MSG_COUNT], slowest_us[MSG_COUNT];
    uint64_t refused[REFUSED_COUNT], dropped[DROP_COUNT];
    uint64_t handshakes_failed, connections_lost, not_accepted, turned_away;
    struct log_limit refused_log[REFUSED_COUNT], dropped_log[DROP_COUNT], handshake_log;
    struct log_limit caller_log;
};

struct bus {
    enum process process;
    char instance[INSTANCE_MAX + 1];
    int64_t incarnation, generation;
    int64_t term;         /* the greater of our own and those of living processes that lead us */
    int64_t own_term;     /* as the core has set it */
    enum process serves;  /* kinds that may come in through the door */
    enum process leaders; /* kinds whose terms we follow */
    struct span heartbeat;
    struct moment now, started, ticked, probe_at;
    struct wires wires;
    struct wire door, tap;
    bool has_door, has_tap;
    struct wire *links;
    size_t link_count, turn; /* turn: whose socket is read next */
    struct peer **peers;
    size_t peer_count, peer_room;
    bool any_gone;    /* a caller that left is still on the table */
    uint32_t numbers; /* last peer number given */
    struct event *events;
    size_t event_count, event_room, event_next;
    int waiter;          /* an epoll of all sockets' descriptors */
    bool looked;         /* it was asked since the last frame that was not there */
    unsigned since_look; /* frames taken */
    bool mirrored;       /* somebody listens to the tap */
    int64_t tap_sequence;
    struct counts counts;
    void (*lines)(void *state, struct buffer *key_value_lines);
    void *lines_state;
    struct buffer frame, body, mirror; /* scratch */
    struct buffer pack; /* frames for one peer; empty but while more of them are promised */
    struct packed packed[PACK_FRAMES_MAX];
    unsigned packed_count;
    struct str unread; /* what was not taken yet of the pack that came in last; see bus->incoming */
    struct wire *unread_from;
    unsigned unread_taken; /* frames */
    struct arena arena;    /* of the message handed out last */
    struct message message;
    zmq_msg_t routing, incoming;
};

/* ---- peers.c ---- */

struct peer *peer_add(struct bus *bus, struct wire *wire, bool connecting);
struct peer *peer_by_routing(struct bus *bus, struct str routing);
struct peer *peer_by_wire(struct bus *bus, const struct wire *wire);
struct peer *peer_by_number(const struct bus *bus, uint32_t number);
/* Numbers and sends one frame; of what goes with more some may be sent with the last of it, whose
 * answer is then that of all. 0, EAGAIN (dropped and counted) or EHOSTUNREACH (the peer has been
 * taken down). */
int peer_transmit(struct bus *bus, struct peer *peer, const struct outgoing *head, struct str body);
/* The same for a message of the bus's own. */
int peer_say(struct bus *bus, struct peer *peer, const struct message *m);
/* The peer is known from now on: gives it a number and tells the core. */
void peer_up(struct bus *bus, struct peer *peer);
/* Tells the core if it knew the peer. A caller is forgotten; a link starts over with a new session
 * and says hello at the next tick. */
void peer_down(struct bus *bus, struct peer *peer, enum down_reason reason);
/* Forgets callers that are gone. */
void peers_sweep(struct bus *bus);
/* Mirrors a frame to the tap when somebody listens. peer may be NULL. */
void bus_mirror(struct bus *bus, const struct peer *peer, bool sent, struct str frame);
/* What two cores in this process have said to each other (PEER_INSIDE). */
void bus_mirror_handed(struct bus *bus, const struct outgoing *head, struct str body);
/* Counts and logs; peer may be NULL while unknown, envelope too. */
void bus_refuse(struct bus *bus, enum refusal why, const struct peer *peer, int64_t type,
                size_t bytes);

/* ---- admission.c ---- */

/* Notes which key or user a new caller is; bus->routing is its first frame's. */
void admission_know(struct bus *bus, struct peer *peer);
/* May a caller come in as what its hello says? */
enum refusal admission_check(struct bus *bus, const struct peer *peer, const struct hello *hello);
/* Both callers are one process, as far as that can be proven. */
bool admission_same_process(const struct peer *a, const struct peer *b);
/* Logs, once for each connection, that a caller is refused. */
void admission_log(struct bus *bus, struct peer *peer, enum refusal why, const struct hello *hello);

/* ---- handshake.c ---- */

/* Unless whom we connect to says something within so many heartbeats the link is opened anew. */
void handshake_expect(struct bus *bus, struct peer *peer, int heartbeats);
/* Says hello on a link that is greeting, unless it did so just now. */
void handshake(struct bus *bus, struct peer *peer);
/* Takes a hello, from a caller or a link. */
enum refusal handshake_take(struct bus *bus, struct peer *peer, const struct hello *hello);
/* Asks a caller that we do not know, or whose frames have a gap, to say hello again. */
void handshake_ask(struct bus *bus, struct peer *peer);
/* A gap, or another life of the peer: both sides number from the start again. */
void handshake_again(struct bus *bus, struct peer *peer, enum down_reason reason);
/* Heartbeats, silent peers, hellos that got no answer. Returns when to look again. */
struct moment handshake_tick(struct bus *bus, struct moment now);
/* What the monitors of the sockets say. */
void handshake_news(struct bus *bus);

/* ---- waiting.c ---- */

/* Once all sockets are open. */
void waiting_open(struct bus *bus);
void waiting_close(struct bus *bus);
/* Another socket for a link, with no connection yet. False, with why in wires.error: there is no
 * room for one, and the link stays as it is. */
bool waiting_reopen(struct bus *bus, struct wire *wire);
/* Marks the sockets that were told something. False when there is none. */
bool waiting_look(struct bus *bus);

/* ---- report.c ---- */

/* Fills a status report, in the arena. */
void report_fill(struct bus *bus, struct status *status, struct arena *arena);
/* The same for metrics, whose id stays. */
void report_metrics(struct bus *bus, bool checks_only, struct metrics *metrics,
                    struct arena *arena);

#endif
