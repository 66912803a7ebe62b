/* A full cluster to begin with: nodes, and pods that run on them, for measurements at full size.
 *
 * The one idea: a workload (a ReplicaSet, and for each tenth a Service) is admitted once, through
 * the same door as a client's pod; its other pods are that tree under other names, so a million
 * take seconds. What must hold: keys are made in the order of the shelf, where each is the last;
 * what is answered does not show that no client has made it. */
#include "fill.h"

#include "admission.h"
#include "api.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

enum { IMAGES = 40, IMAGES_A_NODE = 6, WITH_SERVICE = 10, TEXT = 96 };

struct fill {
    struct server *server;
    double nodes, pods, zones, namespaces, replicas;
    uint64_t made; /* pods */
    char now[TIME_TEXT];
};

/* Takes the tree. */
static cJSON *store(struct server *server, const char *plural, cJSON *tree, bool dry,
                    struct created *created)
{
    char version[64];
    const struct resource *resource = resource_named(plural);
    tree_set_string(tree, "apiVersion", resource_api_version(resource, version));
    tree_set_string(tree, "kind", resource->kind);
    return api_store_new(server, resource, tree, dry, created);
}

static void store_text(struct fill *fill, const char *plural, struct buffer *text)
{
    struct created created;
    cJSON *tree = tree_parse(text->at, text->len);
    must(tree != NULL);
    must(store(fill->server, plural, tree, false, &created) == NULL);
    buffer_free(text);
}

/* ---- nodes ---- */

static void add_images(struct buffer *text, uint64_t n)
{
    buffer_add_text(text, "\"images\":[");
    for (uint64_t i = 0; i < IMAGES_A_NODE; i++) {
        unsigned image = (unsigned)((n + i * 7) % IMAGES);
        buffer_print(text,
                     "%s{\"names\":[\"registry.example.com/team/app-%u@sha256:%064x\","
                     "\"registry.example.com/team/app-%u:1.%u.0\"],\"sizeBytes\":%u}",
                     i > 0 ? "," : "", image, image * 2654435761u, image, image % 9,
                     20000000 + image * 3500000);
    }
    buffer_add_text(text, "]");
}

static void add_conditions(struct buffer *text, const char *now)
{
    static const char *const rows[][3] = {{"MemoryPressure", "False", "KubeletHasSufficientMemory"},
                                          {"DiskPressure", "False", "KubeletHasNoDiskPressure"},
                                          {"PIDPressure", "False", "KubeletHasSufficientPID"},
                                          {"Ready", "True", "KubeletReady"}};
    buffer_add_text(text, "\"conditions\":[");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buffer_print(text,
                     "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"%s\","
                     "\"lastTransitionTime\":\"%s\",\"reason\":\"%s\",\"message\":\"kubelet says "
                     "so\"}",
                     i > 0 ? "," : "", rows[i][0], rows[i][1], now, now, rows[i][2]);
    buffer_add_text(text, "],");
}

static void make_node(struct fill *fill, uint64_t n)
{
    static const struct {
        const char *type;
        unsigned cpu, memory_gi;
    } sizes[] = {{"m5.4xlarge", 16, 64}, {"m5.8xlarge", 32, 128}, {"r5.4xlarge", 16, 128}};
    unsigned size = (unsigned)(n % 3), cpu = sizes[size].cpu, memory = sizes[size].memory_gi;
    struct buffer text = {0};
    buffer_print(&text,
                 "{\"metadata\":{\"name\":\"node-%06u\",\"labels\":{"
                 "\"kubernetes.io/hostname\":\"node-%06u\",\"kubernetes.io/os\":\"linux\","
                 "\"kubernetes.io/arch\":\"%s\",\"topology.kubernetes.io/region\":\"region-1\","
                 "\"topology.kubernetes.io/zone\":\"region-1%c\","
                 "\"node.kubernetes.io/instance-type\":\"%s\"}},",
                 (unsigned)n, (unsigned)n, n % 10 == 9 ? "arm64" : "amd64",
                 (char)('a' + n % (uint64_t)fill->zones), sizes[size].type);
    buffer_print(&text,
                 "\"spec\":{\"podCIDR\":\"10.%u.%u.0/24\",\"providerID\":\"cloud:///%06u\"},"
                 "\"status\":{\"capacity\":{\"cpu\":\"%u\",\"memory\":\"%uGi\",\"pods\":\"110\","
                 "\"ephemeral-storage\":\"200Gi\"},\"allocatable\":{\"cpu\":\"%um\","
                 "\"memory\":\"%uMi\",\"pods\":\"110\",\"ephemeral-storage\":\"180Gi\"},",
                 (unsigned)(n >> 8 & 255), (unsigned)(n & 255), (unsigned)n, cpu, memory,
                 cpu * 1000 - 120, memory * 1024 - 1800);
    add_conditions(&text, fill->now);
    add_images(&text, n);
    buffer_print(
        &text,
        ",\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"172.16.%u.%u\"}],"
        "\"nodeInfo\":{\"kubeletVersion\":\"v1.36.3\",\"osImage\":\"Linux\","
        "\"operatingSystem\":\"linux\",\"containerRuntimeVersion\":\"containerd://2.1\"}}}",
        (unsigned)(n >> 8 & 255), (unsigned)(n & 255));
    store_text(fill, "nodes", &text);
}

