/* test_arena: blocks are zeroed, aligned and stay where they are; limits refuse; the room of the
 * first chunk is the caller's to choose, and what is held grows by doubling. */
#include "proto/base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void blocks_are_zero_aligned_and_do_not_move(void **state)
{
    (void)state;
    struct arena a = {0};
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = arena_take(&a, i);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i % 255) + 1, i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(blocks[i][k], i % 255 + 1);
    arena_free(&a);
}

static void memory_that_was_used_before_is_zero_again(void **state)
{
    (void)state;
    struct arena a = {0};
    memset(arena_take(&a, 1000), 0xff, 1000);
    arena_reset(&a);
    const unsigned char *again = arena_take(&a, 1000);
    for (size_t k = 0; k < 1000; k++)
        assert_int_equal(again[k], 0);
    arena_free(&a);
}

static void empty_blocks_are_apart(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_ptr_not_equal(arena_take(&a, 0), arena_take(&a, 0));
    arena_free(&a);
}

static void the_limit_refuses_and_nothing_else(void **state)
{
    (void)state;
    struct arena a = {.limit = 100};
    assert_non_null(arena_take(&a, 96));
    assert_int_equal(a.total, 96);
    assert_null(arena_take(&a, 1)); /* rounded up to 16, past 100 */
    assert_null(arena_take(&a, SIZE_MAX / 8));
    assert_null(arena_copy(&a, STR_LITERAL("x")).at);
    assert_null(arena_print(&a, "%d", 1).at);
    assert_int_equal(arena_print(&a, "%d", 1).len, 0);
    assert_int_equal(a.total, 96);
    arena_reset(&a);
    assert_int_equal(a.total, 0);
    assert_non_null(arena_take(&a, 96));
    arena_free(&a);
    assert_non_null(arena_take(&a, 96)); /* usable after arena_free, with the same limit */
    assert_null(arena_take(&a, 96));
    arena_free(&a);
}

static void texts_end_in_a_zero_byte(void **state)
{
    (void)state;
    struct arena a = {0};
    char source[] = "abc";
    struct str copy = arena_copy(&a, (struct str){source, 2});
    source[0] = 'x';
    assert_int_equal(copy.len, 2);
    assert_string_equal(copy.at, "ab");
    struct str empty = arena_copy(&a, (struct str){NULL, 0});
    assert_int_equal(empty.len, 0);
    assert_string_equal(empty.at, "");
    struct str printed = arena_print(&a, "%s-%d", "pod", 7);
    assert_int_equal(printed.len, 5);
    assert_string_equal(printed.at, "pod-7");
    arena_free(&a);
}

static void copies_are_the_same_bytes(void **state)
{
    (void)state;
    struct arena a = {.limit = 64};
    const int64_t source[] = {1, -2, 3};
    int64_t *same = arena_same(&a, source, sizeof(source));
    assert_ptr_not_equal(same, source);
    assert_memory_equal(same, source, sizeof(source));
    assert_non_null(arena_same(&a, NULL, 0));
    assert_null(arena_same(&a, source, sizeof(source))); /* past the limit */
    arena_free(&a);
}

static void what_lies_in_them_is_swapped_and_limits_are_not(void **state)
{
    (void)state;
    struct arena a = {.limit = 32}, b = {0};
    struct str text = arena_copy(&a, STR_LITERAL("kept"));
    arena_swap(&a, &b);
    assert_non_null(arena_take(&a, 32));
    assert_null(arena_take(&a, 1));
    arena_free(&a);
    assert_non_null(arena_take(&b, 100));
    assert_string_equal(text.at, "kept");
    arena_free(&b);
}

static void the_first_chunk_is_as_small_as_wanted(void **state)
{
    (void)state;
    struct arena small = {.first = 512}, usual = {0};
    assert_int_equal(arena_held(&small), 0);
    arena_take(&small, 1);
    arena_take(&usual, 1);
    assert_in_range(arena_held(&small), 512, 600);
    assert_in_range(arena_held(&usual), 4096, 4200);
    arena_free(&small);
    arena_free(&usual);
    assert_int_equal(arena_held(&small), 0);
}

/* Filling an arena of n bytes holds no more than a few times n, in few chunks. */
static void chunks_double(void **state)
{
    (void)state;
    struct arena a = {.first = 512};
    size_t held = 0, chunks = 0;
    for (size_t i = 0; i < 4096; i++) {
        arena_take(&a, 16);
        chunks += arena_held(&a) != held;
        held = arena_held(&a);
        assert_in_range(held, a.total, 4 * a.total + 1024);
    }
    assert_int_equal(chunks, 8); /* 512 * (2^8 - 1) is the first sum over 65536 */
    arena_free(&a);
}

static void a_block_larger_than_the_next_chunk_fits(void **state)
{
    (void)state;
    struct arena a = {.first = 16};
    arena_take(&a, 16);
    memset(arena_take(&a, 100000), 1, 100000);
    arena_free(&a);
}

static void a_reset_keeps_the_largest_chunk_only(void **state)
{
    (void)state;
    struct arena a = {0};
    for (int i = 0; i < 1000; i++)
        arena_take(&a, 100);
    size_t held = arena_held(&a);
    arena_reset(&a);
    size_t kept = arena_held(&a);
    assert_in_range(kept, held / 2, held - 4096);
    arena_take(&a, 1000);
    assert_int_equal(arena_held(&a), kept);
    arena_free(&a);
    arena_reset(&a);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zero_aligned_and_do_not_move),
        cmocka_unit_test(memory_that_was_used_before_is_zero_again),
        cmocka_unit_test(empty_blocks_are_apart),
        cmocka_unit_test(the_limit_refuses_and_nothing_else),
        cmocka_unit_test(texts_end_in_a_zero_byte),
        cmocka_unit_test(copies_are_the_same_bytes),
        cmocka_unit_test(what_lies_in_them_is_swapped_and_limits_are_not),
        cmocka_unit_test(the_first_chunk_is_as_small_as_wanted),
        cmocka_unit_test(chunks_double),
        cmocka_unit_test(a_block_larger_than_the_next_chunk_fits),
        cmocka_unit_test(a_reset_keeps_the_largest_chunk_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
