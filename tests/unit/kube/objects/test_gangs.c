/* test_gangs: PodGroups of each API group as records, and which of them a pod names. */
#include "tests/unit/kube/objects/reading.h"

#include <stdio.h>

#define PLUGINS  "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\n"
#define SIGS     "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
#define BUILT_IN "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\n"

static struct message last;
static struct str last_key;

/* The record of a PodGroup of any API group, as text in printed; or the error. */
static bool read_group(const char *yaml)
{
    struct str error = {0};
    struct kube_json *json = kube_json_parse_yaml(str_of(yaml), &error, &arena);
    assert_non_null(json);
    bool good = kube_resource_for(json)->set(json, &last, &last_key, &arena, &error);
    kube_json_free(&json);
    buffer_reset(&printed);
    if (good)
        codec_print(message_info[last.type].record, message_body(&last), &printed);
    else
        buffer_add_str(&printed, error);
    return good;
}

static void has(const char *part)
{
    if (strstr(printed.at, part) == NULL)
        fail_msg("no %s in %s", part, printed.at);
}

static void a_group_of_the_plugins_is_read(void **state)
{
    (void)state;
    assert_true(read_group(
        PLUGINS
        "metadata: {name: g, namespace: ns, uid: u, resourceVersion: '7', "
        "creationTimestamp: '2026-01-02T03:04:05Z'}\n"
        "spec: {minMember: 4, scheduleTimeoutSeconds: 30, minResources: {cpu: 1500m, "
        "memory: 1Gi, nvidia.com/gpu: 8}}\n"
        "status: {phase: Scheduling, occupiedBy: ns/a, running: 1, succeeded: 2, failed: 3, "
        "scheduled: 4, scheduleStartTime: '2026-01-02T03:04:06Z', conditions: [{type: "
        "Other}, {type: PodGroupScheduled, status: 'False', reason: Unschedulable, message: "
        "m, lastTransitionTime: '2026-01-02T03:04:07Z'}]}"));
    has("group={api=\"scheduling.x-k8s.io\" namespace_name=\"ns\" name=\"g\" uid=\"u\" "
        "resource_version=7 created=1767323045000000 min_member=4 timeout_s=30 "
        "has_min_resources=true min_resources=[{name=\"cpu\" amount=1500} {name=\"memory\" "
        "amount=1073741824} {name=\"nvidia.com/gpu\" amount=8}] phase=\"Scheduling\" scheduled=4 "
        "running=1 succeeded=2 failed=3 schedule_start=1767323046000000 occupied_by=\"ns/a\" "
        "scheduled_condition={status=\"False\" reason=\"Unschedulable\" message=\"m\" "
        "since=\"2026-01-02T03:04:07Z\"}}");
    assert_true(str_is(last_key, "pod-group/scheduling.x-k8s.io/ns/g"));
}

static void groups_of_groups_are_read(void **state)
{
    (void)state;
    assert_true(read_group(
        "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\n"
        "metadata: {name: g, namespace: ns, uid: u, resourceVersion: '7'}\n"
        "spec: {parentCompositePodGroupName: p, workloadRef: {workloadName: w, templateName: t}, "
        "schedulingPolicy: {gang: {minGroupCount: 2}}, priority: 5, disruptionMode: {all: {}}, "
        "schedulingConstraints: {topology: [{key: zone}]}}\n"));
    has("api=\"scheduling.k8s.io/CompositePodGroup\" namespace_name=\"ns\" name=\"g\" uid=\"u\" "
        "resource_version=7 min_member=2 ");
    has("has_priority=true priority=5 disrupted_whole=true topology_key=\"zone\" parent=\"p\"}");
    assert_true(str_is(last_key, "pod-group/scheduling.k8s.io/CompositePodGroup/ns/g"));
    assert_true(
        read_group("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
                   "metadata: {name: g, namespace: ns}\n"
                   "spec: {parentCompositePodGroupName: p, schedulingPolicy: {gang: {minCount: "
                   "3}}}\n"));
    has("api=\"scheduling.k8s.io\" namespace_name=\"ns\" name=\"g\" min_member=3 ");
    has("parent=\"p\"");
}

