/* contrast_inside: what came out, between contrast.c, which finds it, and contrast_print.c. */
#ifndef CTL_RECORD_CONTRAST_INSIDE_H
#define CTL_RECORD_CONTRAST_INSIDE_H

#include "ctl/record/contrast.h"
#include "ctl/record/model.h"

#define CONTRAST_LONGER_US 1000000 /* less is no longer wait */

struct waits { /* seconds from when a pod comes until it has a node */
    double p50, p90, p99;
};

struct day {
    uint64_t pods, placed, left, evicted; /* left: without a node at the end */
    struct waits waits;
    struct model_room room; /* not of what was recorded */
};

/* A pod of which something differs. */
struct pair {
    const struct fate *before, *now;
    bool elsewhere, longer, sooner, evicted, kept;
};

struct compared {
    struct model *before, *after; /* with its own configuration, with the other */
    struct day recorded, own, other;
    uint64_t ours,
        as_recorded; /* pods that came; of them the model's with its own are recorded so */
    uint64_t elsewhere, longer, sooner, evicted, kept;
    struct pair *pairs; /* by name */
    size_t count;
};

void contrast_print(const struct contrast *c, const struct compared *r);
/* The same as a picture. */
void contrast_svg(const struct compared *r);

#endif
