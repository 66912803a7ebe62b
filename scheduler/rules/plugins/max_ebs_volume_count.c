/* MaxEBSVolumeCount, of the old Policy: at most so many EBS disks on a node as its allocatable
 * says, else as the profile says, else 39. Today NodeVolumeLimits does so, for every CSI driver. */
#include "scheduler/rules/disk_limits.h"

static void *filter_begin(const struct cycle *c)
{
    static const struct disk_limit kind = {"ebs.csi.aws.com", "attachable-volumes-aws-ebs", 39};
    return disk_limits_begin(c, &kind);
}

const struct plugin plugin_max_ebs_volume_count = {
    .name = "MaxEBSVolumeCount",
    .prepare = disk_limits_prepare,
    .filter_begin = filter_begin,
    .filter = disk_limits_filter,
};
