/* frames: a recording of berth record as one of berth tap (ctl/recording.h): what went over the
 * bus, in the order of time, for who shows that. */
#ifndef CTL_RECORD_FRAMES_H
#define CTL_RECORD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether the file begins as an archive does. */
bool frames_are_in(const char *path);
/* A file without a name that stands behind its head, as recording_open leaves one that tells what
 * was missed. NULL with one line in error; also when the archive is broken. */
FILE *frames_open(const char *path, char *error, size_t room);

#endif
