/* test_extending: pods that HTTP extenders care about, beside others, in virtual time. The test
 * plays the process that calls extenders; coordinator and workers are the real ones. Of two
 * extenders one cares about pods with x.io/a, the other about those with x.io/b. */
#define POST_FILTER "post_filter=[\"DefaultPreemption\"] "
#include "proto/kube/extenders/extenders.h"

extern const struct extender_config two_extenders[];
#define EXTENDERS      two_extenders
#define EXTENDER_COUNT 2
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static struct extender_resource manages_a[] = {{.name = {"x.io/a", 6}}};
static struct extender_resource manages_b[] = {{.name = {"x.io/b", 6}}};

const struct extender_config two_extenders[] = {{.url_prefix = {"http://a", 8},
                                                 .filter_verb = {"filter", 6},
                                                 .preempt_verb = {"preempt", 7},
                                                 .managed = {1, manages_a}},
                                                {.url_prefix = {"http://b", 8},
                                                 .prioritize_verb = {"score", 5},
                                                 .bind_verb = {"bind", 4},
                                                 .weight = 1,
                                                 .managed = {1, manages_b}}};

static const struct address extender = {EXTENDER, 104};

static int begin(void **state)
{
    start(state);
    lead(5);
    say(extender, "peer_up process=\"extender\"");
    return 0;
}

/* An attempt of a pod that asks for some of x.io/RESOURCE; "" for none. */
static void attempt_of(const char *name, int cpu, const char *resource, const char *more)
{
    char wants[64] = "";
    if (*resource != 0)
        snprintf(wants, sizeof(wants), " {name=\"x.io/%s\" amount=0}", resource);
    say(queue,
        "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
        "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}%s] "
        "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
        "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 %s} "
        "attempts=1 cycle=1",
        name, name, cpu, wants, cpu, cpu, cpu, more);
}

static struct extend asked(const char *name)
{
    struct message m = {.type = MSG_none};
    if (!take(EXTENDER, MSG_extend, &m))
        fail_msg("nobody asks extenders about %s", name);
    assert_true(str_is(m.extend.name, name));
    return m.extend;
}

static void not_asked(void)
{
    struct message m;
    assert_false(take(EXTENDER, MSG_extend, &m));
}

static void answers(const struct extend *q, const char *text)
{
    say(extender, "extended id=%lld uid=\"%.*s\" %s", (long long)q->id, STR_ARG(q->uid), text);
}

/* "": wherever it is. */
static struct bind bound_to(const char *name, const char *node_name)
{
    struct message m = {.type = MSG_none};
    if (!take(BINDER, MSG_bind, &m))
        fail_msg("%s is not bound", name);
    if (!str_is(m.bind.name, name) || (*node_name != 0 && !str_is(m.bind.node_name, node_name)))
        fail_msg("%.*s is bound to %.*s", STR_ARG(m.bind.name), STR_ARG(m.bind.node_name));
    return m.bind;
}

static void not_bound(void)
{
    struct message m;
    assert_false(take(BINDER, MSG_bind, &m));
}

static void told(const char *reason, const char *text)
{
    struct message m;
    assert_true(take(BINDER, MSG_pod_failed, &m));
    if (!str_is(words_text(&condition_reason_words, m.pod_failed.reason), reason) ||
        !str_is(m.pod_failed.message, text))
        fail_msg("%.*s: %.*s", STR_ARG(words_text(&condition_reason_words, m.pod_failed.reason)),
                 STR_ARG(m.pod_failed.message));
}

static void landed(const char *result, const char *plugin)
{
    struct message m;
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(words_text(&outcome_result_words, m.outcome.result), result));
    bool listed = *plugin == 0;
    for (uint32_t i = 0; i < m.outcome.plugins.count; i++)
        listed |= str_is(m.outcome.plugins.at[i], plugin);
    assert_true(listed);
}

static void others_are_decided_while_an_extender_is_asked(void **state)
{
    (void)state;
    attempt_of("slow", 100, "a", "");
    struct extend q = asked("slow");
    assert_true(q.step == EXTEND_STEP_nodes);
    assert_int_equal(q.nodes.count, 2);
    assert_int_equal(q.extenders.count, 1);
    attempt_of("plain", 100, "", "");
    (void)bound_to("plain", "a");
    answers(&q, "nodes=[\"b\"]");
    (void)bound_to("slow", "b");
    not_asked();
}

static void scores_of_extenders_are_added(void **state)
{
    (void)state;
    attempt_of("p", 100, "b", "");
    struct extend q = asked("p");
    answers(&q, "all=true scores=[{node=\"b\" score=100}]");
    struct bind bind = bound_to("p", "b");
    assert_int_equal(bind.extenders.count, 1);
    assert_int_equal(bind.extenders.at[0].index, 1);
    attempt_of("q", 100, "b", "");
    q = asked("q");
    answers(&q, "all=true");
    (void)bound_to("q", "a");
}

