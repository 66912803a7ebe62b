/* test_scenario: berth simulate's steps and errors, end to end from a document to its JSON: each
 * step gives one result, and what is not supported is named. */
#include "ctl/scenario.h"

#include "ctl/claim_configs.h"
#include "ctl/claims_out.h"
#include "proto/base/must.h"
#include "proto/kube/release/release.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>

#define NODE(name, cpu)                                                                            \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                                            \
    "\"},\"status\":{\"allocatable\":{\"cpu\":\"" cpu "\",\"memory\":\"8Gi\",\"pods\":\"9\"}}}"
#define POD(name, more)                                                                            \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\","                               \
    "\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]" more "}}"

/* The output of one scenario; the caller frees it. */
static struct buffer play(const char *text, bool json, uint32_t shards)
{
    struct buffer out = {0};
    struct arena a = {0};
    struct str error = {0};
    struct kube_json *document = kube_json_parse(str_of(text), &error, &a);
    if (document == NULL)
        fail_msg("%.*s", STR_ARG(error));
    const struct scenario_output o = {.out = &out, .json = json, .shards = shards};
    scenario_play(document, &o);
    kube_json_free(&document);
    arena_free(&a);
    return out;
}

static void assert_says(const struct buffer *out, const char *what)
{
    if (strstr(out->at, what) == NULL)
        fail_msg("no %s in\n%s", what, out->at);
}

