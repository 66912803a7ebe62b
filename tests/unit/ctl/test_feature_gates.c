/* test_feature_gates: which gates may be set, and what is said of those that may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "ctl/feature_gates.h"

static char why[512];

static void accepted(const char *text)
{
    if (!feature_gates_check(text, why, sizeof(why)))
        fail_msg("%s is refused: %s", text, why);
}

static void refused(const char *text, const char *expected)
{
    assert_false(feature_gates_check(text, why, sizeof(why)));
    assert_string_equal(why, expected);
}

static void gates_may_be_set_to_what_they_are(void **state)
{
    (void)state;
    accepted("");
    accepted("GangScheduling=false");
    accepted("DynamicResourceAllocation=true,PodLevelResources=T");
    accepted("kube:PodLevelResources=1, kube:AllAlpha=0");
}

static void gates_of_other_components_may_be_set_to_anything(void **state)
{
    (void)state;
    accepted("APIResponseCompression=false,OpportunisticBatching=false");
}

static void a_gate_that_changes_decisions_is_refused_by_name(void **state)
{
    (void)state;
    refused("TopologyAwareWorkloadScheduling=true",
            "not supported yet: feature gate TopologyAwareWorkloadScheduling=true, which changes "
            "what the scheduler does");
    refused("DRAPrioritizedList=false",
            "not supported yet: feature gate DRAPrioritizedList=false, which changes what the "
            "scheduler does");
}

static void the_gates_of_gangs_go_together(void **state)
{
    (void)state;
    bool gangs = true;
    assert_true(feature_gates_read("GenericWorkload=true", &gangs, why, sizeof(why)));
    assert_false(gangs);
    assert_true(
        feature_gates_read("GangScheduling=true,GenericWorkload=1", &gangs, why, sizeof(why)));
    assert_true(gangs);
    refused("GangScheduling=true", "GangScheduling is enabled, but depends on features that are "
                                   "disabled: [GenericWorkload]");
}

static void a_gate_that_is_on_takes_those_that_it_depends_on(void **state)
{
    (void)state;
    refused("ClusterTrustBundleProjection=true",
            "ClusterTrustBundleProjection is enabled, but depends on features that are disabled: "
            "[ClusterTrustBundle]");
    accepted("ClusterTrustBundleProjection=true,ClusterTrustBundle=true");
    refused("GracefulNodeShutdown=false",
            "[GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are "
            "disabled: [GracefulNodeShutdown], WindowsGracefulNodeShutdown is enabled, but depends "
            "on features that are disabled: [GracefulNodeShutdown]]");
    accepted("GracefulNodeShutdown=false,GracefulNodeShutdownBasedOnPodPriority=false,"
             "WindowsGracefulNodeShutdown=false");
}

static void one_gate_is_looked_up(void **state)
{
    (void)state;
    assert_true(feature_gate_is_on("", "ComponentFlagz"));
    assert_false(feature_gate_is_on("ComponentFlagz=false", "ComponentFlagz"));
    assert_true(feature_gate_is_on("ComponentFlagz=false", "ComponentStatusz"));
}

static void what_upstream_refuses_is_refused_in_its_words(void **state)
{
    (void)state;
    refused("Foo=true", "unrecognized feature gate: Foo");
    refused(
        "DynamicResourceAllocation=false",
        "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true");
    refused("PodLevelResources", "missing bool value for PodLevelResources");
    refused("PodLevelResources=x", "invalid value of PodLevelResources=x, err: strconv.ParseBool: "
                                   "parsing \"x\": invalid syntax");
    refused("kube:PodLevelResources=true,AllAlpha=false",
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not "
            "mix use");
}

struct seen {
    int count, on;
    const char *stage;
    bool fifo;
};

static void see(void *context, const char *name, const char *stage, bool on)
{
    struct seen *s = context;
    s->count++;
    s->on += on;
    if (strcmp(name, "AtomicFIFO") == 0) {
        s->stage = stage;
        s->fifo = on;
    }
}

static void each_gate_is_told_with_its_stage(void **state)
{
    (void)state;
    struct seen by_default = {0}, given = {0};
    feature_gates_each("", see, &by_default);
    feature_gates_each("AtomicFIFO=false", see, &given);
    assert_int_equal(by_default.count, 241);
    assert_int_equal(given.count, 241);
    assert_int_equal(given.on, by_default.on - 1);
    assert_true(by_default.fifo);
    assert_false(given.fifo);
    assert_string_equal(given.stage, "BETA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_that_is_on_takes_those_that_it_depends_on),
        cmocka_unit_test(one_gate_is_looked_up),
        cmocka_unit_test(gates_may_be_set_to_what_they_are),
        cmocka_unit_test(gates_of_other_components_may_be_set_to_anything),
        cmocka_unit_test(a_gate_that_changes_decisions_is_refused_by_name),
        cmocka_unit_test(the_gates_of_gangs_go_together),
        cmocka_unit_test(each_gate_is_told_with_its_stage),
        cmocka_unit_test(what_upstream_refuses_is_refused_in_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
