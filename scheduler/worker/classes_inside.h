/* classes_inside: one class, for the files that make it up: classes.c (which pods share one, and
 * for how long), class_rows.c (verdicts and scores by row, kept in step), class_groups.c (rows that
 * counting rules cannot tell apart), class_best.c (totals and the best of them), class_runs.c
 * (places for several pods at once).
 *
 * Rules are of three kinds to a class. Those by_row (plugin.h) and those that count and can tell
 * nearly every row from every other speak for each row: that is kept by row. Other counting rules
 * speak for whole groups of rows, the nodes of a zone say, and are asked anew each time, once a
 * group. A row's total is that of its row plus that of its group. */
#ifndef SCHEDULER_WORKER_CLASSES_INSIDE_H
#define SCHEDULER_WORKER_CLASSES_INSIDE_H

#include "scheduler/rules/limits.h"
#include "scheduler/worker/classes.h"
#include "scheduler/worker/shard_inside.h"

#define BLOCK_ROWS 64

/* What filters say of some rows, with reasons as in a ruling; outcome 0 is success. */
struct row_outcome {
    enum code code;
    uint32_t plugin;
    uint64_t plugins;
    uint32_t count;
    struct reason *reasons;
    uint32_t rows;
};

struct block {
    int64_t best;
    uint32_t count; /* feasible rows with it; 0: none is feasible */
};

/* A rule that counts, for one class. */
struct kept_rule {
    const struct plugin *plugin;
    struct kept_states states;
    struct ledger *counts, *survey;         /* survey: of a rule that does not group */
    struct entries changed;                 /* since the last outlook */
    struct outlook count_says, survey_says; /* at the last look */
    bool filters, filter_skips;
    uint32_t filter, scorer; /* index in framework.filter, if it filters; in framework.score, or
                                SCORERS_MAX */
    /* Rows that the rule judges and scores alike: by kind, and by what they count for alone. */
    bool groups;    /* it speaks for groups of rows */
    bool no_groups; /* it has been found not to */
    uint32_t key_count, keys[KEEP_KEYS];
    uint32_t *kind;    /* by row */
    int64_t *own;      /* by row; NULL: no row counts for itself alone */
    uint32_t own_slot; /* whose counts own has, plus one */
    /* Texts that only other workers' nodes have, held as atoms. */
    uint32_t foreign_count, foreign_room, *foreign;
};

/* Rows that are alike to all rules that group. */
struct row_group {
    uint32_t kind[KEPT_MAX];
    int64_t own[KEPT_MAX];
    uint32_t count, room;
    uint32_t *rows;           /* all of them, in no particular order */
    uint32_t passing;         /* of them, those that rules by row let pass */
    struct kept_range *spans; /* by scorer: of the passing rows' raw scores */
    struct block *blocks;     /* of BLOCK_ROWS rows of the list */
    uint8_t *dirty;           /* by block: to be looked through */
    bool is_dirty;            /* some are */
    struct block best;        /* of all of them; as the last request found it: */
    bool passes;
    int64_t raw[KEPT_MAX], plus;  /* what the rules that group score, and what it adds */
    uint32_t run_pods, run_taken; /* of the pods of late runs, those that came to this group */
    uint32_t run_last;            /* of the last run's */
};

/* The values of one label by row. */
struct label_column {
    uint32_t key;
    uint32_t *values;
};

struct pod_class {
    struct pod_class *next, *prev; /* by use */
    struct str key;
    uint64_t asked_at;    /* number of the last question to it */
    uint64_t asked_seen;  /* rows that had been noted as touched at that time */
    bool in_columns;      /* its rules answer for many rows at once */
    bool unfit;           /* no class can be made of such pods */
    bool uncounted;       /* used since its bytes were counted, */
    size_t counted;       /* which were these */
    bool alone;           /* this worker has all nodes */
    bool own_hostnames;   /* as in the request */
    struct arena memory;  /* pod and findings */
    struct arena filling; /* what lives until all rows are looked at anew */
    struct arena states;
    struct pod pod;
    struct findings findings;
    struct cycle cycle;
    const struct framework *framework;
    uint64_t atoms_made, layout, facts, images, seen; /* of the share, when this was in step */
    uint64_t image_print; /* hash of what scores may depend on of the pod's images */
    uint32_t rows;
    bool stale; /* what is kept by row is to be begun anew */

