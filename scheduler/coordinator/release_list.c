/* release_list: memory of what a flight waits for. What must stay true: it goes with its flight. */
#include "scheduler/coordinator/release_list.h"

#include "proto/base/memory.h"

void release_list_free(struct release_list **list)
{
    struct release_list *r = *list;
    if (r == NULL)
        return;
    memory_free(r->at);
    arena_free(&r->memory);
    memory_free(r);
    *list = NULL;
}
