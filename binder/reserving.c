/* reserving: one job that goes over the claims of a bind, the special one last, and then looks at
 * all of them until their devices are ready. The one idea: a claim is read, unless it came with the
 * bind, changed in one place and put back under its version; whenever it is not clear what became
 * of that, it is read again, and only what was read is a reason to fail.
 * What must stay true: devices are given only to a claim that has none, a lost answer neither gives
 * them twice nor is taken for a failure, and whatever was or may have been written is remembered.
 */
#include "binder/reserving.h"
#include "binder/measure.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "binder/release.h"
#include "binder/reserving_inside.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/objects/device_ready.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_MAX  5    /* of a claim, after conflicts and lost answers; as upstream */
#define ROUND_MS   5000 /* between two looks at devices that are not ready, as upstream */
#define NAME_MAX_  63   /* of a generated name, and how much of it is random */
#define SUFFIX_LEN 5

static const struct job_type get_job, put_job, post_job, pod_job, rooms_job, look_job;

/* ---- the end ---- */

static void end(struct reserving *r, struct instant at, const struct prebind_end *how)
{
    claim_turn_end(&r->turn, at, (struct str){0});
    r->options.ended(r->options.owner, at, how);
}

/* What may have been written counts as written. */
static void settle(struct reserving *r)
{
    bool open = r->job.place == JOB_sent && r->job.type->fenced && !r->finalizes;
    if (r->index >= r->count || (!r->doubt && !open))
        return;
    reserved_held(r)->made |= reserved_is_special(r);
    reserved_held(r)->reserved |= reserved_held(r)->uid.len > 0 && !reserved_is_for_group(r);
    reserved_held(r)->allocated |= reserved_held(r)->uid.len > 0 && reserved_is_given(r);
}

/* Why is in r->text. */
static void fail(struct reserving *r, struct instant at, int code, bool gone)
{
    if (r->index < r->count && reserved_is_special(r) && !reserved_held(r)->made)
        measure_claim_made(false);
    settle(r);
    end(r, at,
        &(struct prebind_end){.code = code,
                              .gone = gone,
                              .plugin = BIND_PLUGIN_dynamic_resources,
                              .message = buffer_str(&r->text)});
}

static bool was_cancelled(struct reserving *r, struct instant at)
{
    bool cancelled = r->cancelled;
    if (cancelled) {
        settle(r);
        end(r, at, &(struct prebind_end){.cancelled = true});
    }
    return cancelled;
}

static void go(struct reserving *r, const struct job_type *step, struct moment due)
{
    r->job.type = step;
    r->job.patient = false;
    lanes_again(r->options.lanes, LANE_volume, &r->job, due);
}

static void tell_forbidden(const struct reserving *r, const char *verb, const char *resource,
                           const struct kube_response *response)
{
    const struct prebind_options *o = &r->options;
    if (response->status == 403 && o->forbidden)
        o->forbidden(o->forbidden_owner, verb, resource, r->bind->namespace_name, response);
}

static struct moment pause_next(struct reserving *r, struct instant at,
                                const struct kube_response *response)
{
    return pause_long(r->options.random, at.now, r->waits++, response->retry_after_s);
}

/* What the server said into r->text, behind what was tried (NULL: nothing). */
static void tell(struct reserving *r, const char *tried, const struct kube_response *response)
{
    struct buffer reason = {0};
    reason_of(response, &reason);
    buffer_reset(&r->text);
    if (tried != NULL)
        buffer_print(&r->text, "%s %.*s/%.*s: ", tried, STR_ARG(r->bind->namespace_name),
                     STR_ARG(reserved_claim_name(r)));
    buffer_add_str(&r->text, buffer_str(&reason));
    buffer_free(&reason);
}

/* Again after a while, or the end with what is in r->text. */
static void again_or_fail(struct reserving *r, struct instant at, const struct job_type *step,
                          const struct kube_response *response)
{
    struct moment due = pause_next(r, at, response);
    if (moment_reached(due, r->give_up))
        fail(r, at, response->status, false);
    else
        go(r, step, due);
}

