/* object_defaults: the one idea: as for pods (pod_defaults.h), the object is written down again
 * with what is missing, so that whoever reads it need not know that anything was.
 *
 * What must stay true: what was written stays as it was written; what came out of a cluster, where
 * admission has seen it (it has a UID), is admitted to nothing again. */
#include "ctl/whatif/object_defaults.h"

#include "ctl/json_out.h"
#include "proto/base/arena.h"
#include "proto/base/must.h"

#define NAME_LABEL   "kubernetes.io/metadata.name"
#define CLASS_OF_OLD "volume.beta.kubernetes.io/storage-class"

/* A member's name may have dots in it. */
static const struct kube_json *member(const struct kube_json *object, const char *name)
{
    const struct kube_json *i = kube_json_first(object);
    while (i != NULL && !str_is(kube_json_name(i), name))
        i = kube_json_next(i);
    return kube_json_is_null(i) ? NULL : i;
}

/* All members but one, which is null or written anew. */
static void write_others(struct json_out *j, const struct kube_json *object, const char *but)
{
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), but))
            json_value(j, i);
}

static bool fill_namespace(struct json_out *j, const struct kube_json *object)
{
    const struct kube_json *metadata = member(object, "metadata");
    const struct kube_json *labels = member(metadata, "labels");
    struct str name = kube_json_text(member(metadata, "name"));
    if (name.len == 0 || str_equal(kube_json_text(member(labels, NAME_LABEL)), name))
        return false;
    json_open(j, NULL, '{');
    write_others(j, object, "metadata");
    json_open(j, "metadata", '{');
    write_others(j, metadata, "labels");
    json_open(j, "labels", '{');
    write_others(j, labels, NAME_LABEL);
    json_str(j, NAME_LABEL, name);
    json_close(j, '}');
    json_close(j, '}');
    json_close(j, '}');
    return true;
}

static bool fill_node(struct json_out *j, const struct kube_json *object)
{
    const struct kube_json *status = member(object, "status");
    const struct kube_json *capacity = member(status, "capacity");
    struct buffer text = {0};
    if (capacity == NULL || member(status, "allocatable") != NULL)
        return false;
    kube_json_write(capacity, &text);
    json_open(j, NULL, '{');
    write_others(j, object, "status");
    json_open(j, "status", '{');
    write_others(j, status, "allocatable");
    json_raw(j, "allocatable", buffer_str(&text));
    json_close(j, '}');
    json_close(j, '}');
    buffer_free(&text);
    return true;
}

static bool fill_class(struct json_out *j, const struct kube_json *object)
{
    if (member(object, "volumeBindingMode") != NULL)
        return false;
    json_open(j, NULL, '{');
    write_others(j, object, "volumeBindingMode");
    json_str(j, "volumeBindingMode", STR_LITERAL("Immediate"));
    json_close(j, '}');
    return true;
}

bool object_lacks_class(const struct kube_json *object)
{
    const struct kube_json *metadata = member(object, "metadata");
    return str_is(kube_json_text(member(object, "kind")), "PersistentVolumeClaim") &&
           kube_json_text(member(metadata, "uid")).len == 0 &&
           member(member(object, "spec"), "storageClassName") == NULL &&
           kube_json_text(member(member(metadata, "annotations"), CLASS_OF_OLD)).len == 0;
}

static bool fill_claim(struct json_out *j, const struct kube_json *object, struct str class)
{
    const struct kube_json *spec = member(object, "spec");
    if (class.len == 0 || !object_lacks_class(object))
        return false;
    json_open(j, NULL, '{');
    write_others(j, object, "spec");
    json_open(j, "spec", '{');
    write_others(j, spec, "storageClassName");
    json_str(j, "storageClassName", class);
    json_close(j, '}');
    json_close(j, '}');
    return true;
}

static bool fill(struct json_out *j, const struct kube_json *object, struct str class)
{
    struct str kind = kube_json_text(member(object, "kind"));
    if (str_is(kind, "Namespace"))
        return fill_namespace(j, object);
    if (str_is(kind, "Node"))
        return fill_node(j, object);
    if (str_is(kind, "StorageClass"))
        return fill_class(j, object);
    return fill_claim(j, object, class);
}

struct kube_json *object_defaults(const struct kube_json *object, struct str default_class)
{
    struct buffer text = {0};
    struct json_out j = {.out = &text};
    struct arena a = {0};
    struct str error;
    struct kube_json *filled = NULL;
    if (fill(&j, object, default_class)) {
        filled = kube_json_parse(buffer_str(&text), &error, &a);
        must(filled != NULL);
    }
    buffer_free(&text);
    arena_free(&a);
    return filled;
}

static bool is_default(const struct kube_json *class)
{
    const struct kube_json *annotations = member(member(class, "metadata"), "annotations");
    return str_is(kube_json_text(member(class, "kind")), "StorageClass") &&
           (str_is(
                kube_json_text(member(annotations, "storageclass.kubernetes.io/is-default-class")),
                "true") ||
            str_is(kube_json_text(
                       member(annotations, "storageclass.beta.kubernetes.io/is-default-class")),
                   "true"));
}

static struct str text_in(const struct kube_json *object, const char *name)
{
    return kube_json_text(member(member(object, "metadata"), name));
}

struct str object_default_class(const struct kube_json *first)
{
    const struct kube_json *best = NULL;
    for (const struct kube_json *i = first; i != NULL; i = kube_json_next(i)) {
        if (!is_default(i))
            continue;
        int newer = best == NULL ? 1
                                 : str_compare(text_in(i, "creationTimestamp"),
                                               text_in(best, "creationTimestamp"));
        if (newer > 0 || (newer == 0 && str_compare(text_in(i, "name"), text_in(best, "name")) < 0))
            best = i;
    }
    return best != NULL ? text_in(best, "name") : (struct str){0};
}
