/* ear: listens to the taps of many processes at once; for `berth tap`. It never slows the
 * processes: what it is too slow for is dropped on their side and shows as a jump in tap_sequence.
 */
#ifndef EAR_H
#define EAR_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

struct ear;

struct ear_options {
    const char *run_dir;          /* where *.tap is looked for; NULL: nowhere */
    const char *const *endpoints; /* further taps */
    size_t endpoint_count;
    const char *curve_dir; /* for tcp; NULL: none */
    bool allow_plain_tcp;
};

/* NULL on failure, with one line in error. */
struct ear *ear_open(const struct ear_options *options, char *error, size_t room);
void ear_close(struct ear **ear);
/* Connects to taps that have appeared in the run directory since the last call. */
void ear_discover(struct ear *ear);
/* How many taps it listens to. */
size_t ear_count(const struct ear *ear);
/* The next encoded `tapped` record; false when none waits. Valid until the next call. */
bool ear_next(struct ear *ear, struct str *tapped);
/* Waits for a record, a signal or the deadline. */
void ear_wait(struct ear *ear, struct moment now, struct moment deadline);

#endif
