/* recorded: what `berth follow` says of a moment in a recording of `berth record`: the cluster, who
 * waited, and what had been decided last. */
#ifndef CTL_FOLLOW_RECORDED_H
#define CTL_FOLLOW_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

/* Prints lines as follow does: one of kind "recorded", with the moment and the recording's first
 * and last one in milliseconds, then "whole", then "queue". at_us: wall clock; 0: its end; one
 * outside of the recording is taken for its nearest end. False: it was said why not. */
bool recorded_tell(const char *command, const char *path, int64_t at_us);

#endif
