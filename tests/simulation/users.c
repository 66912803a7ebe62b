/* users: people and controllers other than the scheduler. Each action chooses from what there is
 * by the numbers that it carries. What must stay true: facts.c knows what each object means. */
#include "tests/simulation/users.h"

#include "tests/simulation/coverage.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define JSON            "application/json"
#define MERGE           "application/merge-patch+json"
#define NAMESPACE       "/api/v1/namespaces/default/"
#define CONTAINERS_MOST 1001 /* in a document longer than what is read of a watch at once */
#define NODES_USUAL     12
#define LIVE_USUAL      90  /* pods at a time, so that a run stays quick */
#define LIVE_MAX        180 /* with many nodes */

static uint32_t names; /* given to objects so far */

int users_ask(const char *method, const char *path, const char *type, const char *text)
{
    struct model_answer answer;
    clock_at(NULL);
    model_ask(
        world_model(),
        &(struct model_request){
            .method = method, .path = path, .content_type = type, .body = str_of(text ? text : "")},
        &answer);
    int level = clock_now() > 0 ? 1 : 2;
    trace(level, "users: %s %s %.900s -> %d", method, path, text ? text : "", answer.code);
    if (answer.code / 100 != 2)
        trace(2, "  %.200s", answer.body.at);
    buffer_free(&answer.body);
    return answer.code;
}

int ask(const char *method, const char *text, const char *path_format, ...)
{
    char path[256];
    va_list args;
    va_start(args, path_format);
    vsnprintf(path, sizeof(path), path_format, args);
    va_end(args);
    return users_ask(method, path, strcmp(method, "PATCH") == 0 ? MERGE : JSON, text);
}

/* ---- pods ---- */

static void add_containers(struct buffer *b, const struct pod_fact *p)
{
    uint32_t count = p->containers > 0 ? p->containers : 1;
    buffer_add_text(b, "\"containers\":[");
    for (uint32_t i = 0; i < count; i++)
        buffer_print(b,
                     "%s{\"name\":\"c%u\",\"image\":\"i\",\"resources\":{\"requests\":{"
                     "\"cpu\":\"%lldm\",\"memory\":\"%lldMi\"}}}",
                     i ? "," : "", i, (long long)(i == 0 ? p->cpu : 0),
                     (long long)(i == 0 ? p->memory : 0));
    buffer_add_text(b, "]");
}

static void pod_json(struct buffer *b, const struct pod_fact *p)
{
    buffer_print(b, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"",
                 p->name);
    if (p->set[0] != 0 && !p->tree)
        buffer_print(b, ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"%s\"}", p->set);
    if (p->loud)
        buffer_add_text(b, ",\"labels\":{\"loud\":\"music\"}");
    buffer_print(b, "},\"spec\":{\"schedulerName\":\"%s\",\"terminationGracePeriodSeconds\":%d,",
                 p->foreign ? "another" : "default-scheduler", (int)(p->cpu / 100 % 4));
    if (p->priority > 0)
        buffer_print(b, "\"priorityClassName\":\"%s\",", p->priority > 500 ? "high" : "middle");
    if (p->zone[0] != 0)
        buffer_print(b, "\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"%s\"},", p->zone);
    if (p->host[0] != 0)
        buffer_print(b, "\"nodeSelector\":{\"kubernetes.io/hostname\":\"%s\"},", p->host);
    if (p->shy)
        buffer_add_text(b, "\"affinity\":{\"podAntiAffinity\":{"
                           "\"requiredDuringSchedulingIgnoredDuringExecution\":["
                           "{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{"
                           "\"matchLabels\":{\"loud\":\"music\"}}},"
                           "{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{"
                           "\"matchLabels\":{\"loud\":\"talk\"}}}]}},");
    if (p->tolerates)
        buffer_add_text(b, "\"tolerations\":[{\"key\":\"t\",\"operator\":\"Exists\"}],");
    if (p->set[0] != 0 && p->tree)
        buffer_print(b, "\"schedulingGroup\":{\"podGroupName\":\"%s\"},", p->set);
    if (p->gated)
        buffer_add_text(b, "\"schedulingGates\":[{\"name\":\"gate\"}],");
    if (p->odd) /* as an API server might take it that is newer than whoever reads it */
        buffer_add_text(b, "\"topologySpreadConstraints\":[{\"maxSkew\":\"one\",\"topologyKey\":"
                           "\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}],");
    if (p->claim[0] != 0)
        buffer_print(b, "\"resourceClaims\":[{\"name\":\"d\",\"resourceClaimName\":\"%s\"}],",
                     p->claim);
    users_add_volumes(b, p);
    add_containers(b, p);
    buffer_add_text(b, "}}");
}

