/* prebind: the nomination, then the resource claims (reserving), then one job that goes through its
 * passes: over the volumes that are chosen and over the claims that are to be provisioned; first
 * writing, then looking. The one idea: a claim that is being worked on is an index and a pass, and
 * each answer says what comes next. What must stay true: an object is put back only as it was
 * decided on, an answer that tells nothing is "not yet", and nothing is waited for beyond the
 * bind's time. */
#include "binder/prebind.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "binder/reserving.h"
#include "binder/volume_check.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#define ROUND_MS 1000

enum pass { PASS_volumes, PASS_claims };

struct prebind {
    struct job job; /* first */
    struct prebind_options options;
    const struct bind *bind;
    enum pass pass;
    uint32_t index;              /* in bind->claims */
    struct reserving *reserving; /* NULL: the bind has no resource claims */
    bool reserves;               /* it is at work */
    bool cancelled;
    int failures; /* of the nomination, or in a row */
    struct moment give_up;
    struct buffer body; /* to be put */
    struct buffer text; /* why it failed */
    /* looking */
    struct moment deadline, round; /* when the present round began or is to begin */
    struct arena memory;           /* of the round: */
    struct node node;
    bool csi_known;
    struct csi_node csi;
    struct volume volume;
    struct claim claim;
};

static const struct job_type nominate_job, get_job, put_job, node_job, csi_job, pod_job, volume_job,
    claim_job;

/* ---- what the claim is about ---- */

static const struct claim_binding *current(const struct prebind *p)
{
    return &p->bind->claims.at[p->index];
}

static bool is_in_pass(const struct prebind *p)
{
    return (current(p)->volume_name.len > 0) == (p->pass == PASS_volumes);
}

/* Moves on to the first claim from index on that the pass, or the next one, is about. */
static bool find(struct prebind *p)
{
    for (;; p->pass++, p->index = 0) {
        while (p->index < p->bind->claims.count && !is_in_pass(p))
            p->index++;
        if (p->index < p->bind->claims.count)
            return true;
        if (p->pass == PASS_claims)
            return false;
    }
}

static void rewind_passes(struct prebind *p)
{
    p->pass = PASS_volumes;
    p->index = 0;
}

static void volume_path(struct draft *draft, struct str name)
{
    writes_path(&draft->path, "/api/v1", (struct str){0}, "persistentvolumes", name);
}

static void claim_path(const struct prebind *p, struct draft *draft)
{
    writes_path(&draft->path, "/api/v1", current(p)->namespace_name, "persistentvolumeclaims",
                current(p)->name);
}

/* ---- the end ---- */

/* The last thing that is done with it: p is gone afterwards. */
static void end(struct prebind *p, struct instant at, const struct prebind_end *how)
{
    p->options.ended(p->options.owner, at, how);
}

/* Why is in p->text. */
static void fail(struct prebind *p, struct instant at, int code)
{
    end(p, at,
        &(struct prebind_end){
            .code = code, .plugin = BIND_PLUGIN_volume_binding, .message = buffer_str(&p->text)});
}

/* True when it was given up while a write was on the wire; then this is the end. */
static bool was_cancelled(struct prebind *p, struct instant at)
{
    bool cancelled = p->cancelled;
    if (cancelled)
        end(p, at, &(struct prebind_end){.cancelled = true});
    return cancelled;
}

static void go(struct prebind *p, const struct job_type *step, struct moment due)
{
    p->job.type = step;
    p->job.patient = false;
    lanes_again(p->options.lanes, LANE_volume, &p->job, due);
}

static void tell_forbidden(const struct prebind *p, const char *verb, const char *resource,
                           const struct kube_response *r)
{
    const struct prebind_options *o = &p->options;
    if (r->status == 403 && o->forbidden)
        o->forbidden(o->forbidden_owner, verb, resource, p->bind->namespace_name, r);
}

/* ---- looking: a round every second ---- */

static void begin_round(struct prebind *p, struct moment due)
{
    arena_reset(&p->memory);
    p->csi_known = false;
    rewind_passes(p);
    p->round = due;
    go(p, &node_job, due);
    p->job.patient = true; /* when rounds take longer than a second, everybody gets one in turn */
    p->job.since = (struct moment){0};
}

