/* The verbs, without HTTP: identity, defaults, locking, bindings, deletion, events in two shapes,
 * permissions and faults. Messages are compared where clients read them. */
#include "harness.h"

static void expect_message(int code, const char *method, const char *target, const char *body,
                           const char *message)
{
    cJSON *tree = expect(code, method, target, body);
    assert_string_equal(tree_string(tree, "message", ""), message);
    cJSON_Delete(tree);
}

static void a_new_pod_is_completed(void **state)
{
    (void)state;
    cJSON *pod = expect(
        201, "POST", PODS,
        "{\"metadata\":{\"generateName\":\"g-\"},\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":"
        "\"i\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}],"
        "\"schedulingGates\":[{\"name\":\"x\"}],\"priorityClassName\":\"system-node-critical\"}}");
    assert_int_equal(strlen(tree_string(pod, "metadata.name", "")), 7);
    assert_string_equal(tree_string(pod, "kind", ""), "Pod");
    assert_string_equal(tree_string(pod, "spec.schedulerName", ""), "default-scheduler");
    assert_int_equal(tree_number(pod, "spec.priority", 0), 2000001000);
    assert_int_equal(cJSON_GetArraySize(tree_get(pod, "spec.tolerations")), 2);
    assert_string_equal(tree_string(pod, "status.qosClass", ""), "Guaranteed");
    assert_string_equal(tree_string(pod, "status.phase", ""), "Pending");
    const cJSON *container = tree_get(pod, "spec.containers")->child;
    assert_string_equal(tree_string(container, "resources.requests.cpu", ""), "1");
    assert_string_equal(tree_string(tree_get(pod, "status.conditions")->child, "reason", ""),
                        "SchedulingGated");
    cJSON_Delete(pod);
}

static void bad_objects_are_refused_by_field(void **state)
{
    (void)state;
    expect_message(422, "POST", PODS, "{\"metadata\":{\"name\":\"p\"},\"spec\":{}}",
                   "Pod \"p\" is invalid: spec.containers: Required value");
    expect_message(400, "POST", PODS, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"p\"}}",
                   "Node in version \"v1\" cannot be handled as a Pod: converting (v1.Node) to "
                   "(core.Pod): unknown "
                   "conversion");
    expect_message(404, "POST", "/api/v1/namespaces/nope/pods", "{\"metadata\":{\"name\":\"p\"}}",
                   "namespaces \"nope\" not found");
    expect_message(403, "POST", PODS,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"priorityClassName\":\"none\","
                   "\"containers\":[]}}",
                   "pods \"p\" is forbidden: no PriorityClass with name none was found");
    expect_only(400, "POST", PODS,
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                "\"image\":\"i\",\"resources\":"
                "{\"requests\":{\"cpu\":\"abc\"}}}]}}");
    expect_only(422, "POST", PODS,
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                "\"image\":\"i\",\"resources\":"
                "{\"requests\":{\"cpu\":\"2\"},\"limits\":{\"cpu\":\"1\"}}}]}}");
    expect_only(400, "POST", PODS, "not json");
    make_pod("twice");
    expect_message(409, "POST", PODS,
                   "{\"metadata\":{\"name\":\"twice\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                   "\"image\":\"i\"}]}}",
                   "pods \"twice\" already exists");
    expect_message(404, "GET", PODS "/none", "", "pods \"none\" not found");
}

static void updates_are_locked_by_version(void **state)
{
    (void)state;
    const char *leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    expect_only(201, "POST", leases,
                "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"a\"}}");
    char one[128], body[256];
    snprintf(one, sizeof one, "%s/l", leases);
    cJSON *lease = expect(200, "GET", one, "");
    snprintf(body, sizeof body,
             "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%s\"},\"spec\":{"
             "\"holderIdentity\":\"b\"}}",
             tree_string(lease, "metadata.resourceVersion", ""));
    expect_only(200, "PUT", one, body);
    expect_message(409, "PUT", one, body,
                   "Operation cannot be fulfilled on leases.coordination.k8s.io \"l\": the object "
                   "has been modified; "
                   "please apply your changes to the latest version and try again");
    expect_only(422, "PUT", one, "{\"metadata\":{\"name\":\"l\"},\"spec\":{}}");
    cJSON_Delete(lease);
}

