/* calls_inside: what calls.c and streams.c know of one request. */
#ifndef TESTS_SIMULATION_CALLS_INSIDE_H
#define TESTS_SIMULATION_CALLS_INSIDE_H

#include "tests/simulation/calls.h"

struct call {
    struct call *next;   /* of its client */
    struct calls *calls; /* NULL: its sender does not listen any more */
    uint64_t number;
    enum kube_method method;
    enum kube_channel channel;
    uint64_t connection; /* of its channel: those of one share their end */
    char *path, *body;
    const char *type;
    int64_t timeout;
    void *context;
    void (*data)(void *context, struct str piece);
    void (*done)(void *context, const struct kube_response *response);
    bool sent, carried_out, answered, open; /* open: its server's half has a call planned */
    bool swallowed;                         /* by a way that is cut: silence until it times out */
    bool broken; /* its connection broke off, and somebody in between goes on with it */
    int64_t sent_at, answer_at;
    struct kube_response response;
    struct buffer text; /* of the answer */
    struct model_stream *stream;
    struct stream_state {
        bool begun;   /* its first piece was told */
        bool heard;   /* and more */
        bool ends;    /* it breaks off */
        bool torn;    /* in the middle of what comes next */
        bool deaf;    /* nothing comes any more, and nobody says so */
        int error;    /* an event says so and the stream ends; 0: none */
        int64_t look; /* when it is read next */
    } watch;
    char who[24];
    int group;
};

struct calls {
    struct proc *owner;
    struct call *first;
    uint64_t numbers;
    uint64_t connections[KUBE_CHANNEL_COUNT]; /* the current ones */
    uint64_t dead[KUBE_CHANNEL_COUNT];        /* nothing comes or goes on this one; 0: none */
};

struct call *call_of(const struct calls *calls, uint64_t number);
bool call_is_watch(const struct call *c);
/* Its connection is dead, and nobody has noticed. */
bool call_is_dead(const struct call *c);
/* Its way to the API server leads nowhere at present. */
bool call_is_cut(const struct call *c);
/* It is over, and gone. */
void call_finish(struct call *c, const struct kube_response *response);

/* ---- streams.c ---- */

/* A watch has begun at the server. */
void stream_begin(struct call *c, struct model_stream *stream);
void stream_forget(struct call *c);
/* What it has to say. False when it has ended and is gone. */
bool stream_read(struct call *c);
void streams_reset(void);
/* The server says 410 to this watch's version, and to those before, from now on; present: the
 * newest one. */
void stream_expire(const struct call *c, uint64_t present);
bool stream_is_expired(const struct call *c);

#endif
