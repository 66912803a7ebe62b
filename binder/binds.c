/* binds: each bind is a small state machine over its one job: what it needs before (prebind), POST,
 * then, when the outcome is in doubt, GET until the truth is known. What must stay true: every bind
 * taken is answered exactly once, and "not bound" is said only when the server said so, when no
 * request ever left, or when we no longer lead (the next leader reads the truth before it decides
 * anything). */
#include "binder/binds.h"
#include "binder/binds_inside.h"
#include "binder/extended.h"
#include "binder/hooks/hooked.h"
#include "binder/measure.h"
#include "binder/pause.h"
#include "binder/prebind.h"
#include "binder/reason.h"
#include "binder/traced.h"
#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/kube/extenders/extender_wire.h"
#include "proto/kube/writes/writes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIVE_UP_MS 30000
#define POSTS_MAX  5

/* An answer that goes alone wakes the scheduler for itself alone. With so many Bindings to be sent
 * nobody waits for one, so several go together, but none waits for long. */
#define GATHER_ABOVE 64
#define GATHER_MOST  16
#define GATHER_MS    2

#define TURNS_MAX    10000 /* binds that wait for others of the same claim */
#define FLIGHT_BYTES 256   /* most binds need no more */

struct binds *binds_new(const struct binds_options *options, struct lanes *lanes)
{
    struct binds *b = memory_take(sizeof(*b));
    b->options = *options;
    if (b->options.give_up.ns == 0)
        b->options.give_up = span_of_ms(GIVE_UP_MS);
    b->lanes = lanes;
    b->flights = map_new();
    b->turns = claim_turns_new(TURNS_MAX);
    b->random.state = options->seed;
    return b;
}

/* ---- answers to the scheduler ---- */

static void answer(struct binds *b, const struct bind_result *result)
{
    answers_add(&b->answers, MSG_bind_result, result);
    b->hurry = b->hurry || !result->bound;
    if (result->bound)
        b->stats.bound++;
    else
        b->stats.failed++;
}

void binds_flush(struct binds *b, struct outbox *out)
{
    answers_flush(&b->answers, out);
    b->hurry = false;
    b->answers_by = (struct moment){0};
}

struct moment binds_flush_due(struct binds *b, struct moment now, struct outbox *out)
{
    if (b->answers.count == 0)
        return MOMENT_NEVER;
    if (b->answers_by.ns == 0)
        b->answers_by = moment_after(now, span_of_ms(GATHER_MS));
    struct lane_stats lane = lanes_stats(b->lanes, LANE_bind);
    if (!b->hurry && lane.waiting + lane.in_flight >= GATHER_ABOVE &&
        b->answers.count < GATHER_MOST && !moment_reached(now, b->answers_by))
        return b->answers_by;
    binds_flush(b, out);
    return MOMENT_NEVER;
}

static struct bind_result result_of(const struct bind *bind)
{
    return (struct bind_result){.uid = bind->uid,
                                .namespace_name = bind->namespace_name,
                                .name = bind->name,
                                .node_name = bind->node_name};
}

void binds_refuse(struct binds *b, const struct bind *bind, int code, const char *why)
{
    struct bind_result result = result_of(bind);
    result.code = code;
    result.message = str_of(why);
    answer(b, &result);
}

/* ---- a flight ---- */

static void flight_free(struct flight *f, struct instant at)
{
    if (f->job.place != JOB_idle)
        lanes_remove(f->binds->lanes, &f->job);
    must(map_remove(f->binds->flights, f->bind.uid) == f);
    if (f->has_route)
        f->binds->options.api.release(f->binds->options.api.state, f->job.route);
    release_free(&f->undoing);
    prebind_free(&f->prebind, at);
    hooked_free(&f->hooked);
    buffer_free(&f->message);
    arena_free(&f->memory);
    memory_free(f);
}

/* Who failed in upstream's words; a bind that was stopped before its Binding was sent never left
 * PreBind. None: the bind itself. */
