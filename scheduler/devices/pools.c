/* pools: slices that belong together, by generation. What follows from all slices of a generation
 * (an edition) is found out once, when it is first needed after a change: its counters, which of
 * them a device consumes, which devices have the same name, what is left. What must stay true: a
 * change to a slice or a use makes what follows from it stale before anybody asks. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

struct pool_key {
    struct str driver, name;
};

static bool same(const void *thing, const void *key)
{
    const struct pool *pool = thing;
    const struct pool_key *k = key;
    return str_equal(pool->name, k->name) && str_equal(pool->driver, k->driver);
}

static uint32_t hash_of(const struct pool_key *k)
{
    return table_hash(str_hash(k->driver) * 31 + str_hash(k->name));
}

struct pool *pool_find(const struct devices *devices, struct str driver, struct str name)
{
    struct pool_key key = {driver, name};
    return table_get(&devices->pools, hash_of(&key), same, &key);
}

static struct pool *pool_of(struct devices *devices, struct str driver, struct str name)
{
    struct pool_key key = {driver, name};
    struct pool *pool = pool_find(devices, driver, name);
    if (pool != NULL)
        return pool;
    pool = memory_take(sizeof(*pool));
    pool->driver = str_keep(driver);
    pool->name = str_keep(name);
    table_add(&devices->pools, hash_of(&key), pool);
    return pool;
}

/* Where the edition of that generation is, or belongs. */
static struct edition **edition_place(struct pool *pool, int64_t generation)
{
    struct edition **at = &pool->editions;
    while (*at != NULL && (*at)->generation > generation)
        at = &(*at)->next;
    return at;
}

void pool_add(struct devices *devices, struct slice *slice)
{
    struct pool *pool = pool_of(devices, slice->said.driver, slice->said.pool);
    struct edition **at = edition_place(pool, slice->said.generation);
    if (*at == NULL || (*at)->generation != slice->said.generation) {
        struct edition *edition = memory_take(sizeof(*edition));
        edition->generation = slice->said.generation;
        edition->next = *at;
        *at = edition;
    }
    slice->pool = pool;
    slice->edition = *at;
    slices_add(&(*at)->slices, slice);
    (*at)->grouped += slice->uses_groups;
    (*at)->stale = true;
}

static void edition_forget(struct edition *edition)
{
    memory_free(edition->counters);
    memory_free(edition->available);
    edition->counters = NULL;
    edition->available = NULL;
    edition->counter_count = 0;
    edition->available_known = false;
}

void pool_remove(struct devices *devices, struct slice *slice)
{
    struct pool *pool = slice->pool;
    struct edition *edition = slice->edition;
    slices_remove(&edition->slices, slice);
    edition->grouped -= slice->uses_groups;
    edition->stale = true;
    if (edition->slices.count > 0)
        return;
    *edition_place(pool, edition->generation) = edition->next;
    edition_forget(edition);
    memory_free(edition->slices.at);
    memory_free(edition);
    if (pool->editions != NULL)
        return;
    struct pool_key key = {pool->driver, pool->name};
    table_remove(&devices->pools, hash_of(&key), pool);
    str_drop(&pool->driver);
    str_drop(&pool->name);
    memory_free(pool);
}

void pool_used(struct devices *devices, struct str driver, struct str name)
{
    struct pool *pool = pool_find(devices, driver, name);
    for (struct edition *e = pool == NULL ? NULL : pool->editions; e != NULL; e = e->next)
        e->available_known = false;
    changes_in_pool(devices, pool);
}

/* ---- what follows from an edition's slices ---- */

static void gather_counters(struct edition *edition)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < edition->slices.count; i++)
        sum += edition->slices.at[i]->counter_count;
    edition->counters = memory_take_array(sum, sizeof(*edition->counters));
    edition->available = memory_take_array(sum, sizeof(*edition->available));
    for (uint32_t i = 0; i < edition->slices.count; i++) {
        const struct slice *s = edition->slices.at[i];
        if (s->counter_count > 0)
            memcpy(&edition->counters[edition->counter_count], s->counters,
                   s->counter_count * sizeof(*s->counters));
        edition->counter_count += s->counter_count;
    }
}

