/* gang_try: a group that is tried as one: its members in order, each with its flight, and what was
 * found out about it. Pure bookkeeping; the transaction is gang.c. */
#ifndef SCHEDULER_COORDINATOR_GANG_TRY_H
#define SCHEDULER_COORDINATOR_GANG_TRY_H

#include "proto/base/random.h"
#include "proto/messages.h"
#include "scheduler/merge/gang_placements.h"
#include "scheduler/merge/gang_reach.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/merge/gang_units.h"
#include "scheduler/merge/tree_words.h"

struct flight;

/* A member. What it points to lies in the try's arena. */
struct gang_place {
    struct flight *flight; /* NULL: it has left: it went, somebody bound it, or it goes on alone */
    bool failed;           /* it has no node unless others are evicted */
    struct decision why;   /* if so: kind, node, message, plugins, clear_nominated, claims_known,
                            * deallocation, for_group and why nobody can be evicted for it; nothing
                            * else is set */
    struct str claim;      /* where it was nominated before; empty: nowhere */
    struct str node;       /* where it was placed last; empty: nowhere */
    bool first_failed;     /* it had none in the first of several domains, */
    struct decision first; /* and why */
    bool nowhere;          /* it has no node even with everybody gone who may be evicted */
    enum gang_reach reach; /* who on other nodes may matter to it where it was placed last */
    bool affected;         /* it is looked at again, as somebody is back who may matter to it */
    struct str nominated; /* as its status says; what the flight says instead is where it belongs */
    bool evicts;          /* there it was given room, */
    struct preemption room; /* by evicting these: node, victims, violations */
};

enum gang_phase {
    GANG_placing,     /* with what is free */
    GANG_making_room, /* with what would be free without victims, member by member */
    GANG_clearing,    /* with everybody gone who may be evicted (gang_whole.c) */
    GANG_reprieving   /* each of these comes back, if the group still fits */
};

struct gang_try {
    struct arena arena;
    struct gang group; /* as the queue knows it */
    struct str scheduler_name;
    int64_t needed;        /* at least so many are placed, or none */
    int64_t before;        /* members on nodes already, or on their way there */
    struct tree_try *tree; /* it is a tree of groups; NULL: it is one group */
    uint32_t users;        /* flights that belong to it, and the transaction */
    uint32_t count;
    struct gang_place *at;

    /* of the transaction */
    enum gang_phase phase;
    struct moment began;
    uint32_t placed, passed, left;     /* the others wait or are being decided */
    uint32_t curable;                  /* of those passed over: eviction would help */
    uint32_t placed_most;              /* without evictions */
    uint32_t failed_most;              /* found no place without evictions */
    uint32_t room_most;                /* placed, also with evictions */
    struct moment room_began;          /* when evictions were first looked for; 0: they were not */
    struct str fault;                  /* why it is not tried at all; empty: it is */
    bool lost;                         /* nobody calls its extenders any more: it begins anew */
    bool stopped;                      /* an error ends it, where the API wants that */
    bool waits;                        /* victims of an earlier attempt still go */
    bool whole;                        /* it makes room as one, as since kube-scheduler 1.37, */
    bool former;                       /* or as 1.36 does with WorkloadAwarePreemption */
    struct gang_placements placements; /* where it is tried, */
    struct moment placement_began;     /* in the current one since then */
    struct gang_units units;           /* then: whom it may evict */
    uint32_t unit;                     /* the one that is looked at */
    bool denied;                       /* that one has to go */
    const struct pod **wary;           /* room for those members that some matter to */
    bool apart;                        /* members matter to each other on their own nodes alone */
    bool fits;                         /* a filter sees to it that they fit */
    enum gang_room room;               /* what came of it */
    bool moved;                        /* of a tree: members are nominated elsewhere just now */
    struct tree_words *words;          /* likewise: what is told of it */
    enum gang_claims_end claims;       /* what becomes of the group's own ResourceClaims: */
    struct deallocation taken;         /* this one's */
    int64_t cleared_most;              /* members placed or on nodes, with everybody gone */
    struct random dice;                /* as before it */
    uint64_t turn;                     /* as before it */
};

/* Without members, and with one user: the caller. */
struct gang_try *gang_try_new(const struct gang *group, int64_t needed, uint32_t room);
/* One user less; it is freed with the last. */
void gang_try_drop(struct gang_try *g);
/* The flight becomes the next member; at most `room`. */
void gang_try_add(struct gang_try *g, struct flight *f);
/* The flight is its try's no more. */
void gang_try_leave(struct flight *f);
/* Members that are still to be decided, or being decided. */
uint32_t gang_try_waiting(const struct gang_try *g);
/* Members of the PodGroup that this member names that have a place. */
uint32_t gang_try_placed_beside(const struct gang_try *g, const struct flight *f);
/* The nodes that it may go to; NULL: any. */
const struct strs *gang_try_placement(const struct gang_try *g);
/* Resources that those of these members ask for that have a place. */
struct strs gang_try_asked(struct gang_try *g, uint32_t first, uint32_t count);
/* Keeps what was found out of members in the first of several domains, or takes it up again. */
void gang_try_keep_first(struct gang_try *g);
void gang_try_take_first(struct gang_try *g);
/* Keeps what a decision against the member says. */
void gang_try_note_failure(struct gang_try *g, struct gang_place *m, const struct decision *d);
/* Keeps where the member would have room without whom. */
void gang_try_note_room(struct gang_try *g, struct gang_place *m, const struct preemption *p);
/* UIDs of the nominated pods of its own group, which are not in its way: the group comes as one.
 * From cycle_memory. */
struct strs gang_try_nominated(const struct gang_try *g, const struct cache *cache,
                               struct arena *a);

#endif
