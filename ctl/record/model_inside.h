/* model_inside: what the two files of the model share: model.c decides, model_day.c takes in what
 * was recorded. */
#ifndef CTL_RECORD_MODEL_INSIDE_H
#define CTL_RECORD_MODEL_INSIDE_H

#include "ctl/record/model.h"
#include "ctl/world.h"

struct model_node {
    int64_t cpu, memory; /* millicores, bytes */
    int64_t used_cpu, used_memory;
    uint64_t stamp;
};

struct model {
    struct world *world;
    struct features features;
    int64_t initial_us, most_us;
    bool ties_first;
    struct map *fates;  /* by UID */
    struct map *nodes;  /* by name, struct model_node */
    struct map *claims; /* kind and key of claims and volumes that are there: the model's own */
    struct map *ahead;  /* UID to a text: where it will go then, or make room first */
    uint64_t stamp;     /* snapshots so far */
    bool complete;      /* the first one is */
    int64_t now_us, sample_us;
    uint64_t samples;
    struct model_series series; /* at NULL: none is kept */
    double cpu, memory_share;   /* sums */
    struct fates {
        struct fate **at;
        size_t count, room;
    } room,              /* who may have had to go in this attempt */
        waiting,         /* who waits; and some who do no more */
        spared;          /* who was spared, and has no replacement yet */
    struct str said;     /* the body of the message said last, of the journal */
    struct arena memory; /* as long as the model */
    struct arena step;   /* of an attempt or an entry */
};

void model_add(struct fates *all, struct fate *f);
void model_wake(struct model *m);
void model_try(struct model *m, struct fate *f);
/* Tries whoever is due until then, in virtual time. */
void model_run(struct model *m, int64_t until_us);
void model_pass(struct model *m, int64_t to_us);

#endif
