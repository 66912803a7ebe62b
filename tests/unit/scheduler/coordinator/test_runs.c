/* test_runs: pods whom rules count for, placed by several workers in one exchange. The same pods
 * are given to a coordinator with two workers and to one with a single worker that decides one at a
 * time; and a worker that says nonsense is not believed. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define NODES 24
#define PODS  24

static const char spread_hard[] =
    "labels=[{key=\"app\" value=\"web\"}] has_spread=true spread=[{max_skew=1 "
    "topology_key=\"topology.kubernetes.io/zone\" when_unsatisfiable=\"DoNotSchedule\" "
    "selector={present=true labels=[{key=\"app\" value=\"web\"}]}}]";
static const char of_service[] = "labels=[{key=\"app\" value=\"web\"}]";
#define TERM(key)                                                                                  \
    "[{selector={present=true labels=[{key=\"app\" value=\"web\"}]} namespaces=[\"default\"] "     \
    "topology_key=\"" key "\" weight=10}]"
static const char host_anti[] =
    "labels=[{key=\"app\" value=\"web\"}] anti_affinity_required=" TERM("kubernetes.io/hostname");
static const char zone_anti[] = "labels=[{key=\"app\" value=\"web\"}] "
                                "anti_affinity_required=" TERM("topology.kubernetes.io/zone");
static const char zone_with[] = "labels=[{key=\"app\" value=\"web\"}] "
                                "affinity_required=" TERM("topology.kubernetes.io/zone");
static const char host_with[] =
    "labels=[{key=\"app\" value=\"web\"}] affinity_required=" TERM("kubernetes.io/hostname");
static const char host_soft[] = "labels=[{key=\"app\" value=\"web\"}] "
                                "anti_affinity_preferred=" TERM("kubernetes.io/hostname");
/* Of no Service, or they would have to spread as well. */
static const char host_near[] =
    "labels=[{key=\"app\" value=\"db\"}] affinity_preferred=[{selector={present=true "
    "labels=[{key=\"app\" value=\"db\"}]} namespaces=[\"default\"] "
    "topology_key=\"kubernetes.io/hostname\" weight=10}]";
static struct side *many, *one;

static void add_nodes(struct side *s)
{
    static const char *const zones[] = {"x", "y", "z"};
    for (int i = 0; i < NODES; i++)
        sees(s,
             "node_set node={name=\"n%02d\" labels=[{key=\"kubernetes.io/hostname\" "
             "value=\"n%02d\"} {key=\"topology.kubernetes.io/zone\" value=\"%s\"}] "
             "allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=8589934592} "
             "{name=\"pods\" amount=110}]}",
             i, i, zones[i % 3], 1000 + 250 * (i % 4));
    sees(s, "owner_set owner={kind=\"Service\" namespace_name=\"default\" name=\"web\" "
            "selector={present=true labels=[{key=\"app\" value=\"web\"}]}}");
}

static int start(void **state)
{
    (void)state;
    clock_step_us = 0;
    many = side_new(0, TIE_BREAK_first);
    other_begins(many);
    one = side_new(1, TIE_BREAK_first);
    add_nodes(many);
    add_nodes(one);
    side_begins(many);
    side_begins(one);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    side_free(&many);
    side_free(&one);
    return 0;
}

static void attempt(struct side *s, int i, const char *more)
{
    hear(s, queue,
         "attempt pod={uid=\"u%d\" namespace_name=\"default\" name=\"p%d\" "
         "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=200}] "
         "score_request=[{name=\"cpu\" amount=200} {name=\"memory\" amount=209715200}] "
         "usage=[{name=\"cpu\" amount=200}] usage_score_cpu=200 usage_score_memory=209715200 "
         "container_count=1 %s} attempts=1 cycle=%d",
         i, i, more, i + 1);
}

/* Both place them alike. Returns how many went in grouped runs. */
static long place(const char *more, int count)
{
    forget_told(many);
    forget_told(one);
    for (int i = 0; i < count; i++) {
        attempt(many, i, more);
        attempt(one, i, more);
    }
    settle(many);
    settle(one);
    for (int i = 0; said(one, MSG_bind, i) != NULL || said(many, MSG_bind, i) != NULL; i++) {
        assert_non_null(said(one, MSG_bind, i));
        assert_non_null(said(many, MSG_bind, i));
        assert_string_equal(said(many, MSG_bind, i), said(one, MSG_bind, i));
    }
    return counter(many, "run_grouped_pods");
}

