/* A lively cluster: varied nodes, and a steady stream of pods of a few kinds that live and end.
 *
 * The one idea: nodes and pods are written as JSON templates and stored through the same door as
 * a client's, so the demo cannot make what a client could not. What must hold: the number of
 * pending pods is bounded, and a pod that nothing can place is taken away after a while. */
#include "demo.h"

#include "api.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 50 };

struct demo {
    struct server *server;
    double nodes, pods_per_second, pod_lifetime, zones, pending_max;
    double owed; /* pods that are due, fractions kept */
    uint64_t made;
};

/* Takes the tree; the names are ours, so nothing but a name that exists already can go wrong. */
static bool store(struct server *server, const char *plural, cJSON *tree)
{
    struct created created;
    const struct resource *resource = resource_named(plural);
    char version[64];
    must(tree != NULL);
    tree_set_string(tree, "apiVersion", resource_api_version(resource, version));
    tree_set_string(tree, "kind", resource->kind);
    cJSON *refused = api_store_new(server, resource, tree, false, &created);
    if (refused != NULL)
        log_debug("demo object refused|why=\"%s\"", tree_string(refused, "message", ""));
    bool stored = refused == NULL;
    cJSON_Delete(refused);
    return stored;
}

static void store_json(struct server *server, const char *plural, const char *json)
{
    store(server, plural, tree_parse(json, strlen(json)));
}

void demo_furnish(struct server *server)
{
    static const char *const namespaces[] = {"default", "kube-system", "kube-public",
                                             "kube-node-lease"};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
        cJSON *tree = cJSON_CreateObject();
        tree_set_string(tree_make(tree, "metadata"), "name", namespaces[i]);
        store(server, "namespaces", tree);
    }
    store_json(
        server, "priorityclasses",
        "{\"metadata\":{\"name\":\"system-cluster-critical\"},\"value\":2000000000,\"description\":"
        "\"Used for system critical pods that must run in the cluster, but can be moved to another "
        "node "
        "if necessary.\"}");
    store_json(server, "priorityclasses",
               "{\"metadata\":{\"name\":\"system-node-critical\"},\"value\":2000001000,"
               "\"description\":\"Used for "
               "system critical pods that must not be moved from their current node.\"}");
}

/* ---- nodes ---- */

static const struct {
    const char *type;
    int cpu, memory_gi, pods;
} sizes[] = {
    {"small", 4, 16, 60}, {"medium", 8, 32, 110}, {"large", 16, 64, 110}, {"huge", 32, 256, 250}};

static cJSON *node_capacity(uint64_t n)
{
    size_t size = n % (sizeof sizes / sizeof *sizes);
    char text[32];
    cJSON *capacity = cJSON_CreateObject();
    snprintf(text, sizeof text, "%d", sizes[size].cpu);
    tree_set_string(capacity, "cpu", text);
    snprintf(text, sizeof text, "%dGi", sizes[size].memory_gi);
    tree_set_string(capacity, "memory", text);
    snprintf(text, sizeof text, "%d", sizes[size].pods);
    tree_set_string(capacity, "pods", text);
    tree_set_string(capacity, "ephemeral-storage", "100Gi");
    if (n % 10 == 7)
        tree_set_string(capacity, "nvidia.com/gpu", "4");
    return capacity;
}

static cJSON *node_labels(const struct demo *demo, uint64_t n, const char *name)
{
    char zone[32];
    cJSON *labels = cJSON_CreateObject();
    snprintf(zone, sizeof zone, "zone-%c", (char)('a' + n % (uint64_t)demo->zones));
    tree_set_string(labels, "kubernetes.io/hostname", name);
    tree_set_string(labels, "kubernetes.io/os", "linux");
    tree_set_string(labels, "kubernetes.io/arch", n % 7 == 6 ? "arm64" : "amd64");
    tree_set_string(labels, "topology.kubernetes.io/region", "demo");
    tree_set_string(labels, "topology.kubernetes.io/zone", zone);
    tree_set_string(labels, "node.kubernetes.io/instance-type", sizes[n % 4].type);
    tree_set_string(labels, "disktype", n % 3 == 0 ? "ssd" : "hdd");
    return labels;
}

