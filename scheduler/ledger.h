/* ledger: what each row of a share counts for in the eyes of one rule, and the sums of it, kept in
 * step row by row instead of being counted again. */
#ifndef SCHEDULER_LEDGER_H
#define SCHEDULER_LEDGER_H

#include "scheduler/counts.h"

/* A growing list of counts, on the heap. Zero-initialise. */
struct entries {
    uint32_t count, room;
    struct count_entry *at;
};

/* Adds to the entry of the same slot, key and value, which exists then even with 0. */
void entries_add(struct entries *e, uint32_t slot, uint32_t key, uint32_t value, int64_t more);
void entries_free(struct entries *e);

struct ledger;

/* Rows 0 to rows − 1, which count for nothing yet. */
struct ledger *ledger_new(uint32_t rows);
void ledger_free(struct ledger **ledger);
/* From now on the row counts for exactly these. Entries whose sum has changed, come or gone are
 * appended to changed (NULL: nobody asks), perhaps more than once. */
void ledger_set(struct ledger *l, uint32_t row, const struct entries *now, struct entries *changed);
/* An entry exists as long as some row has a part in it. */
struct counts *ledger_sums(const struct ledger *l);
/* Bytes on the heap, roughly. */
size_t ledger_bytes(const struct ledger *l);

#endif