static void say_malformed(struct reserving *r, struct instant at)
{
    buffer_reset(&r->text);
    buffer_add_text(&r->text, "the API server's answer is none of resourceclaims");
    fail(r, at, 200, false);
}

/* ---- waiting for devices ---- */

static void look(struct reserving *r, struct moment due)
{
    r->index = 0;
    r->round = due;
    must(reserved_find(r));
    go(r, &look_job, due);
    r->job.patient = true;
    r->job.since = (struct moment){0};
}

static void look_later(struct reserving *r, struct instant at)
{
    struct moment due = moment_after(r->round, span_of_ms(ROUND_MS));
    if (moment_reached(at.now, due))
        due = at.now;
    look(r, moment_earlier(due, r->deadline));
}

/* The wait for devices is over. */
static void measure_wait(const struct reserving *r, struct instant at, const char *status)
{
    struct span took = moment_since(at.now, r->began);
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t k = 0; k < r->held[i].device_count; k++)
            measure_device_wait(r->bind, &r->held[i].devices[k], status, took);
}

static void ready_or_wait(struct reserving *r, struct instant at)
{
    bool waits = false;
    int64_t ms = r->bind->device_timeout_ms;
    for (uint32_t i = 0; i < r->count; i++)
        waits |= r->held[i].waits && ms >= 0;
    if (!waits) {
        end(r, at, &(struct prebind_end){.ready = true});
        return;
    }
    if (r->options.waiting != NULL)
        r->options.waiting(r->options.owner, at);
    r->began = at.now;
    r->deadline = moment_after(at.now, span_of_ms(ms > 0 ? ms : DEVICE_TIMEOUT_MS));
    look(r, at.now);
}

static void prepare_get(struct job *job, struct instant at, struct draft *draft)
{
    const struct reserving *r = (const struct reserving *)job;
    (void)at;
    draft->method = KUBE_GET;
    draft->exact = !r->json_only;
    reserved_path(r, draft, reserved_claim_name(r));
}

/* A claim that is not there is a failure; one that cannot be seen now is not ready yet. */
static void judge(struct reserving *r, struct instant at, const struct resource_claim *claim)
{
    buffer_reset(&r->text);
    if (!str_equal(claim->uid, reserved_held(r)->uid)) {
        buffer_print(&r->text, "claim %.*s/%.*s got deleted in the meantime",
                     STR_ARG(r->bind->namespace_name), STR_ARG(reserved_claim_name(r)));
        measure_wait(r, at, "error");
        fail(r, at, 0, false);
        return;
    }
    switch (device_ready(claim, r->bind->device_timeout_ms, at.wall_us, &r->text)) {
    case DEVICE_ready:
        r->index++;
        if (reserved_find(r)) {
            go(r, &look_job, at.now);
            return;
        }
        measure_wait(r, at, "success");
        end(r, at, &(struct prebind_end){.ready = true});
        break;
    case DEVICE_waiting: look_later(r, at); break;
    case DEVICE_failed:
        measure_wait(r, at, "failure");
        fail(r, at, 0, false);
        break;
    case DEVICE_late:
        measure_wait(r, at, "timeout");
        fail(r, at, 0, false);
        break;
    }
}

static void looked(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    struct resource_claim claim;
    tell_forbidden(r, "get", "resourceclaims", response);
    buffer_reset(&r->text);
    if (moment_reached(at.now, r->deadline)) {
        buffer_add_text(&r->text, "device binding timeout: context deadline exceeded");
        measure_wait(r, at, "timeout");
        fail(r, at, 0, false);
    } else if (response->status == 404) {
        buffer_print(&r->text, "could not find ResourceClaim \"%.*s/%.*s\"",
                     STR_ARG(r->bind->namespace_name), STR_ARG(reserved_claim_name(r)));
        measure_wait(r, at, "error");
        fail(r, at, 404, false);
    } else if (response->status == 200 && reserved_read(r, response->body, &claim)) {
        judge(r, at, &claim);
    } else {
        look_later(r, at);
    }
}