static enum bind_plugin failed_plugin(const struct flight *f, bool bound)
{
    bool by_us = f->posts > 0 && f->extender == NULL && f->failed_plugin != BIND_PLUGIN_hook;
    if (bound || by_us)
        return BIND_PLUGIN_none;
    return f->failed_plugin != BIND_PLUGIN_none ? f->failed_plugin : prebind_plugin(&f->bind);
}

static void measure(const struct flight *f, bool bound)
{
    bool posted = f->ready.ns != 0;
    struct moment ready = posted ? f->ready : f->over;
    measure_bind(&f->bind, &(struct measured_bind){.prepared = prebind_needed(&f->bind),
                                                   .posted = posted,
                                                   .bound = bound,
                                                   .delegated = f->extender != NULL || f->by_hook,
                                                   .preparing = moment_since(ready, f->taken),
                                                   .posting = moment_since(f->over, ready)});
}

static void send_answer(struct flight *f, bool bound)
{
    struct arena a = {0};
    struct bind_result result = result_of(&f->bind);
    result.bound = bound;
    result.gone = f->gone;
    result.code = f->code;
    result.message = bound ? (struct str){0} : buffer_str(&f->message);
    result.elapsed_us = moment_since(f->over, f->taken).ns / 1000;
    result.plugin = failed_plugin(f, bound);
    if (f->prebind != NULL)
        prebind_tell(f->prebind, &result, &a);
    answer(f->binds, &result);
    arena_free(&a);
}

/* The end, at which the scheduler is told; nothing more will be written. */
static void conclude(struct flight *f, struct instant at, bool bound)
{
    struct binds *b = f->binds;
    if (f->over.ns == 0)
        f->over = at.now;
    int64_t took_ns = moment_since(f->over, f->taken).ns;
    send_answer(f, bound);
    if (bound) {
        if (!prebind_needed(&f->bind)) /* else it is the volumes' time, not ours */
            b->latencies[b->measured++ % LATENCIES] = took_ns;
        log_debug("bound|pod=%.*s/%.*s node=%.*s took_us=%lld", STR_ARG(f->bind.namespace_name),
                  STR_ARG(f->bind.name), STR_ARG(f->bind.node_name), (long long)(took_ns / 1000));
    } else {
        log_info("not bound|pod=%.*s/%.*s node=%.*s code=%d reason=\"%.*s\"",
                 STR_ARG(f->bind.namespace_name), STR_ARG(f->bind.name), STR_ARG(f->bind.node_name),
                 f->code, STR_ARG(buffer_str(&f->message)));
    }
    measure(f, bound);
    if (bound)
        hooked_tell(&f->bind);
    traced_bind(f, at, bound);
    b->options.ended(b->options.owner, at, &f->bind, bound);
    flight_free(f, at);
}

static bool message_has(const struct flight *f, const char *text)
{
    return f->message.len > 0 && strstr(f->message.at, text) != NULL;
}

static void on_undone(void *owner, struct instant at, const struct release_end *how);

/* What a bind that failed has left behind in claims is taken back, one after another, as upstream's
 * Unreserve does. False: there is nothing more. */
static bool undo(struct flight *f, struct instant at)
{
    struct binds *b = f->binds;
    while (f->prebind != NULL && prebind_left(f->prebind, &f->undone, &f->undo)) {
        f->undoing = release_new(&(struct release_options){.lanes = b->lanes,
                                                           .random = &b->random,
                                                           .owner = f,
                                                           .ended = on_undone,
                                                           .forbidden = b->options.forbidden,
                                                           .forbidden_owner = b->options.owner},
                                 &f->undo, at.now);
        if (f->undoing != NULL)
            return true;
    }
    return false;
}

/* What could not be taken back is found by the next attempt. */
static void on_undone(void *owner, struct instant at, const struct release_end *how)
{
    struct flight *f = owner;
    if (!how->done)
        log_warn("a claim keeps what a failed bind left|what=%.*s claim=%.*s/%.*s code=%d "
                 "reason=\"%.*s\"",
                 STR_ARG(words_text(&claim_step_words, f->undo.what)),
                 STR_ARG(f->undo.namespace_name), STR_ARG(f->undo.claim), how->code,
                 STR_ARG(how->message));
    else if (f->undo.what == CLAIM_delete)
        prebind_unmade(f->prebind);
    release_free(&f->undoing);
    if (!undo(f, at))
        conclude(f, at, false);
}

