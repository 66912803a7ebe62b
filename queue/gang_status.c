/* gang_status: what the queue tells of its groups. The one idea: of thousands of groups only those
 * that have waited longest are named, the others are counted by what they wait for. */
#include "queue/gang.h"

#include "queue/places.h"

#include <inttypes.h>
#include <string.h>

#define NAMED_MAX 50

const char *group_state_name(enum group_state state)
{
    static const char *const names[GROUP_STATES] = {
        [GROUP_idle] = "waits-for-events",    [GROUP_flying] = "in-flight",
        [GROUP_unread] = "pod-groups-unread", [GROUP_missing] = "no-pod-group",
        [GROUP_few] = "too-few-pods",         [GROUP_gated] = "gated-pods",
        [GROUP_mixed] = "several-schedulers", [GROUP_large] = "too-large",
        [GROUP_denied] = "failed-recently",   [GROUP_short] = "resource-gap",
        [GROUP_backoff] = "backoff",          [GROUP_ready] = "ready"};
    return state < GROUP_STATES ? names[state] : "";
}

struct gang_totals gangs_totals(const struct gangs *gs)
{
    struct gang_totals t = {0};
    size_t at = 0;
    void *value;
    while (map_next(gs->groups, &at, NULL, &value)) {
        const struct group *g = value;
        if (g->state == GROUP_ready)
            t.active += g->ready.count;
        else if (g->state == GROUP_backoff)
            t.backoff += g->ready.count;
        else
            t.waiting += g->ready.count;
    }
    return t;
}

static bool is_waiting(const struct group *g)
{
    return !g->satisfied && g->member_count > 0;
}

/* Keeps the oldest, in order. */
static size_t insert(const struct group **list, size_t count, const struct group *g)
{
    size_t i = count < NAMED_MAX ? count : NAMED_MAX - 1;
    if (count == NAMED_MAX && g->since.ns >= list[i]->since.ns)
        return count;
    for (; i > 0 && list[i - 1]->since.ns > g->since.ns; i--)
        list[i] = list[i - 1];
    list[i] = g;
    return count < NAMED_MAX ? count + 1 : count;
}

static void print_group(const struct group *g, struct moment now, struct buffer *lines)
{
    buffer_print(lines,
                 "group:%.*s/%.*s=%s,placed:%" PRId64 ",needed:%" PRId64 ",min:%" PRId64
                 ",pending:%zu,ready:%zu,in_flight:%zu,failures:%" PRId64 ",waiting_s:%" PRId64
                 "\n",
                 STR_ARG(g->space), STR_ARG(g->name), group_state_name(g->state), group_placed(g),
                 group_needed(g), g->record.min_member, g->member_count - g->bound, g->ready.count,
                 g->flights, g->failures, span_ms(moment_since(now, g->since)) / 1000);
}

void gangs_status(const struct queues *q, struct moment now, struct buffer *lines)
{
    const struct gangs *gs = &q->gangs;
    const struct group *oldest[NAMED_MAX];
    size_t by_state[GROUP_STATES] = {0}, named = 0, waiting = 0, at = 0;
    void *value;
    if (map_count(gs->groups) == 0)
        return;
    while (map_next(gs->groups, &at, NULL, &value)) {
        const struct group *g = value;
        if (!is_waiting(g))
            continue;
        waiting++;
        by_state[g->state]++;
        named = insert(oldest, named, g);
    }
    struct gang_totals t = gangs_totals(gs);
    buffer_print(lines, "groups=%zu\ngroups_waiting=%zu\nmembers_waiting=%zu\n",
                 map_count(gs->groups), waiting, t.active + t.backoff + t.waiting);
    for (int i = 0; i < GROUP_STATES; i++)
        if (by_state[i] > 0)
            buffer_print(lines, "groups_%s=%zu\n", group_state_name(i), by_state[i]);
    buffer_print(lines, "groups_handed=%" PRIu64 "\ngroups_failed=%" PRIu64 "\n", gs->counts.handed,
                 gs->counts.failed);
    buffer_print(lines, "groups_denied=%" PRIu64 "\ngroups_told=%" PRIu64 "\n", gs->counts.denied,
                 gs->counts.told);
    for (size_t i = 0; i < named; i++)
        print_group(oldest[i], now, lines);
}
