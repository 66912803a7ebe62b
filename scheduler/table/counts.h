/* counts: numbers by (slot, key, value), with key and value as atoms: what a rule counts over nodes
 * and pods, and what becomes of it when the workers' parts are added up.
 *
 * An entry that was added exists, also with 0. Texts that this worker has no atom for come back
 * from the merge under numbers that no atom has, so that a rule still sees that they exist. */
#ifndef SCHEDULER_TABLE_COUNTS_H
#define SCHEDULER_TABLE_COUNTS_H

#include "proto/messages.h"
#include "scheduler/table/atoms.h"

struct counts;

struct count_entry {
    uint32_t slot, key, value; /* key and value: atoms, or numbers of foreign texts; 0: none */
    int64_t count;
};

/* An empty one, all from the arena; with NULL on the heap, until counts_free. */
struct counts *counts_new(struct arena *a);
/* Only what is on the heap; NULL is allowed; *c is NULL afterwards. */
void counts_free(struct counts **c);
void counts_add(struct counts *c, uint32_t slot, uint32_t key, uint32_t value, int64_t more);
/* False, with 0, when there is no such entry. */
bool counts_get(const struct counts *c, uint32_t slot, uint32_t key, uint32_t value,
                int64_t *count);
/* Takes an entry out, if it is there. */
void counts_remove(struct counts *c, uint32_t slot, uint32_t key, uint32_t value);
uint32_t counts_size(const struct counts *c);
/* The key of entries that concern one row alone, whatever their value; others are told of none. */
#define COUNTS_OWN UINT32_MAX
/* Entries of one slot; slot < COUNTS_SLOTS. */
#define COUNTS_SLOTS 4
uint32_t counts_in_slot(const struct counts *c, uint32_t slot);
/* For entries that several have a part in: one part more, or one less of what was held. The entry
 * exists as long as somebody holds it. */
void counts_hold(struct counts *c, const struct count_entry *part);
void counts_release(struct counts *c, const struct count_entry *part);
/* The text of a key or value of an entry, foreign ones included. */
struct str counts_text(const struct counts *c, const struct atoms *atoms, uint32_t number);
/* True for the number of a text that this worker has no atom for. */
bool counts_is_foreign(uint32_t key_or_value);
/* Walks all, in no particular order: uint32_t at = 0; while (counts_next(c, &at, &entry)). */
bool counts_next(const struct counts *c, uint32_t *at, struct count_entry *entry);

/* To and from messages. Strings of the result are the atoms'. */
void counts_tell(const struct counts *c, const struct atoms *atoms, struct plugin_counts *out,
                 struct arena *a);
void counts_take(struct counts *c, const struct atoms *atoms, const struct plugin_counts *from);

/* What is of use to other workers: entries of that key (0: none) become one for each slot and key,
 * without a value, that says how many there are. */
struct counts *counts_fold(const struct counts *c, uint32_t key, struct arena *a);

/* Adds up what several workers told: one plugin_counts for each plugin, by first occurrence, its
 * counts sorted by slot, key and value. Strings are borrowed. */
struct merged_counts {
    uint32_t count;
    struct plugin_counts *at;
};
void counts_merge(const struct plugin_counts *const *parts, const uint32_t *part_sizes,
                  uint32_t part_count, struct merged_counts *out, struct arena *a);
/* True when both hold the same entries. */
bool counts_same(const struct plugin_counts *a, const struct plugin_counts *b);

#endif
