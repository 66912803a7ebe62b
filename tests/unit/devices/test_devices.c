/* test_devices: the allocator against upstream's answers (tests/golden/devices.ndjson: a question,
 * then what k8s.io/dynamic-resource-allocation/structured said, made by
 * tests/fidelity/devices/differ.py --golden), and what must hold whatever is asked: nothing is
 * given twice, a store that changed is as good as a new one, and a search ends when its time is
 * over. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/devices/inside.h"
#include "tests/fidelity/devices/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GOLDEN "tests/golden/devices.ndjson"

static const struct features features_36 = {.release = 36};

/* ---- golden answers ---- */

struct golden {
    FILE *file;
    char *question, *answer;
    size_t question_room, answer_room;
    struct str asked, said;
};

static struct str line_of(FILE *file, char **at, size_t *room)
{
    ssize_t len = getline(at, room, file);
    return len <= 0 ? (struct str){0} : (struct str){*at, (uint32_t)len - 1};
}

static struct golden golden_open(const char *path)
{
    struct golden g = {.file = fopen(path, "r")};
    assert_non_null(g.file);
    return g;
}

static bool golden_next(struct golden *g)
{
    g->asked = line_of(g->file, &g->question, &g->question_room);
    g->said = line_of(g->file, &g->answer, &g->answer_room);
    return g->asked.len > 0;
}

static void golden_close(struct golden *g)
{
    memory_free(g->question);
    memory_free(g->answer);
    fclose(g->file);
}

static void check_answer(const struct dra_case *c, struct str said)
{
    struct buffer out = {0};
    case_answer(c, &out);
    struct str ours = buffer_str(&out);
    if (!str_equal(ours, said))
        fail_msg("upstream: %.*s\nberth:    %.*s", STR_ARG(said), STR_ARG(ours));
    buffer_free(&out);
}

static void open_case(struct dra_case *c, struct str line)
{
    struct str error = {0};
    if (!case_read(c, line, &error))
        fail_msg("%.*s", STR_ARG(error));
}

static void check_golden(const char *path)
{
    struct golden g = golden_open(path);
    uint32_t count = 0;
    for (; golden_next(&g); count++) {
        struct dra_case c;
        open_case(&c, g.asked);
        check_answer(&c, g.said);
        check_answer(&c, g.said); /* with verdicts that are kept */
        case_free(&c);
    }
    assert_true(count >= 25);
    golden_close(&g);
}

static void upstream_says_the_same(void **state)
{
    (void)state;
    check_golden(GOLDEN);
}

static void upstream_says_the_same_in_1_37(void **state)
{
    (void)state;
    check_golden("tests/golden/devices-1.37.ndjson");
}

static void upstream_says_the_same_with_other_gates(void **state)
{
    (void)state;
    check_golden("tests/golden/devices-gates.ndjson");
    check_golden("tests/golden/devices-gates-1.37.ndjson");
    check_golden("tests/golden/devices-sets.ndjson");
    check_golden("tests/golden/devices-sets-1.37.ndjson");
    check_golden("tests/golden/devices-groups-1.37.ndjson");
    check_golden("tests/golden/devices-derived-1.37.ndjson");
}

/* ---- a store that changed ---- */

/* Takes all slices out and puts them in again in another order, some of them twice. */
static void shuffle_slices(struct dra_case *c, struct random *r)
{
    const struct kube_json *list = kube_json_get(c->json, "slices");
    uint32_t count = (uint32_t)kube_json_count(list), i = 0;
    struct dra_slice *slices = arena_take(&c->arena, (count + 1) * sizeof(*slices));
    struct buffer error = {0};
    for (const struct kube_json *v = kube_json_first(list); v != NULL; v = kube_json_next(v))
        slices[i++] = case_slice(v, &c->arena);
    for (i = 0; i < count; i++)
        if (random_below(r, 2) == 0)
            assert_true(devices_remove_slice(c->devices, slices[i].name));
    for (i = count; i > 1; i--) {
        uint32_t k = (uint32_t)random_below(r, i);
        struct dra_slice swap = slices[i - 1];
        slices[i - 1] = slices[k];
        slices[k] = swap;
    }
    for (i = 0; i < count; i++) {
        struct dra_slice other = slices[i];
        other.generation += (int64_t)random_below(r, 2);
        other.device_count /= 2;
        assert_true(devices_put_slice(c->devices, &other, &error));
        assert_true(devices_put_slice(c->devices, &slices[i], &error));
    }
}

