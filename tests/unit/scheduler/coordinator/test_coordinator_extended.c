/* coordinator, extended resources that devices stand for: a bind says which claim is to be made;
 * what it is given is taken from the decision on, under whatever name it is seen later. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define EXTRA_SCORE      " {name=\"DynamicResources\" weight=2}"
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "post_filter=[\"DynamicResources\"] device_binding_timeout_ms=600000 "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define NOBODY "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable"

#define ASKED                                                                                      \
    "request=[{name=\"cpu\" amount=100} {name=\"x.io/gpu\" amount=1}] "                            \
    "extended_asks=[{resource=\"x.io/gpu\" container=\"c\" rank=1 amount=1}] "

static void attempt_for(const char *pod, const char *more, int cycle)
{
    say(queue,
        "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
        "scheduler_name=\"default-scheduler\" " ASKED
        "score_request=[{name=\"cpu\" amount=100}] usage=[{name=\"cpu\" amount=100} "
        "{name=\"x.io/gpu\" amount=1}] %s} attempts=1 cycle=%d",
        pod, pod, more, cycle);
}

/* A device on node a, and a class that stands for the resource. */
static void begin(void)
{
    lead(5);
    stream("device_class_set device_class={name=\"gpus\" extended_resource=\"x.io/gpu\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" "
           "pool_generation=1 pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"}]}");
}

static void assert_failed(const char *message)
{
    struct message m;
    if (!take(BINDER, MSG_pod_failed, &m))
        fail_msg("nobody failed");
    if (!str_is(m.pod_failed.message, message))
        fail_msg("said %.*s", STR_ARG(m.pod_failed.message));
}

static void assert_taken(const char *pod, int cycle)
{
    attempt_for(pod, "", cycle);
    assert_failed(NOBODY);
}

static void assert_given(const char *pod)
{
    struct message m;
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, pod));
    assert_int_equal(m.bind.extended.count, 1);
    assert_true(str_is(m.bind.extended.at[0].allocation.devices.at[0].device, "g0"));
}

static void bind_fails(const char *pod, const char *more)
{
    say(binder,
        "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"a\" "
        "plugin=\"DynamicResources\" message=\"it failed\" code=500 %s",
        pod, pod, more);
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
}

static void show_claim(const char *name, const char *pod, const char *device)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" uid=\"%s\" "
           "owner_uid=\"u-%s\" extended=true resource_version=2 allocated=true "
           "requests=[{name=\"container-0-request-1\" exactly=true asks=[{class_name=\"gpus\" "
           "count=1}]}] devices=[{request=\"container-0-request-1\" driver=\"d.example\" "
           "pool=\"a\" device=\"%s\"}]}",
           name, name, pod, device);
}

static void claim_goes(const char *name)
{
    stream("object_gone kind=\"ResourceClaim\" namespace_name=\"default\" name=\"%s\"", name);
}

/* ---- a decision ---- */

static void a_bind_says_what_is_to_be_made(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_for("p", "", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_true(m.bind.set_nominated);
    assert_int_equal(m.bind.device_timeout_ms, 600000);
    assert_int_equal(m.bind.allocations.count, 0);
    assert_int_equal(m.bind.extended.count, 1);
    const struct extended_claim *special = &m.bind.extended.at[0];
    assert_int_equal(special->requests.count, 1);
    assert_true(str_is(special->requests.at[0].name, "container-0-request-1"));
    assert_true(str_is(special->requests.at[0].asks.at[0].class_name, "gpus"));
    assert_int_equal(special->uses.count, 1);
    assert_true(str_is(special->uses.at[0].container, "c"));
    assert_true(str_is(special->uses.at[0].resource, "x.io/gpu"));
    assert_int_equal(special->allocation.claim.len + special->allocation.uid.len, 0);
    assert_int_equal(special->allocation.devices.count, 1);
    assert_true(str_is(special->allocation.devices.at[0].request, "container-0-request-1"));
    assert_true(special->allocation.has_terms);
    assert_taken("q", 2);
}

static void a_node_that_has_it_itself_needs_no_claim(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("node_set node={name=\"c\" allocatable=[{name=\"cpu\" amount=9000} {name=\"memory\" "
           "amount=8000000000} {name=\"pods\" amount=110} {name=\"x.io/gpu\" amount=1}]}");
    attempt_for("p", "", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "c"));
    assert_int_equal(m.bind.extended.count, 0);
    assert_true(m.bind.set_nominated);
    attempt_for("q", "", 2); /* there it is used up; the device is left */
    assert_given("q");
}

static void a_pod_that_asks_for_what_nobody_stands_for_is_as_ever(void **state)
{
    (void)state;
    begin();
    stream("device_class_set device_class={name=\"gpus\"}");
    attempt_for("p", "", 1);
    assert_failed("0/2 nodes are available: 2 Insufficient x.io/gpu. no new claims to deallocate");
}

