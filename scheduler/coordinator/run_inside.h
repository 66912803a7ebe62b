/* run_inside: a run, for run.c (asking, plain pods, conclusions) and run_groups.c (pods whom rules
 * count for). */
#ifndef SCHEDULER_COORDINATOR_RUN_INSIDE_H
#define SCHEDULER_COORDINATOR_RUN_INSIDE_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/merge/group_model.h"
#include "scheduler/table/counts.h"

/* What one worker has named. */
struct naming {
    bool answered;
    uint32_t asked, next; /* places before next are taken */
    int64_t place_ns;     /* that the worker spent on each, on average */
    struct map_run_result said;
};

#define RANGES_MAX 64 /* as many as a framework has scorers */

/* What raw scores are normalised with, by scorer. */
struct ranges {
    uint32_t count;
    struct extreme at[RANGES_MAX]; /* plugins' names are the framework's */
};

/* How many entries each slot of a rule has on a worker's nodes, of a rule that speaks for each
 * node; only whether there are any matters to the others. */
struct host_counts {
    int64_t in_slot[KEPT_MAX][COUNTS_SLOTS];
};

#define REFUSED_ROOM 256

/* Pods that could not be told of lately. */
struct refused {
    uint64_t hash;
    uint32_t left, times; /* so many more questions are not tried */
};

/* The next places that workers name, when rules count for none of the pods. */
struct heads {
    uint32_t count;               /* of workers with nodes that pass */
    bool missing;                 /* one of them names no further place */
    uint32_t worker[WORKERS_MAX]; /* by shard number */
    int64_t total[WORKERS_MAX];
    int64_t ties[WORKERS_MAX];
};

/* Where a pod of a run goes. */
struct chosen {
    struct str node;
    int64_t total;
    uint32_t from; /* whose node that is */
    int64_t place; /* which of its places; -1: none */
    bool put;      /* the worker has the pod there already */
    int64_t feasible;
};

struct run {
    bool under_way;
    bool grouped; /* rules count for its pods */
    int64_t round;
    uint32_t missing;
    uint32_t in_a_row;           /* runs that followed each other before one was concluded */
    struct arena memory, former; /* of what was said, and of what was said to the run before */
    struct naming lists[WORKERS_MAX];
    struct ranges ranges; /* that the last run found, which are mostly the next one's */
    struct heads heads;
    struct chosen chosen[RUN_PODS]; /* by slot */
    struct slot placed[RUN_PODS];   /* the slots, while they are concluded */
    /* grouped */
    uint64_t hash; /* of its pods */
    struct group_model *model;
    uint32_t rule_count;
    const struct plugin *rules[KEPT_MAX];
    struct host_counts hosts[WORKERS_MAX]; /* as the last answers said, or a guess */
    struct host_counts told[WORKERS_MAX];  /* of the others, with the question */
    struct refused refused[REFUSED_ROOM];
};

/* ---- run_groups.c ---- */

/* False when these pods had better be asked about one by one. */
bool run_groups_may_begin(struct coordinator *c);
/* What the others count, for the worker's request; from c->cycle_memory. */
void run_groups_tell_hosts(struct coordinator *c, uint32_t worker, struct map_request *out);
enum groups_verdict {
    GROUPS_alone, /* the pods are to be asked about one by one */
    GROUPS_again, /* with what is known now */
    GROUPS_done
};
/* All answers are in: fills run->chosen, and how many of them stand. */
enum groups_verdict run_groups_merge(struct coordinator *c, uint32_t *good);
bool run_groups_make_sense(const struct map_run_result *said);

#endif
