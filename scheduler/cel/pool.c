/* pool: the arena of a compilation or an evaluation, with the one way out when it is full. longjmp
 * is used here and nowhere else: upstream unwinds the same way (a panic) when the cost limit is
 * passed, and an error value would be absorbed by && and ||, which a limit must not be. */
#include "scheduler/cel/pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define FULL "the expression needs more memory than it may have"

void pool_stop(struct pool *p, const char *reason)
{
    p->reason = reason;
    longjmp(p->stop, 1); /* NOLINT(cert-err52-cpp) */
}

void *pool_take(struct pool *p, size_t size)
{
    void *at = size < SIZE_MAX / 8 ? arena_take(p->arena, size) : NULL;
    if (at == NULL)
        pool_stop(p, FULL);
    return at;
}

void *pool_take_array(struct pool *p, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        pool_stop(p, FULL);
    return pool_take(p, bytes);
}

struct str pool_copy(struct pool *p, struct str s)
{
    struct str copy = arena_copy(p->arena, s);
    if (copy.at == NULL)
        pool_stop(p, FULL);
    return copy;
}

struct str pool_print(struct pool *p, const char *format, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    size_t size = len < 0 ? 0 : (size_t)len;
    char *at = arena_take(p->arena, size + 1);
    if (at != NULL)
        vsnprintf(at, size + 1, format, again);
    va_end(again);
    if (at == NULL)
        pool_stop(p, FULL);
    return (struct str){at, (uint32_t)size};
}