static void a_changed_store_is_as_good_as_a_new_one(void **state)
{
    (void)state;
    struct golden g = golden_open(GOLDEN);
    struct random r = {5};
    while (golden_next(&g)) {
        struct dra_case c;
        open_case(&c, g.asked);
        struct devices_totals before = devices_totals(c.devices);
        check_answer(&c, g.said);
        for (int i = 0; i < 3; i++) {
            shuffle_slices(&c, &r);
            check_answer(&c, g.said);
        }
        struct devices_totals after = devices_totals(c.devices);
        assert_memory_equal(&before, &after, sizeof(before));
        case_free(&c);
    }
    golden_close(&g);
}

/* ---- nothing is given twice ---- */

struct given {
    uint32_t count;
    struct dra_allocation at[2000];
};

static dra_nano nano_of(struct str text)
{
    struct amount a;
    assert_true(amount_parse(text, &a));
    return a.nano;
}

/* What a device is said to have of a capacity. */
static dra_nano has_capacity(const struct device *d, struct str name)
{
    for (uint32_t i = 0; i < d->capacity_count; i++)
        if (str_equal(d->capacities[i].name, name))
            return d->capacities[i].value.nano;
    return 0;
}

static bool is_of(const struct dra_use *u, const struct device *d)
{
    return !u->admin_access && str_equal(u->device, d->said.name) &&
           str_equal(u->pool, d->slice->said.pool) && str_equal(u->driver, d->slice->said.driver);
}

/* One device: once as a whole, or shared within its capacity. How often it was given. */
static uint32_t check_device(const struct given *g, const struct device *d)
{
    uint32_t whole = 0, shares = 0;
    dra_nano consumed[8] = {0};
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->at[i].result_count; k++) {
            const struct dra_use *u = &g->at[i].results[k].use;
            if (!is_of(u, d))
                continue;
            assert_int_equal(u->shared, d->said.allow_multiple);
            whole += !u->shared;
            shares += u->shared;
            for (uint32_t c = 0; c < u->consumed_count; c++)
                consumed[c] += nano_of(u->consumed[c].value);
            for (uint32_t c = 0; c < u->consumed_count; c++)
                assert_true(consumed[c] <= has_capacity(d, u->consumed[c].name));
        }
    assert_true(whole <= 1);
    return whole + shares;
}

/* All devices of a pool's generation: counters of its sets, counted anew. */
static void check_counters(const struct given *g, const struct edition *e)
{
    for (uint32_t i = 0; i < e->counter_count; i++) {
        dra_nano sum = 0;
        for (uint32_t s = 0; s < e->slices.count; s++)
            for (uint32_t d = 0; d < e->slices.at[s]->device_count; d++) {
                const struct device *device = &e->slices.at[s]->devices[d];
                for (uint32_t c = 0; c < device->consumption_count; c++)
                    if (str_equal(device->consumption[c].set, e->counters[i].set) &&
                        str_equal(device->consumption[c].name, e->counters[i].name) &&
                        check_device(g, device) > 0)
                        sum += device->consumption[c].nano;
            }
        assert_true(sum <= e->counters[i].nano);
    }
}

static void check_given(const struct dra_case *c, const struct given *g)
{
    size_t at = 0;
    const struct pool *pool;
    while ((pool = table_next(&c->devices->pools, &at)) != NULL) {
        const struct edition *e = pool->editions;
        for (uint32_t s = 0; s < e->slices.count; s++)
            for (uint32_t d = 0; d < e->slices.at[s]->device_count; d++)
                check_device(g, &e->slices.at[s]->devices[d]);
        check_counters(g, e);
    }
}

