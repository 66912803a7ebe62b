/* Get, list and watch, with paging and the meaning of resourceVersion.
 *
 * The one idea: a list is always a list of one version, present or past, taken from the registry;
 * a continue token is only that version and the last key, so pages agree with each other, no state
 * is kept between them, and a page costs the same however many pages there are. A version that
 * history no longer reaches is 410 Expired. */
#include "api.h"

#include "selection.h"
#include "table.h"
#include "view.h"
#include "watch.h"

#include "proto/base/json_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void api_get(struct request *request, struct answer *answer)
{
    struct object *object = registry_find(&request->server->registry, request->resource,
                                          request->namespace, request->name);
    if (object == NULL)
        answer_status(answer, status_not_found(request->resource, request->name));
    else
        answer_object(request, answer, 200, object);
}

cJSON *api_version_arg(const struct request *request, uint64_t *version)
{
    const char *text = request_arg(request, "resourceVersion");
    char *end = NULL;
    *version = strtoull(text, &end, 10);
    if (*end || *text == '-')
        return status_bad_request("invalid resource version: resourceVersion: Invalid value: "
                                  "\"%.40s\": strconv.ParseUint: parsing \"%.40s\": invalid syntax",
                                  text, text);
    return NULL;
}

static cJSON *too_large(uint64_t wanted, uint64_t present)
{
    cJSON *status =
        status_failure(504, "Timeout", "Timeout: Too large resource version: %llu, current: %llu",
                       (unsigned long long)wanted, (unsigned long long)present);
    cJSON *cause = cJSON_CreateObject(), *causes = cJSON_CreateArray();
    tree_set_string(cause, "reason", "ResourceVersionTooLarge");
    tree_set_string(cause, "message", "Too large resource version");
    cJSON_AddItemToArray(causes, cause);
    tree_set(tree_make(status, "details"), "causes", causes);
    tree_set_number(tree_get(status, "details"), "retryAfterSeconds", 1);
    return status;
}

static cJSON *expired(uint64_t wanted, uint64_t oldest)
{
    return status_failure(410, "Expired", "too old resource version: %llu (%llu)",
                          (unsigned long long)wanted, (unsigned long long)oldest);
}

/* ---- list ---- */

struct page {
    uint64_t version;
    char *start;  /* the last key of the page before; NULL for the first page */
    size_t limit; /* 0 = all */
    struct selection *selection;
    struct object_list list;
};

static bool read_token(const char *token, struct page *page)
{
    size_t size = 0;
    char *decoded = base64_decode(token, &size);
    cJSON *tree = decoded != NULL ? tree_parse(decoded, size) : NULL;
    const char *start = tree_string(tree, "start", NULL);
    const char *version = tree_string(tree, "rv", "");
    bool good = start != NULL && *version;
    if (good) {
        page->start = memory_string(start);
        page->version = strtoull(version, NULL, 10);
    }
    cJSON_Delete(tree);
    memory_free(decoded);
    return good;
}

static char *write_token(const struct page *page)
{
    struct buffer json = {0};
    buffer_print(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":\"%llu\",\"start\":",
                 (unsigned long long)page->version);
    json_string(&json, str_of(page->list.objects[page->list.count - 1]->key));
    buffer_add_text(&json, "}");
    char *token = base64_encode(json.at, json.len);
    buffer_free(&json);
    return token;
}

/* Which version to list. */
static cJSON *choose_version(const struct request *request, struct page *page)
{
    uint64_t present = request->server->registry.version, wanted = 0;
    const char *token = request_arg(request, "continue");
    const char *match = request_arg(request, "resourceVersionMatch");
    if (*token) {
        if (!read_token(token, page) || page->version > present)
            return status_bad_request("continue key is not valid: %.80s", token);
        return NULL;
    }
    cJSON *refused = api_version_arg(request, &wanted);
    if (refused != NULL)
        return refused;
    if (wanted > present)
        return too_large(wanted, present);
    bool exact = strcmp(match, "Exact") == 0 || (*match == 0 && page->limit > 0);
    page->version = exact && wanted > 0 ? wanted : present;
    return NULL;
}

static cJSON *choose_selection(const struct request *request, struct selection **selection)
{
    struct buffer reason = {0};
    const char *labels = request_arg(request, "labelSelector");
    const char *fields = request_arg(request, "fieldSelector");
    cJSON *refused = NULL;
    *selection = selection_parse(request->resource, labels, fields, &reason);
    if (*selection == NULL)
        refused = status_bad_request("%s", reason.at);
    buffer_free(&reason);
    return refused;
}

static cJSON *plan_page(const struct request *request, struct page *page)
{
    page->limit = strtoul(request_arg(request, "limit"), NULL, 10);
    cJSON *refused = choose_version(request, page);
    return refused != NULL ? refused : choose_selection(request, &page->selection);
}

