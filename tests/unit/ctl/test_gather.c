/* test_gather: manifests, dumps and scenarios as one scenario: what becomes of their pods, and what
 * is said of files that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ctl/scenario.h"
#include "ctl/simulate/gather.h"

static struct gather g;
static struct buffer out, why;

static int start(void **state)
{
    (void)state;
    g = (struct gather){.release = 36, .space = STR_LITERAL("default")};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    gather_free(&g);
    buffer_free(&out);
    buffer_free(&why);
    return 0;
}

static struct str place(void *context, struct str error)
{
    return gather_error(context, error);
}

/* What is taken by then is played; out and why are strings then. */
static bool play(void)
{
    const struct scenario_output o = {
        .out = &out, .why = &why, .place = place, .context = &g, .shards = 2, .release = 36};
    const struct kube_json *scenario = gather_scenario(&g);
    bool fine = scenario != NULL && scenario_play(scenario, &o);
    buffer_add(&out, "", 1);
    buffer_add(&why, "", 1);
    return fine;
}

static void played(void)
{
    if (!play())
        fail_msg("%.*s%s", STR_ARG(g.error), why.at);
}

static void take(const char *file, const char *text)
{
    if (!gather_take(&g, file, str_of(text)))
        fail_msg("%.*s", STR_ARG(g.error));
}

/* The n-th line of the table, without its heading, begins with these words. */
static void assert_line(unsigned n, const char *pod, const char *result, const char *node)
{
    char line[256];
    const char *at = out.at;
    for (unsigned i = 0; i < n && at != NULL; i++)
        at = strchr(at, '\n') == NULL ? NULL : strchr(at, '\n') + 1;
    snprintf(line, sizeof(line), "%-32s %-14s %-20s ", pod, result, node);
    if (at == NULL || strncmp(at, line, strlen(line)) != 0)
        fail_msg("line %u does not begin with \"%s\":\n%s", n, line, out.at);
}

static void assert_lines(unsigned count)
{
    unsigned lines = 0;
    for (const char *at = out.at; *at != 0; at++)
        lines += *at == '\n';
    assert_int_equal(lines, count + 1);
}

#define NODE(name, cpu)                                                                            \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name                                           \
    ", labels: {kubernetes.io/hostname: " name "}}\n"                                              \
    "status: {allocatable: {cpu: '" cpu "', memory: 8Gi, pods: '110'}}\n"
#define CONTAINERS(cpu) "containers: [{name: c, image: i, resources: {requests: {cpu: '" cpu "'}}}]"

#define POD(more) "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" more "}\n"

/* ---- what pods are made ---- */

static void pods_of_all_kinds_of_workloads_are_decided(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9"));
    take("w.yaml",
         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, "
         "template: {spec: {" CONTAINERS(
             "1") "}}}\n---\n"
                  "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: "
                  "{serviceName: db, "
                  "template: {spec: {" CONTAINERS(
                      "1") "}}}\n---\n"
                           "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: "
                           "{parallelism: 3, "
                           "completions: 2, template: {spec: {" CONTAINERS(
                               "1") "}}}\n---\n"
                                    "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: "
                                    "nightly}\nspec: {schedule: '0 0 * * "
                                    "*', jobTemplate: {spec: {template: {spec: {" CONTAINERS(
                                        "1") "}}}}}\n---\n"
                                             "apiVersion: v1\nkind: Pod\nmetadata: {name: "
                                             "alone}\nspec: {" CONTAINERS("1") "}\n");
    played();
    assert_lines(7);
    assert_line(1, "default/web-1", "scheduled", "a");
    assert_line(2, "default/web-2", "scheduled", "a");
    assert_line(3, "default/db-0", "scheduled", "a");
    assert_line(4, "default/once-1", "scheduled", "a");
    assert_line(5, "default/once-2", "scheduled", "a");
    assert_line(6, "default/nightly-1", "scheduled", "a");
    assert_line(7, "default/alone", "scheduled", "a");
}