/* The pod's claims again and again, on all nodes, until no node has room. */
static void fill(struct dra_case *c, struct given *g)
{
    struct dra_search *search = dra_search_new(c->devices, &c->features, c->claims, c->claim_count);
    struct dra_limits limits = {.steps = 2000};
    struct str error;
    for (uint32_t n = 0, rounds = 0; n < c->node_count && rounds < 40; rounds++) {
        struct dra_answer answer;
        if (dra_search_node(search, &c->nodes[n].node, &limits, &answer) != DRA_ALLOCATED) {
            n++;
            continue;
        }
        for (uint32_t i = 0; i < c->claim_count; i++)
            assert_true(dra_search_result(search, i, &c->arena, &g->at[g->count + i], &error));
        for (uint32_t i = 0; i < c->claim_count; i++, g->count++)
            for (uint32_t k = 0; k < g->at[g->count].result_count; k++)
                devices_take(c->devices, &g->at[g->count].results[k].use, 1);
    }
    dra_search_free(&search);
}

static void nothing_is_given_twice(void **state)
{
    (void)state;
    struct golden g = golden_open(GOLDEN);
    struct given *given = memory_take(sizeof(*given));
    uint32_t total = 0;
    while (golden_next(&g)) {
        struct dra_case c;
        open_case(&c, g.asked);
        uint32_t taken;
        const struct kube_json *list = kube_json_get(c.json, "allocated");
        const struct dra_use *uses = case_uses(kube_json_first(list), &c.arena, &taken);
        devices_give_back(c.devices, uses, taken);
        assert_int_equal(devices_totals(c.devices).in_use, 0);
        given->count = 0;
        fill(&c, given);
        check_given(&c, given);
        total += given->count;
        for (uint32_t i = given->count; i > 0; i--)
            for (uint32_t k = 0; k < given->at[i - 1].result_count; k++)
                devices_give_back(c.devices, &given->at[i - 1].results[k].use, 1);
        assert_int_equal(devices_totals(c.devices).in_use, 0);
        devices_take(c.devices, uses, taken);
        check_answer(&c, g.said);
        case_free(&c);
    }
    assert_true(total > 100);
    memory_free(given);
    golden_close(&g);
}

/* ---- single cases ---- */

#define DEVICE(name) "{\"name\":\"" name "\"}"
#define SLICE(name, driver, pool, where, rest)                                                     \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"driver\":\"" driver                         \
    "\",\"pool\":{\"name\":\"" pool "\",\"generation\":1,\"resourceSliceCount\":1}," where         \
    "," rest "}}"
#define LOCAL "\"nodeName\":\"n\""
#define CLAIM(requests)                                                                            \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":"     \
    "[" requests "]}}}"
#define EXACTLY(name, count)                                                                       \
    "{\"name\":\"" name "\",\"exactly\":{\"deviceClassName\":\"all\",\"allocationMode\":"          \
    "\"ExactCount\",\"count\":" count "}}"
#define CASE(slices, claims)                                                                       \
    "{\"slices\":[" slices "],\"classes\":[{\"metadata\":{\"name\":\"all\"},\"spec\":{}}],"        \
    "\"claims\":[" claims "],\"allocated\":[],\"nodes\":[{\"metadata\":{\"name\":\"n\"}}]}"

static void a_malformed_quantity_is_refused(void **state)
{
    (void)state;
    struct dra_case c;
    struct str error = {0};
    struct str line = str_of(
        CASE(SLICE("s", "d", "p", LOCAL,
                   "\"devices\":[{\"name\":\"x\",\"capacity\":{\"memory\":{\"value\":\"1Q\"}}}]"),
             CLAIM(EXACTLY("r", "1"))));
    assert_false(case_read(&c, line, &error));
    if (!str_is(error, "ResourceSlice s: device x: capacity: quantity \"1Q\" is malformed"))
        fail_msg("%.*s", STR_ARG(error));
    assert_int_equal(devices_totals(c.devices).slices, 0);
    case_free(&c);
}

