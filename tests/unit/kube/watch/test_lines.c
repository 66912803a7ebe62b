/* Lines out of pieces, however they are cut, and the bound on what is kept. */
#include "proto/kube/watch/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Feeds text in pieces of this size; the lines come joined by '|', '!' for one too long. */
static void cut(const char *text, size_t piece, size_t max, struct buffer *out)
{
    struct lines l = {.max = max};
    buffer_reset(out);
    for (size_t at = 0; at < strlen(text); at += piece) {
        size_t left = strlen(text) - at;
        struct str line;
        enum lines_step step;
        lines_feed(&l, (struct str){text + at, (uint32_t)(left < piece ? left : piece)});
        while ((step = lines_next(&l, &line)) == LINES_line) {
            buffer_add_str(out, line);
            buffer_add_text(out, "|");
        }
        if (step == LINES_too_long) {
            buffer_add_text(out, "!");
            break;
        }
        assert_true(l.torn.len <= max);
    }
    lines_free(&l);
}

static void any_cut_gives_the_same_lines(void **state)
{
    (void)state;
    struct buffer out = {0};
    for (size_t piece = 1; piece < 30; piece++) {
        cut("one\n\ntwo\r\nthree\n\n\nfour\nrest", piece, 100, &out);
        assert_string_equal(out.at, "one|two|three|four|");
    }
    buffer_free(&out);
}

static void a_line_has_a_bound(void **state)
{
    (void)state;
    struct buffer out = {0};
    for (size_t piece = 1; piece < 30; piece++) {
        cut("12345678\n12345678\n123456789\nx\n", piece, 8, &out);
        assert_string_equal(out.at, "12345678|12345678|!");
    }
    buffer_free(&out);
}

static void a_torn_line_is_forgotten_on_reset(void **state)
{
    (void)state;
    struct lines l = {.max = 100};
    struct str line;
    lines_feed(&l, STR_LITERAL("half of a li"));
    assert_int_equal(lines_next(&l, &line), LINES_more);
    lines_reset(&l);
    lines_feed(&l, STR_LITERAL("whole\n"));
    assert_int_equal(lines_next(&l, &line), LINES_line);
    assert_true(str_is(line, "whole"));
    lines_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_same_lines),
        cmocka_unit_test(a_line_has_a_bound),
        cmocka_unit_test(a_torn_line_is_forgotten_on_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
