/* Defaults and checks for every kind but pods, and the metadata rules that all kinds share.
 *
 * The one idea: a kind without a function in the table below is stored as it came. What must hold
 * is what a scheduler relies on: allocatable is set, phases are set, quantities parse. */
#include "admission.h"

#include "amount.h"

#include <ctype.h>
#include <string.h>

typedef void default_kind(struct server *server, cJSON *tree);
typedef void check_kind(const cJSON *tree, struct causes *causes);

static bool is_subdomain(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > 253)
        return false;
    for (size_t i = 0; i < size; i++) {
        bool alnum = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]);
        bool inner = i > 0 && i + 1 < size && name[i - 1] != '.' && name[i + 1] != '.';
        if (!alnum && !(name[i] == '-' && i > 0 && i + 1 < size) && !(name[i] == '.' && inner))
            return false;
    }
    return true;
}

static void check_name(const struct resource *resource, const cJSON *tree, struct causes *causes)
{
    const char *name = tree_string(tree, "metadata.name", "");
    if (*name == 0) {
        causes_add(causes, "FieldValueRequired", "metadata.name",
                   "Required value: name or generateName is required");
    } else if (strncmp(resource->group, "rbac.", 5) != 0 && !is_subdomain(name)) {
        causes_add(
            causes, "FieldValueInvalid", "metadata.name",
            "Invalid value: \"%s\": a lowercase RFC 1123 subdomain must consist of lower case "
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            name);
    }
}

static void default_node(struct server *server, cJSON *node)
{
    (void)server;
    tree_make(node, "spec");
    cJSON *status = tree_make(node, "status");
    const cJSON *capacity = tree_get(status, "capacity");
    if (capacity != NULL && cJSON_GetArraySize(tree_get(status, "allocatable")) == 0)
        tree_set(status, "allocatable", tree_copy(capacity));
}

static void check_amounts(const cJSON *node, const char *path, struct causes *causes)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_map(node, path))
    {
        long double milli = 0;
        bool good = cJSON_IsNumber(item) ||
                    (cJSON_IsString(item) && amount_parse(item->valuestring, &milli) && milli >= 0);
        char field[256];
        snprintf(field, sizeof field, "%s.%s", path, item->string);
        if (!good)
            causes_add(causes, "FieldValueInvalid", field,
                       "Invalid value: must be a valid resource quantity");
    }
}

static void check_node(const cJSON *node, struct causes *causes)
{
    check_amounts(node, "status.capacity", causes);
    check_amounts(node, "status.allocatable", causes);
    int index = 0;
    const cJSON *taint;
    cJSON_ArrayForEach(taint, tree_get(node, "spec.taints"))
    {
        char field[64];
        snprintf(field, sizeof field, "spec.taints[%d]", index++);
        if (*tree_string(taint, "key", "") == 0)
            causes_add(causes, "FieldValueRequired", field, "Required value: key");
        const char *effect = tree_string(taint, "effect", "");
        if (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "PreferNoSchedule") != 0 &&
            strcmp(effect, "NoExecute") != 0)
            causes_add(
                causes, "FieldValueNotSupported", field,
                "Unsupported value: \"%s\": supported values: \"NoExecute\", \"NoSchedule\", "
                "\"PreferNoSchedule\"",
                effect);
    }
}

static void default_namespace(struct server *server, cJSON *tree)
{
    (void)server;
    cJSON *finalizers = cJSON_CreateArray();
    cJSON_AddItemToArray(finalizers, cJSON_CreateString("kubernetes"));
    tree_default(tree_make(tree, "spec"), "finalizers", finalizers);
    tree_default_string(tree_make(tree, "status"), "phase", "Active");
    tree_set_string(tree_make(tree, "metadata.labels"), "kubernetes.io/metadata.name",
                    tree_string(tree, "metadata.name", ""));
}

static void default_service(struct server *server, cJSON *tree)
{
    (void)server;
    cJSON *spec = tree_make(tree, "spec");
    tree_default_string(spec, "type", "ClusterIP");
    tree_default_string(spec, "sessionAffinity", "None");
    tree_default_string(spec, "internalTrafficPolicy", "Cluster");
    cJSON *port;
    cJSON_ArrayForEach(port, tree_get(spec, "ports"))
    {
        tree_default_string(port, "protocol", "TCP");
        tree_default(port, "targetPort", cJSON_CreateNumber(tree_number(port, "port", 0)));
    }
    tree_default(tree_make(tree, "status"), "loadBalancer", cJSON_CreateObject());
}

static void default_replicas(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default(tree_make(tree, "spec"), "replicas", cJSON_CreateNumber(1));
    tree_default(tree_make(tree, "status"), "replicas", cJSON_CreateNumber(0));
}

static void default_volume(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default_string(tree_make(tree, "spec"), "persistentVolumeReclaimPolicy", "Retain");
    tree_default_string(tree_make(tree, "spec"), "volumeMode", "Filesystem");
    tree_default_string(tree_make(tree, "status"), "phase", "Pending");
}

static void default_claim(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default_string(tree_make(tree, "spec"), "volumeMode", "Filesystem");
    tree_default_string(tree_make(tree, "status"), "phase", "Pending");
}

static void default_storage_class(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default_string(tree, "reclaimPolicy", "Delete");
    tree_default_string(tree, "volumeBindingMode", "Immediate");
}

