/* search: what the files of one search share. Nobody else includes it. */
#ifndef DEVICES_SEARCH_H
#define DEVICES_SEARCH_H

#include "scheduler/devices/inside.h"

struct pool_device {
    struct view_pool *pool;
    struct device *device;
};

/* An attribute that a choice derives. */
struct derived {
    struct str name;
    struct program *program;
    const struct cel_attribute **known; /* by slot; NULL: not yet */
};

struct choice {
    const struct dra_choice *said;
    struct str name;               /* of the subrequest, or of the request */
    uint32_t number;               /* among all choices of the claim */
    const struct dra_class *class; /* NULL: there is no such class */
    uint32_t class_selectors;      /* the first so many programs are the class's */
    uint32_t program_count;
    struct program **programs;
    struct amount *capacities; /* as in said */
    struct derived *derived;   /* the same */
    bool all;
    int64_t wanted;            /* devices; of All: how many the node has */
    struct pool_device *found; /* of All: those */
};

struct request {
    const struct dra_request *said;
    uint32_t choice_count;
    struct choice *choices;
    uint32_t selected;
};

struct constraint {
    struct str attribute;                    /* empty: it is of an unknown kind */
    bool distinct;                           /* else all must have the same value */
    bool *applies;                           /* by number of the choice */
    uint32_t devices;                        /* that it knows of */
    const struct cel_attribute *value;       /* match: of the first of them */
    uint64_t *common;                        /* match of sets: which of its values all have, as
                                                bits, up to each device */
    const struct cel_attribute **by_request; /* distinct, 1.36: of each request's last device */
    const struct cel_attribute **each;       /* distinct: of each device that it knows of */
};

struct asked_claim {
    const struct dra_claim *said;
    struct str key; /* namespace/name */
    uint32_t request_count, constraint_count;
    struct request *requests;
    struct constraint *constraints;
    uint32_t first_pick, pick_count;
};

/* A device that is chosen, and what that changed. */
struct pick {
    struct pool_device what;
    uint32_t claim, request, choice;
    bool counters, marked, shared, was_shared;
    uint32_t groups;      /* so many sets were joined */
    uint32_t constraints; /* the first so many know of it */
};

enum frame_kind {
    FRAME_new,     /* nothing done yet */
    FRAME_choices, /* tries one choice after the other */
    FRAME_claim,   /* the claim is done: the next one */
    FRAME_all,     /* one of all devices is chosen */
    FRAME_pick,    /* tries one device after the other */
};

/* A call of upstream's allocateOne. */
struct frame {
    enum frame_kind kind;
    bool in_choice, all_exceeded;
    uint32_t claim, request, choice;
    int64_t device;             /* so many of the request are chosen */
    uint32_t pool, slice, next; /* where to go on */
};

/* What a set of counters was before a choice. */
struct group_save {
    struct group_set *set;
    struct group_set was;
};

struct dra_search {
    struct devices *devices;
    struct dra_ways ways;
    struct arena arena; /* of the question */
    struct arena work;  /* of the node that is asked */
    uint32_t claim_count;
    struct asked_claim *claims;
    struct node_view view;
    const struct dra_node *node;
    const struct dra_limits *limits;
    uint64_t round, steps, ticks;
    uint32_t pick_count;
    struct pick *picks;
    uint32_t depth, frame_room;
    struct frame *frames;
    uint32_t group_save_count, group_save_room;
    struct group_save *group_saves; /* the last one is undone first */
    struct str error;
};

/* What a step says to the one above it. */
enum reply {
    REPLY_descend, /* a frame was put on top */
    REPLY_done,
    REPLY_none,
    REPLY_exceeded, /* a claim would get more than DRA_RESULTS_MAX devices */
    REPLY_failed,   /* with search->error */
    REPLY_expired,
};

/* Finds out for the node what is known before the search: false with search->error. */
bool search_prepare(struct dra_search *search);
/* REPLY_done, REPLY_none or REPLY_failed. */
enum reply search_selectable(struct dra_search *search, const struct asked_claim *claim,
                             const struct choice *choice, struct device *device);
/* What is noted of the device while this node is asked. */
struct mark *search_mark(const struct dra_search *search, const struct device *device);
/* Chooses the candidate for the frame's request: done, none, or failed (only when it must be). */
enum reply pick_add(struct dra_search *search, const struct frame *frame, struct pool_device what,
                    bool must);
/* A chosen device is one more, unless the claim's constraint forbids it (none), or failed; and is
 * taken out again. */
enum reply constraint_add(struct dra_search *search, struct constraint *constraint,
                          const struct asked_claim *claim, const struct pick *pick);
void constraint_remove(struct constraint *constraint, const struct asked_claim *claim,
                       const struct pick *pick);
/* A chosen device joins those of its sets of counters, unless groups forbid it; and leaves again.
 */
bool groups_join(struct dra_search *search, struct pick *pick);
void groups_undo(struct dra_search *search, struct pick *pick);
/* What the choice asks of capacities. */
struct capacity_question choice_question(struct dra_search *search, const struct choice *choice);
/* What the choice asks of the device's capacity; NULL: nothing in particular. */
const struct amount *choice_requests(const struct choice *choice, struct str capacity);
/* Takes the last one back. */
void pick_undo(struct dra_search *search);
/* The whole of a device is taken, or chosen already. */
bool device_in_use(const struct dra_search *search, const struct device *device);
bool device_in_claim(const struct dra_search *search, uint32_t claim, const struct device *device);
/* The search itself. */
enum reply search_run(struct dra_search *search);

#endif
