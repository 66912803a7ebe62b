/* decisions: measures what one decision costs. The cluster is loaded once; then each workload's own
 * pods are placed, batches of its pods are offered as the queue would, what was decided is
 * confirmed as binder and watcher would, and the oldest ones are deleted when there is no more
 * room.
 *
 * What must stay true: offering, deciding and binding are counted apart from confirming; after a
 * workload the cluster is what it was before. */
#include "tests/bench/core/decisions.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "tests/bench/core/live.h"

#include <math.h>
#include <stdlib.h>

#define LOAD_BATCH   512
#define WARM_UP      128 /* more than there are classes in any workload but distinct */
#define BATCH_LEAST  64
#define FINGERPRINTS 100 /* decisions whose nodes make up the fingerprint */

/* One workload on one cluster. */
struct bench {
    const struct core_options *options;
    const struct decisions_setup *setup;
    const struct workload *workload; /* NULL: the cluster is being loaded */
    struct live *live;
    struct arena arena;             /* of one batch */
    uint32_t oldest, next;          /* pods from oldest on are there; next is offered next */
    uint32_t bind_count, bind_room; /* of this batch */
    struct bind_seen {
        uint32_t index;
        struct str node;
    } * binds;
    uint32_t ended, failed, turn_ended; /* turn_ended: in this turn of the coordinator */
    int64_t turn_from;                  /* cost when the decisions under way began */
    bool counting;                      /* not warming up any more */
    uint64_t fingerprint;
    uint32_t fingerprinted;
    size_t sample_count, sample_room;
    float *samples; /* nanoseconds of each decision */
    struct live_cost spent;
    int64_t confirm_ns;
    double first_ns; /* of a decision while warming up */
    double best_ns;  /* of wall time for a decision, in the best turn of those run apart; or NAN */
};

static const struct column columns[] = {{"workload", COLUMN_TEXT},
                                        {"rule", COLUMN_TEXT},
                                        {"nodes", 0},
                                        {"bound", 0},
                                        {"own", 0},
                                        {"workers", 0},
                                        {"decided", 0},
                                        {"failed", 0},
                                        {"us", 1},
                                        {"us_p50", 1},
                                        {"us_p99", 1},
                                        {"coord_us", 1},
                                        {"worker_us", 1},
                                        {"codec_us", 1},
                                        {"confirm_us", 1},
                                        {"first_us", 1},
                                        {"messages", 2},
                                        {"per_s", 0},
                                        {"overlap_per_s", 0},
                                        {"wall_per_s", 0},
                                        {"wall_best_per_s", 0},
                                        {"Mnode_s", 1},
                                        {"places", COLUMN_TEXT}};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* ---- what the coordinator says ---- */

static uint32_t index_of(struct str name)
{
    int64_t index = 0;
    must(name.len > 8 && str_to_i64((struct str){name.at + name.len - 8, 8}, &index));
    return (uint32_t)index;
}

static void mark(struct bench *b, uint32_t index, struct str node)
{
    if (b->fingerprinted == FINGERPRINTS)
        return;
    b->fingerprinted++;
    b->fingerprint = (b->fingerprint ^ str_hash(node)) * UINT64_C(1099511628211) + index;
}

static void see_bind(struct bench *b, const struct bind *bind)
{
    if (b->bind_count == b->bind_room) {
        b->bind_room = b->bind_room ? b->bind_room * 2 : 256;
        b->binds = memory_resize(b->binds, b->bind_room * sizeof(*b->binds));
    }
    b->binds[b->bind_count++] =
        (struct bind_seen){index_of(bind->name), arena_copy(&b->arena, bind->node_name)};
}

static void heard(void *context, const struct message *m)
{
    struct bench *b = context;
    if (b->workload == NULL)
        return;
    if (m->type == MSG_bind) {
        see_bind(b, &m->bind);
        mark(b, index_of(m->bind.name), m->bind.node_name);
        b->turn_ended++;
    } else if (m->type == MSG_pod_failed) {
        mark(b, index_of(m->pod_failed.pod.name), (struct str){NULL, 0});
        if (b->failed == 0)
            fprintf(stderr, "bench-core: %.*s: %.*s: %.*s\n", STR_ARG(m->pod_failed.pod.name),
                    STR_ARG(words_text(&condition_reason_words, m->pod_failed.reason)),
                    STR_ARG(m->pod_failed.message));
        b->failed++;
        b->turn_ended++;
    }
}

static void sample(struct bench *b, double ns)
{
    if (b->sample_count == b->sample_room) {
        b->sample_room = b->sample_room ? b->sample_room * 2 : 4096;
        b->samples = memory_resize(b->samples, b->sample_room * sizeof(*b->samples));
    }
    b->samples[b->sample_count++] = (float)ns;
}

/* Whatever was decided in this turn shares what was spent since the last one that decided. */
static void turned(void *context)
{
    struct bench *b = context;
    if (b->turn_ended == 0)
        return;
    int64_t now = live_cost_total(live_cost(b->live));
    for (uint32_t i = 0; b->counting && i < b->turn_ended; i++)
        sample(b, (double)(now - b->turn_from) / b->turn_ended);
    b->ended += b->turn_ended;
    b->turn_ended = 0;
    b->turn_from = now;
}

