/* cluster: what the scheduler's tests build clusters from: pods and nodes in a few words, the
 * default profile restricted to the rules there are, and one shard that answers for all. */
#ifndef TESTS_SCHEDULER_CLUSTER_H
#define TESTS_SCHEDULER_CLUSTER_H

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/merge/reduce.h"
#include "scheduler/worker/shard.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>

#define UNUSED __attribute__((unused))

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)

/* A test's memory; everything below comes from it. */
struct cluster {
    struct arena arena;
    struct profile profile;
    struct shard *shard;
    struct catalog *catalog; /* what PreFilter can look up */
    uint32_t pods;           /* for UIDs */
};

static inline struct strs strs_of(struct arena *a, const char *text)
{
    struct strs list = {0, arena_take(a, 32 * sizeof(struct str))};
    struct str rest = arena_copy(a, str_of(text));
    while (rest.len > 0) {
        int64_t blank = str_find(rest, ' ');
        uint32_t len = blank < 0 ? rest.len : (uint32_t)blank;
        must(list.count < 32);
        list.at[list.count++] = (struct str){rest.at, len};
        rest = (struct str){rest.at + len + (blank >= 0), rest.len - len - (blank >= 0)};
    }
    return list;
}

#define APPEND(a, list)                                                                            \
    ((list).at =                                                                                   \
         memcpy(arena_take((a), ((list).count + 1) * sizeof(*(list).at)),                          \
                (list).count ? (void *)(list).at : (void *)"", (list).count * sizeof(*(list).at)), \
     &(list).at[(list).count++])

static inline void add_quantity(struct arena *a, struct quantity **at, uint32_t *count,
                                const char *name, int64_t amount)
{
    struct quantity *more = arena_take(a, (*count + 1) * sizeof(*more));
    if (*count > 0)
        memcpy(more, *at, *count * sizeof(*more));
    more[(*count)++] = (struct quantity){str_of(name), amount};
    *at = more;
}

#define QUANTITY(a, list, name, amount)                                                            \
    add_quantity((a), &(list).at, &(list).count, (name), (amount))

static inline void default_profile(struct arena *a, struct profile *p)
{
    static const struct {
        const char *name;
        int64_t weight;
    } scores[] = {{"TaintToleration", 3},
                  {"NodeAffinity", 2},
                  {"NodeResourcesFit", 1},
                  {"NodeResourcesBalancedAllocation", 1},
                  {"ImageLocality", 1}};
    *p = (struct profile){.scheduler_name = STR_LITERAL("default-scheduler"),
                          .fit_strategy = STR_LITERAL("LeastAllocated"),
                          .features = {.device_taints = true,
                                       .device_partitions = true,
                                       .device_shares = true,
                                       .device_alternatives = true,
                                       .device_binding = true,
                                       .device_status = true,
                                       .spread_label_keys = true,
                                       .pod_level_resources = true,
                                       .pod_level_resizes = true,
                                       .pop_from_backoff = true,
                                       .expected_nomination = true,
                                       .declared_features = true}};
    p->pre_filter =
        strs_of(a, "NodeAffinity NodePorts NodeResourcesFit VolumeBinding DynamicResources");
    p->filter = strs_of(a, "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts "
                           "NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity "
                           "DynamicResources");
    p->post_filter = strs_of(a, "DynamicResources DefaultPreemption");
    p->pre_score =
        strs_of(a, "TaintToleration NodeAffinity NodeResourcesFit NodeResourcesBalancedAllocation");
    for (size_t i = 0; i < sizeof(scores) / sizeof(scores[0]); i++) {
        struct score_plugin *s = APPEND(a, p->score);
        *s = (struct score_plugin){str_of(scores[i].name), scores[i].weight};
    }
    QUANTITY(a, p->fit_resources, "cpu", 1);
    QUANTITY(a, p->fit_resources, "memory", 1);
    p->balanced_resources.count = p->fit_resources.count;
    p->balanced_resources.at = p->fit_resources.at;
}

