/* suggest: what would have to be different for a filter to take a pod on a node that it turned
 * away. */
#ifndef CTL_SUGGEST_H
#define CTL_SUGGEST_H

#include "ctl/world.h"

/* One line, from the arena: what has to hold in addition, parts of it separated by "; ", all of
 * which are needed. It is about this filter alone, and about the pods that are in the world: not
 * about those that are only nominated. Empty: nothing is known beyond the filter's own reasons. */
struct str suggest(const struct world *w, const struct pod *pod, const struct node *node,
                   const struct rejection *why, struct arena *a);

#endif
