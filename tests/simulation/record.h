/* record: the journals of lives; each is played back to a new core at the end of the life, which
 * must say the same to the byte. */
#ifndef TESTS_SIMULATION_RECORD_H
#define TESTS_SIMULATION_RECORD_H

#include "tests/simulation/process.h"

#define RECORD_EVERY 4 /* of so many seeds one is recorded, some of its lives */

/* A directory where each life of all seeds leaves its journal as a file. */
void record_into(const char *dir);
/* Whether lives of this seed, which begins, are recorded; they are if they are to leave files. */
void record_wanted(bool wanted, uint64_t seed);
/* A life begins: puts its journal in force. */
void record_begin(struct proc *p);
/* The life is over: plays it back; another output is a violation. */
void record_end(struct proc *p);

#endif
