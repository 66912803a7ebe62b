/* process: what the kernel says of this process, and allows it. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* Sets process_* and berth_process_* (metrics.def) from /proc/self, and berth_build_info. version:
 * this program's. */
void process_measure(const char *version);

/* Raises how many descriptors this process may open, as far as it may itself (to 16,384 at most).
 * False when that is less than need, with one line in error that says what to do. */
bool process_allow_files(unsigned need, char *error, size_t room);

#endif
