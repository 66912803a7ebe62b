/* recording: frames as taps mirrored them, in a file: the ten bytes "BERTHTAP2\n", then for each
 * frame its length and how many frames the reader missed before it (four bytes each, most
 * significant first), and that many bytes of msgpack: a `tapped` record as MESSAGES.md describes
 * it. A length of 0 is no frame; it tells what was missed at the end. In files that begin with
 * "BERTHTAP1\n" there is no second number. */
#ifndef RECORDING_H
#define RECORDING_H

#include "proto/base/buffer.h"

#include <stdio.h>

/* Makes or empties the file and writes its head; NULL with a line in error. */
FILE *recording_create(const char *path, char *error, size_t room);
/* The same for a file that must not be there yet, and is its owner's alone: it holds pods. What is
 * no file, such as a pipe, is written to. */
FILE *recording_create_new(const char *path, char *error, size_t room);
/* missed: frames that the reader missed since the one recorded before. */
bool recording_add(FILE *file, struct str tapped, uint32_t missed);
/* Opens and checks the head; NULL with a line in error. told: the file says what was missed. */
FILE *recording_open(const char *path, bool *told, char *error, size_t room);

enum recording_step {
    RECORDING_frame,
    RECORDING_end,
    RECORDING_cut, /* ends in the middle of a frame, as after a kill */
    RECORDING_broken
};

/* The next frame into tapped, which is emptied first. told as recording_open has said; missed is 0
 * without it. */
enum recording_step recording_next(FILE *file, bool told, struct buffer *tapped, uint32_t *missed);

#endif
