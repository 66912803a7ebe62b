/* test_registry: what a plugin's row of proto/plugins.def says of it is true: its name, its points,
 * and that there is a plugin whose hints follow. */
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/release.h"
#include "scheduler/rules/framework.h"
#include "scheduler/rules/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLUGIN(name, listed, points, rule) rule
#define RULE(file)                         extern const struct plugin plugin_##file;
#define NO_RULE
#include "proto/plugins.def"
#undef RULE
#undef NO_RULE

/* clang-format off */
static const struct row {
    const char *name;
    const struct plugin *rule; /* NULL: there is none */
} rows[] = {
#define PLUGIN(name, listed, points, rule) {#name, rule},
#define RULE(file) &plugin_##file
#define NO_RULE NULL
#include "proto/plugins.def"
};

static const char *const hinted[] = {
#define HINTS(name, fields) #name,
#include "proto/plugins.def"
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void is_in_row(const struct plugin *rule, bool has_hook, enum config_point point)
{
    if (has_hook && !config_plugin_implements(RELEASE_NEWEST, str_of(rule->name), point))
        fail_msg("%s has a hook at %s, and its row does not say so", rule->name,
                 config_point_field[point]);
}

static void a_rule_is_what_its_row_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plugin *rule = rows[i].rule;
        if (rule == NULL)
            continue;
        assert_string_equal(rule->name, rows[i].name);
        is_in_row(rule, rule->filter != NULL, POINT_filter);
        is_in_row(rule, rule->score != NULL, POINT_score);
        is_in_row(rule, rule->post_filter != NULL, POINT_post_filter);
        is_in_row(rule, rule->reserve != NULL || rule->unreserve != NULL, POINT_reserve);
        is_in_row(rule, rule->permit != NULL, POINT_permit);
    }
}

static void hints_are_a_known_plugin_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hinted); i++)
        if (!config_plugin_implements_any(str_of(hinted[i])))
            fail_msg("there are hints for %s, and no such plugin", hinted[i]);
}

static void a_plugin_of_a_newer_version_is_named(void **state)
{
    (void)state;
    struct str filters[] = {STR_LITERAL("NodeName"), STR_LITERAL("Mine")}, at, plugin;
    struct bus_plugin mine = {.name = STR_LITERAL("Mine")};
    struct score_plugin score = {.name = STR_LITERAL("DefaultBinder"), .weight = 1};
    struct profile profiles[] = {
        {.scheduler_name = STR_LITERAL("one"), .filter = {.at = filters, .count = 1}},
        {.scheduler_name = STR_LITERAL("two"),
         .filter = {.at = filters, .count = 2},
         .bus_plugins = {.at = &mine, .count = 1}}};
    profiles[0].score.at = &score;
    profiles[0].score.count = 1;
    assert_false(frameworks_lack(profiles, 2, &at, &plugin)); /* on the bus, or done elsewhere */
    profiles[1].bus_plugins.count = 0;
    assert_true(frameworks_lack(profiles, 2, &at, &plugin));
    assert_true(str_is(at, "two") && str_is(plugin, "Mine"));
    score.name = STR_LITERAL("Newer");
    assert_true(frameworks_lack(profiles, 2, &at, &plugin));
    assert_true(str_is(at, "one") && str_is(plugin, "Newer"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_what_its_row_says),
        cmocka_unit_test(hints_are_a_known_plugin_s),
        cmocka_unit_test(a_plugin_of_a_newer_version_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