static void an_update_without_change_makes_no_version(void **state)
{
    (void)state;
    make_pod("same");
    uint64_t version = server.registry.version;
    cJSON *pod = expect(200, "GET", PODS "/same", "");
    struct blob *body = tree_print(pod);
    expect_only(200, "PUT", PODS "/same", body->bytes);
    assert_int_equal(server.registry.version, version);
    cJSON_Delete(ask_as("application/strategic-merge-patch+json", "PATCH", PODS "/same",
                        "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}")
                     .tree);
    assert_int_equal(server.registry.version, version + 1);
    blob_drop(body);
    cJSON_Delete(pod);
}

static void status_and_spec_are_written_apart(void **state)
{
    (void)state;
    make_pod("half");
    struct reply reply =
        ask_as("application/strategic-merge-patch+json", "PATCH", PODS "/half/status",
               "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"nominatedNodeName\":\"n\"}}");
    assert_int_equal(reply.code, 200);
    assert_null(tree_get(reply.tree, "spec.nodeName"));
    assert_string_equal(tree_string(reply.tree, "status.nominatedNodeName", ""), "n");
    cJSON_Delete(reply.tree);
    reply = ask_as("application/merge-patch+json", "PATCH", PODS "/half",
                   "{\"spec\":{\"nodeName\":\"n\"}}");
    assert_int_equal(reply.code, 422);
    cJSON_Delete(reply.tree);
    reply = ask_as("application/merge-patch+json", "PATCH", PODS "/half",
                   "{\"metadata\":{\"uid\":\"another\"}}");
    assert_int_equal(reply.code, 422);
    assert_string_equal(tree_string(reply.tree, "message", ""),
                        "Pod \"half\" is invalid: metadata.uid: Invalid value: \"another\": field "
                        "is immutable");
    cJSON_Delete(reply.tree);
    reply = ask_as("application/apply-patch+yaml", "PATCH", PODS "/half", "{}");
    assert_int_equal(reply.code, 415);
    cJSON_Delete(reply.tree);
}

static void a_pod_is_bound_once(void **state)
{
    (void)state;
    const char *to_n1 =
        "{\"metadata\":{\"name\":\"b\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    expect_only(
        201, "POST", "/api/v1/nodes",
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"topology.kubernetes.io/zone\":\"z\"}}}");
    make_pod("b");
    expect_message(404, "POST", PODS "/none/binding", "{\"target\":{\"name\":\"n1\"}}",
                   "pods \"none\" not found");
    char refusal[512];
    snprintf(
        refusal, sizeof refusal,
        "Operation cannot be fulfilled on pods \"b\": StorageError: invalid object, Code: 4, Key: "
        "/registry/pods/default/b, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        "UID in "
        "precondition: other, UID in object meta: %s",
        registry_find(&server.registry, resource_named("pods"), "default", "b")->uid);
    expect_message(409, "POST", PODS "/b/binding",
                   "{\"metadata\":{\"name\":\"b\",\"uid\":\"other\"},\"target\":{\"name\":\"n1\"}}",
                   refusal);
    expect_only(201, "POST", PODS "/b/binding", to_n1);
    expect_message(409, "POST", PODS "/b/binding", to_n1,
                   "Operation cannot be fulfilled on pods/binding \"b\": pod b is already assigned "
                   "to node \"n1\"");
    cJSON *pod = expect(200, "GET", PODS "/b", "");
    assert_string_equal(tree_string(pod, "spec.nodeName", ""), "n1");
    const cJSON *condition = tree_get(pod, "status.conditions")->child;
    assert_string_equal(tree_string(condition, "type", ""), "PodScheduled");
    assert_string_equal(tree_string(condition, "status", ""), "True");
    struct object *object = registry_find(&server.registry, resource_named("pods"), "default", "b");
    assert_string_equal(object_label(object, "topology.kubernetes.io/zone"), "z");
    cJSON_Delete(pod);
}

