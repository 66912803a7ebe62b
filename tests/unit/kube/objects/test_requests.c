/* test_requests: what pods ask for in the four ways of counting, against amounts worked out by hand
 * from upstream's rules. */
#include "tests/unit/kube/objects/reading.h"

#define META   "metadata: {name: a, namespace: default, uid: u1}\n"
#define REQ(r) "resources: {requests: {" r "}}"

static void containers_are_added_exactly(void **state)
{
    (void)state;
    EXPECT("Pod",
           META
           "spec: {containers: [{" REQ("cpu: 0.1m") "}, {" REQ("cpu: 0.1m, memory: 100M") "}]}",
           " request=[{name=\"cpu\" amount=1} {name=\"memory\" amount=100000000}]",
           " usage=[{name=\"cpu\" amount=1} {name=\"memory\" amount=100000000}]",
           "score_request=[{name=\"cpu\" amount=1} {name=\"memory\" amount=309715200}]",
           "usage_score_cpu=1 ", "usage_score_memory=309715200");
}

static void a_pod_without_requests_counts_in_scoring(void **state)
{
    (void)state;
    EXPECT("Pod", META "spec: {containers: [{}, {}]}",
           "score_request=[{name=\"cpu\" amount=200} {name=\"memory\" amount=419430400}]",
           "usage_score_cpu=200", "usage_score_memory=419430400");
    expect_absent(" request=");
    expect_absent(" usage=");
}

static void an_explicit_zero_gets_no_default(void **state)
{
    (void)state;
    EXPECT("Pod", META "spec: {containers: [{" REQ("cpu: 0, memory: 0") "}]}", "name=\"a\"");
    expect_absent("request=");
    expect_absent("usage");
}

static void init_containers_count_by_their_maximum(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  containers: [{" REQ(
               "cpu: 1, memory: 1Gi") "}]\n"
                                      "  initContainers: [{" REQ("cpu: 3") "}, {" REQ(
                                          "memory: 2Gi, x.y/z: 1") "}]\n",
           " request=[{name=\"cpu\" amount=3000} {name=\"memory\" amount=2147483648} "
           "{name=\"x.y/z\" amount=1}]");
}

static void sidecars_run_beside_later_init_containers(void **state)
{
    (void)state;
    /* before the sidecar: 4; behind it: 3.5 + 1; all together: 2 + 1 */
    EXPECT("Pod",
           META "spec:\n  containers: [{" REQ(
               "cpu: 2") "}]\n  initContainers:\n"
                         "  - {" REQ("cpu: 4") "}\n  - {restartPolicy: Always, " REQ(
                             "cpu: 1") "}\n"
                                       "  - {" REQ("cpu: 3500m") "}\n",
           " request=[{name=\"cpu\" amount=4500}]");
    EXPECT("Pod",
           META
           "spec:\n  containers: [{" REQ("cpu: 4") "}]\n  initContainers:\n"
                                                   "  - {restartPolicy: Always, " REQ(
                                                       "cpu: 1") "}\n  - {" REQ("cpu: 3500m") "}\n",
           " request=[{name=\"cpu\" amount=5000}]");
}

static void overhead_comes_on_top(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {overhead: {cpu: 250m, memory: 1Mi}, containers: [{" REQ("cpu: 1") "}]}",
           " request=[{name=\"cpu\" amount=1250} {name=\"memory\" amount=1048576}]",
           "score_request=[{name=\"cpu\" amount=1250} {name=\"memory\" amount=210763776}]");
}

static void pod_level_requests_replace(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  resources: {requests: {cpu: 500m, hugepages-2Mi: 4Mi, x.y/z: 9}}\n"
                "  containers: [{" REQ("cpu: 1, x.y/z: 1") "}, {}]\n",
           " request=[{name=\"cpu\" amount=500} {name=\"hugepages-2Mi\" amount=4194304} "
           "{name=\"x.y/z\" amount=1}]",
           /* scoring the pod does not look at the pod level: upstream's quirk */
           "score_request=[{name=\"cpu\" amount=1100} {name=\"memory\" amount=419430400} "
           "{name=\"x.y/z\" amount=1}]",
           " usage=[{name=\"cpu\" amount=500} {name=\"hugepages-2Mi\" amount=4194304} "
           "{name=\"x.y/z\" amount=1}]",
           /* on the node: nobody names memory, so each container gets the default */
           "usage_score_cpu=500 ", "usage_score_memory=419430400");
}

static void a_pod_level_request_spares_the_defaults_of_what_is_named(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  resources: {requests: {memory: 1Gi}}\n"
                "  containers: [{" REQ("cpu: 100m") "}, {}]\n",
           "usage_score_cpu=100 ", "usage_score_memory=1073741824");
}