uint32_t users_live_max(void)
{
    return world_traits()->nodes > NODES_USUAL ? LIVE_MAX : LIVE_USUAL;
}

static bool create(struct pod_fact *p)
{
    struct buffer json = {0};
    if (facts_pod_count() >= users_live_max() || facts_pod(p->name) != NULL)
        return false;
    pod_json(&json, p);
    facts_expect_pod(p);
    int code = ask("POST", json.at, NAMESPACE "pods");
    buffer_free(&json);
    return code == 201;
}

bool users_create(struct pod_fact *p)
{
    return create(p);
}

static struct pod_fact pod_like(uint32_t a, uint32_t b)
{
    static const int64_t cpus[] = {100, 250, 500, 900, 1500, 2600};
    struct pod_fact p = {.plain = true, .cpu = cpus[a % 6], .memory = 64 + a / 6 % 8 * 96};
    snprintf(p.name, sizeof(p.name), "p%u", names++);
    if (b % 10 == 0)
        snprintf(p.zone, sizeof(p.zone), "z%u", b / 10 % 2);
    p.tolerates = b / 7 % 9 == 0;
    p.priority = b / 11 % 12 == 0 ? 100 : 0;
    return p;
}

struct pod_fact users_pod_like(uint32_t a, uint32_t b)
{
    return pod_like(a, b);
}

uint32_t users_number(void)
{
    return names++;
}

static bool create_some(const struct action *x, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct pod_fact p = pod_like(x->a, x->b);
        any = create(&p) || any;
    }
    return any;
}

static bool create_pod(const struct action *x)
{
    return create_some(x, 1);
}

static bool create_burst(const struct action *x)
{
    return create_some(x, 3 + x->c % 14);
}

/* Who fits not goes, so that those behind him are decided once more. */
static void think_better(void *context, uint64_t number)
{
    char name[NAME_ROOM];
    (void)context;
    snprintf(name, sizeof(name), "p%u", (unsigned)number);
    struct pod_fact *p = facts_pod(name);
    if (p == NULL)
        return;
    if (p->cpu == TOO_LARGE || dice(3) > 0)
        (void)users_delete_pod(name, 0);
    else if (dice(2) == 0)
        (void)users_label_pod(p, (uint32_t)dice(5));
    else
        (void)users_resize_pod(p, (uint32_t)dice(4));
}

/* Many come, and some of them are thought better of while all are decided. */
static bool regret_burst(const struct action *x)
{
    uint32_t first = names, count = 8 + x->c % 8;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct pod_fact p = pod_like(x->a, x->b);
        if (i == 1 && x->c / 8 % 2 == 0)
            p.cpu = TOO_LARGE;
        any = create(&p) || any;
    }
    for (uint32_t i = 0; any && i < count; i += 1 + i % 3)
        clock_call(clock_now() + (x->b + i * 7) % 40 * MS, think_better, NULL, first + i);
    return any;
}

/* What a ReplicaSet does when pods are few. */
static bool create_replacement(const struct action *x)
{
    return facts_pod_count() < users_live_max() / 2 && create_some(x, 1 + x->c % 3);
}

static bool create_important_pod(const struct action *x)
{
    struct pod_fact p = pod_like(x->a | 2, x->b);
    p.priority = 1000;
    return create(&p);
}

static bool create_gated_pod(const struct action *x)
{
    struct pod_fact p = pod_like(x->a, x->b);
    p.gated = true;
    return create(&p);
}

static bool create_long_pod(const struct action *x)
{
    struct pod_fact p = pod_like(x->a, 1);
    p.containers = CONTAINERS_MOST >> (x->b % 8); /* whoever reads it does so for its whole life */
    return create(&p);
}

static bool delete_named(const char *name, uint32_t grace)
{
    char text[64];
    snprintf(text, sizeof(text), "{\"gracePeriodSeconds\":%u}", grace);
    return ask("DELETE", text, NAMESPACE "pods/%s", name) / 100 == 2;
}

bool users_delete_pod(const char *name, uint32_t grace)
{
    return delete_named(name, grace);
}

static bool delete_pod(const struct action *x)
{
    struct pod_fact *p = facts_any_pod(x->a);
    return p != NULL && delete_named(p->name, x->b % 3 == 0 ? 0 : x->b % 31);
}

static bool delete_all_pods(const struct action *x)
{
    bool any = false;
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there)
            any = delete_named(facts_pods[i].name, x->a % 4) || any;
    return any;
}

