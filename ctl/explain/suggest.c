/* suggest: what would have to be different for a filter to take a pod on a node: which filter is
 * answered how, and the filters that look at nothing but the node and the pods on it. The one idea:
 * a rule says no in a constant; here the same comparison is made once more with the numbers kept.
 *
 * What must stay true: whoever does what is suggested gets past this filter, and with less than the
 * numbers say does not. */
#include "ctl/explain/suggest.h"
#include "ctl/explain/suggest_inside.h"

#include "proto/kube/objects/tolerations.h"
#include "scheduler/rules/framework.h"
#include "scheduler/table/resource.h"
#include "scheduler/table/wrap.h"

#include <inttypes.h>

void suggest_next(const struct suggest_question *q)
{
    if (q->out->len > 0)
        buffer_add_text(q->out, "; ");
}

void suggest_name(struct suggest_names *names, const struct pod *pod, struct arena *a)
{
    if (names->count < SUGGEST_NAMES)
        names->at[names->count] =
            arena_print(a, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    names->count++;
}

void suggest_print_names(struct buffer *out, const struct suggest_names *names)
{
    uint32_t shown = names->count < SUGGEST_NAMES ? names->count : SUGGEST_NAMES;
    buffer_add_text(out, names->count == 1 ? "pod " : "pods ");
    for (uint32_t i = 0; i < shown; i++) {
        bool last = i + 1 == names->count;
        const char *before = last ? " and " : ", ";
        buffer_print(out, "%s%.*s", i == 0 ? "" : before, STR_ARG(names->at[i]));
    }
    if (names->count > shown)
        buffer_print(out, " and %" PRIu32 " more", names->count - shown);
}

/* ---- NodeResourcesFit ---- */

/* In the greatest unit of which it is a whole number of hundredths. */
static void print_bytes(struct buffer *out, int64_t bytes)
{
    static const char units[] = "KMGTPE";
    for (int i = 5; i >= 0; i--) {
        int64_t unit = INT64_C(1) << (10 * (i + 1)), rest = bytes % unit;
        int64_t hundredth = unit / 4; /* of powers of two only quarters are whole hundredths */
        if (bytes < unit || rest % hundredth != 0)
            continue;
        static const char *const quarters[] = {"", ".25", ".5", ".75"};
        buffer_print(out, "%" PRId64 "%s%ci", bytes / unit, quarters[rest / hundredth], units[i]);
        return;
    }
    buffer_print(out, "%" PRId64 " byte%s", bytes, bytes == 1 ? "" : "s");
}

static void print_amount(struct buffer *out, struct str resource, int64_t amount)
{
    int fixed = resource_fixed(resource);
    if (fixed == RESOURCE_cpu) {
        bool whole = amount % 1000 == 0;
        buffer_print(out, "%" PRId64 "%s CPU", whole ? amount / 1000 : amount, whole ? "" : "m");
        return;
    }
    if (fixed >= 0 || str_starts_with(resource, "hugepages-"))
        print_bytes(out, amount);
    else
        buffer_print(out, "%" PRId64, amount);
    buffer_print(out, " %.*s", STR_ARG(resource));
}

/* What the pods on the node take of what the pod requests, in the order of its requests. */
struct takings {
    const struct pod *pod;
    int64_t pods, others; /* on the node, with and without the pod itself */
    int64_t *all, *own;   /* own: of the pod itself, if it is there */
};

static void take(void *context, const struct pod *pod, bool assumed)
{
    struct takings *t = context;
    (void)assumed;
    t->pods++;
    t->others += !str_equal(pod->uid, t->pod->uid);
    for (uint32_t i = 0; i < t->pod->request.count; i++) {
        int64_t amount =
            resource_amount(pod->usage.at, pod->usage.count, t->pod->request.at[i].name);
        t->all[i] = wrap_add(t->all[i], amount);
        if (str_equal(pod->uid, t->pod->uid))
            t->own[i] = amount;
    }
}

/* The rule knows which resources it ignores, or leaves to devices. */
static bool said(const struct rejection *why, struct str resource, struct arena *a)
{
    struct str reason = arena_print(a, "Insufficient %.*s", STR_ARG(resource));
    return strs_hold(why->reasons, reason);
}

static int64_t allocatable(const struct suggest_question *q, struct str resource)
{
    return resource_amount(q->node->allocatable.at, q->node->allocatable.count, resource);
}

/* The pod itself may be on the node, and need not go. */
static void lacks_pods(const struct suggest_question *q, const struct takings *t)
{
    int64_t more = wrap_sub(t->pods + 1, allocatable(q, STR_LITERAL("pods")));
    const char *plural = more == 1 ? "" : "s";
    if (more <= 0)
        return;
    suggest_next(q);
    if (more <= t->others)
        buffer_print(q->out, "%" PRId64 " pod%s fewer on the node", more, plural);
    else
        buffer_print(q->out, "room for %" PRId64 " pod%s more on the node", more, plural);
}

static void lacks(const struct suggest_question *q, const struct takings *t, uint32_t i)
{
    const struct quantity *asked = &q->pod->request.at[i];
    int64_t offered = allocatable(q, asked->name), wanted = asked->amount;
    if (q->pod->resize_deferred && str_equal(q->pod->node_name, q->node->name))
        wanted = wanted > t->own[i] ? wanted - t->own[i] : 0;
    int64_t room = wrap_sub(offered, t->all[i]);
    if (asked->amount <= 0 || wanted <= room || !said(q->why, asked->name, q->arena))
        return;
    suggest_next(q);
    print_amount(q->out, asked->name, wrap_sub(wanted, room));
    buffer_add_text(q->out, " more");
    if (asked->amount <= offered)
        return;
    buffer_add_text(q->out, " (the node is too small by ");
    print_amount(q->out, asked->name, wrap_sub(asked->amount, offered));
    buffer_add_text(q->out, " even when empty)");
}

static void suggest_room(const struct suggest_question *q)
{
    size_t bytes = q->pod->request.count * sizeof(int64_t);
    struct takings t = {
        .pod = q->pod, .all = arena_take(q->arena, bytes), .own = arena_take(q->arena, bytes)};
    world_each_pod_on(q->world, q->node->name, take, &t);
    if (strs_hold(q->why->reasons, STR_LITERAL("Too many pods")))
        lacks_pods(q, &t);
    for (uint32_t i = 0; i < q->pod->request.count; i++)
        lacks(q, &t, i);
}

/* ---- the node's taints ---- */

static void suggest_uncordon(const struct suggest_question *q)
{
    buffer_add_text(q->out, "uncordon the node, or tolerate "
                            "node.kubernetes.io/unschedulable:NoSchedule");
}

static bool tolerated(const struct suggest_question *q, const struct taint *taint)
{
    bool comparison = q->framework->profile.features.toleration_comparison;
    for (uint32_t i = 0; i < q->pod->tolerations.count; i++)
        if (kube_tolerates(&q->pod->tolerations.at[i], taint, comparison))
            return true;
    return false;
}

static void suggest_toleration(const struct suggest_question *q)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->node->taints.count; i++) {
        const struct taint *t = &q->node->taints.at[i];
        if ((!str_is(t->effect, "NoSchedule") && !str_is(t->effect, "NoExecute")) ||
            tolerated(q, t))
            continue;
        buffer_print(q->out, "%s%.*s%s%.*s:%.*s", count++ == 0 ? "tolerate " : " and ",
                     STR_ARG(t->key), t->value.len > 0 ? "=" : "", STR_ARG(t->value),
                     STR_ARG(t->effect));
    }
    if (count > 0)
        buffer_print(q->out, ", or take the taint%s off", count == 1 ? "" : "s");
}

