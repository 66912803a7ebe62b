/* permitting: Reserve and Permit of plugins on the bus, and the wait that they may ask for. The one
 * idea: the profile's plugins are asked one after the other, as upstream does, first those at
 * Reserve, then those at Permit; when all have answered and some want the pod to wait, their times
 * run from then on, and the pod is bound when the last one has allowed it.
 *
 * What must stay true: a pod is assumed exactly while it is here or being bound; it leaves here by
 * being bound, by failing, whereupon everything that was reserved for it is given back in reverse
 * order, or by being decided anew; what a plugin fails to say counts as its failurePolicy has it.
 * Plugins of ours answer at once, and are asked again, with others' answers kept, until they do not
 * say wait any more. */
#include "scheduler/coordinator/permitting.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/config/config_duration.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/coordinator/reserving.h"
#include "scheduler/merge/decisions_kept.h"
#include "scheduler/merge/fit_error.h"
#include "scheduler/merge/plugin_said.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/tracing/attempt_trace.h"

#define CREDIT_STEP    64   /* so that the credit is not said anew for every pod */
#define PERMITTING_MAX 8192 /* that wait at once without being counted as credit */

#define AGAIN_MS 20 /* how soon a plugin of ours is asked again when something changed */

struct permit_wait {
    struct str name;                 /* its profile's */
    const struct bus_plugin *plugin; /* its profile's; NULL: it is one of ours: */
    const struct plugin *hook;
    uint32_t peer; /* the process that is to say when; 0: one of ours */
    bool allowed;
    int64_t timeout_ms, again_ms;
    struct moment until; /* once it waits */
    struct moment again; /* then one of ours is asked again */
};

struct permit {
    bool reserved;             /* Reserve is through, and Permit's turn */
    uint32_t place;            /* in the profile's list of the one or the other: whose turn it is */
    uint32_t count;            /* of waits */
    uint32_t holders;          /* at Reserve, places below this were asked, */
    uint32_t told;             /* and so at Permit: they are told when it comes to nothing */
    bool waiting;              /* all were asked */
    bool nominated;            /* the API server was told of the node */
    struct moment began;       /* the asking, then the waiting */
    struct permit_wait *waits; /* with room for each place; in the flight's arena */
};

static const struct framework *rules_for(const struct coordinator *c, const struct flight *f)
{
    return frameworks_find(&c->frameworks, f->pod.scheduler_name);
}

static const struct profile *profile_of(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = rules_for(c, f);
    return fw != NULL ? &fw->profile : NULL;
}

static bool has_somebody(const struct framework *fw)
{
    return fw->permit.count > 0 || bus_plugins_permit(&fw->profile) ||
           bus_plugins_reserve(&fw->profile);
}

/* Whose turn it is; NULL: who stands there is none on the bus. */
static const struct bus_plugin *whose_turn(const struct profile *p, const struct permit *at)
{
    return bus_plugin_of(p, (at->reserved ? p->permit : p->reserve).at[at->place]);
}

static enum plugin_step step_of(const struct permit *at)
{
    return at->reserved ? PLUGIN_STEP_permit : PLUGIN_STEP_reserve;
}

static const char *point_of(const struct flight *f)
{
    return f->permit->reserved ? "Permit" : "Reserve";
}

/* ---- ends ---- */

static void measure_end(const struct coordinator *c, const struct flight *f, const char *status)
{
    const struct permit *p = f->permit;
    if (p->waiting)
        measure_waited(c, p->began, status);
    else
        measure_extension_point(c, f, point_of(f), p->began, status);
}

static bool was_asked(struct strs names, uint32_t below, struct str name)
{
    uint32_t i = 0;
    while (i < below && !str_equal(names.at[i], name))
        i++;
    return i < below;
}

/* In reverse order, and each once. */
static void tell_unreserved(struct coordinator *c, const struct flight *f)
{
    const struct profile *p = profile_of(c, f);
    const struct bus_plugin *plugin;
    for (uint32_t i = f->permit->told; p != NULL && i > 0; i--) {
        plugin = bus_plugin_of(p, p->permit.at[i - 1]);
        if (plugin != NULL && !was_asked(p->reserve, f->permit->holders, plugin->name))
            bus_plugins_tell(c, plugin, PLUGIN_NEWS_unreserved, f);
    }
    for (uint32_t i = f->permit->holders; p != NULL && i > 0; i--) {
        plugin = bus_plugin_of(p, p->reserve.at[i - 1]);
        if (plugin != NULL)
            bus_plugins_tell(c, plugin, PLUGIN_NEWS_unreserved, f);
    }
}

