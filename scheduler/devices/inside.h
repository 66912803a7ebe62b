/* inside: what the files of scheduler/devices share. Nobody else includes it. */
#ifndef DEVICES_INSIDE_H
#define DEVICES_INSIDE_H

#include "proto/base/map.h"
#include "proto/base/table.h"
#include "proto/kube/documents/quantity.h"
#include "scheduler/cel/cel.h"
#include "scheduler/devices/allocate.h"
#include "scheduler/devices/changes.h"

/* Billionths; within ±2^110, so that sums of many thousands cannot overflow. */
__extension__ typedef __int128 dra_nano;

struct amount {
    struct str text; /* as written; empty: there is none */
    dra_nano nano;
};

/* False, with *a zero, when the text is no quantity. */
bool amount_parse(struct str text, struct amount *a);

enum amount_format { AMOUNT_decimal, AMOUNT_binary, AMOUNT_exponent };

/* The kind of suffix that the quantity was written with. */
enum amount_format amount_format_of(struct str text);
/* As upstream writes a quantity of that format. */
struct str amount_text(dra_nano nano, enum amount_format format, struct arena *arena);

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

/* With whom a device shares a set of counters. */
struct group_use {
    struct str set;
    struct strs groups;
};

struct slice;

struct device {
    struct dra_device said; /* capacities and consumes are those below instead */
    struct slice *slice;
    struct use *use;
    uint32_t slot; /* where programs and searches keep what they know of it */
    uint32_t capacity_count;
    struct capacity *capacities;
    uint32_t consumption_count;
    struct consumption *consumption; /* one for each counter of each set */
    uint32_t group_use_count;
    struct group_use *group_uses;      /* one for each set that it consumes of */
    struct device *twin;               /* another one of that name in the edition */
    const struct cel_subject *subject; /* made when it is first needed */
    struct str bad_reach;              /* why its node selector cannot be used; empty: it can */
};

struct counter {
    struct str set, name;
    dra_nano nano;
};

/* A label and its value, or "" and a node's name. */
struct reach_key {
    struct str label, value;
};

struct reach_keys {
    uint32_t count, room;
    struct reach_key *at;
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
    bool takes_of_nodes;      /* a device takes of its node's own resources */
    bool uses_groups;         /* a device names compatibility groups */
    bool unknown_counters;    /* a device consumes what the edition does not have */
    struct str bad_reach;     /* as with devices */
    uint64_t seen;            /* the view that it was last in */
    bool indexed;             /* only nodes with one of the keys reach it */
    struct reach_keys keys;   /* its places in the index; borrowed from the rest of it */
};

/* Reads a slice; NULL with the reason in *error when a quantity is malformed. */
struct slice *slice_make(const struct dra_slice *said, struct buffer *error);
void slice_free(struct slice *slice);
/* By driver, pool and name. */
int slice_compare(const struct slice *a, const struct slice *b);

struct slices {
    uint32_t count, room;
    struct slice **at; /* in the order of slice_compare */
};

void slices_add(struct slices *list, struct slice *slice);
void slices_remove(struct slices *list, struct slice *slice);

/* ---- slices by what nodes reach them ---- */

struct reach_index;

struct reach_index *reach_index_new(void);
/* All slices have been taken out. */
void reach_index_free(struct reach_index **index);
/* False: it must be looked at for each node. */
bool reach_index_put(struct reach_index *index, struct slice *slice);
/* It was put in. */
void reach_index_take_out(struct reach_index *index, struct slice *slice);
/* All slices in the index that the node may reach, in order, instead of what is in the list. */
void reach_index_gather(struct reach_index *index, const struct dra_node *node,
                        struct slices *list);
/* Whether there would be any. */
bool reach_index_has(struct reach_index *index, const struct dra_node *node);
/* Whether labels have a say, beside names. */
bool reach_index_wants_labels(const struct reach_index *index);

/* ---- pools ---- */

/* The slices of a pool that are of one generation. */
struct edition {
    int64_t generation;
    struct slices slices;
    uint32_t grouped; /* slices that use compatibility groups */
    bool stale;       /* what follows has to be found out again */
    bool doubled_sets;
    bool doubled_devices;
    bool unknown_counters; /* in any of its slices without groups */
    bool unknown_in_groups;
    uint32_t counter_count;
    struct counter *counters;
    bool available_known, available_grouped;
    dra_nano *available; /* by counter: what allocated devices have left; grouped: those of slices
                            that use groups, too */
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
/* What is left of the edition's counters, over all its slices, or without those that use groups. */
const dra_nano *edition_available(struct edition *edition, bool grouped);
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
    struct str key;          /* the text, and what it was compiled as */
    struct cel_program *cel; /* NULL: it does not compile */
    struct str error;        /* why */
    uint8_t *verdicts;       /* by slot; 0: not known, else 1 + enum cel_verdict */
    uint32_t room;
    uint32_t searches; /* that hold it */
    uint64_t last_held;
};

