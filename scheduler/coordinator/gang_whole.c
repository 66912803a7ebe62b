/* gang_whole: room for a group as kube-scheduler 1.37 makes it, and 1.36 with its gate. The one
 * idea: everybody goes who may be evicted, the group is placed, and then one after the other comes
 * back, the most important first, as long as the group still fits where it was placed; in 1.36,
 * wherever it fits.
 *
 * What must stay true: what is said of members is what was found out in the first phase; where they
 * are nominated is what was found out in the second, and in 1.36, too, in the first. */
/* clang-format off */
/*   placing ──too few──► clearing ──enough──► reprieving, unit by unit ──► who is still hidden
 *      │                    │                                               is evicted
 *      └─enough: bound      └─too few: told why, nobody is evicted */
/* clang-format on */
#include "scheduler/coordinator/gang.h"

#include "proto/base/must.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/coordinator/gang_tree.h"
#include "scheduler/coordinator/gang_words.h"

/* ---- what is known of it ---- */

static const struct flight *first_of(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            return g->at[i].flight;
    return NULL;
}

static bool is_enough(const struct gang_try *g)
{
    if (g->tree != NULL)
        return tree_try_is_enough(g->tree);
    return (int64_t)g->placed >= g->needed;
}

bool gang_whole_is_over(const struct gang_try *g)
{
    uint32_t waiting = gang_try_waiting(g);
    if (waiting == 0 || g->stopped || g->placements.none)
        return true;
    if (g->former && g->phase == GANG_placing)
        return false; /* each is told what it found */
    if (g->former && is_enough(g))
        return true;
    if (!g->former && g->phase == GANG_reprieving)
        return g->denied;
    return (int64_t)g->placed + waiting < g->needed;
}

/* ---- members ---- */

void gang_whole_placed(struct flight *f)
{
    struct gang_try *g = f->gang;
    struct gang_place *m = &g->at[f->place];
    g->placed++;
    if (g->former)
        return;
    if (g->phase == GANG_clearing)
        m->node = arena_copy(&g->arena, f->pod.node_name);
    else
        g->denied |= !str_equal(m->node, f->pod.node_name);
}

void gang_whole_rejected(struct flight *f)
{
    struct gang_try *g = f->gang;
    if (g->phase == GANG_clearing)
        g->at[f->place].nowhere = true;
    else
        g->denied = !g->former;
}

/* ---- undoing ---- */

static void restore_nominated(struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count && g->phase == GANG_reprieving; i++)
        if (g->at[i].flight != NULL)
            g->at[i].flight->pod.nominated_node =
                arena_copy(&g->at[i].flight->arena, g->at[i].nominated);
}

void gang_whole_undo(struct gang_try *g)
{
    restore_nominated(g);
    gang_units_forget(&g->units);
}

/* ---- all are gone ---- */

static void fail(struct coordinator *c, struct moment now, struct gang_try *g, enum gang_room room)
{
    gang_undo(c, g);
    g->room = room;
    gang_fail(c, now, g);
}

static void clear(struct coordinator *c, struct gang_try *g)
{
    g->phase = GANG_clearing;
    g->placements.current = 0;
    g->placements.chosen = false;
    g->placement_began = c->last_call;
    for (uint32_t i = 0; i < g->units.count; i++)
        gang_units_hide(&g->units, i);
    for (uint32_t i = 0; i < g->count && !g->former; i++)
        g->at[i].node = (struct str){NULL, 0};
    if (g->tree != NULL)
        gang_tree_again(c, g);
    else
        gang_line_up(c, g, NULL);
}

/* Its first pod says so; in 1.36 any of them. */
static bool may_not_evict(const struct gang_try *g)
{
    bool never = false;
    for (uint32_t i = 0; i < g->count && g->former; i++)
        never |= g->at[i].flight != NULL && str_is(g->at[i].flight->pod.preemption_policy, "Never");
    return never || str_is(first_of(g)->pod.preemption_policy, "Never");
}

