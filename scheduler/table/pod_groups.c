/* pod_groups: one entry for each distinct look. The one idea: namespace and labels are atoms
 * already, so a look is a list of numbers, and that list is the key.
 *
 * What must stay true: a group holds one user of each of its atoms as long as it exists, which
 * keeps its key unique; it exists as long as it has users; the pods in its list are users; and it
 * is in the list of each of its labels. */
#include "scheduler/table/pod_groups.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>

/* The groups that have a label, which is there as long as there is one. */
struct labelled_groups {
    struct node_label label;
    uint32_t count;
    struct labelled_group *first;
};

struct labelled_group {
    struct pod_group *group;
    struct labelled_groups *among;
    struct labelled_group *prev, *next;
};

void pod_groups_start(struct pod_groups *g)
{
    *g = (struct pod_groups){.by_look = map_new()};
}

void pod_groups_free(struct pod_groups *g)
{
    must(g->count == 0);
    memory_free(g->at);
    map_free(&g->by_look);
    table_free(&g->by_label);
    *g = (struct pod_groups){0};
}

static int compare_labels(const void *a, const void *b)
{
    const struct node_label *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

/* On its own yet; its links and labels lie behind it in memory. */
static struct pod_group *make(struct atoms *atoms, const struct pod *pod)
{
    uint32_t count = pod->labels.count;
    struct pod_group *group = memory_take(
        sizeof(*group) + count * (sizeof(struct labelled_group) + sizeof(struct node_label)));
    group->links = (struct labelled_group *)(group + 1);
    group->labels = (struct node_label *)(group->links + count);
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

/* ---- by label ---- */

static bool is_label(const void *thing, const void *key)
{
    const struct labelled_groups *among = thing;
    const struct node_label *label = key;
    return among->label.key == label->key && among->label.value == label->value;
}

static uint32_t hash_of(struct node_label label)
{
    uint64_t both = (uint64_t)label.key << 32 | label.value;
    return table_hash((both ^ both >> 29) * UINT64_C(0x9E3779B97F4A7C15));
}

static void link_label(struct pod_groups *g, struct pod_group *group, uint32_t i)
{
    struct labelled_group *link = &group->links[i];
    uint32_t hash = hash_of(group->labels[i]);
    struct labelled_groups *among = table_get(&g->by_label, hash, is_label, &group->labels[i]);
    if (among == NULL) {
        among = memory_take(sizeof(*among));
        among->label = group->labels[i];
        table_add(&g->by_label, hash, among);
    }
    *link = (struct labelled_group){.group = group, .among = among, .next = among->first};
    if (among->first != NULL)
        among->first->prev = link;
    among->first = link;
    among->count++;
}

static void unlink_label(struct pod_groups *g, struct labelled_group *link)
{
    struct labelled_groups *among = link->among;
    *(link->prev != NULL ? &link->prev->next : &among->first) = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
    if (--among->count > 0)
        return;
    table_remove(&g->by_label, hash_of(among->label), among);
    memory_free(among);
}

/* The groups with the rarest label that it asks for; false: it asks for none. */
static bool find_rarest(const struct pod_groups *g, const struct label_matcher *m,
                        const struct labelled_groups **rarest)
{
    struct node_label label;
    uint32_t place = 0;
    for (; label_matcher_asks(m, place, &label); place++) {
        const struct labelled_groups *found =
            table_get(&g->by_label, hash_of(label), is_label, &label);
        if (place == 0 || found == NULL || found->count < (*rarest)->count)
            *rarest = found;
        if (found == NULL)
            return true;
    }
    return place > 0;
}

struct group_walk pod_groups_walk(const struct pod_groups *g, const struct label_matcher *m)
{
    const struct labelled_groups *rarest = NULL;
    if (label_matcher_is_nothing(m))
        return (struct group_walk){0};
    if (!find_rarest(g, m, &rarest))
        return (struct group_walk){.all = g};
    return (struct group_walk){.next = rarest != NULL ? rarest->first : NULL};
}

const struct pod_group *group_walk_next(struct group_walk *w)
{
    if (w->all != NULL)
        return w->at < w->all->count ? w->all->at[w->at++] : NULL;
    const struct labelled_group *link = w->next;
    if (link == NULL)
        return NULL;
    w->next = link->next;
    return link->group;
}

/* ---- groups ---- */

static void add_group(struct pod_groups *g, struct pod_group *group, struct str look)
{
    if (g->count == g->room) {
        g->room = g->room == 0 ? 64 : g->room * 2;
        g->at = memory_resize(g->at, g->room * sizeof(struct pod_group *));
    }
    group->place = g->count;
    g->at[g->count++] = group;
    for (uint32_t i = 0; i < group->label_count; i++)
        link_label(g, group, i);
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
    for (uint32_t i = 0; i < group->label_count; i++)
        unlink_label(g, &group->links[i]);
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