void permitting_undo(struct coordinator *c, struct flight *f)
{
    tell_unreserved(c, f);
    reserving_undo(c, f);
    cache_forget(c->cache, f->pod.uid);
    f->pod.node_name = (struct str){NULL, 0};
    f->released = true;
    c->permits.changed = true;
}

void permitting_restart(struct coordinator *c, struct flight *f)
{
    permitting_undo(c, f);
    COUNT(c, restarted, 1);
    if (f->grouped)
        landing_end(c, f, OUTCOME_skipped, NULL); /* with its group, or not at all */
    else
        flights_return(&c->flights, f);
}

struct str permitting_rejection(struct coordinator *c, struct str reason)
{
    struct histogram h = {.arena = &c->cycle_memory};
    histogram_add(&h, reason, 1);
    return fit_error(1, (struct str){0}, &h, (struct str){0});
}

static void reject(struct coordinator *c, struct flight *f, struct str plugin, struct str reason)
{
    struct str message = arena_copy(&c->cycle_memory, permitting_rejection(c, reason));
    const struct strs plugins = {1, &plugin};
    bool nominated = f->permit->nominated || f->pod.nominated_node.len > 0;
    log_debug("not permitted| pod=%.*s/%.*s reason=\"%.*s\"", STR_ARG(f->pod.namespace_name),
              STR_ARG(f->pod.name), STR_ARG(reason));
    measure_end(c, f, "Unschedulable");
    measure_failed(c, f, true);
    COUNT(c, unschedulable, 1);
    permitting_undo(c, f);
    releasing_unreserve(c, f);
    cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    landing_report(c, f, REASON_unschedulable,
                   &(struct failure){.message = message, .nominate = nominated});
    landing_end(c, f, OUTCOME_unschedulable, &plugins);
}

void permitting_removed(struct coordinator *c, struct flight *f, bool gone)
{
    struct message m = {.type = MSG_pod_failed};
    measure_end(c, f, "Unschedulable");
    measure_failed(c, f, true);
    permitting_undo(c, f);
    releasing_unreserve(c, f);
    m.pod_failed = (struct pod_failed){.pod = f->pod,
                                       .reason = REASON_unschedulable,
                                       .message = permitting_rejection(c, STR_LITERAL("removed")),
                                       .event_only = gone};
    outbox_put(c->out, c->binder, &m);
    landing_end(c, f, OUTCOME_skipped, NULL);
}

void permitting_preempt(struct coordinator *c, struct flight *f)
{
    measure_end(c, f, "Error");
    permitting_undo(c, f);
    releasing_unreserve(c, f);
    COUNT(c, errors, 1);
    landing_fail(c, f, STR_LITERAL("waiting on permit for pod: preempted"));
}

static void grant(struct coordinator *c, struct flight *f)
{
    measure_end(c, f, "Success");
    flights_start(&c->flights, f, FLIGHT_binding);
    bind_request_send(c, f);
    c->permits.changed = true;
}

/* A plugin has failed. True: the pod with it. */
static bool fails(struct coordinator *c, struct moment now, struct flight *f,
                  const struct bus_plugin *plugin, struct str why)
{
    bus_plugins_say_failed(c, now, f, plugin->ignore, why);
    if (!plugin->ignore)
        reject(c, f, plugin->name, why);
    return !plugin->ignore;
}

/* ---- asking ---- */

/* The deadline is that of whoever is first. */
static void set_deadline(struct coordinator *c, struct flight *f)
{
    const struct permit *p = f->permit;
    struct moment first = MOMENT_NEVER;
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->waits[i].allowed)
            first = moment_earlier(first, moment_earlier(p->waits[i].until, p->waits[i].again));
    flights_due(&c->flights, f, first);
}

static void set_again(struct permit_wait *w, struct moment now)
{
    w->again = MOMENT_NEVER;
    if (w->hook != NULL && w->again_ms > 0)
        w->again = moment_after(now, span_of_ms(w->again_ms));
}

static bool all_allow(const struct permit *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->waits[i].allowed)
            return false;
    return true;
}

/* Where it will be is told the API server, as waiting takes a while. */
static void nominate(struct coordinator *c, struct flight *f)
{
    if (!bind_request_says_where(c, f))
        return;
    struct message m = {.type = MSG_nominate,
                        .nominate = {.pod = f->pod, .node_name = f->pod.node_name}};
    m.nominate.pod.node_name = (struct str){NULL, 0};
    f->permit->nominated = true;
    if (!str_equal(f->pod.nominated_node, f->pod.node_name))
        outbox_put(c->out, c->binder, &m);
}

