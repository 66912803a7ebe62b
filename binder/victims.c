/* victims: each pod that is to go is a small state machine over its one job: look, mark, delete.
 * The one idea: a pod is seen before it is deleted, in the answer to the mark or in that to a look,
 * because nothing is kept here that could tell what it is now. What must stay true: no write
 * without the UID as its precondition, no DELETE for a pod that was seen to terminate or was not
 * seen, after a request without an answer the pod is looked at again, and a target that is not on
 * the wire has nobody in its list who has given up. */
#include "binder/victims.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/writes/writes.h"

#include <inttypes.h>

struct target {
    struct job job; /* first */
    struct victims *all;
    struct str uid, namespace_name, name; /* in names */
    struct arena names;
    struct want *first;
    int failures;
    bool doubt;            /* a DELETE may have been carried out */
    bool looked;           /* it was there then */
    struct str version;    /* resourceVersion when it was chosen or first looked at; in names */
    struct writes_pod pod; /* as last looked at, or as the scheduler has it; in seen */
    struct arena seen;
};

struct victims {
    struct victims_options options;
    struct lanes *lanes;
    struct map *targets; /* uid -> target */
    struct random random;
    struct victims_stats stats;
};

struct victims *victims_new(const struct victims_options *options, struct lanes *lanes)
{
    struct victims *v = memory_take(sizeof(*v));
    v->options = *options;
    v->lanes = lanes;
    v->targets = map_new();
    v->random.state = options->seed;
    return v;
}

/* ---- targets and who wants them ---- */

static void target_free(struct target *t)
{
    if (t->job.place != JOB_idle)
        lanes_remove(t->all->lanes, &t->job);
    must(map_remove(t->all->targets, t->uid) == t);
    arena_free(&t->seen);
    arena_free(&t->names);
    memory_free(t);
}

/* For whom it is done: the first that has not given up; NULL when all have. */
static const struct want *wanted_by(const struct target *t)
{
    const struct want *want = t->first;
    while (want != NULL && want->withdrawn)
        want = want->next;
    return want;
}

static void end(struct target *t, struct instant at, const char *problem)
{
    struct victims *v = t->all;
    struct want *want = t->first, *next;
    for (struct want *w = want; w != NULL; w = w->next)
        w->target = NULL;
    target_free(t);
    for (; want != NULL; want = next) {
        next = want->next;
        v->options.ended(v->options.owner, at, want, problem);
    }
}

/* It terminates or is gone, and that was us. */
static void end_deleted(struct target *t, struct instant at)
{
    struct victims *v = t->all;
    const struct want *want = wanted_by(t) ? wanted_by(t) : t->first;
    v->stats.deleted++;
    if (want != NULL)
        v->options.deleted(v->options.owner, at, want, t->version);
    end(t, at, "");
}

/* It terminates or is gone, and nothing of ours is known to have done that. */
static void end_without_us(struct target *t, struct instant at)
{
    if (t->doubt) {
        end_deleted(t, at);
        return;
    }
    t->all->stats.spared++;
    end(t, at, "");
}

static void end_failed(struct target *t, struct instant at, const struct kube_response *r)
{
    struct buffer problem = {0};
    t->all->stats.failed++;
    reason_of(r, &problem);
    end(t, at, problem.at);
    buffer_free(&problem);
}

/* ---- steps ---- */

static const struct job_type look_job, mark_job, delete_job;

/* Who has given up waited only for the request that has just been answered. */
static void let_go(struct target *t, struct instant at)
{
    struct victims *v = t->all;
    struct want **link = &t->first, *want;
    while ((want = *link) != NULL) {
        if (!want->withdrawn) {
            link = &want->next;
            continue;
        }
        *link = want->next;
        want->target = NULL;
        v->options.ended(v->options.owner, at, want, "");
    }
}

/* The next step, if anybody still wants it. */
static void go_on(struct target *t, struct instant at, const struct job_type *step,
                  struct moment due)
{
    let_go(t, at);
    if (t->first == NULL) {
        target_free(t);
        return;
    }
    t->job.type = step;
    lanes_again(t->all->lanes, LANE_delete, &t->job, due);
}

