/* preempts: each request is an order with a seat for every victim that is to go. The one idea:
 * whatever happens to an order only changes its counters and puts it in line; what follows from
 * them is decided in preempts_tick alone, so that no callback ever finds an order half changed.
 * What must stay true: every order taken is answered exactly once, after everything that it began
 * has ended, and a preemptor has one order at most. */
#include "binder/preempts.h"
#include "binder/answers.h"
#include "binder/failing.h"
#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <inttypes.h>
#include <stdio.h>

#define ORDERS_MAX 10000

struct order;

/* A victim of an order. */
struct seat {
    struct want want; /* first */
    struct order *order;
    bool open; /* ended() is awaited */
};

enum phase { PHASE_new, PHASE_clear, PHASE_all_but_last, PHASE_last };

struct order {
    struct preempts *all;
    struct preempt preempt; /* strings and lists in memory */
    struct arena memory;
    enum phase phase;
    struct seat *seats; /* victims that do not terminate already */
    uint32_t count, open;
    bool *clearing; /* by place in preempt.lower: cleared() is awaited */
    uint32_t clears;
    bool stopped;          /* a victim failed, or we stop: nothing new is begun */
    struct strs elsewhere; /* nodes that it was asked for meanwhile; refused in the end */
    struct buffer problem;
    bool ready; /* in line for the tick */
    struct order *next_ready;
};

struct preempts_stats {
    uint64_t done, failed, doubled; /* answers; requests for a preemptor that has one under way */
    uint64_t unbound;               /* victims of which only the bind was ended */
};

struct preempts {
    struct preempts_options options;
    struct victims *victims;
    struct map *orders; /* uid of the preemptor -> order */
    struct order *ready, *last_ready;
    struct answers answers;
    struct preempts_stats stats;
    struct failing failing;
};

/* ---- the line ---- */

static void make_ready(struct order *o)
{
    struct preempts *p = o->all;
    if (o->ready)
        return;
    o->ready = true;
    o->next_ready = NULL;
    *(p->last_ready ? &p->last_ready->next_ready : &p->ready) = o;
    p->last_ready = o;
}

static struct order *take_ready(struct preempts *p)
{
    struct order *o = p->ready;
    if (o == NULL)
        return NULL;
    p->ready = o->next_ready;
    if (p->ready == NULL)
        p->last_ready = NULL;
    o->ready = false;
    return o;
}

/* ---- the answer ---- */

static void answer_for(struct preempts *p, const struct pod *pod, struct str node,
                       const char *problem)
{
    struct preempt_result result = {.uid = pod->uid,
                                    .namespace_name = pod->namespace_name,
                                    .name = pod->name,
                                    .node_name = node,
                                    .done = *problem == 0,
                                    .message = str_of(problem)};
    answers_add(&p->answers, MSG_preempt_result, &result);
    if (result.done)
        p->stats.done++;
    else
        p->stats.failed++;
}

static void answer(struct preempts *p, const struct preempt *preempt, const char *problem)
{
    answer_for(p, &preempt->pod, preempt->node_name, problem);
}

void preempts_refuse(struct preempts *p, const struct preempt *preempt, const char *why)
{
    answer(p, preempt, why);
}

void preempts_flush(struct preempts *p, struct outbox *out)
{
    answers_flush(&p->answers, out);
}

static void order_free(struct order *o)
{
    must(!o->ready);
    must(map_remove(o->all->orders, o->preempt.pod.uid) == o);
    buffer_free(&o->problem);
    arena_free(&o->memory);
    memory_free(o);
}

static void end(struct order *o)
{
    const struct pod *pod = &o->preempt.pod;
    const char *problem = o->problem.len > 0 ? o->problem.at : "";
    if (*problem)
        log_warn("preemption failed|pod=%.*s/%.*s node=%.*s reason=\"%s\"",
                 STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(o->preempt.node_name),
                 problem);
    else
        log_debug("preemption done|pod=%.*s/%.*s node=%.*s victims=%u",
                  STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(o->preempt.node_name),
                  o->count);
    answer(o->all, &o->preempt, problem);
    for (uint32_t i = 0; i < o->elsewhere.count; i++)
        answer_for(o->all, pod, o->elsewhere.at[i],
                   "a preemption for this pod on another node was under way");
    order_free(o);
}

/* The first problem is the one that is told. */
static void note(struct order *o, const char *problem)
{
    if (o->problem.len == 0)
        buffer_add_text(&o->problem, problem);
}

/* Nothing new is begun; what waits is given up, what is on the wire is awaited. */
static void stop(struct order *o, const char *problem)
{
    note(o, problem);
    o->stopped = true;
    o->clears = 0;
    for (uint32_t i = 0; i < o->count; i++)
        if (o->seats[i].open && victims_leave(&o->seats[i].want)) {
            o->seats[i].open = false;
            o->open--;
        }
    make_ready(o);
}

/* ---- victims ---- */

