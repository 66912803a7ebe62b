/* packed: a record kept as its encoded bytes, for the many that are only rarely looked at whole. */
#ifndef SCHEDULER_TABLE_PACKED_H
#define SCHEDULER_TABLE_PACKED_H

#include "proto/messages.h"

/* Zero-initialise. */
struct packed {
    char *bytes;
    uint32_t len;
};

/* Replaces what was there. True when the bytes differ from before. */
bool packed_set(struct packed *p, const struct record *r, const void *object);
/* The record again; lists come from the arena, strings from the packed bytes. */
void packed_get(const struct packed *p, const struct record *r, void *object, struct arena *a);
void packed_free(struct packed *p);

#endif
