/* Tables: the columns that kubectl shows for pods, nodes, leases, events and namespaces; for every
 * other kind the name and the age.
 *
 * The one idea: a kind is a list of columns, each with a function from the object's tree to a cell;
 * rows are rendered when asked for and never kept. */
#include "table.h"

#include "view.h"

#include <stdio.h>
#include <string.h>

typedef void cell_writer(const cJSON *tree, struct buffer *cell);

struct column {
    const char *name, *type;
    int priority; /* 1: only with -o wide */
    cell_writer *write;
};

/* ---- cells ---- */

/* As kubectl writes ages: 5s, 3m20s, 45m, 5h2m, 26h, 3d4h, 12d. */
static void write_age(int64_t since_us, struct buffer *cell)
{
    int64_t s = (moment_wall_us() - since_us) / 1000000;
    if (since_us < 0)
        buffer_add_text(cell, "<unknown>");
    else if (s < 120)
        buffer_print(cell, "%llds", (long long)(s < 0 ? 0 : s));
    else if (s < 600 && s % 60)
        buffer_print(cell, "%lldm%llds", (long long)s / 60, (long long)s % 60);
    else if (s < 10800)
        buffer_print(cell, "%lldm", (long long)s / 60);
    else if (s < 28800 && s % 3600 >= 60)
        buffer_print(cell, "%lldh%lldm", (long long)s / 3600, (long long)s % 3600 / 60);
    else if (s < 172800)
        buffer_print(cell, "%lldh", (long long)s / 3600);
    else if (s < 691200 && s % 86400 >= 3600)
        buffer_print(cell, "%lldd%lldh", (long long)s / 86400, (long long)s % 86400 / 3600);
    else
        buffer_print(cell, "%lldd", (long long)s / 86400);
}

static void cell_at(const cJSON *tree, const char *path, const char *otherwise, struct buffer *cell)
{
    const char *found = tree_string(tree, path, "");
    buffer_add_text(cell, *found ? found : otherwise);
}

static void cell_name(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "metadata.name", "", cell);
}

static void cell_age(const cJSON *tree, struct buffer *cell)
{
    write_age(time_parse_us(tree_string(tree, "metadata.creationTimestamp", "")), cell);
}

static void cell_ready(const cJSON *tree, struct buffer *cell)
{
    int ready = 0;
    const cJSON *status;
    cJSON_ArrayForEach(status, tree_get(tree, "status.containerStatuses")) ready +=
        tree_bool(status, "ready");
    buffer_print(cell, "%d/%d", ready, cJSON_GetArraySize(tree_get(tree, "spec.containers")));
}

static void cell_pod_status(const cJSON *tree, struct buffer *cell)
{
    const cJSON *item;
    const char *text = tree_string(tree, "status.reason", tree_string(tree, "status.phase", ""));
    cJSON_ArrayForEach(item, tree_get(tree, "status.conditions"))
    {
        if (strcmp(tree_string(item, "reason", ""), "SchedulingGated") == 0)
            text = "SchedulingGated";
    }
    buffer_add_text(cell,
                    tree_get(tree, "metadata.deletionTimestamp") != NULL ? "Terminating" : text);
}

static void cell_restarts(const cJSON *tree, struct buffer *cell)
{
    int restarts = 0;
    const cJSON *status;
    cJSON_ArrayForEach(status, tree_get(tree, "status.containerStatuses")) restarts +=
        (int)tree_number(status, "restartCount", 0);
    buffer_print(cell, "%d", restarts);
}

static void cell_pod_ip(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.podIP", "<none>", cell);
}

static void cell_pod_node(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "spec.nodeName", "<none>", cell);
}

static void cell_nominated(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.nominatedNodeName", "<none>", cell);
}

static void cell_none(const cJSON *tree, struct buffer *cell)
{
    (void)tree;
    buffer_add_text(cell, "<none>");
}

static void cell_node_status(const cJSON *tree, struct buffer *cell)
{
    const char *ready = "Unknown";
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_get(tree, "status.conditions"))
    {
        if (strcmp(tree_string(item, "type", ""), "Ready") == 0)
            ready = strcmp(tree_string(item, "status", ""), "True") == 0 ? "Ready" : "NotReady";
    }
    buffer_add_text(cell, ready);
    if (tree_bool(tree, "spec.unschedulable"))
        buffer_add_text(cell, ",SchedulingDisabled");
}

