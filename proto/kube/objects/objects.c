/* objects: the pieces that all kinds share, and nodes and namespaces. The one idea: each record is
 * read top to bottom in the order of its fields, from cursors that know their path, so that any
 * wrong type is reported with the object's name and the field's. What must stay true: fields we do
 * not use are not looked at, and nothing in a record points into the JSON. */
#include "proto/kube/objects/objects_internal.h"

#include "proto/base/must.h"
#include "proto/kube/objects/requests.h"
#include "proto/kube/objects/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

void object_subject(const struct kube_json *object, const char *kind, char out[SUBJECT_MAX])
{
    struct str space = kube_json_text(kube_json_path(object, "metadata.namespace"));
    struct str name = kube_json_text(kube_json_path(object, "metadata.name"));
    snprintf(out, SUBJECT_MAX, "%s %.*s%s%.*s", kind, STR_ARG(space), space.len ? "/" : "",
             STR_ARG(name));
}

bool object_finish(const struct reading *r, struct str *error)
{
    if (r->failed && error != NULL)
        *error = r->error;
    return !r->failed;
}

struct ordered_label {
    struct label label;
    size_t order; /* in the document, so that the later of two equal keys wins */
};

static int by_key(const void *a, const void *b)
{
    const struct ordered_label *x = a, *y = b;
    int order = str_compare(x->label.key, y->label.key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

struct label *object_labels(const struct cursor *up, const char *name, uint32_t *count)
{
    struct cursor object = cursor_object(up, name);
    size_t found = kube_json_count(object.value), n = 0;
    struct ordered_label *all = found ? cursor_take(&object, found, sizeof(*all)) : NULL;
    struct label *out = all ? cursor_take(&object, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor c = cursor_first(&object); c.value != NULL; c = cursor_next(&c), n++) {
        struct str key = arena_copy(c.reading->arena, str_of(c.name));
        if (key.at == NULL)
            cursor_fail(&c, "too large");
        all[n] = (struct ordered_label){{key, cursor_own_text(&c)}, n};
    }
    qsort(all, n, sizeof(*all), by_key);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_equal(all[i].label.key, all[i + 1].label.key))
            out[(*count)++] = all[i].label;
    return out;
}

struct strs object_each(const struct cursor *up, const char *name, const char *member)
{
    struct cursor list = cursor_list(up, name);
    size_t count = kube_json_count(list.value);
    struct strs texts = {0};
    texts.at = count ? cursor_take(&list, count, sizeof(*texts.at)) : NULL;
    if (texts.at == NULL)
        return texts;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            texts.at[texts.count++] = cursor_text(&i, member);
    return texts;
}

int64_t object_version(const struct cursor *metadata)
{
    struct cursor s = cursor_member(metadata, "resourceVersion");
    struct str text = cursor_own_text(&s);
    int64_t version = 0;
    if (text.len > 0 && !str_to_i64(text, &version))
        cursor_fail(&s, "\"%.*s\" is no number", text.len < 64 ? (int)text.len : 64, text.at);
    return version;
}

struct str object_name(const struct cursor *metadata)
{
    struct str name = cursor_text(metadata, "name");
    struct cursor s = cursor_member(metadata, "name");
    if (name.len == 0)
        cursor_fail(&s, "must not be empty");
    return name;
}

struct str object_label(const struct label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(labels[i].key, key))
            return labels[i].value;
    return (struct str){0};
}

bool object_annotation(const struct cursor *metadata, const char *key, struct str *value)
{
    struct cursor annotations = cursor_object(metadata, "annotations");
    struct cursor found = cursor_member(&annotations, key);
    *value = cursor_own_text(&found);
    return found.value != NULL;
}

static bool begins_with_any(struct str key, const struct strs *prefixes)
{
    for (uint32_t i = 0; i < prefixes->count; i++)
        if (key.len >= prefixes->at[i].len &&
            str_equal((struct str){key.at, prefixes->at[i].len}, prefixes->at[i]))
            return true;
    return false;
}

struct label *kube_object_annotations(const struct kube_json *object, const struct strs *prefixes,
                                      uint32_t *count, struct arena *a)
{
    struct reading r = {.arena = a, .subject = ""};
    struct cursor root = cursor_root(&r, object), metadata = cursor_object(&root, "metadata");
    struct label *all = object_labels(&metadata, "annotations", count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (begins_with_any(all[i].key, prefixes))
            all[kept++] = all[i];
    *count = kept;
    return all;
}

struct controller object_controller(const struct cursor *metadata)
{
    struct cursor owners = cursor_list(metadata, "ownerReferences");
    for (struct cursor i = cursor_first(&owners); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i) && cursor_bool(&i, "controller"))
            return (struct controller){.api = cursor_text(&i, "apiVersion"),
                                       .kind = cursor_text(&i, "kind"),
                                       .name = cursor_text(&i, "name"),
                                       .uid = cursor_text(&i, "uid")};
    return (struct controller){0};
}

