/* run_options: the command line of `berth run`. */
#ifndef CTL_RUN_OPTIONS_H
#define CTL_RUN_OPTIONS_H

#include "ctl/kube_flags.h"
#include "ctl/serve/flags.h"
#include "ctl/worker_count.h"
#include "proto/kube/config/config_flags.h"

#define RUN_WORKERS_MAX WORKER_COUNT_LIMIT
#define RUN_GIVEN_MAX   100

/* Strings are borrowed from argv or the environment. */
struct run_options {
    struct config_flags flags; /* first: config_flags.h asks for it */
    struct serve_flags serve;  /* handed on to berth-serve */
    const char *run_dir;
    const char *config; /* NULL: not given */
    const char *tie_break, *assumed_ttl;
    const char *tracing_config; /* a TracingConfiguration; NULL: nothing is traced */
    const char *record;         /* a directory; NULL: nothing is recorded */
    bool workers_by_nodes; /* nobody has said how many: berth run chooses (ctl/worker_count.h), */
    long workers;          /* and these are the most */
    bool no_own_worker;    /* without workers nothing is decided until one comes */
    bool print_config;
    struct kube_flags kube;
    char *given[RUN_GIVEN_MAX]; /* every flag as NAME=VALUE, for /flagz; owned, until the end */
    size_t given_count;
};

/* Ends the program for --help and bad arguments. */
void run_options_parse(struct run_options *o, int argc, char **argv);

#endif