static void cell_roles(const cJSON *tree, struct buffer *cell)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    const cJSON *label;
    cJSON_ArrayForEach(label, tree_map(tree, "metadata.labels"))
    {
        if (strncmp(label->string, prefix, sizeof prefix - 1) == 0)
            buffer_print(cell, "%s%s", cell->len ? "," : "", label->string + sizeof prefix - 1);
    }
    if (cell->len == 0)
        buffer_add_text(cell, "<none>");
}

static void cell_version(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.nodeInfo.kubeletVersion", "", cell);
}

static void cell_os_image(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.nodeInfo.osImage", "<unknown>", cell);
}

static void cell_kernel(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.nodeInfo.kernelVersion", "<unknown>", cell);
}

static void cell_runtime(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.nodeInfo.containerRuntimeVersion", "<unknown>", cell);
}

static void cell_address(const cJSON *tree, const char *type, struct buffer *cell)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, tree_get(tree, "status.addresses"))
    {
        if (cell->len == 0 && strcmp(tree_string(item, "type", ""), type) == 0)
            cell_at(item, "address", "<none>", cell);
    }
    if (cell->len == 0)
        buffer_add_text(cell, "<none>");
}

static void cell_internal_ip(const cJSON *tree, struct buffer *cell)
{
    cell_address(tree, "InternalIP", cell);
}

static void cell_external_ip(const cJSON *tree, struct buffer *cell)
{
    cell_address(tree, "ExternalIP", cell);
}

static void cell_holder(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "spec.holderIdentity", "", cell);
}

static void cell_last_seen(const cJSON *tree, struct buffer *cell)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                        "metadata.creationTimestamp"};
    const char *when = "";
    for (int i = 0; i < 4 && *when == 0; i++)
        when = tree_string(tree, paths[i], "");
    write_age(time_parse_us(when), cell);
}

static void cell_type(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "type", "", cell);
}

static void cell_reason(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "reason", "", cell);
}

static void cell_event_object(const cJSON *tree, struct buffer *cell)
{
    const char *kind = tree_string(tree, "involvedObject.kind", "");
    for (; *kind; kind++)
        buffer_print(cell, "%c", *kind >= 'A' && *kind <= 'Z' ? *kind + 32 : *kind);
    buffer_print(cell, "/%s", tree_string(tree, "involvedObject.name", ""));
}

static void cell_message(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "message", "", cell);
}

static void cell_phase(const cJSON *tree, struct buffer *cell)
{
    cell_at(tree, "status.phase", "", cell);
}

/* ---- columns ---- */

static const struct column pod_columns[] = {{"Name", "string", 0, cell_name},
                                            {"Ready", "string", 0, cell_ready},
                                            {"Status", "string", 0, cell_pod_status},
                                            {"Restarts", "string", 0, cell_restarts},
                                            {"Age", "string", 0, cell_age},
                                            {"IP", "string", 1, cell_pod_ip},
                                            {"Node", "string", 1, cell_pod_node},
                                            {"Nominated Node", "string", 1, cell_nominated},
                                            {"Readiness Gates", "string", 1, cell_none},
                                            {0}};
static const struct column node_columns[] = {{"Name", "string", 0, cell_name},
                                             {"Status", "string", 0, cell_node_status},
                                             {"Roles", "string", 0, cell_roles},
                                             {"Age", "string", 0, cell_age},
                                             {"Version", "string", 0, cell_version},
                                             {"Internal-IP", "string", 1, cell_internal_ip},
                                             {"External-IP", "string", 1, cell_external_ip},
                                             {"OS-Image", "string", 1, cell_os_image},
                                             {"Kernel-Version", "string", 1, cell_kernel},
                                             {"Container-Runtime", "string", 1, cell_runtime},
                                             {0}};
static const struct column lease_columns[] = {{"Name", "string", 0, cell_name},
                                              {"Holder", "string", 0, cell_holder},
                                              {"Age", "string", 0, cell_age},
                                              {0}};
static const struct column event_columns[] = {{"Last Seen", "string", 0, cell_last_seen},
                                              {"Type", "string", 0, cell_type},
                                              {"Reason", "string", 0, cell_reason},
                                              {"Object", "string", 0, cell_event_object},
                                              {"Message", "string", 0, cell_message},
                                              {"Name", "string", 1, cell_name},
                                              {0}};
