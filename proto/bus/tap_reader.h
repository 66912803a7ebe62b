/* tap_reader: listens to the taps of many processes at once; for `berth tap`. It never slows the
 * processes: what it is too slow for is dropped on their side and shows as a jump in tap_sequence.
 */
#ifndef TAP_READER_H
#define TAP_READER_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

struct tap_reader;

struct tap_reader_options {
    const char *run_dir;          /* where *.tap is looked for; NULL: nowhere */
    const char *const *endpoints; /* further taps */
    size_t endpoint_count;
    const char *curve_dir; /* for tcp; NULL: none */
    bool allow_plain_tcp;
};

/* NULL on failure, with one line in error. */
struct tap_reader *tap_reader_open(const struct tap_reader_options *options, char *error,
                                   size_t room);
void tap_reader_close(struct tap_reader **reader);
/* Connects to taps that have appeared in the run directory since the last call. */
void tap_reader_discover(struct tap_reader *reader);
/* How many taps it listens to. */
size_t tap_reader_count(const struct tap_reader *reader);
/* The next encoded `tapped` record; false when none waits. Valid until the next call. */
bool tap_reader_next(struct tap_reader *reader, struct str *tapped);
/* Waits for a record, a signal or the deadline. */
void tap_reader_wait(struct tap_reader *reader, struct moment now, struct moment deadline);

#endif
