/* run_question: what a share is asked about a run of pods whom rules count for, and which pods it
 * has put on rows to find out. Whoever asks takes them off again, or gives them names. */
#ifndef SCHEDULER_WORKER_RUN_QUESTION_H
#define SCHEDULER_WORKER_RUN_QUESTION_H

#include "proto/messages.h"

#define RUN_NAME_ROOM 24

/* The places told of, in order. Zero-initialise. */
struct run_puts {
    uint32_t count, room;
    struct run_put {
        uint32_t group; /* of the class; only to be told apart */
        bool put;       /* the pod run_unnamed(its number) is there */
    } * at;
};

void run_puts_add(struct run_puts *p, uint32_t group, bool put);
void run_puts_free(struct run_puts *p);
/* The UID of a pod that has no name yet. */
struct str run_unnamed(uint32_t i, char room[RUN_NAME_ROOM]);

/* True when no further pod is to be put; others that are not put may still be told of. */
struct run_clock {
    bool (*late)(void *state);
    void *state;
};

struct run_question {
    const struct map_run *run; /* grouped */
    struct map_run_result *out;
    struct arena *arena; /* the result's */
    struct run_clock clock;
    struct run_puts *puts;
};

#endif
