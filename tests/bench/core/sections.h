/* sections: what there is to measure; each takes the options and adds rows to the report. */
#ifndef TESTS_BENCH_CORE_SECTIONS_H
#define TESTS_BENCH_CORE_SECTIONS_H

#include "tests/bench/core/options.h"
#include "tests/bench/core/report.h"

/* Everything that the options select. False, with a line on stderr, when something went wrong. */
bool sections_run(const struct core_options *o, struct report *r);

bool decisions_run(const struct core_options *o, struct report *r);

#endif