static void who_is_more_important_and_who_was_first_is_decided_first(void **state)
{
    (void)state;
    take("c.yaml", NODE("a", "9"));
    take("p.yaml",
         "apiVersion: v1\nkind: Pod\nmetadata: {name: new, creationTimestamp: "
         "'2026-01-02T00:00:00Z'}\nspec: {" CONTAINERS(
             "1") "}\n---\n"
                  "apiVersion: v1\nkind: Pod\nmetadata: {name: old, creationTimestamp: "
                  "'2026-01-01T00:00:00Z'}\nspec: {" CONTAINERS(
                      "1") "}\n---\n"
                           "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: "
                           "{name: high}\nvalue: 9\n"
                           "---\n"
                           "apiVersion: v1\nkind: Pod\nmetadata: {name: vip, creationTimestamp: "
                           "'2026-01-03T00:00:00Z'}\nspec: {priorityClassName: high, " CONTAINERS(
                               "1") "}\n");
    played();
    assert_lines(3);
    assert_line(1, "default/vip", "scheduled", "a");
    assert_line(2, "default/old", "scheduled", "a");
    assert_line(3, "default/new", "scheduled", "a");
}

/* Of what has a UID the pods are there already. */
static void a_dump_is_taken_as_it_is(void **state)
{
    (void)state;
    take("dump.yaml",
         "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n"
         "- {apiVersion: v1, kind: Node, metadata: {name: a, uid: u1}, status: {allocatable: {cpu: "
         "'2', memory: 8Gi, pods: '9'}}}\n"
         "- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: u2}, spec: "
         "{replicas: 3}}\n"
         "- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: u3}, spec: "
         "{replicas: 3}}\n"
         "- {apiVersion: example.com/v1, kind: Thing, metadata: {name: t, uid: u4}}\n"
         "- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, uid: u5}}\n"
         "- {apiVersion: v1, kind: ConfigMap, metadata: {name: d, uid: u6}}\n"
         "- {apiVersion: v1, kind: Pod, metadata: {name: runs, uid: u7}, spec: {nodeName: "
         "a, " CONTAINERS(
             "1") "}}\n"
                  "- {apiVersion: v1, kind: Pod, metadata: {name: done, uid: u8}, spec: {nodeName: "
                  "a, " CONTAINERS(
                      "1") "}, status: {phase: Succeeded}}\n"
                           "- {apiVersion: v1, kind: Pod, metadata: {name: going, uid: u9, "
                           "deletionTimestamp: "
                           "'2026-01-01T00:00:00Z'}, spec: {" CONTAINERS(
                               "1") "}}\n"
                                    "- {apiVersion: v1, kind: Pod, metadata: {name: theirs, uid: "
                                    "ua}, spec: {schedulerName: "
                                    "other, " CONTAINERS(
                                        "1") "}}\n"
                                             "- {apiVersion: v1, kind: Pod, metadata: {name: "
                                             "waits, uid: ub}, spec: {" CONTAINERS("1") "}}\n");
    played();
    assert_lines(2);
    assert_line(1, "default/theirs", "ignored", "");
    assert_line(2, "default/waits", "scheduled", "a");
    struct str kinds = gather_passed_over(&g);
    assert_true(str_is(kinds, "2 ConfigMap, 1 Deployment, 1 Thing"));
}

/* As an API server's own lists are. */
static void items_of_a_list_of_one_kind_need_not_say_it(void **state)
{
    (void)state;
    take("nodes.json", "{\"apiVersion\":\"v1\",\"kind\":\"NodeList\",\"items\":[{\"metadata\":{"
                       "\"name\":\"a\"},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":"
                       "\"8Gi\",\"pods\":\"9\"}}}]}");
    take("pods.json",
         "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[{\"metadata\":{"
         "\"name\":\"p\",\"namespace\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}]}");
    played();
    assert_lines(1);
    assert_line(1, "x/p", "scheduled", "a");
}

static void objects_are_in_the_namespace_that_was_asked_for(void **state)
{
    (void)state;
    g.space = STR_LITERAL("shop");
    take("n.yaml", NODE("a", "9"));
    take("p.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" CONTAINERS("1") "}\n");
    take("d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: "
                   "{spec: {" CONTAINERS("1") "}}}\n");
    played();
    assert_line(1, "shop/p", "scheduled", "a");
    assert_line(2, "shop/web-1", "scheduled", "a");
}

static void a_scenario_comes_first(void **state)
{
    (void)state;
    take("s.yaml", "name: s\nobjects: [{apiVersion: v1, kind: Node, metadata: {name: a}, status: "
                   "{allocatable: {cpu: '2', memory: 8Gi, pods: '9'}}}]\n"
                   "pods: [{metadata: {name: first}, spec: {" CONTAINERS("1") "}}]\n");
    take("p.yaml",
         "apiVersion: v1\nkind: Pod\nmetadata: {name: second}\nspec: {" CONTAINERS("1") "}\n");
    played();
    assert_lines(2);
    assert_line(1, "default/first", "scheduled", "a");
    assert_line(2, "default/second", "scheduled", "a");
}

