/* test_explain: what berth explain says, from what a watcher, a queue and a scheduler have told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ctl/attempt.h"
#include "ctl/explain/explain.h"

static struct arena arena;
static struct buffer out;
static struct live live;
static struct explanation e;

static struct strs words(const char *const *list, uint32_t count)
{
    struct strs s = {count, arena_take(&arena, (count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        s.at[i] = str_of(list[i]);
    return s;
}
#define WORDS_OF(...)                                                                              \
    words((const char *const[]){__VA_ARGS__},                                                      \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int start(void **state)
{
    (void)state;
    live = (struct live){.namespace_name = STR_LITERAL("a"), .name = STR_LITERAL("p")};
    live.explained.release = 36;
    live.explained.kept = 7;
    live.explained.oldest_us = INT64_C(1767323045000006);
    e = (struct explanation){.live = &live, .top = 5};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    buffer_free(&out);
    world_free(&live.world);
    arena_free(&arena);
    return 0;
}

static const char *said(void)
{
    buffer_reset(&out);
    explain_text(&e, &out, &arena);
    return out.at;
}

static void expect(const char *part)
{
    if (strstr(said(), part) == NULL)
        fail_msg("no %s in %s", part, out.at);
}

/* ---- without a decision ---- */

static void a_pod_that_is_gone_has_its_decisions(void **state)
{
    struct past_decision decisions[] = {
        {.wall_us = INT64_C(1767323046123456),
         .attempt = 2,
         .placed = true,
         .score = 12,
         .nodes = 3,
         .feasible = 2,
         .node = STR_LITERAL("n1")},
        {.wall_us = INT64_C(1767323045000006),
         .attempt = 1,
         .nodes = 3,
         .message = STR_LITERAL("0/3 nodes are available: 3 Insufficient cpu.")}};
    (void)state;
    live.explained.decisions.at = decisions;
    live.explained.decisions.count = 2;
    assert_string_equal(said(), "Pod:          a/p\n"
                                "Where:        not in the cluster\n"
                                "\n"
                                "Decisions, newest first:\n"
                                "  2026-01-02T03:04:06.123Z  attempt 2  placed on n1 (score 12; 2 "
                                "of 3 nodes could take it)\n"
                                "  2026-01-02T03:04:05.000Z  attempt 1  not placed: 0/3 nodes are "
                                "available: 3 Insufficient "
                                "cpu.\n");
}

static void that_nothing_is_kept_is_said(void **state)
{
    (void)state;
    e.there = true;
    e.pod.scheduler_name = STR_LITERAL("other");
    assert_string_equal(
        said(),
        "Pod:          a/p\n"
        "Where:        pending\n"
        "Scheduler:    other\n"
        "              no profile of this berth has that name: another scheduler is to place it\n"
        "\n"
        "Decisions, newest first:\n"
        "  none is kept (of 7 decisions, since 2026-01-02T03:04:05.000Z)\n");
}

static void what_the_queue_has_of_it(void **state)
{
    struct pending_pod waiting = {.place = PENDING_backoff,
                                  .attempts = 3,
                                  .waiting_ms = 250000,
                                  .backoff_ms = 1500,
                                  .rejected_by = WORDS_OF("NodeName", "NodePorts")};
    (void)state;
    e.waiting = &waiting;
    expect("Queue:        backoff, for 4m10s, tried 3 times, not before 2s from now\n"
           "Rejected by:  NodeName, NodePorts\n"
           "Woken by:     NodeName: node appears\n"
           "              NodeName: change of node taint\n"
           "              NodePorts: pod goes\n"
           "              NodePorts: node appears\n"
           "              NodePorts: change of node taint\n");
    live.explained.release = 37; /* which has dropped two of them */
    expect("Woken by:     NodeName: node appears\n"
           "              NodePorts: pod goes\n"
           "              NodePorts: node appears\n");
    assert_null(strstr(said(), "taint"));
    waiting.place = PENDING_active; /* is tried anyway */
    assert_null(strstr(said(), "Woken by"));
}

static void what_the_scheduler_does_with_it(void **state)
{
    (void)state;
    live.explained.state = STR_LITERAL("is being bound");
    live.explained.waits_for = STR_LITERAL("leadership");
    expect("Now:          the pod is being bound\n"
           "              nothing is decided: the scheduler waits for leadership\n");
}

