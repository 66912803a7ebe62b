/* test_devices: ResourceClaims, DeviceClasses and ResourceSlices as records: what is asked for,
 * what there is, and what was given. */
#include "tests/unit/kube/objects/reading.h"

#include <stdio.h>

static void a_claims_requests_are_read(void **state)
{
    (void)state;
    EXPECT("ResourceClaim",
           "metadata: {name: c, namespace: ns, uid: u, annotations: "
           "{resource.kubernetes.io/extended-resource-claim: 'true'}}\n"
           "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu, count: 2, "
           "selectors: [{cel: {expression: 'true'}}, {}], allocationMode: ExactCount, adminAccess: "
           "true, tolerations: [{key: k, operator: Exists, tolerationSeconds: 0}], capacity: "
           "{requests: {b: 1Gi, a: 2}}}}, {name: f, firstAvailable: [{name: x, deviceClassName: "
           "one}, {name: z, deviceClassName: two, allocationMode: All, derivedAttributes: [{name: "
           "d/z, expression: 'true'}, {name: d/a, expression: '1'}]}]}, {name: odd}], "
           "constraints: [{requests: [a], matchAttribute: d/m}, {distinctAttribute: d/n}], config: "
           "[{requests: [a], opaque: {driver: d, parameters: {b: [1, {}], a: null}}}]}}",
           "extended=true",
           "requests=[{name=\"a\" exactly=true asks=[{name=\"a\" class_name=\"gpu\" "
           "selectors=[\"true\" \"\"] mode=\"ExactCount\" count=2 admin_access=true "
           "tolerations=[{key=\"k\" operator_name=\"Exists\" has_seconds=true}] "
           "capacity=[{key=\"a\" value=\"2\"} {key=\"b\" value=\"1Gi\"}]}]}",
           "{name=\"f\" asks=[{name=\"x\" class_name=\"one\"} {name=\"z\" class_name=\"two\" "
           "mode=\"All\" derived=[{key=\"d/z\" value=\"true\"} {key=\"d/a\" value=\"1\"}]}]} "
           "{name=\"odd\"}]",
           "constraints=[{requests=[\"a\"] match_attribute=\"d/m\"} {distinct_attribute=\"d/n\"}]",
           "config=[{requests=[\"a\"] driver=\"d\" "
           "parameters=\"{\\\"b\\\":[1,{}],\\\"a\\\":null}\"}]");
    expect_absent("allocated");
}

static void a_claims_allocation_is_read(void **state)
{
    (void)state;
    EXPECT("ResourceClaim",
           "metadata: {name: c, namespace: ns}\nstatus: {allocation: {allocationTimestamp: "
           "'2026-01-02T03:04:05Z', devices: {results: [{request: r/x, driver: d, pool: p, device: "
           "v, adminAccess: false, bindingConditions: [B], bindingFailureConditions: [F], shareID: "
           "s, consumedCapacity: {m: 1Gi}}]}}, reservedFor: [{resource: pods, name: p, uid: u}, "
           "{apiGroup: scheduling.k8s.io, resource: podgroups, name: g, uid: v}, {apiGroup: other, "
           "resource: podgroups, name: h, uid: w}], "
           "devices: [{driver: d, pool: p, device: v, shareID: s, conditions: [{type: B, status: "
           "'True', reason: R, message: M}]}]}",
           "allocated=true reserved_for=[\"u\" \"v\" \"w\"]", "reserved_groups=[\"g\"]",
           "devices=[{request=\"r/x\" driver=\"d\" pool=\"p\" device=\"v\" has_admin_access=true "
           "binding_conditions=[\"B\"] binding_failure_conditions=[\"F\"] share_id=\"s\" "
           "consumed=[{key=\"m\" value=\"1Gi\"}]}]",
           "allocated_us=1767323045000000",
           "device_statuses=[{driver=\"d\" pool=\"p\" device=\"v\" share_id=\"s\" "
           "conditions=[{type=\"B\" status=\"True\" reason=\"R\" message=\"M\"}]}]");
    expect_absent("has_terms");
}

static void who_a_claim_was_made_for_is_read(void **state)
{
    (void)state;
    EXPECT("ResourceClaim",
           "metadata: {name: c, ownerReferences: [{apiVersion: scheduling.k8s.io/v1beta1, kind: "
           "PodGroup, name: h, uid: v}, {apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, "
           "name: g, uid: u, controller: true}]}",
           "owner_uid=\"u\"", "owner_group=\"g\"");
    EXPECT("ResourceClaim",
           "metadata: {name: c, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, "
           "controller: true}]}",
           "owner_uid=\"u\"");
    expect_absent("owner_group");
    EXPECT("ResourceClaim",
           "metadata: {name: c, ownerReferences: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: "
           "PodGroup, name: g, uid: u, controller: true}]}",
           "owner_uid=\"u\"");
    expect_absent("owner_group");
}