static int count_of(const struct buffer *out, const char *what)
{
    int count = 0;
    for (const char *at = out->at; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

static void pods_are_bound_before_the_next_is_decided(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE("n1", "4") "],\"pods\":[" POD("a", "") "," POD(
                 "b", "") ","
                          "{\"op\":\"delete\",\"name\":\"a\"},{\"op\":\"schedule\",\"name\":\"b\"},"
                          "{\"op\":\"apply\",\"object\":" NODE("n2", "4") "}," POD("c", "") "]}",
             true, 2);
    assert_says(&out, "\"pod\":\"default/a\",\"profile\":\"default-scheduler\",\"priority\":0,"
                      "\"result\":\"scheduled\",\"node\":\"n1\"");
    assert_says(&out, "\"pod\":\"default/b\",\"profile\":\"default-scheduler\",\"priority\":0,"
                      "\"result\":\"unschedulable\"");
    assert_says(&out,
                "{\"op\":\"delete\",\"pod\":\"Pod default/a\",\"priority\":0,\"result\":\"done\"}");
    assert_says(&out, "\"pod\":\"default/b\",\"profile\":\"default-scheduler\",\"priority\":0,"
                      "\"result\":\"scheduled\",\"node\":\"n1\"");
    assert_says(&out, "\"pod\":\"Node /n2\"");
    assert_says(&out, "\"result\":\"scheduled\",\"node\":\"n2\"");
    buffer_free(&out);
}

static void the_release_is_named_as_it_decides(void **state)
{
    (void)state;
    static const char *const full[] = {"v1.36.3", "v1.37.2"};
    for (int64_t i = 0; i < 2; i++) {
        struct buffer out = {0};
        struct arena a = {0};
        struct kube_json *document = kube_json_parse(STR_LITERAL("{\"pods\":[]}"), NULL, &a);
        const struct scenario_output o = {
            .out = &out, .json = true, .shards = 1, .release = 36 + i};
        assert_true(scenario_play(document, &o));
        assert_string_equal(release_of(36 + i)->full, full[i] + 1);
        assert_says(&out, full[i]);
        kube_json_free(&document);
        arena_free(&a);
        buffer_free(&out);
    }
}

/* A line for people says as much about who was not even decided. */
static void a_table_says_who_is_kept_and_who_is_passed_over(void **state)
{
    (void)state;
    struct buffer out = play(
        "{\"objects\":[" NODE("n1", "4") "],\"pods\":[" POD(
            "kept",
            ",\"resourceClaims\":[{\"name\":\"a\",\"resourceClaimName\":"
            "\"none\"}]") "," POD("gated",
                                  ",\"schedulingGates\":[{\"name\":\"g1\"}"
                                  "]") "," POD("other", ",\"schedulerName\":"
                                                        "\"other\"") "," POD("bound", ",\"nod"
                                                                                      "eName"
                                                                                      "\":"
                                                                                      "\"n1"
                                                                                      "\"") "]}",
        false, 1);
    assert_says(&out, "held back by DynamicResources: could not find ResourceClaim "
                      "\"default/none\"\n");
    assert_says(&out, "has scheduling gates\n");
    assert_says(&out, "no profile here has its schedulerName: another scheduler is to place it\n");
    assert_int_equal(1, count_of(&out, "another scheduler"));
    assert_says(&out, "has its node already\n");
    buffer_free(&out);
}

static void the_number_of_shards_changes_nothing(void **state)
{
    (void)state;
    static const char text[] = "{\"objects\":[" NODE("a", "4") "," NODE("b", "8") "," NODE(
        "c", "2") "],\"pods\":[" POD("p", "") "," POD("q", "") "," POD("r", "") "]}";
    struct buffer one = play(text, true, 1), seven = play(text, true, 7);
    assert_string_equal(one.at, seven.at);
    buffer_free(&one);
    buffer_free(&seven);
}

static void every_fault_is_named_and_the_rest_goes_on(void **state)
{
    (void)state;
    struct buffer out = play(
        "{\"objects\":[" NODE(
            "n1",
            "4") ",{\"kind\":\"Service\",\"metadata\":{\"name\":"
                 "\"s\"}}],"
                 "\"pods\":[{\"op\":"
                 "\"schedule\",\"name\":\"x\"},"
                 "{\"op\":\"delete\",\"name\":\"x\"}," POD(
                     "v",
                     ",\"volumes\":[{\"name\":\"d\","
                     "\"persistentVolumeClaim\":{"
                     "\"claimName\":\"d\"}}]") "," POD("g",
                                                       ",\"schedulingGates\":[{\"name\":\"g1\"}"
                                                       "]") "," POD("other",
                                                                    ",\"schedulerName\":"
                                                                    "\"other\"") "," POD("last",
                                                                                         "") "]"
                                                                                             "}",
        true, 2);
    assert_says(&out, "pod \\\"x\\\" not found");
    assert_says(&out, "pods \\\"x\\\" not found");
    assert_says(&out, "persistentvolumeclaim \\\"d\\\" not found");
    assert_says(&out, "\"waiting for scheduling gates: [g1]\"");
    assert_says(&out, "\"pod\":\"default/other\",\"priority\":0,\"result\":\"ignored\"");
    assert_says(&out, "\"pod\":\"default/last\",\"profile\":\"default-scheduler\",\"priority\":0,"
                      "\"result\":\"scheduled\"");
    buffer_free(&out);
}

/* A claim that is not there keeps a pod from being tried; one that comes lets it. */
static void a_pod_without_its_claim_is_not_tried(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE("n1", "4") "],\"pods\":[" POD(
                 "p", ",\"resourceClaims\":[{\"name\":\"g\",\"resourceClaimName\":"
                      "\"gpu\"}]") ","
                                   "{\"op\":\"apply\",\"object\":{\"kind\":"
                                   "\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\","
                                   "\"namespace\":\"default\",\"uid\":\"u\"},\"status\":"
                                   "{\"allocation\":{}}}},"
                                   "{\"op\":\"schedule\",\"name\":\"p\"}]}",
             true, 2);
    assert_says(&out,
                "\"result\":\"gated\",\"preEnqueue\":{\"code\":"
                "\"UnschedulableAndUnresolvable\",\"plugin\":\"DynamicResources\",\"reasons\":["
                "\"could not find ResourceClaim \\\"default/gpu\\\"\"]}");
    assert_says(&out, "\"result\":\"scheduled\",\"node\":\"n1\"");
    buffer_free(&out);
}

