/* test_codec: every message survives writing and reading, printing and parsing; malformed bytes and
 * text are refused without taking memory; msgpack-c, as an independent reader, agrees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <msgpack.h>
#include <string.h>

#include "proto/messages.h"

static struct arena arena;
static struct buffer once, twice;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    buffer_reset(&once);
    buffer_reset(&twice);
    return 0;
}

static void each_message(void (*check)(const struct record *r, uint64_t *seed), int rounds)
{
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < rounds; i++)
        for (int type = 1; type < MSG_COUNT; type++) {
            if (message_info[type].record == NULL)
                continue;
            reset(NULL);
            check(message_info[type].record, &seed);
        }
}

static void check_round_trip(const struct record *r, uint64_t *seed)
{
    struct message sent, got;
    codec_fill(r, message_body(&sent), seed, &arena);
    codec_encode(r, message_body(&sent), &once);
    struct byte_cursor in = {(uint8_t *)once.at, (uint8_t *)once.at + once.len};
    assert_true(codec_decode(r, message_body(&got), &in, &arena));
    assert_ptr_equal(in.at, in.end);
    assert_true(codec_equal(r, message_body(&sent), message_body(&got)));
    codec_encode(r, message_body(&got), &twice);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.at, twice.at, once.len);
}

static void every_message_survives_writing_and_reading(void **state)
{
    (void)state;
    each_message(check_round_trip, 300);
}

static void check_text(const struct record *r, uint64_t *seed)
{
    struct message sent, got;
    struct str error;
    codec_fill(r, message_body(&sent), seed, &arena);
    codec_print(r, message_body(&sent), &once);
    size_t name = strlen(r->name);
    struct str text = {once.at + name, (uint32_t)(once.len - name)};
    if (!codec_parse(r, message_body(&got), text, &arena, &error))
        fail_msg("%s: %.*s in %s", r->name, STR_ARG(error), once.at);
    assert_true(codec_equal(r, message_body(&sent), message_body(&got)));
}

static void every_message_survives_printing_and_parsing(void **state)
{
    (void)state;
    each_message(check_text, 300);
}

static void check_copy(const struct record *r, uint64_t *seed)
{
    static struct arena other;
    struct message sent, copy;
    codec_fill(r, message_body(&sent), seed, &arena);
    codec_encode(r, message_body(&sent), &once);
    arena_reset(&other);
    codec_copy(r, message_body(&copy), message_body(&sent), &other);
    assert_true(codec_equal(r, message_body(&sent), message_body(&copy)));
    arena_free(&arena); /* what the copy borrowed from here would now show under ASan */
    codec_encode(r, message_body(&copy), &twice);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.at, twice.at, once.len);
    arena_free(&other);
}

static void a_copy_borrows_nothing(void **state)
{
    (void)state;
    each_message(check_copy, 50);
}

static void check_with_msgpack_c(const struct record *r, uint64_t *seed)
{
    struct message sent;
    codec_fill(r, message_body(&sent), seed, &arena);
    codec_encode(r, message_body(&sent), &once);
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    size_t offset = 0;
    assert_int_equal(msgpack_unpack_next(&result, once.at, once.len, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(offset, once.len);
    assert_int_equal(result.data.type, MSGPACK_OBJECT_MAP);
    msgpack_unpacked_destroy(&result);
}

static void an_independent_reader_agrees(void **state)
{
    (void)state;
    each_message(check_with_msgpack_c, 50);
}

static void check_every_cut(const struct record *r, uint64_t *seed)
{
    struct message sent, got;
    codec_fill(r, message_body(&sent), seed, &arena);
    codec_encode(r, message_body(&sent), &once);
    for (size_t len = 0; len < once.len; len += 1 + once.len / 64) {
        struct byte_cursor in = {(uint8_t *)once.at, (uint8_t *)once.at + len};
        assert_false(codec_decode(r, message_body(&got), &in, &arena));
    }
}

static void a_frame_that_was_cut_is_refused(void **state)
{
    (void)state;
    each_message(check_every_cut, 5);
}

static void a_count_beyond_the_frame_takes_no_memory(void **state)
{
    (void)state;
    /* {15: array of 268435455}: labels of a pod; must not reserve gigabytes. */
    static const uint8_t frame[] = {0x81, 0x0f, 0xdd, 0x0f, 0xff, 0xff, 0xff};
    struct byte_cursor in = {frame, frame + sizeof(frame)};
    struct pod pod;
    assert_false(codec_decode(&pod_record, &pod, &in, &arena));
    assert_int_equal(arena.total, 0);
}

static void a_list_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    static uint8_t frame[4096] = {0x81, 0x0f, 0xdc, 0x0f, 0xf0}; /* 4080 empty labels */
    memset(frame + 5, 0x80, sizeof(frame) - 5);
    struct arena small = {.limit = (size_t)64 * 1024};
    struct byte_cursor in = {frame, frame + sizeof(frame)};
    struct pod pod;
    assert_false(codec_decode(&pod_record, &pod, &in, &small));
    assert_true(small.total <= small.limit);
    arena_free(&small);
}

static void nesting_without_end_is_refused(void **state)
{
    (void)state;
    static uint8_t frame[10000]; /* {99: [[[[…: an unknown tag that is skipped */
    memset(frame, 0x91, sizeof(frame));
    frame[0] = 0x81;
    frame[1] = 99;
    struct byte_cursor in = {frame, frame + sizeof(frame)};
    struct pod pod;
    assert_false(codec_decode(&pod_record, &pod, &in, &arena));
}

static void an_unknown_tag_is_skipped(void **state)
{
    (void)state;
    /* {99: {1: [2, "x"]}, 3: "p"} */
    static const uint8_t frame[] = {0x82, 99, 0x81, 1, 0x92, 2, 0xa1, 'x', 3, 0xa1, 'p'};
    struct byte_cursor in = {frame, frame + sizeof(frame)};
    struct pod pod;
    assert_true(codec_decode(&pod_record, &pod, &in, &arena));
    assert_true(str_is(pod.name, "p"));
}

/* Words travel as text, and one of a newer process reads as none. */
static void a_word_that_is_not_known_reads_as_none(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum outcome_result read;
    } cases[] = {{"bound", OUTCOME_bound},
                 {"skipped", OUTCOME_skipped},
                 {"bound ", OUTCOME_none},
                 {"", OUTCOME_none},
                 {"splendid", OUTCOME_none}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome read;
        struct buffer out = {0};
        codec_put_map(&out, 2);
        buffer_add(&out, "\x05", 1);
        codec_put_str(&out, str_of(cases[i].word));
        buffer_add(&out, "\x04\x07", 2);
        struct byte_cursor in = {(uint8_t *)out.at, (uint8_t *)out.at + out.len};
        assert_true(codec_decode(message_info[MSG_outcome].record, &read, &in, &arena));
        assert_int_equal(read.result, cases[i].read);
        assert_int_equal(read.cycle, 7);
        buffer_free(&out);
    }
}

