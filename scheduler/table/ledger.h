/* ledger: what each row of a share counts for in the eyes of one rule, and the sums of it, kept in
 * step row by row instead of being counted again. */
#ifndef SCHEDULER_TABLE_LEDGER_H
#define SCHEDULER_TABLE_LEDGER_H

#include "scheduler/table/counts.h"

/* A growing list of counts, on the heap. Zero-initialise. */
struct entries {
    uint32_t count, room;
    struct count_entry *at;
};

/* Adds to the entry of the same slot, key and value, which exists then even with 0. */
void entries_add(struct entries *e, uint32_t slot, uint32_t key, uint32_t value, int64_t more);
/* Adds to the end, whatever is there. */
void entries_append(struct entries *e, const struct count_entry *entry);
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
/* From now on (no row counts for anything yet) also keeps what there is to be told to others: the
 * sums of the rows alone, where entries of this key (0: none) become one for each slot and key,
 * without a value, that says how many there are. */
void ledger_tell(struct ledger *l, uint32_t folded_key);
/* NULL without ledger_tell. */
const struct counts *ledger_told(const struct ledger *l);
/* What others count for from now on, as if it were another row. */
void ledger_others(struct ledger *l, const struct entries *now, struct entries *changed);
/* Bytes on the heap, roughly. */
size_t ledger_bytes(const struct ledger *l);

#endif
