/* test_traces: an attempt that is traced is told of as spans, in virtual time. */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define TRACE   "0123456789abcdef0123456789abcdef"
#define ROOT    "00000000000000a1"
#define CONTEXT "00-" TRACE "-" ROOT "-01"

static void traced(const char *name, int cpu, const char *traceparent)
{
    say(queue,
        "attempt %s attempts=3 cycle=1 traceparent=\"%s\" spans=[{trace_id=\"" TRACE
        "\" span_id=\"00000000000000b1\" parent=\"" ROOT
        "\" name=\"Queue\" service=\"berth-queue\" begin_us=1000 end_us=3000}]",
        pod_text(name, cpu, ""), traceparent);
}

static const struct trace_span *span_of(const struct message *m, const char *name)
{
    for (uint32_t i = 0; i < m->spans.spans.count; i++)
        if (str_is(m->spans.spans.at[i].name, name))
            return &m->spans.spans.at[i];
    fail_msg("there is no span %s", name);
    return NULL;
}

static void bound(const char *name)
{
    say(binder,
        "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"a\" "
        "bound=true code=201",
        name, name);
}

static void phases_follow_each_other_until_the_outcome(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    w.paused = true;
    traced("p", 100, CONTEXT);
    tick_after(7);
    resume();
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.traceparent.len, sizeof(CONTEXT) - 1);
    char parent[17] = "";
    memcpy(parent, m.bind.traceparent.at + 36, 16);
    assert_false(take(BINDER, MSG_spans, &m));
    tick_after(20);
    bound("p");
    assert_true(take(BINDER, MSG_spans, &m));
    const struct trace_span *root = span_of(&m, "Scheduling attempt"), *wait = span_of(&m, "Queue");
    const struct trace_span *schedule = span_of(&m, "Schedule"), *bind = span_of(&m, "Bind");
    assert_true(str_is(root->span_id, ROOT) && root->parent.len == 0);
    assert_true(str_is(root->trace_id, TRACE));
    assert_int_equal(root->begin_us, wait->begin_us);
    assert_int_equal(schedule->begin_us, wait->end_us);
    assert_int_equal(bind->begin_us, schedule->end_us);
    assert_int_equal(root->end_us, bind->end_us);
    assert_int_equal(bind->end_us - bind->begin_us, 20000);
    assert_true(str_is(bind->span_id, parent));
    assert_true(str_is(span_of(&m, "PreFilter")->parent, schedule->span_id.at));
    assert_true(str_is(span_of(&m, "Map")->parent, schedule->span_id.at));
    assert_true(str_is(span_of(&m, "Filter and score")->service, "berth-worker"));
    assert_int_equal(root->error.len, 0);
    assert_false(take(BINDER, MSG_spans, &m));
}

static void a_failure_is_an_error_with_its_message(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    traced("p", 100000, CONTEXT);
    assert_true(take(BINDER, MSG_spans, &m));
    const struct trace_span *root = span_of(&m, "Scheduling attempt");
    assert_true(str_is(root->error, "0/2 nodes are available: 2 Insufficient cpu."));
    assert_int_equal(root->end_us, span_of(&m, "Schedule")->end_us);
}

static void what_is_not_traced_says_nothing(void **state)
{
    static const char *const contexts[] = {"", "00-" TRACE "-" ROOT "-00", "nonsense"};
    (void)state;
    struct message m;
    lead(5);
    for (size_t i = 0; i < 3; i++) {
        char name[2] = {(char)('p' + i), 0};
        traced(name, 100, contexts[i]);
        assert_true(take(BINDER, MSG_bind, &m));
        assert_int_equal(m.bind.traceparent.len, 0);
        say(binder,
            "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"%.*s\" "
            "bound=true code=201",
            name, name, STR_ARG(m.bind.node_name));
        assert_false(take(BINDER, MSG_spans, &m));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(phases_follow_each_other_until_the_outcome),
        TEST(a_failure_is_an_error_with_its_message),
        TEST(what_is_not_traced_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
