/* Events exist once and are read through two APIs that name the same facts differently, and
 * PodGroups through versions of one that differ by no name.
 *
 * The one idea: the two shapes differ by the names of top-level members alone, so one table turns
 * either into the other and nothing is lost on the way there and back. */
#include "view.h"

#include <string.h>

static const char *const renamed[][2] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
};

static void rename_members(cJSON *tree, int from, int to)
{
    for (cJSON *item = tree->child; item != NULL; item = item->next) {
        for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
            if (strcmp(item->string, renamed[i][from]) != 0)
                continue;
            tree_rename(item, renamed[i][to]);
            break;
        }
    }
}

void view_to_stored(const struct resource *resource, cJSON *tree)
{
    if (!(resource->flags & VIEW) || !cJSON_IsObject(tree))
        return;
    rename_members(tree, 1, 0);
    char api_version[64];
    tree_set_string(tree, "apiVersion",
                    resource_api_version(&resources[resource_shelf(resource)], api_version));
}

void view_from_stored(const struct resource *resource, cJSON *tree)
{
    if (!(resource->flags & VIEW) || !cJSON_IsObject(tree))
        return;
    rename_members(tree, 0, 1);
    char api_version[64];
    tree_set_string(tree, "apiVersion", resource_api_version(resource, api_version));
}

struct blob *view_json(const struct resource *resource, struct object *object)
{
    if (!(resource->flags & VIEW))
        return object->json;
    if (object->view_of != resource && object->view != NULL) {
        blob_drop(object->view);
        object->view = NULL;
    }
    if (object->view == NULL) {
        object->view_of = resource;
        cJSON *tree = object_tree(object);
        view_from_stored(resource, tree);
        object->view = tree_print(tree);
        cJSON_Delete(tree);
    }
    return object->view;
}