static void add_node_status(cJSON *node, uint64_t n)
{
    char text[64], now[TIME_TEXT];
    cJSON *status = tree_make(node, "status"), *list = cJSON_CreateArray(),
          *item = cJSON_CreateObject();
    tree_set(status, "capacity", node_capacity(n));
    tree_set_string(item, "type", "Ready");
    tree_set_string(item, "status", "True");
    tree_set_string(item, "reason", "KubeletReady");
    tree_set_string(item, "lastTransitionTime", time_seconds_text(moment_wall_us(), now));
    tree_set_string(item, "lastHeartbeatTime", now);
    cJSON_AddItemToArray(list, item);
    tree_set(status, "conditions", list);
    list = cJSON_CreateArray();
    item = cJSON_CreateObject();
    snprintf(text, sizeof text, "192.168.%u.%u", (unsigned)(n >> 8 & 255), (unsigned)(n & 255));
    tree_set_string(item, "type", "InternalIP");
    tree_set_string(item, "address", text);
    cJSON_AddItemToArray(list, item);
    tree_set(status, "addresses", list);
    tree_set_string(tree_make(status, "nodeInfo"), "kubeletVersion", "v1.36.3");
    tree_set_string(tree_make(status, "nodeInfo"), "osImage", "demo");
}

static void make_node(struct demo *demo, uint64_t n)
{
    char name[32];
    cJSON *node = cJSON_CreateObject();
    snprintf(name, sizeof name, "node-%04u", (unsigned)n + 1);
    tree_set_string(tree_make(node, "metadata"), "name", name);
    tree_set(tree_make(node, "metadata"), "labels", node_labels(demo, n, name));
    add_node_status(node, n);
    if (n % 16 == 5) {
        static const char taint[] =
            "[{\"key\":\"dedicated\",\"value\":\"batch\",\"effect\":\"NoSchedule\"}]";
        tree_set(tree_make(node, "spec"), "taints", tree_parse(taint, strlen(taint)));
    }
    store(demo->server, "nodes", node);
}

/* ---- pods ---- */

static const struct {
    const char *app;
    int share; /* of 100 */
    const char *spec;
} kinds[] = {
    {"web", 34,
     "{\"containers\":[{\"name\":\"web\",\"image\":\"web:1\",\"resources\":{\"requests\":{\"cpu\":"
     "\"250m\","
     "\"memory\":\"256Mi\"}}}]}"},
    {"api", 22,
     "{\"containers\":[{\"name\":\"api\",\"image\":\"api:1\",\"resources\":{\"requests\":{\"cpu\":"
     "\"500m\","
     "\"memory\":\"1Gi\"},\"limits\":{\"memory\":\"1Gi\"}}}]}"},
    {"batch", 14,
     "{\"priorityClassName\":\"demo-low\",\"tolerations\":[{\"key\":\"dedicated\",\"operator\":"
     "\"Equal\",\"value\":"
     "\"batch\",\"effect\":\"NoSchedule\"}],\"containers\":[{\"name\":\"batch\",\"image\":\"batch:"
     "1\","
     "\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}}]}"},
    {"cache", 12,
     "{\"nodeSelector\":{\"disktype\":\"ssd\"},\"containers\":[{\"name\":\"cache\",\"image\":"
     "\"cache:1\","
     "\"resources\":{\"requests\":{\"cpu\":\"200m\",\"memory\":\"2Gi\"}}}]}"},
    {"edge", 6,
     "{\"containers\":[{\"name\":\"edge\",\"image\":\"edge:1\",\"ports\":[{\"containerPort\":8080,"
     "\"hostPort\":8080}],"
     "\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"64Mi\"}}}]}"},
    {"train", 4,
     "{\"containers\":[{\"name\":\"train\",\"image\":\"train:1\",\"resources\":{\"requests\":{"
     "\"cpu\":\"2\","
     "\"memory\":\"8Gi\"},\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}"},
    {"urgent", 6,
     "{\"priorityClassName\":\"demo-high\",\"containers\":[{\"name\":\"urgent\",\"image\":\"urgent:"
     "1\","
     "\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}"},
    {"giant", 2,
     "{\"containers\":[{\"name\":\"giant\",\"image\":\"giant:1\",\"resources\":{\"requests\":{"
     "\"cpu\":\"64\","
     "\"memory\":\"512Gi\"}}}]}"},
};

