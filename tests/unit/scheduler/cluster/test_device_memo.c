/* device_memo: whoever remembers what searches came to finds what somebody finds who remembers
 * nothing, whatever happens to slices, classes, rules, nodes and devices in between. */
#include "proto/kube/release/release.h"
#include "scheduler/cluster/device_findings.h"
#include "scheduler/cluster/device_memo.h"
#include "tests/unit/scheduler/cluster.h"

#define NODES   6
#define DEVICES 4 /* of a slice */
#define CLAIMS  12
#define ROUNDS  6000

struct scene {
    struct arena memory; /* of a round */
    struct arena kept;
    struct random random;
    struct catalog *catalog;
    struct cache *cache;
    bool there[NODES];
    struct features features;
    uint32_t alike; /* findings that were the same and not empty */
};

static void tell_nobody(void *context, uint32_t worker, const struct message *m)
{
    (void)context;
    (void)worker;
    (void)m;
}

static uint32_t below(struct scene *s, uint32_t most)
{
    return (uint32_t)random_below(&s->random, most);
}

static struct str numbered(struct scene *s, const char *word, uint32_t i)
{
    return arena_print(&s->memory, "%s%u", word, i);
}

static struct node node_of(struct scene *s, uint32_t i)
{
    struct node node = {.name = numbered(s, "n", i), .uid = numbered(s, "uid-n", i)};
    struct label *zone = arena_take(&s->memory, sizeof(*zone));
    *zone = (struct label){STR_LITERAL("zone"), numbered(s, "z", i % 2)};
    node.labels.count = 1;
    node.labels.at = zone;
    return node;
}

static void node_set(struct scene *s, uint32_t i)
{
    const struct node node = node_of(s, i);
    cache_node_set(s->cache, &node);
}

/* ---- what happens ---- */

static void take(struct scene *s, const struct message *m)
{
    catalog_take(s->catalog, m);
}

static void some_node(struct scene *s)
{
    uint32_t i = below(s, NODES);
    s->there[i] = !s->there[i];
    if (s->there[i])
        node_set(s, i);
    else
        cache_node_gone(s->cache, numbered(s, "n", i));
}

static void for_zone(struct scene *s, struct resource_slice *slice)
{
    struct node_term *term = arena_take(&s->memory, sizeof(*term));
    struct requirement *r = arena_take(&s->memory, sizeof(*r));
    struct str *value = arena_take(&s->memory, sizeof(*value));
    *value = numbered(s, "z", below(s, 2));
    *r = (struct requirement){
        .key = STR_LITERAL("zone"), .operator_name = STR_LITERAL("In"), .values = {1, value}};
    *term = (struct node_term){.expressions = {1, r}};
    slice->has_terms = true;
    slice->terms.count = 1;
    slice->terms.at = term;
}

/* For one node, found by its name, if its label lets it. */
static void for_node_in_zone(struct scene *s, struct resource_slice *slice, uint32_t node)
{
    for_zone(s, slice);
    struct requirement *r = arena_take(&s->memory, sizeof(*r));
    struct str *name = arena_take(&s->memory, sizeof(*name));
    *name = numbered(s, "n", node);
    *r = (struct requirement){.key = STR_LITERAL("metadata.name"),
                              .operator_name = STR_LITERAL("In"),
                              .values = {1, name}};
    slice->terms.at->fields.count = 1;
    slice->terms.at->fields.at = r;
    slice->terms.at->expressions.at->operator_name = STR_LITERAL("NotIn");
}

/* Mostly of one node; now and then for all of them, for a zone, or with counters that are shared.
 */
