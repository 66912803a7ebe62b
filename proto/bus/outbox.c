/* outbox: encoded messages in one growing buffer with one small head each, so that a core can hand
 * over a message and forget it. What must stay true: heads stand in the order of their bodies, of
 * which several may have the same, and every body lies inside the buffer. */
#include "proto/bus/outbox.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

static struct outgoing *add_head(struct outbox *out)
{
    if (out->count == out->room) {
        out->room = out->room ? out->room * 2 : 64;
        out->at = memory_resize(out->at, out->room * sizeof(*out->at));
    }
    return &out->at[out->count++];
}

void outbox_put(struct outbox *out, struct address to, const struct message *m)
{
    outbox_put_numbered(out, to, m, 0, 0);
}

void outbox_put_numbered(struct outbox *out, struct address to, const struct message *m,
                         int64_t epoch, int64_t sequence)
{
    must(m->type > MSG_none && m->type < MSG_COUNT && message_info[m->type].record != NULL);
    size_t before = out->bytes.len;
    codec_encode(message_info[m->type].record, message_body_const(m), &out->bytes);
    must(out->bytes.len <= UINT32_MAX);
    *add_head(out) = (struct outgoing){.to = to,
                                       .type = m->type,
                                       .body_offset = (uint32_t)before,
                                       .body_len = (uint32_t)(out->bytes.len - before),
                                       .epoch = epoch,
                                       .sequence = sequence};
}

void outbox_put_encoded(struct outbox *out, const struct outgoing *head, struct str body)
{
    size_t before = out->bytes.len;
    buffer_add_str(&out->bytes, body);
    must(out->bytes.len <= UINT32_MAX);
    struct outgoing *added = add_head(out);
    *added = *head;
    added->body_offset = (uint32_t)before;
    added->body_len = body.len;
}

void outbox_put_again(struct outbox *out, struct address to)
{
    must(out->count > 0);
    struct outgoing *added = add_head(out);
    *added = *(added - 1);
    added->to = to;
}

void outbox_send(struct outbox *out)
{
    if (out->send != NULL)
        out->send(out->context);
}

void outbox_move(struct outbox *to, struct outbox *from)
{
    for (size_t i = 0; i < from->count; i++)
        outbox_put_encoded(to, &from->at[i], outbox_body(from, i));
    outbox_reset(from);
}

struct str outbox_body(const struct outbox *out, size_t i)
{
    must(i < out->count);
    const struct outgoing *head = &out->at[i];
    must((size_t)head->body_offset + head->body_len <= out->bytes.len);
    return (struct str){out->bytes.at + head->body_offset, head->body_len};
}

bool outbox_get(const struct outbox *out, size_t i, struct message *m, struct arena *a)
{
    struct str body = outbox_body(out, i);
    const uint8_t *at = (const uint8_t *)body.at;
    struct byte_cursor in = {at, at + body.len};
    *m = (struct message){.type = out->at[i].type};
    return codec_decode(message_info[m->type].record, message_body(m), &in, a) && in.at == in.end;
}

void outbox_reset(struct outbox *out)
{
    buffer_reset(&out->bytes);
    out->count = 0;
}

void outbox_free(struct outbox *out)
{
    buffer_free(&out->bytes);
    memory_free(out->at);
    *out = (struct outbox){0};
}
