/* protobuf_edit: one pass a message. The one idea: what is not to be changed is copied field by
 * field without a look at what is in it; a message that is to be changed inside is put behind all
 * others, which means the same. What must stay true: a length is compared with the bytes that are
 * left before it is used. */
#include "proto/kube/documents/protobuf_edit.h"

#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"

#include <string.h>

#define MAGIC  4 /* bytes in front of a body */
#define OBJECT 2 /* the field of its envelope that has the object */

/* A field as it lies in its message. */
struct field {
    uint32_t number;
    bool message; /* or a text */
    struct str whole, bytes;
};

static bool take_varint(struct str *rest, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && rest->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)*rest->at++;
        rest->len--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_field(struct str *rest, struct field *f)
{
    const char *start = rest->at;
    uint64_t tag, len = 0, value;
    if (!take_varint(rest, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return false;
    uint64_t wire = tag & 7;
    if (wire == 0 ? !take_varint(rest, &value) : wire == 2 && !take_varint(rest, &len))
        return false;
    if (wire == 1 || wire == 5)
        len = wire == 1 ? 8 : 4;
    else if (wire != 0 && wire != 2)
        return false;
    if (len > rest->len)
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->message = wire == 2;
    f->bytes = (struct str){rest->at, (uint32_t)len};
    rest->at += len;
    rest->len -= (uint32_t)len;
    f->whole = (struct str){start, (uint32_t)(rest->at - start)};
    return true;
}

static bool has_field(struct str message, const struct protobuf_change *which)
{
    struct field f;
    while (message.len > 0 && take_field(&message, &f))
        if (f.number == which->field && f.message && str_equal(f.bytes, which->bytes))
            return true;
    return false;
}

static bool stays(const struct field *f, const struct protobuf_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct protobuf_change *c = &changes[i];
        if (c->field != f->number)
            continue;
        bool gone = c->kind == PROTOBUF_drop || c->kind == PROTOBUF_into ||
                    (c->kind == PROTOBUF_drop_text && str_equal(c->bytes, f->bytes)) ||
                    (c->kind == PROTOBUF_drop_with && has_field(f->bytes, c->inside));
        if (gone)
            return false;
    }
    return true;
}

/* Whether it consists of whole fields. */
static bool is_whole(struct str message)
{
    struct field f;
    while (message.len > 0)
        if (!take_field(&message, &f))
            return false;
    return true;
}

/* All fields of that number as one, which is what a message in pieces means; kube_protobuf_parse
 * refuses such ones. False when a piece is torn: behind it the next one would mean something else.
 */
static bool join(struct buffer *out, struct str message, uint32_t number)
{
    struct field f;
    bool whole = true;
    while (message.len > 0 && take_field(&message, &f)) {
        if (f.number != number || !f.message)
            continue;
        whole = whole && is_whole(f.bytes);
        buffer_add_str(out, f.bytes);
    }
    return whole;
}

static uint32_t count_of(struct str message, uint32_t number)
{
    struct field f;
    uint32_t count = 0;
    while (message.len > 0 && take_field(&message, &f))
        count += f.number == number;
    return count;
}

static void put_bytes(struct buffer *out, uint32_t field, struct str bytes)
{
    size_t opened = protobuf_open(out, field);
    buffer_add_str(out, bytes);
    protobuf_close(out, opened);
}

/* As deep as the changes are. NOLINTNEXTLINE(misc-no-recursion) */
bool protobuf_edit(struct buffer *out, struct str message, const struct protobuf_change *changes,
                   size_t count)
{
    struct str rest = message;
    struct field f;
    bool good = true;
    while (rest.len > 0) {
        if (!take_field(&rest, &f))
            return false;
        if (stays(&f, changes, count))
            buffer_add_str(out, f.whole);
    }
    for (size_t i = 0; i < count; i++) {
        const struct protobuf_change *c = &changes[i];
        if (c->kind == PROTOBUF_add)
            put_bytes(out, c->field, c->bytes);
        if (c->kind != PROTOBUF_into)
            continue;
        struct buffer before = {0};
        good = join(&before, message, c->field) && good;
        size_t opened = protobuf_open(out, c->field);
        good = protobuf_edit(out, buffer_str(&before), c->inside, c->count) && good;
        protobuf_close(out, opened);
        buffer_free(&before);
    }
    return good;
}

bool protobuf_edit_body(struct buffer *out, struct str body, const struct protobuf_change *changes,
                        size_t count)
{
    const struct protobuf_change raw = {
        .field = OBJECT, .kind = PROTOBUF_into, .inside = changes, .count = count};
    if (!kube_protobuf_is(body))
        return false;
    struct str envelope = {body.at + MAGIC, body.len - MAGIC};
    if (count_of(envelope, OBJECT) > 1) /* bytes, of which the last would count: nobody writes so */
        return false;
    buffer_add(out, body.at, MAGIC);
    return protobuf_edit(out, envelope, &raw, 1);
}
