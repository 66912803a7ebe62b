/* groups: compatibility groups (DRADeviceCompatibilityGroups, since 1.37): devices that consume of
 * one set of counters go together only while they have a group in common, or while none of them
 * has any. Mirrors upstream's compatibilityGroupIntersection: begun with the devices that are
 * allocated, narrowed by each that is chosen. What must stay true: choices are taken back in the
 * reverse order, and then everything is as it was before them. */
#include "scheduler/devices/search.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

/* Of a device's groups only so many count; the API server allows two. */
#define GROUPS_MAX 64

/* Which of the one's groups are among the other's, as bits. */
static uint64_t common_groups(const struct strs *one, const struct strs *other)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < one->count && i < GROUPS_MAX; i++)
        for (uint32_t k = 0; k < other->count && k < GROUPS_MAX; k++)
            if (str_equal(one->at[i], other->at[k]))
                found |= 1ULL << i;
    return found;
}

static bool admits(const struct group_set *set, const struct strs *groups)
{
    if (!set->members)
        return true;
    if (groups->count == 0 || set->first == NULL)
        return groups->count == 0 && set->first == NULL;
    return (set->common & common_groups(set->first, groups)) != 0;
}

/* Of devices that are allocated it may be that they should not be together. */
static void join(struct group_set *set, const struct strs *groups)
{
    if (!set->members) {
        set->members = true;
        set->first = groups->count > 0 ? groups : NULL;
        set->common = common_groups(groups, groups);
    } else if (set->first != NULL && groups->count > 0) {
        set->common &= common_groups(set->first, groups);
    }
}

static struct group_set *set_named(struct view_pool *pool, struct str name)
{
    for (uint32_t i = 0; i < pool->group_set_count; i++)
        if (str_equal(pool->group_sets[i].name, name))
            return &pool->group_sets[i];
    return NULL;
}

static void join_allocated(struct view_pool *pool, const struct slice *slice)
{
    for (uint32_t d = 0; d < slice->device_count && slice->set_count == 0; d++) {
        const struct device *device = &slice->devices[d];
        for (uint32_t i = 0; i < device->group_use_count && use_allocated(device->use); i++) {
            struct group_set *set = set_named(pool, device->group_uses[i].set);
            if (set != NULL)
                join(set, &device->group_uses[i].groups);
        }
    }
}

static bool in_view(const struct view_pool *pool, const struct slice *slice)
{
    for (uint32_t i = 0; i < pool->slice_count; i++)
        if (pool->slices[i] == slice)
            return true;
    return false;
}

/* The pool's sets, with what is allocated of it: in reach first. */
static void begin(struct dra_search *s, struct view_pool *pool)
{
    const struct slices *all = &pool->edition->slices;
    uint32_t room = 0;
    for (uint32_t i = 0; i < all->count; i++)
        room += all->at[i]->set_count;
    pool->group_sets = arena_take(&s->work, (room + 1) * sizeof(*pool->group_sets));
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i]->set_count; k++)
            pool->group_sets[pool->group_set_count++].name = all->at[i]->sets[k];
    for (uint32_t i = 0; i < pool->slice_count; i++)
        join_allocated(pool, pool->slices[i]);
    for (uint32_t i = 0; i < all->count && pool->whole; i++)
        if (!in_view(pool, all->at[i]))
            join_allocated(pool, all->at[i]);
}

static void save(struct dra_search *s, struct group_set *set)
{
    if (s->group_save_count == s->group_save_room) {
        s->group_save_room = s->group_save_room * 2 + 8;
        s->group_saves =
            memory_resize(s->group_saves, s->group_save_room * sizeof(*s->group_saves));
    }
    s->group_saves[s->group_save_count++] = (struct group_save){set, *set};
}

void groups_undo(struct dra_search *s, struct pick *pick)
{
    for (; pick->groups > 0; pick->groups--) {
        must(s->group_save_count > 0);
        const struct group_save *last = &s->group_saves[--s->group_save_count];
        *last->set = last->was;
    }
}

bool groups_join(struct dra_search *s, struct pick *pick)
{
    struct view_pool *pool = pick->what.pool;
    const struct device *device = pick->what.device;
    if (pool->group_sets == NULL)
        begin(s, pool);
    for (uint32_t i = 0; i < device->group_use_count; i++) {
        struct group_set *set = set_named(pool, device->group_uses[i].set);
        if (set == NULL)
            continue;
        if (!admits(set, &device->group_uses[i].groups)) {
            groups_undo(s, pick);
            return false;
        }
        save(s, set);
        pick->groups++;
        join(set, &device->group_uses[i].groups);
    }
    return true;
}