/* The default spreading is by what selects the pods: here their ReplicaSet, which is made up. */
static void pods_of_a_deployment_are_spread_by_default(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9") "---\n" NODE("b", "9"));
    take("w.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: "
                   "4, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: "
                   "web}}, spec: {" CONTAINERS("1m") "}}}\n");
    played();
    assert_line(1, "default/web-1", "scheduled", "a");
    assert_line(2, "default/web-2", "scheduled", "b");
}

#define DAEMONS(name, more)                                                                        \
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " name                            \
    "}\nspec: {template: {spec: {" more "}}}\n"

/* By name, labels and taints, as its controller would; where it has no room, it waits. */
static void a_daemon_set_has_a_pod_on_each_node_that_it_may_run_on(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "2") "---\n" NODE("b", "2") "---\n" NODE("c", "2"));
    take("t.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: tainted}\nspec: {taints: [{key: "
                   "k, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: '2', memory: 8Gi, pods: "
                   "'9'}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: cordoned}\nspec: "
                   "{unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: "
                   "NoSchedule}]}\nstatus: {allocatable: {cpu: '2', memory: 8Gi, pods: '9'}}\n");
    take("d.yaml",
         POD("nodeName: a, " CONTAINERS("2")) DAEMONS("all", CONTAINERS("1"))
             DAEMONS("few", "affinity: {nodeAffinity: "
                            "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                            "[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
                            "values: [b]}]}]}}}, " CONTAINERS("1"))
                 DAEMONS("tolerant", "nodeSelector: {no: where}, " CONTAINERS("1")));
    played();
    assert_lines(5);
    assert_line(1, "default/all-a", "unschedulable", "");
    assert_line(2, "default/all-b", "scheduled", "b");
    assert_line(3, "default/all-c", "scheduled", "c");
    assert_line(4, "default/all-cordoned", "scheduled", "cordoned");
    assert_line(5, "default/few-b", "scheduled", "b");
}

/* Neither who decides them nor what they wait for says on which nodes they may run. */
static void where_daemons_run_is_known_before_their_volumes_are(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "2") "---\n" NODE("b", "2") DAEMONS(
                       "d", "schedulerName: other, nodeSelector: {kubernetes.io/hostname: b}, "
                            "volumes: [{name: v, persistentVolumeClaim: {claimName: gone}}], "
                            "schedulingGates: [{name: g}], " CONTAINERS("1")));
    played();
    assert_lines(1);
    assert_line(1, "default/d-b", "ignored", "");
}

/* ---- what an API server and controllers write down ---- */

static void two_pods_are_two_whatever_dashes_are_in_their_names(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "6"));
    take("p.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: prod-api}, spec: "
                   "{nodeName: a, " CONTAINERS(
                       "3") "}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: api-web, "
                            "namespace: prod}, spec: {nodeName: a, " CONTAINERS("3") "}}\n");
    take("new.yaml", POD(CONTAINERS("1")));
    played();
    assert_lines(1);
    assert_line(1, "default/p", "unschedulable", "");
}

static void a_port_in_the_nodes_network_is_the_nodes(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "6"));
    take("w.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: "
                   "{replicas: 2, template: {spec: {hostNetwork: true, containers: [{name: c, "
                   "ports: [{containerPort: 443}, {containerPort: 80, hostPort: 8080}]}]}}}\n");
    played();
    assert_line(1, "default/web-1", "scheduled", "a");
    assert_line(2, "default/web-2", "unschedulable", "");
}

#define KEYED(name, v, keys)                                                                       \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: db, v: '" v         \
    "'}}, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "    \
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}, " keys        \
    "}]}}, " CONTAINERS("1") "}}\n"

static void terms_match_what_their_own_pod_says(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9"));
    take("p.yaml",
         KEYED("one", "1", "matchLabelKeys: [v, none]") KEYED("other", "2", "matchLabelKeys: [v]")
             KEYED("another", "2", "mismatchLabelKeys: [v]"));
    played();
    assert_line(1, "default/one", "scheduled", "a");
    assert_line(2, "default/other", "scheduled", "a");
    assert_line(3, "default/another", "unschedulable", ""); /* one is of another v */
}

