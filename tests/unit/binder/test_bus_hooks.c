/* test_bus_hooks: plugins on the bus at PreBind and Bind: what they are told, what each answer and
 * each failure means for the bind, and that no question outlives its bind. */
#include "tests/unit/binder/hooks_world.h"

#define READ "GET " PODS "p"

#define DEADLINE_MS 1000

static struct outbox questions;
static uint32_t looked_at; /* of them */

static struct span never_closed(const void *state, struct instant at)
{
    (void)state;
    (void)at;
    return span_of_ms(60000);
}

static int begin(void **state)
{
    (void)state;
    questions = (struct outbox){0};
    looked_at = 0;
    log_open("test", LOG_LEVEL_error);
    begin_binds(NULL, never_closed);
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_binds();
    outbox_free(&questions);
    return 0;
}

/* ---- plugins ---- */

static void take(const struct message *m, uint32_t peer)
{
    const struct delivery in = {.from = {.process = PLUGIN, .peer = peer}, .message = m};
    assert_true(bus_hooks_take(bus, w->at, &in));
}

static void comes(const char *name, uint32_t peer)
{
    const struct message m = {.type = MSG_peer_up, .peer_up = {.instance = str_of(name)}};
    take(&m, peer);
}

static void goes(uint32_t peer)
{
    const struct message m = {.type = MSG_peer_down};
    take(&m, peer);
}

static void go(int64_t ms)
{
    world_pass(w, ms);
    (void)bus_hooks_tick(bus, w->at, &questions);
    lanes_pump(w->lanes, w->at.now);
}

/* The one question since the last call. */
static struct plugin_ask asked(enum plugin_step step)
{
    struct message m;
    go(0);
    assert_int_equal(questions.count, looked_at + 1);
    assert_true(outbox_get(&questions, looked_at++, &m, &w->memory));
    assert_int_equal(m.type, MSG_plugin_ask);
    assert_int_equal(m.plugin_ask.step, step);
    return m.plugin_ask;
}

static void nobody_is_asked(void)
{
    go(0);
    assert_int_equal(questions.count, looked_at);
}

static void answer(uint32_t peer, int64_t id, const char *verdict, const char *reason)
{
    const struct message m = {
        .type = MSG_plugin_answer,
        .plugin_answer = {.id = id, .verdict = str_of(verdict), .reason = str_of(reason)}};
    take(&m, peer);
    go(0);
}

/* ---- binds ---- */

enum who_fails { FAILS, IGNORED };

/* Both names are plugins on the bus, but for DefaultBinder; NULL: nobody at that point. */
static void ask_to_bind(const char *pre_bind, const char *binder, enum who_fails ignored)
{
    struct message m = world_bind("u", "p", "n");
    struct label label = {STR_LITERAL("app"), STR_LITERAL("x")};
    struct pod pod = {.uid = m.bind.uid, .name = m.bind.name, .labels = {1, &label}};
    struct str before = str_of(pre_bind != NULL ? pre_bind : "");
    struct str order[] = {str_of(binder != NULL ? binder : ""), STR_LITERAL("DefaultBinder")};
    struct bus_plugin plugins[] = {
        {.name = before, .deadline_ms = DEADLINE_MS, .ignore = ignored == IGNORED},
        {.name = order[0], .deadline_ms = DEADLINE_MS, .ignore = ignored == IGNORED}};
    m.bind.pre_bind = (struct strs){pre_bind != NULL, &before};
    m.bind.binders = (struct strs){binder != NULL ? 2 : 0, order};
    m.bind.bus_plugins.count = 2;
    m.bind.bus_plugins.at = plugins;
    m.bind.told.count = 1;
    m.bind.told.at = &pod;
    binds_add(b, w->at, &m.bind, false);
}

static void the_server_binds(void)
{
    go(0);
    world_answer(w, BINDING, 201, "{}");
    is_over(true, NULL);
}

static void the_server_reads(const char *pod)
{
    go(0);
    world_answer(w, READ, 200, pod);
}

/* ---- PreBind ---- */

static void a_pre_bind_is_told_of_pod_and_node(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    struct plugin_ask q = asked(PLUGIN_STEP_pre_bind);
    assert_true(str_is(q.pod.name, "p"));
    assert_true(str_is(q.pod.labels.at[0].value, "x"));
    assert_int_equal(q.nodes.count, 1);
    assert_true(str_is(q.nodes.at[0].name, "n"));
    assert_int_equal(q.deadline_ms, DEADLINE_MS);
    assert_null(world_find(w, BINDING));
    answer(7, q.id, "", "");
    the_server_binds();
}

static void allow_is_an_answer(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    answer(7, asked(PLUGIN_STEP_pre_bind).id, "allow", "");
    the_server_binds();
}

static void a_pre_bind_that_denies_ends_the_bind(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    answer(7, asked(PLUGIN_STEP_pre_bind).id, "deny", "no cable");
    assert_null(world_find(w, BINDING));
    is_over(false, "running PreBind plugin \"pre\": no cable");
}

static void an_unknown_verdict_is_a_failure(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    answer(7, asked(PLUGIN_STEP_pre_bind).id, "bound", "");
    is_over(false, "running PreBind plugin \"pre\": plugin \"pre\" answered with an unknown "
                   "verdict: \"bound\"");
}

static void without_a_process_the_policy_decides(void **state)
{
    (void)state;
    ask_to_bind("pre", NULL, FAILS);
    nobody_is_asked();
    is_over(false, "running PreBind plugin \"pre\": plugin \"pre\" is not there");
}

