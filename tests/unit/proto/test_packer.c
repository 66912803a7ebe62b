/* test_packer: the bytes of a record are what they ever were (tests/golden/frames.txt: a message as
 * text, and below it its bytes as the first writer made them), and what msgpack-c's own packer
 * makes, told beforehand how many values there are, at every border between two forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/messages.h"

#define GOLDEN "tests/golden/frames.txt"

static struct arena arena;
static struct buffer bytes;
static msgpack_sbuffer expected;
static msgpack_packer packer;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    buffer_reset(&bytes);
    msgpack_sbuffer_clear(&expected);
    msgpack_packer_init(&packer, &expected, msgpack_sbuffer_write);
    return 0;
}

static void expect_bytes(const char *what)
{
    if (bytes.len != expected.size || memcmp(bytes.at, expected.data, bytes.len) != 0)
        fail_msg("%s: msgpack-c packs %zu other bytes than the %zu written", what, expected.size,
                 bytes.len);
    assert_int_equal(bytes.at[bytes.len], 0);
}

/* ---- the same by msgpack-c ---- */

/* NOLINTBEGIN(misc-no-recursion): as deep as messages.def nests */
static void pack(const struct record *r, const char *object);

static void pack_text(struct str s)
{
    msgpack_pack_str(&packer, s.len);
    if (s.len > 0)
        msgpack_pack_str_body(&packer, s.at, s.len);
}

static void pack_value(const struct field *f, const char *at)
{
    const struct strs *texts = (const void *)at;
    const struct list *list = (const void *)at;
    switch ((enum kind)f->kind) {
    case KIND_bool: msgpack_pack_true(&packer); break;
    case KIND_i64: msgpack_pack_int64(&packer, *(const int64_t *)at); break;
    case KIND_str: pack_text(*(const struct str *)at); break;
    case KIND_strs:
        msgpack_pack_array(&packer, texts->count);
        for (uint32_t k = 0; k < texts->count; k++)
            pack_text(texts->at[k]);
        break;
    case KIND_list:
        msgpack_pack_array(&packer, list->count);
        for (uint32_t k = 0; k < list->count; k++)
            pack(f->of, (const char *)list->at + k * f->of->size);
        break;
    case KIND_one: pack(f->of, at); break;
    case KIND_word: pack_text(words_text(f->words, *(const uint32_t *)(const void *)at)); break;
    }
}

static void pack(const struct record *r, const char *object)
{
    size_t present = 0;
    for (size_t i = 0; i < r->field_count; i++)
        present += !codec_value_is_zero(&r->fields[i], object + r->fields[i].offset);
    msgpack_pack_map(&packer, present);
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        if (codec_value_is_zero(f, object + f->offset))
            continue;
        msgpack_pack_uint8(&packer, f->tag);
        pack_value(f, object + f->offset);
    }
}
/* NOLINTEND(misc-no-recursion) */

static void check(const struct record *r, const void *object, const char *what)
{
    reset(NULL);
    codec_encode(r, object, &bytes);
    pack(r, object);
    expect_bytes(what);
}

static void every_message_is_packed_as_msgpack_c_does(void **state)
{
    (void)state;
    static struct message m;
    struct arena filled = {0};
    uint64_t seed = 2463534242u;
    for (int i = 0; i < 100; i++)
        for (int type = 1; type < MSG_COUNT; type++) {
            const struct record *r = message_info[type].record;
            if (r == NULL)
                continue;
            arena_reset(&filled);
            codec_fill(r, message_body(&m), &seed, &filled);
            check(r, message_body(&m), r->name);
        }
    arena_free(&filled);
}

static void numbers_take_the_shortest_form(void **state)
{
    (void)state;
    static const int64_t borders[] = {0,         INT8_MAX,   UINT8_MAX, INT16_MAX, UINT16_MAX,
                                      INT32_MAX, UINT32_MAX, INT64_MAX, -32,       INT8_MIN,
                                      INT16_MIN, INT32_MIN,  INT64_MIN};
    for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
        for (uint64_t off = 0; off < 5; off++) { /* two before it to two behind it */
            struct tally tally = {.count = (int64_t)((uint64_t)borders[i] + off - 2)};
            check(&tally_record, &tally, "a number");
        }
}

