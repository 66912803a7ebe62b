/* map_answer: whether what a worker says of its share can be. */
#ifndef SCHEDULER_MERGE_MAP_ANSWER_H
#define SCHEDULER_MERGE_MAP_ANSWER_H

#include "proto/messages.h"

/* A worker is a peer: what it says is checked before it is summed. */
bool map_answer_makes_sense(const struct map_result *said);

#endif
