/* The store: for each resource a shelf of objects sorted by key, and a ring of its changes.
 *
 * The one idea: a version of an object is immutable and shared, so the shelf, the history, lists
 * under way and watchers all hold the same bytes, and a watcher is only a position in the ring.
 * What must hold: every change takes the next number of the one global version counter; a change
 * leaves the ring only after `forgotten` says so; the past is the present with changes undone. */
#include "registry.h"

#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void registry_init(struct registry *registry, size_t history)
{
    must(history > 0);
    *registry = (struct registry){.version = 1, .history = history, .minor = 36};
}

struct object *object_keep(struct object *object)
{
    object->refs++;
    return object;
}

void object_drop(struct object *object)
{
    if (object == NULL)
        return;
    must(object->refs > 0);
    if (--object->refs > 0)
        return;
    for (size_t i = 0; i < object->label_count * 2; i++)
        memory_free(object->labels[i]);
    memory_free(object->labels);
    memory_free(object->field_bytes);
    memory_free(object->namespace);
    memory_free(object->key);
    blob_drop(object->json);
    blob_drop(object->view);
    memory_free(object);
}

const char *object_label(const struct object *object, const char *key)
{
    for (size_t i = 0; i < object->label_count; i++) {
        if (strcmp(object->labels[i * 2], key) == 0)
            return object->labels[i * 2 + 1];
    }
    return NULL;
}

cJSON *object_tree(const struct object *object)
{
    cJSON *tree = tree_parse(object->json->bytes, object->json->size);
    must(tree != NULL);
    return tree;
}

static void index_labels(struct object *object, const cJSON *tree)
{
    const cJSON *labels = tree_map(tree, "metadata.labels");
    int count = cJSON_GetArraySize(labels);
    if (count == 0)
        return;
    object->labels = memory_take((size_t)count * 2 * sizeof *object->labels);
    const cJSON *label;
    cJSON_ArrayForEach(label, labels)
    {
        if (!cJSON_IsString(label))
            continue;
        object->labels[object->label_count * 2] = memory_string(label->string);
        object->labels[object->label_count * 2 + 1] = memory_string(label->valuestring);
        object->label_count++;
    }
}

static const char *field_text(const cJSON *tree, const char *path)
{
    const cJSON *item = tree_get(tree, path);
    if (strcmp(path, "source") == 0)
        return tree_string(tree, "source.component", tree_string(tree, "reportingComponent", ""));
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? "true" : "false";
    if (cJSON_IsString(item))
        return item->valuestring;
    bool is_bool = strcmp(path, "spec.unschedulable") == 0 || strcmp(path, "spec.hostNetwork") == 0;
    return is_bool ? "false" : "";
}

static void index_fields(struct object *object, const cJSON *tree)
{
    const char *const *paths = object->resource->fields;
    struct buffer bytes = {0};
    size_t offsets[RESOURCE_FIELDS_MAX], count = 0;
    for (; paths != NULL && paths[count] != NULL; count++) {
        must(count < RESOURCE_FIELDS_MAX);
        const char *value = field_text(tree, paths[count]);
        offsets[count] = bytes.len;
        buffer_add(&bytes, value, strlen(value) + 1);
    }
    object->field_bytes = bytes.at;
    for (size_t i = 0; i < count; i++)
        object->fields[i] = bytes.at + offsets[i];
}

static struct object *object_new(const struct resource *resource, const cJSON *tree,
                                 uint64_t version)
{
    struct object *object = memory_take(sizeof *object);
    object->refs = 1;
    object->resource = resource;
    object->version = version;
    object->namespace = memory_string(tree_string(tree, "metadata.namespace", ""));
    const char *name = tree_string(tree, "metadata.name", "");
    object->key = registry_key(resource, object->namespace, name);
    object->name = object->key + strlen(object->key) - strlen(name);
    snprintf(object->uid, sizeof object->uid, "%s", tree_string(tree, "metadata.uid", ""));
    index_labels(object, tree);
    index_fields(object, tree);
    const char *deletion = tree_string(tree, "metadata.deletionTimestamp", NULL);
    object->deletion_us = deletion != NULL ? time_parse_us(deletion) : 0;
    object->finalized = cJSON_GetArraySize(tree_get(tree, "metadata.finalizers")) == 0;
    object->json = tree_print(tree);
    return object;
}