static void some_slice(struct scene *s)
{
    uint32_t i = below(s, NODES + 2), kind = below(s, 12);
    struct message m = {.type = MSG_object_gone};
    struct resource_slice slice = {.name = numbered(s, "s", i),
                                   .driver = STR_LITERAL("d.example.com"),
                                   .pool = numbered(s, "n", i),
                                   .pool_generation = 1,
                                   .pool_slices = 1};
    if (kind == 0 || (i >= NODES && kind < 8)) {
        m.object_gone = (struct object_gone){.kind = OBJECT_resource_slice, .name = slice.name};
        take(s, &m);
        return;
    }
    if (i < NODES && kind == 1)
        for_node_in_zone(s, &slice, i);
    else if (i < NODES)
        slice.node_name = numbered(s, "n", i);
    else if (kind == 8)
        for_zone(s, &slice);
    else
        slice.all_nodes = true;
    slice.devices.count = 1 + below(s, DEVICES);
    slice.devices.at = arena_take(&s->memory, DEVICES * sizeof(*slice.devices.at));
    for (uint32_t d = 0; d < slice.devices.count; d++)
        slice.devices.at[d] = (struct slice_device){.name = numbered(s, "dev", d)};
    m = (struct message){.type = MSG_resource_slice_set, .resource_slice_set.slice = slice};
    take(s, &m);
}

static void some_class(struct scene *s)
{
    static const char *const selectors[] = {"device.driver == 'd.example.com'", "false",
                                            "device.driver != ''"};
    struct str selector = str_of(selectors[below(s, 3)]);
    struct message m = {.type = MSG_device_class_set};
    m.device_class_set.device_class.name = STR_LITERAL("c");
    m.device_class_set.device_class.selectors = (struct strs){1, &selector};
    take(s, &m);
}

static void some_rule(struct scene *s)
{
    struct message m = {.type = MSG_object_gone};
    m.object_gone =
        (struct object_gone){.kind = OBJECT_device_taint_rule, .name = STR_LITERAL("r")};
    if (below(s, 2) == 0) {
        m = (struct message){.type = MSG_device_taint_rule_set};
        struct device_taint_rule *rule = &m.device_taint_rule_set.rule;
        rule->name = STR_LITERAL("r");
        rule->has_selector = true;
        rule->device = numbered(s, "dev", below(s, DEVICES));
        rule->taint =
            (struct taint){.key = STR_LITERAL("bad"), .effect = STR_LITERAL("NoSchedule")};
    }
    take(s, &m);
}

/* Somebody is given a device, or gives his back. */
static void some_use(struct scene *s)
{
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    struct allocated_device device = {.driver = STR_LITERAL("d.example.com"),
                                      .request = STR_LITERAL("one"),
                                      .pool = numbered(s, "n", below(s, NODES + 2)),
                                      .device = numbered(s, "dev", below(s, DEVICES))};
    uint32_t i = below(s, CLAIMS);
    claim->namespace_name = STR_LITERAL("ns");
    claim->name = numbered(s, "used", i);
    claim->uid = numbered(s, "uid-used", i);
    claim->allocated = below(s, 3) > 0;
    claim->devices.count = claim->allocated;
    claim->devices.at = &device;
    take(s, &m);
}

static void something(struct scene *s)
{
    uint32_t dice = below(s, 40);
    if (dice == 0)
        some_node(s);
    else if (dice == 1)
        some_slice(s);
    else if (dice == 2)
        some_class(s);
    else if (dice == 3)
        some_rule(s);
    else
        some_use(s);
}

/* ---- what is asked ---- */

