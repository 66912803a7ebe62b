/* test_objects: pods, nodes and namespaces as records; wrong types named with object and field. */
#include "tests/unit/kube/objects/reading.h"

#define META "metadata: {name: a, namespace: default, uid: u1}\n"

static void expect_refusal(const char *kind, const char *yaml, const char *error)
{
    struct message m;
    struct str key;
    assert_false(read_object(kind, yaml, &m, &key));
    assert_string_equal(printed.at, error);
}

static void a_pods_metadata_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    assert_true(read_object("Pod",
                            "metadata:\n  name: a\n  namespace: ns\n  uid: u1\n"
                            "  resourceVersion: '123'\n  generation: 4\n"
                            "  creationTimestamp: '2026-01-02T03:04:05Z'\n"
                            "  deletionTimestamp: '2026-01-02T03:04:06Z'\n"
                            "  labels: {z: '1', a: '2', m: '3'}\n  annotations: {x: 1}\n",
                            &m, &key));
    const struct pod *pod = &m.pod_set.pod;
    assert_true(str_is(key, "pod/u1"));
    assert_true(str_is(pod->namespace_name, "ns"));
    assert_int_equal(pod->resource_version, 123);
    assert_int_equal(pod->generation, 4);
    assert_int_equal(pod->created, 1767323045000000);
    assert_true(pod->deleting);
    assert_int_equal(pod->labels.count, 3);
    assert_true(str_is(pod->labels.at[0].key, "a"));
    assert_true(str_is(pod->labels.at[2].value, "1"));
}

static void a_pods_spec_is_read(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  nodeName: n1\n  schedulerName: s\n  priority: -5\n"
                "  preemptionPolicy: Never\n  schedulingGates: [{name: g1}, {name: g2}]\n"
                "  tolerations: [{key: k, operator: Exists, effect: NoSchedule, "
                "tolerationSeconds: 3}]\n"
                "  resourceClaims: [{name: gpu}]\n"
                "  topologySpreadConstraints: [{maxSkew: 1}]\n",
           "node_name=\"n1\"", "scheduler_name=\"s\"", "priority=-5", "preemption_policy=\"Never\"",
           "gates=[\"g1\" \"g2\"]",
           "tolerations=[{key=\"k\" operator_name=\"Exists\" effect=\"NoSchedule\"}]",
           "resource_claims=[\"gpu\"]", "has_spread=true");
    expect_absent("has_node_selector");
}

