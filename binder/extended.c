/* extended: an extender's answer to a bind, read as upstream reads it. What must stay true: only an
 * answer that says so without an error counts as bound. */
#include "binder/extended.h"

#include "proto/kube/extenders/extender_wire.h"

bool extended_failed(const struct extender_config *extender, const struct kube_response *r,
                     struct buffer *message)
{
    struct arena a = {0};
    struct str failed = {0}, error = {0};
    struct str url = extender_url(extender, extender->bind_verb, &a);
    buffer_reset(message);
    if (r->status == 0)
        buffer_print(message, "Post \"%.*s\": %s", STR_ARG(url), r->error);
    else if (r->status != 200)
        buffer_print(message, "failed %.*s with extender at URL %.*s, code %d",
                     STR_ARG(extender->bind_verb), STR_ARG(url), r->status);
    else if (!wire_bound_read(r->body, &failed, &a, &error))
        buffer_print(message, "extender \"%.*s\": %.*s: %.*s", STR_ARG(extender->url_prefix),
                     STR_ARG(extender->bind_verb), STR_ARG(error));
    else
        buffer_add_str(message, failed);
    arena_free(&a);
    return message->len > 0;
}