static const struct job_type look_job = {
    .timeout = {5000000000}, .prepare = prepare_get, .answered = looked};

/* ---- reading and writing a claim ---- */

/* A claim that is known may be old: its version makes the API server refuse it then. */
static const struct job_type *first_job(struct reserving *r, struct instant at)
{
    if (reserved_is_special(r))
        return &post_job;
    r->unread = reserved_write_unread(r, at, claim_turn_document(&r->turn));
    return r->unread ? &put_job : &get_job;
}

/* Nobody else knows of a special claim. */
static enum claim_turn_answer take_turn(struct reserving *r)
{
    if (reserved_is_special(r))
        return CLAIM_TURN_now;
    return claim_turns_take(r->options.turns, &r->turn, r->bind->namespace_name,
                            reserved_claim_name(r));
}

/* Whoever was before has got through to the server, or there was no use in waiting longer. */
static void on_turn(struct claim_turn *turn, struct instant at)
{
    struct reserving *r = turn->owner;
    if (claim_turn_document(turn).len > 0)
        r->give_up = moment_after(at.now, r->options.give_up);
    go(r, first_job(r, at), at.now);
}

static void go_in_turn(struct reserving *r, struct instant at)
{
    enum claim_turn_answer turn = take_turn(r);
    if (turn == CLAIM_TURN_now) {
        go(r, first_job(r, at), at.now);
    } else if (turn == CLAIM_TURN_full) {
        buffer_reset(&r->text);
        buffer_add_text(&r->text, "too many binds wait for their claims");
        fail(r, at, 0, false);
    }
}

static void write_next(struct reserving *r, struct instant at)
{
    r->tries = r->waits = 0;
    r->doubt = r->finalizes = false;
    r->give_up = moment_after(at.now, r->options.give_up);
    if (!reserved_find(r) && r->bind->claim_rooms.count > 0 && !r->rooms_told)
        go(r, &rooms_job, at.now);
    else if (!reserved_find(r))
        ready_or_wait(r, at);
    else
        go_in_turn(r, at);
}

/* Upstream also makes a special claim for a pod with claims of its own on a node that has all of
 * the extended resources itself, and finds only here that there is nothing to tell. */
static void tell_pod(struct reserving *r, struct instant at)
{
    r->tries = r->waits = 0;
    if (r->bind->extended.at[0].uses.count > 0) {
        go(r, &pod_job, at.now);
        return;
    }
    buffer_reset(&r->text);
    buffer_print(&r->text,
                 "nil or empty request mappings, no update of pod %.*s/%.*s "
                 "ExtendedResourceClaimStatus",
                 STR_ARG(r->bind->namespace_name), STR_ARG(r->bind->name));
    fail(r, at, 0, false);
}

/* The claim is the pod's, or its group's, as the server answered it; of the special one the pod is
 * told. */
static void claim_done(struct reserving *r, struct instant at, struct str object)
{
    struct device_allocation given;
    claim_turn_end(&r->turn, at, object);
    if (reserved_wanted(r, &given)) {
        reserved_held(r)->allocated = true;
        reserved_note_devices(r, given.devices.at, given.devices.count);
    }
    r->doubt = false;
    if (reserved_is_special(r)) {
        tell_pod(r, at);
        return;
    }
    r->index++;
    write_next(r, at);
}

static void refuse(struct reserving *r, struct instant at, const char *what)
{
    buffer_reset(&r->text);
    buffer_print(&r->text, "claim %.*s/%.*s got %s in the meantime",
                 STR_ARG(r->bind->namespace_name), STR_ARG(reserved_claim_name(r)), what);
    fail(r, at, 409, false);
}

