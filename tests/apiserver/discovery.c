/* What clients read to learn what is here, all of it made from the table of resources.
 *
 * The one idea: nothing here is written by hand for a resource. The OpenAPI documents say just
 * enough for kubectl: that PATCH takes fieldValidation, so that kubectl leaves validation to us. */
#include "discovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool discovery_set_version(struct server *server, const char *text)
{
    char *end;
    long minor = strncmp(text, "1.", 2) == 0 ? strtol(text + 2, &end, 10) : 0;
    if (minor < 1 || minor > 999 || *end)
        return false;
    server->registry.minor = (int)minor;
    return true;
}

static void answer_version(const struct server *server, struct answer *answer)
{
    struct buffer text = {0};
    buffer_print(&text,
                 "{\"major\":\"1\",\"minor\":\"%d\",\"emulationMajor\":\"1\","
                 "\"emulationMinor\":\"%d\",\"minCompatibilityMajor\":\"1\","
                 "\"minCompatibilityMinor\":\"%d\",\"gitVersion\":\"v1.%d.3\",\"gitCommit\":\"\","
                 "\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\",\"goVersion\":"
                 "\"\",\"compiler\":\"gcc\",\"platform\":\"linux/amd64\"}",
                 server->registry.minor, server->registry.minor, server->registry.minor - 1,
                 server->registry.minor);
    answer_text(answer, 200, "application/json", text.at);
    buffer_free(&text);
}

/* An administrator makes it another one, as an upgrade does. */
static void change_version(struct request *request, struct answer *answer)
{
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)(request->body_size < 15 ? request->body_size : 15),
             request->body);
    if (request->user == NULL || !request->user->admin)
        answer_status(
            answer, status_failure(403, "Forbidden", "version: only administrators may change it"));
    else if (!discovery_set_version(request->server, text))
        answer_status(answer, status_failure(400, "BadRequest", "version: expected 1.N"));
    else
        answer_version(request->server, answer);
}

static cJSON *words(const char *list)
{
    cJSON *array = cJSON_CreateArray();
    while (*list) {
        size_t size = strcspn(list, " ");
        char *word = memory_copy(list, size);
        cJSON_AddItemToArray(array, cJSON_CreateString(word));
        memory_free(word);
        list += size + (list[size] == ' ');
    }
    return array;
}

static cJSON *versioned(const char *kind, const char *api_version)
{
    cJSON *tree = cJSON_CreateObject();
    tree_set_string(tree, "kind", kind);
    if (api_version != NULL)
        tree_set_string(tree, "apiVersion", api_version);
    return tree;
}

static cJSON *resource_entry(const struct resource *resource, const char *sub, const char *kind,
                             const char *verbs)
{
    char name[128], singular[128];
    snprintf(name, sizeof name, "%s%s%s", resource->plural, *sub ? "/" : "", sub);
    snprintf(singular, sizeof singular, "%s", *sub ? "" : resource->kind);
    for (char *at = singular; *at; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
    cJSON *entry = cJSON_CreateObject();
    tree_set_string(entry, "name", name);
    tree_set_string(entry, "singularName", singular);
    tree_set(entry, "namespaced", cJSON_CreateBool((resource->flags & NAMESPACED) != 0));
    tree_set_string(entry, "kind", kind);
    tree_set(entry, "verbs", words(verbs));
    if (*sub == 0 && *resource->short_names)
        tree_set(entry, "shortNames", words(resource->short_names));
    if (*sub == 0 && (resource->flags & IN_ALL))
        tree_set(entry, "categories", words("all"));
    return entry;
}

static void add_entries(cJSON *list, const struct resource *resource)
{
    static const char all[] = "create delete deletecollection get list patch update watch";
    bool computed = resource->flags & COMPUTED;
    cJSON_AddItemToArray(list,
                         resource_entry(resource, "", resource->kind, computed ? "create" : all));
    if (resource->flags & STATUS)
        cJSON_AddItemToArray(
            list, resource_entry(resource, "status", resource->kind, "get patch update"));
    if (strcmp(resource->plural, "pods") == 0)
        cJSON_AddItemToArray(list, resource_entry(resource, "binding", "Binding", "create"));
}

static bool in_group(const struct resource *resource, const char *group_version)
{
    char own[64];
    return strcmp(resource_api_version(resource, own), group_version) == 0;
}

static cJSON *resource_list(const struct registry *registry, const char *group_version)
{
    cJSON *tree = versioned("APIResourceList", strcmp(group_version, "v1") == 0 ? NULL : "v1");
    cJSON *list = cJSON_CreateArray();
    tree_set_string(tree, "groupVersion", group_version);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (in_group(&resources[i], group_version) && registry_serves(registry, &resources[i]))
            add_entries(list, &resources[i]);
    }
    bool found = cJSON_GetArraySize(list) > 0;
    tree_set(tree, "resources", list);
    if (found)
        return tree;
    cJSON_Delete(tree);
    return NULL;
}

/* The first resource of each group stands for the group. */
static bool opens_group(const struct registry *registry, int index)
{
    for (int i = 0; i < index; i++) {
        if (strcmp(resources[i].group, resources[index].group) == 0)
            return false;
    }
    return *resources[index].group != 0 && registry_serves(registry, &resources[index]);
}

static cJSON *group_tree(const struct resource *resource)
{
    char group_version[64];
    cJSON *group = cJSON_CreateObject(), *version = cJSON_CreateObject(),
          *list = cJSON_CreateArray();
    tree_set_string(group, "name", resource->group);
    tree_set_string(version, "groupVersion", resource_api_version(resource, group_version));
    tree_set_string(version, "version", resource->version);
    tree_set(group, "preferredVersion", tree_copy(version));
    cJSON_AddItemToArray(list, version);
    tree_set(group, "versions", list);
    return group;
}

