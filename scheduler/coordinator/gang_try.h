/* gang_try: a group that is tried as one: its members in order, each with its flight, and what was
 * found out about it. Pure bookkeeping; the transaction is gang.c. */
#ifndef SCHEDULER_COORDINATOR_GANG_TRY_H
#define SCHEDULER_COORDINATOR_GANG_TRY_H

#include "proto/base/random.h"
#include "proto/messages.h"
#include "scheduler/merge/reduce.h"

struct flight;

/* A member. What it points to lies in the try's arena. */
struct gang_place {
    struct flight *flight; /* NULL: it has left: it went, somebody bound it, or it goes on alone */
    bool failed;           /* it has no node unless others are evicted */
    struct decision why;   /* if so: kind, node, message, plugins, clear_nominated, deallocation and
                            * why   nobody can be evicted for it; nothing else is set */
    struct str claim;      /* where it was nominated before; empty: nowhere */
    struct str node;       /* where it was placed last; empty: nowhere */
    bool evicts;           /* there it was given room, */
    struct preemption room; /* by evicting these: node, victims, violations */
};

enum gang_phase {
    GANG_placing,    /* with what is free */
    GANG_making_room /* with what would be free without victims */
};

struct gang_try {
    struct arena arena;
    struct gang group; /* as the queue knows it */
    struct str scheduler_name;
    int64_t needed; /* at least so many are placed, or none */
    int64_t before; /* members on nodes already, or on their way there */
    uint32_t users; /* flights that belong to it, and the transaction */
    uint32_t count;
    struct gang_place *at;

    /* of the transaction */
    enum gang_phase phase;
    struct moment began;
    uint32_t placed, passed, left; /* the others wait or are being decided */
    uint32_t curable;              /* of those passed over: eviction would help */
    uint32_t placed_most;          /* without evictions */
    uint32_t failed_most;          /* found no place without evictions */
    bool lost;                     /* nobody calls its extenders any more: it begins anew */
    bool stopped;                  /* an error ends it, where the API wants that */
    struct random dice;            /* as before it */
    char last_node[256];
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
/* Keeps what a decision against the member says. */
void gang_try_note_failure(struct gang_try *g, struct gang_place *m, const struct decision *d);
/* Keeps where the member would have room without whom. */
void gang_try_note_room(struct gang_try *g, struct gang_place *m, const struct preemption *p);
/* UIDs of the nominated pods of its own group, which are not in its way: the group comes as one.
 * From cycle_memory. */
struct strs gang_try_nominated(const struct gang_try *g, const struct cache *cache,
                               struct arena *a);

#endif
