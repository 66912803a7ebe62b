/* plugins_world: coordinator_world with plugins on the bus, whose processes the test plays. */
#ifndef TESTS_PLUGINS_WORLD_H
#define TESTS_PLUGINS_WORLD_H

#include "tests/unit/scheduler/coordinator/coordinator_world.h"

UNUSED static void comes(struct address a, const char *name)
{
    say(a, "peer_up process=\"plugin\" instance=\"%s\"", name);
}

UNUSED static void goes(struct address a)
{
    say(a, "peer_down process=\"plugin\" reason=\"disconnected\"");
}

UNUSED static void attempt_at(const char *profile, const char *name, int cpu, const char *more)
{
    say(queue,
        "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" scheduler_name=\"%s\" "
        "request=[{name=\"cpu\" amount=%d}] score_request=[{name=\"cpu\" amount=%d} "
        "{name=\"memory\" amount=209715200}] usage=[{name=\"cpu\" amount=%d}] "
        "usage_score_cpu=%d usage_score_memory=209715200 %s} attempts=1 cycle=1",
        name, name, profile, cpu, cpu, cpu, cpu, more);
}

UNUSED static struct plugin_ask asked(const char *step, const char *name)
{
    struct message m = {.type = MSG_none};
    if (!take(PLUGIN, MSG_plugin_ask, &m))
        fail_msg("no plugin is asked about %s", name);
    if (!str_is(m.plugin_ask.pod.name, name) ||
        !str_is(words_text(&plugin_step_words, m.plugin_ask.step), step))
        fail_msg("asked %.*s about %.*s",
                 STR_ARG(words_text(&plugin_step_words, m.plugin_ask.step)),
                 STR_ARG(m.plugin_ask.pod.name));
    return m.plugin_ask;
}

UNUSED static void not_asked(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(PLUGIN, MSG_plugin_ask, &m));
}

UNUSED static void answers(struct address from, const struct plugin_ask *q, const char *text)
{
    say(from, "plugin_answer id=%lld %s", (long long)q->id, text);
}

UNUSED static void bound_to(const char *name, const char *node_name)
{
    struct message m = {.type = MSG_none};
    if (!take(BINDER, MSG_bind, &m))
        fail_msg("%s is not bound", name);
    if (!str_is(m.bind.name, name) || (*node_name != 0 && !str_is(m.bind.node_name, node_name)))
        fail_msg("%.*s is bound to %.*s", STR_ARG(m.bind.name), STR_ARG(m.bind.node_name));
}

UNUSED static void not_bound(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(BINDER, MSG_bind, &m));
}

UNUSED static void told(const char *reason, const char *text)
{
    struct message m = {.type = MSG_none};
    assert_true(take(BINDER, MSG_pod_failed, &m));
    if (!str_is(words_text(&condition_reason_words, m.pod_failed.reason), reason) ||
        !str_is(m.pod_failed.message, text))
        fail_msg("%.*s: %.*s", STR_ARG(words_text(&condition_reason_words, m.pod_failed.reason)),
                 STR_ARG(m.pod_failed.message));
}

UNUSED static struct outcome landed(const char *result, const char *plugin)
{
    struct message m = {.type = MSG_none};
    assert_true(take(QUEUE, MSG_outcome, &m));
    if (!str_is(words_text(&outcome_result_words, m.outcome.result), result))
        fail_msg("%.*s", STR_ARG(words_text(&outcome_result_words, m.outcome.result)));
    assert_int_equal(m.outcome.plugins.count, *plugin != 0);
    assert_true(*plugin == 0 || str_is(m.outcome.plugins.at[0], plugin));
    return m.outcome;
}

UNUSED static bool is_back(const char *name)
{
    struct message m = {.type = MSG_none};
    return take(QUEUE, MSG_plugin_back, &m) && str_is(m.plugin_back.name, name);
}

UNUSED static bool is_told(const char *what, const char *node_name)
{
    struct message m = {.type = MSG_none};
    return take(PLUGIN, MSG_plugin_told, &m) &&
           str_is(words_text(&plugin_news_words, m.plugin_told.what), what) &&
           str_is(m.plugin_told.node, node_name);
}

#endif
