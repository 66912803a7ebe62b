/* kin: one rejection for all who ask for the same. Pods are kin when the shelf keeps all of what
 * they ask for once; pods with groups, devices or nominations have none, and those with claims or
 * volumes are cousins at most, since two of them are never quite alike.
 *
 * What must stay true: while kin are spoken for, one of them is asleep and listens, and when it
 * leaves that place for whatever reason nobody is spoken for any more; while somebody is parked
 * and not spoken for, one of its kin is under way or stands in line, or the kin is marked. */
#include "queue/kin.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/hints.h"
#include "queue/move.h"
#include "queue/nominated.h"
#include "queue/rank.h"

#define LIMIT_MOST 65536
/* So many that find places let one more be tried at once: when the room ends, a quarter as many
 * are under way in vain. */
#define WINS_A_PLACE 4

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

/* ---- who is kin ---- */

/* Not of addresses: whoever plays a recording back has others, and walks kin in the order of this.
 */
static uint32_t hash_of(const struct entry *e)
{
    uint64_t hash = shelf_parts_hash(e->kept) + e->cousin;
    return table_hash(hash ^ hash >> 32);
}

static bool is_kin(const void *thing, const void *key)
{
    const struct kin *k = thing;
    const struct entry *e = key;
    for (int i = 0; i < SHELF_PARTS; i++)
        if (k->parts[i] != e->kept->parts[i])
            return false;
    return k->around == e->around && k->cousins == e->cousin;
}

static void mark(struct kin *k)
{
    if (k->marked)
        return;
    k->marked = true;
    k->next = k->kins->marked;
    k->kins->marked = k;
}

/* limit: of its former kin. */
static void join(struct kins *kins, struct entry *e, size_t limit)
{
    uint32_t hash = hash_of(e);
    struct kin *k = table_get(&kins->table, hash, is_kin, e);
    if (k == NULL) {
        k = memory_take(sizeof(*k));
        k->kins = kins;
        for (int i = 0; i < SHELF_PARTS; i++)
            k->parts[i] = e->kept->parts[i];
        k->around = e->around;
        k->cousins = e->cousin;
        k->limit = limit;
        k->hash = hash;
        table_add(&kins->table, hash, k);
    }
    k->members++;
    e->kin = k;
}

/* Nobody listens for the others any more. */
static void hush(struct kin *k)
{
    k->spoken = false;
    mark(k);
}

void kins_leave(struct entry *e)
{
    struct kin *k = e->kin;
    if (k == NULL)
        return;
    must(e->place != PLACE_parked && k->members > 0);
    kins_unplaced(e);
    e->kin = NULL;
    mark(k);
    if (--k->members == 0) /* the parts it is known by may go with the pod */
        table_remove(&k->kins->table, k->hash, k);
}

void kins_follow(struct queues *q, struct moment now, struct entry *e)
{
    bool wants = e->attempts > 0 && !e->alone;
    if (e->kin == NULL ? !wants : wants && is_kin(e->kin, e))
        return;
    bool parked = e->place == PLACE_parked;
    size_t limit = e->kin != NULL ? e->kin->limit : LIMIT_MOST;
    if (parked)
        queues_unplace(q, e);
    kins_leave(e);
    if (wants)
        join(&q->kins, e, limit);
    if (!parked)
        return;
    q->cause = "UnschedulablePodUpdate";
    move_requeue(q, now, e, MOVE_after_backoff);
}

static void free_kin(struct kin *k)
{
    if (k->parked != NULL)
        heap_free(&k->parked);
    memory_free(k);
}

void kins_free(struct kins *kins)
{
    must(kins->parked == 0 && kins->table.count == 0);
    for (struct kin *k = kins->marked, *next; k != NULL; k = next) {
        next = k->next;
        free_kin(k);
    }
    kins->marked = NULL;
    table_free(&kins->table);
}

/* ---- attempts ---- */

void kin_started(struct kin *k)
{
    if (k != NULL)
        k->under_way++;
}

void kin_ended(struct kin *k)
{
    if (k == NULL)
        return;
    must(k->under_way > 0);
    k->under_way--;
    mark(k);
}

void kin_won(struct kin *k)
{
    if (k == NULL)
        return;
    if (k->limit < LIMIT_MOST)
        k->limit += ++k->wins % WINS_A_PLACE == 0;
    k->pause = span_of_ms(0);
    k->until = (struct moment){0};
    mark(k);
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

void kins_unplaced(struct entry *e)
{
    struct kin *k = e->kin;
    if (k == NULL)
        return;
    if (e->released) {
        must(k->released > 0);
        k->released--;
        e->released = false;
        mark(k);
    }
    if (e->place == PLACE_unschedulable)
        hush(k);
    if (e->place != PLACE_parked)
        return;
    heap_remove(k->parked, e);
    k->kins->parked--;
    e->place = PLACE_nowhere;
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
    queues_unplace(q, e);
    entry_fold(e);
    if (k->parked == NULL)
        k->parked = heap_new(less, link_of);
    e->place = PLACE_parked;
    heap_push(k->parked, e);
    q->kins.parked++;
    q->kins.spared++;
    if (k->cousins)
        mark(k);
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
    queues_unplace(q, e);
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
        mark(k);
}

void kins_tick(struct queues *q, struct moment now)
{
    struct kin *k = q->kins.marked, *next;
    q->kins.marked = NULL;
    for (; k != NULL; k = next) {
        next = k->next;
        k->marked = false;
        if (k->members == 0 && k->under_way == 0)
            free_kin(k);
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
