/* debug: looks at every message while some pod is watched, and logs those that speak of it. What
 * must stay true: without a watched pod nobody comes here; a message is logged once where it is
 * heard and once where it is said, in a line of bounded length; no core hears of it. */
#include "proto/bus/debug.h"

#include "proto/base/log.h"
#include "proto/base/log_pods.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_MAX 1400 /* bytes of a message in a line */

void debug_take(struct bus *bus, struct peer *peer, const struct debug_pod *asked)
{
    struct message m = {.type = MSG_debug_pod, .debug_pod = *asked};
    bool good = log_pods_watch(asked->namespace_name, asked->name, asked->for_ms, bus->now);
    m.debug_pod.refused = good ? (struct str){NULL, 0}
                               : STR_LITERAL("as many pods are watched as can be (16), or the name "
                                             "or the time is out of range");
    if (good)
        log_info("full detail of a pod|pod=%.*s/%.*s for_ms=%" PRId64,
                 STR_ARG(asked->namespace_name), STR_ARG(asked->name), asked->for_ms);
    peer_say(bus, peer, &m);
}

static struct str text_of(const struct record *r, const void *object, const char *name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == KIND_str && strcmp(r->fields[i].name, name) == 0)
            return *(const struct str *)(const void *)((const char *)object + r->fields[i].offset);
    return (struct str){NULL, 0};
}

/* NOLINTBEGIN(misc-no-recursion): records nest as messages.def declares, a few levels deep */
static bool speaks_of_one(const struct record *r, const void *object)
{
    if (log_pods_is(text_of(r, object, "namespace_name"), text_of(r, object, "name"),
                    text_of(r, object, "uid")))
        return true;
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *field = &r->fields[i];
        const char *at = (const char *)object + field->offset;
        if (field->kind == KIND_one && speaks_of_one(field->of, at))
            return true;
        if (field->kind != KIND_list)
            continue;
        const struct list *list = (const struct list *)(const void *)at;
        for (uint32_t k = 0; k < list->count; k++)
            if (speaks_of_one(field->of, (const char *)list->at + k * field->of->size))
                return true;
    }
    return false;
}
/* NOLINTEND(misc-no-recursion) */

/* Quotes would end the value. */
static void log_message(const char *how, const struct peer *peer, const struct message *m)
{
    const struct record *r = message_info[m->type].record;
    struct buffer text = {0};
    if (!speaks_of_one(r, message_body_const(m)))
        return;
    codec_print(r, message_body_const(m), &text);
    bool cut = text.len > TEXT_MAX;
    text.len = cut ? TEXT_MAX : text.len;
    while (cut && text.len > 0 && ((unsigned char)text.at[text.len] & 0xc0) == 0x80)
        text.len--; /* not inside of a character */
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '"' || text.at[i] == '\\')
            text.at[i] = '\'';
    log_info("%s|message=%s peer=%s text=\"%.*s%s\"", how, r->name, peer->instance,
             STR_ARG(buffer_str(&text)), cut ? " …" : "");
    buffer_free(&text);
}

void debug_heard(const struct peer *peer, const struct message *m)
{
    log_message("heard", peer, m);
}

void debug_said(const struct peer *peer, const struct outgoing *head, struct str body)
{
    const uint8_t *at = (const uint8_t *)body.at;
    struct byte_cursor in = {at, at + body.len};
    struct arena arena = {0};
    struct message m = {.type = head->type};
    if (codec_decode(message_info[m.type].record, message_body(&m), &in, &arena))
        log_message("said", peer, &m);
    arena_free(&arena);
}
