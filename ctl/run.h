/* run: `berth run`, the supervisor that starts every process and keeps it running. */
#ifndef CTL_RUN_H
#define CTL_RUN_H

/* Returns the exit status: 0 after a clean stop, 1 when it could not start or an argument is bad.
 */
int command_run(int argc, char **argv);

#endif
