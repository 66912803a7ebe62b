/* releasing: what is taken back of claims when an attempt ends without a bind: which claim, once
 * for each answer, and whatever becomes of the answer: lost, late, doubled, of another term. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "post_filter=[\"DynamicResources\" \"DefaultPreemption\"] device_binding_timeout_ms=600000 "
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"gate\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "            \
    "filter=[\"NodeResourcesFit\" \"DynamicResources\"] reserve=[\"DynamicResources\"] "           \
    "permit=[\"P\"] bus_plugins=[{name=\"P\" deadline_ms=500 permit_timeout_ms=60000 "             \
    "facts=\"All\"}]}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define IN_THE_WAY "0/2 nodes are available: 2 resourceclaim not available on the node. "
#define NO_VICTIMS                                                                                 \
    ", preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

static const struct address p1 = {PLUGIN, 204};

/* ---- what there is ---- */

#define ONE_GPU                                                                                    \
    "{name=\"r\" exactly=true asks=[{name=\"r\" class_name=\"gpu\" mode=\"ExactCount\" count=1}]}"

/* A claim with a device that only one node can use. */
static void allocated(const char *name, const char *node_name, const char *reserved_for)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" "
           "uid=\"u-%s\" resource_version=7 requests=[%s] allocated=true has_terms=true "
           "terms=[{fields=[{key=\"metadata.name\" operator_name=\"In\" values=[\"%s\"]}]}] "
           "devices=[{request=\"r\" driver=\"d.example\" pool=\"%s\" device=\"%s-0\"}] "
           "reserved_for=[%s]}",
           name, name, ONE_GPU, node_name, node_name, name, reserved_for);
}

static void begin(void)
{
    lead(5);
    stream("device_class_set device_class={name=\"gpu\"}");
}

static const char *wanting(const char *claim)
{
    static char text[64];
    snprintf(text, sizeof(text), "device_claims=[{name=\"gpu\" claim=\"%s\"}]", claim);
    return text;
}

static void attempt_with(const char *pod, const char *claim, int cycle)
{
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(pod, 100, wanting(claim)), cycle);
}

/* The same under the profile whose plugin P has to permit it. */
static void attempt_at_gate(const char *pod, const char *claim)
{
    say(queue,
        "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" scheduler_name=\"gate\" "
        "request=[{name=\"cpu\" amount=100}] %s} attempts=1 cycle=1",
        pod, pod, wanting(claim));
}

/* ---- what is asked and told ---- */

static int64_t asked(const char *what, const char *pod, const char *claim)
{
    struct message m = {.type = MSG_none};
    if (!take(BINDER, MSG_claim_release, &m))
        fail_msg("nothing is taken back of %s", claim);
    const struct claim_release *r = &m.claim_release;
    assert_true(str_is(words_text(&claim_step_words, r->what), what));
    assert_true(str_is(r->name, pod));
    assert_true(str_is(r->claim, claim));
    assert_int_equal(r->claim_uid.len, 2 + strlen(claim));
    assert_int_equal(r->resource_version, strcmp(what, "deallocate") == 0 ? 7 : 0);
    assert_true(r->id > 0);
    return r->id;
}

static void assert_nothing_asked(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(BINDER, MSG_claim_release, &m));
}

static void answer(const char *pod, const char *claim, int64_t id, const char *more)
{
    say(binder, "claim_released uid=\"u-%s\" claim=\"%s\" claim_uid=\"u-%s\" id=%lld %s", pod,
        claim, claim, (long long)id, more);
}

static void assert_failed(const char *text)
{
    struct message m = {.type = MSG_none};
    if (!take(BINDER, MSG_pod_failed, &m))
        fail_msg("nobody failed");
    if (!str_is(m.pod_failed.message, text))
        fail_msg("said %.*s", STR_ARG(m.pod_failed.message));
}

static void assert_nobody_failed(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(BINDER, MSG_pod_failed, &m));
}