/* A pod that is on a node, wherever, needs its claims. */
static void end(struct flight *f, struct instant at, bool bound, bool gone)
{
    f->over = at.now;
    f->gone = gone;
    if (bound || message_has(f, "already assigned to node") || !undo(f, at))
        conclude(f, at, bound);
}

static void say(struct flight *f, int code, struct str message)
{
    f->code = code;
    buffer_reset(&f->message);
    buffer_add_str(&f->message, message);
}

static struct moment backoff(struct flight *f, struct moment now, int retry_after_s)
{
    return pause_long(&f->binds->random, now, f->waits++, retry_after_s);
}

/* Does the conflict name the node that was asked for? */
static bool names_our_node(const struct flight *f)
{
    char text[300];
    snprintf(text, sizeof(text), "already assigned to node \"%.*s\"", STR_ARG(f->bind.node_name));
    return message_has(f, text);
}

/* ---- POST ---- */

static const struct job_type ask_job;

static void prepare_post(struct job *job, struct instant at, struct draft *draft)
{
    struct flight *f = (struct flight *)job;
    draft->method = KUBE_POST;
    draft->content_type = draft->may_protobuf ? WRITES_PROTOBUF : WRITES_JSON;
    draft->unread = true;
    writes_path(&draft->path, "/api/v1", f->bind.namespace_name, "pods", f->bind.name);
    buffer_add_text(&draft->path, "/binding");
    if (draft->may_protobuf)
        writes_binding_protobuf(&draft->body, &f->bind);
    else
        writes_binding(&draft->body, &f->bind);
    f->sent = at.now;
    f->posts++;
}

static void ask(struct flight *f, struct moment due)
{
    f->job.type = &ask_job;
    lanes_again(f->binds->lanes, LANE_bind, &f->job, due);
}

static const struct job_type post_job;

static void post_again(struct flight *f, struct moment due)
{
    f->binds->stats.retried++;
    f->job.type = &post_job;
    lanes_again(f->binds->lanes, LANE_bind, &f->job, due);
}

/* The server says no, now. A POST of which nobody heard may be carried out as long as a write may
 * last, whoever has it; somebody else would have been given its room by then. */
static void refused(struct flight *f, struct instant at)
{
    if (!f->open || moment_reached(at.now, f->open_until))
        end(f, at, false, false);
    else if (f->no_reads)
        post_again(f, f->open_until); /* its conflict tells */
    else
        ask(f, f->open_until);
}

/* The server did not take it now: again later, or give up. */
static void wait_or_end(struct flight *f, struct instant at, const struct kube_response *r)
{
    struct moment due = backoff(f, at.now, r->retry_after_s);
    if (moment_reached(due, moment_after(f->ready, f->binds->options.give_up)))
        refused(f, at);
    else
        post_again(f, due);
}

/* One that names our node may be by somebody else, for another pod of that name. One that says that
 * the pod is being deleted says nothing of a POST before it that nobody heard of. */
static void on_conflict(struct flight *f, struct instant at)
{
    bool ours = names_our_node(f), gone = message_has(f, "Precondition failed: UID");
    bool told = gone || message_has(f, "already assigned to node") || !f->doubt || f->no_reads;
    f->waits = 0;
    if (ours ? f->no_reads : told)
        end(f, at, ours, gone);
    else
        ask(f, at.now);
}

static void tell_forbidden(const struct flight *f, const char *verb, const char *resource,
                           const struct kube_response *r)
{
    const struct binds_options *o = &f->binds->options;
    if (r->status == 403 && o->forbidden)
        o->forbidden(o->owner, verb, resource, f->bind.namespace_name, r);
}

static void note_open(struct flight *f, const struct kube_response *r)
{
    if (!answer_is_open(r))
        return; /* one that was sent before may be */
    f->open = true;
    f->open_until = moment_after(f->sent, span_of_ms(LANES_WRITE_MS));
}

