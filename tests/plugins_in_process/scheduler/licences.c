/* Licences, at Reserve: pods with the label plugins.example/licence need it, and each licence is
 * for one pod in the cluster. A pod whose licence is taken is turned away; one that did not get to
 * be bound gives it back. The licence "broken" is one whose server is down. */
#include "proto/base/log.h"
#include "scheduler/rules/plugin.h"

static struct str licence_of(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (str_is(pod->labels.at[i].key, "plugins.example/licence"))
            return pod->labels.at[i].value;
    return (struct str){0};
}

struct search {
    const struct attempt_question *question;
    struct str licence;
    bool taken;
};

static void look_at_pod(void *context, const struct pod *pod, bool assumed)
{
    struct search *s = context;
    (void)assumed;
    s->taken |= str_equal(licence_of(pod), s->licence);
}

static void look_at_node(void *context, struct str name)
{
    struct search *s = context;
    const struct cluster_view *cluster = &s->question->cluster;
    cluster->pods(cluster->state, name, look_at_pod, s);
}

static struct hook_reply reserve(const struct attempt_question *q)
{
    struct search s = {.question = q, .licence = licence_of(q->pod)};
    if (s.licence.len == 0)
        return (struct hook_reply){.code = CODE_success};
    if (str_is(s.licence, "broken"))
        return (struct hook_reply){CODE_error, STR_LITERAL("the licence server is down")};
    q->cluster.nodes(q->cluster.state, look_at_node, &s);
    if (s.taken)
        return (struct hook_reply){
            CODE_unschedulable,
            arena_print(q->arena, "the licence %.*s is taken", STR_ARG(s.licence))};
    struct str *kept = arena_take(q->kept, sizeof(*kept));
    *kept = arena_copy(q->kept, s.licence);
    *q->state = kept;
    return (struct hook_reply){.code = CODE_success};
}

static void unreserve(const struct attempt_question *q)
{
    const struct str *kept = *q->state;
    if (kept != NULL)
        log_info("licence given back| licence=%.*s pod=%.*s", STR_ARG(*kept),
                 STR_ARG(q->pod->name));
}

const struct plugin plugin_licences = {
    .name = "Licences",
    .reserve = reserve,
    .unreserve = unreserve,
};