static inline int cluster_setup(void **state)
{
    struct cluster *c = memory_take(sizeof(*c));
    default_profile(&c->arena, &c->profile);
    c->shard = shard_new();
    c->catalog = catalog_new();
    *state = c;
    return 0;
}

static inline int cluster_teardown(void **state)
{
    struct cluster *c = *state;
    shard_free(&c->shard);
    catalog_free(&c->catalog);
    arena_free(&c->arena);
    memory_free(c);
    return 0;
}

#define CLUSTER_TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, cluster_teardown)

/* ---- pods and nodes ---- */

static inline struct node *make_node(struct cluster *c, const char *name, int64_t cpu_milli,
                                     int64_t memory)
{
    struct node *n = arena_take(&c->arena, sizeof(*n));
    n->name = arena_copy(&c->arena, str_of(name));
    QUANTITY(&c->arena, n->allocatable, "cpu", cpu_milli);
    QUANTITY(&c->arena, n->allocatable, "memory", memory);
    QUANTITY(&c->arena, n->allocatable, "pods", 110);
    return n;
}

static inline void add_label(struct cluster *c, struct node *n, const char *key, const char *value)
{
    *APPEND(&c->arena, n->labels) = (struct label){str_of(key), str_of(value)};
}

static inline void add_taint(struct cluster *c, struct node *n, const char *key, const char *effect)
{
    *APPEND(&c->arena, n->taints) = (struct taint){.key = str_of(key), .effect = str_of(effect)};
}

static inline void add_image(struct cluster *c, struct node *n, const char *names, int64_t size)
{
    *APPEND(&c->arena, n->images) = (struct image){strs_of(&c->arena, names), size};
}

/* A pod of one container that asks for this much, 0 for nothing. */
static inline struct pod *make_pod(struct cluster *c, const char *name, int64_t cpu_milli,
                                   int64_t memory)
{
    struct pod *p = arena_take(&c->arena, sizeof(*p));
    p->uid = arena_print(&c->arena, "uid-%s-%u", name, c->pods++);
    p->namespace_name = STR_LITERAL("default");
    p->name = arena_copy(&c->arena, str_of(name));
    p->scheduler_name = STR_LITERAL("default-scheduler");
    p->container_count = 1;
    if (cpu_milli > 0)
        QUANTITY(&c->arena, p->request, "cpu", cpu_milli);
    if (memory > 0)
        QUANTITY(&c->arena, p->request, "memory", memory);
    p->usage.count = p->request.count;
    p->usage.at = p->request.at;
    p->usage_score_cpu = cpu_milli > 0 ? cpu_milli : 100;
    p->usage_score_memory = memory > 0 ? memory : 200 * MIB;
    QUANTITY(&c->arena, p->score_request, "cpu", p->usage_score_cpu);
    QUANTITY(&c->arena, p->score_request, "memory", p->usage_score_memory);
    return p;
}

static inline void ask_more(struct cluster *c, struct pod *p, const char *resource, int64_t amount)
{
    QUANTITY(&c->arena, p->request, resource, amount);
    QUANTITY(&c->arena, p->usage, resource, amount);
    QUANTITY(&c->arena, p->score_request, resource, amount);
}

static inline void add_port(struct cluster *c, struct pod *p, const char *ip, const char *protocol,
                            int64_t port)
{
    *APPEND(&c->arena, p->ports) = (struct host_port){str_of(ip), str_of(protocol), port};
}

static inline void tolerate(struct cluster *c, struct pod *p, struct toleration t)
{
    *APPEND(&c->arena, p->tolerations) = t;
}

/* A term with one requirement on a label, or on metadata.name. */
static inline struct node_term one_term(struct cluster *c, const char *key, const char *operation,
                                        const char *values)
{
    struct node_term t = {0};
    struct requirement r = {str_of(key), str_of(operation), strs_of(&c->arena, values)};
    if (strcmp(key, "metadata.name") == 0)
        *APPEND(&c->arena, t.fields) = r;
    else
        *APPEND(&c->arena, t.expressions) = r;
    return t;
}