/* Two members, of whom the first interests an extender. */
static void attempt_group(int cpu)
{
    char members[2][900];
    for (int i = 0; i < 2; i++)
        snprintf(members[i], sizeof(members[i]),
                 "{pod={uid=\"u-g%d\" namespace_name=\"default\" name=\"g%d\" "
                 "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}%s] "
                 "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
                 "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d "
                 "usage_score_memory=209715200} attempts=1 cycle=%d}",
                 i, i, cpu, i == 0 ? " {name=\"x.io/a\" amount=0}" : "", cpu, cpu, cpu, i + 1);
    say(queue,
        "gang_attempt group={api=\"scheduling.x-k8s.io\" namespace_name=\"default\" name=\"g\" "
        "uid=\"g\" min_member=2} needed=2 members=[%s %s]",
        members[0], members[1]);
}

static void nobody_is_decided_while_a_groups_extender_is_asked(void **state)
{
    (void)state;
    attempt_group(2000);
    struct extend q = asked("g0");
    attempt_of("plain", 100, "", "");
    not_bound();
    answers(&q, "nodes=[\"b\"]");
    (void)bound_to("g0", "b");
    (void)bound_to("g1", "a");
    (void)bound_to("plain", "a");
    not_asked();
}

static void a_group_waits_for_the_extenders_of_others(void **state)
{
    (void)state;
    attempt_of("slow", 2000, "a", "");
    struct extend first = asked("slow");
    attempt_group(2000);
    not_asked();
    not_bound();
    answers(&first, "nodes=[\"a\"]");
    (void)bound_to("slow", "a");
    struct extend q = asked("g0");
    answers(&q, "nodes=[\"b\"]");
    (void)bound_to("g0", "b");
    (void)bound_to("g1", "a");
}

static void a_group_without_its_extenders_comes_again(void **state)
{
    (void)state;
    attempt_group(2000);
    struct extend q = asked("g0");
    say(extender, "peer_down");
    landed("error", "");
    landed("error", "");
    answers(&q, "nodes=[\"b\"]");
    not_bound();
    attempt_of("plain", 4000, "", "");
    (void)bound_to("plain", "a");
}

static void an_answer_about_other_nodes_is_asked_for_again(void **state)
{
    (void)state;
    attempt_of("p", 1500, "a", "");
    struct extend q = asked("p");
    assert_int_equal(q.nodes.count, 2);
    attempt_of("plain", 1000, "", "node_selector=[]");
    stream("pod_set pod={uid=\"u-x\" namespace_name=\"default\" name=\"x\" node_name=\"b\" "
           "scheduler_name=\"other\" usage=[{name=\"cpu\" amount=1500}]}");
    answers(&q, "all=true");
    (void)bound_to("plain", "a");
    q = asked("p");
    assert_int_equal(q.nodes.count, 1);
    assert_true(str_is(q.nodes.at[0], "a"));
    not_bound();
    answers(&q, "all=true");
    (void)bound_to("p", "a");
}

static void a_cluster_that_never_rests_cannot_hold_up_a_pod(void **state)
{
    (void)state;
    struct extend q;
    attempt_of("p", 100, "a", "");
    for (int i = 0; i < 5; i++) {
        char name[16];
        q = asked("p");
        snprintf(name, sizeof(name), "n%d", i);
        node(name, 1000 + i);
        answers(&q, "nodes=[\"b\"]");
    }
    not_asked();
    (void)bound_to("p", "b");
}

static void nodes_that_extenders_turn_away_are_told_of(void **state)
{
    (void)state;
    node("c", 100);
    attempt_of("p", 500, "a", "");
    struct extend q = asked("p");
    answers(&q, "refused=[{node=\"a\" reason=\"no licence\"} {node=\"b\" reason=\"never\" "
                "unresolvable=true}]");
    told(
        "Unschedulable",
        "0/3 nodes are available: 1 Insufficient cpu, 1 never, 1 no licence. preemption: 0/3 nodes "
        "are available: 1 No preemption victims found for incoming pod, 2 Preemption is not "
        "helpful "
        "for scheduling.");
    landed("unschedulable", "Extender");
}

static void nodes_that_go_without_a_reason_only_are_gone(void **state)
{
    (void)state;
    attempt_of("p", 500, "a", "");
    struct extend q = asked("p");
    answers(&q, "");
    told("Unschedulable",
         "0/2 nodes are available: preemption: 0/2 nodes are available: 2 Preemption "
         "is not helpful for scheduling.");
    landed("unschedulable", "Extender");
}

static void a_failure_ends_the_attempt(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    struct extend q = asked("p");
    answers(&q, "error=\"it is broken\"");
    told("SchedulerError", "it is broken");
    landed("error", "");
}

