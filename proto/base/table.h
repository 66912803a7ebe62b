/* table: finds things by a key that they know themselves, for the tables with a million entries:
 * twelve bytes a place and no copy of the key, where a map takes a hundred. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; table_free gives the memory back, not the things. */
struct table {
    uint32_t *hashes; /* 0: never used, 1: was removed */
    void **things;
    size_t room, used, count;
};

/* Whether this is the thing that has the key. */
typedef bool table_match(const void *thing, const void *key);

/* A table's hash of a hash such as str_hash. */
uint32_t table_hash(uint64_t hash);
/* The thing with that key, or NULL. */
void *table_get(const struct table *t, uint32_t hash, table_match *match, const void *key);
/* One more; no other has its key. */
void table_add(struct table *t, uint32_t hash, void *thing);
/* Takes out what is in it. */
void table_remove(struct table *t, uint32_t hash, const void *thing);
/* Another thing takes the place of one with the same key. */
void table_replace(struct table *t, uint32_t hash, const void *thing, void *by);
/* Walks all in no particular order: size_t at = 0; while ((thing = table_next(t, &at)) != NULL).
 * Removing the one just returned is allowed; adding during a walk is not. */
void *table_next(const struct table *t, size_t *at);
void table_free(struct table *t);

#endif
