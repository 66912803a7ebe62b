/* shard_inside: the shard's parts, for the files that make it up (shard.c, evaluate.c, columns.c,
 * totals.c, dry_run.c). */
#ifndef SCHEDULER_SHARD_INSIDE_H
#define SCHEDULER_SHARD_INSIDE_H

#include "scheduler/classes.h"
#include "scheduler/plugin.h"
#include "scheduler/pod_demands.h"
#include "scheduler/pod_groups.h"
#include "scheduler/pod_terms.h"
#include "scheduler/shard.h"
#include "scheduler/touched.h"

/* What is reused from one map_request to the next, so that the map path allocates nothing. */
struct scratch {
    struct arena arena; /* the cycle's */
    uint32_t *rows;     /* to be filtered */
    uint32_t *feasible; /* rows that passed */
    uint32_t *first;    /* by row: first nominated pod on it plus one, 0 = none */
    uint8_t *blame;     /* by row: the filter that said no first, plus one; 0: none did */
    uint8_t *said;      /* by row: one filter's answer */
    int64_t *raw;       /* score_count columns of feasible_count */
    int64_t *total;     /* by place in feasible, without base */
    int64_t base;       /* what all totals have in common */
    uint32_t room;      /* rows that the arrays have room for */
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
    int64_t cluster_nodes;
    uint32_t any_ip;
    uint32_t ghosts;
    struct touched touched;
    struct classes *classes;
    struct scratch scratch;
};

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
    void **filter_state;
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
/* The request's nominated pods that are nominated to nodes of this share: chained by scratch.first
 * and e->next until they are dropped. */
void nominated_take(struct evaluation *e);
void nominated_drop(struct evaluation *e);

/* The atom of the key whose entries other workers have no use for; 0: none. */
uint32_t folded_key(const struct atoms *atoms, const struct map_request *r, const struct plugin *p);

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
/* Fills scratch.feasible; and when that is nothing, what is told about rejected nodes. */
void columns_filter(struct evaluation *e);
/* raw[k] becomes the raw score of row feasible[k]. */
void columns_score(struct evaluation *e, const struct plugin *p, const void *state, int64_t *raw);

/* ---- totals.c ---- */

/* The raw scores of a scorer, by place in feasible; false: it has nothing to say. */
static inline int64_t *scratch_raw(const struct scratch *s, uint32_t scorer)
{
    return s->raw + (size_t)scorer * s->feasible_count;
}

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
