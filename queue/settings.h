/* settings: the command line of berth-queue beyond what all processes share, put over what the
 * configuration file says. */
#ifndef QUEUE_SETTINGS_H
#define QUEUE_SETTINGS_H

#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "queue/queue.h"

/* What was given; zero means not given. */
struct settings {
    int64_t backoff_initial_s, backoff_max_s;
    struct span unschedulable_max;
    const char *tracing_config; /* a file; NULL: nothing is traced */
};

extern const struct own_option settings_options[];

/* The core's options: settings over config over defaults. The profiles borrow from config. False
 * with a reason when the backoffs contradict each other. */
bool settings_apply(const struct settings *settings, const struct scheduler_config *config,
                    struct queue_options *options, struct str *error);

#endif
