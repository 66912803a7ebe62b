/* objects_owner: what makes and guards pods: Services, controllers, disruption budgets. The one
 * idea: a Service's or ReplicationController's plain map becomes a selector's labels. What must
 * stay true: an absent selector is not present, since it matches nothing. */
#include "proto/kube/objects/objects_internal.h"

#include <string.h>

/* A Service's or ReplicationController's map. */
static struct selector read_map(const struct cursor *spec)
{
    struct selector selector = {0};
    struct cursor map = cursor_object(spec, "selector");
    selector.present = map.value != NULL;
    selector.labels.at = object_labels(spec, "selector", &selector.labels.count);
    return selector;
}

bool kube_object_owner(const struct kube_json *object, enum object_kind kind, struct owner *owner,
                       struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, words_text(&object_kind_words, kind).at, subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    bool map = kind == OBJECT_service || kind == OBJECT_replication_controller;
    *owner = (struct owner){.kind = kind};
    owner->namespace_name = cursor_text(&metadata, "namespace");
    owner->name = object_name(&metadata);
    owner->resource_version = object_version(&metadata);
    owner->selector = map ? read_map(&spec) : object_selector(&spec, "selector");
    owner->uid = cursor_text(&metadata, "uid");
    return object_finish(&r, error);
}

/* The keys of a map. */
static struct strs read_keys(const struct cursor *up, const char *name)
{
    struct cursor object = cursor_object(up, name);
    size_t count = kube_json_count(object.value);
    struct strs keys = {0};
    keys.at = count ? cursor_take(&object, count, sizeof(*keys.at)) : NULL;
    if (keys.at == NULL)
        return keys;
    for (struct cursor i = cursor_first(&object); i.value != NULL; i = cursor_next(&i)) {
        struct str key = arena_copy(i.reading->arena, str_of(i.name));
        if (key.at == NULL)
            cursor_fail(&i, "too large");
        keys.at[keys.count++] = key;
    }
    return keys;
}

bool kube_object_budget(const struct kube_json *object, struct budget *budget, struct arena *a,
                        struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "PodDisruptionBudget", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor spec = cursor_object(&root, "spec"), status = cursor_object(&root, "status");
    *budget = (struct budget){0};
    budget->namespace_name = cursor_text(&metadata, "namespace");
    budget->name = object_name(&metadata);
    budget->resource_version = object_version(&metadata);
    budget->selector = object_selector(&spec, "selector");
    budget->allowed = cursor_i32(&status, "disruptionsAllowed");
    budget->disrupted = read_keys(&status, "disruptedPods");
    return object_finish(&r, error);
}
