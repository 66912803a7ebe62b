/* release: one job that reads, writes and deletes until the claim is as it is to be. The one idea:
 * each answer is either the end or a reason to look again, so that a request that was lost, came
 * late or met somebody else's change is only one more round. What must stay true: nothing is taken
 * of a claim with another UID, of one that others use, or of one that was not made for the pod. */
#include "binder/release.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/writes/writes.h"

#include <string.h>

#define TRIES_MAX 5 /* as upstream after conflicts */

struct release {
    struct job job; /* first */
    struct release_options options;
    const struct claim_release *order;
    int failures;       /* in a row */
    struct moment sent; /* the patch */
    struct str uid;     /* of the claim that is deleted, as it was seen */
    bool json_only;     /* the server does not take claims in protobuf */
    struct arena memory;
    struct buffer body, text;
};

static const struct job_type look_job, put_job, patch_job, delete_job, forget_job;

static bool is_for(const struct release *r, enum claim_step what)
{
    return r->order->what == what;
}

const char *release_problem(const struct claim_release *order)
{
    bool deallocates = order->what == CLAIM_deallocate;
    if (order->what == CLAIM_none || order->what == CLAIM_forget)
        return "claim_release: what must be deallocate, delete or unreserve";
    if (order->uid.len == 0 || order->namespace_name.len == 0 || order->claim.len == 0 ||
        order->claim_uid.len == 0)
        return "claim_release: uid, namespace_name, claim and claim_uid must not be empty";
    if (deallocates && order->resource_version <= 0)
        return "claim_release: deallocate needs the resource_version that was decided on";
    return NULL;
}

/* ---- the end ---- */

static void done(struct release *r, struct instant at)
{
    r->options.ended(r->options.owner, at, &(struct release_end){.done = true});
}

/* Why is in r->text. */
static void fail(struct release *r, struct instant at, int code)
{
    r->options.ended(r->options.owner, at,
                     &(struct release_end){.code = code, .message = buffer_str(&r->text)});
}

/* What the server said, behind what was tried (empty: nothing). */
static void fail_with(struct release *r, struct instant at, const char *tried,
                      const struct kube_response *response)
{
    struct buffer reason = {0};
    reason_of(response, &reason);
    buffer_reset(&r->text);
    if (*tried != 0)
        buffer_print(&r->text, "%s resourceclaim %.*s/%.*s: ", tried,
                     STR_ARG(r->order->namespace_name), STR_ARG(r->order->claim));
    buffer_add_str(&r->text, buffer_str(&reason));
    buffer_free(&reason);
    fail(r, at, response->status);
}

/* ---- steps ---- */

static void go(struct release *r, const struct job_type *step, struct moment due)
{
    r->job.type = step;
    lanes_again(r->options.lanes, LANE_volume, &r->job, due);
}

/* No word of whether it was done, or a word that may be another one soon. */
static bool may_pass(const struct kube_response *response)
{
    return answer_is_busy(response) || answer_is_doubtful(response);
}

/* True when it is tried once more; else it has to end. */
static bool tries_again(struct release *r, struct instant at, const struct job_type *step,
                        const struct kube_response *response)
{
    if (++r->failures >= TRIES_MAX)
        return false;
    go(r, step, pause_long(r->options.random, at.now, r->failures, response->retry_after_s));
    return true;
}

static void tell_forbidden(const struct release *r, const char *verb, const char *resource,
                           const struct kube_response *response)
{
    const struct release_options *o = &r->options;
    if (response->status == 403 && o->forbidden)
        o->forbidden(o->forbidden_owner, verb, resource, r->order->namespace_name, response);
}

static void claim_path(const struct release *r, struct draft *draft)
{
    writes_path(&draft->path, "/apis/resource.k8s.io/v1", r->order->namespace_name,
                "resourceclaims", r->order->claim);
}

/* ---- the pod's reservation ---- */

static void prepare_patch(struct job *job, struct instant at, struct draft *draft)
{
    struct release *r = (struct release *)job;
    r->sent = at.now;
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    draft->unread = true;
    claim_path(r, draft);
    buffer_add_text(&draft->path, "/status");
    writes_unreservation(&draft->body, r->order);
}

