/* binds_report: which binds there are, for others and for the status. What must stay true: nothing
 * here changes anything. */
#include "binder/binds_inside.h"

#include "proto/base/must.h"

#include <stdlib.h>
#include <string.h>

bool binds_has(const struct binds *b, struct str uid)
{
    return map_get(b->flights, uid) != NULL;
}

bool binds_prepares(const struct binds *b, struct str uid, int64_t *version)
{
    const struct flight *f = map_get(b->flights, uid);
    *version = f != NULL ? f->bind.resource_version : 0;
    return f != NULL && f->posts == 0 && !f->cancelled &&
           prebind_plugin(&f->bind) != BIND_PLUGIN_none;
}

static bool is_preparing(const struct flight *f)
{
    return f->prebind != NULL && !f->prepared;
}

uint32_t binds_waiting_for_claims(const struct binds *b)
{
    uint32_t count = 0;
    size_t place = 0;
    void *value;
    while (map_next(b->flights, &place, NULL, &value))
        count += is_preparing(value);
    return count;
}

uint32_t binds_count(const struct binds *b)
{
    return (uint32_t)map_count(b->flights);
}

void binds_list(const struct binds *b, struct leadership *into, struct arena *a)
{
    size_t place = 0, count = map_count(b->flights);
    struct str uid;
    void *value;
    into->in_flight.at = arena_take(a, (count + 1) * sizeof(*into->in_flight.at));
    into->in_flight.count = 0;
    must(into->in_flight.at != NULL);
    while (map_next(b->flights, &place, &uid, &value)) {
        const struct flight *f = value;
        into->in_flight.at[into->in_flight.count++] =
            (struct binding){.uid = f->bind.uid, .node_name = f->bind.node_name};
    }
}

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct binds_stats binds_stats(const struct binds *b)
{
    struct binds_stats stats = b->stats;
    int64_t sorted[LATENCIES];
    size_t count = b->measured < LATENCIES ? (size_t)b->measured : LATENCIES;
    if (count == 0)
        return stats;
    memcpy(sorted, b->latencies, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_length);
    stats.p50.ns = sorted[count / 2];
    stats.p99.ns = sorted[count * 99 / 100];
    return stats;
}