/* Not all are bound yet. */
static void wait_more(struct prebind *p, struct instant at)
{
    struct moment due = moment_after(p->round, span_of_ms(ROUND_MS));
    if (moment_reached(at.now, due))
        due = at.now;
    begin_round(p, moment_earlier(due, p->deadline));
}

/* A check failed; why, in upstream's words, is in p->text. */
static void refuse(struct prebind *p, struct instant at, bool gone)
{
    struct str why = arena_print(&p->memory, "binding volumes: %s", p->text.at);
    end(p, at,
        &(struct prebind_end){.gone = gone, .plugin = BIND_PLUGIN_volume_binding, .message = why});
}

static void look_at_next(struct prebind *p, struct instant at)
{
    if (find(p))
        go(p, p->pass == PASS_volumes ? &volume_job : &claim_job, at.now);
    else
        end(p, at, &(struct prebind_end){.ready = true});
}

/* Reads an answer's object into a record; NULL when it tells nothing. */
static struct kube_json *parse(const struct kube_response *r)
{
    struct arena a = {0};
    struct kube_json *json = r->status == 200 ? kube_json_parse(r->body, NULL, &a) : NULL;
    arena_free(&a);
    return json;
}

static void prepare_node(struct job *job, struct instant at, struct draft *draft)
{
    const struct prebind *p = (const struct prebind *)job;
    (void)at;
    draft->method = KUBE_GET;
    writes_path(&draft->path, "/api/v1", (struct str){0}, "nodes", p->bind->node_name);
}

static void node_seen(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    struct str node = p->bind->node_name, error;
    buffer_reset(&p->text);
    tell_forbidden(p, "get", "nodes", r);
    if (moment_reached(at.now, p->deadline)) {
        buffer_add_text(&p->text, "context deadline exceeded");
        refuse(p, at, false);
        return;
    }
    if (r->status == 404) {
        buffer_print(&p->text, "failed to get node \"%.*s\": node \"%.*s\" not found",
                     STR_ARG(node), STR_ARG(node));
        refuse(p, at, false);
        return;
    }
    struct kube_json *json = parse(r);
    if (json != NULL && kube_object_node(json, &p->node, &p->memory, &error))
        go(p, &pod_job, at.now);
    else
        wait_more(p, at);
    kube_json_free(&json);
}

static void prepare_pod(struct job *job, struct instant at, struct draft *draft)
{
    const struct bind *bind = ((const struct prebind *)job)->bind;
    (void)at;
    draft->method = KUBE_GET;
    writes_path(&draft->path, "/api/v1", bind->namespace_name, "pods", bind->name);
}

static void pod_seen(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    struct writes_pod pod;
    bool known = r->status == 200 && writes_pod_read(r->body, &pod, &p->memory);
    buffer_reset(&p->text);
    tell_forbidden(p, "get", "pods", r);
    if (r->status == 404 || (known && !str_equal(pod.uid, p->bind->uid))) {
        buffer_print(&p->text, "pod does not exist any more: pod \"%.*s\" not found",
                     STR_ARG(p->bind->name));
        refuse(p, at, true);
    } else if (known) {
        look_at_next(p, at);
    } else {
        wait_more(p, at);
    }
}

static void prepare_csi(struct job *job, struct instant at, struct draft *draft)
{
    const struct prebind *p = (const struct prebind *)job;
    (void)at;
    draft->method = KUBE_GET;
    writes_path(&draft->path, "/apis/storage.k8s.io/v1", (struct str){0}, "csinodes",
                p->bind->node_name);
}

/* Volume and claim have been seen. */
static void judge(struct prebind *p, struct instant at)
{
    const struct volume_check q = {.volume = &p->volume,
                                   .claim = &p->claim,
                                   .node = &p->node,
                                   .csi = &p->csi,
                                   .binding = current(p),
                                   .node_name = p->bind->node_name};
    buffer_reset(&p->text);
    if (p->volume.migrated_plugin.len > 0 && !p->csi_known) {
        go(p, &csi_job, at.now);
        return;
    }
    switch (volume_check(&q, &p->text)) {
    case VOLUME_refused: refuse(p, at, false); break;
    case VOLUME_not_yet: wait_more(p, at); break;
    case VOLUME_bound:
        p->index++;
        look_at_next(p, at);
        break;
    }
}

