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
#include "scheduler/coordinator/gang_words.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/measure_groups.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/merge/post_filter.h"
#include "scheduler/table/gang_names.h"

#include <inttypes.h>

#define IN_TREE       "scheduling.k8s.io"
#define UNSCHEDULABLE "pod group is unschedulable"
#define UNSCHEDULED   UNSCHEDULABLE ", "
#define FOR_QUORUM                                                                                 \
    UNSCHEDULED                                                                                    \
    "waiting for minCount pods from a gang to be scheduled, one or more plugins asked "            \
    "to wait and no plugin rejected pod"
#define REJECTED                                                                                   \
    "PodGroup %.*s/%.*s gets rejected due to Pod %.*s is unschedulable even after PostFilter"
#define FOR_EVICTION UNSCHEDULED "pod group is waiting for preemption to complete"

/* ---- words ---- */

static void tell_one(struct coordinator *c, const struct gang_try *g, const struct gang *group,
                     enum condition_reason reason, struct str message)
{
    struct message m = {.type = MSG_group_failed,
                        .group_failed = {.group = *group,
                                         .scheduled = reason == REASON_scheduled,
                                         .reason = reason,
                                         .message = message,
                                         .scheduler_name = g->scheduler_name}};
    /* What was said to be scheduled stays so, also before the view shows it. */
    if (gang_statuses_was_scheduled(c->gang_statuses, group))
        m.group_failed.group.scheduled_condition.status = STR_LITERAL("True");
    outbox_put(c->out, c->binder, &m);
    const struct gang_news news = {group->namespace_name, group->name, m.group_failed.scheduled,
                                   g->scheduler_name};
    if (str_is(group->api, IN_TREE)) /* so that no late member takes it back */
        (void)gang_statuses_condition(c->gang_statuses, c->last_call, &news);
    log_debug("group %s| group=%.*s/%.*s members=%u needed=%" PRId64 " message=\"%.*s\"",
              m.group_failed.scheduled ? "is placed" : "is not placed",
              STR_ARG(group->namespace_name), STR_ARG(group->name), g->count, g->needed,
              STR_ARG(message));
}

/* Of a tree every leaf is told; upstream says nothing to the groups above them. */
static void tell_group(struct coordinator *c, const struct gang_try *g,
                       enum condition_reason reason, struct str message)
{
    if (g->tree == NULL) {
        tell_one(c, g, &g->group, reason, message);
        return;
    }
    for (uint32_t i = 0; i < g->tree->tree.count; i++)
        if (g->tree->tree.at[i].leaf)
            tell_one(c, g, &g->tree->tree.at[i].group, reason, message);
}

/* Each leaf what came of it. */
static void tell_leaves(struct coordinator *c, const struct gang_try *g)
{
    static const enum condition_reason reasons[] = {[TREE_success] = REASON_scheduled,
                                                    [TREE_unschedulable] = REASON_unschedulable,
                                                    [TREE_error] = REASON_scheduler_error};
    for (uint32_t i = 0; i < g->tree->tree.count; i++) {
        const struct tree_branch *b = &g->tree->tree.at[i];
        const struct tree_told told = tree_words_of_leaf(g->tree, g->words, i);
        if (b->leaf)
            tell_one(c, g, &b->group, reasons[told.code], told.message);
    }
}

static void measure(const struct coordinator *c, const struct gang_try *g, enum group_result result)
{
    gang_condition_measure(c, &g->group, g->scheduler_name, g->began, result);
}

/* Since 1.37 it is the group that is to have room. */
static void measure_room(const struct coordinator *c, const struct gang_try *g,
                         const struct gang_words *words)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    int64_t ns = g->room_began.ns > 0 ? moment_since(c->last_call, g->room_began).ns : 0;
    if (!words->hold || fw == NULL || g->claims == GANG_CLAIMS_unreserved)
        return;
    measure_group_room(fw, words->room, ns);
    if (words->room == GANG_ROOM_found)
        measure_group_victims(c, fw, g);
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
    return str_is(g->group.api, IN_TREE) || g->tree != NULL;
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