/* What upstream makes of this is a claim that nothing uses, with which the bind fails. */
static void a_pod_with_claims_of_its_own_always_has_one(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"o\" uid=\"u-o\" "
           "resource_version=1 requests=[{name=\"r\" exactly=true asks=[{class_name=\"gpus\" "
           "count=1}]}]}");
    stream("node_set node={name=\"a\" allocatable=[{name=\"cpu\" amount=9000} {name=\"memory\" "
           "amount=8000000000} {name=\"pods\" amount=110} {name=\"x.io/gpu\" amount=1}]}");
    attempt_for("p", "device_claims=[{name=\"gpu\" claim=\"o\"}]", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_int_equal(m.bind.extended.count, 1);
    assert_int_equal(m.bind.extended.at[0].requests.count, 0);
    assert_int_equal(m.bind.extended.at[0].uses.count, 0);
}

/* ---- what is given back ---- */

static void a_failed_bind_gives_devices_back(void **state)
{
    (void)state;
    begin();
    attempt_for("p", "", 1);
    assert_given("p");
    bind_fails("p", "");
    attempt_for("q", "", 2);
    assert_given("q");
}

static void what_was_written_stays_until_the_watch_shows_it(void **state)
{
    (void)state;
    begin();
    attempt_for("p", "", 1);
    assert_given("p");
    bind_fails("p", "extended=\"x1\" extended_name=\"x1\" allocated=[\"x1\"]");
    assert_taken("q", 2);
    show_claim("x1", "p", "g0");
    assert_taken("q", 3);
    claim_goes("x1");
    attempt_for("q", "", 4);
    assert_given("q");
}

/* A bound pod's, seen before its answer came, or behind it: taken once, given back once. */
static void allocations_are_counted_once(void **state)
{
    (void)state;
    begin();
    for (int first = 0; first < 2; first++) {
        const char *pod = first == 0 ? "p" : "r";
        attempt_for(pod, "", first * 10 + 1);
        assert_given(pod);
        if (first == 0)
            show_claim("x1", pod, "g0");
        say(binder,
            "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"a\" "
            "bound=true code=201 extended=\"x1\" extended_name=\"x1\" allocated=[\"x1\"]",
            pod, pod);
        assert_taken("q", first * 10 + 2);
        show_claim("x1", pod, "g0");
        assert_taken("q", first * 10 + 3);
        claim_goes("x1");
    }
    attempt_for("q", "", 30);
    assert_given("q");
}

/* Of an earlier attempt; what it has is not what the present one was given. */
static void another_claim_of_the_pod_is_another(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" "
           "pool_generation=1 pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"} "
           "{name=\"g1\"}]}");
    attempt_for("p", "", 1);
    assert_given("p");
    bind_fails("p", "extended=\"x1\" extended_name=\"x1\" allocated=[\"x1\"]");
    attempt_for("p", "", 2); /* the watch has not shown it yet */
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.extended.at[0].allocation.devices.at[0].device, "g1"));
    show_claim("x2", "p", "g1");
    assert_taken("q", 3);
    claim_goes("x2");
    attempt_for("q", "", 4);
    assert_true(take(BINDER, MSG_bind, &m)); /* the other one is still taken */
    assert_true(str_is(m.bind.extended.at[0].allocation.devices.at[0].device, "g1"));
    show_claim("x1", "p", "g0");
    assert_taken("r", 5);
    claim_goes("x1");
    attempt_for("r", "", 6);
    assert_given("r");
}

static void a_claim_that_is_left_is_deleted_first(void **state)
{
    (void)state;
    struct message m;
    begin();
    show_claim("x1", "p", "g1");
    attempt_for("p", "", 1);
    assert_true(take(BINDER, MSG_claim_release, &m));
    assert_true(m.claim_release.what == CLAIM_delete);
    assert_true(str_is(m.claim_release.claim, "x1"));
    assert_true(str_is(m.claim_release.uid, "u-p"));
    assert_int_equal(m.claim_release.resource_version, 0);
    assert_false(take(BINDER, MSG_pod_failed, &m));
    say(binder,
        "claim_released what=\"delete\" uid=\"u-p\" namespace_name=\"default\" "
        "claim=\"x1\" claim_uid=\"x1\" done=true id=%lld",
        (long long)m.claim_release.id);
    assert_failed("0/2 nodes are available: 2 cannot schedule extended resource claim. deletion of "
                  "ResourceClaim completed");
    claim_goes("x1");
    attempt_for("p", "", 2);
    assert_given("p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bind_says_what_is_to_be_made, start, stop),
        cmocka_unit_test_setup_teardown(a_node_that_has_it_itself_needs_no_claim, start, stop),
        cmocka_unit_test_setup_teardown(a_pod_that_asks_for_what_nobody_stands_for_is_as_ever,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_pod_with_claims_of_its_own_always_has_one, start, stop),
        cmocka_unit_test_setup_teardown(a_failed_bind_gives_devices_back, start, stop),
        cmocka_unit_test_setup_teardown(what_was_written_stays_until_the_watch_shows_it, start,
                                        stop),
        cmocka_unit_test_setup_teardown(allocations_are_counted_once, start, stop),
        cmocka_unit_test_setup_teardown(another_claim_of_the_pod_is_another, start, stop),
        cmocka_unit_test_setup_teardown(a_claim_that_is_left_is_deleted_first, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
