/* output: whether what a command printed got out. */
#ifndef CTL_OUTPUT_H
#define CTL_OUTPUT_H

/* The command's exit status, and never 0 where standard output did not take everything, which is
 * said on standard error. */
int output_finish(const char *command, int status);

#endif
