/* run_question: the pods without names that a run's places are tried with. */
#include "scheduler/worker/run_question.h"

#include "proto/base/memory.h"

#include <stdio.h>

struct str run_unnamed(uint32_t i, char room[RUN_NAME_ROOM])
{
    snprintf(room, RUN_NAME_ROOM, "run/%u", i);
    return str_of(room);
}

void run_puts_add(struct run_puts *p, uint32_t group, bool put)
{
    if (p->count == p->room) {
        p->room = p->room == 0 ? 64 : p->room * 2;
        p->at = memory_resize(p->at, p->room * sizeof(*p->at));
    }
    p->at[p->count++] = (struct run_put){group, put};
}

void run_puts_free(struct run_puts *p)
{
    memory_free(p->at);
    *p = (struct run_puts){0};
}
