/* world: coordinator and workers in one process, without a bus. The one idea: the cache tells
 * workers by messages, and here a message is a call into a shard.
 *
 * What must stay true: nothing in here knows a scheduling rule; all of that is the scheduler's. */
#include "ctl/world.h"
#include "ctl/world_inside.h"

#include "ctl/claim_configs.h"
#include "ctl/controller.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/packed.h"
#include "scheduler/worker/shard.h"

#include <stdlib.h>

/* Start time of the first pod that is bound here: later than any that a scenario is likely to give.
 */
#define FIRST_BOUND_US (INT64_C(2208988800) * 1000000)

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
    case MSG_shard_pod: shard_pod_told(s, &m->shard_pod); break;
    case MSG_shard_pod_gone: shard_pod_gone(s, m->shard_pod_gone.uid); break;
    case MSG_shard_images: shard_images(s, &m->shard_images); break;
    case MSG_shard_nominated: shard_nominated(s, &m->shard_nominated.pod); break;
    case MSG_shard_nominated_gone: shard_nominated_gone(s, m->shard_nominated_gone.uid); break;
    case MSG_shard_storage: shard_storage(s, &m->shard_storage); break;
    default: must(!"the cache tells workers of nodes, pods, images, storage and nominations only");
    }
}

static bool node_of(void *context, struct str name, struct node *node, struct arena *a)
{
    const struct world *w = context;
    return cache_node_get(w->cache, name, node, a);
}

/* Every write of a claim or a volume is a new version of it, so that it ends an assumption. */
void world_take_quietly(void *context, const struct message *m)
{
    struct world *w = context;
    struct message stamped = *m;
    if (m->type == MSG_claim_set)
        stamped.claim_set.claim.resource_version = ++w->version;
    else if (m->type == MSG_volume_set)
        stamped.volume_set.volume.resource_version = ++w->version;
    catalog_take(w->catalog, &stamped);
    cache_object(w->cache, &stamped);
}

struct world *world_new(const struct profile *profiles, uint32_t count, uint32_t shards)
{
    struct world *w = memory_take(sizeof(*w));
    must(shards > 0);
    frameworks_build(&w->frameworks, profiles, count);
    w->shard_count = shards;
    w->shards = memory_take_array(shards, sizeof(struct shard *));
    w->catalog = catalog_new();
    catalog_stand_in(w->catalog, count == 0 || profiles[0].features.device_extended);
    const struct cache_options options = {.profiles = profiles,
                                          .profile_count = count,
                                          .tell = tell,
                                          .context = w,
                                          .catalog = w->catalog};
    w->cache = cache_new(&options);
    w->controller = controller_new(&(struct controlled){
        .context = w, .catalog = w->catalog, .node = node_of, .write = world_take_quietly});
    w->pods = map_new();
    w->groups = map_new();
    w->nodes = map_new();
    w->configs = claim_configs_new();
    w->reduce = reduce_new();
    w->shortly = reduce_new();
    for (uint32_t i = 0; i < shards; i++) {
        w->shards[i] = shard_new();
        cache_worker_join(w->cache, i, 1);
    }
    return w;
}

static void drop_packed(struct packed *kept)
{
    if (kept == NULL)
        return;
    packed_free(kept);
    memory_free(kept);
}

static struct packed *need_packed(struct map *all, struct str key)
{
    struct packed *kept = map_get(all, key);
    if (kept == NULL) {
        kept = memory_take(sizeof(*kept));
        map_set(all, key, kept);
    }
    return kept;
}

static void drop_all(struct map **all)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(*all, &at, &key, &value))
        drop_packed(value);
    map_free(all);
}

void world_free(struct world **world)
{
    struct world *w = *world;
    if (w == NULL)
        return;
    controller_free(&w->controller);
    claim_configs_free(&w->configs);
    cache_free(&w->cache);
    catalog_free(&w->catalog);
    for (uint32_t i = 0; i < w->shard_count; i++)
        shard_free(&w->shards[i]);
    memory_free(w->shards);
    drop_all(&w->pods);
    drop_all(&w->groups);
    drop_all(&w->nodes);
    reduce_free(&w->reduce);
    reduce_free(&w->shortly);
    extension_free(&w->asked);
    extension_free(&w->asked_shortly);
    frameworks_clear(&w->frameworks);
    arena_free(&w->arena);
    memory_free(w);
    *world = NULL;
}