static bool victims_are_going(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        if (f != NULL && f->pod.nominated_node.len > 0 &&
            gang_units_go_from(&g->units, f->pod.nominated_node))
            return true;
    }
    return false;
}

/* ---- its ResourceClaims ---- */

/* Some pod of it that was looked at has taken nothing back by itself; *choices: what the group
 * could do without. */
static bool takes_from_group(const struct gang_try *g, uint32_t seen, uint32_t *choices)
{
    bool left = false;
    *choices = 0;
    for (uint32_t i = 0; i < seen; i++) {
        const struct gang_place *m = &g->at[i];
        if (m->flight == NULL)
            continue;
        left |= !m->failed || (m->why.claims_known && m->why.deallocation.claim.len == 0);
        *choices += m->failed && m->why.for_group.claim.len > 0;
    }
    return left;
}

static const struct deallocation *choice(const struct gang_try *g, uint32_t number)
{
    uint32_t i = 0;
    while (!g->at[i].failed || g->at[i].flight == NULL || g->at[i].why.for_group.claim.len == 0 ||
           number-- > 0)
        i++;
    return &g->at[i].why.for_group;
}

static bool first_plugin_is(const struct framework *fw, const char *name)
{
    for (uint32_t i = 0; i < fw->profile.post_filter.count; i++) {
        struct str plugin = fw->profile.post_filter.at[i];
        if (str_is(plugin, "DynamicResources") || str_is(plugin, "DefaultPreemption"))
            return str_is(plugin, name);
    }
    return false;
}

/* Upstream's PodGroupPostFilter of DynamicResources: while nothing of the group is on a node its
 * claims may get other devices. True: that ends it, and nobody is evicted. */
static bool gives_up_claims(struct coordinator *c, struct gang_try *g, const struct framework *fw)
{
    const struct gang *group =
        group_claims_owner(c->catalog, &fw->profile.features, &first_of(g)->pod);
    uint32_t choices;
    if (g->tree != NULL || group == NULL || g->former || g->placements.constrained ||
        !strs_hold(fw->profile.post_filter, STR_LITERAL("DynamicResources")) ||
        !takes_from_group(g, gang_words_seen(c, g), &choices) ||
        cache_gang_on_nodes(c->cache, &g->group) > 0)
        return false;
    if (choices > 0) {
        bool dice = c->options.tie_break != TIE_BREAK_first;
        g->taken = *choice(g, dice ? (uint32_t)random_below(&c->random, choices) : 0);
        g->claims = GANG_CLAIMS_deallocated;
        return false;
    }
    struct str fault;
    g->taken = deallocation_unreserve(c->catalog, group, &fault, &g->arena);
    if (fault.len > 0)
        g->fault =
            arena_print(&g->arena, "error in \"DynamicResources\" PodGroupPostFilter plugins: %.*s",
                        STR_ARG(fault));
    if (g->taken.claim.len > 0)
        g->claims = GANG_CLAIMS_unreserved;
    return (fault.len > 0 || g->taken.claim.len > 0) && first_plugin_is(fw, "DynamicResources");
}

/* False: it has ended. */
static bool begin(struct coordinator *c, struct moment now, struct gang_try *g)
{
    const struct flight *first = first_of(g);
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    g->room_began = c->last_call;
    gang_undo(c, g);
    if (first == NULL || fw == NULL || gives_up_claims(c, g, fw) || !fw->preempts) {
        fail(c, now, g, GANG_ROOM_no_help);
        return false;
    }
    if (g->former && g->placements.constrained) {
        fail(c, now, g, GANG_ROOM_constrained);
        return false;
    }
    if (may_not_evict(g)) {
        fail(c, now, g, GANG_ROOM_never);
        return false;
    }
    g->units = (struct gang_units){.arena = &g->arena,
                                   .cache = c->cache,
                                   .catalog = c->catalog,
                                   .former = g->former,
                                   .features = fw->profile.features,
                                   .priority = g->group.has_priority ? g->group.priority : 0,
                                   .now_us = c->options.wall_us_at_zero + c->last_call.ns / 1000};
    if (!g->former && victims_are_going(g)) {
        g->room = GANG_ROOM_going;
        gang_wait(c, now, g);
        return false;
    }
    if (!gang_units_find(&g->units)) {
        fail(c, now, g, GANG_ROOM_nobody);
        return false;
    }
    clear(c, g);
    return true;
}

