/* profile: the default profile, and ones with a single rule. */
#ifndef TESTS_BENCH_CORE_PROFILE_H
#define TESTS_BENCH_CORE_PROFILE_H

#include "proto/kube/config/config_file.h"

/* kube-scheduler's default profile; with a rule, the same with no other rule at any extension
 * point. False when the default profile has no such rule. */
bool profile_make(struct profile *profile, const char *rule, struct arena *a);

#endif
