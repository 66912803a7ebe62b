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

/* The nodes in question, sorted. */
static struct strs nodes_of(const struct reduce_extend *q, struct arena *a)
{
    struct strs names = q->nodes;
    if (q->about != ABOUT_victims)
        return names;
    names = (struct strs){0, arena_take(a, q->count * sizeof(struct str))};
    for (uint32_t i = 0; i < q->count; i++)
        names.at[names.count++] = q->candidates[i].node;
    return names;
}

struct all_nodes {
    struct extension_no_node *out;
    uint32_t room;
    const struct reduce_extend *q;
    struct arena *arena;
};

static int by_node(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

/* What is not among those that were looked at was not for one reason. */
static void add_node(void *context, const struct cache_held *node)
{
    const struct all_nodes *all = context;
    const struct reduce_extend *q = all->q;
    struct verdict wanted = {.node = node->name};
    const struct verdict *found =
        q->verdict_count > 0
            ? bsearch(&wanted, q->verdicts, q->verdict_count, sizeof(wanted), by_node)
            : NULL;
    if (all->out->count == all->room)
        return;
    struct verdict told = found != NULL ? *found : q->absent;
    struct verdict *kept = &all->out->nodes[all->out->count++];
    told.node = node->name;
    codec_copy(&verdict_record, kept, &told, all->arena);
}

/* Why each node is no good is told to plugins at PostFilter. False: a cycle has to find that out
 * first. */
static bool keep_why(struct coordinator *c, struct extension *e, const struct reduce_extend *q)
{
    struct extension_no_node *n = &e->no_node;
    bool known = n->wanted;
    n->wanted = true;
    if (!known)
        return false;
    struct all_nodes all = {n, (uint32_t)cache_nodes(c->cache), q, &e->arena};
    n->count = 0;
    n->nodes = arena_take(&e->arena, all.room * sizeof(*n->nodes));
    cache_each_held_node(c->cache, add_node, &all);
    qsort(n->nodes, n->count, sizeof(*n->nodes), by_node);
    return true;
}

static bool is_asked_again(const struct extension *e, enum extension_about about)
{
    switch (about) {
    case ABOUT_pod:
    case ABOUT_no_node: return false; /* once an attempt */
    case ABOUT_victims: return e->victims.given;
    default: return e->answers[about].given;
    }
}

void extending_ask(struct coordinator *c, struct moment now)
{
    const struct slot *s = deciding_slot(c, 0);
    struct flight *f = s->flight;
    struct extension *e = f->extension;
    const struct reduce_extend *q = reduce_extend(s->reduce);
    must(e != NULL);
    struct strs nodes = nodes_of(q, &c->cycle_memory);
    bool again = is_asked_again(e, q->about);
    e->tries += again;
    COUNT(c, asked_again, again);
    e->about = q->about;
    if (q->about == ABOUT_victims)
        extender_questions_about_victims(c, f, q);
    else if (q->about == ABOUT_nominated || q->about == ABOUT_nodes)
        e->answers[q->about] = (struct extension_answer){0};
    bool looks_closer = q->about == ABOUT_no_node && !keep_why(c, e, q);
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