static void write_claim(struct reserving *r, struct instant at, struct str object)
{
    struct resource_claim claim;
    buffer_reset(&r->body);
    enum writes_change change = reserved_next_write(r, at, object);
    bool known = change != WRITES_malformed && reserved_read(r, object, &claim);
    if (change == WRITES_conflict && known && reserved_was_ours(r, &claim)) {
        reserved_note(r, &claim);
        claim_done(r, at, object);
    } else if (change == WRITES_conflict) {
        r->doubt = false; /* what is there is not ours */
        refuse(r, at, reserved_is_given(r) ? "allocated elsewhere" : "deallocated elsewhere");
    } else if (change == WRITES_deleted) {
        r->doubt = false;
        refuse(r, at, "deleted");
    } else if (!known) {
        say_malformed(r, at);
    } else if (!reserved_is_as_decided_on(r, &claim)) {
        r->doubt = false;
        refuse(r, at, "allocated elsewhere");
    } else {
        reserved_note(r, &claim);
        if (change == WRITES_same)
            claim_done(r, at, object);
        else
            go(r, &put_job, at.now);
    }
}

static void got(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    tell_forbidden(r, "get", "resourceclaims", response);
    if (response->status == 200) {
        write_claim(r, at, response->body);
        return;
    }
    if (response->status == 404)
        r->doubt = false; /* what was written is gone with it */
    tell(r, NULL, response);
    if (answer_is_busy(response) || answer_is_doubtful(response))
        again_or_fail(r, at, &get_job, response);
    else
        fail(r, at, response->status, false);
}

static void prepare_put(struct job *job, struct instant at, struct draft *draft)
{
    const struct reserving *r = (const struct reserving *)job;
    (void)at;
    draft->method = KUBE_PUT;
    draft->content_type = writes_type(buffer_str(&r->body));
    draft->exact = !r->json_only;
    reserved_path(r, draft, reserved_claim_name(r));
    if (!r->finalizes)
        buffer_add_text(&draft->path, "/status");
    buffer_add_str(&draft->body, buffer_str(&r->body));
}

/* What was tried, in upstream's words. */
static const char *trying(const struct reserving *r)
{
    if (r->finalizes)
        return "add finalizer to claim";
    return reserved_is_given(r) ? "add allocation and reservation to claim"
                                : "add reservation to claim";
}

/* A conflict, and a write of which nobody knows, are followed by a look at the claim. */
static void put(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    r->doubt |= answer_is_doubtful(response) && !r->finalizes;
    tell_forbidden(r, "update", r->finalizes ? "resourceclaims" : "resourceclaims/status",
                   response);
    if (answer_is_good(response) && !r->finalizes) {
        reserved_held(r)->reserved |= !reserved_is_for_group(r);
        reserved_held(r)->allocated |= reserved_is_given(r);
    }
    if (was_cancelled(r, at))
        return;
    bool unread = r->unread;
    r->unread = false;
    tell(r, trying(r), response);
    if (response->status == 415 && !r->json_only) {
        r->json_only = true;
        go(r, &get_job, at.now);
    } else if (answer_is_good(response) && r->finalizes)
        write_claim(r, at, response->body); /* the claim as it is now */
    else if (answer_is_good(response))
        claim_done(r, at, response->body);
    else if (answer_is_busy(response))
        again_or_fail(r, at, unread ? &get_job : &put_job, response);
    else if (answer_is_doubtful(response) && ++r->tries < TRIES_MAX)
        again_or_fail(r, at, &get_job, response);
    else if (unread || (response->status == 409 && ++r->tries < TRIES_MAX))
        go(r, &get_job, at.now); /* other pods of the claim are reserved for, too */
    else
        fail(r, at, response->status, false);
}

static const struct job_type get_job = {
    .timeout = {5000000000}, .prepare = prepare_get, .answered = got};
static const struct job_type put_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_put, .answered = put};

/* ---- the special claim ---- */

/* A name as the API server would generate it. It is chosen here, so that a claim whose making was
 * not answered can be found. */
static void choose_name(struct reserving *r)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char suffix[SUFFIX_LEN + 1] = "";
    struct str whole = arena_print(&r->memory, "%.*s-extended-resources-", STR_ARG(r->bind->name));
    if (whole.len > NAME_MAX_ - SUFFIX_LEN)
        whole.len = NAME_MAX_ - SUFFIX_LEN;
    for (int i = 0; i < SUFFIX_LEN; i++)
        suffix[i] = letters[random_below(r->options.random, sizeof(letters) - 1)];
    reserved_held(r)->name = arena_print(&r->memory, "%.*s%s", STR_ARG(whole), suffix);
}