/* One of five shapes of claims, each time with another name. */
static struct pod some_pod(struct scene *s, uint32_t round)
{
    uint32_t shape = below(s, 5);
    struct device_ask *ask = arena_take(&s->memory, sizeof(*ask));
    struct device_request *request = arena_take(&s->memory, sizeof(*request));
    struct device_claim *named = arena_take(&s->memory, sizeof(*named));
    *ask = (struct device_ask){.name = STR_LITERAL("one"),
                               .class_name = STR_LITERAL("c"),
                               .mode = shape < 4 ? STR_LITERAL("ExactCount") : STR_LITERAL("All"),
                               .count = shape < 4 ? 1 + shape : 0};
    *request =
        (struct device_request){.name = STR_LITERAL("one"), .exactly = true, .asks = {1, ask}};
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    claim->namespace_name = STR_LITERAL("ns");
    claim->name = numbered(s, "asked", round);
    claim->uid = numbered(s, "uid-asked", round);
    claim->requests.count = 1;
    claim->requests.at = request;
    take(s, &m);
    *named = (struct device_claim){.name = STR_LITERAL("one"), .claim = claim->name};
    return (struct pod){.uid = STR_LITERAL("uid-pod"),
                        .namespace_name = STR_LITERAL("ns"),
                        .name = STR_LITERAL("pod"),
                        .device_claims = {1, named}};
}

static void add_verdict(struct scene *s, uint32_t i, const struct device_verdict *verdict,
                        struct buffer *text)
{
    buffer_print(text, "n%u:", i);
    if (s->there[i])
        codec_print(&device_verdict_record, verdict, text);
}

static struct str words_of(struct scene *s, struct buffer *text)
{
    struct str copy = arena_copy(&s->memory, buffer_str(text));
    buffer_free(text);
    return copy;
}

/* What is found for each node, by whoever may remember. */
static struct str found(struct scene *s, const struct device_question *q)
{
    struct findings all = {0};
    struct buffer text = {0};
    device_findings(q, &all, &s->memory);
    for (uint32_t i = 0; i < NODES && all.device_verdicts.count > 0; i++) {
        const struct device_verdict *verdict = &all.device_verdicts.at[0];
        for (uint32_t k = 0; k < all.device_nodes.count; k++)
            if (str_equal(all.device_nodes.at[k].node, numbered(s, "n", i)))
                verdict = &all.device_verdicts.at[all.device_nodes.at[k].verdict];
        add_verdict(s, i, verdict, &text);
    }
    buffer_add_text(&text, "");
    return words_of(s, &text);
}

/* The same by a search on each node as it is. */
static struct str searched(struct scene *s, const struct device_question *q)
{
    struct buffer text = {0};
    struct device_search *search = device_search_new(q, &s->memory);
    for (uint32_t i = 0; i < NODES && cache_nodes(s->cache) > 0; i++) {
        const struct node node = node_of(s, i);
        const struct device_verdict verdict = device_search_node(search, &node);
        add_verdict(s, i, &verdict, &text);
    }
    device_search_free(&search);
    buffer_add_text(&text, "");
    return words_of(s, &text);
}

static void ask(struct scene *s, uint32_t round)
{
    struct pod pod = some_pod(s, round);
    const struct device_question q = {
        .catalog = s->catalog, .features = &s->features, .cache = s->cache, .pod = &pod};
    struct str wanted = searched(s, &q), got = found(s, &q);
    if (!str_equal(wanted, got))
        print_error("round %u\n  %.*s\n  %.*s\n", round, STR_ARG(wanted), STR_ARG(got));
    assert_true(str_equal(wanted, got));
    s->alike += wanted.len > 0;
    struct message m = {.type = MSG_object_gone};
    m.object_gone = (struct object_gone){.kind = OBJECT_resource_claim,
                                         .namespace_name = pod.namespace_name,
                                         .name = pod.device_claims.at[0].claim};
    take(s, &m);
}

static void what_is_remembered_is_what_is_found(void **state)
{
    struct scene s = {.random.state = 77, .features = release_features(37)};
    (void)state;
    s.catalog = catalog_new();
    s.cache = cache_new(&(struct cache_options){.tell = tell_nobody, .catalog = s.catalog});
    some_class(&s);
    for (uint32_t i = 0; i < 60; i++) {
        some_node(&s);
        some_slice(&s);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        arena_reset(&s.memory);
        something(&s);
        ask(&s, round);
    }
    assert_true(s.alike > ROUNDS / 2);
    cache_free(&s.cache);
    catalog_free(&s.catalog);
    arena_free(&s.memory);
    arena_free(&s.kept);
}

