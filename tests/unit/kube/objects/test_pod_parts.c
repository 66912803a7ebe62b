/* test_pod_parts: what a pod asks of other pods, of volumes and of node features. */
#include "tests/unit/kube/objects/reading.h"

#define META      "metadata: {name: a, namespace: ns, uid: u1}\n"
#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void affinity_terms_are_read(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {affinity: {podAffinity: {" REQUIRED ": [{topologyKey: zone, labelSelector: "
                "{matchLabels: {b: '1', a: '2'}, matchExpressions: [{key: k, operator: In, values: "
                "[v]}]}}], " PREFERRED ": [{weight: 7, podAffinityTerm: {topologyKey: host, "
                "namespaces: [x, w]}}]}, podAntiAffinity: {" REQUIRED
                ": [{topologyKey: host}], " PREFERRED
                ": [{weight: 100, podAffinityTerm: {topologyKey: zone}}]}}}",
           "affinity_required=[{selector={present=true labels=[{key=\"a\" value=\"2\"} {key=\"b\" "
           "value=\"1\"}] expressions=[{key=\"k\" operator_name=\"In\" values=[\"v\"]}]} "
           "namespaces=[\"ns\"] topology_key=\"zone\"}]",
           "affinity_preferred=[{namespaces=[\"x\" \"w\"] "
           "topology_key=\"host\" weight=7}]",
           "anti_affinity_required=[{namespaces=[\"ns\"] "
           "topology_key=\"host\"}]",
           "anti_affinity_preferred=[{namespaces=[\"ns\"] "
           "topology_key=\"zone\" weight=100}]");
}

static const struct affinity_term *first_term(const char *term)
{
    static struct message m;
    struct str key;
    struct buffer yaml = {0};
    buffer_print(&yaml, META "spec: {affinity: {podAffinity: {" REQUIRED ": [%s]}}}", term);
    assert_true(read_object("Pod", yaml.at, &m, &key));
    buffer_free(&yaml);
    assert_int_equal(m.pod_set.pod.affinity_required.count, 1);
    return &m.pod_set.pod.affinity_required.at[0];
}

static void the_pods_own_namespace_counts_only_without_any_other(void **state)
{
    (void)state;
    const struct affinity_term *t = first_term("{namespaces: [], labelSelector: {}}");
    assert_int_equal(t->namespaces.count, 1);
    assert_true(str_is(t->namespaces.at[0], "ns"));
    assert_true(t->selector.present);
    assert_false(t->namespace_selector.present);
    t = first_term("{namespaceSelector: {}}");
    assert_int_equal(t->namespaces.count, 0);
    assert_true(t->namespace_selector.present);
    assert_false(t->selector.present);
    t = first_term("{namespaceSelector: null, namespaces: [x]}");
    assert_int_equal(t->namespaces.count, 1);
    assert_true(str_is(t->namespaces.at[0], "x"));
    assert_false(t->namespace_selector.present);
}

static void spread_constraints_are_read(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, "
                "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}, "
                "minDomains: 3, matchLabelKeys: [pod-template-hash], nodeAffinityPolicy: Ignore, "
                "nodeTaintsPolicy: Honor}, {maxSkew: 1, topologyKey: host, whenUnsatisfiable: "
                "ScheduleAnyway}]}",
           "has_spread=true",
           "spread=[{max_skew=2 topology_key=\"zone\" when_unsatisfiable=\"DoNotSchedule\" "
           "selector={present=true labels=[{key=\"a\" value=\"b\"}]} min_domains=3 "
           "match_label_keys=[\"pod-template-hash\"] node_affinity_policy=\"Ignore\" "
           "node_taints_policy=\"Honor\"} {max_skew=1 topology_key=\"host\" "
           "when_unsatisfiable=\"ScheduleAnyway\"}]");
}

static void volumes_that_count_are_read(void **state)
{
    (void)state;
    EXPECT("Pod",
           META
           "spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c, readOnly: true}}, "
           "{name: e, ephemeral: {}}, {name: h, emptyDir: {}}, {name: i, csi: {driver: d}}, "
           "{name: r, rbd: {monitors: [m, o], pool: p, image: i}}, {name: s, iscsi: {iqn: q, "
           "readOnly: true}}]}",
           "claims=[\"c\" \"a-e\"]",
           "volumes=[{kind=\"claim\" name=\"c\" read_only=true volume=\"v\"} {kind=\"ephemeral\" "
           "name=\"a-e\" volume=\"e\"} {kind=\"csi\" name=\"d\" volume=\"i\"} {kind=\"rbd\" "
           "monitors=[\"m\" \"o\"] pool=\"p\" image=\"i\" volume=\"r\"} {kind=\"iscsi\" name=\"q\" "
           "read_only=true volume=\"s\"}]");
}

