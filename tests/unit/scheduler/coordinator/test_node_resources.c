/* coordinator, devices that take of their node's own resources: what is refused for it, what the
 * binder is to say of it, and what the next pod finds; as 1.37 and, in a profile of its own, 1.36.
 */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "device_binding_timeout_ms=600000 "
#define GATES                                                                                      \
    "device_node_resources=true device_shares=true pod_level_resources=true "                      \
    "pod_level_resizes=true"
#define EXTRA_PROFILE " features={release=37 " GATES "}"
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"elder\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "           \
    "filter=[\"NodeResourcesFit\" \"DynamicResources\"] reserve=[\"DynamicResources\"] "           \
    "pre_bind=[\"DynamicResources\"] features={release=36 " GATES "}}"                             \
    " {scheduler_name=\"without\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "         \
    "filter=[\"NodeResourcesFit\" \"DynamicResources\"] reserve=[\"DynamicResources\"] "           \
    "pre_bind=[\"DynamicResources\"] features={release=37 device_shares=true}}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

/* Node a has a device that is a core, and costs a tenth of one for each container; of 1.36 too. */
static void begin(void)
{
    lead(5);
    stream("device_class_set device_class={name=\"core\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" pool_generation=1 "
           "pool_slices=1 node_name=\"a\" devices=[{name=\"x\" node_resources=[{name=\"cpu\" "
           "maps=true multiplier=\"1\" has_overhead=true per_container=\"100m\"} {name=\"cpu\" "
           "maps=true multiplier=\"1\" old=true}]}]}");
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "resource_version=1 requests=[{name=\"r\" exactly=true asks=[{name=\"r\" "
           "class_name=\"core\" mode=\"ExactCount\" count=1}]}]}");
}

static void allocated(const char *users)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "resource_version=2 allocated=true reserved_for=[%s] devices=[{request=\"r\" "
           "driver=\"d.example\" pool=\"a\" device=\"x\"}]}",
           users);
}

/* A pod with the claim in its only container; more is of its amounts. */
static void attempt_as(const char *scheduler, const char *name, int milli, const char *more)
{
    say(queue,
        "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" scheduler_name=\"%s\" "
        "request=[{name=\"cpu\" amount=%d}] usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d "
        "device_claims=[{name=\"g\" claim=\"c\"}] amounts=[{requests=[{key=\"cpu\" "
        "value=\"%dm\"}] score_cpu=\"%dm\" score_memory=\"0\" containers=[{name=\"k\" "
        "claims=[\"g\"]}] %s}]} attempts=1 cycle=1",
        name, name, scheduler, milli, milli, milli, milli, milli, more);
}

static void attempt_37(const char *name, int milli, const char *more)
{
    attempt_as("default-scheduler", name, milli, more);
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

/* On node a; what the binder is to say of the claim, empty: nothing. */
static void binds_with(const char *rooms, bool by_kind)
{
    struct message m;
    struct buffer text = {0};
    if (!take(BINDER, MSG_bind, &m)) {
        bool said = take(BINDER, MSG_pod_failed, &m);
        fail_msg("not bound: %.*s", said ? (int)m.pod_failed.message.len : 0,
                 said ? m.pod_failed.message.at : "");
    }
    assert_true(str_is(m.bind.node_name, "a"));
    assert_int_equal(m.bind.rooms_by_kind, by_kind);
    assert_int_equal(m.bind.claim_rooms.count, *rooms != 0);
    if (*rooms != 0)
        codec_print(&claim_room_record, &m.bind.claim_rooms.at[0], &text);
    assert_string_equal(*rooms != 0 ? text.at + strlen("claim_room ") : "", rooms);
    buffer_free(&text);
}

#define PLAIN(name, milli) say(queue, "attempt %s attempts=1 cycle=2", pod_text(name, milli, ""))

static void what_claims_take_is_told_and_taken(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("node_set node={name=\"a\" allocatable=[{name=\"cpu\" amount=2000} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}]}");
    stream("node_gone name=\"b\"");
    attempt_37("p", 500, "");
    binds_with("claim=\"c\" containers=[\"k\"] amounts=[{key=\"cpu\" value=\"1\"}] "
               "overheads=[{name=\"cpu\" per_container=\"100m\"}]",
               true);
    PLAIN("q", 401); /* 1,600 of 2,000 are taken */
    fails_with("1 Insufficient cpu");
    PLAIN("r", 400);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "r"));
}