/* Who has no place is told by its pods, where the API is in the tree. */
static struct str for_group(struct coordinator *c, const struct gang_try *g,
                            const struct gang_place *failed)
{
    if (g->former)
        return gang_words_of_former(c, g, &c->cycle_memory);
    if (is_in_tree(g))
        return gang_words_unplaced(c, g, &c->cycle_memory);
    return arena_print(&c->cycle_memory,
                       "%" PRId64 " more pods have to be placed together, and %u of %u have no "
                       "place: pod %.*s/%.*s: %.*s",
                       g->needed, g->failed_most, g->count,
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

/* What is taken back of its own claims: one of its pods waits for that. */
static void take_back_of_group(struct coordinator *c, const struct gang_try *g)
{
    uint32_t i = 0;
    while (i < g->count && g->at[i].flight == NULL)
        i++;
    if (i < g->count && !g->taken.pending)
        releasing_take_back(c, g->at[i].flight, &g->taken);
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

/* ---- a tree ---- */

/* Of members what came of the first try, from now on. waits: they keep the nodes of another one. */
static void find_words(struct gang_try *g, uint32_t victims, bool waits)
{
    const struct tree_try *t = g->tree;
    g->words = tree_words_find(g->tree, g->room, victims);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        m->failed = t->said_of[i].why != NULL;
        if (m->failed)
            m->why = *t->said_of[i].why;
        if (!waits)
            m->node = t->said_of[i].node;
    }
}

static void fail_member_of_tree(struct coordinator *c, struct gang_try *g, uint32_t i)
{
    struct gang_place *m = &g->at[i];
    const struct tree_member_told told = tree_words_of_member(g->tree, g->words, i);
    const struct strs plugins = siblings_plugins(g);
    const struct ending e = {told.error ? DECISION_error : DECISION_unschedulable, told.message,
                             told.own != NULL ? &told.own->plugins : &plugins, told.clears};
    take_back(c, m);
    fail_member(c, m->flight, &e);
}

static void fail_tree(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct gang_words words = gang_words_of_try(c, g, 0);
    bool error = g->tree->said[0].status.code == TREE_error;
    find_words(g, 0, false);
    COUNT(c, gangs_failed, 1);
    tell_leaves(c, g);
    measure(c, g, error ? GROUP_error : GROUP_unschedulable);
    if (!error)
        measure_room(c, g, &words);
    gang_claims_keep(c, now, g, false);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            fail_member_of_tree(c, g, i);
}

/* ---- the group ---- */

void gang_commit(struct coordinator *c, struct gang_try *g)
{
    COUNT(c, gangs_placed, 1);
    gang_claims_keep(c, c->last_call, g, false); /* of who is not placed with the others */
    if (g->tree != NULL) {
        find_words(g, 0, false);
        tell_leaves(c, g);
    } else {
        tell_group(c, g, REASON_scheduled, for_placed_group(c, g));
    }
    measure(c, g, GROUP_scheduled);
    for (uint32_t i = 0; i < g->count; i++) {
        struct flight *f = g->at[i].flight;
        if (f != NULL && f->state == FLIGHT_placed)
            bind_member(c, f);
        else if (f != NULL && g->tree != NULL)
            fail_member_of_tree(c, g, i);
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

/* In 1.37 who was placed, or was not looked at any more, is told of the count. */
static void fail_all_by_count(struct coordinator *c, struct gang_try *g,
                              const struct gang_words *words)
{
    const struct strs plugins = siblings_plugins(g);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        struct ending e = {DECISION_unschedulable, i < words->seen ? words->placed : words->unseen,
                           &plugins, i < words->seen};
        if (m->flight == NULL)
            continue;
        take_back(c, m);
        if (m->failed && i < words->seen)
            e = (struct ending){m->why.kind, m->why.message, &m->why.plugins, false};
        fail_member(c, m->flight, &e);
    }
}

/* No domain is left for it: in 1.36 each is told what its group is told. */
static void fail_all_without_domain(struct coordinator *c, struct gang_try *g, struct str said)
{
    const struct strs plugins = siblings_plugins(g);
    const struct ending e = {DECISION_unschedulable, said, &plugins, false};
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            fail_member(c, g->at[i].flight, &e);
}

/* It is not tried at all. */
static void refuse_all(struct coordinator *c, struct gang_try *g)
{
    const struct strs plugins = siblings_plugins(g);
    const struct ending e = {DECISION_error, g->fault, &plugins, false};
    COUNT(c, gangs_failed, 1);
    tell_group(c, g, REASON_scheduler_error, g->fault);
    measure(c, g, GROUP_error);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            fail_member(c, g->at[i].flight, &e);
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
                           clears || (is_in_tree(g) && !g->waits)};
        if (m->flight == NULL)
            continue;
        take_back(c, m);
        if (m->failed) /* in the tree each by itself */
            e = (struct ending){m->why.kind, for_failed(c, g, m), &m->why.plugins,
                                is_in_tree(g) ? m->why.clear_nominated : clears};
        fail_member(c, m->flight, &e);
    }
}

void gang_fail(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct gang_place *failed = first_failed(g);
    if (g->fault.len > 0) {
        refuse_all(c, g);
        return;
    }
    if (g->tree != NULL) {
        fail_tree(c, now, g);
        return;
    }
    if (failed == NULL &&
        !g->placements.none) { /* others have left it: the queue finds out who is still there */
        gang_give_back(c, g, OUTCOME_skipped);
        return;
    }
    const struct gang_words words = gang_words_of_try(c, g, 0);
    bool error = failed != NULL && failed->why.kind == DECISION_error;
    struct str said = for_group(c, g, failed);
    if (error && is_in_tree(g))
        said = gang_words_error(failed->why.message, &g->arena);
    else if (words.hold)
        said = words.group;
    COUNT(c, gangs_failed, 1);
    tell_group(c, g, error ? REASON_scheduler_error : REASON_unschedulable, said);
    measure(c, g, error ? GROUP_error : GROUP_unschedulable);
    if (!error)
        measure_room(c, g, &words);
    if (!is_in_tree(g) && anybody_clears(g))
        gang_claims_drop(c, &g->group);
    else
        gang_claims_keep(c, now, g, false);
    take_back_of_group(c, g);
    if (words.hold && !error)
        fail_all_by_count(c, g, &words);
    else if (g->placements.none)
        fail_all_without_domain(c, g, said);
    else
        fail_all(c, g, failed);
}

/* ---- making room ---- */

/* It has room there once the others' victims are gone. */
static void nominate(struct coordinator *c, struct gang_try *g, struct gang_place *m,
                     struct str message)
{
    struct flight *f = m->flight;
    struct strs plugins = siblings_plugins(g);
    take_back(c, m);
    gang_try_leave(f);
    measure_failed(c, f, true);
    COUNT(c, unschedulable, 1);
    landing_report(
        c, f, REASON_unschedulable,
        &(struct failure){.message = message, .nominate = true, .nominated_node = m->node});
    f->node = arena_copy(&f->arena, m->node);
    landing_end(c, f, OUTCOME_unschedulable, &plugins);
}

/* It has no room there, and is told of the group's or of its own lack of it. */
static void wait_without(struct coordinator *c, const struct gang_try *g,
                         const struct gang_place *m, struct str message)
{
    const struct strs plugins = siblings_plugins(g);
    const struct ending e = {DECISION_unschedulable, message,
                             m->failed ? &m->why.plugins : &plugins, false};
    take_back(c, m);
    fail_member(c, m->flight, &e);
}

static void evict(struct coordinator *c, struct moment now, struct gang_try *g,
                  struct gang_place *m, struct str message)
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
    landing_report(c, f, REASON_unschedulable,
                   &(struct failure){
                       .message = message, .nominate = m->node.len > 0, .nominated_node = m->node});
    preempting_begin(c, now, f, &d);
}

