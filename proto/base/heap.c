/* heap: array-backed binary heap. What must stay true: entry i's link says i + 1, and no parent is
 * greater than its children by less(). */
#include "proto/base/heap.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct heap {
    void **entries;
    size_t count, room;
    bool (*less)(const void *a, const void *b);
    struct heap_link *(*link)(void *entry);
};

struct heap *heap_new(bool (*less)(const void *a, const void *b),
                      struct heap_link *(*link)(void *entry))
{
    struct heap *heap = memory_take(sizeof(*heap));
    heap->less = less;
    heap->link = link;
    return heap;
}

void heap_free(struct heap **heap)
{
    if (*heap == NULL)
        return;
    memory_free((*heap)->entries);
    memory_free(*heap);
    *heap = NULL;
}

size_t heap_count(const struct heap *heap)
{
    return heap->count;
}

static void place(struct heap *heap, size_t i, void *entry)
{
    heap->entries[i] = entry;
    heap->link(entry)->index_plus_one = i + 1;
}

static size_t sift_up(struct heap *heap, size_t i)
{
    void *entry = heap->entries[i];
    while (i > 0 && heap->less(entry, heap->entries[(i - 1) / 2])) {
        place(heap, i, heap->entries[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(heap, i, entry);
    return i;
}

static void sift_down(struct heap *heap, size_t i)
{
    void *entry = heap->entries[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->less(heap->entries[child + 1], heap->entries[child]))
            child++;
        if (!heap->less(heap->entries[child], entry))
            break;
        place(heap, i, heap->entries[child]);
        i = child;
    }
    place(heap, i, entry);
}

void *heap_top(const struct heap *heap)
{
    return heap->count ? heap->entries[0] : NULL;
}

void *heap_pop(struct heap *heap)
{
    void *top = heap_top(heap);
    if (top != NULL)
        heap_remove(heap, top);
    return top;
}

void heap_push(struct heap *heap, void *entry)
{
    must(!heap_has(heap, entry));
    if (heap->count == heap->room) {
        heap->room = heap->room ? heap->room * 2 : 64;
        heap->entries = memory_resize(heap->entries, heap->room * sizeof(*heap->entries));
    }
    heap->entries[heap->count++] = entry;
    sift_up(heap, heap->count - 1);
}

void heap_fix(struct heap *heap, void *entry)
{
    must(heap_has(heap, entry));
    sift_down(heap, sift_up(heap, heap->link(entry)->index_plus_one - 1));
}

void heap_remove(struct heap *heap, void *entry)
{
    must(heap_has(heap, entry));
    size_t i = heap->link(entry)->index_plus_one - 1;
    void *last = heap->entries[--heap->count];
    heap->link(entry)->index_plus_one = 0;
    if (i == heap->count)
        return;
    place(heap, i, last);
    sift_down(heap, sift_up(heap, i));
}

bool heap_has(const struct heap *heap, void *entry)
{
    size_t i = heap->link(entry)->index_plus_one;
    return i > 0 && i <= heap->count && heap->entries[i - 1] == entry;
}

void *heap_at(const struct heap *heap, size_t i)
{
    must(i < heap->count);
    return heap->entries[i];
}
