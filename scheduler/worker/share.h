/* share: this worker's nodes, the pods on them and those nominated to them: what the coordinator
 * has told, and nothing that follows from it. shard.h has what each function is for, as the
 * messages name them.
 *
 * Whatever is kept of rows lies above. It looks into `touched`, which notes what changes, before it
 * is used again; a share calls nobody. */
#ifndef SCHEDULER_WORKER_SHARE_H
#define SCHEDULER_WORKER_SHARE_H

#include "proto/base/map.h"
#include "proto/base/table.h"
#include "proto/messages.h"
#include "scheduler/table/nodes.h"
#include "scheduler/table/pod_demands.h"
#include "scheduler/table/pod_groups.h"
#include "scheduler/table/pod_terms.h"
#include "scheduler/table/touched.h"

struct share {
    struct atoms *atoms;
    struct nodes nodes;
    struct map *by_name;      /* node → struct node_entry, ghosts included */
    struct table by_uid;      /* pod → struct node_pod */
    struct map *images;       /* name → struct image_state */
    struct pod_groups groups; /* the pods by namespace and labels */
    struct pod_demands demands;
    struct term_table terms; /* what the pods ask of other pods */
    /* Pods that are nominated to nodes with a row, in no order; node is where, place the index in
     * the list. They are on no node, in no group's list and in no list of those with terms. */
    struct table nominated_by_uid;
    struct node_pod **nominated;
    uint32_t nominated_count, nominated_room;
    int64_t cluster_nodes;
    uint32_t any_ip;
    uint32_t ghosts;
    struct touched touched;
};

/* Of one that is all zero. */
void share_start(struct share *s);
/* Forgets everything. */
void share_clear(struct share *s);
/* Whoever holds atoms of it must have dropped them. */
void share_free(struct share *s);

void share_node_set(struct share *s, const struct node *node);
void share_node_gone(struct share *s, struct str name);
void share_storage(struct share *s, const struct shard_storage *told);
void share_pod_set(struct share *s, const struct pod *pod);
void share_pod_told(struct share *s, const struct shard_pod *told);
void share_pod_gone(struct share *s, struct str uid);
void share_pod_rename(struct share *s, struct str from, struct str uid, struct str name);

/* ---- share_facts.c ---- */

void share_facts_images(struct share *s, const struct shard_images *images);
void share_facts_forget_images(struct share *s);
/* Overwrites what the entry says, without dropping what it held. */
void share_facts_set(struct share *s, struct node_entry *e, const struct node *node);
void share_facts_drop(struct share *s, struct node_entry *e);
/* What rules that count look at: labels, and taints. */
bool share_facts_same(const struct node_entry *a, const struct node_entry *b);
bool share_facts_same_images(const struct node_entry *a, const struct node_entry *b);

/* ---- share_nominated.c ---- */

void share_nominated_set(struct share *s, const struct pod *pod);
void share_nominated_gone(struct share *s, struct str uid);
/* NULL: it is nominated to no node here. */
struct node_pod *share_nominated_find(const struct share *s, struct str uid);
/* Those that are nominated to this node are so no more. */
void share_nominated_forget(struct share *s, const struct node_entry *e);
void share_nominated_free(struct share *s);

/* ---- node_pod.c ---- */

/* True when this is the pod's UID: a match of tables of pods. */
bool node_pod_has_uid(const void *pod, const void *uid);
uint32_t node_pod_hash(struct str uid);
/* A pod that is nothing but its names. */
struct node_pod *node_pod_named(struct str full_uid, struct str name);
/* A pod from a message, its strings as atoms, on no node yet. */
struct node_pod *node_pod_make(struct share *s, const struct pod *pod);
void node_pod_free(struct share *s, struct node_pod *pod);

#endif
