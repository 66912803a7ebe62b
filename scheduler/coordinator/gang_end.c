/* gang_end: what becomes of a group's members, and what is said of it. The one idea: a member that
 * found no place is told why in the words that a pod alone would get; all others are told of that
 * member; the group's own event and condition name it, too.
 *
 * What must stay true: every member's flight lands here or goes on alone (its bind, its eviction);
 * binds are sent only from gang_commit, evictions only from gang_evict. */
#include "scheduler/coordinator/gang.h"

#include "proto/base/log.h"
#include "scheduler/coordinator/gang_condition.h"
#include "scheduler/coordinator/gang_status.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/merge/post_filter.h"

#include <inttypes.h>

#define IN_TREE     "scheduling.k8s.io"
#define UNSCHEDULED "pod group is unschedulable, "
#define FOR_QUORUM                                                                                 \
    UNSCHEDULED                                                                                    \
    "waiting for minCount pods from a gang to be scheduled, one or more plugins asked "            \
    "to wait and no plugin rejected pod"
#define REJECTED                                                                                   \
    "PodGroup %.*s/%.*s gets rejected due to Pod %.*s is unschedulable even after PostFilter"
#define FOR_EVICTION UNSCHEDULED "pod group is waiting for preemption to complete"

/* ---- words ---- */

static void tell_group(struct coordinator *c, const struct gang_try *g,
                       enum condition_reason reason, struct str message)
{
    struct message m = {.type = MSG_group_failed,
                        .group_failed = {.group = g->group,
                                         .scheduled = reason == REASON_scheduled,
                                         .reason = reason,
                                         .message = message,
                                         .scheduler_name = g->scheduler_name}};
    /* What was said to be scheduled stays so, also before the view shows it. */
    if (gang_statuses_was_scheduled(c->gang_statuses, &g->group))
        m.group_failed.group.scheduled_condition.status = STR_LITERAL("True");
    outbox_put(c->out, c->binder, &m);
    const struct gang_news news = {g->group.namespace_name, g->group.name, m.group_failed.scheduled,
                                   g->scheduler_name};
    if (str_is(g->group.api, IN_TREE)) /* so that no late member takes it back */
        (void)gang_statuses_condition(c->gang_statuses, c->last_call, &news);
    log_debug("group %s| group=%.*s/%.*s members=%u needed=%" PRId64 " message=\"%.*s\"",
              m.group_failed.scheduled ? "is placed" : "is not placed",
              STR_ARG(g->group.namespace_name), STR_ARG(g->group.name), g->count, g->needed,
              STR_ARG(message));
}

static void measure(const struct coordinator *c, const struct gang_try *g, enum group_result result)
{
    gang_condition_measure(c, &g->group, g->scheduler_name, g->began, result);
}

/* The first that found no place; NULL: all did that were asked about. */
static const struct gang_place *first_failed(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].failed && g->at[i].flight != NULL)
            return &g->at[i];
    return NULL;
}

static bool is_in_tree(const struct gang_try *g)
{
    return str_is(g->group.api, IN_TREE);
}

/* The plugin's words for one who has to wait for the member that failed. */
static struct str rejected(struct coordinator *c, const struct gang_try *g,
                           const struct gang_place *failed)
{
    return arena_print(&c->cycle_memory, REJECTED, STR_ARG(g->group.namespace_name),
                       STR_ARG(g->group.name), STR_ARG(failed->flight->pod.name));
}

static struct str for_siblings(struct coordinator *c, const struct gang_try *g,
                               const struct gang_place *failed)
{
    if (!is_in_tree(g))
        return rejected(c, g, failed);
    if (failed->why.kind != DECISION_error)
        return STR_LITERAL(FOR_QUORUM);
    return arena_print(&c->cycle_memory, "failed to schedule other pod from a pod group: %.*s",
                       STR_ARG(failed->why.message));
}

/* The plugin lets a group wait for few: then it says nothing of itself. */
static bool is_tolerated(const struct coordinator *c, const struct gang_try *g, uint32_t placed)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    int64_t missing = g->needed - placed, min = g->group.min_member;
    return fw != NULL && missing * 100 <= fw->profile.gang_reject_percentage * min;
}

