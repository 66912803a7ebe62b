/* test_columns: what rules say of many rows at once (filter_rows, score_rows) is what they say of
 * each row alone, on random shares with absurd amounts, for every rule that has these hooks; and a
 * question without detail, for which columns suffice, is answered as one with detail is; and rows
 * that are set apart are not chosen, and told of. */
#include "tests/unit/scheduler/cluster.h"

#include "proto/codec.h"
#include "proto/kube/config/config_file.h"
#include "scheduler/table/kernels.h"
#include "scheduler/worker/shard_inside.h"

enum { NODES = 83, PODS = 60, SEEDS = 150, QUESTIONS = 6, RANGES = 6, BLOCKS = 3 };

/* The share of this seed: how many nodes; from which one on they have taints; whether no amount is
 * absurd, so that all loops are as quick as they can be. */
static int nodes = NODES, tainted_from;
static bool sane;

static bool chance(struct random *r, uint64_t one_in)
{
    return random_below(r, one_in) == 0;
}

static const char *one_of(struct random *r, const char *const *texts, size_t count)
{
    return texts[random_below(r, count)];
}

#define ONE_OF(r, texts) one_of((r), (texts), sizeof(texts) / sizeof((texts)[0]))

/* Mostly what is seen in clusters; now and then what nobody should send. */
static int64_t amount(struct random *r)
{
    static const int64_t odd[] = {0,
                                  1,
                                  -1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX / 100,
                                  (INT64_C(1) << 44) + 1,
                                  (INT64_C(1) << 45) - 1,
                                  (INT64_C(1) << 46) - 1,
                                  INT64_C(1) << 46,
                                  (INT64_C(1) << 53) + 1,
                                  -(INT64_C(1) << 52)};
    switch (sane ? 2 + random_below(r, 10) : random_below(r, 12)) {
    case 0: return chance(r, 3) ? odd[random_below(r, sizeof(odd) / sizeof(odd[0]))] : 0;
    case 1: return (int64_t)(random_next(r) >> (17 + random_below(r, 40)));
    case 2:
    case 3: return (int64_t)random_below(r, 10);
    case 4:
    case 5: return (int64_t)random_below(r, 64) * GIB;
    default: return (int64_t)random_below(r, 640) * 100;
    }
}

/* ---- what there is ---- */

static const char *const zones[] = {"a", "b", "c"};
static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", "Nonsense"};
static const char *const keys[] = {"k1", "k2", "k3"};
static const char *const image_names[] = {"app:v1", "app:v2", "db:v1", "db:v1 db:latest"};
static const char *const features[] = {"Alpha", "Beta", "Gamma"};
static const char *const ips[] = {"0.0.0.0", "10.0.0.1", "10.0.0.2"};

static void set_amount(struct cluster *c, struct node *n, struct random *r, const char *name)
{
    int64_t value = amount(r);
    QUANTITY(&c->arena, n->allocatable, name, value);
}

static struct node *random_node(struct cluster *c, struct random *r, int i)
{
    char name[16], number[16];
    snprintf(name, sizeof(name), "n%d", i);
    struct node *n = make_node(c, name, (int64_t)random_below(r, 64) * 1000,
                               (int64_t)random_below(r, 256) * GIB);
    n->allocatable.at[2].amount = (int64_t)random_below(r, 6);
    if (chance(r, 4)) {
        n->allocatable.count = 0;
        set_amount(c, n, r, "cpu");
        set_amount(c, n, r, "memory");
        set_amount(c, n, r, "pods");
    }
    if (chance(r, 2))
        set_amount(c, n, r, "ephemeral-storage");
    if (chance(r, 2))
        set_amount(c, n, r, "example.com/gpu");
    if (!chance(r, 4))
        add_label(c, n, "zone", ONE_OF(r, zones));
    if (chance(r, 2)) {
        snprintf(number, sizeof(number), "%u", (unsigned)random_below(r, 20));
        add_label(c, n, "number", arena_copy(&c->arena, str_of(number)).at);
    }
    for (uint64_t k = random_below(r, 6); k > 3 && i >= tainted_from; k--)
        add_taint(c, n, ONE_OF(r, keys), ONE_OF(r, effects));
    for (uint64_t k = random_below(r, 4); k > 0; k--)
        add_image(c, n, ONE_OF(r, image_names), 1);
    for (uint64_t k = random_below(r, 4); k > 0; k--)
        *APPEND(&c->arena, n->features) = str_of(ONE_OF(r, features));
    n->unschedulable = chance(r, 6);
    return n;
}

