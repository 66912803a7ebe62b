/* objects_pod: a pod as a record. The one idea: what scheduling asks of a pod is derived here once,
 * so that no rule reads a spec. What must stay true: an absent field and an empty one stay apart
 * where upstream tells them apart. */
#include "proto/kube/objects/objects_internal.h"
#include "proto/kube/objects/requests.h"
#include "proto/kube/objects/terms.h"

#include <string.h>

static void read_pod_metadata(const struct cursor *object, struct pod *pod)
{
    struct cursor metadata = cursor_object(object, "metadata");
    pod->uid = cursor_text(&metadata, "uid");
    pod->namespace_name = cursor_text(&metadata, "namespace");
    if (pod->namespace_name.len == 0) /* written by hand; its affinity terms are of it, too */
        pod->namespace_name = STR_LITERAL("default");
    pod->name = object_name(&metadata);
    pod->resource_version = object_version(&metadata);
    pod->generation = cursor_i64(&metadata, "generation");
    pod->created = cursor_time(&metadata, "creationTimestamp");
    struct cursor deleting = cursor_member(&metadata, "deletionTimestamp");
    pod->deleting = deleting.value != NULL;
    pod->labels.at = object_labels(&metadata, "labels", &pod->labels.count);
    struct controller owner = object_controller(&metadata);
    pod->owner_kind = owner.kind;
    pod->owner_name = owner.name;
    pod->owner_api = owner.api;
    pod->owner_uid = owner.uid;
}

static struct toleration *read_tolerations(const struct cursor *spec, uint32_t *count)
{
    struct cursor list = cursor_list(spec, "tolerations");
    size_t found = kube_json_count(list.value);
    struct toleration *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] = (struct toleration){.key = cursor_text(&i, "key"),
                                                  .operator_name = cursor_text(&i, "operator"),
                                                  .value = cursor_text(&i, "value"),
                                                  .effect = cursor_text(&i, "effect")};
    return out;
}