static void who_else_is_in_its_group(void **state)
{
    (void)state;
    e.pod.gang = STR_LITERAL("g");
    expect("PodGroup:     g, which there is none of\n");
    e.group.name = STR_LITERAL("g");
    e.group.min_member = 4;
    e.members = WORDS_OF("q", "r");
    e.members_bound = 1;
    expect("PodGroup:     g, needs 4: 1 on nodes, 2 others wait: q, r\n");
}

/* ---- with one ---- */

static void add_node(const char *name, int64_t cpu)
{
    struct quantity room[] = {{STR_LITERAL("cpu"), cpu}, {STR_LITERAL("pods"), 110}};
    world_node_set(live.world,
                   &(struct node){.name = str_of(name), .allocatable = {.count = 2, .at = room}});
}

static struct held held;

/* Pod p asks for so much CPU, on two nodes of 4 and one of 8. */
static void decide(int64_t cpu)
{
    static const struct scheduler_config config;
    struct quantity *ask = arena_take(&arena, sizeof(*ask));
    struct profile profile = {.scheduler_name = STR_LITERAL("s"),
                              .pre_filter = WORDS_OF("NodeResourcesFit"),
                              .filter = WORDS_OF("NodeUnschedulable", "NodeResourcesFit"),
                              .fit_strategy = STR_LITERAL("LeastAllocated"),
                              .features.release = 36};
    struct score_plugin score[] = {{.name = STR_LITERAL("NodeResourcesFit"), .weight = 2}};
    struct quantity counts[] = {{STR_LITERAL("cpu"), 1}};
    profile.score.at = score;
    profile.score.count = 1;
    profile.fit_resources.at = counts;
    profile.fit_resources.count = 1;
    live.world = world_new(&profile, 1, 1);
    add_node("n1", 4000);
    add_node("n2", 4000);
    add_node("n3", 8000);
    *ask = (struct quantity){STR_LITERAL("cpu"), cpu};
    e.there = true;
    e.pod = (struct pod){.namespace_name = STR_LITERAL("a"),
                         .name = STR_LITERAL("p"),
                         .uid = STR_LITERAL("u"),
                         .scheduler_name = STR_LITERAL("s"),
                         .request = {.count = 1, .at = ask},
                         .score_request = {.count = 1, .at = ask},
                         .usage = {.count = 1, .at = ask},
                         .usage_score_cpu = cpu};
    e.tried = e.pod;
    e.framework = world_framework(live.world, &e.pod);
    held = (struct held){.arena = &arena};
    const struct attempts attempts = {.world = live.world,
                                      .config = &config,
                                      .arena = &arena,
                                      .after = AFTER_none,
                                      .hold = &held,
                                      .no_bind = true};
    assert_true(attempt_decide(&attempts, &e.tried, &e.now));
}

/* What there is of other groups is not said of one that there is not. */
static void another_group_is_not_its_own(void **state)
{
    const struct message other = {.type = MSG_pod_group_set,
                                  .pod_group_set.group = {.api = STR_LITERAL("g.k8s.io"),
                                                          .namespace_name = STR_LITERAL("a"),
                                                          .name = STR_LITERAL("other"),
                                                          .min_member = 3}};
    struct gang named = {.namespace_name = STR_LITERAL("a"), .name = STR_LITERAL("lost")};
    (void)state;
    decide(1000);
    world_take(live.world, &other);
    e.pod.gang = named.name;
    assert_false(world_group(live.world, &named, &e.group, &arena));
    assert_int_equal(e.group.min_member, 0);
    expect("PodGroup:     lost, which there is none of\n");
    named.name = STR_LITERAL("other");
    assert_true(world_group(live.world, &named, &e.group, &arena));
    assert_int_equal(e.group.min_member, 3);
}

static void nodes_are_grouped_by_why_not(void **state)
{
    (void)state;
    decide(5000);
    e.node = STR_LITERAL("n1");
    expect("could take it");
    e.now = (struct report){0};
    world_free(&live.world);
    decide(9000);
    expect("\nDecided now, on the cluster as the watcher has it:\n"
           "  0/3 nodes are available: 3 Insufficient cpu.\n"
           "       3 nodes  Insufficient cpu (NodeResourcesFit)\n");
    expect("\nNode n1:\n"
           "  NodeResourcesFit         Insufficient cpu\n"
           "                           needs: 5 CPU more (the node is too small by 5 CPU even when "
           "empty)\n");
    e.names = true;
    expect("(NodeResourcesFit)\n                n1, n2, n3\n");
}

