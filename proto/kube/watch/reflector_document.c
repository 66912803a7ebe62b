/* reflector_document: the object that is being told, as it came. The one idea: whoever wants an
 * object whole asks for it while it is told, so that no other kind pays for it. What must stay
 * true: it is byte for byte what the server sent, but for what a list leaves out of its items:
 * which kind they are of, and the envelope. */
#include "proto/kube/watch/reflector_inside.h"

#include "proto/kube/documents/json_edit.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"

#include <string.h>

/* Of /apis/GROUP/VERSION/… and /api/VERSION/… */
static struct str api_version(const char *path)
{
    static const char groups[] = "/apis/", core[] = "/api/";
    const char *end = strrchr(path, '/');
    size_t front = strncmp(path, groups, sizeof(groups) - 1) == 0 ? sizeof(groups) : sizeof(core);
    const char *begin = path + front - 1;
    return (struct str){begin, end > begin ? (uint32_t)(end - begin) : 0};
}

static bool add_json(const struct reflector *r, struct str text, struct buffer *out)
{
    if (text.len == 0 || *text.at != '{' || json_edit_member(text, "metadata").len == 0)
        return false;
    if (json_edit_member(text, "kind").len > 0) {
        buffer_add_str(out, text);
        return true;
    }
    struct str version = api_version(r->at);
    buffer_print(out, "{\"kind\":\"%s\",\"apiVersion\":\"%.*s\",", r->o.kind, STR_ARG(version));
    buffer_add(out, text.at + 1, text.len - 1); /* which is not empty */
    return true;
}

static bool add_event(const struct reflector *r, struct buffer *out)
{
    struct str body;
    if (r->form != FORM_frames)
        return add_json(r, json_edit_member(r->told, "object"), out);
    if (!kube_protobuf_event_object(r->told, &body))
        return false;
    buffer_add_str(out, body);
    return true;
}

bool reflector_document(const struct reflector *r, struct buffer *out)
{
    if (r->told.len == 0)
        return false;
    if (r->phase == WATCHING)
        return add_event(r, out);
    if (!r->protobuf)
        return add_json(r, r->told, out);
    size_t raw = protobuf_begin(out, api_version(r->at), str_of(r->o.kind));
    buffer_add_str(out, r->told);
    protobuf_close(out, raw);
    return true;
}
