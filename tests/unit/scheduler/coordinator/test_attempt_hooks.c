/* test_attempt_hooks: plugins of our own with hooks at PostFilter, Reserve and Permit, in the real
 * coordinator, in virtual time. Labels of a pod say what the two plugins First and Second answer;
 * what they hear is noted in the order in which it comes. */
#define POST_FILTER                                                                                \
    "post_filter=[\"First\" \"DefaultPreemption\"] reserve=[\"First\" \"VolumeBinding\" "          \
    "\"Second\"] permit=[\"Second\"] "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#include "scheduler/coordinator/coordination.h"
#include "scheduler/rules/plugin.h"

static char heard[1024];
static bool open_gate;
static struct victim victim;

static struct str label(const struct pod *pod, const char *name)
{
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (str_is(pod->labels.at[i].key, name))
            return pod->labels.at[i].value;
    return (struct str){0};
}

static void note(const char *what, const struct attempt_question *q)
{
    size_t len = strlen(heard);
    snprintf(heard + len, sizeof(heard) - len, "%s %.*s@%.*s; ", what, STR_ARG(q->pod->name),
             STR_ARG(q->node));
}

static struct hook_reply reserve_first(const struct attempt_question *q)
{
    note("first", q);
    *q->state = arena_take(q->kept, 1);
    return (struct hook_reply){.code = CODE_success};
}

static void unreserve_first(const struct attempt_question *q)
{
    assert_non_null(*q->state); /* as reserve left it */
    note("undo-first", q);
}

static struct hook_reply reserve_second(const struct attempt_question *q)
{
    struct str answer = label(q->pod, "reserve");
    note("second", q);
    if (str_is(answer, "error"))
        return (struct hook_reply){CODE_error, STR_LITERAL("broken")};
    if (str_is(answer, "deny"))
        return (struct hook_reply){CODE_unschedulable, STR_LITERAL("not here")};
    return (struct hook_reply){.code = CODE_success};
}

static void unreserve_second(const struct attempt_question *q)
{
    note("undo-second", q);
}

static void count_assumed(void *context, const struct pod *pod, bool assumed)
{
    (void)pod;
    *(int *)context += assumed;
}

static void permit_second(const struct attempt_question *q, struct permit_reply *out)
{
    struct str answer = label(q->pod, "permit");
    int assumed = 0;
    q->cluster.pods(q->cluster.state, q->node, count_assumed, &assumed);
    assert_true(assumed > 0); /* it counts on its node */
    note("permit", q);
    if (str_is(answer, "wait") && !open_gate)
        *out = (struct permit_reply){.says = PERMIT_wait, .timeout_ms = 5000};
    else if (str_is(answer, "poll") && !open_gate)
        *out = (struct permit_reply){.says = PERMIT_wait, .timeout_ms = 5000, .again_ms = 1000};
    else if (str_is(answer, "deny"))
        *out = (struct permit_reply){PERMIT_deny, STR_LITERAL("closed"), 0, 0};
    else if (str_is(answer, "error"))
        *out = (struct permit_reply){PERMIT_error, STR_LITERAL("stuck"), 0, 0};
}

static void post_filter_first(const struct no_node_question *q, struct no_node_reply *out)
{
    struct str answer = label(q->pod, "post");
    assert_int_equal(q->nodes, 2);
    assert_int_equal(q->reasons.count, 1);
    assert_true(str_is(q->reasons.at[0].text, "Insufficient cpu"));
    assert_int_equal(q->reasons.at[0].count, 2);
    if (str_is(answer, "room"))
        *out = (struct no_node_reply){
            .code = CODE_success, .node = STR_LITERAL("a"), .victims = {1, &victim}};
    else if (str_is(answer, "error"))
        *out = (struct no_node_reply){.code = CODE_error, .reason = STR_LITERAL("first: broken")};
    else
        out->reason = STR_LITERAL("first: no idea");
}

static const struct plugin first = {.name = "First",
                                    .post_filter = post_filter_first,
                                    .reserve = reserve_first,
                                    .unreserve = unreserve_first},
                           second = {.name = "Second",
                                     .reserve = reserve_second,
                                     .unreserve = unreserve_second,
                                     .permit = permit_second};
static const struct plugin *both[] = {&first, &second}, *last[] = {&second};

static int begin(void **state)
{
    start(state);
    lead(5);
    heard[0] = 0;
    open_gate = false;
    struct framework *fw = &w.coordinator->frameworks.at[0];
    fw->post_filter = (struct hooked){1, both};
    fw->reserve = (struct hooked){2, both};
    fw->permit = (struct hooked){1, last};
    return 0;
}

