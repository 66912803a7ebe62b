/* coordinator, NominatedNodeNameForExpectation off: a pod whose claims take a while is bound as any
 * other, one that waits for permission waits, and nobody is told before where it will be. */
#define EXTRA_PRE_FILTER " \"VolumeBinding\""
#define EXTRA_FILTER     " \"VolumeBinding\""
#define POST_FILTER      "reserve=[\"VolumeBinding\"] pre_bind=[\"VolumeBinding\"] bind_timeout_s=77 "
#define EXTRA_PROFILE    " features={release=36}"
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"gate\" pre_filter=[\"NodeResourcesFit\"] filter=[\"NodeResourcesFit\"] "   \
    "fit_strategy=\"LeastAllocated\" fit_resources=[{name=\"cpu\" amount=1}] "                     \
    "score=[{name=\"NodeResourcesFit\" weight=1}] permit=[\"P\"] "                                 \
    "bus_plugins=[{name=\"P\" deadline_ms=500 permit_timeout_ms=60000 facts=\"All\"}]}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void nobody_is_told_before_the_bind(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("storage_class_set storage_class={name=\"s\" binding_mode=\"WaitForFirstConsumer\" "
           "provisioner=\"kubernetes.io/no-provisioner\"}");
    stream("volume_set volume={name=\"v\" class_name=\"s\" phase=\"Available\" "
           "resource_version=1}");
    stream("claim_set claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" class_name=\"s\" "
           "resource_version=1}");
    say(queue, "attempt %s attempts=1 cycle=1",
        pod_text("p", 100, "volumes=[{kind=\"claim\" name=\"c\"}]"));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.claims.count, 1);
    assert_false(m.bind.set_nominated);
}

static void nobody_is_told_while_it_waits_for_permission(void **state)
{
    (void)state;
    static const struct address plugin = { PLUGIN, 201 };
    struct message m;
    lead(5);
    say(plugin, "peer_up process=\"plugin\" instance=\"P\"");
    say(queue,
        "attempt pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" scheduler_name=\"gate\"} "
        "attempts=1 cycle=1");
    assert_true(take(PLUGIN, MSG_plugin_ask, &m));
    say(plugin, "plugin_answer id=%lld verdict=\"wait\"", (long long)m.plugin_ask.id);
    assert_false(take(BINDER, MSG_nominate, &m));
    say(plugin, "plugin_permit uid=\"u-p\" allow=true");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_false(m.bind.set_nominated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_is_told_before_the_bind, start, stop),
        cmocka_unit_test_setup_teardown(nobody_is_told_while_it_waits_for_permission, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