static void choices_of_another_scheduler_are_judged_and_followed(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE("n1", "4") "," NODE("n2", "64") "],\"pods\":[" POD(
                 "a", "") "," POD("b", "") "],\"choices\":{\"default/a\":\"n1\","
                                           "\"default/b\":\"n2\"}}",
             true, 2);
    assert_says(&out, "\"node\":\"n1\"");
    assert_says(&out, "\"choice\":\"n1\",\"choiceOK\":false");
    assert_says(&out, "\"choice\":\"n2\",\"choiceOK\":true");
    buffer_free(&out);
}

#define FULL_NODES(options)                                                                        \
    "{\"objects\":[" NODE("n1", "4") "," NODE("n2", "4") ",{\"kind\":\"Pod\"," LOW(                \
        "low1", "n1",                                                                              \
        "1") ",{\"kind\":\"Pod\"," LOW("low2", "n2",                                               \
                                       "2") "],\"pods\":[" POD("high",                             \
                                                               ",\"priority\":9") "]," options "}"
#define LOW(name, node, priority)                                                                  \
    "\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"nodeName\":\"" node                          \
    "\",\"priority\":" priority ",\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"resources\":{" \
    "\"requests\":{\"cpu\":\"3\"}}}]}}"

static void victims_go_and_the_pod_is_tried_again(void **state)
{
    (void)state;
    struct buffer out = play(FULL_NODES("\"name\":\"x\""), true, 2);
    assert_says(&out, "\"result\":\"preempting\"");
    assert_says(&out,
                "\"otherFilters\":[{\"code\":\"Unschedulable\",\"plugin\":\"NodeResourcesFit\"");
    assert_says(&out, "\"preemption\":{\"eligible\":true,\"potentialNodes\":[\"n1\",\"n2\"],"
                      "\"numCandidates\":2,\"candidates\":[{\"node\":\"n1\",\"victims\":["
                      "\"default/low1\"],\"numPDBViolations\":0},{\"node\":\"n2\",");
    assert_says(&out,
                "\"bestNodes\":[\"n1\"],\"nominatedNode\":\"n1\",\"victims\":[\"default/low1\"]}");
    assert_says(&out, "\"retry\":{\"pod\":\"default/high\",\"profile\":\"default-scheduler\","
                      "\"priority\":9,\"result\":\"scheduled\",\"node\":\"n1\"");
    assert_says(&out, "\"nominatedNodeUsed\":\"n1\"");
    buffer_free(&out);
}

static void victims_may_take_their_time(void **state)
{
    (void)state;
    struct buffer out = play(FULL_NODES("\"options\":{\"afterPreemption\":\"nominate\"}"), true, 2);
    assert_says(&out, "\"nominatedNode\":\"n1\"");
    assert_int_equal(count_of(&out, "\"retry\""), 0);
    buffer_free(&out);
    out = play(FULL_NODES("\"options\":{\"afterPreemption\":\"none\"}"), false, 2);
    assert_says(&out, "preempting     n1");
    assert_says(&out, "would evict default/low1: 0/2 nodes are available: 2 Insufficient cpu.");
    buffer_free(&out);
}

static void nominations_of_another_scheduler_are_followed(void **state)
{
    (void)state;
    struct buffer out = play(FULL_NODES("\"nominations\":{\"default/high\":\"n2\"}"), true, 2);
    assert_says(&out, "\"nominatedNode\":\"n2\",\"victims\":[\"default/low2\"]");
    assert_says(&out, "\"choice\":\"n2\",\"choiceOK\":false,\"retry\":{");
    assert_says(&out, "\"result\":\"scheduled\",\"node\":\"n2\"");
    buffer_free(&out);
}

