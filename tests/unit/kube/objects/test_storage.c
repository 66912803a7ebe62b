/* test_storage: claims, volumes with their translation, and what limits volumes, as records. */
#include "tests/unit/kube/objects/reading.h"

#define CLAIM  "PersistentVolumeClaim"
#define VOLUME "PersistentVolume"

static void a_claim_is_read(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT(CLAIM,
           "metadata: {name: c, namespace: ns, uid: u, resourceVersion: '7', deletionTimestamp: "
           "'2026-01-02T03:04:05Z', ownerReferences: [{uid: p, controller: true}], annotations: "
           "{pv.kubernetes.io/bind-completed: 'yes', volume.kubernetes.io/selected-node: n1}}\n"
           "spec: {volumeName: pv, storageClassName: fast, accessModes: [ReadWriteOncePod], "
           "resources: {requests: {storage: 1Gi}}, volumeMode: Block, volumeAttributesClassName: "
           "gold, selector: {matchLabels: {a: b}}}\nstatus: {phase: Bound}",
           "namespace_name=\"ns\" name=\"c\" uid=\"u\" resource_version=7 deleting=true "
           "owner_uid=\"p\" volume_name=\"pv\" has_class=true class_name=\"fast\" phase=\"Bound\" "
           "access_modes=[\"ReadWriteOncePod\"] requested=1073741824 volume_mode=\"Block\" "
           "attributes_class=\"gold\" selector={present=true labels=[{key=\"a\" value=\"b\"}]} "
           "bind_completed=true selected_node=\"n1\"");
    assert_true(read_object(CLAIM, "metadata: {name: c, namespace: ns}", &m, &key));
    assert_true(str_is(key, "claim/ns/c"));
    assert_true(str_is(m.claim_set.claim.volume_mode, "Filesystem"));
    assert_false(m.claim_set.claim.has_class);
}

static void the_annotation_names_the_class_first(void **state)
{
    (void)state;
    EXPECT(CLAIM,
           "metadata: {name: c, annotations: {volume.beta.kubernetes.io/storage-class: ''}}\n"
           "spec: {storageClassName: fast}",
           "has_class=true volume_mode=\"Filesystem\" class_annotated=true spec_class=\"fast\"");
    expect_absent("class_name");
    EXPECT(CLAIM, "metadata: {name: c}\nspec: {storageClassName: ''}", "has_class=true");
    expect_absent("class_annotated");
    EXPECT(
        VOLUME,
        "metadata: {name: v, annotations: {volume.beta.kubernetes.io/storage-class: slow}}\n"
        "spec: {storageClassName: fast}",
        "class_name=\"slow\" volume_mode=\"Filesystem\" class_annotated=true spec_class=\"fast\"");
    EXPECT(VOLUME, "metadata: {name: v}\nspec: {storageClassName: fast}", "class_name=\"fast\"");
    expect_absent("spec_class");
}

static void a_volume_is_read(void **state)
{
    (void)state;
    EXPECT(VOLUME,
           "metadata: {name: v, uid: u, labels: {z: a}, annotations: "
           "{pv.kubernetes.io/bound-by-controller: 'yes'}}\n"
           "spec: {storageClassName: fast, capacity: {storage: 2G}, accessModes: [ReadWriteOnce], "
           "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: "
           "In, values: [w]}]}]}}, claimRef: {namespace: ns, name: c, uid: cu}, csi: {driver: d, "
           "volumeHandle: h}}\nstatus: {phase: Available}",
           "name=\"v\" uid=\"u\" labels=[{key=\"z\" value=\"a\"}] class_name=\"fast\" "
           "capacity=2000000000 phase=\"Available\" access_modes=[\"ReadWriteOnce\"] "
           "volume_mode=\"Filesystem\" has_terms=true terms=[{expressions=[{key=\"k\" "
           "operator_name=\"In\" values=[\"w\"]}]}] has_claim_ref=true claim_namespace=\"ns\" "
           "claim_name=\"c\" claim_uid=\"cu\" source=\"csi\" driver=\"d\" handle=\"h\" "
           "bound_by_controller=true");
    expect_absent("migra");
    EXPECT(VOLUME, "metadata: {name: v}\nspec: {hostPath: {path: /x}}", "source=\"host-path\"");
    EXPECT(VOLUME, "metadata: {name: v}\nspec: {local: {path: /x}}", "source=\"local\"");
}

#define AFFINITY(key, ...)                                                                         \
    "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " key                 \
    ", operator: In, values: [" __VA_ARGS__ "]}]}]}}"

