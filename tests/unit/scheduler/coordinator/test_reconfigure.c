/* test_reconfigure: another configuration while the coordinator runs: no decision mixes two of
 * them, and all are told. */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

/* As the world's profile, but the fullest node is the best. */
static const char *const most_allocated =
    "shard_reset profiles=[{scheduler_name=\"default-scheduler\" "
    "pre_filter=[\"NodeResourcesFit\"] filter=[\"NodeUnschedulable\" \"NodeResourcesFit\"] "
    "score=[{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"MostAllocated\" "
    "fit_resources=[{name=\"cpu\" amount=1} {name=\"memory\" amount=1}]}]";

static void reconfigure(const char *profiles)
{
    struct outbox out = {0};
    struct message m = message(profiles);
    struct coordinator_config config = {.profiles = m.shard_reset.profiles.at,
                                        .profile_count = m.shard_reset.profiles.count,
                                        .hash = 42,
                                        .backoff_initial_s = 3,
                                        .backoff_max_s = 30};
    coordinator_reconfigure(w.coordinator, w.now, &config, &out);
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

/* Nothing is scored and a percentage is set: the first feasible node is taken, from where the last
 * walk ended. */
static const char *const first_that_fits =
    "shard_reset profiles=[{scheduler_name=\"default-scheduler\" "
    "pre_filter=[\"NodeResourcesFit\"] filter=[\"NodeUnschedulable\" \"NodeResourcesFit\"] "
    "percentage_of_nodes_to_score=50}]";

static void expect_bind(const char *node_name)
{
    struct message m = {.type = MSG_none};
    assert_true(take(BINDER, MSG_bind, &m));
    if (!str_is(m.bind.node_name, node_name))
        fail_msg("bound on %.*s, not on %s", STR_ARG(m.bind.node_name), node_name);
}

static void a_walk_over_the_nodes_begins_where_the_last_one_ended(void **state)
{
    (void)state;
    lead(5);
    reconfigure(first_that_fits);
    attempt("p", 100, 1);
    expect_bind("a");
    attempt("q", 100, 2);
    expect_bind("b");
    attempt("r", 100, 3);
    expect_bind("a");
    attempt("s", 100000, 4); /* fits nowhere: a walk over all nodes, back to where it began */
    attempt("t", 100, 5);
    expect_bind("b");
}

static void what_is_decided_behind_a_change_is_decided_with_the_new_profiles(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 500, 1);
    expect_bind("a");
    reconfigure(most_allocated);
    attempt("q", 1000, 2);
    expect_bind("b"); /* the smaller node gets fuller */
}

static void a_decision_under_way_begins_again_with_the_new_profiles(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    for (uint32_t k = 0; k < WORKERS; k++)
        w.alive[k] = false; /* they have been asked and do not answer */
    attempt("p", 500, 1);
    assert_false(take(BINDER, MSG_bind, &m));
    for (uint32_t k = 0; k < WORKERS; k++)
        w.alive[k] = true;
    reconfigure(most_allocated);
    expect_bind("b");
    assert_false(take(BINDER, MSG_bind, &m)); /* once */
}

static void workers_and_queue_are_told_the_generation(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    struct buffer lines = {0};
    lead(5);
    reconfigure(most_allocated);
    assert_true(take(QUEUE, MSG_queue_config, &m));
    assert_int_equal(m.queue_config.generation, 2);
    assert_int_equal(m.queue_config.hash, 42);
    assert_int_equal(m.queue_config.backoff_max_s, 30);
    assert_int_equal(m.queue_config.profiles.count, 1);
    worker_status(w.workers[0], &lines);
    assert_non_null(strstr(lines.at, "config_generation=2\nconfig_hash=000000000000002a\n"));
    buffer_reset(&lines);
    coordinator_config_refused(w.coordinator);
    coordinator_status(w.coordinator, &lines);
    assert_non_null(strstr(lines.at, "config_generation=2\nconfig_hash=000000000000002a\n"));
    assert_non_null(strstr(lines.at, "configs_refused=1\n"));
    buffer_free(&lines);
}

static void a_pod_whose_profile_is_gone_is_skipped(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    lead(5);
    reconfigure("shard_reset profiles=[{scheduler_name=\"other\"}]");
    attempt("p", 500, 1);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_skipped);
    assert_false(take(BINDER, MSG_bind, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_walk_over_the_nodes_begins_where_the_last_one_ended,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            what_is_decided_behind_a_change_is_decided_with_the_new_profiles, start, stop),
        cmocka_unit_test_setup_teardown(a_decision_under_way_begins_again_with_the_new_profiles,
                                        start, stop),
        cmocka_unit_test_setup_teardown(workers_and_queue_are_told_the_generation, start, stop),
        cmocka_unit_test_setup_teardown(a_pod_whose_profile_is_gone_is_skipped, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
