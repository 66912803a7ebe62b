/* framework: a profile's rules, as ordered arrays of plugins for each extension point.
 *
 * A profile comes from the configuration, defaulted and expanded, as struct profile; the
 * configuration refuses plugins that this program does not have. */
#ifndef SCHEDULER_RULES_FRAMEWORK_H
#define SCHEDULER_RULES_FRAMEWORK_H

#include "proto/messages.h"
#include "scheduler/rules/ruling.h"

struct catalog;
struct plugin;

struct scorer {
    const struct plugin *plugin;
    int64_t weight;
    uint32_t place; /* index in the profile's list */
};

/* The plugins of a list that have a hook at its point, in the profile's order. */
struct hooked {
    uint32_t count;
    const struct plugin **at;
};

/* Built by framework_build; everything in it lives in memory. Read-only afterwards. */
struct framework {
    struct arena memory;
    struct profile profile;        /* a deep copy */
    const struct plugin **prepare; /* each rule of any point that has this hook, once */
    uint32_t prepare_count;
    const struct plugin **pre_filter;
    uint32_t pre_filter_count;
    const struct plugin **filter;
    uint32_t *filter_place, *pre_filter_place; /* their indices in the profile's lists */
    uint64_t *pre_filter_filters; /* the same rule's filter, as a bit at its place; 0: none */
    uint32_t filter_count;
    const struct plugin **pre_score;
    uint32_t *pre_score_place;
    uint32_t pre_score_count;
    struct scorer *score;
    uint32_t score_count;
    struct hooked post_filter, reserve, permit; /* attempt_hooks.h */
    struct strs pre_bind, bind, post_bind;      /* those that the binder calls or asks */
    uint32_t asked_to_bind_count;
    struct bus_plugin *asked_to_bind; /* of pre_bind and bind, those that are on the bus */
    bool has_scores;                  /* the profile has score plugins, even if none of ours */
    bool preempts;                    /* DefaultPreemption is among its PostFilter plugins */
};

/* All profiles by scheduler name. Zero-initialise. */
struct frameworks {
    struct framework *at;
    uint32_t count;
};

/* Copies the profiles; replaces what was there. */
void frameworks_build(struct frameworks *all, const struct profile *profiles, uint32_t count);
void frameworks_clear(struct frameworks *all);
/* Whether a profile lists a plugin at a point that workers see to that is none of ours and no
 * process on the bus: whoever made the profile is newer than we are. *at and *plugin name the first
 * then, borrowed. */
bool frameworks_lack(const struct profile *profiles, uint32_t count, struct str *at,
                     struct str *plugin);
/* The plugin of that name among them; NULL: it has no hook there. */
const struct plugin *hooked_find(const struct hooked *hooked, struct str name);
/* NULL when no profile has this name. */
const struct framework *frameworks_find(const struct frameworks *all, struct str scheduler_name);

/* What a plugin on the bus has said at PreFilter; zero: it has nothing against the pod. */
struct pre_filter_said {
    bool skip;         /* its filter is not asked about this pod */
    bool rejects;      /* nothing helps the pod, as reason says */
    bool narrow;       /* only the nodes in names are to be looked at */
    struct strs names; /* sorted, unique */
    struct str reason;
};

/* What PreFilter is asked about, and where it puts what workers will need. */
struct pre_filter_question {
    const struct framework *framework;
    const struct catalog *catalog; /* never NULL */
    const struct pod *pod;         /* as the API server has it */
    struct pod *prepared;          /* as workers get it: starts as a copy of pod whose lists are
                                      shared; a rule replaces a list, it never writes into one */
    struct findings *findings;     /* zero at first; skip is the core's */
    int64_t now_us;                /* wall clock */
    bool asks_bus;                 /* plugins on the bus have a say, too: */
    const struct pre_filter_said *said; /* by place in profile.pre_filter; NULL: not asked yet */
    struct arena *arena;                /* for all of these; lives until the decision */
    struct moment (*clock)(void);       /* times each plugin, for the metrics; NULL: none is */
};

/* What the PreFilter plugins say of a pod, before any node is looked at. */
struct pre_filter_outcome {
    enum code code; /* CODE_success, why the pod is turned away, or CODE_error: the cycle fails */
    struct str plugin;   /* who turned it away; empty: the intersection of several */
    struct str reason;   /* with which words; of an error, all of them */
    bool narrowed;       /* only the nodes in names are to be looked at */
    struct strs names;   /* sorted, unique */
    struct strs by;      /* the plugins that narrowed, sorted */
    uint64_t skipped;    /* bit i: profile.pre_filter[i] has nothing to do for this pod */
    uint32_t stopped_at; /* index in profile.pre_filter of the plugin that turned it away */
    bool open;           /* nothing is said yet: a plugin on the bus has to be asked first */
};

/* Of findings.skip, whose bits are places in profile.filter, the same as places in
 * profile.pre_filter.
 */
uint64_t framework_pre_filter_skips(const struct framework *fw, uint64_t filters);
/* Runs PreFilter: fills question's prepared pod and findings, and the outcome. */
void framework_pre_filter(const struct pre_filter_question *q, struct pre_filter_outcome *out);

/* Bit i: framework.score[i] has nothing to say about this pod (PreScore skipped it). */
struct cycle;
uint64_t framework_score_skips(const struct cycle *c);
/* Asks the rules' pre_score, until one sets the cycle's error. */
void framework_pre_score(struct cycle *c);

/* The distinct rules that count for this pod, into at (room for all of the framework's filters and
 * scores); how many. */
uint32_t framework_counting(const struct framework *fw, const struct pod *pod,
                            const struct findings *findings, const struct plugin **at);

#endif