/* ---- one after the other comes back ---- */

static bool is_on_unit(const struct gang_try *g, const struct gang_place *m)
{
    const struct gang_unit *u = &g->units.at[g->unit];
    for (uint32_t i = 0; i < u->count; i++)
        if (str_equal(u->nodes[i], m->node))
            return true;
    return false;
}

static bool is_affected(const struct gang_place *m)
{
    return m->affected;
}

static bool is_on_any(const struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL && g->at[i].flight->state == FLIGHT_placed &&
            is_on_unit(g, &g->at[i]))
            return true;
    return false;
}

/* The unit may matter to members on any node: to their terms, or as members on its own nodes are
 * tried before siblings that matter to them. */
static bool matters_everywhere(struct gang_try *g)
{
    uint32_t count = 0;
    if (!g->apart && is_on_any(g))
        return true;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct gang_place *m = &g->at[i];
        if (m->flight == NULL || m->flight->state != FLIGHT_placed || m->reach == REACH_none)
            continue;
        if (m->reach == REACH_any)
            return true;
        g->wary[count++] = &m->flight->pod;
    }
    return gang_reach_by_unit(&g->units, g->unit, g->wary, count);
}

/* Members that it may matter to are placed once more, each where it was, or that unit has to go. */
static void give_back(struct coordinator *c, struct gang_try *g)
{
    g->denied = false;
    gang_units_show(&g->units, g->unit);
    if (g->former) { /* wherever they find a place */
        gang_place_anew(c, g);
        return;
    }
    bool everywhere = matters_everywhere(g);
    for (uint32_t i = g->count; i > 0; i--) {
        struct gang_place *m = &g->at[i - 1];
        m->affected = m->flight != NULL && m->flight->state == FLIGHT_placed &&
                      (everywhere || is_on_unit(g, m));
        if (!m->affected)
            continue;
        gang_undo_place(c, m);
        g->placed--;
        g->passed++;
    }
    gang_line_up(c, g, is_affected);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].affected)
            g->at[i].flight->pod.nominated_node = g->at[i].node;
}

static void take_away(struct coordinator *c, struct gang_try *g)
{
    for (uint32_t i = g->count; i > 0; i--) {
        struct gang_place *m = &g->at[i - 1];
        if (!m->affected || m->flight == NULL)
            continue;
        if (m->flight->state == FLIGHT_placed) {
            gang_undo_place(c, m);
            g->placed--;
            g->passed++;
        } else if (m->flight->state == FLIGHT_waiting) {
            flights_start(&c->flights, m->flight, FLIGHT_passed);
            g->passed++;
        }
    }
    gang_units_hide(&g->units, g->unit);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (!m->affected || m->flight == NULL)
            continue;
        flights_start(&c->flights, m->flight, FLIGHT_placed);
        must(cache_assume(c->cache, &m->flight->pod, m->node));
        m->flight->pod.node_name = arena_copy(&m->flight->arena, m->node);
        g->passed--;
        g->placed++;
    }
}

/* Extenders and plugins on the bus may look at anything. */
static enum gang_reach reach_of(const struct framework *fw, const struct flight *f)
{
    return fw == NULL || f->extension != NULL ? REACH_any : gang_reach_of(fw, &f->pod);
}

static void begin_reprieve(struct coordinator *c, struct gang_try *g)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    gang_units_rank(&g->units);
    g->fits = fw != NULL && strs_hold(fw->profile.filter, STR_LITERAL("NodeResourcesFit"));
    g->wary = arena_take(&g->arena, g->count * sizeof(struct pod *));
    g->apart = true;
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (m->flight == NULL)
            continue;
        m->nominated = arena_copy(&g->arena, m->flight->pod.nominated_node);
        m->reach = reach_of(fw, m->flight);
        g->apart &= m->reach == REACH_none;
    }
    g->phase = GANG_reprieving;
    g->unit = 0;
}

