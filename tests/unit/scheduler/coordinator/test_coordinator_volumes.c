/* coordinator, volumes: a bind carries what is to become of the claims, and whatever ends it badly
 * gives the volumes back. */
#define EXTRA_PRE_FILTER " \"VolumeBinding\""
#define EXTRA_FILTER     " \"VolumeBinding\""
#define POST_FILTER      "reserve=[\"VolumeBinding\"] pre_bind=[\"VolumeBinding\"] bind_timeout_s=77 "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define CLASS                                                                                      \
    "storage_class_set storage_class={name=\"s\" binding_mode=\"WaitForFirstConsumer\" "           \
    "provisioner=\"kubernetes.io/no-provisioner\"}"
#define VOLUME(version, more)                                                                      \
    "volume_set volume={name=\"v\" class_name=\"s\" phase=\"Available\" "                          \
    "resource_version=" #version " " more "}"

static void claim(const char *name)
{
    stream("claim_set claim={namespace_name=\"default\" name=\"%s\" uid=\"u-%s\" class_name=\"s\" "
           "resource_version=1}",
           name, name);
}

static void attempt_with(const char *pod, const char *claim_name, int cycle)
{
    char more[128];
    snprintf(more, sizeof(more), "volumes=[{kind=\"claim\" name=\"%s\"}]", claim_name);
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(pod, 100, more), cycle);
}

/* One volume, and two claims that want it. */
static void begin(void)
{
    lead(5);
    stream(CLASS);
    stream(VOLUME(1, ""));
    claim("c");
    claim("d");
}

static bool state_is(const char *pod, const char *text)
{
    struct message m;
    say((struct address){TOOL, 77}, "explain_request namespace_name=\"default\" name=\"%s\"", pod);
    assert_true(take(TOOL, MSG_explained, &m));
    return str_is(m.explained.state, text);
}

/* A volume may take minutes to be made, and the pod is not bound before. */
static void who_is_bound_says_what_its_claims_wait_for(void **state)
{
    (void)state;
    begin();
    stream("storage_class_set storage_class={name=\"t\" binding_mode=\"WaitForFirstConsumer\" "
           "provisioner=\"example.com/disk\"}");
    stream("claim_set claim={namespace_name=\"default\" name=\"e\" uid=\"u-e\" class_name=\"t\" "
           "resource_version=1}");
    attempt_with("p", "c", 1);
    attempt_with("q", "e", 2);
    attempt("r", 100, 3);
    assert_true(state_is("p", "is being bound, its claims to their volumes first"));
    assert_true(state_is("q", "is being bound, and waits for its volumes to be provisioned first"));
    assert_true(state_is("r", "is being bound"));
}

static void a_bind_says_what_becomes_of_the_claims(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.claims.count, 1);
    assert_true(str_is(m.bind.claims.at[0].name, "c"));
    assert_true(str_is(m.bind.claims.at[0].uid, "u-c"));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
    assert_int_equal(m.bind.bind_timeout_s, 77);
    assert_true(m.bind.set_nominated);
    attempt_with("q", "d", 2); /* the volume is taken */
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.message, "0/2 nodes are available: 2 node(s) didn't find "
                                             "available persistent volumes to bind."));
    attempt("r", 100, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.claims.count, 0);
    assert_false(m.bind.set_nominated);
    assert_int_equal(m.bind.bind_timeout_s, 0);
}

static void a_failed_bind_gives_the_volume_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "plugin=\"VolumeBinding\" message=\"binding volumes: timed out\"");
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(str_is(m.pod_failed.message,
                       "running PreBind plugin \"VolumeBinding\": binding volumes: timed out"));
    assert_int_equal(m.pod_failed.reason, REASON_scheduler_error);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    attempt_with("q", "d", 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].name, "d"));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

static void whoever_waits_for_a_volume_that_is_given_back_is_woken(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "plugin=\"VolumeBinding\" message=\"binding volumes: timed out\"");
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    assert_true(str_is(m.plugin_back.name, "VolumeBinding"));
}

/* Another instance has led meanwhile, and its binder wrote other volumes than ours would have. */
static void a_pod_that_somebody_else_bound_elsewhere_gives_the_volume_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    stream(
        "pod_set %s",
        pod_text("p", 100, str_is(m.bind.node_name, "a") ? "node_name=\"b\"" : "node_name=\"a\""));
    assert_true(take(BINDER, MSG_bind_cancel, &m));
    assert_true(str_is(m.bind_cancel.uid, "u-p"));
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    attempt_with("q", "d", 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

/* The same, but on the node that ours chose, too: then no newer version of the volume ever comes.
 */
static void a_pod_that_somebody_else_bound_there_gives_the_volume_back(void **state)
{
    (void)state;
    char on_node[64];
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    snprintf(on_node, sizeof(on_node), "node_name=\"%.*s\"", STR_ARG(m.bind.node_name));
    stream("pod_set %s", pod_text("p", 100, on_node));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "plugin=\"VolumeBinding\" message=\"lost leadership\"");
    attempt_with("q", "d", 2); /* it may still have been ours */
    assert_true(take(BINDER, MSG_pod_failed, &m));
    tick_after(9000);
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    tick_after(2000);
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    assert_true(str_is(m.plugin_back.name, "VolumeBinding"));
    attempt_with("q", "d", 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

/* Of a group, whose members want a claim each. */
static void attempt_group(int needed)
{
    char first[1024], second[1024];
    snprintf(first, sizeof(first), "%s",
             pod_text("g1", 100, "volumes=[{kind=\"claim\" name=\"c\"}]"));
    snprintf(second, sizeof(second), "%s",
             pod_text("g2", 100, "volumes=[{kind=\"claim\" name=\"d\"}]"));
    say(queue,
        "gang_attempt group={api=\"scheduling.x-k8s.io\" namespace_name=\"default\" name=\"g\" "
        "uid=\"g\" min_member=%d} needed=%d members=[{%s cycle=1} {%s cycle=2}]",
        needed, needed, first, second);
}

static void a_group_that_fails_gives_volumes_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_group(2); /* there is one volume */
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    attempt_with("q", "d", 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].name, "d"));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