static struct pod *random_pod(struct cluster *c, struct random *r, int i)
{
    char name[16];
    snprintf(name, sizeof(name), "p%d", i);
    struct pod *p = make_pod(c, name, amount(r), amount(r));
    if (chance(r, 4))
        ask_more(c, p, "ephemeral-storage", amount(r));
    if (chance(r, 4))
        ask_more(c, p, "example.com/gpu", amount(r));
    if (chance(r, 6))
        ask_more(c, p, "hugepages-2Mi", amount(r));
    if (chance(r, 6)) {
        p->usage_score_cpu = amount(r);
        p->score_request.at[0].amount = amount(r);
        p->score_request.at[1].amount = amount(r);
    }
    for (uint64_t k = random_below(r, 5); k > 2; k--)
        add_port(c, p, ONE_OF(r, ips), chance(r, 3) ? "UDP" : "TCP",
                 8000 + (int64_t)random_below(r, 3));
    return p;
}

static struct node_term random_term(struct cluster *c, struct random *r)
{
    char name[16];
    snprintf(name, sizeof(name), "n%u", (unsigned)random_below(r, NODES));
    switch (random_below(r, 8)) {
    case 0: return one_term(c, "zone", "In", "a c");
    case 1: return one_term(c, "zone", "NotIn", "b elsewhere");
    case 2: return one_term(c, "zone", "Exists", "");
    case 3: return one_term(c, "number", "DoesNotExist", "");
    case 4: return one_term(c, "number", "Gt", "9");
    case 5: return one_term(c, "number", "Lt", "a");
    case 6:
        return one_term(c, "metadata.name", chance(r, 2) ? "In" : "NotIn",
                        arena_copy(&c->arena, str_of(name)).at);
    default: return (struct node_term){0};
    }
}

static void random_wishes(struct cluster *c, struct random *r, struct pod *p)
{
    static const char *const operators[] = {"Exists", "Equal", "", "Lt"};
    while (chance(r, 2))
        tolerate(c, p,
                 (struct toleration){
                     .key = chance(r, 4) ? STR_LITERAL("") : str_of(ONE_OF(r, keys)),
                     .operator_name = str_of(ONE_OF(r, operators)),
                     .effect = chance(r, 2) ? STR_LITERAL("") : str_of(ONE_OF(r, effects))});
    if (chance(r, 8))
        tolerate(c, p, (struct toleration){.operator_name = STR_LITERAL("Exists")});
    while (chance(r, 3)) {
        struct node_term t = random_term(c, r);
        require(c, p, t);
    }
    while (chance(r, 3))
        prefer(c, p, (int64_t)random_below(r, 100), random_term(c, r));
    if (chance(r, 4)) {
        *APPEND(&c->arena, p->node_selector) =
            (struct label){STR_LITERAL("zone"), str_of(ONE_OF(r, zones))};
        p->has_node_selector = true;
    }
    for (uint64_t k = random_below(r, 4); k > 0; k--)
        *APPEND(&c->arena, p->images) = str_of(ONE_OF(r, image_names));
    for (uint64_t k = random_below(r, 5); k > 2; k--)
        *APPEND(&c->arena, p->features) = str_of(ONE_OF(r, features));
    if (chance(r, 10)) {
        p->node_name = STR_LITERAL("n7");
        p->resize_deferred = chance(r, 2);
    }
    p->container_count = (int64_t)random_below(r, 3);
}

/* ---- how it is configured ---- */

