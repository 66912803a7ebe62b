/* test_caller: questions to extenders in virtual time. The test plays the API server and the
 * extenders: requests wait in a list until it answers them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/memory.h"
#include "scheduler/extender/caller.h"

#define REQUESTS 16

struct request {
    uint64_t call; /* 0: free */
    uint32_t extender;
    char text[600]; /* the verb and the body, or namespace/name */
};

static struct {
    struct caller *caller;
    struct extender_config extenders[3];
    struct request requests[REQUESTS];
    uint32_t cancelled;
    bool nodes_known;
    struct moment now;
    struct arena arena;
} t;

static uint64_t add(uint32_t extender, uint64_t call, struct str head, struct str tail)
{
    for (uint32_t i = 0; i < REQUESTS; i++)
        if (t.requests[i].call == 0) {
            t.requests[i].call = call;
            t.requests[i].extender = extender;
            snprintf(t.requests[i].text, sizeof(t.requests[i].text), "%.*s %.*s", STR_ARG(head),
                     STR_ARG(tail));
            return call + 1000;
        }
    fail();
    return 0;
}

static uint64_t post(void *state, uint32_t extender, struct str verb, struct str body,
                     uint64_t call)
{
    (void)state;
    return add(extender, call, verb, body);
}

static uint64_t get_pod(void *state, struct str space, struct str name, uint64_t call)
{
    (void)state;
    return add(CALLER_API, call, space, name);
}

static void cancel(void *state, uint32_t extender, uint64_t number)
{
    (void)state;
    for (uint32_t i = 0; i < REQUESTS; i++)
        if (t.requests[i].call + 1000 == number && t.requests[i].extender == extender) {
            t.requests[i].call = 0;
            t.cancelled++;
            return;
        }
    fail_msg("cancelled what is not there");
}

static bool node(void *state, struct str name, struct str *object)
{
    (void)state;
    *object = arena_print(&t.arena, "{\"n\":\"%.*s\"}", STR_ARG(name));
    return t.nodes_known;
}

static int begin(void **state)
{
    (void)state;
    memset(&t, 0, sizeof(t));
    t.now = (struct moment){1000000000};
    t.nodes_known = true;
    for (int i = 0; i < 3; i++)
        t.extenders[i] = (struct extender_config){.url_prefix = STR_LITERAL("http://e/"),
                                                  .filter_verb = STR_LITERAL("filter"),
                                                  .prioritize_verb = STR_LITERAL("prioritize"),
                                                  .preempt_verb = STR_LITERAL("preempt"),
                                                  .weight = i + 1,
                                                  .node_cache_capable = true};
    t.caller = caller_new(&(struct caller_options){
        .extenders = t.extenders,
        .count = 3,
        .ports = {.post = post, .get_pod = get_pod, .cancel = cancel, .node = node}});
    return 0;
}

static int finish(void **state)
{
    (void)state;
    caller_free(&t.caller);
    for (uint32_t i = 0; i < REQUESTS; i++)
        assert_int_equal(t.requests[i].call, 0);
    arena_free(&t.arena);
    return 0;
}

/* An extend in the words of the tap, from peer 7. */
static void ask(const char *text)
{
    struct message m = {.type = MSG_extend};
    struct str error;
    if (!codec_parse(message_info[MSG_extend].record, &m.extend, str_of(text), &t.arena, &error))
        fail_msg("%.*s", STR_ARG(error));
    struct delivery in = {.from = {SCHEDULER, 7}, .message = &m};
    struct outbox out = {0};
    caller_handle(t.caller, t.now, &in, &out);
    outbox_free(&out);
}

static void respond(uint32_t i, const struct kube_response *r)
{
    uint64_t call = t.requests[i].call;
    t.requests[i].call = 0;
    caller_answered(t.caller, t.now, call, r);
}

/* The one request whose text begins so is answered with this code and body. */
static void answer(const char *begins, int status, const char *body)
{
    for (uint32_t i = 0; i < REQUESTS; i++)
        if (t.requests[i].call != 0 && strncmp(t.requests[i].text, begins, strlen(begins)) == 0) {
            respond(i, &(struct kube_response){
                           .status = status, .body = str_of(body), .error = status ? "" : body});
            return;
        }
    fail_msg("nobody asked %s", begins);
}

static uint32_t waiting(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < REQUESTS; i++)
        count += t.requests[i].call != 0;
    return count;
}

/* The next answer in the words of the tap; "" when there is none. */
static const char *said(void)
{
    static struct buffer text;
    struct outbox out = {0};
    struct message m;
    caller_tick(t.caller, t.now, &out);
    buffer_reset(&text);
    buffer_add_text(&text, "");
    if (out.count > 0) {
        assert_int_equal(out.count, 1);
        assert_int_equal(out.at[0].to.peer, 7);
        assert_true(outbox_get(&out, 0, &m, &t.arena));
        codec_print(message_info[m.type].record, message_body(&m), &text);
    }
    outbox_free(&out);
    struct str copy = arena_copy(&t.arena, buffer_str(&text));
    buffer_free(&text);
    return copy.len > strlen("extended ") ? copy.at + strlen("extended ") : copy.at;
}

