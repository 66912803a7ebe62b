/* classes_inside: one class, for the files that make it up: classes.c (which pods share one, and
 * for how long), class_rows.c (verdicts and scores by row, kept in step), class_best.c (totals and
 * the best of them). */
#ifndef SCHEDULER_CLASSES_INSIDE_H
#define SCHEDULER_CLASSES_INSIDE_H

#include "scheduler/classes.h"
#include "scheduler/shard_inside.h"

#define SCORERS_MAX 64
#define BLOCK_ROWS  64

/* What filters say of some rows, with reasons as in a ruling; outcome 0 is success. */
struct row_outcome {
    enum code code;
    uint32_t plugin;
    uint64_t plugins;
    uint32_t count;
    struct reason *reasons;
    uint32_t rows;
};

/* The range of a column over feasible rows, and how many rows stand at its ends. For rules that
 * need only the greatest, 0 stands in it as if a row had it. */
struct span {
    bool any;
    int64_t least, greatest;
    uint32_t at_least, at_greatest;
};

struct block {
    int64_t best;
    uint32_t count; /* feasible rows with it; 0: none is feasible */
};

/* A rule that counts, for one class. */
struct kept_rule {
    const struct plugin *plugin;
    struct kept_states states;
    struct ledger *counts, *survey;
    struct entries changed;                 /* since the last outlook */
    struct outlook count_says, survey_says; /* at the last look */
    bool filters, filter_skips;
    uint32_t scorer; /* index in framework.score, or SCORERS_MAX */
};

/* The values of one label by row. */
struct label_column {
    uint32_t key;
    uint32_t *values;
};

struct class
{
    struct class *next, *prev; /* by use */
    struct str key;
    bool unfit;           /* no class can be made of such pods */
    struct arena memory;  /* pod and brief */
    struct arena filling; /* what lives until all rows are looked at anew */
    struct arena states;
    struct pod pod;
    struct brief brief;
    struct cycle cycle;
    const struct framework *framework;
    uint64_t atoms_made, layout, facts, seen; /* of the shard, when this was in step */
    uint32_t rows;

    uint64_t filter_skip, kept_filters; /* bits as in framework.filter */
    uint64_t score_skip;                /* bits as in framework.score */
    void **filter_state, **score_state;
    uint32_t kept_count;
    struct kept_rule *kept;

    uint16_t *outcome;  /* by row */
    bool *passes_other; /* by row: all filters but the kept rules' */
    uint32_t outcome_count, outcome_room;
    struct row_outcome *outcomes;
    uint32_t feasible;
    int64_t *raw[SCORERS_MAX]; /* by row; NULL: the rule scores nothing */
    struct span spans[SCORERS_MAX];
    struct extreme used[SCORERS_MAX]; /* the ranges that totals are made with */
    bool totals_hold;
    int64_t *total; /* by row */
    struct block *blocks;
    uint32_t column_count;
    struct label_column *columns;
};

/* Lists and marks of one catching up, kept for the next. */
struct class_scratch {
    uint32_t room;
    uint8_t *marks;    /* by row, all 0 between two uses */
    uint32_t *touched; /* rows that changed themselves */
    uint32_t *moved;   /* rows that may be judged otherwise, those included */
    uint32_t touched_count, moved_count;
    struct ruling ruling;
    struct entries entries;
};

struct classes {
    struct map *by_key;
    struct class *first, *last; /* most and least recently used */
    struct buffer key;
    uint64_t asked_once[1024]; /* hashes of what was asked for, by hash */
    struct class_scratch scratch;
    struct classes_status status;
    const struct class *kept; /* what the last request was answered from */
    int64_t kept_cycle;
};

/* ---- class_rows.c ---- */

/* Makes the states anew, because atoms may have changed their meaning. False: unfit. */
bool class_begin(struct shard *s, struct class *k);
/* Looks at all rows. False: unfit. */
bool class_fill(struct shard *s, struct class *k);
/* Looks at the rows that have changed since, and brings spans and totals' rows up to date. */
bool class_catch_up(struct shard *s, struct class *k);

/* ---- class_best.c ---- */

/* True when framework.filter[filter] turned out to have nothing to do, once counts were known. */
bool class_skips(const struct class *k, uint32_t filter);
void span_start(struct span *span, const struct plugin *p);
void span_enter(struct span *span, int64_t raw);
void span_leave(struct span *span, int64_t raw);
/* True when a row left that was the last at an end. */
bool span_is_worn(const struct span *span);
void class_span(struct class *k, uint32_t scorer);
bool class_scores(const struct class *k, uint32_t scorer);
/* Totals and blocks of these rows, as the ranges in use have it. */
void class_retotal(struct class *k, const uint32_t *rows, uint32_t count);
/* Brings all totals in line with the ranges that hold now, widened by the request's. */
void class_normalise(struct class *k, const struct map_request *r);
/* Fills in what the result says of feasible rows. */
void class_tell_best(const struct shard *s, const struct class *k, const struct map_request *r,
                     struct map_result *out);

#endif
