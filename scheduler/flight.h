/* flight: one pod from the queue's attempt to the outcome that is owed for it: waiting for its
 * turn, being decided, being bound, or making room by preemption. */
#ifndef SCHEDULER_FLIGHT_H
#define SCHEDULER_FLIGHT_H

#include "proto/base/map.h"
#include "proto/base/moment.h"
#include "proto/messages.h"
#include "scheduler/packed.h"
#include "scheduler/volume_reserve.h"

enum flight_state {
    FLIGHT_waiting,   /* an attempt that has not been decided yet */
    FLIGHT_deciding,  /* the workers are asked */
    FLIGHT_binding,   /* assumed; the binder owes an answer */
    FLIGHT_preempting /* nominated; its victims are being evicted */
};

struct flight {
    enum flight_state state;
    struct arena arena;      /* what pod borrows from */
    struct pod pod;          /* node_name is set from the decision on */
    struct packed newer;     /* deciding: the pod as it was seen meanwhile */
    bool gone;               /* deciding: it does not exist any more */
    bool overtaken;          /* deciding: it was on a node meanwhile, by somebody else */
    bool owed;               /* the queue waits for an outcome of `cycle` */
    int64_t cycle;           /* the attempt's */
    int64_t epoch, sequence; /* how far the queue had read the stream when it made the attempt */
    int missed;              /* leadership messages in a row that did not list it */
    struct moment taken;     /* when the attempt came */
    struct reservation reserved; /* binding: volumes that are assumed for it; in the arena */
    struct str node;             /* preempting: where, and the rest of the outcome */
    struct strs plugins;
    struct strs victims;        /* UIDs that are to be seen going */
    bool answered;              /* the binder has done its part */
    bool activate;              /* landing: to be tried again at once */
    struct moment deadline;     /* preempting: lands then at the latest */
    struct flight *next, *prev; /* among the waiting, in order of arrival */
};

/* All flights by the pod's UID, and the waiting ones in order. */
struct flights {
    struct map *by_uid;
    struct flight *first, *last;
    size_t waiting;
};

void flights_init(struct flights *all);
void flights_free(struct flights *all);
struct flight *flights_get(const struct flights *all, struct str uid);
/* A new flight, waiting, at the end of the line; the pod is copied. None of that UID may exist. */
struct flight *flights_add(struct flights *all, const struct pod *pod);
/* Replaces the pod by a newer one. */
void flight_set_pod(struct flight *f, const struct pod *pod);
/* The same, for one that is being decided, as soon as it waits again. */
void flight_keep_pod(struct flight *f, const struct pod *pod);
/* Takes it out of the line of waiting ones. */
void flights_start(struct flights *all, struct flight *f, enum flight_state state);
/* Puts it back at the head of the line. */
void flights_return(struct flights *all, struct flight *f);
void flights_remove(struct flights *all, struct flight *f);

#endif
