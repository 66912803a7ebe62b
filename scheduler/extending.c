/* extending: pods that HTTP extenders care about, beside all others. The one idea: while extenders
 * are asked nothing is under way, so that other pods are decided; with the answer the pod's cycle
 * begins anew, on the state as it is then, and uses the answer only if it is about the nodes that
 * are feasible then (extension.h).
 *
 * What must stay true: an extender is asked about one pod at a time, from the first question to the
 * decision, as a sequential scheduler does, and about a group's members while nobody else is
 * decided; every flight that waits here goes on or lands: with the answer, when the process that
 * calls extenders goes or comes, or when the answer is overdue. */
#include "scheduler/extending.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/gang.h"

#include <inttypes.h>
#include <string.h>

#define QUEUED_MAX  1024 /* flights that wait for extenders; then some try again later */
#define CREDIT_STEP 64   /* so that the credit is not said anew for every pod */
#define LATE_MS     30000
#define LOOK_MS     1000

static const struct extender_config *config_of(const struct coordinator *c, uint32_t extender)
{
    return &c->options.extenders[extender];
}

/* ---- waiting for extenders ---- */

/* NULL: none of them cares. */
static struct extension *interest(const struct coordinator *c, const struct flight *f)
{
    uint64_t asked = 0, victims = 0;
    for (uint32_t i = 0; i < c->options.extender_count; i++) {
        const struct extender_config *e = config_of(c, i);
        bool cares = extender_interested(e, &f->pod);
        if (cares && e->filter_verb.len + e->prioritize_verb.len > 0)
            asked |= UINT64_C(1) << i;
        if (cares && e->preempt_verb.len > 0)
            victims |= UINT64_C(1) << i;
    }
    return (asked | victims) != 0 ? extension_new(asked, victims) : NULL;
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
    while (c->flights.queued > QUEUED_MAX) {
        c->count.crowded_out++;
        cycle_land(c, c->flights.queued_last, "error", NULL);
    }
}

int64_t extending_credit(const struct coordinator *c)
{
    int64_t queued = (int64_t)c->flights.queued;
    return (queued + CREDIT_STEP - 1) / CREDIT_STEP * CREDIT_STEP;
}

static struct span patience(const struct coordinator *c, const struct flight *f)
{
    struct span all = span_of_ms(LATE_MS);
    for (uint32_t i = 0; i < c->options.extender_count; i++)
        if (f->holds >> i & 1)
            all.ns += 2 * config_of(c, i)->http_timeout.ns; /* filter, prioritize */
    return all;
}

static void find_late(struct coordinator *c, struct moment now)
{
    size_t at = 0;
    void *value;
    while (map_next(c->flights.by_uid, &at, NULL, &value)) {
        struct flight *f = value;
        if (f->state != FLIGHT_asking || !moment_reached(now, f->deadline))
            continue;
        log_warn("extenders are asked again, as no answer came| pod=%.*s/%.*s",
                 STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name));
        flights_return(&c->flights, f);
    }
}

void extending_look(struct coordinator *c, struct moment now)
{
    if (c->options.extender_count == 0)
        return;
    make_room(c);
    if (c->extender.peer != 0)
        flights_admit(&c->flights);
    if (!moment_reached(now, moment_after(c->questions_looked, span_of_ms(LOOK_MS))))
        return;
    c->questions_looked = now;
    if (c->flights.held != 0)
        find_late(c, now);
}

