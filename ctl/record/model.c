/* model: entries in their order, and between them the attempts that are due. The one idea: what the
 * API server said is applied but for what the recorded decisions have made of it, which is put in
 * by the model's own. What must stay true: time only goes on, and whoever waits is tried when the
 * recorded queue tried it, or when something has changed and its backoff is over. */
#include "ctl/record/model.h"
#include "ctl/attempt.h"
#include "ctl/group.h"
#include "ctl/record/model_inside.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/requests.h"
#include "scheduler/table/resource.h"

#include <stdlib.h>

#define SAMPLE_US 100000 /* of the day, between samples */

static const struct scheduler_config no_config;

struct model *model_new(const struct model_options *options)
{
    struct model *m = memory_take(sizeof(*m));
    m->world = world_new(options->profiles, options->profile_count, 1);
    if (options->profile_count > 0)
        m->features = options->profiles[0].features;
    m->initial_us = options->backoff_initial_s * 1000000;
    m->most_us = options->backoff_max_s * 1000000;
    m->ties_first = options->ties_first;
    if (options->series)
        m->series.at = memory_take_array(MODEL_SAMPLES, sizeof(*m->series.at));
    m->series.step_us = SAMPLE_US;
    m->fates = map_new();
    m->nodes = map_new();
    m->claims = map_new();
    m->ahead = map_new();
    return m;
}

static void free_values(struct map **all)
{
    size_t at = 0;
    void *value;
    while (map_next(*all, &at, NULL, &value))
        memory_free(value);
    map_free(all);
}

void model_free(struct model **model)
{
    struct model *m = *model;
    if (m == NULL)
        return;
    world_free(&m->world);
    free_values(&m->fates);
    free_values(&m->nodes);
    free_values(&m->ahead);
    map_free(&m->claims);
    memory_free(m->room.at);
    memory_free(m->waiting.at);
    memory_free(m->spared.at);
    memory_free(m->series.at);
    arena_free(&m->memory);
    arena_free(&m->step);
    memory_free(m);
    *model = NULL;
}

const struct map *model_fates(const struct model *m)
{
    return m->fates;
}

void model_add(struct fates *all, struct fate *f)
{
    if (all->count == all->room) {
        all->room = 2 * all->room + 16;
        all->at = memory_resize(all->at, all->room * sizeof(struct fate *));
    }
    all->at[all->count++] = f;
}

/* ---- attempts ---- */

/* Whoever has no place may have one now. */
void model_wake(struct model *m)
{
    for (size_t i = 0; i < m->waiting.count; i++)
        m->waiting.at[i]->woken = true;
}

static struct str recorded_node(void *context, const struct pod *pod)
{
    const char *node = map_get(((struct model *)context)->ahead, pod->uid);
    return node != NULL ? str_of(node) : (struct str){NULL, 0};
}

/* They may have to go; who did is looked at behind the attempt. */
static void told(void *context, const struct report *r)
{
    struct model *m = context;
    for (uint32_t i = 0; i < r->victim_count; i++) {
        struct fate *f = map_get(m->fates, r->victims[i].uid);
        if (f == NULL)
            continue;
        model_add(&m->room, f);
        f->evicted_by = arena_copy(&m->memory, r->pod);
    }
}

static void count_evicted(struct model *m)
{
    for (size_t i = 0; i < m->room.count; i++) {
        struct fate *f = m->room.at[i];
        struct pod there;
        if (f->evicted || (world_pod(m->world, f->space, f->name, &there, &m->step) &&
                           str_equal(there.uid, f->uid)))
            continue;
        f->evicted = true;
        f->waits = false;
        model_wake(m);
    }
    m->room.count = 0;
}

static void look(struct model *m, struct fate *f)
{
    struct pod pod;
    f->attempts++;
    f->tried_us = m->now_us;
    f->woken = false;
    if (f->evicted || !world_pod(m->world, f->space, f->name, &pod, &m->step) ||
        pod.node_name.len == 0)
        return;
    f->node = arena_copy(&m->memory, pod.node_name);
    f->placed_us = m->now_us;
    f->waits = false;
}

