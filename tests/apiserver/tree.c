/* A thin layer over cJSON: exact names, dotted paths, reading and printing.
 *
 * The one idea: callers say "spec.nodeName" and never walk by hand. cJSON's own look-up ignores
 * case, which Kubernetes does not, so nothing outside this file may call cJSON_GetObjectItem. */
#include "tree.h"

#include "tree_text.h"

#include <stdlib.h>
#include <string.h>

static void *tree_take(size_t size)
{
    return memory_resize(NULL, size);
}

void tree_setup(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = tree_take, .free_fn = memory_free});
}

cJSON *tree_member(const cJSON *object, const char *name)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

static cJSON *tree_step(const cJSON *object, const char *name, size_t size)
{
    if (!cJSON_IsObject(object))
        return NULL;
    for (cJSON *item = object->child; item != NULL; item = item->next) {
        if (strncmp(item->string, name, size) == 0 && item->string[size] == 0)
            return cJSON_IsNull(item) ? NULL : item;
    }
    return NULL;
}

cJSON *tree_get(const cJSON *root, const char *path)
{
    const cJSON *at = root;
    for (;;) {
        size_t size = strcspn(path, ".");
        at = tree_step(at, path, size);
        if (at == NULL || path[size] == 0)
            return (cJSON *)at;
        path += size + 1;
    }
}

cJSON *tree_map(const cJSON *root, const char *path)
{
    cJSON *found = tree_get(root, path);
    return cJSON_IsObject(found) ? found : NULL;
}

const char *tree_string(const cJSON *root, const char *path, const char *otherwise)
{
    const cJSON *item = tree_get(root, path);
    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

double tree_number(const cJSON *root, const char *path, double otherwise)
{
    const cJSON *item = tree_get(root, path);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

bool tree_bool(const cJSON *root, const char *path)
{
    return cJSON_IsTrue(tree_get(root, path));
}

cJSON *tree_make(cJSON *root, const char *path)
{
    cJSON *at = root;
    char name[128];
    for (;;) {
        size_t size = strcspn(path, ".");
        must(size < sizeof name);
        memcpy(name, path, size);
        name[size] = 0;
        cJSON *next = tree_member(at, name);
        if (!cJSON_IsObject(next)) {
            next = cJSON_CreateObject();
            tree_set(at, name, next);
        }
        at = next;
        if (path[size] == 0)
            return at;
        path += size + 1;
    }
}

void tree_set(cJSON *object, const char *name, cJSON *value)
{
    must(cJSON_IsObject(object));
    if (tree_member(object, name) != NULL)
        cJSON_ReplaceItemInObjectCaseSensitive(object, name, value);
    else
        cJSON_AddItemToObject(object, name, value);
}

void tree_set_string(cJSON *object, const char *name, const char *value)
{
    tree_set(object, name, cJSON_CreateString(value));
}

void tree_set_number(cJSON *object, const char *name, double value)
{
    tree_set(object, name, cJSON_CreateNumber(value));
}

void tree_default(cJSON *object, const char *name, cJSON *value)
{
    const cJSON *found = tree_member(object, name);
    if (cJSON_IsObject(object) && (found == NULL || cJSON_IsNull(found)))
        tree_set(object, name, value);
    else
        cJSON_Delete(value);
}

void tree_default_string(cJSON *object, const char *name, const char *value)
{
    const char *found = tree_string(object, name, "");
    if (cJSON_IsObject(object) && *found == 0)
        tree_set_string(object, name, value);
}

void tree_remove(cJSON *object, const char *name)
{
    if (cJSON_IsObject(object))
        cJSON_DeleteItemFromObjectCaseSensitive(object, name);
}

void tree_rename(cJSON *item, const char *name)
{
    char *former = item->type & cJSON_StringIsConst ? NULL : item->string;
    item->string = name != NULL ? memory_string(name) : NULL;
    item->type &= ~cJSON_StringIsConst;
    memory_free(former);
}

void tree_exchange(cJSON *parent, cJSON *item, cJSON *value)
{
    tree_rename(value, cJSON_IsObject(parent) ? item->string : NULL);
    cJSON_ReplaceItemViaPointer(parent, item, value);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the tree is */

/* Two of one object mostly have their members in one order. */
static const cJSON *namesake(const cJSON *object, const cJSON *place, const char *name)
{
    if (place != NULL && (place->string == name || strcmp(place->string, name) == 0))
        return place;
    return tree_member(object, name);
}

static bool same_children(const cJSON *a, const cJSON *b, bool named)
{
    const cJSON *place = b->child;
    size_t here = 0, there = 0;
    for (const cJSON *item = a->child; item != NULL; item = item->next, here++) {
        const cJSON *other = named ? namesake(b, place, item->string) : place;
        if (other == NULL || !tree_same(item, other))
            return false;
        place = other->next;
    }
    for (const cJSON *item = b->child; item != NULL; item = item->next)
        there++;
    return here == there;
}

bool tree_same(const cJSON *a, const cJSON *b)
{
    if (a == NULL || b == NULL || a == b)
        return a == b;
    if ((a->type & 0xFF) != (b->type & 0xFF))
        return false;
    if (cJSON_IsObject(a) || cJSON_IsArray(a))
        return same_children(a, b, cJSON_IsObject(a));
    return cJSON_Compare(a, b, true);
}
/* NOLINTEND(misc-no-recursion) */

cJSON *tree_copy(const cJSON *tree)
{
    return cJSON_Duplicate(tree, true);
}

cJSON *tree_parse(const char *bytes, size_t size)
{
    cJSON *tree = size > 0 ? tree_text_read(bytes, size) : NULL;
    return tree != NULL ? tree : cJSON_ParseWithLength(bytes, size);
}

struct blob *tree_print(const cJSON *tree)
{
    static struct buffer text; /* kept for the next one */
    buffer_reset(&text);
    tree_text_print(tree, &text);
    return blob_new(text.at, text.len);
}