static void posted(struct job *job, struct instant at, const struct kube_response *r)
{
    struct flight *f = (struct flight *)job;
    if (answer_is_good(r)) {
        f->code = r->status;
        end(f, at, true, false);
        return;
    }
    f->code = r->status;
    reason_of(r, &f->message);
    tell_forbidden(f, "create", "pods/binding", r);
    if (r->status == 409) {
        on_conflict(f, at);
    } else if (r->status == 404) {
        end(f, at, false, true);
    } else if (answer_is_doubtful(r)) {
        f->binds->stats.doubts += !f->doubt;
        f->doubt = true;
        note_open(f, r);
        f->waits = 0;
        ask(f, at.now);
    } else if (answer_is_busy(r)) {
        wait_or_end(f, at, r);
    } else {
        refused(f, at);
    }
}

static const struct job_type post_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare_post, .answered = posted};

/* ---- GET ---- */

static void prepare_get(struct job *job, struct instant at, struct draft *draft)
{
    struct flight *f = (struct flight *)job;
    (void)at;
    draft->method = KUBE_GET;
    writes_path(&draft->path, "/api/v1", f->bind.namespace_name, "pods", f->bind.name);
}

static void on_truth(struct flight *f, struct instant at, const struct writes_pod *pod)
{
    char text[600];
    f->binds->stats.resolved += f->doubt;
    if (!str_equal(pod->uid, f->bind.uid)) {
        say(f, 404, STR_LITERAL("the pod was replaced by another one of its name"));
        end(f, at, false, true);
    } else if (str_equal(pod->node_name, f->bind.node_name)) {
        f->code = 200;
        end(f, at, true, false);
    } else if (pod->node_name.len > 0) {
        snprintf(text, sizeof(text), "pod %.*s is already assigned to node \"%.*s\"",
                 STR_ARG(f->bind.name), STR_ARG(pod->node_name));
        say(f, 409, str_of(text));
        end(f, at, false, false);
    } else if (f->open && f->posts < POSTS_MAX && !pod->deleting &&
               !moment_reached(at.now, moment_after(f->ready, f->binds->options.give_up))) {
        post_again(f, backoff(f, at.now, -1));
    } else if (pod->deleting) {
        end(f, at, false, false); /* no Binding of it is taken any more */
    } else {
        refused(f, at);
    }
}

static void asked(struct job *job, struct instant at, const struct kube_response *r)
{
    struct flight *f = (struct flight *)job;
    struct arena a = {0};
    struct writes_pod pod;
    tell_forbidden(f, "get", "pods", r);
    if (r->status == 200 && writes_pod_read(r->body, &pod, &a)) {
        f->waits = f->open ? f->waits : 0;
        on_truth(f, at, &pod);
    } else if (r->status == 404) {
        f->binds->stats.resolved += f->doubt;
        f->code = r->status;
        reason_of(r, &f->message);
        end(f, at, false, true);
    } else if (r->status == 403 && (f->extender != NULL || f->by_hook)) {
        end(f, at, false, false); /* it said no, and there is nobody else to ask */
    } else if (r->status == 403) {
        f->no_reads = true;
        post_again(f, backoff(f, at.now, -1));
    } else {
        ask(f, backoff(f, at.now, r->retry_after_s));
    }
    arena_free(&a);
}

static const struct job_type ask_job = {
    .fenced = false, .timeout = {5000000000}, .prepare = prepare_get, .answered = asked};

/* ---- a bind that an extender makes ---- */

static void prepare_extender(struct job *job, struct instant at, struct draft *draft)
{
    struct flight *f = (struct flight *)job;
    (void)at;
    draft->method = KUBE_POST;
    draft->content_type = WRITES_JSON;
    buffer_print(&draft->path, "/%.*s", STR_ARG(f->extender->bind_verb));
    wire_bind_body(&draft->body, &f->bind);
    f->posts++;
}

/* The extender may have bound the pod, whatever it says or does not say: upstream waits for the
 * watch to tell, we ask. */
