/* kins: one rejection for all who ask for the same: who waits for the outcome of whom, and when
 * that is over.
 *
 * What must stay true: while kin are spoken for, one of them is asleep and listens; while somebody
 * is parked and not spoken for, one of its kin is under way or stands in line, or the kin is
 * marked. */
#include "queue/kins.h"

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

void kins_follow(struct queues *q, struct moment now, struct entry *e)
{
    bool wants = e->attempts > 0 && !e->alone;
    if (e->kin == NULL ? !wants : wants && kin_has(e->kin, e))
        return;
    bool parked = e->place == PLACE_parked;
    size_t limit = e->kin != NULL ? e->kin->limit : KIN_LIMIT_MOST;
    if (parked)
        places_leave(q, e);
    kin_leave(e);
    if (wants)
        kin_join(&q->kins, e, limit);
    if (!parked)
        return;
    q->cause = "UnschedulablePodUpdate";
    places_requeue(q, now, e, WORTH_after_backoff);
}

void kins_free(struct kins *kins)
{
    must(kins->parked == 0 && kins->table.count == 0);
    for (struct kin *k = kins->marked, *next; k != NULL; k = next) {
        next = k->next;
        kin_free(k);
    }
    kins->marked = NULL;
    table_free(&kins->table);
}

/* Whether nothing but what its kin ask for as well has rejected it: plugins that nobody knows may
 * look at a pod's name, and those that are waited for make a difference between a pod and the next.
 */
static bool as_its_kin(const struct entry *e)
{
    return e->kin != NULL && e->rejectors != 0 && (e->rejectors & PLUGINS_other) == 0 &&
           e->pending_plugins == 0 && nominated_node(e).len == 0;
}

static void pause_cousins(struct kin *k, struct moment now)
{
    int64_t ms = span_ms(k->pause);
    k->pause = span_of_ms(ms == 0 ? 1 : ms * 2 < COUSINS_PAUSE_MS ? ms * 2 : COUSINS_PAUSE_MS);
    k->until = moment_after(now, k->pause);
}

void kins_speak(struct entry *e, struct moment now)
{
    struct kin *k = e->kin;
    if (!as_its_kin(e))
        return;
    k->limit = 1;
    k->wins = 0;
    if (k->cousins)
        pause_cousins(k, now);
    else if (e->place == PLACE_unschedulable && e->gate == GATE_none)
        k->spoken = true;
}

/* ---- turns ---- */

static bool old(const struct entry *e, struct moment now)
{
    return moment_since(now, e->timestamp).ns > span_of_seconds(KIN_SECONDS).ns;
}

static bool spoken_for(const struct entry *e, struct moment now)
{
    const struct kin *k = e->kin;
    if (!as_its_kin(e) || e->insists || e->flushed)
        return false;
    if (k->cousins)
        return k->members >= COUSINS_LEAST && !moment_reached(now, k->until) &&
               backoff_runs(e, now);
    return k->spoken && !old(e, now);
}

static void park(struct queues *q, struct entry *e)
{
    struct kin *k = e->kin;
    places_leave(q, e);
    entry_fold(e);
    if (k->parked == NULL)
        k->parked = heap_new(less, link_of);
    e->place = PLACE_parked;
    heap_push(k->parked, e);
    q->kins.parked++;
    q->kins.spared++;
    if (k->cousins)
        kin_mark(k);
}

void kins_sift(struct queues *q, struct moment now)
{
    struct entry *e;
    while ((e = heap_top(q->active.heap)) != NULL && spoken_for(e, now))
        park(q, e);
}

void kins_sift_early(struct queues *q, struct moment now)
{
    struct entry *e;
    while ((e = heap_top(q->backoff.pods)) != NULL && spoken_for(e, now))
        park(q, e);
}

bool kins_full(const struct entry *e)
{
    return as_its_kin(e) && !e->insists && e->kin->under_way >= e->kin->limit &&
           (e->place == PLACE_backoff || !e->kin->cousins);
}

static void unpark(struct queues *q, struct moment now, struct entry *e)
{
    places_leave(q, e);
    if (backoff_runs(e, now))
        backoff_add(&q->backoff, e);
    else
        active_add(&q->active, e);
}

static bool free_again(const struct kin *k, struct moment now)
{
    return (k->cousins ? moment_reached(now, k->until) : !k->spoken) &&
           k->under_way + k->released < k->limit;
}

/* Cousins are not held up any longer than their backoff runs. */
static void review(struct queues *q, struct moment now, struct kin *k)
{
    struct entry *e;
    while (k->parked != NULL && (e = heap_top(k->parked)) != NULL) {
        bool waited = k->cousins && !backoff_runs(e, now);
        if (!waited && !free_again(k, now))
            break;
        unpark(q, now, e);
        e->released = !waited;
        k->released += !waited;
    }
    if (k->cousins && k->parked != NULL && heap_count(k->parked) > 0)
        kin_mark(k);
}

void kins_tick(struct queues *q, struct moment now)
{
    struct kin *k = q->kins.marked, *next;
    q->kins.marked = NULL;
    for (; k != NULL; k = next) {
        next = k->next;
        k->marked = false;
        if (k->members == 0 && k->under_way == 0)
            kin_free(k);
        else
            review(q, now, k);
    }
}

struct moment kins_due(const struct kins *kins, struct moment now)
{
    struct moment due = MOMENT_NEVER;
    if (kins->parked > 0) /* backoffs end with a second */
        due = moment_after(backoff_second(now), span_of_ms(1000));
    for (const struct kin *k = kins->marked; k != NULL; k = k->next) {
        if (k->parked == NULL || heap_count(k->parked) == 0)
            continue;
        if (free_again(k, now))
            return now;
        if (k->cousins && !moment_reached(now, k->until))
            due = moment_earlier(due, k->until);
    }
    return due;
}

void kins_flush(struct queues *q, struct moment now)
{
    size_t at = 0;
    struct kin *k;
    while ((k = table_next(&q->kins.table, &at)) != NULL) {
        struct entry *e;
        while (k->parked != NULL && (e = heap_top(k->parked)) != NULL) {
            unpark(q, now, e);
            e->insists = old(e, now);
        }
    }
}
