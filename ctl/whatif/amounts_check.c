/* amounts_check: the one idea: whoever asks where a pod would go is told first that no API server
 * would take it. What must stay true: what a cluster holds is never refused here.
 */
#include "ctl/whatif/amounts_check.h"

#include "proto/kube/documents/quantity.h"

#include <string.h>

struct check {
    struct str path; /* of the container */
    struct str *error;
    struct arena *arena;
};

static bool amount_of(const struct check *c, const struct kube_json *value, struct str *text,
                      struct kube_quantity *q)
{
    *text = kube_json_text(value);
    if (text->len == 0) {
        struct buffer number = {0};
        kube_json_write(value, &number);
        *text = arena_copy(c->arena, buffer_str(&number));
        buffer_free(&number);
    }
    return kube_quantity_parse(*text, q);
}

/* As validateContainerResourceName: a container knows no others but those of somebody's domain. */
static bool is_known(struct str name)
{
    static const char pages[] = "hugepages-";
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           str_starts_with(name, pages) || str_find(name, '/') >= 0;
}

/* Of those that are not shared out in parts, a limit is the request. */
static bool is_whole(struct str name)
{
    static const char pages[] = "hugepages-", own[] = "kubernetes.io/";
    return str_starts_with(name, pages) ||
           (str_find(name, '/') >= 0 && memmem(name.at, name.len, own, sizeof(own) - 1) == NULL);
}

static bool refuse(struct check *c, const char *list, const struct kube_json *one, struct str why,
                   struct str text)
{
    *c->error = arena_print(c->arena, "%.*s.resources.%s.%.*s: must be %.*s, not \"%.*s\"",
                            STR_ARG(c->path), list, STR_ARG(kube_json_name(one)), STR_ARG(why),
                            STR_ARG(text));
    return false;
}

static bool unknown(struct check *c, const char *list, const struct kube_json *one)
{
    *c->error = arena_print(
        c->arena,
        "%.*s.resources.%s.%.*s: must be cpu, memory, ephemeral-storage, hugepages-SIZE "
        "or a name with a domain, as example.com/gpu",
        STR_ARG(c->path), list, STR_ARG(kube_json_name(one)));
    return false;
}

static bool check_list(struct check *c, const struct kube_json *resources, const char *list)
{
    const struct kube_json *all = kube_json_get(resources, list);
    struct kube_quantity q;
    struct str text;
    if (!kube_json_is_object(all))
        return true;
    for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i)) {
        if (!is_known(kube_json_name(i)))
            return unknown(c, list, i);
        if (amount_of(c, i, &text, &q) && q.nano < 0)
            return refuse(c, list, i, STR_LITERAL("greater than or equal to 0"), text);
    }
    return true;
}

/* A request with its limit, which may be missing. */
static bool check_request(struct check *c, const struct kube_json *one,
                          const struct kube_json *limits)
{
    struct kube_quantity request, limit;
    struct str text, most, name = kube_json_name(one);
    const struct kube_json *of =
        kube_json_get(limits, arena_print(c->arena, "%.*s%c", STR_ARG(name), 0).at);
    if (!amount_of(c, one, &text, &request))
        return true;
    if (of == NULL)
        return !is_whole(name) ||
               refuse(c, "requests", one, STR_LITERAL("the limit, and there must be one"), text);
    if (!amount_of(c, of, &most, &limit))
        return true;
    int more = kube_quantity_compare(request, limit);
    if (more > 0 || (more < 0 && is_whole(name)))
        return refuse(c, "requests", one,
                      arena_print(c->arena, "%s %.*s limit of %.*s",
                                  is_whole(name) ? "equal to" : "less than or equal to",
                                  STR_ARG(name), STR_ARG(most)),
                      text);
    return true;
}

static bool check_container(struct check *c, const struct kube_json *resources)
{
    const struct kube_json *requests = kube_json_get(resources, "requests");
    const struct kube_json *limits = kube_json_get(resources, "limits");
    if (!check_list(c, resources, "requests") || !check_list(c, resources, "limits"))
        return false;
    if (!kube_json_is_object(requests))
        return true;
    for (const struct kube_json *i = kube_json_first(requests); i != NULL; i = kube_json_next(i))
        if (!check_request(c, i, limits))
            return false;
    return true;
}

bool amounts_check_node(const struct kube_json *node, struct str *error, struct arena *a)
{
    static const char *const lists[] = {"capacity", "allocatable"};
    const struct kube_json *status = kube_json_get(node, "status");
    struct check c = {.error = error, .arena = a};
    struct kube_quantity q;
    struct str text;
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
        const struct kube_json *i = kube_json_first(kube_json_get(status, lists[k]));
        for (; i != NULL; i = kube_json_next(i)) {
            if (!amount_of(&c, i, &text, &q) || q.nano >= 0)
                continue;
            *error = arena_print(a,
                                 "status.%s.%.*s: must be greater than or equal to 0, not "
                                 "\"%.*s\"",
                                 lists[k], STR_ARG(kube_json_name(i)), STR_ARG(text));
            return false;
        }
    }
    return true;
}

bool amounts_check(const struct kube_json *pod, struct str path, struct str *error, struct arena *a)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const struct kube_json *spec = kube_json_get(pod, "spec");
    struct check c = {.error = error, .arena = a};
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
        const struct kube_json *all = kube_json_get(spec, lists[k]);
        unsigned n = 0;
        if (!kube_json_is_array(all))
            continue;
        for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i)) {
            c.path = arena_print(a, "%.*s%sspec.%s[%u]", STR_ARG(path), path.len > 0 ? "." : "",
                                 lists[k], n++);
            if (!check_container(&c, kube_json_get(i, "resources")))
                return false;
        }
    }
    return true;
}
