/* POST pods/binding: the one write by which a scheduler places a pod.
 *
 * The one idea: all reasons against an assignment are checked on the stored pod first, and only
 * then is the next version written in one step: node, PodScheduled=True, no nomination, and the
 * node's topology labels. What must hold: a pod is assigned once, to the end of its life. */
#include "admission.h"
#include "api.h"

#include <stdio.h>
#include <string.h>

static cJSON *bind_conflict(const struct resource *pods, const char *name, const char *cause)
{
    return status_conflict(pods, "pods/binding", name, cause);
}

/* Reads pod, which is not yet assigned or the reason why not. */
static cJSON *check_assignable(const struct resource *pods, const cJSON *pod, const cJSON *binding)
{
    char cause[512];
    const char *name = tree_string(pod, "metadata.name", "");
    const char *uid = tree_string(pod, "metadata.uid", "");
    const char *wanted_uid = tree_string(binding, "metadata.uid", "");
    const char *version = tree_string(pod, "metadata.resourceVersion", "");
    const char *wanted_version = tree_string(binding, "metadata.resourceVersion", "");
    const char *node = tree_string(pod, "spec.nodeName", "");
    if (*wanted_uid && strcmp(wanted_uid, uid) != 0)
        snprintf(cause, sizeof cause,
                 "Precondition failed: UID in precondition: %.64s, UID in object meta: %s",
                 wanted_uid, uid);
    else if (*wanted_version && strcmp(wanted_version, version) != 0)
        snprintf(cause, sizeof cause,
                 "Precondition failed: ResourceVersion in precondition: %.24s, ResourceVersion in "
                 "object "
                 "meta: %s",
                 wanted_version, version);
    else if (tree_get(pod, "metadata.deletionTimestamp") != NULL)
        snprintf(cause, sizeof cause, "pod %s is being deleted, cannot be assigned to a host",
                 name);
    else if (*node)
        snprintf(cause, sizeof cause, "pod %s is already assigned to node \"%s\"", name, node);
    else if (cJSON_GetArraySize(tree_get(pod, "spec.schedulingGates")) > 0)
        snprintf(cause, sizeof cause, "pod %s has non-empty .spec.schedulingGates", name);
    else
        return NULL;
    return bind_conflict(pods, name, cause);
}

static cJSON *check_binding(const cJSON *binding)
{
    struct causes causes = {0};
    const char *kind = tree_string(binding, "target.kind", "Node");
    if (*kind && strcmp(kind, "Node") != 0)
        causes_add(&causes, "FieldValueNotSupported", "target.kind",
                   "Unsupported value: \"%s\": supported values: \"Node\", \"<empty>\"", kind);
    if (*tree_string(binding, "target.name", "") == 0)
        causes_add(&causes, "FieldValueRequired", "target.name", "Required value");
    static const struct resource binding_kind = {"", "v1",       "bindings", "Binding",
                                                 "", NAMESPACED, NULL};
    return status_invalid(&causes, &binding_kind, tree_string(binding, "metadata.name", ""));
}

static void copy_annotations(cJSON *pod, const cJSON *binding)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_get(binding, "metadata.annotations"))
        tree_set(tree_make(pod, "metadata.annotations"), item->string, tree_copy(item));
}

/* As the admission plugin PodTopologyLabels does on binding. */
static void copy_topology(struct server *server, cJSON *pod, const char *node_name)
{
    static const char *const keys[] = {"topology.kubernetes.io/zone",
                                       "topology.kubernetes.io/region"};
    const struct object *node =
        registry_find(&server->registry, resource_named("nodes"), "", node_name);
    for (size_t i = 0; node != NULL && i < 2; i++) {
        const char *value = object_label(node, keys[i]);
        if (value != NULL)
            tree_set_string(tree_make(pod, "metadata.labels"), keys[i], value);
    }
}

static void assign(struct server *server, cJSON *pod, const cJSON *binding)
{
    const char *node = tree_string(binding, "target.name", "");
    cJSON *metadata = tree_get(pod, "metadata");
    tree_set_string(tree_make(pod, "spec"), "nodeName", node);
    tree_set_number(metadata, "generation", tree_number(metadata, "generation", 1) + 1);
    copy_annotations(pod, binding);
    copy_topology(server, pod, node);
    tree_remove(tree_make(pod, "status"), "nominatedNodeName");
    pod_condition_set(pod, "PodScheduled", "True", NULL, NULL);
}

cJSON *pods_assign(struct server *server, const char *namespace, const char *name,
                   const cJSON *binding)
{
    const struct resource *pods = resource_named("pods");
    struct object *object = registry_find(&server->registry, pods, namespace, name);
    cJSON *refused = check_binding(binding);
    if (refused != NULL)
        return refused;
    if (object == NULL)
        return status_not_found(pods, name);
    cJSON *pod = object_tree(object);
    refused = check_assignable(pods, pod, binding);
    if (refused == NULL) {
        assign(server, pod, binding);
        kubelet_notice(server, registry_put(&server->registry, pods, pod));
    }
    cJSON_Delete(pod);
    return refused;
}

void pods_bind(struct request *request, struct answer *answer)
{
    cJSON *refused, *binding = request_tree(request, &refused);
    if (binding == NULL) {
        answer_status(answer, refused);
        return;
    }
    if (strcmp(tree_string(binding, "metadata.name", request->name), request->name) != 0)
        refused = status_bad_request(
            "the name of the object (%s) does not match the name on the URL (%s)",
            tree_string(binding, "metadata.name", ""), request->name);
    else
        refused = pods_assign(request->server, request->namespace, request->name, binding);
    request->audit_object = binding;
    if (refused == NULL) {
        refused = status_success();
        tree_set_number(refused, "code", 201);
    }
    answer_status(answer, refused);
}
