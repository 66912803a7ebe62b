/* test_reduce: one cycle over several shards: merging, second rounds, tie-breaks between shards,
 * the words for pods that fit nowhere, and answers that come late, doubled or make no sense. */
#include "tests/unit/scheduler/table.h"

static void assert_message(const struct decision *d, const char *message, const char *plugins)
{
    assert_int_equal(d->kind, DECISION_unschedulable);
    assert_str(d->message, message);
    struct buffer list = {0};
    for (uint32_t i = 0; i < d->plugins.count; i++)
        buffer_print(&list, "%s%.*s", i > 0 ? " " : "", STR_ARG(d->plugins.at[i]));
    assert_str(buffer_str(&list), plugins);
    buffer_free(&list);
}

static void three_nodes(struct table *t)
{
    deal(t, 0, make_node(t->c, "n1", 4000, 8 * GIB));
    deal(t, 1, make_node(t->c, "n2", 4000, 8 * GIB));
    deal(t, 1, make_node(t->c, "n3", 4000, 8 * GIB));
}

/* ---- messages ---- */

#define HELPLESS                                                                                   \
    " no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not "      \
    "helpful "                                                                                     \
    "for scheduling."

static void a_request_beyond_every_node(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    assert_message(decide(t, make_pod(t->c, "p", 40000, 0)),
                   "0/3 nodes are available: 3 Insufficient cpu." HELPLESS, "NodeResourcesFit");
    assert_true(reduce_decision(t->reduce)->clear_nominated);
    table_free(t);
}

static void fill(struct table *t, int64_t priority)
{
    static const char *const names[] = {"n1", "n2", "n3"};
    for (int i = 0; i < 3; i++) {
        struct pod *p = make_pod(t->c, "sits", 3500, 0);
        p->priority = priority;
        shard_pod_set(t->shards[i > 0], on_node(p, names[i]));
    }
}

static void full_nodes_without_victims(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    fill(t, 0);
    assert_message(
        decide(t, make_pod(t->c, "p", 1000, 0)),
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming "
        "pod.",
        "NodeResourcesFit");
    table_free(t);
}

static void full_nodes_with_victims_just_pend(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    fill(t, -1);
    assert_message(decide(t, make_pod(t->c, "p", 1000, 0)),
                   "0/3 nodes are available: 3 Insufficient cpu.", "NodeResourcesFit");
    assert_true(reduce_decision(t->reduce)->preemption.node.len > 0);
    table_free(t);
}

static void a_pod_that_never_preempts(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    fill(t, -1);
    struct pod *p = make_pod(t->c, "p", 1000, 0);
    p->preemption_policy = STR_LITERAL("Never");
    assert_message(decide(t, p),
                   "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, "
                   "preemption: not eligible due to preemptionPolicy=Never.",
                   "NodeResourcesFit");
    assert_int_equal(t->rounds, 1);
    table_free(t);
}

static void different_taints_are_one_reason(void **state)
{
    struct table *t = table_new(*state);
    static const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        struct node *n = make_node(t->c, keys[i], 1000, GIB);
        add_taint(t->c, n, keys[i], "NoSchedule");
        deal(t, i, n);
    }
    assert_message(decide(t, make_pod(t->c, "p", 0, 0)),
                   "0/3 nodes are available: 3 node(s) had untolerated taint(s)." HELPLESS,
                   "TaintToleration");
    table_free(t);
}

static void a_name_that_no_node_has(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct pod *p = make_pod(t->c, "p", 0, 0);
    require(t->c, p, one_term(t->c, "metadata.name", "In", "nx"));
    const struct decision *d = decide(t, p);
    assert_message(
        d, "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]." HELPLESS,
        "NodeAffinity");
    assert_int_equal(d->evaluated, 0);
    table_free(t);
}

static void contradictory_names_end_in_not_found(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct pod *p = make_pod(t->c, "p", 0, 0);
    struct node_term both = one_term(t->c, "metadata.name", "In", "n1");
    *APPEND(&t->c->arena, both.fields) = one_term(t->c, "metadata.name", "In", "n2").fields.at[0];
    require(t->c, p, both);
    assert_message(decide(t, p), "0/3 nodes are available: pod affinity terms conflict. not found",
                   "NodeAffinity");
    assert_int_equal(t->rounds, 0);
    table_free(t);
}

