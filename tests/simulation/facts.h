/* facts: what is true at the API server, as far as the checks need it, and what users meant by it;
 * kept from the changes that the model tells. */
#ifndef TESTS_SIMULATION_FACTS_H
#define TESTS_SIMULATION_FACTS_H

#include "proto/messages.h"
#include "tests/simulation/model.h"

#define PODS_MAX    192
#define NODES_MAX   112
#define SETS_MAX    16 /* PodGroups */
#define NAME_ROOM   32
#define POD_VOLUMES 2

/* Of names, most of which differ in their first letters: whole runs go by in such questions. */
static inline bool facts_same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++)
        if (*a == 0)
            return true;
    return false;
}

struct pod_fact {
    bool there;
    char name[NAME_ROOM], uid[40], node[NAME_ROOM], phase[16];
    int64_t cpu, memory; /* asked for: thousandths, MiB */
    int64_t cpu_before;  /* the most before a resize; 0: it was never resized */
    int64_t priority;
    bool gated, deleting;
    bool plain;                           /* nothing but its amounts decides where it fits */
    bool tolerates;                       /* the taint that users give */
    uint32_t containers;                  /* many; 0: one */
    bool foreign;                         /* another scheduler's */
    bool odd;                             /* and nobody can read it: its node takes no others */
    char zone[8];                         /* node selector; "" */
    char host[NAME_ROOM];                 /* the only node that it may be on; "" */
    bool loud;                            /* of one of the two kinds whom some do not bear */
    bool shy;                             /* one of those */
    char set[NAME_ROOM];                  /* PodGroup; "" */
    bool tree;                            /* that is one of the API in the tree */
    char claim[NAME_ROOM];                /* ResourceClaim; "" */
    char volumes[POD_VOLUMES][NAME_ROOM]; /* PersistentVolumeClaims; "" */
    int bound;                            /* by us: successful Bindings of this UID */
    int64_t bound_at;                     /* by whomever */
    int64_t left_at;                      /* it is not there any more */
    char nominated[NAME_ROOM];            /* the node that it keeps room on; "" */
    char decided[NAME_ROOM];              /* the same, not written yet, or never; "" */
    bool alone; /* tried last without its group: who tried it knew of no groups by then */
    int64_t created_at, changed_at;
};

struct node_fact {
    bool there;
    char name[NAME_ROOM], zone[8];
    int64_t cpu, memory, pods;
    bool closed, tainted;
    uint32_t attachable;  /* CSI volumes */
    int64_t tightened_at; /* a user left less room, or none, last */
    int64_t there_since;
};

struct set_fact {
    bool there, touched; /* touched: a member has gone */
    bool unbound;        /* a Binding of a member was not carried out: its room may be another's */
    bool tree, basic;    /* of the API in the tree; with policy basic */
    bool binding;        /* what is said now binds of it; see promises.c */
    bool together;       /* as one, of members that are offered together */
    bool loose;          /* its API was withdrawn once: its pods may go by themselves */
    bool examined;       /* it was made in a calm */
    bool hopeless;       /* too few of it fit anywhere */
    bool was_scheduled;  /* its condition said so */
    char name[NAME_ROOM];
    int64_t priority; /* of its pods, and of itself */
    int64_t least;
    int64_t placed; /* members that were ever on a node */
};

void facts_reset(void);
/* For struct model_hooks. */
void facts_changed(const struct model_change *change);
/* What is about to be created or replaced under this name. */
void facts_expect_pod(const struct pod_fact *pod);

extern struct pod_fact facts_pods[PODS_MAX];
extern struct node_fact facts_nodes[NODES_MAX];
extern struct set_fact facts_sets[SETS_MAX];

struct pod_fact *facts_pod(const char *name);
/* Where a node of that number is kept, named n and its number. */
struct node_fact *facts_node_at(uint32_t number);
struct node_fact *facts_node(const char *name);
struct set_fact *facts_set(const char *name);
uint32_t facts_pod_count(void);
uint32_t facts_most_pods(void); /* that were there at once since they were counted anew */
void facts_count_anew(void);
uint32_t facts_node_count(void);
uint32_t facts_set_count(void);
/* A pod with many containers has been there. */
bool facts_saw_long(void);
/* The n-th of those that are there, counted round; NULL when there is none. */
struct pod_fact *facts_any_pod(uint64_t n);
struct node_fact *facts_any_node(uint64_t n);
/* There is a pod on it that nobody can read; since when the first of them has been. */
bool facts_is_odd(const char *node, int64_t *since);
/* What is taken on a node. */
void facts_used(const char *node, int64_t *cpu, int64_t *memory, int64_t *pods);
/* A queue or a scheduler says this. The scheduler nominates a pod, or takes that back: it will be
 * written, if it can be. */
void facts_said(const struct message *m);
/* A scheduler leads that knows only what is written. */
void facts_forget_decided(void);
/* The pod keeps room on a node for itself, from one of its priority or below, while its claims, or
 * its group, keep it from it: as upstream, a pod that is turned away for its claims alone keeps its
 * nomination, for as long as that lasts. One that was never written ends with the next failure, so
 * only with a pod that is not tried, as its ResourceClaim is missing. */
bool facts_keeps(const struct pod_fact *pod, const char *node, const struct pod_fact *from);
/* What all of those keep there. */
void facts_kept(const char *node, const struct pod_fact *from, int64_t *cpu, int64_t *memory,
                int64_t *pods);
bool facts_ended(const struct pod_fact *pod);
/* A plain pod would fit there now. */
bool facts_fits(const struct pod_fact *pod, const struct node_fact *node);

#endif
