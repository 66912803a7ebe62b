/* Reads request paths: /api/v1/… and /apis/GROUP/VERSION/…, with or without namespaces/NS.
 *
 * The one idea: a path is at most nine steps, cut once; what is left after the group and version
 * is [namespaces NS] PLURAL [NAME [SUBRESOURCE]]. The verb follows from method, name and watch. */
#include "route.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 10, STEP_SIZE = 256 };

struct steps {
    char at[STEPS_MAX][STEP_SIZE];
    int count;
};

static bool cut(const char *path, struct steps *steps)
{
    steps->count = 0;
    while (*path) {
        size_t size = strcspn(path, "/");
        if (size >= STEP_SIZE || (size > 0 && steps->count == STEPS_MAX))
            return false;
        if (size > 0) {
            memcpy(steps->at[steps->count], path, size);
            steps->at[steps->count++][size] = 0;
        }
        path += size + (path[size] == '/');
    }
    return true;
}

static cJSON *no_such_resource(void)
{
    cJSON *status =
        status_failure(404, "NotFound", "the server could not find the requested resource");
    tree_make(status, "details");
    return status;
}

static void name_object(struct request *request, const struct steps *steps, int next)
{
    if (next < steps->count)
        snprintf(request->name, sizeof request->name, "%s", steps->at[next]);
    if (next + 1 < steps->count)
        snprintf(request->subresource, sizeof request->subresource, "%.63s", steps->at[next + 1]);
}

static const char *verb_of(const struct request *request)
{
    bool named = *request->name != 0;
    if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0) {
        if (request_flag(request, "watch") && *request->subresource == 0)
            return "watch";
        return named ? "get" : "list";
    }
    if (strcmp(request->method, "POST") == 0)
        return !named || *request->subresource ? "create" : NULL;
    if (strcmp(request->method, "DELETE") == 0)
        return named ? "delete" : "deletecollection";
    if (strcmp(request->method, "PUT") == 0)
        return named ? "update" : NULL;
    if (strcmp(request->method, "PATCH") == 0)
        return named ? "patch" : NULL;
    return NULL;
}

static bool subresource_exists(const struct request *request)
{
    const char *sub = request->subresource;
    if (*sub == 0)
        return true;
    if (strcmp(sub, "status") == 0)
        return request->resource->flags & STATUS;
    return strcmp(sub, "binding") == 0 && strcmp(request->resource->plural, "pods") == 0;
}

cJSON *route_parse(struct request *request)
{
    struct steps steps;
    if (!cut(request->path, &steps))
        return no_such_resource();
    bool core = steps.count > 0 && strcmp(steps.at[0], "api") == 0;
    if (!core && (steps.count == 0 || strcmp(steps.at[0], "apis") != 0))
        return NULL;
    int next = core ? 2 : 3;
    if (steps.count <= next)
        return NULL;
    const char *group = core ? "" : steps.at[1];
    const char *version = steps.at[next - 1];
    if (strcmp(steps.at[next], "namespaces") == 0 && steps.count > next + 2 &&
        strcmp(steps.at[next + 2], "status") != 0) {
        snprintf(request->namespace, sizeof request->namespace, "%s", steps.at[next + 1]);
        next += 2;
    }
    request->resource = resource_find(group, version, steps.at[next]);
    if (request->resource == NULL ||
        !registry_serves(&request->server->registry, request->resource) ||
        (*request->namespace && !(request->resource->flags & NAMESPACED)))
        return no_such_resource();
    name_object(request, &steps, next + 1);
    if (!subresource_exists(request) || steps.count > next + 3)
        return no_such_resource();
    request->verb = verb_of(request);
    bool unplaced = (request->resource->flags & NAMESPACED) && *request->namespace == 0 &&
                    (*request->name || strcmp(request->method, "POST") == 0);
    bool computed = (request->resource->flags & COMPUTED) && strcmp(request->method, "POST") != 0;
    if (request->verb == NULL || unplaced || computed)
        return status_failure(405, "MethodNotAllowed",
                              "the server does not allow this method on the requested resource");
    return NULL;
}