static void an_assigned_pod_ends_after_its_grace(void **state)
{
    (void)state;
    make_pod("g");
    expect_only(201, "POST", PODS "/g/binding", "{\"target\":{\"name\":\"n1\"}}");
    cJSON *pod = expect(200, "DELETE", PODS "/g", "{\"gracePeriodSeconds\":30}");
    assert_int_equal(tree_number(pod, "metadata.deletionGracePeriodSeconds", 0), 30);
    cJSON_Delete(pod);
    timers_run(&server.timers, clock_ms() + 1000, 0);
    expect_only(200, "GET", PODS "/g", "");
    expect_only(409, "DELETE", PODS "/g", "{\"preconditions\":{\"uid\":\"other\"}}");
    timers_run(&server.timers, clock_ms() + 31000, 0);
    expect_only(404, "GET", PODS "/g", "");
    make_pod("pending");
    expect_only(200, "DELETE", PODS "/pending", "");
    expect_only(404, "GET", PODS "/pending", "");
}

static void finalizers_hold_a_deletion_back(void **state)
{
    (void)state;
    expect_only(201, "POST", "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"f\",\"finalizers\":[\"x/y\"]}}");
    expect_only(200, "DELETE", "/api/v1/namespaces/default/configmaps/f", "");
    expect_only(200, "GET", "/api/v1/namespaces/default/configmaps/f", "");
    cJSON_Delete(ask_as("application/merge-patch+json", "PATCH",
                        "/api/v1/namespaces/default/configmaps/f",
                        "{\"metadata\":{\"finalizers\":null}}")
                     .tree);
    expect_only(404, "GET", "/api/v1/namespaces/default/configmaps/f", "");
}

static void events_have_two_shapes(void **state)
{
    (void)state;
    expect_only(201, "POST", "/apis/events.k8s.io/v1/namespaces/default/events",
                "{\"metadata\":{\"name\":\"e\"},\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\"},"
                "\"note\":\"hello\","
                "\"reason\":\"R\",\"type\":\"Normal\",\"reportingController\":\"s\"}");
    cJSON *list = expect(
        200, "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=p", "");
    const cJSON *event = tree_get(list, "items")->child;
    assert_non_null(event);
    assert_string_equal(tree_string(event, "message", ""), "hello");
    assert_string_equal(tree_string(event, "apiVersion", ""), "v1");
    struct reply reply =
        ask_as("application/strategic-merge-patch+json", "PATCH",
               "/apis/events.k8s.io/v1/namespaces/default/events/e", "{\"series\":{\"count\":2}}");
    assert_int_equal(reply.code, 200);
    assert_string_equal(tree_string(reply.tree, "note", ""), "hello");
    assert_string_equal(tree_string(reply.tree, "apiVersion", ""), "events.k8s.io/v1");
    cJSON_Delete(reply.tree);
    cJSON_Delete(list);
}

static void a_denied_verb_is_forbidden(void **state)
{
    (void)state;
    char *group = (char *)"g";
    const struct user *user = auth_by_certificate(server.auth, "u", &group, 1);
    assert_true(auth_deny(server.auth, "list:pods,create:pods/binding"));
    assert_false(auth_deny(server.auth, "list"));
    struct request request = {.server = &server, .method = "GET", .path = PODS, .user = user};
    struct answer answer = {0};
    struct fault fault;
    assert_true(front_begin(&request, &answer, &fault));
    assert_int_equal(answer.code, 403);
    assert_non_null(
        strstr(answer.pieces[0]->bytes,
               "pods is forbidden: User \\\"u\\\" cannot list resource \\\"pods\\\" in API group "
               "\\\"\\\" in the namespace \\\"default\\\""));
    answer_clear(&answer);
    expect_only(200, "GET", PODS, "");
}

