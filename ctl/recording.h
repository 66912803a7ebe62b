/* recording: frames as taps mirrored them, in a file: the ten bytes "BERTHTAP1\n", then for each
 * frame its length (four bytes, most significant first) and that many bytes of msgpack: a `tapped`
 * record as MESSAGES.md describes it. */
#ifndef RECORDING_H
#define RECORDING_H

#include "proto/base/buffer.h"

#include <stdio.h>

/* Makes or empties the file and writes its head; NULL with a line in error. */
FILE *recording_create(const char *path, char *error, size_t room);
bool recording_add(FILE *file, struct str tapped);
/* Opens and checks the head; NULL with a line in error. */
FILE *recording_open(const char *path, char *error, size_t room);

enum recording_step {
    RECORDING_frame,
    RECORDING_end,
    RECORDING_cut, /* ends in the middle of a frame, as after a kill */
    RECORDING_broken
};

/* The next frame into tapped, which is emptied first. */
enum recording_step recording_next(FILE *file, struct buffer *tapped);

#endif
