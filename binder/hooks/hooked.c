/* hooked: a cursor over the plugins that a bind names, and one job for what they ask to be sent, or
 * one question to a plugin on the bus. The one idea: a hook is called until it asks for nothing
 * more. What must stay true: at most one request or question is under way; no hook is asked for
 * ever; and a write is sent under the fence alone, but for those of processes on the bus. */
#include "binder/hooks/hooked.h"

#include "binder/hooks/bus_hooks.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "proto/base/memory.h"
#include "proto/metrics.h"

enum hook_point { AT_pre_bind, AT_bind };

struct hooked {
    struct job job; /* first */
    struct hooked_options options;
    const struct bind *bind;
    enum hook_point point;
    uint32_t index; /* of the plugin, in the point's list */
    const struct binder_plugin *plugin;
    const struct bus_plugin *on_bus; /* in place of it; NULL: it is none */
    struct bus_hook question;        /* to that one */
    uint32_t asked;
    void *state;
    struct arena memory;
    struct bind_reply reply; /* with the request that is under way */
    int failures;            /* in a row, against a busy server */
    struct moment give_up, began;
    bool binding, cancelled;
};

/* clang-format off */
#define BINDER_PLUGIN(file) extern const struct binder_plugin binder_plugin_##file;
#include "proto/plugins.def"

static const struct binder_plugin *const registry[] = {
#define BINDER_PLUGIN(file) &binder_plugin_##file,
#include "proto/plugins.def"
    NULL
};
/* clang-format on */

static const struct binder_plugin *find(const struct binder_plugin *const *plugins, struct str name)
{
    for (; *plugins != NULL; plugins++)
        if (str_is(name, (*plugins)->name))
            return *plugins;
    return NULL;
}

static const char *point_name(enum hook_point point)
{
    return point == AT_pre_bind ? "PreBind" : "Bind";
}

static void count(const char *plugin, const char *point, const char *status, struct span took)
{
    const struct str *values = METRIC_VALUES(str_of(plugin), str_of(point), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   took.ns);
}

static const struct strs *list_of(const struct hooked *h)
{
    return h->point == AT_pre_bind ? &h->bind->pre_bind : &h->bind->binders;
}

/* ---- ends: the last thing that is done ---- */

static void end(struct hooked *h, struct instant at, enum hooked_result how, struct str message)
{
    h->options.ended(h->options.owner, at, how, message);
}

static void fail(struct hooked *h, struct instant at, struct str why)
{
    struct str name = list_of(h)->at[h->index];
    struct str message = arena_print(&h->memory, "running %s plugin \"%.*s\": %.*s",
                                     point_name(h->point), STR_ARG(name), STR_ARG(why));
    end(h, at, h->binding ? HOOKED_unbound : HOOKED_failed, message);
}

/* ---- one plugin after the other ---- */

static void next(struct hooked *h)
{
    h->index++;
    h->plugin = NULL;
    h->on_bus = NULL;
    h->asked = 0;
    h->state = NULL;
}

static bool has_hook(const struct hooked *h)
{
    return h->plugin != NULL &&
           (h->point == AT_pre_bind ? h->plugin->pre_bind : h->plugin->bind) != NULL;
}

/* Stands at a plugin that is to be called. False: it has ended. */
static bool find_next(struct hooked *h, struct instant at)
{
    if (h->point == AT_pre_bind && h->index == h->bind->pre_bind.count) {
        h->point = AT_bind;
        h->index = 0;
    }
    bool binds = h->point == AT_bind;
    if (binds && (h->bind->binders.count == 0 || h->bind->extenders.count > 0)) {
        end(h, at, HOOKED_ready, (struct str){0});
        return false;
    }
    if (binds && h->index == h->bind->binders.count) {
        end(h, at, HOOKED_failed, STR_LITERAL("all Bind plugins have skipped the pod"));
        return false;
    }
    struct str name = list_of(h)->at[h->index];
    if (binds && str_is(name, "DefaultBinder")) {
        end(h, at, HOOKED_ready, (struct str){0});
        return false;
    }
    h->plugin = find(h->options.plugins, name);
    h->on_bus = bus_hooks_find(h->bind, name);
    if (has_hook(h) || h->on_bus != NULL)
        return true;
    fail(h, at, STR_LITERAL("this binder has no such plugin"));
    return false;
}

/* From here on the pod may get bound. */
static void begin_binding(struct hooked *h, struct instant at)
{
    if (h->binding)
        return;
    h->binding = true;
    h->options.binds(h->options.owner, at);
}

static void go_on(struct hooked *h, struct instant at, const struct bind_answer *answer);

static void answered_on_bus(void *owner, struct instant at, enum bus_hook_result how,
                            struct str why)
{
    struct hooked *h = owner;
    if (how == BUS_HOOK_failed) {
        fail(h, at, why);
    } else if (h->point == AT_bind && how == BUS_HOOK_done) {
        end(h, at, HOOKED_bound, (struct str){0});
    } else {
        next(h);
        go_on(h, at, NULL);
    }
}

/* What such a plugin writes is out of our sight. */
static void ask_on_bus(struct hooked *h, struct instant at)
{
    bool binds = h->point == AT_bind;
    if (binds)
        begin_binding(h, at);
    h->question.bind = h->bind;
    h->question.owner = h;
    h->question.ended = answered_on_bus;
    if (!bus_hooks_ask(h->options.bus, &h->question,
                       binds ? PLUGIN_STEP_bind : PLUGIN_STEP_pre_bind, h->on_bus))
        fail(h, at, STR_LITERAL("too many plugins on the bus are asked at once"));
}

