/* nominator: pending pods that have a claim on a node, because preemption makes room for them
 * there. */
#ifndef SCHEDULER_CLUSTER_NOMINATOR_H
#define SCHEDULER_CLUSTER_NOMINATOR_H

#include "proto/messages.h"

struct nominator;

/* Hears of every claim on a node, so that those who keep them too can be told. */
struct nominator_listener {
    /* It is made, or its pod may have changed; pod->nominated_node is the claim's. printed is the
     * listener's own, 0 when the claim is made. */
    void (*made)(void *context, const struct pod *pod, uint64_t *printed);
    /* It ends. */
    void (*ended)(void *context, const struct pod *pod);
    void *context;
};

struct nominator *nominator_new(struct nominator_listener listener);
void nominator_free(struct nominator **n);
/* The claim is on this node now; an empty node drops it. */
void nominator_set(struct nominator *n, const struct pod *pod, struct str node);
/* A pending pod is as it is now: its status decides, except that a status that says nothing, now
 * and before, leaves a claim alone that was made here and is not written yet. A pod with scheduling
 * gates has no claim until it is seen a second time. mark: see nominator_sweep. */
void nominator_update(struct nominator *n, const struct pod *pod, uint64_t mark);
void nominator_drop(struct nominator *n, struct str uid);
/* Drops the claims that no status shows, but of pods that are kept. False: there are none. */
bool nominator_drop_unwritten(struct nominator *n,
                              bool (*kept)(const void *context, struct str uid),
                              const void *context);
/* As if the pods that are shown had been updated with this mark. */
void nominator_keep(struct nominator *n, uint64_t mark,
                    bool (*shown)(const void *context, struct str uid), const void *context);
/* Drops claims of pods that were not updated with this mark, and tells of each before. */
void nominator_sweep(struct nominator *n, uint64_t mark,
                     void (*gone)(void *context, struct str uid), void *context);

/* Calls visit for all claims on this node; nobody may make or end claims meanwhile. */
void nominator_each_on(const struct nominator *n, struct str node,
                       void (*visit)(void *context, const struct pod *pod), void *context);
/* Lets the listener hear of claims of pods with volumes, which may be other ones by now. */
void nominator_tell_volumes(struct nominator *n);

/* Which nodes' claims count. */
struct node_filter {
    bool (*usable)(const void *context, struct str node);
    const void *context;
};

/* Whether a pod with another UID and at least this pod's priority has a claim on a node that the
 * filter accepts. */
bool nominator_has_rivals(const struct nominator *n, const struct pod *pod,
                          struct node_filter filter);
uint32_t nominator_count(const struct nominator *n);
/* The pod's own claim; borrowed until it changes. False: it has none. */
bool nominator_of(const struct nominator *n, struct str uid, struct str *node);
/* The pod itself, likewise; NULL: it has none. */
const struct pod *nominator_pod(const struct nominator *n, struct str uid);
/* Claims on this node of pods with a lower priority, likewise. */
const struct pod *nominator_below(const struct nominator *n, struct str node, int64_t priority,
                                  struct arena *a, uint32_t *count);

/* As much of a nominated pod as matters once it is on its node; borrowed from it. */
struct pod nominator_as_placed(const struct pod *p);

#endif