static void csi_seen(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    struct str error;
    tell_forbidden(p, "get", "csinodes", r);
    struct kube_json *json = parse(r);
    bool known = json != NULL && kube_object_csi_node(json, &p->csi, &p->memory, &error);
    kube_json_free(&json);
    if (!known)
        p->csi = (struct csi_node){0};
    p->csi_known = known || r->status == 404;
    if (p->csi_known)
        judge(p, at);
    else
        wait_more(p, at);
}

/* In the pass over volumes the chosen one, else the one that a claim is bound to by now. */
static void prepare_volume(struct job *job, struct instant at, struct draft *draft)
{
    const struct prebind *p = (const struct prebind *)job;
    (void)at;
    draft->method = KUBE_GET;
    volume_path(draft, p->pass == PASS_volumes ? current(p)->volume_name : p->claim.volume_name);
}

static void volume_seen(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    struct str error;
    buffer_reset(&p->text);
    tell_forbidden(p, "get", "persistentvolumes", r);
    if (r->status == 404 && p->pass == PASS_volumes) {
        buffer_print(&p->text, "failed to check binding: persistentvolumes \"%.*s\" not found",
                     STR_ARG(current(p)->volume_name));
        refuse(p, at, false);
        return;
    }
    struct kube_json *json = parse(r);
    bool known = json != NULL && kube_object_volume(json, &p->volume, &p->memory, &error);
    kube_json_free(&json);
    if (!known)
        wait_more(p, at);
    else if (p->pass == PASS_volumes)
        go(p, &claim_job, at.now);
    else
        judge(p, at);
}

static void prepare_claim(struct job *job, struct instant at, struct draft *draft)
{
    (void)at;
    draft->method = KUBE_GET;
    claim_path((const struct prebind *)job, draft);
}

static void claim_seen(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    struct str error;
    buffer_reset(&p->text);
    tell_forbidden(p, "get", "persistentvolumeclaims", r);
    if (r->status == 404) {
        buffer_print(&p->text, "failed to check %s: persistentvolumeclaims \"%.*s/%.*s\" not found",
                     p->pass == PASS_volumes ? "binding" : "provisioning pvc",
                     STR_ARG(current(p)->namespace_name), STR_ARG(current(p)->name));
        refuse(p, at, false);
        return;
    }
    struct kube_json *json = parse(r);
    bool known = json != NULL && kube_object_claim(json, &p->claim, &p->memory, &error);
    bool annotated = kube_json_path(json, "metadata.annotations") != NULL;
    kube_json_free(&json);
    if (known && p->pass == PASS_volumes)
        judge(p, at);
    else if (known &&
             !volume_check_selected(&p->claim, annotated, current(p), p->bind->node_name, &p->text))
        refuse(p, at, false);
    else if (known && p->claim.volume_name.len > 0)
        go(p, &volume_job, at.now);
    else
        wait_more(p, at);
}

