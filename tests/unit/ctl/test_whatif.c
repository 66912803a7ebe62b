/* test_whatif: what berth whatif and berth capacity make of a cluster in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/whatif/whatif.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/release/feature_gates.h"
#include "scheduler/catalog/catalog.h"

static struct arena arena;
static struct world *world;
static struct whatif w;
static struct manifests m;
static struct scheduler_config config;
static struct buffer out;
static int64_t created;

static int start(void **state)
{
    struct features features;
    struct str error;
    char why[256];
    (void)state;
    assert_true(feature_gates_read("", release_of(36), &features, why, sizeof(why)));
    assert_true(scheduler_config_load(NULL, features, &config, &arena, &error));
    config.profiles.at[0].gangs = GANGS_on;
    world = world_new(config.profiles.at, config.profiles.count, 2);
    w = (struct whatif){.space = STR_LITERAL("default")};
    m = (struct manifests){.release = 36, .space = STR_LITERAL("default"), .p = config.profiles.at};
    whatif_begin(&w, world);
    created = 0;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    manifests_free(&m);
    whatif_free(&w);
    world_free(&world);
    arena_free(&arena);
    buffer_free(&out);
    return 0;
}

/* ---- the cluster ---- */

static void add_node(const char *name, int64_t cpu, const char *zone)
{
    struct quantity room[] = {{STR_LITERAL("cpu"), cpu},
                              {STR_LITERAL("memory"), INT64_C(1) << 40},
                              {STR_LITERAL("pods"), 110}};
    struct label labels[] = {{STR_LITERAL("kubernetes.io/hostname"), str_of(name)},
                             {STR_LITERAL("topology.kubernetes.io/zone"), str_of(zone)}};
    world_node_set(world, &(struct node){.name = str_of(name),
                                         .uid = str_of(name),
                                         .labels = {2, labels},
                                         .allocatable = {3, room}});
}

/* As a controller's, on a node unless that is empty. */
static struct pod made(const char *name, int64_t cpu, int64_t priority, const char *node)
{
    struct quantity *ask = arena_take(&arena, sizeof(*ask));
    *ask = (struct quantity){STR_LITERAL("cpu"), cpu};
    return (struct pod){.namespace_name = STR_LITERAL("default"),
                        .name = str_of(name),
                        .uid = str_of(name),
                        .created = ++created,
                        .scheduler_name = STR_LITERAL("default-scheduler"),
                        .priority = priority,
                        .has_priority = true,
                        .node_name = str_of(node),
                        .request = {1, ask},
                        .score_request = {1, ask},
                        .usage = {1, ask},
                        .usage_score_cpu = cpu};
}

static void add_pod(const char *name, int64_t cpu, int64_t priority, const char *node)
{
    const struct pod pod = made(name, cpu, priority, node);
    world_pod_set(world, &pod);
}

static void add_owned(const char *name, const char *kind, const char *node)
{
    struct pod pod = made(name, 100, 0, node);
    pod.owner_kind = str_of(kind);
    world_pod_set(world, &pod);
}

/* ---- what is asked ---- */

static void read(const char *text)
{
    if (!manifests_take(&m, "f", str_of(text)))
        fail_msg("%.*s", STR_ARG(m.error));
}

static void create(const char *text, int64_t replicas)
{
    read(text);
    manifests_set_others(&m, world);
    for (uint32_t i = 0; i < m.workloads.count; i++)
        if (!whatif_create(&w, &m, &m.workloads.at[i], replicas))
            fail_msg("%.*s", STR_ARG(w.error));
}

/* "name=node name=-", in the order in which they were decided. */
static void expect(const char *places)
{
    whatif_decide(&w);
    buffer_reset(&out);
    for (uint32_t i = 0; i < w.pods.count; i++)
        buffer_print(&out, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(w.pods.at[i].name),
                     STR_ARG(w.pods.at[i].node.len > 0 ? w.pods.at[i].node : STR_LITERAL("-")));
    buffer_add_text(&out, "");
    assert_string_equal(out.at != NULL ? out.at : "", places);
}

