/* sections: what there is to measure; each takes the options and adds rows to the report. */
#ifndef TESTS_BENCH_CORE_SECTIONS_H
#define TESTS_BENCH_CORE_SECTIONS_H

#include "tests/bench/core/options.h"
#include "tests/bench/core/report.h"

/* Everything that the options select. False, with a line on stderr, when something went wrong. */
bool sections_run(const struct core_options *o, struct report *r);

bool decisions_run(const struct core_options *o, struct report *r);
/* By wall time, with coordinator and workers at once. */
bool overlap_run(const struct core_options *o, struct report *r);
/* In a cluster of 100,000 nodes. */
bool large_run(const struct core_options *o, struct report *r);
/* Decisions by several workers, and by each rule alone. */
bool workers_run(const struct core_options *o, struct report *r);
bool rules_run(const struct core_options *o, struct report *r);
/* Decisions with more and more pods on each node, and how cost grows; after decisions_run. */
bool growth_run(const struct core_options *o, struct report *r);
/* Pods that preempt, all at once. */
bool preemption_run(const struct core_options *o, struct report *r);
bool queue_run(const struct core_options *o, struct report *r);
bool messages_run(const struct core_options *o, struct report *r);
bool json_run(const struct core_options *o, struct report *r);
/* What the coordinator spends on a pod with a claim of devices. */
bool devices_run(const struct core_options *o, struct report *r);
/* And on a pod with a claim that waits for its node. */
bool claims_run(const struct core_options *o, struct report *r);
bool memory_run(const struct core_options *o, struct report *r);
/* Libraries beside code of ours: what they read and write, and HTTP. */
bool packages_run(const struct core_options *o, struct report *r);
bool requests_run(const struct core_options *o, struct report *r);
bool rounds_run(const struct core_options *o, struct report *r);

#endif
