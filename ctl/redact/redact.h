/* redact: a recording without the names of its cluster, which is decided the same. */
#ifndef CTL_REDACT_REDACT_H
#define CTL_REDACT_REDACT_H

#include "proto/base/buffer.h"

struct redaction {
    const char *from, *to; /* files that berth record makes; to must not be there */
    const char *programs;  /* the folder of those that it is played back to */
    const char *stays;     /* words with commas that stay; NULL: none */
    uint64_t seed;         /* ORDER_SECRET; for tests: the same names each time */
    /* Found out: */
    uint64_t names;  /* how many have another one */
    bool uids_stay;  /* else a core would have said things in another order */
    unsigned lives;  /* that were played back, and came out identical */
    uint64_t packed; /* bytes of the file */
};

/* Makes the file, for this user alone, and plays it back. False with lines in error, and no file:
 * something in it would still be a name of the cluster, or the cores do not decide the same by the
 * made-up names. */
bool redact(struct redaction *r, struct buffer *error);

#endif
