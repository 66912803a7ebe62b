/* leadership: what a term's beginning and end do to attempts. The one idea: what was decided in
 * another term is decided anew, except what the binder still has under way, which it lists.
 *
 * What must stay true: words of an older term change nothing; who does not lead keeps no attempt;
 * what the binder does not list three times in a row got lost, and is asked for again. */
#include "scheduler/coordinator/leadership.h"

#include "proto/base/log.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/former.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/release_list.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/coordinator/reserving.h"

#include <inttypes.h>

#define DOUBT_MS 10000 /* a watch shows what was written long before that */

/* What the binder has under way, by UID. Its lists and the flights may both be thousands. */
struct listed {
    bool leading;
    struct map *binds, *preempts, *releases;
};

static struct map *by_uid(const struct binding *at, uint32_t count)
{
    struct map *all = map_new();
    for (uint32_t i = 0; i < count; i++)
        map_set(all, at[i].uid, (void *)&at[i]); /* only that it is there matters */
    return all;
}

static struct map *set_of(const struct strs *list)
{
    struct map *all = map_new();
    for (uint32_t i = 0; i < list->count; i++)
        map_set(all, list->at[i], (void *)list);
    return all;
}

static struct listed listed_in(const struct leadership *l)
{
    return (struct listed){.leading = l->leading,
                           .binds = by_uid(l->in_flight.at, l->in_flight.count),
                           .preempts = by_uid(l->preempting.at, l->preempting.count),
                           .releases = set_of(&l->releasing)};
}

static void listed_free(struct listed *listed)
{
    map_free(&listed->binds);
    map_free(&listed->preempts);
    map_free(&listed->releases);
}

static bool binds(const struct listed *l, struct str uid)
{
    return map_get(l->binds, uid) != NULL;
}

static bool preempts(const struct listed *l, struct str uid)
{
    return map_get(l->preempts, uid) != NULL;
}

/* Calls end for each flight in some state; end may remove it. */
static void each_flight(struct coordinator *c, const struct listed *l,
                        void (*visit)(struct coordinator *c, struct flight *f,
                                      const struct listed *l))
{
    struct flight *f;
    size_t at = 0;
    while ((f = flights_next(&c->flights, &at)) != NULL)
        visit(c, f, l);
}

/* A new term, or none: what was decided before is decided anew, except what the binder still has
 * under way. Who does not lead gives the queue everything back, and so come members of groups back
 * whose transaction is over: the queue offers the group again. */
static void give_back(struct coordinator *c, struct flight *f, const struct listed *l)
{
    bool leading = l != NULL && l->leading, anew = false;
    release_list_free(&f->releasing);
    if (f->state == FLIGHT_binding) {
        if (l != NULL && binds(l, f->pod.uid))
            return;
        cache_forget(c->cache, f->pod.uid);
        reserving_undo(c, f);
        f->released = true;
        f->pod.node_name = (struct str){NULL, 0};
        anew = leading && !f->grouped;
    } else if (f->state == FLIGHT_permitting) {
        permitting_undo(c, f);
        anew = leading && !f->grouped;
    } else if (f->state == FLIGHT_asking) {
        extension_forget(f->extension);
        anew = leading;
    } else if (f->state == FLIGHT_releasing || f->state == FLIGHT_preempting) {
        /* who still has to make room is found out anew */
        anew = leading && !f->grouped;
    } else if (leading) {
        return; /* it waits in the line */
    }
    if (anew)
        flights_return(&c->flights, f);
    else
        landing_end(c, f, OUTCOME_skipped, NULL);
}

static bool is_in_line(const void *context, struct str uid)
{
    return flights_get(&((const struct coordinator *)context)->flights, uid) != NULL;
}

/* A nomination that was not written ends with its term, as it does with upstream's process: while a
 * claim of its pod is missing the pod is not tried, and nobody else could end it. */
static void end_nominations(struct coordinator *c)
{
    if (cache_drop_unwritten(c->cache, is_in_line, c))
        landing_say_room(c);
}

/* l and listed are NULL when there is no binder. */
static void change_term(struct coordinator *c, const struct leadership *l,
                        const struct listed *listed)
{
    cycle_abandon(c);
    each_flight(c, listed, give_back);
    c->lead.leads = l != NULL && l->leading;
    if (c->lead.leads) {
        end_nominations(c);
        gang_claims_restart(c, c->last_call);
    }
    if (l != NULL && l->lead_term > c->lead.term)
        c->lead.term = l->lead_term;
    c->lead.barrier = (struct question){0};
    c->lead.barrier_reached = false;
    gang_statuses_look(c->gang_statuses, c->last_call);
    struct str holder = l != NULL ? l->holder : (struct str){NULL, 0};
    log_info("leadership| leading=%s term=%" PRId64 " holder=\"%.*s\"",
             c->lead.leads ? "yes" : "no", c->lead.term, STR_ARG(holder));
}

void leadership_end(struct coordinator *c)
{
    change_term(c, NULL, NULL);
}