static void a_class_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT(
        "DeviceClass",
        "metadata: {name: gpu, resourceVersion: '9', creationTimestamp: '2026-01-02T03:04:05Z'}\n"
        "spec: {selectors: [{cel: {expression: e}}], config: [{opaque: {driver: d, parameters: "
        "{}}}], extendedResourceName: example.com/gpu}",
        "name=\"gpu\" resource_version=9 created=1767323045000000 selectors=[\"e\"] "
        "config=[{driver=\"d\" parameters=\"{}\"}] extended_resource=\"example.com/gpu\"");
    assert_true(read_object("DeviceClass", "metadata: {name: gpu}", &m, &key));
    assert_true(str_is(key, "device-class/gpu"));
}

static void a_taint_rule_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT("DeviceTaintRule",
           "metadata: {name: broken, resourceVersion: '9'}\nspec: {deviceSelector: {driver: d, "
           "pool: p, device: v}, taint: {key: k, value: w, effect: NoExecute}}",
           "name=\"broken\" resource_version=9 has_selector=true driver=\"d\" pool=\"p\" "
           "device=\"v\" taint={key=\"k\" value=\"w\" effect=\"NoExecute\"}");
    assert_true(read_object("DeviceTaintRule", "metadata: {name: broken}", &m, &key));
    assert_true(str_is(key, "device-taint-rule/broken"));
    assert_false(m.device_taint_rule_set.rule.has_selector);
}

static void a_slice_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT(
        "ResourceSlice",
        "metadata: {name: s}\nspec: {driver: d, pool: {name: p, generation: 3, "
        "resourceSliceCount: 2}, nodeName: nn, devices: [{name: v, attributes: {z: {int: -1}, b: "
        "{bool: false}, t: {bool: true}, s: {string: x}, w: {version: 1.0.0}, u: {}}, capacity: "
        "{m: {value: 80Gi, requestPolicy: {default: 1Gi, validRange: {min: 1, max: 2, step: "
        "3}}}, c: {value: 4, requestPolicy: {validValues: ['1', '2']}}}, consumesCounters: "
        "[{counterSet: k, counters: {h: {value: '2'}, x: {value: '1'}}, compatibilityGroups: "
        "[g, f]}], taints: [{key: t, "
        "effect: NoSchedule}], bindsToNode: true, allowMultipleAllocations: true}]}",
        "name=\"s\" driver=\"d\" pool=\"p\" pool_generation=3 pool_slices=2 node_name=\"nn\" "
        "devices=[{name=\"v\" attributes=[{name=\"b\" kind=\"bool\"} {name=\"s\" "
        "kind=\"string\" text=\"x\"} {name=\"t\" kind=\"bool\" number=1} {name=\"u\"} {name=\"w\" "
        "kind=\"version\" text=\"1.0.0\"} {name=\"z\" kind=\"int\" number=-1}]",
        "capacity=[{name=\"c\" value=\"4\" has_policy=true valid_values=[\"1\" \"2\"]} {name="
        "\"m\" value=\"80Gi\" has_policy=true default_request=\"1Gi\" has_range=true "
        "range_min=\"1\" range_max=\"2\" range_step=\"3\"}]",
        "consumes=[{name=\"k\" counters=[{key=\"h\" value=\"2\"} {key=\"x\" value=\"1\"}] "
        "groups=[\"g\" \"f\"]}]",
        "taints=[{key=\"t\" effect=\"NoSchedule\"}] binds_to_node=true shareable=true}]");
    EXPECT(
        "ResourceSlice",
        "metadata: {name: s}\nspec: {allNodes: true, perDeviceNodeSelection: true, "
        "sharedCounters: [{name: k, counters: {x: {value: '1'}}}], devices: [{name: a, nodeName: "
        "nn}, {name: b, allNodes: true}, {name: c, nodeSelector: {nodeSelectorTerms: "
        "[{matchFields: [{key: metadata.name, operator: In, values: [nn]}]}]}}]}",
        "all_nodes=true by_device=true devices=[{name=\"a\" node_name=\"nn\"} {name=\"b\" "
        "all_nodes=true} {name=\"c\" has_terms=true terms=[{fields=",
        "shared=[{name=\"k\" counters=[{key=\"x\" value=\"1\"}]}]");
    assert_true(read_object("ResourceSlice", "metadata: {name: s}", &m, &key));
    assert_true(str_is(key, "resource-slice/s"));
}

/* In the words of either release. */
static void what_devices_take_of_nodes_is_read(void **state)
{
    (void)state;
    EXPECT(
        "ResourceSlice",
        "metadata: {name: s}\nspec: {devices: [{name: v, nodeAllocatableResources: {memory: "
        "{mapping: {capacityKey: m, capacityMultiplier: 2, deviceMultiplier: 9}}, cpu: "
        "{mapping: {deviceMultiplier: 500m}, overhead: {perPod: 1, perContainer: 100m}}, x: {}}, "
        "nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: 4}}}]}",
        "node_resources=[{name=\"cpu\" maps=true multiplier=\"500m\" has_overhead=true "
        "per_pod=\"1\" per_container=\"100m\"} {name=\"memory\" maps=true "
        "capacity_key=\"m\" multiplier=\"2\"} {name=\"x\"} {name=\"cpu\" maps=true "
        "multiplier=\"4\" old=true}]");
    struct message m;
    struct str key;
    assert_false(read_object("ResourceSlice",
                             "metadata: {name: s}\nspec: {devices: [{nodeAllocatableResources: "
                             "{cpu: {mapping: {deviceMultiplier: much}}}}]}",
                             &m, &key));
    assert_false(read_object("ResourceSlice",
                             "metadata: {name: s}\nspec: {devices: [{nodeAllocatableResources: "
                             "[7]}]}",
                             &m, &key));
}

