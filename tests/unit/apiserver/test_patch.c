/* The three kinds of patch, on small trees: what is merged, what is replaced, what is refused. Each
 * case is original, patch and expected result as JSON. */
#include "harness.h"

#include "tests/apiserver/patch.h"

static cJSON *parsed(const char *json)
{
    cJSON *tree = tree_parse(json, strlen(json));
    assert_non_null(tree);
    return tree;
}

/* expected NULL: the patch has to be refused. */
static void check(cJSON *(*patch)(const cJSON *, const cJSON *, struct buffer *),
                  const char *original, const char *change, const char *expected)
{
    struct buffer why = {0};
    cJSON *before = parsed(original), *with = parsed(change);
    cJSON *after = patch(before, with, &why);
    if (expected == NULL) {
        assert_null(after);
        assert_true(why.len > 0);
    } else {
        cJSON *wanted = parsed(expected);
        if (!tree_same(after, wanted))
            print_error("got %s, %s\n", after != NULL ? cJSON_PrintUnformatted(after) : "nothing",
                        why.at != NULL ? why.at : "");
        assert_true(tree_same(after, wanted));
        cJSON_Delete(wanted);
    }
    cJSON_Delete(before);
    cJSON_Delete(with);
    cJSON_Delete(after);
    buffer_free(&why);
}

static cJSON *merge(const cJSON *original, const cJSON *patch, struct buffer *why)
{
    (void)why;
    return patch_merge(original, patch);
}

static void merge_patch_sets_and_removes(void **state)
{
    (void)state;
    check(merge, "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}", "{\"b\":{\"c\":null,\"e\":[1]},\"f\":true}",
          "{\"a\":1,\"b\":{\"d\":3,\"e\":[1]},\"f\":true}");
    check(merge, "{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}");
    check(merge, "{\"a\":1}", "{\"a\":{\"b\":null}}", "{\"a\":{}}");
}

static void json_patch_does_all_operations(void **state)
{
    (void)state;
    check(patch_json, "{\"l\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":2}]",
          "{\"l\":[1,2,3]}");
    check(patch_json, "{\"l\":[1]}", "[{\"op\":\"add\",\"path\":\"/l/-\",\"value\":2}]",
          "{\"l\":[1,2]}");
    check(patch_json, "{\"a/b\":1}", "[{\"op\":\"replace\",\"path\":\"/a~1b\",\"value\":2}]",
          "{\"a/b\":2}");
    check(patch_json, "{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}");
    check(patch_json, "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]",
          "{\"b\":1}");
    check(patch_json, "{\"a\":{\"x\":1}}", "[{\"op\":\"copy\",\"from\":\"/a/x\",\"path\":\"/y\"}]",
          "{\"a\":{\"x\":1},\"y\":1}");
    check(patch_json, "{\"a\":1}",
          "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1},{\"op\":\"replace\",\"path\":\"/"
          "a\",\"value\":5}]",
          "{\"a\":5}");
}

static void json_patch_refuses_what_does_not_apply(void **state)
{
    (void)state;
    check(patch_json, "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", NULL);
    check(patch_json, "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", NULL);
    check(patch_json, "{\"l\":[1]}", "[{\"op\":\"add\",\"path\":\"/l/7\",\"value\":2}]", NULL);
    check(patch_json, "{\"a\":1}", "[{\"op\":\"frob\",\"path\":\"/a\"}]", NULL);
    check(patch_json, "{\"a\":1}", "{\"op\":\"remove\",\"path\":\"/a\"}", NULL);
    check(patch_json, "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL);
}

static void strategic_merges_conditions_by_type(void **state)
{
    (void)state;
    check(patch_strategic,
          "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"m\":1}]}}",
          "{\"status\":{\"$setElementOrder/"
          "conditions\":[{\"type\":\"B\"},{\"type\":\"A\"}],\"conditions\":["
          "{\"type\":\"B\",\"status\":\"False\"},{\"type\":\"A\",\"status\":\"False\"}]}}",
          "{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"False\"},{\"type\":\"A\","
          "\"status\":\"False\","
          "\"m\":1}]}}");
    check(patch_strategic, "{}",
          "{\"status\":{\"conditions\":[{\"type\":\"A\"}],\"nominatedNodeName\":null}}",
          "{\"status\":{\"conditions\":[{\"type\":\"A\"}]}}");
}

static void strategic_deletes_and_replaces_items(void **state)
{
    (void)state;
    check(patch_strategic, "{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
          "{\"containers\":[{\"$patch\":\"delete\",\"name\":\"a\"},{\"name\":\"c\"}]}",
          "{\"containers\":[{\"name\":\"b\"},{\"name\":\"c\"}]}");
    check(patch_strategic, "{\"containers\":[{\"name\":\"a\"}]}",
          "{\"containers\":[{\"$patch\":\"replace\"},{\"name\":\"z\"}]}",
          "{\"containers\":[{\"name\":\"z\"}]}");
    check(patch_strategic, "{\"spec\":{\"a\":1,\"b\":2}}",
          "{\"spec\":{\"$patch\":\"replace\",\"c\":3}}", "{\"spec\":{\"c\":3}}");
    check(patch_strategic, "{\"x\":{\"a\":1,\"b\":2}}",
          "{\"x\":{\"$retainKeys\":[\"a\",\"c\"],\"c\":3}}", "{\"x\":{\"a\":1,\"c\":3}}");
}

static void strategic_knows_which_lists_are_replaced_whole(void **state)
{
    (void)state;
    check(patch_strategic, "{\"taints\":[{\"key\":\"a\"},{\"key\":\"b\"}]}",
          "{\"taints\":[{\"key\":\"b\"}]}", "{\"taints\":[{\"key\":\"b\"}]}");
    check(patch_strategic, "{\"tolerations\":[{\"key\":\"a\"}]}", "{\"tolerations\":[]}",
          "{\"tolerations\":[]}");
    check(patch_strategic, "{\"ports\":[{\"containerPort\":80,\"name\":\"x\"}]}",
          "{\"ports\":[{\"containerPort\":80,\"hostPort\":80},{\"containerPort\":81}]}",
          "{\"ports\":[{\"containerPort\":80,\"name\":\"x\",\"hostPort\":80},{\"containerPort\":81}"
          "]}");
    check(patch_strategic, "{\"ports\":[{\"port\":1,\"name\":\"x\"}]}",
          "{\"ports\":[{\"port\":1,\"name\":\"y\"}]}", "{\"ports\":[{\"port\":1,\"name\":\"y\"}]}");
}

static void strategic_handles_lists_of_plain_values(void **state)
{
    (void)state;
    check(patch_strategic, "{\"finalizers\":[\"a\",\"b\"]}",
          "{\"$deleteFromPrimitiveList/finalizers\":[\"a\"],\"finalizers\":[\"c\",\"b\"]}",
          "{\"finalizers\":[\"b\",\"c\"]}");
    check(patch_strategic, "{\"containers\":[{\"name\":\"a\"}]}",
          "{\"containers\":[{\"image\":\"x\"}]}", NULL);
}

int main(void)
{
    tree_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_patch_sets_and_removes),
        cmocka_unit_test(json_patch_does_all_operations),
        cmocka_unit_test(json_patch_refuses_what_does_not_apply),
        cmocka_unit_test(strategic_merges_conditions_by_type),
        cmocka_unit_test(strategic_deletes_and_replaces_items),
        cmocka_unit_test(strategic_knows_which_lists_are_replaced_whole),
        cmocka_unit_test(strategic_handles_lists_of_plain_values),
    };
    return cmocka_run_group_tests_name("apiserver patch", tests, NULL, NULL);
}