/* ---- workloads and their pods ---- */

struct workload {
    uint64_t number;
    char namespace[TEXT], name[TEXT], uid[40]; /* as in an object */
};

static void make_owner(struct fill *fill, struct workload *w)
{
    struct created created;
    struct buffer text = {0};
    buffer_print(&text,
                 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"labels\":{\"app\":"
                 "\"app-%06u\"}},\"spec\":{\"replicas\":%u,\"selector\":{\"matchLabels\":{\"app\":"
                 "\"app-%06u\",\"pod-template-hash\":\"6d4cf56db6\"}}}}",
                 w->name, w->namespace, (unsigned)w->number, (unsigned)fill->replicas,
                 (unsigned)w->number);
    must(store(fill->server, "replicasets", tree_parse(text.at, text.len), false, &created) ==
         NULL);
    snprintf(w->uid, sizeof w->uid, "%s", created.object->uid);
    buffer_free(&text);
    if (w->number % WITH_SERVICE != 0)
        return;
    buffer_print(&text,
                 "{\"metadata\":{\"name\":\"app-%06u\",\"namespace\":\"%s\"},\"spec\":{"
                 "\"selector\":{\"app\":\"app-%06u\"},\"ports\":[{\"port\":80}]}}",
                 (unsigned)w->number, w->namespace, (unsigned)w->number);
    store_text(fill, "services", &text);
}

static cJSON *pod_of(const struct fill *fill, const struct workload *w)
{
    static const char sidecar[] =
        ",{\"name\":\"proxy\",\"image\":\"registry.example.com/mesh/proxy:1.4.0\",\"resources\":{"
        "\"requests\":{\"cpu\":\"50m\",\"memory\":\"64Mi\"}}}";
    unsigned n = (unsigned)w->number, image = n % IMAGES;
    struct created created;
    struct buffer text = {0};
    buffer_print(&text,
                 "{\"metadata\":{\"name\":\"%s-0\",\"generateName\":\"%s-\",\"namespace\":\"%s\","
                 "\"labels\":{\"app\":\"app-%06u\",\"pod-template-hash\":\"6d4cf56db6\","
                 "\"tier\":\"tier-%u\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                 "\"kind\":\"ReplicaSet\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true,"
                 "\"blockOwnerDeletion\":true}]},",
                 w->name, w->name, w->namespace, n, n % 4, w->name, w->uid);
    buffer_print(&text,
                 "\"spec\":{\"serviceAccountName\":\"default\",\"containers\":[{\"name\":\"app\","
                 "\"image\":\"registry.example.com/team/app-%u:1.%u.0\",\"ports\":[{"
                 "\"containerPort\":8080}],\"resources\":{\"requests\":{\"cpu\":\"%um\","
                 "\"memory\":\"%uMi\"},\"limits\":{\"memory\":\"%uMi\"}}}%s]}}",
                 image, image % 9, 100 + n % 5 * 100, 128 << n % 3, 128 << n % 3,
                 n % 2 ? sidecar : "");
    must(store(fill->server, "pods", tree_parse(text.at, text.len), true, &created) == NULL);
    buffer_free(&text);
    return created.dry_tree;
}

/* As a kubelet leaves it. */
static void run_pod(const struct fill *fill, cJSON *pod)
{
    static const char *const types[] = {"PodReadyToStartContainers", "Initialized", "Ready",
                                        "ContainersReady", "PodScheduled"};
    cJSON *status = tree_get(pod, "status"), *list = cJSON_CreateArray();
    const cJSON *container;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        pod_condition_set(pod, types[i], "True", NULL, NULL);
    tree_set_string(status, "phase", "Running");
    tree_set_string(status, "startTime", fill->now);
    cJSON_ArrayForEach(container, tree_get(pod, "spec.containers"))
    {
        cJSON *item = cJSON_CreateObject();
        tree_set_string(item, "name", tree_string(container, "name", ""));
        tree_set_string(item, "image", tree_string(container, "image", ""));
        tree_set(item, "ready", cJSON_CreateBool(true));
        tree_set_number(item, "restartCount", 0);
        tree_set_string(tree_make(item, "state.running"), "startedAt", fill->now);
        cJSON_AddItemToArray(list, item);
    }
    tree_set(status, "containerStatuses", list);
    tree_set_string(tree_get(pod, "spec"), "nodeName", "");
}

