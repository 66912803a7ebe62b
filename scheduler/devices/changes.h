/* changes: when what searches see became different. */
#ifndef DEVICES_CHANGES_H
#define DEVICES_CHANGES_H

#include <stdint.h>

struct devices;
struct map;
struct pool;

struct changes {
    uint64_t count;
    uint64_t all;      /* the last one that may matter to any node */
    struct map *nodes; /* by name: the last one that matters to it alone, as a pointer */
};

/* Something has that may matter to any node. */
void changes_all(struct devices *devices);
/* What is allocated of the pool's devices has; NULL: they are in no slice. */
void changes_in_pool(struct devices *devices, const struct pool *pool);

#endif
