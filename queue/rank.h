/* rank: who goes before whom: pods and whole groups in one order. */
#ifndef QUEUE_RANK_H
#define QUEUE_RANK_H

#include "proto/base/str.h"

struct entry;
struct group;

/* The greater key (the higher priority) first, then the earlier time, then pods by themselves
 * before members of groups, then names, then the order of arrival. */
struct rank {
    int64_t key;  /* the priority, or what the plugin says that sorts */
    int64_t time; /* moments, or wall clock where QueueSort is Coscheduling's */
    bool named;
    const struct entry *pod; /* its names are read only when nothing else decides; NULL: a group */
    struct str space, name; /* borrowed; a group's; of a pod that is a member name is its group's */
    uint64_t order;
};

struct rank rank_of_entry(const struct entry *e);
struct rank rank_of_group(const struct group *g);
bool rank_before(const struct rank *a, const struct rank *b);

/* QueueSort of two pods: the greater key first, then the older timestamp, then
 * the order of arrival; with groups as above. */
bool rank_entry_before(const struct entry *a, const struct entry *b);

#endif
