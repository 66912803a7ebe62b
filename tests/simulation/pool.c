/* pool: a list of free blocks for each size, in steps of 16 bytes and, of larger ones, of powers of
 * two. The one idea: a run is a process that ends, so nothing is joined, and nothing goes back.
 *
 * What must stay true: a block that was given back is no longer what it was, so that whoever still
 * reads it is found out. Where a sanitizer watches, each block is one of its own. */
#include "tests/simulation/pool.h"

#include "proto/base/must.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define STEP        16
#define STEPS       64 /* up to 1 KiB */
#define SMALL       ((size_t)STEP * STEPS)
#define DOUBLINGS   12                 /* up to 4 MiB; what is larger is taken singly */
#define CHUNK       ((size_t)64 << 20) /* of addresses; memory comes with its first use, */
#define PAGE        ((size_t)2 << 20)  /* in pages so large that taking them costs nothing */
#define SPOILT_MOST 64                 /* bytes */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define POOLED 0
#else
#define POOLED 1
#endif

/* proto/base/memory.c's, by ld's names. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_memory_resize(void *at, size_t size);
void __real_memory_free(void *at);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

struct free_block {
    struct free_block *next;
};

static struct {
    struct free_block *free[STEPS + DOUBLINGS + 1];
    char *at;
    size_t left;
} pool;

static size_t class_of(size_t size)
{
    if (size <= SMALL)
        return size == 0 ? 0 : (size - 1) / STEP;
    size_t bits = (size_t)(64 - __builtin_clzll(size - 1)); /* 11: up to 2 KiB */
    return STEPS + bits - 11;
}

static size_t bytes_of(size_t class)
{
    return class < STEPS ? (class + 1) * STEP : SMALL << (class - STEPS + 1);
}

static bool is_pooled(size_t size)
{
    return POOLED && size <= SMALL << DOUBLINGS;
}

size_t pool_room(size_t size)
{
    return is_pooled(size) ? bytes_of(class_of(size)) : size;
}

static void add_chunk(void)
{
    char *at = mmap(NULL, CHUNK + PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(at != MAP_FAILED);
    pool.at = at + (PAGE - (uintptr_t)at % PAGE);
    pool.left = CHUNK;
    (void)madvise(pool.at, CHUNK, MADV_HUGEPAGE); /* where there are none, others do */
}

static void *cut(size_t bytes)
{
    if (pool.left < bytes)
        add_chunk();
    void *block = pool.at;
    pool.at += bytes;
    pool.left -= bytes;
    return block;
}

void *pool_take(size_t size)
{
    if (!is_pooled(size))
        return __real_memory_resize(NULL, size);
    size_t class = class_of(size);
    struct free_block *block = pool.free[class];
    if (block == NULL)
        return cut(bytes_of(class));
    pool.free[class] = block->next;
    return block;
}

void pool_give(void *at, size_t size)
{
    if (!is_pooled(size)) {
        __real_memory_free(at);
        return;
    }
    size_t class = class_of(size), bytes = bytes_of(class);
    struct free_block *block = at;
    memset(at, (int)(POOL_SPOILT & 0xFF), bytes < SPOILT_MOST ? bytes : SPOILT_MOST);
    block->next = pool.free[class];
    pool.free[class] = block;
}