static void in_tree_volumes_are_translated(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *spec, *expected;
    } table[] = {
        {"", "awsElasticBlockStore: {volumeID: 'aws:///vol-1'}",
         "source=\"aws-ebs\" driver=\"ebs.csi.aws.com\" handle=\"vol-1\" "
         "migrated_plugin=\"kubernetes.io/aws-ebs\""},
        {"", "awsElasticBlockStore: {volumeID: 'aws:///disk'}",
         "source=\"aws-ebs\" migrated_plugin=\"kubernetes.io/aws-ebs\" migration_problem=\"failed "
         "to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume "
         "(aws:///disk)\""},
        {"", "gcePersistentDisk: {pdName: d}",
         "handle=\"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d\""},
        {"labels: {topology.kubernetes.io/zone: us-b}", "gcePersistentDisk: {pdName: d}",
         "handle=\"projects/UNSPECIFIED/zones/us-b/disks/d\""},
        {"labels: {topology.kubernetes.io/zone: x, failure-domain.beta.kubernetes.io/zone: w}",
         "gcePersistentDisk: {pdName: d}", "handle=\"projects/UNSPECIFIED/zones/w/disks/d\""},
        {"labels: {topology.kubernetes.io/zone: us-central1-a__us-central1-b}",
         "gcePersistentDisk: {pdName: d}",
         "handle=\"projects/UNSPECIFIED/regions/us-central1/disks/d\""},
        {"labels: {topology.kubernetes.io/zone: us-b1-a__us-a1-b}",
         "gcePersistentDisk: {pdName: d}",
         "migration_problem=\"failed to get region from zones: multiple or no regions gotten from "
         "zones, got: map[us-a1:{} us-b1:{}]\""},
        {"labels: {topology.kubernetes.io/zone: a__b}", "gcePersistentDisk: {pdName: d}",
         "migration_problem=\"failed to get region from zones: zone in unexpected format, "
         "expected: {locale}-{region}-{zone}, got: a\""},
        {"annotations: {kubernetes.io/azure-file-resource-group: rg}",
         "azureFile: {secretName: azure-storage-account-a-secret, shareName: s}, claimRef: "
         "{namespace: ns, name: c}",
         "driver=\"file.csi.azure.com\" handle=\"rg#a#s#v#ns\""},
        {"", "azureFile: {secretName: x, shareName: s, secretNamespace: other}",
         "handle=\"#x#s#v#other\""},
        {"", "azureFile: {secretName: x, shareName: s}",
         "migration_problem=\"could not find a secret namespace in PersistentVolumeSource or "
         "ClaimRef\""},
        {"", "portworxVolume: {volumeID: p}, " AFFINITY("topology.kubernetes.io/zone", "a"),
         "driver=\"pxd.portworx.com\" handle=\"p\" "
         "migrated_plugin=\"kubernetes.io/portworx-volume\" has_migrated_terms=true "
         "migrated_terms=[{expressions=[{key=\"topology.kubernetes.io/zone\" operator_name=\"In\" "
         "values=[\"a\"]}]}]"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct buffer yaml = {0};
        buffer_print(&yaml, "metadata: {name: v, %s}\nspec: {%s}", table[i].metadata,
                     table[i].spec);
        EXPECT(VOLUME, yaml.at, table[i].expected);
        buffer_free(&yaml);
    }
}