static void no_nodes_at_all(void **state)
{
    struct table *t = table_new(*state);
    assert_message(decide(t, make_pod(t->c, "p", 0, 0)), "no nodes available to schedule pods", "");
    assert_true(reduce_decision(t->reduce)->clear_nominated);
    table_free(t);
}

static void reasons_are_sorted_as_strings(void **state)
{
    struct table *t = table_new(*state);
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        struct node *n = make_node(t->c, name, i < 10 ? 100 : 1000, GIB);
        n->unschedulable = i >= 10;
        deal(t, i % SHARDS, n);
    }
    assert_message(
        decide(t, make_pod(t->c, "p", 500, 0)),
        "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) were unschedulable. no new "
        "claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not "
        "helpful for scheduling.",
        "NodeResourcesFit NodeUnschedulable");
    table_free(t);
}

/* ---- merging ---- */

static void only_shards_with_smaller_maxima_are_asked_again(void **state)
{
    struct table *t = table_new(*state);
    struct node *n1 = make_node(t->c, "n1", 1000, GIB), *n2 = make_node(t->c, "n2", 1000, GIB);
    add_taint(t->c, n1, "x", "PreferNoSchedule");
    add_taint(t->c, n2, "x", "PreferNoSchedule");
    add_taint(t->c, n2, "y", "PreferNoSchedule");
    deal(t, 0, n1);
    deal(t, 1, n2);
    struct reduce_start start = {.cycle = 1,
                                 .framework = &t->frameworks.at[0],
                                 .catalog = t->c->catalog,
                                 .no_terms = true,
                                 .pod = make_pod(t->c, "p", 0, 0),
                                 .shards = SHARDS,
                                 .nodes = 2};
    assert_int_equal(reduce_start(t->reduce, &start), REDUCE_ask);
    assert_int_equal(ask_all(t), REDUCE_ask);
    assert_true(reduce_asks(t->reduce, 0));
    assert_false(reduce_asks(t->reduce, 1));
    assert_false(reduce_asks(t->reduce, 2)); /* has no node at all */
    assert_int_equal(ask_all(t), REDUCE_done);
    assert_str(reduce_decision(t->reduce)->node, "n1");
    assert_int_equal(reduce_decision(t->reduce)->total, 3 * 50 + 85); /* no image, no affinity */
    table_free(t);
}

/* As three_nodes deals them. */
static uint32_t owner_of(const void *context, struct str node)
{
    (void)context;
    return str_is(node, "n1") ? 0 : str_is(node, "n2") || str_is(node, "n3") ? 1 : UINT32_MAX;
}

static void assert_asked(struct table *t, const struct pod *p, bool first, bool second, bool third)
{
    struct reduce_start start = {.cycle = 1,
                                 .framework = &t->frameworks.at[0],
                                 .catalog = t->c->catalog,
                                 .no_terms = true,
                                 .pod = p,
                                 .shards = SHARDS,
                                 .nodes = 3,
                                 .owner = owner_of};
    assert_int_equal(reduce_start(t->reduce, &start), REDUCE_ask);
    assert_int_equal(reduce_asks(t->reduce, 0), first);
    assert_int_equal(reduce_asks(t->reduce, 1), second);
    assert_int_equal(reduce_asks(t->reduce, 2), third);
}

static void of_few_nodes_only_those_who_have_them_are_asked(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct pod *p = make_pod(t->c, "p", 0, 0);
    assert_asked(t, p, true, true, true);
    require(t->c, p, one_term(t->c, "metadata.name", "In", "n3"));
    assert_asked(t, p, false, true, false);
    assert_int_equal(ask_all(t), REDUCE_done);
    assert_str(reduce_decision(t->reduce)->node, "n3");
    assert_int_equal(reduce_decision(t->reduce)->evaluated, 1);
    ask_more(t->c, p, "cpu", 99999);
    assert_asked(t, p, false, true, false);
    assert_int_equal(ask_all(t), REDUCE_done);
    assert_message(
        reduce_decision(t->reduce),
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]." HELPLESS,
        "NodeAffinity NodeResourcesFit");
    p = make_pod(t->c, "p", 0, 0);
    require(t->c, p, one_term(t->c, "metadata.name", "In", "nx"));
    assert_asked(t, p, true, true, true); /* somebody has to say that it is not there */
    p = make_pod(t->c, "p", 0, 0);
    p->nominated_node = STR_LITERAL("n1");
    assert_asked(t, p, true, false, false);
    assert_int_equal(ask_all(t), REDUCE_done);
    assert_true(reduce_decision(t->reduce)->used_nominated);
    table_free(t);
}

