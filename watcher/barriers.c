/* barriers: which questions wait, and for how many lists. What must stay true: only the asker gets
 * its answer, so the same number of another asker is forgotten; a question that waits is not
 * dropped for one that comes later. */
#include "watcher/barriers.h"

#include "proto/base/memory.h"

#include <string.h>

static void drop(struct barriers *b, size_t i)
{
    memory_free(b->waiting[i].tickets);
    memmove(&b->waiting[i], &b->waiting[i + 1], (b->count - i - 1) * sizeof(b->waiting[0]));
    b->count--;
}

void barriers_free(struct barriers *b)
{
    while (b->count > 0)
        drop(b, b->count - 1);
}

void barriers_lose(struct barriers *b, struct address from)
{
    for (size_t i = 0; i < b->count; i++)
        if (same_address(b->waiting[i].name.from, from))
            b->waiting[i].name.from.peer = 0;
}

/* True when the asker is waiting for that id already. The same id of another asker (an earlier life
 * of the scheduler) is forgotten: its answer would be taken for one to the newer question. */
static bool waits(struct barriers *b, const struct barrier_name *name)
{
    bool does = false;
    for (size_t i = b->count; i-- > 0;) {
        if (b->waiting[i].name.id != name->id)
            continue;
        if (same_address(b->waiting[i].name.from, name->from))
            does = true;
        else
            drop(b, i);
    }
    return does;
}

/* True when it was reached, and the asker has not heard so. Of another asker's, as above. */
static bool was_reached(struct barriers *b, const struct barrier_name *name)
{
    bool was = false;
    for (size_t i = 0; i < BARRIERS_MAX; i++) {
        if (b->reached[i].id != name->id)
            continue;
        if (same_address(b->reached[i].from, name->from))
            was = true;
        else
            b->reached[i] = (struct barrier_name){0};
    }
    if (!was && b->last == name->id)
        b->last = 0;
    return was;
}

/* Who is refused asks again. */
static bool has_room(struct barriers *b, struct moment now)
{
    for (size_t i = 0; i < b->count && b->count == BARRIERS_MAX; i++)
        if (b->waiting[i].name.from.peer == 0)
            drop(b, i);
    if (b->count < BARRIERS_MAX)
        return true;
    b->refused++;
    if (log_limited(&b->limit, now))
        log_warn("too many barriers wait, the newest is refused|max=%d", BARRIERS_MAX);
    return false;
}

uint64_t *barriers_ask(struct barriers *b, struct moment now, const struct barrier_name *name,
                       size_t kinds, bool *again)
{
    if (waits(b, name))
        return NULL;
    *again = was_reached(b, name);
    if (!has_room(b, now))
        return NULL;
    struct barrier_asked *asked = &b->waiting[b->count++];
    *asked = (struct barrier_asked){*name, memory_take_array(kinds, sizeof(uint64_t))};
    return asked->tickets;
}

bool barriers_next(struct barriers *b, bool (*over)(const void *context, const uint64_t *tickets),
                   const void *context)
{
    size_t i = 0;
    while (i < b->count && !over(context, b->waiting[i].tickets))
        i++;
    if (i == b->count)
        return false;
    b->last = b->waiting[i].name.id;
    b->reached[b->reached_count++ % BARRIERS_MAX] = b->waiting[i].name;
    drop(b, i);
    return true;
}