static void without_room_for_both_it_is_refused(void **state)
{
    (void)state;
    begin();
    stream("node_set node={name=\"a\" allocatable=[{name=\"cpu\" amount=1599} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}]}");
    attempt_37("p", 500, "");
    fails_with("1 Insufficient cpu, 1 cannot allocate all claims");
    attempt_37("p", 499, "");
    binds_with("claim=\"c\" containers=[\"k\"] amounts=[{key=\"cpu\" value=\"1\"}] "
               "overheads=[{name=\"cpu\" per_container=\"100m\"}]",
               true);
}

static void a_failed_bind_gives_the_room_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("node_set node={name=\"a\" allocatable=[{name=\"cpu\" amount=2000} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}]}");
    stream("node_gone name=\"b\"");
    attempt_37("p", 500, "");
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "plugin=\"DynamicResources\" message=\"it failed\"");
    PLAIN("q", 2000);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
}

static void requests_of_the_pod_as_a_whole_have_to_cover_it(void **state)
{
    (void)state;
    begin();
    attempt_37("p", 500, "whole=[{key=\"cpu\" value=\"1599m\"}]");
    fails_with("1 pod level request for cpu is insufficient to cover the aggregated container and "
               "node-allocatable DRA requests");
    attempt_37("p", 500,
               "whole=[{key=\"cpu\" value=\"1600m\"}] whole_limits=[{key=\"cpu\" value=\"2\"}] "
               "containers=[{name=\"k\" claims=[\"g\"] limits=[{key=\"cpu\" value=\"1\"}]}]");
    fails_with("1 pod level limit for cpu is insufficient to cover the limit and DRA overhead for "
               "container k");
}

static void a_claim_with_a_mapped_device_is_for_one_pod(void **state)
{
    (void)state;
    begin();
    allocated("\"u-other\"");
    attempt_37("p", 500, "");
    fails_with("node allocatable resource claim c has a mapped device and cannot be shared across "
               "pods");
    allocated("\"u-p\"");
    attempt_37("p", 500, "");
    binds_with("claim=\"c\" containers=[\"k\"] amounts=[{key=\"cpu\" value=\"1\"}] "
               "overheads=[{name=\"cpu\" per_container=\"100m\"}]",
               true);
}

/* In 1.36 a claim that has been allocated takes nothing again, and is for one pod of a node. */
static void as_1_36_has_it(void **state)
{
    (void)state;
    begin();
    attempt_as("elder", "p", 500, "");
    binds_with("claim=\"c\" containers=[\"k\"] amounts=[{key=\"cpu\" value=\"1\"}]", false);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201 allocated=[\"u-c\"]");
    allocated("\"u-p\"");
    stream("pod_set pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
           "resource_version=9 room_claims=[\"c\"] usage=[{name=\"cpu\" amount=1500}]}");
    stream("node_gone name=\"b\"");
    attempt_as("elder", "q", 100, "");
    fails_with("1 node allocatable resource claim c is already used by another pod");
    stream("pod_set pod={uid=\"u-o\" namespace_name=\"default\" name=\"o\" node_name=\"a\" "
           "resource_version=9 room_claims=[\"c\" \"c\"]}");
    attempt_as("elder", "q", 100, "");
    fails_with("1 node allocatable resource claim c shared by multiple pods");
    stream("pod_gone uid=\"u-p\"");
    stream("pod_gone uid=\"u-o\"");
    attempt_as("elder", "q", 100, "");
    binds_with("", false);
}

static void in_1_36_a_container_has_to_name_the_claim(void **state)
{
    (void)state;
    begin();
    attempt_as("elder", "p", 500, "containers=[{name=\"k\"}]");
    fails_with("1 claim c: node-allocatable resource claim not referenced by any container within "
               "the pod");
}

static void without_the_gate_devices_take_nothing(void **state)
{
    (void)state;
    begin();
    attempt_as("without", "p", 4000, "");
    binds_with("", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_claims_take_is_told_and_taken, start, stop),
        cmocka_unit_test_setup_teardown(without_room_for_both_it_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(a_failed_bind_gives_the_room_back, start, stop),
        cmocka_unit_test_setup_teardown(requests_of_the_pod_as_a_whole_have_to_cover_it, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_claim_with_a_mapped_device_is_for_one_pod, start, stop),
        cmocka_unit_test_setup_teardown(as_1_36_has_it, start, stop),
        cmocka_unit_test_setup_teardown(in_1_36_a_container_has_to_name_the_claim, start, stop),
        cmocka_unit_test_setup_teardown(without_the_gate_devices_take_nothing, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
