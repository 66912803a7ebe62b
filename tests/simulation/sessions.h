/* sessions: what must stay true of a link's greetings, whatever is late, lost, or said twice. */
#ifndef TESTS_SIMULATION_SESSIONS_H
#define TESTS_SIMULATION_SESSIONS_H

#include "tests/simulation/process.h"

/* Of one connection; all zero at its start. */
struct sessions {
    int64_t asked;    /* by the connecting side's last hello */
    int64_t answered; /* by the last hello of the door that came there */
};

/* The connecting side sends a frame. */
void sessions_said(struct sessions *s, const struct proc *p, struct str frame);
/* A frame of the door comes there. */
void sessions_heard(struct sessions *s, struct str frame);

#endif
