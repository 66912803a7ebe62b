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
    uint64_t nominations;        /* how often other pods than before were nominated to a row */
    uint32_t rows[TOUCHED_ROOM]; /* the last of them, by their number modulo the room */
    uint32_t nominated[TOUCHED_ROOM]; /* the same of nominations, which change no row */
};

static inline void touched_add(struct touched *t, uint32_t row)
{
    t->rows[t->count++ & (TOUCHED_ROOM - 1)] = row;
}

static inline void touched_nominate(struct touched *t, uint32_t row)
{
    t->nominated[t->nominations++ & (TOUCHED_ROOM - 1)] = row;
}

/* False when more were noted since than are remembered. */
static inline bool touched_reaches(const struct touched *t, uint64_t since)
{
    return t->count - since <= TOUCHED_ROOM;
}

static inline bool touched_reaches_nominations(const struct touched *t, uint64_t since)
{
    return t->nominations - since <= TOUCHED_ROOM;
}

#endif