static struct map *gather_sets(struct edition *edition)
{
    struct map *sets = map_new();
    for (uint32_t i = 0; i < edition->slices.count; i++) {
        struct slice *s = edition->slices.at[i];
        for (uint32_t k = 0; k < s->set_count; k++)
            if (map_set(sets, s->sets[k], s) != NULL)
                edition->doubled_sets = true;
    }
    return sets;
}

static uint32_t counter_find(const struct edition *edition, const struct consumption *c)
{
    for (uint32_t i = 0; i < edition->counter_count; i++)
        if (str_equal(edition->counters[i].name, c->name) &&
            str_equal(edition->counters[i].set, c->set))
            return i;
    return NO_COUNTER;
}

/* An entry without a name stands for its set. */
static void resolve(struct edition *edition, const struct map *sets, struct slice *slice)
{
    slice->unknown_counters = false;
    for (uint32_t d = 0; d < slice->device_count; d++)
        for (uint32_t i = 0; i < slice->devices[d].consumption_count; i++) {
            struct consumption *c = &slice->devices[d].consumption[i];
            c->counter = c->name.len == 0 ? NO_COUNTER : counter_find(edition, c);
            if (c->name.len == 0 ? map_get(sets, c->set) == NULL : c->counter == NO_COUNTER)
                slice->unknown_counters = true;
        }
    if (slice->uses_groups)
        edition->unknown_in_groups = edition->unknown_in_groups || slice->unknown_counters;
    else
        edition->unknown_counters = edition->unknown_counters || slice->unknown_counters;
}

static void find_twins(struct edition *edition)
{
    struct map *names = map_new();
    for (uint32_t i = 0; i < edition->slices.count; i++) {
        struct slice *s = edition->slices.at[i];
        for (uint32_t d = 0; d < s->device_count && s->set_count == 0; d++) {
            s->devices[d].twin = map_set(names, s->devices[d].said.name, &s->devices[d]);
            if (s->devices[d].twin != NULL)
                edition->doubled_devices = true;
        }
    }
    map_free(&names);
}

void edition_settle(struct edition *edition)
{
    if (!edition->stale)
        return;
    edition_forget(edition);
    edition->doubled_sets = edition->doubled_devices = edition->unknown_counters = false;
    edition->unknown_in_groups = false;
    gather_counters(edition);
    struct map *sets = gather_sets(edition);
    for (uint32_t i = 0; i < edition->slices.count; i++)
        resolve(edition, sets, edition->slices.at[i]);
    map_free(&sets);
    find_twins(edition);
    edition->stale = false;
}

void slice_take_counters(const struct slice *slice, dra_nano *available)
{
    for (uint32_t d = 0; d < slice->device_count; d++) {
        const struct device *device = &slice->devices[d];
        if (device->consumption_count == 0 || !use_allocated(device->use))
            continue;
        for (uint32_t i = 0; i < device->consumption_count; i++)
            if (device->consumption[i].counter != NO_COUNTER)
                available[device->consumption[i].counter] -= device->consumption[i].nano;
    }
}

const dra_nano *edition_available(struct edition *edition, bool grouped)
{
    must(!edition->stale);
    if (edition->available_known && (edition->available_grouped == grouped || !edition->grouped))
        return edition->available;
    for (uint32_t i = 0; i < edition->counter_count; i++)
        edition->available[i] = edition->counters[i].nano;
    for (uint32_t i = 0; i < edition->slices.count; i++)
        if (edition->slices.at[i]->set_count == 0 &&
            (grouped || !edition->slices.at[i]->uses_groups))
            slice_take_counters(edition->slices.at[i], edition->available);
    edition->available_known = true;
    edition->available_grouped = grouped;
    return edition->available;
}
