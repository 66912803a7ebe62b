/* test_config_gates: what the feature gates of gangs make of a configuration: the plugin stands
 * where kube-scheduler's defaults have it, and PodGroups of scheduling.k8s.io count where it is
 * enabled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_internal.h"

#define HEAD  "apiVersion: " CONFIG_VERSION "\nkind: KubeSchedulerConfiguration\n"
#define MULTI HEAD "profiles: [{plugins: {multiPoint: "

static struct arena arena;
static struct scheduler_config config;
static struct str error;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void load(const char *text, bool gangs)
{
    struct features features = release_features(36);
    features.gangs = features.gang_counts = gangs;
    if (!scheduler_config_parse(str_of(text), features, &config, &arena, &error))
        fail_msg("%.*s", STR_ARG(error));
}

/* Its place among the plugins of multiPoint as they are written; -1: not there. */
static int place(void)
{
    const struct plugin_set *set = &config.details[0].sets->multi_point;
    int found = -1;
    for (uint32_t i = 0; i < set->enabled_count; i++)
        if (str_is(set->enabled[i].name, CONFIG_BUILT_IN_PLUGIN)) {
            assert_int_equal(found, -1);
            found = (int)i;
        }
    return found;
}

static bool runs(const struct strs *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (str_is(names->at[i], CONFIG_BUILT_IN_PLUGIN))
            return true;
    return false;
}

static bool noted(void)
{
    for (uint32_t i = 0; i < config.notes.count; i++)
        if (str_starts_with(config.notes.at[i], "plugin GangScheduling has no effect"))
            return true;
    return false;
}

static void gates_add_the_plugin_to_the_defaults(void **state)
{
    (void)state;
    load(HEAD, false);
    assert_int_equal(place(), -1);
    assert_false(config.profiles.at[0].gang_built_in);
    assert_false(noted());
    load(HEAD, true);
    assert_int_equal(place(), 20); /* behind the last default */
    assert_true(config.profiles.at[0].gang_built_in);
    assert_true(runs(&config.details[0].points[POINT_permit]));
    assert_false(runs(&config.profiles.at[0].permit)); /* no pod is asked by itself */
    assert_false(runs(&config.profiles.at[0].pre_enqueue));
    assert_int_equal(config.profiles.at[0].score.count, 9); /* not twice as many */
}

/* Groups are tried as one for the sake of their domains: the plugin that counts is not needed. */
static void groups_without_a_minimum_need_no_plugin(void **state)
{
    (void)state;
    struct features features = release_features(36);
    features.gangs = features.group_topology = true;
    assert_true(scheduler_config_parse(str_of(HEAD), features, &config, &arena, &error));
    assert_int_equal(place(), -1);
    assert_false(noted());
    assert_true(config.profiles.at[0].gang_built_in);
}

static bool has_declared_features(void)
{
    return strs_hold(config.profiles.at[0].filter, STR_LITERAL("NodeDeclaredFeatures"));
}

/* Its gate takes it off the default list; a file may still name it. */
static void node_declared_features_goes_with_its_gate(void **state)
{
    (void)state;
    struct features features = release_features(36);
    load(HEAD, false);
    assert_true(has_declared_features());
    features.declared_features = false;
    assert_true(scheduler_config_parse(str_of(HEAD), features, &config, &arena, &error));
    assert_false(has_declared_features());
    assert_true(
        scheduler_config_parse(str_of(MULTI "{enabled: [{name: NodeDeclaredFeatures}]}}}]\n"),
                               features, &config, &arena, &error));
    assert_true(has_declared_features());
}

static const char *resize_note(void)
{
    for (uint32_t i = 0; i < config.notes.count; i++)
        if (str_starts_with(config.notes.at[i], "plugin DeferredPodScheduling has no effect"))
            return config.notes.at[i].at;
    return NULL;
}

/* In front of NodeResourcesFit, so that its word is the one that counts where both say no. */
static void resizes_bring_their_plugin(void **state)
{
    (void)state;
    static const char named[] = MULTI "{enabled: [{name: DeferredPodScheduling}]}}}]\n";
    struct features features = release_features(37);
    const struct str plugin = STR_LITERAL("DeferredPodScheduling");
    assert_true(scheduler_config_parse(str_of(HEAD), features, &config, &arena, &error));
    assert_false(strs_hold(config.profiles.at[0].filter, plugin));
    assert_true(scheduler_config_parse(str_of(named), features, &config, &arena, &error));
    assert_true(strs_hold(config.profiles.at[0].filter, plugin));
    assert_non_null(resize_note());
    features.resize_preemption = true;
    assert_true(scheduler_config_parse(str_of(HEAD), features, &config, &arena, &error));
    const struct strs filter = config.profiles.at[0].filter;
    uint32_t at = 0;
    while (at < filter.count && !str_equal(filter.at[at], plugin))
        at++;
    assert_true(at + 1 < filter.count);
    assert_true(str_is(filter.at[at + 1], "NodeResourcesFit"));
    assert_true(strs_hold(config.profiles.at[0].pre_filter, plugin));
    assert_true(strs_hold(config.profiles.at[0].permit, plugin));
    assert_null(resize_note());
    assert_true(
        scheduler_config_parse(str_of(MULTI "{disabled: [{name: DeferredPodScheduling}]}}}]\n"),
                               features, &config, &arena, &error));
    assert_false(strs_hold(config.profiles.at[0].filter, plugin));
}

