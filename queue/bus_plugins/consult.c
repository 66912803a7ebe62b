/* consult: PreEnqueue and QueueSort of plugins on the bus.
 *
 * A pod that is to be queued and that nobody let through so far is gated, and the profile's plugins
 * are asked, one after the other; the one that sorts at the same time. What must stay true: a pod
 * that a plugin holds is gated and shows who holds it; it is asked about again after an event that
 * may help, a change of its own, when a plugin that was silent speaks, and when another process of
 * the plugin comes; a plugin that sorts holds a pod for no longer than its deadline. */
#include "queue/bus_plugins/consult.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "queue/bus_plugins/hinting.h"
#include "queue/gang.h"
#include "queue/hints.h"
#include "queue/queues.h"

/* ---- a pod's next step ---- */

static bool is_held(const struct entry *e)
{
    return e->place == PLACE_unschedulable && e->gate == GATE_plugin;
}

/* It goes on, or waits for whom it waits for by now. */
static void settle(struct queues *q, struct moment now, struct held *h)
{
    struct entry *e = h->entry;
    held_look(h);
    if (!is_held(e))
        return;
    if (h->state == HELD_passed) {
        q->cause = "PreEnqueue";
        places_requeue(q, now, e, WORTH_after_backoff);
        return;
    }
    unschedulable_remove(&q->unschedulable, e);
    e->rejectors &= ~e->held_by;
    e->held_by = held_bit(h);
    e->rejectors |= e->held_by;
    unschedulable_add(&q->unschedulable, e);
}

/* What orders the pod may only change while nothing relies on it. */
static void set_key(struct queues *q, struct moment now, struct entry *e, int64_t key)
{
    if (e->key == key)
        return;
    if (e->place == PLACE_parked) {
        places_leave(q, e);
        e->key = key;
        q->cause = "PreEnqueue";
        places_requeue(q, now, e, WORTH_after_backoff);
        return;
    }
    e->key = key;
    if (e->place == PLACE_active)
        active_fix(&q->active, e);
    else if (e->place == PLACE_backoff || e->place == PLACE_error_backoff)
        backoff_fix(&q->backoff, e);
    else if (e->member != NULL)
        group_mark(e->member->group);
}

/* ---- what is asked, and what was said ---- */

static bool fill(void *state, const struct plugin_question *q, struct message *m, struct arena *a)
{
    struct consulting *c = state;
    if (q->step == PLUGIN_STEP_none)
        return hinting_fill(c->hinting, q, m, a);
    const struct held *h = q->owner;
    m->plugin_ask = (struct plugin_ask){.step = q->step};
    store_get(c->queues->store, h->entry->kept, &m->plugin_ask.pod, a);
    return true;
}

static struct str problem(void *state, const struct plugin_question *q, const struct message *said,
                          struct arena *a)
{
    const struct plugin_answer *answer = &said->plugin_answer;
    (void)state;
    if (q->step != PLUGIN_STEP_pre_enqueue || answer->verdict.len == 0 ||
        str_is(answer->verdict, "allow") || str_is(answer->verdict, "deny"))
        return (struct str){NULL, 0};
    return arena_print(a, "answered with an unknown verdict: \"%.*s\"", STR_ARG(answer->verdict));
}

static void measure(const struct plugin_question *q, const char *point, const char *status,
                    struct span took)
{
    const struct str *values = METRIC_VALUES(q->plugin->name, str_of(point), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   took.ns);
}

static void say_failed(struct consulting *c, struct moment now, const struct held *h,
                       const struct plugin_end *how, const char *what)
{
    if (log_limited(&c->holding.asking.who.log, now))
        log_warn("a plugin failed| pod=%.*s/%.*s why=\"%.*s\" %s",
                 STR_ARG(store_str(h->entry->kept, TAG_pod_namespace_name)),
                 STR_ARG(store_str(h->entry->kept, TAG_pod_name)), STR_ARG(how->why), what);
}

