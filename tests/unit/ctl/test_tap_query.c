/* test_tap_query: what `berth tap --where` accepts, what it says of what it refuses, and which
 * messages fulfil it; also with queries and messages made at random. */
#include "ctl/tap/query.h"

#include "proto/base/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS   20000
#define ROUND_MS 3000 /* of random ones; a slow machine does fewer */

/* ---- what is accepted ---- */

static void refused(const char *text, const char *why)
{
    struct buffer error = {0};
    uint32_t column = 0;
    struct query *query = query_parse(text, &error, &column);
    if (query != NULL)
        fail_msg("accepted: %s", text);
    assert_string_equal(error.at, why);
    assert_int_equal(column, strtoul(error.at + strlen("column "), NULL, 10));
    buffer_free(&error);
}

static void a_mistake_is_named_with_its_column(void **state)
{
    (void)state;
    refused("", "column 1: a field is expected here");
    refused("message = bind", "column 9: write == in place of =");
    refused("message == bind && bound", "column 17: write and in place of &&");
    refused("bound || gone", "column 7: write or in place of ||");
    refused("! bound", "column 1: write not in place of !");
    refused("message == bind attempt > 2", "column 17: \"and\" or \"or\" is expected here");
    refused("(bound and (gone)", "column 1: this parenthesis is not closed");
    refused("bound)", "column 6: this parenthesis was not opened");
    refused("bound and", "column 10: a field is expected here");
    refused("attempt >", "column 10: a value is expected here");
    refused("name == \"web", "column 9: this text has no end");
    refused("\"web\" == name",
            "column 1: a field is expected here, and a text in quotes is a value");
    refused("name == # x",
            "column 9: '#' makes no sense here; texts with such signs stand in quotes");
    refused("name ~ \"(\"", "column 8: no regular expression: Unmatched ( or \\(");
    refused("name == \"é\" and nme", "column 17: no message has a field \"nme\", did you mean "
                                     "\"name\"?");
    refused("pod..name == x", "column 1: a field is expected: a name, or names with dots between "
                              "them");
}

static void names_are_checked_and_suggested(void **state)
{
    (void)state;
    refused("message == bnd", "column 12: there is no message \"bnd\", did you mean \"bind\"?");
    refused("nod_name == x", "column 1: no message has a field \"nod_name\", did you mean "
                             "\"node_name\"?");
    refused("atempt > 2", "column 1: no message has a field \"atempt\", did you mean \"attempt\"?");
    refused("bound and pod.priorty > 2",
            "column 15: \"pod\" has no field \"priorty\", did you mean \"priority\"?");
    refused("name.uid == x", "column 1: \"name\" has no fields of its own");
    refused("result == unschedulabel",
            "column 11: result is never \"unschedulabel\", did you mean \"unschedulable\"?");
    refused("from == schedular",
            "column 9: there is no process \"schedular\", did you mean \"scheduler\"?");
    refused("body.podd.name == x",
            "column 6: no message has a field \"podd\", did you mean \"pod\"?");
}

static void operators_and_values_have_to_fit_the_field(void **state)
{
    (void)state;
    refused("attempt ~ \"2\"", "column 11: attempt is a number, and ~ is for texts");
    refused("attempt > two", "column 11: attempt is a number, and \"two\" is none");
    refused("from < x", "column 8: from is a text, which is not less or greater: ==, != and ~ are "
                        "for it");
    refused("feasible == none", "column 13: feasible is a number, and \"none\" is none");
    refused("feasible ~ 1", "column 12: feasible is no text, and ~ is for texts");
    refused("namespace_name < x",
            "column 18: namespace_name is no number, and < <= > >= are for numbers");
    refused("bound == yes", "column 10: bound is true or false, and \"yes\" is neither");
    refused("hops == 1", "column 9: \"hops\" is a record; name one of its fields, such as "
                         "hops.to_scheduler");
}