#define LOOK_JOB(name, thing)                                                                      \
    static const struct job_type name = {                                                          \
        .timeout = {5000000000}, .prepare = prepare_##thing, .answered = thing##_seen}
LOOK_JOB(node_job, node);
LOOK_JOB(pod_job, pod);
LOOK_JOB(csi_job, csi);
LOOK_JOB(volume_job, volume);
LOOK_JOB(claim_job, claim);

/* ---- writing ---- */

static void write_next(struct prebind *p, struct instant at)
{
    p->failures = 0;
    if (find(p)) {
        go(p, &get_job, at.now);
        return;
    }
    if (p->bind->claims.count == 0) {
        end(p, at, &(struct prebind_end){.ready = true});
        return;
    }
    p->deadline = moment_after(at.now, span_of_seconds((double)p->bind->bind_timeout_s));
    p->round = at.now;
    wait_more(p, at);
}

/* The server did not take it now: again after a while, or the end. */
static void again_or_fail(struct prebind *p, struct instant at, const struct job_type *step,
                          const struct kube_response *r)
{
    struct moment due = pause_long(p->options.random, at.now, p->failures++, r->retry_after_s);
    if (!moment_reached(due, p->give_up)) {
        go(p, step, due);
        return;
    }
    reason_of(r, &p->text);
    fail(p, at, r->status);
}

/* What the pass writes to. */
static void object_path(const struct prebind *p, struct draft *draft)
{
    if (p->pass == PASS_volumes)
        volume_path(draft, current(p)->volume_name);
    else
        claim_path(p, draft);
}

static const char *resource_of(const struct prebind *p)
{
    return p->pass == PASS_volumes ? "persistentvolumes" : "persistentvolumeclaims";
}

static void prepare_get(struct job *job, struct instant at, struct draft *draft)
{
    (void)at;
    draft->method = KUBE_GET;
    object_path((const struct prebind *)job, draft);
}

static void go_on(struct prebind *p, struct instant at)
{
    p->index++;
    write_next(p, at);
}

static void change(struct prebind *p, struct instant at, struct str object)
{
    const struct claim_binding *claim = current(p);
    bool volumes = p->pass == PASS_volumes;
    buffer_reset(&p->body);
    buffer_reset(&p->text);
    switch (volumes ? writes_volume_put(&p->body, object, claim)
                    : writes_claim_put(&p->body, object, claim, p->bind->node_name)) {
    case WRITES_same:
    case WRITES_changed:
        p->failures = 0;
        go(p, &put_job, at.now);
        break;
    case WRITES_conflict:
        buffer_print(&p->text,
                     "Operation cannot be fulfilled on %s \"%.*s\": the object has been modified; "
                     "please apply your changes to the latest version and try again",
                     resource_of(p), STR_ARG(volumes ? claim->volume_name : claim->name));
        fail(p, at, 409);
        break;
    case WRITES_deleted:
    case WRITES_malformed:
        buffer_print(&p->text, "the API server's answer is none of %s", resource_of(p));
        fail(p, at, 200);
        break;
    }
}

static void got(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    tell_forbidden(p, "get", resource_of(p), r);
    if (r->status == 200) {
        change(p, at, r->body);
    } else if (answer_is_busy(r) || answer_is_doubtful(r)) {
        again_or_fail(p, at, &get_job, r);
    } else {
        reason_of(r, &p->text);
        fail(p, at, r->status);
    }
}

static void prepare_put(struct job *job, struct instant at, struct draft *draft)
{
    const struct prebind *p = (const struct prebind *)job;
    (void)at;
    draft->method = KUBE_PUT;
    draft->content_type = WRITES_JSON;
    object_path(p, draft);
    buffer_add_str(&draft->body, buffer_str(&p->body));
}

/* Without an answer it is a failure, as upstream: the next attempt sees what became of it. */
static void put(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    tell_forbidden(p, "update", resource_of(p), r);
    if (was_cancelled(p, at))
        return;
    if (answer_is_good(r)) {
        p->failures = 0;
        go_on(p, at);
    } else if (answer_is_busy(r)) {
        again_or_fail(p, at, &put_job, r);
    } else {
        reason_of(r, &p->text);
        fail(p, at, r->status);
    }
}

static const struct job_type get_job = {
    .timeout = {5000000000}, .prepare = prepare_get, .answered = got};
static const struct job_type put_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_put, .answered = put};

/* ---- the nomination ---- */

static void prepare_nomination(struct job *job, struct instant at, struct draft *draft)
{
    const struct bind *bind = ((const struct prebind *)job)->bind;
    (void)at;
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    writes_path(&draft->path, "/api/v1", bind->namespace_name, "pods", bind->name);
    buffer_add_text(&draft->path, "/status");
    writes_nomination(&draft->body, bind->uid, bind->node_name);
}

