/* coordinator, gates of devices: without DRAExtendedResource no class stands for a resource,
 * without DRADeviceBindingConditions a bind waits for no device, and says so. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "device_binding_timeout_ms=600000 "
#define EXTRA_PROFILE " features={release=36 device_shares=true}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void no_class_stands_for_a_resource_without_the_gate(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("device_class_set device_class={name=\"gpu\" extended_resource=\"example.com/gpu\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" pool_generation=1 "
           "pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"}]}");
    say(queue,
        "attempt pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" "
        "scheduler_name=\"default-scheduler\" request=[{name=\"example.com/gpu\" amount=1}] "
        "extended_asks=[{container=\"c\" resource=\"example.com/gpu\" amount=1}]} attempts=1 "
        "cycle=1");
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_non_null(memmem(m.pod_failed.message.at, m.pod_failed.message.len,
                           "2 Insufficient example.com/gpu", 30));
}

static void a_bind_waits_for_no_device_without_the_gate(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("device_class_set device_class={name=\"gpu\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" pool_generation=1 "
           "pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"}]}");
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "requests=[{name=\"r\" exactly=true asks=[{name=\"r\" class_name=\"gpu\" "
           "mode=\"ExactCount\" count=1}]}]}");
    say(queue, "attempt %s attempts=1 cycle=1",
        pod_text("p", 100, "device_claims=[{name=\"gpu\" claim=\"c\"}]"));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_int_equal(m.bind.device_timeout_ms, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_class_stands_for_a_resource_without_the_gate, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_bind_waits_for_no_device_without_the_gate, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