static void group_key(struct buffer *key, struct str api, struct str space, struct str name)
{
    buffer_print(key, "%.*s/%.*s/%.*s", STR_ARG(api), STR_ARG(space), STR_ARG(name));
}

static void note_group(struct world *w, const struct message *m)
{
    struct buffer key = {0};
    const struct gang *g = &m->pod_group_set.group;
    const struct object_gone *gone = &m->object_gone;
    if (m->type == MSG_pod_group_set) {
        group_key(&key, g->api, g->namespace_name, g->name);
        packed_set(need_packed(w->groups, buffer_str(&key)), &gang_record, g);
    } else if (m->type == MSG_object_gone && gone->kind == OBJECT_pod_group) {
        const struct gang named = {
            .api = gone->api, .namespace_name = gone->namespace_name, .name = gone->name};
        struct arena a = {0};
        struct gang there;
        bool found = world_group(w, &named, &there, &a);
        group_key(&key, found ? there.api : named.api, gone->namespace_name, gone->name);
        drop_packed(found ? map_remove(w->groups, buffer_str(&key)) : NULL);
        arena_free(&a);
    }
    buffer_free(&key);
}

bool world_takes(enum message_type type)
{
    switch (type) {
    case MSG_namespace_set:
    case MSG_namespace_gone:
    case MSG_resource_claim_set:
    case MSG_resource_slice_set:
    case MSG_device_class_set:
    case MSG_device_taint_rule_set:
    case MSG_claim_set:
    case MSG_volume_set:
    case MSG_storage_class_set:
    case MSG_csi_node_set:
    case MSG_csi_driver_set:
    case MSG_csi_capacity_set:
    case MSG_attachment_set:
    case MSG_owner_set:
    case MSG_budget_set:
    case MSG_pod_group_set:
    case MSG_object_gone: return true;
    default: return false;
    }
}

void world_take(struct world *w, const struct message *m)
{
    note_group(w, m);
    world_take_quietly(w, m);
    if (w->settled)
        controller_look(w->controller, m);
}

bool world_group(const struct world *w, const struct gang *named, struct gang *group,
                 struct arena *a)
{
    size_t at = 0;
    struct gang one;
    void *value;
    while (map_next(w->groups, &at, NULL, &value)) {
        packed_get(value, &gang_record, &one, a);
        if ((named->api.len == 0 || str_equal(one.api, named->api)) &&
            str_equal(one.namespace_name, named->namespace_name) &&
            str_equal(one.name, named->name)) {
            *group = one;
            return true;
        }
    }
    return false;
}

struct pod *world_members(const struct world *w, const struct gang *group, uint32_t *count,
                          struct arena *a)
{
    size_t at = 0;
    void *value;
    struct pod *all = arena_take(a, (map_count(w->pods) + 1) * sizeof(*all));
    *count = 0;
    while (map_next(w->pods, &at, NULL, &value)) {
        struct pod pod;
        packed_get(value, &pod_record, &pod, a);
        if (str_equal(pod.gang, group->name) && str_equal(pod.gang_api, group->api) &&
            str_equal(pod.namespace_name, group->namespace_name))
            codec_copy(&pod_record, &all[(*count)++], &pod, a);
    }
    return all;
}

void world_note(struct world *w, const struct kube_json *object)
{
    controller_note(w->controller, object);
    claim_configs_note(w->configs, object);
}

const struct catalog *world_catalog(const struct world *w)
{
    return w->catalog;
}

const struct claim_configs *world_claim_configs(const struct world *w)
{
    return w->configs;
}

void world_settle(struct world *w)
{
    w->settled = true;
    controller_look_at_all(w->controller);
}

bool world_has_object(const struct world *w, struct str kind, struct str space, struct str name)
{
    struct arena a = {0};
    struct gang group;
    if (str_is(kind, "PodGroup")) {
        const struct gang named = {.namespace_name = space, .name = name};
        bool there = world_group(w, &named, &group, &a);
        arena_free(&a);
        return there;
    }
    return catalog_has(w->catalog, kind, space, name);
}

void world_snapshot_begin(struct world *w)
{
    cache_snapshot_begin(w->cache);
    catalog_snapshot_begin(w->catalog);
}

void world_snapshot_end(struct world *w)
{
    catalog_snapshot_end(w->catalog);
    cache_snapshot_end(w->cache);
}

