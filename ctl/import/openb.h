/* openb: the columns of Alibaba's openb traces: a table of nodes, and one of pods that come and go.
 */
#ifndef CTL_IMPORT_OPENB_H
#define CTL_IMPORT_OPENB_H

#include "ctl/import/trace.h"

#define OPENB_GPU "alibabacloud.com/gpu-milli" /* thousandths of GPUs, as a resource */

/* Columns are found by their names in the first line. begin_us: wall clock when the trace's own
 * clock, in seconds, was 0. False, with why in error, from the trace's memory: which names file,
 * line and column. */
bool openb_read(struct trace *t, const char *nodes, const char *pods, int64_t begin_us,
                struct str *error);

#endif