static cJSON *list_metadata(const struct page *page)
{
    char digits[24];
    cJSON *metadata = cJSON_CreateObject();
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)page->version);
    tree_set_string(metadata, "resourceVersion", digits);
    if (page->list.beyond > 0) {
        char *token = write_token(page);
        tree_set_string(metadata, "continue", token);
        memory_free(token);
        if (selection_is_empty(page->selection))
            tree_set_number(metadata, "remainingItemCount", (double)page->list.beyond);
    }
    return metadata;
}

static void answer_list(const struct request *request, struct answer *answer,
                        const struct page *page)
{
    const struct resource *resource = request->resource;
    answer->code = 200;
    answer->content_type = "application/json";
    if (table_wanted(request)) {
        answer_piece(answer, table_of_list(request, page->list.objects, page->list.count,
                                           list_metadata(page)));
        return;
    }
    char version[64];
    struct buffer head = {0};
    cJSON *metadata = list_metadata(page);
    struct blob *printed = tree_print(metadata);
    buffer_print(&head, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":%s,\"items\":[",
                 resource->kind, resource_api_version(resource, version), printed->bytes);
    answer_piece(answer, blob_new(head.at, head.len));
    struct blob *comma = blob_new(",", 1);
    for (size_t i = 0; i < page->list.count; i++) {
        if (i > 0)
            answer_piece(answer, blob_keep(comma));
        answer_piece(answer, blob_keep(view_json(resource, page->list.objects[i])));
    }
    answer_piece(answer, blob_new("]}\n", 3));
    blob_drop(comma);
    blob_drop(printed);
    cJSON_Delete(metadata);
    buffer_free(&head);
}

static bool read_page(const struct request *request, struct page *page)
{
    bool all = selection_is_empty(page->selection);
    struct list_range range = {.namespace = request->namespace,
                               .version = page->version,
                               .after = page->start,
                               .most = page->limit,
                               .selection = all ? NULL : page->selection};
    return registry_list(&request->server->registry, request->resource, &range, &page->list);
}

void api_list(struct request *request, struct answer *answer)
{
    struct page page = {0};
    const struct registry *registry = &request->server->registry;
    cJSON *refused = plan_page(request, &page);
    if (refused == NULL && !read_page(request, &page)) {
        refused =
            page.start != NULL
                ? status_failure(410, "Expired",
                                 "The provided continue parameter is too old to display a "
                                 "consistent list result. You can start a new list without the "
                                 "continue parameter.")
                : expired(page.version,
                          registry->shelves[resource_shelf(request->resource)].forgotten);
    }
    if (refused != NULL)
        answer_status(answer, refused);
    else
        answer_list(request, answer, &page);
    memory_free(page.start);
    selection_free(page.selection);
    object_list_free(&page.list);
}

/* ---- watch ---- */

static int64_t watch_deadline(const struct request *request)
{
    unsigned long seconds = strtoul(request_arg(request, "timeoutSeconds"), NULL, 10);
    if (seconds == 0 || seconds > 86400)
        seconds = 1800 + chance_below(1800);
    return clock_ms() + (int64_t)seconds * 1000;
}

static void plan_start(const struct request *request, struct watch_plan *plan, uint64_t wanted)
{
    struct registry *registry = &request->server->registry;
    const struct shelf *shelf = &registry->shelves[resource_shelf(request->resource)];
    const char *initial = request_arg(request, "sendInitialEvents");
    bool asked = request_flag(request, "sendInitialEvents");
    bool from_now = wanted == 0 && strcmp(initial, "false") != 0;
    uint64_t number;
    plan->version = wanted == 0 || asked ? registry->version : wanted;
    if (asked || from_now) {
        struct list_range range = {.namespace = request->namespace,
                                   .version = plan->version,
                                   .selection = plan->selection};
        must(registry_list(registry, request->resource, &range, &plan->initial));
        plan->initial_end = asked && plan->bookmarks;
    } else if (!registry_seek(shelf, plan->version, &number) || plan->version > registry->version) {
        plan->error = expired(wanted, shelf->forgotten > 0 ? shelf->forgotten : registry->version);
    }
}

void api_watch(struct request *request, struct answer *answer)
{
    struct watch_plan plan = {.bookmarks = request_flag(request, "allowWatchBookmarks")};
    uint64_t wanted = 0;
    if (*request->name) {
        request->keys[request->arg_count < ARGS_MAX ? request->arg_count++ : ARGS_MAX - 1] =
            "fieldSelector";
        static char by_name[300];
        snprintf(by_name, sizeof by_name, "metadata.name=%s", request->name);
        request->values[request->arg_count - 1] = by_name;
    }
    cJSON *refused = api_version_arg(request, &wanted);
    if (refused == NULL && request_flag(request, "sendInitialEvents") &&
        wanted > request->server->registry.version)
        refused = too_large(wanted, request->server->registry.version);
    if (refused == NULL)
        refused = choose_selection(request, &plan.selection);
    if (refused != NULL) {
        answer_status(answer, refused);
        return;
    }
    plan.deadline_ms = watch_deadline(request);
    plan_start(request, &plan, wanted);
    answer->code = 200;
    answer->content_type = "application/json";
    answer->watcher = watcher_new(request, &plan);
}