static void an_extender_is_asked_about_one_pod_at_a_time(void **state)
{
    (void)state;
    attempt_of("first", 100, "a", "");
    attempt_of("low", 100, "a", "priority=1");
    attempt_of("high", 100, "a", "priority=2");
    attempt_of("other", 100, "b", "");
    struct extend q = asked("first"), other = asked("other");
    not_asked();
    answers(&q, "all=true");
    (void)bound_to("first", "");
    q = asked("high");
    not_asked();
    answers(&other, "all=true");
    (void)bound_to("other", "");
    answers(&q, "gone=true");
    landed("skipped", "");
    q = asked("low");
    answers(&q, "all=true");
    (void)bound_to("low", "a");
}

static void without_its_caller_a_pod_waits_and_others_do_not(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    (void)asked("p");
    say(extender, "peer_down process=\"extender\"");
    attempt_of("q", 100, "a", "");
    attempt_of("plain", 100, "", "");
    (void)bound_to("plain", "a");
    not_asked();
    say(extender, "peer_up process=\"extender\"");
    struct extend q = asked("p");
    answers(&q, "all=true");
    (void)bound_to("p", "");
    (void)asked("q");
}

static void a_pod_that_goes_frees_its_extender(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    attempt_of("q", 100, "a", "");
    struct extend late = asked("p");
    stream("pod_gone uid=\"u-p\"");
    landed("skipped", "");
    struct extend q = asked("q");
    answers(&late, "all=true");
    not_bound();
    answers(&q, "all=true");
    (void)bound_to("q", "a");
}

static void who_no_longer_leads_gives_the_pod_back(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    attempt_of("waits", 100, "a", "");
    struct extend late = asked("p");
    say(binder, "leadership leading=false lead_term=6");
    landed("skipped", "");
    landed("skipped", "");
    answers(&late, "all=true");
    not_bound();
}

static void an_answer_that_never_comes_is_asked_for_again(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    struct extend late = asked("p");
    tick_after(29000);
    not_asked();
    tick_after(2000);
    struct extend q = asked("p");
    answers(&late, "nodes=[\"b\"]");
    not_bound();
    answers(&q, "all=true");
    (void)bound_to("p", "a");
}

static void a_nominated_node_is_asked_about_alone(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "nominated_node=\"b\"");
    struct extend q = asked("p");
    assert_int_equal(q.nodes.count, 1);
    assert_true(str_is(q.nodes.at[0], "b"));
    answers(&q, "all=true");
    (void)bound_to("p", "b");
    attempt_of("r", 100, "a", "nominated_node=\"b\"");
    q = asked("r");
    answers(&q, "error=\"broken\""); /* is only logged, for this one */
    q = asked("r");
    assert_int_equal(q.nodes.count, 2);
    answers(&q, "nodes=[\"a\"]");
    (void)bound_to("r", "a");
}

/* On both nodes a pod of low priority, in nobody's way but the next one's. */
static struct extend ask_victims(void)
{
    static const char *const nodes[] = {"a", "b"};
    for (int i = 0; i < 2; i++)
        stream(
            "pod_set pod={uid=\"u-v%d\" namespace_name=\"default\" name=\"v%d\" node_name=\"%s\" "
            "scheduler_name=\"other\" usage=[{name=\"cpu\" amount=%d}]}",
            i, i, nodes[i], i == 0 ? 4000 : 2000);
    attempt_of("p", 1000, "a", "priority=10");
    struct extend q = asked("p");
    assert_true(q.step == EXTEND_STEP_victims);
    assert_int_equal(q.candidates.count, 2);
    assert_true(str_is(q.candidates.at[0].victims.at[0].name, "v0"));
    return q;
}

static void extenders_have_a_say_in_preemption(void **state)
{
    (void)state;
    struct message m;
    struct extend q = ask_victims();
    answers(&q, "candidates=[{node=\"b\" victims=[{uid=\"u-v1\"}]}]");
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "b"));
    assert_int_equal(m.preempt.victims.count, 1);
    assert_true(str_is(m.preempt.victims.at[0].name, "v1"));
}

static void preemption_that_extenders_spoil_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *text;
    } cases[] = {
        {"error=\"broken\"", "broken"},
        {"candidates=[]", "no candidate node for preemption"},
        {"candidates=[{node=\"z\" victims=[{uid=\"u-v1\"}]}]",
         "nodeinfo not found for node name \"z\""},
        {"candidates=[{node=\"b\"}]", "expected at least one victim pod on node \"b\""},
        {"candidates=[{node=\"b\" victims=[{uid=\"u-v0\"}]}]",
         "extender: http://a claims to preempt pod (UID: &{u-v0}) on node: b, but the pod is not "
         "found "
         "on that node"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[400];
        struct extend q = ask_victims();
        answers(&q, cases[i].answer);
        snprintf(text, sizeof(text), "0/2 nodes are available: 2 Insufficient cpu. preemption: %s",
                 cases[i].text);
        told("Unschedulable", text);
        landed("unschedulable", "NodeResourcesFit");
    }
}

