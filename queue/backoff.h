/* backoff: pods that wait after a failed attempt, longer with each failure. */
#ifndef QUEUE_BACKOFF_H
#define QUEUE_BACKOFF_H

#include "queue/entry.h"

struct backoff {
    struct heap *pods;   /* rejected and woken: by end of backoff, then rank_entry_before */
    struct heap *errors; /* failed attempts: by end of backoff, then arrival */
    struct span initial, max;
    bool strict; /* SchedulerPopFromBackoffQ is off: ends are exact, and nobody is taken early */
};

void backoff_init(struct backoff *b, struct span initial, struct span max);
void backoff_free(struct backoff *b); /* the entries are the caller's */

/* initial, doubled with each failure in a row, at most max; 0 without a failure. */
struct span backoff_length(const struct backoff *b, const struct entry *e);
/* The same for so many failures in a row. */
struct span backoff_after(const struct backoff *b, int64_t failures);
/* Sets the end from the entry's timestamp and counts. */
void backoff_start(const struct backoff *b, struct entry *e);
/* Backoffs end with a whole second: true while the second of their end is not over; of strict ones
 * until after that very moment. */
bool backoff_runs(const struct backoff *b, const struct entry *e, struct moment now);
/* What ends are held against, and cut to: the start of the second that m is in; m when strict. */
struct moment backoff_aligned(const struct backoff *b, struct moment m);
/* Start of the second that m is in. */
struct moment backoff_second(struct moment m);

/* Into the errors' heap when no plugin rejected it, else into the pods'. */
void backoff_add(struct backoff *b, struct entry *e);
void backoff_remove(struct backoff *b, struct entry *e);
void backoff_fix(struct backoff *b, struct entry *e);
/* Takes out a pod whose backoff is over, pods before errors; NULL when there is none. */
struct entry *backoff_take_ended(struct backoff *b, struct moment now);
/* Takes out the pod (never an error) that would end first; NULL when there is none. */
struct entry *backoff_take_early(struct backoff *b);
size_t backoff_count(const struct backoff *b);

#endif
