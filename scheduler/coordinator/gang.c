/* gang: the transaction. The one idea: members are decided as any pod is, one after the other or in
 * batches and runs, and assumed where they go; only the binds wait for the end. So each is seen by
 * the next, and to undo it is to forget what is assumed.
 *
 * What must stay true: while c->gang is set nobody but its members is decided; a member is waiting
 * at the head of the line, being decided or asked about, placed, or passed over; no bind is sent
 * before the end; after gang_undo cache and workers are as they were. */
#include "scheduler/coordinator/gang.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/gang_tree.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/measure_groups.h"
#include "scheduler/coordinator/reserving.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/table/gang_names.h"
#include "scheduler/tracing/attempt_trace.h"

#include <inttypes.h>
#include <stdio.h>

/* One of those that are needed is on a node already, or on its way there. */
static void count_as_placed(struct gang_try *g)
{
    g->needed--;
    g->before++;
}

/* ---- taking an attempt ---- */

static void note_attempt(const struct coordinator *c, struct flight *f,
                         const struct gang_attempt *a, const struct gang_member *m)
{
    attempt_trace_begin(&f->trace, m->traceparent, m->spans.at, m->spans.count,
                        coordinator_wall_us(c));
    f->owed = true;
    f->cycle = m->cycle;
    f->attempts = m->attempts;
    f->first_us = m->first_us;
    f->epoch = a->epoch;
    f->sequence = a->sequence;
}

/* A flight of an attempt that the queue has forgotten; it is to be decided anew. */
static void drop_former(struct coordinator *c, struct flight *f)
{
    flights_remove(&c->flights, f);
}

static void take_member(struct coordinator *c, struct moment now, struct gang_try *g,
                        const struct gang_attempt *a, const struct gang_member *m)
{
    struct flight *f = flights_get(&c->flights, m->pod.uid);
    if (f != NULL && f->gang == g)
        return; /* named twice */
    if (f != NULL && (f->state == FLIGHT_binding || f->state == FLIGHT_releasing)) {
        note_attempt(c, f, a, m); /* the latter cannot be tried before it has landed */
        if (f->state == FLIGHT_binding)
            count_as_placed(g);
        return;
    }
    if (f != NULL)
        drop_former(c, f);
    f = flights_add(&c->flights, &m->pod);
    f->taken = now;
    note_attempt(c, f, a, m);
    if (a->needed > 0)
        gang_try_add(g, f);
    extending_take(c, f);
}

bool gang_has_former(const struct coordinator *c, const struct gang_attempt *a)
{
    for (uint32_t i = 0; i < a->members.count; i++) {
        const struct flight *f = flights_get(&c->flights, a->members.at[i].pod.uid);
        if (f != NULL && f->state != FLIGHT_binding && f->state != FLIGHT_preempting &&
            f->state != FLIGHT_releasing)
            return true;
    }
    return false;
}

/* Leaf by leaf, and at last those that name none. */
static void take_leaves(struct coordinator *c, struct moment now, struct gang_try *g,
                        const struct gang_attempt *attempt)
{
    struct group_tree *tree = &g->tree->tree;
    for (uint32_t k = 0; k < tree->count; k++) {
        struct tree_branch *leaf = &tree->at[k];
        leaf->first = g->count;
        for (uint32_t i = 0; leaf->leaf && i < attempt->members.count; i++)
            if (str_equal(attempt->members.at[i].pod.gang, leaf->group.name))
                take_member(c, now, g, attempt, &attempt->members.at[i]);
        leaf->count = g->count - leaf->first;
    }
    for (uint32_t i = 0; i < attempt->members.count; i++)
        take_member(c, now, g, attempt, &attempt->members.at[i]);
    group_tree_seat(tree);
}