/* The first that has a place; in 1.36, where nobody had one while all were there, any. */
static struct gang_place *who_evicts(const struct gang_try *g)
{
    struct gang_place *any = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        if (m->flight != NULL && m->node.len > 0)
            return m;
        if (m->flight != NULL && any == NULL && g->former)
            any = m;
    }
    return any;
}

/* Those that are gone are evicted, all by one of the group. */
static void evict(struct coordinator *c, struct moment now, struct gang_try *g)
{
    struct preemption gone = {.considered = true, .eligible = true};
    gang_units_list_hidden(&g->units, &gone);
    gang_undo(c, g);
    g->room = GANG_ROOM_found;
    struct gang_place *m = who_evicts(g);
    if (m != NULL && gone.victims.count > 0) {
        gone.node = m->node;
        gang_try_note_room(g, m, &gone);
    }
    gang_evict(c, now, g);
}

/* What all members on the node ask for, of what no profile can ignore. False: nobody is there. */
static bool all_ask_for(const struct gang_try *g, struct str node, struct strs *resources)
{
    const struct str known[] = {STR_LITERAL("cpu"), STR_LITERAL("memory")};
    bool any = false, all[2] = {true, true};
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        if (f == NULL || f->state != FLIGHT_placed || !str_equal(g->at[i].node, node))
            continue;
        any = true;
        for (uint32_t k = 0; k < 2; k++) {
            bool asks = false;
            for (uint32_t r = 0; r < f->pod.request.count; r++)
                asks |= str_equal(f->pod.request.at[r].name, known[k]) &&
                        f->pod.request.at[r].amount > 0;
            all[k] &= asks;
        }
    }
    resources->count = 0;
    for (uint32_t k = 0; k < 2 && any; k++)
        if (all[k])
            resources->at[resources->count++] = known[k];
    return resources->count > 0;
}

/* Whatever else is asked, the last of the members on its node would not fit beside it: so it has to
 * go, and nobody needs to be tried for that. In 1.36 they may go elsewhere. */
static bool is_in_the_way(const struct gang_try *g)
{
    const struct gang_unit *u = &g->units.at[g->unit];
    struct str names[2];
    struct strs resources = {0, names};
    if (g->former || !g->fits)
        return false;
    for (uint32_t i = 0; i < u->count; i++)
        if (all_ask_for(g, u->nodes[i], &resources) &&
            gang_units_overfills(&g->units, g->unit, u->nodes[i], &resources))
            return true;
    return false;
}

/* Behind a unit that stays or goes; false: there is none any more. */
static bool next_unit(struct coordinator *c, struct gang_try *g)
{
    while (g->unit < g->units.count) {
        if (is_in_the_way(g)) {
            g->unit++;
            continue;
        }
        give_back(c, g);
        if (gang_try_waiting(g) > 0)
            return true;
        g->unit++; /* it is in nobody's way */
    }
    return false;
}

bool gang_whole_goes_on(struct coordinator *c, struct moment now, struct gang_try *g)
{
    switch (g->phase) {
    case GANG_clearing:
        g->cleared_most = g->placements.count > 0 ? g->placements.at[0].pods
                                                  : cache_gang_on_nodes(c->cache, &g->group);
        if (!is_enough(g)) {
            fail(c, now, g, GANG_ROOM_no_help);
            return false;
        }
        if (g->tree != NULL)
            gang_tree_keep_cleared(c, g);
        begin_reprieve(c, g);
        break;
    case GANG_reprieving:
        if (g->former && !is_enough(g))
            gang_units_hide(&g->units, g->unit);
        else if (g->denied)
            take_away(c, g);
        g->unit++;
        break;
    default: return begin(c, now, g);
    }
    if (next_unit(c, g))
        return true;
    evict(c, now, g);
    return false;
}