/* Eight of nine, twice: impossible, and found out only by trying all. */
static const char hopeless[] = CASE(
    SLICE("s", "d", "p", LOCAL,
          "\"devices\":[" DEVICE("a") "," DEVICE("b") "," DEVICE("c") "," DEVICE("d") "," DEVICE(
              "e") "," DEVICE("f") "," DEVICE("g") "," DEVICE("h") "," DEVICE("i") "]"),
    CLAIM(EXACTLY("r0", "4") "," EXACTLY("r1", "6")));

static bool after_three(const void *context)
{
    uint32_t *left = *(uint32_t *const *)context;
    return (*left)-- == 0;
}

static void a_search_ends_when_its_time_is_over(void **state)
{
    (void)state;
    struct dra_case c;
    struct dra_answer answer;
    uint32_t asks = 3, *left = &asks;
    open_case(&c, str_of(hopeless));
    struct dra_search *s = dra_search_new(c.devices, &c.features, c.claims, c.claim_count);
    struct dra_limits steps = {.steps = 100};
    struct dra_limits clock = {.expired = after_three, .context = &left};
    assert_int_equal(dra_search_node(s, &c.nodes[0].node, NULL, &answer), DRA_NOTHING);
    uint64_t all = answer.steps;
    assert_true(all > 1500);
    assert_int_equal(dra_search_node(s, &c.nodes[0].node, &steps, &answer), DRA_EXPIRED);
    assert_int_equal(answer.steps, 101);
    assert_int_equal(dra_search_node(s, &c.nodes[0].node, &clock, &answer), DRA_EXPIRED);
    assert_true(answer.steps > 100 && answer.steps < all);
    assert_int_equal(dra_search_node(s, &c.nodes[0].node, NULL, &answer), DRA_NOTHING);
    assert_int_equal(answer.steps, all);
    dra_search_free(&s);
    case_free(&c);
}

/* Upstream keeps counters by the pool's name alone and would give both to the second driver. */
static void pools_of_one_name_have_counters_of_their_own(void **state)
{
    (void)state;
#define COUNTED "\"sharedCounters\":[{\"name\":\"c\",\"counters\":{\"n\":{\"value\":\"1\"}}}]"
#define TAKES(name)                                                                                \
    "{\"name\":\"" name                                                                            \
    "\",\"consumesCounters\":[{\"counterSet\":\"c\",\"counters\":{\"n\":{\"value\":\"1\"}}}]}"
#define OF(driver)                                                                                 \
    "{\"metadata\":{\"name\":\"" driver "-0\"},\"spec\":{\"driver\":\"" driver                     \
    "\",\"pool\":{\"name\":\"n\",\"generation\":1,\"resourceSliceCount\":2}," LOCAL "," COUNTED    \
    "}},{\"metadata\":{\"name\":\"" driver "-1\"},\"spec\":{\"driver\":\"" driver                  \
    "\",\"pool\":{\"name\":\"n\",\"generation\":1,\"resourceSliceCount\":2}," LOCAL                \
    ",\"devices\":[" TAKES("x") "," TAKES("y") "]}}"
    static const char two[] = CASE(OF("a") "," OF("b"), CLAIM(EXACTLY("r", "2")));
    static const char three[] = CASE(OF("a") "," OF("b"), CLAIM(EXACTLY("r", "3")));
    struct dra_case c;
    struct buffer out = {0};
    open_case(&c, str_of(two));
    case_answer(&c, &out);
    assert_non_null(strstr(out.at, "\"driver\":\"a\",\"pool\":\"n\",\"device\":\"x\""));
    assert_non_null(strstr(out.at, "\"driver\":\"b\",\"pool\":\"n\",\"device\":\"x\""));
    case_free(&c);
    buffer_reset(&out);
    open_case(&c, str_of(three));
    case_answer(&c, &out);
    assert_non_null(strstr(out.at, "nothing"));
    case_free(&c);
    buffer_free(&out);
}