static bool recreate_pod(const struct action *x)
{
    struct pod_fact *p = facts_any_pod(x->a);
    if (p == NULL || p->set[0] != 0)
        return false;
    struct pod_fact again = *p;
    again.there = false;
    again.bound = 0;
    again.node[0] = again.phase[0] = 0;
    again.deleting = false;
    if (x->b % 3 == 0) {
        struct pod_fact other = pod_like(x->c, x->b);
        again.cpu = other.cpu;
        again.memory = other.memory;
    }
    return delete_named(p->name, 0) && create(&again);
}

static bool finish_pod(const struct action *x)
{
    struct pod_fact *p = facts_any_pod(x->a);
    if (p == NULL || p->node[0] == 0 || facts_ended(p))
        return false;
    return ask("PATCH",
               x->b % 4 == 0 ? "{\"status\":{\"phase\":\"Failed\"}}"
                             : "{\"status\":{\"phase\":\"Succeeded\"}}",
               NAMESPACE "pods/%s/status", p->name) == 200;
}

static void tighten(const char *node)
{
    struct node_fact *n = facts_node(node);
    if (n != NULL)
        n->tightened_at = clock_now();
}

bool users_resize_pod(struct pod_fact *p, uint32_t size)
{
    static const int64_t cpus[] = {100, 300, 700, 1200};
    int64_t cpu = cpus[size % 4];
    if (p->containers > 0 || p->odd || facts_ended(p) || p->deleting)
        return false;
    trace(1, "users: %s is resized to %lldm", p->name, (long long)cpu);
    if (cpu > p->cpu && p->node[0] != 0)
        tighten(p->node);
    /* One that is pending may be on its way to a node, where it is larger now than was decided. */
    for (uint32_t i = 0; cpu > p->cpu && p->node[0] == 0 && i < NODES_MAX; i++)
        facts_nodes[i].tightened_at = clock_now();
    if (p->cpu > p->cpu_before)
        p->cpu_before = p->cpu;
    p->cpu = cpu;
    return model_resize(world_model(), p->name, cpu);
}

static bool resize_pod(const struct action *x)
{
    struct pod_fact *p = facts_any_pod(x->a);
    return p != NULL && users_resize_pod(p, x->b);
}

static bool ungate_pod(const struct action *x)
{
    uint32_t first = x->a % PODS_MAX;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        struct pod_fact *p = &facts_pods[(first + i) % PODS_MAX];
        if (!p->there || !p->gated)
            continue;
        p->gated = false;
        return ask("PATCH", "{\"spec\":{\"schedulingGates\":null}}", NAMESPACE "pods/%s",
                   p->name) == 200;
    }
    return false;
}

bool users_label_pod(const struct pod_fact *p, uint32_t version)
{
    char text[96];
    snprintf(text, sizeof(text), "{\"metadata\":{\"labels\":{\"version\":\"%u\"}}}", version % 5);
    return ask("PATCH", text, NAMESPACE "pods/%s", p->name) == 200;
}

static bool label_pod(const struct action *x)
{
    const struct pod_fact *p = facts_any_pod(x->a);
    return p != NULL && users_label_pod(p, x->b);
}

/* Another scheduler binds it at once, whatever is there. */
static bool create_on(struct pod_fact *p, const struct node_fact *n)
{
    char text[128];
    p->foreign = true;
    p->plain = false;
    if (n == NULL || !create(p))
        return false;
    tighten(n->name);
    snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"%s\"},\"target\":{\"name\":\"%s\"}}",
             p->name, n->name);
    return ask("POST", text, NAMESPACE "pods/%s/binding", p->name) == 201;
}

static bool create_elsewhere(const struct action *x, bool odd)
{
    struct pod_fact p = pod_like(x->a, 1);
    p.odd = odd;
    return create_on(&p, facts_any_node(x->c));
}

/* Of those whom it does not bear one is there. When that one goes only the nomination wakes it: as
 * upstream's hint has it, who goes helps whom it keeps out by all terms of an anti-affinity. */
static bool create_shy_pod(const struct action *x)
{
    const struct node_fact *n = facts_any_node(x->c);
    struct pod_fact loud = pod_like(0, 1), p = pod_like(0, 1);
    loud.loud = true;
    loud.cpu = (int64_t)(x->a % 4) * 100; /* what it asks for says how long it takes to end */
    p.shy = true;
    p.priority = 1000;
    if (n == NULL || n->closed || n->tainted || !create_on(&loud, n))
        return false;
    snprintf(p.host, sizeof(p.host), "%s", n->name);
    return create(&p);
}

