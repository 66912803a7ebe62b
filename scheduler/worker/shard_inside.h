/* shard_inside: the shard's parts, for the files that make it up (shard.c, evaluate.c, columns.c,
 * totals.c, dry_run.c). */
#ifndef SCHEDULER_WORKER_SHARD_INSIDE_H
#define SCHEDULER_WORKER_SHARD_INSIDE_H

#include "scheduler/rules/plugin.h"
#include "scheduler/rules/timings.h"
#include "scheduler/table/pod_demands.h"
#include "scheduler/table/pod_groups.h"
#include "scheduler/table/pod_terms.h"
#include "scheduler/table/touched.h"
#include "scheduler/worker/classes.h"
#include "scheduler/worker/dry_looks.h"
#include "scheduler/worker/shard.h"

/* Rows that are filtered and scored together: few enough that what was just read or written is
 * still near. */
#define BLOCK 512

/* Some neighbours in feasible, no more than a block, and the ends of their totals. */
struct window {
    uint32_t from, count;
    int64_t least, best;
    uint32_t times; /* how many have the best, where that is the best of all */
};

/* One scorer's raw scores, by place in feasible. */
struct score_column {
    bool apart; /* to be looked at once all are known; else weighted and in scratch.fixed at once */
    bool alike; /* all are least, and raw is not filled in */
    bool known; /* alike from the beginning */
    int64_t least, greatest;
    int64_t *raw;
};

/* What is reused from one map_request to the next, so that the map path allocates nothing. */
struct scratch {
    struct arena arena;           /* the cycle's */
    uint32_t *all;                /* 0, 1, 2 … */
    uint32_t *named;              /* room for rows that the request names */
    const uint32_t *rows;         /* to be filtered: all, or named */
    uint32_t *passed;             /* room for rows that passed */
    const uint32_t *feasible;     /* rows that passed: all, or passed */
    uint32_t *first;              /* by row: first nominated pod on it plus one, 0 = none */
    uint8_t *blame;               /* by row: the filter that said no first, plus one; 0: none did */
    struct score_column *columns; /* by scorer; of the cycle */
    uint64_t by_window;           /* bit i: framework.score[i] scores rows */
    int64_t *raw;                 /* the columns that are apart, row_count each */
    int64_t *fixed;               /* by place in feasible: the sum of those that are not */
    int64_t *sums;                /* room for totals that are not fixed alone */
    const int64_t *total;         /* by place in feasible, without base: fixed, or sums */
    struct window *windows;       /* what feasible consists of, in order */
    uint32_t window_count;
    int64_t base;  /* what all totals have in common */
    uint32_t room; /* rows that the arrays have room for */
    size_t raw_room;
    uint32_t row_count, feasible_count;
    struct row_copy copy, nominated_copy;
    /* The cycle whose raw scores are kept, for its second round. */
    bool kept;
    int64_t cycle;
    const struct framework *framework;
    uint64_t score_skips;
    struct str error; /* of score_begin */
};

struct shard {
    struct atoms *atoms;
    struct frameworks frameworks;
    struct nodes nodes;
    struct map *by_name;      /* node → struct node_entry, ghosts included */
    struct table by_uid;      /* pod → struct node_pod */
    struct map *images;       /* name → struct image_state */
    struct pod_groups groups; /* the pods by namespace and labels */
    struct pod_demands demands;
    struct term_table terms; /* what the pods ask of other pods */
    /* Pods that are nominated to nodes with a row, in no order; node is where, place the index in
     * the list. They are on no node, in no group's list and in no list of those with terms. */
    struct table nominated_by_uid;
    struct node_pod **nominated;
    uint32_t nominated_count, nominated_room;
    int64_t cluster_nodes;
    uint32_t any_ip;
    uint32_t ghosts;
    struct touched touched;
    struct classes *classes;
    struct kept_looks *looks; /* NULL: none yet */
    uint64_t dry_looked;      /* rows that dry runs have looked at */
    struct scratch scratch;
    struct moment (*clock)(void); /* NULL: none */
    int64_t filtered_ns;          /* when the last request's filters were through; 0: not apart */
    struct timings *timings, *timing; /* NULL: no clock; timing: the decision is not timed */
};

/* A decision begins; s->timing says whether it is timed. */
static inline void shard_time_next(struct shard *s)
{
    s->timing = s->timings != NULL && timings_begin(s->timings) ? s->timings : NULL;
}

/* The filters of a request are through, its scores are next. */
void shard_mark_filtered(struct shard *s);

/* ---- nominated.c ---- */

/* NULL: it is nominated to no node here. */
struct node_pod *nominated_find(const struct shard *s, struct str uid);
/* Those that are nominated to this node are so no more. */
void nominated_forget(struct shard *s, const struct node_entry *e);
void nominated_free(struct shard *s);

