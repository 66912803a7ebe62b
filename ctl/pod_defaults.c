/* pod_defaults: the one idea: the pod is written down again with what is missing, and read again,
 * so that whoever reads pods need not know that anything was.
 *
 * What must stay true: what was written stays as it was written; whoever has been filled in
 * already is not filled in twice. */
#include "ctl/pod_defaults.h"

#include "ctl/json_out.h"
#include "proto/base/arena.h"
#include "proto/base/must.h"

/* Where in the pod a value stands. */
enum place {
    POD,
    SPEC,
    CONTAINERS,
    CONTAINER,
    RESOURCES,
    PORTS,
    PORT,
    AFFINITY, /* of all kinds */
    SIDE,     /* podAffinity, or podAntiAffinity */
    TERMS,
    WEIGHED_TERMS,
    WEIGHED_TERM,
    TERM,
    NOWHERE
};

struct writer {
    struct json_out out;
    struct arena arena;
    const struct kube_json *labels; /* the pod's */
    bool host_network;
};

static const char required_terms[] = "requiredDuringSchedulingIgnoredDuringExecution";
static const char preferred_terms[] = "preferredDuringSchedulingIgnoredDuringExecution";

/* For json_out; NULL for an item of a list. */
static const char *key_of(struct writer *w, const struct kube_json *value)
{
    struct str name = kube_json_name(value);
    return name.at == NULL ? NULL : arena_print(&w->arena, "%.*s%c", STR_ARG(name), 0).at;
}

static const struct kube_json *member(const struct kube_json *object, struct str name)
{
    const struct kube_json *i = kube_json_first(object);
    while (i != NULL && !str_equal(kube_json_name(i), name))
        i = kube_json_next(i);
    return i;
}

/* All members but one. */
static void write_others(struct writer *w, const struct kube_json *object, const char *but)
{
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), but))
            json_value(&w->out, i);
}

/* ---- requests ---- */

static bool lacks_requests(const struct kube_json *resources)
{
    const struct kube_json *requests = kube_json_get(resources, "requests");
    const struct kube_json *i = kube_json_first(kube_json_get(resources, "limits"));
    while (i != NULL && member(requests, kube_json_name(i)) != NULL)
        i = kube_json_next(i);
    return i != NULL;
}

static void write_requests(struct writer *w, const struct kube_json *resources)
{
    const struct kube_json *requests = kube_json_get(resources, "requests");
    const struct kube_json *limits = kube_json_get(resources, "limits");
    json_open(&w->out, "requests", '{');
    for (const struct kube_json *i = kube_json_first(requests); i != NULL; i = kube_json_next(i))
        json_value(&w->out, i);
    for (const struct kube_json *i = kube_json_first(limits); i != NULL; i = kube_json_next(i))
        if (member(requests, kube_json_name(i)) == NULL)
            json_value(&w->out, i);
    json_close(&w->out, '}');
}

/* ---- ports: in the node's network a container's port is the node's ---- */

static void write_port(struct writer *w, const struct kube_json *port)
{
    const struct kube_json *own = kube_json_get(port, "hostPort");
    int64_t number;
    bool lacks = own == NULL || (kube_json_i64(own, &number) && number == 0);
    if (lacks && kube_json_i64(kube_json_get(port, "containerPort"), &number)) {
        write_others(w, port, "hostPort");
        json_i64(&w->out, "hostPort", number);
    } else {
        write_others(w, port, "");
    }
}

/* ---- terms: matchLabelKeys and mismatchLabelKeys are written into the selector ---- */

static bool has_expression(const struct kube_json *selector, struct str key, const char *operator,
                           struct str value)
{
    const struct kube_json *i = kube_json_first(kube_json_get(selector, "matchExpressions"));
    for (; i != NULL; i = kube_json_next(i)) {
        const struct kube_json *values = kube_json_get(i, "values");
        if (str_equal(kube_json_text(kube_json_get(i, "key")), key) &&
            str_is(kube_json_text(kube_json_get(i, "operator")), operator) &&
            kube_json_count(values) == 1 &&
            str_equal(kube_json_text(kube_json_first(values)), value))
            return true;
    }
    return false;
}

static void write_expressions(struct writer *w, const struct kube_json *term, const char *keys,
                              const char *operator)
{
    const struct kube_json *selector = kube_json_get(term, "labelSelector");
    const struct kube_json *i = kube_json_first(kube_json_get(term, keys));
    for (; i != NULL; i = kube_json_next(i)) {
        struct str key = kube_json_text(i);
        const struct kube_json *label = member(w->labels, key);
        struct str value = kube_json_text(label);
        if (label == NULL || has_expression(selector, key, operator, value))
            continue;
        json_open(&w->out, NULL, '{');
        json_str(&w->out, "key", key);
        json_str(&w->out, "operator", str_of(operator));
        json_strs(&w->out, "values", (struct strs){1, &value});
        json_close(&w->out, '}');
    }
}

