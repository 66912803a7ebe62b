/* test_world_plugins: plugins on the bus have a say in a world's decisions, as at a live scheduler;
 * who answers here is a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ctl/attempt.h"

#include <string.h>

static struct arena arena;
static struct world *world;
static struct scheduler_config config;

/* What is answered at a step; a step without an answer is answered with nothing. */
static struct {
    struct plugin_answer at[PLUGIN_STEP_bind + 1];
    bool fails[PLUGIN_STEP_bind + 1];
    uint32_t asked[PLUGIN_STEP_bind + 1];
    struct str last_nodes; /* asked about, with commas */
    struct str reason;     /* of a postFilter */
    uint32_t unreserved, bound;
} plugin;

static const struct plugin_answer *answer(void *state, const struct bus_plugin *who,
                                          const struct plugin_ask *question, struct str *why,
                                          struct arena *a)
{
    struct buffer names = {0};
    (void)state;
    assert_true(str_is(who->name, "test"));
    plugin.asked[question->step]++;
    for (uint32_t i = 0; i < question->nodes.count; i++)
        buffer_print(&names, "%s%.*s", i > 0 ? "," : "", STR_ARG(question->nodes.at[i].name));
    plugin.last_nodes = arena_copy(&arena, buffer_str(&names));
    plugin.reason = arena_copy(&arena, question->reason);
    buffer_free(&names);
    if (!plugin.fails[question->step])
        return &plugin.at[question->step];
    *why = arena_print(a, "plugin \"test\" is not there");
    return NULL;
}

static void tell(void *state, const struct bus_plugin *who, const struct plugin_told *news)
{
    (void)state;
    assert_true(str_is(who->name, "test"));
    plugin.unreserved += news->what == PLUGIN_NEWS_unreserved;
    plugin.bound += news->what == PLUGIN_NEWS_bound;
}

static const struct world_plugins asker = {.ask = answer, .tell = tell};

static struct strs names_of(const char *const *list, uint32_t count)
{
    struct strs s = {count, arena_take(&arena, (count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        s.at[i] = str_of(list[i]);
    return s;
}
#define NAMES(...)                                                                                 \
    names_of((const char *const[]){__VA_ARGS__},                                                   \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void add_node(const char *name, int64_t cpu)
{
    struct quantity room[] = {{STR_LITERAL("cpu"), cpu}, {STR_LITERAL("pods"), 110}};
    world_node_set(world,
                   &(struct node){.name = str_of(name), .allocatable = {.count = 2, .at = room}});
}

static struct pod pod_of(const char *name, int64_t cpu)
{
    struct quantity *ask = arena_take(&arena, sizeof(*ask));
    *ask = (struct quantity){STR_LITERAL("cpu"), cpu};
    return (struct pod){.namespace_name = STR_LITERAL("a"),
                        .name = str_of(name),
                        .uid = str_of(name),
                        .scheduler_name = STR_LITERAL("s"),
                        .request = {.count = 1, .at = ask},
                        .score_request = {.count = 1, .at = ask},
                        .usage = {.count = 1, .at = ask},
                        .usage_score_cpu = cpu};
}

/* n1 and n2 of 4 CPU, n3 of 8; the plugin stands at every point, and its score counts tenfold. */
static int start(void **state)
{
    struct quantity counts[] = {{STR_LITERAL("cpu"), 1}};
    struct score_plugin score[] = {{.name = STR_LITERAL("NodeResourcesFit"), .weight = 1},
                                   {.name = STR_LITERAL("test"), .weight = 10}};
    struct bus_plugin bus[] = {{.name = STR_LITERAL("test"), .deadline_ms = 1000}};
    (void)state;
    bus[0].ignore = *state != NULL;
    struct profile *profile = arena_take(&arena, sizeof(*profile));
    *profile = (struct profile){.scheduler_name = STR_LITERAL("s"),
                                .pre_enqueue = NAMES("SchedulingGates", "test"),
                                .pre_filter = NAMES("NodeResourcesFit", "test"),
                                .filter = NAMES("NodeResourcesFit", "test"),
                                .post_filter = NAMES("test", "DefaultPreemption"),
                                .pre_score = NAMES("NodeResourcesFit", "test"),
                                .score = {2, score},
                                .reserve = NAMES("test"),
                                .permit = NAMES("test"),
                                .post_bind = NAMES("test"),
                                .fit_resources = {1, counts},
                                .fit_strategy = STR_LITERAL("LeastAllocated"),
                                .bus_plugins = {1, bus},
                                .features.release = 36};
    world = world_new(profile, 1, 2);
    config.profiles.count = 0;
    memset(&plugin, 0, sizeof(plugin));
    add_node("n1", 4000);
    add_node("n2", 4000);
    add_node("n3", 8000);
    world_settle(world);
    world_ask_plugins(world, &asker);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    world_free(&world);
    arena_free(&arena);
    return 0;
}

static struct report r;

/* The pod, which is new, is tried. */
static const struct report *try(const struct pod *pod)
{
    static struct buffer table;
    const struct attempts attempts = {.world = world,
                                      .config = &config,
                                      .arena = &arena,
                                      .output = {.table = &table},
                                      .after = AFTER_evict};
    world_pod_set(world, pod);
    r = (struct report){0};
    attempt(&attempts, pod, &r);
    buffer_free(&table);
    return &r;
}

static void expect_unschedulable(const char *message)
{
    assert_true(str_is(r.result, "unschedulable"));
    assert_string_equal(r.message.at, message);
}

static void nothing_against_it(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    try(&pod);
    assert_true(str_is(r.result, "scheduled"));
    assert_true(str_is(r.node, "n3"));
    assert_int_equal(plugin.asked[PLUGIN_STEP_pre_enqueue], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_pre_filter], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_filter], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_score], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_reserve], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_permit], 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_post_filter], 0);
    assert_int_equal(plugin.bound, 1);
    assert_int_equal(plugin.unreserved, 0);
}

