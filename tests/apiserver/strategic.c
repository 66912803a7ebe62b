/* Strategic merge patch: a merge patch that knows which lists are sets of keyed items.
 *
 * The one idea: a list is merged when its field has a merge key in the table below, or is one of
 * the few merged lists of plain values; every other list is replaced whole. The directives $patch,
 * $retainKeys, $setElementOrder/x and $deleteFromPrimitiveList/x act where they stand and never
 * remain in the result. Node taints and pod tolerations are replaced whole, as upstream does. */
#include "patch.h"

#include <string.h>

struct merged_list {
    const char *field, *key; /* key NULL: a set of plain values */
};

static const struct merged_list merged_lists[] = {
    {"conditions", "type"},
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"volumes", "name"},
    {"env", "name"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"imagePullSecrets", "name"},
    {"secrets", "name"},
    {"hostAliases", "ip"},
    {"podIPs", "ip"},
    {"hostIPs", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"schedulingGates", "name"},
    {"resourceClaims", "name"},
    {"resourceClaimStatuses", "name"},
    {"ownerReferences", "uid"},
    {"reservedFor", "uid"},
    {"addresses", "type"},
    {"drivers", "name"},
    {"finalizers", NULL},
    {"podCIDRs", NULL},
};

static const char order_prefix[] = "$setElementOrder/";
static const char delete_prefix[] = "$deleteFromPrimitiveList/";

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "ports" is keyed by containerPort in containers and by port in services. */
static const struct merged_list *ports_list(const cJSON *original, const cJSON *patch)
{
    static const struct merged_list container = {"ports", "containerPort"},
                                    service = {"ports", "port"};
    const cJSON *sample =
        original != NULL && original->child != NULL ? original->child : patch->child;
    return tree_member(sample, "containerPort") != NULL ? &container : &service;
}

static const struct merged_list *find_list(const char *field, const cJSON *original,
                                           const cJSON *patch)
{
    if (strcmp(field, "ports") == 0)
        return ports_list(original, patch);
    for (size_t i = 0; i < sizeof merged_lists / sizeof *merged_lists; i++) {
        if (strcmp(merged_lists[i].field, field) == 0)
            return &merged_lists[i];
    }
    return NULL;
}

/* The item of a list that means the same thing: the same key, or for plain values the same value.
 */
static cJSON *find_item(const cJSON *list, const char *key, const cJSON *like)
{
    const cJSON *wanted = key != NULL ? tree_member(like, key) : like;
    cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *found = key != NULL ? tree_member(item, key) : item;
        if (wanted != NULL && tree_same(found, wanted))
            return item;
    }
    return NULL;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the patch, which cJSON bounds at 1000 */
static cJSON *merge_map(cJSON *target, const cJSON *patch, struct buffer *why);

static bool directive_is(const cJSON *patch, const char *value)
{
    return strcmp(tree_string(patch, "$patch", ""), value) == 0;
}

/* One keyed item of a patch list onto the list. */
static bool merge_item(cJSON *list, const char *key, const cJSON *item, struct buffer *why)
{
    if (!cJSON_IsObject(item) || tree_member(item, key) == NULL) {
        buffer_print(why, "map does not contain key: %s", key);
        return false;
    }
    cJSON *old = find_item(list, key, item);
    if (directive_is(item, "delete")) {
        if (old != NULL)
            cJSON_Delete(cJSON_DetachItemViaPointer(list, old));
        return true;
    }
    cJSON *merged = merge_map(old != NULL ? tree_copy(old) : cJSON_CreateObject(), item, why);
    if (merged == NULL)
        return false;
    if (old != NULL)
        cJSON_ReplaceItemViaPointer(list, old, merged);
    else
        cJSON_AddItemToArray(list, merged);
    return true;
}

static bool list_is_replaced(const cJSON *patch)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, patch)
    {
        if (directive_is(item, "replace"))
            return true;
    }
    return false;
}

/* A patch list with a {"$patch": "replace"} item stands for itself, without that item. */
static cJSON *replacement(const cJSON *patch)
{
    cJSON *list = cJSON_CreateArray();
    const cJSON *item;
    cJSON_ArrayForEach(item, patch)
    {
        if (!directive_is(item, "replace"))
            cJSON_AddItemToArray(list, tree_copy(item));
    }
    return list;
}

/* Takes the old list (or NULL); NULL on failure. */
static cJSON *merge_list(cJSON *list, const struct merged_list *how, const cJSON *patch,
                         struct buffer *why)
{
    if (list_is_replaced(patch)) {
        cJSON_Delete(list);
        return replacement(patch);
    }
    if (!cJSON_IsArray(list)) {
        cJSON_Delete(list);
        list = cJSON_CreateArray();
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, patch)
    {
        if (how->key == NULL) {
            if (find_item(list, NULL, item) == NULL)
                cJSON_AddItemToArray(list, tree_copy(item));
        } else if (!merge_item(list, how->key, item, why)) {
            cJSON_Delete(list);
            return NULL;
        }
    }
    return list;
}