/* ---- NodeName, NodeDeclaredFeatures ---- */

static void suggest_node_name(const struct suggest_question *q)
{
    if (q->pod->node_name.len > 0 && !str_equal(q->pod->node_name, q->node->name))
        buffer_print(q->out, "spec.nodeName %.*s in place of %.*s, or none", STR_ARG(q->node->name),
                     STR_ARG(q->pod->node_name));
}

static void suggest_features(const struct suggest_question *q)
{
    for (uint32_t i = 0; i < q->pod->features.count; i++) {
        if (strs_hold(q->node->features, q->pod->features.at[i]))
            continue;
        suggest_next(q);
        buffer_print(q->out, "feature %.*s declared by the node", STR_ARG(q->pod->features.at[i]));
    }
}

/* ---- NodePorts ---- */

struct holders {
    const struct host_port *wanted;
    struct suggest_names names;
    struct arena *arena;
};

static bool collide(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && str_equal(a->protocol, b->protocol) &&
           (str_equal(a->ip, b->ip) || str_is(a->ip, "0.0.0.0") || str_is(b->ip, "0.0.0.0"));
}

static void hold(void *context, const struct pod *pod, bool assumed)
{
    struct holders *h = context;
    (void)assumed;
    for (uint32_t i = 0; i < pod->ports.count; i++)
        if (collide(&pod->ports.at[i], h->wanted)) {
            suggest_name(&h->names, pod, h->arena);
            return;
        }
}

static void suggest_ports(const struct suggest_question *q)
{
    for (uint32_t i = 0; i < q->pod->ports.count; i++) {
        const struct host_port *p = &q->pod->ports.at[i];
        struct holders h = {.wanted = p, .arena = q->arena};
        world_each_pod_on(q->world, q->node->name, hold, &h);
        if (h.names.count == 0)
            continue;
        suggest_next(q);
        buffer_print(q->out, "host port %" PRId64 "/%.*s of %.*s free, which ", p->port,
                     STR_ARG(p->protocol), STR_ARG(p->ip));
        suggest_print_names(q->out, &h.names);
        buffer_add_text(q->out, h.names.count == 1 ? " has" : " have");
    }
}

/* ---- all of them ---- */

struct str suggest(const struct world *w, const struct pod *pod, const struct node *node,
                   const struct rejection *why, struct arena *a)
{
    static const struct {
        const char *plugin;
        void (*say)(const struct suggest_question *q);
    } filters[] = {{"NodeResourcesFit", suggest_room},
                   {"NodeUnschedulable", suggest_uncordon},
                   {"TaintToleration", suggest_toleration},
                   {"NodeName", suggest_node_name},
                   {"NodePorts", suggest_ports},
                   {"NodeAffinity", suggest_labels},
                   {"PodTopologySpread", suggest_spread},
                   {"InterPodAffinity", suggest_pods},
                   {"NodeDeclaredFeatures", suggest_features}};
    struct buffer out = {0};
    const struct suggest_question q = {.world = w,
                                       .framework = world_framework(w, pod),
                                       .pod = pod,
                                       .node = node,
                                       .why = why,
                                       .arena = a,
                                       .out = &out};
    for (size_t i = 0; q.framework != NULL && i < sizeof(filters) / sizeof(filters[0]); i++)
        if (str_is(why->plugin, filters[i].plugin))
            filters[i].say(&q);
    struct str line = arena_copy(a, buffer_str(&out));
    buffer_free(&out);
    return line;
}
