/* equivalence: what is true of one pod is true of all who ask for the same (equals.h).
 *
 * A rejection speaks for all equals until an event wakes one of those that it sent to sleep: who
 * comes to its turn meanwhile is not tried but parked (PLACE_parked). And after a rejection equals
 * are tried one at a time, more while they find places, so that the next rejection comes before
 * many of them are under way; whoever stands behind them in line waits with them, since it may not
 * overtake.
 *
 * Similar pods ask for the same but for their claims and volumes. A rejection says of them what is
 * likely and not what is certain, so it only holds up those whose backoff runs, and for
 * milliseconds. */
#ifndef QUEUE_EQUIVALENCE_H
#define QUEUE_EQUIVALENCE_H

#include "queue/equals.h"

/* Nobody is spoken for by others for longer than this since its own last attempt; noticed with the
 * leftovers. So what a pod's condition says is never much older. */
#define EQUALS_SECONDS 60
/* The longest that similar pods wait after rejections in a row; so few of them never do. */
#define SIMILAR_PAUSE_MS 20
#define SIMILAR_LEAST    4

struct entry;
struct queues;

void equivalence_free(struct equivalence *equivalence);

/* The pod of an entry that was tried before came anew, or has just been tried: it may have other
 * equals now, and if it was parked with the former, goes where it would be without. */
void equivalence_follow(struct queues *q, struct moment now, struct entry *e);

/* The entry was rejected, and its equals would have been; it is asleep, or has been woken already.
 */
void equivalence_speak(struct entry *e, struct moment now);

/* Parks those at the head of the active queue who are spoken for. */
void equivalence_sift(struct queues *q, struct moment now);
/* The same at the head of those in backoff. */
void equivalence_sift_early(struct queues *q, struct moment now);
/* True while as many equals of it are under way as may be; of similar pods, only early ones are
 * counted off. */
bool equivalence_full(const struct entry *e);

/* Parked pods whose equals are spoken for no more come back, as many as may be under way. */
void equivalence_tick(struct queues *q, struct moment now);
/* When that is wanted next, if nothing happens. */
struct moment equivalence_due(const struct equivalence *equivalence, struct moment now);
/* All come back, those whose own last attempt was too long ago to be tried whatever happens. */
void equivalence_flush(struct queues *q, struct moment now);

#endif