#define REF(i)   "{index=" #i " url=\"http://e/\"}"
#define POD_JSON "{\"metadata\":{\"uid\":\"u\"}}"
#define HEAD     "id=3 uid=\"u\" namespace_name=\"ns\" name=\"p\" step=\"nodes\" "

static void filters_run_one_after_another_and_scores_all_at_once(void **state)
{
    (void)state;
    ask(HEAD "extenders=[" REF(0) REF(1) "] nodes=[\"a\" \"b\" \"c\"]");
    answer("ns p", 200, POD_JSON);
    assert_int_equal(waiting(), 1);
    answer("filter {\"Pod\":" POD_JSON ",\"Nodes\":null,\"NodeNames\":[\"a\",\"b\",\"c\"]}", 200,
           "{\"NodeNames\":[\"c\",\"a\"],\"FailedNodes\":{\"b\":\"full\"}}");
    answer("filter {\"Pod\":" POD_JSON ",\"Nodes\":null,\"NodeNames\":[\"a\",\"c\"]}", 200,
           "{\"NodeNames\":[\"a\",\"c\"]}");
    assert_int_equal(waiting(), 2);
    assert_string_equal(said(), "");
    answer("prioritize", 200, "[{\"Host\":\"a\",\"Score\":3},{\"Host\":\"z\",\"Score\":9}]");
    answer("prioritize", 200, "[{\"Host\":\"a\",\"Score\":1},{\"Host\":\"c\",\"Score\":2}]");
    assert_string_equal(said(), "id=3 nodes=[\"a\" \"c\"] refused=[{node=\"b\" reason=\"full\"}] "
                                "scores=[{node=\"a\" score=50} {node=\"c\" score=40}] uid=\"u\"");
}

static void a_single_node_that_is_left_is_not_scored(void **state)
{
    (void)state;
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\" \"b\"]");
    answer("ns p", 200, POD_JSON);
    answer("filter", 200, "{\"NodeNames\":[\"b\"],\"FailedAndUnresolvableNodes\":{\"a\":\"x\"}}");
    assert_string_equal(said(), "id=3 nodes=[\"b\"] refused=[{node=\"a\" reason=\"x\" "
                                "unresolvable=true}] uid=\"u\"");
}

static void when_nothing_is_left_nobody_else_is_asked(void **state)
{
    (void)state;
    ask(HEAD "extenders=[" REF(0) REF(1) "] nodes=[\"a\"]");
    answer("ns p", 200, POD_JSON);
    answer("filter", 200, "{}"); /* neither names nor objects: no node passes */
    assert_string_equal(said(), "id=3 uid=\"u\"");
}

static void objects_come_back_bare(void **state)
{
    (void)state;
    t.extenders[0].node_cache_capable = false;
    t.extenders[0].prioritize_verb = (struct str){0};
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\" \"b\"]");
    answer("ns p", 200, POD_JSON);
    answer("filter {\"Pod\":" POD_JSON ",\"Nodes\":{\"metadata\":{},\"items\":[{\"n\":\"a\"},"
           "{\"n\":\"b\"}]},\"NodeNames\":null}",
           200,
           "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]"
           "}}");
    assert_string_equal(said(), "id=3 all=true bare=true uid=\"u\"");
}

static void a_node_that_is_not_known_yet_is_waited_for(void **state)
{
    (void)state;
    t.extenders[0].node_cache_capable = false;
    t.nodes_known = false;
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    answer("ns p", 200, POD_JSON);
    assert_string_equal(said(), "");
    assert_int_equal(waiting(), 0);
    t.nodes_known = true;
    assert_string_equal(said(), "");
    answer("filter", 200, "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\"}}]}}");
    assert_string_equal(said(), "id=3 all=true bare=true uid=\"u\"");
    t.nodes_known = false;
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    answer("ns p", 200, POD_JSON);
    assert_string_equal(said(), "");
    t.now = moment_after(t.now, span_of_ms(2000));
    assert_string_equal(said(),
                        "id=3 error=\"extender \\\"http://e/\\\": node \\\"a\\\" is not known "
                        "to its caller\" uid=\"u\"");
}

static void fails(int status, const char *body, const char *error)
{
    struct buffer expected = {0};
    ask(HEAD "extenders=[" REF(0) REF(1) "] nodes=[\"a\" \"b\"]");
    answer("ns p", 200, POD_JSON);
    answer("filter", status, body);
    buffer_print(&expected, "id=3 error=\"%s\" uid=\"u\"", error);
    assert_string_equal(said(), expected.at);
    buffer_free(&expected);
}

static void a_filter_that_fails_fails_the_attempt(void **state)
{
    (void)state;
    fails(500, "x", "failed filter with extender at URL http://e/filter, code 500");
    fails(0, "it is gone", "Post \\\"http://e/filter\\\": it is gone");
    fails(200, "{\"Error\":\"own words\"}", "own words");
    fails(200, "{\"NodeNames\":[\"z\"]}",
          "extender \\\"http://e/\\\" claims a filtered node \\\"z\\\" which is not found in the "
          "input node list");
    fails(200, "{\"NodeNames\":7}",
          "extender \\\"http://e/\\\": filter: NodeNames: wants a list, has a number");
}

