/* extension: what HTTP extenders and plugins on the bus have said about one pod in one attempt, and
 * what follows from it. Pure; the asking is consulting.c's and extending.c's.
 *
 * An answer holds for exactly the nodes that were asked about. While it was under way other pods
 * were decided, so the nodes that the pod's filters leave may be others now: then the extenders are
 * asked again, about those. Only when that has happened EXTENSION_TRIES times in a row the nodes
 * that are both feasible now and in the last answer decide, so that a cluster that never rests
 * cannot keep a pod from being placed. */
#ifndef SCHEDULER_MERGE_EXTENSION_H
#define SCHEDULER_MERGE_EXTENSION_H

#include "proto/messages.h"
#include "scheduler/merge/preemption.h"
#include "scheduler/merge/walk.h"
#include "scheduler/rules/framework.h"

#define EXTENSION_TRIES 4

/* What they are asked about. A nominated node is tried alone before all others. Only plugins on the
 * bus are asked about the pod, before its nodes are looked at (PreFilter), and about what could be
 * done when no node is any good (PostFilter). */
enum extension_about { ABOUT_nominated, ABOUT_nodes, ABOUT_victims, ABOUT_pod, ABOUT_no_node };

/* How far the question under way has come. About nodes: the profile's filters that are plugins on
 * the bus, one after the other on what the former left; extenders, likewise; then, if there is
 * still a choice, who of them has to get ready to score, and the scores. */
struct extension_round {
    enum extension_stage {
        STAGE_filters,
        STAGE_extenders,
        STAGE_pre_scores,
        STAGE_scores,
        STAGE_pre_filters, /* about the pod; nothing else is asked then */
        STAGE_post_filters /* when no node is any good; likewise */
    } stage;
    uint32_t place;                    /* whose turn it is in the profile's list */
    struct strs nodes;                 /* asked about, sorted */
    struct strs left;                  /* those of them that have passed so far, sorted */
    struct extender_refusal **refused; /* by place in nodes; NULL: nobody said why */
    int64_t *scores;                   /* by place in nodes: what is added to the totals */
    struct strs skipped_scores;        /* plugins that have nothing to score for this pod */
    struct str error;                  /* not empty: the attempt fails with it */
    bool bare;
};

/* Who is asked, as bits of extenders and plugins. */
struct extension_asked {
    uint64_t nodes, victims;
    uint64_t pod; /* about it alone: before its nodes, or when none is any good */
};

/* What a plugin on the bus has said at PostFilter; zero: nothing. */
struct post_filter_said {
    bool asked;
    bool failed;     /* the chain ends with an error, as reason says */
    bool last;       /* nobody behind it is asked */
    struct str node; /* the pod is nominated to it; the chain ends, too */
    struct str reason;
};

struct extension {
    struct arena arena; /* of answers and questions */
    struct extension_asked asked;
    struct extension_pre_filter {
        bool given;                 /* what it says holds for the attempt */
        struct pre_filter_said *at; /* by place in the profile's list */
    } pre_filter;
    struct strs skipped_filters; /* plugins that have nothing to filter for this pod */
    struct extension_no_node {
        bool wanted; /* somebody is to be asked; a cycle finds out why each node is no good */
        bool given;  /* what they say holds for the attempt */
        struct post_filter_said *at; /* by place in the profile's list */
        uint32_t count;
        struct verdict *nodes; /* why each is no good, sorted */
        struct str reason;     /* why none was looked at; empty: they were */
    } no_node;
    struct extension_round round;
    struct extension_answer {
        bool given;
        struct strs nodes; /* asked about, sorted */
        struct extended said;
    } answers[2]; /* by enum extension_about */
    struct extension_victims {
        bool given;
        struct candidates_list {
            uint32_t count;
            struct candidate *at; /* sorted by node */
        } candidates, chosen;
        uint32_t turn;    /* whose answer is waited for: its place among those that are called */
        struct str error; /* not empty: preemption fails with it */
    } victims;
    enum extension_about about; /* the question under way */
    uint32_t tries;             /* questions about nodes or victims whose answer did not hold */
};

struct extension *extension_new(struct extension_asked asked);
void extension_free(struct extension **e);
/* All who are asked about the pod or its nodes. */
static inline uint64_t extension_needs(const struct extension *e)
{
    return e->asked.nodes | e->asked.victims | e->asked.pod;
}
/* Forgets every answer. */
void extension_forget(struct extension *e);

/* A question about these nodes, sorted, of which a copy is kept. */
void extension_round_begin(struct extension *e, const struct strs *nodes);
/* A question about the pod, which so many places of the profile's list have a say in. */
void extension_pre_filter_begin(struct extension *e, uint32_t places);
/* A question about what can be done as no node is any good, which no_node says. */
void extension_post_filter_begin(struct extension *e, uint32_t places);
/* Where a name stands in a sorted list; false when it is not in it. */
bool extension_find(const struct strs *sorted, struct str name, uint32_t *place);
/* A node is turned away, if it was left; the refusal's texts live as long as the extension. The
 * first one of a node counts, but one that says that nothing helps counts more. */
void extension_refuse(struct extension *e, const struct extender_refusal *refusal);
/* Only these, sorted, of the nodes that were left pass. */
void extension_keep(struct extension *e, const struct strs *passed);
/* Adds to a node's total; one that was not asked about is left alone. */
void extension_add_score(struct extension *e, struct str node, int64_t score);
/* The question is answered. */
void extension_round_end(struct extension *e);

/* Whether the answer holds for these nodes, sorted. */
bool extension_holds(const struct extension *e, enum extension_about about,
                     const struct strs *feasible);
/* The nodes among these that passed; in the arena. */
struct strs extension_passed(const struct extension *e, enum extension_about about,
                             const struct strs *feasible, struct arena *a);
/* Why a node that did not pass was turned away; NULL: nobody said. */
const struct extender_refusal *extension_refusal(const struct extension *e, struct str node);
/* The nodes among these that were turned away, and where removing pods may help; in the arena. */
struct strs extension_curable(const struct extension *e, const struct strs *nodes, struct arena *a);
/* The same for victims: whether the answer holds for these candidates, sorted by node. */
bool extension_holds_victims(const struct extension *e, const struct candidate *at, uint32_t count);

/* What extenders add to the totals. */
void extension_score(const struct extension *e, struct listed_nodes *nodes);

/* The best of the nodes, of which there is one at least, and no round-robin is asked for. Ties as
 * in the request: random by the seed, or first. */
struct listed_choice {
    enum tie_break_rule tie_break;
    int64_t seed;
    struct str node; /* from here on: the result */
    int64_t total, best_count;
};
void listed_choose(const struct listed_nodes *nodes, struct listed_choice *choice);

#endif
