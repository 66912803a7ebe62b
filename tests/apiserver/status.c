/* Error answers, worded as the real API server words them, because clients read the words.
 *
 * The one idea: a failure is the Status tree itself, made where it is found and passed up
 * unchanged, so that message, reason, code and details can never disagree. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static cJSON *status_new(const char *outcome, int code)
{
    cJSON *status = cJSON_CreateObject();
    tree_set_string(status, "kind", "Status");
    tree_set_string(status, "apiVersion", "v1");
    tree_set(status, "metadata", cJSON_CreateObject());
    tree_set_string(status, "status", outcome);
    tree_set_number(status, "code", code);
    return status;
}

static cJSON *failure_of(int code, const char *reason, const char *format, va_list args)
{
    char message[2048];
    vsnprintf(message, sizeof message, format, args);
    cJSON *status = status_new("Failure", code);
    tree_set_string(status, "message", message);
    if (*reason)
        tree_set_string(status, "reason", reason);
    return status;
}

cJSON *status_failure(int code, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cJSON *status = failure_of(code, reason, format, args);
    va_end(args);
    return status;
}

cJSON *status_bad_request(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cJSON *status = failure_of(400, "BadRequest", format, args);
    va_end(args);
    return status;
}

cJSON *status_about(cJSON *status, const struct resource *resource, const char *name)
{
    cJSON *details = tree_make(status, "details");
    if (name != NULL && *name)
        tree_set_string(details, "name", name);
    if (*resource->group)
        tree_set_string(details, "group", resource->group);
    tree_set_string(details, "kind", resource->plural);
    return status;
}

cJSON *status_success(void)
{
    return status_new("Success", 200);
}

int status_code(const cJSON *status)
{
    return (int)tree_number(status, "code", 500);
}

cJSON *status_not_found(const struct resource *resource, const char *name)
{
    char qualified[128];
    resource_qualified(resource, qualified);
    return status_about(status_failure(404, "NotFound", "%s \"%s\" not found", qualified, name),
                        resource, name);
}

cJSON *status_exists(const struct resource *resource, const char *name)
{
    char qualified[128];
    resource_qualified(resource, qualified);
    cJSON *status =
        status_failure(409, "AlreadyExists", "%s \"%s\" already exists", qualified, name);
    return status_about(status, resource, name);
}

cJSON *status_conflict(const struct resource *resource, const char *qualified, const char *name,
                       const char *cause)
{
    cJSON *status = status_failure(
        409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s", qualified, name, cause);
    return status_about(status, resource, name);
}

void causes_add(struct causes *causes, const char *reason, const char *field, const char *format,
                ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (causes->list == NULL)
        causes->list = cJSON_CreateArray();
    cJSON *cause = cJSON_CreateObject();
    tree_set_string(cause, "reason", reason);
    tree_set_string(cause, "message", message);
    tree_set_string(cause, "field", field);
    cJSON_AddItemToArray(causes->list, cause);
}

cJSON *status_invalid(struct causes *causes, const struct resource *resource, const char *name)
{
    if (causes->list == NULL)
        return NULL;
    struct buffer all = {0};
    bool several = cJSON_GetArraySize(causes->list) > 1;
    const cJSON *cause;
    cJSON_ArrayForEach(cause, causes->list)
    {
        buffer_print(&all, "%s%s: %s", all.len ? ", " : "", tree_string(cause, "field", ""),
                     tree_string(cause, "message", ""));
    }
    char kind[128];
    snprintf(kind, sizeof kind, "%s%s%s", resource->kind, *resource->group ? "." : "",
             resource->group);
    cJSON *status = status_failure(422, "Invalid", "%s \"%s\" is invalid: %s%s%s", kind, name,
                                   several ? "[" : "", all.at, several ? "]" : "");
    status_about(status, resource, name);
    tree_set_string(tree_get(status, "details"), "kind", resource->kind);
    tree_set(tree_get(status, "details"), "causes", causes->list);
    causes->list = NULL;
    buffer_free(&all);
    return status;
}