static void read_affinity(const struct cursor *spec, struct pod *pod)
{
    struct cursor affinity = cursor_object(spec, "affinity");
    struct cursor nodes = cursor_object(&affinity, "nodeAffinity");
    struct cursor required =
        cursor_object(&nodes, "requiredDuringSchedulingIgnoredDuringExecution");
    struct cursor terms = cursor_list(&required, "nodeSelectorTerms");
    struct cursor preferred =
        cursor_list(&nodes, "preferredDuringSchedulingIgnoredDuringExecution");
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
static void read_container_ports(const struct cursor *container, struct host_port *out,
                                 uint32_t *count)
{
    struct cursor ports = cursor_list(container, "ports");
    for (struct cursor i = cursor_first(&ports); i.value != NULL; i = cursor_next(&i)) {
        int64_t port = cursor_is_object(&i) ? cursor_i32(&i, "hostPort") : 0;
        if (port <= 0)
            continue;
        out[(*count)++] = (struct host_port){
            .ip = or_default(cursor_text(&i, "hostIP"), STR_LITERAL("0.0.0.0")),
            .protocol = or_default(cursor_text(&i, "protocol"), STR_LITERAL("TCP")),
            .port = port};
    }
}

static size_t count_ports(const struct cursor *containers)
{
    size_t count = 0;
    for (struct cursor i = cursor_first(containers); i.value != NULL; i = cursor_next(&i))
        count += kube_json_count(kube_json_get(i.value, "ports"));
    return count;
}

/* Sidecars before containers, as upstream; other init containers hold no ports. */
static void read_ports(const struct cursor *init, const struct cursor *containers, struct pod *pod)
{
    size_t most = count_ports(init) + count_ports(containers);
    struct host_port *out = most ? cursor_take(containers, most, sizeof(*out)) : NULL;
    if (out == NULL)
        return;
    for (struct cursor i = cursor_first(init); i.value != NULL; i = cursor_next(&i))
        if (str_is(kube_json_text(kube_json_get(i.value, "restartPolicy")), "Always"))
            read_container_ports(&i, out, &pod->ports.count);
    for (struct cursor i = cursor_first(containers); i.value != NULL; i = cursor_next(&i))
        read_container_ports(&i, out, &pod->ports.count);
    pod->ports.at = out;
}

/* Upstream's normalizedImageName: a name without a tag means :latest. */
static struct str normalised(const struct cursor *at, struct str image)
{
    for (uint32_t i = image.len; i > 0; i--) {
        if (image.at[i - 1] == ':')
            return image;
        if (image.at[i - 1] == '/')
            break;
    }
    struct str full = arena_print(at->reading->arena, "%.*s:latest", STR_ARG(image));
    if (full.at == NULL)
        cursor_fail(at, "too large");
    return full;
}

static void read_images(const struct cursor *init, const struct cursor *containers,
                        const struct cursor *volumes, struct pod *pod)
{
    const struct cursor *lists[] = {init, containers, volumes};
    size_t most = kube_json_count(init->value) + kube_json_count(containers->value);
    pod->container_count = (int64_t)most;
    most += kube_json_count(volumes->value);
    pod->images.at = most ? cursor_take(containers, most, sizeof(*pod->images.at)) : NULL;
    for (size_t l = 0; pod->images.at != NULL && l < 3; l++)
        for (struct cursor i = cursor_first(lists[l]); i.value != NULL; i = cursor_next(&i)) {
            if (!cursor_is_object(&i))
                continue;
            struct cursor image = i;
            if (lists[l] == volumes) {
                image = cursor_object(&i, "image");
                if (image.value == NULL)
                    continue;
            }
            struct str name = cursor_text(&image, lists[l] == volumes ? "reference" : "image");
            pod->images.at[pod->images.count++] = normalised(&i, name);
        }
}

/* The features that a node must declare for the pod, of those that upstream infers when it
 * schedules; features for resizing in place concern updates alone. In name order. */
static bool restarts_all(const struct cursor *containers)
{
    for (struct cursor c = cursor_first(containers); c.value != NULL; c = cursor_next(&c)) {
        const struct kube_json *rules = kube_json_get(c.value, "restartPolicyRules");
        for (const struct kube_json *i = kube_json_first(rules); i != NULL; i = kube_json_next(i))
            if (str_is(kube_json_text(kube_json_get(i, "action")), "RestartAllContainers"))
                return true;
    }
    return false;
}

static void read_features(const struct cursor *spec, struct pod *pod)
{
    struct cursor init = cursor_list(spec, "initContainers");
    struct cursor containers = cursor_list(spec, "containers");
    struct cursor users = cursor_member(spec, "hostUsers");
    bool restart = restarts_all(&containers) || restarts_all(&init);
    bool own_users = users.value != NULL && !cursor_bool(spec, "hostUsers");
    bool host_network = cursor_bool(spec, "hostNetwork");
    if (!restart && !(host_network && own_users))
        return;
    pod->features.at = cursor_take(spec, 2, sizeof(*pod->features.at));
    if (pod->features.at == NULL)
        return;
    if (restart)
        pod->features.at[pod->features.count++] =
            STR_LITERAL("RestartAllContainersOnContainerExits");
    if (host_network && own_users)
        pod->features.at[pod->features.count++] = STR_LITERAL("UserNamespacesHostNetworkSupport");
}

static void read_pod_spec(const struct cursor *object, struct pod *pod)
{
    struct cursor spec = cursor_object(object, "spec");
    struct cursor init = cursor_list(&spec, "initContainers");
    struct cursor containers = cursor_list(&spec, "containers");
    struct cursor volumes = cursor_list(&spec, "volumes");
    struct cursor selector = cursor_object(&spec, "nodeSelector");
    pod->node_name = cursor_text(&spec, "nodeName");
    pod->scheduler_name = cursor_text(&spec, "schedulerName");
    pod->priority = cursor_i32(&spec, "priority");
    pod->has_priority = cursor_member(&spec, "priority").value != NULL;
    pod->preemption_policy = cursor_text(&spec, "preemptionPolicy");
    pod->gates = object_each(&spec, "schedulingGates", "name");
    pod->has_node_selector = selector.value != NULL;
    pod->node_selector.at = object_labels(&spec, "nodeSelector", &pod->node_selector.count);
    read_affinity(&spec, pod);
    pod->tolerations.at = read_tolerations(&spec, &pod->tolerations.count);
    read_ports(&init, &containers, pod);
    read_images(&init, &containers, &volumes, pod);
    object_spread(&spec, pod);
    object_pod_volumes(&volumes, pod);
    struct cursor status = cursor_object(object, "status");
    pod->resource_claims = object_each(&spec, "resourceClaims", "name");
    pod->device_claims.at = object_device_claims(&spec, &status, &pod->device_claims.count);
    read_features(&spec, pod);
}

static void read_scheduled(const struct cursor *at, struct pod *pod)
{
    pod->scheduled =
        (struct condition){.status = cursor_text(at, "status"),
                           .reason = cursor_text(at, "reason"),
                           .message = cursor_text(at, "message"),
                           .since = cursor_text(at, "lastTransitionTime"),
                           .probed = kube_json_get(at->value, "lastProbeTime") != NULL,
                           .observed_generation = cursor_i64(at, "observedGeneration")};
}

static void read_disruption(const struct cursor *at, struct pod *pod)
{
    struct str status = cursor_text(at, "status"), reason = cursor_text(at, "reason");
    pod->preempted = str_is(status, "True") && str_is(reason, "PreemptionByScheduler");
    pod->disruption_target = cursor_text(at, "message");
}

/* Of several conditions of one type the first counts. */
static void read_pod_status(const struct cursor *object, struct pod *pod)
{
    struct cursor status = cursor_object(object, "status");
    struct cursor conditions = cursor_list(&status, "conditions");
    bool scheduled = false, disrupted = false, resizes = false;
    pod->nominated_node = cursor_text(&status, "nominatedNodeName");
    pod->started = cursor_time(&status, "startTime");
    pod->condition_types = object_each(&status, "conditions", "type");
    pod->room_claims =
        object_each(&status, "nodeAllocatableResourceClaimStatuses", "resourceClaimName");
    for (struct cursor i = cursor_first(&conditions); i.value != NULL; i = cursor_next(&i)) {
        struct str type = kube_json_text(kube_json_get(i.value, "type"));
        if (str_is(type, "PodScheduled") && !scheduled && pod->node_name.len == 0) {
            scheduled = true;
            read_scheduled(&i, pod);
        } else if (str_is(type, "DisruptionTarget") && !disrupted) {
            disrupted = true;
            read_disruption(&i, pod);
        } else if (str_is(type, "PodResizePending") && !resizes) {
            resizes = true;
            pod->resize_deferred = str_is(cursor_text(&i, "reason"), "Deferred");
        }
    }
}

bool kube_object_pod(const struct kube_json *object, struct pod *pod, struct arena *a,
                     struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "Pod", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    *pod = (struct pod){0};
    cursor_is_object(&root);
    read_pod_metadata(&root, pod);
    read_pod_spec(&root, pod);
    read_pod_status(&root, pod);
    object_pod_gang(&root, pod);
    requests_fill(&root, pod);
    return object_finish(&r, error);
}