static void tell(const struct order *o, struct instant at, const struct victim *victim,
                 struct str version, bool in_memory)
{
    const struct preempts_options *options = &o->all->options;
    struct str group = o->preempt.group_uid;
    log_info("preempted|victim=%.*s/%.*s node=%.*s by=%.*s/%.*s%s", STR_ARG(victim->namespace_name),
             STR_ARG(victim->name), STR_ARG(o->preempt.node_name),
             STR_ARG(o->preempt.pod.namespace_name), STR_ARG(o->preempt.pod.name),
             in_memory ? " in_memory=true" : "");
    options->preempted(
        options->owner, at,
        &(struct events_victim){.namespace_name = victim->namespace_name,
                                .name = victim->name,
                                .uid = victim->uid,
                                .resource_version = version,
                                .scheduler_name = o->preempt.pod.scheduler_name,
                                .preemptor_uid = group.len > 0 ? group : o->preempt.pod.uid,
                                .for_group = group.len > 0,
                                .for_tree = group.len > 0 && o->preempt.for_tree,
                                .node_name = o->preempt.node_name,
                                .in_memory = in_memory});
}

static void on_deleted(void *owner, struct instant at, const struct want *want, struct str version)
{
    const struct seat *seat = (const struct seat *)want;
    (void)owner;
    tell(seat->order, at, want->victim, version, false);
}

static void on_ended(void *owner, struct instant at, struct want *want, const char *problem)
{
    struct seat *seat = (struct seat *)want;
    struct order *o = seat->order;
    (void)owner;
    (void)at;
    seat->open = false;
    o->open--;
    if (*problem && !o->stopped) {
        const struct victim *victim = want->victim;
        struct buffer text = {0};
        buffer_print(&text, "evicting %.*s/%.*s: %s", STR_ARG(victim->namespace_name),
                     STR_ARG(victim->name), problem);
        stop(o, text.at);
        buffer_free(&text);
    }
    make_ready(o);
}

/* The last of several goes ahead of the victims of later orders: so orders end in the order in
 * which they came, and there is room for the first long before everybody's victims are gone. */
static void open_seat(struct order *o, struct instant at, uint32_t i)
{
    struct preempts *p = o->all;
    struct seat *seat = &o->seats[i];
    int64_t version = 0;
    char text[24];
    if (o->stopped)
        return;
    if (p->options.unbind(p->options.owner, at, seat->want.victim->uid, &version)) {
        p->stats.unbound++;
        snprintf(text, sizeof(text), "%" PRId64, version);
        tell(o, at, seat->want.victim, str_of(text), true);
    } else if (victims_ask(p->victims, at, &seat->want, i > 0 && i + 1 == o->count)) {
        seat->open = true;
        o->open++;
    } else {
        stop(o, "the delete lane is full");
    }
}

/* ---- nominations ---- */

static void clear_nominations(struct order *o, struct instant at)
{
    const struct preempts_options *options = &o->all->options;
    for (uint32_t i = 0; i < o->preempt.lower.count; i++) {
        o->clearing[i] = true; /* the answer may come at once */
        o->clears++;
        if (!options->unnominate(options->owner, at, &o->preempt.lower.at[i]) && o->clearing[i]) {
            o->clearing[i] = false;
            o->clears--;
        }
    }
}

static void cleared(struct order *o, struct str uid, const char *problem)
{
    for (uint32_t i = 0; i < o->preempt.lower.count; i++) {
        const struct pod *pod = &o->preempt.lower.at[i];
        struct buffer text = {0};
        if (!o->clearing[i] || !str_equal(pod->uid, uid))
            continue;
        o->clearing[i] = false;
        o->clears -= o->clears > 0;
        if (*problem) {
            buffer_print(&text, "clearing the nomination of %.*s/%.*s: %s",
                         STR_ARG(pod->namespace_name), STR_ARG(pod->name), problem);
            note(o, text.at);
        }
        buffer_free(&text);
        make_ready(o);
    }
}

void preempts_cleared(struct preempts *p, struct str uid, const char *problem)
{
    size_t place = 0;
    void *value;
    while (map_next(p->orders, &place, NULL, &value))
        cleared(value, uid, problem);
}

/* ---- phases ---- */

/* A nomination that could not be cleared stops nothing, as upstream; it is told in the end. */
static void step(struct order *o, struct instant at)
{
    if (o->phase == PHASE_new) {
        o->phase = PHASE_clear;
        if (o->count > 0 && !o->stopped)
            clear_nominations(o, at);
    }
    if (o->phase == PHASE_clear && o->clears == 0) {
        o->phase = PHASE_all_but_last;
        for (uint32_t i = 0; i + 1 < o->count; i++)
            open_seat(o, at, i);
    }
    if (o->phase == PHASE_all_but_last && o->open == 0) {
        o->phase = PHASE_last;
        if (o->count > 0)
            open_seat(o, at, o->count - 1);
    }
    if (o->phase == PHASE_last && o->open == 0 && !o->ready) {
        failing_note(&o->all->failing, at.now, &o->preempt.pod,
                     o->problem.len > 0 ? o->problem.at : "");
        end(o);
    }
}

