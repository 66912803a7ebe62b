/* map: from a string key to a pointer; the keys are copied, the values belong to the caller. */
#ifndef MAP_H
#define MAP_H

#include "proto/base/str.h"

struct map;

struct map *map_new(void);
/* Frees the map and its keys, not the values. Takes ownership and nulls the caller's pointer. */
void map_free(struct map **map);
size_t map_count(const struct map *map);
/* The value, or NULL. */
void *map_get(const struct map *map, struct str key);
/* Sets and returns the value that was there before (NULL if none). value must not be NULL. */
void *map_set(struct map *map, struct str key, void *value);
/* Removes and returns the value (NULL if none). */
void *map_remove(struct map *map, struct str key);
/* Walks all entries in no particular order: size_t at = 0; while (map_next(m, &at, &key, &value)).
 * Removing the entry just returned is allowed; setting new keys during a walk is not. */
bool map_next(const struct map *map, size_t *at, struct str *key, void **value);

#endif
