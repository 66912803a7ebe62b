/* MaxAzureDiskVolumeCount, of the old Policy: at most so many Azure disks on a node as its
 * allocatable says, else as the profile says, else 16. Today NodeVolumeLimits does so, for every
 * CSI driver. */
#include "scheduler/rules/disk_limits.h"

static void *filter_begin(const struct cycle *c)
{
    static const struct disk_limit kind = {"disk.csi.azure.com", "attachable-volumes-azure-disk",
                                           16};
    return disk_limits_begin(c, &kind);
}

const struct plugin plugin_max_azure_disk_volume_count = {
    .name = "MaxAzureDiskVolumeCount",
    .prepare = disk_limits_prepare,
    .filter_begin = filter_begin,
    .filter = disk_limits_filter,
};