static void equal_nodes_are_all_taken(void **state)
{
    struct table *t = table_new(*state);
    int taken[3] = {0};
    three_nodes(t);
    const struct pod *p = make_pod(t->c, "p", 100, MIB);
    for (int64_t seed = 0; seed < 3000; seed++) {
        t->start.seed = seed;
        const struct decision *d = decide(t, p);
        assert_int_equal(d->best_count, 3);
        taken[d->node.at[1] - '1']++;
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(taken[i], 870, 1130); /* five standard deviations */
    table_free(t);
}

static uint32_t last_first(const void *context, struct str node)
{
    (void)context;
    return (uint32_t)('3' - node.at[1]);
}

static void deterministic_tie_breaks(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    const struct pod *p = make_pod(t->c, "p", 100, MIB);
    t->start.tie_break = TIE_BREAK_first;
    assert_str(decide(t, p)->node, "n1");
    t->start.tie_break = TIE_BREAK_round_robin;
    t->start.walk = (struct walk){.nodes = 3, .place = last_first};
    static const char *const order[] = {"n3", "n2", "n1", "n3"};
    for (t->start.turn = 0; t->start.turn < 4; t->start.turn++) {
        assert_str(decide(t, p)->node, order[t->start.turn]);
        assert_true(reduce_decision(t->reduce)->took_turn);
    }
    table_free(t);
}

/* As lastNodeIndex % n of those with the best score, which counts on by one whatever n is. */
static void a_turn_is_taken_among_the_best_alone(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct node *n2 = make_node(t->c, "n2", 4000, 8 * GIB);
    add_taint(t->c, n2, "worse", "PreferNoSchedule");
    shard_node_set(t->shards[1], n2);
    t->start.tie_break = TIE_BREAK_round_robin;
    t->start.walk = (struct walk){.nodes = 3, .place = last_first};
    const struct pod *p = make_pod(t->c, "p", 100, MIB);
    static const char *const order[] = {"n3", "n1", "n3", "n1"};
    for (t->start.turn = 0; t->start.turn < 4; t->start.turn++)
        assert_str(decide(t, p)->node, order[t->start.turn]);
    struct pod *one = make_pod(t->c, "one", 100, MIB);
    require(t->c, one, one_term(t->c, "metadata.name", "In", "n1"));
    assert_str(decide(t, one)->node, "n1"); /* there was nothing to choose */
    assert_false(reduce_decision(t->reduce)->took_turn);
    t->start.walk = (struct walk){0}; /* workers have nodes, and nobody else knows of any */
    assert_int_equal(decide(t, p)->kind, DECISION_error);
    table_free(t);
}

static void the_nominated_node_is_taken_if_it_fits(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct node *n2 = make_node(t->c, "n2", 4000, 8 * GIB);
    add_taint(t->c, n2, "worse", "PreferNoSchedule");
    shard_node_set(t->shards[1], n2);
    struct pod *p = make_pod(t->c, "p", 100, MIB);
    p->nominated_node = STR_LITERAL("n2");
    assert_str(decide(t, p)->node, "n2");
    assert_true(reduce_decision(t->reduce)->used_nominated);
    p->nominated_node = STR_LITERAL("nowhere");
    assert_false(decide(t, p)->used_nominated);
    table_free(t);
}

static void a_scoring_error_fails_the_cycle_unless_one_node_is_left(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct pod *p = make_pod(t->c, "p", 0, 0);
    prefer(t->c, p, 1, one_term(t->c, "a", "Gt", "x"));
    assert_int_equal(decide(t, p)->kind, DECISION_error);
    p->nominated_node = STR_LITERAL("n2"); /* taken without scoring */
    assert_int_equal(decide(t, p)->kind, DECISION_node);
    assert_str(reduce_decision(t->reduce)->node, "n2");
    p->nominated_node = (struct str){0};
    require(t->c, p, one_term(t->c, "metadata.name", "In", "n3"));
    assert_int_equal(decide(t, p)->kind, DECISION_node);
    assert_str(reduce_decision(t->reduce)->node, "n3");
    p->required_terms.count = 0;
    ask_more(t->c, p, "cpu", 99999);
    assert_int_equal(decide(t, p)->kind, DECISION_unschedulable);
    table_free(t);
}

/* ---- peers ---- */

static void late_doubled_and_foreign_answers_are_ignored(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    struct reduce_start start = {.cycle = 5,
                                 .framework = &t->frameworks.at[0],
                                 .catalog = t->c->catalog,
                                 .no_terms = true,
                                 .pod = make_pod(t->c, "p", 0, 0),
                                 .shards = 2,
                                 .nodes = 3};
    struct map_result r[2];
    assert_int_equal(reduce_start(t->reduce, &start), REDUCE_ask);
    for (int i = 0; i < 2; i++)
        shard_map(t->shards[i], reduce_request(t->reduce), &r[i], &t->c->arena);
    struct map_result old = r[0], other_round = r[0];
    old.cycle = 4;
    other_round.round = 2;
    assert_int_equal(reduce_add(t->reduce, 0, &old), REDUCE_wait);
    assert_int_equal(reduce_add(t->reduce, 0, &other_round), REDUCE_wait);
    assert_int_equal(reduce_add(t->reduce, 7, &r[0]), REDUCE_wait);
    assert_int_equal(reduce_add(t->reduce, 0, &r[0]), REDUCE_wait);
    assert_int_equal(reduce_add(t->reduce, 0, &r[0]), REDUCE_wait);
    assert_int_equal(reduce_add(t->reduce, 1, &r[1]), REDUCE_done);
    assert_int_equal(reduce_add(t->reduce, 1, &r[1]), REDUCE_done);
    assert_int_equal(reduce_decision(t->reduce)->feasible, 3);
    table_free(t);
}

static void answers_that_make_no_sense_fail_the_cycle(void **state)
{
    struct table *t = table_new(*state);
    three_nodes(t);
    const struct map_result nonsense[] = {
        {.feasible = -1},
        {.feasible = 3, .evaluated = 2, .best_count = 1},
        {.feasible = 1, .evaluated = 1},
        {.feasible = 1, .evaluated = 1, .best_count = 2},
        {.evaluated = INT64_MAX},
        {.evaluated = 1, .unresolvable = 2},
    };
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        struct reduce_start start = {.cycle = 5,
                                     .framework = &t->frameworks.at[0],
                                     .catalog = t->c->catalog,
                                     .no_terms = true,
                                     .pod = make_pod(t->c, "p", 0, 0),
                                     .shards = 1,
                                     .nodes = 3};
        assert_int_equal(reduce_start(t->reduce, &start), REDUCE_ask);
        struct map_result r = nonsense[i];
        r.cycle = 5;
        r.round = 1;
        assert_int_equal(reduce_add(t->reduce, 0, &r), REDUCE_done);
        assert_int_equal(reduce_decision(t->reduce)->kind, DECISION_error);
        assert_str(reduce_decision(t->reduce)->message, "a worker's answer makes no sense");
    }
    table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_request_beyond_every_node),
        CLUSTER_TEST(full_nodes_without_victims),
        CLUSTER_TEST(full_nodes_with_victims_just_pend),
        CLUSTER_TEST(a_pod_that_never_preempts),
        CLUSTER_TEST(different_taints_are_one_reason),
        CLUSTER_TEST(a_name_that_no_node_has),
        CLUSTER_TEST(contradictory_names_end_in_not_found),
        CLUSTER_TEST(no_nodes_at_all),
        CLUSTER_TEST(reasons_are_sorted_as_strings),
        CLUSTER_TEST(only_shards_with_smaller_maxima_are_asked_again),
        CLUSTER_TEST(of_few_nodes_only_those_who_have_them_are_asked),
        CLUSTER_TEST(equal_nodes_are_all_taken),
        CLUSTER_TEST(deterministic_tie_breaks),
        CLUSTER_TEST(a_turn_is_taken_among_the_best_alone),
        CLUSTER_TEST(the_nominated_node_is_taken_if_it_fits),
        CLUSTER_TEST(a_scoring_error_fails_the_cycle_unless_one_node_is_left),
        CLUSTER_TEST(late_doubled_and_foreign_answers_are_ignored),
        CLUSTER_TEST(answers_that_make_no_sense_fail_the_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