static void refusals_and_scores_count(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    struct plugin_refusal refused[] = {
        {.node = STR_LITERAL("n3"), .reason = STR_LITERAL("no licence")}};
    struct plugin_opinion scores[] = {{.node = STR_LITERAL("n2"), .score = 5}};
    (void)state;
    plugin.at[PLUGIN_STEP_filter].refused.count = 1;
    plugin.at[PLUGIN_STEP_filter].refused.at = refused;
    plugin.at[PLUGIN_STEP_score].scores.count = 1;
    plugin.at[PLUGIN_STEP_score].scores.at = scores;
    try(&pod);
    assert_true(str_is(r.node, "n2"));
    assert_int_equal(r.decision->total, 75 + 50);
    assert_int_equal(r.verdict_count, 3);
    assert_true(str_is(r.verdicts[2].plugin, "test"));
    assert_true(str_is(r.verdicts[2].reasons.at[0], "no licence"));
    assert_int_equal(r.verdicts[1].total, 125);
    assert_int_equal(r.verdicts[0].total, 75);
}

static void who_may_not_come_in_is_gated(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    plugin.at[PLUGIN_STEP_pre_enqueue].verdict = STR_LITERAL("deny");
    plugin.at[PLUGIN_STEP_pre_enqueue].reason = STR_LITERAL("not today");
    try(&pod);
    assert_true(str_is(r.result, "gated"));
    assert_true(str_is(r.kept_by, "test"));
    assert_true(str_is(r.kept_why, "not today"));
}

static void only_these_nodes(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    struct str only[] = {STR_LITERAL("n1")};
    (void)state;
    plugin.at[PLUGIN_STEP_pre_filter].nodes.count = 1;
    plugin.at[PLUGIN_STEP_pre_filter].nodes.at = only;
    try(&pod);
    assert_true(str_is(r.node, "n1"));
    assert_int_equal(r.verdict_count, 1);
    assert_int_equal(plugin.asked[PLUGIN_STEP_score], 0);
}

static void turned_away_before_its_nodes(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    plugin.at[PLUGIN_STEP_pre_filter].verdict = STR_LITERAL("deny");
    plugin.at[PLUGIN_STEP_pre_filter].reason = STR_LITERAL("no such queue");
    plugin.at[PLUGIN_STEP_post_filter].reason = STR_LITERAL("nothing to offer");
    try(&pod);
    assert_true(str_is(r.result, "unschedulable"));
    assert_non_null(strstr(r.message.at, "0/3 nodes are available: no such queue."));
    assert_int_equal(r.verdict_count, 0);
    assert_int_equal(plugin.asked[PLUGIN_STEP_filter], 0);
    assert_true(str_is(plugin.last_nodes, "n1,n2,n3"));
    assert_true(str_is(plugin.reason, "no such queue"));
}

