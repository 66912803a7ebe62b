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

/* What was found out for one kind of rows, during one catching up. */
struct kind_memo {
    uint64_t when;
    uint32_t kind;
    int64_t own, found;
};

#define MEMO_ROOM 256

/* A rule that counts, for one class. */
struct kept_rule {
    const struct plugin *plugin;
    struct kept_states states;
    struct ledger *counts, *survey;
    struct entries changed;                 /* since the last outlook */
    struct outlook count_says, survey_says; /* at the last look */
    bool filters, filter_skips;
    uint32_t scorer; /* index in framework.score, or SCORERS_MAX */
    /* Rows that the rule judges and scores alike: by kind, and by what they count for alone. */
    uint32_t key_count, keys[KEEP_KEYS];
    uint32_t *kind;    /* by row; NULL: each row is one of its own */
    int64_t *own;      /* by row; NULL: no row counts for itself alone */
    uint32_t own_slot; /* whose counts own has, plus one */
    bool own_is_many;  /* several slots': own cannot hold them */
    struct kind_memo judged[MEMO_ROOM], scored[MEMO_ROOM];
};

/* The values of one label by row. */
struct label_column {
    uint32_t key;
    uint32_t *values;
};

struct pod_class {
    struct pod_class *next, *prev; /* by use */
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
    struct span used[SCORERS_MAX]; /* the ranges that totals are made with */
    bool totals_hold;              /* total is the sum of raw scores, normalised as used says */
    int64_t *total;                /* by row, feasible or not */
    struct block *blocks;
    uint32_t column_count;
    struct label_column *columns;
};

/* Lists and marks of one catching up, kept for the next. */
struct class_scratch {
    uint32_t room;
    uint8_t *marks;    /* by row, all 0 between two uses */
    uint8_t *dirty;    /* by block, likewise */
    uint32_t *touched; /* rows that changed themselves */
    uint32_t *moved;   /* rows that may be judged otherwise, those included */
    uint32_t touched_count, moved_count;
    uint64_t when; /* number of the catching up */
    struct ruling ruling;
    struct entries entries;
};

struct classes {
    struct map *by_key;
    struct pod_class *first, *last; /* most and least recently used */
    struct buffer key;
    uint64_t asked_once[1024]; /* hashes of what was asked for, by hash */
    struct class_scratch scratch;
    struct classes_status status;
    const struct pod_class *kept; /* what the last request was answered from */
    int64_t kept_cycle;
};

/* ---- class_rows.c ---- */

/* Makes the states anew, because atoms may have changed their meaning. False: unfit. */
bool class_begin(struct shard *s, struct pod_class *k);
/* Looks at all rows. False: unfit. */
bool class_fill(struct shard *s, struct pod_class *k);
/* Looks at the rows that have changed since, and brings spans and totals' rows up to date. */
bool class_catch_up(struct shard *s, struct pod_class *k);

/* True when framework.filter[filter] turned out to have nothing to do, once counts were known. */
bool class_skips(const struct pod_class *k, uint32_t filter);

/* ---- class_kinds.c ---- */

/* The values of a label by row; kept until all rows are looked at anew. */
const uint32_t *class_label(struct pod_class *k, uint32_t key);
/* Finds the kinds again if the rule reads other labels than it did. */
void class_kinds(struct pod_class *k, struct kept_rule *rule);
/* What the row counts for itself alone has changed to these. */
void class_own(const struct pod_class *k, struct kept_rule *rule, uint32_t row,
               const struct entries *counts);
/* The place for what is found for rows like this one; NULL: there are none. It is set when its
 * `when` is the one given. */
struct kind_memo *class_memo(struct kept_rule *rule, struct kind_memo *memo, uint32_t row,
                             uint64_t when);

/* ---- class_best.c ---- */

void span_start(struct span *span, const struct plugin *p);
void span_enter(struct span *span, int64_t raw);
void span_leave(struct span *span, int64_t raw);
/* True when a row left that was the last at an end. */
bool span_is_worn(const struct span *span);
void class_span(struct pod_class *k, uint32_t scorer);
bool class_scores(const struct pod_class *k, uint32_t scorer);
/* True when the rule's scores depend on the range of all. */
bool class_normalises(const struct pod_class *k, uint32_t scorer);
/* The row's total from its raw scores. */
void class_retotal(struct pod_class *k, uint32_t row);
/* The row's total after one of its raw scores changed. */
void class_change(struct pod_class *k, uint32_t scorer, uint32_t row, int64_t before);
/* The best of these BLOCK_ROWS rows. */
void class_look_through(struct pod_class *k, uint32_t block);
/* Brings all totals in line with the ranges that hold now, widened by the request's. */
void class_normalise(struct pod_class *k, const struct map_request *r);
/* Fills in what the result says of feasible rows. */
void class_tell_best(const struct shard *s, const struct pod_class *k, const struct map_request *r,
                     struct map_result *out);

#endif
