/* extending: flights whose pods HTTP extenders or plugins on the bus care about: FLIGHT_queued and
 * FLIGHT_asking. */
#ifndef SCHEDULER_COORDINATOR_EXTENDING_H
#define SCHEDULER_COORDINATOR_EXTENDING_H

#include "scheduler/coordinator/coordination.h"

void extending_init(struct coordinator *c);
/* A new flight: when extenders care about its pod it waits for them. */
void extending_take(struct coordinator *c, struct flight *f);
/* Lets those go on whose extenders are free, and asks again where an answer is overdue. */
void extending_look(struct coordinator *c, struct moment now);
/* The cycle in the only slot has to know what extenders say: it ends, and they are asked. */
void extending_ask(struct coordinator *c, struct moment now);
void extending_on_answer(struct coordinator *c, struct moment now, const struct extended *answer);
/* Who waits for an answer will be decided and asked about again. */
void extending_restart(struct coordinator *c);
/* Other extenders or plugins: whoever is not decided yet is asked about with them, from the
 * beginning. After cycle_abandon and extending_restart. */
void extending_reconfigure(struct coordinator *c);
void extending_on_plugin_answer(struct coordinator *c, struct moment now, uint32_t peer,
                                const struct plugin_answer *answer);
void extending_on_plugin_down(struct coordinator *c, struct moment now, uint32_t peer);
/* The process that calls extenders is gone. */
void extending_on_loss(struct coordinator *c);
/* Forgets the flights that wait for extenders; for when the queue is gone. */
void extending_drop(struct coordinator *c);
/* So many attempts more than usual may be outstanding, as these wait for extenders. */
int64_t extending_credit(const struct coordinator *c);
void extending_status(const struct coordinator *c, struct buffer *lines);

#endif
