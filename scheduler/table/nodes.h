/* nodes: the columns. One row a node; numbers lie together by kind, so that a loop over all nodes
 * reads memory in order and can be vectorised. The same struct with a single row is the copy on
 * which "what if" is played (nominated pods, preemption), so rules never know the difference. */
#ifndef SCHEDULER_TABLE_NODES_H
#define SCHEDULER_TABLE_NODES_H

#include "proto/base/arena.h"
#include "scheduler/table/node_facts.h"
#include "scheduler/table/node_storage.h"
#include "scheduler/table/resource.h"

enum { SCORED_cpu, SCORED_memory, SCORED_COUNT };

/* A resource beyond the fixed three, on one node or wanted by one pod. */
struct scalar {
    uint32_t resource; /* atom */
    int64_t allocatable, requested;
};

struct scalars {
    uint32_t count, room;
    struct scalar *at;
};

struct host_socket {
    uint32_t ip, protocol; /* atoms */
    int64_t port;
};

/* The host ports in use on a node: a set without counts, as upstream's, so that removing one of two
 * pods that share a port frees it. */
struct ports {
    uint32_t count, room;
    struct host_socket *at;
};

struct node_label {
    uint32_t key, value; /* atoms */
};

enum effect { EFFECT_other, EFFECT_no_schedule, EFFECT_prefer_no_schedule, EFFECT_no_execute };

struct node_taint {
    uint32_t key, value; /* atoms */
    enum effect effect;
};

enum effect effect_of(struct str name);

/* What a node's conditions say, as bits. */
enum trouble {
    TROUBLE_not_ready = 1 << 0,
    TROUBLE_no_network = 1 << 1,
    TROUBLE_out_of_disk = 1 << 2,
    TROUBLE_memory_pressure = 1 << 3,
    TROUBLE_disk_pressure = 1 << 4,
    TROUBLE_pid_pressure = 1 << 5
};

/* The bits of one condition: Ready that is not True, others that are True (or, for those that keep
 * every pod away, not False). */
unsigned trouble_of(struct str condition, struct str status);

/* An image somewhere in the cluster; nodes point at it. */
struct image_state {
    int64_t size;  /* bytes, of the node first seen with it */
    int64_t count; /* nodes in the whole cluster that have it */
    uint32_t refs; /* nodes of this share that have it */
    struct str name;
};

struct node_entry;
struct pod_demand;
struct pod_group;
struct pod_terms;

/* A pod on a node; there may be a million, so what many have alike is shared. */
struct node_pod {
    struct node_entry *node;
    struct pod_group *group;     /* the pods that look as it does: namespace and labels */
    struct pod_demand *demand;   /* what it takes, and its priority */
    struct pod_terms *terms;     /* its affinity terms; NULL: none */
    struct pod_storage *storage; /* NULL: it has no volumes that matter here */
    int64_t started;
    uint32_t place;       /* index in node->pods */
    uint32_t group_place; /* index in group->pods */
    uint32_t terms_place; /* index in terms->pods */
    uint32_t hash;        /* of the UID */
    uint32_t uid_len, name_len;
    bool deleting;  /* terminating */
    bool preempted; /* DisruptionTarget by a scheduler's preemption */
    bool packed;    /* the UID is UUID_BYTES of one */
    char text[];    /* UID and name */
};

/* Borrowed from the pod, or for a UUID from the arena. */
struct str node_pod_uid(const struct node_pod *pod, struct arena *a);
struct str node_pod_name(const struct node_pod *pod);

/* The atom of the value of a label in a list sorted by key atom; 0 when there is none. */
uint32_t label_value(const struct node_label *labels, uint32_t count, uint32_t key);

#define NO_ROW UINT32_MAX

/* What is known of a node beside its numbers. */
struct node_entry {
    uint32_t name; /* atom */
    uint32_t row;  /* NO_ROW: a ghost, known by its pods only */
    bool unschedulable;
    bool spares_from_resizes; /* nobody is to be evicted here for another one's resize */
    uint32_t label_count, taint_count, image_count, feature_count;
    struct node_label *labels;   /* sorted by key atom */
    struct node_taint *taints;   /* in the node's order */
    struct image_state **images; /* sorted by address, unique */
    uint32_t *features;          /* atoms of what its kubelet declares */
    unsigned troubles;           /* bits of enum trouble */
    uint32_t avoided_count;
    struct node_label *avoided; /* controllers whose pods it asks to be kept away: kind and UID */
    struct node_pod **pods;     /* in order of arrival; removal moves the last into the hole */
    uint32_t pod_count, pod_room;
    struct node_storage *storage; /* NULL: there is no CSINode */
};

/* What follows from a row's numbers. */
enum row_mark {
    MARK_full = 1 << 0,   /* it takes no more pods */
    MARK_inexact = 1 << 1 /* some amount is not in [0, KERNEL_EXACT / 2) */
};

struct nodes {
    uint32_t count, room;
    int64_t *allocatable[RESOURCE_COUNT];
    int64_t *requested[RESOURCE_COUNT];
    int64_t *scored[SCORED_COUNT];
    int64_t *pods_allowed;
    int64_t *pods;
    uint8_t *balance; /* of cpu and memory in use, 0 to 100, as NodeResourcesBalancedAllocation has
                         it; anything where amounts are absurd; none of a copy */
    uint8_t *marks;   /* bits of enum row_mark; none of a copy */
    uint32_t inexact; /* rows with MARK_inexact */
    struct scalars *scalars;
    struct ports *ports;
    struct node_entry **entry;
    struct node_facts facts; /* what the entries say, as columns; none of a copy */
};

/* A new row, all zero, for the entry. */
uint32_t nodes_add(struct nodes *n, struct node_entry *entry);
/* Removes the entry's row; the last row takes its place. */
void nodes_remove(struct nodes *n, struct node_entry *entry);
void nodes_free(struct nodes *n);
/* Takes the pod's amounts and ports into account, or out of it. */
void nodes_add_pod(struct nodes *n, uint32_t row, const struct node_pod *pod);
void nodes_remove_pod(struct nodes *n, uint32_t row, const struct node_pod *pod);
/* The port is not in use, whoever has it. */
void nodes_free_port(struct nodes *n, uint32_t row, const struct host_socket *port);
/* Sets what the node offers; what its pods take stays. amount 0 for names that went. */
void nodes_set_scalar(struct nodes *n, uint32_t row, uint32_t resource, int64_t allocatable);
/* After allocatable or pods_allowed was written. */
void nodes_offer(struct nodes *n, uint32_t row);
/* The scalar of that name, or NULL; resource 0 gives NULL. */
const struct scalar *nodes_scalar(const struct nodes *n, uint32_t row, uint32_t resource);

/* A single row to play with. Zero-initialise; memory is kept from one copy to the next. Its entry
 * is a copy too, with a pod list of its own; entry->row still is the row it was copied from. */
struct row_copy {
    struct nodes nodes; /* row 0 is the copy */
    int64_t numbers[2 * RESOURCE_COUNT + SCORED_COUNT + 2];
    struct scalars scalars;
    struct ports ports;
    struct node_entry shadow;
    struct node_entry *entry; /* &shadow */
    struct node_pod **pods;
    uint32_t pod_room;
};

void row_copy_make(struct row_copy *copy, const struct nodes *from, uint32_t row);
/* The pod is on the copy as well, or no longer. */
void row_copy_add(struct row_copy *copy, struct node_pod *pod);
void row_copy_remove(struct row_copy *copy, const struct node_pod *pod);
void row_copy_free(struct row_copy *copy);

#endif