static void the_best_nodes_with_their_scores(void **state)
{
    (void)state;
    decide(1000);
    expect(
        "\nDecided now, on the cluster as the watcher has it:\n"
        "  3 of 3 nodes could take it\n"
        "  NODE                        TOTAL  score of each rule, times its weight, but for zeros\n"
        "  n3                            174  NodeResourcesFit 174\n"
        "  n1                            150  NodeResourcesFit 150\n"
        "  n2                            150  NodeResourcesFit 150\n");
    e.top = 1;
    expect("  n3                            174  NodeResourcesFit 174\n"
           "  … 3 in all (--top 3)\n");
    e.pod.node_name = STR_LITERAL("n2"); /* is shown whatever its place */
    expect("Decided anew now,");
    expect("  n2                            150  NodeResourcesFit 150\n"
           "  … 3 in all (--top 3)\n");
    live.explained.asks = WORDS_OF("http://e", "plugin");
    expect("  Nobody has asked these, who have a say in it: http://e, plugin\n");
}

/* No score decides then, whether one was counted or not. */
static void the_only_node_needs_no_score(void **state)
{
    struct past_decision decision = {
        .placed = true, .score = 12, .nodes = 3, .feasible = 1, .node = STR_LITERAL("n3")};
    (void)state;
    decide(5000);
    live.explained.decisions.at = &decision;
    live.explained.decisions.count = 1;
    e.node = STR_LITERAL("n3");
    expect("  placed on n3 (1 of 3 nodes could take it)\n");
    expect("  1 of 3 nodes could take it\n"
           "  n3 is the only one, and is taken whatever its score\n");
    expect("  could take it: every rule lets it pass\n  n3 ");
}

static void of_none_of_the_best_nodes_it_is_said_how_many_there_are(void **state)
{
    (void)state;
    decide(1000);
    e.pod.node_name = STR_LITERAL("n2");
    e.top = 0;
    expect("  3 of 3 nodes could take it\n"
           "  … 3 in all (--top 3)\n");
    assert_null(strstr(said(), "NODE "));
    assert_null(strstr(said(), "NodeResourcesFit"));
}

static void print_json(void)
{
    struct json_out json = {.out = &out, .indented = true};
    json_open(&json, NULL, '{');
    explain_json(&e, &json, &arena);
    json_close(&json, '}');
}

static void expect_printed(const char *part)
{
    if (strstr(out.at, part) == NULL)
        fail_msg("no %s in %s", part, out.at);
}

