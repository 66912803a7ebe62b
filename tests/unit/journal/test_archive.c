/* test_archive: many journals in one compressed file: what went in comes out, and a file that was
 * cut, changed or is another's is refused in words. */
#include "proto/journal/archive.h"

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

#define BIG (3 * ARCHIVE_PIECE + 17)

/* Bytes that do not get smaller, behind some that do. */
static char *some_bytes(size_t len)
{
    char *bytes = memory_take(len + 1);
    uint64_t seed = 5;
    for (size_t i = len / 2; i < len; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (char)(seed >> 56);
    }
    return bytes;
}

static void write_three(void)
{
    char error[256];
    char *big = some_bytes(BIG);
    unlink(path);
    struct archive *a = archive_create(path, error, sizeof(error));
    assert_non_null(a);
    assert_true(archive_begin(a, "about") && archive_add(a, "{}", 2));
    assert_true(archive_begin(a, "worker-0.1"));
    for (size_t at = 0; at < BIG; at += 100000)
        assert_true(archive_add(a, big + at, BIG - at < 100000 ? BIG - at : 100000));
    assert_true(archive_begin(a, "empty"));
    assert_true(archive_finish(&a, error, sizeof(error)));
    assert_null(a);
    memory_free(big);
}

/* Reads it all; what is wrong, or NULL, and the bytes of members in total. */
static const char *read_all(const char *from, size_t *total)
{
    static char said[256];
    struct archive *a = archive_open(from, said, sizeof(said));
    *total = 0;
    if (a == NULL)
        return said;
    while (archive_next(a) != NULL)
        for (struct str piece; (piece = archive_read(a)).len > 0;)
            *total += piece.len;
    const char *wrong = archive_wrong(a);
    archive_free(&a);
    return wrong;
}

static void what_went_in_comes_out(void **state)
{
    char error[256];
    struct buffer all = {0};
    struct stat s;
    (void)state;
    write_three();
    char *big = some_bytes(BIG);
    struct archive *a = archive_open(path, error, sizeof(error));
    assert_non_null(a);
    assert_string_equal(archive_next(a), "about");
    assert_true(str_is(archive_read(a), "{}"));
    assert_int_equal(archive_read(a).len, 0);
    assert_int_equal(archive_read(a).len, 0);
    assert_string_equal(archive_next(a), "worker-0.1");
    for (struct str piece; (piece = archive_read(a)).len > 0;)
        buffer_add_str(&all, piece);
    assert_int_equal(all.len, BIG);
    assert_memory_equal(all.at, big, BIG);
    assert_string_equal(archive_next(a), "empty");
    assert_null(archive_next(a));
    assert_null(archive_wrong(a));
    archive_free(&a);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_true(s.st_size < BIG * 3 / 4 && s.st_size > BIG / 2); /* half of it is zeros */
    buffer_free(&all);
    memory_free(big);
}

static void members_may_be_passed_over(void **state)
{
    char error[256];
    (void)state;
    write_three();
    struct archive *a = archive_open(path, error, sizeof(error));
    for (int i = 0; i < 3; i++)
        assert_non_null(archive_next(a));
    assert_null(archive_next(a));
    assert_null(archive_wrong(a));
    archive_free(&a);
}

static void a_cut_file_is_no_whole_one(void **state)
{
    size_t total;
    struct stat s;
    (void)state;
    write_three();
    assert_int_equal(stat(path, &s), 0);
    for (off_t less = 1; less < s.st_size - 12; less += s.st_size / 7) {
        write_three();
        assert_int_equal(truncate(path, s.st_size - less), 0);
        const char *wrong = read_all(path, &total);
        assert_non_null(wrong);
        assert_non_null(strstr(wrong, "is cut off"));
    }
    assert_int_equal(truncate(path, 4), 0);
    assert_non_null(strstr(read_all(path, &total), "is no recording of berth record"));
}

static void change(long at, const char *bytes)
{
    write_three();
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, strlen(bytes), f), strlen(bytes));
    assert_int_equal(fclose(f), 0);
}

static void a_changed_file_is_refused(void **state)
{
    size_t total;
    (void)state;
    change(8, "9");
    assert_non_null(strstr(read_all(path, &total), "another version"));
    change(0, "berth");
    assert_non_null(strstr(read_all(path, &total), "is no recording of berth record"));
    change(10, "X");
    assert_string_equal(read_all(path, &total), "is broken: something that is no member");
    change(12, "/");
    assert_string_equal(read_all(path, &total), "is broken: a member has no name");
    change(12, ".");
    assert_string_equal(read_all(path, &total), "is broken: a member has no name");
    change(11, "\xff");
    assert_string_equal(read_all(path, &total), "is broken: a member has no name");
    change(17, "\xff\xff\xff\xff");
    assert_string_equal(read_all(path, &total), "is broken: a block is too long");
    change(21, "\x11\x11");
    assert_string_equal(read_all(path, &total), "is broken: a block cannot be unpacked");
}

/* Whichever byte of what is packed it is. */
static void a_changed_byte_is_found(void **state)
{
    size_t total;
    struct stat s;
    (void)state;
    write_three();
    assert_int_equal(stat(path, &s), 0);
    for (long at = 60; at < s.st_size - 20; at += s.st_size / 50) {
        write_three();
        FILE *f = fopen(path, "r+");
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        int was = fgetc(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_int_equal(fputc(was ^ 1, f), was ^ 1);
        assert_int_equal(fclose(f), 0);
        assert_non_null(read_all(path, &total));
    }
}

static void only_plain_names_are_members(void **state)
{
    static const char *const bad[] = {"", ".", "..", "-x", "a/b", "a b", "\n", "_"};
    char error[256], longest[ARCHIVE_NAME_MAX + 2];
    (void)state;
    unlink(path);
    struct archive *a = archive_create(path, error, sizeof(error));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(archive_begin(a, bad[i]));
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    assert_false(archive_begin(a, longest));
    assert_true(archive_begin(a, longest + 1));
    assert_true(archive_begin(a, "a.B-1_2"));
    archive_free(&a);
}

static void what_is_there_is_left_alone(void **state)
{
    char error[256];
    (void)state;
    write_three();
    assert_null(archive_create(path, error, sizeof(error)));
    assert_non_null(strstr(error, "File exists"));
    assert_null(archive_create("/nowhere/x", error, sizeof(error)));
    assert_string_equal(error, "/nowhere/x: No such file or directory");
    assert_null(archive_open("/nowhere/x", error, sizeof(error)));
    struct archive *full = archive_open("/dev/null", error, sizeof(error));
    assert_null(full);
    assert_string_equal(error, "/dev/null: is no recording of berth record");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_went_in_comes_out),
        cmocka_unit_test(members_may_be_passed_over),
        cmocka_unit_test(a_cut_file_is_no_whole_one),
        cmocka_unit_test(a_changed_file_is_refused),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(only_plain_names_are_members),
        cmocka_unit_test(what_is_there_is_left_alone),
    };
    snprintf(path, sizeof(path), "/tmp/berth-archive-%d", (int)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
