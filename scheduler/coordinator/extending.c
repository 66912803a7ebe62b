/* extending: pods that HTTP extenders or plugins on the bus care about, beside all others. The one
 * idea: while they are asked nothing is under way, so that other pods are decided; with the answer
 * the pod's cycle begins anew, on the state as it is then, and uses the answer only if it is about
 * the nodes that are feasible then (extension.h).
 *
 * What must stay true: each of them is asked about one pod at a time, from the first question to
 * the decision, as a sequential scheduler does, and about a group's members while nobody else is
 * decided; every flight that waits here goes on or lands: with the answer, when the process that is
 * asked goes or comes, or when the answer is overdue. */
#include "scheduler/coordinator/extending.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/consulting.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/extender_questions.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/merge/consultation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define QUEUED_MAX  1024 /* flights that wait for extenders; then some try again later */
#define CREDIT_STEP 64   /* so that the credit is not said anew for every pod */

/* ---- waiting for extenders ---- */

/* The extension that the flight needs; NULL: nobody cares about its pod. */
static struct extension *interest(struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    struct extension_asked asked = {0};
    if (fw != NULL)
        bus_plugins_wanted(c, &fw->profile, &asked);
    for (uint32_t i = 0; i < c->options.extender_count; i++) {
        const struct extender_config *e = &c->options.extenders[i];
        bool cares = extender_interested(e, &f->pod);
        if (cares && e->filter_verb.len + e->prioritize_verb.len > 0)
            asked.nodes |= UINT64_C(1) << i;
        if (cares && e->preempt_verb.len > 0)
            asked.victims |= UINT64_C(1) << i;
    }
    bool any = (asked.nodes | asked.victims | asked.pod) != 0;
    return any ? extension_new(asked) : NULL;
}

void extending_take(struct coordinator *c, struct flight *f)
{
    f->extension = interest(c, f);
    if (f->extension != NULL && f->gang == NULL)
        flights_queue(&c->flights, f, false);
}

/* The queue would give us nothing else if those that wait here used up its credit; and memory is
 * bounded. Who comes too late tries again as after an error, which nobody is told of. */
static void make_room(struct coordinator *c)
{
    while (flights_in(&c->flights, FLIGHT_queued) > QUEUED_MAX) {
        COUNT(c, crowded_out, 1);
        landing_end(c, flights_last_queued(&c->flights), OUTCOME_error, NULL);
    }
}

int64_t extending_credit(const struct coordinator *c)
{
    int64_t queued = (int64_t)flights_in(&c->flights, FLIGHT_queued) +
                     (int64_t)flights_in(&c->flights, FLIGHT_aside);
    return (queued + CREDIT_STEP - 1) / CREDIT_STEP * CREDIT_STEP;
}

static void end_late(struct coordinator *c, struct moment now, struct flight *f)
{
    if (f->state == FLIGHT_permitting) {
        permitting_on_late(c, now, f);
    } else if (f->asked_peer != 0) {
        consulting_on_late(c, now, f);
    } else {
        log_warn("extenders are asked again, as no answer came| pod=%.*s/%.*s",
                 STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name));
        flights_return(&c->flights, f);
    }
}

static void find_late(struct coordinator *c, struct moment now)
{
    struct flight *next;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (moment_reached(now, f->deadline))
            end_late(c, now, f);
    }
    flights_find_due(&c->flights);
}

void extending_init(struct coordinator *c)
{
    must(c->options.extender_count <= EXTENDERS_MAX);
    extender_order(c->options.extenders, c->options.extender_count, c->asking.order);
}

void extending_look(struct coordinator *c, struct moment now)
{
    if (moment_reached(now, flights_asked_due(&c->flights)))
        find_late(c, now);
    if (c->options.extender_count == 0 && bus_plugins_count(c) == 0)
        return;
    make_room(c);
    flights_admit(&c->flights, c->extender.peer == 0 ? EXTENDER_BITS : 0);
}

/* Those that wait for plugins go on without their process. */
void extending_on_loss(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_asking && f->asked_peer == 0)
            flights_queue(&c->flights, f, true);
    }
}

void extending_restart(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_asking)
            flights_queue(&c->flights, f, true);
    }
}

