/* debug: `berth debug`. */
#ifndef CTL_DEBUG_DEBUG_H
#define CTL_DEBUG_DEBUG_H

/* argv[0] is its name. Returns the exit status. */
int command_debug(int argc, char **argv);

#endif
