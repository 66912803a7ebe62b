/* test_bus_points: what plugins on the bus say at PreFilter, PreScore, Score with normalising,
 * PostFilter and Reserve, in virtual time. The test plays the plugins' processes; coordinator and
 * workers are the real ones. A and B are plugins whose failures count, C's are ignored. */
#define FIT                                                                                        \
    "fit_strategy=\"LeastAllocated\" fit_resources=[{name=\"cpu\" amount=1} "                      \
    "{name=\"memory\" amount=1}] filter=[\"NodeResourcesFit\" \"A\"] "                             \
    "features={expected_nomination=true} "                                                         \
    "bus_plugins=[{name=\"A\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Pods\"} "            \
    "{name=\"B\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Names\"} "                        \
    "{name=\"C\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Node\" ignore=true}] "
#define BARE                                                                                       \
    "fit_strategy=\"LeastAllocated\" fit_resources=[{name=\"cpu\" amount=1} "                      \
    "{name=\"memory\" amount=1}] filter=[\"NodeResourcesFit\"] pre_filter=[\"NodeResourcesFit\"] " \
    "features={expected_nomination=true} "                                                         \
    "bus_plugins=[{name=\"A\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Pods\"} "            \
    "{name=\"B\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Names\"} "                        \
    "{name=\"C\" deadline_ms=500 permit_timeout_ms=60000 facts=\"Node\" ignore=true}] "
#define BY_ROOM "score=[{name=\"NodeResourcesFit\" weight=1}"
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"first\" pre_filter=[\"NodeResourcesFit\" \"A\" \"B\" \"C\"] " FIT BY_ROOM  \
    "]} {scheduler_name=\"scored\" pre_score=[\"A\" \"C\"] " BARE BY_ROOM                          \
    " {name=\"A\" weight=2}]} {scheduler_name=\"rescue\" "                                         \
    "post_filter=[\"DefaultPreemption\" \"A\" \"C\" \"B\"] " BARE BY_ROOM                          \
    "]} {scheduler_name=\"keeper\" reserve=[\"A\" \"C\" \"B\"] permit=[\"B\"] " BARE BY_ROOM "]}"
#include "tests/unit/scheduler/coordinator/plugins_world.h"

static const struct address a1 = {PLUGIN, 201}, a2 = {PLUGIN, 202}, b1 = {PLUGIN, 203},
                            c1 = {PLUGIN, 204};

static int begin(void **state)
{
    start(state);
    lead(5);
    comes(a1, "A");
    comes(b1, "B");
    comes(c1, "C");
    struct message m = {.type = MSG_none};
    while (take(QUEUE, MSG_plugin_back, &m))
        continue;
    return 0;
}

/* Asks at the step, and is answered. */
static void step(const char *name, struct address from, const char *point, const char *answer)
{
    struct plugin_ask q = asked(point, name);
    answers(from, &q, answer);
}

/* ---- PreFilter ---- */

static void the_pod_is_asked_about_before_its_nodes(void **state)
{
    (void)state;
    attempt_at("first", "p", 100, "annotations=[{key=\"bus/x\" value=\"1\"}]");
    struct plugin_ask q = asked("preFilter", "p");
    assert_int_equal(q.nodes.count, 0);
    assert_true(str_is(q.pod.annotations.at[0].value, "1"));
    attempt("plain", 100, 1); /* others go on meanwhile */
    bound_to("plain", "a");
    answers(a1, &q, "");
    step("p", b1, "preFilter", "verdict=\"allow\"");
    step("p", c1, "preFilter", "");
    q = asked("filter", "p");
    assert_int_equal(q.nodes.count, 2);
    answers(a1, &q, "refused=[{node=\"a\"}]");
    bound_to("p", "b");
}

static void who_skips_does_not_filter(void **state)
{
    (void)state;
    attempt_at("first", "p", 100, "");
    step("p", a1, "preFilter", "skip=true");
    step("p", b1, "preFilter", "");
    step("p", c1, "preFilter", "");
    bound_to("p", "a");
    not_asked();
}

static void the_sets_of_nodes_are_intersected(void **state)
{
    (void)state;
    attempt_at("first", "p", 100, "");
    step("p", a1, "preFilter", "skip=true");
    step("p", b1, "preFilter", "nodes=[\"nowhere\" \"b\" \"a\" \"b\"]");
    step("p", c1, "preFilter", "nodes=[\"b\"]");
    bound_to("p", "b");
    attempt_at("first", "q", 100, "");
    step("q", a1, "preFilter", "nodes=[\"a\"]");
    step("q", b1, "preFilter", "");
    step("q", c1, "preFilter", "nodes=[\"b\"]");
    told("Unschedulable",
         "0/2 nodes are available: node(s) didn't satisfy plugin(s) [A C] simultaneously.");
    struct message m = {.type = MSG_none};
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.plugins.count, 2);
    attempt_at("first", "r", 100, "");
    step("r", a1, "preFilter", "narrowed=true");
    told("Unschedulable", "0/2 nodes are available: node(s) didn't satisfy plugin A.");
}