static void zones_get_the_drivers_label(void **state)
{
    (void)state;
    static const char beta[] = "failure-domain.beta.kubernetes.io";
    EXPECT(VOLUME,
           "metadata: {name: v}\nspec: {cinder: {volumeID: c}, " AFFINITY(
               "topology.kubernetes.io/zone", "a, b") "}",
           " terms=[{expressions=[{key=\"topology.kubernetes.io/zone\"",
           "migrated_terms=[{expressions=[{key=\"topology.cinder.csi.openstack.org/zone\" "
           "operator_name=\"In\" values=[\"a\" \"b\"]}]}]");
    EXPECT(VOLUME,
           "metadata: {name: v, labels: {topology.kubernetes.io/zone: 'b__ a__b'}}\n"
           "spec: {awsElasticBlockStore: {volumeID: vol-1}}",
           "has_migrated_terms=true migrated_terms=[{expressions=[{key=\"topology.ebs.csi.aws.com/"
           "zone\" operator_name=\"In\" values=[\"a\" \"b\"]}]}]");
    expect_absent(" terms=");
    EXPECT(VOLUME,
           "metadata: {name: v, labels: {topology.kubernetes.io/zone: a}}\n"
           "spec: {awsElasticBlockStore: {volumeID: vol-1}, " AFFINITY("k", "w") "}",
           "migrated_terms=[{expressions=[{key=\"k\" operator_name=\"In\" values=[\"w\"]} "
           "{key=\"topology.ebs.csi.aws.com/zone\" operator_name=\"In\" values=[\"a\"]}]}]",
           " terms=[{expressions=[{key=\"k\" operator_name=\"In\" values=[\"w\"]}]}]");
    struct buffer yaml = {0};
    buffer_print(&yaml,
                 "metadata: {name: v}\nspec: {gcePersistentDisk: {pdName: d}, nodeAffinity: "
                 "{required: {nodeSelectorTerms: [{matchExpressions: [{key: %s/zone, operator: In, "
                 "values: [a]}, {key: %s/region, operator: In, values: [r]}]}]}}}",
                 beta, beta);
    EXPECT(VOLUME, yaml.at,
           "migrated_terms=[{expressions=[{key=\"topology.gke.io/zone\" operator_name=\"In\" "
           "values=[\"a\"]} {key=\"topology.kubernetes.io/region\" operator_name=\"In\" "
           "values=[\"r\"]}]}]");
    buffer_free(&yaml);
}

static void a_storage_class_is_read(void **state)
{
    (void)state;
    EXPECT("StorageClass",
           "metadata: {name: fast}\nprovisioner: p\nvolumeBindingMode: WaitForFirstConsumer\n"
           "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}, {}]",
           "name=\"fast\" provisioner=\"p\" binding_mode=\"WaitForFirstConsumer\" "
           "topologies=[{expressions=[{key=\"zone\" operator_name=\"In\" values=[\"a\" \"b\"]}]} "
           "{}]");
}

static void csi_objects_are_read(void **state)
{
    (void)state;
    EXPECT("CSINode",
           "metadata: {name: n1, annotations: {storage.alpha.kubernetes.io/migrated-plugins: "
           "'kubernetes.io/aws-ebs,kubernetes.io/cinder'}}\n"
           "spec: {drivers: [{name: d, allocatable: {count: 3}}, {name: e}, {name: f, allocatable: "
           "{count: 0}}]}",
           "drivers=[{driver=\"d\" limited=true count=3} {driver=\"e\"} {driver=\"f\" "
           "limited=true}]",
           "migrated=[\"kubernetes.io/aws-ebs\" \"kubernetes.io/cinder\"]");
    EXPECT("CSIDriver", "metadata: {name: d}\nspec: {storageCapacity: true}",
           "name=\"d\" storage_capacity=true");
    EXPECT("CSIStorageCapacity",
           "metadata: {name: k, namespace: ns}\nstorageClassName: fast\ncapacity: 10Gi\n"
           "maximumVolumeSize: 0\nnodeTopology: {matchLabels: {zone: a}}",
           "namespace_name=\"ns\" name=\"k\" class_name=\"fast\" has_capacity=true "
           "capacity=10737418240 has_maximum=true topology={present=true labels=[{key=\"zone\" "
           "value=\"a\"}]}");
    EXPECT("VolumeAttachment",
           "metadata: {name: va}\nspec: {attacher: d, nodeName: n1, source: {persistentVolumeName: "
           "pv}}",
           "name=\"va\" attacher=\"d\" node_name=\"n1\" volume_name=\"pv\"");
}

static void owners_keep_their_kind(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    EXPECT("Service", "metadata: {name: s, namespace: ns}\nspec: {selector: {b: '1', a: '2'}}",
           "kind=\"Service\" namespace_name=\"ns\" name=\"s\" selector={present=true "
           "labels=[{key=\"a\" value=\"2\"} {key=\"b\" value=\"1\"}]}");
    EXPECT("Service", "metadata: {name: s, namespace: ns}\nspec: {}", "name=\"s\"");
    expect_absent("selector");
    EXPECT("ReplicationController", "metadata: {name: s}\nspec: {selector: {b: '1'}}",
           "kind=\"ReplicationController\"", "labels=[{key=\"b\" value=\"1\"}]");
    EXPECT("ReplicaSet", "metadata: {name: s}\nspec: {selector: {matchLabels: {b: '1'}}}",
           "kind=\"ReplicaSet\"", "labels=[{key=\"b\" value=\"1\"}]");
    assert_true(read_object("StatefulSet",
                            "metadata: {name: s, namespace: ns, uid: u}\n"
                            "spec: {selector: {matchExpressions: [{key: k, operator: Exists}]}}",
                            &m, &key));
    assert_true(str_is(key, "owner/StatefulSet/ns/s"));
    assert_int_equal(m.owner_set.owner.selector.expressions.count, 1);
}