void world_node_set(struct world *w, const struct node *node)
{
    packed_set(need_packed(w->nodes, node->name), &node_record, node);
    cache_node_set(w->cache, node);
}

bool world_node_gone(struct world *w, struct str name)
{
    bool known = cache_has_node(w->cache, name);
    cache_node_gone(w->cache, name);
    return known;
}

bool world_node(const struct world *w, struct str name, struct node *node, struct arena *a)
{
    return cache_node_get(w->cache, name, node, a);
}

static void pod_key(struct buffer *key, struct str namespace_name, struct str name)
{
    buffer_print(key, "%.*s/%.*s", STR_ARG(namespace_name), STR_ARG(name));
}

void world_pod_set(struct world *w, const struct pod *pod)
{
    struct buffer key = {0};
    pod_key(&key, pod->namespace_name, pod->name);
    packed_set(need_packed(w->pods, buffer_str(&key)), &pod_record, pod);
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

void world_each_pod(const struct world *w, void (*visit)(void *context, const struct pod *pod),
                    void *context)
{
    struct arena a = {0};
    size_t at = 0;
    void *value;
    while (map_next(w->pods, &at, NULL, &value)) {
        struct pod pod;
        packed_get(value, &pod_record, &pod, &a);
        visit(context, &pod);
        arena_reset(&a);
    }
    arena_free(&a);
}

static bool is_added(const struct label *l, const struct node *node)
{
    if (!str_is(l->key, "topology.kubernetes.io/zone") &&
        !str_is(l->key, "topology.kubernetes.io/region"))
        return false;
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_equal(node->labels.at[i].key, l->key) &&
            str_equal(node->labels.at[i].value, l->value))
            return true;
    return false;
}

struct pod world_pod_unbound(const struct world *w, const struct pod *pod, struct arena *a)
{
    struct node node;
    struct pod unbound = *pod;
    unbound.node_name = (struct str){0};
    if (!world_node(w, pod->node_name, &node, a))
        return unbound;
    unbound.labels.count = 0;
    unbound.labels.at = arena_take(a, (pod->labels.count + 1) * sizeof(struct label));
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (!is_added(&pod->labels.at[i], &node))
            unbound.labels.at[unbound.labels.count++] = pod->labels.at[i];
    return unbound;
}

