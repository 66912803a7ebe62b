/* cluster: nodes of a few zones with images and labels as clouds give them, pods of deployments on
 * them, and the kinds of pending pods whose cost is measured.
 *
 * What must stay true: a record depends on its number and the shape alone, so that a pod can be
 * made again when it is confirmed or deleted, and two builds are measured on the same work. */
#include "tests/bench/core/cluster.h"

#include <string.h>

#define ZONE      "topology.kubernetes.io/zone"
#define HOST      "kubernetes.io/hostname"
#define MIB       INT64_C(1048576)
#define IMAGES    8
#define COUNT(at) (sizeof(at) / sizeof((at)[0]))

/* ---- small parts ---- */

static void *take(struct arena *a, size_t count, size_t size)
{
    return arena_take(a, count * size);
}

static void set_labels(struct pod *pod, struct arena *a, uint32_t count, const struct label *from)
{
    pod->labels.count = count;
    pod->labels.at = take(a, count, sizeof(*from));
    memcpy(pod->labels.at, from, count * sizeof(*from));
}

static void set_label(struct pod *pod, struct arena *a, const char *key, struct str value)
{
    set_labels(pod, a, 1, &(struct label){str_of(key), value});
}

static struct quantity *amounts(struct arena *a, int64_t cpu, int64_t memory)
{
    struct quantity *q = take(a, 2, sizeof(*q));
    q[0] = (struct quantity){STR_LITERAL("cpu"), cpu};
    q[1] = (struct quantity){STR_LITERAL("memory"), memory};
    return q;
}

static void set_amounts(struct pod *pod, struct arena *a, int64_t cpu, int64_t memory)
{
    pod->request.count = pod->score_request.count = pod->usage.count = 2;
    pod->request.at = amounts(a, cpu, memory);
    pod->score_request.at = amounts(a, cpu, memory);
    pod->usage.at = amounts(a, cpu, memory);
    pod->usage_score_cpu = cpu;
    pod->usage_score_memory = memory;
}

static struct strs one_text(struct arena *a, struct str text)
{
    struct strs s = {1, take(a, 1, sizeof(*s.at))};
    s.at[0] = text;
    return s;
}

static struct selector selector_on(struct arena *a, const char *key, const char *value)
{
    struct selector s = {.present = true};
    s.labels.count = 1;
    s.labels.at = take(a, 1, sizeof(*s.labels.at));
    s.labels.at[0] = (struct label){str_of(key), str_of(value)};
    return s;
}

static struct affinity_term *term_on(struct arena *a, const struct pod *pod, const char *value,
                                     const char *topology)
{
    struct affinity_term *t = take(a, 1, sizeof(*t));
    t->selector = selector_on(a, "color", value);
    t->namespaces = one_text(a, pod->namespace_name);
    t->topology_key = str_of(topology);
    return t;
}

/* What every pod has, whatever it wants. The tolerations are those that the API server adds. */
static void base_pod(struct pod *pod, struct arena *a, struct str name, struct str space)
{
    memset(pod, 0, sizeof(*pod));
    pod->name = name;
    pod->namespace_name = space;
    pod->uid = arena_print(a, "7d1c8b52-0000-4000-8000-%.*s", STR_ARG(name));
    pod->resource_version = 1000;
    pod->generation = 1;
    pod->created = INT64_C(1767225600000000);
    pod->scheduler_name = str_of(CLUSTER_SCHEDULER);
    pod->container_count = 1;
    pod->images = one_text(a, STR_LITERAL("registry.k8s.io/pause:3.10"));
    pod->tolerations.count = 2;
    pod->tolerations.at = take(a, 2, sizeof(*pod->tolerations.at));
    pod->tolerations.at[0] =
        (struct toleration){STR_LITERAL("node.kubernetes.io/not-ready"), STR_LITERAL("Exists"),
                            str_of(""), STR_LITERAL("NoExecute")};
    pod->tolerations.at[1] = pod->tolerations.at[0];
    pod->tolerations.at[1].key = STR_LITERAL("node.kubernetes.io/unreachable");
    set_amounts(pod, a, 100, 200 * MIB);
}

/* ---- the cluster ---- */

struct str cluster_node_name(uint32_t i, struct arena *a)
{
    return arena_print(a, "node-%06u", i);
}