void gang_take(struct coordinator *c, struct moment now, const struct gang_attempt *attempt)
{
    struct gang_try *g = gang_try_new(&attempt->group, attempt->needed, attempt->members.count);
    g->before = attempt->placed;
    if (attempt->members.count > 0)
        g->scheduler_name = arena_copy(&g->arena, attempt->members.at[0].pod.scheduler_name);
    bool is_tree = attempt->tree.count > 0 && attempt->needed > 0;
    if (is_tree)
        g->tree = tree_try_new(attempt, &g->arena);
    if (g->tree != NULL)
        take_leaves(c, now, g, attempt);
    else if (is_tree)
        log_warn("group refused: its tree is malformed| group=%.*s/%.*s",
                 STR_ARG(attempt->group.namespace_name), STR_ARG(attempt->group.name));
    for (uint32_t i = 0; !is_tree && i < attempt->members.count; i++)
        take_member(c, now, g, attempt, &attempt->members.at[i]);
    gang_try_drop(g);
}

/* ---- beginning ---- */

/* Of extenders and plugins on the bus those that some member cares about. */
static uint64_t wanted(const struct gang_try *g)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        if (f != NULL && f->extension != NULL)
            all |= extension_needs(f->extension);
    }
    return all;
}

static bool somebody_is_asked_about(const struct coordinator *c)
{
    for (const struct flight *f = flights_first_asked(&c->flights); f != NULL; f = f->next)
        if (f->state == FLIGHT_asking)
            return true;
    return false;
}

/* Who is assumed loses his claim, and gets it back when he is forgotten. */
static void note_claims(struct coordinator *c, struct gang_try *g)
{
    struct str node;
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        bool claims = m->flight != NULL && cache_nomination(c->cache, m->flight->pod.uid, &node);
        m->claim = claims ? arena_copy(&g->arena, node) : (struct str){NULL, 0};
    }
}

/* How many are needed follows from who is on nodes, and the queue may have counted members that are
 * known to be gone here: our view is as new as its was, or newer. In the end it is looked at again,
 * as more may have gone meanwhile. */
static void count_again(const struct coordinator *c, struct gang_try *g)
{
    if (g->tree != NULL)
        return; /* each leaf counts its own */
    int64_t on_nodes = cache_gang_on_nodes(c->cache, &g->group);
    int64_t others = on_nodes > (int64_t)g->placed ? on_nodes - (int64_t)g->placed : 0;
    int64_t needed = g->group.min_member - others;
    g->needed = needed > g->needed ? needed : g->needed;
}

/* How it makes room; and since 1.37 a group whose pods are not alike is refused, and every one of
 * it is told so. */
static void judge(struct coordinator *c, struct gang_try *g)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    const struct flight *first = NULL;
    for (uint32_t i = 0; i < g->count && first == NULL; i++)
        first = g->at[i].flight;
    g->whole = fw != NULL && first != NULL && gang_rules_as_one(fw, &first->pod);
    g->former = g->whole && !gang_rules_hold(fw, &first->pod);
    if (!g->whole || g->former)
        return;
    struct gang_rules rules = gang_rules_begin(fw, &g->group, &g->arena);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            gang_rules_look(&rules, &g->at[i].flight->pod);
    gang_rules_look_at_placed(&rules, c->cache);
    for (uint32_t i = 0; g->tree != NULL && i < g->tree->tree.count; i++)
        gang_rules_look_at_leaf(&rules, c->cache, &g->tree->tree.at[i].group);
    g->fault = rules.fault;
    g->stopped = rules.fault.len > 0;
}

/* Where it may go. */
static void place(struct coordinator *c, struct gang_try *g)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    if (fw == NULL && g->tree != NULL)
        g->fault = arena_print(&g->arena, "profile not found for scheduler name \"%.*s\"",
                               STR_ARG(g->scheduler_name));
    g->stopped |= g->fault.len > 0;
    if (fw == NULL || g->fault.len > 0)
        return;
    const struct placement_question question = {.group = &g->group};
    if (g->tree != NULL) {
        gang_tree_begin(c, g);
        return;
    }
    g->placements = gang_placements_find(fw, &question, c->cache, &g->arena);
    g->fault = g->placements.fault;
    g->stopped = g->fault.len > 0;
}

