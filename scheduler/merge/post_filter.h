/* post_filter: what the PostFilter plugins add to the message of a pod that fits nowhere. */
#ifndef SCHEDULER_MERGE_POST_FILTER_H
#define SCHEDULER_MERGE_POST_FILTER_H

#include "scheduler/merge/preemption.h"

struct post_filter_question {
    const struct framework *framework;
    const struct pod *pod;
    bool devices; /* a class stands for an extended resource of it: it has a special claim */
    const struct pre_filter_outcome *pre;
    int64_t nodes; /* in the cluster */
    const struct preemption *preemption;
    const struct candidates *candidates;
    bool deallocates; /* a claim is in the way that nobody else has */
    bool deletes;     /* it is one that was made for extended resources: it goes altogether */
    bool unreserves;  /* a claim has a reservation that its PodGroup can do without, */
    struct str fault; /* or that cannot be told, as this says */
    struct arena *arena;
};

struct post_filter_answer {
    struct str text;      /* empty: nothing is added */
    bool clear_nominated; /* status.nominatedNodeName is to be cleared */
    bool failed;          /* the text is an error */
    bool deallocates; /* the claim is to be deallocated or deleted, and the text says that it was */
    bool unreserves;  /* likewise of the reservation; then nobody is evicted */
    bool claims_known; /* DynamicResources has looked at the pod's claims */
};

void post_filter(const struct post_filter_question *q, struct post_filter_answer *out);

#endif
