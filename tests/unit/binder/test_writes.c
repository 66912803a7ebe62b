/* Golden bodies: what goes to the API server, byte for byte, and what is made of its answers. */
#include "tests/unit/binder/world.h"

#include "proto/kube/writes/writes.h"

#define NOW 1767323045000006 /* 2026-01-02T03:04:05.000006Z */

static void same(struct buffer *got, const char *want)
{
    assert_string_equal(got->at ? got->at : "", want);
    buffer_free(got);
}

static void binding_carries_the_uid(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct message m = world_bind("u\"1", "p", "n1");
    writes_binding(&out, &m.bind);
    same(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\","
               "\"namespace\":\"default\",\"uid\":\"u\\\"1\"},\"target\":{\"kind\":\"Node\","
               "\"name\":\"n1\"}}");
}

static void same_bytes(struct buffer *got, const char *want, size_t len)
{
    assert_int_equal(got->len, len);
    assert_memory_equal(got->at, want, len);
    buffer_free(got);
}
#define SAME_BYTES(got, want) same_bytes(got, want, sizeof(want) - 1)

static void binding_in_protobuf_says_the_same(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct message m = world_bind("u1", "p", "n1");
    writes_binding_protobuf(&out, &m.bind);
    SAME_BYTES(&out, "k8s\0"
                     "\x0a\x0d\x0a\2v1\x12\7Binding"
                     "\x12\x1e"
                     "\x0a\x10\x0a\1p\x1a\7default\x2a\2u1"
                     "\x12\x0a\x0a\4Node\x1a\2n1");
}

static void strings_cannot_leave_their_quotes(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct message m = world_bind("\"", "\\", "a\"b\\c\b\f\n\r\t\x01\x1f/\xc3\xa9z");
    writes_binding(&out, &m.bind);
    same(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"\\\\\","
               "\"namespace\":\"default\",\"uid\":\"\\\"\"},\"target\":{\"kind\":\"Node\","
               "\"name\":\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001f/\xc3\xa9z\"}}");
}

static void no_name_leaves_its_path_segment(void **state)
{
    (void)state;
    struct buffer out = {0};
    writes_path(&out, "/api/v1", STR_LITERAL("a/../b"), "pods", STR_LITERAL("x?y=1#%z"));
    same(&out, "/api/v1/namespaces/a%2F..%2Fb/pods/x%3Fy%3D1%23%25z");
    writes_path(&out, "/api/v1", STR_LITERAL(".."), "pods", STR_LITERAL("."));
    same(&out, "/api/v1/namespaces/%2E%2E/pods/%2E");
}

static struct pod_failed failed(void)
{
    return world_failed("u", "p", "0/3 nodes are available: 3 Insufficient cpu.").pod_failed;
}

#define MESSAGE_JSON "\"message\":\"0/3 nodes are available: 3 Insufficient cpu.\""
#define FULL_CONDITION                                                                             \
    "{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"," MESSAGE_JSON        \
    ",\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":\"False\","                 \
    "\"type\":\"PodScheduled\"}"

static void first_failure_patches_the_whole_condition(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed();
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"conditions\":[" FULL_CONDITION "]}}");
}

static void a_nomination_comes_behind_the_conditions(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed();
    f.set_nominated = true;
    f.nominated_node = STR_LITERAL("n3");
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"conditions\":[" FULL_CONDITION "],\"nominatedNodeName\":\"n3\"}}");
}

static void another_condition_is_kept_in_order(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct str types[] = {STR_LITERAL("Other")};
    struct pod_failed f = failed();
    f.pod.condition_types.count = 1;
    f.pod.condition_types.at = types;
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Other\"},"
               "{\"type\":\"PodScheduled\"}],\"conditions\":[" FULL_CONDITION "]}}");
}

static struct str scheduled_type[] = {{"PodScheduled", 12}};

static struct pod_failed failed_before(void)
{
    struct pod_failed f = failed();
    f.pod.condition_types.count = 1;
    f.pod.condition_types.at = scheduled_type;
    f.pod.scheduled = (struct condition){.status = STR_LITERAL("False"),
                                         .reason = STR_LITERAL("Unschedulable"),
                                         .message = f.message,
                                         .since = STR_LITERAL("2026-01-01T00:00:00Z"),
                                         .observed_generation = 1};
    return f;
}