static void a_pod_that_is_not_bound_stays_assumed(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE(
                 "n1", "8") "],\"options\":{\"noBind\":true},"
                            "\"pods\":[" POD("a", "") ",{\"op\":\"schedule\",\"name\":\"a\"}," POD(
                                "b", "") "]}",
             true, 2);
    assert_says(&out, "\"error\":\"pod pod-default-a(default/a) is in the cache, so can't be "
                      "assumed\"");
    assert_says(&out, "\"pod\":\"default/b\",\"profile\":\"default-scheduler\",\"priority\":0,"
                      "\"result\":\"scheduled\"");
    buffer_free(&out);
}

static void broken_scenarios_give_one_error(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } table[] = {
        {"[]", "scenario: must be an object, not a list"},
        {"{\"pods\":[],\"config\":{\"kind\":\"Nonsense\"}}", "config: "},
        {"{\"pods\":[],\"featureGates\":{\"X\":true}}",
         "featureGates: unrecognized feature gate: X"},
        {"{\"pods\":[],\"options\":{\"featureGates\":{\"DynamicResourceAllocation\":false}}}",
         "featureGates: cannot set feature gate DynamicResourceAllocation to false, feature is "
         "locked to true"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct buffer out = play(table[i].text, true, 2);
        assert_says(&out, table[i].error);
        assert_says(&out, "\"results\":[]");
        buffer_free(&out);
    }
}

#define CLAIM(name)                                                                                \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"" name                                   \
    "\",\"namespace\":\"default\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","          \
    "\"exactly\":{"                                                                                \
    "\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}],\"config\":[{"   \
    "\"opaque\":{\"driver\":\"d.example\",\"parameters\":{\"a\":\"x&y\"}}}]}}}"
#define DEVICES                                                                                    \
    "{\"kind\":\"DeviceClass\",\"metadata\":{\"name\":\"gpu\"},\"spec\":{}},{\"kind\":"            \
    "\"ResourceSlice\",\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d.example\","          \
    "\"nodeName\":"                                                                                \
    "\"n1\",\"pool\":{\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{"    \
    "\"name\":\"g0\"}]}}"

#define NAMES(name, claim) "{\"name\":\"" name "\",\"resourceClaimName\":\"" claim "\"}"

/* What the API server would have filled in counts as if it were there: requests from limits, the
 * priority of a class. */
static void defaults_are_filled_in(void **state)
{
    (void)state;
    static const char limits[] =
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"priorityClassName\":\"high\",\"containers\":[{"
        "\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"3\",\"memory\":\"1Gi\"},\"requests\":{"
        "\"memory\":\"1Gi\"}}}],\"initContainers\":[{\"name\":\"i\",\"resources\":{\"limits\":{"
        "\"cpu\":\"5\"}}}]}}";
    char text[2048];
    snprintf(text, sizeof(text),
             "{\"objects\":[" NODE("n1", "4") ",{\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
                                              "\"high\"},\"value\":70}],\"pods\":[%s]}",
             limits);
    struct buffer out = play(text, true, 2);
    assert_says(&out, "\"pod\":\"default/p\",\"profile\":\"default-scheduler\",\"priority\":70,"
                      "\"result\":\"unschedulable\"");
    assert_says(&out, "1 Insufficient cpu.");
    buffer_free(&out);
    snprintf(
        text, sizeof(text),
        "{\"options\":{\"noAPIDefaults\":true},\"objects\":[" NODE("n1", "4") "],\"pods\":[%s]}",
        limits);
    out = play(text, true, 2);
    assert_says(&out, "\"priority\":0,\"result\":\"scheduled\"");
    buffer_free(&out);
}

/* What a claim is given is told with the pod and, at the end, of every claim; a pod that names a
 * claim twice has it once. */
