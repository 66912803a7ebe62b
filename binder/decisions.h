/* decisions: how long the scheduler took for those of its decisions that came here lately, and
 * which part of the way took how much of it. The binder knows, since it hears of every bind last:
 * each says when the queue sent the attempt and where the time since then went. */
#ifndef BINDER_DECISIONS_H
#define BINDER_DECISIONS_H

#include "proto/bus/delivery.h"

#define DECISIONS_KEPT 4096

/* In the order of a decision's way; evaluating is a part of worker, and to_binder comes when the
 * decision is over. */
#define DECISION_HOPS                                                                              \
    HOP(to_scheduler) HOP(line) HOP(worker) HOP(evaluating) HOP(back) HOP(telling) HOP(to_binder)

enum decision_hop {
#define HOP(name) HOP_##name,
    DECISION_HOPS
#undef HOP
        HOP_COUNT
};

/* Microseconds. */
struct timed_decision {
    int32_t took;
    int32_t hops[HOP_COUNT];
};

struct series;

struct decisions {
    uint64_t count;
    struct series *series[HOP_COUNT];         /* looked up once */
    struct timed_decision at[DECISIONS_KEPT]; /* a ring */
};

/* A bind came. Clocks that were set meanwhile, or are of two machines, may say that its decision
 * took less than nothing: that is left out, and so is what has no time in it. */
void decisions_add(struct decisions *d, const struct delivery *in);
/* Of the last DECISIONS_KEPT, exactly: quantiles of the whole and of each hop, and what each hop is
 * in the slowest hundredth of decisions, on the average: of what the tail consists. */
void decisions_status(const struct decisions *d, struct buffer *lines);

#endif
