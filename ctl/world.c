/* world: coordinator and workers in one process, without a bus. The one idea: the cache tells
 * workers by messages, and here a message is a call into a shard.
 *
 * What must stay true: nothing in here knows a scheduling rule; all of that is the scheduler's. */
#include "ctl/world.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/cache.h"
#include "scheduler/packed.h"
#include "scheduler/shard.h"

#include <stdlib.h>

/* Start time of the first pod that is bound here: later than any that a scenario is likely to give.
 */
#define FIRST_BOUND_US (INT64_C(2208988800) * 1000000)

struct world {
    struct frameworks frameworks;
    struct cache *cache;
    struct shard **shards;
    uint32_t shard_count;
    struct map *pods; /* namespace/name → struct packed */
    struct reduce *reduce;
    struct arena arena; /* of the last decision */
    struct pod decided;
    int64_t cycle, bound;
};

static void tell(void *context, uint32_t worker, const struct message *m)
{
    struct world *w = context;
    must(worker < w->shard_count);
    struct shard *s = w->shards[worker];
    switch (m->type) {
    case MSG_shard_reset:
        shard_reset(s, m->shard_reset.profiles.at, m->shard_reset.profiles.count);
        break;
    case MSG_shard_node: shard_node_set(s, &m->shard_node.node); break;
    case MSG_shard_node_gone: shard_node_gone(s, m->shard_node_gone.name); break;
    case MSG_shard_pod: shard_pod_set(s, &m->shard_pod.pod); break;
    case MSG_shard_pod_gone: shard_pod_gone(s, m->shard_pod_gone.uid); break;
    case MSG_shard_images: shard_images(s, &m->shard_images); break;
    default: must(!"the cache tells workers of nodes, pods and images only");
    }
}

struct world *world_new(const struct profile *profiles, uint32_t count, uint32_t shards)
{
    struct world *w = memory_take(sizeof(*w));
    must(shards > 0);
    frameworks_build(&w->frameworks, profiles, count);
    w->shard_count = shards;
    w->shards = memory_take_array(shards, sizeof(struct shard *));
    const struct cache_options options = {
        .profiles = profiles, .profile_count = count, .tell = tell, .context = w};
    w->cache = cache_new(&options);
    w->pods = map_new();
    w->reduce = reduce_new();
    for (uint32_t i = 0; i < shards; i++) {
        w->shards[i] = shard_new();
        cache_worker_join(w->cache, i, 1);
    }
    return w;
}

static void drop_pod(struct packed *pod)
{
    if (pod == NULL)
        return;
    packed_free(pod);
    memory_free(pod);
}

void world_free(struct world **world)
{
    struct world *w = *world;
    if (w == NULL)
        return;
    cache_free(&w->cache);
    for (uint32_t i = 0; i < w->shard_count; i++)
        shard_free(&w->shards[i]);
    memory_free(w->shards);
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(w->pods, &at, &key, &value))
        drop_pod(value);
    map_free(&w->pods);
    reduce_free(&w->reduce);
    frameworks_clear(&w->frameworks);
    arena_free(&w->arena);
    memory_free(w);
    *world = NULL;
}

void world_node_set(struct world *w, const struct node *node)
{
    cache_node_set(w->cache, node);
}

bool world_has_node(const struct world *w, struct str name)
{
    return cache_has_node(w->cache, name);
}

bool world_node_gone(struct world *w, struct str name)
{
    bool known = cache_has_node(w->cache, name);
    cache_node_gone(w->cache, name);
    return known;
}

static void pod_key(struct buffer *key, struct str namespace_name, struct str name)
{
    buffer_print(key, "%.*s/%.*s", STR_ARG(namespace_name), STR_ARG(name));
}

void world_pod_set(struct world *w, const struct pod *pod)
{
    struct buffer key = {0};
    pod_key(&key, pod->namespace_name, pod->name);
    struct packed *kept = map_get(w->pods, buffer_str(&key));
    if (kept == NULL) {
        kept = memory_take(sizeof(*kept));
        map_set(w->pods, buffer_str(&key), kept);
    }
    packed_set(kept, &pod_record, pod);
    buffer_free(&key);
    cache_pod_set(w->cache, pod);
}

