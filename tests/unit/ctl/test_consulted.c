/* test_consulted: decisions that are made again with what extenders had answered when they were
 * made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ctl/answered.h"
#include "ctl/explain/consulted.h"

static struct arena arena;
static struct world *world;
static struct past past;
static struct past_consulted asked[4];
static struct extension *answers;

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

static void add_node(const char *name, int64_t cpu)
{
    struct quantity room[] = {{STR_LITERAL("cpu"), cpu}, {STR_LITERAL("pods"), 110}};
    world_node_set(world,
                   &(struct node){.name = str_of(name), .allocatable = {.count = 2, .at = room}});
}

/* Three nodes of 4, 4 and 8 CPU, which rules give 150, 150 and 174; and one of half a CPU. */
static int start(void **state)
{
    struct quantity counts[] = {{STR_LITERAL("cpu"), 1}};
    struct score_plugin score[] = {{.name = STR_LITERAL("NodeResourcesFit"), .weight = 2}};
    const struct profile profile = {.scheduler_name = STR_LITERAL("s"),
                                    .pre_filter = WORDS_OF("NodeResourcesFit"),
                                    .filter = WORDS_OF("NodeResourcesFit"),
                                    .score = {1, score},
                                    .fit_resources = {1, counts},
                                    .fit_strategy = STR_LITERAL("LeastAllocated"),
                                    .features.release = 36};
    (void)state;
    world = world_new(&profile, 1, 2);
    add_node("n1", 4000);
    add_node("n2", 4000);
    add_node("n3", 8000);
    add_node("tiny", 500);
    struct quantity *ask = arena_take(&arena, sizeof(*ask));
    *ask = (struct quantity){STR_LITERAL("cpu"), 1000};
    past = (struct past){.consulted = asked};
    past.pod = (struct pod){.namespace_name = STR_LITERAL("a"),
                            .name = STR_LITERAL("p"),
                            .uid = STR_LITERAL("u"),
                            .scheduler_name = STR_LITERAL("s"),
                            .request = {.count = 1, .at = ask},
                            .score_request = {.count = 1, .at = ask},
                            .usage = {.count = 1, .at = ask},
                            .usage_score_cpu = 1000};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    extension_free(&answers);
    world_free(&world);
    arena_free(&arena);
    return 0;
}

/* A question about these nodes, and its answer. */
static struct extended *ask(struct strs nodes, struct strs passed)
{
    struct past_consulted *c = &asked[past.consulted_count++];
    *c = (struct past_consulted){.asked_us = 10, .answered_us = 20};
    c->question.step = EXTEND_STEP_nodes;
    c->question.nodes = nodes;
    c->answer.nodes = passed;
    return &c->answer;
}

static const struct decision *decide(void)
{
    answers = consulted_answers(&past, world);
    assert_non_null(answers);
    world_consult(world, answers);
    return world_decide(world, &past.pod);
}

static void expect_names(struct strs names, struct strs wanted)
{
    assert_int_equal(names.count, wanted.count);
    for (uint32_t i = 0; i < wanted.count; i++)
        assert_true(str_equal(names.at[i], wanted.at[i]));
}

static void without_an_answer_there_is_nothing(void **state)
{
    (void)state;
    assert_null(consulted_answers(&past, world));
    (void)ask(WORDS_OF("n1"), WORDS_OF("n1"));
    asked[0].answered_us = 0;
    assert_null(consulted_answers(&past, world));
}

