/* coordinator, claim_waits: who uses a claim that another pod's bind is just being given devices
 * for stands aside until that is known, and nobody is told; but not for ever. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "post_filter=[\"DynamicResources\"] device_binding_timeout_ms=600000 "
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define REQUEST                                                                                    \
    "requests=[{name=\"r\" exactly=true asks=[{name=\"r\" class_name=\"gpu\" mode=\"ExactCount\" " \
    "count=1}]}]"
#define IN_FLIGHT                                                                                  \
    "0/2 nodes are available: resource claim default/c is in the process of being allocated. no "  \
    "new claims to deallocate"

static const struct address tool = {TOOL, 77};

static void claim(const char *name, int version, const char *more)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" uid=\"u-%s\" "
           "resource_version=%d " REQUEST " %s}",
           name, name, version, more);
}

/* As the API server has it once it was written. */
static void allocated(const char *name)
{
    claim(name, 2,
          "allocated=true devices=[{request=\"r\" driver=\"d.example\" pool=\"a\" device=\"g0\"}]");
}

static void attempt_with(const char *pod, const char *claims, int cycle)
{
    char more[128];
    snprintf(more, sizeof(more), "device_claims=[%s]", claims);
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(pod, 100, more), cycle);
}

#define C "{name=\"g\" claim=\"c\"}"
#define D "{name=\"h\" claim=\"d\"}"

/* Pod p is being bound with the one device, which its claim c is being given. */
static void begin(void)
{
    struct message m;
    lead(5);
    stream("device_class_set device_class={name=\"gpu\"}");
    stream("resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" "
           "pool_generation=1 pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"}]}");
    claim("c", 1, "");
    claim("d", 1, "");
    attempt_with("p", C, 1);
    assert_true(take(BINDER, MSG_bind, &m));
}

static void bind_fails(const char *plugin)
{
    say(binder,
        "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
        "plugin=\"%s\" message=\"it failed\" code=500",
        plugin);
}

static bool anything(enum message_type type)
{
    struct message m;
    return take(type == MSG_outcome ? QUEUE : BINDER, type, &m);
}

static void assert_aside(void)
{
    assert_false(anything(MSG_bind));
    assert_false(anything(MSG_pod_failed));
    assert_false(anything(MSG_outcome));
}

/* With what its claim was given for another pod: nothing but the reservation is left to do. */
static void assert_bound(const char *pod, uint32_t given)
{
    struct message m;
    if (!take(BINDER, MSG_bind, &m))
        fail_msg("%s is not bound", pod);
    assert_true(str_is(m.bind.name, pod));
    assert_int_equal(m.bind.allocations.count, given);
}

static void assert_failed(const char *message)
{
    struct message m;
    if (!take(BINDER, MSG_pod_failed, &m))
        fail_msg("nobody failed");
    if (!str_is(m.pod_failed.message, message))
        fail_msg("said %.*s", STR_ARG(m.pod_failed.message));
}

static void they_go_on_when_the_claim_is_written(void **state)
{
    (void)state;
    begin();
    attempt_with("q", C, 2);
    attempt_with("r", C, 3);
    tick_after(500);
    assert_aside();
    attempt("plain", 100, 4); /* others do not wait */
    assert_bound("plain", 0);
    allocated("c");
    assert_bound("q", 0); /* in their order */
    assert_bound("r", 0);
    assert_aside();
}

static void who_waits_gets_what_a_failed_bind_leaves(void **state)
{
    (void)state;
    begin();
    attempt_with("q", C, 2);
    assert_aside();
    bind_fails("DynamicResources");
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
    assert_bound("q", 1);
}

static void a_bind_that_hangs_is_not_waited_for(void **state)
{
    (void)state;
    begin();
    attempt_with("q", C, 2);
    tick_after(999);
    assert_aside();
    tick_after(1);
    assert_failed(IN_FLIGHT);
    attempt_with("q", C, 3); /* the next attempt has its own time */
    tick_after(999);
    assert_false(anything(MSG_pod_failed));
    tick_after(1);
    assert_failed(IN_FLIGHT);
}

