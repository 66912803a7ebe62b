/* report: what the coordinator tells operators: its status, and what it has decided. */
#ifndef SCHEDULER_COORDINATOR_REPORT_H
#define SCHEDULER_COORDINATOR_REPORT_H

#include "scheduler/coordinator/coordination.h"

/* Answers an explain_request. */
void report_explain(struct coordinator *c, struct moment now, const struct delivery *in);

#endif