static void an_ignorable_one_that_fails_is_passed_over(void **state)
{
    (void)state;
    t.extenders[0].ignorable = true;
    ask(HEAD "extenders=[" REF(0) REF(1) "] nodes=[\"a\" \"b\"]");
    answer("ns p", 200, POD_JSON);
    answer("filter", 500, "x");
    answer("filter", 200, "{\"NodeNames\":[\"a\",\"b\"]}");
    answer("prioritize", 500, "x"); /* never matters */
    answer("prioritize", 200, "[]");
    assert_string_equal(said(), "id=3 all=true uid=\"u\"");
}

static void a_pod_that_is_gone_needs_no_extenders(void **state)
{
    (void)state;
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    answer("ns p", 404, "");
    assert_string_equal(said(), "id=3 gone=true uid=\"u\"");
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    answer("ns p", 200, "{\"metadata\":{\"uid\":\"another\"}}");
    assert_string_equal(said(), "id=3 gone=true uid=\"u\"");
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    answer("ns p", 500, "");
    assert_string_equal(said(),
                        "id=3 error=\"cannot read pod ns/p for extenders: code 500\" uid=\"u\"");
}

#define VICTIMS                                                                                    \
    "id=4 uid=\"u\" namespace_name=\"ns\" name=\"p\" step=\"victims\" extenders=[" REF(            \
        0) "] candidates=[{node=\"a\" victims=[{uid=\"v\" namespace_name=\"ns\" "                  \
           "name=\"victim\"}]}]"

static void victims_go_as_uids_or_whole(void **state)
{
    (void)state;
    ask(VICTIMS);
    answer("ns p", 200, POD_JSON);
    answer(
        "preempt {\"Pod\":" POD_JSON
        ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"v\"}]",
        200, "{\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"v\"}]}}}");
    assert_string_equal(said(), "id=4 candidates=[{node=\"a\" victims=[{uid=\"v\"}]}] uid=\"u\"");
    t.extenders[0].node_cache_capable = false;
    ask(VICTIMS);
    answer("ns victim", 404, "");
    answer("ns p", 200, POD_JSON);
    answer("preempt {\"Pod\":" POD_JSON
           ",\"NodeNameToVictims\":{\"a\":{\"Pods\":[{\"metadata\":{\"name\":\"victim\","
           "\"namespace\":\"ns\",\"uid\":\"v\"}}]",
           200, "{}");
    assert_string_equal(said(), "id=4 uid=\"u\"");
    t.extenders[0].ignorable = true;
    ask(VICTIMS);
    answer("ns victim", 200, "{\"metadata\":{\"uid\":\"v\"}}");
    answer("ns p", 200, POD_JSON);
    answer("preempt", 500, "");
    assert_string_equal(said(), "id=4 ignored=true uid=\"u\"");
}

static void who_asked_and_went_is_not_answered(void **state)
{
    (void)state;
    struct message m = {.type = MSG_peer_down};
    struct delivery in = {.from = {SCHEDULER, 7}, .message = &m};
    struct outbox out = {0};
    ask(HEAD "extenders=[" REF(0) "] nodes=[\"a\"]");
    caller_handle(t.caller, t.now, &in, &out);
    assert_int_equal(t.cancelled, 1);
    assert_string_equal(said(), "");
    outbox_free(&out);
}

static void another_configuration_is_noticed(void **state)
{
    (void)state;
    ask(HEAD "extenders=[{index=3 url=\"http://e/\"}] nodes=[\"a\"]");
    assert_string_equal(said(), "id=3 error=\"the process that calls extenders runs another "
                                "configuration than the scheduler\" uid=\"u\"");
    ask(HEAD "extenders=[{index=1 url=\"http://f/\"}] nodes=[\"a\"]");
    assert_non_null(strstr(said(), "another configuration"));
}

static void every_message_for_the_process_is_taken(void **state)
{
    (void)state;
    for (int type = 0; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL && message_info[type].to == EXTENDER)
            assert_true(caller_takes((enum message_type)type));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        TEST(filters_run_one_after_another_and_scores_all_at_once),
        TEST(a_single_node_that_is_left_is_not_scored),
        TEST(when_nothing_is_left_nobody_else_is_asked),
        TEST(objects_come_back_bare),
        TEST(a_node_that_is_not_known_yet_is_waited_for),
        TEST(a_filter_that_fails_fails_the_attempt),
        TEST(an_ignorable_one_that_fails_is_passed_over),
        TEST(a_pod_that_is_gone_needs_no_extenders),
        TEST(victims_go_as_uids_or_whole),
        TEST(who_asked_and_went_is_not_answered),
        TEST(another_configuration_is_noticed),
        TEST(every_message_for_the_process_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
