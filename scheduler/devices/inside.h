/* inside: what the files of scheduler/devices share. Nobody else includes it. */
#ifndef DEVICES_INSIDE_H
#define DEVICES_INSIDE_H

#include "proto/base/map.h"
#include "proto/base/table.h"
#include "proto/kube/documents/quantity.h"
#include "scheduler/cel/cel.h"
#include "scheduler/devices/allocate.h"

/* Billionths; within ±2^110, so that sums of many thousands cannot overflow. */
__extension__ typedef __int128 dra_nano;

struct amount {
    struct str text; /* as written; empty: there is none */
    dra_nano nano;
};

/* False, with *a zero, when the text is no quantity. */
bool amount_parse(struct str text, struct amount *a);

/* ---- slices: what the drivers said, and what follows from it ---- */

struct policy {
    struct amount standard, least, most, step;
    bool has_range;
    uint32_t value_count;
    struct amount *values;
};

struct capacity {
    struct str name;
    struct amount value;
    bool has_policy;
    struct policy policy;
};

struct consumption {
    struct str set, name;
    dra_nano nano;
    uint32_t counter; /* index in the edition's counters; NO_COUNTER: there is none */
};

#define NO_COUNTER UINT32_MAX

struct slice;

struct device {
    struct dra_device said; /* capacities and consumes are those below instead */
    struct slice *slice;
    struct use *use;
    uint32_t slot; /* where programs and searches keep what they know of it */
    uint32_t capacity_count;
    struct capacity *capacities;
    uint32_t consumption_count;
    struct consumption *consumption;   /* one for each counter of each set */
    struct device *twin;               /* another one of that name in the edition */
    const struct cel_subject *subject; /* made when it is first needed */
    struct str bad_reach;              /* why its node selector cannot be used; empty: it can */
};

struct counter {
    struct str set, name;
    dra_nano nano;
};

struct slice {
    struct dra_slice said; /* devices and shared are those below instead */
    struct arena arena;    /* holds everything of it but the slice itself */
    struct pool *pool;
    struct edition *edition;
    uint32_t first_slot;
    uint32_t device_count;
    struct device *devices;
    uint32_t set_count;
    struct str *sets; /* names of shared counter sets */
    uint32_t counter_count;
    struct counter *counters; /* of all its sets */
    bool has_binding;         /* a device has binding conditions */
    bool unknown_counters;    /* a device consumes what the edition does not have */
    struct str bad_reach;     /* as with devices */
    uint64_t seen;            /* the view that it was last in */
};

/* Reads a slice; NULL with the reason in *error when a quantity is malformed. */
struct slice *slice_make(const struct dra_slice *said, struct buffer *error);
void slice_free(struct slice *slice);
/* A slice that names a node and shares no counters. */
bool slice_local(const struct slice *slice);
/* By driver, pool and name. */
int slice_compare(const struct slice *a, const struct slice *b);

struct slices {
    uint32_t count, room;
    struct slice **at; /* in the order of slice_compare */
};

void slices_add(struct slices *list, struct slice *slice);
void slices_remove(struct slices *list, struct slice *slice);

/* ---- pools ---- */

/* The slices of a pool that are of one generation. */
struct edition {
    int64_t generation;
    struct slices slices;
    bool stale; /* what follows has to be found out again */
    bool doubled_sets;
    bool doubled_devices;
    bool unknown_counters; /* in any of its slices */
    uint32_t counter_count;
    struct counter *counters;
    bool available_known;
    dra_nano *available; /* by counter: what allocated devices have left */
    struct edition *next;
};

struct pool {
    struct str driver, name;
    struct edition *editions; /* the newest first */
};

struct pool *pool_find(const struct devices *devices, struct str driver, struct str name);
/* Enters a slice that slice_make made, and takes it out; a pool ends with its last slice. */
void pool_add(struct devices *devices, struct slice *slice);
void pool_remove(struct devices *devices, struct slice *slice);
/* Finds out what follows from an edition's slices, unless that is known. */
void edition_settle(struct edition *edition);
/* What is left of the edition's counters, over all its slices. */
const dra_nano *edition_available(struct edition *edition);
/* Takes what allocated devices of the slice consume from available. */
void slice_take_counters(const struct slice *slice, dra_nano *available);
/* What is allocated of the pool's devices is another. */
void pool_used(struct devices *devices, struct str driver, struct str name);

/* ---- uses ---- */

struct consumed {
    struct str name;
    dra_nano nano;
    uint32_t count; /* shares that consume of it */
};

