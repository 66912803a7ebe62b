/* cluster: the clusters and pods that are measured, as records, made from a number each: the same
 * number gives the same record on every machine. */
#ifndef TESTS_BENCH_CORE_CLUSTER_H
#define TESTS_BENCH_CORE_CLUSTER_H

#include "proto/messages.h"

/* How large the cluster is. Nodes are numbered from 0; node i is in zone i % zones. Bound pod j is
 * on node j % nodes. */
struct shape {
    uint32_t nodes, bound_per_node, zones;
    uint32_t kin; /* times as many of a workload's own pods are placed before; 0: once */
};

#define CLUSTER_SCHEDULER  "default-scheduler"
#define CLUSTER_NAMESPACES 10
#define CLUSTER_SERVICES   50

void cluster_node(const struct shape *s, uint32_t i, struct node *node, struct arena *a);
struct str cluster_node_name(uint32_t i, struct arena *a);
/* A pod that is there already: of one of CLUSTER_SERVICES services, sizes differ. */
void cluster_bound_pod(const struct shape *s, uint32_t j, struct pod *pod, struct arena *a);
/* Namespaces and services, in order; false behind the last. */
bool cluster_object(uint32_t i, struct message *m, struct arena *a);

/* ---- pods to be scheduled ---- */

/* Pods of one kind. Some of them are placed before (own), because rules about other pods mean
 * little while there are none. */
struct workload {
    const char *name, *doc;
    /* Adds to a pod that has a name, the default amounts and tolerations. */
    void (*fill)(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a);
    uint32_t own_percent;  /* placed before, as a share of the number of nodes */
    bool own_in_zone;      /* only in zone 0 */
    uint32_t room_percent; /* how many more may be placed, as a share of the number of nodes */
    bool alone;            /* there is room for one on a node: kin does not count */
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* Pending pod number i; numbers below workload_own() are those that are placed before. */
void workload_pod(const struct workload *w, const struct shape *s, uint32_t i, struct pod *pod,
                  struct arena *a);
uint32_t workload_own(const struct workload *w, const struct shape *s);
/* The node of own pod i. */
uint32_t workload_own_node(const struct workload *w, const struct shape *s, uint32_t i);
/* How many placed ones there may be beside the own ones; at least 1. */
uint32_t workload_room(const struct workload *w, const struct shape *s);

#endif
