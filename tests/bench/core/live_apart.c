/* live_apart: coordinator and workers at once, a thread each, as processes are. A thread sleeps
 * while nothing has arrived for it, and what it says is in the others' inboxes after its turn,
 * which is as long as in the actor loop.
 *
 * What must stay true: a core is touched by its own thread alone; inboxes, and how many messages
 * are nobody's yet, only under the lock; it is over when there are none. */
#include "tests/bench/core/live_inside.h"

#include "proto/base/must.h"

#include <pthread.h>

/* What the threads of one run share. */
struct hall {
    struct live *live;
    pthread_mutex_t lock;
    pthread_cond_t news;
    size_t open;        /* messages that are not handled, or whose answers are not put yet */
    struct outbox told; /* to watcher, queue or binder */
};

struct seat {
    struct hall *hall;
    struct side *side;
    pthread_t thread;
};

/* With the lock. */
static void say_all(struct hall *h, struct side *from)
{
    for (size_t i = 0; i < from->out.count; i++) {
        struct outgoing head = from->out.at[i];
        struct side *to = live_addressee(h->live, head.to);
        if (to == NULL) {
            outbox_put_encoded(&h->told, &head, outbox_body(&from->out, i));
            continue;
        }
        head.to = from->self;
        live_put(h->live, to, &head, outbox_body(&from->out, i));
        h->open++;
    }
    outbox_reset(&from->out);
}

static void say_now(void *context)
{
    const struct seat *seat = context;
    must(pthread_mutex_lock(&seat->hall->lock) == 0);
    say_all(seat->hall, seat->side);
    must(pthread_cond_broadcast(&seat->hall->news) == 0);
    must(pthread_mutex_unlock(&seat->hall->lock) == 0);
}

/* Takes what has arrived, once something has. False: it is over. With the lock. */
static bool take(struct hall *h, struct side *side)
{
    while (side->inbox.count == 0 && h->open > 0)
        must(pthread_cond_wait(&h->news, &h->lock) == 0);
    struct outbox empty = side->taken;
    side->taken = side->inbox;
    side->inbox = empty;
    outbox_reset(&side->inbox);
    return side->taken.count > 0;
}

static void turns(struct hall *h, struct side *side)
{
    size_t next = 0;
    while (next < side->taken.count) {
        size_t from = next;
        struct moment say_by = moment_after(moment_now(), span_of_us(ACTOR_SAY_US));
        bool late = false;
        for (; next < side->taken.count && next < from + ACTOR_TURN && !late; next++) {
            live_handle(h->live, side, next);
            late = side->out.count > 0 && moment_reached(moment_now(), say_by);
        }
        live_tick(h->live, side);
        must(pthread_mutex_lock(&h->lock) == 0);
        say_all(h, side);
        h->open -= next - from;
        must(pthread_cond_broadcast(&h->news) == 0);
        must(pthread_mutex_unlock(&h->lock) == 0);
    }
}

static void *sit(void *context)
{
    const struct seat *seat = context;
    struct hall *h = seat->hall;
    int64_t began = clock_thread_ns();
    seat->side->out.send = say_now;
    seat->side->out.context = context;
    bool on = true;
    while (on) {
        must(pthread_mutex_lock(&h->lock) == 0);
        on = take(h, seat->side);
        must(pthread_mutex_unlock(&h->lock) == 0);
        turns(h, seat->side);
    }
    seat->side->out.send = NULL;
    outbox_reset(&seat->side->taken);
    *seat->side->work += clock_thread_ns() - began;
    return NULL;
}

void live_run_apart(struct live *l)
{
    struct hall h = {.live = l, .open = l->middle.inbox.count};
    struct seat middle = {&h, &l->middle, 0}, seats[LIVE_WORKERS_MAX];
    const uint32_t workers = l->options.workers;
    must(!l->options.bare && !l->options.framed);
    must(pthread_mutex_init(&h.lock, NULL) == 0 && pthread_cond_init(&h.news, NULL) == 0);
    for (uint32_t k = 0; k < workers; k++) {
        seats[k] = (struct seat){&h, &l->workers[k], 0};
        must(pthread_create(&seats[k].thread, NULL, sit, &seats[k]) == 0);
    }
    struct moment began = moment_now();
    (void)sit(&middle);
    l->cost.wall += moment_since(moment_now(), began).ns;
    for (uint32_t k = 0; k < workers; k++)
        must(pthread_join(seats[k].thread, NULL) == 0);
    for (size_t i = 0; i < h.told.count; i++)
        live_hear(l, &h.told, i);
    if (l->options.turned != NULL)
        l->options.turned(l->options.context);
    outbox_free(&h.told);
    pthread_cond_destroy(&h.news);
    pthread_mutex_destroy(&h.lock);
}