/* It says two slices and has three, so that each node takes its own part for the whole. Upstream
 * would count the first node's for both. */
static void nodes_count_what_they_see_of_a_pool(void **state)
{
    (void)state;
#define PART(name, where, rest)                                                                    \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"driver\":\"d\",\"pool\":"                   \
    "{\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":2}," where "," rest "}}"
#define TAKEN(device)                                                                              \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"taken\"},\"status\":{\"allocation\":"          \
    "{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":"    \
    "\"" device "\"}]}}}}"
#define ON(nodes, slices, claims, taken)                                                           \
    "{\"slices\":[" slices "],\"classes\":[{\"metadata\":{\"name\":\"all\"},\"spec\":{}}],"        \
    "\"claims\":[" claims "],\"allocated\":[" taken "],\"nodes\":[" nodes "]}"
#define NODE(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define OF_M       PART("t", "\"nodeName\":\"m\"", "\"devices\":[" TAKES("x") "," TAKES("y") "]")
#define OF_N       PART("u", LOCAL, "\"devices\":[" TAKES("z") "]")
    static const char text[] =
        ON(NODE("m") "," NODE("n"), PART("s", "\"allNodes\":true", COUNTED) "," OF_M "," OF_N,
           CLAIM(EXACTLY("r", "1")), TAKEN("x"));
    struct dra_case c;
    struct buffer out = {0};
    open_case(&c, str_of(text));
    case_answer(&c, &out);
    assert_non_null(strstr(out.at, "[{\"outcome\":\"nothing\""));
    assert_non_null(strstr(out.at, "\"pool\":\"p\",\"device\":\"z\""));
    case_free(&c);
    buffer_free(&out);
}

#define COUNTERS "\"sharedCounters\":[{\"name\":\"s\",\"counters\":{\"c\":{\"value\":\"1\"}}}]"
#define SELECTOR                                                                                   \
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\","              \
    "\"operator\":\"Exists\"}]}]}"

static bool has_no_label(const void *context, struct str key, struct str *value)
{
    (void)context;
    (void)key;
    (void)value;
    return false;
}

#define DIFFERS(c, node)                                                                           \
    devices_node_differs((c).devices,                                                              \
                         &(const struct dra_node){STR_LITERAL(node), has_no_label, NULL, false})

static void nodes_differ_by_what_names_them(void **state)
{
    (void)state;
    struct dra_case c;
    open_case(
        &c,
        str_of(CASE(SLICE("s0", "d", "local", LOCAL, "\"devices\":[]") "," SLICE(
                        "s1", "d", "wide", "\"allNodes\":true",
                        "\"devices\":[]") "," SLICE("s2", "d", "parts", "\"nodeName\":\"m\"",
                                                    COUNTERS) "," SLICE("s3", "d", "some",
                                                                        "\"perDeviceNodeSelection\""
                                                                        ":true",
                                                                        "\"devices\":[{\"name\":"
                                                                        "\"d0\",\"nodeName\":\"o\"}"
                                                                        "]") "," SLICE("s4", "d",
                                                                                       "labels",
                                                                                       SELECTOR,
                                                                                       "\"devices\""
                                                                                       ":[]"),
                    CLAIM(EXACTLY("r", "1")))));
    assert_true(DIFFERS(c, "another")); /* it may have the label */
    assert_true(devices_remove_slice(c.devices, STR_LITERAL("s4")));
    assert_false(DIFFERS(c, "another"));
    assert_true(DIFFERS(c, "n"));
    assert_true(DIFFERS(c, "m"));
    assert_true(DIFFERS(c, "o"));
    assert_true(devices_remove_slice(c.devices, STR_LITERAL("s2")));
    assert_true(devices_remove_slice(c.devices, STR_LITERAL("s3")));
    assert_false(DIFFERS(c, "m"));
    assert_false(DIFFERS(c, "o"));
    case_free(&c);
}