/* The rules alone would take n3. */
static void refusals_and_scores_decide(void **state)
{
    struct extended *said = ask(WORDS_OF("n1", "n2", "n3"), WORDS_OF("n1", "n2"));
    struct extender_refusal refused[] = {
        {.node = STR_LITERAL("n3"), .reason = STR_LITERAL("no licence")}};
    struct extender_score scores[] = {{STR_LITERAL("n2"), 100}};
    uint32_t count, left;
    (void)state;
    said->refused.count = said->scores.count = 1;
    said->refused.at = refused;
    said->scores.at = scores;
    expect_names(world_decide(world, &past.pod)->best_nodes, WORDS_OF("n3"));
    assert_false(world_consulted(world));
    const struct verdict *told = world_verdicts(world, &count);
    struct verdict *rules = arena_take(&arena, count * sizeof(*rules));
    for (uint32_t i = 0; i < count; i++)
        codec_copy(&verdict_record, &rules[i], &told[i], &arena);
    const struct decision *d = decide();
    assert_true(world_consulted(world));
    assert_int_equal(d->kind, DECISION_node);
    assert_int_equal(d->total, 250);
    assert_int_equal(d->feasible, 2);
    expect_names(d->best_nodes, WORDS_OF("n2"));
    struct report r = {.decision = d};
    r.verdicts = world_verdicts(world, &left);
    r.verdict_count = left;
    const struct verdict *all = answered_verdicts(answers, rules, &count, &r, &arena);
    assert_int_equal(count, 4);
    assert_int_equal(all[0].total, 150);
    assert_int_equal(all[1].total, 250);
    assert_int_equal(all[2].code, VERDICT_unschedulable);
    assert_true(str_is(all[2].plugin, "Extender"));
    assert_true(str_is(all[2].reasons.at[0], "no licence"));
    assert_int_equal(all[2].scores.count, 0);
    assert_true(str_is(all[3].plugin, "NodeResourcesFit"));
    world_consult(world, NULL);
    expect_names(world_decide(world, &past.pod)->best_nodes, WORDS_OF("n3"));
    assert_false(world_consulted(world));
}

static void whoever_is_equally_good_is_named(void **state)
{
    struct extended *said = ask(WORDS_OF("n1", "n2", "n3"), (struct strs){0});
    struct extender_score scores[] = {{STR_LITERAL("n1"), 24}};
    (void)state;
    said->all = true;
    said->scores.count = 1;
    said->scores.at = scores;
    expect_names(decide()->best_nodes, WORDS_OF("n1", "n3"));
}

static void one_that_is_left_is_not_scored(void **state)
{
    uint32_t count;
    (void)state;
    (void)ask(WORDS_OF("n1", "n2", "n3"), WORDS_OF("n1"));
    struct report r = {.decision = decide()};
    expect_names(r.decision->best_nodes, WORDS_OF("n1"));
    r.verdicts = world_verdicts(world, &count);
    r.verdict_count = count;
    const struct verdict *all = answered_verdicts(answers, r.verdicts, &count, &r, &arena);
    assert_int_equal(all[0].code, VERDICT_success);
    assert_int_equal(all[0].total, 0);
    assert_int_equal(all[1].code, VERDICT_unresolvable);
    assert_true(str_is(all[1].reasons.at[0], "left out without a reason"));
}

static void nobody_is_left(void **state)
{
    struct extended *said = ask(WORDS_OF("n1", "n2", "n3"), (struct strs){0});
    struct extender_refusal refused[] = {
        {.node = STR_LITERAL("n1"), .reason = STR_LITERAL("no licence")},
        {.node = STR_LITERAL("n2"), .reason = STR_LITERAL("no licence")}};
    (void)state;
    said->refused.count = 2;
    said->refused.at = refused;
    const struct decision *d = decide();
    assert_int_equal(d->kind, DECISION_unschedulable);
    assert_true(
        str_starts_with(d->message, "0/4 nodes are available: 1 Insufficient cpu, 2 no licence."));
    expect_names(d->plugins, WORDS_OF("Extender", "NodeResourcesFit"));
}

static void an_error_is_the_decision(void **state)
{
    (void)state;
    ask(WORDS_OF("n1", "n2", "n3"), (struct strs){0})->error = STR_LITERAL("it is broken");
    const struct decision *d = decide();
    assert_int_equal(d->kind, DECISION_error);
    assert_true(str_is(d->message, "it is broken"));
}

/* Whom it was not asked about it has not let pass. */
static void what_is_feasible_may_be_others(void **state)
{
    (void)state;
    (void)ask(WORDS_OF("gone", "n1", "n2"), WORDS_OF("gone", "n1", "n2"));
    expect_names(decide()->best_nodes, WORDS_OF("n1", "n2"));
    assert_true(world_consulted(world));
}