static void faults_strike_as_often_as_told(void **state)
{
    (void)state;
    expect_only(
        200, "PUT", "/faults",
        "{\"rules\":[{\"verb\":\"get,list\",\"resource\":\"pods\",\"status\":503,\"count\":2},"
        "{\"verb\":\"create\",\"resource\":\"configmaps\",\"commit_then_504\":true,\"count\":1}]}");
    expect_only(503, "GET", PODS, "");
    expect_only(503, "GET", PODS "/x", "");
    expect_only(200, "GET", PODS, "");
    expect_only(504, "POST", "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"c\"}}");
    expect_only(200, "GET", "/api/v1/namespaces/default/configmaps/c", "");
    expect_message(400, "PUT", "/faults", "[{\"colour\":1}]",
                   "faults: rules[0].colour: no such field");
    expect_message(400, "PUT", "/faults", "[{},{\"status\":\"x\"}]",
                   "faults: rules[1].status: must be a number, not negative");
    expect_only(200, "PUT", "/faults", "[{\"resource\":\"pods\",\"compact\":true}]");
    expect_only(410, "GET", PODS "?resourceVersion=1&resourceVersionMatch=Exact", "");
}

static void deleting_a_namespace_empties_it(void **state)
{
    (void)state;
    expect_only(201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns\"}}");
    expect_only(201, "POST", "/api/v1/namespaces/ns/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
    expect_only(200, "DELETE", "/api/v1/namespaces/ns", "");
    expect_only(404, "GET", "/api/v1/namespaces/ns/configmaps/c", "");
    expect_only(404, "GET", "/api/v1/namespaces/ns", "");
}

static void collections_are_deleted_by_selector(void **state)
{
    (void)state;
    make_pod("one");
    make_pod("two");
    expect_only(200, "DELETE", PODS "?labelSelector=app=one", "");
    expect_only(404, "GET", PODS "/one", "");
    expect_only(200, "GET", PODS "/two", "");
}

static void a_custom_kind_is_served_while_it_is_defined(void **state)
{
    (void)state;
    static const char definitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    static const char groups[] = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups";
    char path[256];
    expect_only(404, "GET", groups, "");
    expect_only(201, "POST", definitions,
                "{\"metadata\":{\"name\":\"podgroups.scheduling.x-k8s.io\"}}");
    expect_only(201, "POST", groups,
                "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"minMember\":3},\"status\":{"
                "\"phase\":\"x\"}}");
    expect_only(422, "POST", groups, "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"minMember\":0}}");
    snprintf(path, sizeof path, "%s/g/status", groups);
    struct reply reply = ask_as("application/strategic-merge-patch+json", "PATCH", path, "{}");
    assert_int_equal(reply.code, 415);
    cJSON_Delete(reply.tree);
    reply = ask_as("application/merge-patch+json", "PATCH", path,
                   "{\"spec\":{\"minMember\":9},\"status\":{\"phase\":\"Pending\"}}");
    assert_int_equal(reply.code, 200);
    assert_string_equal(tree_string(reply.tree, "status.phase", ""), "Pending");
    assert_true(tree_number(reply.tree, "spec.minMember", 0) == 3);
    cJSON_Delete(reply.tree);
    expect_only(404, "GET", "/apis/scheduling.sigs.k8s.io/v1alpha1/podgroups", "");
    snprintf(path, sizeof path, "%s/podgroups.scheduling.x-k8s.io", definitions);
    expect_only(200, "DELETE", path, "");
    expect_only(404, "GET", groups, "");
    assert_int_equal(server.registry.shelves[RESOURCE_COUNT - 2].count, 0);
}

static void a_kind_in_the_tree_is_served_where_it_is_asked_for(void **state)
{
    (void)state;
    static const char groups[] = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups";
    expect_only(404, "GET", groups, "");
    server.registry.gated = true;
    expect_only(201, "POST", groups,
                "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"schedulingPolicy\":{\"gang\":{"
                "\"minCount\":2}}}}");
    expect_only(422, "POST", groups,
                "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"schedulingPolicy\":{\"gang\":{}}}}");
    expect_only(422, "POST", groups,
                "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"schedulingPolicy\":{}}}");
    struct reply reply = ask_as("application/strategic-merge-patch+json", "PATCH",
                                "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups/g/"
                                "status",
                                "{\"status\":{\"conditions\":[{\"type\":\"PodGroupScheduled\","
                                "\"status\":\"True\"}]}}");
    assert_int_equal(reply.code, 200);
    assert_non_null(tree_get(reply.tree, "status.conditions"));
    cJSON_Delete(reply.tree);
    static const char newer[] = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/g";
    expect_only(404, "GET", newer, "");
    server.registry.minor = 37;
    expect_only(404, "GET", groups, "");
    reply = ask("GET", newer, "");
    assert_string_equal(tree_string(reply.tree, "apiVersion", ""), "scheduling.k8s.io/v1beta1");
    assert_non_null(tree_get(reply.tree, "status.conditions"));
    cJSON_Delete(reply.tree);
    reply = ask("GET", "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups/g", "");
    assert_string_equal(tree_string(reply.tree, "apiVersion", ""), "scheduling.k8s.io/v1alpha3");
    cJSON_Delete(reply.tree);
    server.registry.minor = 36;
    server.registry.gated = false;
    expect_only(404, "GET", groups, "");
}

static void a_claim_that_says_no_number_asks_for_one_device(void **state)
{
    (void)state;
    static const char body[] =
        "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":["
        "{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"gpu\"}},"
        "{\"name\":\"b\",\"exactly\":{\"allocationMode\":\"All\"}},"
        "{\"name\":\"c\",\"firstAvailable\":[{\"name\":\"x\",\"count\":2}]}]}}}";
    struct reply reply =
        ask("POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", body);
    assert_int_equal(reply.code, 201);
    cJSON *requests = tree_get(reply.tree, "spec.devices.requests");
    const cJSON *a = tree_get(cJSON_GetArrayItem(requests, 0), "exactly");
    assert_string_equal(tree_string(a, "allocationMode", ""), "ExactCount");
    assert_true(tree_number(a, "count", 0) == 1);
    const cJSON *b = tree_get(cJSON_GetArrayItem(requests, 1), "exactly");
    assert_true(tree_number(b, "count", 0) == 0);
    const cJSON *x =
        cJSON_GetArrayItem(tree_get(cJSON_GetArrayItem(requests, 2), "firstAvailable"), 0);
    assert_string_equal(tree_string(x, "allocationMode", ""), "ExactCount");
    assert_true(tree_number(x, "count", 0) == 2);
    cJSON_Delete(reply.tree);
}

static void expect_minor(const char *minor)
{
    cJSON *tree = expect(200, "GET", "/version", "");
    assert_string_equal(tree_string(tree, "minor", ""), minor);
    cJSON_Delete(tree);
}

static void its_version_may_change(void **state)
{
    (void)state;
    static const char rules[] = "/apis/resource.k8s.io/v1/devicetaintrules";
    expect_minor("36");
    expect_only(404, "GET", rules, "");
    expect_only(200, "PUT", "/version", "1.37");
    expect_minor("37");
    expect_only(200, "GET", rules, "");
    expect_only(400, "PUT", "/version", "1.37.2");
    expect_only(400, "PUT", "/version", "2.1");
    expect_minor("37");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_pod_is_completed),
        TEST(a_claim_that_says_no_number_asks_for_one_device),
        TEST(bad_objects_are_refused_by_field),
        TEST(updates_are_locked_by_version),
        TEST(an_update_without_change_makes_no_version),
        TEST(status_and_spec_are_written_apart),
        TEST(a_pod_is_bound_once),
        TEST(an_assigned_pod_ends_after_its_grace),
        TEST(finalizers_hold_a_deletion_back),
        TEST(events_have_two_shapes),
        TEST(a_denied_verb_is_forbidden),
        TEST(faults_strike_as_often_as_told),
        TEST(deleting_a_namespace_empties_it),
        TEST(collections_are_deleted_by_selector),
        TEST(a_custom_kind_is_served_while_it_is_defined),
        TEST(a_kind_in_the_tree_is_served_where_it_is_asked_for),
        TEST(its_version_may_change),
    };
    return cmocka_run_group_tests_name("apiserver verbs", tests, NULL, NULL);
}
