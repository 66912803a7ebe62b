/* frames: cuts a stream that arrives in pieces into frames, each behind its length in four bytes
 * (big endian), copying only what is torn between two pieces. */
#ifndef KUBE_WATCH_FRAMES_H
#define KUBE_WATCH_FRAMES_H

#include "proto/base/buffer.h"

/* Zero-initialise and set max. */
struct frames {
    struct buffer torn; /* the beginning of a frame, with its length, whose end has not come yet */
    size_t max;         /* longest frame, in bytes */
    struct str rest;    /* what of the current piece is not cut yet */
    bool lent;          /* torn is the frame that was given out last */
};

/* Gives it the next piece (borrowed until frames_next has returned something else than a frame). */
void frames_feed(struct frames *f, struct str piece);
enum frames_step { FRAMES_frame, FRAMES_more, FRAMES_too_long };
/* The next whole frame without its length, borrowed until the next call; it may be empty. */
enum frames_step frames_next(struct frames *f, struct str *frame);
void frames_reset(struct frames *f);
void frames_free(struct frames *f);

#endif