static void pods_of_a_service_run(void **state)
{
    (void)state;
    assert_true(place(of_service, PODS) > PODS / 2);
}

static void so_do_those_that_must_spread_over_zones(void **state)
{
    (void)state;
    assert_true(place(spread_hard, PODS) > PODS / 2);
}

static void so_do_those_that_keep_apart_by_host(void **state)
{
    (void)state;
    assert_true(place(host_anti, PODS) > PODS / 2);
    assert_non_null(said(many, MSG_bind, NODES - 1));
    assert_null(said(many, MSG_bind, NODES));
}

static void or_would_rather(void **state)
{
    (void)state;
    assert_true(place(host_soft, PODS) > PODS / 2);
}

static void so_do_those_that_want_one_zone(void **state)
{
    (void)state;
    assert_true(place(zone_with, PODS) > PODS / 2);
}

/* The first settles where the others go, on whosever nodes. */
static void those_that_want_one_host_find_it(void **state)
{
    (void)state;
    (void)place(host_with, 6);
    assert_non_null(said(many, MSG_bind, 0));
}

/* Each makes the range of scores wider, and its own node better still, until that is full. */
static void those_that_would_like_one_host_follow_each_other(void **state)
{
    (void)state;
    (void)place(host_near, 1);
    long runs = counter(many, "runs");
    forget_told(many);
    forget_told(one);
    for (int i = 1; i < PODS; i++) {
        attempt(many, i, host_near);
        attempt(one, i, host_near);
    }
    settle(many);
    settle(one);
    for (int i = 0; i < PODS - 1; i++)
        assert_string_equal(said(many, MSG_bind, i), said(one, MSG_bind, i));
    assert_true(counter(many, "run_risen_pods") > PODS / 4);
    runs = counter(many, "runs") - runs;
    assert_true(counter(many, "run_grouped_pods") / runs >= 2);
}

static long raise_everywhere(struct map_run_result *said, struct extreme *raised)
{
    long places = 0;
    for (uint32_t g = 0; g < said->groups.count; g++)
        for (uint32_t i = 0; i < said->groups.at[g].places.count; i++, places++) {
            said->groups.at[g].places.at[i].raised.count = 1;
            said->groups.at[g].places.at[i].raised.at = raised;
        }
    return places;
}

/* What the range is then is not known: a pod may be placed, and the next one is asked about. */
static void a_range_that_nobody_knows_ends_a_run(void **state)
{
    (void)state;
    struct extreme strange[] = {{STR_LITERAL("None"), 0, 5},
                                {STR_LITERAL("TaintToleration"), 0, 5}};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        (void)place(host_near, 6);
        forget_told(many);
        long pods = counter(many, "run_grouped_pods"), places = 0;
        for (int k = 6; k < 12; k++)
            attempt(many, k, host_near);
        tick(many);
        work(many);
        for (int left = 2; left > 0; left--) {
            struct message m;
            assert_true(outbox_get(&many->answered, 0, &m, &many->arena));
            assert_int_equal(m.type, MSG_map_run_result);
            places += raise_everywhere(&m.map_run_result, &strange[i]);
            hears(many, many->answered.at[0].to, &m, false);
            (void)answer(many, 1); /* late */
        }
        assert_true(places > 0);
        tick(many);
        assert_true(counter(many, "run_grouped_pods") - pods <= 1);
        settle(many);
        for (int k = 0; k < 6; k++)
            assert_non_null(said(many, MSG_bind, k));
        stop(NULL);
        start(NULL);
    }
}

static void each_zone_takes_one_that_keeps_apart_there(void **state)
{
    (void)state;
    (void)place(zone_anti, 5);
    assert_non_null(said(many, MSG_bind, 2));
    assert_null(said(many, MSG_bind, 3));
}

/* The next places that the workers name are known to be some of these pods' by now. */
static void one_exchange_places_many(void **state)
{
    (void)state;
    (void)place(spread_hard, PODS);
    long runs = counter(many, "runs"), pods = counter(many, "run_grouped_pods");
    forget_told(many);
    for (int i = PODS; i < 2 * PODS; i++)
        attempt(many, i, spread_hard);
    settle(many);
    runs = counter(many, "runs") - runs;
    pods = counter(many, "run_grouped_pods") - pods;
    assert_true(pods >= PODS - 2);
    assert_true(pods / runs >= 4);
}

