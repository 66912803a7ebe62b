/* follow: `berth follow`, the cluster and its decisions as they change, a JSON object a line. */
#ifndef CTL_FOLLOW_FOLLOW_H
#define CTL_FOLLOW_FOLLOW_H

int command_follow(int argc, char **argv);

#endif