static void objects_are_filled_in(void **state)
{
    (void)state;
    take("n.yaml", "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {host: a}}, status: "
                   "{capacity: {cpu: 4, memory: 8Gi, pods: 9}}}\n---\n"
                   "{apiVersion: v1, kind: Namespace, metadata: {name: blue, labels: {x: z}}}\n");
    take("c.yaml",
         "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: w, annotations: "
         "{storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: "
         "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}\n---\n"
         "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: "
         "1Gi}, accessModes: [ReadWriteOnce], storageClassName: w, local: {path: /d}, "
         "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: "
         "In, values: [a]}]}]}}}}\n---\n"
         "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: "
         "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n");
    take("p.yaml",
         "{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: blue, labels: {a: b}}, "
         "spec: {nodeName: a, " CONTAINERS(
             "1") "}}\n---\n"
                  "{apiVersion: v1, kind: Pod, metadata: {name: near}, spec: {affinity: "
                  "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                  "host, labelSelector: {matchLabels: {a: b}}, namespaceSelector: {matchLabels: "
                  "{kubernetes.io/metadata.name: blue}}}]}}, " CONTAINERS("1") "}}\n---\n" POD(
                      "volumes: [{name: v, persistentVolumeClaim: "
                      "{claimName: c}}], " CONTAINERS("1")));
    played();
    assert_line(1, "default/near", "scheduled", "a");
    assert_line(2, "default/p", "scheduled", "a");
}

static void a_class_binds_at_once_unless_it_says_otherwise(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "6"));
    take("c.yaml", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: w}, "
                   "provisioner: x}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                   "{name: c}, spec: {storageClassName: w, accessModes: [ReadWriteOnce], "
                   "resources: {requests: {storage: 1Gi}}}}\n");
    take("p.yaml",
         POD("volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], " CONTAINERS("1")));
    played();
    assert_line(1, "default/p", "unschedulable", "");
    assert_non_null(strstr(out.at, "pod has unbound immediate PersistentVolumeClaims"));
}

/* One is in a file that comes later, and has a volume on b already. */
static void claims_are_made_of_a_statefulset_s_templates(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9") "---\n" NODE("b", "9"));
    take("db.yaml",
         "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: w, annotations: "
         "{storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: example.com/disk, "
         "volumeBindingMode: WaitForFirstConsumer}\n---\n"
         "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, "
         "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
         "resources: {requests: {storage: 1Gi}}}}], template: {spec: {nodeSelector: "
         "{kubernetes.io/os: linux}, " CONTAINERS("1") "}}}}\n");
    take("c.yaml",
         "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-1, uid: u, "
         "annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: v, "
         "storageClassName: w, accessModes: [ReadWriteOnce], resources: {requests: {storage: "
         "1Gi}}}, status: {phase: Bound}}\n---\n"
         "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {capacity: "
         "{storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: w, csi: {driver: d, "
         "volumeHandle: h}, claimRef: {namespace: default, name: data-db-1, uid: u}, nodeAffinity: "
         "{required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, "
         "operator: In, values: [b]}]}]}}}, status: {phase: Bound}}\n");
    take("o.yaml", "{apiVersion: v1, kind: Node, metadata: {name: a2, labels: "
                   "{kubernetes.io/hostname: a2, kubernetes.io/os: linux}}, status: {allocatable: "
                   "{cpu: 9, memory: 8Gi, pods: 9}}}");
    played();
    assert_line(1, "default/db-0", "scheduled", "a2");
    assert_line(2, "default/db-1", "unschedulable", "");
    assert_non_null(strstr(out.at, "1 node(s) didn't match PersistentVolume's node affinity"));
}

/* Its path is the template's. */
static void a_claim_of_a_template_that_is_wrong_is_refused(void **state)
{
    (void)state;
    take("f.yaml", NODE("a", "9"));
    bool fine =
        gather_take(&g, "f.yaml",
                    STR_LITERAL("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, "
                                "spec: {volumeClaimTemplates: [{metadata: {name: d, uidd: x}}], "
                                "template: {spec: {" CONTAINERS("1") "}}}}")) &&
        play();
    assert_false(fine);
    assert_true(str_is(g.error,
                       "f.yaml: spec.volumeClaimTemplates[0].metadata.uidd: unknown field, "
                       "did you mean \"uid\"?"));
}

