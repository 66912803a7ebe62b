/* test_config_watch: a file that changes is noticed once, within a second, and a missing one is
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/kube/config_watch.h"

static char path[64];

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool look(struct config_watch *w, int64_t second, bool asked)
{
    return config_watch_changed(w, (struct moment){second * 1000000000}, asked);
}

static void a_change_is_noticed_once(void **state)
{
    (void)state;
    struct config_watch w = {.path = path};
    write_file("one");
    assert_false(look(&w, 1, false)); /* the first look */
    assert_false(look(&w, 2, false));
    write_file("three");
    assert_true(look(&w, 3, false));
    assert_false(look(&w, 4, false));
}

static void it_looks_once_a_second(void **state)
{
    (void)state;
    struct config_watch w = {.path = path};
    write_file("one");
    assert_false(look(&w, 1, false));
    write_file("three");
    assert_false(config_watch_changed(&w, (struct moment){1500000000}, false));
    assert_true(look(&w, 2, false));
}

static void who_asks_is_always_told_to_read(void **state)
{
    (void)state;
    struct config_watch w = {.path = path}, none = {0};
    write_file("one");
    assert_false(look(&w, 1, false));
    assert_true(look(&w, 1, true));
    assert_false(look(&none, 1, true));
}

static void a_file_that_is_gone_for_a_while_is_no_change(void **state)
{
    (void)state;
    struct config_watch w = {.path = path};
    write_file("one");
    assert_false(look(&w, 1, false));
    unlink(path);
    assert_false(look(&w, 2, false));
    assert_false(look(&w, 3, true));
    write_file("longer");
    assert_true(look(&w, 4, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_noticed_once),
        cmocka_unit_test(it_looks_once_a_second),
        cmocka_unit_test(who_asks_is_always_told_to_read),
        cmocka_unit_test(a_file_that_is_gone_for_a_while_is_no_change),
    };
    snprintf(path, sizeof(path), "/tmp/berth-config-watch-%d", (int)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