static void prepare_post(struct job *job, struct instant at, struct draft *draft)
{
    struct reserving *r = (struct reserving *)job;
    (void)at;
    if (reserved_held(r)->name.len == 0)
        choose_name(r);
    draft->method = KUBE_POST;
    draft->content_type = WRITES_JSON;
    draft->exact = !r->json_only;
    reserved_path(r, draft, (struct str){0});
    writes_special_claim(&draft->body, r->bind, reserved_held(r)->name);
}

static void has_been_made(struct reserving *r, struct instant at, struct str body)
{
    struct resource_claim claim;
    reserved_held(r)->made = true;
    measure_claim_made(true);
    if (!reserved_read(r, body, &claim) || claim.uid.len == 0) {
        say_malformed(r, at);
        return;
    }
    reserved_held(r)->uid = arena_copy(&r->memory, claim.uid);
    r->doubt = false;
    r->tries = r->waits = 0;
    write_claim(r, at, body);
}

/* There is one of that name: ours, whose making was not answered, or somebody else's. */
static void seen(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    tell_forbidden(r, "get", "resourceclaims", response);
    tell(r, NULL, response);
    if (response->status == 200 &&
        writes_special_claim_look(response->body, r->bind->uid) == WRITES_changed) {
        has_been_made(r, at, response->body);
    } else if ((response->status == 200 || response->status == 404) && ++r->tries < TRIES_MAX) {
        reserved_held(r)->name = (struct str){0};
        r->doubt = false;
        go(r, &post_job, at.now);
    } else if (answer_is_busy(response) || answer_is_doubtful(response)) {
        again_or_fail(r, at, job->type, response);
    } else {
        fail(r, at, response->status, false);
    }
}

static const struct job_type see_job = {
    .timeout = {5000000000}, .prepare = prepare_get, .answered = seen};

static void tell_unmade(struct reserving *r, const struct kube_response *response)
{
    struct buffer reason = {0};
    reason_of(response, &reason);
    buffer_reset(&r->text);
    buffer_print(&r->text, "create claim for extended resources %.*s/: %.*s",
                 STR_ARG(r->bind->namespace_name), STR_ARG(buffer_str(&reason)));
    buffer_free(&reason);
}

static void posted(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    r->doubt |= answer_is_doubtful(response);
    reserved_held(r)->made |= answer_is_good(response);
    tell_forbidden(r, "create", "resourceclaims", response);
    if (was_cancelled(r, at))
        return;
    tell_unmade(r, response);
    if (answer_is_good(response))
        has_been_made(r, at, response->body);
    else if (response->status == 409)
        go(r, &see_job, at.now);
    else if (answer_is_busy(response) || (answer_is_doubtful(response) && ++r->tries < TRIES_MAX))
        again_or_fail(r, at, &post_job, response);
    else
        fail(r, at, response->status, false);
}

static const struct job_type post_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_post, .answered = posted};

static void begin_pod_patch(const struct reserving *r, struct draft *draft)
{
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    draft->unread = true;
    writes_path(&draft->path, "/api/v1", r->bind->namespace_name, "pods", r->bind->name);
    buffer_add_text(&draft->path, "/status");
}

static void prepare_pod(struct job *job, struct instant at, struct draft *draft)
{
    const struct reserving *r = (const struct reserving *)job;
    (void)at;
    begin_pod_patch(r, draft);
    writes_special_status(&draft->body, r->bind, reserved_claim_name(r));
}

static void prepare_rooms(struct job *job, struct instant at, struct draft *draft)
{
    struct reserving *r = (struct reserving *)job;
    (void)at;
    r->rooms_told = true;
    begin_pod_patch(r, draft);
    writes_claim_rooms(&draft->body, r->bind);
}

