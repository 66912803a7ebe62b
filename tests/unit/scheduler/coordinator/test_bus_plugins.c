/* test_bus_plugins: pods whose profile has plugins on the bus, in virtual time. The test plays the
 * plugins' processes; coordinator and workers are the real ones. Profile "strict" has the plugin F
 * at Filter and Score, "lenient" has I there, whose failures are ignored; "gate" has P and Q at
 * Permit and PostBind, "door" has D there, whose failures are ignored. */
#define POST_FILTER "post_filter=[\"DefaultPreemption\"] "
#define FIT                                                                                        \
    "pre_filter=[\"NodeResourcesFit\"] post_filter=[\"DefaultPreemption\"] "                       \
    "fit_strategy=\"LeastAllocated\" fit_resources=[{name=\"cpu\" amount=1} "                      \
    "{name=\"memory\" amount=1}] features={expected_nomination=true} "
#define ON_BUS(name, more)                                                                         \
    "{name=\"" name "\" deadline_ms=500 permit_timeout_ms=60000 facts=\"All\"" more "}"
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"strict\" " FIT "filter=[\"NodeResourcesFit\" \"F\"] "                      \
    "score=[{name=\"NodeResourcesFit\" weight=1} {name=\"F\" weight=2}] "                          \
    "bus_plugins=[" ON_BUS(                                                                        \
        "F",                                                                                       \
        "") "]}"                                                                                   \
            " {scheduler_name=\"lenient\" " FIT "filter=[\"NodeResourcesFit\" \"I\"] "             \
            "score=[{name=\"NodeResourcesFit\" weight=1} {name=\"I\" weight=2}] "                  \
            "bus_plugins=[" ON_BUS(                                                                \
                "I",                                                                               \
                " ignore=true") "]}"                                                               \
                                " {scheduler_name=\"gate\" " FIT                                   \
                                "filter=[\"NodeResourcesFit\"] permit=[\"P\" \"Q\"] "              \
                                "score=[{name=\"NodeResourcesFit\" weight=1}] post_bind=[\"P\"] "  \
                                "bus_plugins=[" ON_BUS("P", "") " " ON_BUS(                        \
                                    "Q", "") "]}"                                                  \
                                             " {scheduler_name=\"door\" " FIT                      \
                                             "filter=[\"NodeResourcesFit\"] permit=[\"D\"] "       \
                                             "score=[{name=\"NodeResourcesFit\" weight=1}] "       \
                                             "bus_plugins=[" ON_BUS("D", " ignore=true") "]}"
#include "tests/unit/scheduler/coordinator/plugins_world.h"

static const struct address f1 = {PLUGIN, 201}, f2 = {PLUGIN, 202}, i1 = {PLUGIN, 203},
                            p1 = {PLUGIN, 204}, q1 = {PLUGIN, 205}, d1 = {PLUGIN, 206},
                            p2 = {PLUGIN, 207};

static int begin(void **state)
{
    start(state);
    lead(5);
    comes(f1, "F");
    comes(i1, "I");
    comes(p1, "P");
    comes(q1, "Q");
    comes(d1, "D");
    struct message m = {.type = MSG_none};
    while (take(QUEUE, MSG_plugin_back, &m))
        continue;
    return 0;
}

/* ---- Filter and Score ---- */

static void one_message_tells_of_all_nodes(void **state)
{
    (void)state;
    stream("pod_set pod={uid=\"u-x\" namespace_name=\"default\" name=\"x\" node_name=\"b\" "
           "scheduler_name=\"other\" usage=[{name=\"cpu\" amount=700}]}");
    attempt_at("strict", "p", 100, "");
    struct plugin_ask q = asked("filter", "p");
    assert_int_equal(q.deadline_ms, 500);
    assert_int_equal(q.nodes.count, 2);
    assert_true(str_is(q.nodes.at[1].name, "b"));
    assert_int_equal(q.nodes.at[1].allocatable.at[0].amount, 2000);
    assert_int_equal(q.nodes.at[1].pods, 1);
    assert_int_equal(q.nodes.at[1].requested.at[0].amount, 700);
    assert_int_equal(q.nodes.at[0].requested.count, 0);
    attempt("plain", 100, 1);
    bound_to("plain", "a");
    answers(f1, &q, "refused=[{node=\"a\" reason=\"no licence\"}]");
    bound_to("p", "b"); /* a single node is not scored */
    not_asked();
}