static void begin_waiting(struct coordinator *c, struct moment now, struct flight *f)
{
    struct permit *p = f->permit;
    f->question = 0;
    f->asked_peer = 0;
    if (all_allow(p)) {
        grant(c, f);
        return;
    }
    measure_extension_point(c, f, "Permit", p->began, "Wait");
    p->waiting = true;
    p->began = now;
    for (uint32_t i = 0; i < p->count; i++) {
        p->waits[i].until = moment_after(now, span_of_ms(p->waits[i].timeout_ms));
        set_again(&p->waits[i], now);
    }
    set_deadline(c, f);
    nominate(c, f);
    log_debug("waits for permission| pod=%.*s/%.*s node=%.*s", STR_ARG(f->pod.namespace_name),
              STR_ARG(f->pod.name), STR_ARG(f->pod.node_name));
}

/* ---- plugins of ours ---- */

static void fail_hook(struct coordinator *c, struct flight *f, const struct plugin *hook,
                      struct str why)
{
    struct str message = arena_print(&c->cycle_memory, "running Permit plugin \"%s\": %.*s",
                                     hook->name, STR_ARG(why));
    measure_end(c, f, "Error");
    COUNT(c, errors, 1);
    permitting_undo(c, f);
    releasing_unreserve(c, f);
    landing_fail(c, f, message);
}

static struct permit_reply ask_hook(struct coordinator *c, struct flight *f,
                                    const struct plugin *hook, struct arena *memory)
{
    struct attempt_question q = reserving_question(c, f, rules_for(c, f), f->pod.node_name);
    q.arena = memory;
    return hook_permit(hook, &q, &f->hooks, c->options.clock);
}

/* False: it has been turned away, or the attempt has failed. */
static bool hook_lets_go_on(struct coordinator *c, struct flight *f, const struct plugin *hook,
                            const struct permit_reply *said)
{
    struct str why = said->reason;
    if (said->says == PERMIT_error) {
        fail_hook(c, f, hook, why);
        return false;
    }
    if (said->says != PERMIT_deny)
        return true;
    if (why.len == 0)
        why = arena_print(&c->cycle_memory, "plugin \"%s\" does not permit it", hook->name);
    reject(c, f, str_of(hook->name), why);
    return false;
}

/* At its place in the list. False: the pod is not here any more. */
static bool try_hook(struct coordinator *c, struct flight *f, const struct plugin *hook)
{
    struct permit *p = f->permit;
    const struct permit_reply said = ask_hook(c, f, hook, &c->cycle_memory);
    if (!hook_lets_go_on(c, f, hook, &said))
        return false;
    if (said.says == PERMIT_wait)
        p->waits[p->count++] = (struct permit_wait){.name = str_of(hook->name),
                                                    .hook = hook,
                                                    .timeout_ms = said.timeout_ms,
                                                    .again_ms = said.again_ms};
    return true;
}

/* True: a plugin is asked, or has failed, and the pod with it; false: all have answered. */
static bool ask(struct coordinator *c, struct moment now, struct flight *f)
{
    const struct framework *fw = rules_for(c, f);
    const struct profile *profile = &fw->profile;
    const struct strs node = {1, &f->pod.node_name};
    struct permit *p = f->permit;
    const struct strs list = p->reserved ? profile->permit : profile->reserve;
    for (; p->place < list.count; p->place++) {
        const struct consultation_turn t = {.plugin = whose_turn(profile, p),
                                            .step = p->reserved ? PLUGIN_STEP_permit
                                                                : PLUGIN_STEP_reserve,
                                            .nodes = &node};
        const struct plugin *hook =
            p->reserved ? hooked_find(&fw->permit, list.at[p->place]) : NULL;
        struct str why;
        if (hook != NULL && !try_hook(c, f, hook))
            return true;
        if (t.plugin == NULL)
            continue;
        if (bus_plugins_ask(c, now, f, &t, &why)) {
            *(p->reserved ? &p->told : &p->holders) = p->place + 1;
            return true;
        }
        if (fails(c, now, f, t.plugin, why))
            return true;
    }
    return false;
}

static void go_on(struct coordinator *c, struct moment now, struct flight *f)
{
    struct permit *p = f->permit;
    if (!p->reserved) {
        if (ask(c, now, f))
            return;
        if (p->holders > 0)
            measure_extension_point(c, f, "Reserve", p->began, "Success");
        p->reserved = true;
        p->place = 0;
        p->began = now;
    }
    if (ask(c, now, f))
        return;
    begin_waiting(c, now, f);
}

