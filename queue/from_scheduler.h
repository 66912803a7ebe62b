/* from_scheduler: one handler for each message of the scheduler, and for its coming and going. */
#ifndef QUEUE_FROM_SCHEDULER_H
#define QUEUE_FROM_SCHEDULER_H

#include "queue/queue_inside.h"

handler from_scheduler_peer_up, from_scheduler_peer_down, from_scheduler_queue_config,
    from_scheduler_plugin_back, from_scheduler_pull, from_scheduler_outcome;

#endif