bool world_pod_gone(struct world *w, struct str namespace_name, struct str name)
{
    struct arena a = {0};
    struct pod pod;
    bool known = world_pod(w, namespace_name, name, &pod, &a);
    if (known) {
        struct buffer key = {0};
        pod_key(&key, namespace_name, name);
        drop_packed(map_remove(w->pods, buffer_str(&key)));
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

struct str world_kept_by(const struct world *w, const struct pod *pod, struct str *reason,
                         struct arena *a)
{
    const struct framework *framework = world_framework(w, pod);
    const struct strs names = framework->profile.pre_enqueue;
    const struct pre_filter_question q = {
        .catalog = w->catalog, .framework = framework, .pod = pod, .arena = a};
    for (uint32_t i = 0; i < names.count; i++) {
        const struct plugin *plugin = plugin_find(names.at[i]);
        struct pre_filter out = {0};
        if (plugin == NULL || plugin->pre_enqueue == NULL)
            continue;
        plugin->pre_enqueue(&q, &out);
        *reason = out.reason;
        if (out.code != CODE_success)
            return names.at[i];
    }
    return world_plugins_kept_by(w, pod, reason, a);
}

/* One round: the request to every shard that is asked. */
static enum reduce_step ask_shards(struct world *w, struct reduce *reduce)
{
    enum reduce_step step = REDUCE_wait;
    bool *asked = arena_take(&w->arena, w->shard_count);
    for (uint32_t i = 0; i < w->shard_count; i++)
        asked[i] = reduce_asks(reduce, i);
    for (uint32_t i = 0; i < w->shard_count; i++) {
        struct map_result result;
        if (!asked[i])
            continue;
        shard_map(w->shards[i], reduce_request(reduce), &result, &w->arena);
        step = reduce_add(reduce, i, &result);
    }
    return step;
}

static uint32_t place_of(const void *context, struct str node)
{
    return cache_place(((const struct world *)context)->cache, node);
}

/* As the coordinator's, without extenders. */
static struct walk walk_of(struct world *w, const struct framework *fw)
{
    int64_t percentage = fw->profile.percentage_of_nodes_to_score;
    if (percentage == 0 || cache_nodes(w->cache) == 0)
        return (struct walk){0};
    cache_walk(w->cache);
    return (struct walk){.ends = true,
                         .first = fw->score_count == 0,
                         .percentage = percentage,
                         .start = w->walk_next % cache_nodes(w->cache),
                         .nodes = cache_nodes(w->cache),
                         .place = place_of,
                         .context = w};
}

static enum reduce_step run(struct world *w, struct reduce *reduce,
                            const struct reduce_start *start)
{
    enum reduce_step step = reduce_start(reduce, start);
    while (step == REDUCE_ask)
        step = ask_shards(w, reduce);
    return step;
}

/* What plugins on the bus say is asked for as often as the cycle needs more of it. */
static enum reduce_step ask_plugins(struct world *w, struct reduce *reduce,
                                    struct reduce_start *start, bool detail)
{
    struct extension **e = reduce == w->reduce ? &w->asked : &w->asked_shortly;
    enum reduce_step step = run(w, reduce, start);
    while (step == REDUCE_extend) {
        world_consultation(w, start->pod, *e, reduce_extend(reduce));
        start->cycle = ++w->cycle;
        start->detail = detail || ((*e)->no_node.wanted && !(*e)->no_node.given);
        step = run(w, reduce, start);
    }
    return step;
}

static const struct decision *decide(struct world *w, struct reduce *reduce, const struct pod *pod,
                                     bool detail)
{
    cache_flush(w->cache);
    struct reduce_start start = {.cycle = ++w->cycle,
                                 .framework = world_framework(w, pod),
                                 .catalog = w->catalog,
                                 .cache = w->cache,
                                 .timer = moment_now,
                                 .pod = pod,
                                 .shards = w->shard_count,
                                 .nodes = cache_nodes(w->cache),
                                 .no_terms = cache_pods_with_terms(w->cache) == 0,
                                 .none_lower = cache_least_priority(w->cache) >= pod->priority,
                                 .own_hostnames = cache_odd_hostnames(w->cache) == 0,
                                 .group_is_active = world_group_is_active(w, pod),
                                 .tie_break = TIE_BREAK_first,
                                 .now_us = moment_wall_us(),
                                 .detail = detail};
    start.walk = walk_of(w, start.framework);
    struct extension **asked = reduce == w->reduce ? &w->asked : &w->asked_shortly;
    extension_free(asked);
    *asked = w->answers == NULL ? world_extension(w, start.framework) : NULL;
    start.extension = *asked != NULL ? *asked : w->answers;
    enum reduce_step step =
        *asked != NULL ? ask_plugins(w, reduce, &start, detail) : run(w, reduce, &start);
    w->consulted = step == REDUCE_done && start.extension != NULL;
    if (step == REDUCE_extend && start.extension != NULL) {
        start.extension = NULL;
        step = run(w, reduce, &start);
    }
    must(step == REDUCE_done);
    return reduce_decision(reduce);
}

void world_consult(struct world *w, const struct extension *answers)
{
    w->answers = answers;
}

bool world_consulted(const struct world *w)
{
    return w->consulted;
}

void world_ask_plugins(struct world *w, const struct world_plugins *plugins)
{
    w->plugins = plugins;
}

const struct extension *world_answers(const struct world *w)
{
    if (w->asked != NULL)
        return w->asked;
    return w->consulted ? w->answers : NULL;
}

const struct decision *world_decide(struct world *w, const struct pod *pod)
{
    arena_reset(&w->arena);
    codec_copy(&pod_record, &w->decided, pod, &w->arena);
    return decide(w, w->reduce, &w->decided, true);
}

void world_walked(struct world *w, const struct decision *decision)
{
    if (decision->nodes > 0)
        w->walk_next = (w->walk_next + decision->walked) % decision->nodes;
}

const struct decision *world_decide_shortly(struct world *w, const struct pod *pod)
{
    return decide(w, w->shortly, pod, false);
}

const struct verdict *world_verdicts(const struct world *w, uint32_t *count)
{
    return reduce_verdicts(w->reduce, count);
}

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct strs world_nodes(const struct world *w, struct arena *a)
{
    uint32_t count = cache_nodes(w->cache);
    struct strs names = {count, arena_take(a, count * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        names.at[i] = arena_copy(a, cache_node_at(w->cache, i));
    qsort(names.at, count, sizeof(*names.at), compare);
    return names;
}

void world_each_pod_on(const struct world *w, struct str node,
                       void (*visit)(void *context, const struct pod *pod, bool assumed),
                       void *context)
{
    cache_each_pod(w->cache, node, visit, context);
}

void world_assume(struct world *w, const struct pod *pod, struct str node)
{
    must(cache_assume(w->cache, pod, node));
}

void world_forget(struct world *w, const struct pod *pod)
{
    (void)cache_forget(w->cache, pod->uid);
}

void world_hide(struct world *w, struct str uid)
{
    (void)cache_hide(w->cache, uid);
}

void world_show(struct world *w, struct str uid)
{
    cache_show(w->cache, uid);
}

bool world_is_assumed(const struct world *w, const struct pod *pod)
{
    return cache_pod(w->cache, pod->uid, NULL) == CACHE_assumed;
}

static struct str *label_of(struct pod *pod, const struct label *wanted, struct arena *a)
{
    uint32_t i = 0, count = pod->labels.count;
    while (i < count && str_compare(pod->labels.at[i].key, wanted->key) < 0)
        i++;
    bool there = i < count && str_equal(pod->labels.at[i].key, wanted->key);
    struct label *list = arena_take(a, (count + 1) * sizeof(*list));
    for (uint32_t k = 0; k < count; k++)
        list[k + (!there && k >= i)] = pod->labels.at[k];
    list[i].key = wanted->key;
    pod->labels.at = list;
    pod->labels.count += !there;
    return &list[i].value;
}

void world_label_pod(const struct world *w, struct pod *pod, struct arena *a)
{
    const struct packed *kept = map_get(w->nodes, pod->node_name);
    struct node node;
    if (kept == NULL)
        return;
    packed_get(kept, &node_record, &node, a);
    for (uint32_t i = 0; i < node.labels.count; i++)
        if (str_is(node.labels.at[i].key, "topology.kubernetes.io/zone") ||
            str_is(node.labels.at[i].key, "topology.kubernetes.io/region"))
            *label_of(pod, &node.labels.at[i], a) = node.labels.at[i].value;
}

void world_bind(struct world *w, const struct pod *pod, struct str node, bool labels)
{
    struct arena a = {0};
    struct pod bound = *pod;
    world_assume(w, pod, node);
    bound.node_name = node;
    bound.nominated_node = (struct str){0};
    bound.started = FIRST_BOUND_US + ++w->bound * 1000000;
    if (labels)
        world_label_pod(w, &bound, &a);
    world_pod_set(w, &bound);
    world_plugins_bound(w, &bound);
    arena_free(&a);
}

void world_nominate(struct world *w, const struct pod *pod, struct str node)
{
    struct arena a = {0};
    struct pod now;
    if (world_pod(w, pod->namespace_name, pod->name, &now, &a)) {
        now.nominated_node = node;
        world_pod_set(w, &now);
        cache_nominate(w->cache, &now, node);
    }
    arena_free(&a);
}

const struct pod *world_nominated_below(const struct world *w, struct str node, int64_t priority,
                                        uint32_t *count, struct arena *a)
{
    return cache_nominated_below(w->cache, node, priority, count, a);
}

void world_terminate(struct world *w, struct str namespace_name, struct str name,
                     const struct pod *preemptor)
{
    static const char condition[] = "DisruptionTarget";
    struct arena a = {0};
    struct pod pod;
    if (world_pod(w, namespace_name, name, &pod, &a)) {
        uint32_t count = pod.condition_types.count;
        struct str *types = arena_take(&a, (count + 1) * sizeof(*types));
        for (uint32_t i = 0; i < count; i++)
            types[i] = pod.condition_types.at[i];
        types[count] = str_of(condition);
        pod.deleting = true;
        if (!strs_hold(pod.condition_types, str_of(condition))) { /* only the first one counts */
            pod.preempted = true;
            pod.disruption_target =
                arena_print(&a, "%.*s: preempting to accommodate a higher priority pod",
                            STR_ARG(preemptor->scheduler_name));
        }
        pod.condition_types = (struct strs){count + 1, types};
        world_pod_set(w, &pod);
    }
    arena_free(&a);
}
