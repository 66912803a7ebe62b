/* attempt: one pod is decided on a world and reported, and the world moves on as the scheduler, the
 * API server and the kubelets would have moved it. */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "ctl/cross_check.h"
#include "ctl/report.h"
#include "ctl/world.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/documents/json.h"

/* What happens to the victims of a preemption. */
enum after_preemption {
    AFTER_evict,    /* they are gone at once, and the pod is tried again */
    AFTER_nominate, /* they terminate; the pod waits with its nomination */
    AFTER_none      /* nothing: only the report */
};

struct attempts {
    struct world *world;
    struct cross_check *cross_check; /* NULL: nothing is decided twice */
    const struct bus_plugin *sorts; /* whose keys, the larger first, take the place of priorities in
                                     * the queue's order; NULL: nobody's */
    const struct scheduler_config *config;
    const struct kube_json *document; /* the scenario, for its choices and nominations */
    struct report_output output;
    struct arena *arena; /* of the step */
    enum after_preemption after;
    struct held *hold; /* volumes are only assumed, and noted here; NULL: bound, unless no_bind */
    bool no_bind;      /* a pod stays assumed */
    bool no_labels;    /* a bound pod does not get its node's zone and region as labels */
    /* Of the best nodes, also those to make room on, the one that this names, if it is among them;
     * NULL: see pick_last. */
    struct str (*prefer)(void *context, const struct pod *pod);
    void *prefer_context;
    bool pick_last;   /* of the best nodes, in name order; else the first */
    bool omit_raw;    /* no raw scores */
    bool omit_others; /* of a rejecting node only the first filter */
    bool omit_nodes;  /* reports do not list all nodes */
};

/* Decides a pending pod, and fills r, which borrows from the decision; the world stays as it is but
 * for volumes. False: nothing was decided. */
bool attempt_decide(const struct attempts *a, const struct pod *pod, struct report *r);
/* One attempt for a pending pod, and those that follow from it. r is zero but for its op. */
void attempt(const struct attempts *a, const struct pod *pod, struct report *r);
/* As attempt, but without a word where the pod finds no node. True: it is placed. */
bool attempt_once_more(const struct attempts *a, const struct pod *pod, struct report *r);

#endif
