/* scratch: what evaluations reuse from one request to the next. What must stay true: there is room
 * for each row, and first is zero where no evaluation is under way. */
#include "proto/base/memory.h"
#include "scheduler/table/kernels.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

void scratch_free(struct scratch *s)
{
    arena_free(&s->arena);
    memory_free(s->all);
    memory_free(s->named);
    memory_free(s->passed);
    memory_free(s->first);
    memory_free(s->blame);
    memory_free(s->raw);
    memory_free(s->fixed);
    memory_free(s->sums);
    memory_free(s->windows);
    row_copy_free(&s->copy);
    row_copy_free(&s->nominated_copy);
    *s = (struct scratch){0};
}

void scratch_reserve(struct scratch *s, uint32_t rows)
{
    if (s->room > 0 && rows <= s->room)
        return; /* an empty share has room as well: nobody need ask whether there are arrays */
    uint32_t room = s->room == 0 ? 64 : s->room;
    while (room < rows)
        room *= 2;
    s->all = memory_resize(s->all, room * sizeof(*s->all));
    s->named = memory_resize(s->named, room * sizeof(*s->named));
    s->passed = memory_resize(s->passed, (room + 1) * sizeof(*s->passed));
    s->first = memory_resize(s->first, room * sizeof(*s->first));
    s->fixed = memory_resize(s->fixed, room * sizeof(*s->fixed));
    s->sums = memory_resize(s->sums, room * sizeof(*s->sums));
    s->blame = memory_resize(s->blame, room);
    s->windows = memory_resize(s->windows, (room / BLOCK + 1) * sizeof(*s->windows));
    memset(s->first + s->room, 0, (room - s->room) * sizeof(*s->first));
    kernel_number(s->all, room);
    s->room = room;
}
