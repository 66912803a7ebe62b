/* landing: the end of an attempt. */
#ifndef SCHEDULER_COORDINATOR_LANDING_H
#define SCHEDULER_COORDINATOR_LANDING_H

#include "scheduler/coordinator/coordination.h"

/* The flight is over: tells the queue if it waits, and forgets the flight. plugins may be NULL. */
void landing_end(struct coordinator *c, struct flight *f, enum outcome_result result,
                 const struct strs *plugins);
/* The queue is gone, or another one is there: nobody waits for outcomes that were kept. */
void landing_forget(struct coordinator *c);
void landing_free(struct coordinator *c);
/* Volumes that were assumed for pods which were bound, and that no watch has shown since. */
void landing_end_doubts(struct coordinator *c, struct moment now);
/* Tells the queue of those that were bound, if it is time; returns when it will be. */
struct moment landing_tell(struct coordinator *c, struct moment now);
/* Tells the pod's owner, through the binder, that the attempt failed. */
struct failure {
    struct str message;
    bool nominate;             /* status.nominatedNodeName is to become nominated_node */
    struct str nominated_node; /* empty: cleared */
};
void landing_report(struct coordinator *c, const struct flight *f, enum condition_reason reason,
                    const struct failure *failure);
/* The attempt ends with an error that is not the pod's doing: told and landed. */
void landing_fail(struct coordinator *c, struct flight *f, struct str message);
/* The queue is told that what the plugin turns away for is free although no object says so. */
void landing_say_free(struct coordinator *c, const char *plugin);
/* The same of room that nominations kept which no status showed: nobody sees them go. */
void landing_say_room(struct coordinator *c);

#endif