static void about_others_alone_it_says_nothing(void **state)
{
    (void)state;
    (void)ask(WORDS_OF("gone"), WORDS_OF("gone"));
    expect_names(decide()->best_nodes, WORDS_OF("n3"));
    assert_false(world_consulted(world));
}

static void the_last_answer_counts(void **state)
{
    (void)state;
    (void)ask(WORDS_OF("n1", "n2"), WORDS_OF("n1"));
    (void)ask(WORDS_OF("n1", "n2", "n3"), WORDS_OF("n2"));
    expect_names(decide()->best_nodes, WORDS_OF("n2"));
}

/* It is asked about alone, and is to be had whatever others score. */
static void the_nominated_node_comes_first(void **state)
{
    (void)state;
    past.pod.nominated_node = STR_LITERAL("n1");
    ask(WORDS_OF("n1"), (struct strs){0})->all = true;
    const struct decision *d = decide();
    assert_true(d->used_nominated);
    expect_names(d->best_nodes, WORDS_OF("n1"));
}

static void the_nominated_node_is_refused(void **state)
{
    (void)state;
    past.pod.nominated_node = STR_LITERAL("n1");
    (void)ask(WORDS_OF("n1"), (struct strs){0});
    (void)ask(WORDS_OF("n1", "n2", "n3"), WORDS_OF("n2", "n3"));
    const struct decision *d = decide();
    assert_false(d->used_nominated);
    expect_names(d->best_nodes, WORDS_OF("n3"));
}

/* An extender names victims by UID; one that it was not asked about is known from the cluster. */
static void victims_have_names(void **state)
{
    struct victim victims[] = {{.uid = STR_LITERAL("v1"), .name = STR_LITERAL("low")}};
    struct candidate candidates[] = {{.node = STR_LITERAL("n1"), .victims = {1, victims}},
                                     {.node = STR_LITERAL("n2"), .victims = {1, victims}}};
    struct victim chosen[] = {{.uid = STR_LITERAL("v1")}, {.uid = STR_LITERAL("v2")}};
    struct candidate left[] = {{.node = STR_LITERAL("n1"), .victims = {2, chosen}},
                               {.node = STR_LITERAL("n2")}};
    (void)state;
    world_pod_set(world, &(struct pod){.uid = STR_LITERAL("v2"),
                                       .namespace_name = STR_LITERAL("b"),
                                       .name = STR_LITERAL("other"),
                                       .node_name = STR_LITERAL("n1"),
                                       .priority = 3});
    struct past_consulted *c = &asked[past.consulted_count++];
    *c = (struct past_consulted){.answered_us = 1};
    c->question.step = EXTEND_STEP_victims;
    c->question.candidates.count = 2;
    c->question.candidates.at = candidates;
    c->answer.candidates.count = 2;
    c->answer.candidates.at = left;
    answers = consulted_answers(&past, world);
    const struct candidates_list *said = &answers->victims.chosen;
    assert_int_equal(said->count, 1);
    assert_true(str_is(said->at[0].victims.at[0].name, "low"));
    assert_true(str_is(said->at[0].victims.at[1].name, "other"));
    assert_int_equal(said->at[0].victims.at[1].priority, 3);
    assert_int_equal(answers->victims.candidates.count, 2);
    extension_free(&answers);
    c->answer.ignored = true;
    answers = consulted_answers(&past, world);
    assert_int_equal(answers->victims.chosen.count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_an_answer_there_is_nothing),
        TEST(refusals_and_scores_decide),
        TEST(whoever_is_equally_good_is_named),
        TEST(one_that_is_left_is_not_scored),
        TEST(nobody_is_left),
        TEST(an_error_is_the_decision),
        TEST(what_is_feasible_may_be_others),
        TEST(about_others_alone_it_says_nothing),
        TEST(the_last_answer_counts),
        TEST(the_nominated_node_comes_first),
        TEST(the_nominated_node_is_refused),
        TEST(victims_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
