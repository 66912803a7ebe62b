/* record: what a core consumed, in its order, with clock readings and random draws; played back to
 * a new core at the end of its life, which must say the same to the byte. */
#ifndef TESTS_SIMULATION_RECORD_H
#define TESTS_SIMULATION_RECORD_H

#include "proto/kube/access/client.h"
#include "tests/simulation/process.h"

/* Whether lives that begin from now on are recorded. */
void record_wanted(bool wanted);
/* A life begins; then what comes in, each before the core gets it. All of these do nothing for a
 * process that is not recorded, and for one to which a record is being played back. */
void record_begin(struct proc *p);
void record_drawn(struct proc *p, uint64_t number);
void record_delivery(struct proc *p, struct moment now, const struct delivery *in);
void record_tick(struct proc *p, struct moment now);
void record_reconfigure(struct proc *p, struct moment now);
void record_dump(struct proc *p);
void record_stop(struct proc *p, struct moment now);
void record_data(struct proc *p, uint64_t call, struct str piece);
void record_done(struct proc *p, uint64_t call, const struct kube_response *response);
/* All answers that there are in this turn of the client. */
void record_answered(struct proc *p);
/* What is in its outbox goes out now. */
void record_said(struct proc *p);
/* The life is over: plays it back; another output is a violation. */
void record_end(struct proc *p);

/* While a record is played back: the next random draw, and the answers of this turn. */
bool record_draw(struct proc *p, uint64_t *number);
bool record_answer(struct proc *p);

#endif
