/* test_requests: what pods ask for in the four ways of counting, against amounts worked out by hand
 * from upstream's rules. */
#include "proto/kube/objects/requests.h"
#include "proto/kube/release/release.h"
#include "tests/unit/kube/objects/reading.h"

#include <stdio.h>

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

/* ---- what 1.37 counts otherwise ---- */

#define CPU(amount) " usage=[{name=\"cpu\" amount=" amount "}]"

/* What the pod takes in either release, as text. */
static void expect_usage(const char *text, const char *in_36, const char *in_37)
{
    struct message m;
    struct str key;
    if (!read_object("Pod", text, &m, &key))
        fail_msg("%.*s", STR_ARG(buffer_str(&printed)));
    for (int64_t minor = 36; minor <= 37; minor++) {
        struct features features = release_features(minor);
        struct pod pod = requests_as_of(&m.pod_set.pod, &features);
        const char *expected = minor == 36 ? in_36 : in_37;
        buffer_reset(&printed);
        codec_print(&pod_record, &pod, &printed);
        if (strstr(printed.at, expected) == NULL)
            fail_msg("1.%d: %s\nhas no %s", (int)minor, printed.at, expected);
        assert_null(strstr(printed.at, "usage_1_37"));
    }
}

static void the_statuses_of_containers_are_read_by_release(void **state)
{
    (void)state;
    static const char init[] =
        META "spec: {containers: [{name: c}], initContainers: [{name: i, " REQ(
            "cpu: 1") "}]}\nstatus: {initContainerStatuses: [{name: i, resources: {requests: {cpu: "
                      "9}}}]}";
    expect_usage(init, CPU("1000"), CPU("9000"));
    static const char promised[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 1") "}]}\nstatus: {containerStatuses: [{name: c, allocatedResources: {cpu: 4}}]}";
    expect_usage(promised, CPU("1000"), CPU("4000"));
    static const char twice[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 1") "}]}\nstatus: {containerStatuses: [{name: c, resources: {requests: {cpu: 2}}}, "
                  "{name: c, resources: {requests: {cpu: 3}}}]}";
    expect_usage(twice, CPU("3000"), CPU("2000"));
}

/* 1.36 adds up what each container takes at most, 1.37 takes the greatest of the sums. */
static void the_greatest_sum_counts(void **state)
{
    (void)state;
    static const char text[] =
        META "spec: {containers: [{name: a, " REQ("cpu: 3") "}, {name: b, " REQ(
            "cpu: 1") "}]}\nstatus: {containerStatuses: [{name: a, resources: {requests: {cpu: "
                      "1}}, "
                      "allocatedResources: {cpu: 1}}, {name: b, resources: {requests: {cpu: 2}}, "
                      "allocatedResources: {cpu: 2}}]}";
    expect_usage(text, CPU("5000"), CPU("4000"));
    /* score: as much, with the default of memory in each sum */
    expect_usage(text, "usage_score_cpu=5000 usage_score_memory=419430400",
                 "usage_score_cpu=4000 usage_score_memory=419430400");
}

static void an_infeasible_resize_without_a_status_counts_nothing(void **state)
{
    (void)state;
    static const char text[] =
        META "spec: {containers: [{name: a, " REQ("cpu: 3") "}, {name: b, " REQ(
            "cpu: 1") "}]}\nstatus: {conditions: [{type: PodResizePending, reason: Infeasible}], "
                      "containerStatuses: [{name: b, resources: {requests: {cpu: 2}}}]}";
    expect_usage(text, CPU("5000"), CPU("2000"));
    static const char none[] = META "spec: {containers: [{name: a, " REQ(
        "cpu: 3") "}]}\nstatus: {conditions: [{type: PodResizePending, reason: Infeasible}]}";
    expect_usage(none, CPU("3000"), "usage_score_cpu=100 ");
}

static void the_status_of_the_pod_stands_for_its_containers(void **state)
{
    (void)state;
    static const char text[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 1") "}]}\nstatus: {allocatedResources: {cpu: 5}, resources: {requests: {cpu: 2}}, "
                  "containerStatuses: [{name: c, resources: {requests: {cpu: 9}}}]}";
    expect_usage(text, CPU("9000"), CPU("5000"));
    /* one of the two alone does not */
    static const char half[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 1") "}]}\nstatus: {allocatedResources: {cpu: 5}, containerStatuses: [{name: c, "
                  "resources: {requests: {cpu: 9}}}]}";
    expect_usage(half, CPU("9000"), CPU("9000"));
}

/* With requests of the whole pod its status may name resources that the spec does not. */
static void all_names_of_the_pod_level_status_count(void **state)
{
    (void)state;
    static const char text[] = META "spec: {resources: {requests: {cpu: 1}}, containers: [{" REQ(
        "memory: 1") "}]}\nstatus: {resources: {requests: {cpu: 2, memory: 7}}}";
    expect_usage(text, " usage=[{name=\"cpu\" amount=2000} {name=\"memory\" amount=1}]",
                 " usage=[{name=\"cpu\" amount=2000} {name=\"memory\" amount=7}]");
}

static void a_status_that_says_the_same_takes_no_room(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec: {containers: [{name: c, " REQ(
               "cpu: 1") "}]}\nstatus: {containerStatuses: [{name: c, resources: {requests: {cpu: "
                         "1}}, allocatedResources: {cpu: 1}}]}",
           CPU("1000"));
    expect_absent("usage_1_37");
    expect_absent("usage_varies");
}

/* ---- resizes that are put off ---- */

static void a_deferred_resize_is_one_with_its_gate_alone(void **state)
{
    (void)state;
    struct features features = {.release = 37};
    const struct pod pod = {.node_name = STR_LITERAL("n"), .resize_deferred = true};
    assert_false(requests_as_of(&pod, &features).resize_deferred);
    features.resize_preemption = true;
    assert_true(requests_as_of(&pod, &features).resize_deferred);
    assert_true(requests_vary(&pod));
    assert_false(
        requests_as_of(&(struct pod){.name = STR_LITERAL("p")}, &features).resize_deferred);
}

static void who_is_deferred_is_tried_alone_and_claims_nothing(void **state)
{
    (void)state;
    struct pod pod = {.gang = STR_LITERAL("g"),
                      .gang_api = STR_LITERAL("a"),
                      .node_name = STR_LITERAL("n"),
                      .nominated_node = STR_LITERAL("m"),
                      .resize_deferred = true};
    struct pod tried = requests_as_tried(&pod);
    assert_int_equal(tried.gang.len + tried.gang_api.len + tried.nominated_node.len, 0);
    pod.node_name = (struct str){NULL, 0};
    tried = requests_as_tried(&pod);
    assert_int_equal(tried.gang.len, 0);
    assert_int_equal(tried.nominated_node.len, 1);
    pod.resize_deferred = false;
    tried = requests_as_tried(&pod);
    assert_int_equal(tried.gang.len + tried.gang_api.len + tried.nominated_node.len, 3);
}

/* ---- what gates count otherwise ---- */

static void expect_count(const char *text, struct features features, const char *expected)
{
    struct message m;
    struct str key;
    if (!read_object("Pod", text, &m, &key))
        fail_msg("%.*s", STR_ARG(buffer_str(&printed)));
    struct pod pod = requests_as_of(&m.pod_set.pod, &features);
    assert_true(requests_vary(&m.pod_set.pod));
    assert_false(requests_vary(&pod));
    buffer_reset(&printed);
    codec_print(&pod_record, &pod, &printed);
    if (strstr(printed.at, expected) == NULL)
        fail_msg("1.%d: %s\nhas no %s", (int)features.release, printed.at, expected);
}

static void requests_of_a_pod_as_a_whole_count_with_their_gates(void **state)
{
    (void)state;
    static const char text[] =
        META "spec: {resources: {requests: {cpu: 1, memory: 1Gi}}, containers: [{name: c, " REQ(
            "cpu: 500m") "}]}\nstatus: {resources: {requests: {cpu: 3}}, "
                         "allocatedResources: {cpu: 2}}";
    for (int64_t minor = 36; minor <= 37; minor++) {
        struct features f = release_features(minor);
        expect_count(text, f, " request=[{name=\"cpu\" amount=1000} {name=\"memory\" ");
        expect_count(text, f, " usage=[{name=\"cpu\" amount=3000} {name=\"memory\" ");
        f.pod_level_resizes = false;
        expect_count(text, f, " usage=[{name=\"cpu\" amount=1000} {name=\"memory\" ");
        expect_count(text, f, "usage_score_cpu=1000 usage_score_memory=1073741824");
        f.pod_level_resources = false;
        expect_count(text, f, " request=[{name=\"cpu\" amount=500}]");
        expect_count(text, f, " usage=[{name=\"cpu\" amount=500}]");
        expect_count(text, f, "usage_score_cpu=500 usage_score_memory=209715200");
    }
}

/* In 1.37 a status of the whole stands for its containers' also where nothing is asked as a whole.
 */
static void a_status_of_the_whole_counts_with_its_gate(void **state)
{
    (void)state;
    static const char text[] = META
        "spec: {containers: [{name: c, " REQ("cpu: 1") "}]}\nstatus: {resources: {requests: "
                                                       "{cpu: 3}}, allocatedResources: {cpu: 2}}";
    struct features f = release_features(37);
    expect_count(text, f, CPU("3000"));
    f.pod_level_resizes = false;
    expect_count(text, f, CPU("1000"));
    expect_count(text, release_features(36), CPU("1000"));
}

/* What its claims take of the node, as the status of each release says it. */
static void what_claims_take_counts_with_its_gate(void **state)
{
    (void)state;
    static const char text[] = META "spec: {nodeName: nn, containers: [{name: c, " REQ(
        "cpu: 500m") "}]}\nstatus: {nodeAllocatableResourceClaimStatuses: [{resourceClaimName: k, "
                     "containers: [c, d], resources: {cpu: 1}, mapping: [{name: cpu, quantity: "
                     "2}], overhead: [{name: cpu, perPod: 100m, perContainer: 10m}, {name: "
                     "memory, perPod: 1Ki}]}]}";
    struct features f = release_features(36);
    expect_count(text, f, CPU("500"));
    f.device_node_resources = true;
    expect_count(text, f, CPU("1500"));
    expect_count(text, f, "usage_score_cpu=1500 usage_score_memory=209715200");
    f = release_features(37);
    expect_count(text, f, CPU("500"));
    f.device_node_resources = true;
    expect_count(text, f, " usage=[{name=\"cpu\" amount=2620} {name=\"memory\" amount=1024}]");
    expect_count(text, f, "usage_score_cpu=2620 usage_score_memory=209716224");
    expect_count(text, f, "request=[{name=\"cpu\" amount=500}]");
    expect_count(text, f, "room_claims=[\"k\"]");
}

/* It is within what the pod asks for as a whole, and what runs has it in it already. */
static void what_claims_take_is_part_of_the_whole(void **state)
{
    (void)state;
#define TAKES "nodeAllocatableResourceClaimStatuses: [{mapping: [{name: cpu, quantity: 2}]}]"
    static const char whole[] = META "spec: {resources: {requests: {cpu: 4}}, containers: [{name: "
                                     "c, " REQ("cpu: 1") "}]}\nstatus: {" TAKES "}";
    struct features f = release_features(37);
    f.device_node_resources = true;
    expect_count(whole, f, CPU("4000"));
    f.pod_level_resources = f.pod_level_resizes = false;
    expect_count(whole, f, CPU("3000"));
    static const char runs[] = META "spec: {containers: [{name: c, " REQ(
        "cpu: 1") "}]}\nstatus: {containerStatuses: [{name: c, resources: {requests: {cpu: "
                  "5}}, allocatedResources: {cpu: 1}}], " TAKES "}";
    f = release_features(37);
    f.device_node_resources = true;
    expect_count(runs, f, CPU("5000"));
}

/* Whoever gives a pod devices has to know its amounts, exactly. */
static void a_pod_with_claims_says_its_amounts(void **state)
{
    (void)state;
    EXPECT("Pod",
           META "spec:\n  resourceClaims: [{name: g, resourceClaimName: k}]\n"
                "  resources: {requests: {cpu: 3, x.y/z: 1}, limits: {memory: 1Gi}}\n"
                "  overhead: {cpu: 1u}\n"
                "  initContainers: [{name: i, resources: {claims: [{name: g}]}}]\n"
                "  containers: [{name: c, resources: {requests: {cpu: 0.1m}, limits: "
                "{hugepages-2Mi: 4Mi}, claims: [{name: g}, {name: g, request: r}]}}, {name: d}]\n",
           "amounts=[{requests=[{key=\"cpu\" value=\"100000n\"}] score_cpu=\"100100000n\" "
           "score_memory=\"419430400000000000n\" whole=[{key=\"cpu\" value=\"3000000000n\"}] "
           "whole_limits=[{key=\"memory\" value=\"1073741824000000000n\"}] "
           "huge_limits=[{key=\"hugepages-2Mi\" value=\"4194304000000000n\"}] "
           "overhead=[{key=\"cpu\" value=\"1000n\"}] containers=[{name=\"i\" claims=[\"g\"] "
           "init=true} {name=\"c\" claims=[\"g\" \"g\"] limits=[{key=\"hugepages-2Mi\" "
           "value=\"4194304000000000n\"}]} {name=\"d\"}]}]");
    EXPECT("Pod", META "spec: {nodeName: nn, resourceClaims: [{name: g, resourceClaimName: k}]}",
           "node_name=\"nn\"");
    expect_absent("amounts=");
    EXPECT("Pod", META "spec: {containers: [{name: c}]}", "name=\"a\"");
    expect_absent("amounts=");
}

static void what_is_malformed_of_claims_is_named(void **state)
{
    (void)state;
    struct message m;
    struct str key;
    static const char *const bad[] = {"[7]", "[{overhead: [{name: cpu, perPod: x}]}]",
                                      "[{mapping: 7}]", "[{resources: {cpu: {}}}]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 META "spec: {nodeName: nn}\nstatus: {nodeAllocatableResourceClaimStatuses: %s}",
                 bad[i]);
        bool fine = read_object("Pod", text, &m, &key);
        if (fine && m.pod_set.pod.unreadable.len == 0)
            fail_msg("%s is taken", bad[i]);
    }
}

static void counts_are_alike_where_release_and_gates_are(void **state)
{
    (void)state;
    struct features a = release_features(36), b = a, c = release_features(37);
    b.gangs = true;
    assert_true(requests_same_count(&a, &b));
    assert_false(requests_same_count(&a, &c));
    b.pod_level_resizes = false;
    assert_false(requests_same_count(&a, &b));
    b = a;
    b.resize_preemption = true;
    assert_false(requests_same_count(&a, &b));
    b = a;
    b.device_node_resources = true;
    assert_false(requests_same_count(&a, &b));
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
        cmocka_unit_test_setup(the_statuses_of_containers_are_read_by_release, reset),
        cmocka_unit_test_setup(the_greatest_sum_counts, reset),
        cmocka_unit_test_setup(an_infeasible_resize_without_a_status_counts_nothing, reset),
        cmocka_unit_test_setup(the_status_of_the_pod_stands_for_its_containers, reset),
        cmocka_unit_test_setup(all_names_of_the_pod_level_status_count, reset),
        cmocka_unit_test_setup(a_status_that_says_the_same_takes_no_room, reset),
        cmocka_unit_test_setup(a_deferred_resize_is_one_with_its_gate_alone, reset),
        cmocka_unit_test_setup(who_is_deferred_is_tried_alone_and_claims_nothing, reset),
        cmocka_unit_test_setup(requests_of_a_pod_as_a_whole_count_with_their_gates, reset),
        cmocka_unit_test_setup(a_status_of_the_whole_counts_with_its_gate, reset),
        cmocka_unit_test_setup(what_claims_take_counts_with_its_gate, reset),
        cmocka_unit_test_setup(what_claims_take_is_part_of_the_whole, reset),
        cmocka_unit_test_setup(a_pod_with_claims_says_its_amounts, reset),
        cmocka_unit_test_setup(what_is_malformed_of_claims_is_named, reset),
        cmocka_unit_test_setup(counts_are_alike_where_release_and_gates_are, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