static size_t choose_kind(void)
{
    int dice = (int)chance_below(100);
    size_t i = 0;
    while (dice >= kinds[i].share)
        dice -= kinds[i++].share;
    return i;
}

struct tracked {
    char name[64];
};

/* The end of a pod's life, or of the patience with one that never ran. */
static void end_pod(void *context, void *subject)
{
    struct server *server = context;
    struct tracked *tracked = subject;
    struct object *pod =
        registry_find(&server->registry, resource_named("pods"), "default", tracked->name);
    if (pod != NULL)
        registry_remove(&server->registry, pod);
    memory_free(tracked);
}

static void make_pod(struct demo *demo)
{
    size_t kind = choose_kind();
    struct tracked *tracked = memory_take(sizeof *tracked);
    snprintf(tracked->name, sizeof tracked->name, "%s-%llu", kinds[kind].app,
             (unsigned long long)++demo->made);
    cJSON *pod = cJSON_CreateObject(), *metadata = tree_make(pod, "metadata");
    tree_set_string(metadata, "name", tracked->name);
    tree_set_string(metadata, "namespace", "default");
    tree_set_string(tree_make(metadata, "labels"), "app", kinds[kind].app);
    tree_set(pod, "spec", tree_parse(kinds[kind].spec, strlen(kinds[kind].spec)));
    tree_set_number(tree_get(pod, "spec"), "terminationGracePeriodSeconds", 1);
    if (!store(demo->server, "pods", pod)) {
        memory_free(tracked);
        return;
    }
    double life = demo->pod_lifetime * (0.5 + chance_fraction());
    timer_start(&demo->server->timers, clock_ms() + (int64_t)(life * 1000), end_pod, demo->server,
                tracked);
}

static double count_pending(const struct server *server)
{
    const struct shelf *shelf = &server->registry.shelves[resource_shelf(resource_named("pods"))];
    size_t pending = 0;
    for (size_t i = 0; i < shelf->count; i++)
        pending += *shelf->objects[i]->fields[0] == 0;
    return (double)pending;
}

static void tick(void *context, void *subject)
{
    struct demo *demo = subject;
    demo->owed += demo->pods_per_second * TICK_MS / 1000;
    if (demo->owed >= 1 && count_pending(demo->server) >= demo->pending_max)
        demo->owed = 0;
    while (demo->owed >= 1) {
        demo->owed -= 1;
        make_pod(demo);
    }
    timer_start(&demo->server->timers, clock_ms() + TICK_MS, tick, context, demo);
}

bool demo_start(struct server *server, const char *settings, struct buffer *why)
{
    struct demo demo = {.server = server,
                        .nodes = 20,
                        .pods_per_second = 5,
                        .pod_lifetime = 60,
                        .zones = 3,
                        .pending_max = 1000};
    const struct setting table[] = {
        {"nodes", &demo.nodes, 0, 100000},
        {"pods-per-second", &demo.pods_per_second, 0, 10000},
        {"pod-lifetime", &demo.pod_lifetime, 0.1, 1e6},
        {"zones", &demo.zones, 1, 26},
        {"pending-max", &demo.pending_max, 1, 1e6},
        {NULL, NULL, 0, 0},
    };
    if (!settings_read("--demo", table, settings, why))
        return false;
    store_json(server, "priorityclasses", "{\"metadata\":{\"name\":\"demo-low\"},\"value\":-100}");
    store_json(server, "priorityclasses", "{\"metadata\":{\"name\":\"demo-high\"},\"value\":1000}");
    for (uint64_t n = 0; n < (uint64_t)demo.nodes; n++)
        make_node(&demo, n);
    timer_start(&server->timers, clock_ms() + TICK_MS, tick, NULL, memory_copy(&demo, sizeof demo));
    return true;
}
