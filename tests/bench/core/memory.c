/* memory: bytes for each node and each pod in each process. Every process is measured in a child
 * of its own, so that memory freed before does not hide what is taken: what the allocator was asked
 * for, and by how much the resident set has grown.
 *
 * What must stay true: nodes are loaded before pods, and pods are on nodes; a child that dies is
 * told, not left out. */
#include "proto/base/memory.h"
#include "scheduler/worker/worker.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/json_text.h"
#include "tests/bench/core/live.h"
#include "tests/bench/core/profile.h"
#include "tests/bench/core/sections.h"
#include "tests/bench/core/sides.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct held {
    double asked, resident;
};

/* Before, with nodes, with pods. */
struct stages {
    struct held at[3];
    double peak; /* of the resident set, at any time */
};

static struct held held_now(void)
{
    struct held h = {0, 0};
    char line[128] = "0 0";
    FILE *in = fopen("/proc/self/statm", "r");
    if (in != NULL && fgets(line, sizeof(line), in) == NULL)
        line[0] = 0;
    if (in != NULL)
        fclose(in);
    char *second = strchr(line, ' '); /* the first number is of addresses, the second resident */
    double pages = second != NULL ? (double)strtol(second, NULL, 10) : 0;
    struct mallinfo2 info = mallinfo2();
    h.asked = (double)info.uordblks + (double)info.hblkhd;
    h.resident = pages * (double)sysconf(_SC_PAGESIZE);
    return h;
}

static uint32_t pods_of(const struct shape *s)
{
    return s->nodes * s->bound_per_node;
}

/* ---- one process each ---- */

static void fill_watcher(const struct shape *s, struct stages *stages)
{
    struct watcher_side *w = watcher_side_new(0);
    struct buffer text = {0};
    char node[32];
    stages->at[0] = held_now();
    for (uint32_t i = 0; i < s->nodes; i++) {
        buffer_reset(&text);
        json_node_event(&text, "ADDED", i, 10 + i);
        watcher_side_data(w, "Node", buffer_str(&text));
    }
    stages->at[1] = held_now();
    for (uint32_t j = 0; j < pods_of(s); j++) {
        buffer_reset(&text);
        snprintf(node, sizeof(node), "node-%06u", j % s->nodes);
        json_pod_event(&text, "ADDED", j, 100000 + j, node);
        watcher_side_data(w, "Pod", buffer_str(&text));
    }
    stages->at[2] = held_now();
}

/* Calls put for each node, or for each pod. */
static void each(const struct shape *s, bool pods, void (*put)(void *to, const struct message *m),
                 void *to)
{
    struct arena a = {0};
    uint32_t count = pods ? pods_of(s) : s->nodes;
    for (uint32_t i = 0; i < count; i++) {
        struct message m = {.type = pods ? MSG_pod_set : MSG_node_set};
        arena_reset(&a);
        if (pods)
            cluster_bound_pod(s, i, &m.pod_set.pod, &a);
        else
            cluster_node(s, i, &m.node_set.node, &a);
        put(to, &m);
    }
    arena_free(&a);
}

static void put_queue(void *to, const struct message *m)
{
    queue_side_stream(to, m);
}

static void fill_queue(const struct shape *s, struct stages *stages)
{
    struct queue_side *q = queue_side_new();
    stages->at[0] = held_now();
    each(s, false, put_queue, q);
    stages->at[1] = held_now();
    each(s, true, put_queue, q);
    stages->at[2] = held_now();
}

static void put_coordinator(void *to, const struct message *m)
{
    live_stream(to, m);
    live_run(to);
}

/* Without workers: what the coordinator knows by itself. */
static void fill_coordinator(const struct shape *s, struct stages *stages)
{
    struct arena a = {0};
    struct profile profile;
    struct message m;
    (void)profile_make(&profile, NULL, &a);
    struct live *l = live_new(&(struct live_options){
        .profiles = &profile, .profile_count = 1, .tie_break = TIE_BREAK_first, .credit = 1});
    for (uint32_t i = 0; cluster_object(i, &m, &a); i++)
        put_coordinator(l, &m);
    stages->at[0] = held_now();
    each(s, false, put_coordinator, l);
    stages->at[1] = held_now();
    each(s, true, put_coordinator, l);
    stages->at[2] = held_now();
}

struct lone_worker {
    struct worker *worker;
    struct outbox out;
};