static void in_tree_disks_are_translated(void **state)
{
    (void)state;
    static const struct {
        const char *volume, *expected;
    } table[] = {
        {"gcePersistentDisk: {pdName: d, readOnly: true}",
         "kind=\"gce-pd\" name=\"d\" read_only=true volume=\"v\" driver=\"pd.csi.storage.gke.io\" "
         "handle=\"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d\"}"},
        {"awsElasticBlockStore: {volumeID: 'aws://us-east-1a/vol-1'}",
         "kind=\"aws-ebs\" name=\"aws://us-east-1a/vol-1\" volume=\"v\" driver=\"ebs.csi.aws.com\" "
         "handle=\"vol-1\"}"},
        {"awsElasticBlockStore: {volumeID: 'aws:///vol-2/'}", "handle=\"vol-2\"}"},
        {"awsElasticBlockStore: {volumeID: 'aws:///vo%6c-2?x#y'}", "handle=\"vol-2\"}"},
        {"awsElasticBlockStore: {volumeID: anything}", "handle=\"anything\"}"},
        {"awsElasticBlockStore: {volumeID: 'aws://z/a/vol-2'}",
         "problem=\"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS "
         "volume (aws://z/a/vol-2)\"}"},
        {"cinder: {volumeID: c}", "driver=\"cinder.csi.openstack.org\" handle=\"c\"}"},
        {"portworxVolume: {volumeID: p}", "driver=\"pxd.portworx.com\" handle=\"p\"}"},
        {"vsphereVolume: {volumePath: '[ds] a.vmdk'}",
         "driver=\"csi.vsphere.vmware.com\" handle=\"[ds] a.vmdk\"}"},
        {"azureDisk: {diskName: dn, diskURI: /sub/n, kind: Managed}",
         "name=\"dn\" volume=\"v\" driver=\"disk.csi.azure.com\" handle=\"/sub/n\"}"},
        {"azureDisk: {diskName: dn, diskURI: /sub/n}", "handle=\"/sub/n\"}"},
        {"azureDisk: {diskName: dn, diskURI: u, kind: Dedicated}",
         "problem=\"kind(Dedicated) is not supported in csi migration\"}"},
        {"azureFile: {secretName: azure-storage-account-acc-secret, shareName: s}",
         "driver=\"file.csi.azure.com\" handle=\"#acc#s#v#ns\"}"},
        {"azureFile: {secretName: other, shareName: s}", "handle=\"#other#s#v#ns\"}"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct buffer yaml = {0};
        buffer_print(&yaml, META "spec: {volumes: [{name: v, %s}]}", table[i].volume);
        EXPECT("Pod", yaml.at, table[i].expected);
        buffer_free(&yaml);
    }
}

static void the_controller_is_the_owner_that_controls(void **state)
{
    (void)state;
    EXPECT("Pod",
           "metadata: {name: a, namespace: ns, uid: u, ownerReferences: [{apiVersion: v1, kind: "
           "Node, name: n, uid: x}, {apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: z, "
           "controller: true}]}",
           "owner_kind=\"ReplicaSet\"", "owner_name=\"web-1\"", "owner_api=\"apps/v1\"");
    EXPECT("Pod", META, "name=\"a\"");
    expect_absent("owner_");
}

static void the_first_disruption_condition_counts(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "status: {conditions: [{type: DisruptionTarget, status: 'True', reason: "
                "PreemptionByScheduler, message: m}, {type: DisruptionTarget, status: 'False'}]}",
           "preempted=true", "disruption_target=\"m\"");
    EXPECT("Pod",
           META "status: {conditions: [{type: DisruptionTarget, status: 'True', reason: "
                "EvictionByEvictionAPI, message: m}]}",
           "disruption_target=\"m\"");
    expect_absent("preempted");
    EXPECT("Pod",
           META "status: {conditions: [{type: DisruptionTarget, status: 'False', reason: "
                "PreemptionByScheduler}]}",
           "name=\"a\"");
    expect_absent("preempted");
}