static void extended(struct job *job, struct instant at, const struct kube_response *r)
{
    struct flight *f = (struct flight *)job;
    f->code = r->status;
    if (!extended_failed(f->extender, r, &f->message)) {
        end(f, at, true, false);
        return;
    }
    log_warn("an extender did not bind|pod=%.*s/%.*s node=%.*s error=\"%.*s\" ignored=%s",
             STR_ARG(f->bind.namespace_name), STR_ARG(f->bind.name), STR_ARG(f->bind.node_name),
             STR_ARG(buffer_str(&f->message)), f->extender->ignorable ? "true" : "false");
    f->job.timeout_max = (struct span){0};
    if (f->extender->ignorable) {
        f->extender = NULL;
        post_again(f, at.now);
    } else {
        f->failed_plugin = BIND_PLUGIN_extender;
        f->binds->stats.doubts += !f->doubt;
        f->doubt = true;
        ask(f, at.now);
    }
}

static const struct job_type extender_job = {
    .fenced = true, .timeout = {600000000000}, .prepare = prepare_extender, .answered = extended};

/* False: the bind has ended, as two processes run different configurations. */
static bool find_extender(struct flight *f, struct instant at)
{
    const struct api *api = &f->binds->options.api;
    if (f->bind.extenders.count == 0)
        return true;
    if (!f->has_route)
        f->extender = api->extender(api->state, &f->bind, &f->job.route);
    if (f->extender != NULL) {
        f->has_route = true;
        f->job.timeout_max = f->extender->http_timeout;
        return true;
    }
    say(f, 0, STR_LITERAL("the binder runs another configuration than the scheduler"));
    end(f, at, false, false);
    return false;
}

/* ---- requests from the scheduler ---- */

static void post(struct flight *f, struct instant at)
{
    f->ready = at.now;
    if (!find_extender(f, at))
        return;
    f->job.type = f->extender != NULL ? &extender_job : &post_job;
    enum lane lane = f->extender != NULL ? LANE_extender : LANE_bind;
    if (lanes_add(f->binds->lanes, lane, &f->job, at.now))
        return;
    say(f, 0, STR_LITERAL("the bind lane is full"));
    end(f, at, false, false);
}

/* Who may have bound the pod is not believed that it has not: the pod is read. */
static void on_hooks_ended(void *owner, struct instant at, enum hooked_result how,
                           struct str message)
{
    struct flight *f = owner;
    f->code = how == HOOKED_bound ? 200 : 0;
    if (how == HOOKED_failed || how == HOOKED_unbound)
        f->failed_plugin = BIND_PLUGIN_hook;
    if (message.len > 0)
        say(f, 0, message);
    if (how == HOOKED_ready) {
        f->by_hook = false;
        hooked_free(&f->hooked);
        post(f, at);
    } else if (how == HOOKED_unbound) {
        f->binds->stats.doubts += !f->doubt;
        f->doubt = true;
        ask(f, at.now);
    } else {
        end(f, at, how == HOOKED_bound, false);
    }
}

static void on_hook_binds(void *owner, struct instant at)
{
    struct flight *f = owner;
    f->ready = at.now;
    f->by_hook = true;
    f->posts++;
}

/* The claims are there. */
static void go_on(struct flight *f, struct instant at)
{
    struct binds *b = f->binds;
    if (!hooked_needed(&f->bind)) {
        post(f, at);
        return;
    }
    f->hooked = hooked_new(&(struct hooked_options){.plugins = b->options.plugins,
                                                    .bus = b->options.bus,
                                                    .lanes = b->lanes,
                                                    .random = &b->random,
                                                    .give_up = b->options.give_up,
                                                    .owner = f,
                                                    .ended = on_hooks_ended,
                                                    .binds = on_hook_binds},
                           &f->bind);
    hooked_begin(f->hooked, at);
}

static void on_prebind_ended(void *owner, struct instant at, const struct prebind_end *how)
{
    struct flight *f = owner;
    if (how->ready) {
        f->prepared = true;
        go_on(f, at);
        return;
    }
    if (!how->cancelled)
        say(f, how->code, how->message);
    f->failed_plugin = how->plugin;
    end(f, at, false, how->gone);
}

