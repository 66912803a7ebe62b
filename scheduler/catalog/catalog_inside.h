/* catalog_inside: what the files of the catalog share: its maps, and what an entry of them is.
 * Nobody else includes it. */
#ifndef SCHEDULER_CATALOG_CATALOG_INSIDE_H
#define SCHEDULER_CATALOG_CATALOG_INSIDE_H

#include "proto/base/map.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/extended_names.h"
#include "scheduler/catalog/special_claims.h"
#include "scheduler/catalog/volume_index.h"

#define NOWHERE ((struct str){0})

/* The record as it is going to be, in the eyes of one profile. */
struct assumed {
    struct assumed *next;
    struct arena memory; /* also of this struct */
    struct str profile;
    void *record;
};

struct entry {
    struct arena memory;
    uint64_t mark; /* the snapshot that last showed it */
    void *record;
    struct assumed *assumed;  /* mostly none */
    struct volume_link *link; /* a volume's place in the index */
};

struct catalog {
    struct map *kinds[CATALOG_KINDS]; /* "namespace/name" or "name" → struct entry */
    struct map *services;             /* namespace → map of name → struct entry */
    struct map *users;                /* "namespace/name" of a claim → how many, as a pointer */
    struct volume_index *volumes;     /* owners are struct entry */
    struct map *assumed_volumes;      /* name → struct entry: those that have an assumed record */
    struct device_book *devices;
    struct extended_names *extended;
    bool stands_for_none; /* no class stands for an extended resource */
    struct special_claims *special;
    uint64_t mark;
};

/* The key of an object in a buffer that the caller frees; space is empty for what has none. */
struct buffer catalog_key(struct str space, struct str name);
/* NULL: there is none. */
struct entry *catalog_entry(const struct catalog *c, enum catalog_kind kind, struct str space,
                            struct str name);

/* The object is of the catalog's kind and seen by all profiles as the API server has it. */
void catalog_restore_all(struct catalog *c, enum catalog_kind kind, struct entry *e);

#endif
