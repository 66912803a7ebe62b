/* One JSON line for each request that was answered, whatever became of the answer afterwards.
 *
 * The one idea: the line is written when the server has decided, so a binding whose answer got
 * lost on the way is in the log, as it is in a real cluster. */
#include "audit.h"

#include <stdio.h>
#include <string.h>

static cJSON *object_ref(const struct request *request)
{
    cJSON *ref = cJSON_CreateObject();
    tree_set_string(ref, "resource", request->resource->plural);
    if (*request->namespace)
        tree_set_string(ref, "namespace", request->namespace);
    if (*request->name)
        tree_set_string(ref, "name", request->name);
    const char *uid = tree_string(request->audit_object, "metadata.uid", "");
    if (*uid)
        tree_set_string(ref, "uid", uid);
    if (*request->resource->group)
        tree_set_string(ref, "apiGroup", request->resource->group);
    tree_set_string(ref, "apiVersion", request->resource->version);
    if (*request->subresource)
        tree_set_string(ref, "subresource", request->subresource);
    return ref;
}

static cJSON *user_part(const struct user *user)
{
    cJSON *tree = cJSON_CreateObject(), *groups = cJSON_CreateArray();
    tree_set_string(tree, "username", user != NULL ? user->name : "system:anonymous");
    for (size_t i = 0; user != NULL && i < user->group_count; i++)
        cJSON_AddItemToArray(groups, cJSON_CreateString(user->groups[i]));
    tree_set(tree, "groups", groups);
    return tree;
}

void audit_write(const struct request *request, int code)
{
    char uid[37], time[TIME_TEXT];
    FILE *file = request->server->audit;
    if (file == NULL)
        return;
    cJSON *line = cJSON_CreateObject();
    tree_set_string(line, "kind", "Event");
    tree_set_string(line, "apiVersion", "audit.k8s.io/v1");
    tree_set_string(line, "level", request->audit_object != NULL ? "Request" : "Metadata");
    tree_set_string(line, "auditID", chance_uid(uid));
    tree_set_string(line, "stage", "ResponseComplete");
    tree_set_string(line, "requestURI", request->path);
    tree_set_string(line, "verb", request->verb != NULL ? request->verb : "get");
    tree_set(line, "user", user_part(request->user));
    if (request->resource != NULL)
        tree_set(line, "objectRef", object_ref(request));
    tree_set_number(tree_make(line, "responseStatus"), "code", code);
    if (request->audit_object != NULL)
        tree_set(line, "requestObject", tree_copy(request->audit_object));
    tree_set_string(line, "requestReceivedTimestamp", time_micro_text(request->received_us, time));
    tree_set_string(line, "stageTimestamp", time_micro_text(moment_wall_us(), time));
    struct blob *printed = tree_print(line);
    fwrite(printed->bytes, 1, printed->size, file);
    fputc('\n', file);
    blob_drop(printed);
    cJSON_Delete(line);
}