static void set_node_images(struct node *node, uint32_t i, struct arena *a)
{
    node->images.count = IMAGES;
    node->images.at = take(a, IMAGES, sizeof(*node->images.at));
    for (uint32_t k = 0; k < IMAGES; k++)
        node->images.at[k] = (struct image){
            .names = one_text(a, arena_print(a, "registry.example.com/team/app-%u:v1",
                                             (i * 7 + k * 13) % CLUSTER_SERVICES)),
            .size = (int64_t)(20 + k * 15) * MIB};
}

void cluster_node(const struct shape *s, uint32_t i, struct node *node, struct arena *a)
{
    const struct label labels[] = {
        {STR_LITERAL("beta.kubernetes.io/arch"), STR_LITERAL("amd64")},
        {STR_LITERAL("kubernetes.io/arch"), STR_LITERAL("amd64")},
        {STR_LITERAL(HOST), cluster_node_name(i, a)},
        {STR_LITERAL("kubernetes.io/os"), STR_LITERAL("linux")},
        {STR_LITERAL("node.kubernetes.io/instance-type"), STR_LITERAL("general-16")},
        {STR_LITERAL("topology.kubernetes.io/region"), STR_LITERAL("region-1")},
        {STR_LITERAL(ZONE), arena_print(a, "zone-%u", i % s->zones)}};
    const struct quantity room[] = {{STR_LITERAL("cpu"), 16000},
                                    {STR_LITERAL("ephemeral-storage"), 100000 * MIB},
                                    {STR_LITERAL("memory"), 65536 * MIB},
                                    {STR_LITERAL("pods"), 110 + s->bound_per_node}};
    *node = (struct node){.name = labels[2].value,
                          .uid = arena_print(a, "0d1c8b52-0000-4000-8000-%012u", i),
                          .resource_version = 10 + i};
    node->labels.count = COUNT(labels);
    node->labels.at = take(a, COUNT(labels), sizeof(labels[0]));
    memcpy(node->labels.at, labels, sizeof(labels));
    node->allocatable.count = COUNT(room);
    node->allocatable.at = take(a, COUNT(room), sizeof(room[0]));
    memcpy(node->allocatable.at, room, sizeof(room));
    node->conditions.count = 1;
    node->conditions.at = take(a, 1, sizeof(*node->conditions.at));
    node->conditions.at[0] = (struct label){STR_LITERAL("Ready"), STR_LITERAL("True")};
    set_node_images(node, i, a);
}

void cluster_bound_pod(const struct shape *s, uint32_t j, struct pod *pod, struct arena *a)
{
    uint32_t app = j % CLUSTER_SERVICES;
    base_pod(pod, a, arena_print(a, "bound-%07u", j),
             arena_print(a, "space-%u", app % CLUSTER_NAMESPACES));
    set_labels(pod, a, 2,
               (struct label[]){{STR_LITERAL("app"), arena_print(a, "app-%u", app)},
                                {STR_LITERAL("pod-template-hash"), STR_LITERAL("5d78c9869d")}});
    set_amounts(pod, a, 10 + 10 * (int64_t)(j % 7), (16 + 16 * (int64_t)(j % 5)) * MIB);
    pod->node_name = cluster_node_name(j % s->nodes, a);
    pod->started = pod->created + 1000000;
}

bool cluster_object(uint32_t i, struct message *m, struct arena *a)
{
    *m = (struct message){.type = MSG_none};
    if (i <= CLUSTER_NAMESPACES) {
        struct str name = i == 0 ? STR_LITERAL("default") : arena_print(a, "space-%u", i - 1);
        m->type = MSG_namespace_set;
        m->namespace_set.name = name;
        m->namespace_set.labels.count = 1;
        m->namespace_set.labels.at = take(a, 1, sizeof(struct label));
        m->namespace_set.labels.at[0] = (struct label){STR_LITERAL("team"), STR_LITERAL("devops")};
        return true;
    }
    i -= CLUSTER_NAMESPACES + 1;
    if (i > CLUSTER_SERVICES)
        return false;
    m->type = MSG_owner_set;
    struct owner *o = &m->owner_set.owner;
    bool web = i == CLUSTER_SERVICES; /* that of the workload service */
    o->kind = OBJECT_service;
    o->name = web ? STR_LITERAL("web") : arena_print(a, "app-%u", i);
    o->namespace_name =
        web ? STR_LITERAL("default") : arena_print(a, "space-%u", i % CLUSTER_NAMESPACES);
    o->uid = arena_print(a, "service-%u", i);
    o->resource_version = 5;
    o->selector = selector_on(a, "app", "web");
    o->selector.labels.at[0].value = o->name;
    return true;
}

