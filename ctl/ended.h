/* ended: processes that end again and again, told by berth run in its run directory, a file each:
 * such a process has no door, so that nobody can ask it. */
#ifndef CTL_ENDED_H
#define CTL_ENDED_H

#include <stdbool.h>
#include <stddef.h>

#define ENDED_AGAIN 3 /* so often in a row, and it is no accident */

struct ended {
    char name[32];  /* serve */
    unsigned times; /* in a row, and none of these lives lasted 10 s */
    char how[32];   /* of the last: "with status 1", "by signal 9" */
};

/* Next to the pid file of a process. What cannot be written is left out: the log has it, too. */
void ended_note(const char *pid_file, unsigned times, int wait_status);
void ended_forget(const char *pid_file);
/* What there is in a run directory, by name; returns how many, at most room. */
size_t ended_read(const char *run_dir, struct ended *at, size_t room);

#endif
