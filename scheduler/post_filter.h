/* post_filter: what the PostFilter plugins add to the message of a pod that fits nowhere. */
#ifndef SCHEDULER_POST_FILTER_H
#define SCHEDULER_POST_FILTER_H

#include "scheduler/preemption.h"

struct post_filter_question {
    const struct framework *framework;
    const struct pod *pod;
    const struct pre_filter_outcome *pre;
    int64_t nodes; /* in the cluster */
    const struct preemption *preemption;
    const struct candidates *candidates;
    struct arena *arena;
};

struct post_filter_answer {
    struct str text;      /* empty: nothing is added */
    bool clear_nominated; /* status.nominatedNodeName is to be cleared */
    bool failed;          /* the text is an error */
};

void post_filter(const struct post_filter_question *q, struct post_filter_answer *out);

#endif