/* The precondition was not met: it is another claim of that name. A patch is refused (422) as well
 * where going through it would change what is opaque in the claim: then the claim is put back. */
static bool is_another(const struct kube_response *response)
{
    struct buffer reason = {0};
    if (response->status != 409 && response->status != 422)
        return false;
    reason_of(response, &reason);
    bool another = strstr(reason.at, "UID") != NULL || strstr(reason.at, "uid") != NULL;
    buffer_free(&reason);
    return another;
}

/* One that may come late would take back what the pod is given next: nothing is over before it
 * cannot come any more. Then the claim is put back under its version, which is refused if late. */
static void patched(struct job *job, struct instant at, const struct kube_response *response)
{
    struct release *r = (struct release *)job;
    tell_forbidden(r, "patch", "resourceclaims/status", response);
    bool passing = may_pass(response) || response->status == 409;
    if (answer_is_good(response) || response->status == 404 || is_another(response))
        done(r, at);
    else if (answer_is_open(response))
        go(r, &look_job, moment_after(r->sent, span_of_ms(LANES_WRITE_MS)));
    else if (response->status == 422)
        go(r, &look_job, at.now);
    else if (!passing || !tries_again(r, at, &patch_job, response))
        fail_with(r, at, "", response);
}

/* ---- its devices, or all of it: look, then write ---- */

static void prepare_look(struct job *job, struct instant at, struct draft *draft)
{
    const struct release *r = (const struct release *)job;
    (void)at;
    draft->method = KUBE_GET;
    draft->exact = !r->json_only;
    claim_path(r, draft);
}

static void refuse(struct release *r, struct instant at)
{
    buffer_reset(&r->text);
    if (is_for(r, CLAIM_delete))
        buffer_print(&r->text, "resourceclaim %.*s/%.*s was not made for the pod",
                     STR_ARG(r->order->namespace_name), STR_ARG(r->order->claim));
    else
        buffer_print(&r->text,
                     "Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"%.*s\": "
                     "the object has been modified; please apply your changes to the latest "
                     "version and try again",
                     STR_ARG(r->order->claim));
    fail(r, at, 409);
}

/* What is deleted is what was seen, even where the order does not know its UID. */
static void remember(struct release *r, struct str body)
{
    arena_reset(&r->memory);
    struct kube_json *json = kube_answer_parse(body, NULL, &r->memory);
    r->uid = arena_copy(&r->memory, kube_json_text(kube_json_path(json, "metadata.uid")));
    kube_json_free(&json);
}

static void write_claim(struct release *r, struct instant at, struct str claim)
{
    bool deletes = is_for(r, CLAIM_delete);
    buffer_reset(&r->body);
    remember(r, claim);
    switch (deletes                      ? writes_special_claim_unprotect(&r->body, claim, r->order)
            : is_for(r, CLAIM_unreserve) ? writes_unreservation_put(&r->body, claim, r->order)
                                         : writes_deallocation_put(&r->body, claim, r->order)) {
    case WRITES_changed: go(r, &put_job, at.now); break;
    case WRITES_same:
        if (deletes)
            go(r, &delete_job, at.now);
        else
            done(r, at);
        break;
    case WRITES_deleted: done(r, at); break;
    case WRITES_conflict: refuse(r, at); break;
    case WRITES_malformed:
        buffer_reset(&r->text);
        buffer_add_text(&r->text, "the API server's answer is none of resourceclaims");
        fail(r, at, 200);
        break;
    }
}

static void looked(struct job *job, struct instant at, const struct kube_response *response)
{
    struct release *r = (struct release *)job;
    tell_forbidden(r, "get", "resourceclaims", response);
    if (response->status == 200)
        write_claim(r, at, response->body);
    else if (response->status == 404)
        done(r, at);
    else if (!may_pass(response) || !tries_again(r, at, &look_job, response))
        fail_with(r, at, "get", response);
}

