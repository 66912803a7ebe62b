/* Defaults, priority and validation of pods, as far as a scheduler can see them.
 *
 * The one idea: what kube-apiserver's defaulting and its Priority and DefaultTolerationSeconds
 * admission do to a pod happens here in the same order, so that a scheduler reads the same pod from
 * both servers. Status never comes from the client on create. */
#include "admission.h"

#include "amount.h"

#include "proto/base/map.h"

#include <stdio.h>
#include <string.h>

void pod_condition_set(cJSON *pod, const char *type, const char *status, const char *reason,
                       const char *message)
{
    char now[TIME_TEXT];
    cJSON *in = tree_make(pod, "status");
    if (!cJSON_IsArray(tree_member(in, "conditions")))
        tree_set(in, "conditions", cJSON_CreateArray());
    cJSON *list = tree_member(in, "conditions"), *found = NULL, *item;
    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(tree_string(item, "type", ""), type) == 0)
            found = item;
    }
    const char *since = tree_string(found, "lastTransitionTime", "");
    bool moved = strcmp(tree_string(found, "status", ""), status) != 0 || *since == 0;
    cJSON *condition = cJSON_CreateObject();
    tree_set_string(condition, "type", type);
    tree_set_string(condition, "status", status);
    tree_set(condition, "lastProbeTime", cJSON_CreateNull());
    tree_set_string(condition, "lastTransitionTime",
                    moved ? time_seconds_text(moment_wall_us(), now) : since);
    if (reason != NULL)
        tree_set_string(condition, "reason", reason);
    if (message != NULL)
        tree_set_string(condition, "message", message);
    if (found != NULL)
        cJSON_ReplaceItemViaPointer(list, found, condition);
    else
        cJSON_AddItemToArray(list, condition);
}

static const char *amount_text(const cJSON *item, char room[static 40])
{
    if (cJSON_IsNumber(item)) {
        snprintf(room, 40, "%.15g", item->valuedouble);
        return room;
    }
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* ---- defaults ---- */

static void default_requests(cJSON *container)
{
    cJSON *needs = tree_make(container, "resources");
    const cJSON *limit;
    cJSON_ArrayForEach(limit, tree_map(needs, "limits"))
    {
        cJSON *requests = tree_make(needs, "requests");
        tree_default(requests, limit->string, tree_copy(limit));
    }
}

static void default_ports(cJSON *container, bool host_network)
{
    cJSON *port;
    cJSON_ArrayForEach(port, tree_get(container, "ports"))
    {
        tree_default_string(port, "protocol", "TCP");
        if (host_network)
            tree_default(port, "hostPort",
                         cJSON_CreateNumber(tree_number(port, "containerPort", 0)));
    }
}

static const char *pull_policy(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *tag = strchr(slash != NULL ? slash : image, ':');
    bool latest = strchr(image, '@') == NULL && (tag == NULL || strcmp(tag, ":latest") == 0);
    return latest ? "Always" : "IfNotPresent";
}

static void default_containers(cJSON *list, bool host_network)
{
    cJSON *container;
    cJSON_ArrayForEach(container, list)
    {
        if (!cJSON_IsObject(container))
            continue;
        default_requests(container);
        default_ports(container, host_network);
        tree_default_string(container, "terminationMessagePath", "/dev/termination-log");
        tree_default_string(container, "terminationMessagePolicy", "File");
        tree_default_string(container, "imagePullPolicy",
                            pull_policy(tree_string(container, "image", "")));
    }
}

static void default_spec(cJSON *spec)
{
    bool host_network = tree_bool(spec, "hostNetwork");
    default_containers(tree_get(spec, "initContainers"), host_network);
    default_containers(tree_get(spec, "containers"), host_network);
    tree_default_string(spec, "restartPolicy", "Always");
    tree_default(spec, "terminationGracePeriodSeconds", cJSON_CreateNumber(30));
    tree_default_string(spec, "dnsPolicy", "ClusterFirst");
    tree_default(spec, "securityContext", cJSON_CreateObject());
    tree_default_string(spec, "schedulerName", "default-scheduler");
    tree_default(spec, "enableServiceLinks", cJSON_CreateBool(true));
}

static bool tolerates(const cJSON *spec, const char *key)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_get(spec, "tolerations"))
    {
        const char *effect = tree_string(item, "effect", ""),
                   *its_key = tree_string(item, "key", "");
        if ((strcmp(its_key, key) == 0 || *its_key == 0) &&
            (strcmp(effect, "NoExecute") == 0 || *effect == 0))
            return true;
    }
    return false;
}

