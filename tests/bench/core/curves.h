/* curves: what was measured as pictures. */
#ifndef TESTS_BENCH_CORE_CURVES_H
#define TESTS_BENCH_CORE_CURVES_H

#include "tests/bench/core/report.h"

/* growth-nodes.svg, growth-pods.svg and growth-kin.svg into the folder, for what the report has.
 * False with errno.
 */
bool curves_save(const struct report *r, const char *folder);

#endif
