/* sibling_spread: what SelectorSpread and ServiceSpreading share: few siblings on a node are good,
 * and few in its zone are twice as good. */
#ifndef SCHEDULER_RULES_SIBLING_SPREAD_H
#define SCHEDULER_RULES_SIBLING_SPREAD_H

#include "scheduler/rules/siblings.h"

bool sibling_spread_skips(const struct cycle *c);
void sibling_spread_survey(const struct cycle *c, enum sibling_scope scope, const uint32_t *rows,
                           uint32_t count, struct counts *out);
/* survey: the merged one. */
void *sibling_spread_begin(const struct cycle *c, enum sibling_scope scope,
                           const struct counts *survey);
int64_t sibling_spread_score(const void *state, const struct node_entry *node);
/* For NORMALISE_own. */
int64_t sibling_spread_normalise(int64_t raw, const struct score_range *range);

#endif
