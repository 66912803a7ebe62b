/* devices: the store of slices, classes and uses, with its indexes. What must stay true: every
 * slice is either in the index or among those that are looked at for each node, in its pool,
 * and each of its devices has a slot and refers to its use; taking it out undoes all four. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

struct class_entry {
    struct dra_class said;
    struct arena arena;
};

struct devices *devices_new(void)
{
    struct devices *devices = memory_take(sizeof(*devices));
    devices->rules = taint_rules_new();
    devices->slices = map_new();
    devices->index = reach_index_new();
    devices->classes = map_new();
    devices->programs = map_new();
    devices->changes.nodes = map_new();
    devices->scratch.limit = CEL_SCRATCH_BYTES;
    return devices;
}

/* ---- slices ---- */

static bool is_picky(const struct slice *slice)
{
    bool picky = slice->said.reach.has_terms;
    for (uint32_t i = 0; slice->said.per_device && i < slice->device_count; i++)
        picky = picky || !slice->devices[i].said.reach.all_nodes;
    return picky;
}

static bool names_labels(const struct dra_reach *reach)
{
    uint32_t i = 0;
    while (reach->has_terms && i < reach->term_count && reach->terms[i].expressions.count == 0)
        i++;
    return reach->has_terms && i < reach->term_count;
}

/* Of a node whose name it is found by labels may decide as well. */
static bool selects_by_labels(const struct slice *slice)
{
    bool selects = names_labels(&slice->said.reach);
    for (uint32_t i = 0; slice->said.per_device && i < slice->device_count; i++)
        selects = selects || names_labels(&slice->devices[i].said.reach);
    return selects;
}

static void enter_index(struct devices *devices, struct slice *slice)
{
    slice->indexed = reach_index_put(devices->index, slice);
    if (!slice->indexed) {
        slices_add(&devices->shared, slice);
        devices->picky += is_picky(slice);
    } else if (slice->set_count > 0) {
        slices_add(&devices->counting, slice);
    }
}

static void leave_index(struct devices *devices, struct slice *slice)
{
    if (!slice->indexed) {
        slices_remove(&devices->shared, slice);
        devices->picky -= is_picky(slice);
        return;
    }
    reach_index_take_out(devices->index, slice);
    if (slice->set_count > 0)
        slices_remove(&devices->counting, slice);
}

bool devices_node_differs(const struct devices *devices, const struct dra_node *node)
{
    return devices->picky > 0 || reach_index_has(devices->index, node);
}

bool devices_labels_matter(const struct devices *devices)
{
    return devices->picky > 0 || reach_index_wants_labels(devices->index);
}

bool devices_select_by_labels(const struct devices *devices)
{
    return devices->by_labels > 0;
}

bool devices_take_of_nodes(const struct devices *devices)
{
    return devices->takes_of_nodes > 0;
}

bool devices_skip_operations(const struct devices *devices)
{
    return devices->skipping > 0;
}

/* ---- a slice in all indexes ---- */

static void enter(struct devices *devices, struct slice *slice)
{
    slice->first_slot = slots_take(&devices->slots, slice->device_count);
    if (devices->slots.top > devices->mark_room) {
        uint32_t room = devices->slots.top + devices->slots.top / 2;
        devices->marks = memory_resize(devices->marks, room * sizeof(*devices->marks));
        memset(devices->marks + devices->mark_room, 0,
               (room - devices->mark_room) * sizeof(*devices->marks));
        devices->mark_room = room;
    }
    for (uint32_t i = 0; i < slice->device_count; i++) {
        struct device *d = &slice->devices[i];
        d->slot = slice->first_slot + i;
        d->use = use_of(devices, slice->said.driver, slice->said.pool, d->said.name);
        d->use->devices++;
    }
    devices->takes_of_nodes += slice->takes_of_nodes;
    devices->skipping += slice->said.skips.count > 0;
    devices->by_labels += selects_by_labels(slice);
    changes_all(devices);
    enter_index(devices, slice);
    pool_add(devices, slice);
    map_set(devices->slices, slice->said.name, slice);
}

static void leave(struct devices *devices, struct slice *slice)
{
    changes_all(devices);
    map_remove(devices->slices, slice->said.name);
    pool_remove(devices, slice);
    devices->takes_of_nodes -= slice->takes_of_nodes;
    devices->skipping -= slice->said.skips.count > 0;
    devices->by_labels -= selects_by_labels(slice);
    leave_index(devices, slice);
    for (uint32_t i = 0; i < slice->device_count; i++) {
        slice->devices[i].use->devices--;
        use_release(devices, slice->devices[i].use);
    }
    programs_forget(devices, slice->first_slot, slice->device_count);
    slots_give_back(&devices->slots, slice->first_slot, slice->device_count);
    slice_free(slice);
}

bool devices_put_slice(struct devices *devices, const struct dra_slice *said, struct buffer *error)
{
    struct slice *slice = slice_make(said, error);
    if (slice == NULL)
        return false;
    devices_remove_slice(devices, said->name);
    enter(devices, slice);
    return true;
}

