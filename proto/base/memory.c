/* memory: wraps the allocator so that no other code has to think about running out of it. What
 * must stay true: a caller never sees NULL, and every block comes from and goes to here. */
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *memory_take(size_t size)
{
    return memory_take_array(1, size);
}

void *memory_take_array(size_t count, size_t size)
{
    void *at = calloc(count ? count : 1, size ? size : 1);
    must(at != NULL);
    return at;
}

void *memory_resize(void *at, size_t size)
{
    void *to = realloc(at, size ? size : 1);
    must(to != NULL);
    return to;
}

void memory_free(void *at)
{
    free(at);
}

char *memory_copy(const void *at, size_t len)
{
    must(len < SIZE_MAX);
    char *copy = memory_take(len + 1);
    if (len > 0)
        memcpy(copy, at, len);
    return copy;
}
