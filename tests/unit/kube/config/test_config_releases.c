/* test_config_releases: one file and the same flags, for whichever release the API server turns out
 * to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_follow.h"
#include "proto/kube/config/config_internal.h"

#define HEAD "apiVersion: " CONFIG_VERSION "\nkind: KubeSchedulerConfiguration\n"

static char path[64];
static struct arena arena;
static struct scheduler_config config;
static struct str error;

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/test_config_releases-%d", (int)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    arena_free(&arena);
    return 0;
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool may_be(const char *gates, int64_t release, char *why, size_t room)
{
    struct config_flags flags = {.feature_gates = gates, .release = release};
    why[0] = 0;
    return config_flags_check(&flags, why, room);
}

static void gates_have_a_place_in_some_release(void **state)
{
    (void)state;
    char why[256];
    assert_true(may_be("GenericWorkload=true,GangScheduling=true", 0, why, sizeof(why)));
    assert_true(may_be("GenericWorkload=true,DefaultPodSysctls=true,GangScheduling=true", 0, why,
                       sizeof(why))); /* one of each */
    assert_false(may_be("GenericWorkload=true,GangScheduling=true", 37, why, sizeof(why)));
    assert_string_equal(why, "unrecognized feature gate: GangScheduling");
    assert_false(may_be("NoSuchGate=true", 0, why, sizeof(why)));
    assert_string_equal(why, "unrecognized feature gate: NoSuchGate");
    assert_false(may_be("GenericWorkload=true,kube:GangScheduling=true", 0, why, sizeof(why)));
    assert_false(may_be("GangScheduling=true", 0, why, sizeof(why))); /* lacks another */
    assert_true(may_be(NULL, 0, why, sizeof(why)));
    assert_true(may_be("", 0, why, sizeof(why)));
}

static int64_t loaded_as(const char *text, int64_t given, int64_t minor)
{
    struct config_flags flags = {.release = minor != 0 ? minor : given};
    write_file(text);
    return config_flags_load(&flags, path, &config, &arena, &error) ? config.features.release : 0;
}

#define LATER                                                                                      \
    HEAD "profiles: [{plugins: {podGroupPostFilter: {disabled: [{name: DynamicResources}]}}}]\n"

static void a_file_is_read_as_of_a_release_that_takes_it(void **state)
{
    (void)state;
    assert_int_equal(loaded_as(HEAD, 0, 0), 36);
    assert_int_equal(loaded_as(LATER, 0, 0), 37);
    assert_int_equal(loaded_as(LATER, 36, 0), 0);
    assert_int_equal(loaded_as(HEAD, 37, 0), 37);
    assert_int_equal(loaded_as(HEAD, 0, 37), 37);
    assert_int_equal(loaded_as(LATER, 0, 36), 0); /* the API server's */
    assert_int_equal(loaded_as(HEAD "nope: 1\n", 0, 0), 0);
    assert_non_null(strstr(error.at, "unknown field \"nope\""));
}

/* How many plugins a profile asks at PreFilter by default. */
static uint32_t pre_filters_as(int64_t release)
{
    assert_int_equal(loaded_as(HEAD, release, 0), release);
    return config.profiles.at[0].pre_filter.count;
}

#define PRE_FILTER(name) HEAD "profiles: [{plugins: {preFilter: {enabled: [{name: " name "}]}}}]\n"
#define EVERYWHERE(name) HEAD "profiles: [{plugins: {multiPoint: {enabled: [{name: " name "}]}}}]\n"

static void a_plugin_is_what_it_is_in_the_release(void **state)
{
    (void)state;
    static const char *const later[] = {PRE_FILTER("NodeName"), PRE_FILTER("NodeUnschedulable"),
                                        PRE_FILTER("TaintToleration"),
                                        EVERYWHERE("DeferredPodScheduling")};
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        assert_int_equal(loaded_as(later[i], 37, 0), 37);
        assert_int_equal(loaded_as(later[i], 36, 0), 0);
    }
    assert_non_null(strstr(error.at, "\"DeferredPodScheduling\" does not exist"));
    assert_int_equal(pre_filters_as(37), pre_filters_as(36) + 3);
}

/* As the binder and the watcher have it, who do not know the release. */
static void its_hash_is_the_same_whatever_the_release(void **state)
{
    (void)state;
    struct config_flags flags = {.feature_gates = "GenericWorkload=true"};
    int64_t hashes[2];
    struct config_follow follow;
    write_file(HEAD);
    for (int64_t minor = 36; minor <= 37; minor++) {
        flags.release = minor;
        assert_true(config_flags_load(&flags, path, &config, &arena, &error));
        hashes[minor - 36] = config_flags_hash(&flags, path, &config);
    }
    config_follow_init(&follow, path);
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_equal(hashes[0], follow.hash);
    write_file(HEAD "podMaxBackoffSeconds: 20\n");
    assert_int_not_equal(config_flags_hash(&flags, path, &config), hashes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_have_a_place_in_some_release),
        cmocka_unit_test(a_file_is_read_as_of_a_release_that_takes_it),
        cmocka_unit_test(a_plugin_is_what_it_is_in_the_release),
        cmocka_unit_test(its_hash_is_the_same_whatever_the_release),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
