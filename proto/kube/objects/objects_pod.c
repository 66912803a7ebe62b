/* objects_pod: a pod as a record. The one idea: what scheduling asks of a pod is derived here once,
 * so that no rule reads a spec. What must stay true: an absent field and an empty one stay apart
 * where upstream tells them apart. */
#include "proto/kube/objects/objects_internal.h"
#include "proto/kube/objects/requests.h"
#include "proto/kube/objects/terms.h"

#include <string.h>

static void read_pod_metadata(const struct spot *object, struct pod *pod)
{
    struct spot metadata = spot_object(object, "metadata");
    pod->uid = spot_text(&metadata, "uid");
    pod->namespace_name = spot_text(&metadata, "namespace");
    pod->name = object_name(&metadata);
    pod->resource_version = object_version(&metadata);
    pod->generation = spot_i64(&metadata, "generation");
    pod->created = spot_time(&metadata, "creationTimestamp");
    struct spot deleting = spot_member(&metadata, "deletionTimestamp");
    pod->deleting = deleting.value != NULL;
    pod->labels.at = object_labels(&metadata, "labels", &pod->labels.count);
    struct controller owner = object_controller(&metadata);
    pod->owner_kind = owner.kind;
    pod->owner_name = owner.name;
    pod->owner_api = owner.api;
    pod->owner_uid = owner.uid;
}

static struct toleration *read_tolerations(const struct spot *spec, uint32_t *count)
{
    struct spot list = spot_list(spec, "tolerations");
    size_t found = kube_json_count(list.value);
    struct toleration *out = found ? spot_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            out[(*count)++] = (struct toleration){.key = spot_text(&i, "key"),
                                                  .operator_name = spot_text(&i, "operator"),
                                                  .value = spot_text(&i, "value"),
                                                  .effect = spot_text(&i, "effect")};
    return out;
}

static void read_affinity(const struct spot *spec, struct pod *pod)
{
    struct spot affinity = spot_object(spec, "affinity");
    struct spot nodes = spot_object(&affinity, "nodeAffinity");
    struct spot required = spot_object(&nodes, "requiredDuringSchedulingIgnoredDuringExecution");
    struct spot terms = spot_list(&required, "nodeSelectorTerms");
    struct spot preferred = spot_list(&nodes, "preferredDuringSchedulingIgnoredDuringExecution");
    pod->has_required_terms = required.value != NULL;
    pod->required_terms.at = kube_read_node_terms(&terms, &pod->required_terms.count);
    pod->preferred_terms.at = kube_read_preferred_terms(&preferred, &pod->preferred_terms.count);
    object_pod_affinity(&affinity, pod);
}

static struct str or_default(struct str text, struct str otherwise)
{
    return text.len ? text : otherwise;
}

/* Appends the container's host ports; out has room for all ports of the pod. */
static void read_container_ports(const struct spot *container, struct host_port *out,
                                 uint32_t *count)
{
    struct spot ports = spot_list(container, "ports");
    for (struct spot i = spot_first(&ports); i.value != NULL; i = spot_next(&i)) {
        int64_t port = spot_is_object(&i) ? spot_i32(&i, "hostPort") : 0;
        if (port <= 0)
            continue;
        out[(*count)++] = (struct host_port){
            .ip = or_default(spot_text(&i, "hostIP"), STR_LITERAL("0.0.0.0")),
            .protocol = or_default(spot_text(&i, "protocol"), STR_LITERAL("TCP")),
            .port = port};
    }
}

static size_t count_ports(const struct spot *containers)
{
    size_t count = 0;
    for (struct spot i = spot_first(containers); i.value != NULL; i = spot_next(&i))
        count += kube_json_count(kube_json_get(i.value, "ports"));
    return count;
}

/* Sidecars before containers, as upstream; other init containers hold no ports. */
static void read_ports(const struct spot *init, const struct spot *containers, struct pod *pod)
{
    size_t most = count_ports(init) + count_ports(containers);
    struct host_port *out = most ? spot_take(containers, most, sizeof(*out)) : NULL;
    if (out == NULL)
        return;
    for (struct spot i = spot_first(init); i.value != NULL; i = spot_next(&i))
        if (str_is(kube_json_text(kube_json_get(i.value, "restartPolicy")), "Always"))
            read_container_ports(&i, out, &pod->ports.count);
    for (struct spot i = spot_first(containers); i.value != NULL; i = spot_next(&i))
        read_container_ports(&i, out, &pod->ports.count);
    pod->ports.at = out;
}

/* Upstream's normalizedImageName: a name without a tag means :latest. */
static struct str normalised(const struct spot *at, struct str image)
{
    for (uint32_t i = image.len; i > 0; i--) {
        if (image.at[i - 1] == ':')
            return image;
        if (image.at[i - 1] == '/')
            break;
    }
    struct str full = arena_print(at->reading->arena, "%.*s:latest", STR_ARG(image));
    if (full.at == NULL)
        spot_fail(at, "too large");
    return full;
}

static void read_images(const struct spot *init, const struct spot *containers,
                        const struct spot *volumes, struct pod *pod)
{
    const struct spot *lists[] = {init, containers, volumes};
    size_t most = kube_json_count(init->value) + kube_json_count(containers->value);
    pod->container_count = (int64_t)most;
    most += kube_json_count(volumes->value);
    pod->images.at = most ? spot_take(containers, most, sizeof(*pod->images.at)) : NULL;
    for (size_t l = 0; pod->images.at != NULL && l < 3; l++)
        for (struct spot i = spot_first(lists[l]); i.value != NULL; i = spot_next(&i)) {
            if (!spot_is_object(&i))
                continue;
            struct spot image = i;
            if (lists[l] == volumes) {
                image = spot_object(&i, "image");
                if (image.value == NULL)
                    continue;
            }
            struct str name = spot_text(&image, lists[l] == volumes ? "reference" : "image");
            pod->images.at[pod->images.count++] = normalised(&i, name);
        }
}

