/* device_findings: what allocating a pod's claims comes to on each node, found out by the
 * coordinator before its workers are asked, and written into the findings for them to look up.
 *
 * Upstream searches in Filter, node by node; here whoever knows all devices does it, so that
 * workers need none of them. Nodes to which devices make no difference share one verdict. */
#ifndef SCHEDULER_CLUSTER_DEVICE_FINDINGS_H
#define SCHEDULER_CLUSTER_DEVICE_FINDINGS_H

#include "scheduler/catalog/device_extended.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/cluster/device_room.h"

/* The claims of the pod that are there and have no devices yet, in its order; from the arena. */
struct open_claims {
    uint32_t count;
    const struct resource_claim **at;
    uint32_t shared_count;
    const struct resource_claim **shared; /* others: a pod of its group is being given devices */
};
struct open_claims open_claims_of(const struct catalog *catalog, const struct pod *pod,
                                  struct arena *a);

struct device_question {
    const struct catalog *catalog;
    const struct features *features; /* what upstream does */
    struct cache *cache;
    const struct pod *pod;
    bool narrowed; /* only the nodes in only matter */
    struct strs only;
    int64_t timeout_ms;           /* of a search on one node; 0: none */
    struct moment (*clock)(void); /* NULL: searches take no time */
};

/* Fills the findings' device_verdicts, device_nodes and device_users, from the arena; they stay
 * empty when nothing is to be allocated, and devices take nothing of nodes. How many claims are to
 * be. */
uint32_t device_findings(const struct device_question *q, struct findings *out, struct arena *a);

/* ---- for one node ---- */

struct device_search; /* the question about one pod */

/* On the node that was asked about last: the search for the claims of the pod and, if that has
 * requests, the special one behind them. */
struct device_found {
    struct dra_search *search;             /* NULL: there is nothing to look for */
    const struct extended_claim *extended; /* NULL: there is no special one */
};

/* Until it is freed the book must not change. */
struct device_search *device_search_new(const struct device_question *q, struct arena *a);
void device_search_free(struct device_search **search);
const struct open_claims *device_search_claims(const struct device_search *search);
struct device_found device_search_found(const struct device_search *search);
/* What they take of that node's own resources. */
const struct pod_room *device_search_room(const struct device_search *search);
/* Nodes are to be looked at even where nothing is to be given. */
bool device_search_looks(const struct device_search *search);
/* How many claims are to be given devices, those that are shared and the special one included even
 * where a node needs none of it. */
uint32_t device_search_open(const struct device_search *search);
/* node is NULL for one without name, labels and resources. The reason is in the arena. */
struct device_verdict device_search_node(struct device_search *search, const struct node *node);

#endif