static void scores_are_weighed(void **state)
{
    (void)state;
    attempt_at("strict", "p", 100, "");
    struct plugin_ask q = asked("filter", "p");
    answers(f1, &q, "");
    q = asked("score", "p");
    assert_int_equal(q.nodes.count, 2);
    answers(f1, &q, "scores=[{node=\"b\" score=100}]");
    bound_to("p", "b");
    attempt_at("strict", "q", 100, "");
    q = asked("filter", "q");
    answers(f1, &q, "");
    q = asked("score", "q");
    answers(f1, &q, "");
    bound_to("q", "a");
}

static void a_node_that_is_turned_away_is_told_of(void **state)
{
    (void)state;
    node("c", 10);
    attempt_at("strict", "p", 100, "");
    struct plugin_ask q = asked("filter", "p");
    answers(f1, &q,
            "refused=[{node=\"a\" reason=\"no licence\" unresolvable=true} {node=\"b\" "
            "unresolvable=true}]");
    told("Unschedulable",
         "0/3 nodes are available: 1 Insufficient cpu, 1 no licence, 1 node(s) didn't satisfy "
         "plugin F. preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
         "scheduling.");
    struct message m = {.type = MSG_none};
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.plugins.count, 2);
    assert_true(str_is(m.outcome.plugins.at[0], "F"));
    assert_true(str_is(m.outcome.plugins.at[1], "NodeResourcesFit"));
}

/* What of an answer makes no sense, and what the pod is told when that is not ignored. */
static const struct nonsense {
    const char *step, *answer, *why;
} nonsense[] = {
    {"filter", "error=\"out of order\"", "failed: out of order"},
    {"filter", "refused=[{node=\"z\"}]",
     "answered about a node that it was not asked about: \"z\""},
    {"score", "scores=[{node=\"z\" score=1}]",
     "answered about a node that it was not asked about: \"z\""},
    {"score", "scores=[{node=\"a\" score=1} {node=\"b\" score=101}]",
     "returns an invalid score 101, it should in the range of [0, 100] after normalizing"},
    {"score", "scores=[{node=\"a\" score=-1}]",
     "returns an invalid score -1, it should in the range of [0, 100] after normalizing"},
};

static void nonsense_fails_the_pod_or_is_ignored(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
        for (int strict = 0; strict < 2; strict++) {
            const struct nonsense *n = &nonsense[i];
            struct address from = strict ? f1 : i1;
            char text[300];
            attempt_at(strict ? "strict" : "lenient", "p", 100, "");
            struct plugin_ask q = asked("filter", "p");
            if (strcmp(n->step, "score") == 0) {
                answers(from, &q, "");
                q = asked("score", "p");
            }
            answers(from, &q, n->answer);
            if (!strict) {
                if (strcmp(n->step, "filter") == 0) {
                    q = asked("score", "p");
                    answers(from, &q, "");
                }
                bound_to("p", "a");
                say(binder, "bind_result uid=\"u-p\" node_name=\"a\" bound=false gone=true");
                (void)landed("skipped", "");
                continue;
            }
            snprintf(text, sizeof(text),
                     "0/2 nodes are available: 2 plugin \"F\" %s. preemption: 0/2 nodes are "
                     "available: 2 Preemption is not helpful for scheduling.",
                     n->why);
            told("Unschedulable", text);
            (void)landed("unschedulable", "F");
        }
}

static void without_its_process_a_plugin_fails_at_once(void **state)
{
    (void)state;
    goes(f1);
    goes(i1);
    attempt_at("lenient", "p", 100, "");
    bound_to("p", "a");
    attempt_at("strict", "q", 100, "");
    told("Unschedulable", "0/2 nodes are available: 2 plugin \"F\" is not there. preemption: 0/2 "
                          "nodes are available: 2 Preemption is not helpful for scheduling.");
    (void)landed("unschedulable", "F");
    not_asked();
    assert_false(is_back("F"));
    comes(f2, "F");
    assert_true(is_back("F"));
    attempt_at("strict", "q", 100, "");
    struct plugin_ask q = asked("filter", "q");
    answers(f2, &q, "refused=[{node=\"a\"}]");
    bound_to("q", "b");
}

