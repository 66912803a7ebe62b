/* report_nodes: what a decision says of nodes, as lines for people. */
#ifndef REPORT_NODES_H
#define REPORT_NODES_H

#include "ctl/report.h"

/* A line for each reason for which nodes were rejected, most of them first; names: the nodes as
 * well. */
void report_reasons(const struct report *r, bool names, struct buffer *out, struct arena *a);
/* Nodes that could take the pod, the best first; from the arena. */
const struct verdict **report_feasible(const struct report *r, uint32_t *count, struct arena *a);
void report_score_heading(struct buffer *out);
void report_score(const struct verdict *v, struct buffer *out);
/* All of that, whatever was decided. */
void report_all_nodes(const struct report *r, struct buffer *out);

#endif
