/* pod_groups: one entry for each distinct look. The one idea: namespace and labels are atoms
 * already, so a look is a list of numbers, and that list is the key.
 *
 * What must stay true: a group holds one user of each of its atoms as long as it exists, which
 * keeps its key unique; it exists as long as it has users; the pods in its list are users. */
#include "scheduler/table/pod_groups.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>

void pod_groups_start(struct pod_groups *g)
{
    *g = (struct pod_groups){.by_look = map_new()};
}

void pod_groups_free(struct pod_groups *g)
{
    must(g->count == 0);
    memory_free(g->at);
    map_free(&g->by_look);
    *g = (struct pod_groups){0};
}

static int compare_labels(const void *a, const void *b)
{
    const struct node_label *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

/* On its own yet; its labels lie behind it in memory. */
static struct pod_group *make(struct atoms *atoms, const struct pod *pod)
{
    uint32_t count = pod->labels.count;
    struct pod_group *group = memory_take(sizeof(*group) + count * sizeof(struct node_label));
    group->labels = (struct node_label *)(group + 1);
    group->label_count = count;
    group->namespace_name = atom_take(atoms, pod->namespace_name);
    if (pod->gang.len > 0 && str_is(pod->gang_api, GANG_API_BUILT_IN))
        group->gang = atom_take(atoms, pod->gang);
    for (uint32_t i = 0; i < count; i++)
        group->labels[i] = (struct node_label){atom_take(atoms, pod->labels.at[i].key),
                                               atom_take(atoms, pod->labels.at[i].value)};
    qsort(group->labels, count, sizeof(*group->labels), compare_labels);
    return group;
}

static void forget(struct atoms *atoms, struct pod_group *group)
{
    atom_drop(atoms, group->namespace_name);
    if (group->gang != 0)
        atom_drop(atoms, group->gang);
    for (uint32_t i = 0; i < group->label_count; i++) {
        atom_drop(atoms, group->labels[i].key);
        atom_drop(atoms, group->labels[i].value);
    }
    memory_free(group->pods);
    memory_free(group);
}

static void add_look(const struct pod_group *group, struct buffer *look)
{
    buffer_add(look, &group->namespace_name, sizeof(group->namespace_name));
    buffer_add(look, &group->gang, sizeof(group->gang));
    if (group->label_count > 0)
        buffer_add(look, group->labels, group->label_count * sizeof(*group->labels));
}

static void add_group(struct pod_groups *g, struct pod_group *group, struct str look)
{
    if (g->count == g->room) {
        g->room = g->room == 0 ? 64 : g->room * 2;
        g->at = memory_resize(g->at, g->room * sizeof(struct pod_group *));
    }
    group->place = g->count;
    g->at[g->count++] = group;
    map_set(g->by_look, look, group);
}

struct pod_group *pod_group_take(struct pod_groups *g, struct atoms *atoms, const struct pod *pod)
{
    struct buffer look = {0};
    struct pod_group *group = make(atoms, pod);
    add_look(group, &look);
    struct pod_group *known = map_get(g->by_look, buffer_str(&look));
    if (known != NULL) {
        forget(atoms, group);
        group = known;
    } else {
        add_group(g, group, buffer_str(&look));
    }
    buffer_free(&look);
    group->users++;
    return group;
}

void pod_group_drop(struct pod_groups *g, struct atoms *atoms, struct pod_group *group)
{
    if (--group->users > 0)
        return;
    struct buffer look = {0};
    add_look(group, &look);
    must(group->pod_count == 0 && g->at[group->place] == group);
    map_remove(g->by_look, buffer_str(&look));
    buffer_free(&look);
    g->at[group->place] = g->at[--g->count];
    g->at[group->place]->place = group->place;
    forget(atoms, group);
}

void pod_group_join(struct node_pod *pod)
{
    struct pod_group *group = pod->group;
    if (group->pod_count == group->pod_room) {
        group->pod_room = group->pod_room == 0 ? 4 : group->pod_room * 2;
        group->pods = memory_resize(group->pods, group->pod_room * sizeof(struct node_pod *));
    }
    pod->group_place = group->pod_count;
    group->pods[group->pod_count++] = pod;
}

void pod_group_leave(struct node_pod *pod)
{
    struct pod_group *group = pod->group;
    must(pod->group_place < group->pod_count && group->pods[pod->group_place] == pod);
    group->pods[pod->group_place] = group->pods[--group->pod_count];
    group->pods[pod->group_place]->group_place = pod->group_place;
}

void pod_group_count(const struct pod_group *group, bool terminating_too, int64_t *by_row)
{
    for (uint32_t i = 0; i < group->pod_count; i++) {
        const struct node_pod *pod = group->pods[i];
        if (pod->node->row != NO_ROW && (terminating_too || !pod->deleting))
            by_row[pod->node->row]++;
    }
}