static void the_same_failure_again_writes_nothing(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed_before();
    f.pod.generation = 2; /* alone no reason to write */
    f.set_nominated = true;
    assert_false(writes_failure(&out, &f, NOW));
    assert_int_equal(out.len, 0);
}

static void another_message_patches_only_what_differs(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed_before();
    f.pod.scheduled.message = STR_LITERAL("old");
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],"
               "\"conditions\":[{" MESSAGE_JSON ",\"type\":\"PodScheduled\"}]}}");
}

static void a_status_that_flips_gets_a_new_transition_time(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed_before();
    f.pod.scheduled.status = STR_LITERAL("True");
    f.pod.scheduled.reason = (struct str){0};
    f.pod.scheduled.probed = true;
    f.pod.generation = 2;
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],"
               "\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"
               "\"2026-01-02T03:04:05Z\",\"observedGeneration\":2,\"reason\":\"Unschedulable\","
               "\"status\":\"False\",\"type\":\"PodScheduled\"}]}}");
}

static void a_nomination_alone_leaves_the_conditions_out(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed_before();
    f.pod.nominated_node = STR_LITERAL("n1");
    f.set_nominated = true;
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"nominatedNodeName\":null}}");
    f.nominated_node = STR_LITERAL("n2");
    assert_true(writes_failure(&out, &f, NOW));
    same(&out, "{\"status\":{\"nominatedNodeName\":\"n2\"}}");
}

static void an_event_only_failure_leaves_the_condition(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct pod_failed f = failed();
    f.event_only = true;
    assert_false(writes_failure(&out, &f, NOW));
}

static struct writes_event event(void)
{
    return (struct writes_event){.name = STR_LITERAL("p.1a"),
                                 .regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = STR_LITERAL("default"),
                                               .name = STR_LITERAL("p"),
                                               .uid = STR_LITERAL("u"),
                                               .resource_version = STR_LITERAL("42")},
                                 .controller = STR_LITERAL("default-scheduler"),
                                 .instance = STR_LITERAL("default-scheduler-host"),
                                 .type = STR_LITERAL("Normal"),
                                 .reason = STR_LITERAL("Scheduled"),
                                 .action = STR_LITERAL("Binding"),
                                 .note = STR_LITERAL("Successfully assigned default/p to n1"),
                                 .time_us = NOW};
}

static void an_event_as_upstream_writes_it(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct writes_event e = event();
    writes_event(&out, &e);
    same(&out,
         "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"p.1a\","
         "\"namespace\":\"default\"},\"eventTime\":\"2026-01-02T03:04:05.000006Z\","
         "\"reportingController\":\"default-scheduler\",\"reportingInstance\":"
         "\"default-scheduler-host\",\"action\":\"Binding\",\"reason\":\"Scheduled\","
         "\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\",\"uid\":\"u\","
         "\"apiVersion\":\"v1\",\"resourceVersion\":\"42\"},\"note\":\"Successfully assigned "
         "default/p to n1\",\"type\":\"Normal\"}");
    writes_series(&out, 2, NOW);
    same(&out, "{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-01-02T03:04:05.000006Z\"}}");
}

#define PROTOBUF_NOW "\x08\xa5\xeb\xdc\xca\6\x10\xf0."

static void an_event_in_protobuf_says_the_same(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct writes_event e = event();
    writes_event_protobuf(&out, &e);
    SAME_BYTES(&out, "k8s\0"
                     "\x0a\x19\x0a\x10"
                     "events.k8s.io/v1\x12\5"
                     "Event"
                     "\x12\xa8\1"
                     "\x0a\x0f\x0a\4p.1a\x1a\7default"
                     "\x12\x09" PROTOBUF_NOW "\x22\x11"
                     "default-scheduler"
                     "\x2a\x16"
                     "default-scheduler-host"
                     "\x32\7Binding"
                     "\x3a\x09Scheduled"
                     "\x42\x1c\x0a\3Pod\x12\7default\x1a\1p\x22\1u\x2a\2v1\x32\2"
                     "42\x52%Successfully assigned default/p to n1"
                     "\x5a\6Normal");
    e = (struct writes_event){.series_count = 300, .series_last_us = NOW, .time_us = NOW};
    writes_event_protobuf(&out, &e);
    SAME_BYTES(&out, "k8s\0"
                     "\x0a\x19\x0a\x10"
                     "events.k8s.io/v1\x12\5"
                     "Event"
                     "\x12\x28"
                     "\x0a\x09\x1a\7default\x12\x09" PROTOBUF_NOW
                     "\x1a\x0e\x08\xac\2\x12\x09" PROTOBUF_NOW "\x42\0");
}