static void who_is_late_is_left_alone_until_it_speaks(void **state)
{
    (void)state;
    attempt_at("strict", "p", 100, "");
    struct plugin_ask late = asked("filter", "p");
    tick_after(499);
    struct message m = {.type = MSG_none};
    assert_false(take(BINDER, MSG_pod_failed, &m));
    tick_after(1);
    told("Unschedulable",
         "0/2 nodes are available: 2 plugin \"F\" did not answer within 500ms. preemption: 0/2 "
         "nodes are available: 2 Preemption is not helpful for scheduling.");
    (void)landed("unschedulable", "F");
    attempt_at("strict", "q", 100, "");
    told("Unschedulable",
         "0/2 nodes are available: 2 plugin \"F\" does not answer. preemption: 0/2 nodes are "
         "available: 2 Preemption is not helpful for scheduling.");
    (void)landed("unschedulable", "F");
    assert_false(is_back("F"));
    answers(f1, &late, "");
    assert_true(is_back("F"));
    not_bound();
    attempt_at("strict", "q", 100, "");
    (void)asked("filter", "q");
    tick_after(500);
    (void)landed("unschedulable", "F");
    tick_after(5000); /* it is asked once more even if it says nothing */
    attempt_at("strict", "r", 100, "");
    (void)asked("filter", "r");
}

static void a_late_one_that_is_ignored_holds_up_one_pod_only(void **state)
{
    (void)state;
    attempt_at("lenient", "p", 100, "");
    attempt_at("lenient", "q", 100, "");
    (void)asked("filter", "p");
    not_asked();
    attempt("plain", 100, 1);
    bound_to("plain", "a");
    tick_after(500);
    bound_to("p", "");
    bound_to("q", "");
    not_asked();
}

static void the_next_process_of_a_name_takes_over(void **state)
{
    (void)state;
    attempt_at("strict", "p", 100, "");
    struct plugin_ask q = asked("filter", "p"), old = q;
    comes(f2, "F");
    not_asked();
    goes(f1);
    q = asked("filter", "p");
    answers(f1, &old, "refused=[{node=\"b\"}]");
    answers(f2, &q, "refused=[{node=\"a\"}]");
    bound_to("p", "b");
}

static void a_stranger_cannot_answer(void **state)
{
    (void)state;
    attempt_at("strict", "p", 100, "");
    struct plugin_ask q = asked("filter", "p");
    answers(i1, &q, "refused=[{node=\"a\"}]");
    not_bound();
    say(f1, "plugin_answer id=%lld", (long long)q.id + 7);
    not_bound();
    answers(f1, &q, "refused=[{node=\"b\"}]");
    bound_to("p", "a");
}

static void who_filters_has_a_say_in_preemption(void **state)
{
    (void)state;
    static const char *const nodes[] = {"a", "b"};
    struct message m = {.type = MSG_none};
    for (int i = 0; i < 2; i++)
        stream("pod_set pod={uid=\"u-v%d\" namespace_name=\"default\" name=\"v%d\" "
               "node_name=\"%s\" scheduler_name=\"other\" usage=[{name=\"cpu\" amount=%d}]}",
               i, i, nodes[i], i == 0 ? 4000 : 2000);
    attempt_at("strict", "p", 1000, "priority=10");
    struct plugin_ask q = asked("filter", "p");
    assert_int_equal(q.nodes.count, 2);
    answers(f1, &q, "refused=[{node=\"a\"}]");
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "b"));
}

