/* equivalence: one rejection for all who ask for the same: who waits for the outcome of whom, and
 * when that is over.
 *
 * What must stay true: while equals are spoken for, one of them is asleep and listens; while
 * somebody is parked and not spoken for, one of its equals is under way or stands in line, or the
 * class is marked. */
#include "queue/equivalence.h"

#include "proto/base/must.h"
#include "queue/places.h"
#include "queue/plugins.h"
#include "queue/rank.h"

static struct heap_link *link_of(void *entry)
{
    return &((struct entry *)entry)->heap;
}

/* Who could be tried first if there were nobody else: an end that is over is before all others. */
static bool less(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->backoff_ends.ns != y->backoff_ends.ns)
        return x->backoff_ends.ns < y->backoff_ends.ns;
    return rank_entry_before(x, y);
}

void equivalence_follow(struct queues *q, struct moment now, struct entry *e)
{
    bool wants = e->attempts > 0 && !e->alone;
    if (e->equals == NULL ? !wants : wants && equals_has(e->equals, e))
        return;
    bool parked = e->place == PLACE_parked;
    size_t limit = e->equals != NULL ? e->equals->limit : EQUALS_LIMIT_MOST;
    if (parked)
        places_leave(q, e);
    equals_leave(e);
    if (wants)
        equals_join(&q->equivalence, e, limit);
    if (!parked)
        return;
    q->cause = "UnschedulablePodUpdate";
    places_requeue(q, now, e, WORTH_after_backoff);
}

void equivalence_free(struct equivalence *equivalence)
{
    must(equivalence->parked == 0 && equivalence->table.count == 0);
    for (struct equals *k = equivalence->marked, *next; k != NULL; k = next) {
        next = k->next;
        equals_free(k);
    }
    equivalence->marked = NULL;
    table_free(&equivalence->table);
}

/* Whether nothing but what its equals ask for as well has rejected it: plugins that nobody knows
 * may look at a pod's name, and those that are waited for make a difference between a pod and the
 * next.
 */
static bool as_its_equals(const struct entry *e)
{
    return e->equals != NULL && e->rejectors != 0 &&
           (e->rejectors & (PLUGINS_other | PLUGINS_bus)) == 0 && e->pending_plugins == 0 &&
           nominated_node(e).len == 0;
}

static void pause_similar(struct equals *k, struct moment now)
{
    int64_t ms = span_ms(k->pause);
    k->pause = span_of_ms(ms == 0 ? 1 : ms * 2 < SIMILAR_PAUSE_MS ? ms * 2 : SIMILAR_PAUSE_MS);
    k->until = moment_after(now, k->pause);
}

void equivalence_speak(struct entry *e, struct moment now)
{
    struct equals *k = e->equals;
    if (!as_its_equals(e))
        return;
    k->limit = 1;
    k->wins = 0;
    if (k->similar)
        pause_similar(k, now);
    else if (e->place == PLACE_unschedulable && e->gate == GATE_none)
        k->spoken = true;
}

/* ---- turns ---- */

static bool old(const struct entry *e, struct moment now)
{
    return moment_since(now, e->timestamp).ns > span_of_seconds(EQUALS_SECONDS).ns;
}

static bool spoken_for(const struct queues *q, const struct entry *e, struct moment now)
{
    const struct equals *k = e->equals;
    if (!as_its_equals(e) || e->insists || e->flushed)
        return false;
    if (k->similar)
        return k->members >= SIMILAR_LEAST && !moment_reached(now, k->until) &&
               backoff_runs(&q->backoff, e, now);
    return k->spoken && !old(e, now);
}

static void park(struct queues *q, struct entry *e)
{
    struct equals *k = e->equals;
    places_leave(q, e);
    entry_fold(e);
    if (k->parked == NULL)
        k->parked = heap_new(less, link_of);
    e->place = PLACE_parked;
    heap_push(k->parked, e);
    q->equivalence.parked++;
    q->equivalence.spared++;
    if (k->similar)
        equals_mark(k);
}

void equivalence_sift(struct queues *q, struct moment now)
{
    struct entry *e;
    while ((e = heap_top(q->active.heap)) != NULL && spoken_for(q, e, now))
        park(q, e);
}

void equivalence_sift_early(struct queues *q, struct moment now)
{
    struct entry *e;
    while ((e = heap_top(q->backoff.pods)) != NULL && spoken_for(q, e, now))
        park(q, e);
}

bool equivalence_full(const struct entry *e)
{
    return as_its_equals(e) && !e->insists && e->equals->under_way >= e->equals->limit &&
           (e->place == PLACE_backoff || !e->equals->similar);
}

static void unpark(struct queues *q, struct moment now, struct entry *e)
{
    places_leave(q, e);
    if (backoff_runs(&q->backoff, e, now))
        backoff_add(&q->backoff, e);
    else
        active_add(&q->active, e);
}

static bool free_again(const struct equals *k, struct moment now)
{
    return (k->similar ? moment_reached(now, k->until) : !k->spoken) &&
           k->under_way + k->released < k->limit;
}

/* Similar pods are not held up any longer than their backoff runs. */
static void review(struct queues *q, struct moment now, struct equals *k)
{
    struct entry *e;
    while (k->parked != NULL && (e = heap_top(k->parked)) != NULL) {
        bool waited = k->similar && !backoff_runs(&q->backoff, e, now);
        if (!waited && !free_again(k, now))
            break;
        unpark(q, now, e);
        e->released = !waited;
        k->released += !waited;
    }
    if (k->similar && k->parked != NULL && heap_count(k->parked) > 0)
        equals_mark(k);
}

void equivalence_tick(struct queues *q, struct moment now)
{
    struct equals *k = q->equivalence.marked, *next;
    q->equivalence.marked = NULL;
    for (; k != NULL; k = next) {
        next = k->next;
        k->marked = false;
        if (k->members == 0 && k->under_way == 0)
            equals_free(k);
        else
            review(q, now, k);
    }
}

struct moment equivalence_due(const struct equivalence *equivalence, struct moment now)
{
    struct moment due = MOMENT_NEVER;
    if (equivalence->parked > 0) /* backoffs end with a second */
        due = moment_after(backoff_second(now), span_of_ms(1000));
    for (const struct equals *k = equivalence->marked; k != NULL; k = k->next) {
        if (k->parked == NULL || heap_count(k->parked) == 0)
            continue;
        if (free_again(k, now))
            return now;
        if (k->similar && !moment_reached(now, k->until))
            due = moment_earlier(due, k->until);
    }
    return due;
}

void equivalence_flush(struct queues *q, struct moment now)
{
    size_t at = 0;
    struct equals *k;
    while ((k = table_next(&q->equivalence.table, &at)) != NULL) {
        struct entry *e;
        while (k->parked != NULL && (e = heap_top(k->parked)) != NULL) {
            unpark(q, now, e);
            e->insists = old(e, now);
        }
    }
}
