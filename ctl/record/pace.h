/* pace: all lives of a recording played back side by side, as fast as they were lived or so many
 * times as fast, and what the scheduler decides, as it decides it again. */
#ifndef CTL_RECORD_PACE_H
#define CTL_RECORD_PACE_H

#include "ctl/record/member.h"

struct pace {
    struct member *lives;
    size_t count;
    const char *folder; /* of programs */
    double speed;
    bool json; /* an object a line; else text */
};

/* Starts all, and prints decisions to the end; their verdicts are then waited for by member_finish.
 * False with a line on standard error: they could not be started. */
bool pace_play(const struct pace *p);

#endif
