/* test_feature_gates: which gates may be set, and what is said of those that may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/kube/release/feature_gates.h"
#include "proto/kube/release/versions.h"

static char why[512];

static void accepted(const char *text)
{
    if (!feature_gates_read(text, release_of(36), NULL, why, sizeof(why)))
        fail_msg("%s is refused: %s", text, why);
}

static void refused(const char *text, const char *expected)
{
    assert_false(feature_gates_read(text, release_of(36), NULL, why, sizeof(why)));
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
    refused(
        "CoordinatedLeaderElection=true",
        "not supported yet: feature gate CoordinatedLeaderElection=true, which changes what the "
        "scheduler does");
}

static void the_gates_of_gangs_go_together(void **state)
{
    (void)state;
    struct features features = {.gangs = true};
    assert_true(
        feature_gates_read("GenericWorkload=true", release_of(36), &features, why, sizeof(why)));
    assert_false(features.gangs);
    assert_true(feature_gates_read("GangScheduling=true,GenericWorkload=1", release_of(36),
                                   &features, why, sizeof(why)));
    assert_true(features.gangs && features.gang_counts);
    assert_false(features.group_topology || features.group_preemption);
    assert_true(feature_gates_read("TopologyAwareWorkloadScheduling=true,GenericWorkload=1",
                                   release_of(36), &features, why, sizeof(why)));
    assert_true(features.gangs && !features.gang_counts);
    assert_true(
        feature_gates_read("GenericWorkload=true", release_of(37), &features, why, sizeof(why)));
    assert_true(features.gangs && features.gang_counts);
    const char *all = "GangScheduling=true,GenericWorkload=1,TopologyAwareWorkloadScheduling=true,"
                      "WorkloadAwarePreemption=true";
    assert_true(feature_gates_read(all, release_of(36), &features, why, sizeof(why)));
    assert_true(features.group_topology && features.group_preemption);
    refused("GangScheduling=true", "GangScheduling is enabled, but depends on features that are "
                                   "disabled: [GenericWorkload]");
}

static void resizes_may_evict_in_1_37_alone(void **state)
{
    (void)state;
    const char *gate = "InPlacePodVerticalScalingSchedulerPreemption=true";
    struct features features;
    assert_true(feature_gates_read(gate, release_of(37), &features, why, sizeof(why)));
    assert_true(features.resize_preemption);
    assert_false(release_features(37).resize_preemption);
    assert_false(feature_gates_read(gate, release_of(36), &features, why, sizeof(why)));
    assert_non_null(strstr(why, "unrecognized feature gate"));
    assert_true(feature_gates_may_be(gate, why, sizeof(why)));
}

static void claims_of_groups_take_groups(void **state)
{
    (void)state;
    for (int release = 36; release <= 37; release++) {
        struct features features = {.workload_claims = true};
        assert_true(feature_gates_read("", release_of(release), &features, why, sizeof(why)));
        assert_false(features.workload_claims);
        assert_true(feature_gates_read("DRAWorkloadResourceClaims=true,GenericWorkload=true",
                                       release_of(release), &features, why, sizeof(why)));
        assert_true(features.workload_claims);
        assert_false(feature_gates_read("DRAWorkloadResourceClaims=true", release_of(release),
                                        &features, why, sizeof(why)));
        assert_non_null(strstr(why, "DRAWorkloadResourceClaims is enabled, but depends on features "
                                    "that are disabled: [GenericWorkload]"));
    }
}

/* Of a stage all that are not named, but for those that have to stay as they are. */
static void one_gate_stands_for_a_whole_stage(void **state)
{
    (void)state;
    struct features features;
    const char *off = "AllBeta=false,SchedulerPopFromBackoffQ=true";
    assert_true(feature_gates_read(off, release_of(36), &features, why, sizeof(why)));
    assert_false(features.pod_level_resources || features.expected_nomination);
    assert_true(features.pop_from_backoff);
    assert_false(feature_gate_is_on(off, release_of(36), "ComponentFlagz"));
    assert_true(feature_gate_is_on(off, release_of(36), "DRAPrioritizedList")); /* GA */
    refused("AllBeta=true", "not supported yet: feature gate CoordinatedLeaderElection=true by "
                            "AllBeta, which changes what the scheduler does; "
                            "CoordinatedLeaderElection=false goes with it");
    refused("AllBeta=false,DRADeviceTaintRules=true",
            "DRADeviceTaintRules is enabled, but depends on features that are disabled: "
            "[DRADeviceTaints]");
    accepted("AllAlpha=false,AllBeta=false,TaintTolerationComparisonOperators=true");
    assert_true(feature_gates_may_be(off, why, sizeof(why)));
    assert_false(feature_gates_may_be("AllBeta=true", why, sizeof(why)));
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

/* At the start the release is not known: one of them takes the list as a whole. */
static void a_list_is_taken_that_is_right_in_one_release(void **state)
{
    static const char *const of_36 = "DRADeviceTaints=false,DRAExtendedResource=false";
    (void)state;
    accepted(of_36);
    assert_false(feature_gates_read(of_36, release_of(37), NULL, why, sizeof(why)));
    assert_true(feature_gates_may_be(of_36, why, sizeof(why)));
    /* 1.37 does not know it, and 1.36 wants another with it */
    assert_false(feature_gates_may_be("GangScheduling=true", why, sizeof(why)));
    assert_string_equal(why, "GangScheduling is enabled, but depends on features that are "
                             "disabled: [GenericWorkload]");
    assert_false(
        feature_gates_may_be("DRADeviceTaints=false,DRADeviceTaintRules=true", why, sizeof(why)));
    assert_true(
        feature_gates_may_be("GangScheduling=false,CompositePodGroup=false", why, sizeof(why)));
}

static void one_gate_is_looked_up(void **state)
{
    (void)state;
    assert_true(feature_gate_is_on("", release_of(36), "ComponentFlagz"));
    assert_false(feature_gate_is_on("ComponentFlagz=false", release_of(36), "ComponentFlagz"));
    assert_true(feature_gate_is_on("ComponentFlagz=false", release_of(36), "ComponentStatusz"));
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
    feature_gates_each("", release_of(36), see, &by_default);
    feature_gates_each("AtomicFIFO=false", release_of(36), see, &given);
    assert_int_equal(by_default.count, 241);
    assert_int_equal(given.count, 241);
    assert_int_equal(given.on, by_default.on - 1);
    assert_true(by_default.fifo);
    assert_false(given.fifo);
    assert_string_equal(given.stage, "BETA");
}

static void each_release_has_gates_of_its_own(void **state)
{
    (void)state;
    struct features features;
    const struct kube_release *r37 = release_of(37);
    accepted("SchedulerQueueingHints=true");
    assert_false(feature_gates_read("SchedulerQueueingHints=true", r37, NULL, why, sizeof(why)));
    assert_string_equal(why, "unrecognized feature gate: SchedulerQueueingHints");
    refused("SchedulerPreQueueingHints=false",
            "unrecognized feature gate: SchedulerPreQueueingHints");
    assert_true(feature_gates_read("SchedulerPreQueueingHints=true", r37, NULL, why, sizeof(why)));
    assert_true(feature_gates_read("GenericWorkload=true", r37, &features, why, sizeof(why)));
    assert_false(features.group_preemption_policy);
    assert_true(feature_gates_read("GenericWorkload=true,PodGroupPreemptionPolicy=true", r37,
                                   &features, why, sizeof(why)));
    assert_true(features.group_preemption_policy && features.gangs);
    assert_true(feature_gates_read("GenericWorkload=true", r37, &features, why, sizeof(why)));
    assert_true(features.gangs);
}

static void defaults_follow_the_release(void **state)
{
    (void)state;
    assert_false(release_features(36).volume_limit_scaling);
    assert_true(release_features(37).volume_limit_scaling);
    assert_true(release_features(37).device_taint_rules);
    assert_int_equal(release_features(36).release, 36);
    assert_int_equal(release_features(12).release, RELEASE_OLDEST);
    assert_int_equal(release_features(99).release, RELEASE_NEWEST);
}

/* Gates that were given before the cluster's release was known do not stop a scheduler. */
static void what_a_release_has_no_place_for_is_named_and_left_out(void **state)
{
    (void)state;
    char left[128];
    struct features features = feature_gates_follow("GenericWorkload=true,GangScheduling=true",
                                                    release_of(37), left, sizeof(left));
    assert_true(features.gangs);
    assert_string_equal(left, "GangScheduling=true");
    features = feature_gates_follow("GenericWorkload=true,GangScheduling=true", release_of(36),
                                    left, sizeof(left));
    assert_true(features.gangs);
    assert_string_equal(left, "");
}

static void versions_are_read_as_upstream_writes_them(void **state)
{
    (void)state;
    int64_t minor = 0;
    assert_true(release_read("kube=1.37", &minor));
    assert_int_equal(minor, 37);
    assert_true(release_read("1.36", &minor));
    assert_int_equal(minor, 36);
    assert_false(release_read("1.35", &minor));
    assert_false(release_read("", &minor));
    assert_false(release_read("1.370", &minor));
}

static int64_t named(const char *emulated, const char *compatible)
{
    int64_t release = -1;
    if (!versions_read(emulated, compatible, &release, why, sizeof(why)))
        fail_msg("%s, %s: %s", emulated, compatible, why);
    return release;
}

static void not_taken(const char *emulated, const char *compatible, const char *words)
{
    int64_t release;
    assert_false(versions_read(emulated, compatible, &release, why, sizeof(why)));
    assert_string_equal(why, words);
}

static void flags_of_versions_are_taken_as_upstream_takes_them(void **state)
{
    (void)state;
    assert_int_equal(named("1.36", NULL), 36);
    assert_int_equal(named("kube= 1.37", "1.34"), 37);
    assert_int_equal(named("v1.36.0", "kube=1.36"), 36);
    assert_int_equal(named("", "1.37"), 0);
    assert_int_equal(named(NULL, NULL), 0);
    not_taken("1.38", NULL, "emulation version 1.38 is not between [1.34, 1.37.0]");
    not_taken("1.36", "1.37", "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]");
    not_taken("1.33", NULL,
              "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion "
              "version 1.34 is not between [1.34, 1.33]]");
    not_taken("1.35", NULL, "not supported yet: emulation version 1.35, only 1.36 to 1.37");
    not_taken("1.36.3", NULL, "patch version not allowed, got: kube=1.36.3");
    not_taken("1.36,1.37", NULL, "duplicate version flag, kube=1.36 and kube=1.37");
    not_taken("wardle=1.36", NULL, "component not registered: wardle");
    not_taken("1", NULL, "illegal version string \"1\"");
    not_taken("1.36,", NULL, "could not parse \"\" as version");
    not_taken("01.36", NULL, "illegal zero-prefixed version component \"01\" in \"01.36\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resizes_may_evict_in_1_37_alone),
        cmocka_unit_test(one_gate_stands_for_a_whole_stage),
        cmocka_unit_test(a_gate_that_is_on_takes_those_that_it_depends_on),
        cmocka_unit_test(a_list_is_taken_that_is_right_in_one_release),
        cmocka_unit_test(one_gate_is_looked_up),
        cmocka_unit_test(gates_may_be_set_to_what_they_are),
        cmocka_unit_test(gates_of_other_components_may_be_set_to_anything),
        cmocka_unit_test(a_gate_that_changes_decisions_is_refused_by_name),
        cmocka_unit_test(the_gates_of_gangs_go_together),
        cmocka_unit_test(claims_of_groups_take_groups),
        cmocka_unit_test(each_gate_is_told_with_its_stage),
        cmocka_unit_test(what_upstream_refuses_is_refused_in_its_words),
        cmocka_unit_test(each_release_has_gates_of_its_own),
        cmocka_unit_test(defaults_follow_the_release),
        cmocka_unit_test(flags_of_versions_are_taken_as_upstream_takes_them),
        cmocka_unit_test(what_a_release_has_no_place_for_is_named_and_left_out),
        cmocka_unit_test(versions_are_read_as_upstream_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
