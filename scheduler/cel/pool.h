/* pool: an arena that never says no. When its limit is reached, or somebody stops the work, control
 * goes back to pool_enter's caller. What is undone by that is memory alone: nothing that holds a
 * pool may hold anything else that must be given back. */
#ifndef CEL_POOL_H
#define CEL_POOL_H

#include "proto/base/arena.h"

#include <setjmp.h>

struct pool {
    struct arena *arena;
    jmp_buf stop;       /* set by the one who made the pool: if (setjmp(pool.stop)) ... */
    const char *reason; /* why it was stopped; static text */
};

/* size zero bytes. */
void *pool_take(struct pool *p, size_t size);
/* count * size zero bytes. */
void *pool_take_array(struct pool *p, size_t count, size_t size);
struct str pool_copy(struct pool *p, struct str s);
struct str pool_print(struct pool *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Goes back to where setjmp(p->stop) was called. */
_Noreturn void pool_stop(struct pool *p, const char *reason);

#endif
