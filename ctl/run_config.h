/* run_config: the configuration that `berth run` gives to its processes: the file that it was
 * named, or, where an old flag puts a Policy in place of profiles, a file of its own in the run
 * directory, which holds both as one KubeSchedulerConfiguration. */
#ifndef CTL_RUN_CONFIG_H
#define CTL_RUN_CONFIG_H

#include "ctl/policy_source.h"
#include "ctl/run_options.h"
#include "proto/kube/config/config_follow.h"
#include "proto/kube/config/config_watch.h"

struct run_config {
    const struct run_options *options;
    struct policy_flags source;       /* the flags', or what a file of v1alpha1 names */
    bool extenders;                   /* the configuration names some */
    struct buffer text;               /* with a Policy: what the processes are to read */
    char path[256];                   /* where that lies; empty: it was not written */
    int memory;                       /* its descriptor where it lies in memory; 0: it does not */
    struct config_watch file, policy; /* what may change */
    struct policy_map *map;           /* and where that is a ConfigMap; NULL: it is none */
    char sort[CONFIG_SORT_ROOM];      /* what the queue sorts by, for as long as it runs */
};

/* Everything that can be wrong with the configuration is said here, before anything starts; what
 * the flags want printed or written is. */
bool run_config_check(struct run_config *c, const struct run_options *options);
/* Writes the processes' file, if there is to be one, into the run directory, or keeps it in memory
 * where that has no room; false with a line in the log. */
bool run_config_place(struct run_config *c);
/* What the processes are to be given as --config; NULL: nothing. */
const char *run_config_path(const struct run_config *c);
/* Looks once a second whether a file changed, and every POLICY_MAP_MS at a ConfigMap; asked (by
 * SIGHUP): reads all again at once. With a Policy the processes' file is written anew, unless
 * something is wrong, which is logged. True when extenders are named. */
bool run_config_look(struct run_config *c, struct moment now, bool asked);
/* When to look again, and what to wait on besides: -1 for nothing. */
struct moment run_config_deadline(const struct run_config *c, struct moment now);
int run_config_fd(const struct run_config *c);
void run_config_free(struct run_config *c);

#endif