/* ---- workloads ---- */

static void fill_plain(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    (void)pod;
    (void)a;
}

static void fill_distinct(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    set_label(pod, a, "app", arena_print(a, "single-%u", i));
    set_amounts(pod, a, 50 + i % 101, 100 * MIB + (int64_t)(i % 9973) * 8192);
}

static void fill_service(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    set_label(pod, a, "app", STR_LITERAL("web"));
}

static void spread_over(struct pod *pod, struct arena *a, const char *topology, const char *what)
{
    set_label(pod, a, "color", STR_LITERAL("blue"));
    pod->has_spread = true;
    pod->spread.count = 1;
    pod->spread.at = take(a, 1, sizeof(*pod->spread.at));
    pod->spread.at[0] = (struct spread_constraint){.max_skew = 1,
                                                   .topology_key = str_of(topology),
                                                   .when_unsatisfiable = str_of(what),
                                                   .selector = selector_on(a, "color", "blue")};
}

static void fill_zone_spread(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    spread_over(pod, a, ZONE, "DoNotSchedule");
}

static void fill_soft_spread(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    spread_over(pod, a, ZONE, "ScheduleAnyway");
}

static void fill_host_anti(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    set_label(pod, a, "color", STR_LITERAL("green"));
    pod->anti_affinity_required.count = 1;
    pod->anti_affinity_required.at = term_on(a, pod, "green", HOST);
}

/* As upstream's NSSelector cases have it: in all namespaces of a label. */
static void fill_ns_anti(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    fill_host_anti(s, i, pod, a);
    struct affinity_term *t = pod->anti_affinity_required.at;
    t->namespaces = (struct strs){0, NULL};
    t->namespace_selector = selector_on(a, "team", "devops");
}

static void fill_zone_affinity(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    set_label(pod, a, "color", STR_LITERAL("blue"));
    pod->affinity_required.count = 1;
    pod->affinity_required.at = term_on(a, pod, "blue", ZONE);
}

static void fill_soft_affinity(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    set_label(pod, a, "color", STR_LITERAL("red"));
    pod->affinity_preferred.count = 1;
    pod->affinity_preferred.at = term_on(a, pod, "red", HOST);
    pod->affinity_preferred.at[0].weight = 1;
}

static void fill_soft_anti(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    set_label(pod, a, "color", STR_LITERAL("yellow"));
    pod->anti_affinity_preferred.count = 1;
    pod->anti_affinity_preferred.at = term_on(a, pod, "yellow", HOST);
    pod->anti_affinity_preferred.at[0].weight = 1;
}

static void require_node(struct pod *pod, struct arena *a, struct str key, struct strs values)
{
    struct requirement *r = take(a, 1, sizeof(*r));
    struct node_term *t = take(a, 1, sizeof(*t));
    *r = (struct requirement){.key = key, .operator_name = STR_LITERAL("In"), .values = values};
    if (str_is(key, "metadata.name")) {
        t->fields.count = 1;
        t->fields.at = r;
    } else {
        t->expressions.count = 1;
        t->expressions.at = r;
    }
    pod->has_required_terms = true;
    pod->required_terms.count = 1;
    pod->required_terms.at = t;
}

static void fill_node_affinity(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    (void)i;
    struct strs zones = {2, take(a, 2, sizeof(*zones.at))};
    zones.at[0] = STR_LITERAL("zone-1");
    zones.at[1] = STR_LITERAL("zone-2");
    require_node(pod, a, STR_LITERAL(ZONE), zones);
}

static void fill_daemon(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    require_node(pod, a, STR_LITERAL("metadata.name"),
                 one_text(a, cluster_node_name((uint32_t)((uint64_t)i * 7919 % s->nodes), a)));
    set_label(pod, a, "app", STR_LITERAL("daemon"));
}