static void default_tolerations(cJSON *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready",
                                       "node.kubernetes.io/unreachable"};
    for (int i = 0; i < 2; i++) {
        if (tolerates(spec, keys[i]))
            continue;
        cJSON *toleration = cJSON_CreateObject();
        tree_set_string(toleration, "key", keys[i]);
        tree_set_string(toleration, "operator", "Exists");
        tree_set_string(toleration, "effect", "NoExecute");
        tree_set_number(toleration, "tolerationSeconds", 300);
        if (!cJSON_IsArray(tree_member(spec, "tolerations")))
            tree_set(spec, "tolerations", cJSON_CreateArray());
        cJSON_AddItemToArray(tree_member(spec, "tolerations"), toleration);
    }
}

/* ---- priority ---- */

static cJSON *default_class(struct server *server)
{
    const struct resource *classes = resource_named("priorityclasses");
    const struct shelf *shelf = &server->registry.shelves[resource_shelf(classes)];
    for (size_t i = 0; i < shelf->count; i++) {
        cJSON *tree = object_tree(shelf->objects[i]);
        if (tree_bool(tree, "globalDefault"))
            return tree;
        cJSON_Delete(tree);
    }
    return NULL;
}

static cJSON *refuse_priority(const struct resource *resource, const char *name, const char *cause)
{
    cJSON *status = status_failure(403, "Forbidden", "pods \"%s\" is forbidden: %s", name, cause);
    return status_about(status, resource, name);
}

static cJSON *set_priority(struct server *server, const struct resource *resource, cJSON *pod)
{
    cJSON *spec = tree_get(pod, "spec"), *class;
    const char *wanted = tree_string(spec, "priorityClassName", "");
    const char *name = tree_string(pod, "metadata.name", "");
    char cause[320];
    if (*wanted) {
        const struct object *found =
            registry_find(&server->registry, resource_named("priorityclasses"), "", wanted);
        if (found == NULL) {
            snprintf(cause, sizeof cause, "no PriorityClass with name %.200s was found", wanted);
            return refuse_priority(resource, name, cause);
        }
        class = object_tree(found);
    } else if ((class = default_class(server)) != NULL) {
        tree_set_string(spec, "priorityClassName", tree_string(class, "metadata.name", ""));
    }
    double value = tree_number(class, "value", 0);
    double given = tree_number(spec, "priority", value);
    cJSON *refused = NULL;
    if (given != value) {
        snprintf(cause, sizeof cause,
                 "the integer value of priority (%.0f) must not be provided in pod spec; priority "
                 "admission controller computed %.0f from the given PriorityClass name",
                 given, value);
        refused = refuse_priority(resource, name, cause);
    }
    tree_set_number(spec, "priority", value);
    tree_default_string(spec, "preemptionPolicy",
                        tree_string(class, "preemptionPolicy", "PreemptLowerPriority"));
    cJSON_Delete(class);
    return refused;
}

/* ---- quality of service ---- */

struct quality {
    bool any, guaranteed;
};

static void quality_of(const cJSON *containers, struct quality *quality)
{
    static const char *const names[] = {"cpu", "memory"};
    const cJSON *container;
    cJSON_ArrayForEach(container, containers)
    {
        for (int i = 0; i < 2; i++) {
            char room_a[40], room_b[40];
            long double request = 0, limit = 0;
            const cJSON *requests = tree_map(container, "resources.requests");
            const cJSON *limits = tree_map(container, "resources.limits");
            amount_parse(amount_text(tree_member(requests, names[i]), room_a), &request);
            amount_parse(amount_text(tree_member(limits, names[i]), room_b), &limit);
            quality->any |= request > 0 || limit > 0;
            quality->guaranteed &= limit > 0 && request == limit;
        }
    }
}

static const char *quality_class(const cJSON *spec)
{
    struct quality quality = {.guaranteed = true};
    quality_of(tree_get(spec, "containers"), &quality);
    quality_of(tree_get(spec, "initContainers"), &quality);
    if (!quality.any)
        return "BestEffort";
    return quality.guaranteed ? "Guaranteed" : "Burstable";
}

/* ---- validation ---- */

