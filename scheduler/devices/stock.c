/* stock: how many devices of a class a node reaches, and how many of those are in use, for scores.
 * Mirrors calculateDRAResourceTotals of upstream's NodeResourcesFit, which is not the allocator: it
 * knows no pools, so that slices of all generations count, and a device that is in two of them
 * counts twice; and to a selector no device says that it may be shared. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

struct stock {
    struct devices *devices;
    const struct dra_node *node;
    uint32_t program_count;
    struct program **programs;
    struct arena *arena;
    struct dra_stock *out;
};

/* False: the selector is in error. */
static bool reaches(const struct stock *s, const struct dra_reach *reach, struct str bad,
                    bool *reaches)
{
    *reaches = false;
    if (bad.len > 0 && reach->node_name.len == 0 && !reach->all_nodes)
        return false;
    *reaches = reach_matches(reach, s->node);
    return true;
}

static bool is_of_class(const struct stock *s, struct device *device, bool *is)
{
    struct str error;
    *is = false;
    for (uint32_t i = 0; i < s->program_count; i++)
        switch (program_match_unshared(s->devices, s->programs[i], device, s->arena, &error)) {
        case CEL_MATCH: break;
        case CEL_NO_MATCH: return true;
        case CEL_FAILED: return false;
        }
    *is = true;
    return true;
}

static bool count_device(const struct stock *s, struct device *device)
{
    bool counts = true;
    if (device->slice->said.per_device &&
        !reaches(s, &device->said.reach, device->bad_reach, &counts))
        return false;
    if (!counts)
        return true;
    if (!is_of_class(s, device, &counts))
        return false;
    s->out->there += counts;
    s->out->used += counts && use_allocated(device->use);
    return true;
}

static bool count_slice(const struct stock *s, struct slice *slice)
{
    const struct dra_reach *reach = &slice->said.reach;
    bool counts = true, named = reach->node_name.len > 0 || reach->all_nodes || reach->has_terms;
    if (!slice->said.per_device && named && !reaches(s, reach, slice->bad_reach, &counts))
        return false;
    for (uint32_t i = 0; counts && i < slice->device_count; i++)
        if (!count_device(s, &slice->devices[i]))
            return false;
    return true;
}

static bool count_all(const struct stock *s)
{
    struct devices *devices = s->devices;
    const struct slices *lists[] = {&devices->own, &devices->shared};
    reach_index_gather(devices->index, s->node, &devices->own);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            if (!count_slice(s, lists[k]->at[i]))
                return false;
    return true;
}

struct dra_stock devices_stock(struct devices *devices, const struct features *features,
                               struct str class_name, const struct dra_node *node)
{
    struct dra_stock out = {0};
    struct arena arena = {0};
    const struct dra_class *class = devices_class(devices, class_name);
    if (class == NULL)
        return out;
    struct stock s = {.devices = devices, .node = node, .arena = &arena, .out = &out};
    s.programs = arena_take(&arena, class->selector_count * sizeof(struct program *));
    for (uint32_t i = 0; i < class->selector_count; i++)
        if (class->selectors[i].len > 0) /* one of an unknown kind lets all through */
            s.programs[s.program_count++] = program_hold(devices, features, class->selectors[i]);
    if (!count_all(&s))
        out = (struct dra_stock){0};
    for (uint32_t i = 0; i < s.program_count; i++)
        program_drop(s.programs[i]);
    arena_free(&arena);
    return out;
}
