/* places: where pending pods are, and how one gets out of a place and into the next. */
#ifndef QUEUE_PLACES_H
#define QUEUE_PLACES_H

#include "proto/base/map.h"
#include "queue/active.h"
#include "queue/backoff.h"
#include "queue/equals.h"
#include "queue/group.h"
#include "queue/in_flight.h"
#include "queue/measure.h"
#include "queue/nominated.h"
#include "queue/plugins.h"
#include "queue/unschedulable.h"

struct hinting;

struct queues_options {
    struct span backoff_initial, backoff_max;
    struct span unschedulable_max; /* longest wait for an event that can help */
    int64_t wall_us_at_zero;       /* wall clock when the moment was 0 */
    int64_t first_cycle;           /* another range in every life of the process */
    uint8_t release;               /* minor of the Kubernetes that pods are decided as */
};

struct queues_counts {
    uint64_t attempts, bound, unschedulable, errors, skipped;
    uint64_t backoff_flushed;   /* pods whose backoff ended */
    uint64_t leftovers_flushed; /* pods that waited too long for an event */
    uint64_t bound_after_flush; /* those of them that were bound at once: an event was missed */
    uint64_t popped_early;      /* pods taken from backoff because nothing else was to do */
    uint64_t events, woken;     /* events that somebody might be helped by, pods that moved */
    uint64_t taken_back;        /* attempts taken back from a scheduler that is gone */
    uint64_t unconfirmed;       /* pods said to be bound that had to be offered again */
};

struct queues {
    struct queues_options options;
    struct packed_store *store; /* the pods, encoded */
    struct map *entries;        /* namespace/name → struct entry */
    struct active active;
    struct backoff backoff;
    struct unschedulable unschedulable;
    struct in_flight in_flight;
    struct nominations nominations;
    struct entry_list bound;
    struct gangs gangs;
    struct equivalence equivalence;
    struct moment flushed;  /* second of the last backoff flush */
    struct moment leftover; /* when leftovers are looked for next; 0 = at once */
    uint64_t order;
    struct queues_counts counts;
    struct measured measured;
    struct plugins_named named; /* plugins on the bus */
    struct hinting *hinting;    /* asks them whom events help; borrowed; NULL: nobody does */
    int64_t told_us;            /* wall clock: when what is being told was sent */
    const char *cause;          /* why pods move just now, in upstream's words, for metrics */
};

/* What another attempt of a pod is worth. */
enum worth {
    WORTH_skip,          /* nothing: it would end like the last */
    WORTH_after_backoff, /* something, once its backoff is over */
    WORTH_immediately    /* a plugin has waited for just this */
};

/* Takes the entry out of its place, whichever that is. */
void places_leave(struct queues *q, struct entry *e);
/* Into the active queue, or to its group when it goes with that; the entry is nowhere. */
void places_to_active(struct queues *q, struct moment now, struct entry *e);
/* The same for one that comes from the backoff queue, where a strict one let it in unasked. */
void places_from_backoff(struct queues *q, struct moment now, struct entry *e);
/* A new pod. */
void places_enter(struct queues *q, struct moment now, struct entry *e);
/* It goes into a queue, whatever it was meant for. */
void places_count(struct queues *q, const struct entry *e, enum queued_in where, const char *cause);
/* Puts the pod, which is nowhere or unschedulable, where that worth says; gates hold it anyway. */
void places_requeue(struct queues *q, struct moment now, struct entry *e, enum worth worth);

#endif
