/* jobs: processes that share the work of one program: each takes the next piece until there is
 * none. */
#ifndef TESTS_SIMULATION_JOBS_H
#define TESTS_SIMULATION_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls work in so many processes at once, in this one alone when count is 1, and waits for them.
 * Returns how many of them died. */
uint32_t jobs_run(uint32_t count, void (*work)(void *context, uint32_t job), void *context);
/* Numbers from 0 on, each once whoever asks. */
uint64_t jobs_next(void);
/* What this job has printed appears, at once and unmixed with what others have to say. */
void jobs_say(void);
/* No job begins anything more. */
void jobs_stop(void);
bool jobs_stopped(void);
/* Zeroed memory that all jobs see, when it is asked for before them. */
void *jobs_memory(size_t size);

#endif
