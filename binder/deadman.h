/* deadman: ends the process when it wakes up behind its lease's deadline inside of code that may
 * write.
 *
 * Between reading the clock and the bytes leaving, a process can be stopped for any time (SIGSTOP,
 * a frozen container, a starved host) and would go on writing as if nothing had happened. A timer
 * of the kernel stands at the deadline; its signal is delivered before the process runs another
 * instruction of its own. If that happens between enter and leave, the process exits at once;
 * everywhere else the signal means nothing, because the clock is read again before anything is
 * written. */
#ifndef BINDER_DEADMAN_H
#define BINDER_DEADMAN_H

#include "proto/base/moment.h"

#define DEADMAN_STATUS 3 /* the exit status */

/* Installs the handler; call it in the thread that writes. */
void deadman_open(void);
void deadman_close(void);
/* Sets the deadline; MOMENT_NEVER or a moment of 0 takes it away. Cheap when it is the same;
 * nothing unless it is open. */
void deadman_arm(struct moment at);
void deadman_enter(void);
void deadman_leave(void);

#endif