/* False: not now, or it was given back. */
static bool begin(struct coordinator *c, struct gang_try *g)
{
    uint64_t extends = wanted(g);
    if ((extends & EXTENDER_BITS) != 0 && c->extender.peer == 0) {
        COUNT(c, crowded_out, g->count);
        gang_give_back(c, g, OUTCOME_error);
        return true;
    }
    if (extends != 0 && somebody_is_asked_about(c))
        return false; /* it comes back to the head of the line and is decided first */
    c->gang = g;
    if (str_is(g->group.api, GANG_API_BUILT_IN) || g->tree != NULL)
        device_book_attempt_begin(catalog_devices(c->catalog));
    g->users++;
    g->phase = GANG_placing;
    g->began = g->placement_began = c->last_call;
    g->dice = c->random;
    g->turn = deciding_turn(c);
    note_claims(c, g);
    count_again(c, g);
    judge(c, g);
    place(c, g);
    return true;
}

static void end(struct coordinator *c)
{
    struct gang_try *g = c->gang;
    c->gang = NULL;
    device_book_attempt_end(catalog_devices(c->catalog));
    gang_try_drop(g);
}

/* ---- members ---- */

void gang_is_known(struct flight *f)
{
    if (f->gang != NULL)
        count_as_placed(f->gang);
}

void gang_placed(struct flight *f)
{
    struct gang_try *g = f->gang;
    must(f->state == FLIGHT_placed);
    if (g->phase > GANG_making_room) {
        gang_whole_placed(f);
        return;
    }
    g->at[f->place].node = arena_copy(&g->arena, f->pod.node_name);
    g->placed++;
    g->placed_most += g->phase == GANG_placing;
}

static bool is_full(const struct gang_try *g)
{
    if (g->tree != NULL)
        return tree_try_is_enough(g->tree);
    return (int64_t)g->placed >= g->needed;
}

/* One that this group has just placed would have to go again. */
static bool evicts_sibling(const struct coordinator *c, const struct preemption *p)
{
    for (uint32_t i = 0; i < p->victims.count; i++) {
        const struct flight *f = flights_get(&c->flights, p->victims.at[i].uid);
        if (f != NULL && f->state == FLIGHT_placed)
            return true;
    }
    return false;
}

/* The victims are gone and the member is there with its devices, as the next members see it. */
static bool takes_room(struct coordinator *c, struct flight *f, const struct decision *d)
{
    struct gang_try *g = f->gang;
    const struct preemption *p = &d->preemption;
    if (g->phase != GANG_making_room || is_full(g) || p->node.len == 0 || evicts_sibling(c, p) ||
        !cache_has_node(c->cache, p->node) || !reserving_room(c, f, d))
        return false;
    struct gang_place *m = &g->at[f->place];
    gang_try_note_room(g, m, p);
    for (uint32_t i = 0; i < m->room.victims.count; i++)
        (void)cache_hide(c->cache, m->room.victims.at[i].uid);
    flights_start(&c->flights, f, FLIGHT_placed);
    must(cache_assume(c->cache, &f->pod, m->room.node));
    f->pod.node_name = arena_copy(&f->arena, m->room.node);
    gang_placed(f);
    return true;
}