/* A term without a selector is for no pods, and stays so. */
static void write_term(struct writer *w, const struct kube_json *term)
{
    const struct kube_json *selector = kube_json_get(term, "labelSelector");
    write_others(w, term, "labelSelector");
    if (selector == NULL)
        return;
    const struct kube_json *own = kube_json_first(kube_json_get(selector, "matchExpressions"));
    json_open(&w->out, "labelSelector", '{');
    write_others(w, selector, "matchExpressions");
    json_open(&w->out, "matchExpressions", '[');
    for (; own != NULL; own = kube_json_next(own))
        json_value(&w->out, own);
    write_expressions(w, term, "matchLabelKeys", "In");
    write_expressions(w, term, "mismatchLabelKeys", "NotIn");
    json_close(&w->out, ']');
    json_close(&w->out, '}');
}

static bool has_keys(const struct kube_json *term)
{
    return kube_json_count(kube_json_get(term, "matchLabelKeys")) > 0 ||
           kube_json_count(kube_json_get(term, "mismatchLabelKeys")) > 0;
}

static bool any_has_keys(const struct kube_json *side)
{
    const struct kube_json *i = kube_json_first(kube_json_get(side, required_terms));
    for (; i != NULL; i = kube_json_next(i))
        if (has_keys(i))
            return true;
    i = kube_json_first(kube_json_get(side, preferred_terms));
    while (i != NULL && !has_keys(kube_json_get(i, "podAffinityTerm")))
        i = kube_json_next(i);
    return i != NULL;
}

/* ---- the pod ---- */

static enum place one_of(struct str name, const char *one, const char *other, enum place next)
{
    return str_is(name, one) || str_is(name, other) ? next : NOWHERE;
}

/* Whether what is looked for is in the value of this name, and what place that is. */
static enum place leads_to(const struct writer *w, enum place at, struct str name)
{
    switch (at) {
    case POD: return one_of(name, "spec", "spec", SPEC);
    case SPEC:
        if (str_is(name, "affinity"))
            return AFFINITY;
        return one_of(name, "containers", "initContainers", CONTAINERS);
    case CONTAINERS: return CONTAINER;
    case CONTAINER:
        if (w->host_network && str_is(name, "ports"))
            return PORTS;
        return one_of(name, "resources", "resources", RESOURCES);
    case PORTS: return PORT;
    case AFFINITY: return one_of(name, "podAffinity", "podAntiAffinity", SIDE);
    case SIDE:
        if (str_is(name, preferred_terms))
            return WEIGHED_TERMS;
        return one_of(name, required_terms, required_terms, TERMS);
    case TERMS: return TERM;
    case WEIGHED_TERMS: return WEIGHED_TERM;
    case WEIGHED_TERM: return one_of(name, "podAffinityTerm", "podAffinityTerm", TERM);
    default: return NOWHERE;
    }
}

static void write_value(struct writer *w, const struct kube_json *value, enum place at);

/* NOLINTNEXTLINE(misc-no-recursion): seven places deep */
static void write_members(struct writer *w, const struct kube_json *value, enum place at)
{
    for (const struct kube_json *i = kube_json_first(value); i != NULL; i = kube_json_next(i))
        write_value(w, i, leads_to(w, at, kube_json_name(i)));
}

/* NOLINTNEXTLINE(misc-no-recursion): seven places deep */
static void write_value(struct writer *w, const struct kube_json *value, enum place at)
{
    bool is_list = kube_json_is_array(value);
    if (at == NOWHERE || (!is_list && !kube_json_is_object(value))) {
        json_value(&w->out, value);
        return;
    }
    json_open(&w->out, at == POD ? NULL : key_of(w, value), is_list ? '[' : '{');
    if (at == RESOURCES) {
        write_others(w, value, "requests");
        write_requests(w, value);
    } else if (at == PORT) {
        write_port(w, value);
    } else if (at == TERM) {
        write_term(w, value);
    } else {
        write_members(w, value, at);
    }
    json_close(&w->out, is_list ? ']' : '}');
}

static bool any_lacks(const struct kube_json *containers)
{
    const struct kube_json *i = kube_json_first(containers);
    while (i != NULL && !lacks_requests(kube_json_get(i, "resources")))
        i = kube_json_next(i);
    return i != NULL;
}

struct kube_json *pod_defaults(const struct kube_json *pod)
{
    struct buffer text = {0};
    struct writer w = {.out = {.out = &text},
                       .labels = kube_json_path(pod, "metadata.labels"),
                       .host_network = kube_json_true(kube_json_path(pod, "spec.hostNetwork"))};
    struct str error;
    if (!w.host_network && !any_lacks(kube_json_path(pod, "spec.containers")) &&
        !any_lacks(kube_json_path(pod, "spec.initContainers")) &&
        !any_has_keys(kube_json_path(pod, "spec.affinity.podAffinity")) &&
        !any_has_keys(kube_json_path(pod, "spec.affinity.podAntiAffinity")))
        return NULL;
    write_value(&w, pod, POD);
    struct kube_json *filled = kube_json_parse(buffer_str(&text), &error, &w.arena);
    must(filled != NULL);
    buffer_free(&text);
    arena_free(&w.arena);
    return filled;
}