static bool find_group(struct model *m, const struct pod *pod, struct gang *group)
{
    const struct framework *framework = world_framework(m->world, pod);
    const struct gang named = {
        .api = pod->gang_api, .namespace_name = pod->namespace_name, .name = pod->gang};
    if (pod->gang.len == 0 || framework == NULL || framework->profile.gangs == GANGS_off)
        return false;
    if (str_is(pod->gang_api, KUBE_GANG_BUILT_IN) && !framework->profile.gang_built_in)
        return false;
    return world_group(m->world, &named, group, &m->step);
}

static void look_at_members(struct model *m, const struct fate *one)
{
    for (size_t i = 0; i < m->waiting.count; i++) {
        struct fate *f = m->waiting.at[i];
        if (f->waits && str_equal(f->gang, one->gang) && str_equal(f->space, one->space) &&
            str_equal(f->gang_api, one->gang_api))
            look(m, f);
    }
}

void model_try(struct model *m, struct fate *f)
{
    struct report r = {0};
    struct gang group;
    struct pod pod;
    const struct attempts attempts = {.world = m->world,
                                      .config = &no_config,
                                      .output = {.told = told, .context = m},
                                      .arena = &m->step,
                                      .prefer = m->ties_first ? NULL : recorded_node,
                                      .prefer_context = m,
                                      .omit_nodes = true,
                                      .after = AFTER_evict};
    if (!f->waits || !world_pod(m->world, f->space, f->name, &pod, &m->step))
        return;
    if (find_group(m, &pod, &group)) {
        attempt_group(&attempts, &group, &r);
        count_evicted(m);
        look_at_members(m, f);
    } else {
        attempt(&attempts, &pod, &r);
        count_evicted(m);
        look(m, f);
    }
    arena_reset(&m->step);
}

static int64_t due_us(const struct model *m, const struct fate *f)
{
    int64_t wait = m->initial_us;
    for (int64_t i = 1; i < f->attempts && wait < m->most_us; i++)
        wait *= 2;
    return f->tried_us + (wait < m->most_us ? wait : m->most_us);
}

/* Who is tried first of two that are due: as the queue sorts. */
static bool goes_before(const struct fate *a, const struct fate *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->seen_us != b->seen_us)
        return a->seen_us < b->seen_us;
    return str_compare(a->uid, b->uid) < 0;
}

/* Of those that have been tried, and may have a place now, whose backoff is over first. */
static struct fate *next_due(struct model *m, int64_t until_us)
{
    struct fate *next = NULL;
    for (size_t i = 0; i < m->waiting.count; i++) {
        struct fate *f = m->waiting.at[i];
        if (!f->waits)
            m->waiting.at[i--] = m->waiting.at[--m->waiting.count];
        if (!f->waits || !f->woken || f->attempts == 0 || due_us(m, f) > until_us)
            continue;
        bool now = due_us(m, f) <= m->now_us, other = next != NULL && due_us(m, next) <= m->now_us;
        bool first = next == NULL || (now && !other) || (now && other && goes_before(f, next)) ||
                     (!now && !other && due_us(m, f) < due_us(m, next));
        next = first ? f : next;
    }
    return next;
}

void model_run(struct model *m, int64_t until_us)
{
    struct fate *f;
    while ((f = next_due(m, until_us)) != NULL) {
        model_pass(m, due_us(m, f));
        model_try(m, f);
    }
    model_pass(m, until_us);
}

/* ---- room ---- */

static void add_room(const struct model *m, struct model_node *total, bool asked)
{
    size_t at = 0;
    void *value;
    while (map_next(asked ? m->fates : m->nodes, &at, NULL, &value)) {
        const struct fate *f = value;
        const struct model_node *n = value;
        if (!asked) {
            total->cpu += n->cpu;
            total->memory += n->memory;
        } else if (f->node.len > 0 && !f->evicted && !f->gone) {
            total->cpu += f->cpu;
            total->memory += f->memory;
        }
    }
}

