/* rank: who goes before whom: pods and whole groups in one order. */
#ifndef QUEUE_RANK_H
#define QUEUE_RANK_H

#include "proto/base/str.h"

struct entry;
struct group;

/* Higher priority first, then the earlier time, then pods by themselves before members of groups,
 * then names, then the order of arrival. */
struct rank {
    int64_t priority; /* 0 with FIFOSort */
    int64_t time;     /* moments, or wall clock where QueueSort is Coscheduling's */
    bool named;
    const struct entry *pod; /* whose names count, read when nothing else decides; NULL: these do */
    struct str space, name;  /* borrowed; of a pod that is a member its group's name alone */
    uint64_t order;
};

struct rank rank_of_entry(const struct entry *e);
struct rank rank_of_group(const struct group *g);
bool rank_before(const struct rank *a, const struct rank *b);

#endif
