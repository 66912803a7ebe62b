/* test_room: what devices take of their nodes' own resources, by hand from upstream's rules: by
 * device or by what is consumed, added up by resource, in the words of each release. */
#include "scheduler/devices/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena memory;
static struct devices *store;

static int begin(void **state)
{
    (void)state;
    store = devices_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    devices_free(&store);
    arena_free(&memory);
    return 0;
}

static void put(const char *slice, const char *node, const struct dra_device *devices,
                uint32_t count)
{
    struct buffer error = {0};
    const struct dra_slice s = {.name = str_of(slice),
                                .driver = STR_LITERAL("d"),
                                .pool = STR_LITERAL("p"),
                                .slice_count = 1,
                                .reach = {.node_name = str_of(node)},
                                .device_count = count,
                                .devices = devices};
    if (!devices_put_slice(store, &s, &error))
        fail_msg("%s", error.at);
    buffer_free(&error);
}

static struct dra_device taking(const char *name, const struct dra_node_resource *resources,
                                uint32_t count)
{
    return (struct dra_device){
        .name = str_of(name), .node_resource_count = count, .node_resources = resources};
}

static struct dra_use use_of(const char *device)
{
    return (struct dra_use){
        .driver = STR_LITERAL("d"), .pool = STR_LITERAL("p"), .device = str_of(device)};
}

static bool no_label(const void *context, struct str key, struct str *value)
{
    (void)context;
    (void)key;
    (void)value;
    return false;
}

static const struct dra_node node = {.name = {"n", 1}, .label = no_label};

static enum dra_room ask(int64_t release, const struct dra_use *uses, uint32_t count,
                         struct claim_room *out, struct str *error)
{
    const struct dra_room_question q = {.devices = store,
                                        .release = release,
                                        .node = &node,
                                        .namespace_name = STR_LITERAL("ns"),
                                        .claim = STR_LITERAL("c"),
                                        .use_count = count,
                                        .uses = uses};
    return dra_room_of(&q, out, &memory, error);
}

/* What comes out, as the message says it. */
static void takes(int64_t release, const struct dra_use *uses, uint32_t count, const char *expected)
{
    struct claim_room room;
    struct str error = {0};
    struct buffer text = {0};
    if (ask(release, uses, count, &room, &error) != DRA_ROOM_some)
        fail_msg("nothing: %.*s", STR_ARG(error));
    codec_print(&claim_room_record, &room, &text);
    assert_string_equal(text.at + strlen("claim_room "), expected);
    buffer_free(&text);
}

static void fails(int64_t release, const struct dra_use *uses, uint32_t count, const char *expected)
{
    struct claim_room room;
    struct str error = {0};
    assert_int_equal(ask(release, uses, count, &room, &error), DRA_ROOM_error);
    assert_string_equal(arena_copy(&memory, error).at, expected);
}

#define MAPS(resource, key, times)                                                                 \
    {                                                                                              \
        .name = {resource, sizeof(resource) - 1}, .maps = true,                                    \
        .capacity_key = {key, sizeof(key) - 1}, .multiplier = {                                    \
            times,                                                                                 \
            sizeof(times) - 1                                                                      \
        }                                                                                          \
    }

static void devices_are_added_up_by_resource(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {MAPS("cpu", "", "500m"),
                                                 MAPS("memory", "", "1Gi")};
    static const struct dra_node_resource b[] = {MAPS("cpu", "", "2")};
    const struct dra_device devices[] = {taking("a", a, 2), taking("b", b, 1)};
    put("s", "n", devices, 2);
    const struct dra_use uses[] = {use_of("a"), use_of("b")};
    takes(37, uses, 2,
          "claim=\"c\" amounts=[{key=\"cpu\" value=\"2500m\"} {key=\"memory\" value=\"1Gi\"}]");
    struct claim_room room;
    struct str error;
    assert_int_equal(ask(36, uses, 2, &room, &error),
                     DRA_ROOM_none); /* which knows none of these */
    assert_true(devices_take_of_nodes(store));
    devices_remove_slice(store, STR_LITERAL("s"));
    assert_false(devices_take_of_nodes(store));
}

/* What is consumed times the multiplier, written in the words of what is consumed. */
static void consumed_capacity_is_multiplied(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {MAPS("memory", "m", "2"), MAPS("cpu", "c", "500m"),
                                                 MAPS("hugepages-2Mi", "none", "1")};
    const struct dra_device device = taking("a", a, 3);
    static const struct dra_amount consumed[] = {{{"m", 1}, {"3Gi", 3}}, {{"c", 1}, {"3", 1}}};
    struct dra_use use = use_of("a");
    put("s", "n", &device, 1);
    use.consumed = consumed;
    use.consumed_count = 2;
    takes(37, &use, 1,
          "claim=\"c\" amounts=[{key=\"cpu\" value=\"1500m\"} {key=\"memory\" value=\"6Gi\"}]");
    use.consumed_count = 0;
    fails(37, &use, 1,
          "claim ns/c, device a: ConsumedCapacity is nil, but Capacity key 'm' is set in "
          "NodeAllocatableResources for resource memory");
}

