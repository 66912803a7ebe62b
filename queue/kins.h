/* kins: what is true of one pod is true of all who ask for the same (kin.h).
 *
 * A rejection speaks for all kin until an event wakes one of those that it sent to sleep: who comes
 * to its turn meanwhile is not tried but parked (PLACE_parked). And after a rejection kin are tried
 * one at a time, more while they find places, so that the next rejection comes before many of them
 * are under way; whoever stands behind them in line waits with them, since it may not overtake.
 *
 * Cousins ask for the same but for their claims and volumes. A rejection says of them what is
 * likely and not what is certain, so it only holds up those whose backoff runs, and for
 * milliseconds. */
#ifndef QUEUE_KINS_H
#define QUEUE_KINS_H

#include "queue/kin.h"

/* Nobody is spoken for by others for longer than this since its own last attempt; noticed with the
 * leftovers. So what a pod's condition says is never much older. */
#define KIN_SECONDS 60
/* The longest that cousins wait after rejections in a row; so few of them never do. */
#define COUSINS_PAUSE_MS 20
#define COUSINS_LEAST    4

struct entry;
struct queues;

void kins_free(struct kins *kins);

/* The pod of an entry that was tried before came anew, or has just been tried: it may have other
 * kin now, and if it was parked with the former, goes where it would be without. */
void kins_follow(struct queues *q, struct moment now, struct entry *e);

/* The entry was rejected, and its kin would have been; it is asleep, or has been woken already. */
void kins_speak(struct entry *e, struct moment now);

/* Parks those at the head of the active queue who are spoken for. */
void kins_sift(struct queues *q, struct moment now);
/* The same at the head of those in backoff. */
void kins_sift_early(struct queues *q, struct moment now);
/* True while as many kin of it are under way as may be; of cousins, only early ones are counted
 * off. */
bool kins_full(const struct entry *e);

/* Parked pods whose kin are spoken for no more come back, as many as may be under way. */
void kins_tick(struct queues *q, struct moment now);
/* When that is wanted next, if nothing happens. */
struct moment kins_due(const struct kins *kins, struct moment now);
/* All come back, those whose own last attempt was too long ago to be tried whatever happens. */
void kins_flush(struct queues *q, struct moment now);

#endif