static void sorted(struct consulting *c, struct moment now, struct plugin_question *q,
                   const struct plugin_end *how)
{
    struct held *h = q->owner;
    struct entry *e = h->entry;
    measure(q, "QueueSort", how->answer != NULL ? "Success" : "Error", how->took);
    held_mark(h, h->silent, how->answer == NULL && how->silent);
    e->keyed = how->answer != NULL;
    if (!e->keyed)
        say_failed(c, now, h, how, "sorted=by-priority");
    set_key(c->queues, now, e, e->keyed ? how->answer->plugin_answer.key : e->priority);
    settle(c->queues, now, h);
}

static const char *status_of(const struct plugin_end *how)
{
    if (how->answer == NULL)
        return "Error";
    return str_is(how->answer->plugin_answer.verdict, "deny") ? "Unschedulable" : "Success";
}

/* The plugin does not let it through, as it says or by failing. */
static void deny(struct held *h, const struct plugin_end *how)
{
    struct str why = how->answer != NULL ? how->answer->plugin_answer.reason : how->why;
    held_deny(h, &why);
    h->failed = how->answer == NULL && !how->silent;
    held_mark(h, how->answer == NULL && how->silent, h->unsorted);
}

static void gated(struct consulting *c, struct moment now, struct plugin_question *q,
                  const struct plugin_end *how)
{
    struct held *h = q->owner;
    bool failed = how->answer == NULL, passes = failed && q->plugin->ignore;
    measure(q, "PreEnqueue", status_of(how), how->took);
    if (failed)
        say_failed(c, now, h, how, passes ? "ignored=yes" : "ignored=no");
    else
        passes = !str_is(how->answer->plugin_answer.verdict, "deny");
    if (h->changed || (!passes && !failed && h->again))
        held_ask(h);
    else if (passes)
        held_next(h);
    else
        deny(h, how);
    settle(c->queues, now, h);
}

static void ended(void *state, struct moment now, struct plugin_question *q,
                  const struct plugin_end *how)
{
    struct consulting *c = state;
    if (q->step == PLUGIN_STEP_none)
        hinting_ended(c->hinting, now, q, how);
    else if (q->step == PLUGIN_STEP_queue_sort)
        sorted(c, now, q, how);
    else
        gated(c, now, q, how);
}

/* ---- asking again ---- */

static bool is_about(const struct plugin_question *q, const char *name)
{
    return q->plugin != NULL && str_is(q->plugin->name, name);
}

static void ask_again(struct consulting *c, struct moment now, struct held *h, bool sort)
{
    if (sort) {
        held_sort(h);
        return;
    }
    held_ask(h);
    settle(c->queues, now, h);
}

/* Whom the plugin denied by silence is asked about again, or, as another process may think
 * otherwise, whom it denied at all. Not those that it failed for otherwise: an answer that is good
 * may come between any two that are not, and they would be asked about for ever. */
static void back(void *state, struct moment now, const struct bus_plugin_slot *slot, bool came)
{
    struct consulting *c = state;
    struct held *next;
    for (struct held *h = c->holding.first; h != NULL; h = next) {
        next = h->next;
        if (h->unsorted && is_about(&h->sort, slot->name))
            ask_again(c, now, h, true);
        if (h->state == HELD_denied && (came || h->silent) && is_about(&h->gate, slot->name))
            ask_again(c, now, h, false);
    }
}

/* One that was left alone for a while is tried with one pod: it may have nothing to say by itself.
 * Returns when the next one may be. */
static struct moment probe(struct consulting *c, struct moment now)
{
    struct asking *a = &c->holding.asking;
    struct moment due = MOMENT_NEVER;
    for (uint32_t i = 0; c->holding.silent > 0 && i < a->who.count; i++) {
        const struct bus_plugin_slot *slot = &a->who.at[i];
        struct held *h = c->holding.first;
        if (slot->peer == 0 || slot->rest.ns == 0)
            continue;
        if (!moment_reached(now, slot->rest)) {
            due = moment_earlier(due, slot->rest);
            continue;
        }
        if (a->line[i].count + a->under_way[i].count > 0)
            continue;
        while (h != NULL && !(h->silent && is_about(&h->gate, slot->name)) &&
               !(h->unsorted && is_about(&h->sort, slot->name)))
            h = h->next;
        if (h != NULL)
            ask_again(c, now, h, !(h->silent && is_about(&h->gate, slot->name)));
    }
    return due;
}

