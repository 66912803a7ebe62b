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

static bool refuse(struct check *c, const char *list, const struct kube_json *one, struct str why,
                   struct str text)
{
    *c->error = arena_print(c->arena, "%.*s.resources.%s.%.*s: must be %.*s, not \"%.*s\"",
                            STR_ARG(c->path), list, STR_ARG(kube_json_name(one)), STR_ARG(why),
                            STR_ARG(text));
    return false;
}

static bool check_list(struct check *c, const struct kube_json *resources, const char *list)
{
    const struct kube_json *all = kube_json_get(resources, list);
    struct kube_quantity q;
    struct str text;
    if (!kube_json_is_object(all))
        return true;
    for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i))
        if (amount_of(c, i, &text, &q) && q.nano < 0)
            return refuse(c, list, i, STR_LITERAL("greater than or equal to 0"), text);
    return true;
}

static bool check_container(struct check *c, const struct kube_json *resources)
{
    const struct kube_json *requests = kube_json_get(resources, "requests");
    const struct kube_json *limits = kube_json_get(resources, "limits");
    struct kube_quantity request, limit;
    struct str text, most;
    if (!check_list(c, resources, "requests") || !check_list(c, resources, "limits"))
        return false;
    if (!kube_json_is_object(requests) || !kube_json_is_object(limits))
        return true;
    for (const struct kube_json *i = kube_json_first(requests); i != NULL; i = kube_json_next(i)) {
        struct str name = kube_json_name(i);
        const struct kube_json *of =
            kube_json_get(limits, arena_print(c->arena, "%.*s%c", STR_ARG(name), 0).at);
        if (of != NULL && amount_of(c, i, &text, &request) && amount_of(c, of, &most, &limit) &&
            kube_quantity_compare(request, limit) > 0)
            return refuse(c, "requests", i,
                          arena_print(c->arena, "less than or equal to %.*s limit of %.*s",
                                      STR_ARG(name), STR_ARG(most)),
                          text);
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