/* Upstream's PostFilter plugins run in turn, the group's last, unless one succeeds. */
static struct str for_failed(struct coordinator *c, const struct gang_try *g,
                             const struct gang_place *m)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    bool unschedulable = m->why.kind == DECISION_unschedulable;
    bool curable = m->why.preemption.node.len > 0;
    if (is_in_tree(g))
        return unschedulable && curable ? STR_LITERAL(FOR_QUORUM) : m->why.message;
    if (!unschedulable || curable || is_tolerated(c, g, g->placed_most))
        return m->why.message;
    bool first = fw == NULL || fw->profile.post_filter.count == 0;
    return arena_print(&c->cycle_memory, "%.*s%s%.*s", STR_ARG(m->why.message), first ? " " : ", ",
                       STR_ARG(rejected(c, g, m)));
}

static struct str for_group(struct coordinator *c, const struct gang_try *g,
                            const struct gang_place *failed)
{
    return arena_print(&c->cycle_memory,
                       "%s%" PRId64 " more pods have to be placed together, and %u of %u have no "
                       "place: pod %.*s/%.*s: %.*s",
                       is_in_tree(g) ? UNSCHEDULED : "", g->needed, g->failed_most, g->count,
                       STR_ARG(failed->flight->pod.namespace_name),
                       STR_ARG(failed->flight->pod.name), STR_ARG(failed->why.message));
}

/* The condition of the API in the tree says nothing then. */
static struct str for_placed_group(struct coordinator *c, const struct gang_try *g)
{
    if (is_in_tree(g))
        return (struct str){NULL, 0};
    return arena_print(&c->cycle_memory,
                       "%u of %u pods have a place together, %" PRId64 " were needed", g->placed,
                       g->placed + g->passed, g->needed);
}

/* Who rejects siblings; in the tree nobody is named for that. */
static struct strs siblings_plugins(const struct gang_try *g)
{
    static struct str plugin = {"Coscheduling", sizeof("Coscheduling") - 1};
    return (struct strs){is_in_tree(g) ? 0 : 1, &plugin};
}

/* ---- one member ---- */

/* What one is told, and how it lands. */
struct ending {
    enum decision_kind kind;
    struct str message;
    const struct strs *plugins;
    bool clears; /* its nomination */
};

static void fail_member(struct coordinator *c, struct flight *f, const struct ending *e)
{
    bool unschedulable = e->kind != DECISION_error;
    gang_try_leave(f);
    measure_failed(c, f, unschedulable);
    COUNT(c, unschedulable, unschedulable);
    COUNT(c, errors, !unschedulable);
    landing_report(c, f, unschedulable ? REASON_unschedulable : REASON_scheduler_error,
                   &(struct failure){.message = e->message, .nominate = e->clears});
    if (e->clears)
        cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    landing_end(c, f, unschedulable ? OUTCOME_unschedulable : OUTCOME_error, e->plugins);
}

/* What its own attempt would take back of claims: after Reserve, or as PostFilter wants it. */
static void take_back(struct coordinator *c, const struct gang_place *m)
{
    bool reserved = m->failed ? m->why.node.len > 0 : m->node.len > 0;
    if (m->failed)
        (void)releasing_deallocate(c, m->flight, &m->why, false);
    if (reserved)
        releasing_unreserve(c, m->flight);
}

static void fail_alone(struct coordinator *c, struct gang_place *m)
{
    take_back(c, m);
    const struct ending e = {m->why.kind, m->why.message, &m->why.plugins, m->why.clear_nominated};
    m->flight->activate = m->why.preemption.node.len > 0; /* by itself it may evict others */
    fail_member(c, m->flight, &e);
}

static void bind_member(struct coordinator *c, struct flight *f)
{
    gang_try_leave(f);
    flights_start(&c->flights, f, FLIGHT_binding);
    COUNT(c, scheduled, 1);
    permitting_begin(c, c->last_call, f);
}

/* ---- the group ---- */