static void groups_of_other_apis_are_read(void **state)
{
    (void)state;
    assert_true(read_group(SIGS "metadata: {name: g, namespace: ns}\nspec: {minMember: 2}"));
    has("api=\"scheduling.sigs.k8s.io\" namespace_name=\"ns\" name=\"g\" min_member=2");
    expect_absent("has_min_resources");
    assert_true(str_is(last_key, "pod-group/scheduling.sigs.k8s.io/ns/g"));
    assert_true(read_group(BUILT_IN "metadata: {name: g, namespace: ns, deletionTimestamp: "
                                    "'2026-01-02T03:04:05Z'}\nspec: {minMember: 9, "
                                    "schedulingPolicy: {gang: {minCount: 3}}}"));
    has("api=\"scheduling.k8s.io\" namespace_name=\"ns\" name=\"g\" deleting=true min_member=3");
    assert_true(read_group(BUILT_IN "metadata: {name: g, namespace: ns, generation: 5}\n"
                                    "spec: {schedulingPolicy: {basic: {}}}"));
    expect_absent("min_member");
    has("generation=5");
}

/* A pod's claim is the group's if both call it the same, and mean the same. */
static void claims_of_groups_are_read(void **state)
{
    (void)state;
    assert_true(read_group(BUILT_IN
                           "metadata: {name: g, namespace: ns}\nspec: {resourceClaims: [{name: a, "
                           "resourceClaimName: c}, {name: b, resourceClaimTemplateName: t}, {name: "
                           "d, resourceClaimTemplateName: t}, {name: e, resourceClaimTemplateName: "
                           "t}, {name: f}]}\nstatus: {resourceClaimStatuses: [{name: b, "
                           "resourceClaimName: made}, {name: d}]}"));
    has("device_claims=[{name=\"a\" claim=\"c\"} {name=\"b\" claim=\"made\" generated=true "
        "template=\"t\"} {name=\"d\" generated=true unneeded=true template=\"t\"} {name=\"e\" "
        "generated=true template=\"t\"} {name=\"f\" malformed=true}]");
    assert_false(read_group(BUILT_IN "metadata: {name: g, namespace: ns}\nspec: {resourceClaims: "
                                     "[7]}"));
    assert_true(read_group(PLUGINS "metadata: {name: g, namespace: ns}\nspec: {resourceClaims: "
                                   "[{name: a, resourceClaimName: c}]}"));
    expect_absent("device_claims");
}

#define NEWER "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"

static void versions_of_the_built_in_api_are_read(void **state)
{
    (void)state;
    static const char said[] =
        "metadata: {name: g, namespace: ns}\nspec: {priority: -3, "
        "disruptionMode: %s, preemptionPolicy: Never, "
        "schedulingConstraints: {topology: [{key: rack}]}, schedulingPolicy: "
        "{gang: {minCount: 3}}}\nstatus: {conditions: [{type: %s, status: "
        "'True'}]}";
    static const struct {
        const char *head, *mode, *condition;
        bool whole;
    } cases[] = {
        {BUILT_IN, "PodGroup", "PodGroupScheduled", true},
        {BUILT_IN, "Pod", "PodGroupScheduled", false},
        {NEWER, "{all: {}}", "PodGroupInitiallyScheduled", true},
        {NEWER, "{single: {}}", "PodGroupInitiallyScheduled", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char yaml[600];
        int head = snprintf(yaml, sizeof(yaml), "%s", cases[i].head);
        snprintf(yaml + head, sizeof(yaml) - (size_t)head, said, cases[i].mode, cases[i].condition);
        assert_true(read_group(yaml));
        const struct gang *g = &last.pod_group_set.group;
        assert_int_equal(g->disrupted_whole, cases[i].whole);
        assert_string_equal(kube_gang_condition(g), cases[i].condition);
        assert_true(str_is(g->scheduled_condition.status, "True"));
        assert_true(str_is(kube_gang_version(g), i < 2 ? "v1alpha2" : "v1beta1"));
        has("has_priority=true priority=-3");
        has("preemption_policy=\"Never\" topology_key=\"rack\"");
    }
    assert_true(read_group(NEWER "metadata: {name: g}\nstatus: {conditions: [{type: "
                                 "PodGroupScheduled, status: 'True', message: m}, {type: "
                                 "PodGroupInitiallyScheduled, status: 'False'}]}"));
    has("scheduled_condition={status=\"True\" message=\"m\"}"); /* by 1.36, before */
    assert_true(read_group(PLUGINS "metadata: {name: g}\nspec: {priority: 5}\nstatus: {conditions: "
                                   "[{type: PodGroupInitiallyScheduled, status: 'True'}]}"));
    expect_absent("priority");
    expect_absent("scheduled_condition");
}

static void one_that_is_gone_says_of_which_group_it_was(void **state)
{
    (void)state;
    struct message gone = {0};
    assert_true(read_group(SIGS "metadata: {name: g, namespace: ns}\nspec: {minMember: 2}"));
    kube_resource_of(STR_LITERAL("PodGroup"))->gone(&last, &gone);
    buffer_reset(&printed);
    codec_print(message_info[gone.type].record, message_body(&gone), &printed);
    has("kind=\"PodGroup\" namespace_name=\"ns\" name=\"g\" api=\"scheduling.sigs.k8s.io\"");
}

static void a_status_that_a_controller_wrote_is_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *manager, *fields;
        bool foreign;
    } table[] = {
        {"controller", "{f:status: {f:phase: {}}}", true},
        {"controller", "{f:status: {f:running: {}}}", true},
        {"controller", "{f:status: {f:conditions: {}}}", false},
        {"controller", "{f:spec: {f:minMember: {}}}", false},
        {"berth", "{f:status: {f:phase: {}}}", false},
        {"kubectl-edit", "{f:status: {f:phase: {}}}", false},
        {"controller", "text", false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct str yaml = arena_print(
            &arena,
            PLUGINS "metadata: {name: g, managedFields: [{manager: first}, {manager: %s, "
                    "fieldsV1: %s}]}%c",
            table[i].manager, table[i].fields, 0);
        assert_true(read_group(yaml.at));
        assert_int_equal(last.pod_group_set.group.status_foreign, table[i].foreign);
    }
    assert_true(read_group(PLUGINS
                           "metadata: {name: g, managedFields: ["
                           "{manager: a, time: '1970-01-01T00:00:03Z', fieldsV1: {f:status: "
                           "{f:phase: {}}}}, {manager: b, time: '1970-01-01T00:00:02Z', fieldsV1: "
                           "{f:status: {f:failed: {}}}}, {manager: berth, time: "
                           "'1970-01-01T00:00:09Z', fieldsV1: {f:status: {f:phase: {}}}}]}"));
    assert_int_equal(last.pod_group_set.group.status_foreign_at, 3000000);
    assert_true(read_group(PLUGINS "metadata: {name: g, managedFields: [{manager: a, time: never, "
                                   "fieldsV1: {f:status: {f:phase: {}}}}]}"));
    assert_true(last.pod_group_set.group.status_foreign);
    assert_int_equal(last.pod_group_set.group.status_foreign_at, 0);
}