void gang_reject(struct coordinator *c, struct flight *f, const struct decision *d)
{
    struct gang_try *g = f->gang;
    if (d->kind == DECISION_unschedulable && takes_room(c, f, d))
        return;
    log_debug("a member has no place| group=%.*s/%.*s pod=%.*s message=\"%.*s\"",
              STR_ARG(g->group.namespace_name), STR_ARG(g->group.name), STR_ARG(f->pod.name),
              STR_ARG(d->message));
    if (g->tree != NULL && g->phase != GANG_reprieving) {
        gang_try_note_failure(g, &g->at[f->place], d);
    } else if (g->phase == GANG_placing) {
        gang_try_note_failure(g, &g->at[f->place], d);
        g->curable += d->preemption.node.len > 0;
        g->failed_most++;
    } else if (g->phase > GANG_making_room) {
        gang_whole_rejected(f);
    }
    g->stopped |= d->kind == DECISION_error && str_is(g->group.api, GANG_API_BUILT_IN);
    flights_start(&c->flights, f, FLIGHT_passed);
    g->passed++;
}

/* ---- undoing ---- */

void gang_undo_place(struct coordinator *c, struct gang_place *m)
{
    struct flight *f = m->flight;
    if (f == NULL || f->state != FLIGHT_placed)
        return;
    if (cache_forget(c->cache, f->pod.uid) && m->claim.len > 0) /* else it went, or is bound */
        cache_nominate(c->cache, &f->pod, m->claim);
    reserving_undo_quietly(c, f); /* nobody else was decided meanwhile */
    f->pod.node_name = (struct str){NULL, 0};
    flights_start(&c->flights, f, FLIGHT_passed);
}

static void undo_member(struct coordinator *c, struct gang_place *m)
{
    gang_undo_place(c, m);
    for (uint32_t i = 0; m->evicts && i < m->room.victims.count; i++)
        cache_show(c->cache, m->room.victims.at[i].uid);
}

void gang_free(struct coordinator *c)
{
    if (c->gang != NULL)
        gang_try_drop(c->gang);
}

void gang_undo(struct coordinator *c, struct gang_try *g)
{
    must(deciding_count(c) == 0);
    for (uint32_t i = g->count; i > 0; i--)
        undo_member(c, &g->at[i - 1]);
    g->passed += g->placed;
    g->placed = 0;
    if (g->whole)
        gang_whole_undo(g);
    if (g->tree != NULL)
        gang_tree_restore(g);
    c->random = g->dice;
    deciding_set_turn(c, g->turn);
}

/* To the head of the line again, if they are not there, in order. A member that went lands. */
static void line_up(struct coordinator *c, struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            flights_start(&c->flights, g->at[i].flight, FLIGHT_passed);
    g->placed = g->passed = 0;
    for (uint32_t i = g->count; i > 0; i--) {
        struct flight *f = g->at[i - 1].flight;
        g->at[i - 1] = (struct gang_place){.flight = f};
        if (f == NULL)
            continue;
        if (f->extension != NULL)
            extension_forget(f->extension);
        flights_return(&c->flights, f);
        if (f->gone)
            landing_end(c, f, OUTCOME_skipped, NULL);
    }
}

void gang_abandon(struct coordinator *c)
{
    struct gang_try *g = c->gang;
    if (g == NULL)
        return;
    gang_undo(c, g);
    g->curable = g->placed_most = g->failed_most = g->room_most = 0;
    g->stopped = g->lost = false;
    g->fault = (struct str){NULL, 0};
    g->room_began = (struct moment){0};
    g->waits = g->whole = g->former = g->denied = false;
    g->claims = GANG_CLAIMS_kept;
    g->taken = (struct deallocation){.version = 0};
    g->placements = (struct gang_placements){.counted = false};
    line_up(c, g);
    COUNT(c, gangs_restarted, 1);
    end(c);
}

/* ---- going on ---- */

/* Nothing has come in between that makes it moot that the member goes there. */
static bool stands(const struct coordinator *c, const struct flight *f)
{
    struct str node;
    return !f->gone && cache_pod(c->cache, f->pod.uid, &node) == CACHE_assumed &&
           str_equal(node, f->pod.node_name) && cache_has_node(c->cache, node);
}

static bool all_stand(const struct coordinator *c, const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        if (f != NULL && ((f->state == FLIGHT_placed && !stands(c, f)) || f->gone))
            return false;
    }
    return true;
}

