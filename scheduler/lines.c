/* lines: plain counters, one line a worker. What must stay true: owed is the sum over all lines,
 * and nothing is counted for a worker without a line. */
#include "scheduler/lines.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct line *line_of(const struct lines *l, uint32_t worker)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->at[i].worker == worker)
            return &l->at[i];
    return NULL;
}

void line_close(struct lines *l, uint32_t worker)
{
    struct line *line = line_of(l, worker);
    if (line == NULL)
        return;
    l->owed -= line->owed;
    *line = l->at[--l->count];
}

void line_open(struct lines *l, uint32_t worker, bool counts)
{
    line_close(l, worker);
    if (l->count == l->room) {
        l->room = l->room == 0 ? 4 : l->room * 2;
        l->at = memory_resize(l->at, l->room * sizeof(*l->at));
    }
    l->at[l->count++] = (struct line){.worker = worker, .counts = counts};
}

void line_sent(struct lines *l, uint32_t worker)
{
    struct line *line = line_of(l, worker);
    if (line != NULL && line->counts)
        line->on_the_way++;
}

/* A worker that says more than it was sent speaks of what came before its line was opened. */
void line_taken(struct lines *l, uint32_t worker, int64_t count)
{
    struct line *line = line_of(l, worker);
    if (line == NULL || count <= 0)
        return;
    line->on_the_way -= count < line->on_the_way ? (uint32_t)count : line->on_the_way;
}

void line_owes(struct lines *l, uint32_t worker, int change)
{
    struct line *line = line_of(l, worker);
    if (line == NULL)
        return;
    must(change > 0 || (line->owed > 0 && l->owed > 0));
    line->owed += (uint32_t)change;
    l->owed += (uint32_t)change;
}

void lines_free(struct lines *l)
{
    memory_free(l->at);
    *l = (struct lines){0};
}