struct selector object_selector(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_object(up, name);
    struct selector selector = {.present = s.value != NULL};
    selector.labels.at = object_labels(&s, "matchLabels", &selector.labels.count);
    selector.expressions.at =
        kube_read_requirements(&s, "matchExpressions", &selector.expressions.count);
    return selector;
}

int64_t object_amount(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    return kube_quantity_value(cursor_own_quantity(&s));
}

/* ---- nodes and namespaces ---- */

struct taint *object_taints(const struct cursor *spec, uint32_t *count)
{
    struct cursor list = cursor_list(spec, "taints");
    size_t found = kube_json_count(list.value);
    struct taint *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] = (struct taint){.key = cursor_text(&i, "key"),
                                             .value = cursor_text(&i, "value"),
                                             .effect = cursor_text(&i, "effect")};
    return out;
}

static struct image *read_node_images(const struct cursor *status, uint32_t *count)
{
    struct cursor list = cursor_list(status, "images");
    size_t found = kube_json_count(list.value);
    struct image *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] = (struct image){.names = cursor_texts(&i, "names"),
                                             .size = cursor_i64(&i, "sizeBytes")};
    return out;
}

static struct label *read_node_conditions(const struct cursor *status, uint32_t *count)
{
    struct cursor list = cursor_list(status, "conditions");
    size_t found = kube_json_count(list.value);
    struct label *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[(*count)++] =
                (struct label){.key = cursor_text(&i, "type"), .value = cursor_text(&i, "status")};
    return out;
}

/* The controllers that an annotation of the old Policy names. What is wrong in there is left out,
 * as upstream did: the node is then as good as others. */
static void read_avoided(const struct cursor *metadata, struct node *node)
{
    struct str text;
    if (!object_annotation(metadata, "scheduler.alpha.kubernetes.io/preferAvoidPods", &text))
        return;
    struct arena *a = metadata->reading->arena;
    struct kube_json *document = kube_json_parse(text, NULL, a);
    const struct kube_json *list = kube_json_get(document, "preferAvoidPods");
    size_t found = kube_json_is_array(list) ? kube_json_count(list) : 0;
    node->avoided.at = found ? cursor_take(metadata, found, sizeof(*node->avoided.at)) : NULL;
    const struct kube_json *i = node->avoided.at != NULL ? kube_json_first(list) : NULL;
    for (; i != NULL; i = kube_json_next(i)) {
        const struct kube_json *owner = kube_json_path(i, "podSignature.podController");
        struct str kind = kube_json_text(kube_json_get(owner, "kind"));
        struct str uid = kube_json_text(kube_json_get(owner, "uid"));
        if (kind.len > 0 && uid.len > 0)
            node->avoided.at[node->avoided.count++] =
                (struct label){arena_copy(a, kind), arena_copy(a, uid)};
    }
    kube_json_free(&document);
}

bool kube_object_node(const struct kube_json *object, struct node *node, struct arena *a,
                      struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "Node", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor spec = cursor_object(&root, "spec"), status = cursor_object(&root, "status");
    struct cursor policy = cursor_object(&spec, "podPreemptionPolicy");
    *node = (struct node){0};
    node->name = object_name(&metadata);
    node->uid = cursor_text(&metadata, "uid");
    node->resource_version = object_version(&metadata);
    node->labels.at = object_labels(&metadata, "labels", &node->labels.count);
    read_avoided(&metadata, node);
    node->taints.at = object_taints(&spec, &node->taints.count);
    node->unschedulable = cursor_bool(&spec, "unschedulable");
    node->spares_from_resizes = cursor_texts(&policy, "disableResizePreemption");
    requests_fill_allocatable(&root, node);
    node->images.at = read_node_images(&status, &node->images.count);
    node->features = cursor_texts(&status, "declaredFeatures");
    node->conditions.at = read_node_conditions(&status, &node->conditions.count);
    return object_finish(&r, error);
}

bool kube_object_namespace(const struct kube_json *object, struct namespace_set *ns,
                           struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "Namespace", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    *ns = (struct namespace_set){0};
    ns->name = object_name(&metadata);
    ns->labels.at = object_labels(&metadata, "labels", &ns->labels.count);
    return object_finish(&r, error);
}