static bool is_asked_about(const struct coordinator *c, const struct gang_try *g)
{
    for (uint32_t i = 0; flights_first_asked(&c->flights) != NULL && i < g->count; i++)
        if (g->at[i].flight != NULL && g->at[i].flight->state == FLIGHT_asking)
            return true;
    return false;
}

/* Nobody is left to be decided, or it does not matter any more. 1.36 looks at every pod of a group
 * in the tree, and tells each what it found. */
static bool is_over(const struct gang_try *g)
{
    if (g->tree != NULL && g->phase != GANG_reprieving)
        return g->stopped || tree_try_rests(g->tree);
    if (g->whole)
        return gang_whole_is_over(g);
    uint32_t waiting = gang_try_waiting(g);
    bool hopeless = (int64_t)g->placed + waiting < g->needed;
    if (waiting == 0 || g->stopped || g->placements.none)
        return true;
    if (g->phase == GANG_making_room)
        return hopeless;
    return hopeless && g->curable == 0 && !str_is(g->group.api, "scheduling.k8s.io");
}

/* Only those who found no place are tried again: what fits without evictions is preferred. Where
 * priorities differ all are, in order, so that nobody's victim is a member behind him. */
static void begin_making_room(struct coordinator *c, struct gang_try *g)
{
    bool differ = false;
    const struct flight *first = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        first = first == NULL ? f : first;
        differ |= f != NULL && f->pod.priority != first->pod.priority;
    }
    if (differ)
        gang_undo(c, g);
    for (uint32_t i = 0; i < g->count && differ; i++)
        g->at[i].node = (struct str){NULL, 0};
    g->phase = GANG_making_room;
    g->room_began = c->last_call;
    gang_line_up(c, g, NULL);
}

void gang_line_up(struct coordinator *c, struct gang_try *g,
                  bool (*who)(const struct gang_place *m))
{
    for (uint32_t i = g->count; i > 0; i--) {
        struct flight *f = g->at[i - 1].flight;
        if (f == NULL || f->state != FLIGHT_passed || (who != NULL && !who(&g->at[i - 1])))
            continue;
        g->passed--;
        flights_return(&c->flights, f);
    }
}

void gang_place_anew(struct coordinator *c, struct gang_try *g)
{
    for (uint32_t i = g->count; i > 0; i--) {
        struct gang_place *m = &g->at[i - 1];
        gang_undo_place(c, m);
        if (m->flight != NULL && m->flight->state == FLIGHT_waiting)
            flights_start(&c->flights, m->flight, FLIGHT_passed);
        m->failed &= g->phase > GANG_making_room;
        m->nowhere = false;
    }
    c->random = g->dice;
    deciding_set_turn(c, g->turn);
    g->placed = 0;
    g->passed = g->count - g->left;
    gang_line_up(c, g, NULL);
}

/* True: it is tried in another domain, or once more in the best. False: that is found out, and it
 * stands as it was placed in the best, or is told of the first. */
static bool tries_another(struct coordinator *c, struct gang_try *g)
{
    struct gang_placements *p = &g->placements;
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    bool tries = g->phase == GANG_placing || g->phase == GANG_clearing;
    if (!p->counted || p->none || p->chosen || g->stopped || !tries || fw == NULL)
        return false;
    measure_placement(fw, p, is_full(g), moment_since(c->last_call, g->placement_began).ns);
    g->placement_began = c->last_call;
    p->chosen = p->count == 0; /* it is free */
    if (p->chosen)
        return false;
    p->asked = gang_try_asked(g, 0, g->count);
    gang_placements_note(p, fw, c->cache, cache_gang_on_nodes(c->cache, &g->group), is_full(g));
    if (p->current == 0 && g->phase == GANG_placing)
        gang_try_keep_first(g);
    uint32_t next = p->current + 1;
    if (next == p->count) {
        next = gang_placements_best(p, fw, g->dice);
        p->chosen = next < p->count;
        if (!p->chosen && g->phase == GANG_placing)
            gang_try_take_first(g);
        if (!p->chosen || next == p->current)
            return false;
    }
    p->current = next;
    gang_place_anew(c, g);
    return true;
}