static void a_long_note_is_cut_in_protobuf_as_well(void **state)
{
    (void)state;
    char text[1025];
    struct buffer out = {0};
    struct writes_event e = {.note = {text, sizeof(text)}};
    memset(text, 'x', sizeof(text));
    writes_event_protobuf(&out, &e);
    const char *note = memchr(out.at, 0x52, out.len);
    assert_non_null(note);
    assert_memory_equal(note, "\x52\x80\x08xxx", 6);
    assert_memory_equal(out.at + out.len - 5, "x ...", 5);
    assert_int_equal(out.at + out.len - note, 3 + 1024);
    buffer_free(&out);
}

static void a_status_is_read_in_either_form(void **state)
{
    (void)state;
    struct arena a = {0};
    struct writes_status status;
    static const char body[] = "k8s\0\x0a\x0c\x0a\2v1\x12\6Status\x12\x0a\x1a\3why\x22\3"
                               "not";
    writes_status_read((struct str){body, sizeof(body) - 1}, &status, &a);
    assert_true(str_is(status.message, "why") && str_is(status.reason, "not"));
    writes_status_read(STR_LITERAL("k8s\0\x12"), &status, &a);
    assert_true(status.message.len == 0 && status.reason.len == 0);
    arena_free(&a);
}

static void a_lease_event_is_a_core_event(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct writes_event e = event();
    e.regarding = (struct writes_object){.kind = STR_LITERAL("Lease"),
                                         .api_version = STR_LITERAL("coordination.k8s.io/v1"),
                                         .namespace_name = STR_LITERAL("kube-system"),
                                         .name = STR_LITERAL("kube-scheduler")};
    e.reason = STR_LITERAL("LeaderElection");
    e.note = STR_LITERAL("me became leader");
    e.instance = (struct str){0};
    writes_lease_event(&out, &e);
    same(&out,
         "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"p.1a\",\"namespace\":"
         "\"kube-system\"},\"involvedObject\":{\"kind\":\"Lease\",\"namespace\":\"kube-system\","
         "\"name\":\"kube-scheduler\",\"apiVersion\":\"coordination.k8s.io/v1\"},\"reason\":"
         "\"LeaderElection\",\"message\":\"me became leader\",\"source\":{\"component\":"
         "\"default-scheduler\"},\"firstTimestamp\":\"2026-01-02T03:04:05Z\",\"lastTimestamp\":"
         "\"2026-01-02T03:04:05Z\",\"count\":1,\"type\":\"Normal\",\"eventTime\":null,"
         "\"reportingComponent\":\"default-scheduler\",\"reportingInstance\":\"\"}");
}

static void a_long_note_is_cut_as_upstream_but_between_characters(void **state)
{
    (void)state;
    char text[1100];
    bool cut;
    memset(text, 'x', sizeof(text));
    assert_int_equal(writes_note_len((struct str){text, 1024}, &cut), 1024);
    assert_false(cut);
    assert_int_equal(writes_note_len((struct str){text, 1025}, &cut), 1020);
    assert_true(cut);
    text[1019] = '\xe2'; /* € over bytes 1019 to 1021 */
    text[1020] = '\x82';
    text[1021] = '\xac';
    assert_int_equal(writes_note_len((struct str){text, 1100}, &cut), 1019);
}

static void an_event_name_stays_a_valid_name(void **state)
{
    (void)state;
    struct buffer out = {0};
    char text[253];
    memset(text, 'x', sizeof(text));
    writes_event_name(&out, STR_LITERAL("p"), 0x17e1b);
    same(&out, "p.17e1b");
    writes_event_name(&out, (struct str){text, 253}, INT64_MAX);
    assert_int_equal(out.len, 253);
    buffer_free(&out);
}

