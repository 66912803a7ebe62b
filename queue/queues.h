/* queues: the places a pending pod can be in, and every step between them.
 *
 * Pure: time comes in as an argument, nothing is sent. A pod is known by namespace/name; each entry
 * is in exactly one place (enum place) between two calls. */
#ifndef QUEUE_QUEUES_H
#define QUEUE_QUEUES_H

#include "proto/base/map.h"
#include "queue/active.h"
#include "queue/backoff.h"
#include "queue/gang.h"
#include "queue/in_flight.h"
#include "queue/kin.h"
#include "queue/measure.h"
#include "queue/nominated.h"
#include "queue/unschedulable.h"

/* Said to be bound and not seen assigned for this long: offered again. */
#define QUEUES_CONFIRM_SECONDS 30
/* How often pods are looked for that waited too long for an event. */
#define QUEUES_LEFTOVER_SECONDS 30

struct queues_options {
    struct span backoff_initial, backoff_max;
    struct span unschedulable_max; /* longest wait for an event that can help */
    int64_t wall_us_at_zero;       /* wall clock when the moment was 0 */
    int64_t first_cycle;           /* another range in every life of the process */
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
    struct shelf *shelf; /* the pods, encoded */
    struct map *entries; /* namespace/name → struct entry */
    struct active active;
    struct backoff backoff;
    struct unschedulable unschedulable;
    struct in_flight in_flight;
    struct nominations nominations;
    struct entry_list bound;
    struct gangs gangs;
    struct kins kins;
    struct moment flushed;  /* second of the last backoff flush */
    struct moment leftover; /* when leftovers are looked for next; 0 = at once */
    uint64_t order;
    struct queues_counts counts;
    struct measured measured;
    const char *cause; /* why pods move just now, in upstream's words, for metrics */
};

void queues_init(struct queues *q, const struct queues_options *options);
void queues_free(struct queues *q);
/* What decides has changed: everybody who was turned away is tried again. */
void queues_wake_all(struct queues *q, struct moment now);
/* The same for those whom one of these plugins turned away. */
void queues_wake_rejected_by(struct queues *q, struct moment now, uint64_t plugins);
/* What a profile asks before a pod is queued has changed: those that it let wait may go on, and
 * those that wait for their turn may have to wait. */
void queues_look_at_gates(struct queues *q, struct moment now);
/* NULL when no such pod is pending. */
struct entry *queues_get(const struct queues *q, struct str key);

/* A pending pod of ours that is not known yet; around is borrowed as long as the queues live. */
struct entry *queues_add(struct queues *q, struct moment now, struct str key, const struct pod *pod,
                         const struct surroundings *around);
/* A newer version of it. */
void queues_update(struct queues *q, struct moment now, struct entry *e, const struct pod *pod);
/* It was assigned: it leaves, and its room is no news. */
void queues_assigned(struct queues *q, struct str key);
/* It is deleted: it leaves, and those who may use the room or the claim it had are woken. */
void queues_deleted(struct queues *q, struct moment now, struct str key);

/* The pod to try next, now in flight; NULL when there is none. When nothing is active that may be
 * one whose backoff still runs (early.h). */
struct entry *queues_pop(struct queues *q, struct moment now);
/* How the attempt ended, for an entry in flight. */
void queues_bound(struct queues *q, struct moment now, struct entry *e);
/* In flight: the room that it had is free, which others are told. */
void queues_released(struct queues *q, struct moment now, struct entry *e);
/* At least one plugin in rejectors or pending. */
void queues_rejected(struct queues *q, struct moment now, struct entry *e, uint64_t rejectors,
                     uint64_t pending);
/* Upstream's Activate: into the active queue from wherever it waits, its backoff notwithstanding;
 * an attempt under way is followed by another after its backoff, whatever its rejectors. */
void queues_activate(struct queues *q, struct moment now, struct entry *e);
void queues_failed(struct queues *q, struct moment now, struct entry *e);
/* The scheduler gave it back without trying, or its room is free again: it waits a moment and keeps
 * its history. */
void queues_skipped(struct queues *q, struct moment now, struct entry *e, bool had_room);
/* The attempt of a pod that has left has ended. had_room: it may have had some, which is free now.
 */
void queues_left(struct queues *q, struct moment now, struct flight *flight, bool had_room);
/* The scheduler is gone: whatever it held is active again, history and place in line kept. */
void queues_take_back(struct queues *q, struct moment now);
/* It was said to be bound and is not: active again. */
void queues_unbound(struct queues *q, struct moment now, struct entry *e);

/* Flushes what is due. Returns when it wants to be called next. */
struct moment queues_tick(struct queues *q, struct moment now);

/* Into the active queue, or to its group when it goes with that; the entry is nowhere. */
void queues_to_active(struct queues *q, struct moment now, struct entry *e);
/* Takes the entry out of its place, whichever that is. */
void queues_unplace(struct queues *q, struct entry *e);

#endif