static void what_nodes_can_do_without_is_read(void **state)
{
    (void)state;
    EXPECT("ResourceSlice", "metadata: {name: s}\nspec: {skipNodeOperations: ['*']}",
           "skips=[\"*\"]");
    EXPECT("ResourceClaim",
           "metadata: {name: c, namespace: default}\nstatus: {allocation: {devices: {results: "
           "[{request: r, driver: d, pool: p, device: v, skipNodeOperations: "
           "[NodePrepareResources]}]}}}",
           "devices=[{request=\"r\" driver=\"d\" pool=\"p\" device=\"v\" "
           "skips=[\"NodePrepareResources\"]}]");
}

static void attributes_may_be_lists(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT(
        "ResourceSlice",
        "metadata: {name: s}\nspec: {driver: d, devices: [{name: v, attributes: {i: {ints: [7, "
        "-1, 9223372036854775807]}, b: {bools: [true, false]}, s: {strings: [x, '']}, w: "
        "{versions: [1.0.0]}, k: {ints: []}}}]}",
        "attributes=[{name=\"b\" kind=\"bools\" values=[\"true\" \"false\"]} {name=\"i\" "
        "kind=\"ints\" values=[\"7\" \"-1\" \"9223372036854775807\"]} {name=\"k\" kind=\"ints\"} "
        "{name=\"s\" kind=\"strings\" values=[\"x\" \"\"]} {name=\"w\" kind=\"versions\" "
        "values=[\"1.0.0\"]}]");
    assert_false(read_object("ResourceSlice",
                             "metadata: {name: s}\nspec: {devices: [{attributes: {a: {ints: [1.5]}"
                             "}}]}",
                             &m, &key));
    assert_non_null(strstr(printed.at, "spec.devices[0].attributes.a.ints[0]"));
}

static void what_is_malformed_is_named(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    assert_false(read_object("ResourceSlice",
                             "metadata: {name: s}\nspec: {devices: [{name: v, capacity: {m: "
                             "{value: 1x}}}]}",
                             &m, &key));
    assert_non_null(strstr(printed.at, "ResourceSlice s: spec.devices[0].capacity.m.value: "));
    assert_false(read_object("ResourceSlice",
                             "metadata: {name: s}\nspec: {devices: [{attributes: {a: {int: x}}}]}",
                             &m, &key));
    assert_non_null(strstr(printed.at, "spec.devices[0].attributes.a.int"));
}

/* As large as the API server lets one be: 128 devices with 32 attributes and capacities each. */
static void a_large_slice_fits_a_message(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    struct buffer yaml = {0}, frame = {0};
    buffer_add_text(&yaml, "metadata: {name: s}\nspec: {devices: [");
    for (int i = 0; i < 128; i++) {
        buffer_print(&yaml, "{name: d%d, attributes: {", i);
        for (int k = 0; k < 32; k++)
            buffer_print(&yaml, "%.40s.example.com/%.32s%d: {string: %.64s}, ",
                         "domain-of-an-attribute-that-is-as-long-as",
                         "attribute-of-some-length-here", k,
                         "value-of-an-attribute-that-is-as-long-as-an-attribute-may-be-long");
        buffer_add_text(&yaml, "}}, ");
    }
    buffer_add_text(&yaml, "]}");
    assert_true(read_object("ResourceSlice", yaml.at, &m, &key));
    assert_int_equal(m.resource_slice_set.slice.devices.count, 128);
    codec_encode(message_info[m.type].record, message_body(&m), &frame);
    assert_in_range(frame.len, 128 * 32 * 100, 1 << 20);
    buffer_free(&yaml);
    buffer_free(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_claims_requests_are_read, reset),
        cmocka_unit_test_setup(a_claims_allocation_is_read, reset),
        cmocka_unit_test_setup(who_a_claim_was_made_for_is_read, reset),
        cmocka_unit_test_setup(a_class_is_read, reset),
        cmocka_unit_test_setup(a_taint_rule_is_read, reset),
        cmocka_unit_test_setup(a_slice_is_read, reset),
        cmocka_unit_test_setup(attributes_may_be_lists, reset),
        cmocka_unit_test_setup(what_devices_take_of_nodes_is_read, reset),
        cmocka_unit_test_setup(what_nodes_can_do_without_is_read, reset),
        cmocka_unit_test_setup(what_is_malformed_is_named, reset),
        cmocka_unit_test_setup(a_large_slice_fits_a_message, reset),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, release);
}
