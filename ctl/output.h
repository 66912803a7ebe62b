/* output: whether what a command printed got out. */
#ifndef CTL_OUTPUT_H
#define CTL_OUTPUT_H

#include "proto/base/str.h"

#include <stdbool.h>

/* For who may end reading whenever he likes, where SIGPIPE is ignored: prints at once; or when
 * there is enough of it, or with the flush. False: it did not get out. */
bool output_stream(struct str text);
bool output_put(struct str text);
bool output_flush(void);
/* It did not since nobody reads any more, which is a good end then, also to output_finish(). */
bool output_is_unread(void);
/* The command's exit status, and never 0 where standard output did not take everything, which is
 * said on standard error. */
int output_finish(const char *command, int status);

#endif
