/* recorded: what a recorded berth knew at a time, as live.h has it of a running one: its queue and
 * scheduler are played back and asked, and the cluster is what its watcher had told. */
#ifndef CTL_EXPLAIN_RECORDED_H
#define CTL_EXPLAIN_RECORDED_H

#include "ctl/explain/live.h"
#include "ctl/record/lives.h"
#include "ctl/record/past.h"

struct recorded {
    const char *path, *command;
    int64_t at_us; /* 0: the end of the recording; then when that is */
    struct past past;
    struct world *later; /* the cluster at the time, while another is in its place */
    struct lives lives;
};

/* RFC 3339. As much as is written of it is meant: a second until it is over. */
bool recorded_take_time(struct recorded *r, const char *value);
/* Fills what is to be known of the pod that is named there, and the cluster. False: it was said
 * what is missing. */
bool recorded_load(struct recorded *r, struct live *l);
/* The cluster before the last decision in the place of that at the time. False: there is none, and
 * nothing has changed. */
bool recorded_go_back(struct recorded *r, struct live *l);
/* The cluster at the time again; what was decided on the other one is lost. False: it is there. */
bool recorded_return(struct recorded *r, struct live *l);
void recorded_free(struct recorded *r);

#endif
