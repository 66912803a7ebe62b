/* The server's state as a whole, requests' arguments, and answers put together from shared pieces.
 *
 * The one idea: an answer is a list of blobs, so that listing fifty thousand pods copies none of
 * them. An answer is set once by whoever handles the request, and cleared by whoever sends it. */
#include "server.h"

#include "protobuf.h"
#include "table.h"
#include "view.h"
#include "watch.h"

#include <string.h>

static void on_change(void *context, int shelf)
{
    watchers_wake(context, shelf);
}

void server_init(struct server *server, size_t history)
{
    *server = (struct server){.kubelet = KUBELET_DELETE};
    registry_init(&server->registry, history);
    server->registry.changed = on_change;
    server->registry.context = server;
    timers_init(&server->timers);
}

void server_free(struct server *server)
{
    timers_free(&server->timers);
    registry_free(&server->registry);
}

const char *request_arg(const struct request *request, const char *key)
{
    for (size_t i = 0; i < request->arg_count; i++) {
        if (strcmp(request->keys[i], key) == 0)
            return request->values[i] != NULL ? request->values[i] : "";
    }
    return "";
}

bool request_flag(const struct request *request, const char *key)
{
    const char *value = request_arg(request, key);
    return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

/* A body without a type is taken for JSON, as curl users expect. */
static bool is_json(const char *type)
{
    return *type == 0 || strncmp(type, "application/json", 16) == 0 ||
           strncmp(type, "application/x-www-form-urlencoded", 33) == 0;
}

cJSON *request_tree(const struct request *request, cJSON **refused)
{
    cJSON *tree;
    *refused = NULL;
    if (protobuf_is(request->content_type)) {
        tree = protobuf_parse(request->body, request->body_size);
    } else if (is_json(request->content_type)) {
        tree = tree_parse(request->body, request->body_size);
    } else {
        *refused = status_failure(
            415, "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/vnd.kubernetes.protobuf");
        return NULL;
    }
    if (cJSON_IsObject(tree))
        return tree;
    cJSON_Delete(tree);
    const char *kind =
        strcmp(request->subresource, "binding") == 0 ? "Binding" : request->resource->kind;
    *refused =
        status_bad_request("%s in version \"%s\" cannot be handled as a %s: the body is no object",
                           kind, request->resource->version, kind);
    return NULL;
}

void answer_piece(struct answer *answer, struct blob *blob)
{
    if (answer->piece_count == answer->piece_room) {
        answer->piece_room = answer->piece_room ? answer->piece_room * 2 : 4;
        answer->pieces = memory_resize(answer->pieces, answer->piece_room * sizeof(struct blob *));
    }
    answer->pieces[answer->piece_count++] = blob;
}

void answer_text(struct answer *answer, int code, const char *content_type, const char *text)
{
    answer->code = code;
    answer->content_type = content_type;
    answer_piece(answer, blob_new(text, strlen(text)));
}

void answer_tree(struct answer *answer, int code, cJSON *tree)
{
    answer->code = code;
    answer->content_type = "application/json";
    answer_piece(answer, tree_print(tree));
    cJSON_Delete(tree);
}

void answer_status(struct answer *answer, cJSON *status)
{
    answer_tree(answer, status_code(status), status);
}

void answer_object(const struct request *request, struct answer *answer, int code,
                   struct object *object)
{
    answer->code = code;
    answer->content_type = "application/json";
    if (table_wanted(request))
        answer_piece(answer, table_of_object(request, object));
    else
        answer_piece(answer, blob_keep(view_json(request->resource, object)));
}

void answer_clear(struct answer *answer)
{
    for (size_t i = 0; i < answer->piece_count; i++)
        blob_drop(answer->pieces[i]);
    memory_free(answer->pieces);
    *answer = (struct answer){0};
}
