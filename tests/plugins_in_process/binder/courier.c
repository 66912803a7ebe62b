/* Courier, at Bind and PostBind: it binds pods whose names begin with "express" itself, leaves all
 * others to the next plugin, and logs what was bound. Pods whose names begin with "express-lost" it
 * binds to nothing, and says that it failed. */
#include "binder/plugin.h"
#include "proto/base/log.h"
#include "proto/kube/writes/writes.h"

static void send_binding(const struct bind_question *q, struct bind_reply *out)
{
    struct buffer path = {0}, body = {0};
    writes_path(&path, "/api/v1", q->bind->namespace_name, "pods", q->bind->name);
    buffer_add_text(&path, "/binding");
    writes_binding(&body, q->bind);
    out->says = BIND_SAYS_request;
    out->request.method = KUBE_POST;
    out->request.content_type = WRITES_JSON;
    out->request.path = arena_copy(q->arena, buffer_str(&path));
    out->request.body = arena_copy(q->arena, buffer_str(&body));
    buffer_free(&path);
    buffer_free(&body);
}

static void do_bind(const struct bind_question *q, struct bind_reply *out)
{
    if (!str_starts_with(q->bind->name, "express"))
        out->says = BIND_SAYS_skip;
    else if (str_starts_with(q->bind->name, "express-lost"))
        *out = (struct bind_reply){.says = BIND_SAYS_fail, .reason = STR_LITERAL("lost")};
    else if (q->answer == NULL)
        send_binding(q, out);
    else if (q->answer->status < 200 || q->answer->status > 299)
        *out = (struct bind_reply){
            .says = BIND_SAYS_fail,
            .reason = arena_print(q->arena, "the API server answers %d", q->answer->status)};
}

static void post_bind(const struct bind *bind)
{
    log_info("delivered| pod=%.*s node=%.*s", STR_ARG(bind->name), STR_ARG(bind->node_name));
}

const struct binder_plugin binder_plugin_courier = {
    .name = "Courier",
    .bind = do_bind,
    .post_bind = post_bind,
};