/* True when this is the pod's UID: a match of tables of pods. */
bool node_pod_has_uid(const void *pod, const void *uid);
uint32_t node_pod_hash(struct str uid);
/* A pod from a message, its strings as atoms, on no node yet. */
struct node_pod *node_pod_make(struct shard *s, const struct pod *pod);
void node_pod_free(struct shard *s, struct node_pod *pod);
void scratch_free(struct scratch *s);

/* ---- evaluate.c, and what dry_run.c needs of it ---- */

/* One pod on this share. */
struct evaluation {
    struct shard *shard;
    struct cycle cycle;
    const struct map_request *request;
    struct map_result *result;
    struct arena *arena; /* the result's */
    uint64_t skip;       /* bit i: framework.filter[i] has nothing to do */
    void **filter_state, **score_state;
    struct node_pod **nominated; /* of this share, chained by next */
    uint32_t *next;
    uint32_t nominated_count;
    struct ruling ruling;
    struct reason_counts {
        uint32_t count, room;
        struct reason_count {
            struct reason reason;
            int64_t times;
        } * at;
    } reasons;
    uint64_t rejecting; /* bit i: framework.filter[i] rejected a node */
};

/* Room for so many rows. */
void scratch_reserve(struct scratch *s, uint32_t rows);
/* True when a pod is nominated to a node of this share that counts for the request's. */
bool nominated_count_for(const struct shard *s, const struct map_request *r);
/* All of these: chained by scratch.first and e->next until nominated_leave. */
void nominated_enter(struct evaluation *e);
void nominated_leave(const struct evaluation *e);

/* Puts a pod on a copy of a row, or takes it off, and lets the rules know before. Whoever does one
 * does the opposite before the rules look at another node. */
void what_if_add(struct evaluation *e, struct row_copy *copy, struct node_pod *pod);
void what_if_remove(struct evaluation *e, struct row_copy *copy, const struct node_pod *pod);
/* Filters a row, with the pods nominated to it first and without them second, into e->ruling. */
void evaluate_row(struct evaluation *e, const struct nodes *n, uint32_t row);
void reason_counts_add(struct evaluation *e, struct reason_counts *all, const struct ruling *r);
void reason_counts_tell(struct evaluation *e, const struct reason_counts *all, uint32_t *count,
                        struct tally **out);
struct str reason_text(struct evaluation *e, struct reason reason);
/* A rule failed rather than rejected: upstream's words for that. */
struct str ruling_error(struct evaluation *e);

/* The rule that e->ruling tells of failed rather than rejected: the cycle's error. */
void fail_filter(struct evaluation *e);
/* A row is lost by e->ruling. */
void count_rejection(struct evaluation *e);

/* ---- columns.c ---- */

/* True when nobody wants to know more of a node than whether it passes: all nodes of the share are
 * looked at, none has nominated pods, and no rule is asked about a node that another rejected. */
bool columns_suffice(const struct evaluation *e);
/* Fills scratch.feasible; and when that is nothing, what is told about rejected nodes. The score
 * follows. */
void columns_filter(struct evaluation *e);
/* The same, and scores each block as soon as it is filtered. */
void columns_filter_and_score(struct evaluation *e);
/* Scores the feasible rows. */
void columns_score(struct evaluation *e);
/* Scores them anew with those scorers, which must be apart; bits as in framework.score. */
void columns_score_again(struct evaluation *e, uint64_t scorers);

/* ---- totals.c ---- */

/* True when the scorer has something to say. */
static inline bool scratch_scores(const struct scratch *s, uint32_t scorer)
{
    return (s->score_skips >> scorer & 1) == 0;
}

/* total[i] += weight * plugin_normalise(raw[i] in range), wrapping. */
void totals_add(const struct scorer *sc, const int64_t *raw, uint32_t count,
                const struct extreme *range, int64_t *total);
/* Normalises the raw scores with the ranges of the request and adds them up. */
void totals_sum_up(struct evaluation *e);
/* The node with the greatest total; of several, by the tie-break. */
void totals_choose(struct evaluation *e);
/* All feasible nodes with their totals, when the request asks for a list. */
void totals_list(struct evaluation *e);

/* Words for those who want to see every node. The ruling's plugin, when it is no filter's: */
#define NO_PLUGIN UINT32_MAX
/* The verdict of e->ruling on a row; its scores are left alone. */
void verdict_tell(struct evaluation *e, uint32_t row, struct verdict *out);
/* For a row that was rejected: what each filter says of it when asked alone. */
void verdict_tell_others(struct evaluation *e, uint32_t row, struct verdict *out);

/* Looks at the rows in scratch.rows as a preemption would, and fills the result's candidates and
 * dry_run_ fields. */
void dry_run(struct evaluation *e);

#endif
