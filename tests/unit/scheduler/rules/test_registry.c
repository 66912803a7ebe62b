/* test_registry: a rule is in two lists, that of the program (scheduler/rules/plugins.def) and that
 * of the names which a configuration may use (known_plugins of proto/kube/config/config_plugins.c).
 * One that is missing in the second could never be enabled. */
#include "proto/kube/config/config_internal.h"
#include "scheduler/rules/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLUGIN(name) extern const struct plugin plugin_##name;
#include "scheduler/rules/plugins.def"
#undef PLUGIN

static const struct plugin *const rules[] = {
#define PLUGIN(name) &plugin_##name,
#include "scheduler/rules/plugins.def"
#undef PLUGIN
};

static void configuration_knows_every_rule_and_its_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct str name = str_of(rules[i]->name);
        if (!config_plugin_implements_any(name))
            fail_msg("%s is no row of known_plugins", rules[i]->name);
        if (rules[i]->filter != NULL && !config_plugin_implements(name, POINT_filter))
            fail_msg("%s filters, and known_plugins does not say so", rules[i]->name);
        if (rules[i]->score != NULL && !config_plugin_implements(name, POINT_score))
            fail_msg("%s scores, and known_plugins does not say so", rules[i]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configuration_knows_every_rule_and_its_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
