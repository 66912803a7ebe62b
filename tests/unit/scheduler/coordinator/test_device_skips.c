/* coordinator, devices that are only for nodes that can do without operations of their driver: with
 * the gate, without it, and where another alpha gate has the allocator look at them. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "device_binding_timeout_ms=600000 "
#define EXTRA_PROFILE " features={release=37 device_shares=true device_skips=true}"
#define PROFILE(name, gates)                                                                       \
    " {scheduler_name=\"" name "\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "        \
    "filter=[\"NodeResourcesFit\" \"DynamicResources\"] reserve=[\"DynamicResources\"] "           \
    "pre_bind=[\"DynamicResources\"] features={" gates "}}"
#define MORE_PROFILES                                                                              \
    PROFILE("without", "release=37 device_shares=true")                                            \
    PROFILE("other", "release=37 device_shares=true device_derived=true")                          \
    PROFILE("elder", "release=36 device_shares=true")
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void show_node(const char *name, const char *more)
{
    stream("node_set node={name=\"%s\" allocatable=[{name=\"cpu\" amount=4000} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}] %s}",
           name, more);
}

/* A device that any node reaches, and a claim that wants one. */
static void begin(void)
{
    lead(5);
    stream("device_class_set device_class={name=\"any\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"p\" pool_generation=1 "
           "pool_slices=1 all_nodes=true devices=[{name=\"x\"}] skips=[\"*\"]}");
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "resource_version=1 requests=[{name=\"r\" exactly=true asks=[{name=\"r\" "
           "class_name=\"any\" mode=\"ExactCount\" count=1}]}]}");
}

static void allocated(void)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "resource_version=2 allocated=true devices=[{request=\"r\" driver=\"d.example\" "
           "pool=\"p\" device=\"x\" skips=[\"*\"]}]}");
}

static void attempt_as(const char *scheduler)
{
    say(queue,
        "attempt pod={uid=\"u-q\" namespace_name=\"default\" name=\"q\" scheduler_name=\"%s\" "
        "device_claims=[{name=\"g\" claim=\"c\"}]} attempts=1 cycle=1",
        scheduler);
}

static void fails_with(const char *text)
{
    struct message m;
    if (!take(BINDER, MSG_pod_failed, &m))
        fail_msg("nobody failed");
    const struct str said = m.pod_failed.message;
    if (memmem(said.at, said.len, text, strlen(text)) == NULL)
        fail_msg("%s is not in %.*s", text, STR_ARG(said));
}

/* It is bound to the node (NULL: any), with what the device can do without if it is said. */
static void binds(const char *node_name, bool skips)
{
    struct message m;
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(node_name == NULL || str_is(m.bind.node_name, node_name));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_int_equal(m.bind.allocations.at[0].devices.at[0].skips.count, skips);
}

static void a_node_has_to_declare_that_it_can(void **state)
{
    (void)state;
    begin();
    attempt_as("default-scheduler");
    fails_with("2 cannot allocate all claims");
    show_node("b", "features=[\"Another\"]");
    attempt_as("default-scheduler");
    fails_with("2 cannot allocate all claims");
    show_node("b", "features=[\"Another\" \"DRAOptionalNodeOperations\"]");
    attempt_as("default-scheduler");
    binds("b", true);
}

/* The allocator that the default gates choose does not look at it; the one that other alpha gates
 * choose gives it to nobody. */
static void without_the_gate(void **state)
{
    (void)state;
    begin();
    show_node("b", "features=[\"DRAOptionalNodeOperations\"]");
    attempt_as("other");
    fails_with("2 cannot allocate all claims");
    attempt_as("without");
    binds(NULL, false);
}

/* What a claim has been given already counts without the gate as well, in 1.37. */
static void a_claim_that_has_such_a_device(void **state)
{
    (void)state;
    struct message m;
    begin();
    allocated();
    attempt_as("without");
    fails_with("2 resourceclaim not available on the node");
    show_node("b", "features=[\"DRAOptionalNodeOperations\"]");
    attempt_as("without");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "b"));
}

static void knows_nothing_of_it_in_1_36(void **state)
{
    (void)state;
    struct message m;
    begin();
    allocated();
    attempt_as("elder");
    assert_true(take(BINDER, MSG_bind, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_has_to_declare_that_it_can, start, stop),
        cmocka_unit_test_setup_teardown(without_the_gate, start, stop),
        cmocka_unit_test_setup_teardown(a_claim_that_has_such_a_device, start, stop),
        cmocka_unit_test_setup_teardown(knows_nothing_of_it_in_1_36, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
