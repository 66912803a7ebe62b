/* wire: ZeroMQ sockets with our settings, and what their monitors and the CURVE door-keeper say.
 * Only this file, the tap's reader and curve.c know ZeroMQ. */
#ifndef WIRE_H
#define WIRE_H

#include "proto/base/str.h"
#include "proto/bus/curve.h"
#include "proto/bus/endpoint.h"

#include <zmq.h>

/* A frame that passes this gets in, is measured and refused by name; a longer one cuts the
 * connection before it fills our memory. */
#define WIRE_FRAME_MAX (128ll << 20)

enum wire_kind {
    WIRE_door,      /* ROUTER, bound */
    WIRE_link,      /* DEALER, connected */
    WIRE_tap,       /* XPUB, bound */
    WIRE_tap_reader /* SUB, connected: the reader of a tap */
};

struct wire {
    enum wire_kind kind;
    void *socket, *monitor;
    char endpoint[ENDPOINT_MAX]; /* as bound or connected; a tcp port chosen for us is filled in */
    int lock_fd;                 /* of the ipc path, or -1 */
    bool keyed;                  /* with CURVE: a caller's key is known */
    bool ready, has_news;        /* the socket, or its monitor, may have something; see waiting.c */
    bool sending;   /* frames of one message go out; the last one has not been sent yet */
    bool receiving; /* likewise, coming in */
};

/* What all wires of a process share. */
struct wires {
    void *context;
    void *keeper; /* answers CURVE handshakes; NULL without keys */
    const char *curve_dir;
    enum process process; /* whose keys these are */
    struct curve_keys keys;
    bool has_keys, allow_plain_tcp, keeper_ready;
    unsigned monitors; /* opened so far, for their names */
    char error[512];   /* what went wrong in the last call that failed */
    bool in_use;       /* it was that a living process has the ipc path */
};

enum wire_news {
    WIRE_nothing,
    WIRE_connected,
    WIRE_disconnected,
    WIRE_handshake_failed,
    WIRE_refused,     /* likewise, and for good: ZeroMQ does not try again */
    WIRE_not_accepted /* of another user, or no descriptor is left */
};

/* curve_dir may be NULL. False with a line in all->error. */
bool wires_open(struct wires *all, const char *curve_dir, enum process process,
                bool allow_plain_tcp);
/* Ends the context; waits at most for the linger time of what was sent last. */
void wires_close(struct wires *all);
/* Answers the CURVE handshakes that wait; returns how many were refused. */
unsigned wires_keep(struct wires *all);

/* Binds or connects. False with a line in all->error. */
bool wire_open(struct wires *all, struct wire *w, enum wire_kind kind, const char *endpoint);
void wire_close(struct wire *w);
/* The next thing that happened to the connections of this wire. */
enum wire_news wire_news(struct wire *w);
/* One frame; to names the peer and is empty but on a door. With more the next frame goes to the
 * same peer and travels with this one, which saves both sides waking up for each; what was not sent
 * with more is on its way. 0, or EAGAIN (full or not connected) or EHOSTUNREACH (that peer's
 * connection is gone); then nothing is left open. Never blocks. */
int wire_send(struct wire *w, struct str to, struct str frame, bool more);
/* The next frame into an initialised zmq_msg, and on a door who sent it, which stays as it is for
 * the frames that came together; false when none waits. */
bool wire_receive(struct wire *w, zmq_msg_t *from, zmq_msg_t *frame);
/* Whether one waits. Asks only a wire that is marked as ready, and takes the mark away if not. */
bool wire_readable(struct wire *w);
/* Makes the socket look at what its I/O thread has told it. */
void wire_refresh(struct wire *w);

#endif