/* A device by its names, whether or not a slice has it. */
struct use {
    struct str driver, pool, device;
    uint32_t devices;   /* in slices */
    uint32_t dedicated; /* allocations of the whole */
    uint32_t shares;
    uint32_t entries; /* shares with consumed capacity */
    uint32_t consumed_count;
    struct consumed *consumed;
};

struct use *use_of(struct devices *devices, struct str driver, struct str pool, struct str device);
/* A claim has got the device, or a share of it; and gives that back. */
void use_take(struct use *use, const struct dra_use *u);
void use_give_back(struct use *use, const struct dra_use *u);
/* Gives it up when nothing refers to it any more. */
void use_release(struct devices *devices, struct use *use);
bool use_allocated(const struct use *use);
dra_nano use_consumed(const struct use *use, struct str name);

/* ---- selectors ---- */

struct program {
    struct str text;
    struct cel_program *cel; /* NULL: it does not compile */
    struct str error;        /* why */
    uint8_t *verdicts;       /* by slot; 0: not known, else 1 + enum cel_verdict */
    uint32_t room;
    uint32_t searches; /* that hold it */
    uint64_t last_held;
};

/* Held until program_drop. */
struct program *program_hold(struct devices *devices, struct str text);
void program_drop(struct program *program);
/* What the program says of a device; error (in the arena) for CEL_FAILED and for what does not
 * compile, which is CEL_FAILED too. */
enum cel_verdict program_match(struct devices *devices, struct program *program,
                               struct device *device, struct arena *arena, struct str *error);
/* The slots are given to other devices. */
void programs_forget(struct devices *devices, uint32_t first, uint32_t count);
void programs_free(struct devices *devices);

/* ---- slots ---- */

struct slot_range {
    uint32_t first, count;
};

struct slots {
    uint32_t top; /* none above was ever given out */
    uint32_t free_count, free_room;
    struct slot_range *free; /* by first; no two touch */
};

uint32_t slots_take(struct slots *slots, uint32_t count);
void slots_give_back(struct slots *slots, uint32_t first, uint32_t count);

/* ---- the store ---- */

/* What a search notes of a device while it asks one node. */
struct mark {
    uint64_t round;          /* of the search that it is of; any other: there is nothing noted */
    uint32_t marks;          /* claims that it is chosen for */
    bool shared;             /* shares of it are chosen */
    bool reach_known, reach; /* whether the node reaches it */
    dra_nano *allocating;    /* by capacity; NULL: nothing */
};

struct devices {
    struct map *slices;   /* struct slice by name */
    struct map *locals;   /* struct slices by node, of local slices */
    struct slices shared; /* all others */
    struct map *named;    /* by node: how many shared slices name it, as a pointer */
    uint32_t by_label;    /* shared slices that go by nodes' labels */
    struct map *classes;  /* struct class_entry by name */
    struct table pools, uses;
    struct map *programs; /* by text */
    struct slots slots;
    struct mark *marks; /* by slot */
    uint32_t mark_room;
    uint64_t round;         /* counts the nodes that were asked */
    uint64_t holds;         /* counts the programs that were held */
    struct slices gathered; /* what view_gather works with */
    struct arena scratch;   /* of evaluations */
};

/* ---- a view ---- */

struct view_pool {
    struct pool *pool;
    struct edition *edition;
    bool incomplete, invalid;
    bool whole; /* devices out of reach consume counters as well */
    bool has_binding;
    uint32_t slice_count;
    struct slice **slices; /* in reach, with devices */
    const dra_nano *available;
    dra_nano *consumed; /* by counter: of what is chosen; NULL: nothing yet */
};

struct node_view {
    uint32_t count, room;
    struct view_pool *at; /* in the order in which they are tried; memory_free it in the end */
};

/* False with the error's text where upstream's GatherPools fails. */
bool view_gather(struct devices *devices, const struct dra_node *node, struct arena *arena,
                 struct node_view *view, struct str *error);
/* Whether the node is one of those; the reach must be a good one. */
bool reach_matches(const struct dra_reach *reach, const struct dra_node *node);

/* ---- capacities ---- */

/* The part of a device's capacity that a request for it consumes (requested may be NULL). */
struct amount capacity_consumed(const struct amount *requested, const struct capacity *capacity,
                                struct arena *texts);
/* Whether the request fits a device on top of what is taken and of what is being allocated. */
bool capacity_fits(const struct device *device, const struct dra_amount *requests,
                   const struct amount *parsed, uint32_t count, const dra_nano *allocating);

#endif
