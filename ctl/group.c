/* group: members are decided one after the other and assumed; when enough have a place they are
 * bound, else all is given back, and perhaps room is made for enough of them. The one idea: what a
 * transaction does, without anything that could come in between.
 *
 * What must stay true: a group is bound by as many members as it needs, or nothing of the world has
 * changed but by the evictions that the group was given room by. */
#include "ctl/group.h"

#include "proto/kube/objects/objects.h"

#include <stdlib.h>

struct group_member {
    struct pod pod;
    bool placed;
    struct str node;
    struct held held;       /* the volumes and devices there */
    bool failed, curable;   /* no place; but one if others went */
    struct str message;     /* then: why */
    struct victim *victims; /* who goes for it */
    uint32_t victim_count;
};

struct group_attempt {
    const struct attempts *a;
    const struct gang *group;
    struct group_member *at;
    uint32_t count, placed;
    int64_t needed;
    uint32_t pods; /* members on nodes included */
};

/* ---- who is there ---- */

bool group_of(const struct world *w, const struct pod *pod, struct gang *group, struct arena *a)
{
    const struct framework *framework = world_framework(w, pod);
    const struct gang named = {
        .api = pod->gang_api, .namespace_name = pod->namespace_name, .name = pod->gang};
    if (pod->gang.len == 0 || framework == NULL || framework->profile.gangs == GANGS_off)
        return false;
    if (str_is(pod->gang_api, KUBE_GANG_BUILT_IN) && !framework->profile.gang_built_in)
        return false;
    return world_group(w, &named, group, a);
}

static int in_order(const void *a, const void *b)
{
    const struct pod *one = a, *other = b;
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    if (one->created != other->created)
        return one->created < other->created ? -1 : 1;
    return str_compare(one->name, other->name);
}

/* Those that can be tried; false, with the plugin's words, when they are too few. */
static bool gather(struct group_attempt *g, struct report *r)
{
    uint32_t gated = 0;
    struct pod *pods = world_members(g->a->world, g->group, &g->pods, g->a->arena);
    qsort(pods, g->pods, sizeof(*pods), in_order);
    g->at = arena_take(g->a->arena, g->pods * sizeof(*g->at));
    g->needed = g->group->min_member;
    for (uint32_t i = 0; i < g->pods; i++) {
        gated += pods[i].gates.count > 0;
        if (pods[i].node_name.len > 0 || world_is_assumed(g->a->world, &pods[i]))
            g->needed--;
        else if (pods[i].gates.count == 0 && !pods[i].deleting)
            g->at[g->count++] =
                (struct group_member){.pod = pods[i], .held = {.arena = g->a->arena}};
    }
    if (g->count >= g->needed)
        return true;
    struct str first = g->pods > 0 ? pods[0].name : (struct str){NULL, 0};
    r->message = g->pods < g->group->min_member || gated == 0
                     ? arena_print(g->a->arena,
                                   "pre-filter pod %.*s cannot find enough sibling pods, current "
                                   "pods number: %u, minMember of group: %lld",
                                   STR_ARG(first), g->pods, (long long)g->group->min_member)
                     : arena_print(g->a->arena,
                                   "pre-filter pod %.*s cannot proceed due to gated pods in the "
                                   "same PodGroup",
                                   STR_ARG(first));
    return false;
}

/* ---- one member ---- */

/* Its report, and what of it is kept. */
static void decide(struct group_attempt *g, struct group_member *m, struct report *r)
{
    struct attempts tentative = *g->a;
    tentative.hold = &m->held;
    *r = (struct report){0};
    bool decided = attempt_decide(&tentative, &m->pod, r);
    r->after_none = true; /* of a group only all of its victims go, or nobody */
    report_open(&g->a->output, r, false);
    report_close(&g->a->output);
    m->placed = decided && str_is(r->result, "scheduled") && r->node.len > 0;
    if (m->placed) {
        m->node = arena_copy(g->a->arena, r->node);
        world_assume(g->a->world, r->record, m->node);
        g->placed++;
        return;
    }
    m->failed = true;
    m->curable = str_is(r->result, "preempting");
    m->message = arena_copy(g->a->arena, r->message.len > 0 ? r->message : r->error);
}

static bool is_sibling(const struct group_attempt *g, struct str uid)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].placed && str_equal(g->at[i].pod.uid, uid))
            return true;
    return false;
}

/* The victims of its last decision are gone for the next members. */
static void take_room(struct group_attempt *g, struct group_member *m, const struct report *r)
{
    for (uint32_t i = 0; i < r->victim_count; i++)
        if (is_sibling(g, r->victims[i].uid))
            return;
    m->victims = arena_take(g->a->arena, r->victim_count * sizeof(*m->victims));
    for (; m->victim_count < r->victim_count; m->victim_count++)
        codec_copy(&victim_record, &m->victims[m->victim_count], &r->victims[m->victim_count],
                   g->a->arena);
    m->node = arena_copy(g->a->arena, r->nominated_node);
    for (uint32_t i = 0; i < m->victim_count; i++)
        world_hide(g->a->world, m->victims[i].uid);
    world_assume(g->a->world, &m->pod, m->node);
    m->placed = true;
    g->placed++;
}