#define POD "metadata: {name: p, uid: u, labels: {"

static void a_pod_names_one_group(void **state)
{
    (void)state;
    EXPECT("Pod", POD "scheduling.x-k8s.io/pod-group: g}}\nstatus: {phase: Running}",
           "gang=\"g\" gang_api=\"scheduling.x-k8s.io\" phase=\"Running\"");
    EXPECT("Pod", POD "pod-group.scheduling.sigs.k8s.io: old}}",
           "gang=\"old\" gang_api=\"scheduling.sigs.k8s.io\"");
    EXPECT("Pod", POD "pod-group.scheduling.sigs.k8s.io: old, scheduling.x-k8s.io/pod-group: new}}",
           "gang=\"new\" gang_api=\"scheduling.x-k8s.io\"");
    EXPECT("Pod",
           POD "scheduling.x-k8s.io/pod-group: g}}\nspec: {schedulingGroup: {podGroupName: in}}",
           "gang=\"in\" gang_api=\"scheduling.k8s.io\"");
    EXPECT("Pod", POD "scheduling.x-k8s.io/pod-group: ''}}\nstatus: {phase: Running}",
           "name=\"p\"");
    expect_absent("gang");
    expect_absent("phase");
}

static void faults_are_named(void **state)
{
    (void)state;
    assert_false(read_group(PLUGINS "metadata: {name: g, namespace: ns}\nspec: {minMember: many}"));
    assert_string_equal(printed.at,
                        "PodGroup ns/g: spec.minMember: wants an integer, has a string");
    assert_false(read_group(SIGS "metadata: {name: g}\nspec: {minResources: {cpu: 1x}}"));
    has("PodGroup g: spec.minResources.cpu: ");
    assert_false(read_group(BUILT_IN "metadata: {namespace: ns}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_group_of_the_plugins_is_read, reset),
        cmocka_unit_test_setup(groups_of_groups_are_read, reset),
        cmocka_unit_test_setup(groups_of_other_apis_are_read, reset),
        cmocka_unit_test_setup(claims_of_groups_are_read, reset),
        cmocka_unit_test_setup(versions_of_the_built_in_api_are_read, reset),
        cmocka_unit_test_setup(one_that_is_gone_says_of_which_group_it_was, reset),
        cmocka_unit_test_setup(a_status_that_a_controller_wrote_is_its_own, reset),
        cmocka_unit_test_setup(a_pod_names_one_group, reset),
        cmocka_unit_test_setup(faults_are_named, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
