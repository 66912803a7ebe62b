/* json_text: the texts that a real API server sends for a pod of a Deployment and for a node, with
 * names and versions put in. The one idea: most of such a text is of no use to a scheduler
 * (managedFields, volumes of the service account, statuses), so a parser is measured on what it has
 * to skip, too. What must stay true: each event is one line. */
#include "tests/bench/core/json_text.h"

#define META                                                                                       \
    "\"uid\":\"7d1c8b52-0000-4000-8000-%012u\",\"resourceVersion\":\"%u\",\"generation\":1,"       \
    "\"creationTimestamp\":\"2026-01-01T00:00:00Z\""

static const char pod_fields[] =
    "\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","
    "\"apiVersion\":\"v1\",\"time\":\"2026-01-01T00:00:00Z\",\"fieldsType\":\"FieldsV1\","
    "\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"
    "\"f:pod-template-hash\":{}},\"f:ownerReferences\":{\".\":{},"
    "\"k:{\\\"uid\\\":\\\"11111111-2222-4333-8444-555555555555\\\"}\":{}}},\"f:spec\":{"
    "\"f:containers\":{\"k:{\\\"name\\\":\\\"app\\\"}\":{\".\":{},\"f:env\":{\".\":{},"
    "\"k:{\\\"name\\\":\\\"MODE\\\"}\":{\".\":{},\"f:name\":{},\"f:value\":{}}},\"f:image\":{},"
    "\"f:imagePullPolicy\":{},\"f:name\":{},\"f:ports\":{\".\":{},"
    "\"k:{\\\"containerPort\\\":8080,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},"
    "\"f:containerPort\":{},\"f:protocol\":{}}},\"f:resources\":{\".\":{},\"f:limits\":{\".\":{},"
    "\"f:memory\":{}},\"f:requests\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}}},"
    "\"f:terminationMessagePath\":{},\"f:terminationMessagePolicy\":{}}},\"f:dnsPolicy\":{},"
    "\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},\"f:schedulerName\":{},"
    "\"f:securityContext\":{},\"f:terminationGracePeriodSeconds\":{}}}},{\"manager\":\"kubelet\","
    "\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-01-01T00:00:05Z\","
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{"
    "\"k:{\\\"type\\\":\\\"ContainersReady\\\"}\":{\".\":{},\"f:lastProbeTime\":{},"
    "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}},"
    "\"k:{\\\"type\\\":\\\"Initialized\\\"}\":{\".\":{},\"f:lastProbeTime\":{},"
    "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}},"
    "\"k:{\\\"type\\\":\\\"Ready\\\"}\":{\".\":{},\"f:lastProbeTime\":{},"
    "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}}},\"f:containerStatuses\":{},"
    "\"f:hostIP\":{},\"f:phase\":{},\"f:podIP\":{},\"f:podIPs\":{\".\":{}},\"f:startTime\":{}}},"
    "\"subresource\":\"status\"}]";

static const char pod_spec[] =
    "\"volumes\":[{\"name\":\"kube-api-access-x7x2b\",\"projected\":{\"sources\":[{"
    "\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{"
    "\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{"
    "\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}}],\"containers\":[{"
    "\"name\":\"app\",\"image\":\"registry.example.com/team/app:v1\",\"ports\":[{"
    "\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"MODE\",\"value\":"
    "\"production\"}],\"resources\":{\"limits\":{\"memory\":\"200Mi\"},\"requests\":{\"cpu\":"
    "\"100m\",\"memory\":\"200Mi\"}},\"volumeMounts\":[{\"name\":\"kube-api-access-x7x2b\","
    "\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}],"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":"
    "\"default\",\"serviceAccount\":\"default\",\"securityContext\":{},\"schedulerName\":"
    "\"default-scheduler\",\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\","
    "\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":"
    "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
    "\"tolerationSeconds\":300}],\"priority\":0,\"enableServiceLinks\":true,"
    "\"preemptionPolicy\":\"PreemptLowerPriority\"";

void json_pod_event(struct buffer *out, const char *type, uint32_t i, uint32_t version,
                    const char *node)
{
    buffer_print(out,
                 "{\"type\":\"%s\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
                 "{\"name\":\"app-%u-5d78c9869d-%07u\",\"generateName\":\"app-%u-5d78c9869d-\","
                 "\"namespace\":\"space-%u\"," META ",\"labels\":{\"app\":\"app-%u\","
                 "\"pod-template-hash\":\"5d78c9869d\"},\"ownerReferences\":[{\"apiVersion\":"
                 "\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"app-%u-5d78c9869d\",\"uid\":"
                 "\"11111111-2222-4333-8444-555555555555\",\"controller\":true,"
                 "\"blockOwnerDeletion\":true}],",
                 type, i % 50, i, i % 50, i % 10, i, version, i % 50, i % 50);
    buffer_add_text(out, pod_fields);
    buffer_add_text(out, "},\"spec\":{");
    if (node != NULL)
        buffer_print(out, "\"nodeName\":\"%s\",", node);
    buffer_add_text(out, pod_spec);
    buffer_add_text(out, node != NULL
                             ? "},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
                               "\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,"
                               "\"lastTransitionTime\":\"2026-01-01T00:00:01Z\"}],\"qosClass\":"
                               "\"Burstable\",\"startTime\":\"2026-01-01T00:00:01Z\"}}}\n"
                             : "},\"status\":{\"phase\":\"Pending\",\"qosClass\":"
                               "\"Burstable\"}}}\n");
}

#define CONDITION(type, status)                                                                    \
    "{\"type\":\"" type "\",\"status\":\"" status "\",\"lastHeartbeatTime\":"                      \
    "\"2026-01-01T00:00:00Z\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"reason\":"         \
    "\"KubeletHas\",\"message\":\"kubelet has what it needs\"}"
#define ROOM                                                                                       \
    "{\"cpu\":\"16\",\"ephemeral-storage\":\"100000Mi\",\"hugepages-2Mi\":\"0\",\"memory\":"       \
    "\"64Gi\",\"pods\":\"110\"}"

void json_node_event(struct buffer *out, const char *type, uint32_t i, uint32_t version)
{
    buffer_print(
        out,
        "{\"type\":\"%s\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":"
        "{\"name\":\"node-%06u\"," META ",\"labels\":{\"beta.kubernetes.io/arch\":"
        "\"amd64\",\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":"
        "\"node-%06u\",\"kubernetes.io/os\":\"linux\",\"node.kubernetes.io/instance-type\""
        ":\"general-16\",\"topology.kubernetes.io/region\":\"region-1\","
        "\"topology.kubernetes.io/zone\":\"zone-%u\"},\"annotations\":{"
        "\"node.alpha.kubernetes.io/ttl\":\"0\","
        "\"volumes.kubernetes.io/controller-managed-attach-detach\":\"true\"}},"
        "\"spec\":{\"podCIDR\":\"10.0.0.0/24\",\"providerID\":\"cloud:///zone/i-%u\"},"
        "\"status\":{\"capacity\":" ROOM ",\"allocatable\":" ROOM
        ",\"conditions\":[" CONDITION("MemoryPressure", "False") "," CONDITION(
            "DiskPressure",
            "False") "," CONDITION("PIDPressure",
                                   "False") "," CONDITION("Ready",
                                                          "True") "],\"addresses\":[{\"type\":"
                                                                  "\"InternalIP\",\"address\":\"10."
                                                                  "0.0.1\"}],"
                                                                  "\"nodeInfo\":{\"kernelVersion\":"
                                                                  "\"6.1.0\",\"osImage\":\"Linux\","
                                                                  "\"containerRuntimeVersion\":"
                                                                  "\"containerd://"
                                                                  "2.0.0\",\"kubeletVersion\":"
                                                                  "\"v1.36.0\"},\"images\":[",
        type, i, i, version, i, i % 3, i);
    for (unsigned k = 0; k < 8; k++)
        buffer_print(out,
                     "%s{\"names\":[\"registry.example.com/team/app-%u@sha256:"
                     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                     "\"registry.example.com/team/app-%u:v1\"],\"sizeBytes\":%u}",
                     k ? "," : "", (i * 7 + k * 13) % 50, (i * 7 + k * 13) % 50,
                     20971520 + k * 1000000);
    buffer_add_text(out, "]}}}\n");
}