/* The same patch twice is no harm, so that it is sent again whatever became of it. */
static void pod_told(struct job *job, struct instant at, const struct kube_response *response)
{
    struct reserving *r = (struct reserving *)job;
    bool rooms = job->type == &rooms_job;
    tell_forbidden(r, "patch", "pods/status", response);
    if (was_cancelled(r, at))
        return;
    if (answer_is_good(response)) {
        r->index += !rooms;
        write_next(r, at);
        return;
    }
    tell(r, NULL, response);
    struct str reason = arena_copy(&r->memory, buffer_str(&r->text));
    buffer_reset(&r->text);
    buffer_print(&r->text, "%s pod %.*s/%.*s %s: %.*s", rooms ? "updating" : "update",
                 STR_ARG(r->bind->namespace_name), STR_ARG(r->bind->name),
                 rooms ? "NodeAllocatableResourceClaimStatuses" : "ExtendedResourceClaimStatus",
                 STR_ARG(reason));
    if ((answer_is_busy(response) || answer_is_doubtful(response)) && ++r->tries < PAUSE_TRIES_MAX)
        go(r, job->type, pause_short(r->options.random, at.now, r->tries, response->retry_after_s));
    else
        fail(r, at, response->status, response->status == 404);
}

static const struct job_type pod_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_pod, .answered = pod_told};
static const struct job_type rooms_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_rooms, .answered = pod_told};

/* ---- afterwards ---- */

void reserving_tell(struct reserving *r, struct bind_result *result, struct arena *a)
{
    settle(r);
    result->allocated.at = arena_take(a, r->count * sizeof(*result->allocated.at));
    for (uint32_t i = 0; i < r->count && result->allocated.at != NULL; i++) {
        if (r->held[i].allocated)
            result->allocated.at[result->allocated.count++] = r->held[i].uid;
        if (r->held[i].made) {
            result->extended = r->held[i].uid;
            result->extended_name = r->held[i].name;
        }
    }
}

/* ---- life ---- */

bool reserving_needed(const struct bind *bind)
{
    bool needed = bind->extended.count > 0;
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        needed |= !bind->device_claims.at[i].unneeded;
    return needed;
}

struct reserving *reserving_new(const struct prebind_options *options, const struct bind *bind)
{
    struct reserving *r = memory_take(sizeof(*r));
    must(reserving_needed(bind) && bind->extended.count <= 1);
    r->options = *options;
    r->bind = bind;
    r->turn = (struct claim_turn){.begin = on_turn, .owner = r};
    r->count = bind->device_claims.count + bind->extended.count;
    r->held = memory_take(r->count * sizeof(*r->held));
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        r->held[i].name = bind->device_claims.at[i].claim;
    return r;
}

bool reserving_begin(struct reserving *r, struct instant at, bool first)
{
    r->give_up = moment_after(at.now, r->options.give_up);
    must(!r->begun && reserved_find(r));
    r->begun = true;
    if (!first) {
        go_in_turn(r, at);
        return true;
    }
    enum claim_turn_answer turn = take_turn(r);
    if (turn != CLAIM_TURN_now)
        return turn == CLAIM_TURN_later;
    r->job.type = first_job(r, at);
    return lanes_add(r->options.lanes, LANE_volume, &r->job, at.now);
}

bool reserving_cancel(struct reserving *r, struct instant at)
{
    r->cancelled = r->job.place == JOB_sent && r->job.type->fenced;
    if (r->cancelled)
        return false;
    if (r->job.place != JOB_idle)
        lanes_remove(r->options.lanes, &r->job);
    claim_turn_end(&r->turn, at, (struct str){0});
    settle(r);
    return true;
}

void reserving_free(struct reserving **reserving, struct instant at)
{
    struct reserving *r = *reserving;
    if (r == NULL)
        return;
    if (r->job.place != JOB_idle)
        lanes_remove(r->options.lanes, &r->job);
    claim_turn_end(&r->turn, at, (struct str){0});
    buffer_free(&r->body);
    buffer_free(&r->text);
    arena_free(&r->memory);
    arena_free(&r->round_data);
    memory_free(r->held);
    memory_free(r);
    *reserving = NULL;
}