static void nesting_and_length_are_bounded(void **state)
{
    (void)state;
    struct buffer text = {0}, error = {0};
    uint32_t column;
    for (int depth = QUERY_DEPTH_MAX; depth <= QUERY_DEPTH_MAX + 1; depth++) {
        buffer_reset(&text);
        buffer_reset(&error);
        for (int i = 0; i < depth; i++)
            buffer_add_text(&text, i % 2 == 0 ? "(" : "not ");
        buffer_add_text(&text, "bound");
        for (int i = 0; i < depth; i += 2)
            buffer_add_text(&text, ")");
        struct query *query = query_parse(text.at, &error, &column);
        assert_int_equal(query != NULL, depth == QUERY_DEPTH_MAX);
        assert_int_equal(error.len == 0, depth == QUERY_DEPTH_MAX);
        query_free(&query);
    }
    assert_non_null(strstr(error.at, "nested too deep"));
    for (int length = 0; length < 2; length++) {
        buffer_reset(&text);
        buffer_reset(&error);
        buffer_add_text(&text, "gone");
        while (text.len < (length == 0 ? QUERY_TEXT_MAX - 8 : QUERY_TEXT_MAX + 1))
            buffer_add_text(&text, length == 0 ? " or gone" : " ");
        assert_null(query_parse(text.at, &error, &column));
        assert_non_null(strstr(error.at, "the query is too long"));
    }
    buffer_free(&text);
    buffer_free(&error);
}

/* ---- what is fulfilled ---- */

static const int64_t third[] = {3};

static bool holds(const char *text, const struct message *m)
{
    struct buffer error = {0};
    uint32_t column;
    const struct envelope envelope = {.type = m->type, .term = 7, .link = 4};
    const struct tapped tapped = {.process = str_of("scheduler"),
                                  .instance = str_of("scheduler-2"),
                                  .peer_process = str_of("binder"),
                                  .peer_instance = str_of("binder"),
                                  .sent = true,
                                  .frame = str_of("0123456789")};
    struct query *query = query_parse(text, &error, &column);
    if (query == NULL)
        fail_msg("%s: %s", text, error.at);
    bool found = query_holds(query, &(struct query_subject){.message = m,
                                                            .envelope = &envelope,
                                                            .tapped = &tapped,
                                                            .attempts = third,
                                                            .attempt_count = 1});
    query_free(&query);
    buffer_free(&error);
    return found;
}

static const struct message bind = {.type = MSG_bind,
                                    .bind = {.uid = {"u-1", 3},
                                             .namespace_name = {"default", 7},
                                             .name = {"web", 3},
                                             .node_name = {"node-17", 7},
                                             .hops.worker = 250}};

static void all_true(const char *const *texts, const struct message *m)
{
    for (; *texts != NULL; texts++)
        if (!holds(*texts, m))
            fail_msg("is not so: %s", *texts);
}

static void all_false(const char *const *texts, const struct message *m)
{
    for (; *texts != NULL; texts++)
        if (holds(*texts, m))
            fail_msg("is so: %s", *texts);
}

static void a_message_fulfils_what_is_true_of_it(void **state)
{
    (void)state;
    static const char *const yes[] = {"message == bind and node ~ \"^node-1\" and attempt > 2",
                                      "message != outcome",
                                      "message ~ '^bi'",
                                      "pod == default/web",
                                      "pod == u-1",
                                      "node == node-17",
                                      "from == scheduler and from == scheduler-2 and to == binder",
                                      "from != queue",
                                      "tap == scheduler",
                                      "term == 7 and link >= 4 and link <= 4 and bytes == 10",
                                      "hops.worker > 100 and body.hops.worker < 1000",
                                      "worker == 250",
                                      "bind_timeout_s == 0",
                                      "set_nominated == false",
                                      "node_name",
                                      "not scheduler_name",
                                      "bound or name == web and node_name != x",
                                      "(bound or name == web) and node_name == 'node-17'",
                                      "not (bound or gone)",
                                      "attempt",
                                      NULL};
    static const char *const no[] = {"message == bind and attempt > 3",
                                     "from == queue",
                                     "from != scheduler",
                                     "to != binder",
                                     "node ~ '^17'",
                                     "bound == false", /* bind has no such field */
                                     "bound != true",
                                     "result != bound",
                                     "hops.evaluating",
                                     "node_name == node-1",
                                     "not node_name",
                                     "claims",
                                     "pod == default/we",
                                     "bound or name == web and node_name == x",
                                     NULL};
    all_true(yes, &bind);
    all_false(no, &bind);
}