static void another_configuration_asks_others(void **state)
{
    (void)state;
    attempt_at("strict", "p", 100, "");
    attempt_at("gate", "g", 100, "");
    struct plugin_ask old = asked("filter", "p"), q = asked("permit", "g");
    struct message profiles =
        message("shard_reset profiles=[{scheduler_name=\"strict\" filter=[\"NodeResourcesFit\"] "
                "score=[{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"LeastAllocated\"} "
                "{scheduler_name=\"gate\" filter=[\"NodeResourcesFit\" \"F\"] "
                "score=[{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"LeastAllocated\" "
                "bus_plugins=[{name=\"F\" deadline_ms=500 permit_timeout_ms=1000}]}]");
    struct outbox out = {0};
    coordinator_reconfigure(
        w.coordinator, w.now,
        &(struct coordinator_config){.profiles = profiles.shard_reset.profiles.at,
                                     .profile_count = profiles.shard_reset.profiles.count,
                                     .hash = 9},
        &out);
    settle(&out);
    outbox_free(&out);
    tick_after(1);
    assert_true(is_told("unreserved", "a"));
    bound_to("p", "");
    answers(p1, &q, "");
    answers(f1, &old, "");
    q = asked("filter", "g");
    answers(f1, &q, "refused=[{node=\"a\"}]");
    bound_to("g", "b");
}

/* ---- Permit and PostBind ---- */

static void permitted(const char *name)
{
    attempt_at("gate", name, 100, "");
    struct plugin_ask q = asked("permit", name);
    answers(p1, &q, "verdict=\"allow\"");
    q = asked("permit", name);
    answers(q1, &q, "");
}

static void a_pod_is_bound_when_all_allow_it(void **state)
{
    (void)state;
    permitted("p");
    bound_to("p", "a");
    say(binder, "bind_result uid=\"u-p\" node_name=\"a\" bound=true");
    (void)landed("bound", "");
    assert_true(is_told("bound", "a"));
}

static void who_is_denied_gives_its_room_back(void **state)
{
    (void)state;
    attempt_at("gate", "p", 4000, "");
    struct plugin_ask q = asked("permit", "p");
    assert_int_equal(q.nodes.count, 1);
    assert_true(str_is(q.nodes.at[0].name, "a"));
    answers(p1, &q, "");
    q = asked("permit", "p");
    answers(q1, &q, "verdict=\"deny\" reason=\"over quota\"");
    told("Unschedulable", "0/1 nodes are available: 1 over quota.");
    assert_true(landed("unschedulable", "Q").released);
    assert_true(is_told("unreserved", "a"));
    assert_true(is_told("unreserved", "a"));
    attempt("q", 4000, 1);
    bound_to("q", "a");
}

/* Both plugins want it to wait. */
static void waits_on(const char *name, int cpu, const char *node)
{
    struct message m = {.type = MSG_none};
    attempt_at("gate", name, cpu, "");
    struct plugin_ask q = asked("permit", name);
    answers(p1, &q, "verdict=\"wait\"");
    q = asked("permit", name);
    answers(q1, &q, "verdict=\"wait\" timeout_ms=20000");
    not_bound();
    assert_true(take(BINDER, MSG_nominate, &m));
    assert_true(str_is(m.nominate.pod.name, name) && str_is(m.nominate.node_name, node));
}

static void waits(const char *name, int cpu)
{
    waits_on(name, cpu, "a");
}

static void a_waiting_pod_needs_all_permissions(void **state)
{
    (void)state;
    waits("p", 3000);
    attempt("other", 3000, 1); /* its room is taken */
    told("Unschedulable",
         "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 1 No "
         "preemption victims found for incoming pod, 1 Preemption is not helpful for "
         "scheduling.");
    say(q1, "plugin_permit uid=\"u-p\" allow=true");
    not_bound();
    say(i1, "plugin_permit uid=\"u-p\" allow=true"); /* nobody asked it */
    not_bound();
    tick_after(59000);
    say(p1, "plugin_permit uid=\"u-p\" allow=true");
    bound_to("p", "a");
    say(p1, "plugin_permit uid=\"u-p\" reason=\"too late\"");
    say(binder, "bind_result uid=\"u-p\" node_name=\"a\" bound=true");
    assert_true(is_told("bound", "a"));
}

static void a_waiting_pod_is_rejected_by_one_plugin(void **state)
{
    (void)state;
    waits("p", 100);
    say(p1, "plugin_permit uid=\"u-p\" allow=true");
    say(q1, "plugin_permit uid=\"u-p\" reason=\"the others do not come\"");
    told("Unschedulable", "0/1 nodes are available: 1 the others do not come.");
    (void)landed("unschedulable", "Q");
}