static uint32_t victims_of(const struct gang_try *g)
{
    uint32_t victims = 0;
    for (uint32_t i = 0; i < g->count; i++)
        victims += g->at[i].evicts ? g->at[i].room.victims.count : 0;
    return victims;
}

static struct str for_evicting_group(struct coordinator *c, const struct gang_try *g)
{
    if (is_in_tree(g))
        return g->former ? gang_words_unplaced(c, g, &c->cycle_memory) : STR_LITERAL(FOR_EVICTION);
    return arena_print(&c->cycle_memory, FOR_EVICTION ": %u pods of lower priority are evicted",
                       victims_of(g));
}

/* What one with a place is told while victims go. In 1.36 one that needs none itself waits in any
 * case. */
static struct str for_waiting(struct coordinator *c, struct gang_try *g, uint32_t place,
                              const struct gang_words *words)
{
    const struct gang_place *m = &g->at[place];
    if (g->tree != NULL)
        return tree_words_of_member(g->tree, g->words, place).message;
    if (words->hold && place >= words->seen)
        return words->unseen;
    if (m->failed && (words->hold || g->former || m->evicts))
        return m->why.message;
    if (words->hold)
        return words->placed;
    return g->former ? gang_words_unplaced(c, g, &c->cycle_memory) : STR_LITERAL(FOR_EVICTION);
}