/* Another flight whose extenders have answered stands in front of its members. */
static void stand_in_front(struct coordinator *c, struct gang_try *g)
{
    for (uint32_t i = g->count; i > 0; i--) {
        struct flight *f = g->at[i - 1].flight;
        if (f == NULL || f->state != FLIGHT_waiting)
            continue;
        flights_start(&c->flights, f, FLIGHT_deciding);
        flights_return(&c->flights, f);
    }
}

static bool anybody_evicts(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL && g->at[i].evicts)
            return true;
    return false;
}

struct going {
    int64_t priority; /* of the member that they were evicted for */
    bool any;
};

static void look_whether_it_goes(void *context, const struct pod *pod, bool assumed)
{
    struct going *going = context;
    (void)assumed;
    going->any |= pod->deleting && pod->preempted && pod->priority < going->priority;
}

/* A member has taken the room of another, while its own victims still go. Were room made for that
 * other now, more would go than the group needs. */
static bool victims_still_go(const struct coordinator *c, const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct gang_place *m = &g->at[i];
        if (m->flight == NULL || m->flight->state != FLIGHT_placed || m->claim.len == 0 ||
            str_equal(m->claim, m->flight->pod.node_name) || !cache_has_node(c->cache, m->claim))
            continue;
        struct going going = {m->flight->pod.priority, false};
        cache_each_pod(c->cache, m->claim, look_whether_it_goes, &going);
        if (going.any)
            return true;
    }
    return false;
}

/* The next phase, or the end. Where room came by itself while it was to be made, all have a place
 * now; nominated to wait for it, they would wait for an event that is over. */
static void conclude(struct coordinator *c, struct moment now, struct gang_try *g)
{
    bool making_room = g->phase == GANG_making_room;
    if (!all_stand(c, g)) {
        gang_abandon(c);
        return;
    }
    count_again(c, g);
    bool tries = g->tree != NULL && g->phase != GANG_reprieving && !g->stopped;
    if ((tries && gang_tree_goes_on(c, g)) || tries_another(c, g))
        return;
    if (g->whole && !g->stopped && !(g->phase == GANG_placing && is_full(g))) {
        if (!gang_whole_goes_on(c, now, g))
            end(c);
        return;
    }
    bool full = is_full(g) && !g->stopped;
    g->room_most = g->placed;
    g->waits = !making_room && victims_still_go(c, g);
    if (full && !anybody_evicts(g)) {
        gang_commit(c, g);
    } else if (!making_room && g->curable > 0 && !g->stopped && !g->waits) {
        begin_making_room(c, g);
        return;
    } else {
        gang_undo(c, g);
        if (full)
            gang_evict(c, now, g);
        else
            gang_fail(c, now, g);
    }
    end(c);
}

struct flight *gang_next(struct coordinator *c, struct moment now)
{
    must(deciding_count(c) == 0);
    for (;;) {
        if (c->gang != NULL && c->gang->lost)
            gang_abandon(c);
        struct flight *f = flights_first(&c->flights);
        if (c->gang != NULL && is_asked_about(c, c->gang))
            return NULL;
        if (c->gang != NULL && is_over(c->gang)) {
            conclude(c, now, c->gang);
            continue;
        }
        if (c->gang != NULL && f->gang != c->gang)
            stand_in_front(c, c->gang);
        if (c->gang != NULL)
            return flights_first(&c->flights);
        if (f == NULL || readiness_view_is_behind(c, now, f))
            return NULL;
        if (f->gang == NULL)
            return f;
        if (!begin(c, f->gang))
            return NULL;
    }
}