static void what_runs_counts_when_it_is_more(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {containers: [{name: c, " REQ(
               "cpu: 1, memory: 1Gi") "}]}\n"
                                      "status: {containerStatuses: [{name: c, resources: "
                                      "{requests: {cpu: 2}}, "
                                      "allocatedResources: {cpu: 1500m, memory: 3Gi}}]}",
           " request=[{name=\"cpu\" amount=1000} {name=\"memory\" amount=1073741824}]",
           " usage=[{name=\"cpu\" amount=2000} {name=\"memory\" amount=3221225472}]",
           "usage_score_cpu=2000");
}

static void an_infeasible_resize_does_not_count(void **state)
{
    (void)state;
    static const char text[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 8") "}]}\n"
                  "status: {conditions: [{type: PodResizePending, reason: Infeasible}], "
                  "containerStatuses: [{name: c, resources: {requests: {cpu: 2}}, "
                  "allocatedResources: {cpu: 1}}]}";
    EXPECT("Pod", text, " request=[{name=\"cpu\" amount=8000}]",
           " usage=[{name=\"cpu\" amount=2000}]");
}

static void a_status_without_resources_does_not_count(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {containers: [{name: c, " REQ(
               "cpu: 1") "}]}\n"
                         "status: {containerStatuses: [{name: c, allocatedResources: {cpu: 4}}]}",
           " usage=[{name=\"cpu\" amount=1000}]");
}

static void the_status_of_a_plain_init_container_does_not_count(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  containers: [{name: c}]\n  initContainers:\n"
                "  - {name: i, " REQ(
                    "cpu: 1") "}\n"
                              "  - {name: s, restartPolicy: Always, " REQ(
                                  "cpu: 1") "}\n"
                                            "status: {initContainerStatuses: [{name: i, resources: "
                                            "{requests: {cpu: 9}}}, "
                                            "{name: s, resources: {requests: {cpu: 3}}}]}",
           " request=[{name=\"cpu\" amount=1000}]", " usage=[{name=\"cpu\" amount=3000}]");
}

static void the_status_of_the_pod_level_counts(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {resources: {requests: {cpu: 1}}, containers: [{}]}\n"
                "status: {resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 3}}",
           " request=[{name=\"cpu\" amount=1000}]", " usage=[{name=\"cpu\" amount=3000}]");
}

static void names_that_do_not_count_are_dropped(void **state)
{
    (void)state;
    EXPECT("Pod",
           META
           "spec: {containers: [{" REQ("storage: 1, pods: 1, requests.a/b: 1, -x/y: 1, "
                                       "ephemeral-storage: 2, a.b/c: 3, kubernetes.io/d: 4") "}]}",
           " request=[{name=\"a.b/c\" amount=3} {name=\"ephemeral-storage\" amount=2} "
           "{name=\"kubernetes.io/d\" amount=4}]");
}

static void numbers_may_stand_for_quantities(void **state)
{
    (void)state;
    EXPECT("Pod", META "spec: {containers: [{" REQ("cpu: 0.1, memory: 128974848") "}]}",
           " request=[{name=\"cpu\" amount=100} {name=\"memory\" amount=128974848}]");
}

static void limits_are_added_as_requests_are(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  overhead: {cpu: 100m, memory: 1Mi}\n"
                "  containers: [{resources: {limits: {cpu: 1, x.y/z: 2}}}, {resources: {limits: "
                "{cpu: 1}}}]\n"
                "  initContainers:\n"
                "  - {restartPolicy: Always, resources: {limits: {cpu: 500m}}}\n"
                "  - {resources: {limits: {cpu: 3, hugepages-2Mi: 4Mi}}}\n",
           " limits=[{name=\"cpu\" amount=3600} {name=\"hugepages-2Mi\" amount=4194304} "
           "{name=\"x.y/z\" amount=2}]");
}

static void a_pod_level_limit_replaces(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  resources: {limits: {cpu: 500m, x.y/z: 9}}\n"
                "  containers: [{resources: {limits: {cpu: 1, x.y/z: 2}}}]\n",
           " limits=[{name=\"cpu\" amount=500} {name=\"x.y/z\" amount=2}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(containers_are_added_exactly, reset),
        cmocka_unit_test_setup(a_pod_without_requests_counts_in_scoring, reset),
        cmocka_unit_test_setup(an_explicit_zero_gets_no_default, reset),
        cmocka_unit_test_setup(init_containers_count_by_their_maximum, reset),
        cmocka_unit_test_setup(sidecars_run_beside_later_init_containers, reset),
        cmocka_unit_test_setup(limits_are_added_as_requests_are, reset),
        cmocka_unit_test_setup(a_pod_level_limit_replaces, reset),
        cmocka_unit_test_setup(overhead_comes_on_top, reset),
        cmocka_unit_test_setup(pod_level_requests_replace, reset),
        cmocka_unit_test_setup(a_pod_level_request_spares_the_defaults_of_what_is_named, reset),
        cmocka_unit_test_setup(what_runs_counts_when_it_is_more, reset),
        cmocka_unit_test_setup(an_infeasible_resize_does_not_count, reset),
        cmocka_unit_test_setup(a_status_without_resources_does_not_count, reset),
        cmocka_unit_test_setup(the_status_of_a_plain_init_container_does_not_count, reset),
        cmocka_unit_test_setup(the_status_of_the_pod_level_counts, reset),
        cmocka_unit_test_setup(names_that_do_not_count_are_dropped, reset),
        cmocka_unit_test_setup(numbers_may_stand_for_quantities, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
