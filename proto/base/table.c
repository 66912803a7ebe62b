/* table: open addressing with linear probing; hashes and things lie apart, so that a probe reads
 * one cache line of hashes and only the thing that it finds.
 *
 * What must stay true: used counts things and the marks of removed ones and is at most seven
 * eighths of the room, so that every probe ends; a removal leaves a mark, so that a walk goes on.
 */
#include "proto/base/table.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#define FREE     0u
#define REMOVED  1u
#define ROOM_MIN 16

uint32_t table_hash(uint64_t hash)
{
    uint32_t mixed = (uint32_t)((hash ^ hash >> 32) * 0x9E3779B97F4A7C15u >> 32);
    return mixed > REMOVED ? mixed : mixed + 2;
}

/* Any room will do, not only powers of two: it grows by halves. */
static size_t home(const struct table *t, uint32_t hash)
{
    return (size_t)((uint64_t)hash * t->room >> 32);
}

static size_t behind(const struct table *t, size_t i)
{
    return i + 1 < t->room ? i + 1 : 0;
}

void *table_get(const struct table *t, uint32_t hash, table_match *match, const void *key)
{
    if (t->count == 0)
        return NULL;
    for (size_t i = home(t, hash); t->hashes[i] != FREE; i = behind(t, i))
        if (t->hashes[i] == hash && match(t->things[i], key))
            return t->things[i];
    return NULL;
}

static void put(struct table *t, uint32_t hash, void *thing)
{
    size_t i = home(t, hash);
    while (t->hashes[i] != FREE)
        i = behind(t, i);
    t->hashes[i] = hash;
    t->things[i] = thing;
    t->used++;
    t->count++;
}

static void rebuild(struct table *t)
{
    struct table old = *t;
    size_t room = old.count + old.count / 2;
    *t = (struct table){.room = room < ROOM_MIN ? ROOM_MIN : room};
    must(t->room < UINT32_MAX);
    t->hashes = memory_take_array(t->room, sizeof(*t->hashes));
    t->things = memory_take_array(t->room, sizeof(*t->things));
    for (size_t i = 0; i < old.room; i++)
        if (old.hashes[i] > REMOVED)
            put(t, old.hashes[i], old.things[i]);
    table_free(&old);
}

void table_add(struct table *t, uint32_t hash, void *thing)
{
    must(thing != NULL && hash > REMOVED);
    if ((t->used + 1) * 8 > t->room * 7)
        rebuild(t);
    put(t, hash, thing);
}

/* Where it is; it must be there. */
static size_t place_of(const struct table *t, uint32_t hash, const void *thing)
{
    must(t->count > 0);
    size_t i = home(t, hash);
    while (t->hashes[i] != hash || t->things[i] != thing) {
        must(t->hashes[i] != FREE);
        i = behind(t, i);
    }
    return i;
}

void table_remove(struct table *t, uint32_t hash, const void *thing)
{
    size_t i = place_of(t, hash, thing);
    bool last = t->hashes[behind(t, i)] == FREE; /* no probe goes on from here */
    t->hashes[i] = last ? FREE : REMOVED;
    t->things[i] = NULL;
    t->used -= last;
    t->count--;
}

void table_replace(struct table *t, uint32_t hash, const void *thing, void *by)
{
    t->things[place_of(t, hash, thing)] = by;
}

void *table_next(const struct table *t, size_t *at)
{
    while (*at < t->room) {
        size_t i = (*at)++;
        if (t->hashes[i] > REMOVED)
            return t->things[i];
    }
    return NULL;
}

void table_free(struct table *t)
{
    memory_free(t->hashes);
    memory_free(t->things);
    *t = (struct table){0};
}