static void assert_landed(const char *result, int cycle)
{
    struct message m = {.type = MSG_none};
    if (!take(QUEUE, MSG_outcome, &m))
        fail_msg("no outcome");
    if (!str_is(words_text(&outcome_result_words, m.outcome.result), result))
        fail_msg("it is %.*s", STR_ARG(words_text(&outcome_result_words, m.outcome.result)));
    assert_int_equal(m.outcome.cycle, cycle);
    assert_false(take(QUEUE, MSG_outcome, &m));
}

static void assert_not_landed(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(QUEUE, MSG_outcome, &m));
}

static void leads(const char *more)
{
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\" %s", more);
}

/* ---- PostFilter ---- */

static void a_claim_in_the_way_is_deallocated(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t id = asked("deallocate", "p", "c");
    assert_nobody_failed();
    assert_not_landed();
    answer("p", "c", id, "done=true");
    assert_failed(IN_THE_WAY "deallocation of ResourceClaim completed" NO_VICTIMS);
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_unschedulable);
    assert_int_equal(m.outcome.plugins.count, 1);
    assert_true(str_is(m.outcome.plugins.at[0], "DynamicResources"));
    assert_nothing_asked();
}

static void why_it_was_not_is_told(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "\"u-p\"");
    attempt_with("p", "c", 1);
    answer("p", "c", asked("deallocate", "p", "c"), "code=409 message=\"it has changed\"");
    assert_failed(IN_THE_WAY "it has changed");
    assert_landed("unschedulable", 1);
}

static void what_others_have_stays(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "\"u-q\"");
    attempt_with("p", "c", 1);
    assert_nothing_asked();
    assert_failed(IN_THE_WAY "still not schedulable" NO_VICTIMS);
    assert_landed("unschedulable", 1);
    allocated("c", "z", "\"u-p\" \"u-q\"");
    attempt_with("p", "c", 2);
    assert_nothing_asked();
    assert_landed("unschedulable", 2);
}

/* Node b is too small, so nobody asks whether its claims would do. */
static void only_what_is_in_the_way_is_deallocated(void **state)
{
    (void)state;
    begin();
    allocated("c", "a", "");
    allocated("d", "b", "");
    say(queue, "attempt %s attempts=1 cycle=1",
        pod_text("p", 3000, "device_claims=[{name=\"x\" claim=\"c\"} {name=\"y\" claim=\"d\"}]"));
    answer("p", "d", asked("deallocate", "p", "d"), "done=true");
    assert_nothing_asked();
    assert_landed("unschedulable", 1);
}

static void one_of_several_is_deallocated(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    allocated("d", "z", "");
    say(queue, "attempt %s attempts=1 cycle=1",
        pod_text("p", 100, "device_claims=[{name=\"x\" claim=\"c\"} {name=\"y\" claim=\"d\"}]"));
    (void)asked("deallocate", "p", "c");
    assert_nothing_asked();
}

/* What an earlier attempt has left of devices in place of an extended resource. */
static void a_special_claim_that_was_left_is_deleted(void **state)
{
    (void)state;
    begin();
    stream("device_class_set device_class={name=\"gpu\" extended_resource=\"example.com/gpu\"}");
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"left\" "
           "uid=\"u-left\" resource_version=7 owner_uid=\"u-p\" extended=true requests=[%s]}",
           ONE_GPU);
    say(queue, "attempt pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" "
               "scheduler_name=\"default-scheduler\" "
               "request=[{name=\"example.com/gpu\" amount=1}]} attempts=1 cycle=1");
    answer("p", "left", asked("delete", "p", "left"), "done=true");
    assert_failed("0/2 nodes are available: 2 cannot schedule extended resource claim. deletion of "
                  "ResourceClaim completed" NO_VICTIMS);
    assert_landed("unschedulable", 1);
}

static void others_are_decided_meanwhile(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t id = asked("deallocate", "p", "c");
    attempt("q", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.name, "q"));
    attempt_with("p", "c", 2); /* the queue has lost its book */
    assert_nothing_asked();
    answer("p", "c", id, "done=true");
    assert_landed("unschedulable", 2);
}