static void tell_of_room(struct coordinator *c, struct gang_try *g, struct str message,
                         uint32_t victims)
{
    if (g->tree == NULL) {
        tell_group(c, g, REASON_unschedulable, message);
        return;
    }
    find_words(g, victims, true);
    tell_leaves(c, g);
}

void gang_evict(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct gang_words words = gang_words_of_try(c, g, victims_of(g));
    COUNT(c, gangs_evicting, 1);
    tell_of_room(c, g, words.hold ? words.group : for_evicting_group(c, g), victims_of(g));
    measure(c, g, GROUP_waits_for_victims);
    measure_room(c, g, &words);
    gang_claims_keep(c, now, g, true);
    take_back_of_group(c, g);
    for (uint32_t i = 0; i < g->count; i++) /* all, so that none loses its place to another */
        if (g->at[i].flight != NULL && g->at[i].node.len > 0)
            cache_nominate(c->cache, &g->at[i].flight->pod, g->at[i].node);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (m->flight == NULL)
            continue;
        if (m->evicts)
            evict(c, now, g, m, for_waiting(c, g, i, &words));
        else if (m->node.len > 0)
            nominate(c, g, m, for_waiting(c, g, i, &words));
        else if (g->whole)
            wait_without(c, g, m, for_waiting(c, g, i, &words));
        else
            fail_alone(c, m);
    }
}

void gang_wait(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct gang_words words = gang_words_of_try(c, g, 0);
    tell_of_room(c, g, words.group, 0);
    measure(c, g, GROUP_waits_for_victims);
    measure_room(c, g, &words);
    gang_claims_keep(c, now, g, false);
    take_back_of_group(c, g);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (m->flight == NULL)
            continue;
        m->node = arena_copy(&g->arena, m->flight->pod.nominated_node);
        if (m->node.len > 0)
            nominate(c, g, m, for_waiting(c, g, i, &words));
        else
            wait_without(c, g, m, for_waiting(c, g, i, &words));
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
    if (fw == NULL || str_is(group->api, IN_TREE) || str_is(group->api, GANG_API_TREE))
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
    bool silent = str_is(waits->group.api, IN_TREE) || /* as upstream: it was not tried */
                  str_is(waits->group.api, GANG_API_TREE);
    if (waits->group.uid.len > 0 && waits->message.len > 0 && !silent)
        outbox_put(c->out, c->binder, &m);
    for (uint32_t i = 0; i < waits->members.count; i++)
        if (i < waits->messages.count)
            tell_waiting(c, &waits->members.at[i].pod,
                         frame(c, &waits->group, &waits->members.at[i].pod, waits->messages.at[i]));
}