static void the_first_condition_of_a_resize_counts(void **state)
{
    (void)state;
    EXPECT("Pod",
           META
           "spec: {nodeName: n1}\nstatus: {conditions: [{type: Ready, reason: Deferred}, {type: "
           "PodResizePending, reason: Deferred}, {type: PodResizePending, reason: Infeasible}]}",
           "resize_deferred=true");
    EXPECT("Pod",
           META "spec: {nodeName: n1}\nstatus: {conditions: [{type: PodResizePending, reason: "
                "Infeasible}, {type: PodResizePending, reason: Deferred}]}",
           "name=\"a\"");
    expect_absent("resize_deferred");
    EXPECT("Pod", META "status: {conditions: [{type: PodResizePending, status: 'True'}]}",
           "name=\"a\"");
    expect_absent("resize_deferred");
    EXPECT("Pod", META "status: {conditions: [{type: PodResizeInProgress, reason: Deferred}]}",
           "name=\"a\"");
    expect_absent("resize_deferred");
}

static void features_are_inferred(void **state)
{
    (void)state;
    EXPECT("Pod",
           META
           "spec: {initContainers: [{name: i, restartPolicyRules: [{action: Restart}, {action: "
           "RestartAllContainers}]}]}",
           "features=[\"RestartAllContainersOnContainerExits\"]");
    EXPECT("Pod",
           META "spec: {hostNetwork: true, hostUsers: false, containers: [{name: c, "
                "restartPolicyRules: [{action: RestartAllContainers}]}]}",
           "features=[\"RestartAllContainersOnContainerExits\" "
           "\"UserNamespacesHostNetworkSupport\"]");
    EXPECT("Pod", META "spec: {hostNetwork: true, hostUsers: true}", "name=\"a\"");
    expect_absent("features");
    EXPECT("Pod", META "spec: {hostNetwork: true}", "name=\"a\"");
    expect_absent("features");
    EXPECT("Pod", META "spec: {hostUsers: false}", "name=\"a\"");
    expect_absent("features");
}

static void faults_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *error;
    } table[] = {
        {"{affinity: {podAffinity: {" REQUIRED ": [{labelSelector: {matchLabels: {a: 1}}}]}}}",
         "Pod ns/a: spec.affinity.podAffinity." REQUIRED
         "[0].labelSelector.matchLabels.a: wants a string, has a number"},
        {"{affinity: {podAntiAffinity: {" PREFERRED ": [{weight: x}]}}}",
         "Pod ns/a: spec.affinity.podAntiAffinity." PREFERRED
         "[0].weight: wants an integer, has a string"},
        {"{topologySpreadConstraints: [{maxSkew: 1}, {minDomains: x}]}",
         "Pod ns/a: spec.topologySpreadConstraints[1].minDomains: wants an integer, has a string"},
        {"{volumes: [{name: v, gcePersistentDisk: {pdName: 7}}]}",
         "Pod ns/a: spec.volumes[0].gcePersistentDisk.pdName: wants a string, has a number"},
        {"{volumes: [{name: v, rbd: []}]}",
         "Pod ns/a: spec.volumes[0].rbd: wants an object, has a list"},
        {"{hostUsers: maybe}", "Pod ns/a: spec.hostUsers: wants true or false, has a string"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct message m;
        struct str key;
        struct buffer yaml = {0};
        buffer_print(&yaml, META "spec: %s", table[i].spec);
        assert_false(read_object("Pod", yaml.at, &m, &key));
        assert_string_equal(printed.at, table[i].error);
        buffer_free(&yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(affinity_terms_are_read, reset),
        cmocka_unit_test_setup(the_pods_own_namespace_counts_only_without_any_other, reset),
        cmocka_unit_test_setup(spread_constraints_are_read, reset),
        cmocka_unit_test_setup(volumes_that_count_are_read, reset),
        cmocka_unit_test_setup(in_tree_disks_are_translated, reset),
        cmocka_unit_test_setup(the_controller_is_the_owner_that_controls, reset),
        cmocka_unit_test_setup(the_first_disruption_condition_counts, reset),
        cmocka_unit_test_setup(the_first_condition_of_a_resize_counts, reset),
        cmocka_unit_test_setup(features_are_inferred, reset),
        cmocka_unit_test_setup(faults_are_named, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
