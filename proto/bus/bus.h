/* bus: the one door through which every message of a process goes, and the only code that knows
 * ZeroMQ.
 *
 * Each process has one ROUTER socket (its door) that others connect to, one DEALER for each process
 * that it connects to, and one XPUB socket for the tap. A frame is one ZeroMQ message part: a
 * version byte, the envelope, the body; frames that are sent to one peer at once travel as the
 * parts of one message. The door numbers frames per link, checks sizes, versions, who may send what
 * to whom (messages.def), term and generation; it counts everything by type, answers hello,
 * heartbeat and status_request itself, notices silent peers, and mirrors every frame to the tap,
 * which drops rather than waits. Doors:
 *
 *     ipc://RUN_DIR/<instance>.sock      and      ipc://RUN_DIR/<instance>.tap
 *
 * or whatever --listen, --tap and --peer say; tcp:// beyond loopback needs CURVE (--curve-dir).
 *
 * What a core may count on: messages of one peer number come in order, each at most once, between
 * its peer_up and its peer_down. Loss is never silent: whatever was sent and does not arrive ends
 * in peer_down, so a core puts things right on peer_up. README.md has the whole story. */
#ifndef BUS_H
#define BUS_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

#define BUS_FRAME_MAX   (16u << 20) /* bytes; longer frames are refused */
#define BUS_PEERS_MAX   80          /* doors that one process connects to */
#define BUS_CALLERS_MAX 1024        /* processes that may be connected to one door */

struct bus_peer_option {
    enum process process; /* ANY: whoever answers there (a tool's look-around) */
    const char *endpoint; /* NULL: the default from the run directory */
};

/* All strings are borrowed and must outlive the bus. */
struct bus_options {
    enum process process;
    const char *instance;  /* NULL: the kind's name; workers: worker-0, worker-1, … */
    const char *run_dir;   /* private directory for ipc sockets; made with mode 0700 if missing */
    const char *listen;    /* endpoint of the door; NULL: ipc in run_dir */
    const char *tap;       /* endpoint of the tap; NULL: ipc in run_dir */
    const char *curve_dir; /* keys made by `berth keys`; NULL: no encryption */
    bool allow_plain_tcp;  /* permits tcp without CURVE beyond loopback */
    bool no_door;          /* a tool that only connects */
    struct bus_peer_option peers[BUS_PEERS_MAX]; /* whom to connect to */
    size_t peer_count;
    int64_t generation;    /* config generation, at least 1 */
    struct span heartbeat; /* 0: 500 ms; a peer silent for 6 of them is down */
};

struct bus;

/* NULL on failure, with one line in error that names the endpoint and the cause. */
struct bus *bus_open(const struct bus_options *options, char *error, size_t room);
/* Says goodbye on every link and closes. */
void bus_close(struct bus **bus);

/* Sends all that is in the outbox and empties it. Never blocks: what a full link cannot take is
 * dropped and counted, and that link's receiver finds the gap. */
void bus_send(struct bus *bus, struct outbox *out);
/* The next message, or false when none is waiting. The delivery is valid until the next call.
 * Malformed, oversized, misdirected and older-term frames never come out: they are refused,
 * counted and logged once a second. */
bool bus_receive(struct bus *bus, struct moment now, struct delivery *in);
/* Waits until a message, an fd in extra (readable), or the deadline; extra_fd < 0 = none. */
void bus_wait(struct bus *bus, int extra_fd, struct moment now, struct moment deadline);
/* Heartbeats, silent peers; returns when it wants to be called again. */
struct moment bus_tick(struct bus *bus, struct moment now);

/* The leadership term goes out with every message. It is the greatest of what was set here and what
 * living peers that lead this process have said (roles.h): a scheduler follows its binder, a binder
 * nobody, all others the scheduler. What a peer has said ends with it. */
void bus_set_term(struct bus *bus, int64_t term);
int64_t bus_term(const struct bus *bus);
void bus_set_generation(struct bus *bus, int64_t generation);
/* Fills the lines of this process's status report: called when somebody asks. */
void bus_set_status(struct bus *bus, void (*lines)(void *state, struct buffer *key_value_lines),
                    void *state);
/* Time spent handling one message, for the per-type counters. */
void bus_handled(struct bus *bus, enum message_type type, struct span took);

/* Where the door listens: a port that the system chose is filled in. "" without a door. */
const char *bus_endpoint(const struct bus *bus);
/* The endpoint that this process connected to in order to reach the peer; NULL for a peer that
 * came in through the door, and for one that is gone. */
const char *bus_endpoint_of(const struct bus *bus, struct address peer);
/* Frames refused for the reason of that name since the start (see frame.h), frames dropped on
 * sending, and gaps found; for tests and tools. */
uint64_t bus_refused(const struct bus *bus, const char *reason);
uint64_t bus_dropped(const struct bus *bus);
uint64_t bus_gaps(const struct bus *bus);
uint64_t bus_handshakes_failed(const struct bus *bus);

#endif