/* ---- messages ---- */

/* Upstream's Activate. */
static void activate(struct consulting *c, struct moment now, const struct strs *keys)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        struct entry *e = queues_get(c->queues, keys->at[i]);
        if (e == NULL)
            continue;
        c->queues->cause = "ForceActivate";
        if (is_held(e))
            places_requeue(c->queues, now, e, WORTH_immediately);
        else
            queues_activate(c->queues, now, e);
    }
}

bool consulting_take(struct consulting *c, struct moment now, const struct delivery *in)
{
    struct asking *a = &c->holding.asking;
    const struct message *m = in->message;
    if (in->from.process != PLUGIN)
        return false;
    switch (m->type) {
    case MSG_peer_up: asking_up(a, now, m->peer_up.instance, in->from.peer); break;
    case MSG_peer_down: asking_down(a, in->from.peer); break;
    case MSG_plugin_answer: asking_answered(a, now, in->from.peer, m->plugin_answer.id, m); break;
    case MSG_plugin_hinted: asking_answered(a, now, in->from.peer, m->plugin_hinted.id, m); break;
    case MSG_plugin_activate:
        asking_heard(a, now, in->from.peer);
        activate(c, now, &m->plugin_activate.pods);
        break;
    default: return false;
    }
    return true;
}

struct moment consulting_tick(struct consulting *c, struct moment now, struct outbox *out)
{
    struct moment due = probe(c, now);
    return moment_earlier(due, asking_tick(&c->holding.asking, now, out));
}

/* ---- profiles ---- */

void consulting_forget(struct consulting *c, struct moment now)
{
    hinting_forget(c->hinting);
    while (c->holding.first != NULL) {
        struct entry *e = c->holding.first->entry;
        bool keyed = e->keyed; /* else the key is not the plugin's to take back */
        held_forget(e);
        if (keyed)
            set_key(c->queues, now, e, e->priority);
    }
}

void consulting_read(struct consulting *c, const struct profile *profile, struct str sort,
                     struct consults *into)
{
    *into = (struct consults){.holding = &c->holding};
    for (uint32_t i = 0; i < profile->pre_enqueue.count; i++)
        for (uint32_t k = 0; k < profile->bus_plugins.count; k++) {
            const struct bus_plugin *plugin = &profile->bus_plugins.at[k];
            if (!str_equal(plugin->name, profile->pre_enqueue.at[i]) ||
                into->count == CONFIG_BUS_PLUGINS_MAX)
                continue;
            into->gate_bits[into->count] = plugins_learn(&c->queues->named, plugin->name);
            into->gates[into->count++] = plugin;
        }
    for (uint32_t k = 0; sort.len > 0 && k < profile->bus_plugins.count; k++)
        if (str_equal(profile->bus_plugins.at[k].name, sort)) {
            into->sort = &profile->bus_plugins.at[k];
            into->sort_bit = plugins_learn(&c->queues->named, sort);
        }
}

void consulting_configure(struct consulting *c, const struct str *names, uint32_t count)
{
    asking_configure(&c->holding.asking, names, count);
}

struct consulting *consulting_new(struct queues *queues)
{
    struct consulting *c = memory_take(sizeof(*c));
    c->queues = queues;
    c->holding.asking.options = (struct asking_options){
        .state = c, .fill = fill, .problem = problem, .ended = ended, .back = back};
    c->hinting = hinting_new(queues, &c->holding.asking);
    return c;
}

void consulting_free(struct consulting **consulting)
{
    must((*consulting)->holding.first == NULL);
    hinting_free(&(*consulting)->hinting);
    memory_free(*consulting);
    *consulting = NULL;
}