static void check_amount(struct causes *causes, const char *path, const cJSON *item)
{
    char room[40], field[512];
    long double milli = 0;
    const char *text = amount_text(item, room);
    snprintf(field, sizeof field, "%s[%s]", path, item->string);
    if (amount_parse(text, &milli) && milli < 0)
        causes_add(causes, "FieldValueInvalid", field,
                   "Invalid value: \"%s\": must be greater than or equal to 0", text);
}

static void check_against_limit(struct causes *causes, const char *path, const cJSON *limits,
                                const cJSON *request)
{
    char room_a[40], room_b[40];
    const cJSON *limit = tree_member(limits, request->string);
    bool extended =
        strchr(request->string, '/') != NULL && strstr(request->string, "kubernetes.io/") == NULL;
    long double wanted = 0, most = 0;
    const char *text = amount_text(request, room_a), *limit_text = amount_text(limit, room_b);
    char requests_path[128], limits_path[128];
    snprintf(requests_path, sizeof requests_path, "%s.resources.requests", path);
    snprintf(limits_path, sizeof limits_path, "%s.resources.limits", path);
    bool read = amount_parse(text, &wanted) && limit != NULL && amount_parse(limit_text, &most);
    if (extended && limit == NULL)
        causes_add(causes, "FieldValueRequired", limits_path,
                   "Required value: Limit must be set for non overcommitable resources");
    else if (read && extended && wanted != most)
        causes_add(causes, "FieldValueInvalid", requests_path,
                   "Invalid value: \"%s\": must be equal to %s limit of %s", text, request->string,
                   limit_text);
    else if (read && wanted > most)
        causes_add(causes, "FieldValueInvalid", requests_path,
                   "Invalid value: \"%s\": must be less than or equal to %s limit of %s", text,
                   request->string, limit_text);
}

static void check_resources(struct causes *causes, const char *path, const cJSON *container)
{
    char requests[128], limits[128];
    snprintf(requests, sizeof requests, "%s.resources.requests", path);
    snprintf(limits, sizeof limits, "%s.resources.limits", path);
    const cJSON *item, *all_limits = tree_map(container, "resources.limits");
    cJSON_ArrayForEach(item, all_limits) check_amount(causes, limits, item);
    cJSON_ArrayForEach(item, tree_map(container, "resources.requests"))
    {
        check_amount(causes, requests, item);
        check_against_limit(causes, path, all_limits, item);
    }
}

static void check_containers(struct causes *causes, const char *field, const cJSON *list)
{
    int index = 0;
    const cJSON *container;
    struct map *names = map_new();
    cJSON_ArrayForEach(container, list)
    {
        char path[64], at[96];
        snprintf(path, sizeof path, "%s[%d]", field, index++);
        const char *name = tree_string(container, "name", "");
        snprintf(at, sizeof at, "%s.name", path);
        if (*name == 0)
            causes_add(causes, "FieldValueRequired", at, "Required value");
        else if (map_set(names, str_of(name), names) != NULL)
            causes_add(causes, "FieldValueDuplicate", at, "Duplicate value: \"%s\"", name);
        snprintf(at, sizeof at, "%s.image", path);
        if (*tree_string(container, "image", "") == 0)
            causes_add(causes, "FieldValueRequired", at, "Required value");
        check_resources(causes, path, container);
    }
    map_free(&names);
}

/* A quantity that does not parse fails when the body is decoded, before validation. */
static cJSON *check_decodes(const cJSON *containers)
{
    static const char *const lists[] = {"resources.requests", "resources.limits"};
    const cJSON *container, *item;
    cJSON_ArrayForEach(container, containers)
    {
        for (int i = 0; i < 2; i++)
            cJSON_ArrayForEach(item, tree_map(container, lists[i]))
            {
                char room[40];
                long double milli;
                if (!amount_parse(amount_text(item, room), &milli))
                    return status_bad_request(
                        "Pod in version \"v1\" cannot be handled as a Pod: quantities must match "
                        "the "
                        "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
            }
    }
    return NULL;
}

static bool one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return false;
}