void extending_restart(struct coordinator *c)
{
    size_t at = 0;
    void *value;
    while (map_next(c->flights.by_uid, &at, NULL, &value)) {
        struct flight *f = value;
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

void extending_reconfigure(struct coordinator *c, const struct coordinator_config *config)
{
    size_t at = 0;
    void *value;
    must(config->extender_count <= EXTENDERS_MAX);
    while (c->flights.queued_first != NULL)
        flights_unqueue(&c->flights, c->flights.queued_first);
    while (map_next(c->flights.by_uid, &at, NULL, &value))
        flights_let_go(&c->flights, value);
    c->options.extenders = config->extenders;
    c->options.extender_count = config->extender_count;
    c->options.extenders_hash = config->extenders_hash;
    extender_order(config->extenders, config->extender_count, c->extender_order);
    at = 0;
    while (map_next(c->flights.by_uid, &at, NULL, &value))
        take_anew(c, value);
    log_info("extenders changed| extenders=%u hash=%016" PRIx64, config->extender_count,
             (uint64_t)config->extenders_hash);
}

void extending_on_loss(struct coordinator *c)
{
    c->extender.peer = 0;
    if (c->gang != NULL)
        cycle_abandon(c);
    extending_restart(c);
}

void extending_drop(struct coordinator *c)
{
    size_t at = 0;
    void *value;
    while (map_next(c->flights.by_uid, &at, NULL, &value)) {
        struct flight *f = value;
        if (f->state == FLIGHT_asking || f->state == FLIGHT_queued)
            flights_remove(&c->flights, f);
    }
}

/* ---- asking ---- */

static void add_extender(const struct coordinator *c, struct extend *m, uint32_t extender)
{
    m->extenders.at[m->extenders.count++] =
        (struct extender_ref){extender, config_of(c, extender)->url_prefix};
}

/* Whose turn it is to say something about victims: the place in the order. */
static uint32_t next_about_victims(const struct coordinator *c, const struct flight *f,
                                   uint32_t place)
{
    while (place < c->options.extender_count &&
           (f->extension->asked_victims >> c->extender_order[place] & 1) == 0)
        place++;
    return place;
}

static void add_candidates(struct extend *m, const struct candidates_list *list, struct arena *a)
{
    m->candidates.at = arena_take(a, list->count * sizeof(*list->at));
    for (; m->candidates.count < list->count; m->candidates.count++) {
        m->candidates.at[m->candidates.count] = list->at[m->candidates.count];
        m->candidates.at[m->candidates.count].others.count = 0; /* nobody there needs them */
    }
}

static void send_question(struct coordinator *c, struct moment now, struct flight *f,
                          enum extension_about about)
{
    struct extension *e = f->extension;
    struct extender_ref refs[EXTENDERS_MAX];
    struct message m = {.type = MSG_extend,
                        .extend = {.id = ++c->questions,
                                   .uid = f->pod.uid,
                                   .namespace_name = f->pod.namespace_name,
                                   .name = f->pod.name}};
    m.extend.extenders_hash = c->options.extenders_hash;
    m.extend.step = str_of(about == ABOUT_victims ? "victims" : "nodes");
    m.extend.extenders.at = refs;
    if (about == ABOUT_victims) {
        add_extender(c, &m.extend, c->extender_order[e->victims.turn]);
        add_candidates(&m.extend, &e->victims.chosen, &c->cycle_memory);
    } else {
        for (uint32_t i = 0; i < c->options.extender_count; i++)
            if (e->asked >> c->extender_order[i] & 1)
                add_extender(c, &m.extend, c->extender_order[i]);
        m.extend.nodes = e->answers[about].nodes;
    }
    f->question = m.extend.id;
    e->about = about;
    f->deadline = moment_after(now, patience(c, f));
    outbox_put(c->out, c->extender, &m);
}

static struct strs copy_names(struct extension *e, const struct strs *names)
{
    struct strs copy = {0, arena_take(&e->arena, names->count * sizeof(struct str))};
    for (uint32_t i = 0; i < names->count; i++)
        copy.at[copy.count++] = arena_copy(&e->arena, names->at[i]);
    return copy;
}

static void copy_candidates(struct extension *e, const struct reduce_extend *q)
{
    struct candidates_list *list = &e->victims.candidates;
    *list = (struct candidates_list){0, arena_take(&e->arena, q->count * sizeof(*list->at))};
    for (; list->count < q->count; list->count++)
        codec_copy(&candidate_record, &list->at[list->count], &q->candidates[list->count],
                   &e->arena);
    e->victims.chosen = *list;
}

void extending_ask(struct coordinator *c, struct moment now)
{
    struct flight *f = c->slots[0].flight;
    struct extension *e = f->extension;
    const struct reduce_extend *q = reduce_extend(c->slots[0].reduce);
    bool again = q->about == ABOUT_victims ? e->victims.given : e->answers[q->about].given;
    must(e != NULL);
    e->tries += again;
    c->count.asked_again += again;
    if (q->about == ABOUT_victims) {
        e->victims = (struct extension_victims){0};
        copy_candidates(e, q);
        e->victims.turn = next_about_victims(c, f, 0);
    } else {
        e->answers[q->about] = (struct extension_answer){.nodes = copy_names(e, &q->nodes)};
    }
    cycle_end(c);
    if (f->gone) {
        cycle_land(c, f, "skipped", NULL);
    } else if (c->extender.peer == 0 && f->gang != NULL) {
        flights_return(&c->flights, f);
        gang_abandon(c);
    } else if (c->extender.peer == 0) {
        flights_queue(&c->flights, f, true);
    } else {
        flights_start(&c->flights, f, FLIGHT_asking);
        send_question(c, now, f, q->about);
    }
}

/* ---- answers ---- */

static bool find_among(const struct victim *at, uint32_t count, struct victim *v)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(at[i].uid, v->uid)) {
            *v = at[i];
            return true;
        }
    return false;
}

