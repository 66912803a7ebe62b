/* test_second_reader: msgpack-c's unpacker and the codec read the same from what either may be
 * sent; a planted difference is found and told by its path; where the codec is stricter than
 * msgpack is listed here, case by case; and no count takes memory that the bytes do not fill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <msgpack.h>
#include <string.h>

#include "proto/messages.h"
#include "proto/second_reader.h"

static struct arena arena, theirs;
static struct buffer bytes, lines;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    arena_reset(&theirs);
    arena.limit = theirs.limit = 0;
    buffer_reset(&bytes);
    buffer_reset(&lines);
    return 0;
}

static struct reading read_by_codec(const struct record *r, void *object, struct str from)
{
    struct byte_cursor in = {(const uint8_t *)from.at, (const uint8_t *)from.at + from.len};
    struct reading read = {.object = object};
    if (codec_decode(r, object, &in, &arena))
        read.end = in.at == in.end ? READING_whole : READING_part;
    return read;
}

static void both_read_every_message_alike(void **state)
{
    static struct message m, got;
    struct arena filled = {0};
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 100; i++)
        for (int type = 1; type < MSG_COUNT; type++) {
            const struct record *r = message_info[type].record;
            if (r == NULL)
                continue;
            reset(state);
            arena_reset(&filled);
            codec_fill(r, message_body(&m), &seed, &filled);
            codec_encode(r, message_body(&m), &bytes);
            struct reading ours = read_by_codec(r, message_body(&got), buffer_str(&bytes));
            assert_int_equal(ours.end, READING_whole);
            if (!second_agrees(r, &ours, buffer_str(&bytes), &theirs, &lines))
                fail_msg("%s: %s", r->name, lines.at);
        }
    arena_free(&filled);
}

/* Ours is msgpack-c's template with a guard; the library's instance makes the same tree. */
static void the_library_reads_as_much(void **state)
{
    (void)state;
    struct pod pod, got;
    uint64_t seed = 5;
    codec_fill(&pod_record, &pod, &seed, &arena);
    codec_encode(&pod_record, &pod, &bytes);
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    size_t used = 0;
    assert_int_equal(msgpack_unpack_next(&result, bytes.at, bytes.len, &used),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(used, bytes.len);
    assert_int_equal(second_read(&pod_record, &got, buffer_str(&bytes), &theirs).end,
                     READING_whole);
    for (size_t cut = 0; cut < bytes.len; cut += 7) {
        used = 0;
        assert_int_not_equal(msgpack_unpack_next(&result, bytes.at, cut, &used),
                             MSGPACK_UNPACK_SUCCESS);
        struct reading read =
            second_read(&pod_record, &got, (struct str){bytes.at, (uint32_t)cut}, &theirs);
        assert_int_equal(read.end, READING_refused);
        assert_string_equal(read.why, "no msgpack");
    }
    msgpack_unpacked_destroy(&result);
}

/* ---- planted differences ---- */

static void expect_line(const struct record *r, const struct reading *ours, const char *line)
{
    buffer_reset(&lines);
    assert_false(second_agrees(r, ours, buffer_str(&bytes), &theirs, &lines));
    assert_string_equal(lines.at, line);
}

static void a_planted_difference_is_told_by_its_path(void **state)
{
    (void)state;
    struct pod_set set = {.pod = {.name = STR_LITERAL("web"), .priority = 7}};
    struct label labels[] = {{STR_LITERAL("app"), STR_LITERAL("x")}, {STR_LITERAL("b"), {0}}};
    struct str images[] = {STR_LITERAL("one"), STR_LITERAL("two")};
    set.pod.labels.count = 2;
    set.pod.labels.at = labels;
    set.pod.images = (struct strs){2, images};
    const struct record *r = message_info[MSG_pod_set].record;
    codec_encode(r, &set, &bytes);
    struct reading ours = {READING_whole, &set, NULL};
    assert_true(second_agrees(r, &ours, buffer_str(&bytes), &theirs, &lines));
    set.pod.name = STR_LITERAL("wet");
    expect_line(r, &ours, "pod.name: \"wet\", by msgpack-c \"web\"\n");
    set.pod.name = STR_LITERAL("web");
    set.pod.priority = 8;
    expect_line(r, &ours, "pod.priority: 8, by msgpack-c 7\n");
    set.pod.priority = 7;
    labels[1].value = STR_LITERAL("c");
    expect_line(r, &ours, "pod.labels[1].value: \"c\", by msgpack-c \"\"\n");
    labels[1].value.len = 0;
    images[1] = STR_LITERAL("tw");
    expect_line(r, &ours, "pod.images: [\"one\" \"tw\"], by msgpack-c [\"one\" \"two\"]\n");
    images[1] = STR_LITERAL("two");
    set.pod.labels.count = 1;
    expect_line(r, &ours,
                "pod.labels: [{key=\"app\" value=\"x\"}], by msgpack-c "
                "[{key=\"app\" value=\"x\"} {key=\"b\"}]\n");
    set.pod.labels.count = 2;
    ours.end = READING_part;
    expect_line(r, &ours, "read, with bytes behind it, by msgpack-c read\n");
    ours.end = READING_refused;
    expect_line(r, &ours, "refused, by msgpack-c read\n");
    bytes.len--;
    ours.end = READING_whole;
    expect_line(r, &ours, "read, by msgpack-c refused: no msgpack\n");
}

/* ---- where the codec is stricter ---- */

struct strict {
    const char *why;
    uint8_t bytes[32];
    size_t len;
};

/* msgpack all of it, or nothing at all ("no msgpack"); as a `pod`. */
static const struct strict cases[] = {
    {"wrong type", {0x90}, 1},                          /* a record is a map */
    {"wrong type", {0x81, 0xa1, 'x', 1}, 4},            /* a tag is an integer */
    {"wrong type", {0x81, 0x03, 0x05}, 3},              /* a str */
    {"wrong type", {0x81, 0x0f, 0xa0}, 3},              /* a list */
    {"wrong type", {0x81, 0x0f, 0x91, 0x07}, 4},        /* a list of records */
    {"wrong type", {0x81, 0x03, 0xc0}, 3},              /* nil is not empty */
    {"foreign value", {0x81, 99, 0xca, 0, 0, 0, 0}, 7}, /* a float, skipped */
    {"foreign value", {0x81, 99, 0x91, 0xd4, 1, 2}, 6}, /* an extension, skipped */
    {"out of range", {0x81, 99, 0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0}, 11},
    {"out of range", {0x81, 0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0, 1}, 11},
    {"too deep",
     {0x81, 99, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91,
      0x91, 0x91, 0x01},
     19},
    {"no msgpack", {0xc1}, 1},                  /* a byte that means nothing */
    {"no msgpack", {0x81, 0x03, 0xa2, 'x'}, 4}, /* cut */
    {"no msgpack", {0x81, 0x0f, 0xdd, 0x0f, 0xff, 0xff, 0xff}, 7},
    {"no msgpack", {0x81, 99, 0xdf, 0xff, 0xff, 0xff, 0xff}, 7},
};

static void the_codec_is_stricter_than_msgpack_here_alone(void **state)
{
    struct pod pod, got;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reset(state);
        struct str from = {(const char *)cases[i].bytes, (uint32_t)cases[i].len};
        struct reading ours = read_by_codec(&pod_record, &pod, from);
        assert_int_equal(ours.end, READING_refused);
        struct reading read = second_read(&pod_record, &got, from, &theirs);
        assert_int_equal(read.end, READING_refused);
        assert_string_equal(read.why, cases[i].why);
        assert_true(second_agrees(&pod_record, &ours, from, &theirs, &lines));
    }
}