/* ---- a batch ---- */

static void offer(struct bench *b, uint32_t count)
{
    struct message m = {.type = MSG_attempt};
    arena_reset(&b->arena);
    b->bind_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = b->next++;
        m.attempt = (struct attempt){.attempts = 1,
                                     .cycle = index + 1,
                                     .epoch = LIVE_EPOCH,
                                     .sequence = live_sequence(b->live)};
        workload_pod(b->workload, &b->setup->shape, index, &m.attempt.pod, &b->arena);
        live_say(b->live, QUEUE, &m);
    }
}

__attribute__((noinline)) void bench_decide(struct bench *b)
{
    b->turn_from = live_cost_total(live_cost(b->live));
    if (b->setup->apart)
        live_run_apart(b->live);
    else
        live_run(b->live);
}

/* Binder and watcher say that it is as it was decided. */
static void confirm(struct bench *b)
{
    for (uint32_t i = 0; i < b->bind_count; i++) {
        struct message m = {.type = MSG_pod_set};
        struct pod *pod = &m.pod_set.pod;
        workload_pod(b->workload, &b->setup->shape, b->binds[i].index, pod, &b->arena);
        pod->node_name = b->binds[i].node;
        pod->resource_version++;
        const struct message bound = {.type = MSG_bind_result,
                                      .bind_result = {.uid = pod->uid,
                                                      .namespace_name = pod->namespace_name,
                                                      .name = pod->name,
                                                      .node_name = pod->node_name,
                                                      .bound = true,
                                                      .code = 201}};
        live_say(b->live, BINDER, &bound);
        live_stream(b->live, &m);
    }
    live_run(b->live);
}

static void delete_pods(struct bench *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct message m = {.type = MSG_pod_gone};
        struct pod pod;
        arena_reset(&b->arena);
        workload_pod(b->workload, &b->setup->shape, i, &pod, &b->arena);
        m.pod_gone = (struct pod_gone){
            .uid = pod.uid, .namespace_name = pod.namespace_name, .name = pod.name};
        live_stream(b->live, &m);
        if ((i + 1) % LOAD_BATCH == 0)
            live_run(b->live);
    }
    live_run(b->live);
}

static void make_room(struct bench *b)
{
    uint32_t room = workload_room(b->workload, &b->setup->shape);
    if (b->next - b->oldest <= room)
        return;
    delete_pods(b, b->oldest, b->next - room);
    b->oldest = b->next - room;
}

/* ---- a workload ---- */