    uint64_t filter_skip, kept_filters; /* bits as in framework.filter */
    uint64_t score_skip;                /* bits as in framework.score */
    void **filter_state, **score_state;
    uint32_t kept_count;
    struct kept_rule *kept;

    uint16_t *outcome; /* by row, of the rules by row */
    uint32_t outcome_count, outcome_room;
    struct row_outcome *outcomes;
    uint32_t *group, *place; /* by row: the group it is in, and where in its list */
    uint32_t group_count;
    struct row_group *groups;
    uint8_t group_hint[64];    /* by hash: where a group was found last */
    bool by_row_only;          /* there were too many groups */
    int64_t *raw[SCORERS_MAX]; /* by row, of rules by row; NULL: the rule scores nothing */
    struct score_range spans[SCORERS_MAX]; /* the ranges of feasible rows' scores */
    struct score_range used[SCORERS_MAX];  /* the ranges that totals are made with */
    bool totals_hold;  /* total is the sum of raw scores, normalised as used says */
    bool rises;        /* of late a run's pod has raised the top of a range */
    int64_t *total;    /* by row, whether it passes or not */
    uint32_t feasible; /* rows, as the last request found it */
    uint32_t column_count;
    struct label_column *columns;
    uint32_t *with; /* by row, with who is nominated to it; see class_nominated.c. NULL: none */
    int64_t with_priority;
    uint64_t with_seen, with_nominations; /* as seen */
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
    struct atoms *atoms;
    struct map *by_key;
    struct pod_class *first, *last; /* most and least recently used */
    struct buffer key;
    uint64_t questions; /* ever */
    struct asked_once {
        uint64_t hash, pod; /* of what was asked for, and of the pod's UID */
        bool apart;         /* with others, some rows not being chosen */
    } asked_once[256][4];   /* by hash; the last one first */
    struct class_scratch scratch;
    struct classes_status status;
    size_t counted;               /* bytes of all classes, each as it was when last counted */
    const struct pod_class *kept; /* what the last request was answered from */
    int64_t kept_cycle;
    struct pod_class *run; /* what the last run was listed from; NULL: its groups are others now */
};

/* ---- classes.c ---- */

/* Bytes of all classes, at the cost of a look at those that were used since the last time. */
size_t classes_held(struct classes *c);

/* ---- class_rows.c ---- */

/* Makes the states anew, because atoms may have changed their meaning. False: unfit. */
bool class_begin(struct shard *s, struct pod_class *k);
/* Looks at all rows. False: unfit. */
bool class_fill(struct shard *s, struct pod_class *k);
/* Looks at the rows that have changed since. False: unfit. */
bool class_catch_up(struct shard *s, struct pod_class *k);
/* True when framework.filter[filter] turned out to have nothing to do, once counts were known. */
bool class_skips(const struct pod_class *k, uint32_t filter);

/* ---- class_shares.c: where other workers have nodes as well ---- */

/* Takes over what others count for: the request's merged counts, less what we have told. */
void class_take_counts(struct pod_class *k, struct atoms *atoms, const struct map_request *r);
void class_drop_foreign(struct kept_rule *rule, struct atoms *atoms);
/* What we have counted, as the answer to the step count. */
void class_tell_counts(const struct pod_class *k, struct map_result *out, struct arena *a);
/* What our feasible rows add to surveys. */
void class_tell_surveys(const struct pod_class *k, struct map_result *out, struct arena *a);
/* The merged survey of the rule, if the request brings it; else our own. From the arena. */
const struct counts *class_survey(const struct pod_class *k, const struct kept_rule *rule,
                                  const struct map_request *r, struct arena *a);

/* What the filters by row say of a row, or of a copy of one; why not is in w->ruling then. */
bool class_passes(const struct pod_class *k, struct class_scratch *w, const struct nodes *n,
                  uint32_t row);