/* Of two claims one is free, and then in flight for somebody else again: it is one wait. */
static void it_is_one_time_for_all_claims(void **state)
{
    (void)state;
    begin();
    stream(
        "resource_slice_set slice={name=\"s\" driver=\"d.example\" pool=\"a\" "
        "pool_generation=1 pool_slices=1 node_name=\"a\" devices=[{name=\"g0\"} {name=\"g1\"}]}");
    attempt_with("q", C D, 2);
    tick_after(900);
    attempt_with("r", D, 3);
    assert_bound("r", 1);
    allocated("c");
    assert_aside();
    tick_after(100);
    assert_failed("0/2 nodes are available: resource claim default/d is in the process of being "
                  "allocated. no new claims to deallocate");
}

static void claims_that_are_not_used_are_not_waited_for(void **state)
{
    (void)state;
    begin();
    attempt_with("q", "{name=\"g\" claim=\"c\" unneeded=true}", 2);
    assert_bound("q", 0);
    attempt_with("r", D, 3); /* nor those that nobody is being given anything for */
    assert_failed("0/2 nodes are available: 2 cannot allocate all claims. still not schedulable");
}

static void who_goes_meanwhile_lands(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("q", C, 2);
    stream("pod_gone uid=\"u-q\" namespace_name=\"default\" name=\"q\"");
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(str_is(m.outcome.uid, "u-q"));
    assert_int_equal(m.outcome.result, OUTCOME_skipped);
    allocated("c");
    assert_aside();
}

static void who_changes_meanwhile_is_decided_as_it_is_then(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("q", C, 2);
    stream("pod_set %s", pod_text("q", 200, "device_claims=[" C "]"));
    allocated("c");
    assert_true(take(BINDER, MSG_bind, &m));
    attempt("fits", 3700, 3);
    assert_bound("fits", 0);
    attempt("does-not", 3800, 4);
    assert_true(anything(MSG_pod_failed));
}

static void the_end_of_the_term_ends_the_wait(void **state)
{
    (void)state;
    begin();
    attempt_with("q", C, 2);
    say(binder, "leadership leading=false lead_term=5 identity=\"me\" holder=\"you\"");
    assert_true(anything(MSG_outcome) && anything(MSG_outcome)); /* p and q */
    lead(6);
    attempt_with("q", C, 3);
    assert_bound("q", 1);
}

/* Another queue offers whom it has. */
static void they_are_forgotten_with_the_queue(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("q", C, 2);
    coordinator_gets(queue, &(struct message){.type = MSG_peer_down}, false);
    allocated("c");
    tick_after(1000);
    assert_false(anything(MSG_bind) || anything(MSG_pod_failed));
    coordinator_gets(queue, &(struct message){.type = MSG_peer_up}, false);
    say(tool, "explain_request namespace_name=\"default\" name=\"q\"");
    assert_true(take(TOOL, MSG_explained, &m));
    assert_int_equal(m.explained.state.len, 0);
    attempt_with("q", C, 1);
    assert_bound("q", 0);
}

/* They use up no credit: others are offered meanwhile. */
static void they_take_nobodys_credit(void **state)
{
    (void)state;
    struct message m;
    uint32_t before = 0, after = 0;
    begin();
    while (take(QUEUE, MSG_pull, &m))
        before = (uint32_t)m.pull.credit;
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "q%d", i);
        attempt_with(name, C, 2 + i);
    }
    while (take(QUEUE, MSG_pull, &m))
        after = (uint32_t)m.pull.credit;
    assert_int_equal(after, before + 128);
    allocated("c");
    for (int i = 0; i < 38; i++) { /* that is what a has CPU for */
        char name[16];
        snprintf(name, sizeof(name), "q%d", i);
        assert_bound(name, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_go_on_when_the_claim_is_written),
        TEST(who_waits_gets_what_a_failed_bind_leaves),
        TEST(a_bind_that_hangs_is_not_waited_for),
        TEST(it_is_one_time_for_all_claims),
        TEST(claims_that_are_not_used_are_not_waited_for),
        TEST(who_goes_meanwhile_lands),
        TEST(who_changes_meanwhile_is_decided_as_it_is_then),
        TEST(the_end_of_the_term_ends_the_wait),
        TEST(they_are_forgotten_with_the_queue),
        TEST(they_take_nobodys_credit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