/* As that release compiles it. Held until program_drop. */
struct program *program_hold(struct devices *devices, const struct features *features,
                             struct str text);
/* The same of a derived attribute's expression. */
struct program *program_hold_derived(struct devices *devices, const struct features *features,
                                     struct str text);
void program_drop(struct program *program);
/* What the program says of a device; error (in the arena) for CEL_FAILED and for what does not
 * compile, which is CEL_FAILED too. */
enum cel_verdict program_match(struct devices *devices, struct program *program,
                               struct device *device, struct arena *arena, struct str *error);
/* The same of a device that says nothing of sharing it. */
enum cel_verdict program_match_unshared(struct devices *devices, struct program *program,
                                        struct device *device, struct arena *arena,
                                        struct str *error);
/* What the program of a derived attribute gives, in the arena; NULL with the error there. */
const struct cel_attribute *program_derive(struct devices *devices, const struct program *program,
                                           struct device *device, struct arena *arena,
                                           struct str *error);
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
    struct taint_rules *rules;
    struct map *slices; /* struct slice by name */
    struct reach_index *index;
    struct slices shared;    /* those that are not in the index */
    struct slices counting;  /* those in the index that share counters */
    uint32_t takes_of_nodes; /* slices with such devices */
    uint32_t skipping;       /* slices with skipNodeOperations */
    uint32_t by_labels;      /* slices with a selector that names a label */
    uint32_t picky;          /* of the shared ones: not for all nodes alike */
    struct map *classes;     /* struct class_entry by name */
    struct table pools, uses;
    struct map *programs; /* by text */
    struct slots slots;
    struct mark *marks; /* by slot */
    uint32_t mark_room;
    uint64_t round;              /* counts the nodes that were asked */
    uint64_t holds;              /* counts the programs that were held */
    struct slices own, gathered; /* what view_gather works with */
    struct arena scratch;        /* of evaluations */
    struct changes changes;
};

/* ---- DeviceTaintRules ---- */

struct taint_rule {
    struct dra_taint_rule said;
    struct taint_rule *next; /* of the same device's name, or of those for any */
};

struct taint_rules *taint_rules_new(void);
void taint_rules_free(struct taint_rules **rules);
/* The first of the rules whose selector names this device, or names none; each may still be for
 * another driver or pool. */
const struct taint_rule *taint_rules_named(const struct taint_rules *rules, struct str device);
const struct taint_rule *taint_rules_for_any(const struct taint_rules *rules);

/* ---- a view ---- */

/* Who has been allocated or chosen of a set of counters. */
struct group_set {
    struct str name;
    bool members;             /* there are any */
    const struct strs *first; /* groups of the first of them; NULL: none of them has any */
    uint64_t common;          /* which of these all have, as bits */
};

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
    uint32_t group_set_count;
    struct group_set *group_sets; /* NULL: not begun */
};

struct node_view {
    uint32_t count, room;
    struct view_pool *at; /* in the order in which they are tried; memory_free it in the end */
};

/* What upstream does, as a search is told. */
struct dra_ways {
    struct features features;
    bool shares;    /* devices may be shared */
    bool binding;   /* devices may be waited for */
    bool sets;      /* attributes are compared as sets */
    bool derived;   /* attributes may be derived */
    bool groups;    /* compatibility groups are known */
    bool no_groups; /* slices that use them are left out */
    bool no_skips;  /* devices of slices with skipNodeOperations are not given */
    bool stable;    /* it is the "stable" allocator, which knows neither */
};

struct view_question {
    const struct dra_ways *ways;
    const struct dra_node *node;
    struct arena *arena;
};

/* False with the error's text where upstream's GatherPools fails. */
bool view_gather(struct devices *devices, const struct view_question *q, struct node_view *view,
                 struct str *error);
/* Whether the node is one of those; the reach must be a good one. */
bool reach_matches(const struct dra_reach *reach, const struct dra_node *node);

/* ---- capacities ---- */

enum capacity_verdict {
    CAPACITY_fits,
    CAPACITY_lacks,
    CAPACITY_failed, /* since 1.37: with the error's text */
};

/* What is asked of capacities, by name. */
struct capacity_question {
    const struct features *features;
    uint32_t count;
    const struct dra_amount *requests;
    const struct amount *parsed;
    struct arena *texts; /* of errors */
};

/* The part of a device's capacity that a request for it consumes; requested may be NULL. Its text
 * is made only where texts is not NULL. What cannot be rounded is as it was asked for, with *error
 * (may be NULL) in texts. */
struct amount capacity_consumed(const struct features *features, const struct amount *requested,
                                const struct capacity *capacity, struct arena *texts,
                                struct str *error);
/* Whether the request fits a device on top of what is taken of it (if anything counts) and of what
 * is being allocated. */
enum capacity_verdict capacity_fits(const struct capacity_question *q, const struct device *device,
                                    bool taken, const dra_nano *allocating, struct str *error);

#endif
