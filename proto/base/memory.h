/* memory: the only place that calls malloc. Running out of memory aborts here and nowhere else. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/* Returns size bytes, all zero, never NULL (size 0 gives a pointer that may be freed). */
void *memory_take(size_t size);
/* Returns count * size zero bytes; aborts when the product overflows. */
void *memory_take_array(size_t count, size_t size);
/* Grows or shrinks; bytes past the old size are NOT zeroed. at may be NULL. */
void *memory_resize(void *at, size_t size);
/* Frees; NULL is allowed. */
void memory_free(void *at);
/* A copy of len bytes with a zero byte behind them. */
char *memory_copy(const void *at, size_t len);

#endif