/* ---- which slices a node is asked about ---- */

static bool label_of_node(const void *context, struct str key, struct str *value)
{
    const struct str *name = context;
    *value = str_is(key, "kubernetes.io/hostname") ? *name : STR_LITERAL("a");
    return str_is(key, "kubernetes.io/hostname") || str_is(key, "zone");
}

/* Those of the index that this node may reach, in order; s0, s1 … by name. */
static void assert_gathered(const struct dra_case *c, const char *node, const char *expected)
{
    struct buffer names = {0};
    struct str name = str_of(node);
    struct slices list = {0};
    const struct dra_node asked = {name, label_of_node, &name, false};
    reach_index_gather(c->devices->index, &asked, &list);
    for (uint32_t i = 0; i < list.count; i++)
        buffer_print(&names, "%.*s ", STR_ARG(list.at[i]->said.name));
    assert_string_equal(list.count == 0 ? "" : names.at, expected);
    assert_int_equal(reach_index_has(c->devices->index, &asked), list.count > 0);
    memory_free(list.at);
    buffer_free(&names);
}

/* Puts a slice of a pool of its own. */
static void put_reach(const struct dra_case *c, const char *name, struct dra_reach reach)
{
    struct buffer error = {0};
    const struct dra_slice slice = {.name = str_of(name),
                                    .driver = STR_LITERAL("d"),
                                    .pool = str_of(name),
                                    .generation = 1,
                                    .slice_count = 1,
                                    .reach = reach};
    assert_true(devices_put_slice(c->devices, &slice, &error));
}

/* The first device names a node, the second one has the other reach. */
static void put_by_device(const struct dra_case *c, const char *name, const char *node,
                          struct dra_reach second)
{
    struct buffer error = {0};
    const struct dra_device both[] = {
        {.name = STR_LITERAL("x"), .reach = {.node_name = str_of(node)}},
        {.name = STR_LITERAL("y"), .reach = second}};
    const struct dra_slice slice = {.name = str_of(name),
                                    .driver = STR_LITERAL("d"),
                                    .pool = str_of(name),
                                    .generation = 1,
                                    .slice_count = 1,
                                    .per_device = true,
                                    .device_count = 2,
                                    .devices = both};
    assert_true(devices_put_slice(c->devices, &slice, &error));
}

static struct str in_a[] = {{"a", 1}}, in_b[] = {{"b", 1}}, in_n[] = {{"n", 1}},
                  in_m[] = {{"m", 1}};

#define REQUIRE(key, operation, value)                                                             \
    {                                                                                              \
        {key, sizeof(key) - 1}, {operation, sizeof(operation) - 1},                                \
        {                                                                                          \
            1, value                                                                               \
        }                                                                                          \
    }
static struct requirement on_n[] = {REQUIRE("kubernetes.io/hostname", "In", in_n)},
                          named_m[] = {REQUIRE("metadata.name", "In", in_m)},
                          zone_a[] = {REQUIRE("zone", "In", in_a)},
                          zone_a_on_m[] = {REQUIRE("zone", "In", in_a),
                                           REQUIRE("kubernetes.io/hostname", "In", in_m)},
                          not_in_b[] = {REQUIRE("zone", "NotIn", in_b)};
static const struct node_term by_n = {.expressions = {1, on_n}}, by_m = {.fields = {1, named_m}},
                              by_zone = {.expressions = {1, zone_a}},
                              by_both = {.expressions = {2, zone_a_on_m}},
                              by_none = {.expressions = {1, not_in_b}};
#define TERMS(one) ((struct dra_reach){.has_terms = true, .term_count = 1, .terms = &(one)})