static void lists_and_words_have_values(void **state)
{
    (void)state;
    struct str plugins[] = {STR_LITERAL("NodeResourcesFit"), STR_LITERAL("NodeAffinity")};
    struct tally reasons[] = {{.text = STR_LITERAL("Insufficient cpu"), .count = 30},
                              {.text = STR_LITERAL("Too many pods"), .count = 2}};
    const struct message outcome = {.type = MSG_outcome,
                                    .outcome = {.uid = STR_LITERAL("u-1"),
                                                .result = OUTCOME_unschedulable,
                                                .plugins = {2, plugins}}},
                         result = {.type = MSG_map_result,
                                   .map_result = {.nodes = 32, .reasons = {2, reasons}}},
                         both = {.type = MSG_pod_set,
                                 .pod_set.pod = {.uid = STR_LITERAL("u-1"),
                                                 .namespace_name = STR_LITERAL("default"),
                                                 .name = STR_LITERAL("web"),
                                                 .priority = -5}};
    static const char *const of_outcome[] = {"result == unschedulable", "plugins == NodeAffinity",
                                             "plugins ~ 'Fit$'",        "plugins != NodePorts",
                                             "result != bound",         "plugins",
                                             "result ~ '^uns'",         NULL};
    static const char *const not_of_outcome[] = {"plugins != NodeAffinity", "plugins == Fit",
                                                 "pending_plugins", "pending_plugins != x", NULL};
    static const char *const of_result[] = {"reasons.text == \"Insufficient cpu\"",
                                            "reasons.count > 29 and reasons.count < 3",
                                            "reasons",
                                            "feasible == 0",
                                            "text ~ pods",
                                            NULL};
    static const char *const not_of_result[] = {"body.count == 30", /* it is one of reasons' */
                                                "reasons.count > 30", "text ~ memory", NULL};
    static const char *const of_set[] = {"pod == default/web", "pod.priority == -5",
                                         "pod.priority < 0", "priority != 0", NULL};
    all_true(of_outcome, &outcome);
    all_false(not_of_outcome, &outcome);
    all_true(of_result, &result);
    all_false(not_of_result, &result);
    all_true(of_set, &both);
    assert_true(holds("message == bind_result and bound == false",
                      &(const struct message){.type = MSG_bind_result}));
}

static void what_cannot_be_decoded_has_no_fields(void **state)
{
    (void)state;
    struct buffer error = {0};
    uint32_t column;
    const struct envelope envelope = {.type = MSG_bind};
    const struct tapped tapped = {.process = str_of("binder")};
    const struct query_subject subject = {.envelope = &envelope, .tapped = &tapped};
    const char *const texts[] = {"message == bind", "to == binder", "name != x", "node", "attempt"};
    for (size_t i = 0; i < 5; i++) {
        struct query *query = query_parse(texts[i], &error, &column);
        assert_int_equal(query_holds(query, &subject), i < 2);
        assert_int_equal(query_asks_attempts(query), i == 4);
        query_free(&query);
    }
    buffer_free(&error);
}

