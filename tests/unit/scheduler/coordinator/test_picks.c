/* test_picks: pods unlike each other, decided together by two workers: what the questions cost,
 * where a question ends, and what happens to it when things change while workers are asked. That
 * the decisions are those of one pod at a time is test_batch_sequences'. */
#include "tests/unit/scheduler/coordinator/batch_world.h"

static struct side *s;

#define NODES 6

static void attempt(const char *name, int cpu, const char *more)
{
    static int cycle;
    hear(s, queue,
         "attempt pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
         "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
         "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
         "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 %s} "
         "attempts=1 cycle=%d",
         name, name, cpu, cpu, cpu, cpu, more, ++cycle);
}

/* Six nodes, a the largest, and two workers. */
static int start(void **state)
{
    (void)state;
    clock_step_us = 0;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; i < NODES; i++)
        sees(s,
             "node_set node={name=\"%c\" labels=[{key=\"kubernetes.io/hostname\" value=\"%c\"}] "
             "allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=8589934592} "
             "{name=\"pods\" amount=110}]}",
             'a' + i, 'a' + i, 16000 - 1000 * i);
    side_begins(s);
    other_begins(s);
    tick(s);
    work(s);
    forget_told(s);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    return 0;
}

static uint32_t asked(enum message_type type)
{
    struct message m;
    uint32_t count = 0;
    for (size_t i = 0; i < s->asked.count; i++) {
        assert_true(outbox_get(&s->asked, i, &m, &s->arena));
        count += m.type == type;
    }
    return count;
}

/* Three pods that go to three nodes. */
static void three(void)
{
    attempt("p", 1000, "");
    attempt("q", 1001, "");
    attempt("r", 1002, "");
    tick(s);
}

static void assert_bound(int n, const char *name, const char *node)
{
    char wanted[128];
    const char *text = said(s, MSG_bind, n);
    assert_non_null(text);
    snprintf(wanted, sizeof(wanted), "name=\"%s\" node_name=\"%s\"", name, node);
    if (strstr(text, wanted) == NULL)
        fail_msg("bind %d is not %s: %s", n, wanted, text);
}

static void answer_all(void)
{
    for (int i = 0; i < 2; i++)
        (void)answer(s, 1);
    work(s);
}

static long pods_of(const struct worker *w)
{
    struct buffer lines = {0};
    worker_status((void *)w, &lines);
    buffer_add(&lines, "", 1);
    const char *at = strstr(lines.at, "\npods=");
    long number = at == NULL ? -1 : strtol(at + strlen("\npods="), NULL, 10);
    buffer_free(&lines);
    return number;
}

/* It holds what it would if it were told everything anew. */
static void assert_worker_has_kept_up(void)
{
    long kept = pods_of(s->worker);
    worker_dies(s);
    tick(s);
    work(s);
    assert_int_equal(pods_of(s->worker), kept);
}

/* ---- */

static void two_questions_decide_about_three_pods(void **state)
{
    (void)state;
    three();
    assert_int_equal(asked(MSG_map_picks), 2);
    assert_int_equal(asked(MSG_map_request), 0);
    work(s);
    answer_all();
    assert_null(said(s, MSG_bind, 0)); /* the nodes of the first two are looked at again */
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "b");
    assert_bound(2, "r", "c");
    assert_int_equal(counter(s, "picks"), 1);
    assert_int_equal(counter(s, "picked_pods"), 3);
    assert_int_equal(counter(s, "picks_cut"), 0);
    assert_worker_has_kept_up();
}

static void it_ends_where_the_only_node_is_taken(void **state)
{
    (void)state;
    static const char there[] =
        "node_selector=[{key=\"kubernetes.io/hostname\" value=\"c\"}] has_node_selector=true";
    attempt("p", 10, there);
    attempt("q", 20, there);
    attempt("r", 30, "");
    settle(s);
    assert_bound(0, "p", "c");
    assert_bound(1, "q", "c"); /* decided when the first is there */
    assert_bound(2, "r", "a");
    assert_true(counter(s, "picks_cut") > 0);
    assert_worker_has_kept_up();
}

static void a_pod_that_fits_nowhere_is_asked_about_alone(void **state)
{
    (void)state;
    attempt("p", 1000, "");
    attempt("big", 90000, "");
    attempt("r", 1002, "");
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "r", "b");
    assert_non_null(strstr(said(s, MSG_pod_failed, 0), "0/6 nodes are available: 6 Insufficient"));
}

static void pods_for_whom_others_count_do_not_go_along(void **state)
{
    (void)state;
    attempt("p", 1000, "");
    attempt("shy", 1001,
            "labels=[{key=\"x\" value=\"y\"}] anti_affinity_required=[{selector={present=true "
            "labels=[{key=\"x\" value=\"y\"}]} namespaces=[\"default\"] "
            "topology_key=\"kubernetes.io/hostname\"}]");
    tick(s);
    assert_int_equal(asked(MSG_map_picks), 0);
    settle(s);
    assert_bound(1, "shy", "b");
}

