/* pending: what the queue would hand out, one after another.
 *
 * What must stay true: the order is that of PrioritySort, or of a plugin's keys; each pod is
 * reported once for its first attempt, alone or with its group, and once more if a later one finds
 * it a node. */
#include "ctl/simulate/pending.h"

#include "ctl/group.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"

#include <stdlib.h>

struct waiting {
    struct str space, name;
    uint32_t order;
    /* Of this round. */
    int64_t rank, created; /* rank: the priority, or a key in its place */
    bool tried;
};

void pending_note(struct pending *p, const struct pod *pod)
{
    struct str key =
        arena_print(&p->arena, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    if (p->known == NULL)
        p->known = map_new();
    if (map_get(p->known, key) != NULL)
        return;
    if ((p->count & (p->count + 1)) == 0) /* full at 0, 1, 3, 7 … */
        p->at = memory_resize(p->at, (2 * (size_t)p->count + 1) * sizeof(struct waiting *));
    struct waiting *w = arena_take(&p->arena, sizeof(*w));
    *w = (struct waiting){.space = arena_copy(&p->arena, pod->namespace_name),
                          .name = arena_copy(&p->arena, pod->name),
                          .order = p->count};
    map_set(p->known, key, w);
    p->at[p->count++] = w;
}

void pending_free(struct pending *p)
{
    map_free(&p->known);
    memory_free(p->at);
    arena_free(&p->arena);
    *p = (struct pending){0};
}

static int in_order(const void *one, const void *other)
{
    const struct waiting *a = *(const struct waiting *const *)one;
    const struct waiting *b = *(const struct waiting *const *)other;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->created != b->created)
        return a->created < b->created ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static bool waits(const struct attempts *a, const struct waiting *w, struct pod *pod)
{
    return world_pod(a->world, w->space, w->name, pod, a->arena) && pod->node_name.len == 0 &&
           !pod->deleting;
}

/* Those that wait, in their order, from the arena. */
static struct waiting **line_up(const struct pending *p, const struct attempts *a, struct arena *in,
                                uint32_t *count)
{
    struct waiting **line = arena_take(in, (p->count + 1) * sizeof(struct waiting *));
    *count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        struct waiting *w = p->at[i];
        struct pod pod;
        if (waits(a, w, &pod)) {
            w->rank = a->sorts != NULL ? world_sort_key(a->world, &pod, a->sorts) : pod.priority;
            w->created = pod.created;
            w->tried = false;
            line[(*count)++] = w;
        }
        arena_reset(a->arena);
    }
    qsort(line, *count, sizeof(struct waiting *), in_order);
    return line;
}

static void try_group(struct pending *p, const struct attempts *a, const struct gang *group)
{
    struct report r = {.op = STR_LITERAL("group")};
    uint32_t count;
    const struct pod *members = world_members(a->world, group, &count, a->arena);
    for (uint32_t i = 0; i < count; i++) {
        struct str key = arena_print(a->arena, "%.*s/%.*s", STR_ARG(members[i].namespace_name),
                                     STR_ARG(members[i].name));
        struct waiting *w = map_get(p->known, key);
        if (w != NULL)
            w->tried = true;
    }
    attempt_group(a, group, &r);
}

static bool try_again(const struct attempts *a, const struct waiting *w)
{
    struct report r = {0};
    struct gang group;
    struct pod pod;
    bool placed = waits(a, w, &pod) && pod.nominated_node.len == 0 &&
                  !group_of(a->world, &pod, &group, a->arena) && attempt_once_more(a, &pod, &r);
    arena_reset(a->arena);
    return placed;
}

static void try_first(struct pending *p, const struct attempts *a, struct waiting *const *line,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct report r = {0};
        struct gang group;
        struct pod pod;
        if (!line[i]->tried && waits(a, line[i], &pod)) {
            if (group_of(a->world, &pod, &group, a->arena))
                try_group(p, a, &group);
            else
                attempt(a, &pod, &r);
        }
        arena_reset(a->arena);
    }
}

void pending_decide(struct pending *p, const struct attempts *a)
{
    struct arena of_line = {0};
    uint32_t count;
    struct waiting **line = line_up(p, a, &of_line, &count);
    try_first(p, a, line, count);
    for (bool placed = true; placed;) {
        placed = false;
        for (uint32_t i = 0; i < count; i++)
            placed = try_again(a, line[i]) || placed;
    }
    arena_free(&of_line);
}
