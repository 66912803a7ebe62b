/* owners: one decoded record an owner, found by kind, namespace and name; Services also by their
 * namespace alone. The one idea: the merged selector is never built, each part of it is asked in
 * turn. What must stay true: where a ReplicationController and a Service name the same label, the
 * controller's value counts, as it does when upstream merges them. */
#include "queue/owners.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/selector.h"

struct kept {
    struct arena memory; /* the record's only copy */
    struct owner owner;
    uint32_t seen;             /* snapshot that last held it */
    struct kept *next, **link; /* Services of one namespace; link is what points here */
};

struct owners {
    struct map *by_name;  /* Kind/namespace/name → struct kept */
    struct map *by_space; /* namespace → struct kept *, the first of its Services */
    struct buffer key;
    uint32_t snapshot;
};

struct owners *owners_new(void)
{
    struct owners *o = memory_take(sizeof(*o));
    o->by_name = map_new();
    o->by_space = map_new();
    return o;
}

void owners_free(struct owners **owners)
{
    struct owners *o = *owners;
    size_t at = 0;
    void *value;
    if (o == NULL)
        return;
    while (map_next(o->by_name, &at, NULL, &value)) {
        arena_free(&((struct kept *)value)->memory);
        memory_free(value);
    }
    at = 0;
    while (map_next(o->by_space, &at, NULL, &value))
        memory_free(value);
    map_free(&o->by_name);
    map_free(&o->by_space);
    buffer_free(&o->key);
    memory_free(o);
    *owners = NULL;
}

static struct str key_of(struct buffer *key, enum object_kind kind, struct str space,
                         struct str name)
{
    buffer_reset(key);
    buffer_print(key, "%.*s/%.*s/%.*s", STR_ARG(words_text(&object_kind_words, kind)),
                 STR_ARG(space), STR_ARG(name));
    return buffer_str(key);
}

static bool is_service(const struct owner *owner)
{
    return owner->kind == OBJECT_service;
}

static void link_service(struct owners *o, struct kept *kept)
{
    struct kept **first = map_get(o->by_space, kept->owner.namespace_name);
    if (first == NULL) {
        first = memory_take(sizeof(struct kept *));
        map_set(o->by_space, kept->owner.namespace_name, first);
    }
    kept->next = *first;
    kept->link = first;
    if (kept->next != NULL)
        kept->next->link = &kept->next;
    *first = kept;
}

/* The list's head stays behind when it is empty: namespaces come back. */
static void unlink_service(struct kept *kept)
{
    *kept->link = kept->next;
    if (kept->next != NULL)
        kept->next->link = kept->link;
}

void owners_set(struct owners *o, const struct owner *owner)
{
    struct str key = key_of(&o->key, owner->kind, owner->namespace_name, owner->name);
    struct kept *kept = map_get(o->by_name, key);
    bool is_new = kept == NULL;
    if (is_new) {
        kept = memory_take(sizeof(*kept));
        kept->memory.first = 256;
        map_set(o->by_name, key, kept);
    }
    arena_reset(&kept->memory);
    codec_copy(&owner_record, &kept->owner, owner, &kept->memory);
    kept->seen = o->snapshot;
    if (is_new && is_service(&kept->owner))
        link_service(o, kept);
}

static void forget(struct kept *kept)
{
    if (is_service(&kept->owner))
        unlink_service(kept);
    arena_free(&kept->memory);
    memory_free(kept);
}

void owners_gone(struct owners *o, enum object_kind kind, struct str namespace_name,
                 struct str name)
{
    struct kept *kept = map_remove(o->by_name, key_of(&o->key, kind, namespace_name, name));
    if (kept != NULL)
        forget(kept);
}

void owners_snapshot_begin(struct owners *o)
{
    o->snapshot++;
}

void owners_snapshot_end(struct owners *o)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(o->by_name, &at, &key, &value)) {
        struct kept *kept = value;
        if (kept->seen == o->snapshot)
            continue;
        map_remove(o->by_name, key);
        forget(kept);
    }
}

/* ---- the default selector ---- */

/* The selector of the pod's controller, when it is of this kind and known; else one that is not
 * present. The API version tells apps from other groups that have such a kind. */
static const struct selector *controller(const struct owners *o, const struct pod *pod,
                                         enum object_kind kind, const char *api)
{
    static const struct selector none;
    struct buffer key = {0};
    if (!str_equal(pod->owner_kind, words_text(&object_kind_words, kind)) ||
        !str_is(pod->owner_api, api))
        return &none;
    const struct kept *kept =
        map_get(o->by_name, key_of(&key, kind, pod->namespace_name, pod->owner_name));
    buffer_free(&key);
    return kept == NULL ? &none : &kept->owner.selector;
}

static const struct selector *replication_controller(const struct owners *o, const struct pod *pod)
{
    return controller(o, pod, OBJECT_replication_controller, "v1");
}

/* Of a ReplicaSet or StatefulSet; one that makes no sense is left out. */
static const struct selector *set_controller(const struct owners *o, const struct pod *pod)
{
    static const struct selector none;
    const struct selector *s = controller(o, pod, OBJECT_replica_set, "apps/v1");
    if (!s->present)
        s = controller(o, pod, OBJECT_stateful_set, "apps/v1");
    return label_selector_check(s, NULL) ? s : &none;
}

/* The Services of the pod's namespace that select it: first NULL; NULL behind the last. */
static const struct kept *next_service(const struct owners *o, const struct pod *pod,
                                       const struct kept *before)
{
    struct kept *const *first = map_get(o->by_space, pod->namespace_name);
    const struct kept *k = before != NULL ? before->next : first != NULL ? *first : NULL;
    while (k != NULL &&
           !label_selector_matches(&k->owner.selector, pod->labels.at, pod->labels.count))
        k = k->next;
    return k;
}

bool owners_select(const struct owners *o, const struct pod *pod)
{
    const struct selector *set = set_controller(o, pod);
    if (replication_controller(o, pod)->labels.count > 0 ||
        set->labels.count + set->expressions.count > 0)
        return true;
    for (const struct kept *k = next_service(o, pod, NULL); k != NULL; k = next_service(o, pod, k))
        if (k->owner.selector.labels.count > 0)
            return true;
    return false;
}

/* All labels of the list, but for those that over names. */
static bool has_labels(const struct selector *list, const struct selector *over,
                       const struct pod *other)
{
    for (uint32_t i = 0; i < list->labels.count; i++) {
        struct str key = list->labels.at[i].key, value;
        if (over != NULL && kube_label_find(over->labels.at, over->labels.count, key, &value))
            continue;
        if (!kube_label_find(other->labels.at, other->labels.count, key, &value) ||
            !str_equal(value, list->labels.at[i].value))
            return false;
    }
    return true;
}

bool owners_match(const struct owners *o, const struct pod *pod, const struct pod *other)
{
    const struct selector *set = set_controller(o, pod), *rc = replication_controller(o, pod);
    if (!has_labels(rc, NULL, other) ||
        (set->present && !label_selector_matches(set, other->labels.at, other->labels.count)))
        return false;
    for (const struct kept *k = next_service(o, pod, NULL); k != NULL; k = next_service(o, pod, k))
        if (!has_labels(&k->owner.selector, rc, other))
            return false;
    return true;
}
