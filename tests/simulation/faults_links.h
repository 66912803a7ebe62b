/* faults_links: the links' part of faults.c. */
#ifndef TESTS_SIMULATION_FAULTS_LINKS_H
#define TESTS_SIMULATION_FAULTS_LINKS_H

#include "tests/simulation/plan.h"

/* Between least and most, by a number that the action carries. */
int64_t faults_so_long(uint32_t n, int64_t least, int64_t most);
bool faults_do_links(const struct action *action);
void faults_heal_links(void);

#endif
