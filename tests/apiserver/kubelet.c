/* The toy kubelet of all nodes: ends pods whose deletion was asked for and, when told to, starts
 * assigned ones.
 *
 * The one idea: it acts on what it is told about a pod's change, by a timer that carries the pod's
 * key and UID; when the timer fires it looks again, so an outdated timer does nothing. */
#include "api.h"

#include "admission.h"

#include <stdio.h>
#include <string.h>

struct errand {
    char uid[40];
    const char *name; /* behind the namespace */
    char namespace[];
};

static struct errand *errand_new(const struct object *pod)
{
    size_t namespace_size = strlen(pod->namespace) + 1, name_size = strlen(pod->name) + 1;
    struct errand *errand = memory_take(sizeof *errand + namespace_size + name_size);
    memcpy(errand->namespace, pod->namespace, namespace_size);
    errand->name = memcpy(errand->namespace + namespace_size, pod->name, name_size);
    memcpy(errand->uid, pod->uid, sizeof errand->uid);
    return errand;
}

/* The pod as it is now, if it is still the same one. Ends the errand. */
static struct object *errand_finish(struct server *server, struct errand *errand)
{
    struct object *pod =
        registry_find(&server->registry, resource_named("pods"), errand->namespace, errand->name);
    if (pod != NULL && strcmp(pod->uid, errand->uid) != 0)
        pod = NULL;
    memory_free(errand);
    return pod;
}

/* The containers have stopped: as a real kubelet does, delete with a grace of zero. */
static void stop_pod(void *context, void *subject)
{
    struct server *server = context;
    struct object *pod = errand_finish(server, subject);
    if (pod == NULL || pod->deletion_us == 0)
        return;
    cJSON *tree = object_tree(pod);
    double grace = tree_number(tree, "metadata.deletionGracePeriodSeconds", 0);
    if (grace > 0) {
        tree_set_number(tree_get(tree, "metadata"), "deletionGracePeriodSeconds", 0);
        if (!pod->finalized)
            registry_put(&server->registry, pod->resource, tree);
    }
    if (pod->finalized)
        registry_remove(&server->registry, pod);
    cJSON_Delete(tree);
}

static void set_addresses(struct server *server, cJSON *status)
{
    char address[32];
    uint64_t n = ++server->next_address;
    snprintf(address, sizeof address, "10.%u.%u.%u", (unsigned)(n >> 16 & 127) + 1,
             (unsigned)(n >> 8 & 255), (unsigned)(n & 255));
    cJSON *list = cJSON_CreateArray(), *item = cJSON_CreateObject();
    tree_set_string(item, "ip", address);
    cJSON_AddItemToArray(list, item);
    tree_set_string(status, "podIP", address);
    tree_set(status, "podIPs", list);
}

static cJSON *container_statuses(const cJSON *pod, const char *now)
{
    cJSON *list = cJSON_CreateArray();
    const cJSON *container;
    cJSON_ArrayForEach(container, tree_get(pod, "spec.containers"))
    {
        cJSON *status = cJSON_CreateObject();
        tree_set_string(status, "name", tree_string(container, "name", ""));
        tree_set_string(status, "image", tree_string(container, "image", ""));
        tree_set_string(status, "imageID", "");
        tree_set(status, "ready", cJSON_CreateBool(true));
        tree_set(status, "started", cJSON_CreateBool(true));
        tree_set_number(status, "restartCount", 0);
        tree_set_string(tree_make(status, "state.running"), "startedAt", now);
        cJSON_AddItemToArray(list, status);
    }
    return list;
}

static void start_pod(void *context, void *subject)
{
    struct server *server = context;
    struct object *pod = errand_finish(server, subject);
    if (pod == NULL || pod->deletion_us != 0)
        return;
    cJSON *tree = object_tree(pod), *status = tree_make(tree, "status");
    if (strcmp(tree_string(status, "phase", ""), "Pending") == 0) {
        char now[TIME_TEXT];
        time_seconds_text(moment_wall_us(), now);
        tree_set_string(status, "phase", "Running");
        tree_set_string(status, "startTime", now);
        set_addresses(server, status);
        tree_set(status, "containerStatuses", container_statuses(tree, now));
        pod_condition_set(tree, "Initialized", "True", NULL, NULL);
        pod_condition_set(tree, "ContainersReady", "True", NULL, NULL);
        pod_condition_set(tree, "Ready", "True", NULL, NULL);
        registry_put(&server->registry, pod->resource, tree);
    }
    cJSON_Delete(tree);
}

void kubelet_notice(struct server *server, struct object *pod)
{
    if (server->kubelet == KUBELET_NONE || *pod->fields[0] == 0)
        return;
    int64_t now = clock_ms();
    if (pod->deletion_us != 0) {
        int64_t left_ms = (pod->deletion_us - moment_wall_us()) / 1000;
        timer_start(&server->timers, now + (left_ms > 0 ? left_ms : 0), stop_pod, server,
                    errand_new(pod));
    } else if (server->kubelet == KUBELET_RUN && strcmp(pod->fields[2], "Pending") == 0) {
        timer_start(&server->timers, now + 50, start_pod, server, errand_new(pod));
    }
}
