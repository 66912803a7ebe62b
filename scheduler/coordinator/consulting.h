/* consulting: flights in FLIGHT_asking: what plugins on the bus and HTTP extenders are asked about
 * a pod and its nodes, one after the other. */
#ifndef SCHEDULER_COORDINATOR_CONSULTING_H
#define SCHEDULER_COORDINATOR_CONSULTING_H

#include "scheduler/coordinator/coordination.h"

/* A question about these nodes, sorted, begins. The flight is FLIGHT_asking; behind this call it
 * waits for an answer, for extenders, or its turn. */
void consulting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct strs *nodes);
/* The extenders have answered; said is borrowed. */
void consulting_on_extended(struct coordinator *c, struct moment now, struct flight *f,
                            const struct extended *said);
/* The plugin that is asked has answered. */
void consulting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer);
/* The plugin that is asked let the deadline pass. */
void consulting_on_late(struct coordinator *c, struct moment now, struct flight *f);
/* The process that is asked is gone: another one of its name is asked, or nobody. */
void consulting_again(struct coordinator *c, struct moment now, struct flight *f);

#endif
