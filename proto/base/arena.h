/* arena: many small blocks that live and die together: one arena a received frame, one a cycle. */
#ifndef ARENA_H
#define ARENA_H

#include "proto/base/str.h"

#include <stddef.h>

struct arena_chunk;

/* Zero-initialise, or set limit and first before the first use. */
struct arena {
    struct arena_chunk *chunk;
    size_t total; /* bytes handed out since the last reset */
    size_t limit; /* bytes at most, 0 = unlimited; bounds what a peer's frame can make us take */
    size_t first; /* room of the first chunk, 0 = 4096; each further one is twice as large */
};

/* size zero bytes, aligned for anything; NULL only when the limit would be passed. */
void *arena_take(struct arena *a, size_t size);
/* size bytes as they are at from, aligned for anything; NULL as with arena_take. */
void *arena_same(struct arena *a, const void *from, size_t size);
/* Copies into the arena, with a zero byte behind; at is NULL when over the limit. */
struct str arena_copy(struct arena *a, struct str s);
/* printf into the arena. */
struct str arena_print(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Each has what the other had, but its own limit; what lies in it stays where it is. */
void arena_swap(struct arena *a, struct arena *b);
/* Takes everything back but keeps the memory for the next round. */
void arena_reset(struct arena *a);
/* Gives the memory back; the arena is then empty and usable, with the same limit and first. */
void arena_free(struct arena *a);
/* Bytes that the arena holds of the allocator, used or not. */
size_t arena_held(const struct arena *a);

#endif