static void texts_lists_and_maps_take_the_shortest_form(void **state)
{
    (void)state;
    static const uint32_t borders[] = {1, 15, 16, 31, 32, 255, 256, 65535, 65536, 70000};
    char *text = calloc(70000, 1);
    struct str *texts = calloc(70000, sizeof(*texts));
    assert_non_null(text);
    assert_non_null(texts);
    memset(text, 'x', 70000);
    for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
        struct label label = {.key = {text, borders[i]}};
        struct image image = {.names = {borders[i], texts}};
        check(&label_record, &label, "a text");
        check(&image_record, &image, "a list");
        reset(NULL);
        if (borders[i] <= UINT16_MAX) {
            codec_put_map(&bytes, borders[i]);
            msgpack_pack_map(&packer, borders[i]);
            expect_bytes("the head of a map");
        }
        reset(NULL);
        codec_put_list(&bytes, borders[i]);
        msgpack_pack_array(&packer, borders[i]);
        expect_bytes("the head of a list");
    }
    free(texts);
    free(text);
}

/* ---- the same as ever ---- */

static void add_hex(struct buffer *out, const char *hex)
{
    for (; hex[0] != '\n' && hex[0] != 0; hex += 2) {
        char pair[] = {hex[0], hex[1], 0};
        uint8_t byte = (uint8_t)strtoul(pair, NULL, 16);
        buffer_add(out, &byte, 1);
    }
}

static void check_golden(struct str line, const char *hex)
{
    static struct message m, read;
    struct buffer was = {0};
    struct str error, name = {line.at, (uint32_t)strcspn(line.at, " \n")};
    struct str text = {line.at + name.len, line.len - name.len};
    const struct record *r = message_info[message_type_of(name)].record;
    if (r == NULL || !codec_parse(r, message_body(&m), text, &arena, &error))
        fail_msg("%.*s: no such message, or %.*s", STR_ARG(name), STR_ARG(r ? error : name));
    add_hex(&was, hex);
    codec_encode(r, message_body(&m), &bytes);
    if (bytes.len != was.len || memcmp(bytes.at, was.at, was.len) != 0)
        fail_msg("%s: other bytes than ever", r->name);
    struct byte_cursor in = {(uint8_t *)was.at, (uint8_t *)was.at + was.len};
    assert_true(codec_decode(r, message_body(&read), &in, &arena));
    assert_ptr_equal(in.at, in.end);
    assert_true(codec_equal(r, message_body(&m), message_body(&read)));
    buffer_free(&was);
}

static void bytes_are_what_they_ever_were(void **state)
{
    (void)state;
    FILE *file = fopen(GOLDEN, "r");
    char *line = NULL, *hex = NULL;
    size_t room = 0, hex_room = 0, seen = 0;
    ssize_t len;
    assert_non_null(file);
    while ((len = getline(&line, &room, file)) > 0 && getline(&hex, &hex_room, file) > 0) {
        reset(NULL);
        check_golden((struct str){line, (uint32_t)len - 1}, hex);
        seen++;
    }
    assert_true(seen > 80);
    free(line);
    free(hex);
    fclose(file);
}

static int finish(void **state)
{
    (void)state;
    arena_free(&arena);
    buffer_free(&bytes);
    msgpack_sbuffer_destroy(&expected);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_message_is_packed_as_msgpack_c_does, reset),
        cmocka_unit_test_setup(numbers_take_the_shortest_form, reset),
        cmocka_unit_test_setup(texts_lists_and_maps_take_the_shortest_form, reset),
        cmocka_unit_test_setup(bytes_are_what_they_ever_were, reset),
    };
    msgpack_sbuffer_init(&expected);
    return cmocka_run_group_tests_name("packer", tests, NULL, finish);
}