static void as_json_all_of_it(void **state)
{
    struct past_decision decision = {.attempt = 1, .node = STR_LITERAL("n3"), .placed = true};
    (void)state;
    decide(9000);
    e.node = STR_LITERAL("n2");
    live.explained.decisions.at = &decision;
    live.explained.decisions.count = 1;
    print_json();
    static const char *const parts[] = {
        "{\n  \"namespace\": \"a\",\n  \"name\": \"p\",\n  \"exists\": true,",
        "\"decisions\": [\n      {\"attempt\":1,\"node\":\"n3\",\"placed\":true}\n    ]",
        "\"result\": \"unschedulable\"", "\"nodes\": [\n        {\n          \"name\": \"n2\",",
        "\"needs\": {\n    \"NodeResourcesFit\": \"5 CPU more (the node is too small by 5 CPU"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        expect_printed(parts[i]);
    assert_null(strstr(out.at, "\"n1\""));
}

/* ---- extenders of a recording ---- */

static struct past_consulted asked[3];
static struct past past = {.consulted = asked};

/* One answered about nodes, one about victims that failed, one has not answered. */
static void ask(void)
{
    static struct extender_ref both[2];
    static struct extender_refusal refused[3];
    static struct extender_score scores[2];
    static struct candidate candidates[1];
    both[0].url = STR_LITERAL("http://e");
    both[1].url = STR_LITERAL("http://f");
    for (uint32_t i = 0; i < 3; i++)
        refused[i].reason = i == 1 ? STR_LITERAL("too hot") : STR_LITERAL("no licence");
    refused[0].node = candidates[0].node = STR_LITERAL("n1");
    refused[1].node = STR_LITERAL("n2");
    refused[2].node = STR_LITERAL("n4");
    scores[0] = (struct extender_score){STR_LITERAL("n3"), 70};
    scores[1] = (struct extender_score){STR_LITERAL("n5"), 20};
    for (uint32_t i = 0; i < 3; i++)
        asked[i] = (struct past_consulted){.asked_us = INT64_C(1767323045000006),
                                           .question.extenders = {i == 0 ? 2 : 1, both},
                                           .question.step = EXTEND_STEP_nodes};
    asked[0].answered_us = asked[1].answered_us = INT64_C(1767323045000007);
    asked[0].question.nodes = WORDS_OF("n1", "n2", "n3", "n4", "n5");
    asked[0].answer.nodes = WORDS_OF("n3", "n5");
    asked[0].answer.refused.count = 3;
    asked[0].answer.refused.at = refused;
    asked[0].answer.scores.count = 2;
    asked[0].answer.scores.at = scores;
    asked[1].question.step = EXTEND_STEP_victims;
    asked[1].question.candidates.count = 1;
    asked[1].question.candidates.at = candidates;
    asked[1].answer.error = STR_LITERAL("it is broken");
    past.consulted_count = 3;
    e.past = &past;
    e.at_us = e.then_us = 1;
}

static void what_extenders_said_then(void **state)
{
    (void)state;
    ask();
    expect("\nWhat extenders were asked for the last of these, and said:\n"
           "  2026-01-02T03:04:05.000Z  http://e, http://f: which of 5 nodes? 2 are left\n"
           "       2 nodes  no licence\n"
           "       1 node   too hot\n"
           "          they add to the totals: n3 70, n5 20\n"
           "  2026-01-02T03:04:05.000Z  http://e: whom to evict on one of 1 node? it is broken\n"
           "  2026-01-02T03:04:05.000Z  http://e: which of 0 nodes? no answer had come\n");
    e.names = true;
    e.top = 1;
    expect("no licence\n                n1, n4\n       1 node   too hot\n                n2\n");
    expect("totals: n3 70, … 2 in all\n");
    e.top = 0;
    expect("          they add to the totals: … 2 in all\n");
    past.consulted_count = 0;
    assert_null(strstr(said(), "extenders"));
}

static void extenders_as_json(void **state)
{
    (void)state;
    decide(1000);
    ask();
    live.explained.asks = WORDS_OF("http://e");
    print_json();
    static const char *const parts[] = {
        "\"extenders\": [\n    {\n      \"askedAt\": \"2026-01-02T03:04:05.000006Z\",\n"
        "      \"question\": {\"step\":\"nodes\",\"extenders\":[{\"url\":\"http://e\"},",
        "\"answeredAt\": \"2026-01-02T03:04:05.000007Z\",\n"
        "      \"answer\": {\"nodes\":[\"n3\",\"n5\"],\"refused\":[{\"node\":\"n1\",",
        "\"note\": \"Nobody has asked these, who have a say in it: http://e\""};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        expect_printed(parts[i]);
}

static void expect_note(bool group, const char *wanted)
{
    const struct str note = explain_note(&e, group, &arena);
    if (!str_is(note, wanted))
        fail_msg("%.*s, not %s", STR_ARG(note), wanted);
}

/* Extenders are not asked again where they are known to have had no say. */
static void who_was_not_asked(void **state)
{
    struct bus_plugin plugins[] = {{.name = STR_LITERAL("plugin")}};
    struct profile profiles[] = {{.bus_plugins = {1, plugins}}};
    static const char all[] = "Nobody has asked these, who have a say in it: http://e, plugin";
    (void)state;
    expect_note(false, "");
    live.explained.asks = WORDS_OF("http://e", "plugin");
    live.explained.profiles.count = 1;
    live.explained.profiles.at = profiles;
    expect_note(false, all);
    expect_note(true, all);
    ask();
    expect_note(false, all);
    e.answers_used = true;
    expect_note(false, "Extenders were not asked again: what they had answered then counts. Nobody "
                       "has asked these, who have a say in it: plugin");
    expect_note(true, all);
    e.answers_used = false;
    past.consulted_count = 0;
    expect_note(false, "Nobody has asked these, who have a say in it: plugin");
    live.explained.asks.count = 1;
    expect_note(false, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pod_that_is_gone_has_its_decisions),
        TEST(that_nothing_is_kept_is_said),
        TEST(what_the_queue_has_of_it),
        TEST(what_the_scheduler_does_with_it),
        TEST(who_else_is_in_its_group),
        TEST(another_group_is_not_its_own),
        TEST(nodes_are_grouped_by_why_not),
        TEST(the_best_nodes_with_their_scores),
        TEST(the_only_node_needs_no_score),
        TEST(of_none_of_the_best_nodes_it_is_said_how_many_there_are),
        TEST(as_json_all_of_it),
        TEST(what_extenders_said_then),
        TEST(extenders_as_json),
        TEST(who_was_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
