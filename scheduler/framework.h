/* framework: a profile's rules, as ordered arrays of plugins for each extension point.
 *
 * A profile comes from the configuration, defaulted and expanded, as struct profile. Plugins that
 * it names and that this program does not have are not run; a pod that would need one of them is
 * turned away by framework_pre_filter with a reason that names it, so that it is never placed by
 * half of its rules. */
#ifndef SCHEDULER_FRAMEWORK_H
#define SCHEDULER_FRAMEWORK_H

#include "proto/messages.h"
#include "scheduler/ruling.h"

struct plugin;

struct scorer {
    const struct plugin *plugin;
    int64_t weight;
};

/* Built by framework_build; everything in it lives in memory. Read-only afterwards. */
struct framework {
    struct arena memory;
    struct profile profile; /* a deep copy */
    const struct plugin **pre_filter;
    uint32_t pre_filter_count;
    const struct plugin **filter;
    uint32_t filter_count;
    const struct plugin **pre_score;
    uint32_t pre_score_count;
    struct scorer *score;
    uint32_t score_count;
    bool has_scores; /* the profile has score plugins, even if none of ours */
    bool preempts;   /* DefaultPreemption is among its PostFilter plugins */
};

/* All profiles by scheduler name. Zero-initialise. */
struct frameworks {
    struct framework *at;
    uint32_t count;
};

/* Copies the profiles; replaces what was there. */
void frameworks_build(struct frameworks *all, const struct profile *profiles, uint32_t count);
void frameworks_clear(struct frameworks *all);
/* NULL when no profile has this name. */
const struct framework *frameworks_find(const struct frameworks *all, struct str scheduler_name);

/* What the PreFilter plugins say of a pod, before any node is looked at. */
struct pre_filter_outcome {
    enum code code;       /* CODE_success, or why the pod is turned away */
    struct str plugin;    /* who turned it away; empty: the intersection of several */
    struct str reason;    /* with which words */
    bool missing_support; /* turned away because this program lacks the plugin */
    bool narrowed;        /* only the nodes in names are to be looked at */
    struct strs names;    /* sorted, unique */
    struct strs by;       /* the plugins that narrowed, sorted */
    uint64_t skip;        /* bit i: framework.filter[i] has nothing to do for this pod */
    uint64_t skipped;     /* bit i: the same of framework.pre_filter[i] */
    uint32_t stopped_at;  /* index in profile.pre_filter of the plugin that turned it away */
};

/* Runs PreFilter. Depends on the pod and the profile alone, so that coordinator and workers agree
 * without talking. Strings come from the pod, from static memory or from the arena. */
void framework_pre_filter(const struct framework *fw, const struct pod *pod, struct arena *a,
                          struct pre_filter_outcome *out);

/* Bit i: framework.score[i] has nothing to say about this pod (PreScore skipped it). */
uint64_t framework_score_skips(const struct framework *fw, const struct pod *pod);

/* True when the list holds the name. */
bool framework_lists(struct strs names, const char *name);

#endif