static void expect_list(struct strs list, const char *names)
{
    buffer_reset(&out);
    for (uint32_t i = 0; i < list.count; i++)
        buffer_print(&out, "%s%.*s", i > 0 ? " " : "", STR_ARG(list.at[i]));
    buffer_add_text(&out, "");
    assert_string_equal(out.at != NULL ? out.at : "", names);
}

#define POD(name, cpu)                                                                             \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: c, "       \
    "image: i, resources: {requests: {cpu: " cpu "}}}]}}\n"
#define TEMPLATE(cpu)                                                                              \
    "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {limits: "    \
    "{cpu: " cpu "}}}]}}"
#define SELECTOR "selector: {matchLabels: {a: b}}"

/* ---- changes ---- */

static void a_deleted_pod_makes_room(void **state)
{
    (void)state;
    add_node("n1", 1000, "a");
    add_pod("old", 1000, 0, "n1");
    create(POD("new", "1"), -1);
    expect("new=-");
    assert_string_equal(
        w.pods.at[0].message.at,
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod.");
    assert_true(whatif_delete(&w, STR_LITERAL("pod/default/old")));
    expect_list(w.deleted, "default/old");
    expect("new=n1");
    assert_int_equal(w.pods.at[0].message.len, 0);
    assert_false(whatif_delete(&w, STR_LITERAL("old")));
    assert_string_equal(w.error.at, "there is no pod default/old");
    assert_false(whatif_delete(&w, STR_LITERAL("a/b/c/d")));
}

static void pods_of_nodes_that_fail_go_elsewhere(void **state)
{
    struct pod leaving = made("leaving", 100, 0, "n1");
    (void)state;
    add_node("n1", 4000, "a");
    add_node("n2", 4000, "a");
    add_node("n3", 1500, "b");
    add_pod("p2", 1000, 0, "n2");
    add_pod("p1", 1000, 0, "n1");
    add_pod("p3", 300, 0, "n3");
    add_owned("agent", "DaemonSet", "n1");
    add_owned("static", "Node", "n2");
    leaving.deleting = true;
    world_pod_set(world, &leaving);
    assert_true(whatif_fail(&w, STR_LITERAL("zone=a")));
    expect_list(w.failed, "n1 n2");
    expect_list(w.gone, "default/leaving default/agent default/static");
    expect("p1=n3 p2=-");
    assert_int_equal(whatif_pending(&w), 1);
    assert_string_equal(w.pods.at[0].was_on.at, "n1");
    assert_false(whatif_fail(&w, STR_LITERAL("=x")));
    assert_false(whatif_fail(&w, STR_LITERAL("zone=a")));
    assert_string_equal(w.error.at, "no node has the label zone=a");
    assert_false(whatif_drain(&w, STR_LITERAL("n1")));
    assert_string_equal(w.error.at, "--fail has taken away already the node n1");
    assert_false(whatif_cordon(&w, STR_LITERAL("n4")));
    assert_string_equal(w.error.at, "there is no node n4");
}

static void added_nodes_are_copies_without_pods(void **state)
{
    struct node like, added;
    (void)state;
    add_node("n1", 1000, "a");
    add_node("n1-new-1", 10, "a");
    add_pod("old", 1000, 0, "n1");
    assert_true(world_node(world, STR_LITERAL("n1"), &like, &arena));
    whatif_add_nodes(&w, &like, 2);
    expect_list(w.added, "n1-new-2 n1-new-3");
    assert_true(world_node(world, STR_LITERAL("n1-new-2"), &added, &arena));
    assert_true(str_is(added.labels.at[0].value, "n1-new-2"));
    assert_true(str_is(added.labels.at[1].value, "a"));
    create(POD("p", "1"), 3);
    expect("p-1=n1-new-2 p-2=n1-new-3 p-3=-");
}

static void a_cordoned_node_keeps_its_pods_and_takes_no_more(void **state)
{
    (void)state;
    add_node("n1", 4000, "a");
    add_node("n2", 1000, "a");
    add_pod("old", 1000, 0, "n1");
    assert_true(whatif_cordon(&w, STR_LITERAL("n1")));
    assert_false(whatif_cordon(&w, STR_LITERAL("n9")));
    assert_string_equal(w.error.at, "there is no node n9");
    create(POD("p", "600m"), 2);
    expect("p-1=n2 p-2=-");
    assert_true(str_starts_with(w.pods.at[1].message,
                                "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were "
                                "unschedulable."));
}

static void a_drained_node_keeps_what_is_tied_to_it(void **state)
{
    struct pod pod = made("web", 100, 0, "n1");
    struct label zone = {STR_LITERAL("topology.kubernetes.io/zone"), STR_LITERAL("a")};
    struct pod seen;
    (void)state;
    add_node("n1", 4000, "a");
    add_node("n2", 4000, "b");
    pod.labels.count = 1;
    pod.labels.at = &zone;
    pod.nominated_node = STR_LITERAL("n1");
    world_pod_set(world, &pod);
    add_owned("agent", "DaemonSet", "n1");
    assert_true(whatif_drain(&w, STR_LITERAL("n1")));
    expect_list(w.drained, "n1");
    expect_list(w.stayed, "default/agent");
    assert_true(world_pod(world, STR_LITERAL("default"), STR_LITERAL("web"), &seen, &arena));
    assert_int_equal(seen.labels.count, 0);
    assert_int_equal(seen.nominated_node.len, 0);
    expect("web=n2");
    assert_true(world_pod(world, STR_LITERAL("default"), STR_LITERAL("web"), &seen, &arena));
    assert_true(str_is(seen.labels.at[0].value, "b"));
    assert_false(whatif_drain(&w, STR_LITERAL("n9")));
}

static void a_pod_that_is_made_anew_has_left_its_devices(void **state)
{
    struct str uid = STR_LITERAL("web");
    struct device_claim named = {.claim = STR_LITERAL("c")};
    struct pod pod = made("web", 100, 0, "n1");
    struct message claim = {
        .type = MSG_resource_claim_set,
        .resource_claim_set.resource_claim = {.namespace_name = STR_LITERAL("default"),
                                              .name = STR_LITERAL("c"),
                                              .uid = STR_LITERAL("c"),
                                              .allocated = true,
                                              .reserved_for = {1, &uid}}};
    (void)state;
    add_node("n1", 4000, "a");
    world_take(world, &claim);
    pod.device_claims.count = 1;
    pod.device_claims.at = &named;
    world_pod_set(world, &pod);
    assert_true(whatif_drain(&w, STR_LITERAL("n1")));
    const struct resource_claim *left =
        catalog_resource_claim(world_catalog(world), STR_LITERAL("default"), STR_LITERAL("c"));
    assert_false(left->allocated);
    assert_int_equal(left->reserved_for.count, 0);
}

/* ---- order ---- */

static void who_is_more_important_comes_first_then_who_came_first(void **state)
{
    (void)state;
    add_node("n1", 2500, "a");
    add_pod("waits", 1000, 0, "");
    add_pod("high", 1000, 10, "");
    add_pod("later", 1000, 0, "");
    whatif_take_pending(&w);
    create(POD("new", "1"), -1);
    expect("high=n1 waits=n1 later=- new=-");
}

static void who_was_pending_before_is_left_alone_unless_asked_for(void **state)
{
    (void)state;
    add_node("n1", 1000, "a");
    add_pod("waits", 1000, 10, "");
    create(POD("new", "1"), -1);
    expect("new=n1");
}

/* ---- preemption ---- */

static void who_has_to_go_is_said(void **state)
{
    (void)state;
    add_node("n1", 2000, "a");
    add_node("n2", 2000, "a");
    add_pod("low-1", 2000, 5, "n1");
    add_pod("low-2", 2000, 1, "n2");
    create("apiVersion: scheduling.k8s.io/v1\n"
           "kind: PriorityClass\n"
           "metadata: {name: high}\n"
           "value: 1000\n"
           "---\n"
           "apiVersion: v1\n"
           "kind: Pod\n"
           "metadata: {name: urgent, namespace: other}\n"
           "spec: {priorityClassName: high, containers: [{name: c, image: i, "
           "resources: {requests: {cpu: 1500m}}}]}\n",
           -1);
    expect("urgent=n2");
    assert_int_equal(w.evicted.count, 1);
    assert_string_equal(w.evicted.at[0].pod.at, "default/low-2");
    assert_string_equal(w.evicted.at[0].node.at, "n2");
    assert_string_equal(w.evicted.at[0].by.at, "other/urgent");
    buffer_reset(&out);
    whatif_text(&w, &out);
    assert_string_equal(out.at, "POD            WHY      WAS ON   GOES TO  MESSAGE\n"
                                "other/urgent   new               n2\n"
                                "\n"
                                "WOULD GO                FROM     FOR\n"
                                "default/low-2           n2       other/urgent\n"
                                "\n"
                                "1 to decide: 1 placed, 0 pending, 1 would be evicted\n");
    buffer_reset(&out);
    whatif_json(&w, &out);
    assert_non_null(strstr(out.at, "\"evicted\": [\n    {\n      \"pod\": \"default/low-2\",\n"
                                   "      \"node\": \"n2\",\n      \"for\": \"other/urgent\""));
    assert_non_null(strstr(out.at, "\"scheduled\": 1,\n  \"pending\": 0\n"));
}

/* ---- claims ---- */

#define CLASS                                                                                      \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: "   \
    "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}\n---\n"
#define VOLUME(name, node)                                                                         \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: "       \
    "{storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: local, local: {path: /d}, "   \
    "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "                     \
    "kubernetes.io/hostname, operator: In, values: [" node "]}]}]}}}, status: {phase: "            \
    "Available}}\n---\n"
#define CLAIM                                                                                      \
    "spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: "         \
    "{storage: 1Gi}}}"

static bool has_claim(const char *name)
{
    return world_has_object(world, STR_LITERAL("PersistentVolumeClaim"), STR_LITERAL("default"),
                            str_of(name));
}

/* Whoever calls a volume of its pods like a template has the claim in its place. */
static void claims_are_made_of_a_statefulset_s_templates(void **state)
{
    (void)state;
    add_node("n1", 9000, "a");
    add_node("n2", 9000, "a");
    create(
        CLASS VOLUME("v1", "n2") VOLUME(
            "v2",
            "n1") "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: "
                  "3, "
                  "volumeClaimTemplates: [{metadata: {name: d}, " CLAIM
                  "}], template: {metadata: {labels: "
                  "{app: db}}, spec: {volumes: [{name: d, emptyDir: {}}, {name: t, emptyDir: {}}], "
                  "containers: [{name: c, image: i}]}}}}",
        -1);
    whatif_decide(&w);
    assert_int_equal(w.pods.count, 3);
    assert_int_equal(w.pods.at[0].node.len > 0, 1);
    assert_int_equal(w.pods.at[1].node.len > 0, 1);
    assert_false(str_equal(w.pods.at[0].node, w.pods.at[1].node));
    assert_int_equal(w.pods.at[2].node.len, 0);
    assert_true(str_starts_with(w.pods.at[2].message,
                                "0/2 nodes are available: 2 node(s) didn't find available "
                                "persistent volumes to bind."));
    assert_true(has_claim("d-db-0") && has_claim("d-db-2") && !has_claim("d-db-3"));
}

/* As a former pod of that number has left it. */
static void a_claim_that_is_there_is_the_pod_s(void **state)
{
    (void)state;
    add_node("n1", 9000, "a");
    add_node("n2", 9000, "a");
    create(CLASS VOLUME("v2", "n2") "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                                    "{name: d-db-0, annotations: "
                                    "{pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: "
                                    "v2, storageClassName: "
                                    "local, accessModes: [ReadWriteOnce], resources: {requests: "
                                    "{storage: 1Gi}}}, status: "
                                    "{phase: Bound}}\n---\n"
                                    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: "
                                    "db}, spec: {replicas: 1, "
                                    "volumeClaimTemplates: [{metadata: {name: d}}], template: "
                                    "{spec: {containers: [{name: "
                                    "c, image: i}]}}}}",
           -1);
    expect("db-0=n2");
}

/* ---- groups ---- */

static void a_group_is_placed_as_one_or_not_at_all(void **state)
{
    struct message group = {.type = MSG_pod_group_set,
                            .pod_group_set.group = {.api = STR_LITERAL("scheduling.x-k8s.io"),
                                                    .namespace_name = STR_LITERAL("default"),
                                                    .name = STR_LITERAL("g"),
                                                    .uid = STR_LITERAL("g"),
                                                    .min_member = 3}};
    static const char text[] =
        "{apiVersion: v1, kind: Pod, metadata: {name: m, labels: {scheduling.x-k8s.io/pod-group: "
        "g}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
    (void)state;
    add_node("n1", 2500, "a");
    world_take(world, &group);
    create(text, 3);
    expect("m-1=- m-2=- m-3=-");
    assert_true(str_starts_with(w.pods.at[0].message, "3 more pods have to be placed together"));
    assert_true(str_starts_with(w.pods.at[2].message, "0/1 nodes are available"));
    add_node("n2", 1500, "a");
    expect("m-1=n1 m-2=n1 m-3=n2");
}

/* ---- manifests ---- */

static void all_that_makes_pods(void **state)
{
    (void)state;
    add_node("n1", 64000, "a");
    add_pod("web-1", 100, 0, "n1");
    create("apiVersion: v1\nkind: List\nitems:\n"
           "- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: "
           "2, " SELECTOR ", template: " TEMPLATE(
               "1") "}}\n"
                    "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: "
                    "{replicas: 2, "
                    "ordinals: {start: 4}, " SELECTOR ", template: " TEMPLATE(
                        "1") "}}\n"
                             "---\n"
                             "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: rs}, spec: "
                             "{" SELECTOR ", template: " TEMPLATE(
                                 "1") "}}\n"
                                      "---\n"
                                      "{apiVersion: batch/v1, kind: Job, metadata: {name: job}, "
                                      "spec: {parallelism: 3, "
                                      "completions: 2, template: " TEMPLATE(
                                          "1") "}}\n"
                                               "---\n"
                                               "{apiVersion: v1, kind: ConfigMap, metadata: {name: "
                                               "any}, data: {x: y}}\n",
           -1);
    expect("web-2=n1 web-3=n1 db-4=n1 db-5=n1 rs-1=n1 job-1=n1 job-2=n1");
    struct pod pod;
    assert_true(world_pod(world, STR_LITERAL("default"), STR_LITERAL("web-2"), &pod, &arena));
    assert_true(str_is(pod.owner_kind, "ReplicaSet") && str_is(pod.owner_name, "web"));
    assert_int_equal(pod.request.at[0].amount, 1000); /* as limits say */
}

static void as_many_as_are_asked_for(void **state)
{
    (void)state;
    add_node("n1", 3000, "a");
    create("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: "
           "9, " SELECTOR ", template: " TEMPLATE("1") "}}",
           2);
    expect("web-1=n1 web-2=n1");
}

static void its_pods_are_spread_as_its_controller_would_have_it(void **state)
{
    (void)state;
    add_node("n1", 64000, "a");
    add_node("n2", 64000, "b");
    create("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: "
           "4, " SELECTOR
           ", template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
           "i}]}}}}",
           -1);
    expect("web-1=n1 web-2=n2 web-3=n1 web-4=n2");
}

static void refused(const char *text, const char *why)
{
    struct manifests none = {.release = 36, .space = STR_LITERAL("default")};
    struct pod pod;
    bool fine = manifests_take(&none, "f", str_of(text)) &&
                manifests_pod(&none, &none.workloads.at[0], 1, &pod, &none.arena) &&
                manifests_set_claims(&none, &none.workloads.at[0], 1, world);
    assert_false(fine);
    assert_string_equal(none.error.at, why);
    manifests_free(&none);
}

static void what_is_not_understood_is_refused(void **state)
{
    (void)state;
    refused(POD("a", "1") "---\n{kind: Foo, apiVersion: v1}",
            "f: document 2: kind: objects of this kind are not known here: Foo");
    refused("{kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
            "{containerz: []}}]}",
            "f: items[0]: spec.containerz: unknown field, did you mean \"containers\"?");
    refused("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 2}}",
            "f: spec.replica: unknown field, did you mean \"replicas\"?");
    refused("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: "
            "{nodeSelektor: {}}}}}",
            "f: spec.template.spec.nodeSelektor: unknown field, did you mean \"nodeSelector\"?");
    refused("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}",
            "f: apiVersion: must be apps/v1, not apps/v1beta1");
    refused("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}}",
            "f: kind: a DaemonSet has its pods where its nodes are, and none is made here");
    refused(
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: "
        "{volumeClaimTemplates: [{metadata: {name: d}}, {}], template: {spec: {containers: []}}}}",
        "f: spec.volumeClaimTemplates[1].metadata.name: is missing");
    refused(
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: "
        "{volumeClaimTemplates: [{metadata: {name: d}}], template: " TEMPLATE("1") "}}",
        "f: spec.volumeClaimTemplates[0]: spec.storageClassName: is missing, and it is not known "
        "here which class is the default one: name it, or \"\" for none");
    refused(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}}",
        "f: spec.storageClassName: is missing, and it is not known here which class is the default "
        "one: name it, or \"\" for none");
    refused("{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {parallelism: -1}}",
            "f: spec.parallelism: must be a whole number, and not negative");
    refused("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1}}",
            "f: spec.nodeName: the pod has a node, and nobody decides it");
    refused("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: x, "
            "containers: [{name: c}]}}",
            "f: pod default/a-1: no PriorityClass with name x was found");
    refused(POD("a", "-1"),
            "f: spec.containers[0].resources.requests.cpu: must be greater than or equal to 0, not "
            "\"-1\"");
    refused("{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: "
            "{initContainers: [{name: a, resources: {requests: {cpu: 1}, limits: {cpu: 1000m}}}, "
            "{name: b, resources: {requests: {cpu: 2}, limits: {cpu: 1900m}}}]}}}}",
            "f: spec.template.spec.initContainers[1].resources.requests.cpu: must be less than or "
            "equal to cpu limit of 1900m, not \"2\"");
    refused("{a: [}", "f: line 1, column 6: did not find expected node content");
    refused("", "f: there is no document in it");
}

