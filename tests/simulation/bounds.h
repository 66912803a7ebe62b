/* bounds: what processes keep, beside what there is. */
#ifndef TESTS_SIMULATION_BOUNDS_H
#define TESTS_SIMULATION_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of a status report: the line that begins with "key="; -1: there is none. */
int64_t bounds_said(const char *lines, const char *key);
/* No binder has anything left to do. why: what one has. */
bool bounds_binders_idle(char *why, size_t room);
/* All watchers mirror what there is, of each kind that others are bounded by. why: what is missing.
 */
bool bounds_watchers_heard(char *why, size_t room);
/* Nobody holds more than belongs to what there is; a violation else. For a calm. */
void bounds_check(void);

#endif
