/* settings: the command line of berth-scheduler beyond what all processes share. */
#ifndef SCHEDULER_SETTINGS_H
#define SCHEDULER_SETTINGS_H

#include "proto/bus/options.h"
#include "proto/kube/config/config_flags.h"

struct settings {
    struct config_flags flags; /* first: config_flags.h asks for it */
    bool worker;               /* be a worker, not the coordinator */
    bool own_worker;           /* look at nodes itself while no worker process is there */
    enum tie_break_rule tie_break;
    double stale_after_s;
    double assumed_ttl_s; /* 0: for good */
    long credit;          /* attempts at once; 0: the default */
    long kept;            /* decisions to be told of later; 0: the default; less: none */
    long batch;           /* pods asked of a lone worker at once; 0: the default */
    long capacity;        /* of a worker */
};

/* The defaults, and worker when it is among the arguments (it decides what else is parsed). */
void settings_init(struct settings *s, int argc, char **argv);

extern const struct own_option scheduler_options[];

#endif
