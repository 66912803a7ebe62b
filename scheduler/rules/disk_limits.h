/* disk_limits: what the old Policy's limits of disks on a node share; each is for the disks of one
 * cloud, which count by the name that their CSI driver knows them by. */
#ifndef SCHEDULER_RULES_DISK_LIMITS_H
#define SCHEDULER_RULES_DISK_LIMITS_H

#include "scheduler/rules/plugin.h"

struct disk_limit {
    const char *driver;   /* CSI driver that such disks are migrated to */
    const char *resource; /* in a node's allocatable, as older kubelets say it */
    int64_t usual;        /* where neither the node nor the profile says anything */
};

/* A prepare hook: finds out which disks the pod would attach. */
void disk_limits_prepare(const struct pre_filter_question *q);
void *disk_limits_begin(const struct cycle *c, const struct disk_limit *kind);
void disk_limits_filter(const struct cycle *c, const void *state, const struct nodes *n,
                        uint32_t row, struct ruling *out);

#endif
