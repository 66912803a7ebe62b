/* test_config_watch: a file that changes is noticed once, within a second, and a missing one is
 * not; one that would change the order of the queue is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/kube/config/config_follow.h"

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

#define HEAD                                                                                       \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"               \
    "clientConnection: {qps: "
#define SORTS(plugin)                                                                              \
    "}\nprofiles: [{plugins: {queueSort: {disabled: [{name: '*'}], enabled: [{name: " plugin       \
    "}]}}}]\n"

static void another_sort_plugin_is_refused(void **state)
{
    (void)state;
    struct arena memory = {0};
    struct scheduler_config config;
    struct config_follow f;
    struct str why = {0};
    char sort[CONFIG_SORT_ROOM];
    write_file(HEAD "5" SORTS("PrioritySort"));
    config_follow_init(&f, path);
    write_file(HEAD "50" SORTS("PrioritySort"));
    assert_true(config_follow_look(&f, (struct moment){1}, true, &config, &memory));
    int64_t hash = f.hash;
    write_file(HEAD "500" SORTS("FIFOSort"));
    assert_false(config_follow_look(&f, (struct moment){2}, true, &config, &memory));
    assert_true(f.refused == 1 && f.changes == 1 && f.hash == hash);
    assert_true(scheduler_config_load(path, release_features(36), &config, &memory, &why));
    config_sort_note(&config, sort);
    assert_string_equal(sort, "FIFOSort");
    assert_false(config_sort_kept(&config, "PrioritySort", &memory, &why));
    assert_true(str_is(why, "profiles[0].plugins.queueSort: the queue has sorted by PrioritySort "
                            "since it was started, and cannot change to FIFOSort before it is "
                            "started again"));
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_noticed_once),
        cmocka_unit_test(it_looks_once_a_second),
        cmocka_unit_test(who_asks_is_always_told_to_read),
        cmocka_unit_test(a_file_that_is_gone_for_a_while_is_no_change),
        cmocka_unit_test(another_sort_plugin_is_refused),
    };
    snprintf(path, sizeof(path), "/tmp/berth-config-watch-%d", (int)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
