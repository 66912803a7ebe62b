/* rounds: scatter-gather over the real bus: a coordinator's door in this process, workers in
 * processes of their own, one small map request to each and an answer from each. The workers have a
 * node each, so that the way there and back is what is measured.
 *
 * What must stay true: workers are forked before this process has a ZeroMQ context, every wait has
 * a bound, and who was started is stopped, by its pid. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/actor.h"
#include "scheduler/worker/worker.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/live.h"
#include "tests/bench/core/profile.h"
#include "tests/bench/core/sections.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000
#define STOP_MS     5000
#define LOOK_EVERY  64 /* rounds between two looks at the clock */

struct party {
    uint32_t count, joined;
    pid_t pids[LIVE_WORKERS_MAX];
    struct address at[LIVE_WORKERS_MAX];
    uint64_t answered[LIVE_WORKERS_MAX];
    struct bus *bus;
    struct outbox out;
    struct arena arena;
    struct profile profile;
    struct pod pod;
    uint64_t asked;
};

static struct bus_options bus_in(const char *folder, enum process process)
{
    struct bus_options o = {.process = process, .run_dir = folder, .generation = 1};
    if (process == WORKER)
        o.peers[o.peer_count++].process = SCHEDULER;
    return o;
}

_Noreturn static void be_worker(const char *folder)
{
    char error[512];
    struct bus_options o = bus_in(folder, WORKER);
    struct bus *bus = bus_open(&o, error, sizeof(error));
    if (bus == NULL) {
        fprintf(stderr, "bench-core: %s\n", error);
        _exit(1);
    }
    struct actor actor = {
        .state = worker_new("bench", 1), .handle = worker_handle, .tick = worker_tick, .fd = -1};
    int status = actor_run(bus, &actor);
    bus_close(&bus);
    _exit(status);
}

static void welcome(struct party *p, const struct delivery *in)
{
    struct message m = {.type = MSG_shard_reset};
    m.shard_reset.profiles.count = 1;
    m.shard_reset.profiles.at = &p->profile;
    outbox_put(&p->out, in->from, &m);
    m = (struct message){.type = MSG_shard_node};
    const struct shape shape = {.nodes = LIVE_WORKERS_MAX, .zones = 3};
    cluster_node(&shape, p->joined, &m.shard_node.node, &p->arena);
    outbox_put(&p->out, in->from, &m);
    p->at[p->joined++] = in->from;
}

static void take(struct party *p, const struct delivery *in)
{
    if (in->message->type == MSG_worker_join && p->joined < p->count)
        welcome(p, in);
    if (in->message->type != MSG_map_result)
        return;
    for (uint32_t k = 0; k < p->joined; k++)
        if (p->at[k].peer == in->from.peer)
            p->answered[k] = (uint64_t)in->message->map_result.cycle;
}

/* Whatever is there; waits when nothing is. */
static void serve(struct party *p)
{
    struct delivery in;
    struct moment now = moment_now();
    bool any = false;
    while (bus_receive(p->bus, now, &in)) {
        take(p, &in);
        any = true;
    }
    bus_send(p->bus, &p->out);
    struct moment next = bus_tick(p->bus, now);
    if (!any)
        bus_wait(p->bus, -1, now, moment_earlier(next, moment_after(now, span_of_ms(100))));
}

static bool gather(struct party *p)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (p->joined < p->count && !moment_reached(moment_now(), end))
        serve(p);
    return p->joined == p->count;
}

static void ask(struct party *p)
{
    struct message m = {.type = MSG_map_request,
                        .map_request = {.cycle = (int64_t)++p->asked,
                                        .round = 1,
                                        .pod = p->pod,
                                        .tie_break = TIE_BREAK_first,
                                        .step = MAP_STEP_map,
                                        .findings = {.no_terms = true}}};
    for (uint32_t k = 0; k < p->count; k++)
        outbox_put(&p->out, p->at[k], &m);
}

static uint64_t finished(const struct party *p)
{
    uint64_t least = p->answered[0];
    for (uint32_t k = 1; k < p->count; k++)
        least = p->answered[k] < least ? p->answered[k] : least;
    return least;
}

