/* test_gangs: PodGroups of each API group as records, and which of them a pod names. */
#include "tests/unit/kube/objects/reading.h"

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
        cmocka_unit_test_setup(groups_of_other_apis_are_read, reset),
        cmocka_unit_test_setup(one_that_is_gone_says_of_which_group_it_was, reset),
        cmocka_unit_test_setup(a_status_that_a_controller_wrote_is_its_own, reset),
        cmocka_unit_test_setup(a_pod_names_one_group, reset),
        cmocka_unit_test_setup(faults_are_named, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