/* A victim as we know it: one of those that were asked about, or another pod on that node. */
static bool find_victim(const struct extension *e, struct str node, struct victim *v)
{
    for (uint32_t i = 0; i < e->victims.candidates.count; i++) {
        const struct candidate *asked = &e->victims.candidates.at[i];
        if (str_equal(asked->node, node))
            return find_among(asked->victims.at, asked->victims.count, v) ||
                   find_among(asked->others.at, asked->others.count, v);
    }
    return false;
}

/* What an extender left, with victims as we know them. Empty, or why that is no good. */
static struct str resolve(const struct coordinator *c, struct extension *e,
                          const struct extender_config *from, const struct extended *said,
                          struct candidates_list *out)
{
    *out = (struct candidates_list){
        0, arena_take(&e->arena, said->candidates.count * sizeof(*out->at))};
    for (uint32_t i = 0; i < said->candidates.count; i++) {
        struct candidate *to = &out->at[out->count];
        codec_copy(&candidate_record, to, &said->candidates.at[i], &e->arena);
        if (!cache_has_node(c->cache, to->node))
            return arena_print(&e->arena, "nodeinfo not found for node name \"%.*s\"",
                               STR_ARG(to->node));
        for (uint32_t k = 0; k < to->victims.count; k++)
            if (!find_victim(e, to->node, &to->victims.at[k]))
                return arena_print(&e->arena,
                                   "extender: %.*s claims to preempt pod (UID: &{%.*s}) on node: "
                                   "%.*s, but the pod is not found on that node",
                                   STR_ARG(from->url_prefix), STR_ARG(to->victims.at[k].uid),
                                   STR_ARG(to->node));
        if (to->victims.count == 0 && !from->ignorable)
            return arena_print(&e->arena, "expected at least one victim pod on node \"%.*s\"",
                               STR_ARG(to->node));
        out->count += to->victims.count > 0;
    }
    return (struct str){0};
}

/* One extender after another, on what the former left. */
static void take_victims(struct coordinator *c, struct moment now, struct flight *f,
                         const struct extended *said)
{
    struct extension *e = f->extension;
    const struct extender_config *from = config_of(c, c->extender_order[e->victims.turn]);
    struct candidates_list left;
    struct str error = arena_copy(&e->arena, said->error);
    if (error.len == 0 && !said->ignored)
        error = resolve(c, e, from, said, &left);
    if (error.len == 0 && !said->ignored)
        e->victims.chosen = left;
    else if (error.len > 0 && !from->ignorable)
        e->victims.error = error;
    e->victims.turn = next_about_victims(c, f, e->victims.turn + 1);
    bool more = e->victims.error.len == 0 && e->victims.chosen.count > 0 &&
                e->victims.turn < c->options.extender_count;
    if (more) {
        send_question(c, now, f, ABOUT_victims);
        return;
    }
    e->victims.given = true;
    flights_return(&c->flights, f);
}

void extending_on_answer(struct coordinator *c, struct moment now, const struct extended *answer)
{
    struct flight *f = flights_get(&c->flights, answer->uid);
    if (f == NULL || f->state != FLIGHT_asking || f->question != answer->id) {
        c->count.late++;
        return;
    }
    struct extension *e = f->extension;
    if (answer->gone) {
        cycle_land(c, f, "skipped", NULL);
    } else if (e->about == ABOUT_victims) {
        take_victims(c, now, f, answer);
    } else {
        struct extension_answer *a = &e->answers[e->about];
        codec_copy(message_info[MSG_extended].record, &a->said, answer, &e->arena);
        a->given = true;
        flights_return(&c->flights, f);
    }
}

/* ---- binding ---- */

void extending_add_binder(const struct coordinator *c, const struct pod *pod, struct bind *bind,
                          struct arena *a)
{
    for (uint32_t i = 0; i < c->options.extender_count; i++) {
        const struct extender_config *e = config_of(c, i);
        if (e->bind_verb.len == 0 || !extender_interested(e, pod))
            continue;
        bind->extenders.at = arena_take(a, sizeof(*bind->extenders.at));
        bind->extenders.at[0] = (struct extender_ref){i, e->url_prefix};
        bind->extenders.count = 1; /* there is one that binds at most */
        bind->extenders_hash = c->options.extenders_hash;
        return;
    }
}

void extending_status(const struct coordinator *c, struct buffer *lines)
{
    if (c->options.extender_count == 0)
        return;
    buffer_print(lines, "extenders=%u caller=%s queued=%zu questions=%" PRId64 "\n",
                 c->options.extender_count, c->extender.peer != 0 ? "up" : "missing",
                 c->flights.queued, c->questions);
    buffer_print(lines,
                 "extender_answers_outdated=%" PRIu64 "\nextender_pods_put_off=%" PRIu64 "\n",
                 c->count.asked_again, c->count.crowded_out);
}
