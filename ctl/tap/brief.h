/* brief: a message in a few words, for the story of one pod. */
#ifndef CTL_TAP_BRIEF_H
#define CTL_TAP_BRIEF_H

#include "ctl/tap/view.h"

/* Zero-initialise for each attempt. */
struct brief {
    struct tap_filter *filter; /* whose pod it is about */
    bool nodes;                /* name nodes, as far as messages do */
    int64_t cycle;             /* of the pod's last question to workers */
    uint32_t place;            /* in one about pods unlike each other: which of them it is */
};

/* Appends what the message says about the pod, without a line end; messages in order of time. */
void brief_print(struct brief *brief, const struct message *m, struct buffer *out);

#endif
