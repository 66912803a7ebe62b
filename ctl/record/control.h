/* control: where `berth run` is asked for a recording: a stream socket in its run directory, which
 * is for our user alone, as who asks must be ours or root.
 *
 * Who asks sends one line, "record SECONDS DIR": every process with a core begins a new life, which
 * is recorded in DIR, until the connection ends or the seconds are over. The answer is a line:
 * "recording", or "error " and why not; and "ended" when the recording was ended for the time. The
 * same line while it lasts begins it anew: what follows goes into the other DIR, and a refusal ends
 * it. Whoever else asks meanwhile is refused. */
#ifndef CTL_RECORD_CONTROL_H
#define CTL_RECORD_CONTROL_H

#include "proto/base/moment.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_SOCKET   "control" /* in the run directory */
#define CONTROL_LINE_MAX 512       /* bytes, with its end */
#define CONTROL_SECONDS  86400     /* a recording's most */

struct control {
    int door, caller; /* -1: none */
    char line[CONTROL_LINE_MAX];
    size_t len;
    char dir[CONTROL_LINE_MAX]; /* where is recorded; empty: nothing is */
    struct moment until;        /* the line's, then the recording's */
};

enum control_wish { CONTROL_nothing, CONTROL_record, CONTROL_end };

/* In that run directory. Without it, which is logged, all else is as ever. */
void control_open(struct control *c, const char *run_dir);
void control_close(struct control *c, const char *run_dir);
/* What is to be waited for, until when; -1: nothing. */
int control_fd(const struct control *c);
struct moment control_deadline(const struct control *c);
/* And besides: where others come while it is recorded, who are turned away. -1: not now. */
int control_door_fd(const struct control *c);
/* Takes what has come, and never waits. record: start one in c->dir; end: end the one that there
 * is. refuse: why none can be started; NULL: it can. */
enum control_wish control_look(struct control *c, struct moment now, const char *refuse);

#endif
