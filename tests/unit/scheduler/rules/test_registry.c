/* test_registry: what a plugin's row of proto/plugins.def says of it is true: its name, its points,
 * and that there is a plugin whose hints follow. */
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/release.h"
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

static void a_rule_is_what_its_row_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plugin *rule = rows[i].rule;
        struct str name = str_of(rows[i].name);
        if (rule == NULL)
            continue;
        assert_string_equal(rule->name, rows[i].name);
        if (rule->filter != NULL && !config_plugin_implements(RELEASE_NEWEST, name, POINT_filter))
            fail_msg("%s filters, and its row does not say so", rule->name);
        if (rule->score != NULL && !config_plugin_implements(RELEASE_NEWEST, name, POINT_score))
            fail_msg("%s scores, and its row does not say so", rule->name);
    }
}

static void hints_are_a_known_plugin_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hinted); i++)
        if (!config_plugin_implements_any(str_of(hinted[i])))
            fail_msg("there are hints for %s, and no such plugin", hinted[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_what_its_row_says),
        cmocka_unit_test(hints_are_a_known_plugin_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