static void a_pod_that_is_there_is_not_made_again(void **state)
{
    (void)state;
    add_node("n1", 3000, "a");
    add_pod("p", 100, 0, "n1");
    read(POD("p", "1"));
    assert_false(whatif_create(&w, &m, &m.workloads.at[0], -1));
    assert_string_equal(w.error.at,
                        "there is such a pod already, which --delete takes away: default/p");
}

/* ---- capacity ---- */

static int64_t fits(const char *text, struct capacity *c)
{
    manifests_free(&m);
    m = (struct manifests){.release = 36, .space = STR_LITERAL("default"), .p = config.profiles.at};
    *c = (struct capacity){0};
    read(text);
    if (!capacity_count(&w, &m, 100, c))
        fail_msg("%.*s", STR_ARG(w.error));
    for (int64_t i = 1; i <= c->fit + 1; i++)
        (void)world_pod_gone(world, STR_LITERAL("default"),
                             arena_print(&arena, "p-%lld", (long long)i));
    return c->fit;
}

static void one_more_millicore_does_not_fit(void **state)
{
    struct capacity c;
    (void)state;
    add_node("n1", 4000, "a");
    add_node("n2", 3000, "a");
    add_pod("old", 1000, 0, "n1");
    assert_int_equal(fits(POD("p", "1000m"), &c), 6);
    assert_true(c.stopped && c.nodes.count == 2);
    assert_true(str_is(c.nodes.at[0].node, "n1") && c.nodes.at[0].fit == 3);
    assert_true(str_is(c.nodes.at[1].node, "n2") && c.nodes.at[1].fit == 3);
    assert_string_equal(
        c.why.at,
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 No preemption victims found for incoming pod.");
    assert_int_equal(fits(POD("p", "1001m"), &c), 4);
    assert_int_equal(fits(POD("p", "3001m"), &c), 0);
    assert_int_equal(fits(POD("p", "1m"), &c), 100); /* as far as was asked */
    assert_false(c.stopped);
}

static void nobody_is_evicted_by_counting(void **state)
{
    struct capacity c;
    struct pod pod;
    (void)state;
    add_node("n1", 2000, "a");
    add_pod("low", 1500, -5, "n1");
    assert_int_equal(fits(POD("p", "1000m"), &c), 0);
    expect_list(c.evicts, "default/low");
    assert_true(world_pod(world, STR_LITERAL("default"), STR_LITERAL("low"), &pod, &arena));
}

/* ---- with --all, --config and as a diff ---- */

static void each_bound_pod_is_decided_as_if_it_alone_had_no_node(void **state)
{
    (void)state;
    add_node("n1", 4000, "a");
    add_node("n2", 4000, "a");
    add_node("n3", 4000, "a");
    add_pod("a", 1000, 0, "n1");
    add_pod("b", 1000, 0, "n1");
    add_pod("c", 1000, 0, "n2");
    add_owned("agent", "DaemonSet", "n3");
    world_node_gone(world, STR_LITERAL("n3"));
    whatif_decide(&w);
    whatif_decide_bound(&w);
    /* a and b share n1: either alone would rather be where there is as much as elsewhere. n2 has
     * one pod, and without it c is best off there. */
    assert_int_equal(w.bound, 3);
    assert_int_equal(w.stay, 3);
    assert_int_equal(w.pods.count, 0);
    expect_list(w.not_decided, "default/agent");
    add_node("n4", 4000, "b");
    w.bound = w.stay = 0;
    whatif_decide_bound(&w);
    assert_int_equal(w.bound, 3);
    assert_int_equal(w.stay, 1);
    assert_int_equal(w.pods.count, 2);
    for (uint32_t i = 0; i < 2; i++) { /* each by itself, and put back in between */
        struct pod pod;
        assert_string_equal(w.pods.at[i].was_on.at, "n1");
        assert_string_equal(w.pods.at[i].node.at, "n4");
        assert_true(world_pod(world, w.pods.at[i].space, w.pods.at[i].name, &pod, &arena));
        assert_true(str_is(pod.node_name, "n1"));
    }
    whatif_text(&w, &out);
    assert_non_null(strstr(out.at, "3 bound pods decided anew: 1 would stay"));
}

static void write_file(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    assert_true(fputs(text, to) >= 0 && fclose(to) == 0);
}

static void another_configuration_decides_otherwise(void **state)
{
    char path[] = "/tmp/test_whatif_XXXXXX";
    const char *name = path;
    static const char text[] =
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {leaderElect: false}\nextenders: [{urlPrefix: http://e, filterVerb: f}]\n"
        "profiles: [{schedulerName: packed, pluginConfig: [{name: NodeResourcesFit, args: "
        "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]}]\n";
    struct explained told = {.profiles = {config.profiles.count, config.profiles.at}};
    struct str error = {0};
    (void)state;
    assert_true(mkstemp(path) >= 0);
    write_file(path, text);
    assert_true(whatif_config(&name, &told, &arena, &error));
    assert_int_equal(told.profiles.count, 1);
    assert_true(str_is(told.profiles.at[0].scheduler_name, "packed"));
    assert_true(str_is(told.profiles.at[0].fit_strategy, "MostAllocated"));
    assert_int_equal(told.profiles.at[0].features.release, 36);
    expect_list(told.asks, "http://e");
    write_file(path, "kind: Other\n");
    assert_false(whatif_config(&name, &told, &arena, &error));
    assert_true(error.len > 0);
    assert_int_equal(remove(path), 0);
    assert_false(whatif_config(&name, &told, &arena, &error));
    told.profiles.count = 0;
    assert_false(whatif_config(&name, &told, &arena, &error));
}

static void a_diff_says_what_becomes_of_each_manifest(void **state)
{
    (void)state;
    add_node("n1", 1000, "a");
    add_node("n2", 1000, "b");
    add_pod("low", 700, 0, "n2");
    add_pod("moves", 300, 0, "n1");
    create(POD("new", "500m"), -1);
    struct pod waits = made("waits", 900, 10, "");
    waits.nominated_node = STR_LITERAL("n2");
    world_pod_set(world, &waits);
    whatif_take_pending(&w);
    assert_true(whatif_drain(&w, STR_LITERAL("n1")));
    whatif_decide(&w);
    whatif_diff(&w, &out);
    assert_string_equal(out.at,
                        "--- a/default/waits.yaml\n+++ b/default/waits.yaml\n@@ -1,7 +1,7 @@\n"
                        " apiVersion: v1\n kind: Pod\n metadata:\n   name: \"waits\"\n"
                        "   namespace: \"default\"\n+spec:\n+  nodeName: \"n2\"\n-status:\n"
                        "-  nominatedNodeName: \"n2\"\n"
                        "--- a/default/moves.yaml\n+++ b/default/moves.yaml\n@@ -1,7 +1,5 @@\n"
                        " apiVersion: v1\n kind: Pod\n metadata:\n   name: \"moves\"\n"
                        "   namespace: \"default\"\n-spec:\n-  nodeName: \"n1\"\n"
                        "--- a/default/low.yaml\n+++ /dev/null\n@@ -1,7 +0,0 @@\n"
                        "-apiVersion: v1\n-kind: Pod\n-metadata:\n-  name: \"low\"\n"
                        "-  namespace: \"default\"\n-spec:\n-  nodeName: \"n2\"\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_deleted_pod_makes_room),
        TEST(pods_of_nodes_that_fail_go_elsewhere),
        TEST(added_nodes_are_copies_without_pods),
        TEST(a_cordoned_node_keeps_its_pods_and_takes_no_more),
        TEST(a_drained_node_keeps_what_is_tied_to_it),
        TEST(a_pod_that_is_made_anew_has_left_its_devices),
        TEST(who_is_more_important_comes_first_then_who_came_first),
        TEST(who_was_pending_before_is_left_alone_unless_asked_for),
        TEST(who_has_to_go_is_said),
        TEST(a_group_is_placed_as_one_or_not_at_all),
        TEST(all_that_makes_pods),
        TEST(as_many_as_are_asked_for),
        TEST(its_pods_are_spread_as_its_controller_would_have_it),
        TEST(what_is_not_understood_is_refused),
        TEST(claims_are_made_of_a_statefulset_s_templates),
        TEST(a_claim_that_is_there_is_the_pod_s),
        TEST(a_pod_that_is_there_is_not_made_again),
        TEST(one_more_millicore_does_not_fit),
        TEST(nobody_is_evicted_by_counting),
        TEST(each_bound_pod_is_decided_as_if_it_alone_had_no_node),
        TEST(another_configuration_decides_otherwise),
        TEST(a_diff_says_what_becomes_of_each_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
