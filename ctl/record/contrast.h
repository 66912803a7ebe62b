/* contrast: a recorded day with another configuration beside the same day with its own, both
 * decided by the model (model.h). */
#ifndef CTL_RECORD_CONTRAST_H
#define CTL_RECORD_CONTRAST_H

#include "ctl/record/member.h"

struct contrast {
    struct member *lives; /* of the scheduler, in their order */
    size_t count;
    const char *config; /* the other one's file; "": all defaults */
    bool json, svg;     /* neither: text */
    size_t rows;        /* at most so many of each list in text */
};

/* Prints it. False: it was said why it cannot be. */
bool contrast_show(const struct contrast *c);

#endif