static cJSON *check_pod(const struct resource *resource, const cJSON *pod)
{
    static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};
    struct causes causes = {0};
    const cJSON *spec = tree_get(pod, "spec");
    if (cJSON_GetArraySize(tree_get(spec, "containers")) == 0)
        causes_add(&causes, "FieldValueRequired", "spec.containers", "Required value");
    check_containers(&causes, "spec.initContainers", tree_get(spec, "initContainers"));
    check_containers(&causes, "spec.containers", tree_get(spec, "containers"));
    const char *policy = tree_string(spec, "restartPolicy", "");
    if (!one_of(policy, policies))
        causes_add(
            &causes, "FieldValueNotSupported", "spec.restartPolicy",
            "Unsupported value: \"%s\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            policy);
    if (cJSON_GetArraySize(tree_get(spec, "schedulingGates")) > 0 &&
        *tree_string(spec, "nodeName", ""))
        causes_add(&causes, "FieldValueForbidden", "spec.nodeName",
                   "Forbidden: cannot be set until all schedulingGates have been cleared");
    return status_invalid(&causes, resource, tree_string(pod, "metadata.name", ""));
}

cJSON *admit_pod_create(struct server *server, const struct resource *resource, cJSON *pod)
{
    cJSON *spec = tree_make(pod, "spec");
    cJSON *refused = check_decodes(tree_get(spec, "containers"));
    if (refused == NULL)
        refused = check_decodes(tree_get(spec, "initContainers"));
    if (refused != NULL)
        return refused;
    default_spec(spec);
    if ((refused = set_priority(server, resource, pod)) != NULL)
        return refused;
    default_tolerations(spec);
    tree_set(pod, "status", cJSON_CreateObject());
    cJSON *status = tree_get(pod, "status");
    tree_set_string(status, "phase", "Pending");
    tree_set_string(status, "qosClass", quality_class(spec));
    if (cJSON_GetArraySize(tree_get(spec, "schedulingGates")) > 0)
        pod_condition_set(pod, "PodScheduled", "False", "SchedulingGated",
                          "Scheduling is blocked due to non-empty scheduling gates");
    return check_pod(resource, pod);
}

/* ---- updates ---- */

/* Blanks what may change, so that whatever still differs may not. */
static cJSON *fixed_part(const cJSON *spec, bool gated)
{
    static const char *const free_fields[] = {"tolerations", "activeDeadlineSeconds",
                                              "schedulingGates", "terminationGracePeriodSeconds",
                                              "ephemeralContainers"};
    cJSON *fixed = tree_copy(spec), *container;
    for (size_t i = 0; i < sizeof free_fields / sizeof *free_fields; i++)
        tree_remove(fixed, free_fields[i]);
    if (gated) {
        tree_remove(fixed, "nodeSelector");
        tree_remove(fixed, "affinity");
    }
    cJSON_ArrayForEach(container, tree_get(fixed, "containers")) tree_remove(container, "image");
    cJSON_ArrayForEach(container, tree_get(fixed, "initContainers"))
        tree_remove(container, "image");
    return fixed;
}

static bool adds_gate(const cJSON *now, const cJSON *before)
{
    const cJSON *gate, *old;
    cJSON_ArrayForEach(gate, now)
    {
        bool known = false;
        cJSON_ArrayForEach(old, before) known |= tree_same(gate, old);
        if (!known)
            return true;
    }
    return false;
}

/* What admission computed at creation stays where a client left it out. */
static void keep_computed(cJSON *spec, const cJSON *old_spec)
{
    static const char *const names[] = {"priority", "preemptionPolicy", "priorityClassName"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *old = tree_member(old_spec, names[i]);
        if (old != NULL)
            tree_default(spec, names[i], tree_copy(old));
    }
}

cJSON *admit_pod_update(const struct resource *resource, cJSON *pod, const cJSON *before)
{
    struct causes causes = {0};
    cJSON *spec = tree_make(pod, "spec");
    const cJSON *old_spec = tree_get(before, "spec"),
                *old_gates = tree_get(old_spec, "schedulingGates");
    default_spec(spec);
    keep_computed(spec, old_spec);
    default_tolerations(spec);
    bool gated = cJSON_GetArraySize(old_gates) > 0;
    cJSON *now = fixed_part(spec, gated), *was = fixed_part(old_spec, gated);
    if (!tree_same(now, was))
        causes_add(
            &causes, "FieldValueForbidden", "spec",
            "Forbidden: pod updates may not change fields other than "
            "`spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
            "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
            "was previously negative)");
    if (adds_gate(tree_get(spec, "schedulingGates"), old_gates))
        causes_add(&causes, "FieldValueForbidden", "spec.schedulingGates",
                   "Forbidden: only deletion is allowed, but found new scheduling gate");
    cJSON_Delete(now);
    cJSON_Delete(was);
    return status_invalid(&causes, resource, tree_string(pod, "metadata.name", ""));
}
