/* attempt_hooks: calls a plugin's hooks at Reserve, Permit and PostFilter, and counts what they
 * took. What must stay true: who has reserved is told when it came to nothing, once, the last one
 * first; and a plugin without a hook is not asked. */
#include "scheduler/rules/attempt_hooks.h"

#include "proto/metrics.h"
#include "scheduler/rules/plugin.h"

static struct moment read(hook_clock *clock)
{
    return clock != NULL ? clock() : (struct moment){0};
}

static void count(const struct plugin *p, const char *point, const char *status, int64_t took)
{
    const struct str *values = METRIC_VALUES(str_of(p->name), str_of(point), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values), took);
}

void **hooks_state(struct hooks_held *held, const struct plugin *p,
                   const struct attempt_question *q)
{
    for (uint32_t i = 0; i < held->count; i++)
        if (held->at[i].plugin == p)
            return &held->at[i].state;
    struct hook_held *more = arena_take(q->kept, (held->count + 1) * sizeof(*more));
    for (uint32_t i = 0; i < held->count; i++)
        more[i] = held->at[i];
    more[held->count] = (struct hook_held){p, NULL};
    held->at = more;
    return &more[held->count++].state;
}

struct hook_reply hook_reserve(const struct plugin *p, struct attempt_question *q,
                               struct hooks_held *held, hook_clock *clock)
{
    struct hook_reply reply = {.code = CODE_success};
    q->state = hooks_state(held, p, q);
    struct moment began = read(clock);
    if (p->reserve != NULL)
        reply = p->reserve(q);
    count(p, "Reserve", code_name(reply.code), moment_since(read(clock), began).ns);
    return reply;
}

void hooks_unreserve(struct attempt_question *q, struct hooks_held *held)
{
    while (held->count > 0) {
        struct hook_held *last = &held->at[--held->count];
        q->state = &last->state;
        if (last->plugin->unreserve != NULL)
            last->plugin->unreserve(q);
    }
}

static const char *status_of(enum permit_says says)
{
    switch (says) {
    case PERMIT_allow: return "Success";
    case PERMIT_deny: return "Unschedulable";
    case PERMIT_wait: return "Wait";
    case PERMIT_error: return "Error";
    }
    return "Error";
}

struct permit_reply hook_permit(const struct plugin *p, struct attempt_question *q,
                                struct hooks_held *held, hook_clock *clock)
{
    struct permit_reply reply = {.says = PERMIT_allow};
    q->state = hooks_state(held, p, q);
    struct moment began = read(clock);
    p->permit(q, &reply);
    if (reply.timeout_ms <= 0 || reply.timeout_ms > PERMIT_MOST_MS)
        reply.timeout_ms = PERMIT_MOST_MS;
    count(p, "Permit", status_of(reply.says), moment_since(read(clock), began).ns);
    return reply;
}

void hook_post_filter(const struct plugin *p, const struct no_node_question *q,
                      struct no_node_reply *out, hook_clock *clock)
{
    struct moment began = read(clock);
    *out = (struct no_node_reply){.code = CODE_unschedulable};
    p->post_filter(q, out);
    count(p, "PostFilter", code_name(out->code), moment_since(read(clock), began).ns);
}
