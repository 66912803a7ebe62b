/* shard: the door to a worker's share. What is told goes into the share; a question is answered
 * from a class of like pods, where one can tell, or as before, where nothing has changed, and else
 * by evaluating each node.
 *
 * What must stay true: whatever is kept of the share goes before the atoms that it holds. */
#include "scheduler/worker/shard.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "scheduler/worker/shard_inside.h"

struct shard *shard_new(void)
{
    struct shard *s = memory_take(sizeof(*s));
    share_start(&s->share);
    s->classes = classes_new(s->share.atoms);
    return s;
}

/* What is kept of the share. */
static void forget_answers(struct shard *s)
{
    classes_clear(s->classes);
    dry_results_free(&s->dry_results);
    repeats_clear(s->repeats);
    s->scratch.kept = false;
}

void shard_reset(struct shard *s, const struct profile *profiles, uint32_t count)
{
    forget_answers(s);
    s->changes++;
    share_clear(&s->share);
    frameworks_build(&s->frameworks, profiles, count);
}

void shard_free(struct shard **shard)
{
    struct shard *s = *shard;
    if (s == NULL)
        return;
    forget_answers(s);
    classes_free(&s->classes);
    repeats_free(&s->repeats);
    frameworks_clear(&s->frameworks);
    scratch_free(&s->scratch);
    timings_free(&s->timings);
    share_free(&s->share);
    memory_free(s);
    *shard = NULL;
}

/* ---- what is told ---- */

void shard_node_set(struct shard *s, const struct node *node)
{
    s->changes++;
    share_node_set(&s->share, node);
}

void shard_node_gone(struct shard *s, struct str name)
{
    s->changes++;
    share_node_gone(&s->share, name);
}

void shard_pod_set(struct shard *s, const struct pod *pod)
{
    s->changes++;
    share_pod_set(&s->share, pod);
}

void shard_pod_told(struct shard *s, const struct shard_pod *told)
{
    s->changes++;
    share_pod_told(&s->share, told);
}

void shard_pod_gone(struct shard *s, struct str uid)
{
    s->changes++;
    share_pod_gone(&s->share, uid);
}

void shard_pod_rename(struct shard *s, struct str from, struct str uid, struct str name)
{
    s->changes++;
    share_pod_rename(&s->share, from, uid, name);
}

void shard_nominated(struct shard *s, const struct pod *pod)
{
    s->changes++;
    share_nominated_set(&s->share, pod);
}

void shard_nominated_gone(struct shard *s, struct str uid)
{
    s->changes++;
    share_nominated_gone(&s->share, uid);
}

void shard_images(struct shard *s, const struct shard_images *images)
{
    s->changes++;
    share_facts_images(&s->share, images);
}

void shard_storage(struct shard *s, const struct shard_storage *told)
{
    s->changes++;
    share_storage(&s->share, told);
}

/* ---- what is asked ---- */

/* A decision begins; s->timing says whether it is timed. */
static void time_next(struct shard *s)
{
    s->timing = s->timings != NULL && timings_begin(s->timings) ? s->timings : NULL;
}

static void map(struct shard *s, const struct map_request *request, struct map_result *result,
                struct arena *a)
{
    *result = (struct map_result){
        .cycle = request->cycle, .round = request->round, .nodes = s->share.nodes.count};
    struct evaluation e = {.shard = s, .request = request, .result = result, .arena = a};
    e.cycle =
        (struct cycle){.pod = &request->pod,
                       .findings = &request->findings,
                       .atoms = s->share.atoms,
                       .nodes = &s->share.nodes,
                       .groups = &s->share.groups,
                       .terms = &s->share.terms,
                       .images = s->share.images,
                       .cluster_nodes = s->share.cluster_nodes,
                       .any_ip = s->share.any_ip,
                       .bare = request->bare,
                       .arena = &s->scratch.arena,
                       .timing = s->timing,
                       .framework = frameworks_find(&s->frameworks, request->pod.scheduler_name)};
    if (request->step == MAP_STEP_none || request->step == MAP_STEP_run) /* a run is another's */
        result->error = STR_LITERAL("the request asks for no step");
    if (e.cycle.framework == NULL)
        result->error =
            arena_print(a, "no profile is called \"%.*s\"", STR_ARG(request->pod.scheduler_name));
    if (s->timing != NULL)
        timings_profile(s->timing, e.cycle.framework);
    if (e.cycle.framework == NULL || result->error.len > 0 || classes_answer(s, request, result, a))
        return;
    if (repeats_answer(s, request, result, a)) {
        s->scratch.kept = false;
        return;
    }
    evaluate(&e);
    repeats_keep(s, request, result);
}

/* The coordinator wants to know where filters and scores were one pass. */
static void tell_parts(struct shard *s, const struct map_request *request,
                       struct map_result *result, struct arena *a)
{
    struct timed_parts *parts = arena_take(a, sizeof(*parts));
    timings_end(s->timing, parts);
    result->timed.at = parts;
    result->timed.count = request->step == MAP_STEP_map && s->filtered_ns == 0;
}

void shard_map(struct shard *s, const struct map_request *request, struct map_result *result,
               struct arena *a)
{
    s->filtered_ns = 0;
    time_next(s);
    map(s, request, result, a);
    if (s->timing != NULL)
        tell_parts(s, request, result, a);
}

void shard_map_apart(struct shard *s, const struct map_request *request, struct apart *apart,
                     struct map_result *result, struct arena *a)
{
    for (uint32_t i = 0; i < apart->count; i++)
        apart->at[i].passes = false;
    s->apart = apart;
    shard_map(s, request, result, a);
    s->apart = NULL;
}

uint32_t shard_row(const struct shard *s, struct str node)
{
    const struct node_entry *entry = map_get(s->share.by_name, node);
    return entry != NULL ? entry->row : NO_ROW;
}

void shard_run(struct shard *s, const struct run_question *q)
{
    time_next(s);
    s->changes++; /* pods are put, and perhaps taken off */
    classes_list(s, q);
    if (s->timing == NULL)
        return;
    q->out->timed.at = arena_take(q->arena, sizeof(struct timed_parts));
    timings_end(s->timing, &q->out->timed.at[q->out->timed.count++]);
}

void shard_run_learn(struct shard *s, const struct run_puts *puts, const bool *taken,
                     int64_t placed)
{
    classes_learn(s->classes, puts, taken, placed);
}

/* ---- times and numbers ---- */

void shard_set_clock(struct shard *s, struct moment (*clock)(void))
{
    s->clock = clock;
}

void shard_time_plugins(struct shard *s, struct moment (*clock)(void))
{
    timings_free(&s->timings);
    s->timings = clock != NULL ? timings_new(clock) : NULL;
}

int64_t shard_filtered_ns(const struct shard *s)
{
    return s->filtered_ns;
}

uint32_t shard_nodes(const struct shard *s)
{
    return s->share.nodes.count;
}

uint32_t shard_pods(const struct shard *s)
{
    return (uint32_t)s->share.by_uid.count;
}

uint32_t shard_ghosts(const struct shard *s)
{
    return s->share.ghosts;
}

uint32_t shard_nominations(const struct shard *s)
{
    return s->share.nominated_count;
}

uint64_t shard_dry_run_rows(const struct shard *s)
{
    return s->dry_run_rows;
}

uint64_t shard_repeated(const struct shard *s)
{
    return s->repeated;
}

uint32_t shard_classes(const struct shard *s, size_t *bytes)
{
    const struct classes_status status = classes_status(s->classes);
    *bytes = status.bytes;
    return status.count;
}
