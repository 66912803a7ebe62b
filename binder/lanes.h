/* lanes: who may write next. Each kind of write waits in a lane of its own, bounded, with its own
 * budget of requests on the wire; where lanes compete (the rate limit) the upper one goes first.
 *
 * The fence is here too: a fenced job is handed over only when, by a clock read at that moment, it
 * can end before anybody else could take the lease. */
#ifndef BINDER_LANES_H
#define BINDER_LANES_H

#include "binder/api.h"
#include "proto/base/heap.h"

enum lane {
    LANE_lease,
    LANE_bind,
    LANE_delete,     /* victims of preemption */
    LANE_nomination, /* where a pod is nominated, when somebody waits for it to be said */
    LANE_extender,   /* binds that an extender makes */
    LANE_volume,     /* what binds wait for before their Binding */
    LANE_status,
    LANE_event,
    LANE_COUNT
};

/* What the budgets of all lanes are together at most, with some room; for the client. */
#define LANES_IN_FLIGHT_MAX 320

/* So long a write to the API server lasts at most before it is given up, in ms; those to extenders
 * may last as long as the fence lets them. */
#define LANES_WRITE_MS 10000

const char *lane_name(enum lane lane);

/* A request as its owner writes it, at the last moment before it goes out. */
struct draft {
    enum kube_method method;
    struct buffer path, body;
    const char *content_type; /* NULL without a body */
    bool may_protobuf;        /* given: the body may be protobuf, and content_type say so */
    bool exact;  /* the answer may be protobuf whatever the settings say, and the body is in the
                  * form that its object came in; the owner minds a refusal of that (415) itself */
    bool unread; /* what comes with a 2xx answer is not wanted */
};

struct job;
struct lanes;

struct job_type {
    bool fenced; /* a write that only the holder of the lease may make */
    struct span timeout;
    void (*prepare)(struct job *job, struct instant at, struct draft *draft);
    /* The job is idle again; it may be freed or added again in here. */
    void (*answered)(struct job *job, struct instant at, const struct kube_response *response);
};

enum job_place { JOB_idle, JOB_queued, JOB_delayed, JOB_sent };

/* Embedded as the first member of what it is about; zero-initialise, then set type and owner. */
struct job {
    const struct job_type *type;
    void *owner;
    struct span timeout_max; /* 0: the type's alone */
    uint32_t route;          /* of an extender's request */
    bool patient;            /* after lanes_again: comes back behind what waits, not ahead of it */
    /* the lanes' own */
    struct lanes *lanes;
    enum lane lane;
    enum job_place place;
    struct job *before, *next;
    struct heap_link link;
    struct moment since; /* first waited */
    struct moment due;   /* delayed until */
    struct instant sent;
    uint64_t number;
    bool as_protobuf; /* what was sent last */
};

struct lanes_options {
    struct api api;
    /* How long from then on a write may last at most; 0 or less: none may begin. */
    struct span (*fence)(const void *state, struct instant at);
    const void *fence_state;
    uint32_t waiting_max[LANE_COUNT]; /* 0: the default */
    uint32_t in_flight_max[LANE_COUNT];
    double qps; /* writes of all lanes but the lease together; <= 0: unlimited */
    uint32_t burst;
    bool protobuf; /* bodies may be protobuf, until the server refuses one for that (415) */
};

struct lane_stats {
    uint32_t waiting, delayed, in_flight;
    uint64_t done, failed; /* answered 2xx; any other end */
    uint64_t dropped;      /* not taken because the lane was full */
    struct moment oldest;  /* since when the first in line waits; 0 = none */
};

struct lanes *lanes_new(const struct lanes_options *options);
/* Jobs belong to their owners and must have been removed. */
void lanes_free(struct lanes **lanes);

/* Another rate limit, from now on. */
void lanes_limit(struct lanes *lanes, double qps, uint32_t burst);

/* Events yield to nothing any more: there may be no later. */
void lanes_drain(struct lanes *lanes);

/* Puts an idle job at the end of its lane. False, and counted, when the lane is full. */
bool lanes_add(struct lanes *lanes, enum lane lane, struct job *job, struct moment now);
/* A job that has been in a lane before comes back at due, ahead of what waits unless it is patient;
 * always taken. */
void lanes_again(struct lanes *lanes, enum lane lane, struct job *job, struct moment due);
/* Takes the job out, wherever it is; one on the wire is cancelled without an answer. */
void lanes_remove(struct lanes *lanes, struct job *job);
/* Hands over what may go now. Returns when it wants to be called again at the latest. */
struct moment lanes_pump(struct lanes *lanes, struct moment now);
/* Cancels every fenced request on the wire and answers it with "maybe done": to be called as soon
 * as the fence is found closed, before anything else could send the rest of them. */
void lanes_cut(struct lanes *lanes, const char *why);
/* True as long as bodies may be protobuf. */
bool lanes_protobuf(const struct lanes *lanes);
/* Fenced requests handed over and not answered. */
uint32_t lanes_fenced(const struct lanes *lanes);
struct lane_stats lanes_stats(const struct lanes *lanes, enum lane lane);
/* True when nothing waits and nothing is on the wire in this lane. */
bool lanes_quiet(const struct lanes *lanes, enum lane lane);

#endif