/* As messages of the coordinator. */
static void put_worker(void *to, const struct message *m)
{
    struct lone_worker *w = to;
    struct message told = {.type = MSG_shard_node};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &told};
    if (m->type == MSG_node_set) {
        told.shard_node.node = m->node_set.node;
    } else if (m->type == MSG_pod_set) {
        told.type = MSG_shard_pod;
        told.shard_pod.pod = m->pod_set.pod;
    } else {
        told = *m;
    }
    worker_handle(w->worker, (struct moment){1}, &in, &w->out);
    outbox_reset(&w->out);
}

static void fill_worker(const struct shape *s, struct stages *stages)
{
    struct lone_worker w = {.worker = worker_new("alone", 1)};
    struct arena a = {0};
    struct profile profile;
    (void)profile_make(&profile, NULL, &a);
    put_worker(&w, &(struct message){.type = MSG_peer_up});
    put_worker(
        &w, &(struct message){.type = MSG_shard_reset, .shard_reset = {.profiles = {1, &profile}}});
    stages->at[0] = held_now();
    each(s, false, put_worker, &w);
    stages->at[1] = held_now();
    each(s, true, put_worker, &w);
    stages->at[2] = held_now();
}

/* ---- children ---- */

static bool run_child(void (*fill)(const struct shape *, struct stages *), const struct shape *s,
                      struct stages *stages)
{
    int pipe_ends[2], status = 0;
    if (pipe(pipe_ends) != 0)
        return false;
    fflush(stdout);
    malloc_trim(0); /* what was free before would be taken without the set growing */
    pid_t child = fork();
    if (child == 0) {
        struct stages own;
        fill(s, &own);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        own.peak = (double)usage.ru_maxrss * 1024;
        bool told = write(pipe_ends[1], &own, sizeof(own)) == (ssize_t)sizeof(own);
        _exit(told ? 0 : 1);
    }
    close(pipe_ends[1]);
    bool well =
        child > 0 && read(pipe_ends[0], stages, sizeof(*stages)) == (ssize_t)sizeof(*stages);
    close(pipe_ends[0]);
    if (child > 0)
        well = waitpid(child, &status, 0) == child && status == 0 && well;
    return well;
}

static double growth(const struct stages *s, int stage, bool resident)
{
    const struct held *a = &s->at[stage], *b = &s->at[stage + 1];
    return resident ? b->resident - a->resident : b->asked - a->asked;
}

static void tell(struct report *r, const char *name, const struct shape *s, const double *grown)
{
    double pods = pods_of(s) > 0 ? pods_of(s) : (double)NAN;
    report_row(r, (struct cell[]){TEXT(name), NUMBER(s->nodes), NUMBER(pods_of(s)),
                                  NUMBER(grown[0] / s->nodes), NUMBER(grown[1] / pods),
                                  NUMBER(grown[2] / s->nodes), NUMBER(grown[3] / pods),
                                  NUMBER((grown[2] + grown[3]) / 1e6), NUMBER(grown[4] / 1e6)});
}

bool memory_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"process", COLUMN_TEXT}, {"nodes", 0},   {"pods", 0},   {"B_node", 0}, {"B_pod", 0},
        {"rss_node", 0},          {"rss_pod", 0}, {"rss_MB", 1}, {"peak_MB", 1}};
    static const struct {
        const char *name;
        void (*fill)(const struct shape *s, struct stages *stages);
    } processes[] = {{"watcher", fill_watcher},
                     {"queue", fill_queue},
                     {"coordinator", fill_coordinator},
                     {"worker, all nodes", fill_worker}};
    report_section(r, "memory", "bytes for each node and pod: allocated, and resident", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = o->nodes.count - 1; i < o->nodes.count; i++) {
        const struct shape s = {
            .nodes = o->nodes.at[i], .bound_per_node = o->bound_per_node, .zones = o->zones};
        double sum[5] = {0, 0, 0, 0, 0};
        for (size_t p = 0; p < sizeof(processes) / sizeof(processes[0]); p++) {
            struct stages stages;
            if (!run_child(processes[p].fill, &s, &stages)) {
                fprintf(stderr, "bench-core: the child %s has failed\n", processes[p].name);
                return false;
            }
            double grown[5];
            for (int k = 0; k < 4; k++)
                grown[k] = growth(&stages, k % 2, k >= 2);
            grown[4] = stages.peak - stages.at[0].resident;
            for (int k = 0; k < 5; k++)
                sum[k] += grown[k];
            tell(r, processes[p].name, &s, grown);
        }
        tell(r, "all", &s, sum);
    }
    return true;
}