/* ---- many pods ---- */

/* Small ones, that nobody tells apart and no node is ever full of. */
static void attempt_small(struct side *s, int from, int count)
{
    for (int i = from; i < from + count; i++)
        hear(s, queue,
             "attempt pod={uid=\"u%d\" namespace_name=\"default\" name=\"p%d\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=10}] "
             "score_request=[{name=\"cpu\" amount=10} {name=\"memory\" amount=1048576}] "
             "usage=[{name=\"cpu\" amount=10}] usage_score_cpu=10 usage_score_memory=1048576 "
             "container_count=1} attempts=1 cycle=%d",
             i, i, i + 1);
}

/* To each worker it is as long as with one. */
static void the_more_workers_the_longer_a_run(void **state)
{
    (void)state;
    attempt_small(many, 0, 64);
    settle(many);
    long runs = counter(many, "runs"), pods = counter(many, "run_pods");
    attempt_small(many, 64, 128);
    settle(many);
    assert_int_equal(counter(many, "runs") - runs, 1);
    assert_int_equal(counter(many, "run_pods") - pods, 128);
    other_begins(many);
    tick(many);
    work(many);
    attempt_small(many, 192, 128);
    settle(many);
    runs = counter(many, "runs");
    attempt_small(many, 320, 192);
    settle(many);
    assert_int_equal(counter(many, "runs") - runs, 1);
}

/* What has been said when the coordinator wants it to be sent at once. */
static struct {
    int times, runs, ends, binds;
} said_by_then;

static void look_at_what_is_said(void *context)
{
    const struct outbox *out = context;
    said_by_then.times++;
    for (size_t i = 0; i < out->count; i++) {
        said_by_then.runs += out->at[i].type == MSG_map_run;
        said_by_then.ends += out->at[i].type == MSG_map_run_end;
        said_by_then.binds += out->at[i].type == MSG_bind;
    }
}

/* The last answer of all workers arrives. */
static void last_answer_arrives(struct side *s)
{
    struct outbox out = {.send = look_at_what_is_said, .context = &out};
    struct message m;
    assert_int_equal(s->answered.count, 1);
    assert_true(outbox_get(&s->answered, 0, &m, &s->arena));
    assert_int_equal(m.type, MSG_map_run_result);
    struct delivery in = {.from = s->answered.at[0].to, .message = &m};
    coordinator_handle(s->coordinator, s->now, &in, &out);
    outbox_reset(&s->answered);
    route(s, &out);
}

static void workers_go_on_before_a_run_is_concluded(void **state)
{
    (void)state;
    memset(&said_by_then, 0, sizeof(said_by_then));
    attempt_small(many, 0, 64 + 10);
    tick(many);
    work(many);
    (void)answer(many, 1);
    assert_int_equal(counter(many, "runs_followed"), 0);
    last_answer_arrives(many);
    assert_int_equal(counter(many, "runs_followed"), 1);
    assert_int_equal(said_by_then.times, 1);
    assert_int_equal(said_by_then.ends, 2);
    assert_int_equal(said_by_then.runs, 2);
    assert_int_equal(said_by_then.binds, 0);
    assert_non_null(said(many, MSG_bind, 63));
    assert_null(said(many, MSG_bind, 64));
    settle(many);
    assert_non_null(said(many, MSG_bind, 73));
}

/* They would be asked on a state that they have not heard of. */
static void but_not_when_they_are_to_hear_of_something(void **state)
{
    (void)state;
    memset(&said_by_then, 0, sizeof(said_by_then));
    attempt_small(many, 0, 64 + 10);
    tick(many);
    work(many);
    (void)answer(many, 1);
    sees(many, "pod_set pod={uid=\"other\" namespace_name=\"default\" name=\"other\" "
               "node_name=\"n03\" request=[{name=\"cpu\" amount=100}]}");
    last_answer_arrives(many);
    assert_int_equal(counter(many, "runs_followed"), 0);
    assert_int_equal(said_by_then.times, 0);
    settle(many);
    assert_non_null(said(many, MSG_bind, 73));
}