/* The queue has lost its book of what is in flight: whatever it offers again comes as a new
 * attempt, and binds under way are seen through. */
static void forget_debt(struct coordinator *c, struct flight *f, const struct listed *l)
{
    (void)c;
    (void)l;
    f->owed = false;
}

void leadership_forget_debts(struct coordinator *c)
{
    each_flight(c, NULL, forget_debt);
}

/* Who does not lead keeps nothing, and an attempt may have crossed the end of a term on its way:
 * nobody would decide it. */
static void turn_back(struct coordinator *c, struct flight *f, const struct listed *l)
{
    (void)l;
    if (flight_is_untried(f))
        landing_end(c, f, OUTCOME_skipped, NULL);
}

void leadership_turn_back(struct coordinator *c)
{
    if (!c->lead.leads)
        each_flight(c, NULL, turn_back);
}

/* ---- what the binder says ---- */

/* What the binder does not know although we wait for it got lost, or its answer did. */
static void find_lost(struct coordinator *c, struct flight *f, const struct listed *l)
{
    bool lost = (f->state == FLIGHT_binding && !binds(l, f->pod.uid)) ||
                (f->state == FLIGHT_preempting && !f->answered && !preempts(l, f->pod.uid));
    releasing_find_lost(c, f, l->releases);
    if (!lost) {
        f->missed = 0;
        if (f->state == FLIGHT_preempting && !f->answered)
            preempting_goes_on(c, f);
        return;
    }
    if (++f->missed < 3)
        return; /* it or its answer may be on the way just now */
    f->missed = 0;
    if (f->state == FLIGHT_preempting) {
        preempting_on_loss(c, f);
        return;
    }
    log_warn("a bind got lost and is sent again| pod=%.*s/%.*s node=%.*s",
             STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(f->pod.node_name));
    bind_request_send(c, f);
}

void leadership_take(struct coordinator *c, const struct leadership *l)
{
    if (l->lead_term < c->lead.term)
        return;
    former_hear(c, l);
    struct listed listed = listed_in(l);
    if (l->leading != c->lead.leads || l->lead_term != c->lead.term)
        change_term(c, l, &listed);
    former_find(c, l);
    if (c->lead.leads)
        each_flight(c, &listed, find_lost);
    listed_free(&listed);
}

/* ---- barriers ---- */

static void ask(struct coordinator *c, struct moment now, struct question *q)
{
    question_ask(q, now, &c->random, c->watcher, c->out);
}

/* However long its lists take, it is not begun anew: what is repeated has the same number. */
void leadership_ask(struct coordinator *c, struct moment now)
{
    bool late = c->stream.synced && moment_reached(now, c->lead.barrier.again);
    if (c->lead.leads && !c->lead.barrier_reached && c->watcher.peer != 0 &&
        !former_is_under_way(c) && former_has_settled(c, now) &&
        (question_is_open(&c->lead.barrier) || late))
        ask(c, now, &c->lead.barrier);
}

/* What became of a claim's write that nobody saw answered is told by the watch, soon; or by a
 * barrier, behind which there is nothing left to wait for. */
void leadership_say_doubt(struct coordinator *c, struct moment now)
{
    const struct device_book *book = catalog_devices(c->catalog);
    if (device_book_count_in_flight(book) == 0 || !c->lead.barrier_reached || c->watcher.peer == 0)
        return;
    struct moment since = device_book_settled_since(book);
    if (since.ns == MOMENT_NEVER.ns ||
        !moment_reached(now, moment_after(since, span_of_ms(DOUBT_MS))))
        return;
    if (question_is_open(&c->lead.doubt) || moment_reached(now, c->lead.doubt.again))
        ask(c, now, &c->lead.doubt);
}

/* Who waits for a claim that was in doubt, or for its devices, is told by no object: it may be seen
 * after all as it was seen before. */
static void end_doubt(struct coordinator *c, struct moment asked)
{
    if (device_book_barrier(catalog_devices(c->catalog), asked))
        landing_say_free(c, "DynamicResources");
}

void leadership_on_barrier(struct coordinator *c, struct moment now, int64_t id)
{
    if (question_is(&c->lead.doubt, id)) {
        end_doubt(c, c->lead.doubt.asked);
        c->lead.doubt = (struct question){0};
    }
    if (!c->lead.leads || c->lead.barrier_reached || !question_is(&c->lead.barrier, id))
        return; /* a snapshot has the last one in it again */
    c->lead.barrier_reached = true;
    end_doubt(c, c->lead.barrier.asked);
    log_info("view is as new as the term| term=%" PRId64 " waited_ms=%" PRId64, c->lead.term,
             span_ms(moment_since(now, c->lead.barrier.asked)));
}

void leadership_lose_watcher(struct coordinator *c)
{
    question_lose_link(&c->lead.barrier);
    question_lose_link(&c->lead.doubt);
}

void leadership_on_snapshot(struct coordinator *c, struct moment now)
{
    c->lead.barrier.again =
        moment_after(now, span_of_ms(QUESTION_AGAIN_MS)); /* its answer follows */
}
