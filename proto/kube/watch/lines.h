/* lines: cuts a stream that arrives in pieces into lines, copying only what is torn between two
 * pieces. */
#ifndef KUBE_WATCH_LINES_H
#define KUBE_WATCH_LINES_H

#include "proto/base/buffer.h"

/* Zero-initialise and set max. */
struct lines {
    struct buffer torn; /* the beginning of a line whose end has not come yet */
    size_t max;         /* longest line, in bytes */
    struct str rest;    /* what of the current piece is not cut yet */
};

/* Gives it the next piece (borrowed until lines_next has returned false). */
void lines_feed(struct lines *l, struct str piece);
enum lines_step { LINES_line, LINES_more, LINES_too_long };
/* The next whole line without its end, borrowed until the next call; empty lines are skipped. */
enum lines_step lines_next(struct lines *l, struct str *line);
void lines_reset(struct lines *l);
void lines_free(struct lines *l);

#endif
