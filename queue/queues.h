/* queues: the places a pending pod can be in, and every step between them.
 *
 * Pure: time comes in as an argument, nothing is sent. A pod is known by namespace/name; each entry
 * is in exactly one place (enum place) between two calls. */
#ifndef QUEUE_QUEUES_H
#define QUEUE_QUEUES_H

#include "queue/places.h"

/* Said to be bound and not seen assigned for this long: offered again. */
#define QUEUES_CONFIRM_SECONDS 30
/* How often pods are looked for that waited too long for an event. */
#define QUEUES_LEFTOVER_SECONDS 30

void queues_init(struct queues *q, const struct queues_options *options);
void queues_free(struct queues *q);
/* What decides has changed: everybody who was turned away is tried again. */
void queues_wake_all(struct queues *q, struct moment now);
/* A snapshot has told what there is, and not what came and went before it: the same, also for those
 * who are being tried. */
void queues_missed(struct queues *q, struct moment now);
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
/* It was assigned to a node: it leaves, and its room is no news, but a claim elsewhere is over. */
void queues_assigned(struct queues *q, struct moment now, struct str key, struct str node);
/* It is deleted: it leaves, and those who may use the room or the claim it had are woken. */
void queues_deleted(struct queues *q, struct moment now, struct str key);

/* The pod to try next, now in flight; NULL when there is none. When nothing is active that may be
 * one whose backoff still runs (early.h). */
struct entry *queues_pop(struct queues *q, struct moment now);
/* How the attempt ended, for an entry in flight. */
void queues_bound(struct queues *q, struct moment now, struct entry *e);
/* In flight: the room that it had is free, which others are told. */
void queues_released(struct queues *q, struct moment now, struct entry *e);
/* In flight, to be rejected: the node where room is made for it; empty = nowhere. */
void queues_nominated(struct queues *q, struct moment now, struct entry *e, struct str node);
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

#endif
