/* past: the cluster as a recorded scheduler had it, and when it decided about a pod. */
#ifndef CTL_RECORD_PAST_H
#define CTL_RECORD_PAST_H

#include "ctl/record/member.h"
#include "ctl/world.h"

/* A question to extenders, and what they said. */
struct past_consulted {
    int64_t asked_us, answered_us; /* wall clock; answered_us 0: no answer had come */
    struct extend question;
    struct extended answer;
};

struct past {
    const struct member *life; /* a scheduler's */
    struct str space, name;    /* the pod */
    uint64_t entries;          /* what is behind so many is not looked at (recall_find) */
    /* Of the last decision: */
    bool decided;
    struct pod pod;       /* as it was tried; from memory */
    uint64_t asked, said; /* the entries with which workers were asked, and it was said */
    int64_t asked_us, said_us;
    struct past_consulted *consulted; /* from memory, in the order in which they were asked */
    uint32_t consulted_count;
    struct arena memory;
};

/* The last decision about the pod, if there is one. */
void past_find(struct past *p);
/* The cluster at the end of those entries, as the watcher had told it; or before the decision, with
 * the pods that were decided and not seen on their nodes yet. NULL: it was not told whole. */
struct world *past_world(const struct past *p, const struct explained *how, bool before);
void past_free(struct past *p);

#endif
