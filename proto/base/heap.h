/* heap: a binary heap of pointers whose entries know their place, so that any can be removed. */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Embed one in each entry; SIZE_MAX or the entry's own flag tells "in no heap". Zero it at birth
 * with heap_link_clear. */
struct heap_link {
    size_t index_plus_one; /* 0 = in no heap */
};

struct heap;

/* less(a, b): a comes out before b. link(entry): where the entry keeps its heap_link. */
struct heap *heap_new(bool (*less)(const void *a, const void *b),
                      struct heap_link *(*link)(void *entry));
void heap_free(struct heap **heap);
size_t heap_count(const struct heap *heap);
void *heap_top(const struct heap *heap); /* NULL when empty */
void *heap_pop(struct heap *heap);       /* NULL when empty */
void heap_push(struct heap *heap, void *entry);
/* The entry's order changed: put it where it belongs. */
void heap_fix(struct heap *heap, void *entry);
void heap_remove(struct heap *heap, void *entry);
bool heap_has(const struct heap *heap, void *entry);
/* The i-th entry in no particular order, 0 <= i < count; for walking. */
void *heap_at(const struct heap *heap, size_t i);

#endif