void gang_commit(struct coordinator *c, struct gang_try *g)
{
    COUNT(c, gangs_placed, 1);
    gang_claims_keep(c, c->last_call, g, false); /* of who is not placed with the others */
    tell_group(c, g, REASON_scheduled, for_placed_group(c, g));
    measure(c, g, GROUP_scheduled);
    for (uint32_t i = 0; i < g->count; i++) {
        struct flight *f = g->at[i].flight;
        if (f != NULL && f->state == FLIGHT_placed)
            bind_member(c, f);
        else if (f != NULL)
            fail_alone(c, &g->at[i]);
    }
}

void gang_give_back(struct coordinator *c, struct gang_try *g, enum outcome_result result)
{
    g->users++;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            landing_end(c, g->at[i].flight, result, NULL);
    gang_try_drop(g);
}

static bool anybody_clears(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL && g->at[i].failed && g->at[i].why.clear_nominated)
            return true;
    return false;
}

static void fail_all(struct coordinator *c, struct gang_try *g, const struct gang_place *failed)
{
    const struct strs plugins = siblings_plugins(g);
    struct str siblings = for_siblings(c, g, failed);
    bool clears = anybody_clears(g);
    bool stopped = is_in_tree(g) && failed->why.kind == DECISION_error;
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        struct ending e = {stopped ? DECISION_error : DECISION_unschedulable, siblings, &plugins,
                           clears};
        if (m->flight == NULL)
            continue;
        take_back(c, m);
        if (m->failed)
            e = (struct ending){m->why.kind, for_failed(c, g, m), &m->why.plugins, clears};
        fail_member(c, m->flight, &e);
    }
}

void gang_fail(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct gang_place *failed = first_failed(g);
    if (failed == NULL) { /* others have left it: the queue finds out who is still there */
        gang_give_back(c, g, OUTCOME_skipped);
        return;
    }
    COUNT(c, gangs_failed, 1);
    tell_group(c, g,
               failed->why.kind == DECISION_error ? REASON_scheduler_error : REASON_unschedulable,
               for_group(c, g, failed));
    measure(c, g, failed->why.kind == DECISION_error ? GROUP_error : GROUP_unschedulable);
    if (anybody_clears(g))
        gang_claims_drop(c, &g->group);
    else
        gang_claims_keep(c, now, g, false);
    fail_all(c, g, failed);
}

/* ---- making room ---- */

/* It has room there once the others' victims are gone. */
static void nominate(struct coordinator *c, struct gang_try *g, struct gang_place *m)
{
    struct flight *f = m->flight;
    struct strs plugins = siblings_plugins(g);
    take_back(c, m);
    gang_try_leave(f);
    measure_failed(c, f, true);
    COUNT(c, unschedulable, 1);
    landing_report(c, f, REASON_unschedulable,
                   &(struct failure){.message = STR_LITERAL(FOR_EVICTION),
                                     .nominate = true,
                                     .nominated_node = m->node});
    f->node = arena_copy(&f->arena, m->node);
    landing_end(c, f, OUTCOME_unschedulable, &plugins);
}

static void evict(struct coordinator *c, struct moment now, struct gang_try *g,
                  struct gang_place *m)
{
    struct flight *f = m->flight;
    struct strs plugins = siblings_plugins(g);
    struct decision d = {.kind = DECISION_unschedulable,
                         .plugins = m->failed ? m->why.plugins : plugins,
                         .preemption = m->room};
    take_back(c, m);
    gang_try_leave(f);
    measure_failed(c, f, true);
    COUNT(c, unschedulable, 1);
    landing_report(
        c, f, REASON_unschedulable,
        &(struct failure){.message = m->failed ? m->why.message : STR_LITERAL(FOR_EVICTION),
                          .nominate = true,
                          .nominated_node = m->node});
    preempting_begin(c, now, f, &d);
}

static struct str for_evicting_group(struct coordinator *c, const struct gang_try *g)
{
    uint32_t victims = 0;
    for (uint32_t i = 0; i < g->count; i++)
        victims += g->at[i].evicts ? g->at[i].room.victims.count : 0;
    return arena_print(&c->cycle_memory, FOR_EVICTION ": %u pods of lower priority are evicted",
                       victims);
}

