/* node_storage: what a shard knows of the storage of its nodes and of the pods on them, as atoms.
 * Only pods with volumes and nodes with a CSINode have any. */
#ifndef SCHEDULER_TABLE_NODE_STORAGE_H
#define SCHEDULER_TABLE_NODE_STORAGE_H

#include "proto/messages.h"
#include "scheduler/table/atoms.h"

/* A volume that counts against a limit: two are the same when their names are. */
struct attached {
    uint32_t name, driver; /* atoms; name is "driver/handle" */
};

/* An in-tree disk that only some pods on a node may share. */
struct disk {
    enum volume_source kind;
    bool read_only;
    uint32_t name;        /* atom: disk name, volume ID or IQN */
    uint32_t pool, image; /* atoms, for rbd */
    uint32_t monitor_count;
    uint32_t *monitors; /* atoms, for rbd */
};

/* Of one pod. */
struct pod_storage {
    uint32_t disk_count, claim_count, attached_count;
    struct disk *disks;
    uint32_t *claims; /* atoms: the names of its claims, ephemeral ones left out */
    struct attached *attached;
    struct str problem; /* why attached cannot be known; empty: it can */
    struct arena memory;
};

/* Of one node with a CSINode. */
struct node_storage {
    uint32_t driver_count, limit_count, migrated_count, attached_count;
    uint32_t *drivers; /* atoms */
    struct volume_limit {
        uint32_t driver; /* atom */
        int64_t count;
    } * limits;
    uint32_t *migrated;        /* atoms: in-tree plugins */
    struct attached *attached; /* by VolumeAttachments; each once */
    struct arena memory;
};

/* NULL for a pod without volumes that matter on a node. */
struct pod_storage *pod_storage_make(struct atoms *atoms, const struct pod *pod);
/* Both: NULL is allowed, *s is NULL afterwards. */
void pod_storage_free(struct atoms *atoms, struct pod_storage **s);
/* NULL for a node without a CSINode. */
struct node_storage *node_storage_make(struct atoms *atoms, const struct shard_storage *told);
void node_storage_free(struct atoms *atoms, struct node_storage **s);

/* The disks of a pod that is about to be scheduled: a text that nobody uses is atom 0, and nothing
 * needs to be freed. */
struct disk *disks_find(const struct atoms *atoms, const struct pod *pod, uint32_t *count,
                        struct arena *a);
/* The same for volumes that it would attach. */
struct attached *attached_find(const struct atoms *atoms, const struct attached_volume *at,
                               uint32_t count, struct arena *a);
/* Upstream's isVolumeConflict. */
bool disks_collide(const struct disk *a, const struct disk *b);

#endif
