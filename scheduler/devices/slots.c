/* slots: small numbers for devices, so that what is known of them lies in arrays. A slice gets a
 * range at once. What must stay true: no two slices have the same slot, and free ranges that touch
 * are one, so that slices that come and go do not eat up the numbers. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

static void drop_range(struct slots *slots, uint32_t i)
{
    slots->free_count--;
    memmove(&slots->free[i], &slots->free[i + 1], (slots->free_count - i) * sizeof(*slots->free));
}

uint32_t slots_take(struct slots *slots, uint32_t count)
{
    for (uint32_t i = 0; i < slots->free_count; i++) {
        struct slot_range *range = &slots->free[i];
        uint32_t first = range->first;
        if (range->count < count)
            continue;
        range->first += count;
        range->count -= count;
        if (range->count == 0)
            drop_range(slots, i);
        return first;
    }
    slots->top += count;
    return slots->top - count;
}

void slots_give_back(struct slots *slots, uint32_t first, uint32_t count)
{
    uint32_t i = 0;
    if (count == 0)
        return;
    while (i < slots->free_count && slots->free[i].first < first)
        i++;
    bool before = i > 0 && slots->free[i - 1].first + slots->free[i - 1].count == first;
    bool behind = i < slots->free_count && first + count == slots->free[i].first;
    if (before) {
        slots->free[i - 1].count += count + (behind ? slots->free[i].count : 0);
        if (behind)
            drop_range(slots, i);
        return;
    }
    if (behind) {
        slots->free[i] = (struct slot_range){first, count + slots->free[i].count};
        return;
    }
    if (slots->free_count == slots->free_room) {
        slots->free_room = slots->free_room == 0 ? 8 : slots->free_room * 2;
        slots->free = memory_resize(slots->free, slots->free_room * sizeof(*slots->free));
    }
    memmove(&slots->free[i + 1], &slots->free[i], (slots->free_count - i) * sizeof(*slots->free));
    slots->free[i] = (struct slot_range){first, count};
    slots->free_count++;
}
