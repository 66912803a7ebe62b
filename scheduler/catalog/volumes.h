/* volumes: what a pod's volumes amount to, looked up in the catalog; for the rules about volumes
 * and for whoever tells workers of pods. Everything mirrors upstream's helpers of the same matter
 * (component-helpers/storage, the plugin nodevolumelimits). */
#ifndef SCHEDULER_CATALOG_VOLUMES_H
#define SCHEDULER_CATALOG_VOLUMES_H

#include "proto/messages.h"
#include "scheduler/catalog/catalog.h"

/* The volume names a claim itself; an ephemeral one does not. */
bool volume_is_claim(const struct pod_volume *v);
/* The volume is a claim's, one that the pod names or an ephemeral one. */
bool volume_has_claim(const struct pod_volume *v);
/* Upstream's IsInlineMigratable: an in-tree disk for which a CSI driver may stand in. */
bool volume_is_migratable(const struct pod_volume *v);

/* Upstream's IsVolumeBoundToClaim: the volume's claimRef names the claim; a UID there must match.
 */
bool volume_is_reserved_for(const struct volume *v, const struct claim *claim);
/* The claim has its volume, and the controller says that this is final. */
bool claim_is_bound(const struct claim *claim);
/* spec.storageClassName, whatever the annotation says; who is whose goes by class_name. */
struct str claim_spec_class(const struct claim *claim);
struct str volume_spec_class(const struct volume *v);
/* An ephemeral volume's claim must be its pod's. The second is upstream's complaint if not. */
bool claim_is_of(const struct claim *claim, const struct pod *pod);
struct str claim_not_of(const struct claim *claim, const struct pod *pod, struct arena *a);

/* `persistentvolumeclaim "x" not found` and the like. */
struct str not_found(struct arena *a, const char *kind, struct str name);

/* What the volumes of a pod take up of a node's attach limits. */
struct attaching {
    uint32_t count;
    struct attached_volume *at; /* may hold a volume twice */
    bool *is_disk;              /* of each: an in-tree plugin's, which a CSI driver stands for */
    struct str problem;         /* not empty: it cannot be known, and upstream's filter fails */
    bool missing;               /* the problem is a claim of the new pod that does not exist */
    bool is_inline;             /* the problem is a disk of the pod's own */
};

/* new_pod: it is about to be scheduled, and needs all its claims; otherwise one that is missing is
 * passed over. Lists come from the arena, strings partly from the pod and the catalog. */
void volumes_attaching(const struct catalog *catalog, const struct pod *pod, bool new_pod,
                       struct attaching *out, struct arena *a);
/* Makes a pod on a node what workers are told of it: fills attached and attach_problem. */
void volumes_resolve(const struct catalog *catalog, struct pod *pod, struct arena *a);

/* True for the in-tree plugins that kube-scheduler takes as migrated to CSI. */
bool plugin_is_migrated(struct str plugin);

#endif
