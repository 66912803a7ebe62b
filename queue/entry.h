/* entry: one pending pod of ours with the history of its attempts; it is in exactly one place. */
#ifndef QUEUE_ENTRY_H
#define QUEUE_ENTRY_H

#include "proto/base/heap.h"
#include "proto/base/moment.h"
#include "proto/packed_store.h"

enum place {
    PLACE_nowhere,       /* between two places, inside one operation */
    PLACE_active,        /* to be tried as soon as there is credit */
    PLACE_backoff,       /* was rejected and woken: waits for its backoff, or for an idle moment */
    PLACE_error_backoff, /* its attempt failed for no fault of the pod: waits for its backoff */
    PLACE_unschedulable, /* waits for an event that can help, or for its gates to go */
    PLACE_in_flight,     /* at the scheduler; an outcome is owed */
    PLACE_gang,          /* waits with its group until that is complete enough (gang.h) */
    PLACE_parked, /* its equals were rejected just now: waits until one of them is woken (equals.h)
                   */
    PLACE_bound,  /* said to be bound; the watch has yet to show it */
    PLACE_COUNT
};

struct flight;
struct nominee;
struct member;
struct opened;
struct waiting;
struct queue_plugin;
struct surroundings;
struct held;

/* What holds a pod back before it is tried at all; the first that applies. */
enum gate {
    GATE_none,
    GATE_deleting,   /* it is going; upstream pops it and passes it over */
    GATE_scheduling, /* spec.schedulingGates */
    GATE_claims,     /* a ResourceClaim of it is not there yet, or going */
    GATE_hook,       /* a plugin's PreEnqueue (plugin.h) */
    GATE_plugin      /* a plugin on the bus has not let it through so far (bus_plugins/held.h) */
};

struct entry {
    struct packed_store *store; /* of all pending pods; borrowed */
    struct stored *kept;        /* the pod as last seen; version is its resource version */
    struct opened *opened;      /* the same, decoded, while somebody looks at it; NULL: not now */
    int64_t priority;           /* the pod's */
    int64_t key;                /* its place in line: the greatest goes first (plugin.h) */
    bool keyed;                 /* a plugin on the bus has said that */
    bool deleting, has_gates, has_device_claims, has_gang; /* the pod's */
    bool on_node;  /* it has one already, which has no room for what it asks for by now */
    bool alone;    /* the pod can have no equals */
    bool similar;  /* no more than similar to others */
    bool released; /* counts among those of its equals that were parked and stand in line */
    bool insists;  /* is tried whatever its equals found */
    bool hurried;  /* its last attempt had to be followed by another at once */
    bool may_hold; /* the scheduler may hold its room: it was said to be bound and is not seen so,
                    * was skipped, or came with a snapshot and was not tried since */
    struct equals *equals; /* those that ask for the same; NULL: alone, or not tried yet */
    enum place place;
    struct heap_link heap;      /* in the active or a backoff heap */
    struct entry *next, *prev;  /* among the unschedulable, the bound, or those of its group */
    struct member *member;      /* of its group; NULL: it has none */
    struct flight *flight;      /* in flight */
    struct moment timestamp;    /* added, or last failed: the order among equal priorities */
    uint64_t order;             /* breaks ties of timestamps: first come, first served */
    struct moment backoff_ends; /* whole second; 0 = none */
    struct moment added;        /* when the queue first saw it */
    struct moment bound;        /* when it was said to be bound */
    int64_t sent_us;            /* wall clock: the watcher sent it, when it was added */
    int64_t first_us;           /* wall clock: first entered the active queue; 0 = not yet */
    int64_t attempts;
    int64_t unschedulable_count; /* rejections, for the backoff */
    int64_t error_count;         /* errors since the last rejection, for the backoff */
    uint64_t rejectors;          /* plugins that rejected it in its last attempt, or gate it */
    uint64_t pending_plugins;    /* plugins that asked to wait for an event of their own */
    struct waiting *waits; /* its needs (needs.h), while it is unschedulable and no gate holds it */
    uint32_t wait_count;
    uint64_t helped;           /* of the event that is being looked at: plugins that it may help */
    struct entry *found_next;  /* the next one that it may help */
    struct nominee *nominated; /* claim on a node (nominated.h), NULL = none */
    const struct surroundings *around; /* of its profile; borrowed, never NULL in the queues */
    uint32_t seen;                     /* number of the snapshot that last held it */
    bool flushed;   /* nothing but its age has led to the attempt that is to come or under way */
    enum gate gate; /* not none: that is why it is unschedulable, not what rejected it */
    const struct queue_plugin *held_by_hook; /* of GATE_hook */
    struct held *held; /* what plugins on the bus say of it; NULL: none was asked */
    uint64_t held_by;  /* those among its rejectors that do not let it through */
};

struct entry *entry_new(struct packed_store *store, const struct pod *pod);
/* Takes ownership and nulls the caller's pointer. The entry must be in no place. */
void entry_free(struct entry **e);
/* Replaces the pod by a copy. */
void entry_replace(struct entry *e, const struct pod *pod);
/* The whole pod; borrowed until it is replaced or folded. */
const struct pod *entry_pod(struct entry *e);
/* Nobody will look at the pod for a while: only its encoded form stays. */
void entry_fold(struct entry *e);
bool entry_has_uid(const struct entry *e, struct str uid);

/* A list of entries through next and prev, oldest first; zero-initialise. */
struct entry_list {
    struct entry *first, *last;
    size_t count;
};

void entry_list_add(struct entry_list *list, struct entry *e);
void entry_list_remove(struct entry_list *list, struct entry *e);

#endif
