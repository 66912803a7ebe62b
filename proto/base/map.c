/* map: open addressing with linear probing and tombstones, at most three quarters full.
 *
 * What must stay true: slot count is a power of two, used counts live entries and tombstones, and
 * removal leaves a tombstone so that a walk in progress stays valid. */
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct slot {
    char *key; /* NULL = empty or, with dead set, a tombstone */
    uint32_t len;
    bool dead;
    uint64_t hash;
    void *value;
};

struct map {
    struct slot *slots;
    size_t room, used, count;
};

struct map *map_new(void)
{
    struct map *map = memory_take(sizeof(*map));
    map->room = 16;
    map->slots = memory_take_array(map->room, sizeof(*map->slots));
    return map;
}

void map_free(struct map **map)
{
    if (*map == NULL)
        return;
    for (size_t i = 0; i < (*map)->room; i++)
        memory_free((*map)->slots[i].key);
    memory_free((*map)->slots);
    memory_free(*map);
    *map = NULL;
}

size_t map_count(const struct map *map)
{
    return map->count;
}

/* The slot that holds key, or the empty one where the probe ended. */
static struct slot *find(const struct map *map, struct str key, uint64_t hash)
{
    for (size_t i = hash & (map->room - 1);; i = (i + 1) & (map->room - 1)) {
        struct slot *slot = &map->slots[i];
        if (slot->key == NULL && !slot->dead)
            return slot;
        if (slot->key != NULL && slot->hash == hash &&
            str_equal((struct str){slot->key, slot->len}, key))
            return slot;
    }
}

static void grow(struct map *map)
{
    struct slot *old = map->slots;
    size_t old_room = map->room;
    if (map->count * 2 >= map->room)
        map->room *= 2;
    map->slots = memory_take_array(map->room, sizeof(*map->slots));
    map->used = map->count;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].key != NULL)
            *find(map, (struct str){old[i].key, old[i].len}, old[i].hash) = old[i];
    memory_free(old);
}

void *map_get(const struct map *map, struct str key)
{
    return find(map, key, str_hash(key))->value;
}

void *map_set(struct map *map, struct str key, void *value)
{
    must(value != NULL);
    uint64_t hash = str_hash(key);
    struct slot *slot = find(map, key, hash);
    if (slot->key != NULL) {
        void *before = slot->value;
        slot->value = value;
        return before;
    }
    if ((map->used + 1) * 4 > map->room * 3) {
        grow(map);
        slot = find(map, key, hash);
    }
    *slot = (struct slot){str_copy(key), key.len, false, hash, value};
    map->used++;
    map->count++;
    return NULL;
}

void *map_remove(struct map *map, struct str key)
{
    struct slot *slot = find(map, key, str_hash(key));
    if (slot->key == NULL)
        return NULL;
    void *value = slot->value;
    memory_free(slot->key);
    *slot = (struct slot){.dead = true};
    map->count--;
    return value;
}

bool map_next(const struct map *map, size_t *at, struct str *key, void **value)
{
    for (; *at < map->room; (*at)++) {
        struct slot *slot = &map->slots[*at];
        if (slot->key == NULL)
            continue;
        if (key != NULL)
            *key = (struct str){slot->key, slot->len};
        if (value != NULL)
            *value = slot->value;
        (*at)++;
        return true;
    }
    return false;
}
