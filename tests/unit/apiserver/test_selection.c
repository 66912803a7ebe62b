/* Label and field selectors against one pod: operators, sets, unsupported fields, malformed text.
 * The pod is app=web, tier=1, on node n1, in phase Pending. */
#include "harness.h"

#include "tests/apiserver/amount.h"
#include "tests/apiserver/selection.h"

static struct object *pod;

static int setup(void **state)
{
    server_setup(state);
    expect_only(
        201, "POST", PODS,
        "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\",\"tier\":\"1\",\"a.b/c\":\"\"}},"
        "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    pod = registry_find(&server.registry, resource_named("pods"), "default", "p");
    assert_non_null(pod);
    return 0;
}

static bool matches(const char *labels, const char *fields)
{
    struct buffer why = {0};
    struct selection *s = selection_parse(resource_named("pods"), labels, fields, &why);
    assert_non_null(s);
    bool found = selection_matches(s, pod);
    selection_free(s);
    return found;
}

static bool refused(const char *labels, const char *fields)
{
    struct buffer why = {0};
    struct selection *s = selection_parse(resource_named("pods"), labels, fields, &why);
    bool good = s == NULL && why.len > 0;
    selection_free(s);
    buffer_free(&why);
    return good;
}

static void labels_by_equality(void **state)
{
    (void)state;
    assert_true(matches("app=web", ""));
    assert_true(matches("app==web,tier=1", ""));
    assert_false(matches("app=web,tier=2", ""));
    assert_true(matches("app!=db", ""));
    assert_true(matches("gone!=x", ""));
    assert_false(matches("app!=web", ""));
    assert_true(matches("a.b/c=", ""));
}

static void labels_by_set(void **state)
{
    (void)state;
    assert_true(matches("app in (db, web)", ""));
    assert_false(matches("app notin (db,web)", ""));
    assert_true(matches("gone notin (x)", ""));
    assert_true(matches("app,!gone", ""));
    assert_false(matches("!app", ""));
    assert_true(matches("tier>0,tier<2", ""));
    assert_false(matches("app>0", ""));
}

static void fields_with_both_operators(void **state)
{
    (void)state;
    assert_true(matches("", "metadata.name=p,metadata.namespace=default"));
    assert_true(matches("", "spec.nodeName==n1,status.phase!=Failed,status.phase!=Succeeded"));
    assert_false(matches("", "spec.nodeName="));
    assert_true(matches("", "spec.nodeName!="));
    assert_true(matches("", "spec.schedulerName=default-scheduler"));
    assert_false(matches("", "metadata.name!=p"));
}

static void malformed_selectors_are_refused(void **state)
{
    (void)state;
    assert_true(refused("app in web", ""));
    assert_true(refused("app in (web", ""));
    assert_true(refused("=x", ""));
    assert_true(refused("app=a b", ""));
    assert_true(refused("", "spec.color=red"));
    assert_true(refused("", "spec.nodeName"));
}

static void both_names_of_an_event_field_work(void **state)
{
    (void)state;
    const struct resource *events = resource_find("events.k8s.io", "v1", "events");
    assert_int_equal(resource_field(events, "regarding.name"),
                     resource_field(events, "involvedObject.name"));
    assert_int_equal(resource_field(events, "regarding.colour"), -1);
}

static void amounts_parse_or_not(void **state)
{
    (void)state;
    long double milli = 0;
    assert_true(amount_parse("100m", &milli) && milli == 100);
    assert_true(amount_parse("1.5Gi", &milli) && milli == 1536.0L * 1024 * 1024 * 1000);
    assert_true(amount_parse("1e3", &milli) && milli == 1000000);
    assert_true(amount_parse("-2", &milli) && milli == -2000);
    assert_false(amount_parse("", &milli));
    assert_false(amount_parse("1.2.3", &milli));
    assert_false(amount_parse("5 Gi", &milli));
    assert_false(amount_parse("Mi", &milli));
    assert_false(amount_parse("1e", &milli));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_by_equality),
        cmocka_unit_test(labels_by_set),
        cmocka_unit_test(fields_with_both_operators),
        cmocka_unit_test(malformed_selectors_are_refused),
        cmocka_unit_test(both_names_of_an_event_field_work),
        cmocka_unit_test(amounts_parse_or_not),
    };
    return cmocka_run_group_tests_name("apiserver selection", tests, setup, server_teardown);
}