static void what_claims_are_given_is_told(void **state)
{
    (void)state;
    static const char given[] =
        "{\"claim\":\"default/mine\",\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
        "\"driver\":\"d.example\",\"pool\":\"p\",\"device\":\"g0\"}],\"config\":[{\"source\":"
        "\"FromClaim\",\"opaque\":{\"driver\":\"d.example\",\"parameters\":{\"a\":\"x&y\"}}}]},"
        "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
        "\"operator\":\"In\",\"values\":[\"n1\"]}]}]}}";
    const char *text = "{\"objects\":[" NODE(
        "n1",
        "8") "," DEVICES
             "," CLAIM("mine") "," CLAIM("other") "],\"pods\":[" POD(
                 "p",
                 ",\"resourceClaims\":[" NAMES(
                     "a", "mine") "]") "," POD("q",
                                               ",\"resourceClaims\":[" NAMES("a", "mine") "," NAMES(
                                                   "b", "mine") "]") "]}";
    struct buffer out = play(text, true, 2);
    assert_int_equal(1, count_of(&out, "\"allocations\":["));
    assert_int_equal(2, count_of(&out, given));
    assert_says(&out, "}]}]}},\"reservedFor\":[\"pod-default-p\",\"pod-default-q\"]}");
    assert_says(&out, "{\"claim\":\"default/other\"}]");
    buffer_free(&out);
}

#define TELLS(kind, spec, parameters)                                                              \
    "{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"x\"}," spec "[{},{\"opaque\":{\"driver\":"    \
    "\"d\",\"parameters\":" parameters "}}]"
#define CLAIM_TELLS(parameters)                                                                    \
    TELLS("ResourceClaim", "\"spec\":{\"devices\":{\"config\":", parameters) "}}}"

static void check_parameters(const char *scenario, const char *wanted)
{
    struct arena a = {0};
    struct kube_json *document = kube_json_parse(str_of(scenario), NULL, &a);
    assert_non_null(document);
    struct str error = claim_configs_check(document, &a);
    if (!str_is(error, wanted))
        fail_msg("%.*s, not %s, of %s", STR_ARG(error), wanted, scenario);
    kube_json_free(&document);
    arena_free(&a);
}

/* As at the API server, wherever an object may have them. */
static void what_a_driver_is_told_is_an_object(void **state)
{
    (void)state;
    check_parameters("{\"objects\":[{}," CLAIM_TELLS("{\"a\":1}") "],\"pods\":[{}]}", "");
    check_parameters(
        "{\"objects\":[" TELLS("ConfigMap", "\"spec\":{\"devices\":{\"config\":", "1") "}}}]}", "");
    check_parameters("{\"objects\":[1,{\"kind\":\"DeviceClass\",\"spec\":[]}],\"pods\":7}", "");
    check_parameters("{\"objects\":[{}," CLAIM_TELLS("\"mode-a\"") "]}",
                     "objects[1].spec.devices.config[1].opaque.parameters: must be an object, not "
                     "a string");
    check_parameters("{\"objects\":[" TELLS(
                         "ResourceClaim",
                         "\"status\":{\"allocation\":{\"devices\":{\"config\":", "[1]") "}}}}]}",
                     "objects[0].status.allocation.devices.config[1].opaque.parameters: must be an "
                     "object, not a list");
    check_parameters(
        "{\"objects\":{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[" TELLS(
            "DeviceClass", "\"spec\":{\"config\":", "3") "}}]}]}}",
        "objects.items[0].items[0].spec.config[1].opaque.parameters: must be an "
        "object, not a number");
    check_parameters("{\"pods\":[{},{\"op\":\"apply\",\"object\":" TELLS(
                         "ResourceClaimTemplate",
                         "\"spec\":{\"spec\":{\"devices\":{\"config\":", "true") "}}}}}]}",
                     "pods[1].object.spec.spec.devices.config[1].opaque.parameters: must be an "
                     "object, not a boolean");
}

