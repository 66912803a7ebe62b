/* volume_doubts: a line of reservations, each with the time at which it is over.
 *
 * What must stay true: who came first is over first; what the watch has confirmed meanwhile, or
 * somebody has assumed anew, is not touched. */
#include "scheduler/catalog/volume_doubts.h"

#include "proto/base/memory.h"

#define DOUBT_MS 10000

struct volume_doubt {
    struct volume_doubt *next;
    struct arena memory;
    struct reservation what;
    struct moment over;
};

static void copy(struct reservation *to, const struct reservation *from, struct arena *a)
{
    to->profile = arena_copy(a, from->profile);
    to->node = arena_copy(a, from->node);
    to->count = from->count;
    to->at = arena_take(a, from->count * sizeof(*to->at));
    for (uint32_t i = 0; i < from->count; i++) {
        const struct claim_binding *b = &from->at[i];
        to->at[i] = (struct claim_binding){.namespace_name = arena_copy(a, b->namespace_name),
                                           .name = arena_copy(a, b->name),
                                           .uid = arena_copy(a, b->uid),
                                           .volume_name = arena_copy(a, b->volume_name)};
    }
}

void volume_doubts_add(struct volume_doubts *d, struct reservation *r, struct moment now)
{
    if (r->count == 0)
        return;
    struct volume_doubt *new = memory_take(sizeof(*new));
    new->memory.first = 512;
    copy(&new->what, r, &new->memory);
    new->over = moment_after(now, span_of_ms(DOUBT_MS));
    if (d->last != NULL)
        d->last->next = new;
    else
        d->first = new;
    d->last = new;
    *r = (struct reservation){0};
}

static void drop_first(struct volume_doubts *d)
{
    struct volume_doubt *first = d->first;
    d->first = first->next;
    if (d->first == NULL)
        d->last = NULL;
    arena_free(&first->memory);
    memory_free(first);
}

bool volume_doubts_end(struct volume_doubts *d, struct catalog *catalog, struct moment now)
{
    bool freed = false;
    while (d->first != NULL && moment_reached(now, d->first->over)) {
        freed |= volume_unreserve(catalog, &d->first->what);
        drop_first(d);
    }
    return freed;
}

void volume_doubts_free(struct volume_doubts *d)
{
    while (d->first != NULL)
        drop_first(d);
}
