/* test_owners: the default selector of a pod: the Services that select it, and its controller. */
#include "queue/owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;

static void parse(const struct record *r, void *object, const char *text)
{
    struct str error;
    if (!codec_parse(r, object, str_of(text), &arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
}

static struct pod pod_of(const char *text)
{
    struct pod pod = {0};
    parse(&pod_record, &pod, text);
    pod.namespace_name = STR_LITERAL("ns");
    return pod;
}

static void set(struct owners *o, const char *text)
{
    struct owner owner = {0};
    parse(&owner_record, &owner, text);
    if (owner.namespace_name.len == 0)
        owner.namespace_name = STR_LITERAL("ns");
    owners_set(o, &owner);
}

static bool match(const struct owners *o, const char *pod, const char *other)
{
    struct pod a = pod_of(pod), b = pod_of(other);
    return owners_match(o, &a, &b);
}

static bool selects(const struct owners *o, const char *pod)
{
    struct pod a = pod_of(pod);
    return owners_select(o, &a);
}

#define WEB "labels=[{key=\"app\" value=\"web\"} {key=\"tier\" value=\"x\"}]"

static void services_that_select_the_pod_are_merged(void **state)
{
    (void)state;
    struct owners *o = owners_new();
    assert_false(selects(o, WEB));
    set(o, "kind=\"Service\" name=\"a\" selector={present=true labels=[{key=\"app\" "
           "value=\"web\"}]}");
    set(o, "kind=\"Service\" name=\"b\" selector={present=true labels=[{key=\"tier\" "
           "value=\"x\"}]}");
    set(o, "kind=\"Service\" name=\"c\" selector={present=true labels=[{key=\"app\" "
           "value=\"db\"}]}");
    set(o, "kind=\"Service\" name=\"d\"");
    set(o, "kind=\"Service\" name=\"e\" namespace_name=\"elsewhere\" selector={present=true "
           "labels=[{key=\"z\" value=\"z\"}]}");
    assert_true(selects(o, WEB));
    assert_true(match(o, WEB, WEB));
    assert_false(match(o, WEB, "labels=[{key=\"app\" value=\"web\"}]"));
    owners_gone(o, OBJECT_service, STR_LITERAL("ns"), STR_LITERAL("b"));
    assert_true(match(o, WEB, "labels=[{key=\"app\" value=\"web\"}]"));
    owners_gone(o, OBJECT_service, STR_LITERAL("ns"), STR_LITERAL("a"));
    owners_gone(o, OBJECT_service, STR_LITERAL("ns"), STR_LITERAL("a"));
    assert_false(selects(o, WEB));
    owners_free(&o);
}

static void a_selector_that_changes_counts_as_it_is(void **state)
{
    (void)state;
    struct owners *o = owners_new();
    set(o, "kind=\"Service\" name=\"a\" selector={present=true labels=[{key=\"app\" "
           "value=\"db\"}]}");
    assert_false(selects(o, WEB));
    set(o, "kind=\"Service\" name=\"a\" selector={present=true labels=[{key=\"app\" "
           "value=\"web\"}]}");
    assert_true(selects(o, WEB));
    set(o, "kind=\"Service\" name=\"a\" selector={present=true}");
    assert_false(selects(o, WEB)); /* selects everything and asks for nothing */
    owners_free(&o);
}

static void the_controller_counts_by_kind_and_version(void **state)
{
    (void)state;
    struct owners *o = owners_new();
    set(o, "kind=\"ReplicaSet\" name=\"r\" selector={present=true expressions=[{key=\"app\" "
           "operator_name=\"Exists\"}]}");
    set(o, "kind=\"StatefulSet\" name=\"s\" selector={present=true labels=[{key=\"app\" "
           "value=\"db\"}]}");
    assert_true(selects(o, "owner_kind=\"ReplicaSet\" owner_name=\"r\" owner_api=\"apps/v1\""));
    assert_false(selects(o, "owner_kind=\"ReplicaSet\" owner_name=\"r\" owner_api=\"x/v1\""));
    assert_false(selects(o, "owner_kind=\"ReplicaSet\" owner_name=\"s\" owner_api=\"apps/v1\""));
    assert_true(match(o, "owner_kind=\"ReplicaSet\" owner_name=\"r\" owner_api=\"apps/v1\"", WEB));
    assert_false(match(o, "owner_kind=\"ReplicaSet\" owner_name=\"r\" owner_api=\"apps/v1\"", ""));
    assert_false(
        match(o, "owner_kind=\"StatefulSet\" owner_name=\"s\" owner_api=\"apps/v1\"", WEB));
    owners_free(&o);
}

static void a_replication_controllers_label_goes_over_a_services(void **state)
{
    (void)state;
    static const char pod[] =
        WEB " owner_kind=\"ReplicationController\" owner_name=\"r\" owner_api=\"v1\"";
    struct owners *o = owners_new();
    set(o, "kind=\"Service\" name=\"a\" selector={present=true labels=[{key=\"app\" "
           "value=\"web\"}]}");
    set(o, "kind=\"ReplicationController\" name=\"r\" selector={present=true labels=[{key=\"app\" "
           "value=\"db\"}]}");
    assert_true(match(o, pod, "labels=[{key=\"app\" value=\"db\"}]"));
    assert_false(match(o, pod, WEB));
    owners_free(&o);
}

static void what_a_snapshot_does_not_hold_is_gone(void **state)
{
    (void)state;
    struct owners *o = owners_new();
    for (int round = 0; round < 2; round++) {
        owners_snapshot_begin(o);
        if (round == 0)
            set(o, "kind=\"Service\" name=\"a\" selector={present=true labels=[{key=\"app\" "
                   "value=\"web\"}]}");
        set(o, "kind=\"Service\" name=\"b\" selector={present=true labels=[{key=\"app\" "
               "value=\"db\"}]}");
        owners_snapshot_end(o);
        assert_int_equal(selects(o, WEB), round == 0);
        assert_true(selects(o, "labels=[{key=\"app\" value=\"db\"}]"));
    }
    owners_free(&o);
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_that_select_the_pod_are_merged),
        cmocka_unit_test(a_selector_that_changes_counts_as_it_is),
        cmocka_unit_test(the_controller_counts_by_kind_and_version),
        cmocka_unit_test(a_replication_controllers_label_goes_over_a_services),
        cmocka_unit_test(what_a_snapshot_does_not_hold_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
