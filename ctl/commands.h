/* commands: the commands of berth; each takes its own arguments, argv[0] being its name, and
 * returns the exit status. */
#ifndef COMMANDS_H
#define COMMANDS_H

int command_tap(int argc, char **argv);
int command_status(int argc, char **argv);
int command_queue(int argc, char **argv);
int command_nodes(int argc, char **argv);
int command_config(int argc, char **argv);
int command_keys(int argc, char **argv);

#endif