static int64_t workers_cpu(const struct party *p)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < p->count; k++)
        sum += clock_cpu_ns_of(p->pids[k]);
    return sum;
}

/* Rounds with so many under way at once, for so long by the wall. False when answers fail to come.
 */
static bool measure(struct party *p, uint32_t window, double seconds, struct report *r)
{
    struct moment began = moment_now(), now = began, heard = began;
    int64_t own = clock_cpu_ns(), theirs = workers_cpu(p);
    uint64_t first = p->asked, last = p->asked;
    struct span limit = span_of_seconds(seconds);
    while (moment_since(now, began).ns < limit.ns) {
        for (int i = 0; i < LOOK_EVERY; i++) {
            while (p->asked - finished(p) < window)
                ask(p);
            serve(p);
        }
        now = moment_now();
        heard = finished(p) > last ? now : heard;
        last = finished(p);
        if (moment_since(now, heard).ns > span_of_ms(PATIENCE_MS).ns)
            return false;
    }
    double rounds = (double)(finished(p) - first), ns = (double)moment_since(now, began).ns;
    own = clock_cpu_ns() - own;
    theirs = workers_cpu(p) - theirs;
    while (finished(p) < p->asked && moment_since(moment_now(), now).ns < span_of_ms(STOP_MS).ns)
        serve(p);
    report_row(r, (struct cell[]){TEXT("ipc"), NUMBER(p->count), NUMBER(window), NUMBER(rounds),
                                  NUMBER(rounds * 1e9 / ns), NUMBER(ns / rounds / 1000),
                                  NUMBER((double)own / rounds / 1000),
                                  NUMBER((double)theirs / rounds / p->count / 1000)});
    return finished(p) == p->asked;
}

static void stop(const struct party *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        struct pollfd ended = {.fd = pidfd_open(p->pids[k], 0), .events = POLLIN};
        kill(p->pids[k], SIGTERM);
        if (ended.fd < 0 || poll(&ended, 1, STOP_MS) != 1)
            kill(p->pids[k], SIGKILL);
        waitpid(p->pids[k], NULL, 0);
        if (ended.fd >= 0)
            close(ended.fd);
    }
}

static bool run(const struct core_options *o, uint32_t workers, const char *folder,
                struct report *r)
{
    struct party p = {.count = workers};
    char error[512] = "workers do not answer";
    fflush(stdout);
    for (uint32_t k = 0; k < workers; k++) {
        p.pids[k] = fork();
        if (p.pids[k] == 0)
            be_worker(folder);
        must(p.pids[k] > 0);
    }
    const struct shape shape = {.nodes = LIVE_WORKERS_MAX, .zones = 3};
    struct bus_options door = bus_in(folder, SCHEDULER);
    (void)profile_make(&p.profile, NULL, &p.arena);
    workload_pod(&workloads[0], &shape, 0, &p.pod, &p.arena);
    p.bus = bus_open(&door, error, sizeof(error));
    bool well = p.bus != NULL && gather(&p) && measure(&p, 1, o->seconds, r) &&
                measure(&p, 16, o->seconds, r);
    if (!well)
        fprintf(stderr, "bench-core: rounds with %u workers: %s\n", workers,
                p.bus == NULL ? error : "workers do not answer");
    stop(&p);
    if (p.bus != NULL)
        bus_close(&p.bus);
    outbox_free(&p.out);
    arena_free(&p.arena);
    return well;
}

/* Sockets and their locks. */
static bool remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    return rmdir(folder) == 0;
}

bool rounds_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"over", COLUMN_TEXT}, {"workers", 0}, {"under_way", 0},    {"rounds", 0},
        {"per_s_wall", 0},     {"us_wall", 1}, {"coord_us_cpu", 1}, {"worker_us_cpu", 1}};
    char folder[] = "/tmp/bench-core-XXXXXX";
    report_section(r, "rounds", "a map request to every worker and back, over the bus", columns,
                   sizeof(columns) / sizeof(columns[0]));
    if (mkdtemp(folder) == NULL)
        return false;
    bool well = true;
    for (uint32_t i = 0; well && i < o->shares.count; i++)
        well = run(o, o->shares.at[i], folder, r);
    return remove_folder(folder) && well;
}
