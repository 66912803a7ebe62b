/* Bodies of every wrong shape: each value of some sound bodies is exchanged, one at a time, for a
 * value of each other kind. Whatever the answer is, it is an answer: nothing aborts, and afterwards
 * the server still works. */
#include "harness.h"

static const char *const variants[] = {"5",          "-1.5", "\"x\"", "\"\"", "[]",
                                       "[5]",        "[[]]", "[{}]",  "{}",   "{\"a\":5}",
                                       "{\"a\":{}}", "null", "true"};

struct attempt {
    const char *type, *method, *target;
};

static void send(const struct attempt *attempt, const cJSON *body)
{
    struct blob *printed = tree_print(body);
    struct reply reply = ask_as(attempt->type, attempt->method, attempt->target, printed->bytes);
    assert_in_range(reply.code, 200, 599);
    if (reply.watcher != NULL)
        watcher_free(reply.watcher);
    cJSON_Delete(reply.tree);
    blob_drop(printed);
}

/* Puts each variant in the place of each value below item, sends the whole, and puts it back. As
 * deep as our own texts nest. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void spoil_below(const struct attempt *attempt, cJSON *root, cJSON *item)
{
    for (cJSON *child = item->child; child != NULL; child = child->next) {
        spoil_below(attempt, root, child);
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            cJSON saved = *child;
            cJSON *variant = tree_parse(variants[i], strlen(variants[i]));
            child->type = variant->type;
            child->child = variant->child;
            child->valuestring = variant->valuestring;
            child->valuedouble = variant->valuedouble;
            child->valueint = variant->valueint;
            send(attempt, root);
            *child = saved;
            cJSON_Delete(variant);
        }
    }
}

static void spoil(const struct attempt *attempt, const char *json)
{
    cJSON *root = tree_parse(json, strlen(json));
    assert_non_null(root);
    spoil_below(attempt, root, root);
    cJSON_Delete(root);
    make_pod("after");
    expect_only(200, "GET", PODS "?limit=500", "");
    expect_only(200, "GET", "/api/v1/nodes", "");
    expect_only(200, "DELETE", PODS "/after", "");
}

static const char pod_json[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"generateName\":\"p\",\"namespace\":"
    "\"default\",\"labels\":{"
    "\"a\":\"b\"},\"annotations\":{\"c\":\"d\"},\"finalizers\":[\"x/"
    "y\"],\"ownerReferences\":[{\"uid\":\"u\"}]},\"spec\":{"
    "\"hostNetwork\":true,\"nodeName\":\"n\",\"priorityClassName\":\"\",\"schedulingGates\":[{"
    "\"name\":\"g\"}],"
    "\"tolerations\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}],\"containers\":[{\"name\":\"c\","
    "\"image\":\"i\",\"ports\":["
    "{\"containerPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"1\",\"a.b/"
    "c\":\"1\"},\"limits\":{\"cpu\":\"2\","
    "\"a.b/c\":\"1\"}}}]},\"status\":{\"conditions\":[{\"type\":\"A\"}]}}";

static void pods_of_any_shape_are_answered(void **state)
{
    (void)state;
    spoil(&(struct attempt){"application/json", "POST", PODS}, pod_json);
    spoil(&(struct attempt){"application/json", "POST", PODS "?dryRun=All"}, pod_json);
}

static void other_kinds_of_any_shape_are_answered(void **state)
{
    (void)state;
    spoil(&(struct attempt){"application/json", "POST", "/api/v1/nodes"},
          "{\"metadata\":{\"generateName\":\"n\",\"labels\":{\"node-role.kubernetes.io/"
          "x\":\"\"}},\"spec\":{\"taints\":[{"
          "\"key\":\"k\",\"effect\":\"NoSchedule\"}]},\"status\":{\"capacity\":{\"cpu\":\"1\"},"
          "\"conditions\":[{\"type\":"
          "\"Ready\"}],\"addresses\":[{\"type\":\"InternalIP\"}]}}");
    spoil(&(struct attempt){"application/json", "POST", "/api/v1/namespaces/default/services"},
          "{\"metadata\":{\"generateName\":\"s\"},\"spec\":{\"ports\":[{\"port\":1}]}}");
    spoil(&(struct attempt){"application/json", "POST",
                            "/apis/events.k8s.io/v1/namespaces/default/events"},
          "{\"metadata\":{\"generateName\":\"e\"},\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\"},"
          "\"note\":\"n\"}");
    spoil(&(struct attempt){"application/json", "POST",
                            "/apis/authorization.k8s.io/v1/subjectaccessreviews"},
          "{\"spec\":{\"user\":\"u\",\"groups\":[\"g\"],\"resourceAttributes\":{\"verb\":\"v\","
          "\"resource\":\"r\"}}}");
    spoil(
        &(struct attempt){"application/json", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses"},
        "{\"metadata\":{\"generateName\":\"e\"},\"value\":1,\"globalDefault\":false}");
}

static void changes_of_any_shape_are_answered(void **state)
{
    (void)state;
    make_pod("victim");
    const char *patch =
        "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"$setElementOrder/"
        "finalizers\":[\"f\"],\"finalizers\":["
        "\"f\"],\"$deleteFromPrimitiveList/finalizers\":[\"g\"]},\"spec\":{\"$retainKeys\":[\"x\"],"
        "\"containers\":[{\"name\":\"c\",\"image\":\"j\",\"$patch\":\"merge\"}]},\"status\":{"
        "\"$setElementOrder/conditions\":[{\"type\":\"A\"}],\"conditions\":[{\"type\":\"A\"}]}}";
    spoil(&(struct attempt){"application/strategic-merge-patch+json", "PATCH", PODS "/victim"},
          patch);
    spoil(
        &(struct attempt){"application/strategic-merge-patch+json", "PATCH", PODS "/victim/status"},
        patch);
    spoil(&(struct attempt){"application/merge-patch+json", "PATCH", PODS "/victim/status"}, patch);
    spoil(&(struct attempt){"application/json-patch+json", "PATCH", PODS "/victim"},
          "[{\"op\":\"add\",\"path\":\"/metadata/labels/"
          "x\",\"value\":\"y\"},{\"op\":\"move\",\"from\":\"/metadata/labels/x\","
          "\"path\":\"/metadata/labels/z\"}]");
    spoil(&(struct attempt){"application/json", "POST", PODS "/victim/binding"},
          "{\"metadata\":{\"name\":\"victim\",\"annotations\":{\"a\":\"b\"}},\"target\":{\"kind\":"
          "\"Node\",\"name\":"
          "\"n\"}}");
    spoil(&(struct attempt){"application/json", "DELETE", PODS "/victim"},
          "{\"gracePeriodSeconds\":30,\"preconditions\":{\"uid\":\"u\"},\"dryRun\":[\"All\"]}");
    spoil(&(struct attempt){"application/json", "PUT", "/faults"},
          "{\"rules\":[{\"verb\":\"nothing\",\"resource\":\"pods\",\"status\":500,\"watch_close\":"
          "true,\"count\":1}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_of_any_shape_are_answered, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(other_kinds_of_any_shape_are_answered, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(changes_of_any_shape_are_answered, server_setup,
                                        server_teardown),
    };
    return cmocka_run_group_tests_name("apiserver shapes", tests, NULL, NULL);
}
