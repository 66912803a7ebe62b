/* checks: what must hold at every step and what must hold once it is quiet. */
#ifndef TESTS_SIMULATION_CHECKS_H
#define TESTS_SIMULATION_CHECKS_H

#include "tests/simulation/facts.h"
#include "tests/simulation/process.h"

#define FINDING_ROOM 400

/* What a run ended with; shared between processes. */
struct finding {
    bool found;
    char check[40]; /* the invariant's name */
    char text[FINDING_ROOM];
    int64_t at; /* true time */
};

/* Where it is written; the run ends behind it. */
void checks_into(struct finding *finding);
/* Does not come back. */
_Noreturn void violated(const char *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void checks_reset(void);
void checks_changed(const struct model_change *change);
/* A request as the checks see it. */
struct seen_call {
    const char *who, *method, *path, *body; /* body: NULL for none */
    int group;
    int64_t timeout;
};

/* It leaves its process. */
void checks_at_send(const struct seen_call *call);
/* Whoever admits some of a group's Bindings leaves it in part: its room may be another's by then.
 */
void checks_binding_denied(const char *path);
/* So does whoever loses some of them; then only what fits nowhere may stay. Others are ignored. */
void checks_binding_lost(const char *path);
/* The server has carried it out. */
void checks_after_call(const struct seen_call *call, int code);
/* It can have no effect any more, carried out or not. */
void checks_call_over(int group, const char *path, int64_t sent_at);
void checks_after_round(struct proc *p);
/* Nothing is wrong, for some time: true when all that can be bound is, and what processes hold is
 * what there is. why: what is not yet as it should be. */
bool checks_quiet(char *why, size_t room);
/* The same once it is over. */
void checks_when_quiet(void);
/* Who holds the lease: a group, or -1. */
int checks_lease_holder(void);

#endif