static void offer(const char *name, int cpu, const char *key, const char *value)
{
    char labels[128];
    snprintf(labels, sizeof(labels), "labels=[{key=\"%s\" value=\"%s\"}]", key, value);
    say(queue, "attempt %s attempts=1 cycle=1", pod_text(name, cpu, labels));
}

static void is_asked_to_bind(const char *name)
{
    struct message m = {.type = MSG_none};
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, name));
}

static void is_not_bound(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(BINDER, MSG_bind, &m));
}

static void fails_with(enum condition_reason reason, const char *text)
{
    struct message m = {.type = MSG_none};
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_int_equal(m.pod_failed.reason, reason);
    if (!str_is(m.pod_failed.message, text))
        fail_msg("told: %.*s", STR_ARG(m.pod_failed.message));
}

static void ends(enum outcome_result result, const char *plugin)
{
    struct message m = {.type = MSG_none};
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_int_equal(m.outcome.result, result);
    assert_int_equal(m.outcome.plugins.count, plugin != NULL);
    if (plugin != NULL)
        assert_true(str_is(m.outcome.plugins.at[0], plugin));
}

static void all_are_asked_in_the_profile_s_order(void **state)
{
    (void)state;
    offer("p", 100, "x", "y");
    is_asked_to_bind("p");
    assert_string_equal(heard, "first p@a; second p@a; permit p@a; ");
    say(binder, "bind_result uid=\"u-p\" node_name=\"a\" bound=true");
    tick_after(10);
    ends(OUTCOME_bound, NULL);
    assert_string_equal(heard, "first p@a; second p@a; permit p@a; ");
}

static void a_bind_that_fails_is_undone_in_reverse(void **state)
{
    (void)state;
    offer("p", 100, "x", "y");
    is_asked_to_bind("p");
    heard[0] = 0;
    say(binder, "bind_result uid=\"u-p\" node_name=\"a\" bound=false code=500 message=\"no\"");
    assert_string_equal(heard, "undo-second p@a; undo-first p@a; ");
    ends(OUTCOME_error, NULL);
}

static void a_reserve_that_fails_ends_the_attempt(void **state)
{
    (void)state;
    offer("p", 100, "reserve", "error");
    is_not_bound();
    fails_with(REASON_scheduler_error, "running Reserve plugin \"Second\": broken");
    ends(OUTCOME_error, NULL);
    assert_string_equal(heard, "first p@a; second p@a; undo-second p@a; undo-first p@a; ");
    assert_int_equal(cache_assumed(w.coordinator->cache), 0);
}

static void a_reserve_that_says_no_turns_away(void **state)
{
    (void)state;
    offer("p", 100, "reserve", "deny");
    is_not_bound();
    fails_with(REASON_unschedulable, "0/1 nodes are available: 1 not here.");
    ends(OUTCOME_unschedulable, "Second");
    assert_string_equal(heard, "first p@a; second p@a; undo-second p@a; undo-first p@a; ");
    assert_int_equal(cache_assumed(w.coordinator->cache), 0);
}

static void permit_denies_and_fails(void **state)
{
    (void)state;
    offer("p", 100, "permit", "deny");
    fails_with(REASON_unschedulable, "0/1 nodes are available: 1 closed.");
    ends(OUTCOME_unschedulable, "Second");
    offer("q", 100, "permit", "error");
    fails_with(REASON_scheduler_error, "running Permit plugin \"Second\": stuck");
    ends(OUTCOME_error, NULL);
    is_not_bound();
    assert_int_equal(cache_assumed(w.coordinator->cache), 0);
}

static void who_waits_is_asked_again_after_a_change(void **state)
{
    (void)state;
    offer("p", 100, "permit", "wait");
    is_not_bound();
    tick_after(1000);
    heard[0] = 0;
    tick_after(1000);
    assert_string_equal(heard, ""); /* nothing has changed */
    open_gate = true;
    node("c", 1000);
    tick_after(20);
    is_asked_to_bind("p");
    assert_string_equal(heard, "permit p@a; ");
}

static void who_waits_is_asked_again_by_time(void **state)
{
    (void)state;
    offer("p", 100, "permit", "poll");
    is_not_bound();
    tick_after(500);
    open_gate = true;
    heard[0] = 0;
    tick_after(600);
    is_asked_to_bind("p");
    assert_string_equal(heard, "permit p@a; ");
}