/* Whoever has not been through that check does not spoil what is around it. */
static void parameters_that_are_no_json_are_a_text(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct json_out j = {.out = &out};
    struct opaque_config configs[] = {
        {.driver = STR_LITERAL("d"), .parameters = STR_LITERAL("mode-a")},
        {.driver = STR_LITERAL("d"), .parameters = STR_LITERAL("{\"a\":[1]}")}};
    struct device_allocation given = {.claim = STR_LITERAL("c"), .config = {2, configs}};
    const struct pod pod = {.namespace_name = STR_LITERAL("a")};
    json_open(&j, NULL, '{');
    claims_out_given(&j, &pod, &(struct device_reservation){.count = 1, .at = &given});
    json_close(&j, '}');
    assert_says(&out, "\"parameters\":\"mode-a\"}},");
    assert_says(&out, "\"parameters\":{\"a\":[1]}}}]");
    buffer_free(&out);
}

/* PreEnqueue asks whose claim it is. */
static void a_generated_claim_of_another_keeps_a_pod(void **state)
{
    (void)state;
    const char *text = "{\"objects\":[" NODE("n1", "8") "," CLAIM(
        "other") "],\"pods\":[{\"kind\":\"Pod\",\"metadata\":{"
                 "\"name\":\"p\",\"namespace\":\"default\"},\"spec\":{\"containers\":[{\"name\":"
                 "\"c\","
                 "\"image\":\"x\"}],\"resourceClaims\":[{\"name\":\"a\","
                 "\"resourceClaimTemplateName\":\"t\"}]},"
                 "\"status\":{\"resourceClaimStatuses\":[{\"name\":\"a\",\"resourceClaimName\":"
                 "\"other\"}]}}]}";
    struct buffer out = play(text, true, 2);
    assert_says(&out, "ResourceClaim default/other was not created for Pod default/p (Pod is not "
                      "owner)");
    buffer_free(&out);
}

#define GROUP(name, min)                                                                           \
    "{\"kind\":\"PodGroup\",\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"metadata\":{"        \
    "\"name\":\"" name "\",\"namespace\":\"default\"},\"spec\":{\"minMember\":" min "}}"
#define MEMBER(pod, group, priority)                                                               \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" pod "\",\"namespace\":\"default\",\"labels\":{"  \
    "\"scheduling.x-k8s.io/pod-group\":\"" group "\"}},\"spec\":{\"priority\":" priority           \
    ",\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"resources\":{\"requests\":{\"cpu\":"       \
    "\"3\"}}}]}}"
#define TRY(group) "{\"op\":\"group\",\"name\":\"" group "\"}"

static void a_group_is_placed_or_leaves_no_trace(void **state)
{
    (void)state;
    const char *text =
        "{\"objects\":[" NODE("n1", "4") "," NODE("n2", "4") "," GROUP("big", "3") "," GROUP("g", "2") "," MEMBER(
            "b0", "big",
            "0") "," MEMBER("b1", "big",
                            "0") "," MEMBER("b2", "big",
                                            "0") "," MEMBER("g0", "g",
                                                            "0") "," MEMBER("g1", "g",
                                                                            "0") "],"
                                                                                 "\"pods\":[" TRY("big") "," TRY(
                                                                                     "g") "," TRY("big") "," TRY("none") "]}";
    for (uint32_t shards = 1; shards <= 3; shards++) {
        struct buffer out = play(text, true, shards);
        assert_says(&out, "\"pod\":\"PodGroup default/big\",\"priority\":0,"
                          "\"result\":\"unschedulable\"");
        assert_says(&out, "3 more pods have to be placed together, and 1 of 3 have no place: pod "
                          "default/b2: 0/2 nodes are available: 2 Insufficient cpu.");
        assert_says(&out, "\"pod\":\"PodGroup default/g\",\"priority\":0,"
                          "\"result\":\"scheduled\"");
        assert_says(&out, "and 1 of 3 have no place: pod default/b0: ");
        assert_says(&out, "PodGroup \\\"none\\\" not found");
        buffer_free(&out);
    }
}