static void write_version(cJSON *tree, uint64_t version)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)version);
    tree_set_string(tree_make(tree, "metadata"), "resourceVersion", digits);
}

/* The same state under another version, as deletions and selectors need it. */
static struct object *object_again(const struct object *object, uint64_t version)
{
    cJSON *tree = object_tree(object);
    write_version(tree, version);
    struct object *again = object_new(object->resource, tree, version);
    cJSON_Delete(tree);
    return again;
}

char *registry_key(const struct resource *resource, const char *namespace, const char *name)
{
    struct buffer key = {0};
    if (resource->flags & NAMESPACED)
        buffer_print(&key, "%s/", namespace);
    buffer_add_text(&key, name);
    return key.at;
}

/* The position of a key, or where it would have to be inserted. */
static size_t shelf_place(const struct shelf *shelf, const char *key)
{
    size_t low = 0, high = shelf->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(shelf->objects[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool shelf_holds(const struct shelf *shelf, size_t place, const char *key)
{
    return place < shelf->count && strcmp(shelf->objects[place]->key, key) == 0;
}

struct object *registry_find(const struct registry *registry, const struct resource *resource,
                             const char *namespace, const char *name)
{
    const struct shelf *shelf = &registry->shelves[resource_shelf(resource)];
    char *key = registry_key(resource, namespace, name);
    size_t place = shelf_place(shelf, key);
    struct object *found = shelf_holds(shelf, place, key) ? shelf->objects[place] : NULL;
    memory_free(key);
    return found;
}

static void change_forget(struct shelf *shelf)
{
    struct change *change = &shelf->ring[shelf->oldest++ % shelf->history];
    shelf->forgotten = change->version;
    object_drop(change->before);
    object_drop(change->now);
    object_drop(change->gone);
    *change = (struct change){0};
}

/* Takes the references of both objects. */
static void remember(struct registry *registry, int index, struct change change)
{
    struct shelf *shelf = &registry->shelves[index];
    if (shelf->ring == NULL) {
        shelf->ring = memory_take_array(registry->history, sizeof *shelf->ring);
        shelf->history = registry->history;
    }
    if (shelf->next - shelf->oldest == shelf->history)
        change_forget(shelf);
    shelf->ring[shelf->next++ % shelf->history] = change;
    if (registry->changed != NULL)
        registry->changed(registry->context, index);
}

struct object *registry_put(struct registry *registry, const struct resource *resource, cJSON *tree)
{
    int index = resource_shelf(resource);
    struct shelf *shelf = &registry->shelves[index];
    write_version(tree, ++registry->version);
    struct object *object = object_new(&resources[index], tree, registry->version);
    size_t place = shelf_place(shelf, object->key);
    struct change change = {.version = object->version, .now = object_keep(object)};
    if (shelf_holds(shelf, place, object->key)) {
        change.type = CHANGE_MODIFIED;
        change.before = shelf->objects[place];
    } else {
        if (shelf->count == shelf->room) {
            shelf->room = shelf->room ? shelf->room * 2 : 64;
            shelf->objects = memory_resize(shelf->objects, shelf->room * sizeof(struct object *));
        }
        memmove(shelf->objects + place + 1, shelf->objects + place,
                (shelf->count - place) * sizeof(struct object *));
        shelf->count++;
    }
    shelf->objects[place] = object;
    remember(registry, index, change);
    return object;
}

struct object *registry_remove_as(struct registry *registry, struct object *object,
                                  cJSON *last_tree)
{
    int index = resource_shelf(object->resource);
    struct shelf *shelf = &registry->shelves[index];
    size_t place = shelf_place(shelf, object->key);
    must(place < shelf->count && shelf->objects[place] == object);
    memmove(shelf->objects + place, shelf->objects + place + 1,
            (shelf->count - place - 1) * sizeof(struct object *));
    shelf->count--;
    write_version(last_tree, ++registry->version);
    struct object *last = object_new(object->resource, last_tree, registry->version);
    remember(registry, index,
             (struct change){
                 .type = CHANGE_DELETED, .version = last->version, .before = object, .now = last});
    return last;
}

struct object *registry_remove(struct registry *registry, struct object *object)
{
    cJSON *tree = object_tree(object);
    struct object *last = registry_remove_as(registry, object, tree);
    cJSON_Delete(tree);
    return last;
}

struct change *registry_change(struct shelf *shelf, uint64_t number)
{
    must(number >= shelf->oldest && number < shelf->next);
    return &shelf->ring[number % shelf->history];
}

bool registry_seek(const struct shelf *shelf, uint64_t version, uint64_t *number)
{
    if (version < shelf->forgotten)
        return false;
    uint64_t low = shelf->oldest, high = shelf->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (shelf->ring[middle % shelf->history].version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return true;
}

struct object *change_gone(struct change *change)
{
    must(change->before != NULL);
    if (change->gone == NULL)
        change->gone = object_again(change->before, change->version);
    return change->gone;
}

/* What a key was at the wanted version: the `before` of its first change since then. */
struct undo {
    struct object *was;
    const char *key;
    uint64_t number;
};

static int undo_compare(const void *a, const void *b)
{
    const struct undo *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static struct undo *undos_since(const struct shelf *shelf, uint64_t number, size_t *count)
{
    struct undo *undos = memory_take_array((size_t)(shelf->next - number) + 1, sizeof *undos);
    size_t all = 0, kept = 0;
    for (; number < shelf->next; number++) {
        const struct change *change = &shelf->ring[number % shelf->history];
        undos[all++] = (struct undo){change->before, change->now->key, number};
    }
    qsort(undos, all, sizeof *undos, undo_compare);
    for (size_t i = 0; i < all; i++) {
        if (kept == 0 || strcmp(undos[kept - 1].key, undos[i].key) != 0)
            undos[kept++] = undos[i];
    }
    *count = kept;
    return undos;
}

/* A list under way: the shelf and the changes to undo, side by side in key order. */
struct merge {
    const struct shelf *shelf;
    const struct list_range *range;
    struct undo *undos;
    size_t undo_count, u; /* the next to undo */
    size_t place, end;    /* the next on the shelf, and where the namespace ends there */
    size_t room;
};

static void list_add(struct merge *m, struct object_list *list, struct object *object)
{
    const struct selection *selection = m->range->selection;
    if (selection != NULL && !selection_matches(selection, object))
        return;
    if (m->range->most > 0 && list->count == m->range->most) {
        list->beyond++;
        return;
    }
    if (list->count == m->room) {
        m->room = m->room > 0 ? m->room * 2 : 64;
        list->objects = memory_resize(list->objects, m->room * sizeof(struct object *));
    }
    list->objects[list->count++] = object_keep(object);
}

/* The next object as it was at the version; NULL behind the last one, or where there was none. */
static struct object *merge_next(struct merge *m, bool *end)
{
    const struct undo *undo = m->u < m->undo_count ? &m->undos[m->u] : NULL;
    struct object *here = m->place < m->end ? m->shelf->objects[m->place] : NULL;
    *end = undo == NULL && here == NULL;
    int order = undo == NULL ? 1 : here == NULL ? -1 : strcmp(undo->key, here->key);
    m->u += order <= 0 && undo != NULL;
    m->place += order >= 0 && here != NULL;
    return order <= 0 && undo != NULL ? undo->was : here;
}

/* How many are left, none of which is looked at unless it has changed. */
static size_t count_left(const struct merge *m)
{
    size_t left = m->end - m->place;
    for (size_t u = m->u; u < m->undo_count; u++) {
        size_t place = shelf_place(m->shelf, m->undos[u].key);
        left += m->undos[u].was != NULL;
        left -= shelf_holds(m->shelf, place, m->undos[u].key);
    }
    return left;
}

/* Where keys that begin so end on the shelf: before the first one with a greater byte there. */
static size_t prefix_end(const struct shelf *shelf, struct buffer *prefix)
{
    if (prefix->len == 0)
        return shelf->count;
    prefix->at[prefix->len - 1]++;
    size_t end = shelf_place(shelf, prefix->at);
    prefix->at[prefix->len - 1]--;
    return end;
}

static void merge_begin(struct merge *m, uint64_t number)
{
    struct buffer prefix = {0};
    if (*m->range->namespace)
        buffer_print(&prefix, "%s/", m->range->namespace);
    const char *start = prefix.at != NULL ? prefix.at : "", *after = m->range->after;
    bool later = after != NULL && strcmp(after, start) >= 0;
    m->undos = undos_since(m->shelf, number, &m->undo_count);
    while (m->u < m->undo_count && (strcmp(m->undos[m->u].key, start) < 0 ||
                                    (later && strcmp(m->undos[m->u].key, after) <= 0)))
        m->u++;
    size_t last = m->u;
    while (last < m->undo_count && strncmp(m->undos[last].key, start, prefix.len) == 0)
        last++;
    m->undo_count = last;
    m->place = shelf_place(m->shelf, later ? after : start);
    m->place += later && shelf_holds(m->shelf, m->place, after);
    m->end = prefix_end(m->shelf, &prefix);
    m->end = m->end > m->place ? m->end : m->place;
    buffer_free(&prefix);
}

bool registry_list(const struct registry *registry, const struct resource *resource,
                   const struct list_range *range, struct object_list *list)
{
    struct merge m = {.shelf = &registry->shelves[resource_shelf(resource)], .range = range};
    uint64_t number;
    if (!registry_seek(m.shelf, range->version, &number))
        return false;
    *list = (struct object_list){0};
    merge_begin(&m, number);
    for (bool end = false; !end && list->beyond == 0;) {
        if (range->selection == NULL && range->most > 0 && list->count == range->most) {
            list->beyond = count_left(&m);
            break;
        }
        struct object *object = merge_next(&m, &end);
        if (object != NULL)
            list_add(&m, list, object);
    }
    memory_free(m.undos);
    return true;
}

void object_list_free(struct object_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        object_drop(list->objects[i]);
    memory_free(list->objects);
    *list = (struct object_list){0};
}

void registry_compact(struct registry *registry, int index)
{
    struct shelf *shelf = &registry->shelves[index];
    while (shelf->oldest < shelf->next)
        change_forget(shelf);
    shelf->forgotten = registry->version;
}

void registry_free(struct registry *registry)
{
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        struct shelf *shelf = &registry->shelves[i];
        while (shelf->oldest < shelf->next)
            change_forget(shelf);
        for (size_t o = 0; o < shelf->count; o++)
            object_drop(shelf->objects[o]);
        memory_free(shelf->objects);
        memory_free(shelf->ring);
        *shelf = (struct shelf){0};
    }
}

bool registry_serves(const struct registry *registry, const struct resource *resource)
{
    char name[128];
    bool older = strcmp(resource->version, "v1alpha2") == 0; /* of 1.36, and gone since */
    if (resource->flags & SINCE_37)
        return registry->minor >= 37;
    if (resource->flags & GATED)
        return registry->gated && older == (registry->minor < 37);
    return !(resource->flags & CUSTOM) ||
           registry_find(registry, resource_named("customresourcedefinitions"), "",
                         resource_qualified(resource, name)) != NULL;
}