static void on_waiting(void *owner, struct instant at)
{
    const struct flight *f = owner;
    const struct binds_options *o = &f->binds->options;
    if (o->waiting != NULL)
        o->waiting(o->owner, at, &f->bind);
}

static void launch(struct flight *f, struct instant at)
{
    struct binds *b = f->binds;
    f->blocked = false;
    if (!prebind_needed(&f->bind)) {
        go_on(f, at);
        return;
    }
    f->prebind = prebind_new(&(struct prebind_options){.lanes = b->lanes,
                                                       .turns = b->turns,
                                                       .random = &b->random,
                                                       .give_up = b->options.give_up,
                                                       .owner = f,
                                                       .ended = on_prebind_ended,
                                                       .waiting = on_waiting,
                                                       .forbidden = b->options.forbidden,
                                                       .forbidden_owner = b->options.owner},
                             &f->bind, at);
    if (f->prebind != NULL)
        return;
    say(f, 0, STR_LITERAL("too many binds wait for their claims"));
    end(f, at, false, false);
}

static struct flight *flight_new(struct binds *b, const struct bind *bind)
{
    struct flight *f = memory_take(sizeof(*f));
    f->memory.first = FLIGHT_BYTES;
    codec_copy(message_info[MSG_bind].record, &f->bind, bind, &f->memory);
    f->binds = b;
    must(map_set(b->flights, f->bind.uid, f) == NULL);
    return f;
}

void binds_add(struct binds *b, struct instant at, const struct bind *bind, bool blocked)
{
    struct flight *f = map_get(b->flights, bind->uid);
    if (f != NULL) {
        b->stats.doubled++;
        if (!str_equal(f->bind.node_name, bind->node_name))
            binds_refuse(b, bind, 409, "a bind of this pod to another node is under way");
        return;
    }
    f = flight_new(b, bind);
    f->taken = at.now;
    f->blocked = blocked;
    if (!blocked)
        launch(f, at);
}

void binds_go(struct binds *b, struct instant at, struct str uid)
{
    struct flight *f = map_get(b->flights, uid);
    if (f != NULL && f->blocked)
        launch(f, at);
}

bool binds_cancel(struct binds *b, struct instant at, struct str uid, const struct str *node_name,
                  struct str why)
{
    struct flight *f = map_get(b->flights, uid);
    if (f == NULL || f->posts > 0 ||
        (node_name != NULL && !str_equal(f->bind.node_name, *node_name)))
        return false;
    if (f->cancelled || f->undoing != NULL)
        return true;
    say(f, 0, why);
    if (f->job.place != JOB_idle) /* in the line: it is sent no more while claims are put back */
        lanes_remove(b->lanes, &f->job);
    f->cancelled = f->prebind != NULL && !f->prepared && !prebind_cancel(f->prebind, at);
    f->cancelled |= f->hooked != NULL && !hooked_cancel(f->hooked);
    if (!f->cancelled)
        end(f, at, false, false);
    return true;
}

static void drop(struct binds *b, struct instant at, const char *why, bool all)
{
    size_t place = 0;
    struct str uid;
    void *value;
    while (map_next(b->flights, &place, &uid, &value)) {
        struct flight *f = value;
        if (!all && f->posts > 0)
            continue;
        if (f->undoing == NULL)
            say(f, 0, str_of(why));
        conclude(f, at, false);
    }
}

void binds_drop_waiting(struct binds *b, struct instant at, const char *why)
{
    drop(b, at, why, false);
}

void binds_drop_all(struct binds *b, struct instant at, const char *why)
{
    drop(b, at, why, true);
}

/* ---- life ---- */

void binds_free(struct binds **binds)
{
    struct binds *b = *binds;
    size_t place = 0;
    struct str uid;
    void *value;
    if (b == NULL)
        return;
    while (map_next(b->flights, &place, &uid, &value))
        flight_free(value, (struct instant){0});
    binds_flush(b, NULL);
    map_free(&b->flights);
    claim_turns_free(&b->turns);
    memory_free(b);
    *binds = NULL;
}
