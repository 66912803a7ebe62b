/* fuzz_readers: any bytes as any record, read by the codec and by msgpack-c: both refuse them, or
 * both read the same. What msgpack-c knows to be msgpack and the codec refuses must be beyond one
 * of the bounds that second_reader.h names, and the reason is one of those alone. */
#include "proto/base/must.h"
#include "proto/messages.h"
#include "proto/second_reader.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As frame.c's for a body of so many bytes. */
static struct arena arena_for(size_t size)
{
    return (struct arena){.limit = 64 * size + 65536};
}

/* Why it is refused is known, and is what it claims to be. */
static void check_reason(const struct record *r, struct str bytes)
{
    struct message m;
    struct arena limited = arena_for(bytes.len), free_one = {0};
    struct reading read = second_read(r, message_body(&m), bytes, &limited);
    must((read.end == READING_refused) == (read.why != NULL));
    if (read.why != NULL && strcmp(read.why, "too much memory") == 0) {
        struct reading again = second_read(r, message_body(&m), bytes, &free_one);
        must(again.why == NULL || strcmp(again.why, "too much memory") != 0);
    }
    arena_free(&limited);
    arena_free(&free_one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer lines;
    if (size < 1)
        return 0;
    const struct record *r = message_info[1 + data[0] % (MSG_COUNT - 1)].record;
    if (r == NULL)
        return 0;
    struct str bytes = {(const char *)data + 1, (uint32_t)size - 1};
    struct byte_cursor in = {data + 1, data + size};
    struct arena a = arena_for(bytes.len), b = arena_for(bytes.len);
    struct message m;
    struct reading ours = {.object = message_body(&m)};
    if (codec_decode(r, message_body(&m), &in, &a))
        ours.end = in.at == in.end ? READING_whole : READING_part;
    buffer_reset(&lines);
    if (!second_agrees(r, &ours, bytes, &b, &lines)) {
        fprintf(stderr, "%s: %s", r->name, lines.at);
        must(!"both readers agree");
    }
    check_reason(r, bytes);
    arena_free(&a);
    arena_free(&b);
    return 0;
}
