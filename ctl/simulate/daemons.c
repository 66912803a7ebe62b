/* daemons: the one idea: whether a DaemonSet's controller would run a pod on a node is what the
 * scheduler's own rules of node name, node affinity and taints say of the template there.
 *
 * What must stay true: a node on which the pod has no room gets one all the same, which then waits,
 * as in a cluster. */
#include "ctl/simulate/daemons.h"

#include "ctl/json_out.h"
#include "proto/base/memory.h"

/* ---- the pod ---- */

/* All members but these two. */
static void write_others(struct json_out *j, const struct kube_json *object, const char *one,
                         const char *other)
{
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), one) && !str_is(kube_json_name(i), other))
            json_value(j, i);
}

static void write_toleration(struct json_out *j, const char *key, const char *effect)
{
    json_open(j, NULL, '{');
    json_str(j, "key", str_of(key));
    json_str(j, "operator", STR_LITERAL("Exists"));
    json_str(j, "effect", str_of(effect));
    json_close(j, '}');
}

static void write_tolerations(struct json_out *j, const struct kube_json *spec)
{
    const struct kube_json *own = kube_json_get(spec, "tolerations");
    json_open(j, "tolerations", '[');
    for (const struct kube_json *i = kube_json_first(own); i != NULL; i = kube_json_next(i))
        json_value(j, i);
    write_toleration(j, "node.kubernetes.io/not-ready", "NoExecute");
    write_toleration(j, "node.kubernetes.io/unreachable", "NoExecute");
    write_toleration(j, "node.kubernetes.io/disk-pressure", "NoSchedule");
    write_toleration(j, "node.kubernetes.io/memory-pressure", "NoSchedule");
    write_toleration(j, "node.kubernetes.io/pid-pressure", "NoSchedule");
    write_toleration(j, "node.kubernetes.io/unschedulable", "NoSchedule");
    if (kube_json_true(kube_json_get(spec, "hostNetwork")))
        write_toleration(j, "node.kubernetes.io/network-unavailable", "NoSchedule");
    json_close(j, ']');
}

/* What it requires of nodes has been looked at; now it is one node. */
static void write_affinity(struct json_out *j, const struct kube_json *affinity, struct str node)
{
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    json_open(j, "affinity", '{');
    write_others(j, affinity, "nodeAffinity", "");
    json_open(j, "nodeAffinity", '{');
    write_others(j, kube_json_get(affinity, "nodeAffinity"), required, "");
    json_open(j, required, '{');
    json_open(j, "nodeSelectorTerms", '[');
    json_open(j, NULL, '{');
    json_open(j, "matchFields", '[');
    json_open(j, NULL, '{');
    json_str(j, "key", STR_LITERAL("metadata.name"));
    json_str(j, "operator", STR_LITERAL("In"));
    json_strs(j, "values", (struct strs){1, &node});
    for (const char *close = "}]}]}}}"; *close != 0; close++)
        json_close(j, *close);
}

static void write_metadata(struct json_out *j, const struct kube_json *metadata, struct str node)
{
    struct arena a = {0};
    struct str name = kube_json_text(kube_json_get(metadata, "name"));
    if (node.len > 0)
        name = arena_print(&a, "%.*s-%.*s", STR_ARG(name), STR_ARG(node));
    json_open(j, "metadata", '{');
    write_others(j, metadata, "name", "");
    json_str(j, "name", name);
    json_close(j, '}');
    arena_free(&a);
}

struct kube_json *daemon_pod(const struct kube_json *pod, struct str node)
{
    const struct kube_json *spec = kube_json_get(pod, "spec");
    struct buffer text = {0};
    struct json_out j = {.out = &text};
    struct arena a = {0};
    json_open(&j, NULL, '{');
    write_others(&j, pod, "metadata", "spec");
    write_metadata(&j, kube_json_get(pod, "metadata"), node);
    json_open(&j, "spec", '{');
    write_others(&j, spec, "tolerations", node.len > 0 ? "affinity" : "");
    write_tolerations(&j, spec);
    if (node.len > 0)
        write_affinity(&j, kube_json_get(spec, "affinity"), node);
    json_close(&j, '}');
    json_close(&j, '}');
    struct kube_json *made = kube_json_parse(buffer_str(&text), NULL, &a);
    buffer_free(&text);
    arena_free(&a);
    return made;
}

/* ---- its nodes ---- */

/* Of the scheduler's rules those that the controller asks as well. */
static bool is_asked(struct str plugin)
{
    return str_is(plugin, "NodeName") || str_is(plugin, "NodeAffinity") ||
           str_is(plugin, "TaintToleration") || str_is(plugin, "NodeUnschedulable");
}

static bool is_for(const struct verdict *v)
{
    if (v->code == VERDICT_success)
        return true;
    bool fits = v->others.count > 0 || !is_asked(v->plugin);
    for (uint32_t i = 0; i < v->others.count; i++)
        fits = fits && !is_asked(v->others.at[i].plugin);
    return fits;
}

/* The controller looks at nothing else of it: neither who decides it, nor what keeps it waiting. */
static struct pod bare(const struct attempts *a, const struct pod *pod)
{
    const struct strs none = {0};
    struct pod bare = *pod;
    if (a->config->profiles.count > 0)
        bare.scheduler_name = a->config->profiles.at[0].scheduler_name;
    bare.gates = bare.claims = bare.resource_claims = none;
    bare.volumes.count = bare.device_claims.count = 0;
    bare.gang = (struct str){0};
    return bare;
}

struct strs daemon_nodes(const struct attempts *a, const struct pod *pod)
{
    struct report r = {0};
    struct strs all, chosen = {0};
    uint32_t next = 0; /* both lists are sorted */
    struct pod asked = bare(a, pod);
    (void)attempt_decide(a, &asked, &r);
    all = world_nodes(a->world, a->arena);
    chosen.at = arena_take(a->arena, (all.count + 1) * sizeof(struct str));
    for (uint32_t i = 0; i < all.count; i++) {
        bool seen = next < r.verdict_count && str_equal(r.verdicts[next].node, all.at[i]);
        if (seen && is_for(&r.verdicts[next]))
            chosen.at[chosen.count++] = all.at[i];
        next += seen;
    }
    return chosen;
}