static void a_group_may_drive_out_others_if_that_is_enough(void **state)
{
    (void)state;
    struct buffer out = play(
        "{\"objects\":[" NODE("n1", "4") "," NODE("n2", "4") "," GROUP("low", "1") "," GROUP("big", "3") "," GROUP("g", "2") "," MEMBER(
            "low", "low",
            "0") "," MEMBER("b0", "big",
                            "9") "," MEMBER("b1", "big",
                                            "9") "," MEMBER("b2", "big",
                                                            "9") "," MEMBER("g0", "g",
                                                                            "9") "," MEMBER("g1",
                                                                                            "g",
                                                                                            "9") "]"
                                                                                                 ","
                                                                                                 "\"pods\":[" TRY("low") "," TRY(
                                                                                                     "big") "," TRY("g") "]}",
        false, 2);
    assert_says(&out, "PodGroup default/low             group scheduled");
    assert_says(&out, "PodGroup default/big             group unschedulable");
    assert_says(&out, "would evict default/low");
    assert_says(&out, "PodGroup default/g               group preempting");
    assert_says(&out, "PodGroup default/g               group scheduled");
    buffer_free(&out);
}

/* Its group has enough without it. */
static void who_comes_late_and_has_no_place_is_not_scheduled(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE("n1", "4") "," GROUP("g", "1") "," MEMBER(
                 "g0", "g", "9") "," MEMBER("g1", "g", "0") "],"
                                                            "\"pods\":[" TRY("g") "," TRY("g") "]}",
             false, 2);
    assert_says(&out, "PodGroup default/g               group scheduled");
    assert_says(&out, "PodGroup default/g               group unschedulable");
    assert_says(&out, "the group has enough pods, and 1 of 1 have no place: pod default/g1: 0/1 "
                      "nodes are available: 1 Insufficient cpu.");
    buffer_free(&out);
}

static void the_table_is_for_people(void **state)
{
    (void)state;
    struct buffer out =
        play("{\"objects\":[" NODE("n1", "4") "],\"pods\":[" POD("a", "") "," POD("b", "") "]}",
             false, 2);
    assert_says(&out, "POD ");
    assert_says(&out, "default/a                        scheduled      n1");
    assert_says(&out, "0/1 nodes are available: 1 Insufficient cpu.");
    buffer_free(&out);
    out = play(FULL_NODES("\"name\":\"x\""), false, 2);
    assert_says(&out, "evicts default/low1: 0/2 nodes are available");
    assert_says(&out, "default/high                     scheduled      n1");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_bound_before_the_next_is_decided),
        cmocka_unit_test(the_number_of_shards_changes_nothing),
        cmocka_unit_test(every_fault_is_named_and_the_rest_goes_on),
        cmocka_unit_test(a_pod_without_its_claim_is_not_tried),
        cmocka_unit_test(choices_of_another_scheduler_are_judged_and_followed),
        cmocka_unit_test(victims_go_and_the_pod_is_tried_again),
        cmocka_unit_test(victims_may_take_their_time),
        cmocka_unit_test(nominations_of_another_scheduler_are_followed),
        cmocka_unit_test(a_pod_that_is_not_bound_stays_assumed),
        cmocka_unit_test(broken_scenarios_give_one_error),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(what_claims_are_given_is_told),
        cmocka_unit_test(what_a_driver_is_told_is_an_object),
        cmocka_unit_test(parameters_that_are_no_json_are_a_text),
        cmocka_unit_test(the_release_is_named_as_it_decides),
        cmocka_unit_test(a_table_says_who_is_kept_and_who_is_passed_over),
        cmocka_unit_test(a_generated_claim_of_another_keeps_a_pod),
        cmocka_unit_test(a_group_is_placed_or_leaves_no_trace),
        cmocka_unit_test(a_group_may_drive_out_others_if_that_is_enough),
        cmocka_unit_test(who_comes_late_and_has_no_place_is_not_scheduled),
        cmocka_unit_test(the_table_is_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
