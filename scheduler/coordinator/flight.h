/* flight: one pod from the queue's attempt to the outcome that is owed for it: waiting for its
 * turn, being decided, being bound, or making room by preemption. */
#ifndef SCHEDULER_COORDINATOR_FLIGHT_H
#define SCHEDULER_COORDINATOR_FLIGHT_H

#include "proto/base/map.h"
#include "proto/base/moment.h"
#include "proto/messages.h"
#include "scheduler/catalog/volume_reserve.h"
#include "scheduler/cluster/device_reserve.h"
#include "scheduler/merge/extension.h"
#include "scheduler/rules/attempt_hooks.h"
#include "scheduler/table/packed.h"

struct attempt_trace;
struct permit;
struct release_list;

enum flight_state {
    FLIGHT_queued,     /* for its extenders, who are asked about one pod at a time */
    FLIGHT_aside,      /* a claim of it is being written; see claim_waits.h */
    FLIGHT_waiting,    /* an attempt that has not been decided yet */
    FLIGHT_deciding,   /* the workers are asked */
    FLIGHT_asking,     /* extenders or plugins are asked; meanwhile others are decided */
    FLIGHT_placed,     /* assumed; its group's other members are still to be decided */
    FLIGHT_passed,     /* has no place, and waits for its group's other members */
    FLIGHT_permitting, /* assumed; waits for plugins to reserve, or permit it to be bound */
    FLIGHT_binding,    /* assumed; the binder owes an answer */
    FLIGHT_preempting, /* nominated; its victims are being evicted */
    FLIGHT_releasing,  /* over; the binder still takes back what it had of claims */
    FLIGHT_STATES
};

struct flight {
    enum flight_state state;
    struct arena arena;  /* what pod borrows from */
    struct pod pod;      /* node_name is set from the decision on */
    bool remembered;     /* pod.nominated_node is our decision, and its status does not show it */
    struct packed newer; /* deciding, placed, passed: the pod as it was seen meanwhile */
    bool gone;           /* deciding, placed, passed: it does not exist any more */
    bool overtaken;      /* deciding: it was on a node meanwhile, by somebody else */
    bool owed;           /* the queue waits for an outcome of `cycle` */
    int64_t cycle;       /* the attempt's */
    int64_t epoch, sequence; /* how far the queue had read the stream when it made the attempt */
    bool behind;             /* the view that it was last decided on may be older than that */
    int missed;              /* leadership messages in a row that did not list it */
    int64_t attempts;        /* which attempt it is, from 1 */
    int64_t first_us;        /* wall clock: first in the active queue; 0 = not known */
    int64_t popped_us;       /* wall clock: the queue sent the attempt; 0 = not known, or told */
    struct moment began;     /* the decision; 0 = not yet */
    struct moment taken;     /* when the attempt came */
    struct reservation reserved;       /* binding: volumes that are assumed for it; in the arena */
    struct device_reservation devices; /* the same of claims that are given devices */
    struct hooks_held hooks;           /* what plugins' Reserve and Permit keep of it */
    struct decision_hops hops;         /* where the time since popped_us went; see measure.h */
    int64_t score, feasible;           /* of the decision that placed it */
    struct str node;                   /* preempting: where, and the rest of the outcome */
    struct strs plugins;
    struct strs victims;                 /* UIDs that are to be seen going */
    bool answered;                       /* preempting: the binder has done its part */
    bool activate;                       /* landing: to be tried again at once */
    int64_t gated_epoch, gated_sequence; /* landing: what came up to there shall not wake it */
    struct moment aside_until; /* aside at the latest, in all of this attempt; 0: it never was */
    struct moment deadline;    /* preempting: lands then at the latest; asking: is asked again;
                                  permitting: something is overdue then */
    int64_t walk_start;        /* where its walk over the nodes began, once walk_began */
    bool walk_began;
    struct extension *extension;    /* what extenders said; NULL: none cares about the pod */
    uint64_t holds;                 /* the extenders that are asked about no other pod meanwhile */
    bool grouped;                   /* it was tried with a group: it is never decided alone */
    struct gang_try *gang;          /* the group that it is tried with; NULL: alone */
    uint32_t place;                 /* in it */
    int64_t question;               /* asking, permitting: its id; 0: nobody is asked just now */
    uint32_t asked_peer;            /* the process of the plugin that is asked; 0: extenders are */
    struct permit *permit;          /* permitting: how far it has come; see permitting.c */
    bool released;                  /* since the queue gave it: it gave back room that it had */
    struct attempt_trace *trace;    /* NULL: the attempt is not traced */
    struct release_list *releasing; /* what is taken back of its claims; NULL: nothing */
    struct flight *next,
        *prev; /* among the waiting, the queued, those aside, the asked or the answered */
};