static void fill_ports(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    pod->ports.count = 1;
    pod->ports.at = take(a, 1, sizeof(*pod->ports.at));
    pod->ports.at[0] = (struct host_port){STR_LITERAL("0.0.0.0"), STR_LITERAL("TCP"), 8000 + i % 8};
}

static void fill_images(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    pod->images =
        one_text(a, arena_print(a, "registry.example.com/team/app-%u:v1", i % CLUSTER_SERVICES));
}

/* As many kinds as there are services, one after another, each with amounts of its own. */
static void fill_fleet(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    (void)s;
    uint32_t app = i % CLUSTER_SERVICES;
    pod->namespace_name = arena_print(a, "space-%u", app % CLUSTER_NAMESPACES);
    set_label(pod, a, "app", arena_print(a, "app-%u", app));
    set_amounts(pod, a, 20 + 5 * (int64_t)app, (32 + 4 * (int64_t)app) * MIB);
}

static void fill_mixed(const struct shape *s, uint32_t i, struct pod *pod, struct arena *a)
{
    static void (*const kinds[])(const struct shape *, uint32_t, struct pod *, struct arena *) = {
        fill_plain,     fill_service,       fill_distinct,      fill_zone_spread,   fill_host_anti,
        fill_soft_anti, fill_node_affinity, fill_soft_affinity, fill_zone_affinity, fill_daemon};
    kinds[i % COUNT(kinds)](s, i, pod, a);
}

const struct workload workloads[] = {
    {"plain", "equal pods without labels", fill_plain, 0, false, 1000, false},
    {"distinct", "every pod with amounts and labels of its own", fill_distinct, 0, false, 1000,
     false},
    {"service", "equal pods of one Service: the system's default spreading", fill_service, 50,
     false, 1000, false},
    {"zone-spread", "required spreading over zones", fill_zone_spread, 50, false, 1000, false},
    {"host-anti", "required anti-affinity by host", fill_host_anti, 25, false, 25, true},
    {"soft-spread", "preferred spreading over zones", fill_soft_spread, 50, false, 1000, false},
    {"soft-anti", "preferred anti-affinity by host", fill_soft_anti, 25, false, 1000, false},
    {"soft-affinity", "preferred affinity by host", fill_soft_affinity, 25, false, 1000, false},
    {"zone-affinity", "required affinity by zone", fill_zone_affinity, 25, true, 1000, false},
    {"ns-anti", "required anti-affinity by host, over namespaces by label", fill_ns_anti, 25, false,
     25, true},
    {"node-affinity", "required node affinity by zone", fill_node_affinity, 0, false, 1000, false},
    {"daemon", "required node affinity by name, as of a DaemonSet", fill_daemon, 0, false, 1000,
     false},
    {"ports", "a host port", fill_ports, 0, false, 300, false},
    {"images", "images that some nodes have", fill_images, 0, false, 1000, false},
    {"fleet", "pods of fifty Services in turn, spread by default", fill_fleet, 0, false, 1000,
     false},
    {"mixed", "ten of the kinds above, one after another", fill_mixed, 0, false, 100, false},
};
const size_t workload_count = COUNT(workloads);

void workload_pod(const struct workload *w, const struct shape *s, uint32_t i, struct pod *pod,
                  struct arena *a)
{
    base_pod(pod, a, arena_print(a, "%s-%08u", w->name, i), STR_LITERAL("default"));
    w->fill(s, i, pod, a);
}

uint32_t workload_own(const struct workload *w, const struct shape *s)
{
    uint32_t times = s->kin > 0 && !w->alone ? s->kin : 1;
    return (uint32_t)((uint64_t)s->nodes * w->own_percent * times / 100);
}

/* On every k-th node, over all zones unless they are to be in one. */
uint32_t workload_own_node(const struct workload *w, const struct shape *s, uint32_t i)
{
    uint64_t step = w->own_in_zone ? s->zones : 100 / w->own_percent;
    uint64_t lap =
        w->own_in_zone ? 0 : i * step / s->nodes; /* the next time round, the next ones */
    return (uint32_t)((i * step + lap) % s->nodes);
}

uint32_t workload_room(const struct workload *w, const struct shape *s)
{
    uint64_t room = (uint64_t)s->nodes * w->room_percent / 100;
    return room > 0 ? (uint32_t)room : 1;
}
