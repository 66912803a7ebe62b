/* cross_check: decides again what was decided with every detail, in the short way of live workers,
 * who keep what they found out from pod to pod, and tells where the two differ. */
#ifndef CROSS_CHECK_H
#define CROSS_CHECK_H

#include "ctl/world.h"

#define CROSS_CHECK_PODS 12

/* Zero-initialise. */
struct cross_check {
    struct arena arena; /* what the pods borrow from */
    struct str scenario;
    struct pod pods[CROSS_CHECK_PODS]; /* decided lately */
    uint32_t count;                    /* ever, in this scenario */
    uint64_t checks, differences;
};

/* Another world: what was remembered is forgotten. */
void cross_check_start(struct cross_check *c, struct str scenario);
/* The pod was just decided so, and nothing has changed since. */
void cross_check(struct cross_check *c, struct world *w, const struct pod *pod,
                 const struct decision *d);
void cross_check_end(struct cross_check *c);

#endif