#define APART(key)                                                                                 \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                \
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: " key         \
    ", operator: Exists}]}}]}}, " CONTAINERS("1")

static void pods_bear_their_controllers_labels(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9"));
    take("w.yaml",
         "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, "
         "template: {spec: {" APART(
             "batch.kubernetes.io/job-name") "}}}}\n---\n{apiVersion: apps/v1, kind: "
                                             "StatefulSet, metadata: {name: s}, spec: "
                                             "{serviceName: s, replicas: 2, template: "
                                             "{spec: {" APART("apps.kubernetes.io/pod-index") "}}}}"
                                                                                              "\n");
    played();
    assert_line(1, "default/j-1", "scheduled", "a");
    assert_line(2, "default/j-2", "unschedulable", "");
    assert_line(3, "default/s-0", "scheduled", "a");
    assert_line(4, "default/s-1", "unschedulable", "");
}

/* The constraint counts pods of the same template alone. */
static void a_deployments_template_is_a_new_one(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9") "---\n" NODE("b", "9"));
    take("o.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: o, labels: {app: w, "
                   "pod-template-hash: old}}, spec: {nodeName: a, " CONTAINERS("1") "}}\n");
    take(
        "w.yaml",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 2, "
        "template: {metadata: {labels: {app: w}}, spec: {topologySpreadConstraints: [{maxSkew: 1, "
        "topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: "
        "[pod-template-hash], labelSelector: {matchLabels: {app: w}}}], " CONTAINERS("1") "}}}}\n");
    played();
    assert_line(1, "default/w-1", "scheduled", "b");
    assert_line(2, "default/w-2", "scheduled", "a");
}

static void nothing_runs_of_what_is_suspended(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9"));
    take("w.yaml",
         "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, "
         "parallelism: 3, template: {spec: {" CONTAINERS(
             "1") "}}}}\n---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: "
                  "{suspend: true, schedule: '* * * * *', jobTemplate: {spec: {template: {spec: "
                  "{" CONTAINERS("1") "}}}}}}\n---\n" POD(CONTAINERS("1")));
    played();
    assert_lines(1);
    assert_line(1, "default/p", "scheduled", "a");
}

static void workloads_of_one_name_have_pods_of_their_own(void **state)
{
    (void)state;
    take("n.yaml", NODE("a", "9"));
    take("w.yaml",
         "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
         "{" CONTAINERS(
             "1") "}}}}\n---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: d}, "
                  "spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: "
                  "{" CONTAINERS("1") "}}}}}}\n---\n{apiVersion: v1, kind: Pod, metadata: "
                                      "{generateName: run-, namespace: ci}, spec: "
                                      "{" CONTAINERS("1") "}}\n");
    played();
    assert_lines(3);
    assert_line(1, "default/d-1", "scheduled", "a");
    assert_line(2, "default/d-cronjob-1", "scheduled", "a");
    assert_non_null(strstr(out.at, "ci/run-"));
}

/* ---- what is wrong ---- */

