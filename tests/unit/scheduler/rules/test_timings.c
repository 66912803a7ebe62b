/* test_timings: in a timed decision each call of a plugin is observed for the nodes that it was
 * about, with what it said of them; other decisions, and those without a clock, leave nothing. */
#include "tests/unit/scheduler/cluster.h"

#include "proto/base/moment.h"
#include "proto/metrics.h"

#define READING_NS 1000 /* the clock goes on by this each time it is read */

static struct moment now;

static struct moment read_clock(void)
{
    now.ns += READING_NS;
    return now;
}

/* The next decision is timed. */
static void time_next(struct cluster *c)
{
    shard_set_clock(c->shard, read_clock);
    shard_time_plugins(c->shard, read_clock);
}

static int start(void **state)
{
    metrics_reset();
    int failed = cluster_setup(state);
    struct cluster *c = *state;
    struct node *tainted = make_node(c, "tainted", 4000, 4 * GIB);
    add_taint(c, tainted, "k", "NoSchedule");
    /* rules that answer by row, so that classes are kept */
    c->profile.pre_filter = strs_of(&c->arena, "NodeAffinity NodePorts NodeResourcesFit");
    c->profile.filter = strs_of(&c->arena, "NodeUnschedulable NodeName TaintToleration "
                                           "NodeAffinity NodePorts NodeResourcesFit");
    begin(c);
    put_node(c, make_node(c, "big", 4000, 4 * GIB));
    put_node(c, make_node(c, "small", 100, 4 * GIB));
    put_node(c, make_node(c, "wide", 4000, 8 * GIB));
    put_node(c, tainted);
    return failed;
}

static int end(void **state)
{
    int failed = cluster_teardown(state);
    metrics_reset();
    return failed;
}

/* How many nodes were seen, and the sum of times. */
struct seen {
    int64_t nodes, ns;
};

static struct seen seen_of(const char *plugin, const char *point, const char *status)
{
    const struct series *s =
        metric_series(METRIC_scheduler_plugin_execution_duration_seconds,
                      METRIC_VALUES(str_of(plugin), str_of(point), str_of(status)));
    struct seen seen = {.ns = s->value};
    for (uint32_t i = 0; i <= metric_info(s->metric)->bucket_count; i++)
        seen.nodes += s->buckets[i];
    return seen;
}

#define ASSERT_SEEN(plugin, point, status, count)                                                  \
    assert_int_equal(seen_of(plugin, point, status).nodes, count)

/* As workers are asked: nobody wants to see every node. */
static struct map_result *decide(struct cluster *c, const struct pod *p)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct map_request request = {
        .cycle = 1, .round = 1, .step = MAP_STEP_map, .alone = true, .tie_break = TIE_BREAK_first};
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &request.pod,
                                                       .findings = &request.findings,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    return map_with(c, &request);
}

static int64_t parts_of(const struct map_result *r)
{
    const struct timed_parts *t = r->timed.at;
    return r->timed.count == 0 ? 0
                               : t->pre_filter_ns + t->filter_ns + t->pre_score_ns + t->score_ns;
}

static void node_by_node_each_plugin_is_seen_until_one_says_no(void **state)
{
    struct cluster *c = *state;
    time_next(c);
    struct map_result *r = map_pod(c, make_pod(c, "p", 1000, GIB));
    assert_int_equal(r->feasible, 2);
    ASSERT_SEEN("NodeName", "Filter", "Success", 4);
    ASSERT_SEEN("TaintToleration", "Filter", "Success", 3);
    ASSERT_SEEN("TaintToleration", "Filter", "UnschedulableAndUnresolvable", 1);
    ASSERT_SEEN("NodeResourcesFit", "Filter", "Success", 2);
    ASSERT_SEEN("NodeResourcesFit", "Filter", "UnschedulableAndUnresolvable", 1);
    ASSERT_SEEN("NodeResourcesFit", "Score", "Success", 2);
    assert_int_equal(seen_of("NodeName", "Filter", "Success").ns, 4 * READING_NS);
    assert_int_equal(parts_of(r), 0); /* its filters were a pass of their own */
}

