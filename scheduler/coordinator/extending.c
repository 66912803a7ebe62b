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
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/permitting.h"

#include <inttypes.h>
#include <string.h>

#define QUEUED_MAX  1024 /* flights that wait for extenders; then some try again later */
#define CREDIT_STEP 64   /* so that the credit is not said anew for every pod */
#define LATE_MS     30000

static const struct extender_config *config_of(const struct coordinator *c, uint32_t extender)
{
    return &c->options.extenders[extender];
}

/* ---- waiting for extenders ---- */

/* The extension that the flight needs; NULL: nobody cares about its pod. */
static struct extension *interest(struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    uint64_t asked = 0, victims = 0;
    if (fw != NULL)
        bus_plugins_wanted(c, &fw->profile, &asked, &victims);
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
    c->asked_due = MOMENT_NEVER;
    for (struct flight *f = c->flights.asked; f != NULL; f = next) {
        next = f->next;
        if (moment_reached(now, f->deadline))
            end_late(c, now, f);
        else
            c->asked_due = moment_earlier(c->asked_due, f->deadline);
    }
}

void extending_look(struct coordinator *c, struct moment now)
{
    if (moment_reached(now, c->asked_due))
        find_late(c, now);
    if (c->options.extender_count == 0 && c->plugins.count == 0)
        return;
    make_room(c);
    c->flights.away = c->extender.peer == 0 ? EXTENDER_BITS : 0;
    flights_admit(&c->flights);
}

/* Those that wait for plugins go on without their process. */
static void restart_extended(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = c->flights.asked; f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_asking && f->asked_peer == 0)
            flights_queue(&c->flights, f, true);
    }
}

void extending_restart(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = c->flights.asked; f != NULL; f = next) {
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

void extending_reconfigure(struct coordinator *c, const struct coordinator_config *config)
{
    bool changed = config->extenders_hash != c->options.extenders_hash;
    size_t at = 0;
    void *value;
    must(config->extender_count <= EXTENDERS_MAX);
    while (c->flights.queued_first != NULL)
        flights_unqueue(&c->flights, c->flights.queued_first);
    while (map_next(c->flights.by_uid, &at, NULL, &value))
        flights_let_go(&c->flights, value);
    if (changed) {
        c->options.extenders = config->extenders;
        c->options.extender_count = config->extender_count;
        c->options.extenders_hash = config->extenders_hash;
        extender_order(config->extenders, config->extender_count, c->extender_order);
    }
    at = 0;
    while (map_next(c->flights.by_uid, &at, NULL, &value))
        take_anew(c, value);
    if (changed)
        log_info("extenders changed| extenders=%u hash=%016" PRIx64, config->extender_count,
                 (uint64_t)config->extenders_hash);
}

void extending_on_loss(struct coordinator *c)
{
    c->extender.peer = 0;
    if (c->gang != NULL)
        cycle_abandon(c);
    restart_extended(c);
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

static void send_question(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    enum extension_about about = e->about;
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
        m.extend.nodes = e->round.left;
    }
    f->question = m.extend.id;
    f->deadline = moment_after(now, patience(c, f));
    c->asked_due = moment_earlier(c->asked_due, f->deadline);
    outbox_put(c->out, c->extender, &m);
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

/* Plugins may have left only some of the nodes. */
static void narrow_candidates(struct extension *e)
{
    const struct candidates_list all = e->victims.chosen;
    struct candidates_list *kept = &e->victims.chosen;
    uint32_t place;
    *kept = (struct candidates_list){0, arena_take(&e->arena, all.count * sizeof(*all.at))};
    for (uint32_t i = 0; i < all.count; i++)
        if (extension_find(&e->round.left, all.at[i].node, &place))
            kept->at[kept->count++] = all.at[i];
}

bool extending_send(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    bool victims = e->about == ABOUT_victims;
    uint64_t whom = (victims ? e->asked_victims : e->asked) & EXTENDER_BITS;
    if (victims)
        narrow_candidates(e);
    if (whom == 0 || e->round.left.count == 0)
        return false;
    if (c->extender.peer == 0 && f->gang != NULL) {
        flights_return(&c->flights, f);
        gang_abandon(c);
    } else if (c->extender.peer == 0) {
        flights_queue(&c->flights, f, true);
    } else {
        send_question(c, now, f);
    }
    return true;
}

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

void extending_ask(struct coordinator *c, struct moment now)
{
    struct flight *f = c->slots[0].flight;
    struct extension *e = f->extension;
    const struct reduce_extend *q = reduce_extend(c->slots[0].reduce);
    must(e != NULL);
    bool again = q->about == ABOUT_victims ? e->victims.given : e->answers[q->about].given;
    struct strs nodes = nodes_of(q, &c->cycle_memory);
    e->tries += again;
    c->count.asked_again += again;
    e->about = q->about;
    if (q->about == ABOUT_victims) {
        e->victims = (struct extension_victims){0};
        copy_candidates(e, q);
        e->victims.turn = next_about_victims(c, f, 0);
    } else {
        e->answers[q->about] = (struct extension_answer){0};
    }
    cycle_end(c);
    if (f->gone) {
        cycle_land(c, f, "skipped", NULL);
        return;
    }
    flights_start(&c->flights, f, FLIGHT_asking);
    consulting_begin(c, now, f, &nodes);
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
        send_question(c, now, f);
        return;
    }
    consulting_on_extended(c, now, f, said);
}

void extending_on_answer(struct coordinator *c, struct moment now, const struct extended *answer)
{
    struct flight *f = flights_get(&c->flights, answer->uid);
    if (f == NULL || f->state != FLIGHT_asking || f->question != answer->id || f->asked_peer != 0) {
        c->count.late++;
        return;
    }
    struct extension *e = f->extension;
    if (answer->gone) {
        cycle_land(c, f, "skipped", NULL);
    } else if (e->about == ABOUT_victims) {
        take_victims(c, now, f, answer);
    } else {
        consulting_on_extended(c, now, f, answer);
    }
}

/* ---- plugins on the bus ---- */

static struct flight *asked_by(const struct coordinator *c, int64_t id, uint32_t peer)
{
    struct flight *f = c->flights.asked;
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
        c->count.late++;
    else if (f->state == FLIGHT_permitting)
        permitting_on_answer(c, now, f, answer);
    else
        consulting_on_answer(c, now, f, answer);
}

void extending_on_plugin_down(struct coordinator *c, struct moment now, uint32_t peer)
{
    struct flight *next;
    bus_plugins_down(c, peer);
    for (struct flight *f = c->flights.asked; f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_permitting)
            permitting_on_plugin_down(c, now, f, peer);
        else if (f->asked_peer == peer)
            consulting_again(c, now, f);
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
    bus_plugins_status(c, c->last_call, lines);
    if (c->plugins.count > 0)
        buffer_print(lines, "permitting=%u\n", c->permitting);
    if (c->options.extender_count == 0)
        return;
    buffer_print(lines, "extenders=%u caller=%s queued=%zu questions=%" PRId64 "\n",
                 c->options.extender_count, c->extender.peer != 0 ? "up" : "missing",
                 c->flights.queued, c->questions);
    buffer_print(lines,
                 "extender_answers_outdated=%" PRIu64 "\nextender_pods_put_off=%" PRIu64 "\n",
                 c->count.asked_again, c->count.crowded_out);
}
