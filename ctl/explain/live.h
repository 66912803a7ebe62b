/* live: what a running berth knows: its queue and scheduler are asked about a pod, and the whole
 * cluster, as its watcher has it, is taken into a world (world.h), where it can be decided again.
 * Nothing of it is changed or slowed: it is one snapshot, sent in between. */
#ifndef CTL_EXPLAIN_LIVE_H
#define CTL_EXPLAIN_LIVE_H

#include "ctl/asking.h"
#include "ctl/world.h"

struct live {
    struct asking asking;            /* first: options are read into it */
    struct str namespace_name, name; /* the pod that it is about; no name: none */
    bool no_cluster;                 /* only queue and scheduler are asked */
    /* Puts other profiles in the place of those that were told, before the cluster is taken in;
     * NULL: it is decided as the scheduler does. False with an error, from memory: live_load says
     * it and ends. */
    bool (*instead)(void *context, struct explained *told, struct arena *memory, struct str *error);
    void *context;
    /* What came; texts lie in memory. */
    bool has_explained, has_pending, whole;
    struct explained explained;
    struct pending_pods pending;
    struct str refused;  /* instead's error; empty: none */
    struct world *world; /* with whole */
    struct arena memory;
};

/* As asking_init. */
void live_init(struct live *l, const char *command, unsigned wait_s);
/* False: it was said what is missing. What has come is there all the same. */
bool live_load(struct live *l);
void live_free(struct live *l);

#endif
