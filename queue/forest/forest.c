/* forest: one list of children a group, kept whether or not the group itself is there. The one
 * idea: every group has at most one above it, so from a root downwards there is no circle.
 *
 * What must stay true: a group is in the list of exactly the one that its `up` names. */
#include "queue/forest/forest.h"

#include "proto/base/must.h"

#include <stdlib.h>

void forest_link(struct group *g, struct group *parent)
{
    struct group *before = g->up;
    if (before == parent)
        return;
    if (before != NULL) {
        if (g->prev_child != NULL)
            g->prev_child->next_child = g->next_child;
        else
            before->children = g->next_child;
        if (g->next_child != NULL)
            g->next_child->prev_child = g->prev_child;
        group_mark(before);
    }
    g->up = parent;
    g->prev_child = NULL;
    g->next_child = parent != NULL ? parent->children : NULL;
    if (g->next_child != NULL)
        g->next_child->prev_child = g;
    if (parent != NULL)
        parent->children = g;
}

/* Brent's way to see a circle: the one that is met again is every so often another one. */
struct group *forest_root(struct group *g)
{
    const struct group *met = g;
    uint32_t steps = 0, most = 1;
    while (g->exists && g->up != NULL) {
        g = g->up;
        if (g == met)
            return NULL;
        if (++steps == most) {
            met = g;
            most *= 2;
            steps = 0;
        }
    }
    return g->exists ? g : NULL;
}

/* ---- a tree ---- */

static int by_age(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    if (x->record.created != y->record.created)
        return x->record.created < y->record.created ? -1 : 1;
    return str_compare(x->name, y->name);
}

static uint32_t count_below(const struct group *root)
{
    uint32_t count = 1;
    const struct group *g = root;
    for (;;) {
        if (g->children != NULL) {
            g = g->children;
        } else {
            while (g != root && g->next_child == NULL)
                g = g->up;
            if (g == root)
                return count;
            g = g->next_child;
        }
        count++;
    }
}

/* The group's children stand in the list behind it, the rest of the list behind those. */
static void insert_children(struct forest_list *list, uint32_t i, struct group **sorted)
{
    uint32_t count = 0, parent = i;
    for (struct group *g = list->at[i].group->children; g != NULL; g = g->next_child)
        sorted[count++] = g;
    if (count > 1)
        qsort(sorted, count, sizeof(struct group *), by_age);
    for (uint32_t k = list->count; k > i + 1; k--)
        list->at[k - 1 + count] = list->at[k - 1];
    for (uint32_t k = 0; k < count; k++)
        list->at[i + 1 + k] = (struct forest_node){
            .group = sorted[k], .parent = parent, .depth = list->at[i].depth + 1};
    list->count += count;
}

struct forest_list forest_list(struct group *root, struct arena *a)
{
    must(root->up == NULL); /* so there is no circle */
    uint32_t room = count_below(root);
    struct forest_list list = {1, arena_take(a, room * sizeof(struct forest_node))};
    struct group **sorted = arena_take(a, room * sizeof(struct group *));
    list.at[0] = (struct forest_node){.group = root, .parent = -1};
    for (uint32_t i = 0; i < list.count; i++)
        if (list.at[i].group->children != NULL)
            insert_children(&list, i, sorted);
    must(list.count == room);
    return list;
}

/* ---- what is asked of it ---- */

static bool is_leaf(const struct group *g)
{
    return !group_is_tree(g);
}

static void count_pods(struct forest_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->at[i].group->heads = (int64_t)list->at[i].group->assigned;
    for (const struct member *m = list->at[0].group->first; m != NULL; m = m->next)
        m->leaf->heads += !m->entry->deleting;
    for (uint32_t i = 0; i < list->count; i++)
        list->at[i].pods = list->at[i].group->heads;
}

bool forest_is_complete(struct group *root)
{
    struct arena memory = {0};
    struct forest_list list = forest_list(root, &memory);
    int64_t *ready = arena_take(&memory, list.count * sizeof(*ready)); /* children of each */
    bool shallow = true, enough = false;
    count_pods(&list);
    for (uint32_t i = 0; i < list.count; i++)
        ready[i] = 0;
    for (uint32_t i = list.count; i > 0; i--) {
        const struct forest_node *n = &list.at[i - 1];
        const struct gang *record = &n->group->record;
        int64_t least = record->min_member > 0 ? record->min_member : 1;
        shallow &= n->group->pending == 0 || n->depth <= FOREST_DEPTH_MOST;
        enough = (is_leaf(n->group) ? n->pods : ready[i - 1]) >= least;
        if (n->parent >= 0)
            ready[n->parent] += enough;
    }
    arena_free(&memory);
    return enough && shallow;
}

int64_t forest_assigned(struct group *root)
{
    int64_t count = 0;
    struct arena memory = {0};
    const struct forest_list list = forest_list(root, &memory);
    for (uint32_t i = 0; i < list.count; i++)
        count += (int64_t)list.at[i].group->assigned;
    arena_free(&memory);
    return count;
}

void forest_describe(struct group *root, struct gang_attempt *attempt, struct arena *a)
{
    const struct forest_list list = forest_list(root, a);
    attempt->tree.at = arena_take(a, list.count * sizeof(*attempt->tree.at));
    for (uint32_t i = 0; i < list.count; i++)
        attempt->tree.at[attempt->tree.count++] =
            (struct gang_branch){.group = list.at[i].group->record, .parent = list.at[i].parent};
}