static void who_denies_turns_the_pod_away(void **state)
{
    (void)state;
    attempt_at("first", "p", 100, "");
    step("p", a1, "preFilter", "");
    step("p", b1, "preFilter", "verdict=\"deny\" reason=\"no quota\"");
    not_asked();
    told("Unschedulable", "0/2 nodes are available: no quota.");
    (void)landed("unschedulable", "B");
    attempt_at("first", "p", 100, ""); /* another attempt asks anew */
    step("p", a1, "preFilter", "verdict=\"deny\"");
    told("Unschedulable", "0/2 nodes are available: node(s) didn't satisfy plugin A.");
    (void)landed("unschedulable", "A");
}

static void a_pod_whose_plugin_fails_before_its_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *why;
    } cases[] = {{"error=\"no database\"", "failed: no database"},
                 {"verdict=\"wait\"", "answered with an unknown verdict: \"wait\""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        attempt_at("first", "p", 100, "");
        step("p", a1, "preFilter", cases[i].answer);
        snprintf(text, sizeof(text), "0/2 nodes are available: plugin \"A\" %s.", cases[i].why);
        told("Unschedulable", text);
        (void)landed("unschedulable", "A");
    }
    attempt_at("first", "p", 100, "");
    (void)asked("preFilter", "p");
    tick_after(500);
    told("Unschedulable", "0/2 nodes are available: plugin \"A\" did not answer within 500ms.");
    (void)landed("unschedulable", "A");
    goes(a1);
    attempt_at("first", "p", 100, "");
    told("Unschedulable", "0/2 nodes are available: plugin \"A\" is not there.");
    (void)landed("unschedulable", "A");
    comes(a1, "A");
    assert_true(is_back("A"));
    goes(c1); /* is ignored */
    attempt_at("first", "p", 100, "");
    struct plugin_ask q = asked("preFilter", "p");
    comes(a2, "A");
    goes(a1); /* another process takes over */
    q = asked("preFilter", "p");
    answers(a2, &q, "skip=true");
    step("p", b1, "preFilter", "");
    bound_to("p", "a");
}

/* ---- PreScore, Score ---- */

static void who_gets_ready_may_leave_it_at_that(void **state)
{
    (void)state;
    attempt_at("scored", "p", 100, "");
    struct plugin_ask q = asked("preScore", "p");
    assert_int_equal(q.nodes.count, 2);
    answers(a1, &q, "");
    step("p", c1, "preScore", "skip=true");
    step("p", a1, "score", "scores=[{node=\"b\" score=100}]");
    bound_to("p", "b");
    attempt_at("scored", "q", 100, "");
    step("q", a1, "preScore", "skip=true");
    step("q", c1, "preScore", "error=\"out of order\"");
    bound_to("q", "a");
    not_asked();
    attempt_at("scored", "r", 100, "");
    step("r", a1, "preScore", "error=\"out of order\"");
    told("Unschedulable", "0/2 nodes are available: 2 plugin \"A\" failed: out of order.");
    (void)landed("unschedulable", "A");
    attempt_at("scored", "s", 3000, ""); /* one node is no choice */
    bound_to("s", "a");
    not_asked();
}

/* Whose raw scores are normalised in which way, and where the pod goes then: by the room alone it
 * would go to a, and a score of A weighs twice. */
static void raw_scores_are_normalised(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *node, *why;
    } cases[] = {
        {"normalize=\"highest\" scores=[{node=\"a\" score=1} {node=\"b\" score=5000}]", "b", NULL},
        {"normalize=\"lowest\" scores=[{node=\"a\" score=5000} {node=\"b\" score=1}]", "b", NULL},
        {"normalize=\"lowest\" scores=[{node=\"a\" score=0} {node=\"b\" score=5000}]", "a", NULL},
        {"normalize=\"range\" scores=[{node=\"a\" score=-9223372036854775807} "
         "{node=\"b\" score=9223372036854775807}]",
         "b", NULL},
        {"normalize=\"range\" scores=[{node=\"a\" score=-7} {node=\"b\" score=-7}]", "a", NULL},
        {"normalize=\"highest\" scores=[{node=\"a\" score=-7}]", NULL,
         "returns an invalid score -7, it should in the range of [0, 100] after normalizing"},
        {"scores=[{node=\"b\" score=5000}]", NULL,
         "returns an invalid score 5000, it should in the range of [0, 100] after normalizing"},
        {"normalize=\"best\"", NULL, "answered with an unknown way to normalize: \"best\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        attempt_at("scored", "p", 100, "");
        step("p", a1, "preScore", "");
        step("p", c1, "preScore", "");
        step("p", a1, "score", cases[i].answer);
        if (cases[i].why == NULL) {
            bound_to("p", cases[i].node);
            say(binder, "bind_result uid=\"u-p\" node_name=\"%s\" bound=false gone=true",
                cases[i].node);
            (void)landed("skipped", "");
            continue;
        }
        snprintf(text, sizeof(text), "0/2 nodes are available: 2 plugin \"A\" %s.", cases[i].why);
        told("Unschedulable", text);
        (void)landed("unschedulable", "A");
    }
}