static void only_slices_that_a_node_may_reach_are_looked_at(void **state)
{
    (void)state;
    struct dra_case c;
    open_case(&c, STR_LITERAL("{}"));
    put_reach(&c, "s0", TERMS(by_n));
    put_reach(&c, "s1", TERMS(by_m));
    put_reach(&c, "s2", TERMS(by_zone));
    put_reach(&c, "s3", TERMS(by_both)); /* of two labels by the one that says more */
    put_by_device(&c, "s4", "n", TERMS(by_n));
    assert_int_equal(c.devices->shared.count, 0);
    assert_gathered(&c, "n", "s0 s2 s4 ");
    assert_gathered(&c, "m", "s1 s2 s3 ");
    assert_gathered(&c, "o", "s2 ");
    put_reach(&c, "s5", TERMS(by_none));
    put_by_device(&c, "s6", "n", (struct dra_reach){.all_nodes = true});
    assert_int_equal(c.devices->shared.count, 2);
    assert_gathered(&c, "n", "s0 s2 s4 ");
    for (int i = 2; i < 7; i++)
        assert_true(
            devices_remove_slice(c.devices, (struct str){(char[]){'s', (char)('0' + i)}, 2}));
    assert_gathered(&c, "n", "s0 ");
    assert_true(devices_labels_matter(c.devices));
    assert_true(devices_remove_slice(c.devices, STR_LITERAL("s0")));
    assert_false(devices_labels_matter(c.devices));
    assert_gathered(&c, "n", "");
    assert_gathered(&c, "m", "s1 ");
    case_free(&c);
}

/* ---- how many there are ---- */

static struct dra_stock stock_on(const struct dra_case *c, const char *class, const char *node)
{
    struct str name = str_of(node);
    const struct dra_node asked = {name, label_of_node, &name, false};
    return devices_stock(c->devices, &features_36, str_of(class), &asked);
}

static void put_class(const struct dra_case *c, const char *name, const char *selector)
{
    const struct str one = str_of(selector);
    const struct dra_class class = {.name = str_of(name), .selector_count = 1, .selectors = &one};
    devices_put_class(c->devices, &class);
}

static void a_stock_counts_what_a_node_reaches(void **state)
{
    (void)state;
    struct dra_case c;
    const struct dra_use use = {
        .driver = STR_LITERAL("d"), .pool = STR_LITERAL("s1"), .device = STR_LITERAL("y")};
    open_case(&c, STR_LITERAL("{}"));
    put_by_device(&c, "s0", "m", TERMS(by_n));
    put_by_device(&c, "s1", "n", TERMS(by_none));
    devices_take(c.devices, &use, 1);
    put_class(&c, "d", "device.driver == 'd'");
    put_class(&c, "e", "device.driver == 'e'");
    put_class(&c, "shared", "device.allowMultipleAllocations");
    put_class(&c, "wrong", "device.driver ==");
    assert_int_equal(stock_on(&c, "d", "n").there, 3);
    assert_int_equal(stock_on(&c, "d", "n").used, 1);
    assert_int_equal(stock_on(&c, "d", "o").there, 1);
    assert_int_equal(stock_on(&c, "e", "n").there, 0);
    assert_int_equal(stock_on(&c, "wrong", "n").there, 0);
    assert_int_equal(stock_on(&c, "unknown", "n").there, 0);
    struct buffer error = {0};
    const struct dra_device device = {.name = STR_LITERAL("z"), .allow_multiple = true};
    const struct dra_slice slice = {.name = STR_LITERAL("s2"),
                                    .driver = STR_LITERAL("d"),
                                    .pool = STR_LITERAL("s1"), /* of an older generation */
                                    .reach = {.all_nodes = true},
                                    .device_count = 1,
                                    .devices = &device};
    assert_true(devices_put_slice(c.devices, &slice, &error));
    assert_int_equal(stock_on(&c, "d", "o").there, 2);
    assert_int_equal(stock_on(&c, "shared", "o").there, 0); /* no device says so to a score */
    case_free(&c);
}