static void list_all_rules(struct cluster *c)
{
    struct profile *p = &c->profile;
#define PLUGIN(name, listed, points, rule) rule
#define RULE(file)                         extern const struct plugin plugin_##file;
#define NO_RULE
#include "proto/plugins.def"
#undef RULE
    static const struct plugin *const rules[] = {
#define PLUGIN(name, listed, points, rule) rule
#define RULE(file)                         &plugin_##file,
#include "proto/plugins.def"
#undef RULE
#undef NO_RULE
    };
    p->filter.count = p->score.count = p->pre_filter.count = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i]->pre_filter != NULL)
            *APPEND(&c->arena, p->pre_filter) = str_of(rules[i]->name);
        if (rules[i]->filter_rows != NULL)
            *APPEND(&c->arena, p->filter) = str_of(rules[i]->name);
        if (rules[i]->score_rows != NULL)
            *APPEND(&c->arena, p->score) = (struct score_plugin){str_of(rules[i]->name), 1};
    }
}

static void random_resources(struct cluster *c, struct random *r, struct quantity **at,
                             uint32_t *count)
{
    static const char *const more[] = {"ephemeral-storage", "example.com/gpu", "cpu", "nothing"};
    *count = 0;
    if (chance(r, 2)) {
        add_quantity(&c->arena, at, count, "cpu", 1 + (int64_t)random_below(r, 3));
        add_quantity(&c->arena, at, count, "memory", 1 + (int64_t)random_below(r, 3));
    }
    while (chance(r, 3))
        add_quantity(&c->arena, at, count, ONE_OF(r, more),
                     chance(r, 5) ? amount(r) : 1 + (int64_t)random_below(r, 100));
}

static void list_default_rules(struct cluster *c)
{
    struct scheduler_config config;
    struct str error;
    assert_true(scheduler_config_load(NULL, release_features(36), &config, &c->arena, &error));
    c->profile = config.profiles.at[0];
}

static void random_arguments(struct cluster *c, struct random *r)
{
    static const char *const strategies[] = {"LeastAllocated", "MostAllocated",
                                             "RequestedToCapacityRatio"};
    static const struct shape_point shape[] = {{10, 10}, {60, 0}, {80, 7}};
    struct profile *p = &c->profile;
    p->fit_strategy = str_of(ONE_OF(r, strategies));
    p->fit_shape.count = 0;
    for (size_t i = 0; i < random_below(r, 4); i++)
        *APPEND(&c->arena, p->fit_shape) = shape[i];
    random_resources(c, r, &p->fit_resources.at, &p->fit_resources.count);
    random_resources(c, r, &p->balanced_resources.at, &p->balanced_resources.count);
    p->added_required.count = p->added_preferred.count = 0;
    p->has_added_required = chance(r, 6);
    if (p->has_added_required)
        *APPEND(&c->arena, p->added_required) = random_term(c, r);
    if (chance(r, 6))
        *APPEND(&c->arena, p->added_preferred) = (struct preferred_node_term){3, random_term(c, r)};
}

/* Nodes come, change and go, so that rows move. */
static void random_changes(struct cluster *c, struct random *r)
{
    for (uint64_t k = random_below(r, 10); k > 0; k--) {
        int i = (int)random_below(r, (uint64_t)nodes);
        struct node *n = random_node(c, r, i);
        if (chance(r, 2))
            shard_node_gone(c->shard, n->name);
        else
            put_node(c, n);
    }
}

static void random_share(struct cluster *c, struct random *r)
{
    static const char *const names[] = {"app:v1", "app:v2", "db:v1"};
    struct tally counts[3], sizes[3];
    random_arguments(c, r);
    begin(c);
    for (int i = 0; i < 3; i++) {
        counts[i] = (struct tally){str_of(names[i]), (int64_t)random_below(r, NODES)};
        sizes[i] = (struct tally){str_of(names[i]),
                                  chance(r, 8) ? amount(r) : (int64_t)random_below(r, 900) * MIB};
    }
    struct shard_images images = {.nodes = NODES, .counts = {3, counts}, .sizes = {3, sizes}};
    shard_images(c->shard, &images);
    for (int i = 0; i < nodes; i++)
        put_node(c, random_node(c, r, i));
    for (int i = 0; i < PODS; i++) {
        char *node = arena_take(&c->arena, 8);
        snprintf(node, 8, "n%u", (unsigned)random_below(r, (uint64_t)nodes));
        put_pod(c, random_pod(c, r, i), node);
    }
    random_changes(c, r);
}

