/* test_extender_wire: what is sent to HTTP extenders to the byte, and what is made of their
 * answers, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/kube/documents/json_text.h"
#include "proto/kube/extenders/extender_wire.h"
#include "proto/kube/extenders/extenders.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void check_body(struct buffer *body, const char *expected)
{
    assert_string_equal(body->at, expected);
    buffer_free(body);
}

static void names_or_objects_are_sent_as_go_does(void **state)
{
    (void)state;
    struct buffer body = {0};
    struct str names[] = {STR_LITERAL("a"), STR_LITERAL("b\"")};
    struct str objects[] = {STR_LITERAL("{\"x\":1}"), STR_LITERAL("{}")};
    struct wire_nodes ask = {.pod = STR_LITERAL("{\"kind\":\"Pod\"}"), .names = {2, names}};
    wire_nodes_body(&body, &ask);
    check_body(&body,
               "{\"Pod\":{\"kind\":\"Pod\"},\"Nodes\":null,\"NodeNames\":[\"a\",\"b\\\"\"]}");
    ask.objects = objects;
    wire_nodes_body(&body, &ask);
    check_body(&body,
               "{\"Pod\":{\"kind\":\"Pod\"},\"Nodes\":{\"metadata\":{},\"items\":[{\"x\":1},{}]"
               "},\"NodeNames\":null}");
}

static void victims_are_sent_whole_or_by_uid(void **state)
{
    (void)state;
    struct buffer body = {0};
    struct victim victims[] = {{.uid = STR_LITERAL("u1")}, {.uid = STR_LITERAL("u2")}};
    struct candidate at[] = {{.node = STR_LITERAL("a"), .victims = {2, victims}, .violations = 1}};
    struct str objects[] = {STR_LITERAL("{\"p\":1}"), STR_LITERAL("{\"p\":2}")};
    struct wire_victims ask = {.pod = STR_LITERAL("{}"), .at = at, .count = 1};
    wire_victims_body(&body, &ask);
    check_body(&body, "{\"Pod\":{},\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"a\":"
                      "{\"Pods\":[{\"UID\":\"u1\"},{\"UID\":\"u2\"}],\"NumPDBViolations\":1}}}");
    ask.objects = objects;
    wire_victims_body(&body, &ask);
    check_body(&body, "{\"Pod\":{},\"NodeNameToVictims\":{\"a\":{\"Pods\":[{\"p\":1},{\"p\":2}],"
                      "\"NumPDBViolations\":1}},\"NodeNameToMetaVictims\":null}");
}

static void a_bind_names_pod_and_node(void **state)
{
    (void)state;
    struct buffer body = {0};
    const struct bind bind = {.uid = STR_LITERAL("u"),
                              .namespace_name = STR_LITERAL("ns"),
                              .name = STR_LITERAL("p"),
                              .node_name = STR_LITERAL("n")};
    wire_bind_body(&body, &bind);
    check_body(&body,
               "{\"PodName\":\"p\",\"PodNamespace\":\"ns\",\"PodUID\":\"u\",\"Node\":\"n\"}");
}

static void filtered(const char *text, struct wire_filtered *out)
{
    struct str error = {0};
    if (!wire_filtered_read(str_of(text), out, &arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
}

static void an_answer_to_filter_is_read_whatever_the_case_of_its_members(void **state)
{
    (void)state;
    struct wire_filtered f;
    filtered("{\"nodenames\":[\"a\"],\"FAILEDNODES\":{\"b\":\"no\"},"
             "\"FailedAndUnresolvableNodes\":{\"c\":\"never\"},\"other\":[1]}",
             &f);
    assert_true(f.has_names && !f.has_objects && f.error.len == 0);
    assert_int_equal(f.names.count, 1);
    assert_int_equal(f.refused.count, 2);
    assert_true(f.refused.at[0].unresolvable && str_is(f.refused.at[0].node, "c"));
    assert_true(!f.refused.at[1].unresolvable && str_is(f.refused.at[1].reason, "no"));
    filtered("{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\"}}]},\"Error\":\"bad\"}", &f);
    assert_true(f.has_objects && !f.has_names && str_is(f.error, "bad"));
    assert_true(f.objects.count == 1 && str_is(f.objects.at[0], "a"));
    filtered("null", &f);
    assert_true(!f.has_objects && !f.has_names);
    filtered("{\"NodeNames\":null,\"Nodes\":null,\"FailedNodes\":null}", &f);
    assert_true(!f.has_objects && !f.has_names);
    filtered("{\"NodeNames\":[\"a\"],\"nodeNames\":[]}", &f); /* the last one counts */
    assert_true(f.has_names && f.names.count == 0);
}

static void what_is_wrong_with_an_answer_names_the_member(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "the answer is not JSON: "},
        {"{", "the answer is not JSON: "},
        {"[]", "the answer: wants an object, has a list"},
        {"{\"NodeNames\":\"a\"}", "NodeNames: wants a list, has a string"},
        {"{\"NodeNames\":[1]}", "NodeNames: wants a string, has a number"},
        {"{\"Nodes\":[]}", "Nodes: wants an object, has a list"},
        {"{\"Nodes\":{\"items\":{}}}", "Nodes.items: wants a list, has an object"},
        {"{\"Nodes\":{\"items\":[7]}}", "Nodes.items: wants an object, has a number"},
        {"{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":7}}]}}",
         "Nodes.items.metadata.name: wants a string, has a number"},
        {"{\"FailedNodes\":[\"a\"]}", "FailedNodes: wants an object, has a list"},
        {"{\"FailedNodes\":{\"a\":7}}", "FailedNodes: wants a string, has a number"},
        {"{\"Error\":{}}", "Error: wants a string, has an object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_filtered f;
        struct str error = {0};
        assert_false(wire_filtered_read(str_of(cases[i].text), &f, &arena, &error));
        if (!str_starts_with(error, cases[i].error))
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(error));
    }
}