static void default_driver(struct server *server, cJSON *tree)
{
    (void)server;
    cJSON *spec = tree_make(tree, "spec");
    tree_default(spec, "attachRequired", cJSON_CreateBool(true));
    tree_default(spec, "podInfoOnMount", cJSON_CreateBool(false));
    tree_default(spec, "storageCapacity", cJSON_CreateBool(false));
    tree_default_string(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
}

static void default_priority_class(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default_string(tree, "preemptionPolicy", "PreemptLowerPriority");
    tree_default(tree, "value", cJSON_CreateNumber(0));
}

static void default_event(struct server *server, cJSON *tree)
{
    (void)server;
    tree_default(tree, "source", cJSON_CreateObject());
    tree_default(tree, "firstTimestamp", cJSON_CreateNull());
    tree_default(tree, "lastTimestamp", cJSON_CreateNull());
}

/* Served from now on: of these, what has no line in the table of resources is never served. */
static void default_definition(struct server *server, cJSON *tree)
{
    (void)server;
    cJSON *condition = cJSON_CreateObject(), *list = cJSON_CreateArray();
    tree_set_string(condition, "type", "Established");
    tree_set_string(condition, "status", "True");
    cJSON_AddItemToArray(list, condition);
    tree_default(tree_make(tree, "status"), "conditions", list);
}

static void default_ask(cJSON *ask)
{
    if (ask == NULL)
        return;
    tree_default_string(ask, "allocationMode", "ExactCount");
    if (strcmp(tree_string(ask, "allocationMode", ""), "ExactCount") == 0 &&
        tree_number(ask, "count", 0) == 0)
        tree_set_number(ask, "count", 1);
}

/* Without these a scheduler would read "no device" where "one device" is meant. */
static void default_asks(cJSON *spec)
{
    cJSON *request, *ask;
    cJSON_ArrayForEach(request, tree_get(spec, "devices.requests"))
    {
        default_ask(tree_get(request, "exactly"));
        cJSON_ArrayForEach(ask, tree_get(request, "firstAvailable")) default_ask(ask);
    }
}

static void default_device_claim(struct server *server, cJSON *tree)
{
    (void)server;
    default_asks(tree_get(tree, "spec"));
}

static void default_device_template(struct server *server, cJSON *tree)
{
    (void)server;
    default_asks(tree_get(tree, "spec.spec"));
}

static void default_group(struct server *server, cJSON *tree)
{
    (void)server;
    (void)tree;
}

/* Of groups in the tree, which are basic or a gang. */
static void check_policy(const cJSON *policy, struct causes *causes)
{
    const cJSON *gang = tree_get(policy, "gang");
    if ((gang != NULL) == (tree_get(policy, "basic") != NULL))
        causes_add(causes, "FieldValueInvalid", "spec.schedulingPolicy",
                   "Invalid value: exactly one of basic and gang must be set");
    else if (gang != NULL && tree_number(gang, "minCount", 0) < 1)
        causes_add(causes, "FieldValueInvalid", "spec.schedulingPolicy.gang.minCount",
                   "Invalid value: %.0f: must be greater than zero",
                   tree_number(gang, "minCount", 0));
}

static void check_group(const cJSON *tree, struct causes *causes)
{
    const cJSON *policy = tree_get(tree, "spec.schedulingPolicy");
    if (policy != NULL) {
        check_policy(policy, causes);
        return;
    }
    double least = tree_number(tree, "spec.minMember", 0);
    if (least < 1)
        causes_add(causes, "FieldValueInvalid", "spec.minMember",
                   "Invalid value: %.0f: spec.minMember in body should be greater than or equal "
                   "to 1",
                   least);
}

static const struct {
    const char *plural;
    default_kind *complete;
    check_kind *check;
} kinds[] = {
    {"nodes", default_node, check_node},
    {"namespaces", default_namespace, NULL},
    {"services", default_service, NULL},
    {"replicationcontrollers", default_replicas, NULL},
    {"replicasets", default_replicas, NULL},
    {"statefulsets", default_replicas, NULL},
    {"deployments", default_replicas, NULL},
    {"persistentvolumes", default_volume, NULL},
    {"persistentvolumeclaims", default_claim, NULL},
    {"storageclasses", default_storage_class, NULL},
    {"csidrivers", default_driver, NULL},
    {"priorityclasses", default_priority_class, NULL},
    {"events", default_event, NULL},
    {"customresourcedefinitions", default_definition, NULL},
    {"resourceclaims", default_device_claim, NULL},
    {"resourceclaimtemplates", default_device_template, NULL},
    {"podgroups", default_group, check_group},
};

static void admit_kind(struct server *server, const struct resource *resource, cJSON *tree,
                       struct causes *causes)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].plural, resource->plural) != 0)
            continue;
        kinds[i].complete(server, tree);
        if (kinds[i].check != NULL)
            kinds[i].check(tree, causes);
    }
}

cJSON *admit_create(struct server *server, const struct resource *resource, cJSON *tree)
{
    struct causes causes = {0};
    check_name(resource, tree, &causes);
    if (causes.list != NULL)
        return status_invalid(&causes, resource, tree_string(tree, "metadata.name", ""));
    if (strcmp(resource->plural, "pods") == 0)
        return admit_pod_create(server, resource, tree);
    admit_kind(server, resource, tree, &causes);
    return status_invalid(&causes, resource, tree_string(tree, "metadata.name", ""));
}

cJSON *admit_update(struct server *server, const struct resource *resource, cJSON *tree,
                    const cJSON *before)
{
    if (strcmp(resource->plural, "pods") == 0)
        return admit_pod_update(resource, tree, before);
    struct causes causes = {0};
    admit_kind(server, resource, tree, &causes);
    if (strcmp(resource->plural, "priorityclasses") == 0 &&
        tree_number(tree, "value", 0) != tree_number(before, "value", 0))
        causes_add(&causes, "FieldValueForbidden", "value",
                   "Forbidden: may not be changed in an update.");
    return status_invalid(&causes, resource, tree_string(tree, "metadata.name", ""));
}