static void a_file_s_own_entry_takes_the_default_s_place(void **state)
{
    (void)state;
    static const char text[] =
        MULTI "{enabled: [{name: FIFOSort}, {name: GangScheduling, weight: 4}],"
              " disabled: [{name: PrioritySort}]}}}]\n";
    load(text, false);
    assert_int_equal(place(), 20);
    assert_true(noted());
    assert_false(config.profiles.at[0].gang_built_in);
    load(text, true);
    assert_int_equal(place(), 19);
    assert_int_equal(config.details[0].sets->multi_point.enabled[19].weight, 4);
    assert_false(noted());
}

static void a_file_that_disables_it_goes_without(void **state)
{
    (void)state;
    load(MULTI "{disabled: [{name: GangScheduling}]}}}]\n", true);
    assert_int_equal(place(), -1);
    assert_false(config.profiles.at[0].gang_built_in);
    load(MULTI "{disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder},"
               " {name: GangScheduling}]}}}]\n",
         true);
    assert_int_equal(place(), 2);
    assert_true(config.profiles.at[0].gang_built_in);
}

static void what_is_written_with_the_gates_reads_back_the_same(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct buffer once = {0}, again = {0};
        load(HEAD, true);
        scheduler_config_write(&config, &once);
        load(once.at, with == 1);
        scheduler_config_write(&config, &again);
        assert_string_equal(again.at, once.at);
        buffer_free(&once);
        buffer_free(&again);
    }
}

static void preemption_off_leaves_out_the_plugin_of_gangs_too(void **state)
{
    (void)state;
    struct config_flags flags = {.disable_preemption = true};
    load(HEAD, true);
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_false(runs(&config.profiles.at[0].pre_enqueue));
    assert_true(config.profiles.at[0].gang_built_in);
}

/* Upstream's default list of 1.37 has NodeName first. */
static void filters_stand_in_the_order_of_the_release(void **state)
{
    (void)state;
    const char *const first[] = {"NodeUnschedulable", "NodeName"};
    for (int64_t minor = 36; minor <= 37; minor++) {
        assert_true(scheduler_config_load(NULL, release_features(minor), &config, &arena, &error));
        struct strs filters = config.profiles.at[0].filter;
        assert_true(str_is(filters.at[0], first[minor - 36]));
        assert_true(str_is(filters.at[1], first[37 - minor]));
        assert_true(str_is(filters.at[2], "TaintToleration"));
        assert_int_equal(config.profiles.at[0].features.release, minor);
    }
}

/* A point that only 1.37 has: who runs there by default, and what 1.36 says of it. */
static void a_point_of_a_later_release_is_unknown_before(void **state)
{
    (void)state;
    const char *text = HEAD
        "profiles: [{plugins: {podGroupPostFilter: {disabled: [{name: DynamicResources}]}}}]\n";
    struct buffer written = {0};
    assert_true(
        scheduler_config_parse(str_of(text), release_features(37), &config, &arena, &error));
    struct strs names = config.details[0].points[POINT_pod_group_post_filter];
    assert_int_equal(names.count, 1);
    assert_true(str_is(names.at[0], "DefaultPreemption"));
    scheduler_config_write(&config, &written);
    assert_non_null(strstr(written.at, "podGroupPostFilter:"));
    buffer_free(&written);
    assert_false(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    assert_true(str_is(error, "strict decoding error: unknown field "
                              "\"profiles[0].plugins.podGroupPostFilter\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gates_add_the_plugin_to_the_defaults, reset),
        cmocka_unit_test_setup(groups_without_a_minimum_need_no_plugin, reset),
        cmocka_unit_test_setup(node_declared_features_goes_with_its_gate, reset),
        cmocka_unit_test_setup(resizes_bring_their_plugin, reset),
        cmocka_unit_test_setup(a_file_s_own_entry_takes_the_default_s_place, reset),
        cmocka_unit_test_setup(a_file_that_disables_it_goes_without, reset),
        cmocka_unit_test_setup(what_is_written_with_the_gates_reads_back_the_same, reset),
        cmocka_unit_test_setup(filters_stand_in_the_order_of_the_release, reset),
        cmocka_unit_test_setup(a_point_of_a_later_release_is_unknown_before, reset),
        cmocka_unit_test_setup(preemption_off_leaves_out_the_plugin_of_gangs_too, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
