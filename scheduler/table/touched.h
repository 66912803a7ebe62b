/* touched: which rows of a share have changed lately, for whoever keeps something by row. */
#ifndef SCHEDULER_TABLE_TOUCHED_H
#define SCHEDULER_TABLE_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#define TOUCHED_ROOM 4096 /* a power of two */

struct touched {
    uint64_t count;              /* rows ever noted */
    uint64_t layout;             /* grows when rows come or go */
    uint64_t images;             /* grows when an image comes, goes or has other numbers */
    uint64_t facts;              /* grows when what nodes are has changed: labels, taints, … */
    uint32_t rows[TOUCHED_ROOM]; /* the last of them, by their number modulo the room */
};

static inline void touched_add(struct touched *t, uint32_t row)
{
    t->rows[t->count++ & (TOUCHED_ROOM - 1)] = row;
}

/* False when more were noted since than are remembered. */
static inline bool touched_reaches(const struct touched *t, uint64_t since)
{
    return t->count - since <= TOUCHED_ROOM;
}

#endif