static const struct {
    const char *text, *error;
} wrongs[] = {
    {"a: [", "f.yaml: line "},
    {"", "f.yaml: there is no document in it"},
    {"# nothing\n", "f.yaml: there is no document in it"},
    {"just words", "f.yaml: must be an object, not a string"},
    {"[1]", "f.yaml: document 1: must be an object, not a number"},
    {"podz: []\n", "f.yaml: podz: unknown field, did you mean \"pods\"?"},
    {"objects: {kind: Node}\npods: []\n",
     "f.yaml: objects: must be a list of objects, or one object of kind List"},
    {"objects: []\n", "f.yaml: pods: the steps are missing, see berth-simulate(1)"},
    {"pods: [{op: aply, object: {}}]\n", "f.yaml: pods[0].op: must be one of apply, delete, "
                                         "schedule, group, daemons, pending, not \"aply\""},
    {"pods: [{op: pending, now: true}]\n", "f.yaml: pods[0].now: unknown field"},
    {"pods: []\n---\npods: []\n", "f.yaml: document 2: is a scenario, and there was one before"},
    {"apiVersion: v1\nmetadata: {name: p}\n", "f.yaml: kind: is missing"},
    {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: "
     "{limits: {example.com/gpu: -1}}}]}}",
     "f.yaml: spec.containers[0].resources.limits.example.com/gpu: must be greater than or equal "
     "to "
     "0, not \"-1\""},
    {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: "
     "{containers: "
     "[{name: c, resources: {requests: {memory: 1Gi}, limits: {memory: 1000Mi}}}]}}}}",
     "f.yaml: spec.template.spec.containers[0].resources.requests.memory: must be less than or "
     "equal "
     "to memory limit of 1000Mi, not \"1Gi\""},
    {"apiVersion: v1\nkind: Nodee\nmetadata: {name: a}\n",
     "f.yaml: kind: a scenario has no objects of kind Nodee, did you mean \"Node\"?"},
    {"apiVersion: v1\nkind: deployment\nmetadata: {name: a}\n",
     "f.yaml: kind: no objects of kind deployment are known here, did you mean \"Deployment\"?"},
    {"apiVersion: v2\nkind: Node\nmetadata: {name: a}\n", "f.yaml: apiVersion: "},
    {"apiVersion: v1\nkind: Node\nmetadata: {nam: a}\n",
     "f.yaml: metadata.nam: unknown field, did you mean \"name\"?"},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 4x}}\n",
     "f.yaml: status.allocatable.cpu: "},
    {POD("containerz: []"), "f.yaml: spec.containerz: unknown field, did you mean \"containers\"?"},
    {POD("nodeSelector: [a]"), "f.yaml: spec.nodeSelector: "},
    {POD("priority: high"), "f.yaml: spec.priority: "},
    {POD("containers: [{name: c, resources: {request: {cpu: 1}}}]"),
     "f.yaml: spec.containers[0].resources.request: unknown field, did you mean \"requests\"?"},
    {POD("tolerations: [{key: a, efect: NoSchedule}]"),
     "f.yaml: spec.tolerations[0].efect: unknown field, did you mean \"effect\"?"},
    {POD("priorityClassName: nothere, " CONTAINERS("1")),
     "f.yaml: pod default/p: no PriorityClass with name nothere was found"},
    {POD(CONTAINERS("1")) "---\n" POD(CONTAINERS("1")),
     "f.yaml: document 2: there is another Pod p"},
    {"apiVersion: v1\nkind: List\nitems: {}\n", "f.yaml: items: must be a list, not an object"},
    {"apiVersion: v1\nkind: List\nitem: []\nitems: []\n",
     "f.yaml: item: unknown field, did you mean \"items\"?"},
    {"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {nme: p}}]\n",
     "f.yaml: items[0]: metadata.nme: unknown field, did you mean \"name\"?"},
    {"apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: w}\n",
     "f.yaml: apiVersion: must be apps/v1, not extensions/v1beta1"},
    {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {replica: 2, template: "
     "{}}\n",
     "f.yaml: spec.replica: unknown field, did you mean \"replicas\"?"},
    {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {replicas: 2}\n",
     "f.yaml: spec.template: is missing"},
    {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {replicas: -2, template: "
     "{}}\n",
     "f.yaml: spec.replicas: must be a whole number, and not negative"},
    {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: "
     "{hostNetwrk: true}}}\n",
     "f.yaml: spec.template.spec.hostNetwrk: unknown field, did you mean \"hostNetwork\"?"},
    {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: w}\nspec: {jobTemplate: {spec: "
     "{paralelism: 2}}}\n",
     "f.yaml: spec.jobTemplate.spec.paralelism: unknown field, did you mean \"parallelism\"?"},
    {"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: w}\nspec: {template: {spec: "
     "{hostNetwrk: true}}}\n",
     "f.yaml: spec.template.spec.hostNetwrk: unknown field, did you mean \"hostNetwork\"?"},
    {"pods: [{op: daemons}]\n", "f.yaml: pods[0].pod: is missing"},
    {POD("hostNetwork: true"), "f.yaml: spec.containers: is missing, and a pod has at least one"},
    {POD("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
         "donotschedule}]"),
     "f.yaml: spec.topologySpreadConstraints[0].whenUnsatisfiable: must be one of "
     "\"DoNotSchedule\", \"ScheduleAnyway\", not \"donotschedule\""},
    {POD("initContainers: [{name: a}, {name: b, restartPolicy: always}], " CONTAINERS("1")),
     "f.yaml: spec.initContainers[1].restartPolicy: must be one of \"Always\", "},
    {POD("containers: [{name: c, resources: {requests: {cpus: 4}}}]"),
     "f.yaml: spec.containers[0].resources.requests.cpus: must be cpu, memory, "},
    {POD("containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]"),
     "f.yaml: spec.containers[0].resources.requests.example.com/gpu: must be the limit, and there "
     "must be one, not \"1\""},
    {POD("containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: "
         "{example.com/gpu: 2}}}]"),
     "f.yaml: spec.containers[0].resources.requests.example.com/gpu: must be equal to "
     "example.com/gpu limit of 2, not \"1\""},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {memory: -5}}\n",
     "f.yaml: status.allocatable.memory: must be greater than or equal to 0, not \"-5\""},
    {POD("runtimeClassName: kata, " CONTAINERS("1")),
     "f.yaml: spec.runtimeClassName: there is no RuntimeClass kata"},
    {POD("runtimeClassName: kata, nodeSelector: {a: b}, " CONTAINERS(
         "1")) "---\n{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, "
               "handler: kata, scheduling: {nodeSelector: {kata: 'yes'}}}\n",
     "f.yaml: document 1: spec.nodeSelector: is missing, and the API server would copy it from "
     "RuntimeClass kata"},
    {"{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}, spec: {containers: [{name: c}]}}\n"
     "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, uid: u}, spec: {containers: [{name: "
     "c}]}}\n",
     "f.yaml: document 2: metadata.uid: is that of Pod default/a, too"},
    {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: twice}, spec: {template: {spec: "
     "{" CONTAINERS("1") "}}}}\n" DAEMONS("twice", CONTAINERS("1"))
         DAEMONS("twice", CONTAINERS("1")),
     "f.yaml: document 3: there is another DaemonSet twice"},
    {"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: "
     "app}, spec: {" CONTAINERS("1") "}}}}",
     "f.yaml: spec.template: metadata.labels: must be an object, not a string"},
    {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: "
     "[a]}, template: {spec: {" CONTAINERS("1") "}}}}",
     "f.yaml: ReplicaSet d: spec.selector.matchLabels: wants an object, has a list"},
    {"{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, status: Available}",
     "f.yaml: status: must be an object, not a string"},
    {DAEMONS("twice", CONTAINERS("1")) DAEMONS("twice", CONTAINERS("1")),
     "f.yaml: document 2: there is another DaemonSet twice"},
    {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: w}\nspec: {jobTemplates: {}}\n",
     "f.yaml: spec.jobTemplates: unknown field, did you mean \"jobTemplate\"?"},
};