static void a_pool_is_of_a_node_or_of_all(void **state)
{
    (void)state;
    struct dra_case c;
    struct str d = STR_LITERAL("d");
    open_case(&c,
              str_of(CASE(
                  SLICE("s0", "d", "local", LOCAL, "\"devices\":[]") "," SLICE(
                      "s1", "d", "wide", "\"allNodes\":true",
                      "\"devices\":[]") "," SLICE("s2", "d", "both", LOCAL,
                                                  "\"devices\":[]") "," SLICE("s3", "d", "both",
                                                                              "\"nodeName\":\"m\"",
                                                                              "\"devices\":[]"),
                  CLAIM(EXACTLY("r", "1")))));
    assert_true(str_is(devices_pool_node(c.devices, d, STR_LITERAL("local")), "n"));
    assert_int_equal(devices_pool_node(c.devices, d, STR_LITERAL("wide")).len, 0);
    assert_int_equal(devices_pool_node(c.devices, d, STR_LITERAL("both")).len, 0);
    assert_int_equal(devices_pool_node(c.devices, d, STR_LITERAL("none")).len, 0);
    assert_true(devices_remove_slice(c.devices, STR_LITERAL("s3")));
    assert_true(str_is(devices_pool_node(c.devices, d, STR_LITERAL("both")), "n"));
    assert_false(devices_remove_slice(c.devices, STR_LITERAL("s3")));
    case_free(&c);
}

/* ---- small parts ---- */

static void slots_are_never_shared(void **state)
{
    (void)state;
    struct slots slots = {0};
    struct random r = {7};
    struct slot_range held[64] = {0};
    uint8_t used[4096] = {0};
    for (int i = 0; i < 20000; i++) {
        struct slot_range *h = &held[random_below(&r, 64)];
        slots_give_back(&slots, h->first, h->count);
        memset(used + h->first, 0, h->count);
        h->count = (uint32_t)random_below(&r, 20);
        h->first = slots_take(&slots, h->count);
        must(h->first + h->count <= sizeof(used));
        for (uint32_t k = 0; k < h->count; k++) {
            assert_int_equal(used[h->first + k], 0);
            used[h->first + k] = 1;
        }
    }
    assert_true(slots.top < 64 * 20 * 2);
    for (uint32_t i = 0; i < 64; i++)
        slots_give_back(&slots, held[i].first, held[i].count);
    assert_int_equal(slots.free_count, 1); /* all of them in one piece */
    assert_int_equal(slots.free[0].count, slots.top);
    memory_free(slots.free);
}

static void programs_do_not_pile_up(void **state)
{
    (void)state;
    struct devices *devices = devices_new();
    struct program *held = program_hold(devices, &features_36, STR_LITERAL("true"));
    for (int i = 0; i < 3000; i++) {
        char text[64];
        int len = snprintf(text, sizeof(text), "%d == %d", i, i);
        program_drop(program_hold(devices, &features_36, (struct str){text, (uint32_t)len}));
    }
    assert_int_equal(map_count(devices->programs), 1024);
    assert_ptr_equal(program_hold(devices, &features_36, STR_LITERAL("true")), held);
    devices_free(&devices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upstream_says_the_same),
        cmocka_unit_test(upstream_says_the_same_in_1_37),
        cmocka_unit_test(upstream_says_the_same_with_other_gates),
        cmocka_unit_test(a_changed_store_is_as_good_as_a_new_one),
        cmocka_unit_test(nothing_is_given_twice),
        cmocka_unit_test(a_malformed_quantity_is_refused),
        cmocka_unit_test(a_search_ends_when_its_time_is_over),
        cmocka_unit_test(pools_of_one_name_have_counters_of_their_own),
        cmocka_unit_test(nodes_count_what_they_see_of_a_pool),
        cmocka_unit_test(nodes_differ_by_what_names_them),
        cmocka_unit_test(only_slices_that_a_node_may_reach_are_looked_at),
        cmocka_unit_test(a_stock_counts_what_a_node_reaches),
        cmocka_unit_test(a_pool_is_of_a_node_or_of_all),
        cmocka_unit_test(slots_are_never_shared),
        cmocka_unit_test(programs_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
