/* worker_count: the choice of how many worker processes there are. The one idea: workers cost three
 * more wakes each way, so that they help only where looking at the nodes takes longer than that;
 * and they come and go without harm, so that the number may follow the cluster. What must stay
 * true: a number of nodes that comes and goes, as when a scheduler reads them all again, changes
 * nothing; and once there are workers, two stay, as who is heard no more would be taken for hung.
 */
#include "ctl/worker_count.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a container's share of time: "QUOTA PERIOD" in microseconds, or "max PERIOD". */
static unsigned processors_by_quota(void)
{
    char text[64] = "", *end;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    bool read = f != NULL && fgets(text, sizeof(text), f) != NULL;
    if (f != NULL)
        fclose(f);
    long long quota = strtoll(text, &end, 10), period = strtoll(end, NULL, 10);
    bool limited = read && quota > 0 && period > 0 && quota / period < UINT_MAX;
    return limited ? (unsigned)((quota + period - 1) / period) : UINT_MAX;
}

unsigned worker_count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    unsigned ours = count > 0 ? (unsigned)count : 1, quota = processors_by_quota();
    return quota < ours ? quota : ours;
}

unsigned worker_count_most(unsigned processors)
{
    return processors / 2 < WORKER_COUNT_LIMIT ? processors / 2 : WORKER_COUNT_LIMIT;
}

unsigned worker_count_by_nodes(const struct worker_count *w, uint64_t nodes)
{
    uint64_t count = nodes / WORKER_COUNT_NODES;
    if (count > w->most)
        count = w->most;
    if (count >= 2)
        return (unsigned)count;
    return w->now == 0 ? 0 : 2;
}

unsigned worker_count_look(struct worker_count *w, struct moment now, uint64_t nodes)
{
    unsigned wish = nodes == 0 ? w->now : worker_count_by_nodes(w, nodes);
    if (wish != w->wish || wish == w->now) {
        w->wish = wish;
        w->since = now;
    }
    int64_t wait_ms = wish > w->now ? WORKER_COUNT_MORE_MS : WORKER_COUNT_FEWER_MS;
    if (wish != w->now && moment_reached(now, moment_after(w->since, span_of_ms(wait_ms))))
        w->now = wish;
    return w->now;
}
