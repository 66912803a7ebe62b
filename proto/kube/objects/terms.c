/* terms: node selector terms as pods and plugin arguments spell them. The one idea: one reader for
 * both, so that they cannot come apart. What must stay true: every item of a list has its place in
 * the record, also a wrong one, because errors count places. */
#include "proto/kube/objects/terms.h"

struct requirement *kube_read_requirements(const struct cursor *up, const char *name,
                                           uint32_t *count)
{
    struct cursor list = cursor_list(up, name);
    size_t found = kube_json_count(list.value);
    struct requirement *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] = (struct requirement){.key = cursor_text(&i, "key"),
                                                   .operator_name = cursor_text(&i, "operator"),
                                                   .values = cursor_texts(&i, "values")};
    return out;
}

static struct node_term read_term(const struct cursor *at)
{
    struct node_term term = {0};
    if (!cursor_is_object(at))
        return term;
    term.expressions.at = kube_read_requirements(at, "matchExpressions", &term.expressions.count);
    term.fields.at = kube_read_requirements(at, "matchFields", &term.fields.count);
    return term;
}

struct node_term *kube_read_node_terms(const struct cursor *list, uint32_t *count)
{
    size_t found = kube_json_count(list->value);
    struct node_term *out = found ? cursor_take(list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i))
        out[(*count)++] = read_term(&i);
    return out;
}

struct preferred_node_term *kube_read_preferred_terms(const struct cursor *list, uint32_t *count)
{
    size_t found = kube_json_count(list->value);
    struct preferred_node_term *out = found ? cursor_take(list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        struct preferred_node_term *p = &out[(*count)++];
        if (!cursor_is_object(&i))
            continue;
        struct cursor preference = cursor_member(&i, "preference");
        p->weight = cursor_i32(&i, "weight");
        p->term = read_term(&preference);
    }
    return out;
}
