/* fuzz_messages: any bytes as any record: what decodes must encode, print and parse back to the
 * same; what does not must be refused within the arena's limit. */
#include "proto/base/must.h"
#include "proto/messages.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct record *r, const void *object, struct arena *a)
{
    static struct buffer text;
    struct message again;
    struct str error;
    buffer_reset(&text);
    codec_print(r, object, &text);
    size_t name = strlen(r->name);
    struct str body = {text.at + name, (uint32_t)(text.len - name)};
    must(codec_parse(r, message_body(&again), body, a, &error));
    must(codec_equal(r, object, message_body(&again)));
    buffer_reset(&text);
    codec_print_json(r, object, &text);
}

/* Text that does not parse must be refused with a message. */
static void check_parser(const struct record *r, struct str text, struct arena *a)
{
    struct message m;
    struct str error;
    if (!codec_parse(r, message_body(&m), text, a, &error))
        must(error.len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer encoded;
    if (size < 1)
        return 0;
    const struct record *r = message_info[1 + data[0] % (MSG_COUNT - 1)].record;
    if (r == NULL)
        return 0;
    struct arena a = {.limit = 64 * size + 65536}, copies = {.limit = 64 << 20};
    struct message m, again;
    struct byte_cursor in = {data + 1, data + size};
    if (codec_decode(r, message_body(&m), &in, &a)) {
        buffer_reset(&encoded);
        codec_encode(r, message_body(&m), &encoded);
        struct byte_cursor back = {(uint8_t *)encoded.at, (uint8_t *)encoded.at + encoded.len};
        must(codec_decode(r, message_body(&again), &back, &copies));
        must(codec_equal(r, message_body(&m), message_body(&again)));
        check_text(r, message_body(&m), &copies);
    }
    check_parser(r, (struct str){(const char *)data + 1, (uint32_t)size - 1}, &copies);
    arena_free(&a);
    arena_free(&copies);
    return 0;
}
