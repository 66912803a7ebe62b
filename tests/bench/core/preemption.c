/* preemption: what a pod costs that finds room only by preempting others, while others like it wait
 * for their victims to go. The one idea: all of them come at once, as after a burst, so that the
 * last is decided among as many nominations as there are pods.
 *
 * What must stay true: every preemptor has as many victims, on a node of its own, and is bound
 * there when they are gone; a run in which that is not so is told as failed. */
#include "proto/base/memory.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/live.h"
#include "tests/bench/core/profile.h"
#include "tests/bench/core/sections.h"

#include <string.h>

#define MIB        INT64_C(1048576)
#define PREEMPTORS 1000
#define LOWER      4 /* pods on each node, three of which have to go */
#define LOWER_CPU  3600
#define OWN_CPU    12000
#define FIRST_OWN  50000000 /* numbers of preemptors, which are beyond those of the others */
#define LOAD_BATCH 256

struct made_room {
    uint32_t index;
    struct str node;
    struct victim *victims;
    uint32_t count;
};

struct bench {
    struct shape shape;
    struct live *live;
    struct arena arena;
    struct made_room *rooms;
    uint32_t room_count, preemptors, victims, bound, elsewhere;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void set_cpu(struct pod *pod, int64_t cpu)
{
    pod->request.at[0].amount = pod->score_request.at[0].amount = pod->usage.at[0].amount = cpu;
    pod->usage_score_cpu = cpu;
}

static void lower_pod(const struct bench *b, uint32_t j, struct pod *pod, struct arena *a)
{
    workload_pod(&workloads[0], &b->shape, j, pod, a);
    set_cpu(pod, LOWER_CPU);
    pod->node_name = cluster_node_name(j % b->shape.nodes, a);
}

static void preemptor(const struct bench *b, uint32_t i, struct pod *pod, struct arena *a)
{
    workload_pod(&workloads[0], &b->shape, FIRST_OWN + i, pod, a);
    set_cpu(pod, OWN_CPU);
    pod->priority = 10;
    pod->resource_version += i;
}

/* ---- what the coordinator says ---- */

static uint32_t index_of(struct str name)
{
    int64_t index = 0;
    bool known = name.len > 8 && str_to_i64((struct str){name.at + name.len - 8, 8}, &index);
    return known && index >= FIRST_OWN ? (uint32_t)(index - FIRST_OWN) : UINT32_MAX;
}

static void see_preempt(struct bench *b, const struct preempt *p)
{
    uint32_t index = index_of(p->pod.name);
    if (b->room_count == b->preemptors || index >= b->preemptors)
        return;
    struct made_room *room = &b->rooms[b->room_count++];
    *room = (struct made_room){index, arena_copy(&b->arena, p->node_name), NULL, 0};
    room->victims = arena_take(&b->arena, p->victims.count * sizeof(*room->victims));
    for (; room->count < p->victims.count; room->count++)
        codec_copy(&victim_record, &room->victims[room->count], &p->victims.at[room->count],
                   &b->arena);
    b->victims += room->count;
}

static void see_bind(struct bench *b, const struct bind *bind)
{
    uint32_t index = index_of(bind->name);
    b->bound++;
    for (uint32_t i = 0; i < b->room_count; i++)
        if (b->rooms[i].index == index)
            b->elsewhere += !str_equal(b->rooms[i].node, bind->node_name);
}

static void heard(void *context, const struct message *m)
{
    if (m->type == MSG_preempt)
        see_preempt(context, &m->preempt);
    else if (m->type == MSG_bind)
        see_bind(context, &m->bind);
}

/* ---- what is said to it ---- */

static void offer(struct bench *b, int64_t attempts)
{
    struct arena a = {0};
    for (uint32_t i = 0; i < b->preemptors; i++) {
        struct message m = {.type = MSG_attempt,
                            .attempt = {.attempts = attempts,
                                        .cycle = attempts * PREEMPTORS + i,
                                        .epoch = LIVE_EPOCH,
                                        .sequence = live_sequence(b->live)}};
        arena_reset(&a);
        preemptor(b, i, &m.attempt.pod, &a);
        live_say(b->live, QUEUE, &m);
    }
    arena_free(&a);
}

/* The preemptor's status is seen, its victims go, and the binder says that it is done. */
static void evict(struct bench *b, const struct made_room *room)
{
    struct arena a = {0};
    struct message m = {.type = MSG_pod_set};
    struct pod *pod = &m.pod_set.pod;
    preemptor(b, room->index, pod, &a);
    pod->nominated_node = room->node;
    pod->resource_version++;
    live_stream(b->live, &m);
    const struct message done = {.type = MSG_preempt_result,
                                 .preempt_result = {.uid = pod->uid,
                                                    .namespace_name = pod->namespace_name,
                                                    .name = pod->name,
                                                    .node_name = room->node,
                                                    .done = true}};
    for (uint32_t i = 0; i < room->count; i++) {
        const struct victim *v = &room->victims[i];
        const struct message gone = {
            .type = MSG_pod_gone,
            .pod_gone = {.uid = v->uid, .namespace_name = v->namespace_name, .name = v->name}};
        live_stream(b->live, &gone);
    }
    live_say(b->live, BINDER, &done);
    live_run(b->live);
    arena_free(&a);
}

static bool load(struct bench *b)
{
    struct message m;
    struct arena a = {0};
    uint32_t nodes = b->shape.nodes;
    for (uint32_t i = 0; cluster_object(i, &m, &a); i++)
        live_stream(b->live, &m);
    for (uint32_t i = 0; i < nodes * (1 + LOWER); i++) {
        arena_reset(&a);
        m = (struct message){.type = i < nodes ? MSG_node_set : MSG_pod_set};
        if (i < nodes)
            cluster_node(&b->shape, i, &m.node_set.node, &a);
        else
            lower_pod(b, i - nodes, &m.pod_set.pod, &a);
        live_stream(b->live, &m);
        if ((i + 1) % LOAD_BATCH == 0)
            live_run(b->live);
    }
    arena_free(&a);
    live_run(b->live);
    return live_ready(b->live);
}

/* ---- what it costs ---- */

void bench_preempt(struct live *l);

/* Decides all that was said; not inline, so that profilers can be told to look at nothing else. */
__attribute__((noinline)) void bench_preempt(struct live *l)
{
    live_run(l);
}

static void tell(const struct bench *b, const struct live_cost *costs, uint32_t workers,
                 struct report *r)
{
    const struct live_cost *c = &costs[0];
    double n = b->preemptors, all = 0, codec = (double)c->codec;
    for (uint32_t k = 0; k < workers; k++) {
        all += (double)c->worker_work[k];
        codec += (double)c->worker_codec[k];
    }
    bool well = b->room_count == b->preemptors && b->bound == b->preemptors && b->elsewhere == 0;
    report_row(r, (struct cell[]){NUMBER(b->shape.nodes), NUMBER(workers), NUMBER(n),
                                  NUMBER(b->victims / n), NUMBER(!well),
                                  NUMBER((double)live_cost_total(c) / n / 1000),
                                  NUMBER((double)c->work / n / 1000),
                                  NUMBER(all / workers / n / 1000), NUMBER(codec / n / 1000),
                                  NUMBER((double)c->messages / n), NUMBER((double)c->bytes / n),
                                  NUMBER((double)live_cost_total(&costs[1]) / n / 1000),
                                  NUMBER((double)live_cost_total(&costs[2]) / n / 1000)});
}

static void play(struct bench *b, uint32_t workers, struct report *r)
{
    struct live_cost costs[3], before;
    for (int part = 0; part < 3; part++) {
        before = *live_cost(b->live);
        if (part == 1)
            for (uint32_t i = 0; i < b->room_count; i++)
                evict(b, &b->rooms[i]);
        else
            offer(b, part == 0 ? 1 : 2);
        bench_preempt(b->live);
        live_cost_since(&costs[part], &before, live_cost(b->live));
    }
    tell(b, costs, workers, r);
}

static bool measure(const struct core_options *o, uint32_t nodes, uint32_t workers,
                    struct report *r)
{
    struct arena memory = {0};
    struct profile profile;
    struct bench b = {.shape = {.nodes = nodes, .bound_per_node = LOWER, .zones = o->zones},
                      .preemptors = least(least(PREEMPTORS, o->decisions), nodes)};
    bool well = profile_make(&profile, NULL, &memory);
    b.rooms = memory_take_array(b.preemptors, sizeof(*b.rooms));
    b.live = live_new(&(struct live_options){.profiles = &profile,
                                             .profile_count = 1,
                                             .workers = workers,
                                             .tie_break = o->tie_break,
                                             .credit = b.preemptors,
                                             .batch = o->batch,
                                             .framed = o->framed,
                                             .codec_within = o->profiled,
                                             .heard = heard,
                                             .context = &b});
    well = well && load(&b);
    if (well)
        play(&b, workers, r);
    else
        fprintf(stderr, "bench-core: the coordinator does not begin to decide\n");
    live_free(&b.live);
    memory_free(b.rooms);
    arena_free(&b.arena);
    arena_free(&memory);
    return well;
}

bool preemption_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"nodes", 0}, {"workers", 0},  {"preemptors", 0}, {"victims", 2},  {"failed", 0},
        {"us", 1},    {"coord_us", 1}, {"worker_us", 1},  {"codec_us", 1}, {"messages", 2},
        {"bytes", 0}, {"evict_us", 1}, {"again_us", 1}};
    report_section(r, "preemption", "CPU time of a preemptor among others like it", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < o->nodes.count; i++)
        for (uint32_t k = 0; k < o->workers.count; k++)
            if (!measure(o, o->nodes.at[i], o->workers.at[k], r))
                return false;
    return true;
}