/* Only one worker has a node that is normalised with; what the ranges are is found in a first
 * round. */
static void ranges_are_the_clusters(void **state)
{
    (void)state;
    attempt("first", 100, "");
    settle(s); /* its bind's end comes later */
    sees(s, "node_set node={name=\"b\" labels=[{key=\"kubernetes.io/hostname\" value=\"b\"}] "
            "taints=[{key=\"k\" effect=\"PreferNoSchedule\"}] "
            "allocatable=[{name=\"cpu\" amount=15000} {name=\"memory\" amount=8589934592} "
            "{name=\"pods\" amount=110}]}");
    three();
    work(s);
    answer_all();
    assert_int_equal(asked(MSG_map_picks), 0); /* both have been asked twice */
    answer_all();
    hear(s, binder, "bind_result uid=\"u-first\" bound=false");
    settle(s);
    assert_bound(1, "p", "a");
    assert_bound(2, "q", "c");
    assert_bound(3, "r", "d");
    assert_int_equal(counter(s, "picked_pods"), 3);
    attempt("t", 1003, "");
    attempt("u", 1004, "");
    tick(s);
    settle(s);
    assert_int_equal(counter(s, "picks"), 2);
    assert_int_equal(counter(s, "picked_pods"), 5); /* the first round was right */
    assert_worker_has_kept_up();
}

static void a_change_between_the_questions_waits(void **state)
{
    (void)state;
    three();
    work(s);
    answer_all();
    sees(s, "node_gone name=\"b\"");
    sees(s, "pod_gone uid=\"u-r\"");
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "c"); /* decided anew */
    assert_null(said(s, MSG_bind, 2));
    assert_worker_has_kept_up();
}

static void a_worker_that_dies_ends_it(void **state)
{
    (void)state;
    three();
    work(s);
    (void)answer(s, 1);
    worker_dies(s);
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "b");
    assert_bound(2, "r", "c");
    assert_null(said(s, MSG_bind, 3));
    assert_worker_has_kept_up();
}

static void lost_leadership_leaves_nothing_behind(void **state)
{
    (void)state;
    three();
    work(s);
    answer_all();
    hear(s, binder, "leadership lead_term=1 identity=\"me\" holder=\"other\"");
    settle(s);
    assert_null(said(s, MSG_bind, 0));
    assert_worker_has_kept_up();
}

/* Of the first worker's answer the second's is none: it is of another question, or late. */
static void nonsense_makes_pods_go_alone(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "",
        "picks=[{feasible=-1}]",
        "picks=[{node=\"a\" ties=-1 feasible=1}]",
        "picks=[{node=\"a\" ties=1 feasible=1 tied=1}]",
        "picks=[{node=\"a\" ties=1 feasible=1 rivals=[{pick=0 total=9}]}]",
        "filter_ns=-1 picks=[{node=\"a\" ties=1 feasible=1}]"};
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        three();
        struct message m;
        assert_true(outbox_get(&s->asked, s->asked.count - 1, &m, &s->arena));
        hear(s, (struct address){WORKER, s->worker_peer}, "map_picks_result cycle=%lld round=1 %s",
             (long long)m.map_picks.cycle, nonsense[i]);
        settle(s);
        assert_bound(0, "p", "a");
        assert_bound(2, "r", "c");
        assert_true(counter(s, "late_answers") > 0);
        assert_worker_has_kept_up();
        stop(NULL);
        start(NULL);
    }
}

static void a_worker_of_an_older_version_is_asked_about_one_at_a_time(void **state)
{
    (void)state;
    struct message join = side_message(s, "worker_join instance=\"old\" capacity=1 counts=true");
    hears(s, (struct address){WORKER, s->worker_peer}, &join, false);
    work(s);
    three();
    assert_int_equal(asked(MSG_map_picks), 0);
    assert_int_equal(asked(MSG_map_request), 2);
    settle(s);
    assert_bound(2, "r", "c");
}

static void answers_that_nobody_asked_for_are_late(void **state)
{
    (void)state;
    struct address worker = {WORKER, s->worker_peer};
    hear(s, worker, "map_picks_result cycle=1 round=1 picks=[{node=\"a\" ties=1 feasible=1}]");
    hear(s, worker, "map_checked cycle=1 round=1");
    three();
    hear(s, worker, "map_checked cycle=1 round=1");
    assert_int_equal(counter(s, "late_answers"), 3);
    settle(s);
    assert_bound(2, "r", "c");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_questions_decide_about_three_pods),
        TEST(it_ends_where_the_only_node_is_taken),
        TEST(a_pod_that_fits_nowhere_is_asked_about_alone),
        TEST(pods_for_whom_others_count_do_not_go_along),
        TEST(ranges_are_the_clusters),
        TEST(a_change_between_the_questions_waits),
        TEST(a_worker_that_dies_ends_it),
        TEST(lost_leadership_leaves_nothing_behind),
        TEST(nonsense_makes_pods_go_alone),
        TEST(a_worker_of_an_older_version_is_asked_about_one_at_a_time),
        TEST(answers_that_nobody_asked_for_are_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
