/* Stamp, at PreBind: a pod with the label plugins.example/stamp gets the condition
 * plugins.example/Stamped before it is bound. With the value "broken" that fails. It reads the pod
 * first, as a bind says no labels. */
#include "binder/plugin.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/writes/writes.h"

static struct str path_of(const struct bind_question *q, const char *end)
{
    struct buffer path = {0};
    writes_path(&path, "/api/v1", q->bind->namespace_name, "pods", q->bind->name);
    buffer_add_text(&path, end);
    struct str copy = arena_copy(q->arena, buffer_str(&path));
    buffer_free(&path);
    return copy;
}

static void ask_for_pod(const struct bind_question *q, struct bind_reply *out)
{
    out->says = BIND_SAYS_request;
    out->request.method = KUBE_GET;
    out->request.path = path_of(q, "");
}

static void look_at_pod(const struct bind_question *q, struct bind_reply *out)
{
    struct kube_json *pod = kube_json_parse(q->answer->body, NULL, q->arena);
    const struct kube_json *labels = kube_json_path(pod, "metadata.labels");
    struct str stamp = kube_json_text(kube_json_get(labels, "plugins.example/stamp"));
    if (str_is(stamp, "broken")) {
        *out = (struct bind_reply){.says = BIND_SAYS_fail, .reason = STR_LITERAL("no ink")};
    } else if (stamp.len > 0) {
        out->says = BIND_SAYS_request;
        out->request.method = KUBE_PATCH;
        out->request.path = path_of(q, "/status");
        out->request.content_type = WRITES_PATCH;
        out->request.body =
            arena_print(q->arena,
                        "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{\"conditions\":[{\"type\":"
                        "\"plugins.example/Stamped\",\"status\":\"True\",\"message\":\"%.*s\"}]}}",
                        STR_ARG(q->bind->uid), STR_ARG(q->bind->node_name));
    }
    kube_json_free(&pod);
}

static void pre_bind(const struct bind_question *q, struct bind_reply *out)
{
    if (q->answer == NULL)
        ask_for_pod(q, out);
    else if (q->answer->status != 200)
        *out = (struct bind_reply){
            .says = BIND_SAYS_fail,
            .reason = arena_print(q->arena, "the API server answers %d", q->answer->status)};
    else if (q->asked == 1)
        look_at_pod(q, out);
}

const struct binder_plugin binder_plugin_stamp = {
    .name = "Stamp",
    .pre_bind = pre_bind,
};
