/* helper: one process of the program `berth`, which lies beside ours, with pipes for what it reads,
 * prints and complains of. It does what nobody should do who speaks with strangers. */
#ifndef SERVE_HELPER_H
#define SERVE_HELPER_H

#include "proto/base/buffer.h"

#include <sys/types.h>

#define HELPER_ARGS_MAX 112

/* Zero-initialise with helper_none. */
struct helper {
    pid_t pid;        /* 0: none runs */
    int in, out, err; /* -1: closed */
};

#define HELPER_NONE ((struct helper){.in = -1, .out = -1, .err = -1})

/* For tests: another program than the one beside ours; borrowed. */
void helper_set_program(const char *path);
/* argv: what stands behind the program's name, up to a NULL. No shell reads it. False: it could not
 * be started, which was logged. */
bool helper_start(struct helper *h, char *const *argv);
/* Reads what there is, at most so many bytes of each in all; beyond that it is read and dropped,
 * and false is returned. err may be NULL: then its lines are logged. */
bool helper_read(struct helper *h, struct buffer *out, struct buffer *err, size_t most);
/* True when it has ended; status as of waitpid. */
bool helper_ended(struct helper *h, int *status);
/* Kills it and closes its pipes; helper_ended is to be called until it has ended. */
void helper_kill(struct helper *h);
/* The same, and waits for its end, which comes at once. */
void helper_free(struct helper *h);

#endif