/* A failure that may pass: the step again after a while, or the end. */
static void go_back(struct target *t, struct instant at, const struct job_type *step,
                    const struct kube_response *r)
{
    if (++t->failures >= PAUSE_TRIES_MAX)
        end_failed(t, at, r);
    else
        go_on(t, at, step, pause_short(&t->all->random, at.now, t->failures, r->retry_after_s));
}

/* As upstream's retries, and what its client tries again by itself. */
static bool passes(const struct kube_response *r)
{
    return r->status == 0 || r->status == 409 || r->status == 429 || r->status >= 500;
}

static void tell_forbidden(const struct target *t, const char *verb, const char *resource,
                           const struct kube_response *r)
{
    const struct victims_options *o = &t->all->options;
    if (r->status == 403 && o->forbidden)
        o->forbidden(o->owner, verb, resource, t->namespace_name, r);
}

static void path_of(const struct target *t, struct draft *draft)
{
    writes_path(&draft->path, "/api/v1", t->namespace_name, "pods", t->name);
}

static void prepare_look(struct job *job, struct instant at, struct draft *draft)
{
    (void)at;
    draft->method = KUBE_GET;
    path_of((struct target *)job, draft);
}

static struct writes_preemptor preemptor_of(const struct want *want)
{
    const struct preempt *p = want->preempt;
    const char *kind = p->group_uid.len == 0 ? "pod"
                       : p->for_tree         ? "compositepodgroup"
                                             : "podgroup";
    return (struct writes_preemptor){p->pod.scheduler_name, kind};
}

static void prepare_mark(struct job *job, struct instant at, struct draft *draft)
{
    const struct target *t = (const struct target *)job;
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    path_of(t, draft);
    buffer_add_text(&draft->path, "/status");
    const struct writes_preemptor by = preemptor_of(wanted_by(t));
    must(writes_disruption(&draft->body, &t->pod, &by, at.wall_us));
}

static void prepare_delete(struct job *job, struct instant at, struct draft *draft)
{
    const struct target *t = (const struct target *)job;
    (void)at;
    draft->method = KUBE_DELETE;
    draft->content_type = WRITES_JSON;
    path_of(t, draft);
    writes_deletion(&draft->body, t->uid);
}

/* The pod is there and does not terminate. */
static void mark_or_delete(struct target *t, struct instant at)
{
    struct buffer patch = {0};
    const struct want *want = wanted_by(t);
    bool marked = want == NULL;
    if (want != NULL) {
        const struct writes_preemptor by = preemptor_of(want);
        marked = !writes_disruption(&patch, &t->pod, &by, 0);
    }
    buffer_free(&patch);
    go_on(t, at, marked ? &delete_job : &mark_job, at.now);
}

static void looked(struct job *job, struct instant at, const struct kube_response *r)
{
    struct target *t = (struct target *)job;
    tell_forbidden(t, "get", "pods", r);
    arena_reset(&t->seen);
    if (r->status == 404) {
        end_without_us(t, at);
    } else if (r->status == 200 && writes_pod_read(r->body, &t->pod, &t->seen)) {
        t->looked = true;
        if (t->version.len == 0)
            t->version = arena_copy(&t->names, t->pod.resource_version);
        if (t->pod.deleting || !str_equal(t->pod.uid, t->uid))
            end_without_us(t, at);
        else
            mark_or_delete(t, at);
    } else if (r->status == 200 || passes(r)) {
        go_back(t, at, &look_job, r);
    } else {
        end_failed(t, at, r);
    }
}

/* The answer is the pod as it is now: who terminates is left alone. */
static void mark_answered(struct target *t, struct instant at, const struct kube_response *r)
{
    struct arena seen = {0};
    struct writes_pod pod;
    bool is_it = writes_pod_read(r->body, &pod, &seen) && str_equal(pod.uid, t->uid);
    bool deleting = is_it && pod.deleting;
    arena_free(&seen);
    if (deleting)
        end_without_us(t, at);
    else
        go_on(t, at, is_it || t->looked ? &delete_job : &look_job, at.now);
}

