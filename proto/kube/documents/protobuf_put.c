/* protobuf_put: messages written in one pass. The one idea: a message's length takes one byte until
 * it is known to need more, and then what was written moves; the bodies that are sent are short.
 * What must stay true: every length is the shortest form of itself. */
#include "proto/kube/documents/protobuf_put.h"
#include "proto/base/must.h"

#include <string.h>

#define VARINT_MAX 10 /* bytes */

/* Returns how many bytes. */
static size_t print_varint(unsigned char *at, uint64_t value)
{
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        at[len++] = (unsigned char)(value | 0x80);
    at[len++] = (unsigned char)value;
    return len;
}

static void put_varint(struct buffer *out, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    buffer_add(out, bytes, print_varint(bytes, value));
}

void protobuf_put_text(struct buffer *out, uint32_t field, struct str text)
{
    if (text.len == 0)
        return;
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, text.len);
    buffer_add_str(out, text);
}

void protobuf_put_given(struct buffer *out, uint32_t field, int64_t number)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, (uint64_t)number);
}

void protobuf_put_number(struct buffer *out, uint32_t field, int64_t number)
{
    if (number != 0)
        protobuf_put_given(out, field, number);
}

void protobuf_put_time(struct buffer *out, uint32_t field, int64_t wall_us)
{
    int64_t seconds = wall_us / 1000000, rest_us = wall_us % 1000000;
    seconds -= rest_us < 0;
    rest_us += rest_us < 0 ? 1000000 : 0;
    size_t time = protobuf_open(out, field);
    protobuf_put_number(out, 1, seconds);
    protobuf_put_number(out, 2, rest_us * 1000);
    protobuf_close(out, time);
}

size_t protobuf_open(struct buffer *out, uint32_t field)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    buffer_add(out, "", 1);
    return out->len;
}

void protobuf_close(struct buffer *out, size_t opened)
{
    static const char room[VARINT_MAX];
    unsigned char bytes[VARINT_MAX];
    must(opened > 0 && opened <= out->len);
    size_t len = out->len - opened, size = print_varint(bytes, len);
    if (size > 1) {
        buffer_add(out, room, size - 1);
        memmove(out->at + opened + size - 1, out->at + opened, len);
    }
    memcpy(out->at + opened - 1, bytes, size);
}

size_t protobuf_begin(struct buffer *out, struct str api_version, struct str kind)
{
    buffer_add(out, "k8s", 4);
    size_t type = protobuf_open(out, 1);
    protobuf_put_text(out, 1, api_version);
    protobuf_put_text(out, 2, kind);
    protobuf_close(out, type);
    return protobuf_open(out, 2);
}
