/* post_filter: what the PostFilter plugins add to the message of a pod that fits nowhere. */
#ifndef SCHEDULER_MERGE_POST_FILTER_H
#define SCHEDULER_MERGE_POST_FILTER_H

#include "scheduler/merge/extension.h"
#include "scheduler/rules/attempt_hooks.h"

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
    const struct no_node_question *hooks; /* what hooks are asked; NULL: they are not */
    hook_clock *clock;                    /* times them; NULL: no */
    bool asks_bus;                        /* plugins on the bus have a say, too: */
    const struct post_filter_said *said;  /* by place in profile.post_filter; NULL: not asked yet */
    struct arena *arena;
};

struct post_filter_answer {
    struct str text;      /* empty: nothing is added */
    bool clear_nominated; /* status.nominatedNodeName is to be cleared */
    bool failed;          /* the text is an error */
    bool deallocates; /* the claim is to be deallocated or deleted, and the text says that it was */
    bool unreserves;  /* likewise of the reservation; then nobody is evicted */
    bool hooked;      /* a hook has ended the chain well: */
    struct no_node_reply hook; /* where room is made; no node: nowhere */
    bool claims_known;         /* DynamicResources has looked at the pod's claims */
    bool open;       /* nothing of this is said yet: a plugin on the bus has to be asked first */
    struct str node; /* a plugin on the bus nominates the pod to it; empty: none does */
    struct str failed_plugin; /* the one on the bus whose failure that is; empty: none's */
};

void post_filter(const struct post_filter_question *q, struct post_filter_answer *out);

#endif