static void scores_are_read_or_refused(void **state)
{
    (void)state;
    struct wire_scores s;
    struct str error = {0};
    assert_true(wire_scores_read(STR_LITERAL("[{\"Host\":\"a\",\"Score\":7},{\"host\":\"b\"}]"), &s,
                                 &arena, &error));
    assert_int_equal(s.count, 2);
    assert_int_equal(s.at[0].score, 7);
    assert_int_equal(s.at[1].score, 0);
    assert_true(wire_scores_read(STR_LITERAL("null"), &s, &arena, &error));
    assert_int_equal(s.count, 0);
    assert_false(
        wire_scores_read(STR_LITERAL("[{\"Host\":\"a\",\"Score\":\"7\"}]"), &s, &arena, &error));
    assert_true(str_is(error, "Score: wants a whole number, has a string"));
    assert_false(wire_scores_read(STR_LITERAL("{\"a\":7}"), &s, &arena, &error));
    assert_true(str_is(error, "the answer: wants a list, has an object"));
}

static void candidates_are_read_by_uid(void **state)
{
    (void)state;
    struct wire_candidates c;
    struct str error = {0};
    assert_true(wire_candidates_read(
        STR_LITERAL("{\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"u1\"}],"
                    "\"NumPDBViolations\":2},\"b\":null}}"),
        &c, &arena, &error));
    assert_int_equal(c.count, 2);
    assert_true(c.at[0].violations == 2 && str_is(c.at[0].victims.at[0].uid, "u1"));
    assert_int_equal(c.at[1].victims.count, 0);
    assert_false(wire_candidates_read(STR_LITERAL("{\"NodeNameToMetaVictims\":{\"a\":[]}}"), &c,
                                      &arena, &error));
    assert_true(str_is(error, "NodeNameToMetaVictims: wants an object, has a list"));
}

static void a_failed_bind_says_why(void **state)
{
    (void)state;
    struct str failed, error = {0};
    assert_true(wire_bound_read(STR_LITERAL("{\"Error\":\"no\"}"), &failed, &arena, &error));
    assert_true(str_is(failed, "no"));
    assert_true(wire_bound_read(STR_LITERAL("{}"), &failed, &arena, &error));
    assert_int_equal(failed.len, 0);
    assert_false(wire_bound_read(STR_LITERAL("<html>"), &failed, &arena, &error));
}

static void a_value_written_reads_back_as_the_same(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1,-2,1.5,9007199254740991,true,false,null,\"\\\"\\n\\u0001é\"],"
        "\"managedFields\":[1],\"b\":{\"managedFields\":1,\"c\":{}}}";
    struct buffer out = {0}, again = {0};
    struct kube_json *json = kube_json_parse(str_of(text), NULL, &arena);
    json_text_value(&out, json, "managedFields");
    assert_string_equal(out.at, "{\"a\":[1,-2,1.5,9007199254740991,true,false,null,"
                                "\"\\\"\\n\\u0001é\"],\"b\":{\"c\":{}}}");
    struct kube_json *back = kube_json_parse(buffer_str(&out), NULL, &arena);
    json_text_value(&again, back, NULL);
    assert_string_equal(again.at, out.at);
    kube_json_free(&json);
    kube_json_free(&back);
    buffer_free(&out);
    buffer_free(&again);
}

static void who_is_interested_and_in_which_order(void **state)
{
    (void)state;
    struct extender_resource managed[] = {{.name = STR_LITERAL("x.io/a")}};
    struct quantity zero = {.name = STR_LITERAL("x.io/a")}, cpu = {.name = STR_LITERAL("cpu")};
    struct extender_config all[3] = {{.ignorable = true}, {.managed = {1, managed}}, {.weight = 1}};
    struct pod wants = {.request = {1, &zero}}, other = {.request = {1, &cpu}};
    uint32_t order[3];
    assert_true(extender_interested(&all[0], &other));
    assert_true(extender_interested(&all[1], &wants));
    assert_false(extender_interested(&all[1], &other));
    extender_order(all, 3, order);
    assert_true(order[0] == 1 && order[1] == 2 && order[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_or_objects_are_sent_as_go_does),
        cmocka_unit_test(victims_are_sent_whole_or_by_uid),
        cmocka_unit_test(a_bind_names_pod_and_node),
        cmocka_unit_test(an_answer_to_filter_is_read_whatever_the_case_of_its_members),
        cmocka_unit_test(what_is_wrong_with_an_answer_names_the_member),
        cmocka_unit_test(scores_are_read_or_refused),
        cmocka_unit_test(candidates_are_read_by_uid),
        cmocka_unit_test(a_failed_bind_says_why),
        cmocka_unit_test(a_value_written_reads_back_as_the_same),
        cmocka_unit_test(who_is_interested_and_in_which_order),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