static void prepare_put(struct job *job, struct instant at, struct draft *draft)
{
    const struct release *r = (const struct release *)job;
    (void)at;
    draft->method = KUBE_PUT;
    draft->content_type = writes_type(buffer_str(&r->body));
    draft->exact = !r->json_only;
    draft->unread = true;
    claim_path(r, draft);
    if (!is_for(r, CLAIM_delete))
        buffer_add_text(&draft->path, "/status");
    buffer_add_str(&draft->body, buffer_str(&r->body));
}

/* A conflict is looked at: a finalizer may be taken off a newer claim, devices may not. */
static void put(struct job *job, struct instant at, const struct kube_response *response)
{
    struct release *r = (struct release *)job;
    bool deletes = is_for(r, CLAIM_delete);
    tell_forbidden(r, "update", deletes ? "resourceclaims" : "resourceclaims/status", response);
    if (response->status == 415 && !r->json_only) {
        r->json_only = true;
        go(r, &look_job, at.now);
        return;
    }
    if (answer_is_good(response) && deletes)
        go(r, &delete_job, at.now);
    else if (answer_is_good(response) || response->status == 404)
        done(r, at);
    else if ((!may_pass(response) && response->status != 409) ||
             !tries_again(r, at, &look_job, response))
        fail_with(r, at, deletes ? "update" : "", response);
}

static void prepare_delete(struct job *job, struct instant at, struct draft *draft)
{
    const struct release *r = (const struct release *)job;
    (void)at;
    draft->method = KUBE_DELETE;
    draft->content_type = WRITES_JSON;
    draft->unread = true;
    claim_path(r, draft);
    writes_deletion(&draft->body, r->uid);
}

static void deleted(struct job *job, struct instant at, const struct kube_response *response)
{
    struct release *r = (struct release *)job;
    tell_forbidden(r, "delete", "resourceclaims", response);
    if (answer_is_good(response) || response->status == 404 || response->status == 409)
        done(r, at);
    else if (!may_pass(response) || !tries_again(r, at, &look_job, response))
        fail_with(r, at, "", response);
}

/* ---- what the pod's status says of its claims ---- */

static void prepare_forget(struct job *job, struct instant at, struct draft *draft)
{
    const struct release *r = (const struct release *)job;
    (void)at;
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_MERGE;
    draft->unread = true;
    writes_path(&draft->path, "/api/v1", r->order->namespace_name, "pods", r->order->name);
    buffer_add_text(&draft->path, "/status");
    writes_no_claim_rooms(&draft->body, r->order->uid);
}

/* Once more when it is not clear: it is empty either way. */
static void forgotten(struct job *job, struct instant at, const struct kube_response *response)
{
    struct release *r = (struct release *)job;
    tell_forbidden(r, "patch", "pods/status", response);
    if (answer_is_good(response) || response->status == 404 || is_another(response))
        done(r, at);
    else if (!may_pass(response) || !tries_again(r, at, &forget_job, response))
        fail_with(r, at, "", response);
}

static const struct job_type forget_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_forget, .answered = forgotten};
static const struct job_type look_job = {
    .timeout = {5000000000}, .prepare = prepare_look, .answered = looked};
static const struct job_type put_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_put, .answered = put};
static const struct job_type patch_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_patch, .answered = patched};
static const struct job_type delete_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_delete, .answered = deleted};

/* ---- life ---- */

struct release *release_new(const struct release_options *options,
                            const struct claim_release *order, struct moment now)
{
    struct release *r = memory_take(sizeof(*r));
    r->options = *options;
    r->order = order;
    r->job.type = is_for(r, CLAIM_forget)      ? &forget_job
                  : is_for(r, CLAIM_unreserve) ? &patch_job
                                               : &look_job;
    if (!lanes_add(options->lanes, LANE_volume, &r->job, now))
        release_free(&r);
    return r;
}

void release_free(struct release **release)
{
    struct release *r = *release;
    if (r == NULL)
        return;
    if (r->job.place != JOB_idle)
        lanes_remove(r->options.lanes, &r->job);
    buffer_free(&r->body);
    buffer_free(&r->text);
    arena_free(&r->memory);
    memory_free(r);
    *release = NULL;
}
