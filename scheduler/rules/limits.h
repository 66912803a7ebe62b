/* limits: how many there are of something at most, where the coordinator and its workers have to
 * mean the same. */
#ifndef SCHEDULER_RULES_LIMITS_H
#define SCHEDULER_RULES_LIMITS_H

#define RUN_MAX     1024 /* places of a list at most */
#define KEPT_MAX    4    /* rules that count for a pod, where anything is kept for it */
#define SCORERS_MAX 64   /* scoring rules of a profile, where anything is kept for a pod */

#endif
