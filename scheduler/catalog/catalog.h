/* catalog: what the coordinator knows of the cluster besides nodes and pods: namespaces, claims and
 * volumes, storage classes and CSI objects, the owners of pods, disruption budgets. PreFilter looks
 * things up here; workers never see it.
 *
 * Fed by the watcher's stream. Everything that is returned is borrowed until the next message. */
#ifndef SCHEDULER_CATALOG_CATALOG_H
#define SCHEDULER_CATALOG_CATALOG_H

#include "proto/messages.h"
#include "scheduler/catalog/device_book.h"
#include "scheduler/catalog/volume_index.h"

struct catalog;

struct catalog *catalog_new(void);
void catalog_free(struct catalog **c);

/* Takes namespace_set, namespace_gone, the messages 23, 70 to 78, 80, 83, 84 and object_gone;
 * ignores all others. */
void catalog_take(struct catalog *c, const struct message *m);
/* Around a snapshot: what is not set between the two does not exist any more. */
void catalog_snapshot_begin(struct catalog *c);
void catalog_snapshot_end(struct catalog *c);

enum catalog_kind {
    CATALOG_namespace, /* struct namespace_set */
    CATALOG_claim,
    CATALOG_volume,
    CATALOG_storage_class,
    CATALOG_csi_node,
    CATALOG_csi_driver,
    CATALOG_csi_capacity,
    CATALOG_attachment,
    CATALOG_service, /* struct owner, and the next three */
    CATALOG_replication_controller,
    CATALOG_replica_set,
    CATALOG_stateful_set,
    CATALOG_budget,
    CATALOG_resource_claim,
    CATALOG_device_class,
    CATALOG_device_taint_rule,
    CATALOG_gang,          /* struct gang: PodGroups of scheduling.x-k8s.io, */
    CATALOG_gang_old,      /* of scheduling.sigs.k8s.io, */
    CATALOG_gang_built_in, /* of scheduling.k8s.io, */
    CATALOG_gang_tree,     /* and CompositePodGroups */
    CATALOG_KINDS
};

/* Each returns NULL for what does not exist. */
const struct namespace_set *catalog_namespace(const struct catalog *c, struct str name);
const struct claim *catalog_claim(const struct catalog *c, struct str space, struct str name);
const struct volume *catalog_volume(const struct catalog *c, struct str name);
const struct storage_class *catalog_storage_class(const struct catalog *c, struct str name);
const struct csi_node *catalog_csi_node(const struct catalog *c, struct str name);
const struct csi_driver *catalog_csi_driver(const struct catalog *c, struct str name);
const struct attachment *catalog_attachment(const struct catalog *c, struct str name);
const struct resource_claim *catalog_resource_claim(const struct catalog *c, struct str space,
                                                    struct str name);
const struct device_class *catalog_device_class(const struct catalog *c, struct str name);
const struct owner *catalog_owner(const struct catalog *c, enum catalog_kind kind, struct str space,
                                  struct str name);

/* The PodGroup of that API group, namespace and name. */
const struct gang *catalog_gang(const struct catalog *c, const struct gang *named);

/* Whether there is an object of that kind, as in the API; space is empty for what has none. */
bool catalog_has(const struct catalog *c, struct str kind, struct str space, struct str name);

/* Walks all of a kind, in no particular order, as the record that the kind says:
 * size_t at = 0; const struct budget *b; while ((b = catalog_next(c, CATALOG_budget, &at)) !=
 * NULL). */
const void *catalog_next(const struct catalog *c, enum catalog_kind kind, size_t *at);
/* The same with the Services of one namespace only. */
const struct owner *catalog_next_service(const struct catalog *c, struct str space, size_t *at);
/* Slices, and what claims take of them; kept in step with the claims and classes here. */
/* Whether classes stand for extended resources (DRAExtendedResource): yes, until this says no. */
void catalog_stand_in(struct catalog *c, bool classes);
struct device_book *catalog_devices(const struct catalog *c);
/* The DeviceClass that stands for an extended resource; empty: none does. */
struct str catalog_class_for(const struct catalog *c, struct str resource);
/* The claim that a scheduler has made for the pod's extended resources; NULL: there is none. */
const struct resource_claim *catalog_special_claim(const struct catalog *c, struct str pod_uid);
uint32_t catalog_count(const struct catalog *c, enum catalog_kind kind);

/* ---- claims and volumes as they are going to be ----
 *
 * Upstream's assume caches: from a decision on until the API server shows a newer version of the
 * object, what the binder is about to write is what a profile sees. Each profile has its own, as
 * upstream's plugin has one for each profile: what another profile's pods are about to get is not
 * seen, and the API server decides who is first. */

const struct claim *catalog_claim_seen(const struct catalog *c, struct str profile,
                                       struct str space, struct str name);
const struct volume *catalog_volume_seen(const struct catalog *c, struct str profile,
                                         struct str name);
/* Walks, in no particular order, all volumes that could be the claim's: that name it, or are of its
 * class and name none; and some that could not. {0} begins. */
struct volume_search {
    struct volume_walk walk;
    size_t assumed;
};
const struct volume *catalog_next_volume_for(const struct catalog *c, struct str profile,
                                             const struct claim *claim, struct volume_search *at);

/* The volume is going to be the claim's; it must exist. */
void catalog_assume_volume(struct catalog *c, struct str profile, struct str name,
                           const struct claim *claim);
/* The claim is going to be provisioned for the node; it must exist. */
void catalog_assume_claim(struct catalog *c, struct str profile, const struct claim *claim,
                          struct str node);
/* How many claims and volumes are not seen as the API server has them, by some profile. */
uint32_t catalog_assumed(const struct catalog *c);
/* Gives an assumption up, and returns true, if it still is this one; uid is the claim's. */
bool catalog_restore_volume(struct catalog *c, struct str profile, struct str name, struct str uid);
bool catalog_restore_claim(struct catalog *c, struct str profile, const struct claim_binding *b,
                           struct str node);

/* ---- who uses a claim ---- */

/* One more or (times is -1) one less volume of a pod on a known node names the claim; the cache
 * counts. */
void catalog_count_user(struct catalog *c, struct str space, struct str name, int times);
bool catalog_claim_in_use(const struct catalog *c, struct str space, struct str name);

#endif
