/* test_buffer: bytes added piece by piece come out whole, always with a zero byte behind them that
 * does not count, however the room has to grow. */
#include "proto/base/buffer.h"
#include "proto/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void what_is_added_comes_out(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_add(&b, "a\0b", 3);
    buffer_add_str(&b, (struct str){"cdef", 2});
    buffer_add_text(&b, "!");
    buffer_print(&b, "%d%%", 42);
    assert_int_equal(b.len, 9);
    assert_memory_equal(b.at, "a\0bcd!42%", 10);
    struct str all = buffer_str(&b);
    assert_ptr_equal(all.at, b.at);
    assert_int_equal(all.len, 9);
    buffer_free(&b);
    assert_null(b.at);
    assert_int_equal(b.len, 0);
    buffer_free(&b);
}

static void nothing_added_is_an_empty_text(void **state)
{
    (void)state;
    struct buffer b = {0};
    assert_int_equal(buffer_str(&b).len, 0);
    buffer_reset(&b);
    buffer_add(&b, NULL, 0);
    assert_string_equal(b.at, "");
    buffer_print(&b, "%s", "");
    assert_string_equal(b.at, "");
    assert_int_equal(b.len, 0);
    buffer_free(&b);
}

/* Each length around the borders at which the room grows, by each way of adding. */
static void every_length_ends_in_a_zero_byte(void **state)
{
    (void)state;
    for (size_t len = 0; len < 1100; len++) {
        struct buffer once = {0}, bytes = {0}, printed = {0};
        char *text = memory_take(len + 1);
        memset(text, 'x', len);
        buffer_add(&once, text, len);
        for (size_t i = 0; i < len; i++)
            buffer_add(&bytes, text + i, 1);
        buffer_print(&printed, "%s", text);
        assert_int_equal(once.len, len);
        assert_string_equal(once.at, text);
        assert_int_equal(printed.len, len);
        assert_string_equal(printed.at, text);
        assert_int_equal(bytes.len, len);
        if (len > 0)
            assert_string_equal(bytes.at, text);
        memory_free(text);
        buffer_free(&once);
        buffer_free(&bytes);
        buffer_free(&printed);
    }
}

static void a_reset_keeps_the_memory(void **state)
{
    (void)state;
    struct buffer b = {0};
    for (int i = 0; i < 10000; i++)
        buffer_add_text(&b, "0123456789");
    const char *at = b.at;
    buffer_reset(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.at, "");
    for (int i = 0; i < 10000; i++)
        buffer_add_text(&b, "abcdefghij");
    assert_ptr_equal(b.at, at);
    assert_int_equal(b.len, 100000);
    buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_comes_out),
        cmocka_unit_test(nothing_added_is_an_empty_text),
        cmocka_unit_test(every_length_ends_in_a_zero_byte),
        cmocka_unit_test(a_reset_keeps_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