/* Few rows, or some that are more than so many blocks. */
static void random_sizes(struct random *r, int blocks)
{
    nodes = blocks == 0 ? NODES : blocks * BLOCK + (int)random_below(r, BLOCK);
    tainted_from = (int)random_below(r, 2 * (uint64_t)nodes);
    tainted_from = chance(r, 2) ? 0 : tainted_from;
    sane = chance(r, 2);
}

/* ---- the comparison ---- */

struct look {
    struct cluster *c;
    struct random *r;
    struct cycle cycle;
    struct map_request request;
    uint64_t seed;
    uint64_t compared; /* rows */
};

static void look_at(struct look *l, const struct pod *pod)
{
    struct shard *s = l->c->shard;
    struct pre_filter_outcome out;
    const struct framework *fw = frameworks_find(&s->frameworks, pod->scheduler_name);
    framework_pre_filter(&(struct pre_filter_question){.framework = fw,
                                                       .catalog = l->c->catalog,
                                                       .pod = pod,
                                                       .prepared = &l->request.pod,
                                                       .findings = &l->request.findings,
                                                       .arena = &l->c->arena},
                         &out);
    l->cycle = (struct cycle){.framework = fw,
                              .pod = &l->request.pod,
                              .findings = &l->request.findings,
                              .atoms = s->share.atoms,
                              .nodes = &s->share.nodes,
                              .groups = &s->share.groups,
                              .terms = &s->share.terms,
                              .images = s->share.images,
                              .cluster_nodes = s->share.cluster_nodes,
                              .any_ip = s->share.any_ip,
                              .arena = &l->c->arena};
}

static struct row_range random_range(struct look *l)
{
    uint32_t rows = l->cycle.nodes->count;
    struct row_range range = {(uint32_t)random_below(l->r, rows), 0};
    range.count = (uint32_t)random_below(l->r, rows - range.from + 1);
    return chance(l->r, 3) ? (struct row_range){0, rows} : range;
}

static bool rejects(struct look *l, const struct plugin *p, const void *state, uint32_t row)
{
    struct reason reasons[32];
    struct ruling ruling = {.room = 32, .reasons = reasons};
    p->filter(&l->cycle, state, l->cycle.nodes, row, &ruling);
    assert_int_not_equal(ruling.code, CODE_error);
    return ruling.count > 0;
}

static void compare_filter(struct look *l, const struct plugin *p)
{
    const void *state = p->filter_begin == NULL ? NULL : p->filter_begin(&l->cycle);
    uint8_t no[NODES + 1], before[NODES];
    for (int k = 0; k < RANGES; k++) {
        struct row_range range = random_range(l);
        for (uint32_t i = 0; i < range.count; i++)
            no[i] = before[i] = chance(l->r, 4);
        no[range.count] = 7;
        p->filter_rows(&l->cycle, state, l->cycle.nodes, range, no);
        assert_int_equal(no[range.count], 7);
        l->compared += range.count;
        for (uint32_t i = 0; i < range.count; i++)
            if (no[i] != (before[i] | rejects(l, p, state, range.from + i)))
                fail_msg("seed %u: %s says %u of row %u", (unsigned)l->seed, p->name, no[i],
                         (unsigned)(range.from + i));
    }
}

static void compare_score(struct look *l, const struct plugin *p)
{
    const void *state = p->score_begin == NULL ? NULL : p->score_begin(&l->cycle);
    int64_t raw[NODES + 1], alike;
    bool are_alike =
        p->score_alike != NULL && p->score_alike(&l->cycle, state, l->cycle.nodes, &alike);
    for (int k = 0; k < RANGES; k++) {
        struct row_range range = random_range(l);
        raw[range.count] = 7;
        p->score_rows(&l->cycle, state, l->cycle.nodes, range, raw);
        assert_int_equal(raw[range.count], 7);
        l->compared += range.count;
        for (uint32_t i = 0; i < range.count; i++) {
            int64_t one = p->score(&l->cycle, state, l->cycle.nodes, range.from + i);
            if (raw[i] != one || (are_alike && alike != one))
                fail_msg("seed %u: %s scores row %u %lld, not %lld", (unsigned)l->seed, p->name,
                         (unsigned)(range.from + i), (long long)raw[i], (long long)one);
        }
    }
}

