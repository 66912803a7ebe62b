/* active: a heap by priority, then timestamp. An entry's timestamp is that of its last failure, so
 * a pod that is woken again and again queues behind equals that have waited longer. */
#include "queue/active.h"

#include "proto/base/must.h"
#include "queue/rank.h"

static bool less(const void *a, const void *b)
{
    return rank_entry_before(a, b);
}

static struct heap_link *link_of(void *entry)
{
    return &((struct entry *)entry)->heap;
}

void active_init(struct active *a)
{
    a->heap = heap_new(less, link_of);
}

void active_free(struct active *a)
{
    heap_free(&a->heap);
}

void active_add(struct active *a, struct entry *e)
{
    must(e->place == PLACE_nowhere);
    e->place = PLACE_active;
    heap_push(a->heap, e);
}

void active_remove(struct active *a, struct entry *e)
{
    must(e->place == PLACE_active);
    heap_remove(a->heap, e);
    e->place = PLACE_nowhere;
}

void active_fix(struct active *a, struct entry *e)
{
    must(e->place == PLACE_active);
    heap_fix(a->heap, e);
}

size_t active_count(const struct active *a)
{
    return heap_count(a->heap);
}