bool devices_remove_slice(struct devices *devices, struct str name)
{
    struct slice *slice = map_get(devices->slices, name);
    if (slice == NULL)
        return false;
    leave(devices, slice);
    return true;
}

struct str devices_pool_node(const struct devices *devices, struct str driver, struct str name)
{
    const struct pool *pool = pool_find(devices, driver, name);
    struct str node = {0};
    for (const struct edition *e = pool == NULL ? NULL : pool->editions; e != NULL; e = e->next)
        for (uint32_t i = 0; i < e->slices.count; i++) {
            const struct slice *s = e->slices.at[i];
            if (s->said.reach.node_name.len == 0 ||
                (node.len > 0 && !str_equal(node, s->said.reach.node_name)))
                return (struct str){0};
            node = s->said.reach.node_name;
        }
    return node;
}

/* ---- classes ---- */

static struct str keep(struct arena *arena, struct str s)
{
    return s.len == 0 ? (struct str){0} : arena_copy(arena, s);
}

static struct class_entry *class_make(const struct dra_class *said)
{
    struct class_entry *entry = memory_take(sizeof(*entry));
    struct arena *arena = &entry->arena;
    arena->first = 512;
    struct str *selectors = arena_take(arena, said->selector_count * sizeof(*selectors));
    for (uint32_t i = 0; i < said->selector_count; i++)
        selectors[i] = keep(arena, said->selectors[i]);
    struct dra_config *configs = arena_take(arena, said->config_count * sizeof(*configs));
    for (uint32_t i = 0; i < said->config_count; i++) {
        configs[i] = said->configs[i];
        configs[i].requests = (struct strs){0};
        configs[i].driver = keep(arena, said->configs[i].driver);
        configs[i].parameters = keep(arena, said->configs[i].parameters);
    }
    entry->said = (struct dra_class){.name = keep(arena, said->name),
                                     .selector_count = said->selector_count,
                                     .selectors = selectors,
                                     .config_count = said->config_count,
                                     .configs = configs};
    return entry;
}

static void class_free(struct class_entry *entry)
{
    if (entry == NULL)
        return;
    arena_free(&entry->arena);
    memory_free(entry);
}

void devices_put_class(struct devices *devices, const struct dra_class *said)
{
    struct class_entry *entry = class_make(said);
    changes_all(devices);
    class_free(map_set(devices->classes, entry->said.name, entry));
}

bool devices_remove_class(struct devices *devices, struct str name)
{
    struct class_entry *entry = map_remove(devices->classes, name);
    changes_all(devices);
    class_free(entry);
    return entry != NULL;
}

const struct dra_class *devices_class(const struct devices *devices, struct str name)
{
    const struct class_entry *entry = map_get(devices->classes, name);
    return entry == NULL ? NULL : &entry->said;
}

/* ---- what is allocated ---- */

void devices_take(struct devices *devices, const struct dra_use *uses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct dra_use *u = &uses[i];
        if (u->admin_access)
            continue;
        use_take(use_of(devices, u->driver, u->pool, u->device), u);
        pool_used(devices, u->driver, u->pool);
    }
}

void devices_give_back(struct devices *devices, const struct dra_use *uses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct dra_use *u = &uses[i];
        if (u->admin_access)
            continue;
        struct use *use = use_of(devices, u->driver, u->pool, u->device);
        use_give_back(use, u);
        pool_used(devices, u->driver, u->pool);
        use_release(devices, use);
    }
}

/* ---- all of it ---- */

struct devices_totals devices_totals(const struct devices *devices)
{
    size_t at = 0;
    const struct use *use;
    struct devices_totals totals = {.slices = (uint32_t)map_count(devices->slices),
                                    .pools = (uint32_t)devices->pools.count,
                                    .classes = (uint32_t)map_count(devices->classes)};
    while ((use = table_next(&devices->uses, &at)) != NULL) {
        totals.devices += use->devices > 0;
        totals.in_use += use_allocated(use);
    }
    return totals;
}

static void free_uses(struct devices *devices)
{
    size_t at = 0;
    struct use *use;
    while ((use = table_next(&devices->uses, &at)) != NULL) {
        use->dedicated = use->shares = 0;
        use_release(devices, use);
    }
    table_free(&devices->uses);
}

void devices_free(struct devices **devices)
{
    struct devices *d = *devices;
    size_t at = 0;
    struct str key;
    void *value;
    if (d == NULL)
        return;
    while (map_next(d->slices, &at, &key, &value))
        leave(d, value);
    for (at = 0; map_next(d->classes, &at, &key, &value);)
        class_free(value);
    free_uses(d);
    programs_free(d);
    taint_rules_free(&d->rules);
    map_free(&d->slices);
    reach_index_free(&d->index);
    map_free(&d->classes);
    map_free(&d->changes.nodes);
    table_free(&d->pools);
    memory_free(d->shared.at);
    memory_free(d->counting.at);
    memory_free(d->own.at);
    memory_free(d->gathered.at);
    memory_free(d->slots.free);
    memory_free(d->marks);
    arena_free(&d->scratch);
    memory_free(d);
    *devices = NULL;
}