/* Nobody has a lower priority than the last pod before those in front of it are placed. */
static void who_comes_behind_a_run_may_preempt_its_pods(void **state)
{
    (void)state;
    for (int i = 0; i < 64 + 1; i++) {
        struct side *const sides[] = {many, one};
        for (int k = 0; k < 2; k++)
            hear(sides[k], queue,
                 "attempt pod={uid=\"u%d\" namespace_name=\"default\" name=\"p%d\" "
                 "scheduler_name=\"default-scheduler\" priority=%d "
                 "request=[{name=\"cpu\" amount=%d}] score_request=[{name=\"cpu\" amount=10} "
                 "{name=\"memory\" amount=1048576}] usage=[{name=\"cpu\" amount=%d}] "
                 "usage_score_cpu=10 usage_score_memory=1048576 container_count=1} attempts=1 "
                 "cycle=%d",
                 i, i, i < 64 ? -10 : 0, i < 64 ? 10 : 1750, i < 64 ? 10 : 1750, i + 1);
    }
    tick(many);
    work(many);
    (void)answer(many, 1);
    last_answer_arrives(many);
    settle(many);
    settle(one);
    assert_non_null(said(many, MSG_bind, 63));
    assert_null(said(many, MSG_bind, 64));
    assert_non_null(said(one, MSG_preempt, 0));
    assert_non_null(said(many, MSG_preempt, 0));
    assert_string_equal(said(many, MSG_preempt, 0), said(one, MSG_preempt, 0));
}

/* ---- a worker that says nonsense ---- */

static void nonsense_makes_pods_go_alone(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "feasible=-1",
        "feasible=1",
        "feasible=1 groups=[{passing=1}]",
        "feasible=1 rules=[{plugin=\"PodTopologySpread\" groups=true}] groups=[{passing=1}]",
        "feasible=1 rules=[{plugin=\"PodTopologySpread\" groups=true}] "
        "counts=[{plugin=\"PodTopologySpread\"}] groups=[{passing=1 own=[{count=0}] "
        "places=[{node=\"n00\" total=1 ties=1 not_put=true}]}]",
        "feasible=1 rules=[{plugin=\"None\" groups=true}] counts=[{plugin=\"None\"}] "
        "groups=[{passing=1 places=[{node=\"n00\" total=1 ties=1 not_put=true}]}]",
        "feasible=1 rules=[{plugin=\"PodTopologySpread\"}] counts=[{plugin=\"PodTopologySpread\" "
        "counts=[{slot=9 key=\"kubernetes.io/hostname\" whole=true count=1}]}] "
        "groups=[{passing=1 places=[{node=\"n00\" total=1 ties=1 not_put=true}]}]",
        "feasible=1 rules=[{} {} {} {} {}] counts=[{} {} {} {} {}]"};
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        (void)place(spread_hard, PODS);
        forget_told(many);
        for (int k = PODS; k < PODS + 4; k++)
            attempt(many, k, spread_hard);
        tick(many);
        struct message m;
        assert_true(outbox_get(&many->asked, many->asked.count - 1, &m, &many->arena));
        assert_int_equal(m.type, MSG_map_run);
        assert_true(m.map_run.grouped);
        long long cycle = (long long)m.map_run.request.cycle;
        hear(many, (struct address){WORKER, many->worker_peer},
             "map_run_result cycle=%lld round=1 %s", cycle, nonsense[i]);
        work(many);
        (void)answer(many, 1); /* late */
        (void)answer(many, 1);
        assert_null(said(many, MSG_bind, 0));
        settle(many);
        assert_non_null(said(many, MSG_bind, 3));
        stop(NULL);
        start(NULL);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(pods_of_a_service_run),
        TEST(so_do_those_that_must_spread_over_zones),
        TEST(so_do_those_that_keep_apart_by_host),
        TEST(or_would_rather),
        TEST(so_do_those_that_want_one_zone),
        TEST(those_that_want_one_host_find_it),
        TEST(those_that_would_like_one_host_follow_each_other),
        TEST(a_range_that_nobody_knows_ends_a_run),
        TEST(each_zone_takes_one_that_keeps_apart_there),
        TEST(one_exchange_places_many),
        TEST(the_more_workers_the_longer_a_run),
        TEST(workers_go_on_before_a_run_is_concluded),
        TEST(but_not_when_they_are_to_hear_of_something),
        TEST(who_comes_behind_a_run_may_preempt_its_pods),
        TEST(nonsense_makes_pods_go_alone),
    };
    log_set_level(LOG_LEVEL_error); /* what happens here is worth a line, but not hundreds */
    return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