static bool create_foreign_pod(const struct action *x)
{
    return create_elsewhere(x, false);
}

static bool create_odd_pod(const struct action *x)
{
    return create_elsewhere(x, true);
}

/* ---- what pods are looked at by ---- */

/* Made, or deleted when it is there. */
static bool toggle(const char *path, const char *name, const char *json)
{
    if (ask("POST", json, "%s", path) == 201)
        return true;
    return ask("DELETE", NULL, "%s/%s", path, name) / 100 == 2;
}

static bool create_service(const struct action *x)
{
    char name[NAME_ROOM], json[200];
    snprintf(name, sizeof(name), "s%u", x->a % 4);
    snprintf(json, sizeof(json),
             "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"},"
             "\"spec\":{\"selector\":{\"version\":\"%u\"}}}",
             name, x->b % 5);
    return toggle(NAMESPACE "services", name, json);
}

static bool create_budget(const struct action *x)
{
    char name[NAME_ROOM], json[260];
    snprintf(name, sizeof(name), "b%u", x->a % 3);
    snprintf(json, sizeof(json),
             "{\"kind\":\"PodDisruptionBudget\",\"apiVersion\":\"policy/v1\",\"metadata\":{"
             "\"name\":\"%s\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{"
             "\"version\":\"%u\"}}}}",
             name, x->b % 5);
    return toggle("/apis/policy/v1/namespaces/default/poddisruptionbudgets", name, json);
}

static bool create_namespace(const struct action *x)
{
    char name[NAME_ROOM], json[160];
    snprintf(name, sizeof(name), "space%u", x->a % 3);
    snprintf(json, sizeof(json),
             "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
             "\"labels\":{\"n\":\"%u\"}}}",
             name, x->b % 3);
    return toggle("/api/v1/namespaces", name, json);
}

/* ---- nodes ---- */

static void node_json(struct buffer *b, const struct node_fact *n)
{
    buffer_print(
        b,
        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"labels\":"
        "{\"kubernetes.io/hostname\":\"%s\",\"topology.kubernetes.io/zone\":\"%s\"}},"
        "\"spec\":{},\"status\":{\"capacity\":{\"cpu\":\"%lldm\",\"memory\":\"%lldMi\","
        "\"pods\":\"%lld\"},\"allocatable\":{\"cpu\":\"%lldm\",\"memory\":\"%lldMi\","
        "\"pods\":\"%lld\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
        n->name, n->name, n->zone, (long long)n->cpu, (long long)n->memory, (long long)n->pods,
        (long long)n->cpu, (long long)n->memory, (long long)n->pods);
}

static void create_devices(const struct node_fact *n)
{
    struct buffer b = {0};
    ask("DELETE", NULL, "/apis/resource.k8s.io/v1/resourceslices/%s", n->name);
    buffer_print(&b,
                 "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{"
                 "\"name\":\"%s\"},\"spec\":{\"driver\":\"d.example.com\",\"nodeName\":\"%s\","
                 "\"pool\":{\"name\":\"%s\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":"
                 "[{\"name\":\"%s-0\"},{\"name\":\"%s-1\"}]}}",
                 n->name, n->name, n->name, n->name, n->name);
    ask("POST", b.at, "/apis/resource.k8s.io/v1/resourceslices");
    buffer_free(&b);
}

static bool make_node(uint32_t number, uint32_t a)
{
    static const int64_t cpus[] = {2000, 4000, 4000, 8000};
    struct node_fact *n = facts_node_at(number);
    struct buffer json = {0};
    if (n == NULL || n->there)
        return false;
    *n = (struct node_fact){.there = true,
                            .there_since = clock_now(),
                            .cpu = cpus[a % 4],
                            .memory = cpus[a % 4],
                            .pods = a / 4 % 5 == 0 ? 4 : 20,
                            .tightened_at = clock_now()};
    snprintf(n->name, sizeof(n->name), "n%u", number);
    snprintf(n->zone, sizeof(n->zone), "z%u", number % 2);
    node_json(&json, n);
    int code = ask("POST", json.at, "/api/v1/nodes");
    buffer_free(&json);
    n->there = code == 201;
    if (n->there) {
        create_devices(n);
        users_furnish_node(n, a / 20);
    }
    return n->there;
}

static bool create_node(const struct action *x)
{
    uint32_t most = world_traits()->nodes > NODES_USUAL ? world_traits()->nodes : NODES_USUAL;
    uint32_t first = x->b % most;
    for (uint32_t i = 0; i < most; i++)
        if (!facts_node_at((first + i) % most)->there)
            return make_node((first + i) % most, x->a);
    return false;
}