static void overhead_is_of_1_37(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {{.name = {"cpu", 3},
                                                  .has_overhead = true,
                                                  .per_pod = {"100m", 4},
                                                  .per_container = {"50m", 3}}};
    static const struct dra_node_resource b[] = {
        {.name = {"cpu", 3}, .has_overhead = true, .per_pod = {"1", 1}},
        {.name = {"memory", 6}, .has_overhead = true}};
    const struct dra_device devices[] = {taking("a", a, 1), taking("b", b, 2)};
    put("s", "n", devices, 2);
    const struct dra_use uses[] = {use_of("a"), use_of("b")};
    takes(37, uses, 2,
          "claim=\"c\" overheads=[{name=\"cpu\" per_pod=\"1100m\" per_container=\"50m\"}]");
    struct claim_room room;
    struct str error;
    const struct dra_use empty = use_of("b");
    static const struct dra_node_resource none[] = {{.name = {"cpu", 3}, .has_overhead = true}};
    const struct dra_device nothing = taking("b", none, 1);
    put("s", "n", &nothing, 1);
    assert_int_equal(ask(37, &empty, 1, &room, &error), DRA_ROOM_empty);
}

/* 1.36 wants no multiplier: then it is nothing, and said all the same. */
static void mappings_of_1_36(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {
        {.name = {"cpu", 3}, .maps = true, .old = true},
        {.name = {"memory", 6}, .maps = true, .multiplier = {"1G", 2}, .old = true}};
    const struct dra_device device = taking("a", a, 2);
    const struct dra_use use = use_of("a");
    put("s", "n", &device, 1);
    takes(36, &use, 1,
          "claim=\"c\" amounts=[{key=\"cpu\" value=\"0\"} {key=\"memory\" value=\"1G\"}]");
}

/* A device that the node does not see takes nothing; beside one that does it is an error. */
static void a_device_that_is_not_there(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {MAPS("cpu", "", "1")};
    static const struct dra_node_resource old[] = {
        {.name = {"cpu", 3}, .maps = true, .multiplier = {"1", 1}, .old = true}};
    const struct dra_device here = taking("a", a, 1), there = taking("b", a, 1);
    const struct dra_device elder = taking("e", old, 1);
    put("s", "n", &here, 1);
    put("t", "m", &there, 1);
    const struct dra_use uses[] = {use_of("a"), use_of("b"), use_of("gone")};
    struct claim_room room;
    struct str error;
    assert_int_equal(ask(37, &uses[1], 2, &room, &error), DRA_ROOM_none);
    fails(37, uses, 2, "claim ns/c, device b, driver d: device b not found in pool p for driver d");
    put("u", "n", &elder, 1);
    const struct dra_use mixed[] = {use_of("e"), use_of("gone")};
    fails(36, mixed, 2, "claim ns/c, device gone: device gone not found in pool p");
}

static void huge_amounts_stay_within_bounds(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {
        MAPS("memory", "m", "99999999999999999999999999999999999999")};
    const struct dra_device device = taking("a", a, 1);
    static const struct dra_amount consumed[] = {
        {{"m", 1}, {"99999999999999999999999999999999999999", 38}}};
    struct dra_use uses[] = {use_of("a"), use_of("a"), use_of("a")};
    struct claim_room room;
    struct str error;
    for (int i = 0; i < 3; i++) {
        uses[i].consumed = consumed;
        uses[i].consumed_count = 1;
    }
    put("s", "n", &device, 1);
    assert_int_equal(ask(37, uses, 3, &room, &error), DRA_ROOM_some);
    assert_int_equal(room.amounts.count, 1);
    assert_true(room.amounts.at[0].value.len > 10 && room.amounts.at[0].value.at[0] != '-');
}

static void a_malformed_amount_keeps_the_slice_away(void **state)
{
    (void)state;
    static const struct dra_node_resource a[] = {MAPS("cpu", "", "1x")};
    const struct dra_device device = taking("a", a, 1);
    const struct dra_slice s = {.name = STR_LITERAL("s"), .device_count = 1, .devices = &device};
    struct buffer error = {0};
    assert_false(devices_put_slice(store, &s, &error));
    assert_non_null(strstr(error.at, "quantity \"1x\" is malformed"));
    buffer_free(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(devices_are_added_up_by_resource, begin, end),
        cmocka_unit_test_setup_teardown(consumed_capacity_is_multiplied, begin, end),
        cmocka_unit_test_setup_teardown(overhead_is_of_1_37, begin, end),
        cmocka_unit_test_setup_teardown(mappings_of_1_36, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_is_not_there, begin, end),
        cmocka_unit_test_setup_teardown(huge_amounts_stay_within_bounds, begin, end),
        cmocka_unit_test_setup_teardown(a_malformed_amount_keeps_the_slice_away, begin, end),
    };
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