/* ---- the memo by itself ---- */

static struct resource_claim claim_for(struct device_request *request, int64_t count)
{
    static struct device_ask asks[8];
    asks[count] = (struct device_ask){.name = STR_LITERAL("one"), .count = count};
    *request = (struct device_request){.name = STR_LITERAL("one"), .asks = {1, &asks[count]}};
    return (struct resource_claim){.name = STR_LITERAL("c"), .requests = {1, request}};
}

static void an_answer_is_as_old_as_its_node(void **state)
{
    (void)state;
    const struct features features = release_features(37), other = release_features(36);
    struct device_memo *memo = device_memo_new();
    struct device_request request, more;
    struct resource_claim claim = claim_for(&request, 1), two = claim_for(&more, 2);
    const struct resource_claim *claims[] = {&claim, &two};
    struct memo_question *q = device_memo_ask(memo, &features, claims, 1, 2);
    struct memo_answer answer;
    assert_false(device_memo_get(q, STR_LITERAL("n"), 3, &answer));
    device_memo_set(q, STR_LITERAL("n"), 3, (struct memo_answer){true, 7});
    claim.name = STR_LITERAL("another");
    q = device_memo_ask(memo, &features, claims, 1, 2);
    assert_true(device_memo_get(q, STR_LITERAL("n"), 3, &answer));
    assert_true(answer.fits && answer.score == 7);
    assert_false(device_memo_get(q, STR_LITERAL("n"), 4, &answer)); /* something has changed */
    assert_false(device_memo_get(q, STR_LITERAL("m"), 3, &answer));
    assert_ptr_not_equal(device_memo_ask(memo, &features, claims, 2, 2), q);
    assert_ptr_not_equal(device_memo_ask(memo, &features, &claims[1], 1, 2), q);
    assert_ptr_not_equal(device_memo_ask(memo, &other, claims, 1, 2), q);
    assert_ptr_equal(device_memo_ask(memo, &features, claims, 1, 2), q);
    device_memo_free(&memo);
}

static void few_questions_and_no_more_nodes_than_there_are_are_kept(void **state)
{
    (void)state;
    const struct features features = release_features(37);
    struct device_memo *memo = device_memo_new();
    struct device_request request;
    struct resource_claim claim = claim_for(&request, 1);
    const struct resource_claim *claims[] = {&claim};
    struct memo_answer answer;
    char names[16];
    struct memo_question *q = device_memo_ask(memo, &features, claims, 1, 2);
    for (int i = 0; i < 100; i++) {
        snprintf(names, sizeof(names), "n%d", i);
        device_memo_set(q, str_of(names), 1, (struct memo_answer){0});
    }
    assert_int_equal(device_memo_count(memo), 100);
    q = device_memo_ask(memo, &features, claims, 1, 2);
    assert_int_equal(device_memo_count(memo), 0);
    assert_false(device_memo_get(q, STR_LITERAL("n1"), 1, &answer));
    device_memo_set(q, STR_LITERAL("n1"), 1, (struct memo_answer){0});
    for (uint32_t i = 1; i <= DEVICE_MEMO_QUESTIONS; i++) { /* others, of as many claims */
        const struct resource_claim *many[DEVICE_MEMO_QUESTIONS + 1];
        for (uint32_t k = 0; k <= i; k++)
            many[k] = &claim;
        (void)device_memo_ask(memo, &features, many, i + 1, 2);
    }
    q = device_memo_ask(memo, &features, claims, 1, 2);
    assert_false(device_memo_get(q, STR_LITERAL("n1"), 1, &answer));
    device_memo_free(&memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_what_is_found),
        cmocka_unit_test(an_answer_is_as_old_as_its_node),
        cmocka_unit_test(few_questions_and_no_more_nodes_than_there_are_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
