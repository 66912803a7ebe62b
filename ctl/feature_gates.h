/* feature_gates: kube-scheduler's --feature-gates, checked. */
#ifndef CTL_FEATURE_GATES_H
#define CTL_FEATURE_GATES_H

#include <stdbool.h>
#include <stddef.h>

/* `Name=true,kube:Other=false`. False with the reason, in upstream's words where it would refuse it
 * too, for a name that is not known, a gate that is locked or lacks one that it depends on, and a
 * value that would have this scheduler do otherwise than it does. */
bool feature_gates_check(const char *text, char *error, size_t room);
/* The same, and whether PodGroups of scheduling.k8s.io are switched on. */
bool feature_gates_read(const char *text, bool *gangs, char *error, size_t room);
/* Whether the gate of that name, which there is, is on with these values, which were checked
 * before. */
bool feature_gate_is_on(const char *text, const char *name);
/* Every gate in the order of names, its stage ("", ALPHA, BETA or DEPRECATED), and whether it is on
 * with these values, which were checked before. */
void feature_gates_each(const char *text,
                        void (*each)(void *context, const char *name, const char *stage, bool on),
                        void *context);

#endif
