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
    if (!scheduler_config_parse(str_of(text), &config, &arena, &error) ||
        !scheduler_config_gate(&config, gangs, &arena, &error))
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
    struct config_flags flags = {.built_in_gangs = true, .disable_preemption = true};
    assert_true(scheduler_config_parse(str_of(HEAD), &config, &arena, &error));
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_false(runs(&config.profiles.at[0].pre_enqueue));
    assert_true(config.profiles.at[0].gang_built_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gates_add_the_plugin_to_the_defaults, reset),
        cmocka_unit_test_setup(a_file_s_own_entry_takes_the_default_s_place, reset),
        cmocka_unit_test_setup(a_file_that_disables_it_goes_without, reset),
        cmocka_unit_test_setup(what_is_written_with_the_gates_reads_back_the_same, reset),
        cmocka_unit_test_setup(preemption_off_leaves_out_the_plugin_of_gangs_too, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