static void make_pod(struct fill *fill, const struct workload *w, cJSON *pod, unsigned replica)
{
    char text[TEXT * 2], uid[37];
    uint64_t n = fill->made++;
    cJSON *metadata = tree_get(pod, "metadata"), *status = tree_get(pod, "status");
    snprintf(text, sizeof text, "%s-%05u", w->name, replica);
    tree_set_string(metadata, "name", text);
    tree_set_string(metadata, "uid", chance_uid(uid));
    snprintf(text, sizeof text, "node-%06u", (unsigned)(n % (uint64_t)fill->nodes));
    tree_set_string(tree_get(pod, "spec"), "nodeName", text);
    snprintf(text, sizeof text, "10.%u.%u.%u", (unsigned)(n >> 16 & 255), (unsigned)(n >> 8 & 255),
             (unsigned)(n & 255));
    tree_set_string(status, "podIP", text);
    registry_put(&fill->server->registry, resource_named("pods"), pod);
}

static void make_workload(struct fill *fill, struct workload *w)
{
    make_owner(fill, w);
    cJSON *pod = pod_of(fill, w);
    run_pod(fill, pod);
    for (unsigned i = 0; i < (unsigned)fill->replicas && fill->made < (uint64_t)fill->pods; i++)
        make_pod(fill, w, pod, i);
    cJSON_Delete(pod);
}

static void make_workloads(struct fill *fill)
{
    uint64_t replicas = (uint64_t)fill->replicas, namespaces = (uint64_t)fill->namespaces;
    uint64_t count = ((uint64_t)fill->pods + replicas - 1) / replicas, present = UINT64_MAX;
    for (uint64_t n = 0; n < count; n++) {
        struct workload w = {.number = n};
        uint64_t namespace = n * namespaces / count;
        snprintf(w.namespace, sizeof w.namespace, "apps-%04u", (unsigned)namespace);
        snprintf(w.name, sizeof w.name, "app-%06u-6d4cf56db6", (unsigned)n);
        if (namespace != present) {
            struct buffer text = {0};
            buffer_print(&text, "{\"metadata\":{\"name\":\"%s\"}}", w.namespace);
            store_text(fill, "namespaces", &text);
            present = namespace;
        }
        make_workload(fill, &w);
    }
}

bool fill_start(struct server *server, const char *settings, struct buffer *why)
{
    struct fill fill = {.server = server,
                        .nodes = 1000,
                        .pods = 10000,
                        .zones = 3,
                        .namespaces = 50,
                        .replicas = 20};
    const struct setting table[] = {
        {"nodes", &fill.nodes, 1, 1e6},          {"pods", &fill.pods, 0, 1e7},
        {"zones", &fill.zones, 1, 26},           {"namespaces", &fill.namespaces, 1, 10000},
        {"replicas", &fill.replicas, 1, 100000}, {NULL, NULL, 0, 0},
    };
    if (!settings_read("--fill", table, settings, why))
        return false;
    int64_t begun_ms = clock_ms();
    time_seconds_text(moment_wall_us(), fill.now);
    for (uint64_t n = 0; n < (uint64_t)fill.nodes; n++)
        make_node(&fill, n);
    make_workloads(&fill);
    log_info("filled|nodes=%.0f pods=%llu ms=%lld", fill.nodes, (unsigned long long)fill.made,
             (long long)(clock_ms() - begun_ms));
    return true;
}

/* ---- many objects in one request ---- */

static const struct resource *resource_of(const cJSON *item)
{
    char version[64];
    const char *kind = tree_string(item, "kind", ""), *wanted = tree_string(item, "apiVersion", "");
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        if (strcmp(resources[i].kind, kind) == 0 &&
            strcmp(resource_api_version(&resources[i], version), wanted) == 0)
            return &resources[i];
    }
    return NULL;
}

cJSON *fill_list(struct server *server, const char *body, size_t size)
{
    cJSON *list = tree_parse(body, size), *items = tree_get(list, "items"), *refused = NULL;
    if (!cJSON_IsArray(items))
        refused = status_bad_request("fill: the body is no List with items");
    while (refused == NULL && items->child != NULL) {
        struct created created;
        cJSON *item = cJSON_DetachItemViaPointer(items, items->child);
        const struct resource *resource = resource_of(item);
        if (resource != NULL && !(resource->flags & (COMPUTED | VIEW))) {
            refused = api_store_new(server, resource, item, false, &created);
            continue;
        }
        cJSON_Delete(item);
        refused = status_bad_request("fill: an item has no known apiVersion and kind");
    }
    cJSON_Delete(list);
    return refused;
}
