/* replay: plays a journal back to an actor, without a bus. */
#ifndef REPLAY_H
#define REPLAY_H

#include "proto/bus/actor.h"
#include "proto/bus/options.h"

/* Tells the actor what the journal in force holds, as fast as it can, and compares what it says. */
void replay_play(const struct actor *actor);
/* The same with a line about it on standard output: how much was the same and up to where, or the
 * first difference. Returns the exit status: 1 when something differs or the file is broken.
 * What is written to the files of answers, which is what the core says to tools behind the last
 * entry (a question that was put there), and of what is said, are entries (proto/journal/entry.h)
 * without a head; of what is said each has the wall clock, and its body. */
int replay_run(const struct replay_options *options, const struct actor *actor);

#endif