static void a_waiting_pod_has_its_time(void **state)
{
    (void)state;
    waits("p", 100);
    tick_after(19999);
    not_bound();
    tick_after(1);
    told("Unschedulable", "0/1 nodes are available: 1 rejected due to timeout after waiting 20s at "
                          "plugin Q.");
    (void)landed("unschedulable", "Q");
    waits("q", 100);
    say(q1, "plugin_permit uid=\"u-q\" allow=true");
    tick_after(60000);
    told("Unschedulable", "0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s "
                          "at plugin P.");
}

static void a_waiting_pod_that_goes_is_removed(void **state)
{
    (void)state;
    waits("p", 4000);
    stream("pod_set pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" deleting=true "
           "scheduler_name=\"gate\" resource_version=9}");
    told("Unschedulable", "0/1 nodes are available: 1 removed.");
    assert_true(landed("skipped", "").released);
    assert_true(is_told("unreserved", "a"));
    waits("q", 4000);
    stream("pod_gone uid=\"u-q\"");
    told("Unschedulable", "0/1 nodes are available: 1 removed.");
    assert_true(landed("skipped", "").released);
    attempt("r", 4000, 1);
    bound_to("r", "a");
}

static void a_waiting_pod_whose_node_goes_is_decided_anew(void **state)
{
    (void)state;
    waits("p", 100);
    stream("node_gone name=\"a\"");
    assert_true(is_told("unreserved", "a"));
    struct plugin_ask q = asked("permit", "p");
    assert_true(str_is(q.nodes.at[0].name, "b"));
    answers(p1, &q, "");
    q = asked("permit", "p");
    answers(q1, &q, "");
    bound_to("p", "b");
}

static void who_no_longer_leads_gives_waiting_pods_back(void **state)
{
    (void)state;
    waits("p", 100);
    attempt_at("strict", "f", 100, "");
    (void)asked("filter", "f");
    say(binder, "leadership leading=false lead_term=6");
    (void)landed("skipped", "");
    (void)landed("skipped", "");
    assert_true(is_told("unreserved", "a"));
    say(p1, "plugin_permit uid=\"u-p\" allow=true");
    not_bound();
}

static void a_new_term_decides_waiting_pods_anew(void **state)
{
    (void)state;
    waits("p", 100);
    lead(7);
    struct plugin_ask q = asked("permit", "p");
    answers(p1, &q, "");
    q = asked("permit", "p");
    answers(q1, &q, "");
    bound_to("p", "a");
}

static void a_plugin_that_goes_takes_its_waiting_pods_along(void **state)
{
    (void)state;
    waits("p", 100);
    goes(p1);
    told("Unschedulable",
         "0/1 nodes are available: 1 plugin \"P\" went away before it gave its permission.");
    (void)landed("unschedulable", "P");
    comes(p1, "P");
    assert_true(is_back("P"));
    waits("q", 100);
    comes(p2, "P"); /* takes over, and is asked */
    goes(p1);
    struct plugin_ask q = asked("permit", "q");
    answers(p2, &q, "");
    q = asked("permit", "q");
    answers(q1, &q, "");
    bound_to("q", "a");
}

static void a_door_that_fails_is_open(void **state)
{
    (void)state;
    attempt_at("door", "p", 100, "");
    struct plugin_ask q = asked("permit", "p");
    answers(d1, &q, "verdict=\"perhaps\"");
    bound_to("p", "a");
    attempt_at("door", "q", 100, "");
    (void)asked("permit", "q");
    tick_after(500);
    bound_to("q", "");
    attempt_at("door", "r", 100, "");
    bound_to("r", "");
    goes(d1);
    attempt_at("door", "s", 100, "");
    bound_to("s", "");
    comes(d1, "D");
    attempt_at("door", "t", 100, "");
    q = asked("permit", "t");
    answers(d1, &q, "verdict=\"wait\"");
    not_bound();
    goes(d1);
    bound_to("t", "");
}

