/* model: a recorded day, decided again with a configuration of one's own. What came from the API
 * server comes as it was recorded, and when; whom the recorded scheduler placed or evicted is left
 * to this one: the scheduler's own rules on a world (ctl/world.h), in virtual time.
 *
 * Its limits, which berth-replay(1) tells: a decision and its binding take no time, and a victim is
 * gone at once; who was evicted then and is not now stays, and its controller's replacement does
 * not come; who is evicted now alone has no replacement; claims and volumes are bound by the model.
 */
#ifndef CTL_RECORD_MODEL_H
#define CTL_RECORD_MODEL_H

#include "proto/base/map.h"
#include "proto/journal/entry.h"

/* What became of a pod; texts live as long as the model. */
struct fate {
    struct str uid, space, name, owner, gang, gang_api;
    int64_t priority, cpu, memory; /* what it asks for: millicores, bytes */
    bool ours;                     /* it came without a node, and is of a profile */
    int64_t seen_us;               /* when it came */
    struct str recorded;           /* where it went then; empty: nowhere */
    int64_t recorded_us;
    struct str node; /* where it goes here; empty: nowhere */
    int64_t placed_us;
    bool spared;   /* it was evicted then, for another pod, */
    bool evicted;  /* and it is here */
    bool replaced; /* of one that was spared: its replacement came, and was left out */
    bool gone;     /* deleted, or finished, then */
    bool skipped;  /* that replacement */
    struct str evicted_by;
    bool waits, woken; /* for its next attempt; something has changed since its last one */
    int64_t attempts;  /* so far */
    int64_t tried_us;  /* the last one */
    uint64_t stamp;    /* the last snapshot that had it */
};

struct model_options {
    const struct profile *profiles; /* copied */
    uint32_t profile_count;
    int64_t backoff_initial_s, backoff_max_s; /* at least 1 */
    bool series;                              /* samples are kept, which takes time */
    bool ties_first; /* among equal best nodes the first; else the recorded one, if it is one */
};

struct model_room {
    double cpu, memory;   /* the share that is asked for, on average over the day */
    double fragmentation; /* the share of the average pod's copies that fit into all free room at
                           * the end, but not into that of single nodes */
};

/* How it went: at most MODEL_SAMPLES, equally far apart. */
#define MODEL_SAMPLES 512
struct model_sample {
    int64_t at_us;
    double cpu, memory, fragmentation; /* shares, as in model_room, but at that time */
};
struct model_series {
    struct model_sample *at;
    size_t count;
    int64_t step_us, next_us;
};

struct model;

struct model *model_new(const struct model_options *options);
void model_free(struct model **m);
/* Before all of them: an entry, for what will be decided then. */
void model_foresee(struct model *m, const struct journal_entry *e);
/* An entry of a scheduler's journal, in its order, and the wall clock then. */
void model_take(struct model *m, const struct journal_entry *e, int64_t wall_us);
/* Behind the last one. */
void model_end(struct model *m);
/* By UID, a struct fate each. */
const struct map *model_fates(const struct model *m);
struct model_room model_room(const struct model *m);
/* Empty, unless it was asked for; lives as long as the model. */
const struct model_series *model_series(const struct model *m);

#endif
