/* queue_events: what one event of the cluster costs the queue while many pods wait for an event.
 * The one idea: events that cannot help the waiting pods should cost the same however many there
 * are. What must stay true: an event that does wake pods is told so, and the queue is built anew
 * behind it, as the next one would find nobody waiting. */
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/sections.h"
#include "tests/bench/core/sides.h"

#include <math.h>
#include <string.h>

#define NODES       200
#define EVENTS_MAX  200
#define EVENTS_NS   60000000 /* CPU time for each kind of event, unless a single one takes longer */
#define FIRST_BOUND 1000000  /* numbers of pods that are bound while we look */

static const struct shape shape = {.nodes = NODES, .bound_per_node = 10, .zones = 3};

static void huge(uint32_t i, struct pod *pod, struct arena *a)
{
    (void)i;
    (void)a;
    for (uint32_t k = 0; k < pod->request.count; k++)
        pod->request.at[k].amount *= 10000;
}

/* No two of them are alike in what they wait for. */
static void own_app(uint32_t i, struct pod *pod, struct arena *a)
{
    struct str app = arena_print(a, "single-%u", i);
    pod->labels.at[0].value = app;
    pod->anti_affinity_required.at[0].selector.labels.at[0].value = app;
}

static void own_claim(uint32_t i, struct pod *pod, struct arena *a)
{
    pod->claims = (struct strs){1, arena_take(a, sizeof(struct str))};
    pod->claims.at[0] = arena_print(a, "claim-%u", i);
}

/* Pods that wait, and who rejected them; change, when not NULL, is made to pod i. */
static const struct parked {
    const char *name, *workload, *plugin;
    void (*change)(uint32_t i, struct pod *pod, struct arena *a);
} kinds[] = {{"too big", "plain", "NodeResourcesFit", huge},
             {"own sizes", "distinct", "NodeResourcesFit", huge},
             {"anti-affinity", "host-anti", "InterPodAffinity", NULL},
             {"own apps", "host-anti", "InterPodAffinity", own_app},
             {"zone spread", "zone-spread", "PodTopologySpread", NULL},
             {"node affinity", "daemon", "NodeAffinity", NULL},
             {"own claims", "plain", "VolumeBinding", own_claim}};

static const struct workload *workload_of(const char *name)
{
    size_t i = 0;
    while (strcmp(workloads[i].name, name) != 0)
        i++;
    return &workloads[i];
}

static struct queue_side *build(const struct parked *kind, uint32_t parked)
{
    struct queue_side *q = queue_side_new();
    const struct workload *w = workload_of(kind->workload);
    struct arena a = {0};
    struct message m;
    for (uint32_t i = 0; i < NODES; i++) {
        m = (struct message){.type = MSG_node_set};
        cluster_node(&shape, i, &m.node_set.node, &a);
        queue_side_stream(q, &m);
    }
    for (uint32_t j = 0; j < NODES * shape.bound_per_node; j++) {
        m = (struct message){.type = MSG_pod_set};
        cluster_bound_pod(&shape, j, &m.pod_set.pod, &a);
        queue_side_stream(q, &m);
    }
    for (uint32_t i = 0; i < parked; i++) {
        struct pod pod;
        arena_reset(&a);
        workload_pod(w, &shape, i, &pod, &a);
        if (kind->change != NULL)
            kind->change(i, &pod, &a);
        queue_side_park(q, &pod, kind->plugin);
    }
    arena_free(&a);
    return q;
}

/* ---- events; i counts those of one kind ---- */

static void heartbeat(uint32_t i, struct message *m, struct arena *a)
{
    m->type = MSG_node_set;
    cluster_node(&shape, i % NODES, &m->node_set.node, a);
    m->node_set.node.resource_version = 1000 + i;
}

static void node_label(uint32_t i, struct message *m, struct arena *a)
{
    heartbeat(i, m, a);
    m->node_set.node.resource_version += 100000;
    m->node_set.node.labels.at[4].value = arena_print(a, "type-%u", i);
}

static void node_room(uint32_t i, struct message *m, struct arena *a)
{
    heartbeat(i, m, a);
    m->node_set.node.resource_version += 200000;
    m->node_set.node.allocatable.at[0].amount += 1 + i;
}

static void pod_bound(uint32_t i, struct message *m, struct arena *a)
{
    m->type = MSG_pod_set;
    cluster_bound_pod(&shape, FIRST_BOUND + i, &m->pod_set.pod, a);
}

static void pod_label(uint32_t i, struct message *m, struct arena *a)
{
    m->type = MSG_pod_set;
    cluster_bound_pod(&shape, i, &m->pod_set.pod, a);
    m->pod_set.pod.resource_version += 1 + i;
    m->pod_set.pod.labels.at[1].value = arena_print(a, "hash-%u", i);
}

static void pod_deleted(uint32_t i, struct message *m, struct arena *a)
{
    struct pod pod;
    m->type = MSG_pod_gone;
    cluster_bound_pod(&shape, 1000 + i, &pod, a);
    m->pod_gone.uid = pod.uid;
    m->pod_gone.namespace_name = pod.namespace_name;
    m->pod_gone.name = pod.name;
}

static void claim_made(uint32_t i, struct message *m, struct arena *a)
{
    m->type = MSG_claim_set;
    m->claim_set.claim.namespace_name = STR_LITERAL("default");
    m->claim_set.claim.name = arena_print(a, "claim-%u", 7 * i);
    m->claim_set.claim.resource_version = 1;
}

static const struct {
    const char *name;
    void (*make)(uint32_t i, struct message *m, struct arena *a);
} events[] = {{"node heartbeat", heartbeat}, {"node label", node_label},
              {"node room", node_room},      {"pod bound", pod_bound},
              {"pod label", pod_label},      {"pod deleted", pod_deleted},
              {"claim made", claim_made}};

struct result {
    uint32_t events;
    int64_t ns;
    uint64_t woken;
};

static struct result measure(struct queue_side *q, size_t event)
{
    struct result r = {0};
    struct arena a = {0};
    struct stopwatch watch;
    uint64_t woken = queue_side_woken(q);
    while (r.events < EVENTS_MAX && r.ns < EVENTS_NS && r.woken == 0) {
        struct message m = {.type = MSG_none};
        arena_reset(&a);
        events[event].make(r.events, &m, &a);
        stopwatch_start(&watch);
        queue_side_stream(q, &m);
        r.ns += stopwatch_lap(&watch);
        r.events++;
        r.woken = queue_side_woken(q) - woken;
    }
    arena_free(&a);
    return r;
}

bool queue_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {{"waiting", COLUMN_TEXT},
                                            {"event", COLUMN_TEXT},
                                            {"parked", 0},
                                            {"us", 2},
                                            {"ns_per_pod", 1},
                                            {"woken", 0}};
    report_section(r, "queue", "CPU time of an event while pods wait for one", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (uint32_t i = 0; i < o->parked.count; i++) {
            uint32_t parked = o->parked.at[i];
            if (parked == 0 && k > 0)
                continue; /* nobody waits: the same for all kinds */
            struct queue_side *q = build(&kinds[k], parked);
            for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
                struct result got = measure(q, e);
                double ns = (double)got.ns / got.events;
                report_row(r, (struct cell[]){TEXT(kinds[k].name), TEXT(events[e].name),
                                              NUMBER(parked), NUMBER(ns / 1000),
                                              NUMBER(parked > 0 ? ns / parked : (double)NAN),
                                              NUMBER(got.woken)});
                if (got.woken == 0)
                    continue;
                queue_side_free(&q);
                q = build(&kinds[k], parked);
            }
            queue_side_free(&q);
        }
    return true;
}