static void too_many_that_wait_try_again_later(void **state)
{
    (void)state;
    attempt_of("first", 100, "a", "");
    (void)asked("first");
    for (int i = 0; i < 1026; i++) {
        char name[32];
        snprintf(name, sizeof(name), "p%d", i);
        attempt_of(name, 100, "a", "");
    }
    landed("error", "");
    landed("error", "");
    struct message m;
    assert_false(take(QUEUE, MSG_outcome, &m));
    attempt_of("plain", 100, "", "");
    (void)bound_to("plain", "a");
}

/* Other extenders: hash, and who they are. */
static void reconfigure(int64_t hash, const struct extender_config *extenders, uint32_t count)
{
    static const char profiles[] =
        "shard_reset profiles=[{scheduler_name=\"default-scheduler\" "
        "pre_filter=[\"NodeResourcesFit\"] filter=[\"NodeUnschedulable\" \"NodeResourcesFit\"] "
        "score=[{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"LeastAllocated\" "
        "fit_resources=[{name=\"cpu\" amount=1} {name=\"memory\" amount=1}]}]";
    struct outbox out = {0};
    struct message m = message(profiles);
    struct coordinator_config config = {.profiles = m.shard_reset.profiles.at,
                                        .profile_count = m.shard_reset.profiles.count,
                                        .hash = 40 + hash,
                                        .extenders = extenders,
                                        .extender_count = count,
                                        .extenders_hash = hash};
    coordinator_reconfigure(w.coordinator, w.now, &config, &out);
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

static void other_extenders_are_asked_anew(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    attempt_of("q", 100, "a", "");
    struct extend former = asked("p");
    assert_int_equal(former.extenders_hash, 0);
    reconfigure(7, two_extenders, 1);
    struct extend q = asked("p");
    assert_int_equal(q.extenders_hash, 7);
    answers(&former, "all=true"); /* comes too late, and is about others */
    not_bound();
    answers(&q, "nodes=[\"b\"]");
    (void)bound_to("p", "b");
    q = asked("q");
    answers(&q, "all=true");
    (void)bound_to("q", "");
}

static void without_extenders_nobody_waits_for_one(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    attempt_of("q", 100, "a", "");
    (void)asked("p");
    reconfigure(7, NULL, 0);
    (void)bound_to("p", "");
    (void)bound_to("q", "");
    not_asked();
    reconfigure(8, two_extenders, 2);
    attempt_of("r", 100, "b", "");
    struct extend q = asked("r");
    assert_int_equal(q.extenders_hash, 8);
    answers(&q, "all=true");
    struct bind bind = bound_to("r", "");
    assert_int_equal(bind.extenders.count, 1);
    assert_int_equal(bind.extenders_hash, 8);
}

static void the_same_extenders_are_left_alone(void **state)
{
    (void)state;
    attempt_of("p", 100, "a", "");
    (void)asked("p");
    reconfigure(0, NULL, 0);      /* as if they were the same: only the hash is looked at */
    struct extend q = asked("p"); /* the decision begins again, with them */
    assert_int_equal(q.extenders.count, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, stop)
    const struct CMUnitTest tests[] = {
        TEST(others_are_decided_while_an_extender_is_asked),
        TEST(scores_of_extenders_are_added),
        TEST(nobody_is_decided_while_a_groups_extender_is_asked),
        TEST(a_group_waits_for_the_extenders_of_others),
        TEST(a_group_without_its_extenders_comes_again),
        TEST(an_answer_about_other_nodes_is_asked_for_again),
        TEST(a_cluster_that_never_rests_cannot_hold_up_a_pod),
        TEST(nodes_that_extenders_turn_away_are_told_of),
        TEST(nodes_that_go_without_a_reason_only_are_gone),
        TEST(a_failure_ends_the_attempt),
        TEST(an_extender_is_asked_about_one_pod_at_a_time),
        TEST(without_its_caller_a_pod_waits_and_others_do_not),
        TEST(a_pod_that_goes_frees_its_extender),
        TEST(who_no_longer_leads_gives_the_pod_back),
        TEST(an_answer_that_never_comes_is_asked_for_again),
        TEST(a_nominated_node_is_asked_about_alone),
        TEST(extenders_have_a_say_in_preemption),
        TEST(preemption_that_extenders_spoil_says_so),
        TEST(too_many_that_wait_try_again_later),
        TEST(other_extenders_are_asked_anew),
        TEST(without_extenders_nobody_waits_for_one),
        TEST(the_same_extenders_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