static inline void require(struct cluster *c, struct pod *p, struct node_term term)
{
    *APPEND(&c->arena, p->required_terms) = term;
    p->has_required_terms = true;
}

static inline void prefer(struct cluster *c, struct pod *p, int64_t weight, struct node_term term)
{
    *APPEND(&c->arena, p->preferred_terms) = (struct preferred_node_term){weight, term};
}

static inline struct pod *on_node(struct pod *p, const char *node)
{
    p->node_name = str_of(node);
    return p;
}

/* ---- the shard ---- */

/* Begins anew with the profile as it is now. */
static inline void begin(struct cluster *c)
{
    shard_reset(c->shard, &c->profile, 1);
}

static inline void put_node(struct cluster *c, const struct node *n)
{
    shard_node_set(c->shard, n);
}

static inline void put_pod(struct cluster *c, struct pod *p, const char *node)
{
    shard_pod_set(c->shard, on_node(p, node));
}

static inline struct map_result *map_with(struct cluster *c, const struct map_request *request)
{
    struct map_result *r = arena_take(&c->arena, sizeof(*r));
    shard_map(c->shard, request, r, &c->arena);
    return r;
}

/* What a single worker is asked, PreFilter having been run on the pod. */
static inline struct map_request map_of(struct cluster *c, const struct pod *p)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .step = MAP_STEP_map,
                                  .alone = true,
                                  .detail = true,
                                  .tie_break = TIE_BREAK_first};
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &request.pod,
                                                       .findings = &request.findings,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    return request;
}

static inline struct map_result *map_pod(struct cluster *c, const struct pod *p)
{
    struct map_request request = map_of(c, p);
    return map_with(c, &request);
}

static inline const struct verdict *verdict_on(const struct map_result *r, const char *node)
{
    for (uint32_t i = 0; i < r->verdicts.count; i++)
        if (str_is(r->verdicts.at[i].node, node))
            return &r->verdicts.at[i];
    fail_msg("no verdict on %s", node);
    return NULL;
}

static inline void assert_str(struct str s, const char *text)
{
    char *copy = str_copy(s);
    assert_string_equal(copy, text);
    memory_free(copy);
}

/* What a rule says of a pod on a node: "" when it passes, else "PLUGIN CODE: reason, reason". */
static inline const char *ruling_on(struct cluster *c, const struct pod *p, const char *node)
{
    const struct map_result *r = map_pod(c, p);
    const struct verdict *v = verdict_on(r, node);
    struct str text = {"", 0};
    if (v->code == VERDICT_success)
        return text.at;
    text = arena_print(&c->arena, "%.*s %s:", STR_ARG(v->plugin),
                       v->code == VERDICT_unschedulable ? "U" : "UAU");
    for (uint32_t i = 0; i < v->reasons.count; i++)
        text = arena_print(&c->arena, "%.*s%s %.*s", STR_ARG(text), i > 0 ? "," : "",
                           STR_ARG(v->reasons.at[i]));
    return text.at;
}

static inline const struct plugin_score *find_score(const struct map_result *r, const char *node,
                                                    const char *plugin)
{
    const struct verdict *v = verdict_on(r, node);
    for (uint32_t i = 0; i < v->scores.count; i++)
        if (str_is(v->scores.at[i].plugin, plugin))
            return &v->scores.at[i];
    return NULL;
}

/* -1: the rule gave no score. */
static inline int64_t raw_on(struct cluster *c, const struct pod *p, const char *node,
                             const char *plugin)
{
    const struct plugin_score *s = find_score(map_pod(c, p), node, plugin);
    return s == NULL ? -1 : s->raw;
}

static inline int64_t weighted_on(struct cluster *c, const struct pod *p, const char *node,
                                  const char *plugin)
{
    const struct plugin_score *s = find_score(map_pod(c, p), node, plugin);
    return s == NULL ? -1 : s->weighted;
}

#endif