/* What berth explain tells of it. */
static void keep(struct coordinator *c, const struct flight *f)
{
    decisions_kept_add(c->decisions, &f->pod,
                       &(struct past_decision){.wall_us = coordinator_wall_us(c),
                                               .attempt = f->attempts,
                                               .nodes = cache_nodes(c->cache),
                                               .placed = true,
                                               .node = f->pod.node_name,
                                               .score = f->score,
                                               .feasible = f->feasible});
}

void permitting_begin(struct coordinator *c, struct moment now, struct flight *f)
{
    const struct framework *fw = rules_for(c, f);
    keep(c, f);
    bool reserve = fw != NULL && bus_plugins_reserve(&fw->profile);
    if (fw == NULL || !has_somebody(fw)) {
        bind_request_send(c, f);
        return;
    }
    flights_start(&c->flights, f, FLIGHT_permitting);
    attempt_trace_phase(f->trace, reserve ? "Reserve and Permit" : "Permit",
                        coordinator_wall_us(c));
    f->permit = memory_take(sizeof(*f->permit));
    f->permit->began = now;
    f->permit->waits = arena_take(&f->arena, fw->profile.permit.count * sizeof(*f->permit->waits));
    c->permits.changed = true;
    go_on(c, now, f);
}

/* ---- answers ---- */

static void add_wait(const struct coordinator *c, struct flight *f, const struct bus_plugin *plugin,
                     int64_t timeout_ms)
{
    struct permit *p = f->permit;
    bool given = timeout_ms > 0 && timeout_ms < plugin->permit_timeout_ms;
    must(p->count < profile_of(c, f)->permit.count);
    p->waits[p->count++] =
        (struct permit_wait){.name = plugin->name,
                             .plugin = plugin,
                             .peer = f->asked_peer,
                             .timeout_ms = given ? timeout_ms : plugin->permit_timeout_ms};
}

void permitting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer)
{
    const struct bus_plugin *plugin = whose_turn(profile_of(c, f), f->permit);
    const enum plugin_step step = step_of(f->permit);
    struct str wrong = plugin_said_hold(answer, step, &c->cycle_memory);
    const char *status = wrong.len > 0                     ? "Error"
                         : str_is(answer->verdict, "deny") ? "Unschedulable"
                         : str_is(answer->verdict, "wait") ? "Wait"
                                                           : "Success";
    measure_plugin(c, f, plugin, point_of(f), status);
    if (wrong.len > 0) {
        wrong = bus_plugins_failed(c, plugin, wrong, &c->cycle_memory);
        if (fails(c, now, f, plugin, wrong))
            return;
    } else {
        bus_plugins_fine(c, plugin);
    }
    struct str why = plugin_said_denial(plugin, answer, step, &c->cycle_memory);
    if (wrong.len == 0 && why.len > 0) {
        reject(c, f, plugin->name, why);
        return;
    }
    if (wrong.len == 0 && str_is(answer->verdict, "wait"))
        add_wait(c, f, plugin, answer->timeout_ms);
    f->permit->place++;
    go_on(c, now, f);
}

static struct permit_wait *wait_of(const struct flight *f, uint32_t peer)
{
    for (uint32_t i = 0; i < f->permit->count; i++)
        if (f->permit->waits[i].plugin != NULL && f->permit->waits[i].peer == peer)
            return &f->permit->waits[i];
    return NULL;
}

static void allow(struct coordinator *c, struct flight *f, struct permit_wait *w)
{
    w->allowed = true;
    if (!f->permit->waiting)
        return;
    if (all_allow(f->permit))
        grant(c, f);
    else
        set_deadline(c, f);
}

void permitting_on_permit(struct coordinator *c, struct moment now, uint32_t peer,
                          const struct plugin_permit *said)
{
    struct flight *f = flights_get(&c->flights, said->uid);
    bool waits = f != NULL && f->state == FLIGHT_permitting;
    struct permit_wait *w = waits ? wait_of(f, peer) : NULL;
    (void)now;
    bus_plugins_heard(c, peer);
    if (w == NULL) { /* it was deleted, or its time was over, just before */
        COUNT(c, late, 1);
        return;
    }
    bus_plugins_fine(c, w->plugin);
    if (said->allow) {
        allow(c, f, w);
        return;
    }
    struct str why = said->reason;
    if (why.len == 0)
        why = arena_print(&c->cycle_memory, "plugin \"%.*s\" does not permit it",
                          STR_ARG(w->plugin->name));
    reject(c, f, w->name, why);
}

/* ---- time, and what goes meanwhile ---- */