static void each_wrong_file_is_refused_with_file_and_path(void **state)
{
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
        bool fine = gather_take(&g, "f.yaml", str_of(wrongs[i].text)) && play();
        struct str error = g.error.len > 0 ? g.error : str_of(why.at != NULL ? why.at : "");
        if (fine || !str_starts_with(error, wrongs[i].error))
            fail_msg("%s\nsays: %.*s\nnot:  %s", wrongs[i].text, STR_ARG(error), wrongs[i].error);
        stop(state);
        out = why = (struct buffer){0};
        start(state);
    }
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(pods_of_all_kinds_of_workloads_are_decided),
        T(who_is_more_important_and_who_was_first_is_decided_first),
        T(a_dump_is_taken_as_it_is),
        T(items_of_a_list_of_one_kind_need_not_say_it),
        T(objects_are_in_the_namespace_that_was_asked_for),
        T(a_scenario_comes_first),
        T(pods_of_a_deployment_are_spread_by_default),
        T(a_daemon_set_has_a_pod_on_each_node_that_it_may_run_on),
        T(where_daemons_run_is_known_before_their_volumes_are),
        T(two_pods_are_two_whatever_dashes_are_in_their_names),
        T(a_port_in_the_nodes_network_is_the_nodes),
        T(terms_match_what_their_own_pod_says),
        T(objects_are_filled_in),
        T(a_class_binds_at_once_unless_it_says_otherwise),
        T(claims_are_made_of_a_statefulset_s_templates),
        T(a_claim_of_a_template_that_is_wrong_is_refused),
        T(pods_bear_their_controllers_labels),
        T(a_deployments_template_is_a_new_one),
        T(nothing_runs_of_what_is_suspended),
        T(workloads_of_one_name_have_pods_of_their_own),
        T(each_wrong_file_is_refused_with_file_and_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
