/* record: `berth record` and `berth replay`, a recording of a whole running berth and what it
 * proves. */
#ifndef CTL_RECORD_H
#define CTL_RECORD_H

int command_record(int argc, char **argv);
int command_replay(int argc, char **argv);

#endif