/* The features that a node must declare for the pod, of those that upstream infers when it
 * schedules; features for resizing in place concern updates alone. In name order. */
static bool restarts_all(const struct spot *containers)
{
    for (struct spot c = spot_first(containers); c.value != NULL; c = spot_next(&c)) {
        const struct kube_json *rules = kube_json_get(c.value, "restartPolicyRules");
        for (const struct kube_json *i = kube_json_first(rules); i != NULL; i = kube_json_next(i))
            if (str_is(kube_json_text(kube_json_get(i, "action")), "RestartAllContainers"))
                return true;
    }
    return false;
}

static void read_features(const struct spot *spec, struct pod *pod)
{
    struct spot init = spot_list(spec, "initContainers");
    struct spot containers = spot_list(spec, "containers");
    struct spot users = spot_member(spec, "hostUsers");
    bool restart = restarts_all(&containers) || restarts_all(&init);
    bool own_users = users.value != NULL && !spot_bool(spec, "hostUsers");
    bool host_network = spot_bool(spec, "hostNetwork");
    if (!restart && !(host_network && own_users))
        return;
    pod->features.at = spot_take(spec, 2, sizeof(*pod->features.at));
    if (pod->features.at == NULL)
        return;
    if (restart)
        pod->features.at[pod->features.count++] =
            STR_LITERAL("RestartAllContainersOnContainerExits");
    if (host_network && own_users)
        pod->features.at[pod->features.count++] = STR_LITERAL("UserNamespacesHostNetworkSupport");
}

static void read_pod_spec(const struct spot *object, struct pod *pod)
{
    struct spot spec = spot_object(object, "spec");
    struct spot init = spot_list(&spec, "initContainers");
    struct spot containers = spot_list(&spec, "containers");
    struct spot volumes = spot_list(&spec, "volumes");
    struct spot selector = spot_object(&spec, "nodeSelector");
    pod->node_name = spot_text(&spec, "nodeName");
    pod->scheduler_name = spot_text(&spec, "schedulerName");
    pod->priority = spot_i32(&spec, "priority");
    pod->has_priority = spot_member(&spec, "priority").value != NULL;
    pod->preemption_policy = spot_text(&spec, "preemptionPolicy");
    pod->gates = object_each(&spec, "schedulingGates", "name");
    pod->has_node_selector = selector.value != NULL;
    pod->node_selector.at = object_labels(&spec, "nodeSelector", &pod->node_selector.count);
    read_affinity(&spec, pod);
    pod->tolerations.at = read_tolerations(&spec, &pod->tolerations.count);
    read_ports(&init, &containers, pod);
    read_images(&init, &containers, &volumes, pod);
    object_spread(&spec, pod);
    object_pod_volumes(&volumes, pod);
    struct spot status = spot_object(object, "status");
    pod->resource_claims = object_each(&spec, "resourceClaims", "name");
    object_device_claims(&spec, &status, pod);
    read_features(&spec, pod);
}

static void read_scheduled(const struct spot *at, struct pod *pod)
{
    pod->scheduled = (struct condition){.status = spot_text(at, "status"),
                                        .reason = spot_text(at, "reason"),
                                        .message = spot_text(at, "message"),
                                        .since = spot_text(at, "lastTransitionTime"),
                                        .probed = kube_json_get(at->value, "lastProbeTime") != NULL,
                                        .observed_generation = spot_i64(at, "observedGeneration")};
}

static void read_disruption(const struct spot *at, struct pod *pod)
{
    struct str status = spot_text(at, "status"), reason = spot_text(at, "reason");
    pod->preempted = str_is(status, "True") && str_is(reason, "PreemptionByScheduler");
    pod->disruption_target = spot_text(at, "message");
}

/* Of several conditions of one type the first counts. */
static void read_pod_status(const struct spot *object, struct pod *pod)
{
    struct spot status = spot_object(object, "status");
    struct spot conditions = spot_list(&status, "conditions");
    bool scheduled = false, disrupted = false;
    pod->nominated_node = spot_text(&status, "nominatedNodeName");
    pod->started = spot_time(&status, "startTime");
    pod->condition_types = object_each(&status, "conditions", "type");
    for (struct spot i = spot_first(&conditions); i.value != NULL; i = spot_next(&i)) {
        struct str type = kube_json_text(kube_json_get(i.value, "type"));
        if (str_is(type, "PodScheduled") && !scheduled && pod->node_name.len == 0) {
            scheduled = true;
            read_scheduled(&i, pod);
        } else if (str_is(type, "DisruptionTarget") && !disrupted) {
            disrupted = true;
            read_disruption(&i, pod);
        }
    }
}

bool kube_object_pod(const struct kube_json *object, struct pod *pod, struct arena *a,
                     struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "Pod", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct spot root = spot_root(&r, object);
    *pod = (struct pod){0};
    spot_is_object(&root);
    read_pod_metadata(&root, pod);
    read_pod_spec(&root, pod);
    read_pod_status(&root, pod);
    object_pod_gang(&root, pod);
    requests_fill(&root, pod);
    return object_finish(&r, error);
}
