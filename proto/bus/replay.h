/* replay: plays a journal back to an actor, without a bus. */
#ifndef REPLAY_H
#define REPLAY_H

#include "proto/bus/actor.h"

/* Tells the actor what the journal in force holds, as fast as it can, and compares what it says. */
void replay_play(const struct actor *actor);
/* The same with a line about it on standard output: how much was the same and up to where, or the
 * first difference. Returns the exit status: 1 when something differs or the file is broken. */
int replay_run(const char *path, const struct actor *actor);

#endif
