/* gang: PodGroups and the pending pods that name them (scheduler/coordinator/gangs.md).
 *
 * A member waits with its group (PLACE_gang) until minMember of the group are on nodes; the group
 * is handed over as one when it is complete enough. Afterwards its members go like other pods.
 * Everything that happens to a group marks it; it is looked at once, when the batch of messages is
 * over (gangs_tick). */
#ifndef QUEUE_GANG_H
#define QUEUE_GANG_H

#include "queue/group.h"

struct queues;

/* Members that one message holds: more go later, when minMember of them are on nodes. */
#define GANG_BYTES_MAX (12 << 20)
/* A group's backoff is cut short, while nobody else is active, not before it has waited so long,
 * and not for more groups than one in such a time: to try one that fails holds up who comes. */
#define GANG_EARLY_AFTER_MS   100
#define GANG_EARLY_SPACING_MS 10
/* How long a group waits in one and the same state before that is told. */
#define GANG_SETTLE_SECONDS 1
/* The longest time between two tellings of a pod in which only numbers differ. */
#define GANG_RETELL_SECONDS 64

void gangs_init(struct gangs *gs, int64_t wall_us_at_zero);
void gangs_free(struct gangs *gs); /* no entry may be a member any more */

/* ---- gangs.c: who is in which group ---- */

/* Of these API groups PodGroups are served, or not read, from now on. */
void gangs_serve(struct queues *q, struct moment now, const struct group_kinds *kinds);
/* Why the group's PodGroup cannot be known; NULL: it can. */
const char *gangs_why_unread(const struct group *g);
/* A new pod, in no place yet. */
void gangs_join(struct queues *q, struct entry *e);
/* The pod is going to be freed; in no place. */
void gangs_leave(struct entry *e);
/* Its group may be another one than before. */
void gangs_follow(struct queues *q, struct moment now, struct entry *e);
/* Every pod's may be: what is served, or decided with, has changed. */
void gangs_follow_all(struct queues *q, struct moment now);
/* An assigned pod appeared (before NULL), changed, or went (after NULL). */
void gangs_assigned(struct queues *q, const struct pod *before, const struct pod *after);
void gangs_node(struct queues *q, const struct node *before, const struct node *after);
/* False: older than what is known. */
bool gangs_set(struct queues *q, struct moment now, const struct gang *record);
void gangs_gone(struct queues *q, struct moment now, const struct object_gone *gone);
void gangs_snapshot_begin(struct queues *q);
void gangs_snapshot_end(struct queues *q, struct moment now);
/* Whether PodGroups are leaves of trees; gangs_follow_all has to come behind it. */
void gangs_use_trees(struct queues *q, bool trees);

/* All its pods wait with it again, whatever they waited for. */
void gangs_collect(struct queues *q, struct group *g);

/* ---- gang_review.c: what becomes of a group ---- */

/* How an attempt of a pod that has a group ended, before it is closed. */
enum gang_end { GANG_bound, GANG_rejected, GANG_error, GANG_skipped };
void gangs_ended(struct queues *q, const struct entry *e, enum gang_end end, uint64_t rejectors);
/* Its plugins asked for another attempt without a backoff. */
void gangs_hurry(const struct entry *e);
/* Looks at all that were marked or are due; returns when it wants to be called next. */
struct moment gangs_tick(struct queues *q, struct moment now);
/* The group to be handed over before any pod; its members are in flight then, in the order in which
 * they are placed, as gangs.taken, so many. NULL: a pod is next, or nobody. */
struct group *gangs_pop(struct queues *q, struct moment now, size_t *count);

/* ---- gang_waits.c: what is told ---- */

/* What the group waits for has changed, or not. */
void group_note_state(struct group *g, struct moment now);
/* Why the group, or one pod of it, waits; in the plugin's words. */
void group_text(struct queues *q, const struct group *g, const struct entry *e,
                struct buffer *text);
/* Fills in the next message there is to send, from the arena; false: none is due. */
bool gangs_tell(struct queues *q, struct moment now, struct gang_waits *waits, struct arena *a);
/* When gangs_tell has something to say next. */
struct moment gangs_tell_due(const struct gangs *gs);
/* Another scheduler: nothing is told yet. */
void gangs_untell(struct gangs *gs, struct moment now);

#endif
