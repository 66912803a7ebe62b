/* in_flight: the attempts that the scheduler holds, and what happened since each was handed out. */
#ifndef QUEUE_IN_FLIGHT_H
#define QUEUE_IN_FLIGHT_H

#include "queue/early.h"
#include "queue/entry.h"
#include "queue/event.h"

/* So many of the last departures are remembered. */
#define DEPARTURES 256

/* A pod has left a node (nominated.h). */
struct departure {
    uint64_t node; /* hash of its name */
    int64_t priority, position;
    bool anywhere; /* the node's name is not known */
};

/* One attempt that an outcome is owed for. */
struct flight {
    int64_t cycle;         /* never used twice, not even by another life of the queue */
    struct group *group;   /* the pod's; NULL: it has none */
    struct equals *equals; /* the pod's when it was handed out; NULL: it has none */
    struct entry *entry;   /* NULL: the pod has left, but the attempt still counts against credit */
    struct packed_store *store; /* of left; borrowed */
    struct stored *left;        /* the pod that has left, as it was; NULL: it has not */
    uint64_t helped;            /* plugins whose rejection an event since the pop may have cured */
    uint64_t ignore_arrivals;   /* plugins that no pod that appears on a node can help
                                   (hints_ignoring_arrivals) */
    bool woken;                 /* a wildcard came */
    bool early;                 /* its pod's backoff still ran */
    int64_t heard;              /* position in the stream of the last event that is in helped */
    uint64_t departed;          /* the departures before it */
    struct flight *next, *prev;
};

struct in_flight {
    struct flight *first, *last; /* in order of pop, which is mostly that of outcomes */
    size_t count;                /* all attempts owed */
    size_t left;                 /* those of them whose pod has left */
    struct early early;          /* those whose pods were taken from their backoff */
    int64_t cycle;               /* the last one used */
    int64_t position;            /* in the watcher's stream, of what is being told */
    uint64_t departed;           /* all departures; the last ones follow */
    struct departure departures[DEPARTURES];
};

/* early: the pod's backoff still runs. */
void in_flight_add(struct in_flight *f, struct entry *e, bool early);
/* NULL when no such attempt is owed. */
struct flight *in_flight_find(const struct in_flight *f, int64_t cycle);
/* The outcome came, or never will: the attempt is owed no more. Its pod, if any, is nowhere then.
 */
void in_flight_close(struct in_flight *f, struct flight *flight);
/* The pod leaves; the outcome is still owed, and the flight keeps what asked for room until then.
 */
void in_flight_leave(struct in_flight *f, struct entry *e);
/* The pod of an attempt was replaced by another version. */
void in_flight_follow(struct entry *e);
/* An event while attempts run: remembered for each as the plugins that it may help. */
void in_flight_note(struct in_flight *f, const struct event *event);
/* Something that may help whoever one of these plugins rejects. */
void in_flight_note_plugins(struct in_flight *f, uint64_t plugins);
/* The same as in_flight_note for one pod's own update. */
void in_flight_note_own(const struct in_flight *f, struct entry *e, const struct event *event);
/* Somebody has left a node: what attempts under way remember if they make a claim there. */
void in_flight_departed(struct in_flight *f, const struct departure *gone);
/* Forgets what came up to this position of the stream, unless something came since. */
void in_flight_gated(struct flight *flight, int64_t position);

#endif
