/* Partners, at Permit: a pod with the label plugins.example/partner is bound when the pod of that
 * name is on a node or on its way there; it waits for it for five seconds. The partner "none" is
 * denied, "broken" fails. */
#include "scheduler/rules/plugin.h"

static struct str partner_of(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (str_is(pod->labels.at[i].key, "plugins.example/partner"))
            return pod->labels.at[i].value;
    return (struct str){0};
}

struct search {
    const struct attempt_question *question;
    struct str partner;
    bool there;
};

static void look_at_pod(void *context, const struct pod *pod, bool assumed)
{
    struct search *s = context;
    (void)assumed;
    s->there |= str_equal(pod->name, s->partner) &&
                str_equal(pod->namespace_name, s->question->pod->namespace_name);
}

static void look_at_node(void *context, struct str name)
{
    struct search *s = context;
    const struct cluster_view *cluster = &s->question->cluster;
    cluster->pods(cluster->state, name, look_at_pod, s);
}

static void permit(const struct attempt_question *q, struct permit_reply *out)
{
    struct search s = {.question = q, .partner = partner_of(q->pod)};
    if (s.partner.len == 0)
        return;
    if (str_is(s.partner, "none"))
        *out = (struct permit_reply){.says = PERMIT_deny, .reason = STR_LITERAL("it is alone")};
    else if (str_is(s.partner, "broken"))
        *out = (struct permit_reply){.says = PERMIT_error, .reason = STR_LITERAL("out of order")};
    if (out->says != PERMIT_allow)
        return;
    q->cluster.nodes(q->cluster.state, look_at_node, &s);
    if (!s.there)
        *out = (struct permit_reply){.says = PERMIT_wait, .timeout_ms = 5000};
}

const struct plugin plugin_partners = {
    .name = "Partners",
    .permit = permit,
};