static void permission_that_fails_fails_the_pod(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *text;
    } cases[] = {
        {"error=\"no database\"", "failed: no database"},
        {"verdict=\"perhaps\"", "answered with an unknown verdict: \"perhaps\""},
        {"verdict=\"wait\" timeout_ms=-1", "answered with a negative timeout"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        attempt_at("gate", "p", 100, "");
        struct plugin_ask q = asked("permit", "p");
        answers(p1, &q, cases[i].answer);
        snprintf(text, sizeof(text), "0/1 nodes are available: 1 plugin \"P\" %s.", cases[i].text);
        told("Unschedulable", text);
        (void)landed("unschedulable", "P");
    }
}

static void waiting_pods_are_no_credit(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    int64_t most = 0;
    waits("p", 100);
    while (take(QUEUE, MSG_pull, &m))
        most = m.pull.credit;
    assert_int_equal(most, 10 + 64);
}

static void a_waiting_victim_is_not_deleted(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    stream("node_gone name=\"b\"");
    waits("p", 4000);
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("vip", 3000, "priority=10"));
    told("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.");
    told("SchedulerError", "waiting on permit for pod: preempted");
    (void)landed("error", "");
    assert_false(take(BINDER, MSG_preempt, &m));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "vip") && str_is(m.outcome.nominated_node, "a"));
}

/* Its wait has ended, and it waits on another node now. */
static void a_victim_that_waited_is_not_waited_for(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    stream("node_gone name=\"b\"");
    waits("p", 2000);
    stream("pod_set %s", pod_text("v", 2000, "node_name=\"a\" resource_version=2"));
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("vip", 3000, "priority=10"));
    assert_true(take(BINDER, MSG_preempt, &m));
    node("b", 2000);
    waits_on("p", 2000, "b");
    stream("pod_gone uid=\"u-v\" namespace_name=\"default\" name=\"v\"");
    while (take(QUEUE, MSG_outcome, &m))
        assert_false(str_is(m.outcome.name, "vip"));
    say(binder, "preempt_result uid=\"u-vip\" namespace_name=\"default\" name=\"vip\" "
                "node_name=\"a\" done=true");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.name, "vip") && str_is(m.outcome.nominated_node, "a"));
    assert_int_equal(m.outcome.gated_epoch, 0);
}

static void somebody_else_binds_a_waiting_pod(void **state)
{
    (void)state;
    waits("p", 100);
    stream("pod_set pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"b\" "
           "scheduler_name=\"gate\" resource_version=9 usage=[{name=\"cpu\" amount=100}]}");
    (void)landed("skipped", "");
    assert_true(is_told("unreserved", "a"));
    not_bound();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, stop)
    const struct CMUnitTest tests[] = {
        TEST(one_message_tells_of_all_nodes),
        TEST(scores_are_weighed),
        TEST(a_node_that_is_turned_away_is_told_of),
        TEST(nonsense_fails_the_pod_or_is_ignored),
        TEST(without_its_process_a_plugin_fails_at_once),
        TEST(who_is_late_is_left_alone_until_it_speaks),
        TEST(a_late_one_that_is_ignored_holds_up_one_pod_only),
        TEST(the_next_process_of_a_name_takes_over),
        TEST(a_stranger_cannot_answer),
        TEST(who_filters_has_a_say_in_preemption),
        TEST(another_configuration_asks_others),
        TEST(a_pod_is_bound_when_all_allow_it),
        TEST(who_is_denied_gives_its_room_back),
        TEST(a_waiting_pod_needs_all_permissions),
        TEST(a_waiting_pod_is_rejected_by_one_plugin),
        TEST(a_waiting_pod_has_its_time),
        TEST(a_waiting_pod_that_goes_is_removed),
        TEST(a_waiting_pod_whose_node_goes_is_decided_anew),
        TEST(who_no_longer_leads_gives_waiting_pods_back),
        TEST(a_new_term_decides_waiting_pods_anew),
        TEST(a_plugin_that_goes_takes_its_waiting_pods_along),
        TEST(a_door_that_fails_is_open),
        TEST(permission_that_fails_fails_the_pod),
        TEST(waiting_pods_are_no_credit),
        TEST(a_waiting_victim_is_not_deleted),
        TEST(a_victim_that_waited_is_not_waited_for),
        TEST(somebody_else_binds_a_waiting_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
