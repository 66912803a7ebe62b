/* attempt_hooks: a plugin's hooks around a pod's node: PostFilter, where no node would do; Reserve
 * and Unreserve, when one is chosen; Permit, before the pod is bound. They run in the coordinator,
 * in the order in which the profile lists them. All are pure: they see what is handed to them,
 * answer at once, and write nothing.
 *
 * Example, Spares, which lets at most four pods be started on a node at a time:
 *
 *     static void permit(const struct attempt_question *q, struct permit_reply *out)
 *     {
 *         if (starting_on(q->cluster, q->node) > 4)
 *             *out = (struct permit_reply){.says = PERMIT_wait, .timeout_ms = 60000};
 *     }
 *     const struct plugin plugin_spares = {.name = "Spares", .permit = permit};
 *
 * The pod has its node, and is asked for again whenever something has changed in the cluster; when
 * permit leaves *out as it is, the pod is bound. After a minute it is turned away, `rejected due to
 * timeout after waiting 1m0s at plugin Spares`, what was reserved is given back, and it is tried
 * again when an event may help it.
 *
 * What a plugin has to remember of a pod between its hooks is in *state, one pointer for each
 * attempt, made in memory that lives as long. */
#ifndef SCHEDULER_RULES_ATTEMPT_HOOKS_H
#define SCHEDULER_RULES_ATTEMPT_HOOKS_H

#include "proto/base/moment.h"
#include "proto/messages.h"
#include "scheduler/rules/ruling.h"

struct catalog;
struct framework;
struct plugin;

/* What hooks may look at of nodes and of the pods on them, those that are assumed included. */
struct cluster_view {
    const void *state;
    /* The whole node, from the arena; false when it is not known. */
    bool (*node)(const void *state, struct str name, struct node *out, struct arena *a);
    /* Calls visit for each pod on the node; the pod lasts as long as the call. */
    void (*pods)(const void *state, struct str node,
                 void (*visit)(void *context, const struct pod *pod, bool assumed), void *context);
    /* Calls visit with the name of each known node. */
    void (*nodes)(const void *state, void (*visit)(void *context, struct str name), void *context);
};

/* What Reserve, Unreserve and Permit are asked about. */
struct attempt_question {
    const struct framework *framework; /* the profile is in it */
    const struct catalog *catalog;     /* all other objects */
    struct cluster_view cluster;       /* the pod is not on its node yet at Reserve, then it is */
    const struct pod *pod;
    struct str node;     /* its name */
    int64_t now_us;      /* wall clock */
    struct arena *arena; /* for words that are answered */
    struct arena *kept;  /* for state: lives as long as the attempt */
    void **state;        /* this plugin's own in this attempt; *state is NULL at first */
};

/* CODE_success; CODE_unschedulable or CODE_unresolvable: the pod is turned away, for this reason;
 * CODE_error: the attempt fails, and is made again after its backoff. */
struct hook_reply {
    enum code code;
    struct str reason; /* from the question's arena, or static */
};

enum permit_says { PERMIT_allow, PERMIT_deny, PERMIT_wait, PERMIT_error };

struct permit_reply {
    enum permit_says says;
    struct str reason; /* of denial and error; from the question's arena, or static */
    /* How long a pod waits at most, counted from the first time that it said so; 0 or more than
     * PERMIT_MOST_MS: that long. */
    int64_t timeout_ms;
    int64_t
        again_ms; /* it is asked again after this time, too, at the latest; 0: by events alone */
};

#define PERMIT_MOST_MS (INT64_C(15) * 60 * 1000) /* as upstream */

/* What PostFilter is asked about: a pod that fits nowhere. */
struct no_node_question {
    const struct framework *framework;
    const struct catalog *catalog;
    const struct cluster_view *cluster; /* NULL: nodes and pods cannot be looked at */
    const struct pod *pod;
    int64_t nodes;        /* in the cluster */
    struct str rejection; /* of all nodes alike, by a PreFilter plugin; empty: by filters, */
    struct {
        uint32_t count;
        const struct tally *at; /* which said so of so many nodes */
    } reasons;
    struct arena *arena; /* for what is answered; lives until that has been dealt with */
};

/* CODE_success: nobody behind it is asked; with a node the pod is nominated there, after the
 * victims were evicted as DefaultPreemption's are. CODE_unschedulable: the next one is asked.
 * CODE_error ends the chain, too. The reason goes to the end of the pod's message. */
struct no_node_reply {
    enum code code;
    struct str reason;
    struct str node;
    struct {
        uint32_t count;
        struct victim *at; /* uid, namespace_name, name and priority are needed */
    } victims;
};

/* ---- for the core ---- */

/* Those that reserved something for a pod, in their order. Zero-initialise: nobody. */
struct hooks_held {
    struct str node; /* where; as long as the attempt */
    uint32_t count;
    struct hook_held {
        const struct plugin *plugin;
        void *state;
    } * at; /* as long as the attempt */
};

/* The plugin's state there; a place is made where it has none, from the question's kept. */
void **hooks_state(struct hooks_held *held, const struct plugin *p,
                   const struct attempt_question *q);

/* Timed by the clock, for the metrics; NULL: they took no time. */
typedef struct moment hook_clock(void);

struct hook_reply hook_reserve(const struct plugin *p, struct attempt_question *q,
                               struct hooks_held *held, hook_clock *clock);
/* Unreserve, of all, in reverse order; held is empty then. */
void hooks_unreserve(struct attempt_question *q, struct hooks_held *held);
struct permit_reply hook_permit(const struct plugin *p, struct attempt_question *q,
                                struct hooks_held *held, hook_clock *clock);
void hook_post_filter(const struct plugin *p, const struct no_node_question *q,
                      struct no_node_reply *out, hook_clock *clock);

#endif
