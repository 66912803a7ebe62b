/* shard_inside: the share, what is reused or kept between questions, and one question on its way:
 * for the files that answer it. In the order in which they need each other. */
#ifndef SCHEDULER_WORKER_SHARD_INSIDE_H
#define SCHEDULER_WORKER_SHARD_INSIDE_H

#include "scheduler/rules/plugin.h"
#include "scheduler/rules/timings.h"
#include "scheduler/worker/classes.h"
#include "scheduler/worker/dry_results.h"
#include "scheduler/worker/repeats.h"
#include "scheduler/worker/shard.h"
#include "scheduler/worker/share.h"

/* Rows that are filtered and scored together: few enough that what was just read or written is
 * still near. */
#define BLOCK 512

/* Some neighbours in feasible, no more than a block, and the ends of their totals. */
struct window {
    uint32_t from, count;
    struct score_range totals;
    uint32_t times; /* how many have the best, where that is the best of all */
    uint32_t apart; /* how many are not chosen; the ends are those of the others */
};

/* One scorer's raw scores, by place in feasible. */
struct score_column {
    bool apart; /* to be looked at once all are known; else weighted and in scratch.fixed at once */
    bool alike; /* all are ends.least, and raw is not filled in */
    bool known; /* alike from the beginning */
    struct score_range ends; /* SCORE_IGNORED is one of the numbers here: the least of all */
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
    uint32_t *apart; /* places in feasible of those that are not chosen, rising; of the cycle */
    uint32_t apart_count;
    int64_t base;  /* what all totals have in common */
    uint32_t room; /* rows that the arrays have room for */
    size_t raw_room;
    uint32_t row_count, feasible_count;
    struct row_copy copy, nominated_copy;
    /* The cycle whose raw scores are kept, for its second round. */
    bool kept;
    int64_t cycle;
    uint64_t layout; /* of the share */
    const struct framework *framework;
    uint64_t score_skips;
    struct str error; /* of score_begin */
};

struct shard {
    struct share share;
    struct frameworks frameworks;
    struct classes *classes;
    struct kept_results *dry_results; /* NULL: none yet */
    uint64_t dry_run_rows;            /* rows that dry runs have looked at */
    uint64_t changes;                 /* counts whatever the share is told */
    struct repeats *repeats;          /* NULL: none yet */
    uint64_t repeated;                /* questions that were answered from them */
    struct scratch scratch;
    struct apart *apart;          /* of the question that is being answered; NULL: none */
    struct moment (*clock)(void); /* NULL: none */
    int64_t filtered_ns;          /* when the last request's filters were through; 0: not apart */
    struct timings *timings, *timing; /* NULL: no clock; timing: the decision is not timed */
};

/* ---- one pod on this share ---- */

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

/* ---- scratch.c ---- */

/* Room for so many rows. */
void scratch_reserve(struct scratch *s, uint32_t rows);
void scratch_free(struct scratch *s);

/* ---- nominated.c ---- */

/* True when a pod is nominated to a node of this share that counts for the request's. */
bool nominated_count_for(const struct share *s, const struct map_request *r);
/* All of these: chained by scratch.first and e->next until nominated_leave. */
void nominated_enter(struct evaluation *e);
void nominated_leave(const struct evaluation *e);

/* ---- reasons.c ---- */

struct str reasons_text(struct evaluation *e, struct reason reason);
/* The rule that e->ruling tells of failed rather than rejected: upstream's words for that. */
struct str reasons_error(struct evaluation *e);
void reasons_add(struct evaluation *e, struct reason_counts *all, const struct ruling *r);
void reasons_tell(struct evaluation *e, const struct reason_counts *all, uint32_t *count,
                  struct tally **out);
/* The same failure becomes the cycle's error, and ends it. */
void reasons_failed(struct evaluation *e);
/* A row is lost by e->ruling. */
void reasons_rejected(struct evaluation *e);

/* ---- verdicts.c: words for those who want to see every node ---- */

/* The ruling's plugin, when it is no filter's. */
#define NO_PLUGIN UINT32_MAX
/* The verdict of e->ruling on a row; its scores are left alone. */
void verdict_tell(struct evaluation *e, uint32_t row, struct verdict *out);
/* For a row that was rejected: what each filter says of it when asked alone. */
void verdict_tell_others(struct evaluation *e, uint32_t row, struct verdict *out);

/* ---- evaluate_row.c ---- */

/* Filters a row, with the pods nominated to it first and without them second, into e->ruling. */
void evaluate_row(struct evaluation *e, const struct nodes *n, uint32_t row);
/* Puts a pod on a copy of a row, or takes it off, and lets the rules know before. Whoever does one
 * does the opposite before the rules look at another node. */
void evaluate_row_with(struct evaluation *e, struct row_copy *copy, struct node_pod *pod);
void evaluate_row_without(struct evaluation *e, struct row_copy *copy, const struct node_pod *pod);

/* ---- knowledge.c ---- */

/* Counts for the rules that count. */
void knowledge_find(struct evaluation *e);
/* Tells the counts, or the surveys. */
void knowledge_tell(struct evaluation *e, bool surveys, uint32_t *count,
                    struct plugin_counts **out);
/* The surveys: merged ones if the request brings them, else our own, which are told. */
void knowledge_survey(struct evaluation *e);
bool knowledge_has_survey(const struct evaluation *e);

/* ---- columns.c ---- */

/* True when nobody wants to know more of a node than whether it passes: all nodes of the share are
 * looked at, none has nominated pods, and no rule is asked about a node that another rejected. */
bool columns_suffice(const struct evaluation *e);
/* Fills scratch.feasible; and when that is nothing, what is told about rejected nodes. The score
 * follows. */
void columns_filter(struct evaluation *e);
/* The same, and scores each block as soon as it is filtered. */
void columns_filter_and_score(struct evaluation *e);
/* Before the first row is scored: columns for scorers whose scores are to be looked at when all are
 * known. */
void columns_begin(struct evaluation *e);
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
                const struct score_range *range, int64_t *total);
/* Normalises the raw scores with the ranges of the request and adds them up. */
void totals_sum_up(struct evaluation *e);
/* The node with the greatest total; of several, by the tie-break. */
void totals_choose(struct evaluation *e);
/* All feasible nodes with their totals, when the request asks for a list. */
void totals_list(struct evaluation *e);

/* ---- dry_run.c ---- */

/* Looks at the rows in scratch.rows as a preemption would, and fills the result's candidates and
 * dry_run_ fields. */
void dry_run(struct evaluation *e);

/* ---- evaluate.c ---- */

/* Answers the request, of a known step, for a known profile. */
void evaluate(struct evaluation *e);

#endif
