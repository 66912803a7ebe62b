/* buffer: a growing run of bytes, always ended by a zero byte that is not counted, so that it can
 * be handed to code that wants text. */
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_room(struct buffer *b, size_t more)
{
    must(more < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
    if (b->room - b->len > more)
        return;
    size_t room = b->room ? b->room * 2 : 256;
    if (room <= b->len + more)
        room = b->len + more + 1;
    b->at = memory_resize(b->at, room);
    b->room = room;
}

void buffer_add(struct buffer *b, const void *bytes, size_t len)
{
    make_room(b, len);
    if (len > 0)
        memcpy(b->at + b->len, bytes, len);
    b->len += len;
    b->at[b->len] = 0;
}

char *buffer_reserve(struct buffer *b, size_t len)
{
    make_room(b, len);
    return b->at + b->len;
}

void buffer_add_str(struct buffer *b, struct str s)
{
    buffer_add(b, s.at, s.len);
}

void buffer_add_text(struct buffer *b, const char *zero_terminated)
{
    buffer_add(b, zero_terminated, strlen(zero_terminated));
}

void buffer_print(struct buffer *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    must(len >= 0);
    make_room(b, (size_t)len);
    vsnprintf(b->at + b->len, (size_t)len + 1, format, again);
    va_end(again);
    b->len += (size_t)len;
}

void buffer_reset(struct buffer *b)
{
    b->len = 0;
    if (b->at != NULL)
        b->at[0] = 0;
}

void buffer_free(struct buffer *b)
{
    memory_free(b->at);
    *b = (struct buffer){0};
}

struct str buffer_str(const struct buffer *b)
{
    must(b->len <= UINT32_MAX);
    return (struct str){b->at, (uint32_t)b->len};
}