/* What the pods that came ask for, on average. */
static struct model_node average_ask(const struct model *m)
{
    struct model_node sum = {0};
    int64_t count = 0;
    size_t at = 0;
    void *value;
    while (map_next(m->fates, &at, NULL, &value)) {
        const struct fate *f = value;
        if (!f->ours || f->skipped)
            continue;
        sum.cpu += f->cpu;
        sum.memory += f->memory;
        count++;
    }
    sum.cpu = count > 0 ? sum.cpu / count : 0;
    sum.memory = count > 0 ? sum.memory / count : 0;
    return sum;
}

static int64_t copies(const struct model_node *free, const struct model_node *ask)
{
    int64_t of_cpu = ask->cpu > 0 ? free->cpu / ask->cpu : INT64_MAX;
    int64_t of_memory = ask->memory > 0 ? free->memory / ask->memory : INT64_MAX;
    int64_t fit = of_cpu < of_memory ? of_cpu : of_memory;
    return fit > 0 && fit < INT64_MAX ? fit : 0;
}

static double fragmentation(const struct model *m)
{
    struct model_node ask = average_ask(m), all = {0};
    int64_t fit = 0;
    size_t at = 0;
    void *value;
    while (map_next(m->fates, &at, NULL, &value)) {
        const struct fate *f = value;
        struct model_node *n = f->node.len > 0 ? map_get(m->nodes, f->node) : NULL;
        if (n == NULL || f->evicted || f->gone)
            continue;
        n->used_cpu += f->cpu;
        n->used_memory += f->memory;
    }
    at = 0;
    while (map_next(m->nodes, &at, NULL, &value)) {
        struct model_node *n = value;
        struct model_node left = {.cpu = n->cpu - n->used_cpu,
                                  .memory = n->memory - n->used_memory};
        n->used_cpu = n->used_memory = 0;
        all.cpu += left.cpu > 0 ? left.cpu : 0;
        all.memory += left.memory > 0 ? left.memory : 0;
        fit += copies(&left, &ask);
    }
    int64_t ideal = copies(&all, &ask);
    return ideal > fit ? 1 - (double)fit / (double)ideal : 0;
}

/* When there are many, every second one is left out, and so are further ones. */
static void keep_sample(struct model *m, double cpu, double memory_share)
{
    struct model_series *s = &m->series;
    if (s->at == NULL || m->now_us < s->next_us)
        return;
    if (s->count == MODEL_SAMPLES) {
        for (size_t i = 0; i < MODEL_SAMPLES / 2; i++)
            s->at[i] = s->at[2 * i];
        s->count = MODEL_SAMPLES / 2;
        s->step_us *= 2;
    }
    s->at[s->count++] = (struct model_sample){
        .at_us = m->now_us, .cpu = cpu, .memory = memory_share, .fragmentation = fragmentation(m)};
    s->next_us = m->now_us + s->step_us;
}

/* Ten times a second of the day. */
void model_pass(struct model *m, int64_t to_us)
{
    if (to_us > m->now_us)
        m->now_us = to_us;
    if (!m->complete || m->now_us < m->sample_us)
        return;
    struct model_node all = {0}, asked = {0};
    add_room(m, &all, false);
    add_room(m, &asked, true);
    m->sample_us = m->now_us + SAMPLE_US;
    if (all.cpu <= 0 || all.memory <= 0)
        return;
    m->samples++;
    m->cpu += (double)asked.cpu / (double)all.cpu;
    m->memory_share += (double)asked.memory / (double)all.memory;
    keep_sample(m, (double)asked.cpu / (double)all.cpu, (double)asked.memory / (double)all.memory);
}

const struct model_series *model_series(const struct model *m)
{
    return &m->series;
}

struct model_room model_room(const struct model *m)
{
    double samples = m->samples > 0 ? (double)m->samples : 1;
    return (struct model_room){.cpu = m->cpu / samples,
                               .memory = m->memory_share / samples,
                               .fragmentation = fragmentation(m)};
}

void model_end(struct model *m)
{
    m->sample_us = m->now_us; /* as it is at the end */
    model_run(m, m->now_us);
}