static void compare_rules(struct look *l)
{
    const struct framework *fw = l->cycle.framework;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->filter_rows != NULL &&
            !(l->cycle.findings->skip >> fw->filter_place[i] & 1))
            compare_filter(l, fw->filter[i]);
    uint64_t skips = framework_score_skips(&l->cycle);
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (fw->score[i].plugin->score_rows != NULL && !(skips >> i & 1))
            compare_score(l, fw->score[i].plugin);
}

static void rules_say_of_many_rows_what_they_say_of_each(void **state)
{
    struct cluster *c = *state;
    uint64_t compared = 0;
    list_all_rules(c);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random r = {seed};
        random_sizes(&r, 0);
        random_share(c, &r);
        for (int q = 0; q < QUESTIONS && shard_nodes(c->shard) > 0; q++) {
            struct look l = {.c = c, .r = &r, .seed = seed};
            struct pod *p = random_pod(c, &r, PODS);
            random_wishes(c, &r, p);
            look_at(&l, p);
            compare_rules(&l);
            compared += l.compared;
            random_changes(c, &r);
        }
    }
    assert_true(compared > (uint64_t)SEEDS * QUESTIONS * NODES);
}

/* ---- the whole question ---- */

static struct str print(struct cluster *c, const struct map_result *r)
{
    struct buffer text = {0};
    codec_print(message_info[MSG_map_result].record, r, &text);
    struct str copy = arena_copy(&c->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

/* Without what only detail brings, and what matters only when no node passes. */
static struct str answer(struct cluster *c, struct map_request *request, bool detail)
{
    request->detail = detail;
    struct map_result *r = map_with(c, request);
    r->verdicts.count = 0;
    if (r->feasible > 0)
        r->reasons.count = r->plugins.count = r->unresolvable = 0;
    return print(c, r);
}

/* What another round may change. */
static struct str choice(struct cluster *c, struct map_request *request, bool detail)
{
    request->detail = detail;
    const struct map_result *r = map_with(c, request);
    const struct map_result told = {.feasible = r->feasible,
                                    .best_total = r->best_total,
                                    .best_count = r->best_count,
                                    .best_node = r->best_node,
                                    .extremes = r->extremes,
                                    .error = r->error,
                                    .score_error = r->score_error};
    return print(c, &told);
}

static void random_question(struct look *l, const struct pod *p)
{
    look_at(l, p);
    l->request.cycle = 1;
    l->request.round = 1;
    l->request.step = MAP_STEP_map;
    l->request.alone = true;
    l->request.tie_break = TIE_BREAK_random + (enum tie_break_rule)random_below(l->r, 3);
    l->request.seed = (int64_t)random_next(l->r);
    if (chance(l->r, 6))
        l->request.pod.nominated_node = STR_LITERAL("n5");
    if (chance(l->r, 6))
        l->request.only = strs_of(&l->c->arena, "n9 n2 n80 n11");
    struct pod *claim = random_pod(l->c, l->r, PODS + 1);
    shard_nominated_gone(l->c->shard, claim->uid);
    if (chance(l->r, 6)) {
        claim->nominated_node = STR_LITERAL("n8");
        shard_nominated(l->c->shard, claim);
    }
}

/* Ranges as if other workers had such scores, for some of the rules. */
static void random_ranges(struct look *l)
{
    static const char *const rules[] = {"TaintToleration", "NodeAffinity", "PodTopologySpread"};
    l->request.extremes = (struct map_request){0}.extremes;
    for (int i = 0; i < 3; i++)
        if (chance(l->r, 2))
            *APPEND(&l->c->arena, l->request.extremes) =
                (struct extreme){.plugin = str_of(rules[i]),
                                 .greatest = (int64_t)random_below(l->r, 12),
                                 .least = -(int64_t)random_below(l->r, 3)};
}

/* What is kept of the first round gives the second and the third as if all were scored anew. */
static void compare_rounds(struct look *l)
{
    struct str kept[2], full;
    struct map_request requests[2];
    for (int i = 0; i < 2; i++) {
        random_ranges(l);
        requests[i] = l->request;
        requests[i].step = MAP_STEP_again;
        requests[i].round = i + 2;
    }
    for (int i = 0; i < 2; i++)
        kept[i] = choice(l->c, &requests[i], false);
    for (int i = 0; i < 2; i++) {
        full = choice(l->c, &requests[i], true);
        if (!str_equal(full, kept[i]))
            fail_msg("seed %u, round %d:\n%.*s\n%.*s", (unsigned)l->seed, i + 2, STR_ARG(full),
                     STR_ARG(kept[i]));
    }
}

static void an_answer_is_the_same_with_and_without_detail(void **state)
{
    struct cluster *c = *state;
    uint64_t passed = 0;
    list_default_rules(c);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random r = {seed};
        c->profile.check_all = chance(&r, 8);
        random_sizes(&r, seed % 8 == 0 ? BLOCKS : 0);
        random_share(c, &r);
        for (int q = 0; q < QUESTIONS && shard_nodes(c->shard) > 0; q++) {
            struct look l = {.c = c, .r = &r, .seed = seed};
            struct pod *p = random_pod(c, &r, PODS);
            if (chance(&r, 2))
                random_wishes(c, &r, p);
            random_question(&l, p);
            struct str full = answer(c, &l.request, true), plain = answer(c, &l.request, false);
            if (!str_equal(full, plain))
                fail_msg("seed %u:\n%.*s\n%.*s", (unsigned)seed, STR_ARG(full), STR_ARG(plain));
            compare_rounds(&l);
            passed += l.request.only.count == 0 && c->shard->scratch.feasible_count > 0;
        }
    }
    assert_true(passed > SEEDS);
}

/* ---- rows that are not chosen ---- */

static const struct listed_node *listed(const struct map_result *all, struct str node)
{
    for (uint32_t i = 0; i < all->listed.count; i++)
        if (str_equal(all->listed.at[i].node, node))
            return &all->listed.at[i];
    return NULL;
}

static bool is_set_apart(const struct shard *s, const struct apart *apart, struct str node)
{
    for (uint32_t i = 0; i < apart->count; i++)
        if (apart->at[i].row == shard_row(s, node))
            return true;
    return false;
}

/* The best of the list, of those that are not apart. */
static void expect_best(const struct look *l, const struct map_result *all,
                        const struct apart *apart, const struct map_result *r)
{
    const struct listed_node *best = NULL;
    int64_t count = 0;
    for (uint32_t i = 0; i < all->listed.count; i++) {
        const struct listed_node *one = &all->listed.at[i];
        if (is_set_apart(l->c->shard, apart, one->node))
            continue;
        if (best == NULL || one->total > best->total) {
            best = one;
            count = 0;
        }
        count += one->total == best->total;
        if (one->total == best->total && str_compare(one->node, best->node) < 0)
            best = one;
    }
    if (r->best_count != count || (best != NULL && r->best_total != best->total))
        fail_msg("seed %u: %lld with %lld, not %lld", (unsigned)l->seed, (long long)r->best_count,
                 (long long)r->best_total, (long long)count);
    if (best == NULL)
        return;
    const struct listed_node *chosen = listed(all, r->best_node);
    assert_non_null(chosen);
    assert_int_equal(chosen->total, best->total);
    assert_false(is_set_apart(l->c->shard, apart, chosen->node));
    if (l->request.tie_break == TIE_BREAK_first)
        assert_true(str_equal(chosen->node, best->node));
}

static void expect_apart(const struct look *l, const struct map_result *all,
                         const struct apart *apart)
{
    for (uint32_t i = 0; i < apart->count; i++) {
        const struct node_entry *entry = l->c->shard->share.nodes.entry[apart->at[i].row];
        const struct listed_node *one =
            listed(all, atom_text(l->c->shard->share.atoms, entry->name));
        assert_int_equal(apart->at[i].passes, one != NULL);
        if (one != NULL)
            assert_int_equal(apart->at[i].total, one->total);
    }
}

/* A few, or nearly all. */
static struct apart random_rows(struct look *l)
{
    uint32_t rows = shard_nodes(l->c->shard), from = (uint32_t)random_below(l->r, rows);
    struct apart apart = {.at = arena_take(&l->c->arena, rows * sizeof(*apart.at))};
    uint32_t count = (uint32_t)random_below(l->r, chance(l->r, 4) ? rows + 1 : 9);
    for (uint32_t i = 0; i < count && i < rows; i++)
        apart.at[apart.count++].row = (from + i * (1 + rows / 2)) % rows;
    for (uint32_t i = 0; i < apart.count; i++)
        for (uint32_t k = i + 1; k < apart.count;)
            if (apart.at[k].row == apart.at[i].row)
                apart.at[k] = apart.at[--apart.count];
            else
                k++;
    return apart;
}

static void rows_that_are_apart_are_not_chosen(void **state)
{
    struct cluster *c = *state;
    uint64_t passed = 0, from_classes = 0;
    list_default_rules(c);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random r = {seed};
        random_sizes(&r, seed % 8 == 0 ? BLOCKS : 0);
        random_share(c, &r);
        for (int q = 0; q < QUESTIONS && shard_nodes(c->shard) > 0; q++) {
            struct look l = {.c = c, .r = &r, .seed = seed};
            random_question(&l, random_pod(c, &r, PODS));
            l.request.only.count = 0;
            l.request.pod.nominated_node.len = 0;
            l.request.list = true;
            const struct map_result *all = map_with(c, &l.request);
            l.request.list = false;
            for (int i = 0; i < 4; i++) {
                struct apart apart = random_rows(&l);
                struct map_result result;
                uint64_t answers = classes_status(c->shard->classes).answers;
                shard_map_apart(c->shard, &l.request, &apart, &result, &c->arena);
                from_classes += classes_status(c->shard->classes).answers > answers;
                assert_int_equal(result.feasible, all->feasible);
                expect_best(&l, all, &apart, &result);
                expect_apart(&l, all, &apart);
                struct map_request like = l.request; /* of these there is a class */
                like.pod.uid = STR_LITERAL("like");
                (void)map_with(c, &like);
            }
            passed += all->listed.count > 0;
        }
    }
    assert_true(passed > SEEDS && from_classes > SEEDS);
}