static void who_waits_too_long_is_turned_away(void **state)
{
    (void)state;
    offer("p", 100, "permit", "wait");
    tick_after(4000);
    heard[0] = 0;
    tick_after(1100);
    fails_with(REASON_unschedulable, "0/1 nodes are available: 1 rejected due to timeout after "
                                     "waiting 5s at plugin Second.");
    ends(OUTCOME_unschedulable, "Second");
    is_not_bound();
    assert_string_equal(heard, "undo-second p@a; undo-first p@a; ");
}

static void who_is_deleted_while_it_waits_is_undone(void **state)
{
    (void)state;
    offer("p", 100, "permit", "wait");
    heard[0] = 0;
    stream("pod_gone uid=\"u-p\"");
    assert_string_equal(heard, "undo-second p@a; undo-first p@a; ");
    ends(OUTCOME_skipped, NULL);
    node("c", 1000);
    tick_after(100);
    is_not_bound();
}

static void who_waits_when_its_node_goes_is_decided_anew(void **state)
{
    (void)state;
    offer("p", 100, "permit", "wait");
    heard[0] = 0;
    open_gate = true;
    stream("node_gone name=\"a\"");
    is_asked_to_bind("p");
    assert_string_equal(heard, "undo-second p@a; undo-first p@a; first p@b; second p@b; "
                               "permit p@b; ");
}

static void a_new_term_undoes_who_is_being_bound(void **state)
{
    (void)state;
    offer("p", 100, "x", "y");
    is_asked_to_bind("p");
    heard[0] = 0;
    say(binder, "leadership leading=false lead_term=5 identity=\"me\" holder=\"other\"");
    assert_string_equal(heard, "undo-second p@a; undo-first p@a; ");
}

static void post_filter_makes_room_where_it_says(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    stream("pod_set %s", pod_text("old", 4000, "node_name=\"a\" priority=10"));
    victim = (struct victim){.uid = STR_LITERAL("u-old"),
                             .namespace_name = STR_LITERAL("default"),
                             .name = STR_LITERAL("old"),
                             .priority = 10};
    offer("p", 3000, "post", "room"); /* whose priority evicts nobody */
    assert_true(take(BINDER, MSG_preempt, &m));
    assert_true(str_is(m.preempt.node_name, "a"));
    assert_int_equal(m.preempt.victims.count, 1);
    assert_true(str_is(m.preempt.victims.at[0].name, "old"));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(m.pod_failed.set_nominated && str_is(m.pod_failed.nominated_node, "a"));
}

static void post_filter_says_why_not(void **state)
{
    (void)state;
    offer("p", 8000, "x", "y");
    fails_with(REASON_unschedulable,
               "0/2 nodes are available: 2 Insufficient cpu. first: no idea, preemption: 0/2 nodes "
               "are available: 2 Preemption is not helpful for scheduling.");
    ends(OUTCOME_unschedulable, "NodeResourcesFit");
    offer("q", 8000, "post", "error");
    fails_with(REASON_unschedulable, "0/2 nodes are available: 2 Insufficient cpu. first: broken");
    ends(OUTCOME_unschedulable, "NodeResourcesFit");
}

static void several_are_decided_one_at_a_time(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    w.paused = true;
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        offer(name, 100, "reserve", i == 2 ? "deny" : "yes");
    }
    resume();
    int bound = 0;
    while (take(BINDER, MSG_bind, &m)) {
        assert_false(str_is(m.bind.name, "p2"));
        bound++;
    }
    assert_int_equal(bound, 4);
    fails_with(REASON_unschedulable, "0/1 nodes are available: 1 not here.");
    assert_int_equal(cache_assumed(w.coordinator->cache), 4);
}

#define HOOKS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOOKS_TEST(all_are_asked_in_the_profile_s_order),
        HOOKS_TEST(a_bind_that_fails_is_undone_in_reverse),
        HOOKS_TEST(a_reserve_that_fails_ends_the_attempt),
        HOOKS_TEST(a_reserve_that_says_no_turns_away),
        HOOKS_TEST(permit_denies_and_fails),
        HOOKS_TEST(who_waits_is_asked_again_after_a_change),
        HOOKS_TEST(who_waits_is_asked_again_by_time),
        HOOKS_TEST(who_waits_too_long_is_turned_away),
        HOOKS_TEST(who_is_deleted_while_it_waits_is_undone),
        HOOKS_TEST(who_waits_when_its_node_goes_is_decided_anew),
        HOOKS_TEST(a_new_term_undoes_who_is_being_bound),
        HOOKS_TEST(post_filter_makes_room_where_it_says),
        HOOKS_TEST(post_filter_says_why_not),
        HOOKS_TEST(several_are_decided_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
