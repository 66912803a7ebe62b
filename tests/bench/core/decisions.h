/* decisions: pods through coordinator and workers, on one cluster after another. */
#ifndef TESTS_BENCH_CORE_DECISIONS_H
#define TESTS_BENCH_CORE_DECISIONS_H

#include "tests/bench/core/cluster.h"
#include "tests/bench/core/options.h"
#include "tests/bench/core/report.h"

/* A cluster and how it is decided on. */
struct decisions_setup {
    struct shape shape;
    uint32_t workers;
    const struct profile *profile; /* borrowed */
    const char *rule;              /* for the report */
    bool apart;                    /* coordinator and workers at once, a thread each */
};

/* Rows follow, in the section of that name. */
void decisions_begin(struct report *r, const char *section, const char *title);
/* Every workload in the list on one cluster: a row each. False: it could not be decided. */
bool decisions_measure(const struct core_options *o, const struct decisions_setup *setup,
                       const char *workload_list, struct report *r);

/* Decides what was offered: all that is measured, in one function for profilers to look into. */
struct bench;
void bench_decide(struct bench *b);

#endif