static const struct job_type read_job, write_job;

static void send(struct hooked *h, struct instant at)
{
    enum lane lane = h->point == AT_bind ? LANE_bind : LANE_volume;
    bool reads = h->reply.request.method == KUBE_GET;
    if (++h->asked > BIND_REQUESTS_MAX) {
        fail(h, at, STR_LITERAL("it asks for too many requests"));
        return;
    }
    if (!reads && h->point == AT_bind)
        begin_binding(h, at);
    h->failures = 0;
    h->give_up = moment_after(at.now, h->options.give_up);
    h->job.type = reads ? &read_job : &write_job;
    if (!lanes_add(h->options.lanes, lane, &h->job, at.now))
        fail(h, at, STR_LITERAL("too many requests wait"));
}

static const char *status_of(enum bind_says says)
{
    return says == BIND_SAYS_fail ? "Error" : says == BIND_SAYS_skip ? "Skip" : "Success";
}

static void call(struct hooked *h, const struct bind_answer *answer)
{
    const struct bind_question q = {.bind = h->bind,
                                    .answer = answer,
                                    .asked = h->asked,
                                    .arena = &h->memory,
                                    .state = &h->state};
    h->reply = (struct bind_reply){.says = BIND_SAYS_done};
    (h->point == AT_pre_bind ? h->plugin->pre_bind : h->plugin->bind)(&q, &h->reply);
}

/* answer: to the plugin at which it stands; NULL: it has asked for nothing yet. */
static void go_on(struct hooked *h, struct instant at, const struct bind_answer *answer)
{
    for (;; answer = NULL) {
        if (answer == NULL) {
            if (!find_next(h, at))
                return;
            if (h->on_bus != NULL) {
                ask_on_bus(h, at);
                return;
            }
            h->began = at.now;
        }
        call(h, answer);
        if (h->reply.says == BIND_SAYS_request) {
            send(h, at);
            return;
        }
        count(h->plugin->name, point_name(h->point), status_of(h->reply.says),
              moment_since(at.now, h->began));
        if (h->reply.says == BIND_SAYS_fail) {
            fail(h, at, h->reply.reason);
            return;
        }
        if (h->point == AT_bind && h->reply.says == BIND_SAYS_done) {
            end(h, at, HOOKED_bound, (struct str){0});
            return;
        }
        next(h);
    }
}

/* ---- what is sent ---- */

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    const struct hooked *h = (const struct hooked *)job;
    (void)at;
    draft->method = h->reply.request.method;
    draft->content_type = h->reply.request.content_type;
    buffer_add_str(&draft->path, h->reply.request.path);
    buffer_add_str(&draft->body, h->reply.request.body);
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct hooked *h = (struct hooked *)job;
    if (h->cancelled) {
        end(h, at, HOOKED_cancelled, (struct str){0});
        return;
    }
    struct moment due = pause_long(h->options.random, at.now, h->failures++, r->retry_after_s);
    if (answer_is_busy(r) && !moment_reached(due, h->give_up)) {
        lanes_again(h->options.lanes, h->point == AT_bind ? LANE_bind : LANE_volume, job, due);
        return;
    }
    const struct bind_answer answer = {
        .status = r->status, .error = r->error, .body = r->body, .maybe_done = r->maybe_done};
    go_on(h, at, &answer);
}

static const struct job_type read_job = {
    .timeout = {5000000000}, .prepare = prepare, .answered = answered};
static const struct job_type write_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare, .answered = answered};

/* ---- life ---- */

bool hooked_needed(const struct bind *bind)
{
    return bind->pre_bind.count > 0 || (bind->binders.count > 0 && bind->extenders.count == 0);
}

struct hooked *hooked_new(const struct hooked_options *options, const struct bind *bind)
{
    struct hooked *h = memory_take(sizeof(*h));
    h->options = *options;
    if (h->options.plugins == NULL)
        h->options.plugins = registry;
    h->bind = bind;
    return h;
}

void hooked_begin(struct hooked *h, struct instant at)
{
    go_on(h, at, NULL);
}

bool hooked_cancel(struct hooked *h)
{
    h->cancelled = h->job.place == JOB_sent && h->job.type->fenced;
    bus_hooks_drop(h->options.bus, &h->question);
    if (!h->cancelled && h->job.place != JOB_idle)
        lanes_remove(h->options.lanes, &h->job);
    return !h->cancelled;
}

void hooked_free(struct hooked **hooked)
{
    struct hooked *h = *hooked;
    if (h == NULL)
        return;
    if (h->job.place != JOB_idle)
        lanes_remove(h->options.lanes, &h->job);
    bus_hooks_drop(h->options.bus, &h->question);
    arena_free(&h->memory);
    memory_free(h);
    *hooked = NULL;
}

void hooked_tell(const struct bind *bind)
{
    for (uint32_t i = 0; i < bind->post_bind.count; i++) {
        const struct binder_plugin *p = find(registry, bind->post_bind.at[i]);
        if (p == NULL || p->post_bind == NULL)
            continue;
        p->post_bind(bind);
        count(p->name, "PostBind", "Success", (struct span){0});
    }
}