/* ---- what follows from numbers ---- */

static bool is_exact(int64_t amount)
{
    return amount >= 0 && amount < KERNEL_EXACT / 2;
}

static void marks_follow_the_numbers_of_their_rows(void **state)
{
    struct cluster *c = *state;
    const struct nodes *n = &c->shard->share.nodes;
    uint64_t full = 0, inexact = 0;
    list_all_rules(c);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random r = {seed};
        random_sizes(&r, 0);
        random_share(c, &r);
        uint32_t found = 0;
        for (uint32_t row = 0; row < n->count; row++) {
            bool exact =
                is_exact(n->scored[SCORED_cpu][row]) && is_exact(n->scored[SCORED_memory][row]);
            for (int i = 0; i < RESOURCE_COUNT; i++)
                exact &= is_exact(n->allocatable[i][row]) && is_exact(n->requested[i][row]);
            assert_int_equal((n->marks[row] & MARK_inexact) != 0, !exact);
            assert_int_equal((n->marks[row] & MARK_full) != 0,
                             n->pods[row] + 1 > n->pods_allowed[row]);
            found += !exact;
            full += n->marks[row] & MARK_full;
        }
        assert_int_equal(n->inexact, found);
        inexact += found;
    }
    assert_true(full > SEEDS && inexact > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(rules_say_of_many_rows_what_they_say_of_each),
        CLUSTER_TEST(marks_follow_the_numbers_of_their_rows),
        CLUSTER_TEST(an_answer_is_the_same_with_and_without_detail),
        CLUSTER_TEST(rows_that_are_apart_are_not_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
