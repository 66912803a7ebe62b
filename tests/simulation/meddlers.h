/* meddlers: those who change a claim or a volume between somebody's look at it and his write, or a
 * pod while it is being decided. */
#ifndef TESTS_SIMULATION_MEDDLERS_H
#define TESTS_SIMULATION_MEDDLERS_H

#include "proto/messages.h"

/* An object was read by one of us: while they are about (weather), it may be changed soon. */
void meddlers_saw(const char *path);
/* So may a pod that workers are asked about. */
void meddlers_asked(const struct message *asked);
void meddlers_known(void);

#endif