/* All flights by the pod's UID; the waiting ones in order of arrival, those queued for their
 * extenders by priority, and those whose victims are only still to be seen going. */
struct flights {
    struct map *by_uid;
    struct flight *first, *last;
    struct flight *answered;
    struct flight *asked;       /* asking or permitting */
    struct moment asked_due;    /* none of those is due earlier */
    int64_t questions;          /* ids given to those for extenders and plugins */
    uint32_t in[FLIGHT_STATES]; /* how many are in each state */
    struct flight *queued_first, *queued_last;
    struct flight *aside_first, *aside_last; /* in the order in which they went */
    uint64_t held;                           /* extenders that some flight holds */
    bool admission;                          /* somebody may leave the queue */
};

static inline size_t flights_count(const struct flights *all)
{
    return map_count(all->by_uid);
}

/* How many are in this state. */
static inline uint32_t flights_in(const struct flights *all, enum flight_state state)
{
    return all->in[state];
}

/* All, one after the other, from *at = 0 on; the one that was named may be removed. NULL: the end.
 */
static inline struct flight *flights_next(const struct flights *all, size_t *at)
{
    void *f;
    return map_next(all->by_uid, at, NULL, &f) ? f : NULL;
}

/* The head of the line of waiting ones, the queue's end, and heads of lists that go by next. */
static inline struct flight *flights_first(const struct flights *all)
{
    return all->first;
}

static inline struct flight *flights_last_queued(const struct flights *all)
{
    return all->queued_last;
}

static inline struct flight *flights_last_aside(const struct flights *all)
{
    return all->aside_last;
}

static inline struct flight *flights_first_asked(const struct flights *all)
{
    return all->asked;
}

static inline struct flight *flights_first_answered(const struct flights *all)
{
    return all->answered;
}

/* An extender that was away is back. */
static inline void flights_may_admit(struct flights *all)
{
    all->admission = true;
}

static inline int64_t flights_last_question(const struct flights *all)
{
    return all->questions;
}

/* None of the asked ones is due earlier. */
static inline struct moment flights_asked_due(const struct flights *all)
{
    return all->asked_due;
}

void flights_init(struct flights *all);
void flights_free(struct flights *all);
struct flight *flights_get(const struct flights *all, struct str uid);
/* A new flight, waiting, at the end of the line; the pod is copied. None of that UID may exist. */
struct flight *flights_add(struct flights *all, const struct pod *pod);
/* Nothing has been begun for it: waiting, queued or aside. */
bool flight_is_untried(const struct flight *f);
/* Its pod is on a node that has put off its resize: room is made there, and nothing is bound. */
bool flight_is_of_resize(const struct flight *f);
/* Deciding, placed or passed. */
bool flight_is_in_decision(const struct flight *f);
/* Replaces the pod by a newer one. */
void flight_set_pod(struct flight *f, const struct pod *pod);
/* The same, for one that is being decided, as soon as it waits again. */
void flight_keep_pod(struct flight *f, const struct pod *pod);
/* Takes it out of the line of waiting ones. */
void flights_start(struct flights *all, struct flight *f, enum flight_state state);
/* A waiting one leaves the line until it is returned. */
void flights_put_aside(struct flights *all, struct flight *f);
/* The binder has done its part for one that makes room by preemption. */
void flights_answered(struct flights *all, struct flight *f);
/* A number for a question about a flight: another one each time. */
int64_t flights_question(struct flights *all);
/* The deadline of one that is asked about. */
void flights_due(struct flights *all, struct flight *f, struct moment deadline);
/* Finds out anew when the first of those is due. */
void flights_find_due(struct flights *all);
/* Puts it back at the head of the line; one that needs extenders that it does not hold, at the head
 * of their queue. A member of a group needs to hold none: nobody else is decided meanwhile. */
void flights_return(struct flights *all, struct flight *f);
/* A waiting or asking flight goes into the queue of its extenders, behind those of its priority, or
 * in front of them. It lets go of the extenders. */
void flights_queue(struct flights *all, struct flight *f, bool in_front);
/* Those in that queue go to the end of the line, as if no extender cared; nobody holds one. */
void flights_unqueue_all(struct flights *all);
/* Those in the queue whose extenders are free, and whom nobody before them in the queue waits for,
 * take them and go to the end of the line; who needs one that is away waits, and nobody for him.
 * Cheap while nothing has changed. */
void flights_admit(struct flights *all, uint64_t away);
void flights_remove(struct flights *all, struct flight *f);

#endif