static void who_goes_meanwhile_lands(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t id = asked("deallocate", "p", "c");
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    assert_not_landed();
    answer("p", "c", id, "done=true");
    assert_landed("unschedulable", 1);
}

/* ---- what becomes of requests and answers ---- */

static void what_got_lost_is_asked_again(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t id = asked("deallocate", "p", "c");
    leads("");
    leads("");
    leads("releasing=[\"u-c\"]"); /* it is under way */
    leads("");
    leads("");
    assert_nothing_asked();
    leads("");
    assert_int_equal(asked("deallocate", "p", "c"), id);
    assert_not_landed();
    answer("p", "c", id, "done=true");
    assert_landed("unschedulable", 1);
    for (int i = 0; i < 4; i++)
        leads("");
    assert_nothing_asked();
}

static void an_answer_counts_once_and_for_its_request(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t first = asked("deallocate", "p", "c");
    answer("p", "c", first, "done=true");
    answer("p", "c", first, "done=true");
    assert_landed("unschedulable", 1);
    attempt_with("p", "c", 2); /* the watch does not show it yet */
    int64_t second = asked("deallocate", "p", "c");
    assert_int_not_equal(first, second);
    answer("p", "c", first, "done=true");
    answer("p", "c", first - 1, "done=true");
    answer("nobody", "c", second, "done=true");
    assert_not_landed();
    answer("p", "c", second, "message=\"conflict\"");
    assert_failed(IN_THE_WAY "deallocation of ResourceClaim completed" NO_VICTIMS);
    assert_failed(IN_THE_WAY "conflict");
    assert_landed("unschedulable", 2);
}

static void a_new_term_decides_anew(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t old = asked("deallocate", "p", "c");
    lead(6);
    int64_t id = asked("deallocate", "p", "c");
    assert_int_not_equal(old, id);
    answer("p", "c", old, "message=\"lost leadership\"");
    assert_not_landed();
    answer("p", "c", id, "done=true");
    assert_failed(IN_THE_WAY "deallocation of ResourceClaim completed" NO_VICTIMS);
    assert_landed("unschedulable", 1);
}

static void without_its_binder_it_goes_back(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    int64_t id = asked("deallocate", "p", "c");
    say(binder, "peer_down process=\"binder\" reason=\"disconnected\"");
    assert_landed("skipped", 1);
    assert_nobody_failed();
    say(binder, "peer_up process=\"binder\"");
    say(binder, "leadership leading=false lead_term=6"); /* it waits for its former life */
    lead(6);
    answer("p", "c", id, "done=true");
    assert_not_landed();
    attempt_with("p", "c", 2);
    answer("p", "c", asked("deallocate", "p", "c"), "done=true");
    assert_landed("unschedulable", 2);
}

static void without_leadership_it_goes_back(void **state)
{
    (void)state;
    begin();
    allocated("c", "z", "");
    attempt_with("p", "c", 1);
    (void)asked("deallocate", "p", "c");
    say(binder, "leadership leading=false lead_term=5 identity=\"me\" holder=\"you\"");
    assert_landed("skipped", 1);
    assert_nobody_failed();
}

