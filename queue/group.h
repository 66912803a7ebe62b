/* group: a PodGroup with the pods that name it, and the table of all of them (gang.h). */
#ifndef QUEUE_GROUP_H
#define QUEUE_GROUP_H

#include "proto/base/arena.h"
#include "proto/base/heap.h"
#include "proto/base/map.h"
#include "queue/entry.h"
#include "queue/gang_room.h"

/* Where a group is that has not minMember on nodes. */
enum group_state {
    GROUP_idle,    /* nobody of it is ready: none is there, all are gated, or asleep */
    GROUP_flying,  /* its attempts are under way */
    GROUP_unread,  /* its PodGroup is not known, and none of its API group can be read */
    GROUP_missing, /* there is no PodGroup */
    GROUP_few,     /* too few pods */
    GROUP_gated,   /* enough pods, but too many of them are held by gates; of a whole group: any */
    GROUP_mixed,   /* in-tree: its pods are not all one scheduler's */
    GROUP_large,   /* no message could hold it */
    GROUP_denied,  /* it failed not long ago (podGroupBackoffSeconds) */
    GROUP_short,   /* minResources is more than all nodes have left */
    GROUP_backoff, /* waits for the end of its backoff, or for an idle moment */
    GROUP_ready,   /* to be handed over */
    GROUP_STATES
};

/* What ties a pending pod to its group: the PodGroup that it names, or the root of the tree that
 * this one is a leaf of (forest/forest.h). */
struct member {
    struct group *group;
    struct group *leaf; /* the PodGroup that it names */
    struct entry *entry;
    struct member *next, *prev; /* of the group, in order of arrival */
    uint64_t told;              /* what its condition says of the group's state; 0: nothing */
};

/* How the transaction under way has gone so far. */
struct group_try {
    int64_t needed;
    uint32_t bound, rejected, errors, skipped;
    uint32_t fit;   /* rejected for others' sake alone: a place was found for them */
    bool nominated; /* room is being made */
    bool hurry;     /* its plugins asked for another attempt at once */
};

struct group {
    struct gangs *gangs;
    char *key; /* api/namespace/name */
    struct str api, space, name;
    bool exists; /* there is such a PodGroup: */
    struct gang record;
    struct arena memory; /* of the record */
    uint32_t seen;       /* number of the snapshot that last held it */

    struct member *first, *last; /* pending pods of ours */
    size_t member_count;
    struct entry_list ready;         /* those in PLACE_gang */
    size_t assigned, bound, flights; /* on nodes, said to be bound, attempts owed */
    size_t placed_seen;              /* when it was last looked at */
    struct sums usage;               /* what its assigned pods take */
    struct group *up, *children; /* in its tree, also of groups that are not there; NULL: none */
    struct group *next_child, *prev_child;
    size_t pending; /* members of any group that name it */
    size_t below;   /* of a root: assigned pods of its leaves, when it was last looked at */
    int64_t heads;  /* while its tree's pods are counted */
    const struct surroundings *around; /* of the profile of a member; NULL: it never had one */
    int64_t sort_key;                  /* of rank: the greatest of the ready members */
    bool satisfied; /* minMember are placed, or it is no gang; its pods go alone */
    bool awake;     /* worth another attempt; what sleeps of it is to wake */
    bool waits_out; /* its backoff is not cut short: what failed was not the want of a place */
    bool marked;    /* to be looked at */
    struct group *next_marked;

    enum group_state state;
    int64_t counted;     /* the queue that it was counted in last, and one; 0: none */
    struct moment since; /* when its first pending member came; 0: none waits for others */
    struct moment age;   /* its last failure or else its creation: its place in the order */
    int64_t failed_us;   /* wall clock of its last failure; 0: none since it was placed */
    int64_t failures, errors;
    struct moment backoff_ends, denied_until, permitted_until; /* 0: not */
    struct moment retry; /* when it is tried again though nothing happens; 0: never */
    struct group_try attempt;
    struct heap_link queued; /* in the heap of ready ones, or of those in backoff */
    struct heap_link timed;
    struct moment due; /* when it is looked at without anything happening */

    uint64_t told;                                        /* what was told of it last; 0: nothing */
    uint64_t what;                                        /* what there is to tell; 0: nothing */
    struct moment changed, untold, told_at, pods_told_at; /* changed: what; untold: since when */
    struct span retell;
    struct heap_link telling;
    struct moment tell_due;
};

struct gangs_counts {
    uint64_t handed, members_handed; /* groups, and the members in them */
    uint64_t failed;                 /* transactions without a place for minMember */
    uint64_t denied, told;
};

#define GANG_APIS 3

/* API groups, a bit each, whose PodGroups are read; and those that may be served and are not. */
struct gang_kinds {
    uint32_t served;
    uint32_t unread;      /* a right is missing */
    uint32_t unknown;     /* and it is not known whether they are served */
    uint32_t looking;     /* not served so far, and looked for again just now */
    char *why[GANG_APIS]; /* they are not read; NULL: they are, or not served */
};

struct gangs {
    struct map *groups; /* key → struct group */
    struct gang_kinds kinds;
    bool trees; /* PodGroups may be leaves of trees: the feature gate CompositePodGroup */
    struct heap *ready, *backoff, *timed, *telling;
    struct group *marked;
    struct room room;
    uint32_t snapshot;
    struct entry **taken; /* of the group that is being handed over */
    size_t taken_room;
    struct moment early;   /* when a group's backoff was last cut short */
    uint64_t coscheduling; /* the plugin's bit; and with the in-tree one's, */
    uint64_t sake;         /* those that reject a pod for its siblings' sake alone */
    int64_t wall_us_at_zero;
    struct gangs_counts counts;
};

/* No pod may be a member any more. */
void group_free(struct group *g);
/* It will be looked at. */
void group_mark(struct group *g);
/* A member comes to wait with it, or goes. */
void group_add_ready(struct group *g, struct entry *e);
void group_remove_ready(struct group *g, struct entry *e);
/* The PodGroup exists and asks for members together. */
bool group_is_gang(const struct group *g);
bool group_is_in_tree(const struct group *g);
/* It is a CompositePodGroup. */
bool group_is_tree(const struct group *g);
/* All its pods are tried together, also when they are late or its policy is basic. */
bool group_is_whole(const struct group *g);
/* How many start together at least; 0: it is no gang. */
int64_t group_least(const struct group *g);
/* Members on nodes, or on their way there. */
int64_t group_placed(const struct group *g);
/* How many more have to get a place; at least 0, and 1 where all are tried together. */
int64_t group_needed(const struct group *g);
/* The pod is to wait with its group. */
bool group_holds(const struct entry *e);
/* What is queued is its group and not the pod: it is of an in-tree one. */
bool group_stands_for(const struct entry *e);
/* The pod, which may have a group, is said to be bound; or it is so no more. */
void group_add_bound(const struct entry *e);
void group_remove_bound(const struct entry *e);
/* Into the heap that the state asks for, or out of all; also when its rank has changed. */
void group_set_state(struct group *g, enum group_state state);
/* When it is to be told of; MOMENT_NEVER: not. */
void group_set_telling(struct group *g, struct moment due);

#endif