/* ---- at random ---- */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static void add_random(struct buffer *text, uint64_t *seed)
{
    static const char *const pieces[] = {"message",
                                         "from",
                                         "node",
                                         "pod",
                                         "attempt",
                                         "pod.name",
                                         "reasons.text",
                                         "result",
                                         "bound",
                                         "code",
                                         "name",
                                         "plugins",
                                         "body.pod.priority",
                                         "priority",
                                         "hops",
                                         "==",
                                         "!=",
                                         "<",
                                         "<=",
                                         ">",
                                         ">=",
                                         "~",
                                         "=",
                                         "and",
                                         "or",
                                         "not",
                                         "(",
                                         ")",
                                         "bind",
                                         "unschedulable",
                                         "3",
                                         "-1",
                                         "true",
                                         "\"a",
                                         "b\"",
                                         "'.*'",
                                         "x",
                                         "\\",
                                         "\"",
                                         "\xc3\xa9",
                                         "[a-",
                                         "."};
    uint64_t count = 1 + draw(seed, 12);
    buffer_reset(text);
    for (uint64_t i = 0; i < count; i++) {
        if (draw(seed, 40) == 0)
            buffer_print(text, "%c", (char)(1 + draw(seed, 255)));
        buffer_add_text(text, pieces[draw(seed, sizeof(pieces) / sizeof(pieces[0]))]);
        buffer_add_text(text, draw(seed, 8) == 0 ? "" : " ");
    }
}

enum around { OPPOSITE, WITH_OPPOSITE, TWICE };

/* A query as part of another one, asked of a message. */
static void agree(const char *text, const struct query_subject *subject, enum around around,
                  bool wanted)
{
    struct buffer error = {0}, whole = {0};
    uint32_t column;
    if (around == OPPOSITE)
        buffer_print(&whole, "not (%s)", text);
    else
        buffer_print(&whole, around == TWICE ? "(%s) or (%s)" : "(%s) and not (%s)", text, text);
    struct query *query = query_parse(whole.at, &error, &column);
    if (query == NULL)
        fail_msg("%s: %s", whole.at, error.at);
    assert_int_equal(query_holds(query, subject), wanted);
    query_free(&query);
    buffer_free(&error);
    buffer_free(&whole);
}

static void ask_random(const struct query *query, const char *text, uint64_t *seed)
{
    struct arena arena = {0};
    struct message m = {0};
    while (message_info[m.type].record == NULL)
        m.type = (enum message_type)(1 + draw(seed, MSG_COUNT - 1));
    codec_fill(message_info[m.type].record, message_body(&m), seed, &arena);
    const struct envelope envelope = {.type = m.type};
    const struct tapped tapped = {.process = str_of("queue"), .sent = draw(seed, 2) == 0};
    const struct query_subject subject = {.message = &m,
                                          .envelope = &envelope,
                                          .tapped = &tapped,
                                          .attempts = third,
                                          .attempt_count = draw(seed, 2)};
    bool found = query_holds(query, &subject);
    agree(text, &subject, OPPOSITE, !found);
    agree(text, &subject, WITH_OPPOSITE, false);
    agree(text, &subject, TWICE, found);
    arena_free(&arena);
}

static void random_texts_are_refused_or_mean_something(void **state)
{
    (void)state;
    uint64_t seed = 20261128;
    uint32_t accepted = 0, column;
    struct buffer text = {0}, error = {0};
    struct moment end = moment_after(moment_now(), span_of_ms(ROUND_MS));
    for (int i = 0; i < ROUNDS && !moment_reached(moment_now(), end); i++) {
        add_random(&text, &seed);
        buffer_reset(&error);
        column = 0;
        struct query *query = query_parse(text.at, &error, &column);
        assert_int_equal(query != NULL, error.len == 0);
        if (query == NULL) {
            assert_in_range(column, 1, text.len + 1);
            continue;
        }
        accepted++;
        ask_random(query, text.at, &seed);
        query_free(&query);
    }
    assert_true(accepted > 10);
    buffer_free(&text);
    buffer_free(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mistake_is_named_with_its_column),
        cmocka_unit_test(names_are_checked_and_suggested),
        cmocka_unit_test(operators_and_values_have_to_fit_the_field),
        cmocka_unit_test(nesting_and_length_are_bounded),
        cmocka_unit_test(a_message_fulfils_what_is_true_of_it),
        cmocka_unit_test(lists_and_words_have_values),
        cmocka_unit_test(what_cannot_be_decoded_has_no_fields),
        cmocka_unit_test(random_texts_are_refused_or_mean_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
