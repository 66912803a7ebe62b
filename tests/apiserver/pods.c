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
    cJSON *status = status_conflict(pods, "pods/binding", name, cause);
    tree_set_string(tree_get(status, "details"), "kind", "pods/binding");
    return status;
}

/* A binding may name the pod's UID and version; the words are those of the real server's storage.
 */
static cJSON *check_precondition(const struct resource *pods, const cJSON *pod,
                                 const cJSON *binding)
{
    static const char *const fields[][2] = {{"uid", "UID"}, {"resourceVersion", "ResourceVersion"}};
    for (int i = 0; i < 2; i++) {
        char cause[800];
        const char *found = tree_string(tree_get(pod, "metadata"), fields[i][0], "");
        const char *wanted = tree_string(tree_get(binding, "metadata"), fields[i][0], "");
        const char *name = tree_string(pod, "metadata.name", "");
        if (*wanted == 0 || strcmp(wanted, found) == 0)
            continue;
        snprintf(cause, sizeof cause,
                 "StorageError: invalid object, Code: 4, Key: /registry/pods/%.253s/%.253s, "
                 "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s in precondition: "
                 "%.64s, %s in object meta: %s",
                 tree_string(pod, "metadata.namespace", ""), name, fields[i][1], wanted,
                 fields[i][1], found);
        return status_conflict(pods, "pods", name, cause);
    }
    return NULL;
}

/* NULL, or the reason why this pod cannot be assigned. */
static cJSON *check_assignable(const struct resource *pods, const cJSON *pod)
{
    char cause[512];
    const char *name = tree_string(pod, "metadata.name", "");
    const char *node = tree_string(pod, "spec.nodeName", "");
    if (tree_get(pod, "metadata.deletionTimestamp") != NULL)
        snprintf(cause, sizeof cause, "pod %.253s is being deleted, cannot be assigned to a host",
                 name);
    else if (*node)
        snprintf(cause, sizeof cause, "pod %.200s is already assigned to node \"%.200s\"", name,
                 node);
    else if (cJSON_GetArraySize(tree_get(pod, "spec.schedulingGates")) > 0)
        snprintf(cause, sizeof cause, "pod %.253s has non-empty .spec.schedulingGates", name);
    else
        return NULL;
    return bind_conflict(pods, name, cause);
}

/* The real server answers 500 here, without a reason. */
static cJSON *check_binding(const cJSON *binding)
{
    const char *kind = tree_string(binding, "target.kind", "Node");
    if (*kind && strcmp(kind, "Node") != 0)
        return status_failure(500, "",
                              "target.kind: Unsupported value: \"%s\": supported values: \"Node\", "
                              "\"<empty>\"",
                              kind);
    if (*tree_string(binding, "target.name", "") == 0)
        return status_failure(500, "", "target.name: Required value");
    return NULL;
}

static void copy_annotations(cJSON *pod, const cJSON *binding)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_map(binding, "metadata.annotations"))
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
    tree_set_string(tree_make(pod, "spec"), "nodeName", node);
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
    refused = check_precondition(pods, pod, binding);
    if (refused == NULL)
        refused = check_assignable(pods, pod);
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