static void answers_are_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct writes_status s;
    struct writes_pod p;
    writes_status_read(
        STR_LITERAL("{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"m\"}"), &s, &a);
    assert_true(str_is(s.reason, "Conflict") && str_is(s.message, "m"));
    writes_status_read(STR_LITERAL("<html>"), &s, &a);
    assert_int_equal(s.message.len, 0);
    assert_true(writes_pod_read(STR_LITERAL("{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"},"
                                            "\"spec\":{\"nodeName\":\"n\"}}"),
                                &p, &a));
    assert_true(str_is(p.uid, "u") && str_is(p.node_name, "n") && !p.deleting);
    assert_false(writes_pod_read(STR_LITERAL("{\"kind\":\"Status\"}"), &p, &a));
    assert_false(writes_pod_read((struct str){0}, &p, &a));
    arena_free(&a);
}

static struct writes_pod victim(const char *conditions, struct arena *a)
{
    struct writes_pod pod;
    struct str json =
        arena_print(a,
                    "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\",\"generation\":3},\"status\":"
                    "{\"conditions\":[%s]}}",
                    conditions);
    assert_true(writes_pod_read(json, &pod, a));
    return pod;
}

#define MESSAGE "other: preempting to accommodate a higher priority pod"

static void a_victim_gets_what_differs_in_its_condition(void **state)
{
    (void)state;
    static const struct {
        const char *has, *patch; /* the conditions; NULL: nothing to write */
    } cases[] = {
        {"",
         "\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
         "\"message\":\"" MESSAGE "\",\"observedGeneration\":3,\"reason\":"
         "\"PreemptionByScheduler\",\"status\":\"True\",\"type\":\"DisruptionTarget\"}]"},
        {"{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"PreemptionByScheduler\","
         "\"message\":\"" MESSAGE "\",\"observedGeneration\":1}",
         NULL},
        {"{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"TerminationByKubelet\","
         "\"message\":\"x\",\"observedGeneration\":3}",
         "\"$setElementOrder/"
         "conditions\":[{\"type\":\"DisruptionTarget\"}],\"conditions\":[{\"message\":"
         "\"" MESSAGE "\",\"reason\":\"PreemptionByScheduler\",\"type\":\"DisruptionTarget\"}]"},
        {"{\"type\":\"DisruptionTarget\",\"status\":\"False\",\"reason\":\"PreemptionByScheduler\","
         "\"message\":\"" MESSAGE "\",\"lastProbeTime\":\"2026-01-01T00:00:00Z\"}",
         "\"$setElementOrder/conditions\":[{\"type\":\"DisruptionTarget\"}],\"conditions\":[{"
         "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
         "\"observedGeneration\":3,\"status\":\"True\",\"type\":\"DisruptionTarget\"}]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a = {0};
        struct buffer out = {0};
        struct writes_pod pod = victim(cases[i].has, &a);
        bool differs = writes_disruption(
            &out, &pod, &(struct writes_preemptor){STR_LITERAL("other"), "pod"}, 1767323045000006);
        assert_int_equal(differs, cases[i].patch != NULL);
        if (differs)
            same(&out,
                 arena_print(&a, "{\"metadata\":{\"uid\":\"u\"},\"status\":{%s}}", cases[i].patch)
                     .at);
        buffer_free(&out);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binding_carries_the_uid),
        cmocka_unit_test(binding_in_protobuf_says_the_same),
        cmocka_unit_test(an_event_in_protobuf_says_the_same),
        cmocka_unit_test(a_long_note_is_cut_in_protobuf_as_well),
        cmocka_unit_test(a_status_is_read_in_either_form),
        cmocka_unit_test(strings_cannot_leave_their_quotes),
        cmocka_unit_test(no_name_leaves_its_path_segment),
        cmocka_unit_test(first_failure_patches_the_whole_condition),
        cmocka_unit_test(a_nomination_comes_behind_the_conditions),
        cmocka_unit_test(another_condition_is_kept_in_order),
        cmocka_unit_test(the_same_failure_again_writes_nothing),
        cmocka_unit_test(another_message_patches_only_what_differs),
        cmocka_unit_test(a_status_that_flips_gets_a_new_transition_time),
        cmocka_unit_test(a_nomination_alone_leaves_the_conditions_out),
        cmocka_unit_test(an_event_only_failure_leaves_the_condition),
        cmocka_unit_test(an_event_as_upstream_writes_it),
        cmocka_unit_test(a_lease_event_is_a_core_event),
        cmocka_unit_test(a_long_note_is_cut_as_upstream_but_between_characters),
        cmocka_unit_test(an_event_name_stays_a_valid_name),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(a_victim_gets_what_differs_in_its_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