/* After a conflict or without an answer it may be another pod, or marked already: look again. 422
 * is what the server says when the pod has another UID than the patch. */
static void marked(struct job *job, struct instant at, const struct kube_response *r)
{
    struct target *t = (struct target *)job;
    tell_forbidden(t, "patch", "pods/status", r);
    if (answer_is_good(r))
        mark_answered(t, at, r);
    else if (r->status == 404)
        end_without_us(t, at);
    else if (passes(r) || r->status == 422)
        go_back(t, at, &look_job, r);
    else
        end_failed(t, at, r);
}

static void deleted(struct job *job, struct instant at, const struct kube_response *r)
{
    struct target *t = (struct target *)job;
    tell_forbidden(t, "delete", "pods", r);
    t->doubt = t->doubt || answer_is_doubtful(r);
    if (answer_is_good(r))
        end_deleted(t, at);
    else if (r->status == 404)
        end_without_us(t, at);
    else if (passes(r))
        go_back(t, at, &look_job, r);
    else
        end_failed(t, at, r);
}

static const struct job_type look_job = {
    .fenced = false, .timeout = {5000000000}, .prepare = prepare_look, .answered = looked};
static const struct job_type mark_job = {
    .fenced = true, .timeout = {5000000000}, .prepare = prepare_mark, .answered = marked};
static const struct job_type delete_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_delete, .answered = deleted};

/* ---- wants ---- */

/* The scheduler knows it well enough to have it marked at once. */
static void take_description(struct target *t, const struct victim *victim)
{
    struct victim known;
    codec_copy(&victim_record, &known, victim, &t->seen);
    t->pod = (struct writes_pod){
        .uid = t->uid, .generation = known.generation, .condition_types = known.condition_types};
    t->version = arena_print(&t->names, "%" PRId64, victim->resource_version);
    t->job.type = &mark_job;
}

static struct target *target_new(struct victims *v, const struct victim *victim)
{
    struct target *t = memory_take(sizeof(*t));
    t->all = v;
    t->uid = arena_copy(&t->names, victim->uid);
    t->namespace_name = arena_copy(&t->names, victim->namespace_name);
    t->name = arena_copy(&t->names, victim->name);
    t->job.type = &look_job;
    if (victim->unmarked)
        take_description(t, victim);
    must(map_set(v->targets, t->uid, t) == NULL);
    return t;
}

/* False: the lane is full. */
static bool set_out(struct target *t, struct instant at, bool ahead)
{
    struct lanes *lanes = t->all->lanes;
    if (!ahead)
        return lanes_add(lanes, LANE_delete, &t->job, at.now);
    t->job.since = at.now;
    lanes_again(lanes, LANE_delete, &t->job, at.now);
    return true;
}

bool victims_ask(struct victims *v, struct instant at, struct want *want, bool ahead)
{
    struct target *t = map_get(v->targets, want->victim->uid);
    struct want **tail;
    if (t == NULL) {
        t = target_new(v, want->victim);
        if (!set_out(t, at, ahead)) {
            target_free(t);
            return false;
        }
    }
    for (tail = &t->first; *tail != NULL; tail = &(*tail)->next)
        continue;
    *tail = want;
    want->next = NULL;
    want->withdrawn = false;
    want->target = t;
    return true;
}

bool victims_leave(struct want *want)
{
    struct target *t = want->target;
    struct want **link;
    want->withdrawn = true;
    if (t->job.place == JOB_sent)
        return false;
    for (link = &t->first; *link != want; link = &(*link)->next)
        must(*link != NULL);
    *link = want->next;
    want->target = NULL;
    if (t->first == NULL)
        target_free(t);
    return true;
}

/* ---- life ---- */

void victims_clear(struct victims *v)
{
    size_t place = 0;
    struct str uid;
    void *value;
    while (map_next(v->targets, &place, &uid, &value))
        target_free(value);
}

void victims_free(struct victims **victims)
{
    struct victims *v = *victims;
    if (v == NULL)
        return;
    victims_clear(v);
    map_free(&v->targets);
    memory_free(v);
    *victims = NULL;
}

struct victims_stats victims_stats(const struct victims *v)
{
    return v->stats;
}