static void a_word_that_is_not_known_is_an_error_in_text(void **state)
{
    (void)state;
    struct outcome read;
    struct str error;
    const struct record *r = message_info[MSG_outcome].record;
    assert_true(codec_parse(r, &read, STR_LITERAL("result=\"error\""), &arena, &error));
    assert_int_equal(read.result, OUTCOME_error);
    assert_false(codec_parse(r, &read, STR_LITERAL("result=\"splendid\""), &arena, &error));
    assert_true(str_is(error, "column 18: \"splendid\" is none of outcome_result"));
}

static void text_errors_name_the_place(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"uid=\"a\" colour=1", "column 9: pod has no field \"colour\""},
        {"uid=a", "column 5: a string in quotes is expected"},
        {"priority=x", "column 11: an integer is expected"},
        {"labels=[{key=\"a\"", "column 17: } is expected"},
        {"uid=\"a", "column 7: string has no end"},
        {"uid=\"\\q\"", "column 6: unknown escape"},
        {"}", "column 1: something is left over"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pod pod;
        struct str error;
        assert_false(codec_parse(&pod_record, &pod, str_of(cases[i][0]), &arena, &error));
        assert_string_equal(error.at, cases[i][1]);
    }
}

static void numbers_and_names_are_used_once(void **state)
{
    (void)state;
    for (int type = 1; type < MSG_COUNT; type++) {
        const struct record *r = message_info[type].record;
        if (r == NULL)
            continue;
        assert_int_equal(message_type_of(str_of(r->name)), type);
        for (size_t i = 0; i < r->field_count; i++)
            for (size_t k = 0; k < i; k++)
                assert_int_not_equal(r->fields[i].tag, r->fields[k].tag);
    }
}

static int depth_of(const struct record *r) /* NOLINT(misc-no-recursion): ends, or the test fails */
{
    int deepest = 0;
    for (size_t i = 0; i < r->field_count; i++) {
        int depth = r->fields[i].of ? depth_of(r->fields[i].of) : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* Else what the codec wrote, it would refuse to read. */
static void the_schema_nests_less_than_is_read(void **state)
{
    (void)state;
    for (int type = 1; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL)
            assert_in_range(depth_of(message_info[type].record), 1, CODEC_DEPTH_MAX);
}

static int finish(void **state)
{
    (void)state;
    arena_free(&arena);
    buffer_free(&once);
    buffer_free(&twice);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_message_survives_writing_and_reading, reset),
        cmocka_unit_test_setup(every_message_survives_printing_and_parsing, reset),
        cmocka_unit_test_setup(a_copy_borrows_nothing, reset),
        cmocka_unit_test_setup(an_independent_reader_agrees, reset),
        cmocka_unit_test_setup(a_frame_that_was_cut_is_refused, reset),
        cmocka_unit_test_setup(a_count_beyond_the_frame_takes_no_memory, reset),
        cmocka_unit_test_setup(a_list_beyond_the_limit_is_refused, reset),
        cmocka_unit_test_setup(nesting_without_end_is_refused, reset),
        cmocka_unit_test_setup(an_unknown_tag_is_skipped, reset),
        cmocka_unit_test_setup(a_word_that_is_not_known_reads_as_none, reset),
        cmocka_unit_test_setup(a_word_that_is_not_known_is_an_error_in_text, reset),
        cmocka_unit_test_setup(text_errors_name_the_place, reset),
        cmocka_unit_test_setup(numbers_and_names_are_used_once, reset),
        cmocka_unit_test(the_schema_nests_less_than_is_read),
    };
    return cmocka_run_group_tests_name("codec", tests, NULL, finish);
}
