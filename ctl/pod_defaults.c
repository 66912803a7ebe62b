/* pod_defaults: the one idea: the pod is written down again with what is missing, and read again,
 * so that whoever reads pods need not know that anything was.
 *
 * What must stay true: what was written stays as it was written. */
#include "ctl/pod_defaults.h"

#include "ctl/json_out.h"
#include "proto/base/arena.h"
#include "proto/base/must.h"

/* Where in the pod a value stands. */
enum place { POD, SPEC, CONTAINERS, CONTAINER, RESOURCES };

struct writer {
    struct json_out out;
    struct arena arena;
};

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

static void write_resources(struct writer *w, const char *key, const struct kube_json *resources)
{
    json_open(&w->out, key, '{');
    for (const struct kube_json *i = kube_json_first(resources); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "requests"))
            json_value(&w->out, i);
    write_requests(w, resources);
    json_close(&w->out, '}');
}

/* Whether what is looked for is in the value of this name, and what place that is. */
static bool leads_on(enum place at, struct str name, enum place *next)
{
    *next = (enum place)(at + 1);
    if (at == POD)
        return str_is(name, "spec");
    if (at == SPEC)
        return str_is(name, "containers") || str_is(name, "initContainers");
    return at == CONTAINERS || (at == CONTAINER && str_is(name, "resources"));
}

/* NOLINTNEXTLINE(misc-no-recursion): five places deep */
static void write_value(struct writer *w, const struct kube_json *value, enum place at)
{
    const char *key = at == POD ? NULL : key_of(w, value);
    bool is_list = kube_json_is_array(value);
    if (at == RESOURCES) {
        write_resources(w, key, value);
        return;
    }
    json_open(&w->out, key, is_list ? '[' : '{');
    for (const struct kube_json *i = kube_json_first(value); i != NULL; i = kube_json_next(i)) {
        enum place next;
        if (leads_on(at, kube_json_name(i), &next))
            write_value(w, i, next);
        else
            json_value(&w->out, i);
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
    struct writer w = {.out = {.out = &text}};
    struct str error;
    if (!any_lacks(kube_json_path(pod, "spec.containers")) &&
        !any_lacks(kube_json_path(pod, "spec.initContainers")))
        return NULL;
    write_value(&w, pod, POD);
    struct kube_json *filled = kube_json_parse(buffer_str(&text), &error, &w.arena);
    must(filled != NULL);
    buffer_free(&text);
    arena_free(&w.arena);
    return filled;
}
