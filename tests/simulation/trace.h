/* trace: what happened, for a person, when it is asked for: one line an event, with virtual time.
 */
#ifndef TESTS_SIMULATION_TRACE_H
#define TESTS_SIMULATION_TRACE_H

#include <stdbool.h>
#include <stdint.h>

extern int trace_level; /* 0: nothing; 1: what was done to the system; 2: what it did; 3: all;
                           4: messages whole */

/* Of conversions %s, %d, %u and %c, with ll or a most of bytes. */
void trace(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number that follows from all that was traced, printed or not; two runs of a seed agree. */
uint64_t trace_hash(void);
void trace_reset(void);

#endif
