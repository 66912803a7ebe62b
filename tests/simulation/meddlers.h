/* meddlers: those who change a claim or a volume between somebody's look at it and his write. */
#ifndef TESTS_SIMULATION_MEDDLERS_H
#define TESTS_SIMULATION_MEDDLERS_H

/* An object was read by one of us: while they are about (weather), it may be changed soon. */
void meddlers_saw(const char *path);
void meddlers_known(void);

#endif
