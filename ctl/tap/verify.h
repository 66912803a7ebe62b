/* verify: each mirrored frame read twice, by the codec as processes do and by msgpack-c, and
 * compared field by field. */
#ifndef CTL_TAP_VERIFY_H
#define CTL_TAP_VERIFY_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"

#include <stdint.h>

/* Zero-initialise. */
struct tap_verify {
    uint64_t frames, different;
    struct buffer lines; /* of the frame looked at last */
    struct buffer found; /* what the second reader says */
    struct arena ours, theirs;
};

void tap_verify_free(struct tap_verify *v);
/* The frame as it was mirrored: the record around it, its envelope and its body. True when both
 * readers agree; else lines has one for each difference, "FROM>TO MESSAGE PART: …". */
bool tap_verify_frame(struct tap_verify *v, struct str tapped);

#endif