static void an_empty_selector_is_still_one(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {nodeSelector: {}, affinity: {podAntiAffinity: {}, nodeAffinity: "
                "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}",
           "has_node_selector=true", "has_required_terms=true");
    EXPECT("Pod", META "spec: {nodeSelector: null, affinity: {nodeAffinity: null}}", "name=\"a\"");
    expect_absent("has_node_selector");
    expect_absent("has_required_terms");
}

static void node_affinity_is_read(void **state)
{
    (void)state;
    EXPECT(
        "Pod",
        META "spec: {nodeSelector: {b: '1', a: '2'}, affinity: {nodeAffinity: {\n"
             "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, "
             "{matchExpressions: [{key: k, operator: In, values: [v, w]}], matchFields: [{key: "
             "metadata.name, operator: NotIn, values: [n1]}]}]},\n"
             "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
             "{matchExpressions: [{key: k, operator: Exists}]}}]}}}",
        "node_selector=[{key=\"a\" value=\"2\"} {key=\"b\" value=\"1\"}]",
        "required_terms=[{} {expressions=[{key=\"k\" operator_name=\"In\" values=[\"v\" \"w\"]}] "
        "fields=[{key=\"metadata.name\" operator_name=\"NotIn\" values=[\"n1\"]}]}]",
        "preferred_terms=[{weight=7 term={expressions=[{key=\"k\" "
        "operator_name=\"Exists\"}]}}]");
}

static void host_ports_are_those_that_stay(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  containers:\n  - ports: [{containerPort: 1}, {hostPort: 80}, {hostPort: "
                "0}]\n  - ports: [{hostPort: 53, protocol: UDP, hostIP: 10.0.0.1}]\n"
                "  initContainers:\n  - ports: [{hostPort: 1}]\n"
                "  - {restartPolicy: Always, ports: [{hostPort: 90}]}\n",
           "ports=[{ip=\"0.0.0.0\" protocol=\"TCP\" port=90} {ip=\"0.0.0.0\" protocol=\"TCP\" "
           "port=80} {ip=\"10.0.0.1\" protocol=\"UDP\" port=53}]");
}

static void images_get_a_tag(void **state)
{
    (void)state;
    static const char images[] = "images=[\"init:latest\" \"reg:5000/app:latest\" \"app:v1\" "
                                 "\"app@sha256:12\" \"vol:latest\"]";
    EXPECT("Pod",
           META "spec:\n  containers: [{image: 'reg:5000/app'}, {image: 'app:v1'}, {image: "
                "'app@sha256:12'}]\n  initContainers: [{image: init}]\n"
                "  volumes: [{name: x, image: {reference: vol}}, {name: z, emptyDir: {}}]\n",
           images, "container_count=4");
}

static void claims_of_volumes_are_named(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}, {name: e, "
                "ephemeral: {}}, {name: h, hostPath: {path: /}}]}",
           "claims=[\"c\" \"a-e\"]");
}

static void a_pods_status_is_read(void **state)
{
    (void)state;
    static const char scheduled[] =
        "scheduled={status=\"False\" reason=\"Unschedulable\" "
        "message=\"why\" since=\"2026-01-02T03:04:05Z\" probed=true observed_generation=3}";
    EXPECT("Pod",
           META "status:\n  nominatedNodeName: n2\n  startTime: '2026-01-02T03:04:05Z'\n"
                "  conditions:\n  - {type: Ready, status: 'True'}\n"
                "  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: why, "
                "lastProbeTime: '2026-01-02T03:04:05Z', observedGeneration: 3, lastTransitionTime: "
                "'2026-01-02T03:04:05Z'}\n",
           "nominated_node=\"n2\"", "started=1767323045000000", scheduled,
           "condition_types=[\"Ready\" \"PodScheduled\"]");
}

static void a_node_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    assert_true(read_object("Node",
                            "metadata: {name: n1, uid: u, labels: {b: x, a: w}}\n"
                            "spec: {unschedulable: true, taints: [{key: k, value: v, effect: "
                            "NoSchedule}, {key: l, effect: NoExecute}], podPreemptionPolicy: "
                            "{disableResizePreemption: [hpa, '']}}\n"
                            "status:\n  declaredFeatures: [A, B]\n"
                            "  images: [{names: [x, w], sizeBytes: 700000000000}]\n"
                            "  conditions: [{type: Ready, status: 'True', reason: r}]\n",
                            &m, &key));
    assert_true(str_is(key, "node/n1"));
    EXPECT("Node", "metadata: {name: n1}\nspec: {taints: [{key: l, effect: NoExecute}]}",
           "taints=[{key=\"l\" effect=\"NoExecute\"}]");
    assert_int_equal(m.node_set.node.taints.count, 2);
    assert_true(m.node_set.node.unschedulable);
    assert_int_equal(m.node_set.node.images.at[0].size, 700000000000);
    assert_int_equal(m.node_set.node.features.count, 2);
    assert_int_equal(m.node_set.node.spares_from_resizes.count, 2);
    assert_true(str_is(m.node_set.node.spares_from_resizes.at[0], "hpa"));
    assert_true(str_is(m.node_set.node.conditions.at[0].key, "Ready"));
}

