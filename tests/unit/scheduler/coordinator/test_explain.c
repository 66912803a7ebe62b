/* coordinator, report: what it tells of a pod when it is asked: what it does with it, what it has
 * decided about it, and with what it decides. */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static const struct address tool = {TOOL, 77};

static const struct explained *ask(const char *name)
{
    static struct message m;
    say(tool, "explain_request namespace_name=\"default\" name=\"%s\"", name);
    assert_true(take(TOOL, MSG_explained, &m));
    return &m.explained;
}

static void of_nobody_it_tells_how_it_decides(void **state)
{
    (void)state;
    lead(5);
    const struct explained *e = ask("");
    assert_int_equal(e->decisions.count, 0);
    assert_int_equal(e->kept, 0);
    assert_int_equal(e->oldest_us, 0);
    assert_int_equal(e->waits_for.len + e->state.len, 0);
    assert_int_equal(e->profiles.count, 1);
    assert_true(str_is(e->profiles.at[0].scheduler_name, "default-scheduler"));
    assert_int_equal(e->profiles.at[0].score.count, 1);
}

static void why_it_decides_nothing(void **state)
{
    (void)state;
    assert_true(str_is(ask("p")->waits_for, "leadership"));
}

static void what_was_decided_about_a_pod(void **state)
{
    (void)state;
    lead(5);
    attempt("large", 100000, 1);
    attempt("p", 100, 2);
    const struct explained *e = ask("p");
    assert_int_equal(e->kept, 2);
    assert_int_equal(e->decisions.count, 1);
    assert_true(str_is(e->state, "is being bound"));
    const struct past_decision *d = &e->decisions.at[0];
    assert_true(d->placed && str_is(d->uid, "u-p"));
    assert_true(str_is(d->node, "a") || str_is(d->node, "b"));
    assert_int_equal(d->nodes, 2);
    assert_int_equal(d->feasible, 2);
    assert_int_equal(d->attempt, 1);
    e = ask("large");
    assert_int_equal(e->state.len, 0);
    assert_false(e->decisions.at[0].placed);
    assert_true(str_is(e->decisions.at[0].message, "0/2 nodes are available: 2 Insufficient cpu."));
}

/* Of a pod that is gone, too; and a bind that failed is told of as well. */
static void what_came_last_comes_first(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 100, 1);
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder,
        "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"%.*s\" "
        "message=\"it failed\" code=500",
        STR_ARG(m.bind.node_name));
    stream("pod_gone uid=\"u-p\" namespace_name=\"default\" name=\"p\"");
    const struct explained *e = ask("p");
    assert_int_equal(e->decisions.count, 2);
    assert_false(e->decisions.at[0].placed);
    assert_true(str_find(e->decisions.at[0].message, 'i') >= 0);
    assert_true(e->decisions.at[1].placed);
    assert_true(e->decisions.at[0].wall_us >= e->decisions.at[1].wall_us);
}

static void the_last_decisions_about_whichever_pods(void **state)
{
    (void)state;
    static struct message m;
    lead(5);
    attempt("large", 100000, 1);
    attempt("p", 100, 2);
    say(tool, "explain_request latest=1");
    assert_true(take(TOOL, MSG_explained, &m));
    const struct explained *e = &m.explained;
    assert_int_equal(e->decisions.count, 1);
    assert_true(str_is(e->decisions.at[0].name, "p"));
    assert_true(str_is(e->decisions.at[0].namespace_name, "default"));
    assert_int_equal(e->kept, 2);
    assert_int_equal(e->profiles.count, 0);
    say(tool, "explain_request latest=99999999999");
    assert_true(take(TOOL, MSG_explained, &m));
    assert_int_equal(e->decisions.count, 2);
    assert_true(str_is(e->decisions.at[1].name, "large"));
    assert_int_equal(ask("p")->decisions.at[0].name.len, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_nobody_it_tells_how_it_decides),
        TEST(why_it_decides_nothing),
        TEST(what_was_decided_about_a_pod),
        TEST(what_came_last_comes_first),
        TEST(the_last_decisions_about_whichever_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
