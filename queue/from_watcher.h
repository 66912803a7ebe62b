/* from_watcher: one handler for each message of the watcher that matters here. */
#ifndef QUEUE_FROM_WATCHER_H
#define QUEUE_FROM_WATCHER_H

#include "queue/queue_inside.h"

handler from_watcher_snapshot_begin, from_watcher_snapshot_end, from_watcher_node_set,
    from_watcher_node_gone, from_watcher_pod_set, from_watcher_pod_gone, from_watcher_object_set,
    from_watcher_object_gone, from_watcher_owner_set, from_watcher_pod_group_set,
    from_watcher_group_kinds, from_watcher_names;

#endif