static void avoided_controllers_are_read_and_nonsense_is_not(void **state)
{
    (void)state;
    EXPECT("Node",
           "metadata: {name: n1, annotations: {scheduler.alpha.kubernetes.io/preferAvoidPods: "
           "'{\"preferAvoidPods\": [{\"podSignature\": {\"podController\": {\"kind\": "
           "\"ReplicaSet\", \"uid\": \"u1\"}}}, {\"podSignature\": 5}, 7]}'}}",
           "avoided=[{key=\"ReplicaSet\" value=\"u1\"}]");
    struct message m;
    struct str key;
    assert_true(read_object("Node",
                            "metadata: {name: n1, annotations: "
                            "{scheduler.alpha.kubernetes.io/preferAvoidPods: '{\"preferAvoid'}}",
                            &m, &key));
    assert_int_equal(m.node_set.node.avoided.count, 0);
}

static void allocatable_keeps_what_counts(void **state)
{
    (void)state;
    EXPECT(
        "Node",
        "metadata: {name: n1}\nstatus: {capacity: {cpu: 99}, allocatable: {cpu: 3920.5m, memory: "
        "7911300Ki, pods: 110, ephemeral-storage: 10G, nvidia.com/gpu: 8, hugepages-2Mi: 0, "
        "storage: 1, requests.x/y: 1, attachable-volumes-csi: 3, foo.kubernetes.io/bar: 2}}",
        "allocatable=[{name=\"attachable-volumes-csi\" amount=3} {name=\"cpu\" amount=3921} "
        "{name=\"ephemeral-storage\" amount=10000000000} {name=\"foo.kubernetes.io/bar\" "
        "amount=2} {name=\"memory\" amount=8101171200} {name=\"nvidia.com/gpu\" amount=8} "
        "{name=\"pods\" amount=110}]");
}

static void what_is_gone_is_named(void **state)
{
    (void)state;
    struct message m, gone;
    struct str key;
    assert_true(read_object("Pod", META, &m, &key));
    resource_of("Pod")->gone(&m, &gone);
    assert_int_equal(gone.type, MSG_pod_gone);
    assert_true(str_is(gone.pod_gone.uid, "u1"));
    assert_true(str_is(gone.pod_gone.namespace_name, "default"));
    assert_true(read_object("Node", "metadata: {name: n1}", &m, &key));
    resource_of("Node")->gone(&m, &gone);
    assert_true(str_is(gone.node_gone.name, "n1"));
    assert_true(read_object("Namespace", "metadata: {name: ns, labels: {a: b}}", &m, &key));
    assert_true(str_is(key, "namespace/ns"));
    resource_of("Namespace")->gone(&m, &gone);
    assert_true(str_is(gone.namespace_gone.name, "ns"));
}

static void only_finished_pods_are_left_out_of_the_watch(void **state)
{
    (void)state;
    assert_string_equal(resource_of("Pod")->field_selector,
                        "status.phase!=Succeeded,status.phase!=Failed");
    assert_true(resource_of("Pod")->required);
    assert_true(resource_of("Node")->required);
    assert_false(resource_of("Namespace")->required);
}

static void wrong_types_are_named(void **state)
{
    (void)state;
    expect_refusal("Pod", META "spec: {priority: high}",
                   "Pod default/a: spec.priority: wants an integer, has a string");
    expect_refusal("Pod", META "spec: {priority: 3000000000}",
                   "Pod default/a: spec.priority: 3000000000 does not fit 32 bits");
    expect_refusal("Pod", META "spec: {containers: {}}",
                   "Pod default/a: spec.containers: wants a list, has an object");
    expect_refusal("Pod", META "spec: {containers: [{}, 7]}",
                   "Pod default/a: spec.containers[1]: wants an object, has a number");
    expect_refusal("Pod", META "spec: {tolerations: [{key: k}, {key: 1}]}",
                   "Pod default/a: spec.tolerations[1].key: wants a string, has a number");
    expect_refusal("Pod", META "spec: {containers: [{resources: {requests: {cpu: 1x}}}]}",
                   "Pod default/a: spec.containers[0].resources.requests.cpu: quantity \"1x\" is "
                   "malformed");
    expect_refusal("Pod", META "status: {startTime: yesterday}",
                   "Pod default/a: status.startTime: \"yesterday\" is no time");
    expect_refusal("Node", "metadata: {name: n1, labels: {a: 1}}",
                   "Node n1: metadata.labels.a: wants a string, has a number");
    expect_refusal("Node", "metadata: {name: n1}\nspec: {unschedulable: 1}",
                   "Node n1: spec.unschedulable: wants true or false, has a number");
    expect_refusal("Namespace", "[]", "Namespace : wants an object, has a list");
}