/* Its pod might be bound before its reservation is taken back. */
static void what_a_former_life_asked_for_is_waited_for(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\" "
                "releasing=[\"u-c\" \"u-d\"]");
    allocated("c", "a", "\"u-p\"");
    attempt_with("p", "c", 1);
    answer("p", "c", 12345, "done=true");
    assert_false(take(WATCHER, MSG_barrier, &m));
    leads("");
    assert_true(take(WATCHER, MSG_barrier, &m));
    assert_false(take(BINDER, MSG_bind, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_true(take(BINDER, MSG_bind, &m));
}

/* ---- Unreserve ---- */

static void refuse(const char *pod)
{
    struct message m = {.type = MSG_none};
    if (!take(PLUGIN, MSG_plugin_ask, &m))
        fail_msg("nobody is asked about %s", pod);
    say(p1, "plugin_answer id=%lld verdict=\"deny\" reason=\"no\"", (long long)m.plugin_ask.id);
}

static void a_refused_pod_gives_its_reservation_back(void **state)
{
    (void)state;
    begin();
    say(p1, "peer_up process=\"plugin\" instance=\"P\"");
    allocated("c", "a", "\"u-q\" \"u-p\"");
    attempt_at_gate("p", "c");
    refuse("p");
    int64_t id = asked("unreserve", "p", "c");
    assert_failed("0/1 nodes are available: 1 no.");
    assert_not_landed();
    answer("p", "c", id, "message=\"it failed\""); /* the next attempt finds it again */
    assert_landed("unschedulable", 1);
    allocated("c", "a", "\"u-q\"");
    attempt_at_gate("p", "c");
    refuse("p");
    assert_nothing_asked();
    assert_landed("unschedulable", 1);
}

static void who_goes_while_it_waits_gives_its_reservation_back(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    begin();
    say(p1, "peer_up process=\"plugin\" instance=\"P\"");
    allocated("c", "a", "\"u-p\"");
    attempt_at_gate("p", "c");
    assert_true(take(PLUGIN, MSG_plugin_ask, &m));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    answer("p", "c", asked("unreserve", "p", "c"), "done=true");
    assert_landed("skipped", 1);
}

/* What is decided anew keeps it: nothing has failed. */
static void a_new_term_keeps_the_reservation(void **state)
{
    (void)state;
    begin();
    say(p1, "peer_up process=\"plugin\" instance=\"P\"");
    allocated("c", "a", "\"u-p\"");
    attempt_at_gate("p", "c");
    lead(6);
    assert_nothing_asked();
}

static void gang(const char *first_claim, const char *second_claim)
{
    char first[1024], second[1024];
    snprintf(first, sizeof(first), "%s", pod_text("g1", 100, wanting(first_claim)));
    snprintf(second, sizeof(second), "%s", pod_text("g2", 100, wanting(second_claim)));
    say(queue,
        "gang_attempt group={api=\"scheduling.x-k8s.io\" namespace_name=\"default\" name=\"g\" "
        "uid=\"g\" min_member=2} needed=2 members=[{%s cycle=1} {%s cycle=2}]",
        first, second);
}

/* One had a place, the other has none: the one's reservation goes, and the other's claim. */
static void a_group_that_is_given_up_takes_back_both(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    begin();
    allocated("c", "a", "\"u-g1\"");
    allocated("d", "z", "");
    gang("c", "d");
    int64_t one = asked("unreserve", "g1", "c"), other = asked("deallocate", "g2", "d");
    assert_nothing_asked();
    assert_not_landed();
    gang("c", "d"); /* the queue has lost its book: not before they have landed */
    assert_nothing_asked();
    answer("g2", "d", other, "done=true");
    assert_landed("unschedulable", 2);
    answer("g1", "c", one, "done=true");
    assert_landed("unschedulable", 1);
    assert_false(take(BINDER, MSG_bind, &m));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_in_the_way_is_deallocated),
        TEST(why_it_was_not_is_told),
        TEST(what_others_have_stays),
        TEST(only_what_is_in_the_way_is_deallocated),
        TEST(one_of_several_is_deallocated),
        TEST(a_special_claim_that_was_left_is_deleted),
        TEST(others_are_decided_meanwhile),
        TEST(who_goes_meanwhile_lands),
        TEST(what_got_lost_is_asked_again),
        TEST(an_answer_counts_once_and_for_its_request),
        TEST(a_new_term_decides_anew),
        TEST(without_its_binder_it_goes_back),
        TEST(without_leadership_it_goes_back),
        TEST(what_a_former_life_asked_for_is_waited_for),
        TEST(a_refused_pod_gives_its_reservation_back),
        TEST(who_goes_while_it_waits_gives_its_reservation_back),
        TEST(a_new_term_keeps_the_reservation),
        TEST(a_group_that_is_given_up_takes_back_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