static void end_wait(struct coordinator *c, struct flight *f, const struct permit_wait *w)
{
    struct buffer text = {0};
    buffer_add_text(&text, "rejected due to timeout after waiting ");
    config_duration_print(span_of_ms(w->timeout_ms), &text);
    buffer_print(&text, " at plugin %.*s", STR_ARG(w->name));
    reject(c, f, w->name, buffer_str(&text));
    buffer_free(&text);
}

/* Those of ours whose time it is; then the deadline is the next one's. */
static void ask_hooks_again(struct coordinator *c, struct moment now, struct flight *f)
{
    struct arena memory = {0}; /* it may be asked for a long time */
    struct permit *p = f->permit;
    bool goes_on = true;
    for (uint32_t i = 0; goes_on && i < p->count; i++) {
        struct permit_wait *w = &p->waits[i];
        if (w->allowed || w->hook == NULL || !moment_reached(now, w->again))
            continue;
        const struct permit_reply said = ask_hook(c, f, w->hook, &memory);
        w->allowed = said.says == PERMIT_allow;
        w->again_ms = said.again_ms;
        set_again(w, now);
        goes_on = hook_lets_go_on(c, f, w->hook, &said);
    }
    arena_free(&memory);
    if (goes_on && all_allow(p))
        grant(c, f);
    else if (goes_on)
        set_deadline(c, f);
}

/* True when one of ours waits: its turn is now. */
static bool ask_soon(struct permit *p, struct moment now)
{
    bool ours = false;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->waits[i].hook != NULL && !p->waits[i].allowed) {
            p->waits[i].again = now;
            ours = true;
        }
    return ours;
}

void permitting_on_late(struct coordinator *c, struct moment now, struct flight *f)
{
    struct permit *p = f->permit;
    if (!p->waiting) {
        const struct bus_plugin *plugin = whose_turn(profile_of(c, f), p);
        struct str why = bus_plugins_late(c, now, plugin, &c->cycle_memory);
        measure_plugin(c, f, plugin, point_of(f), "Error");
        if (fails(c, now, f, plugin, why))
            return;
        p->place++;
        go_on(c, now, f);
        return;
    }
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->waits[i].allowed && moment_reached(now, p->waits[i].until)) {
            end_wait(c, f, &p->waits[i]);
            return;
        }
    ask_hooks_again(c, now, f);
}

struct moment permitting_look_again(struct coordinator *c, struct moment now)
{
    struct moment due = moment_after(c->permits.looked, span_of_ms(AGAIN_MS));
    if (!c->permits.changed || flights_in(&c->flights, FLIGHT_permitting) == 0)
        return MOMENT_NEVER;
    if (!moment_reached(now, due))
        return due;
    c->permits.changed = false;
    c->permits.looked = now;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = f->next)
        if (f->state == FLIGHT_permitting && f->permit->waiting && ask_soon(f->permit, now))
            set_deadline(c, f);
    return MOMENT_NEVER;
}

/* Another process of the plugin's name knows nothing of the pod: all are asked anew. */
static void ask_anew(struct coordinator *c, struct moment now, struct flight *f)
{
    struct permit *p = f->permit;
    *p = (struct permit){.nominated = p->nominated, .began = now, .waits = p->waits};
    go_on(c, now, f);
}

void permitting_on_plugin_down(struct coordinator *c, struct moment now, struct flight *f,
                               uint32_t peer)
{
    struct permit_wait *w = wait_of(f, peer);
    if (f->asked_peer == peer) {
        go_on(c, now, f);
        return;
    }
    if (w == NULL || w->allowed)
        return;
    if (bus_plugins_slot(c, w->plugin)->peer != 0) {
        ask_anew(c, now, f);
        return;
    }
    struct str why = bus_plugins_failed(
        c, w->plugin, STR_LITERAL("went away before it gave its permission"), &c->cycle_memory);
    if (!fails(c, now, f, w->plugin, why))
        allow(c, f, w);
}

void permitting_look(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (f->state != FLIGHT_permitting)
            continue;
        if (cache_pod(c->cache, f->pod.uid, NULL) == CACHE_absent)
            permitting_removed(c, f, true);
        else if (!cache_has_node(c->cache, f->pod.node_name))
            permitting_restart(c, f);
    }
}

int64_t permitting_credit(const struct coordinator *c)
{
    int64_t steps = ((int64_t)flights_in(&c->flights, FLIGHT_permitting) + CREDIT_STEP - 1) /
                    CREDIT_STEP * CREDIT_STEP;
    return steps < PERMITTING_MAX ? steps : PERMITTING_MAX;
}
