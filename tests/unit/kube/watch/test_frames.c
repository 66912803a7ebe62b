/* Frames out of pieces, however they are cut, and the bound on what is kept. */
#include "proto/kube/watch/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Feeds the bytes in pieces of this size; the frames come joined by '|', '!' for one too long. */
static void cut(struct str bytes, uint32_t piece, size_t max, struct buffer *out)
{
    struct frames f = {.max = max};
    enum frames_step step = FRAMES_more;
    buffer_reset(out);
    buffer_add(out, "", 0);
    while (bytes.len > 0 && step != FRAMES_too_long) {
        struct str head = {bytes.at, bytes.len < piece ? bytes.len : piece}, frame;
        bytes = (struct str){bytes.at + head.len, bytes.len - head.len};
        frames_feed(&f, head);
        while ((step = frames_next(&f, &frame)) == FRAMES_frame) {
            buffer_add_str(out, frame);
            buffer_add_text(out, "|");
        }
        assert_true(f.torn.len <= max + 4);
    }
    if (step == FRAMES_too_long)
        buffer_add_text(out, "!");
    frames_free(&f);
}

static void any_cut_gives_the_same_frames(void **state)
{
    (void)state;
    struct buffer out = {0};
    for (uint32_t piece = 1; piece < 30; piece++) {
        cut(STR_LITERAL("\0\0\0\3one\0\0\0\0\0\0\0\3two\0\0\0\5three\0\0\0\4res"), piece, 100,
            &out);
        assert_string_equal(out.at, "one||two|three|");
    }
    buffer_free(&out);
}

static void a_frame_has_a_bound(void **state)
{
    (void)state;
    struct buffer out = {0};
    for (uint32_t piece = 1; piece < 30; piece++) {
        cut(STR_LITERAL("\0\0\0\3one\0\0\0\4four\0\0\0\5five!\0\0\0\3two"), piece, 4, &out);
        assert_string_equal(out.at, "one|four|!");
        cut(STR_LITERAL("\377\377\377\377x"), piece, 4, &out);
        assert_string_equal(out.at, "!");
    }
    buffer_free(&out);
}

static void a_promised_length_takes_no_memory(void **state)
{
    (void)state;
    struct frames f = {.max = (size_t)64 << 20};
    struct str frame;
    frames_feed(&f, STR_LITERAL("\3\377\377\377abc"));
    assert_int_equal(frames_next(&f, &frame), FRAMES_more);
    assert_int_equal(f.torn.len, 7);
    assert_true(f.torn.room < 4096);
    frames_free(&f);
}

static void a_torn_frame_is_forgotten_on_reset(void **state)
{
    (void)state;
    struct frames f = {.max = 100};
    struct str frame;
    frames_feed(&f, STR_LITERAL("\0\0\0\5ha"));
    assert_int_equal(frames_next(&f, &frame), FRAMES_more);
    frames_reset(&f);
    frames_feed(&f, STR_LITERAL("\0\0\0\5whole"));
    assert_int_equal(frames_next(&f, &frame), FRAMES_frame);
    assert_true(str_is(frame, "whole"));
    frames_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_same_frames),
        cmocka_unit_test(a_frame_has_a_bound),
        cmocka_unit_test(a_promised_length_takes_no_memory),
        cmocka_unit_test(a_torn_frame_is_forgotten_on_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