static void a_nomination_is_no_eviction(void **state)
{
    const struct pod pod = pod_of("p", 9000);
    (void)state;
    plugin.at[PLUGIN_STEP_post_filter].node = STR_LITERAL("n2");
    try(&pod);
    assert_true(str_is(r.result, "unschedulable"));
    assert_true(str_is(r.nominated_node, "n2"));
    assert_int_equal(plugin.asked[PLUGIN_STEP_post_filter], 1);
    struct pod now;
    assert_true(world_pod(world, pod.namespace_name, pod.name, &now, &arena));
    assert_true(str_is(now.nominated_node, "n2"));
}

static void rejections_are_no_errors(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    plugin.at[PLUGIN_STEP_permit].verdict = STR_LITERAL("deny");
    try(&pod);
    expect_unschedulable("0/1 nodes are available: 1 plugin \"test\" does not permit it.");
    assert_true(str_is(r.rejected_by, "test"));
    assert_int_equal(plugin.unreserved, 1); /* once, though it stands at Reserve, too */
    assert_int_equal(plugin.bound, 0);
    plugin.at[PLUGIN_STEP_reserve].verdict = STR_LITERAL("deny");
    plugin.at[PLUGIN_STEP_reserve].reason = STR_LITERAL("sold out");
    try(&pod);
    expect_unschedulable("0/1 nodes are available: 1 sold out.");
    assert_int_equal(plugin.asked[PLUGIN_STEP_permit], 1);
    plugin.at[PLUGIN_STEP_reserve].verdict = (struct str){0};
    plugin.at[PLUGIN_STEP_permit].verdict = STR_LITERAL("wait"); /* it comes, sooner or later */
    try(&pod);
    assert_true(str_is(r.result, "scheduled"));
}

static void keys_sort(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    const struct bus_plugin sorts = {.name = STR_LITERAL("test"), .deadline_ms = 1000};
    (void)state;
    plugin.at[PLUGIN_STEP_queue_sort].key = 17;
    assert_int_equal(world_sort_key(world, &pod, &sorts), 17);
    plugin.fails[PLUGIN_STEP_queue_sort] = true;
    assert_int_equal(world_sort_key(world, &pod, &sorts), pod.priority);
}

static void failures_turn_away(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    plugin.fails[PLUGIN_STEP_filter] = true;
    try(&pod);
    assert_true(str_is(r.result, "unschedulable"));
    assert_non_null(strstr(r.message.at, "3 plugin \"test\" is not there"));
    plugin.fails[PLUGIN_STEP_filter] = false;
    plugin.at[PLUGIN_STEP_permit].verdict = STR_LITERAL("perhaps");
    try(&pod);
    expect_unschedulable("0/1 nodes are available: 1 plugin \"test\" answered with an unknown "
                         "verdict: \"perhaps\".");
    plugin.at[PLUGIN_STEP_permit].verdict = STR_LITERAL("wait");
    plugin.at[PLUGIN_STEP_permit].timeout_ms = -1;
    try(&pod);
    expect_unschedulable("0/1 nodes are available: 1 plugin \"test\" answered with a negative "
                         "timeout.");
    plugin.fails[PLUGIN_STEP_pre_enqueue] = true;
    try(&pod);
    assert_true(str_is(r.result, "gated"));
    assert_true(str_is(r.kept_why, "plugin \"test\" is not there"));
}

static int start_ignoring(void **state)
{
    *state = &plugin;
    return start(state);
}

static void failures_are_ignored(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    for (int i = 0; i <= PLUGIN_STEP_bind; i++)
        plugin.fails[i] = true;
    try(&pod);
    assert_true(str_is(r.result, "scheduled"));
    assert_true(str_is(r.node, "n3"));
}

static void nobody_is_asked_without_an_asker(void **state)
{
    const struct pod pod = pod_of("p", 1000);
    (void)state;
    world_ask_plugins(world, NULL);
    assert_false(world_asks(world, &pod));
    assert_true(str_is(world_decide(world, &pod)->node, "n3"));
    assert_null(world_answers(world));
    for (int i = 0; i <= PLUGIN_STEP_bind; i++)
        assert_int_equal(plugin.asked[i], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_against_it),
        TEST(refusals_and_scores_count),
        TEST(who_may_not_come_in_is_gated),
        TEST(only_these_nodes),
        TEST(turned_away_before_its_nodes),
        TEST(a_nomination_is_no_eviction),
        TEST(rejections_are_no_errors),
        TEST(keys_sort),
        TEST(failures_turn_away),
        TEST(nobody_is_asked_without_an_asker),
        cmocka_unit_test_setup_teardown(failures_are_ignored, start_ignoring, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