static const struct column namespace_columns[] = {{"Name", "string", 0, cell_name},
                                                  {"Status", "string", 0, cell_phase},
                                                  {"Age", "string", 0, cell_age},
                                                  {0}};
static const struct column plain_columns[] = {
    {"Name", "string", 0, cell_name}, {"Age", "string", 0, cell_age}, {0}};

static const struct {
    const char *plural;
    const struct column *columns;
} kinds[] = {{"pods", pod_columns},
             {"nodes", node_columns},
             {"leases", lease_columns},
             {"events", event_columns},
             {"namespaces", namespace_columns}};

static const struct column *columns_of(const struct resource *resource)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].plural, resource->plural) == 0)
            return kinds[i].columns;
    }
    return plain_columns;
}

/* ---- rendering ---- */

bool table_wanted(const struct request *request)
{
    const char *found = strstr(request->accept, "as=Table");
    const char *plain = strstr(request->accept, "application/json,");
    return found != NULL && (plain == NULL || plain > found) &&
           strstr(found, "g=meta.k8s.io") != NULL;
}

static cJSON *definitions(const struct column *columns)
{
    cJSON *list = cJSON_CreateArray();
    for (const struct column *c = columns; c->name != NULL; c++) {
        cJSON *definition = cJSON_CreateObject();
        tree_set_string(definition, "name", c->name);
        tree_set_string(definition, "type", c->type);
        tree_set_string(definition, "format", strcmp(c->name, "Name") == 0 ? "name" : "");
        tree_set_string(definition, "description", c->name);
        tree_set_number(definition, "priority", c->priority);
        cJSON_AddItemToArray(list, definition);
    }
    return list;
}

static cJSON *row_object(const struct table_style *style, cJSON *tree)
{
    if (style->whole_objects) {
        view_from_stored(style->resource, tree);
        return tree;
    }
    cJSON *partial = cJSON_CreateObject();
    tree_set_string(partial, "kind", "PartialObjectMetadata");
    tree_set_string(partial, "apiVersion", "meta.k8s.io/v1");
    tree_set(partial, "metadata", cJSON_DetachItemFromObjectCaseSensitive(tree, "metadata"));
    cJSON_Delete(tree);
    return partial;
}

static cJSON *row_of(const struct table_style *style, const struct column *columns,
                     const struct object *object)
{
    cJSON *tree = object_tree(object);
    cJSON *row = cJSON_CreateObject(), *cells = cJSON_CreateArray();
    for (const struct column *c = columns; c->name != NULL; c++) {
        struct buffer cell = {0};
        c->write(tree, &cell);
        cJSON_AddItemToArray(cells, cJSON_CreateString(cell.at != NULL ? cell.at : ""));
        buffer_free(&cell);
    }
    tree_set(row, "cells", cells);
    tree_set(row, "object", row_object(style, tree));
    return row;
}

struct table_style table_style_of(const struct request *request)
{
    return (struct table_style){.resource = request->resource,
                                .whole_objects =
                                    strcmp(request_arg(request, "includeObject"), "Object") == 0};
}

struct blob *table_render(const struct table_style *style, struct object *const *objects,
                          size_t count, cJSON *metadata)
{
    const struct column *columns = columns_of(style->resource);
    cJSON *table = cJSON_CreateObject(), *rows = cJSON_CreateArray();
    tree_set_string(table, "kind", "Table");
    tree_set_string(table, "apiVersion", "meta.k8s.io/v1");
    tree_set(table, "metadata", metadata);
    tree_set(table, "columnDefinitions", definitions(columns));
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(rows, row_of(style, columns, objects[i]));
    tree_set(table, "rows", rows);
    struct blob *blob = tree_print(table);
    cJSON_Delete(table);
    return blob;
}

static struct blob *render_one(const struct table_style *style, struct object *object)
{
    char digits[24];
    cJSON *metadata = cJSON_CreateObject();
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)object->version);
    tree_set_string(metadata, "resourceVersion", digits);
    return table_render(style, &object, 1, metadata);
}

struct blob *table_of_object(const struct request *request, struct object *object)
{
    struct table_style style = table_style_of(request);
    return render_one(&style, object);
}

struct blob *table_of_list(const struct request *request, struct object *const *objects,
                           size_t count, cJSON *metadata)
{
    struct table_style style = table_style_of(request);
    return table_render(&style, objects, count, metadata);
}
