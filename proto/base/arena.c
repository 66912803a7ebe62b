/* arena: bump allocation in chunks. The one idea: nothing is freed singly, so a cycle or a frame
 * leaves nothing behind. What must stay true: what is taken is zeroed, and no block ever moves. */
#include "proto/base/arena.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CHUNK 4096
#define ALIGN       16

struct arena_chunk {
    struct arena_chunk *next; /* older, full chunks */
    size_t used, size;
    _Alignas(ALIGN) char at[];
};

static void chunk_add(struct arena *a, size_t size)
{
    size_t first = a->first ? a->first : FIRST_CHUNK;
    size_t want = a->chunk ? a->chunk->size * 2 : first;
    if (want < size)
        want = size;
    struct arena_chunk *chunk = memory_resize(NULL, sizeof(*chunk) + want);
    *chunk = (struct arena_chunk){.next = a->chunk, .size = want};
    a->chunk = chunk;
}

/* Room that is as it was left. */
static void *room(struct arena *a, size_t size)
{
    must(size < SIZE_MAX / 4);
    size_t rounded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (rounded == 0)
        rounded = ALIGN;
    if (a->limit > 0 && rounded > a->limit - a->total)
        return NULL;
    if (a->chunk == NULL || a->chunk->size - a->chunk->used < rounded)
        chunk_add(a, rounded);
    void *at = a->chunk->at + a->chunk->used;
    a->chunk->used += rounded;
    a->total += rounded;
    return at;
}

void *arena_take(struct arena *a, size_t size)
{
    void *at = room(a, size);
    return at != NULL ? memset(at, 0, size) : NULL;
}

void *arena_same(struct arena *a, const void *from, size_t size)
{
    void *at = room(a, size);
    return at != NULL && size > 0 ? memcpy(at, from, size) : at;
}

struct str arena_copy(struct arena *a, struct str s)
{
    char *at = room(a, (size_t)s.len + 1);
    if (at == NULL)
        return (struct str){NULL, 0};
    if (s.len > 0)
        memcpy(at, s.at, s.len);
    at[s.len] = 0;
    return (struct str){at, s.len};
}

struct str arena_print(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    must(len >= 0);
    char *at = arena_take(a, (size_t)len + 1);
    if (at != NULL)
        vsnprintf(at, (size_t)len + 1, format, again);
    va_end(again);
    return (struct str){at, at ? (uint32_t)len : 0};
}

void arena_swap(struct arena *a, struct arena *b)
{
    struct arena_chunk *chunk = a->chunk;
    size_t total = a->total;
    a->chunk = b->chunk;
    a->total = b->total;
    b->chunk = chunk;
    b->total = total;
}

void arena_reset(struct arena *a)
{
    if (a->chunk != NULL) {
        struct arena_chunk *old = a->chunk->next;
        while (old != NULL) {
            struct arena_chunk *next = old->next;
            memory_free(old);
            old = next;
        }
        a->chunk->next = NULL;
        a->chunk->used = 0;
    }
    a->total = 0;
}

void arena_free(struct arena *a)
{
    arena_reset(a);
    memory_free(a->chunk);
    a->chunk = NULL;
}

size_t arena_held(const struct arena *a)
{
    size_t held = 0;
    for (const struct arena_chunk *chunk = a->chunk; chunk != NULL; chunk = chunk->next)
        held += sizeof(*chunk) + chunk->size;
    return held;
}
