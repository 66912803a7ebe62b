/* plan: the actions of a seed: what is done to the system, and when. An action carries the numbers
 * that decide whom it is about, so that it means something whatever stands before it. */
#ifndef TESTS_SIMULATION_PLAN_H
#define TESTS_SIMULATION_PLAN_H

#include "proto/base/buffer.h"
#include "tests/simulation/note.h"
#include "tests/simulation/world.h"

enum action_kind {
#define ACTION(name, class, weight) DO_##name,
#include "tests/simulation/plan.def"
#undef ACTION
    ACTIONS
};

struct action {
    int64_t at; /* true time, calms aside */
    uint32_t kind;
    uint32_t a, b, c; /* dice */
};

struct plan {
    struct traits traits;
    uint64_t seed;
    uint32_t count;
    struct action *at;
    struct note *notes; /* one an action, written as it is done; NULL: not wanted */
};

const char *action_name(uint32_t kind);
const char *action_class(uint32_t kind);

/* without: names of classes and actions, with commas; "" for none. */
void plan_make(struct plan *plan, uint64_t seed, uint32_t steps, const char *without);
/* But for its notes. */
void plan_free(struct plan *plan);
/* Tells the coverage table which actions there are. */
void plan_known(void);
/* Does it all, then heals, and waits until it is quiet. A violation ends the process. */
void plan_run(const struct plan *plan);

/* Each does one; users.c and faults.c. False: it meant nothing. */
bool users_do(const struct action *action);
bool faults_do(const struct action *action);
#define FAULTS_STRANDED (240 * SECOND) /* so long a process of the leader falls */
/* The objects that there are before the first action. */
void users_open(const struct plan *plan);
/* All pods, groups and claims go; false: there were none. */
bool users_leave(void);
/* Controllers that answer to what the scheduler does. */
void users_reset(void);
void faults_reset(void);
/* What would be done to the system later is not. */
void faults_heal(void);

#endif
