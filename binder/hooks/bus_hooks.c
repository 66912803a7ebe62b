/* bus_hooks: what a plugin's answer, or its failure, means for a bind; who is asked, in which order
 * and for how long is proto/plugins/asking. What must stay true: a question that was added ends
 * once, unless it is dropped; only a plugin that says "bound" has bound the pod, and one that fails
 * at Bind may have. */
#include "binder/hooks/bus_hooks.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/metrics.h"

struct bus_hooks {
    struct asking asking;
    struct instant at; /* of the call into here that goes on */
};

static bool at_bind(const struct plugin_question *q)
{
    return q->step == PLUGIN_STEP_bind;
}

/* The node goes by name alone: who needs more of it has heard of it at Filter or Reserve. */
static bool fill(void *state, const struct plugin_question *q, struct message *m, struct arena *a)
{
    const struct bus_hook *h = q->owner;
    struct plugin_node *node = arena_take(a, sizeof(*node));
    (void)state;
    *node = (struct plugin_node){.name = h->bind->node_name};
    m->plugin_ask = (struct plugin_ask){.step = q->step, .nodes = {1, node}};
    if (h->bind->told.count > 0)
        m->plugin_ask.pod = h->bind->told.at[0];
    return true;
}

static struct str problem(void *state, const struct plugin_question *q, const struct message *said,
                          struct arena *a)
{
    struct str verdict = said->plugin_answer.verdict;
    (void)state;
    if (verdict.len == 0 || str_is(verdict, at_bind(q) ? "bound" : "allow") ||
        str_is(verdict, "deny"))
        return (struct str){NULL, 0};
    return arena_print(a, "answered with an unknown verdict: \"%.*s\"", STR_ARG(verdict));
}

static void measure(const struct plugin_question *q, const char *status, struct span took)
{
    const struct str *values =
        METRIC_VALUES(q->plugin->name, str_of(at_bind(q) ? "Bind" : "PreBind"), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   took.ns);
}

static void say_failed(struct bus_hooks *hooks, struct moment now, const struct bus_hook *h,
                       struct str why)
{
    if (log_limited(&hooks->asking.who.log, now))
        log_warn("a plugin failed|pod=%.*s/%.*s why=\"%.*s\" ignored=%s",
                 STR_ARG(h->bind->namespace_name), STR_ARG(h->bind->name), STR_ARG(why),
                 h->question.plugin->ignore ? "yes" : "no");
}

/* It said nothing of use. */
static void failed(struct bus_hooks *hooks, struct moment now, struct bus_hook *h,
                   const struct plugin_end *how)
{
    const struct plugin_question *q = &h->question;
    enum bus_hook_result ignored = at_bind(q) ? BUS_HOOK_skip : BUS_HOOK_done;
    measure(q, "Error", how->took);
    say_failed(hooks, now, h, how->why);
    h->ended(h->owner, hooks->at, q->plugin->ignore ? ignored : BUS_HOOK_failed, how->why);
}

static void ended(void *state, struct moment now, struct plugin_question *q,
                  const struct plugin_end *how)
{
    struct bus_hooks *hooks = state;
    struct bus_hook *h = q->owner;
    if (how->answer == NULL) {
        failed(hooks, now, h, how);
        return;
    }
    const struct plugin_answer *said = &how->answer->plugin_answer;
    if (str_is(said->verdict, "deny")) {
        struct str why = said->reason.len > 0 ? said->reason : STR_LITERAL("it does not allow it");
        measure(q, "Error", how->took);
        h->ended(h->owner, hooks->at, BUS_HOOK_failed, why);
        return;
    }
    bool skips = at_bind(q) && said->verdict.len == 0;
    measure(q, skips ? "Skip" : "Success", how->took);
    h->ended(h->owner, hooks->at, skips ? BUS_HOOK_skip : BUS_HOOK_done, (struct str){NULL, 0});
}

/* ---- what others call ---- */

const struct bus_plugin *bus_hooks_find(const struct bind *bind, struct str name)
{
    for (uint32_t i = 0; i < bind->bus_plugins.count; i++)
        if (str_equal(bind->bus_plugins.at[i].name, name))
            return &bind->bus_plugins.at[i];
    return NULL;
}

bool bus_hooks_ask(struct bus_hooks *hooks, struct bus_hook *h, enum plugin_step step,
                   const struct bus_plugin *plugin)
{
    h->question = (struct plugin_question){.plugin = plugin, .step = step, .owner = h};
    return asking_add(&hooks->asking, &h->question);
}

void bus_hooks_drop(struct bus_hooks *hooks, struct bus_hook *h)
{
    asking_drop(&hooks->asking, &h->question);
}

bool bus_hooks_take(struct bus_hooks *hooks, struct instant at, const struct delivery *in)
{
    struct asking *a = &hooks->asking;
    const struct message *m = in->message;
    if (in->from.process != PLUGIN)
        return false;
    hooks->at = at;
    switch (m->type) {
    case MSG_peer_up: asking_up(a, at.now, m->peer_up.instance, in->from.peer); break;
    case MSG_peer_down: asking_down(a, in->from.peer); break;
    case MSG_plugin_answer:
        asking_answered(a, at.now, in->from.peer, m->plugin_answer.id, m);
        break;
    default: return false;
    }
    return true;
}

struct moment bus_hooks_tick(struct bus_hooks *hooks, struct instant at, struct outbox *out)
{
    hooks->at = at;
    return asking_tick(&hooks->asking, at.now, out);
}

void bus_hooks_status(const struct bus_hooks *hooks, struct moment now, struct buffer *lines)
{
    processes_status(&hooks->asking.who, now, lines);
}

/* ---- life ---- */

struct bus_hooks *bus_hooks_new(void)
{
    struct bus_hooks *hooks = memory_take(sizeof(*hooks));
    hooks->asking.options =
        (struct asking_options){.state = hooks, .fill = fill, .problem = problem, .ended = ended};
    return hooks;
}

void bus_hooks_free(struct bus_hooks **hooks)
{
    if (*hooks == NULL)
        return;
    asking_configure(&(*hooks)->asking, NULL, 0); /* which finds what is still open */
    memory_free(*hooks);
    *hooks = NULL;
}