void gang_evict(struct coordinator *c, struct moment now, struct gang_try *g)
{
    COUNT(c, gangs_evicting, 1);
    tell_group(c, g, REASON_unschedulable, for_evicting_group(c, g));
    measure(c, g, GROUP_waits_for_victims);
    gang_claims_keep(c, now, g, true);
    for (uint32_t i = 0; i < g->count; i++) /* all, so that none loses its place to another */
        if (g->at[i].flight != NULL && g->at[i].node.len > 0)
            cache_nominate(c->cache, &g->at[i].flight->pod, g->at[i].node);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (m->flight == NULL)
            continue;
        if (m->evicts)
            evict(c, now, g, m);
        else if (m->node.len > 0)
            nominate(c, g, m);
        else
            fail_alone(c, m);
    }
}

/* ---- groups that cannot be tried yet ---- */

/* The frame that upstream puts around what a PreFilter plugin says: no node was looked at, and the
 * PostFilter plugins have nothing to offer, the group's last. */
static struct str frame(struct coordinator *c, const struct gang *group, const struct pod *pod,
                        struct str why)
{
    const struct framework *fw = frameworks_find(&c->frameworks, pod->scheduler_name);
    struct arena *a = &c->cycle_memory;
    struct histogram h = {.arena = a};
    if (fw == NULL || str_is(group->api, IN_TREE))
        return why;
    if (group->uid.len == 0) { /* what Permit says, about the one node that was chosen */
        histogram_add(&h, why, 1);
        return fit_error(1, (struct str){0}, &h, (struct str){0});
    }
    const struct candidates none = {.arena = a};
    const struct pre_filter_outcome pre = {.code = CODE_unresolvable,
                                           .stopped_at = fw->profile.pre_filter.count};
    struct preemption preemption = {0};
    preemption_judge(&preemption, fw, pod, &(struct nominated_outcome){0});
    const struct post_filter_question q = {.framework = fw,
                                           .pod = pod,
                                           .pre = &pre,
                                           .nodes = cache_nodes(c->cache),
                                           .preemption = &preemption,
                                           .candidates = &none,
                                           .arena = a};
    struct post_filter_answer post;
    post_filter(&q, &post);
    struct str last =
        arena_print(a, "%.*s%s" REJECTED, STR_ARG(post.text), post.text.len > 0 ? ", " : "",
                    STR_ARG(group->namespace_name), STR_ARG(group->name), STR_ARG(pod->name));
    return fit_error(q.nodes, why, &h, last);
}

static void tell_waiting(struct coordinator *c, const struct pod *pod, struct str message)
{
    struct message m = {
        .type = MSG_pod_failed,
        .pod_failed = {.pod = *pod, .reason = REASON_unschedulable, .message = message}};
    outbox_put(c->out, c->binder, &m);
}

void gang_waits(struct coordinator *c, const struct gang_waits *waits)
{
    struct str scheduler = {NULL, 0};
    if (!leadership_leads(c))
        return;
    arena_reset(&c->cycle_memory);
    if (waits->members.count > 0)
        scheduler = waits->members.at[0].pod.scheduler_name;
    else if (c->frameworks.count > 0)
        scheduler = c->frameworks.at[0].profile.scheduler_name;
    struct message m = {.type = MSG_group_failed,
                        .group_failed = {.group = waits->group,
                                         .reason = REASON_unschedulable,
                                         .message = waits->message,
                                         .scheduler_name = scheduler}};
    bool silent = str_is(waits->group.api, IN_TREE); /* as upstream: it was not tried */
    if (waits->group.uid.len > 0 && waits->message.len > 0 && !silent)
        outbox_put(c->out, c->binder, &m);
    for (uint32_t i = 0; i < waits->members.count; i++)
        if (i < waits->messages.count)
            tell_waiting(c, &waits->members.at[i].pod,
                         frame(c, &waits->group, &waits->members.at[i].pod, waits->messages.at[i]));
}
