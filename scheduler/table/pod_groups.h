/* pod_groups: pods on nodes by what a selector sees of them: their namespace and labels, and
 * the PodGroup of scheduling.k8s.io that they name.
 *
 * Pods of one owner mostly look the same, so a selector is matched once with each group and not
 * with each pod; only the pods that it wants are touched then. Of the groups only those with a
 * label that it asks for are looked at: owners that name their pods by a label of their own may be
 * many. */
#ifndef SCHEDULER_TABLE_POD_GROUPS_H
#define SCHEDULER_TABLE_POD_GROUPS_H

#include "proto/base/table.h"
#include "proto/messages.h"
#include "scheduler/table/atoms.h"
#include "scheduler/table/label_matcher.h"
#include "scheduler/table/nodes.h"

/* The pods that look alike. */
struct pod_group {
    uint32_t namespace_name; /* atom */
    uint32_t gang;           /* atom of the PodGroup's name; 0: none of that API group */
    uint32_t label_count;
    struct node_label *labels;    /* sorted by key atom */
    struct labelled_group *links; /* as many: its places among the groups with each of them */
    uint32_t pod_count;
    struct node_pod **pods; /* on nodes, ghosts included; in no particular order */
    uint32_t pod_room, users, place;
};

/* All groups of a share. */
struct pod_groups {
    uint32_t count, room;
    struct pod_group **at; /* in no particular order */
    struct map *by_look;
    struct table by_label; /* of struct labelled_groups */
};

void pod_groups_start(struct pod_groups *g);
/* All groups must have been dropped. */
void pod_groups_free(struct pod_groups *g);

/* The group of pods that look as this one, for one more user. */
struct pod_group *pod_group_take(struct pod_groups *g, struct atoms *atoms, const struct pod *pod);
/* One user less. */
void pod_group_drop(struct pod_groups *g, struct atoms *atoms, struct pod_group *group);
/* The pod is on a node now, or no longer; it has taken its group before and drops it afterwards. */
void pod_group_join(struct node_pod *pod);
void pod_group_leave(struct node_pod *pod);

/* The groups that a selector may want, each once, in no particular order. */
struct group_walk {
    const struct pod_groups *all; /* NULL: those behind next */
    uint32_t at;
    const struct labelled_group *next;
};

/* Begins with those that the matcher may want. Groups must not come or go meanwhile. */
struct group_walk pod_groups_walk(const struct pod_groups *g, const struct label_matcher *m);
/* NULL: there are no more. */
const struct pod_group *group_walk_next(struct group_walk *w);

/* Adds the group's pods to the number of each row's pods; without those that terminate, if so
 * wished. by_row has room for all rows. */
void pod_group_count(const struct pod_group *group, bool terminating_too, int64_t *by_row);

#endif