/* ---- PostFilter ---- */

static void a_plugin_may_nominate_a_node(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    stream("pod_set pod={uid=\"u-x\" namespace_name=\"default\" name=\"x\" node_name=\"b\" "
           "scheduler_name=\"other\" labels=[{key=\"k\" value=\"v\"}] priority=3 "
           "usage=[{name=\"cpu\" amount=700}]}");
    attempt_at("rescue", "p", 100000, "");
    struct plugin_ask q = asked("postFilter", "p");
    assert_int_equal(q.nodes.count, 2);
    assert_true(str_is(q.nodes.at[1].name, "b"));
    assert_true(str_is(q.nodes.at[1].rejected_by, "NodeResourcesFit"));
    assert_true(str_is(q.nodes.at[1].reasons.at[0], "Insufficient cpu"));
    assert_int_equal(q.nodes.at[1].pods_there.count, 1);
    const struct plugin_pod *there = &q.nodes.at[1].pods_there.at[0];
    assert_true(str_is(there->name, "x") && str_is(there->uid, "u-x"));
    assert_true(str_is(there->labels.at[0].value, "v"));
    assert_int_equal(there->priority, 3);
    assert_int_equal(there->requested.at[0].amount, 700);
    answers(a1, &q, "node=\"b\" reason=\"a machine is being bought\"");
    not_asked();
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(m.pod_failed.set_nominated && str_is(m.pod_failed.nominated_node, "b"));
    assert_true(str_is(m.pod_failed.message,
                       "0/2 nodes are available: 2 Insufficient cpu. a machine is being bought"));
    struct outcome o = landed("unschedulable", "NodeResourcesFit");
    assert_true(str_is(o.nominated_node, "b"));
}

static void plugins_say_why_not_one_after_the_other(void **state)
{
    (void)state;
    attempt_at("rescue", "p", 100000, "");
    step("p", a1, "postFilter", "reason=\"nothing to buy\"");
    step("p", c1, "postFilter", "error=\"out of order\"");
    step("p", b1, "postFilter", "");
    told("Unschedulable",
         "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 "
         "Preemption is not helpful for scheduling., nothing to buy");
    (void)landed("unschedulable", "NodeResourcesFit");
    attempt_at("rescue", "q", 100000, "");
    step("q", a1, "postFilter", "reason=\"that is that\" unresolvable=true");
    not_asked();
    told("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu. that is that");
}

static void a_plugin_that_fails_to_help_is_told_of(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    goes(a1);
    attempt_at("rescue", "p", 100000, "");
    told("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu. plugin \"A\" is not there");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.plugins.count, 2);
    assert_true(str_is(m.outcome.plugins.at[0], "A"));
    comes(a1, "A");
    assert_true(is_back("A"));
    attempt_at("rescue", "p", 100000, "");
    step("p", a1, "postFilter", "node=\"nowhere\"");
    told("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu. plugin \"A\" answered "
                          "about a node that it was not asked about: \"nowhere\"");
}

static void who_finds_room_meanwhile_is_placed(void **state)
{
    (void)state;
    attempt_at("rescue", "p", 3900, "priority=1");
    bound_to("p", "a");
    attempt_at("rescue", "q", 3900, "priority=1");
    struct plugin_ask q = asked("postFilter", "q");
    node("c", 8000);
    answers(a1, &q, "node=\"b\"");
    bound_to("q", "c");
}

static void victims_come_before_plugins(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    stream("pod_set pod={uid=\"u-x\" namespace_name=\"default\" name=\"x\" node_name=\"a\" "
           "scheduler_name=\"other\" usage=[{name=\"cpu\" amount=3000}]}");
    attempt_at("rescue", "p", 3500, "priority=10");
    not_asked();
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "a"));
}

