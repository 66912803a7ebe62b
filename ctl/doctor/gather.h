/* gather: the facts about a running berth, as its processes tell them. */
#ifndef CTL_DOCTOR_GATHER_H
#define CTL_DOCTOR_GATHER_H

#include "ctl/doctor/comparison.h"
#include "ctl/doctor/facts.h"

/* Zero-initialise, then asking_init(&g->comparison.asking) and facts' thresholds. */
struct gathering {
    struct comparison comparison;
    struct facts facts; /* strings lie in memory */
    struct arena memory;
    bool before;     /* statuses that come are the first ones */
    uint32_t wanted; /* that many have not come */
    struct {
        bool begun, whole;
        int64_t epoch, sequence, part;
        uint32_t used; /* since the last grant */
        struct moment heard;
        uint32_t room;
    } snapshot; /* of pods */
};

/* Asks all, compares, asks all again: a few seconds. False: it was said why nobody can be asked. */
bool doctor_gather(struct gathering *g);
void gathering_free(struct gathering *g);

#endif
