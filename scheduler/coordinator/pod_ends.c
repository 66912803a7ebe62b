/* pod_ends: whom the last snapshot showed, as hashes of UIDs. The one idea: who was known before a
 * snapshot's position, is not in it and is on no node has gone.
 *
 * What must stay true: a pod that the queue may have heard of later than the snapshot is never
 * taken for gone; nothing is kept once the queue has read further. */
#include "scheduler/coordinator/pod_ends.h"

#include "proto/base/memory.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"

#include <stdlib.h>

/* One that is being decided or bound lands when the answer comes. */
void pod_ends(struct coordinator *c, struct moment now, struct str uid)
{
    struct flight *f = flights_get(&c->flights, uid);
    cache_pod_gone(c->cache, uid);
    if (f != NULL && (flight_is_untried(f) || f->state == FLIGHT_asking))
        landing_end(c, f, OUTCOME_skipped, NULL);
    else if (f != NULL && f->state == FLIGHT_permitting)
        permitting_removed(c, f, true);
    else if (f != NULL && flight_is_in_decision(f))
        f->gone = true;
    else if (f != NULL && f->state == FLIGHT_binding &&
             (f->reserved.count + f->devices.count > 0 || f->devices.extended != NULL))
        bind_request_cancel(c, f->pod.uid, f->pod.node_name, "pod does not exist any more");
    preempting_look(c, now);
}

/* ---- a snapshot ---- */

void pod_ends_free(struct coordinator *c)
{
    memory_free(c->shown.hashes);
    c->shown = (struct pods_shown){0};
}

void pod_ends_snapshot_begin(struct coordinator *c)
{
    pod_ends_free(c);
    c->shown.coming = true;
}

void pod_ends_see(struct coordinator *c, const struct pod *pod)
{
    struct pods_shown *s = &c->shown;
    if (!s->coming || pod->node_name.len > 0)
        return;
    if (s->count == s->room) {
        s->room = s->room * 2 + 64;
        s->hashes = memory_resize(s->hashes, s->room * sizeof(uint64_t));
    }
    s->hashes[s->count++] = str_hash(pod->uid);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_shown_pending(const void *context, struct str uid)
{
    const struct pods_shown *s = context;
    uint64_t hash = str_hash(uid);
    return s->count > 0 && bsearch(&hash, s->hashes, s->count, sizeof(hash), by_hash) != NULL;
}

static bool is_shown(const struct coordinator *c, struct str uid)
{
    return cache_pod(c->cache, uid, NULL) != CACHE_absent || is_shown_pending(&c->shown, uid);
}

void pod_ends_snapshot_read(struct coordinator *c)
{
    struct pods_shown *s = &c->shown;
    if (s->count > 0)
        qsort(s->hashes, s->count, sizeof(*s->hashes), by_hash);
    cache_keep_nominated(c->cache, is_shown_pending, s);
}

/* At the snapshot's own position the queue may be in the middle of it, and still have those that it
 * does not show; whoever else it offers there was shown. Of an epoch that is not known nothing
 * follows: the queue may be behind, or ahead. */
static bool is_before(const struct coordinator *c, int64_t epoch, int64_t sequence)
{
    const struct pods_shown *s = &c->shown;
    return epoch == s->epoch ? sequence <= s->sequence : subscriber_has_left(&c->stream, epoch);
}

/* The queue has read beyond the snapshot. */
static bool is_later(const struct coordinator *c, int64_t epoch, int64_t sequence)
{
    return epoch == c->shown.epoch && sequence > c->shown.sequence;
}

/* Their attempts were made before it. To end one may end others, so they are found first. */
void pod_ends_snapshot_end(struct coordinator *c, struct moment now)
{
    struct pods_shown *s = &c->shown;
    struct arena memory = {0};
    const struct flight *f;
    size_t at = 0, count = 0;
    s->epoch = c->stream.epoch;
    s->sequence = c->stream.sequence;
    s->coming = false;
    s->whole = true;
    struct str *gone = arena_take(&memory, flights_count(&c->flights) * sizeof(*gone));
    while ((f = flights_next(&c->flights, &at)) != NULL)
        if (is_before(c, f->epoch, f->sequence) && !is_shown(c, f->pod.uid))
            gone[count++] = arena_copy(&memory, f->pod.uid);
    for (size_t i = 0; i < count; i++)
        pod_ends(c, now, gone[i]);
    arena_free(&memory);
}

void pod_ends_offered(struct coordinator *c, struct moment now, struct str uid, int64_t epoch,
                      int64_t sequence)
{
    if (!c->shown.whole)
        return;
    if (is_later(c, epoch, sequence)) {
        pod_ends_free(c); /* all that it offers from here on it knows from later */
    } else if (is_before(c, epoch, sequence) && !is_shown(c, uid)) {
        log_debug("offered, and the snapshot did not show it| uid=%.*s", STR_ARG(uid));
        pod_ends(c, now, uid);
    }
}
