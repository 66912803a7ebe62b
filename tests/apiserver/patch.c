/* JSON merge patch (RFC 7386) and JSON patch (RFC 6902).
 *
 * The one idea: both work on a copy, so a patch that fails in its middle leaves nothing behind.
 * A pointer of a JSON patch is resolved up to its last step, and the operation acts on the parent.
 */
#include "patch.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(misc-no-recursion): as deep as the patch, which cJSON bounds at 1000 */
static cJSON *merge_into(cJSON *target, const cJSON *patch)
{
    if (!cJSON_IsObject(patch)) {
        cJSON_Delete(target);
        return tree_copy(patch);
    }
    if (!cJSON_IsObject(target)) {
        cJSON_Delete(target);
        target = cJSON_CreateObject();
    }
    for (const cJSON *item = patch->child; item != NULL; item = item->next) {
        if (cJSON_IsNull(item)) {
            tree_remove(target, item->string);
            continue;
        }
        cJSON *old = cJSON_DetachItemFromObjectCaseSensitive(target, item->string);
        tree_set(target, item->string, merge_into(old, item));
    }
    return target;
}

/* NOLINTEND(misc-no-recursion) */

cJSON *patch_merge(const cJSON *original, const cJSON *patch)
{
    return merge_into(tree_copy(original), patch);
}

/* The last step of a pointer and the container it acts on. */
struct place {
    cJSON *parent;
    char step[256];
};

/* Copies one step of a pointer, with ~1 and ~0 decoded; returns what follows it. */
static const char *pointer_step(const char *at, char step[static 256])
{
    size_t used = 0;
    for (; *at && *at != '/'; at++) {
        char letter = *at;
        if (letter == '~' && (at[1] == '0' || at[1] == '1'))
            letter = *++at == '0' ? '~' : '/';
        if (used < 255)
            step[used++] = letter;
    }
    step[used] = 0;
    return at;
}

/* The position a step means in an array of this size; -1 when it is none. "-" is the end. */
static int array_position(const char *step, int size, bool may_be_end)
{
    if (strcmp(step, "-") == 0)
        return may_be_end ? size : -1;
    char *end = NULL;
    long position = strtol(step, &end, 10);
    bool fits = *step && *end == 0 && position >= 0 && position < size + (may_be_end ? 1 : 0);
    return fits ? (int)position : -1;
}

static cJSON *place_child(const cJSON *parent, const char *step)
{
    if (cJSON_IsArray(parent))
        return cJSON_GetArrayItem(parent, array_position(step, cJSON_GetArraySize(parent), false));
    return tree_member(parent, step);
}

static bool place_find(cJSON *root, const char *pointer, struct place *place)
{
    place->parent = root;
    if (*pointer != '/')
        return false;
    for (;;) {
        pointer = pointer_step(pointer + 1, place->step);
        if (*pointer == 0)
            return cJSON_IsArray(place->parent) || cJSON_IsObject(place->parent);
        place->parent = place_child(place->parent, place->step);
        if (place->parent == NULL)
            return false;
    }
}

/* Takes the value. */
static bool place_add(struct place *place, cJSON *value)
{
    if (cJSON_IsObject(place->parent)) {
        tree_set(place->parent, place->step, value);
        return true;
    }
    int size = cJSON_GetArraySize(place->parent);
    int position = array_position(place->step, size, true), at = position;
    if (position < 0) {
        cJSON_Delete(value);
        return false;
    }
    /* Not cJSON_InsertItemInArray: the one in Debian 12 refuses every place but the first. */
    cJSON_AddItemToArray(place->parent, value);
    for (; position < size; position++)
        cJSON_AddItemToArray(place->parent, cJSON_DetachItemFromArray(place->parent, at));
    return true;
}

static cJSON *place_take(struct place *place)
{
    cJSON *item = place_child(place->parent, place->step);
    return item != NULL ? cJSON_DetachItemViaPointer(place->parent, item) : NULL;
}

static bool move_or_copy(cJSON *root, struct place *to, const cJSON *operation, bool move)
{
    const char *from = tree_string(operation, "from", "");
    struct place source;
    if (!place_find(root, from, &source) || place_child(source.parent, source.step) == NULL)
        return false;
    cJSON *value;
    if (move)
        value = place_take(&source);
    else
        value = tree_copy(place_child(source.parent, source.step));
    /* Taking the source away may have moved the target. */
    if (!place_find(root, tree_string(operation, "path", ""), to)) {
        cJSON_Delete(value);
        return false;
    }
    return place_add(to, value);
}

static bool operate(cJSON *root, const cJSON *operation)
{
    const char *name = tree_string(operation, "op", "");
    const cJSON *value = tree_member(operation, "value");
    struct place place;
    if (!place_find(root, tree_string(operation, "path", ""), &place))
        return false;
    cJSON *found = place_child(place.parent, place.step);
    if (strcmp(name, "test") == 0)
        return value != NULL && found != NULL && tree_same(found, value);
    if (strcmp(name, "add") == 0)
        return value != NULL && place_add(&place, tree_copy(value));
    if (strcmp(name, "remove") == 0) {
        cJSON_Delete(place_take(&place));
        return found != NULL;
    }
    if (strcmp(name, "replace") == 0) {
        if (value == NULL || found == NULL)
            return false;
        tree_exchange(place.parent, found, tree_copy(value));
        return true;
    }
    bool move = strcmp(name, "move") == 0;
    return (move || strcmp(name, "copy") == 0) && move_or_copy(root, &place, operation, move);
}

cJSON *patch_json(const cJSON *original, const cJSON *operations, struct buffer *why)
{
    if (!cJSON_IsArray(operations)) {
        buffer_add_text(why, "a JSON patch is a list of operations");
        return NULL;
    }
    cJSON *patched = tree_copy(original);
    const cJSON *operation;
    cJSON_ArrayForEach(operation, operations)
    {
        if (operate(patched, operation))
            continue;
        const char *name = tree_string(operation, "op", "");
        const char *path = tree_string(operation, "path", "");
        if (strcmp(name, "test") == 0)
            buffer_print(why, "testing value %s failed", path);
        else
            buffer_print(why, "%s operation does not apply: doc is missing path: %s", name, path);
        cJSON_Delete(patched);
        return NULL;
    }
    return patched;
}