static void ignored_it_is_as_if_it_had_allowed(void **state)
{
    (void)state;
    ask_to_bind("pre", NULL, IGNORED);
    nobody_is_asked();
    the_server_binds();
}

static void one_that_is_late_fails_and_is_heard_no_more(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    int64_t id = asked(PLUGIN_STEP_pre_bind).id;
    go(DEADLINE_MS - 1);
    assert_int_equal(answers, 0);
    go(1);
    assert_int_equal(answers, 1);
    answer(7, id, "allow", "");
    assert_null(world_find(w, BINDING));
    is_over(false, "running PreBind plugin \"pre\": plugin \"pre\" did not answer within 1s");
}

static void the_next_process_of_its_name_takes_over(void **state)
{
    (void)state;
    comes("pre", 7);
    comes("pre", 8);
    ask_to_bind("pre", NULL, FAILS);
    (void)asked(PLUGIN_STEP_pre_bind);
    goes(8);
    answer(7, asked(PLUGIN_STEP_pre_bind).id, "", "");
    the_server_binds();
}

static void a_cancelled_bind_asks_nothing_more(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    int64_t id = asked(PLUGIN_STEP_pre_bind).id;
    assert_true(binds_cancel(b, w->at, STR_LITERAL("u"), NULL, STR_LITERAL("it goes")));
    assert_int_equal(answers, 1);
    answer(7, id, "allow", "");
    assert_null(world_find(w, BINDING));
    assert_int_equal(answers, 1);
}

static void who_leads_no_more_asks_nothing_more(void **state)
{
    (void)state;
    comes("pre", 7);
    ask_to_bind("pre", NULL, FAILS);
    binds_drop_all(b, w->at, "lost leadership");
    nobody_is_asked();
    assert_int_equal(answers, 1);
}

/* ---- Bind ---- */

static void one_binds_in_our_place(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    struct plugin_ask q = asked(PLUGIN_STEP_bind);
    assert_true(str_is(q.nodes.at[0].name, "n"));
    answer(7, q.id, "bound", "");
    assert_null(world_find(w, BINDING));
    is_over(true, NULL);
}

static void who_has_no_opinion_leaves_it_to_the_next(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    answer(7, asked(PLUGIN_STEP_bind).id, "", "");
    the_server_binds();
}

static void both_points_come_in_order(void **state)
{
    (void)state;
    comes("pre", 7);
    comes("binds", 8);
    ask_to_bind("pre", "binds", FAILS);
    answer(7, asked(PLUGIN_STEP_pre_bind).id, "", "");
    answer(8, asked(PLUGIN_STEP_bind).id, "bound", "");
    is_over(true, NULL);
}

static void who_denies_at_bind_is_not_believed(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    answer(7, asked(PLUGIN_STEP_bind).id, "deny", "not now");
    the_server_reads("{\"metadata\":{\"uid\":\"u\"},\"spec\":{}}");
    is_over(false, "running Bind plugin \"binds\": not now");
}

static void who_is_late_at_bind_may_have_bound(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    (void)asked(PLUGIN_STEP_bind);
    go(DEADLINE_MS);
    the_server_reads("{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"nodeName\":\"n\"}}");
    is_over(true, NULL);
}

static void ignored_at_bind_the_next_one_binds(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", IGNORED);
    (void)asked(PLUGIN_STEP_bind);
    go(DEADLINE_MS);
    the_server_binds();
}

static void allow_says_nothing_at_bind(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    answer(7, asked(PLUGIN_STEP_bind).id, "allow", "");
    the_server_reads("{\"metadata\":{\"uid\":\"u\"},\"spec\":{}}");
    is_over(false, "running Bind plugin \"binds\": plugin \"binds\" answered with an unknown "
                   "verdict: \"allow\"");
}

static void a_cancel_comes_too_late_at_bind(void **state)
{
    (void)state;
    comes("binds", 7);
    ask_to_bind(NULL, "binds", FAILS);
    int64_t id = asked(PLUGIN_STEP_bind).id;
    assert_false(binds_cancel(b, w->at, STR_LITERAL("u"), NULL, STR_LITERAL("it goes")));
    answer(7, id, "bound", "");
    is_over(true, NULL);
}

#define HOOK_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOOK_TEST(a_pre_bind_is_told_of_pod_and_node),
        HOOK_TEST(allow_is_an_answer),
        HOOK_TEST(a_pre_bind_that_denies_ends_the_bind),
        HOOK_TEST(an_unknown_verdict_is_a_failure),
        HOOK_TEST(without_a_process_the_policy_decides),
        HOOK_TEST(ignored_it_is_as_if_it_had_allowed),
        HOOK_TEST(one_that_is_late_fails_and_is_heard_no_more),
        HOOK_TEST(the_next_process_of_its_name_takes_over),
        HOOK_TEST(a_cancelled_bind_asks_nothing_more),
        HOOK_TEST(who_leads_no_more_asks_nothing_more),
        HOOK_TEST(one_binds_in_our_place),
        HOOK_TEST(who_has_no_opinion_leaves_it_to_the_next),
        HOOK_TEST(both_points_come_in_order),
        HOOK_TEST(who_denies_at_bind_is_not_believed),
        HOOK_TEST(who_is_late_at_bind_may_have_bound),
        HOOK_TEST(ignored_at_bind_the_next_one_binds),
        HOOK_TEST(allow_says_nothing_at_bind),
        HOOK_TEST(a_cancel_comes_too_late_at_bind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