void preempts_tick(struct preempts *p, struct instant at)
{
    struct order *o;
    while ((o = take_ready(p)) != NULL)
        step(o, at);
}

/* ---- requests from the scheduler ---- */

/* One for each victim that does not terminate already; none twice. */
static void take_seats(struct order *o)
{
    const struct preempt *preempt = &o->preempt;
    struct map *seen = map_new();
    o->seats = arena_take(&o->memory, (preempt->victims.count + 1) * sizeof(*o->seats));
    o->clearing = arena_take(&o->memory, (preempt->lower.count + 1) * sizeof(*o->clearing));
    must(o->seats != NULL && o->clearing != NULL);
    for (uint32_t i = 0; i < preempt->victims.count; i++) {
        const struct victim *victim = &preempt->victims.at[i];
        if (!victim->deleting && map_set(seen, victim->uid, o) == NULL)
            o->seats[o->count++] =
                (struct seat){.want = {.preempt = preempt, .victim = victim}, .order = o};
    }
    map_free(&seen);
}

/* Refused at once it would be decided again at once, and refused again, for as long as the order
 * takes. */
static void refuse_in_the_end(struct order *o, struct str node)
{
    uint32_t count = o->elsewhere.count;
    struct str *more = arena_take(&o->memory, (count + 1) * sizeof(*more));
    must(more != NULL);
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(o->elsewhere.at[i], node))
            return;
        more[i] = o->elsewhere.at[i];
    }
    more[count] = arena_copy(&o->memory, node);
    o->elsewhere = (struct strs){count + 1, more};
}

void preempts_add(struct preempts *p, const struct preempt *preempt)
{
    struct order *o = map_get(p->orders, preempt->pod.uid);
    if (o != NULL) {
        p->stats.doubled++;
        if (!str_equal(o->preempt.node_name, preempt->node_name))
            refuse_in_the_end(o, preempt->node_name);
        return;
    }
    if (map_count(p->orders) >= ORDERS_MAX) {
        answer(p, preempt, "too many preemptions are under way");
        return;
    }
    o = memory_take(sizeof(*o));
    o->all = p;
    codec_copy(message_info[MSG_preempt].record, &o->preempt, preempt, &o->memory);
    take_seats(o);
    must(map_set(p->orders, o->preempt.pod.uid, o) == NULL);
    make_ready(o);
}

void preempts_stop(struct preempts *p, const char *why)
{
    size_t place = 0;
    void *value;
    while (map_next(p->orders, &place, NULL, &value))
        stop(value, why);
}

void preempts_drop(struct preempts *p, const char *why)
{
    size_t place = 0;
    void *value;
    while (take_ready(p) != NULL)
        continue;
    victims_clear(p->victims);
    while (map_next(p->orders, &place, NULL, &value)) {
        note(value, why);
        end(value);
    }
}

uint32_t preempts_count(const struct preempts *p)
{
    return (uint32_t)map_count(p->orders);
}

void preempts_list(const struct preempts *p, struct leadership *into, struct arena *a)
{
    size_t place = 0, count = map_count(p->orders);
    void *value;
    into->preempting.at = arena_take(a, (count + 1) * sizeof(*into->preempting.at));
    into->preempting.count = 0;
    must(into->preempting.at != NULL);
    while (map_next(p->orders, &place, NULL, &value)) {
        const struct preempt *preempt = &((const struct order *)value)->preempt;
        into->preempting.at[into->preempting.count++] =
            (struct binding){.uid = preempt->pod.uid, .node_name = preempt->node_name};
    }
}

/* ---- life ---- */

struct preempts *preempts_new(const struct preempts_options *options, struct lanes *lanes)
{
    struct preempts *p = memory_take(sizeof(*p));
    p->options = *options;
    p->orders = map_new();
    p->victims = victims_new(&(struct victims_options){.seed = options->seed,
                                                       .owner = options->owner,
                                                       .ended = on_ended,
                                                       .deleted = on_deleted,
                                                       .forbidden = options->forbidden},
                             lanes);
    return p;
}

void preempts_free(struct preempts **preempts)
{
    struct preempts *p = *preempts;
    if (p == NULL)
        return;
    preempts_drop(p, "the binder ends");
    answers_flush(&p->answers, NULL);
    victims_free(&p->victims);
    map_free(&p->orders);
    memory_free(p);
    *preempts = NULL;
}

void preempts_status(const struct preempts *p, struct moment now, struct buffer *lines)
{
    const struct preempts_stats *s = &p->stats;
    const struct victims_stats victims = victims_stats(p->victims);
    buffer_print(lines,
                 "preempts=under_way=%u done=%llu failed=%llu doubled=%llu deleted=%llu "
                 "spared=%llu unbound=%llu\n",
                 preempts_count(p), (unsigned long long)s->done, (unsigned long long)s->failed,
                 (unsigned long long)s->doubled, (unsigned long long)victims.deleted,
                 (unsigned long long)victims.spared, (unsigned long long)s->unbound);
    failing_print(&p->failing, now, lines);
}
