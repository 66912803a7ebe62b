/* dump: the cache in words, for whoever sends SIGUSR2: a line a node, then a line for each pod on
 * it. What must stay true: it only reads, so it may come at any time. */
#include "proto/base/log.h"
#include "scheduler/coordinator/coordination.h"

#include <inttypes.h>

struct sums {
    int64_t pods, cpu, memory;
    struct str node;
};

static int64_t amount_of(uint32_t count, const struct quantity *list, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(list[i].name, name))
            return list[i].amount;
    return 0;
}

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct sums *sums = context;
    (void)assumed;
    sums->pods++;
    sums->cpu += amount_of(pod->usage.count, pod->usage.at, "cpu");
    sums->memory += amount_of(pod->usage.count, pod->usage.at, "memory");
}

static void log_pod(void *context, const struct pod *pod, bool assumed)
{
    const struct sums *sums = context;
    log_info("Dump of cached NodeInfo| node=%.*s name=%.*s namespace=%.*s uid=%.*s assumed=%s",
             STR_ARG(sums->node), STR_ARG(pod->name), STR_ARG(pod->namespace_name),
             STR_ARG(pod->uid), assumed ? "true" : "false");
}

static void dump_node(const struct coordinator *c, struct str name, struct arena *a)
{
    struct sums sums = {.node = name};
    struct node node;
    if (!cache_node_get(c->cache, name, &node, a))
        return;
    cache_each_pod(c->cache, name, add_pod, &sums);
    log_info("Dump of cached NodeInfo| node=%.*s requested_cpu_m=%" PRId64
             " requested_memory=%" PRId64 " allocatable_cpu_m=%" PRId64
             " allocatable_memory=%" PRId64 " pods=%" PRId64,
             STR_ARG(name), sums.cpu, sums.memory,
             amount_of(node.allocatable.count, node.allocatable.at, "cpu"),
             amount_of(node.allocatable.count, node.allocatable.at, "memory"), sums.pods);
    cache_each_pod(c->cache, name, log_pod, &sums);
}

void coordinator_dump(void *state)
{
    struct coordinator *c = state;
    struct arena a = {0};
    compare_want(c); /* with the next tick: the watcher has to be asked */
    log_info("Dump of cached NodeInfo| nodes=%u pods=%u assumed=%u", cache_nodes(c->cache),
             cache_pods(c->cache), cache_assumed(c->cache));
    for (uint32_t i = 0; i < cache_nodes(c->cache); i++) {
        dump_node(c, cache_node_at(c->cache, i), &a);
        arena_reset(&a);
    }
    arena_free(&a);
}