static void a_budget_is_read(void **state)
{
    (void)state;
    EXPECT("PodDisruptionBudget",
           "metadata: {name: b, namespace: ns}\nspec: {selector: {matchLabels: {a: x}}}\n"
           "status: {disruptionsAllowed: 2, disruptedPods: {p1: '2026-01-02T03:04:05Z'}}",
           "selector={present=true labels=[{key=\"a\" value=\"x\"}]} allowed=2 "
           "disrupted=[\"p1\"]");
}

static void what_is_gone_is_named_by_kind(void **state)
{
    (void)state;
    static const char *const kinds[] = {CLAIM,
                                        VOLUME,
                                        "StorageClass",
                                        "CSINode",
                                        "CSIDriver",
                                        "Service",
                                        "ReplicaSet",
                                        "StatefulSet",
                                        "CSIStorageCapacity",
                                        "VolumeAttachment",
                                        "ReplicationController",
                                        "PodDisruptionBudget"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct message m, gone;
        struct str key;
        assert_true(read_object(kinds[i], "metadata: {name: o, namespace: ns}", &m, &key));
        kube_resource_of(str_of(kinds[i]))->gone(&m, &gone);
        assert_int_equal(gone.type, MSG_object_gone);
        assert_true(str_is(words_text(&object_kind_words, gone.object_gone.kind), kinds[i]));
        assert_true(str_is(gone.object_gone.name, "o"));
        assert_false(kube_resource_of(str_of(kinds[i]))->required);
    }
    assert_null(kube_resource_of(str_of("ConfigMap")));
}

static void faults_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *yaml, *error;
    } table[] = {
        {CLAIM, "metadata: {name: c, namespace: ns}\nspec: {resources: {requests: {storage: 1x}}}",
         "PersistentVolumeClaim ns/c: spec.resources.requests.storage: quantity \"1x\" is "
         "malformed"},
        {VOLUME, "metadata: {name: v}\nspec: {csi: {driver: 1}}",
         "PersistentVolume v: spec.csi.driver: wants a string, has a number"},
        {VOLUME, "metadata: {name: v, annotations: []}",
         "PersistentVolume v: metadata.annotations: wants an object, has a list"},
        {"StorageClass", "metadata: {name: s}\nallowedTopologies: [{matchLabelExpressions: [7]}]",
         "StorageClass s: allowedTopologies[0].matchLabelExpressions[0]: wants an object, has a "
         "number"},
        {"CSINode", "metadata: {name: n1}\nspec: {drivers: [{name: d, allocatable: {count: x}}]}",
         "CSINode n1: spec.drivers[0].allocatable.count: wants an integer, has a string"},
        {"CSIStorageCapacity", "metadata: {name: k}\ncapacity: []",
         "CSIStorageCapacity k: capacity: wants a quantity, has a list"},
        {"VolumeAttachment", "spec: {}", "VolumeAttachment : metadata.name: must not be empty"},
        {"Service", "metadata: {name: s, namespace: ns}\nspec: {selector: {a: 1}}",
         "Service ns/s: spec.selector.a: wants a string, has a number"},
        {"PodDisruptionBudget", "metadata: {name: b}\nstatus: {disruptionsAllowed: many}",
         "PodDisruptionBudget b: status.disruptionsAllowed: wants an integer, has a string"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct message m;
        struct str key;
        assert_false(read_object(table[i].kind, table[i].yaml, &m, &key));
        assert_string_equal(printed.at, table[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_claim_is_read, reset),
        cmocka_unit_test_setup(the_annotation_names_the_class_first, reset),
        cmocka_unit_test_setup(a_volume_is_read, reset),
        cmocka_unit_test_setup(in_tree_volumes_are_translated, reset),
        cmocka_unit_test_setup(zones_get_the_drivers_label, reset),
        cmocka_unit_test_setup(a_storage_class_is_read, reset),
        cmocka_unit_test_setup(csi_objects_are_read, reset),
        cmocka_unit_test_setup(owners_keep_their_kind, reset),
        cmocka_unit_test_setup(a_budget_is_read, reset),
        cmocka_unit_test_setup(what_is_gone_is_named_by_kind, reset),
        cmocka_unit_test_setup(faults_are_named, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
