/* extended_names: which class stands for a resource depends on what was said, and on its order, as
 * in upstream's cache. */
#include "scheduler/catalog/extended_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void put(struct extended_names *n, const char *name, const char *resource, int64_t created)
{
    const struct device_class class = {
        .name = str_of(name), .extended_resource = str_of(resource), .created = created};
    extended_names_set(n, &class);
}

static void assert_for(const struct extended_names *n, const char *resource, const char *class)
{
    struct str found = extended_names_class(n, str_of(resource));
    if (!str_is(found, class))
        fail_msg("%s is of \"%.*s\"", resource, STR_ARG(found));
}

#define OWN "deviceclass.resource.kubernetes.io/"

static void a_class_stands_for_its_own_name_and_another(void **state)
{
    (void)state;
    struct extended_names *n = extended_names_new();
    put(n, "a", "", 1);
    put(n, "b", "x.io/gpu", 1);
    assert_for(n, OWN "a", "a");
    assert_for(n, OWN "b", "b");
    assert_for(n, "x.io/gpu", "b");
    assert_for(n, "x.io/other", "");
    put(n, "b", "x.io/other", 1);
    assert_for(n, "x.io/gpu", "");
    assert_for(n, "x.io/other", "b");
    extended_names_gone(n, STR_LITERAL("b"));
    extended_names_gone(n, STR_LITERAL("never"));
    assert_for(n, "x.io/other", "");
    assert_for(n, OWN "b", "");
    assert_for(n, OWN "a", "a");
    extended_names_clear(n);
    assert_for(n, OWN "a", "");
    extended_names_free(&n);
}

static void of_several_the_newest_counts(void **state)
{
    (void)state;
    struct extended_names *n = extended_names_new();
    put(n, "b", "x.io/gpu", 5);
    put(n, "older", "x.io/gpu", 4);
    assert_for(n, "x.io/gpu", "b");
    assert_for(n, OWN "older", ""); /* who loses does not even get its own name */
    put(n, "c", "x.io/gpu", 5);     /* as old, but behind it by name */
    assert_for(n, "x.io/gpu", "b");
    put(n, "a", "x.io/gpu", 5);
    assert_for(n, "x.io/gpu", "a");
    assert_for(n, OWN "b", "b");
    put(n, "newer", "x.io/gpu", 6);
    assert_for(n, "x.io/gpu", "newer");
    extended_names_gone(n, STR_LITERAL("a")); /* takes the name from whoever has it */
    assert_for(n, "x.io/gpu", "");
    assert_for(n, OWN "newer", "newer");
    extended_names_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_stands_for_its_own_name_and_another),
        cmocka_unit_test(of_several_the_newest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
