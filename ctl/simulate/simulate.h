/* simulate: `berth simulate`, what the scheduler would decide, and why. */
#ifndef SIMULATE_H
#define SIMULATE_H

/* Returns the exit status. */
int command_simulate(int argc, char **argv);

#endif