/* The number of that ruling among the class's outcomes, for as long as its rows are kept. 0: the
 * class is unfit. */
uint32_t class_outcome(struct pod_class *k, const struct class_scratch *w);
/* The row, which must be out of its group, has this outcome. */
void class_judged(struct pod_class *k, uint32_t row, uint32_t outcome);

/* ---- class_nominated.c ---- */

/* Rows that do not take the pod with those that are nominated to them. */
struct withheld {
    uint32_t count;
    struct withheld_row {
        uint32_t row, outcome; /* as it was */
    } * at;
};

/* Rejects them, until they are given back. False: the class is unfit. */
bool class_withhold(struct shard *s, struct pod_class *k, const struct evaluation *e,
                    struct withheld *out);
void class_give_back(struct pod_class *k, const struct withheld *w);

/* ---- class_groups.c ---- */

#define GROUPS_MAX 256

/* The values of a label by row; kept until all rows are looked at anew. */
const uint32_t *class_label(struct pod_class *k, uint32_t key);
/* Finds out whether the rule groups rows, and which. True when it is no longer as it was. */
bool class_kinds(struct pod_class *k, struct kept_rule *rule);
/* What the row counts for itself alone has changed to these. */
void class_own(const struct pod_class *k, struct kept_rule *rule, uint32_t row,
               const struct entries *counts);
/* Puts a row into the group that it belongs to now, or takes it out. Its scores stand in the
 * group's ranges if it passes. False: there are too many groups. */
bool group_join(struct pod_class *k, uint32_t row);
void group_leave(struct pod_class *k, uint32_t row);
/* The row's total has changed. */
void group_touch(struct pod_class *k, uint32_t row);
void groups_touch_all(struct pod_class *k);
/* Finds the range of a rule's scores in each group anew. */
void groups_span(struct pod_class *k, uint32_t scorer);
void groups_free(struct pod_class *k);

/* ---- class_best.c ---- */

bool class_scores(const struct pod_class *k, uint32_t scorer);
/* True when the rule scores each row, and so that the range of all matters. */
bool class_has_spans(const struct pod_class *k, uint32_t scorer);
/* The counting rule behind a scorer, if it groups; else NULL. */
struct kept_rule *class_grouping(const struct pod_class *k, uint32_t scorer);
/* The row's total from its raw scores. */
void class_retotal(struct pod_class *k, uint32_t row);
/* Asks the rules that group, and brings all totals in line with the ranges that hold now, widened
 * by the request's. */
void class_weigh(struct pod_class *k, struct class_scratch *w, const struct map_request *r,
                 struct arena *a);
/* Fills in what the result says of feasible rows; of those that are apart, if any, what they come
 * to. */
void class_tell_best(struct pod_class *k, const struct map_request *r, struct apart *apart,
                     struct map_result *out);
/* Makes totals with just the request's ranges, or where it tells none with that of all rows that
 * pass by row. Returns those used, by scorer; they hold while nobody asks otherwise. */
const struct score_range *class_use_ranges(struct pod_class *k, const struct map_request *r);
/* The same with these, by scorer; those of rules that do not score rows are not looked at. */
void class_take_ranges(struct pod_class *k, const struct score_range *ranges);
/* The range of a rule's scores in a group, found anew. */
void class_span_group(const struct pod_class *k, struct row_group *g, uint32_t scorer);
/* Fills in g->best. */
void class_find_best(const struct pod_class *k, struct row_group *g);
/* The row that is that many best ones behind the first of its group. */
uint32_t class_best_in(const struct pod_class *k, const struct row_group *g, uint64_t skip);
struct str class_row_name(const struct pod_class *k, uint32_t row);

/* ---- class_runs.c ---- */

/* Answers the question about a run, with pods put on rows. False: it cannot be told. */
bool class_list(struct shard *s, struct pod_class *k, const struct run_question *q);
/* So many of the group's places were taken, of a run of so many pods. */
void class_learn(struct pod_class *k, uint32_t group, uint32_t taken, uint32_t placed);

#endif
