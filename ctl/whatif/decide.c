/* decide: what becomes of the pods. The one idea: attempt.c decides and moves the world on, and
 * afterwards the world is looked at: who has a node in it, and who is there no more.
 *
 * What must stay true: the order is the queue's: priority, then who came first; a group is tried as
 * one when its first member's turn comes. */
#include "ctl/attempt.h"
#include "ctl/group.h"
#include "ctl/whatif/whatif.h"

#include <stdlib.h>

static const struct scheduler_config no_config;

/* ---- what is told of a decision ---- */

static struct str full_name(struct whatif *w, struct str space, struct str name)
{
    return arena_print(&w->arena, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

static struct whatif_pod *find(struct whatif *w, const struct pod *pod)
{
    for (uint32_t i = 0; i < w->pods.count; i++)
        if (str_equal(w->pods.at[i].name, pod->name) &&
            str_equal(w->pods.at[i].space, pod->namespace_name))
            return &w->pods.at[i];
    return NULL;
}

static void note_victims(struct whatif *w, const struct report *r)
{
    for (uint32_t i = 0; i < r->victim_count; i++) {
        const struct victim *v = &r->victims[i];
        uint32_t count = w->room.count++;
        w->room.at = manifests_room(&w->step, w->room.at, count, sizeof(*w->room.at));
        w->room.at[count] =
            (struct whatif_evicted){.pod = full_name(w, v->namespace_name, v->name),
                                    .node = arena_copy(&w->arena, r->nominated_node),
                                    .by = arena_copy(&w->arena, r->pod)};
    }
}

static struct str why_not(struct whatif *w, const struct report *r)
{
    struct buffer text = {0};
    if (r->framework == NULL)
        return STR_LITERAL("no profile of this berth has its schedulerName");
    for (uint32_t i = 0; i < r->gates.count; i++)
        buffer_print(&text, "%s%.*s", i == 0 ? "has scheduling gates: " : ", ",
                     STR_ARG(r->gates.at[i]));
    if (r->kept_by.len > 0)
        buffer_print(&text, "%.*s: %.*s", STR_ARG(r->kept_by), STR_ARG(r->kept_why));
    if (r->message.len > 0)
        buffer_add_str(&text, r->message);
    else
        buffer_add_str(&text, r->error);
    struct str copy = arena_copy(&w->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static void told(void *context, const struct report *r)
{
    struct whatif *w = context;
    struct whatif_pod *pod = r->record != NULL ? find(w, r->record) : NULL;
    note_victims(w, r);
    if (pod != NULL)
        pod->message = why_not(w, r);
}

/* ---- one pod, or its group ---- */

/* All its members here have been tried; those without words of their own are told the group's. */
static void count_group(struct whatif *w, const struct whatif_pod *member, struct str message)
{
    for (uint32_t i = 0; i < w->pods.count; i++) {
        struct whatif_pod *other = &w->pods.at[i];
        if (!str_equal(other->group, member->group) || !str_equal(other->space, member->space) ||
            !str_equal(other->group_api, member->group_api))
            continue;
        other->tried = true;
        if (other->message.len == 0)
            other->message = arena_copy(&w->arena, message);
    }
}

static void try(struct whatif *w, const struct pod *pod, struct whatif_pod *entry)
{
    struct report r = {0};
    struct gang group;
    const struct attempts attempts = {.world = w->world,
                                      .config = &no_config,
                                      .output = {.told = told, .context = w},
                                      .arena = &w->step,
                                      .omit_nodes = true,
                                      .after = AFTER_evict};
    if (!group_of(w->world, pod, &group, &w->step)) {
        attempt(&attempts, pod, &r);
        entry->message = why_not(w, &r);
        return;
    }
    attempt_group(&attempts, &group, &r);
    count_group(w, entry, r.message);
}

static bool is_known(const struct whatif *w, struct str evicted)
{
    for (uint32_t i = 0; i < w->evicted.count; i++)
        if (str_equal(w->evicted.at[i].pod, evicted))
            return true;
    return false;
}

/* Of those that may have had to go: who did. */
static void count_evicted(struct whatif *w)
{
    for (uint32_t i = 0; i < w->room.count; i++) {
        struct str pod = w->room.at[i].pod, space = {pod.at, (uint32_t)str_find(pod, '/')};
        struct str name = {pod.at + space.len + 1, pod.len - space.len - 1};
        struct pod there;
        if (world_pod(w->world, space, name, &there, &w->step) || is_known(w, pod))
            continue;
        uint32_t count = w->evicted.count++;
        w->evicted.at = manifests_room(&w->arena, w->evicted.at, count, sizeof(*w->evicted.at));
        w->evicted.at[count] = w->room.at[i];
    }
    w->room.count = 0;
    w->room.at = NULL;
}

/* ---- all of them ---- */

static int in_order(const void *a, const void *b)
{
    const struct whatif_pod *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void look(struct whatif *w, struct whatif_pod *entry)
{
    struct pod pod;
    bool there = world_pod(w->world, entry->space, entry->name, &pod, &w->step);
    if (there && pod.node_name.len > 0) {
        entry->node = arena_copy(&w->arena, pod.node_name);
        entry->message = (struct str){0};
    } else if (!there) {
        entry->message = STR_LITERAL("is evicted again");
    }
    arena_reset(&w->step);
}

static bool pod_waits(struct whatif *w, const struct whatif_pod *entry, struct pod *pod)
{
    return world_pod(w->world, entry->space, entry->name, pod, &w->step) && pod->node_name.len == 0;
}

void whatif_decide(struct whatif *w)
{
    if (w->pods.count > 0)
        qsort(w->pods.at, w->pods.count, sizeof(*w->pods.at), in_order);
    for (uint32_t i = 0; i < w->pods.count; i++)
        w->pods.at[i].tried = false;
    for (uint32_t i = 0; i < w->pods.count; i++) {
        struct whatif_pod *entry = &w->pods.at[i];
        struct pod pod;
        if (!entry->tried && pod_waits(w, entry, &pod))
            try(w, &pod, entry);
        count_evicted(w);
        arena_reset(&w->step);
    }
    for (uint32_t i = 0; i < w->pods.count; i++)
        look(w, &w->pods.at[i]);
}

uint32_t whatif_pending(const struct whatif *w)
{
    uint32_t pending = 0;
    for (uint32_t i = 0; i < w->pods.count; i++)
        pending += w->pods.at[i].node.len == 0;
    return pending;
}

/* ---- how many more ---- */

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct node_capacity *)a)->node,
                       ((const struct node_capacity *)b)->node);
}

static void count_on(struct whatif *w, struct capacity *c, struct str node)
{
    uint32_t i = 0;
    while (i < c->nodes.count && !str_equal(c->nodes.at[i].node, node))
        i++;
    if (i == c->nodes.count) {
        c->nodes.at = manifests_room(&w->arena, c->nodes.at, i, sizeof(*c->nodes.at));
        c->nodes.at[c->nodes.count++] = (struct node_capacity){.node = arena_copy(&w->arena, node)};
    }
    c->nodes.at[i].fit++;
    c->fit++;
}

/* Nobody is evicted for a copy; who would have to be is said. */
static void count_one(struct whatif *w, const struct pod *pod, struct capacity *c)
{
    struct report r = {0};
    struct pod placed;
    const struct attempts attempts = {.world = w->world,
                                      .config = &no_config,
                                      .output = {.told = told, .context = w},
                                      .arena = &w->step,
                                      .omit_nodes = true,
                                      .after = AFTER_none};
    w->room.count = 0;
    w->room.at = NULL;
    attempt(&attempts, pod, &r);
    if (world_pod(w->world, pod->namespace_name, pod->name, &placed, &w->step) &&
        placed.node_name.len > 0) {
        count_on(w, c, placed.node_name);
        return;
    }
    c->stopped = true;
    c->why = why_not(w, &r);
    c->evicts.at = arena_take(&w->arena, (w->room.count + 1) * sizeof(struct str));
    for (; c->evicts.count < w->room.count; c->evicts.count++)
        c->evicts.at[c->evicts.count] = w->room.at[c->evicts.count].pod;
}

bool capacity_count(struct whatif *w, struct manifests *m, int64_t most, struct capacity *c)
{
    const struct workload *load = &m->workloads.at[0];
    for (int64_t number = 1; c->fit < most && !c->stopped; number++) {
        struct pod pod, known;
        if (!manifests_pod(m, load, number, &pod, &w->step)) {
            w->error = arena_copy(&w->arena, m->error);
            return false;
        }
        bool known_already = world_pod(w->world, pod.namespace_name, pod.name, &known, &w->step);
        if (!known_already && !manifests_set_claims(m, load, number, w->world)) {
            w->error = arena_copy(&w->arena, m->error);
            return false;
        }
        if (!known_already) {
            world_pod_set(w->world, &pod);
            count_one(w, &pod, c);
        }
        arena_reset(&w->step);
    }
    if (c->nodes.count > 0)
        qsort(c->nodes.at, c->nodes.count, sizeof(*c->nodes.at), by_name);
    return true;
}
