/* attempt: a plan run in a process of its own, so that each begins with nothing, and one that dies
 * is a finding. */
#ifndef TESTS_SIMULATION_ATTEMPT_H
#define TESTS_SIMULATION_ATTEMPT_H

#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/plan.h"

struct run_result {
    struct finding finding;
    struct coverage coverage;
    int64_t virtual_ns;
    uint64_t hash, steps;
};

/* trace: level of what is printed meanwhile. The result is valid until the next call. */
const struct run_result *attempt_run(const struct plan *plan, int trace, uint32_t limit_s);

#endif