bool world_pod(const struct world *w, struct str namespace_name, struct str name, struct pod *pod,
               struct arena *a)
{
    struct buffer key = {0};
    pod_key(&key, namespace_name, name);
    const struct packed *kept = map_get(w->pods, buffer_str(&key));
    buffer_free(&key);
    if (kept == NULL)
        return false;
    struct pod borrowed;
    packed_get(kept, &pod_record, &borrowed, a);
    codec_copy(&pod_record, pod, &borrowed, a);
    return true;
}

bool world_pod_gone(struct world *w, struct str namespace_name, struct str name)
{
    struct arena a = {0};
    struct pod pod;
    bool known = world_pod(w, namespace_name, name, &pod, &a);
    if (known) {
        struct buffer key = {0};
        pod_key(&key, namespace_name, name);
        drop_pod(map_remove(w->pods, buffer_str(&key)));
        buffer_free(&key);
        cache_pod_gone(w->cache, pod.uid);
    }
    arena_free(&a);
    return known;
}

const struct framework *world_framework(const struct world *w, const struct pod *pod)
{
    return frameworks_find(&w->frameworks, pod->scheduler_name);
}

/* One round: the request to every shard that is asked. */
static enum reduce_step ask_shards(struct world *w)
{
    enum reduce_step step = REDUCE_wait;
    bool *asked = arena_take(&w->arena, w->shard_count);
    for (uint32_t i = 0; i < w->shard_count; i++)
        asked[i] = reduce_asks(w->reduce, i);
    for (uint32_t i = 0; i < w->shard_count; i++) {
        struct map_result result;
        if (!asked[i])
            continue;
        shard_map(w->shards[i], reduce_request(w->reduce), &result, &w->arena);
        step = reduce_add(w->reduce, i, &result);
    }
    return step;
}

const struct decision *world_decide(struct world *w, const struct pod *pod)
{
    arena_reset(&w->arena);
    codec_copy(&pod_record, &w->decided, pod, &w->arena);
    cache_flush(w->cache);
    struct reduce_start start = {.cycle = ++w->cycle,
                                 .framework = world_framework(w, pod),
                                 .pod = &w->decided,
                                 .shards = w->shard_count,
                                 .nodes = cache_nodes(w->cache),
                                 .tie_break = STR_LITERAL("first"),
                                 .detail = true};
    start.nominated = cache_nominated(w->cache, pod, &start.nominated_count, &w->arena);
    enum reduce_step step = reduce_start(w->reduce, &start);
    while (step == REDUCE_ask)
        step = ask_shards(w);
    must(step == REDUCE_done);
    return reduce_decision(w->reduce);
}

const struct verdict *world_verdicts(const struct world *w, uint32_t *count)
{
    return reduce_verdicts(w->reduce, count);
}

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct strs world_nodes(struct world *w, struct arena *a)
{
    uint32_t count = cache_nodes(w->cache);
    struct strs names = {count, arena_take(a, count * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        names.at[i] = arena_copy(a, cache_node_at(w->cache, i));
    qsort(names.at, count, sizeof(*names.at), compare);
    return names;
}

void world_bind(struct world *w, const struct pod *pod, struct str node)
{
    must(cache_assume(w->cache, pod, node));
    struct pod bound = *pod;
    bound.node_name = node;
    bound.nominated_node = (struct str){0};
    bound.started = FIRST_BOUND_US + ++w->bound * 1000000;
    world_pod_set(w, &bound);
}

void world_clear_nomination(struct world *w, const struct pod *pod)
{
    struct pod cleared = *pod;
    cleared.nominated_node = (struct str){0};
    world_pod_set(w, &cleared);
    cache_nominate(w->cache, &cleared, (struct str){0});
}
