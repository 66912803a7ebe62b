/* test_entry: the format of a journal: what was written is read, however it was cut, and what
 * nobody wrote is refused. */
#include "proto/journal/entry.h"

#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ENTRIES 300

static const struct journal_head head = {
    .program = {"0.1.0", 5}, .process = {"queue", 5}, .instance = {"queue", 5}, .started_us = 5};

static struct journal_entry random_entry(uint64_t *seed, struct arena *a)
{
    struct journal_entry e;
    codec_fill(&journal_entry_record, &e, seed, a);
    e.kind = 1 + (int64_t)((uint64_t)e.kind % (JOURNAL_KIND_COUNT - 1));
    return e;
}

static void write_all(struct buffer *out, struct journal_entry *all, size_t count, struct arena *a)
{
    uint64_t seed = 7;
    journal_put_head(out, &head);
    for (size_t i = 0; i < count; i++) {
        all[i] = random_entry(&seed, a);
        journal_put(out, &all[i]);
    }
}

static const char *start(struct journal_cursor *c, const struct buffer *bytes, size_t len)
{
    struct journal_head read;
    struct arena a = {0};
    *c = (struct journal_cursor){bytes->at, bytes->at + len};
    const char *wrong = journal_start(c, &read, &a);
    if (wrong == NULL)
        assert_true(codec_equal(&journal_head_record, &read, &head));
    arena_free(&a);
    return wrong;
}

static void what_is_written_is_read(void **state)
{
    static struct journal_entry all[ENTRIES];
    struct buffer bytes = {0};
    struct arena a = {0};
    struct journal_cursor c;
    struct journal_entry e;
    (void)state;
    write_all(&bytes, all, ENTRIES, &a);
    assert_null(start(&c, &bytes, bytes.len));
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(journal_read(&c, &e), JOURNAL_STEP_entry);
        assert_true(codec_equal(&journal_entry_record, &e, &all[i]));
    }
    assert_int_equal(journal_read(&c, &e), JOURNAL_STEP_end);
    assert_int_equal(journal_whole(bytes.at, bytes.len), bytes.len);
    buffer_free(&bytes);
    arena_free(&a);
}

/* In a copy that ends where it is cut, so that reading behind it is seen. */
static size_t entries_before(const struct buffer *bytes, size_t len, enum journal_step *end)
{
    struct buffer cut = {0};
    struct journal_cursor c;
    struct journal_entry e;
    size_t count = 0;
    buffer_add(&cut, bytes->at, len);
    if (start(&c, &cut, len) != NULL) {
        buffer_free(&cut);
        return SIZE_MAX;
    }
    while ((*end = journal_read(&c, &e)) == JOURNAL_STEP_entry)
        count++;
    if (*end != JOURNAL_STEP_broken)
        assert_int_equal(journal_whole(cut.at, len), c.at - cut.at);
    buffer_free(&cut);
    return count;
}

static void one_that_was_cut_is_read_up_to_there(void **state)
{
    struct journal_entry all[9];
    struct buffer bytes = {0};
    struct arena a = {0};
    size_t before = 0;
    enum journal_step end;
    (void)state;
    write_all(&bytes, all, 9, &a);
    for (size_t len = 0; len <= bytes.len; len++) {
        size_t count = entries_before(&bytes, len, &end);
        if (count == SIZE_MAX) {
            assert_int_equal(before, 0);
            continue;
        }
        assert_true(count == before || count == before + 1);
        bool between = journal_whole(bytes.at, len) == len;
        assert_int_equal(end, between ? JOURNAL_STEP_end : JOURNAL_STEP_cut);
        before = count;
    }
    assert_int_equal(before, 9);
    buffer_free(&bytes);
    arena_free(&a);
}

static void what_is_no_journal_is_refused(void **state)
{
    struct buffer bytes = {0};
    struct journal_cursor c;
    (void)state;
    assert_non_null(start(&c, &bytes, 0));
    journal_put_head(&bytes, &head);
    assert_null(start(&c, &bytes, bytes.len));
    bytes.at[8] = '2';
    assert_string_equal(start(&c, &bytes, bytes.len), "of another version of the format");
    bytes.at[8] = '1';
    bytes.at[0] = 'b';
    assert_non_null(strstr(start(&c, &bytes, bytes.len), "not a recording"));
    bytes.at[0] = 'B';
    bytes.at[14] = (char)0xc1; /* what msgpack never uses */
    assert_string_equal(start(&c, &bytes, bytes.len), "its head is not whole");
    buffer_free(&bytes);
}

static enum journal_step step_of(const char *bytes, size_t len)
{
    struct journal_cursor c = {bytes, bytes + len};
    struct journal_entry e;
    enum journal_step step = journal_read(&c, &e);
    assert_true(step == JOURNAL_STEP_entry || c.at == bytes);
    return step;
}

static void no_length_is_believed(void **state)
{
    struct buffer bytes = {0};
    (void)state;
    assert_int_equal(step_of("\xff\xff\xff\xff\x80", 5), JOURNAL_STEP_broken);
    assert_int_equal(step_of("\x04\x00\x00\x01\x80", 5), JOURNAL_STEP_broken); /* over the limit */
    assert_int_equal(step_of("\x04\x00\x00\x00\x80", 5), JOURNAL_STEP_cut);
    assert_int_equal(step_of("\x00\x00\x00\x00", 4), JOURNAL_STEP_broken);
    assert_int_equal(step_of("\x00\x00\x00\x01\x80", 5), JOURNAL_STEP_broken); /* of no kind */
    journal_put(&bytes, &(struct journal_entry){.kind = JOURNAL_KIND_COUNT});
    assert_int_equal(step_of(bytes.at, bytes.len), JOURNAL_STEP_broken);
    buffer_reset(&bytes);
    journal_put(&bytes, &(struct journal_entry){.kind = JOURNAL_end});
    assert_int_equal(step_of(bytes.at, bytes.len), JOURNAL_STEP_entry);
    bytes.at[3]++; /* a byte behind the map belongs to it, and is not there */
    assert_int_equal(step_of(bytes.at, bytes.len), JOURNAL_STEP_cut);
    buffer_add(&bytes, "\x80", 1);
    assert_int_equal(step_of(bytes.at, bytes.len), JOURNAL_STEP_broken);
    buffer_free(&bytes);
}

/* Any byte may be another one: it is read as something or refused, and nothing else happens. */
static void other_bytes_do_no_harm(void **state)
{
    struct journal_entry all[20];
    struct buffer bytes = {0};
    struct arena a = {0};
    struct random random = {11};
    enum journal_step end;
    (void)state;
    write_all(&bytes, all, 20, &a);
    for (int i = 0; i < 5000; i++) {
        struct buffer other = {0};
        buffer_add(&other, bytes.at, bytes.len);
        size_t from = sizeof(JOURNAL_MAGIC) - 1 + 80;
        size_t at = from + (size_t)random_below(&random, bytes.len - from);
        other.at[at] = (char)random_next(&random);
        size_t count = entries_before(&other, other.len, &end);
        assert_true(count <= bytes.len / 5);
        buffer_free(&other);
    }
    buffer_free(&bytes);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(one_that_was_cut_is_read_up_to_there),
        cmocka_unit_test(what_is_no_journal_is_refused),
        cmocka_unit_test(no_length_is_believed),
        cmocka_unit_test(other_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