static void a_loop_is_shared_by_its_nodes(void **state)
{
    struct cluster *c = *state;
    time_next(c);
    int64_t began = now.ns;
    struct map_result *r = decide(c, make_pod(c, "p", 1000, GIB));
    assert_int_equal(r->feasible, 2);
    ASSERT_SEEN("NodeUnschedulable", "Filter", "Success", 4);
    ASSERT_SEEN("TaintToleration", "Filter", "Success", 3);
    ASSERT_SEEN("TaintToleration", "Filter", "UnschedulableAndUnresolvable", 1);
    ASSERT_SEEN("NodeResourcesFit", "Score", "Success", 2);
    assert_int_equal(seen_of("TaintToleration", "Filter", "Success").ns, READING_NS * 3 / 4);
    ASSERT_SEEN("TaintToleration", "ScoreExtensionNormalize", "Success", 1);
    ASSERT_SEEN("NodeResourcesFit", "PreScore", "Success", 1);
    ASSERT_SEEN("NodeAffinity", "PreScore", "Skip", 1);
    ASSERT_SEEN("ImageLocality", "PreScore", "Success", 0); /* the profile does not list it there */
    assert_int_equal(r->timed.count, 1);
    const struct timed_parts *t = r->timed.at;
    assert_true(t->pre_filter_ns > 0 && t->filter_ns > 0 && t->pre_score_ns > 0 && t->score_ns > 0);
    /* from the first reading to the last */
    assert_int_equal(parts_of(r), now.ns - began - READING_NS);
}

static void of_kept_answers_only_the_nodes_that_changed_are_asked_about(void **state)
{
    struct cluster *c = *state;
    for (int i = 0; i < 3; i++)
        (void)decide(c, make_pod(c, "p", 1000, GIB));
    put_pod(c, make_pod(c, "other", 500, GIB), "big");
    metrics_reset();
    time_next(c);
    struct map_result *r = decide(c, make_pod(c, "p", 1000, GIB));
    assert_int_equal(r->feasible, 2);
    ASSERT_SEEN("NodeResourcesFit", "Filter", "Success", 1);
    ASSERT_SEEN("NodeResourcesFit", "Score", "Success", 1);
    ASSERT_SEEN("TaintToleration", "Filter", "UnschedulableAndUnresolvable", 0);
    assert_true(parts_of(r) > 0);
}

static void few_decisions_are_timed(void **state)
{
    struct cluster *c = *state;
    const int decisions = 3200;
    int64_t timed = 0;
    time_next(c);
    for (int i = 0; i < decisions; i++) /* none like another */
        timed += parts_of(decide(c, make_pod(c, "p", 200 + i, GIB))) > 0;
    assert_in_range(timed, decisions / 64, decisions / 16);
    ASSERT_SEEN("NodeUnschedulable", "Filter", "Success", 4 * timed);
}

static void nothing_is_timed_without_a_clock(void **state)
{
    struct cluster *c = *state;
    assert_int_equal(parts_of(decide(c, make_pod(c, "p", 1000, GIB))), 0);
    time_next(c);
    shard_time_plugins(c->shard, NULL);
    assert_int_equal(parts_of(decide(c, make_pod(c, "p", 1000, GIB))), 0);
    ASSERT_SEEN("NodeUnschedulable", "Filter", "Success", 0);
}

#define IN_CLUSTER(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CLUSTER(node_by_node_each_plugin_is_seen_until_one_says_no),
        IN_CLUSTER(a_loop_is_shared_by_its_nodes),
        IN_CLUSTER(of_kept_answers_only_the_nodes_that_changed_are_asked_about),
        IN_CLUSTER(few_decisions_are_timed),
        IN_CLUSTER(nothing_is_timed_without_a_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
