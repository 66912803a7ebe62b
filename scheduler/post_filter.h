/* post_filter: what the PostFilter plugins add to the message of a pod that fits nowhere. */
#ifndef SCHEDULER_POST_FILTER_H
#define SCHEDULER_POST_FILTER_H

#include "scheduler/fit_error.h"
#include "scheduler/framework.h"

struct post_filter_question {
    const struct framework *framework;
    const struct pod *pod;
    const struct pre_filter_outcome *pre;
    int64_t nodes;     /* in the cluster */
    int64_t curable;   /* nodes where removing pods may help */
    int64_t dry_nodes; /* of these, looked at in a dry run */
    int64_t dry_fits;  /* of these, with room then */
    struct histogram *dry_reasons;
};

struct post_filter_answer {
    struct str text;      /* empty: nothing is added */
    bool clear_nominated; /* status.nominatedNodeName is to be cleared */
    bool helps;           /* removing pods would make room somewhere */
};

/* True when the answer depends on a dry run. */
bool post_filter_wants_dry_run(const struct framework *fw, const struct pod *pod, int64_t curable);
void post_filter(const struct post_filter_question *q, struct post_filter_answer *out);

#endif