/* A failure is told, and stops nothing. */
static void nominated(struct job *job, struct instant at, const struct kube_response *r)
{
    struct prebind *p = (struct prebind *)job;
    bool passing = r->status == 500 || r->status == 503 || r->status == 409 || r->status == 429 ||
                   (r->status == 0 && !r->maybe_done);
    if (was_cancelled(p, at))
        return;
    if (passing && ++p->failures < PAUSE_TRIES_MAX) {
        lanes_again(p->options.lanes, LANE_nomination, job,
                    pause_short(p->options.random, at.now, p->failures, r->retry_after_s));
        return;
    }
    tell_forbidden(p, "patch", "pods/status", r);
    if (r->status < 200 || r->status >= 300) {
        reason_of(r, &p->text);
        log_warn("the nomination was not written|pod=%.*s/%.*s node=%.*s code=%d reason=\"%s\"",
                 STR_ARG(p->bind->namespace_name), STR_ARG(p->bind->name),
                 STR_ARG(p->bind->node_name), r->status, p->text.at);
    }
    p->give_up = moment_after(at.now, p->options.give_up);
    p->reserves = p->reserving != NULL;
    if (p->reserves)
        reserving_begin(p->reserving, at, false);
    else
        write_next(p, at);
}

static const struct job_type nominate_job = {
    .fenced = true, .timeout = {5000000000}, .prepare = prepare_nomination, .answered = nominated};

/* ---- the resource claims ---- */

static void on_reserved(void *owner, struct instant at, const struct prebind_end *how)
{
    struct prebind *p = owner;
    p->reserves = false;
    if (!how->ready) {
        end(p, at, how);
        return;
    }
    p->give_up = moment_after(at.now, p->options.give_up);
    write_next(p, at);
}

static void on_waiting(void *owner, struct instant at)
{
    struct prebind *p = owner;
    if (p->options.waiting != NULL)
        p->options.waiting(p->options.owner, at);
}

static struct reserving *reserve(struct prebind *p)
{
    struct prebind_options options = p->options;
    if (!reserving_needed(p->bind))
        return NULL;
    options.owner = p;
    options.ended = on_reserved;
    options.waiting = on_waiting;
    return reserving_new(&options, p->bind);
}

bool prebind_left(const struct prebind *prebind, uint32_t *place, struct claim_release *release)
{
    return prebind->reserving != NULL && reserving_left(prebind->reserving, place, release);
}

void prebind_unmade(struct prebind *prebind)
{
    reserving_unmade(prebind->reserving);
}

void prebind_tell(const struct prebind *prebind, struct bind_result *result, struct arena *a)
{
    if (prebind->reserving != NULL)
        reserving_tell(prebind->reserving, result, a);
}

/* ---- life ---- */

enum bind_plugin prebind_plugin(const struct bind *bind)
{
    if (bind->claims.count > 0)
        return BIND_PLUGIN_volume_binding;
    return reserving_needed(bind) ? BIND_PLUGIN_dynamic_resources : BIND_PLUGIN_none;
}

bool prebind_needed(const struct bind *bind)
{
    return bind->set_nominated || prebind_plugin(bind) != BIND_PLUGIN_none;
}

struct prebind *prebind_new(const struct prebind_options *options, const struct bind *bind,
                            struct instant at)
{
    struct prebind *p = memory_take(sizeof(*p));
    p->options = *options;
    p->bind = bind;
    p->give_up = moment_after(at.now, options->give_up);
    p->reserving = reserve(p);
    p->reserves = p->reserving != NULL && !bind->set_nominated;
    find(p);
    p->job.type = bind->set_nominated ? &nominate_job : &get_job;
    if (p->reserves
            ? !reserving_begin(p->reserving, at, true)
            : !lanes_add(options->lanes, bind->set_nominated ? LANE_nomination : LANE_volume,
                         &p->job, at.now))
        prebind_free(&p, at);
    return p;
}

void prebind_free(struct prebind **prebind, struct instant at)
{
    struct prebind *p = *prebind;
    if (p == NULL)
        return;
    if (p->job.place != JOB_idle)
        lanes_remove(p->options.lanes, &p->job);
    reserving_free(&p->reserving, at);
    arena_free(&p->memory);
    buffer_free(&p->body);
    buffer_free(&p->text);
    memory_free(p);
    *prebind = NULL;
}

bool prebind_cancel(struct prebind *prebind, struct instant at)
{
    if (prebind->reserves)
        return reserving_cancel(prebind->reserving, at);
    prebind->cancelled = prebind->job.place == JOB_sent && prebind->job.type->fenced;
    if (!prebind->cancelled && prebind->job.place != JOB_idle)
        lanes_remove(prebind->options.lanes, &prebind->job);
    return !prebind->cancelled;
}