static void undo(struct group_attempt *g)
{
    for (uint32_t i = g->count; i > 0; i--) {
        struct group_member *m = &g->at[i - 1];
        if (m->placed) {
            world_forget(g->a->world, &m->pod);
            world_give_back(g->a->world, &m->pod, &m->held);
        }
        for (uint32_t k = 0; k < m->victim_count; k++)
            world_show(g->a->world, m->victims[k].uid);
    }
}

/* ---- the group ---- */

static bool is_full(const struct group_attempt *g)
{
    return (int64_t)g->placed >= g->needed;
}

static void place(struct group_attempt *g)
{
    uint32_t curable = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        struct report r;
        if ((int64_t)g->placed + g->count - i < g->needed && curable == 0)
            return; /* whatever becomes of the rest */
        decide(g, &g->at[i], &r);
        curable += g->at[i].curable;
    }
}

static bool make_room(struct group_attempt *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++)
        any |= g->at[i].curable;
    for (uint32_t i = 0; i < g->count && any && !is_full(g); i++) {
        struct report r;
        if (g->at[i].placed)
            continue;
        decide(g, &g->at[i], &r);
        if (!g->at[i].placed && str_is(r.result, "preempting"))
            take_room(g, &g->at[i], &r);
    }
    return is_full(g);
}

static void bind(struct group_attempt *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct group_member *m = &g->at[i];
        if (!m->placed || g->a->no_bind)
            continue;
        const struct pod *placed = world_held_pod(g->a->world, &m->pod, &m->held, g->a->arena);
        world_forget(g->a->world, &m->pod);
        (void)world_bind_held(g->a->world, &m->pod, &m->held);
        world_bind(g->a->world, placed, m->node, !g->a->no_labels);
    }
}

static void evict(struct group_attempt *g)
{
    struct world *w = g->a->world;
    for (uint32_t i = 0; i < g->count && g->a->after != AFTER_none; i++)
        if (g->at[i].placed)
            world_nominate(w, &g->at[i].pod, g->at[i].node);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->at[i].victim_count; k++) {
            const struct victim *v = &g->at[i].victims[k];
            if (g->a->after == AFTER_evict)
                world_pod_gone(w, v->namespace_name, v->name);
            else if (g->a->after == AFTER_nominate)
                world_terminate(w, v->namespace_name, v->name, &g->at[i].pod);
        }
}

static struct str why_not(const struct group_attempt *g)
{
    uint32_t failed = 0;
    const struct group_member *first = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        failed += g->at[i].failed;
        first = first == NULL && g->at[i].failed ? &g->at[i] : first;
    }
    if (first == NULL)
        return STR_LITERAL("no member is left");
    struct str need = g->needed > 0
                          ? arena_print(g->a->arena, "%lld more pods have to be placed together",
                                        (long long)g->needed)
                          : STR_LITERAL("the group has enough pods");
    return arena_print(g->a->arena, "%.*s, and %u of %u have no place: pod %.*s/%.*s: %.*s",
                       STR_ARG(need), failed, g->count, STR_ARG(first->pod.namespace_name),
                       STR_ARG(first->pod.name), STR_ARG(first->message));
}

/* True when it is to be tried again, with the room that was made. */
static bool try_once(const struct attempts *a, const struct gang *group, struct report *r)
{
    struct group_attempt g = {.a = a, .group = group};
    r->result = STR_LITERAL("unschedulable");
    if (!gather(&g, r))
        return false;
    place(&g);
    if (is_full(&g)) { /* it may have been before, and none of those who came late has a place */
        bind(&g);
        bool any = g.placed > 0 || g.count == 0;
        r->result = any ? STR_LITERAL("scheduled") : r->result;
        r->message = any ? arena_print(a->arena, "%u placed", g.placed) : why_not(&g);
        return false;
    }
    struct str message = why_not(&g);
    bool room = make_room(&g);
    undo(&g);
    if (room)
        evict(&g);
    r->result = room ? STR_LITERAL("preempting") : r->result;
    r->message = message;
    return room && a->after == AFTER_evict;
}

void attempt_group(const struct attempts *a, const struct gang *group, struct report *r)
{
    struct str op = r->op;
    for (bool again = true; again;) {
        *r = (struct report){.op = op,
                             .pod =
                                 arena_print(a->arena, "PodGroup %.*s/%.*s",
                                             STR_ARG(group->namespace_name), STR_ARG(group->name))};
        again = try_once(a, group, r);
        report_open(&a->output, r, false);
        report_close(&a->output);
    }
}
