/* backoff: two heaps and the arithmetic of whole seconds.
 *
 * Ends are floored to a second, and a backoff runs while the clock's second is not beyond it: so
 * pods that failed within one second come back together, and a wait is up to a second longer than
 * its nominal length, exactly as upstream. Strict ones are not floored. Errors wait by themselves
 * since an idle scheduler may take a rejected pod early, but must not hammer an API server that
 * failed. */
#include "queue/backoff.h"

#include "proto/base/must.h"
#include "queue/rank.h"

#define SECOND_NS 1000000000LL

static struct heap_link *link_of(void *entry)
{
    return &((struct entry *)entry)->heap;
}

static bool pod_less(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->backoff_ends.ns != y->backoff_ends.ns)
        return x->backoff_ends.ns < y->backoff_ends.ns;
    return rank_entry_before(x, y);
}

static bool error_less(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->backoff_ends.ns != y->backoff_ends.ns)
        return x->backoff_ends.ns < y->backoff_ends.ns;
    return x->order < y->order;
}

void backoff_init(struct backoff *b, struct span initial, struct span max)
{
    must(initial.ns >= 0 && max.ns >= 0);
    *b = (struct backoff){.pods = heap_new(pod_less, link_of),
                          .errors = heap_new(error_less, link_of),
                          .initial = initial,
                          .max = max};
}

void backoff_free(struct backoff *b)
{
    heap_free(&b->pods);
    heap_free(&b->errors);
}

struct span backoff_after(const struct backoff *b, int64_t failures)
{
    if (failures == 0 || b->max.ns == 0)
        return (struct span){0};
    if (failures > 62 || b->initial.ns > b->max.ns >> (failures - 1))
        return b->max;
    return (struct span){b->initial.ns << (failures - 1)};
}

struct span backoff_length(const struct backoff *b, const struct entry *e)
{
    return backoff_after(b, e->error_count > 0 ? e->error_count : e->unschedulable_count);
}

struct moment backoff_second(struct moment m)
{
    return (struct moment){m.ns - m.ns % SECOND_NS};
}

void backoff_start(const struct backoff *b, struct entry *e)
{
    struct span length = backoff_length(b, e);
    e->backoff_ends = (struct moment){0};
    if (length.ns > 0)
        e->backoff_ends = backoff_aligned(b, moment_after(e->timestamp, length));
}

struct moment backoff_aligned(const struct backoff *b, struct moment m)
{
    return b->strict ? m : backoff_second(m);
}

bool backoff_runs(const struct backoff *b, const struct entry *e, struct moment now)
{
    return e->backoff_ends.ns != 0 && e->backoff_ends.ns >= backoff_aligned(b, now).ns;
}

static struct heap *heap_of(struct backoff *b, const struct entry *e)
{
    must(e->place == PLACE_backoff || e->place == PLACE_error_backoff);
    return e->place == PLACE_backoff ? b->pods : b->errors;
}

void backoff_add(struct backoff *b, struct entry *e)
{
    must(e->place == PLACE_nowhere);
    bool rejected = (e->rejectors | e->pending_plugins) != 0;
    e->place = rejected ? PLACE_backoff : PLACE_error_backoff;
    heap_push(heap_of(b, e), e);
}

void backoff_remove(struct backoff *b, struct entry *e)
{
    heap_remove(heap_of(b, e), e);
    e->place = PLACE_nowhere;
}

void backoff_fix(struct backoff *b, struct entry *e)
{
    heap_fix(heap_of(b, e), e);
}

struct entry *backoff_take_ended(struct backoff *b, struct moment now)
{
    struct entry *e = heap_top(b->pods);
    if (e == NULL || backoff_runs(b, e, now))
        e = heap_top(b->errors);
    if (e == NULL || backoff_runs(b, e, now))
        return NULL;
    backoff_remove(b, e);
    return e;
}

struct entry *backoff_take_early(struct backoff *b)
{
    struct entry *e = heap_top(b->pods);
    if (e != NULL)
        backoff_remove(b, e);
    return e;
}

size_t backoff_count(const struct backoff *b)
{
    return heap_count(b->pods) + heap_count(b->errors);
}
