/* checks_groups: what must hold of PodGroups in a calm. Each says in why what is not so yet. */
#ifndef TESTS_SIMULATION_CHECKS_GROUPS_H
#define TESTS_SIMULATION_CHECKS_GROUPS_H

#include "tests/simulation/model.h"

#include <stdbool.h>
#include <stddef.h>

/* No gang is on nodes in part. */
bool checks_groups_whole(char *why, size_t room);
/* The status of each group is what its pods are. */
bool checks_groups_told(char *why, size_t room);
/* Those that were made in a calm have started, or are told why not. */
bool checks_groups_examined(char *why, size_t room);

/* No group keeps room that it does not use: it may for a time. */
bool checks_groups_let_go(char *why, size_t room);
/* A group that was scheduled stays so. */
void checks_group_changed(const struct model_change *change);

#endif