static void a_group_that_is_placed_keeps_its_volumes(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("volume_set volume={name=\"w\" class_name=\"s\" phase=\"Available\" "
           "resource_version=1}");
    attempt_group(2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].name, "c"));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].name, "d"));
    claim("e");
    attempt_with("q", "e", 3);
    assert_false(take(BINDER, MSG_bind, &m));
}

static void a_bound_pod_keeps_its_volume(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_bound);
    attempt_with("q", "d", 2); /* before the watch shows what became of the volume */
    assert_true(take(BINDER, MSG_pod_failed, &m));
}

static void losing_leadership_gives_volumes_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder, "leadership leading=false lead_term=5");
    lead(6);
    attempt_with("q", "d", 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

/* A new term: what was not sent on is decided anew, and may get its volume again. */
static void a_new_term_reserves_anew(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    lead(6);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "p"));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

static void a_lost_bind_is_sent_again_with_its_claims(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    for (int i = 0; i < 3; i++)
        say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\"");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.claims.count, 1);
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

static void next_bind(const char *pod, uint32_t claims)
{
    struct message m;
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, pod));
    assert_int_equal(m.bind.claims.count, claims);
}

static void a_pod_that_is_gone_stops_waiting_for_volumes(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    attempt("r", 100, 2);
    stream("pod_gone uid=\"u-r\" namespace_name=\"default\" name=\"r\"");
    assert_false(take(BINDER, MSG_bind_cancel, &m));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    assert_true(take(BINDER, MSG_bind_cancel, &m));
    assert_true(str_is(m.bind_cancel.uid, "u-p"));
    assert_true(str_is(m.bind_cancel.node_name, "a"));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "plugin=\"VolumeBinding\" gone=true");
    attempt_with("q", "d", 3);
    next_bind("p", 1);
    next_bind("r", 0);
    next_bind("q", 1);
}

static void a_cycle_that_begins_again_sees_the_volume_as_it_is(void **state)
{
    (void)state;
    struct message m;
    begin();
    w.alive[0] = w.alive[1] = w.alive[2] = false; /* nobody answers yet */
    attempt_with("p", "c", 1);
    stream(VOLUME(2, ""));
    for (uint32_t k = 0; k < WORKERS; k++)
        die(k);
    join(0);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.claims.at[0].volume_name, "v"));
}

/* While the workers are asked the volume changes: upstream's Reserve finds it out of sync. */
static void a_volume_that_changes_during_the_decision_fails_the_attempt(void **state)
{
    (void)state;
    struct message m = {.pod_failed = {.reason = REASON_none}};
    begin();
    w.alive[0] = w.alive[1] = w.alive[2] = false;
    attempt_with("p", "c", 1);
    stream(VOLUME(2, ""));
    say((struct address){WORKER, 1}, "map_result cycle=1 round=1 feasible=1 evaluated=1 "
                                     "best_total=1 best_count=1 best_node=\"a\"");
    say((struct address){WORKER, 2}, "map_result cycle=1 round=1");
    say((struct address){WORKER, 3}, "map_result cycle=1 round=1");
    assert_false(take(BINDER, MSG_bind, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_int_equal(m.pod_failed.reason, REASON_scheduler_error);
    assert_true(str_is(m.pod_failed.message,
                       "running Reserve plugin \"VolumeBinding\": \"v\" is out of sync (stored: 2, "
                       "assume: 1)"));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    w.alive[0] = w.alive[1] = w.alive[2] = true;
    attempt_with("p", "c", 2);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.claims.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bind_says_what_becomes_of_the_claims, start, stop),
        cmocka_unit_test_setup_teardown(who_is_bound_says_what_its_claims_wait_for, start, stop),
        cmocka_unit_test_setup_teardown(a_failed_bind_gives_the_volume_back, start, stop),
        cmocka_unit_test_setup_teardown(whoever_waits_for_a_volume_that_is_given_back_is_woken,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            a_pod_that_somebody_else_bound_elsewhere_gives_the_volume_back, start, stop),
        cmocka_unit_test_setup_teardown(a_pod_that_somebody_else_bound_there_gives_the_volume_back,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_group_that_fails_gives_volumes_back, start, stop),
        cmocka_unit_test_setup_teardown(a_group_that_is_placed_keeps_its_volumes, start, stop),
        cmocka_unit_test_setup_teardown(a_bound_pod_keeps_its_volume, start, stop),
        cmocka_unit_test_setup_teardown(losing_leadership_gives_volumes_back, start, stop),
        cmocka_unit_test_setup_teardown(a_new_term_reserves_anew, start, stop),
        cmocka_unit_test_setup_teardown(a_lost_bind_is_sent_again_with_its_claims, start, stop),
        cmocka_unit_test_setup_teardown(a_pod_that_is_gone_stops_waiting_for_volumes, start, stop),
        cmocka_unit_test_setup_teardown(a_cycle_that_begins_again_sees_the_volume_as_it_is, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_volume_that_changes_during_the_decision_fails_the_attempt,
                                        start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