static void take_anew(struct coordinator *c, struct flight *f)
{
    extension_free(&f->extension);
    if (f->state == FLIGHT_waiting)
        extending_take(c, f);
    else
        f->extension = interest(c, f); /* for when it is tried again */
}

void extending_reconfigure(struct coordinator *c)
{
    struct flight *f;
    size_t at = 0;
    extending_init(c);
    flights_unqueue_all(&c->flights);
    while ((f = flights_next(&c->flights, &at)) != NULL)
        take_anew(c, f);
}

void extending_drop(struct coordinator *c)
{
    struct flight *f;
    size_t at = 0;
    while ((f = flights_next(&c->flights, &at)) != NULL)
        if (f->state == FLIGHT_asking || f->state == FLIGHT_queued)
            flights_remove(&c->flights, f);
}

/* ---- asking ---- */

void extending_ask(struct coordinator *c, struct moment now)
{
    const struct slot *s = deciding_slot(c, 0);
    struct flight *f = s->flight;
    struct extension *e = f->extension;
    const struct reduce_extend *q = reduce_extend(s->reduce);
    must(e != NULL);
    uint32_t tries = e->tries;
    struct strs nodes;
    bool looks_closer = !consultation_open(e, q, c->cache, &nodes, &c->cycle_memory);
    COUNT(c, asked_again, e->tries - tries);
    if (e->about == ABOUT_victims)
        extender_questions_about_victims(c, f);
    deciding_end(c);
    if (f->gone) {
        landing_end(c, f, OUTCOME_skipped, NULL);
        return;
    }
    if (looks_closer) {
        flights_return(&c->flights, f);
        return;
    }
    flights_start(&c->flights, f, FLIGHT_asking);
    consulting_begin(c, now, f, &nodes);
}

/* ---- answers ---- */

void extending_on_answer(struct coordinator *c, struct moment now, const struct extended *answer)
{
    struct flight *f = flights_get(&c->flights, answer->uid);
    if (f == NULL || f->state != FLIGHT_asking || f->question != answer->id || f->asked_peer != 0) {
        COUNT(c, late, 1);
        return;
    }
    struct extension *e = f->extension;
    if (answer->gone) {
        landing_end(c, f, OUTCOME_skipped, NULL);
    } else if (e->about != ABOUT_victims || !extender_questions_victims(c, now, f, answer)) {
        consulting_on_extended(c, now, f, answer);
    }
}

/* ---- plugins on the bus ---- */

static struct flight *asked_by(const struct coordinator *c, int64_t id, uint32_t peer)
{
    struct flight *f = flights_first_asked(&c->flights);
    while (f != NULL && (f->question != id || f->asked_peer != peer))
        f = f->next;
    return id != 0 && peer != 0 ? f : NULL;
}

void extending_on_plugin_answer(struct coordinator *c, struct moment now, uint32_t peer,
                                const struct plugin_answer *answer)
{
    struct flight *f = asked_by(c, answer->id, peer);
    bus_plugins_heard(c, peer);
    if (f == NULL)
        COUNT(c, late, 1);
    else if (f->state == FLIGHT_permitting)
        permitting_on_answer(c, now, f, answer);
    else
        consulting_on_answer(c, now, f, answer);
}

void extending_on_plugin_down(struct coordinator *c, struct moment now, uint32_t peer)
{
    struct flight *next;
    bus_plugins_down(c, peer);
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_permitting)
            permitting_on_plugin_down(c, now, f, peer);
        else if (f->asked_peer == peer)
            consulting_again(c, now, f);
    }
}

void extending_status(const struct coordinator *c, struct buffer *lines)
{
    bus_plugins_status(c, c->last_call, lines);
    if (bus_plugins_count(c) > 0)
        buffer_print(lines, "permitting=%u\n", flights_in(&c->flights, FLIGHT_permitting));
    if (c->options.extender_count == 0)
        return;
    buffer_print(lines, "extenders=%u caller=%s queued=%u questions=%" PRId64 "\n",
                 c->options.extender_count, c->extender.peer != 0 ? "up" : "missing",
                 flights_in(&c->flights, FLIGHT_queued), flights_last_question(&c->flights));
}
