/* release_list: what the binder was asked to take back of a pod's claims, and how its attempt ends
 * when all is answered. */
#ifndef SCHEDULER_COORDINATOR_RELEASE_LIST_H
#define SCHEDULER_COORDINATOR_RELEASE_LIST_H

#include "proto/base/arena.h"
#include "proto/base/memory.h"
#include "proto/messages.h"

struct release {
    struct claim_release request; /* texts in the memory */
    bool answered;
};

struct release_list {
    struct arena memory;
    uint32_t count, open, room;
    struct release *at;
    int missed;
    bool tells;                 /* the failure: */
    struct str message;         /* up to what PostFilter says, */
    struct str done;            /* and that, unless */
    struct str error;           /* it failed */
    bool clears;                /* the nomination */
    enum outcome_result result; /* how the flight lands; NULL: it does not yet */
};

/* Nothing is waited for any more. */
static inline void release_list_free(struct release_list **list)
{
    struct release_list *r = *list;
    if (r == NULL)
        return;
    memory_free(r->at);
    arena_free(&r->memory);
    memory_free(r);
    *list = NULL;
}

#endif