static void depth_and_memory_are_bounded_alike(void **state)
{
    (void)state;
    /* One array less than too deep. */
    static const uint8_t deep[] = {0x81, 99,   0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91,
                                   0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x01};
    struct pod pod, got;
    struct str from = {(const char *)deep, sizeof(deep)};
    assert_int_equal(read_by_codec(&pod_record, &pod, from).end, READING_whole);
    assert_int_equal(second_read(&pod_record, &got, from, &theirs).end, READING_whole);
    static uint8_t wide[4096] = {0x81, 0x0f, 0xdc, 0x0f, 0xf0}; /* 4080 empty labels, and more */
    memset(wide + 5, 0x80, sizeof(wide) - 5);
    from = (struct str){(const char *)wide, sizeof(wide)};
    arena.limit = theirs.limit = (size_t)64 * 1024;
    struct reading ours = read_by_codec(&pod_record, &pod, from);
    assert_int_equal(ours.end, READING_refused);
    assert_string_equal(second_read(&pod_record, &got, from, &theirs).why, "too much memory");
    arena.limit = theirs.limit = (size_t)640 * 1024;
    ours = read_by_codec(&pod_record, &pod, from);
    assert_int_equal(ours.end, READING_part);
    assert_true(second_agrees(&pod_record, &ours, from, &theirs, &lines));
}

static int finish(void **state)
{
    (void)state;
    arena_free(&arena);
    arena_free(&theirs);
    buffer_free(&bytes);
    buffer_free(&lines);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(both_read_every_message_alike, reset),
        cmocka_unit_test_setup(the_library_reads_as_much, reset),
        cmocka_unit_test_setup(a_planted_difference_is_told_by_its_path, reset),
        cmocka_unit_test_setup(the_codec_is_stricter_than_msgpack_here_alone, reset),
        cmocka_unit_test_setup(depth_and_memory_are_bounded_alike, reset),
    };
    return cmocka_run_group_tests_name("second_reader", tests, NULL, finish);
}