static bool delete_node(const struct action *x)
{
    struct node_fact *n = facts_node_count() > 2 ? facts_any_node(x->a) : NULL;
    return n != NULL && ask("DELETE", NULL, "/api/v1/nodes/%s", n->name) / 100 == 2;
}

static bool resize_node(const struct action *x)
{
    static const int64_t cpus[] = {1000, 3000, 5000, 8000};
    struct node_fact *n = facts_any_node(x->a);
    char text[256];
    if (n == NULL)
        return false;
    int64_t cpu = cpus[x->b % 4];
    if (cpu < n->cpu)
        n->tightened_at = clock_now();
    n->cpu = cpu;
    snprintf(text, sizeof(text), "{\"status\":{\"allocatable\":{\"cpu\":\"%lldm\"}}}",
             (long long)cpu);
    return ask("PATCH", text, "/api/v1/nodes/%s/status", n->name) == 200;
}

bool users_close_node(struct node_fact *n, bool closed)
{
    if (n == NULL)
        return false;
    n->closed = closed;
    return ask("PATCH",
               closed ? "{\"spec\":{\"unschedulable\":true}}"
                      : "{\"spec\":{\"unschedulable\":null}}",
               "/api/v1/nodes/%s", n->name) == 200;
}

static bool cordon_node(const struct action *x)
{
    return users_close_node(facts_any_node(x->a), true);
}

static bool uncordon_node(const struct action *x)
{
    return users_close_node(facts_any_node(x->a), false);
}

static bool set_taint(struct node_fact *n, bool tainted)
{
    if (n == NULL)
        return false;
    n->tainted = tainted;
    return ask("PATCH",
               tainted ? "{\"spec\":{\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]}}"
                       : "{\"spec\":{\"taints\":null}}",
               "/api/v1/nodes/%s", n->name) == 200;
}

static bool taint_node(const struct action *x)
{
    return set_taint(facts_any_node(x->a), true);
}

static bool untaint_node(const struct action *x)
{
    return set_taint(facts_any_node(x->a), false);
}

static bool drain_node(const struct action *x)
{
    struct node_fact *n = facts_any_node(x->a);
    if (n == NULL || !users_close_node(n, true))
        return false;
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].node, n->name) == 0)
            delete_named(facts_pods[i].name, x->b % 20);
    return true;
}

/* ---- all of them ---- */

static void priority_class(const char *name, int value)
{
    char text[200];
    snprintf(text, sizeof(text),
             "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata\":{"
             "\"name\":\"%s\"},\"value\":%d}",
             name, value);
    ask("POST", text, "/apis/scheduling.k8s.io/v1/priorityclasses");
}

void users_open(const struct plan *plan)
{
    priority_class("middle", 100);
    priority_class("high", 1000);
    ask("POST",
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",\"metadata\":{\"name\":"
        "\"device\"},\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"device.driver == "
        "'d.example.com'\"}}]}}",
        "/apis/resource.k8s.io/v1/deviceclasses");
    users_open_groups(&plan->traits);
    users_open_volumes();
    for (uint32_t i = 0; i < plan->traits.nodes; i++)
        make_node(i, (uint32_t)(plan->seed >> (i % 16)));
}

bool users_leave(void)
{
    const struct action all = {.a = 0};
    bool any = delete_all_pods(&all);
    users_end_groups();
    any = users_end_volumes() || any;
    return users_end_devices() || any;
}

void users_reset(void)
{
    names = 0;
    users_reset_volumes();
    users_reset_devices();
}

bool users_do(const struct action *x)
{
#define USER(name)                                                                                 \
    case DO_##name: return name(x);
    switch (x->kind) {
        USER(create_pod)
        USER(create_burst)
        USER(create_replacement)
        USER(delete_pod)
        USER(recreate_pod)
        USER(regret_burst)
        USER(finish_pod)
        USER(resize_pod)
        USER(create_gated_pod)
        USER(ungate_pod)
        USER(label_pod)
        USER(create_node)
        USER(delete_node)
        USER(resize_node)
        USER(cordon_node)
        USER(uncordon_node)
        USER(taint_node)
        USER(untaint_node)
        USER(drain_node)
        USER(create_foreign_pod)
        USER(delete_all_pods)
        USER(create_service)
        USER(create_budget)
        USER(create_namespace)
        USER(create_important_pod)
        USER(create_long_pod)
        USER(create_odd_pod)
        USER(create_shy_pod)
    default: return users_do_groups(x) || users_do_devices(x) || users_do_volumes(x);
    }
#undef USER
}