/* Puts the items into the wanted order; those it does not name keep their place after the item
 * that they followed, which for the lists of Kubernetes means that they go last. */
static void order_list(cJSON *list, const char *key, const cJSON *order)
{
    cJSON *sorted = cJSON_CreateArray(), *item;
    const cJSON *wanted;
    cJSON_ArrayForEach(wanted, order)
    {
        if ((item = find_item(list, key, wanted)) != NULL)
            cJSON_AddItemToArray(sorted, cJSON_DetachItemViaPointer(list, item));
    }
    while ((item = cJSON_DetachItemFromArray(list, 0)) != NULL)
        cJSON_AddItemToArray(sorted, item);
    while ((item = cJSON_DetachItemFromArray(sorted, 0)) != NULL)
        cJSON_AddItemToArray(list, item);
    cJSON_Delete(sorted);
}

static void apply_order(cJSON *target, const cJSON *directive)
{
    const char *field = directive->string + sizeof order_prefix - 1;
    cJSON *list = tree_member(target, field);
    if (!cJSON_IsArray(list))
        return;
    const struct merged_list *how = find_list(field, list, directive);
    order_list(list, how != NULL ? how->key : NULL, directive);
}

static void apply_deletions(cJSON *target, const cJSON *directive)
{
    cJSON *list = tree_member(target, directive->string + sizeof delete_prefix - 1);
    const cJSON *value;
    cJSON_ArrayForEach(value, directive)
    {
        cJSON *found;
        while ((found = find_item(list, NULL, value)) != NULL)
            cJSON_Delete(cJSON_DetachItemViaPointer(list, found));
    }
}

static void retain_keys(cJSON *target, const cJSON *keys)
{
    cJSON *next;
    for (cJSON *item = target->child; item != NULL; item = next) {
        next = item->next;
        bool kept = false;
        const cJSON *key;
        cJSON_ArrayForEach(key, keys) kept |=
            cJSON_IsString(key) && !strcmp(key->valuestring, item->string);
        if (!kept)
            cJSON_Delete(cJSON_DetachItemViaPointer(target, item));
    }
}

static bool merge_member(cJSON *target, const cJSON *item, struct buffer *why)
{
    if (cJSON_IsNull(item)) {
        tree_remove(target, item->string);
        return true;
    }
    cJSON *old = cJSON_DetachItemFromObjectCaseSensitive(target, item->string);
    const struct merged_list *how = cJSON_IsArray(item) ? find_list(item->string, old, item) : NULL;
    cJSON *merged;
    if (how != NULL) {
        merged = merge_list(old, how, item, why);
    } else if (cJSON_IsObject(item)) {
        if (!cJSON_IsObject(old)) {
            cJSON_Delete(old);
            old = cJSON_CreateObject();
        }
        merged = merge_map(old, item, why);
    } else {
        cJSON_Delete(old);
        merged = tree_copy(item);
    }
    if (merged != NULL)
        tree_set(target, item->string, merged);
    return merged != NULL;
}

/* Takes the target, an object; NULL on failure. */
static cJSON *merge_map(cJSON *target, const cJSON *patch, struct buffer *why)
{
    if (directive_is(patch, "replace") || directive_is(patch, "delete")) {
        bool keeps = directive_is(patch, "replace");
        cJSON_Delete(target);
        target = keeps ? tree_copy(patch) : cJSON_CreateObject();
        tree_remove(target, "$patch");
        return target;
    }
    const cJSON *retain = tree_member(patch, "$retainKeys");
    if (cJSON_IsArray(retain))
        retain_keys(target, retain);
    for (const cJSON *item = patch->child; item != NULL; item = item->next) {
        if (has_prefix(item->string, delete_prefix))
            apply_deletions(target, item);
        if (*item->string != '$' && !merge_member(target, item, why)) {
            cJSON_Delete(target);
            return NULL;
        }
    }
    for (const cJSON *item = patch->child; item != NULL; item = item->next) {
        if (has_prefix(item->string, order_prefix))
            apply_order(target, item);
    }
    return target;
}

/* NOLINTEND(misc-no-recursion) */

cJSON *patch_strategic(const cJSON *original, const cJSON *patch, struct buffer *why)
{
    if (!cJSON_IsObject(patch) || !cJSON_IsObject(original)) {
        buffer_add_text(why, "a strategic merge patch is an object");
        return NULL;
    }
    return merge_map(tree_copy(original), patch, why);
}
