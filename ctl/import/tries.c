/* tries: what upstream's scheduling queue comes to where pods wait for room alone. What must stay
 * true: a pod is sent once until its attempt has ended; a backoff is 1 s at first, doubles with
 * each attempt up to 10 s; nobody waits for more than five minutes without being tried; and who
 * meets nothing but errors is not tried for ever when nothing happens any more. */
#include "ctl/import/tries.h"

#include "proto/base/memory.h"

#define SECOND_US  INT64_C(1000000)
#define BACKOFF_US (10 * SECOND_US)
#define FLUSH_US   (300 * SECOND_US)
#define ERRORS_MAX 5 /* in a row: nobody outside is there who could mend it meanwhile */

void tries_free(struct tries *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->at[i]);
    memory_free(t->at);
    map_free(&t->by_uid);
    *t = (struct tries){0};
}

static void activate(struct tries *t, struct try *one)
{
    one->state = TRY_active;
    one->number = ++t->numbers;
}

void tries_add(struct tries *t, int64_t now_us, const struct pod *pod)
{
    if (t->by_uid == NULL)
        t->by_uid = map_new();
    struct try *one = map_get(t->by_uid, pod->uid);
    if (one != NULL) {
        one->pod = pod;
        return;
    }
    if (t->count == t->room) {
        t->room = 2 * t->room + 64;
        t->at = memory_resize(t->at, t->room * sizeof(struct try *));
    }
    one = memory_take(sizeof(*one));
    *one = (struct try){.pod = pod, .first_us = now_us, .place = t->count};
    activate(t, one);
    t->at[t->count++] = one;
    map_set(t->by_uid, pod->uid, one);
}

void tries_drop(struct tries *t, struct str uid)
{
    struct try *one = t->by_uid != NULL ? map_remove(t->by_uid, uid) : NULL;
    if (one == NULL)
        return;
    t->sent -= one->state == TRY_sent;
    t->at[one->place] = t->at[--t->count];
    t->at[one->place]->place = one->place;
    memory_free(one);
}

static int64_t backoff_end(const struct try *one)
{
    int64_t wait = SECOND_US;
    for (int64_t i = 1; i < one->attempts && wait < BACKOFF_US; i++)
        wait *= 2;
    return one->tried_us + (wait < BACKOFF_US ? wait : BACKOFF_US);
}

static int64_t due_of(const struct try *one)
{
    return one->state == TRY_backoff ? backoff_end(one)
           : one->state == TRY_waits ? one->tried_us + FLUSH_US
                                     : INT64_MAX;
}

static bool goes_before(const struct try *a, const struct try *b)
{
    if (a->pod->priority != b->pod->priority)
        return a->pod->priority > b->pod->priority;
    return a->number < b->number;
}

struct try *tries_next(struct tries *t, int64_t now_us)
{
    struct try *first = NULL;
    for (size_t i = 0; i < t->count; i++) {
        struct try *one = t->at[i];
        if (due_of(one) <= now_us)
            activate(t, one);
        if (one->state == TRY_active && (first == NULL || goes_before(one, first)))
            first = one;
    }
    if (first == NULL)
        return NULL;
    first->state = TRY_sent;
    first->attempts++;
    first->tried_us = now_us;
    first->cycle = ++t->cycles;
    t->sent++;
    return first;
}

void tries_ended(struct tries *t, int64_t now_us, const struct outcome *how)
{
    struct try *one = t->by_uid != NULL ? map_get(t->by_uid, how->uid) : NULL;
    if (one == NULL || one->state != TRY_sent || one->cycle != how->cycle)
        return;
    t->sent--;
    one->state = TRY_backoff;
    one->tried_us = now_us;
    one->errors = how->result == OUTCOME_error ? one->errors + 1 : 0;
    if (how->result == OUTCOME_bound || how->result == OUTCOME_skipped)
        tries_drop(t, how->uid);
    else if (how->activate && one->errors < ERRORS_MAX)
        activate(t, one);
    else if (one->errors >= ERRORS_MAX || (how->result == OUTCOME_unschedulable && !how->behind))
        one->state = TRY_waits;
}

void tries_wake(struct tries *t, int64_t now_us)
{
    for (size_t i = 0; i < t->count; i++) {
        struct try *one = t->at[i];
        if (one->state != TRY_waits)
            continue;
        one->state = TRY_backoff;
        if (backoff_end(one) <= now_us)
            activate(t, one);
    }
}

int64_t tries_due(const struct tries *t)
{
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < t->count; i++) {
        int64_t its = t->at[i]->state == TRY_active ? 0 : due_of(t->at[i]);
        due = its < due ? its : due;
    }
    return due;
}