/* ---- Reserve ---- */

static void what_is_reserved_comes_before_permission(void **state)
{
    (void)state;
    attempt_at("keeper", "p", 100, "");
    struct plugin_ask q = asked("reserve", "p");
    assert_int_equal(q.nodes.count, 1);
    assert_true(str_is(q.nodes.at[0].name, "a") && q.nodes.at[0].pods == 1);
    not_bound();
    answers(a1, &q, "");
    step("p", c1, "reserve", "");
    step("p", b1, "reserve", "verdict=\"allow\"");
    step("p", b1, "permit", "");
    bound_to("p", "a");
}

static struct plugin_told unreserved(void)
{
    struct message m = {.type = MSG_none};
    assert_true(take(PLUGIN, MSG_plugin_told, &m));
    assert_true(m.plugin_told.what == PLUGIN_NEWS_unreserved);
    return m.plugin_told;
}

static void who_fails_to_reserve_gives_all_back(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    attempt_at("keeper", "p", 4000, "");
    step("p", a1, "reserve", "");
    step("p", c1, "reserve", "error=\"out of order\"");
    step("p", b1, "reserve", "verdict=\"deny\" reason=\"sold out\"");
    told("Unschedulable", "0/1 nodes are available: 1 sold out.");
    (void)landed("unschedulable", "B");
    for (int i = 0; i < 3; i++) /* everybody who was asked, once */
        assert_true(str_is(unreserved().node, "a"));
    assert_false(take(PLUGIN, MSG_plugin_told, &m));
    attempt("other", 4000, 1); /* its room is free */
    bound_to("other", "a");
}

static void without_an_answer_nothing_is_reserved(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    attempt_at("keeper", "p", 100, "");
    (void)asked("reserve", "p");
    tick_after(500);
    told("Unschedulable", "0/1 nodes are available: 1 plugin \"A\" did not answer within 500ms.");
    (void)landed("unschedulable", "A");
    (void)unreserved();
    goes(a1);
    attempt_at("keeper", "p", 100, "");
    told("Unschedulable", "0/1 nodes are available: 1 plugin \"A\" is not there.");
    (void)landed("unschedulable", "A");
    assert_false(take(PLUGIN, MSG_plugin_told, &m));
    comes(a1, "A");
    attempt_at("keeper", "p", 100, "");
    step("p", a1, "reserve", "verdict=\"wait\"");
    told("Unschedulable", "0/1 nodes are available: 1 plugin \"A\" answered with an unknown "
                          "verdict: \"wait\".");
    (void)landed("unschedulable", "A");
}

static void who_denies_permission_frees_what_is_reserved(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    attempt_at("keeper", "p", 100, "");
    step("p", a1, "reserve", "");
    step("p", c1, "reserve", "");
    step("p", b1, "reserve", "");
    step("p", b1, "permit", "verdict=\"deny\"");
    told("Unschedulable", "0/1 nodes are available: 1 plugin \"B\" does not permit it.");
    (void)landed("unschedulable", "B");
    for (int i = 0; i < 3; i++)
        (void)unreserved();
    assert_false(take(PLUGIN, MSG_plugin_told, &m)); /* B was asked twice, and is told once */
}

static void a_node_that_goes_takes_the_reservation_along(void **state)
{
    (void)state;
    attempt_at("keeper", "p", 100, "");
    step("p", a1, "reserve", "");
    (void)asked("reserve", "p");
    stream("node_gone name=\"a\"");
    (void)unreserved();
    (void)unreserved();
    struct plugin_ask q = asked("reserve", "p");
    assert_true(str_is(q.nodes.at[0].name, "b"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, stop)
    const struct CMUnitTest tests[] = {
        TEST(the_pod_is_asked_about_before_its_nodes),
        TEST(who_skips_does_not_filter),
        TEST(the_sets_of_nodes_are_intersected),
        TEST(who_denies_turns_the_pod_away),
        TEST(a_pod_whose_plugin_fails_before_its_nodes),
        TEST(who_gets_ready_may_leave_it_at_that),
        TEST(raw_scores_are_normalised),
        TEST(a_plugin_may_nominate_a_node),
        TEST(plugins_say_why_not_one_after_the_other),
        TEST(a_plugin_that_fails_to_help_is_told_of),
        TEST(who_finds_room_meanwhile_is_placed),
        TEST(victims_come_before_plugins),
        TEST(what_is_reserved_comes_before_permission),
        TEST(who_fails_to_reserve_gives_all_back),
        TEST(without_an_answer_nothing_is_reserved),
        TEST(who_denies_permission_frees_what_is_reserved),
        TEST(a_node_that_goes_takes_the_reservation_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