static void place_own(struct bench *b)
{
    uint32_t own = workload_own(b->workload, &b->setup->shape);
    for (uint32_t i = 0; i < own; i++) {
        struct message m = {.type = MSG_pod_set};
        arena_reset(&b->arena);
        workload_pod(b->workload, &b->setup->shape, i, &m.pod_set.pod, &b->arena);
        m.pod_set.pod.node_name =
            cluster_node_name(workload_own_node(b->workload, &b->setup->shape, i), &b->arena);
        live_stream(b->live, &m);
        if ((i + 1) % LOAD_BATCH == 0)
            live_run(b->live);
    }
    live_run(b->live);
    b->oldest = b->next = own;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Of each decision; not a number when they were not run apart. */
static double wall_of(const struct live_cost *cost, uint32_t decisions)
{
    return cost->wall > 0 ? (double)cost->wall / decisions : (double)NAN;
}

/* Batches until time or pods run out. The first only warms up and says how large the others are. */
static void decide_all(struct bench *b)
{
    uint32_t batch = least(b->options->credit, workload_room(b->workload, &b->setup->shape));
    struct live_cost before, part;
    before = *live_cost(b->live);
    offer(b, least(batch, WARM_UP));
    bench_decide(b);
    live_cost_since(&part, &before, live_cost(b->live));
    confirm(b);
    b->counting = true;
    b->ended = b->failed = 0;
    double limit = b->options->seconds * 1e9;
    b->first_ns = (double)live_cost_total(&part) / least(batch, WARM_UP);
    double fit = limit / b->first_ns;
    if (fit < batch)
        batch = least(batch, fit > BATCH_LEAST ? (uint32_t)fit : BATCH_LEAST);
    while (b->ended < b->options->decisions && (double)live_cost_total(&b->spent) < limit) {
        uint32_t ended = b->ended;
        make_room(b);
        before = *live_cost(b->live);
        offer(b, least(batch, b->options->decisions - b->ended));
        bench_decide(b);
        live_cost_since(&part, &before, live_cost(b->live));
        live_cost_add(&b->spent, &part);
        b->best_ns = fmin(b->best_ns, wall_of(&part, b->ended - ended));
        before = *live_cost(b->live);
        confirm(b);
        live_cost_since(&part, &before, live_cost(b->live));
        b->confirm_ns += live_cost_total(&part);
        if (b->ended == ended)
            break; /* nothing is decided any more: the row will say so */
    }
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(struct bench *b, double q)
{
    if (b->sample_count == 0)
        return (double)NAN;
    return (double)b->samples[(size_t)(q * (double)(b->sample_count - 1))];
}

static void tell(struct bench *b, struct report *r)
{
    const struct live_cost *c = &b->spent;
    const struct shape *shape = &b->setup->shape;
    char places[20];
    double n = b->ended, workers = 0, codec = (double)c->codec;
    double all = (double)live_cost_total(c), longest = (double)live_cost_longest(c);
    for (uint32_t k = 0; k < b->setup->workers; k++) {
        workers += (double)c->worker_work[k];
        codec += (double)c->worker_codec[k];
    }
    snprintf(places, sizeof(places), "%016llx", (unsigned long long)b->fingerprint);
    qsort(b->samples, b->sample_count, sizeof(*b->samples), by_size);
    report_row(r, (struct cell[]){TEXT(b->workload->name),
                                  TEXT(b->setup->rule),
                                  NUMBER(shape->nodes),
                                  NUMBER((uint64_t)shape->nodes * shape->bound_per_node),
                                  NUMBER(workload_own(b->workload, shape)),
                                  NUMBER(b->setup->workers),
                                  NUMBER(b->ended),
                                  NUMBER(b->failed),
                                  NUMBER(all / n / 1000),
                                  NUMBER(quantile(b, 0.5) / 1000),
                                  NUMBER(quantile(b, 0.99) / 1000),
                                  NUMBER((double)c->work / n / 1000),
                                  NUMBER(workers / b->setup->workers / n / 1000),
                                  NUMBER(codec / n / 1000),
                                  NUMBER((double)b->confirm_ns / n / 1000),
                                  NUMBER(b->first_ns / 1000),
                                  NUMBER((double)c->messages / n),
                                  NUMBER(n * 1e9 / all),
                                  NUMBER(n * 1e9 / longest),
                                  NUMBER(1e9 / wall_of(c, b->ended)),
                                  NUMBER(1e9 / b->best_ns),
                                  NUMBER(n * shape->nodes * 1e3 / workers),
                                  TEXT(places)});
}

/* False when nothing could be decided. */
static bool measure_workload(struct bench *b, const struct workload *w, struct report *r)
{
    b->workload = w;
    b->counting = false;
    b->failed = 0;
    b->fingerprint = UINT64_C(14695981039346656037);
    b->fingerprinted = 0;
    b->sample_count = 0;
    b->spent = (struct live_cost){0};
    b->confirm_ns = 0;
    b->best_ns = (double)NAN;
    place_own(b);
    decide_all(b);
    delete_pods(b, 0, workload_own(w, &b->setup->shape));
    delete_pods(b, b->oldest, b->next);
    tell(b, r);
    b->workload = NULL;
    if (b->ended == 0)
        fprintf(stderr, "bench-core: nothing is decided of the workload %s\n", w->name);
    return b->ended > 0;
}

/* ---- a cluster ---- */

static bool load(struct bench *b)
{
    const struct shape *s = &b->setup->shape;
    struct message m;
    arena_reset(&b->arena);
    for (uint32_t i = 0; cluster_object(i, &m, &b->arena); i++)
        live_stream(b->live, &m);
    for (uint32_t i = 0; i < s->nodes; i++) {
        arena_reset(&b->arena);
        m = (struct message){.type = MSG_node_set};
        cluster_node(s, i, &m.node_set.node, &b->arena);
        live_stream(b->live, &m);
        if ((i + 1) % LOAD_BATCH == 0)
            live_run(b->live);
    }
    for (uint32_t j = 0; j < s->nodes * s->bound_per_node; j++) {
        arena_reset(&b->arena);
        m = (struct message){.type = MSG_pod_set};
        cluster_bound_pod(s, j, &m.pod_set.pod, &b->arena);
        live_stream(b->live, &m);
        if ((j + 1) % LOAD_BATCH == 0)
            live_run(b->live);
    }
    live_run(b->live);
    return live_ready(b->live);
}

void decisions_begin(struct report *r, const char *section, const char *title)
{
    report_section(r, section, title, columns, COLUMNS);
}

bool decisions_measure(const struct core_options *o, const struct decisions_setup *setup,
                       const char *workload_list, struct report *r)
{
    struct bench b = {.options = o, .setup = setup};
    b.live = live_new(&(struct live_options){.profiles = setup->profile,
                                             .profile_count = 1,
                                             .workers = setup->workers,
                                             .tie_break = o->tie_break,
                                             .credit = o->credit,
                                             .batch = o->batch,
                                             .bare = o->bare,
                                             .framed = o->framed,
                                             .codec_within = o->profiled,
                                             .heard = heard,
                                             .turned = turned,
                                             .context = &b});
    bool well = load(&b);
    if (!well)
        fprintf(stderr, "bench-core: the coordinator does not begin to decide\n");
    for (size_t i = 0; well && i < workload_count; i++)
        if (list_has(workload_list, workloads[i].name))
            well = measure_workload(&b, &workloads[i], r);
    live_free(&b.live);
    arena_free(&b.arena);
    memory_free(b.binds);
    memory_free(b.samples);
    return well;
}