static cJSON *group_list(const struct registry *registry)
{
    cJSON *tree = versioned("APIGroupList", "v1"), *list = cJSON_CreateArray();
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (opens_group(registry, i))
            cJSON_AddItemToArray(list, group_tree(&resources[i]));
    }
    tree_set(tree, "groups", list);
    return tree;
}

static cJSON *core_versions(void)
{
    cJSON *tree = versioned("APIVersions", NULL);
    tree_set(tree, "versions", words("v1"));
    tree_set(tree, "serverAddressByClientCIDRs", cJSON_CreateArray());
    return tree;
}

/* ---- OpenAPI v3 ---- */

static cJSON *openapi_index(void)
{
    cJSON *tree = cJSON_CreateObject(), *paths = tree_make(tree, "paths");
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        char version[64], path[80], url[112];
        resource_api_version(&resources[i], version);
        snprintf(path, sizeof path, "%s/%s", *resources[i].group ? "apis" : "api", version);
        snprintf(url, sizeof url, "/openapi/v3/%s?hash=1", path);
        cJSON *entry = cJSON_CreateObject();
        tree_set_string(entry, "serverRelativeURL", url);
        tree_set(paths, path, entry);
    }
    return tree;
}

static cJSON *patch_operation(const struct resource *resource)
{
    cJSON *operation = cJSON_CreateObject(), *parameters = cJSON_CreateArray(),
          *kind = cJSON_CreateObject();
    static const char *const names[] = {"dryRun", "fieldManager", "fieldValidation", "force"};
    for (int i = 0; i < 4; i++) {
        cJSON *parameter = cJSON_CreateObject();
        tree_set_string(parameter, "name", names[i]);
        tree_set_string(parameter, "in", "query");
        tree_set_string(tree_make(parameter, "schema"), "type", "string");
        cJSON_AddItemToArray(parameters, parameter);
    }
    tree_set(operation, "parameters", parameters);
    cJSON *content = tree_make(operation, "requestBody.content");
    tree_set(content, "application/merge-patch+json", cJSON_CreateObject());
    tree_make(operation, "responses");
    tree_set_string(kind, "group", resource->group);
    tree_set_string(kind, "version", resource->version);
    tree_set_string(kind, "kind", resource->kind);
    tree_set(operation, "x-kubernetes-group-version-kind", kind);
    tree_set_string(operation, "x-kubernetes-action", "patch");
    return operation;
}

static cJSON *openapi_document(const char *group_version)
{
    cJSON *tree = cJSON_CreateObject(), *paths = tree_make(tree, "paths");
    tree_set_string(tree, "openapi", "3.0.0");
    tree_set_string(tree_make(tree, "info"), "title", "Kubernetes");
    tree_set_string(tree_make(tree, "info"), "version", "v1.36.3");
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct resource *r = &resources[i];
        char path[256];
        if (!in_group(r, group_version))
            continue;
        snprintf(path, sizeof path, "/%s/%.63s/%s%s/{name}", *r->group ? "apis" : "api",
                 group_version, r->flags & NAMESPACED ? "namespaces/{namespace}/" : "", r->plural);
        cJSON *item = cJSON_CreateObject();
        tree_set(item, "patch", patch_operation(r));
        tree_set(paths, path, item);
    }
    tree_make(tree, "components.schemas");
    return tree;
}

/* ---- paths ---- */

static const char *after(const char *path, const char *prefix)
{
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 ? path + size : NULL;
}

static cJSON *tree_for(const struct registry *registry, const char *path)
{
    const char *rest;
    if (strcmp(path, "/api") == 0)
        return core_versions();
    if (strcmp(path, "/apis") == 0)
        return group_list(registry);
    if (strcmp(path, "/openapi/v3") == 0)
        return openapi_index();
    if ((rest = after(path, "/openapi/v3/api/")) != NULL ||
        (rest = after(path, "/openapi/v3/apis/")) != NULL)
        return openapi_document(rest);
    if ((rest = after(path, "/api/")) != NULL)
        return resource_list(registry, rest);
    if ((rest = after(path, "/apis/")) == NULL)
        return NULL;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (opens_group(registry, i) && strcmp(resources[i].group, rest) == 0) {
            cJSON *group = group_tree(&resources[i]);
            tree_set_string(group, "kind", "APIGroup");
            tree_set_string(group, "apiVersion", "v1");
            return group;
        }
    }
    return resource_list(registry, rest);
}

void discovery_handle(struct request *request, struct answer *answer)
{
    char path[512];
    snprintf(path, sizeof path, "%s", request->path);
    size_t size = strlen(path);
    if (size > 1 && path[size - 1] == '/')
        path[size - 1] = 0;
    if (after(path, "/healthz") != NULL || after(path, "/livez") != NULL ||
        after(path, "/readyz") != NULL) {
        answer_text(answer, 200, "text/plain; charset=utf-8", "ok");
        return;
    }
    if (strcmp(path, "/version") == 0) {
        if (strcmp(request->method, "PUT") == 0)
            change_version(request, answer);
        else
            answer_version(request->server, answer);
        return;
    }
    cJSON *tree = tree_for(&request->server->registry, path);
    if (tree != NULL)
        answer_tree(answer, 200, tree);
    else if (after(path, "/apis/") != NULL || after(path, "/api/") != NULL)
        answer_status(answer, status_failure(404, "NotFound",
                                             "the server could not find the requested resource"));
    else
        answer_text(answer, 404, "text/plain; charset=utf-8", "404 page not found\n");
}