static void names_must_be_there(void **state)
{
    (void)state;
    expect_refusal("Pod", "metadata: {name: a, namespace: default}",
                   "Pod default/a: metadata.uid: must not be empty");
    expect_refusal("Pod", "metadata: {namespace: default, uid: u}",
                   "Pod default/: metadata.name: must not be empty");
    expect_refusal("Node", "{}", "Node : metadata.name: must not be empty");
}

static void an_arenas_limit_is_kept(void **state)
{
    (void)state;
    struct message m;
    struct str key, error = {0};
    for (size_t limit = 16; limit < 2048; limit += 16) {
        struct arena small = {.limit = limit}, other = {0};
        struct kube_json *json = kube_json_parse_yaml(
            str_of(META "spec: {nodeSelector: {a: b}, tolerations: [{key: abcdefghijklmnopqrst}], "
                        "containers: [{image: x, resources: {requests: {cpu: 1, x/y: 2}}}]}"),
            &error, &other);
        if (resource_of("Pod")->set(json, &m, &key, &small, &error))
            assert_true(limit > 500);
        kube_json_free(&json);
        arena_free(&small);
        arena_free(&other);
    }
}

static void annotations_are_chosen_by_how_their_keys_begin(void **state)
{
    (void)state;
    struct str error = {0}, wanted[] = {STR_LITERAL("b.example/"), STR_LITERAL("a")};
    const struct strs prefixes = {2, wanted}, none = {0};
    struct kube_json *json = kube_json_parse_yaml(
        STR_LITERAL(
            "metadata:\n  annotations: {b.example/y: '2', c.example/x: '3', a: '1', b: '4', "
            "b.example/n: 7}\n"),
        &error, &arena);
    uint32_t count = 9, other = 9;
    const struct label *told = kube_object_annotations(json, &prefixes, &count, &arena);
    (void)kube_object_annotations(json, &none, &other, &arena);
    kube_json_free(&json);
    assert_int_equal(count, 3);
    assert_int_equal(other, 0);
    assert_true(str_is(told[0].key, "a") && str_is(told[0].value, "1"));
    assert_true(str_is(told[1].key, "b.example/n") && told[1].value.len == 0); /* no text */
    assert_true(str_is(told[2].key, "b.example/y") && str_is(told[2].value, "2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_pods_metadata_is_read, reset),
        cmocka_unit_test_setup(a_pods_spec_is_read, reset),
        cmocka_unit_test_setup(an_empty_selector_is_still_one, reset),
        cmocka_unit_test_setup(node_affinity_is_read, reset),
        cmocka_unit_test_setup(host_ports_are_those_that_stay, reset),
        cmocka_unit_test_setup(images_get_a_tag, reset),
        cmocka_unit_test_setup(claims_of_volumes_are_named, reset),
        cmocka_unit_test_setup(a_pods_status_is_read, reset),
        cmocka_unit_test_setup(a_node_is_read, reset),
        cmocka_unit_test_setup(avoided_controllers_are_read_and_nonsense_is_not, reset),
        cmocka_unit_test_setup(allocatable_keeps_what_counts, reset),
        cmocka_unit_test_setup(what_is_gone_is_named, reset),
        cmocka_unit_test_setup(only_finished_pods_are_left_out_of_the_watch, reset),
        cmocka_unit_test_setup(wrong_types_are_named, reset),
        cmocka_unit_test_setup(names_must_be_there, reset),
        cmocka_unit_test_setup(an_arenas_limit_is_kept, reset),
        cmocka_unit_test_setup(annotations_are_chosen_by_how_their_keys_begin, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
