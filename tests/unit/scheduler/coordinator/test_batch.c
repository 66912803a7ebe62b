/* test_batch: several pods in one exchange with the only worker: who goes along, where it stops,
 * and what happens to a batch when things change while the worker computes. */
#include "tests/unit/scheduler/coordinator/batch_world.h"

static struct side *s;

static void add_node(const char *name, int cpu)
{
    sees(s,
         "node_set node={name=\"%s\" labels=[{key=\"kubernetes.io/hostname\" value=\"%s\"}] "
         "allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=8589934592} "
         "{name=\"pods\" amount=110}]}",
         name, name, cpu);
}

static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 %s}",
             name, name, cpu, cpu, cpu, cpu, more);
    return text;
}

static void attempt_like(const char *name, int cpu, const char *more)
{
    static int cycle;
    hear(s, queue, "attempt %s attempts=1 cycle=%d", pod_text(name, cpu, more), ++cycle);
}

static void attempt(const char *name, int cpu)
{
    attempt_like(name, cpu, "");
}

static int start(void **state)
{
    (void)state;
    clock_step_us = 0;
    s = side_new(0, TIE_BREAK_first);
    add_node("a", 4000);
    add_node("b", 1000);
    side_begins(s);
    forget_told(s);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    return 0;
}

/* What waits for the worker: the only message to it, but for images. */
static struct message only_asked(enum message_type type)
{
    struct message m, only = {.type = MSG_none};
    for (size_t i = 0; i < s->asked.count; i++) {
        assert_true(outbox_get(&s->asked, i, &m, &s->arena));
        if (m.type == MSG_shard_images)
            continue;
        assert_int_equal(only.type, MSG_none);
        only = m;
    }
    assert_int_equal(only.type, type);
    return only;
}

/* How many messages of that type wait for the worker. */
static int asked(enum message_type type)
{
    int count = 0;
    for (size_t i = 0; i < s->asked.count; i++)
        count += s->asked.at[i].type == type;
    return count;
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

static long worker_pods(void)
{
    struct buffer lines = {0};
    worker_status(s->worker, &lines);
    long pods = strtol(strstr(lines.at, "\npods=") + strlen("\npods="), NULL, 10);
    buffer_free(&lines);
    return pods;
}

/* The worker's view of the cluster is the coordinator's: a pod that fits only into what is free. */
static void assert_free(int cpu)
{
    forget_told(s);
    attempt("too-big", cpu + 1);
    settle(s);
    assert_non_null(said(s, MSG_pod_failed, 0));
    attempt("fits", cpu);
    settle(s);
    assert_non_null(said(s, MSG_bind, 0));
}

static void three(void)
{
    attempt("p", 1000);
    attempt("q", 1000);
    attempt("r", 1000);
    tick(s);
}

/* ---- */

static void what_waits_goes_in_one_exchange(void **state)
{
    (void)state;
    three();
    struct message m = only_asked(MSG_map_batch);
    assert_int_equal(m.map_batch.requests.count, 3);
    work(s);
    assert_int_equal(answer(s, 1), MSG_map_batch_result);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "a");
    assert_bound(2, "r", "a");
    tick(s);
    assert_int_equal(s->asked.count, 0); /* the worker has them already */
    assert_int_equal(worker_pods(), 3);
    assert_int_equal(counter(s, "batches"), 1);
    assert_int_equal(counter(s, "batch_pods"), 3);
    assert_int_equal(counter(s, "batches_cut"), 0);
    assert_int_equal(counter(s, "scheduled"), 3);
    assert_int_equal(counter(s, "cycles"), 3);
    assert_free(1000);
}

static void pods_that_are_alike_are_told_by_their_names(void **state)
{
    (void)state;
    attempt("p", 1000);
    attempt("q", 1000);
    attempt("r", 999);
    tick(s);
    struct message m = only_asked(MSG_map_batch);
    assert_int_equal(m.map_batch.requests.count, 3);
    assert_false(m.map_batch.requests.at[0].like_former);
    assert_true(m.map_batch.requests.at[1].like_former);
    assert_int_equal(m.map_batch.requests.at[1].pod.request.count, 0);
    assert_true(str_is(m.map_batch.requests.at[1].pod.uid, "u-q"));
    assert_false(m.map_batch.requests.at[2].like_former);
    settle(s);
    assert_bound(1, "q", "a");
    assert_free(1001);
}

static void the_first_of_a_batch_is_like_nobody(void **state)
{
    (void)state;
    struct message m = side_message(
        s, "map_batch cycle=7 requests=[{cycle=7 like_former=true pod={uid=\"x\" name=\"x\"}}]");
    worker_gets(s, s->worker_peer, &m);
    assert_true(outbox_get(&s->answered, 0, &m, &s->arena));
    assert_int_equal(m.map_batch_result.placed, 0);
    assert_true(m.map_batch_result.results.at[0].error.len > 0);
    assert_int_equal(worker_pods(), 0);
}

static void one_pod_is_asked_for_as_ever(void **state)
{
    (void)state;
    attempt("p", 1000);
    tick(s);
    (void)only_asked(MSG_map_request);
    settle(s);
    assert_bound(0, "p", "a");
    assert_int_equal(counter(s, "batches"), 0);
}

static void batches_can_be_switched_off(void **state)
{
    side_free(&s);
    s = side_new(1, TIE_BREAK_first);
    add_node("a", 4000);
    side_begins(s);
    three();
    (void)state;
    (void)only_asked(MSG_map_request);
    settle(s);
    assert_bound(2, "r", "a");
    assert_int_equal(counter(s, "batches"), 0);
}

/* ---- several workers ---- */

static void two_workers(void)
{
    other_begins(s);
    tick(s);
    work(s);
    forget_told(s);
}

static void alike_pods_run_over_several_workers(void **state)
{
    (void)state;
    add_node("c", 4000);
    two_workers();
    three();
    assert_int_equal(asked(MSG_map_run), 2);
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "c");
    assert_bound(2, "r", "a");
    assert_int_equal(counter(s, "runs"), 1);
    assert_int_equal(counter(s, "run_pods"), 3);
    assert_int_equal(counter(s, "cycles"), 3);
    assert_free(3000);
}

static void unlike_pods_are_picked_places_for_by_several_workers(void **state)
{
    (void)state;
    two_workers();
    attempt("p", 1000);
    attempt("q", 999);
    attempt_like("r", 999, "priority=1");
    tick(s);
    assert_int_equal(asked(MSG_map_picks), 2);
    settle(s);
    assert_bound(2, "r", "a");
    assert_int_equal(counter(s, "runs"), 0);
    assert_int_equal(counter(s, "picks"), 1);
    assert_int_equal(counter(s, "picked_pods"), 2); /* for the third there is no other node */
}

static void pods_for_whom_others_count_do_not_run(void **state)
{
    (void)state;
    static const char shy[] =
        "labels=[{key=\"x\" value=\"y\"}] anti_affinity_required=[{selector={present=true "
        "labels=[{key=\"x\" value=\"y\"}]} namespaces=[\"default\"] "
        "topology_key=\"kubernetes.io/hostname\"}]";
    two_workers();
    attempt_like("p", 100, shy);
    attempt_like("q", 100, shy);
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(1, "q", "b");
    assert_int_equal(counter(s, "runs"), 0);
}

static void a_run_ends_where_no_node_has_room(void **state)
{
    (void)state;
    two_workers();
    for (int i = 0; i < 7; i++) { /* of 900: four on a, one on b */
        char name[16];
        snprintf(name, sizeof(name), "p%d", i);
        attempt(name, 900);
    }
    settle(s);
    assert_non_null(said(s, MSG_bind, 4));
    assert_null(said(s, MSG_bind, 5));
    assert_non_null(strstr(said(s, MSG_pod_failed, 1), "0/2 nodes are available: 2 Insufficient"));
    assert_free(400);
}

static void ranges_are_the_clusters(void **state)
{
    (void)state;
    sees(s, "node_set node={name=\"a\" taints=[{key=\"k\" effect=\"PreferNoSchedule\"}] "
            "allocatable=[{name=\"cpu\" amount=4000} {name=\"memory\" amount=8589934592} "
            "{name=\"pods\" amount=110}]}");
    two_workers();
    attempt("p", 100);
    attempt("q", 100);
    tick(s);
    work(s);
    (void)answer(s, 1);
    (void)answer(s, 1);
    assert_int_equal(asked(MSG_map_run), 2); /* once more, with what each did not know */
    settle(s);
    assert_bound(0, "p", "b");
    assert_bound(1, "q", "b");
    attempt("r", 100);
    attempt("t", 100);
    tick(s);
    work(s);
    (void)answer(s, 1);
    (void)answer(s, 1);
    assert_bound(3, "t", "b"); /* it is known now */
    settle(s);
    assert_free(4000);
}

static void a_run_is_given_up_when_a_worker_dies(void **state)
{
    (void)state;
    two_workers();
    three();
    work(s);
    worker_dies(s);
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(2, "r", "a");
    assert_null(said(s, MSG_bind, 3));
    assert_free(1000);
}

static void a_run_that_loses_leadership_leaves_nothing_behind(void **state)
{
    (void)state;
    two_workers();
    three();
    work(s);
    (void)answer(s, 1);
    hear(s, binder, "leadership lead_term=1 identity=\"me\" holder=\"other\"");
    assert_int_equal(asked(MSG_map_run_end), 2);
    settle(s);
    assert_int_equal(counter(s, "late_answers"), 1);
    assert_null(said(s, MSG_bind, 0));
    lead(s);
    assert_free(4000);
}

static void a_pod_of_a_run_that_goes_ends_it_there(void **state)
{
    (void)state;
    two_workers();
    three();
    work(s);
    sees(s, "pod_gone uid=\"u-q\"");
    (void)answer(s, 1);
    (void)answer(s, 1);
    assert_bound(0, "p", "a");
    assert_null(said(s, MSG_bind, 1));
    assert_non_null(strstr(said(s, MSG_outcome, 0), "result=\"skipped\""));
    settle(s);
    assert_bound(1, "r", "a");
    assert_free(2000);
}

static void nonsense_about_a_run_makes_its_pods_go_alone(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "feasible=-1",
        "feasible=1",
        "feasible=1 places=[{node=\"a\" total=1}]",
        "places=[{node=\"a\" total=1 ties=1}]",
        "feasible=1 filter_ns=-1 places=[{ties=1}]",
        "feasible=1 places=[{ties=1} {ties=1} {ties=1} {ties=1} {ties=1} {ties=1} {ties=1}]"};
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        two_workers();
        three();
        struct message m;
        assert_true(outbox_get(&s->asked, s->asked.count - 1, &m, &s->arena));
        long long cycle = (long long)m.map_run.request.cycle;
        hear(s, (struct address){WORKER, s->worker_peer}, "map_run_result cycle=%lld round=1 %s",
             cycle, nonsense[i]);
        work(s);
        (void)answer(s, 1); /* late */
        (void)answer(s, 1);
        assert_null(said(s, MSG_bind, 0));
        settle(s);
        assert_bound(2, "r", "a");
        assert_free(1000);
        stop(NULL);
        start(NULL);
    }
}

static void it_stops_at_a_pod_that_fits_nowhere_and_does_not_ask_again(void **state)
{
    (void)state;
    attempt("p", 1000);
    attempt("big", 9000);
    attempt("r", 1000);
    tick(s);
    work(s);
    (void)answer(s, 1);
    assert_bound(0, "p", "a");
    assert_null(said(s, MSG_bind, 1));
    assert_non_null(strstr(said(s, MSG_pod_failed, 0), "0/2 nodes are available: 2 Insufficient"));
    assert_int_equal(counter(s, "batch_pods"), 2);
    assert_int_equal(counter(s, "batches_cut"), 1);
    settle(s);
    assert_bound(1, "r", "a");
    assert_int_equal(counter(s, "cycles"), 3);
}

static void victims_are_asked_of_the_state_behind_the_batch(void **state)
{
    (void)state;
    attempt("p", 2000);
    attempt("q", 2000);
    attempt_like("vip", 3000, "priority=10");
    tick(s);
    work(s);
    (void)answer(s, 1);
    struct message m = only_asked(MSG_map_request);
    assert_true(m.map_request.step == MAP_STEP_victims);
    sees(s, "node_gone name=\"b\"");
    assert_int_equal(s->asked.count, 1); /* held until it is decided */
    settle(s);
    assert_non_null(strstr(said(s, MSG_preempt, 0), "node_name=\"a\""));
}

static void a_slow_worker_answers_what_it_has(void **state)
{
    (void)state;
    clock_step_us = 300;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%d", i);
        attempt(name, 10);
    }
    tick(s);
    struct message m = only_asked(MSG_map_batch);
    assert_int_equal(m.map_batch.requests.count, 20);
    work(s);
    (void)answer(s, 1);
    assert_int_equal(counter(s, "scheduled"), 4); /* 300, 600, 900, 1200 µs */
    tick(s);
    m = only_asked(MSG_map_batch);
    assert_int_equal(m.map_batch.requests.count, 6); /* not much more than it can do */
    assert_true(str_is(m.map_batch.requests.at[0].pod.name, "p4"));
    settle(s);
    assert_int_equal(counter(s, "scheduled"), 20);
    assert_int_equal(worker_pods(), 20);
}

static void pods_with_terms_are_seen_by_those_behind_them(void **state)
{
    (void)state;
    attempt("p", 100);
    attempt_like("shy", 100,
                 "labels=[{key=\"x\" value=\"y\"}] anti_affinity_required=[{selector={present=true "
                 "labels=[{key=\"x\" value=\"y\"}]} namespaces=[\"default\"] "
                 "topology_key=\"kubernetes.io/hostname\"}]");
    attempt_like("x", 100, "labels=[{key=\"x\" value=\"y\"}]");
    tick(s);
    struct message m = only_asked(MSG_map_batch);
    assert_int_equal(m.map_batch.requests.count, 3);
    assert_true(m.map_batch.requests.at[0].findings.no_terms);
    assert_true(m.map_batch.requests.at[1].findings.no_terms);
    assert_false(m.map_batch.requests.at[2].findings.no_terms);
    settle(s);
    assert_bound(1, "shy", "a");
    assert_bound(2, "x", "b");
}

static const char wide_term[] =
    "affinity_required=[{selector={present=true labels=[{key=\"x\" value=\"y\"}]} "
    "namespace_selector={present=true labels=[{key=\"team\" value=\"t\"}]} "
    "topology_key=\"kubernetes.io/hostname\"}]";

static void what_has_to_do_with_more_than_nodes_goes_alone(void **state)
{
    (void)state;
    static const char *const lonely[] = {
        "volumes=[{kind=\"claim\" name=\"c\" volume=\"v\"}] claims=[\"c\"]",
        "nominated_node=\"a\"",
        "resource_claims=[\"c\"] device_claims=[{name=\"c\" claim=\"c\"}]",
        wide_term,
        "node_name=\"a\"",
        "deleting=true",
        "scheduler_name=\"other\""};
    for (size_t i = 0; i < sizeof(lonely) / sizeof(lonely[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%zu", i);
        attempt(name, 10);
        name[0] = 'l';
        attempt_like(name, 10, lonely[i]);
        name[0] = 'r';
        attempt(name, 10);
        tick(s);
        (void)only_asked(MSG_map_request); /* the lonely one ends the batch */
        settle(s);
        forget_told(s);
    }
    assert_int_equal(counter(s, "batches"), 0);
}

static void others_claims_on_nodes_are_minded_one_at_a_time(void **state)
{
    (void)state;
    sees(s, "pod_set %s", pod_text("vip", 1000, "priority=10 nominated_node=\"b\""));
    assert_int_equal(asked(MSG_shard_nominated), 1);
    settle(s);
    three();
    (void)only_asked(MSG_map_request);
    settle(s);
    assert_bound(2, "r", "a");
    attempt_like("s", 100, "priority=11"); /* the claim is nothing to these */
    attempt_like("t", 100, "priority=11");
    tick(s);
    (void)only_asked(MSG_map_batch);
}

static void an_attempt_on_a_newer_view_waits(void **state)
{
    (void)state;
    attempt("p", 1000);
    hear(s, queue, "attempt %s attempts=1 cycle=2 epoch=7 sequence=%lld", pod_text("q", 1000, ""),
         (long long)s->sequence + 1);
    tick(s);
    (void)only_asked(MSG_map_request);
    settle(s);
    assert_null(said(s, MSG_bind, 1));
    add_node("c", 8000);
    settle(s);
    assert_bound(1, "q", "c");
}

/* ---- two batches under way ---- */

static void batches_of_two(void)
{
    side_free(&s);
    s = side_new(2, TIE_BREAK_first);
    add_node("a", 4600);
    add_node("b", 500);
    side_begins(s);
    forget_told(s);
}

/* Two batches of two pods are under way, for which only a has room, and one pod waits. */
static void five(void)
{
    batches_of_two();
    attempt("p", 900);
    attempt("q", 900);
    attempt("r", 900);
    attempt("s", 900);
    attempt("t", 900);
    tick(s);
    assert_int_equal(asked(MSG_map_batch), 2);
}

static void the_next_batch_is_asked_before_the_first_is_answered(void **state)
{
    (void)state;
    five();
    work(s);
    (void)answer(s, 1);
    assert_bound(1, "q", "a");
    assert_null(said(s, MSG_bind, 2));
    tick(s);
    assert_int_equal(s->asked.count, 0); /* one does not follow: two are under way */
    (void)answer(s, 1);
    assert_bound(3, "s", "a");
    settle(s);
    assert_bound(4, "t", "a");
    assert_int_equal(counter(s, "batches"), 2);
    assert_int_equal(counter(s, "batches_cut"), 0);
    assert_int_equal(worker_pods(), 5);
}

static void no_batch_follows_while_a_change_is_to_be_told(void **state)
{
    (void)state;
    batches_of_two();
    attempt("p", 900);
    attempt("q", 900);
    tick(s);
    add_node("c", 8000);
    attempt("r", 900);
    attempt("s", 900);
    tick(s);
    assert_int_equal(asked(MSG_map_batch), 1);
    assert_int_equal(asked(MSG_shard_node), 0);
    work(s);
    (void)answer(s, 1);
    assert_bound(1, "q", "a");
    assert_int_equal(asked(MSG_shard_node), 1);
    settle(s);
    assert_bound(2, "r", "c");
}

static void a_batch_behind_one_that_stops_is_left_alone(void **state)
{
    (void)state;
    batches_of_two();
    attempt("p", 900);
    attempt("big", 9000);
    attempt("r", 900);
    attempt("s", 900);
    tick(s);
    assert_int_equal(asked(MSG_map_batch), 2);
    work(s);
    assert_int_equal(s->answered.count, 1);
    assert_int_equal(worker_pods(), 1);
    settle(s);
    assert_bound(1, "r", "a");
    assert_bound(2, "s", "a");
    assert_int_equal(worker_pods(), 3);
    assert_free(1900);
}

static void a_batch_behind_one_that_is_moot_is_decided_again(void **state)
{
    (void)state;
    five();
    work(s);
    assert_int_equal(worker_pods(), 4);
    sees(s, "pod_gone uid=\"u-q\"");
    (void)answer(s, 1);
    assert_bound(0, "p", "a");
    assert_null(said(s, MSG_bind, 1));
    assert_int_equal(asked(MSG_shard_pod_gone), 3);
    (void)answer(s, 1);
    assert_int_equal(counter(s, "late_answers"), 1);
    settle(s);
    assert_bound(1, "r", "a");
    assert_bound(3, "t", "a");
    assert_int_equal(worker_pods(), 4);
    assert_free(1000);
}

static void a_pod_of_the_second_batch_that_goes_leaves_the_first_alone(void **state)
{
    (void)state;
    five();
    work(s);
    sees(s, "pod_gone uid=\"u-r\"");
    (void)answer(s, 1);
    (void)answer(s, 1);
    assert_bound(1, "q", "a");
    assert_null(said(s, MSG_bind, 2));
    settle(s);
    assert_bound(2, "s", "a");
    assert_bound(3, "t", "a");
    assert_int_equal(worker_pods(), 4);
}

static void leadership_lost_makes_the_worker_forget_both(void **state)
{
    (void)state;
    five();
    work(s);
    hear(s, binder, "leadership lead_term=1 identity=\"me\" holder=\"other\"");
    assert_int_equal(asked(MSG_shard_pod_gone), 4);
    (void)answer(s, 1);
    (void)answer(s, 1);
    assert_int_equal(counter(s, "late_answers"), 2);
    assert_null(said(s, MSG_bind, 0));
    settle(s);
    assert_int_equal(worker_pods(), 0);
}

static void answers_in_the_wrong_order_are_not_taken(void **state)
{
    (void)state;
    five();
    work(s);
    struct outbox swapped = {0};
    outbox_put_encoded(&swapped, &s->answered.at[1], outbox_body(&s->answered, 1));
    outbox_put_encoded(&swapped, &s->answered.at[0], outbox_body(&s->answered, 0));
    outbox_free(&s->answered);
    s->answered = swapped;
    (void)answer(s, 1);
    assert_int_equal(counter(s, "late_answers"), 1);
    assert_null(said(s, MSG_bind, 0));
    (void)answer(s, 1);
    assert_bound(1, "q", "a");
    assert_null(said(s, MSG_bind, 2));
}

/* ---- while the worker computes ---- */

static void a_pod_that_goes_is_skipped_and_those_behind_it_are_decided_again(void **state)
{
    (void)state;
    attempt("p", 2000);
    attempt("q", 2000);
    attempt("r", 2000); /* fits only without q */
    tick(s);
    work(s);
    sees(s, "pod_gone uid=\"u-q\"");
    (void)answer(s, 1);
    assert_bound(0, "p", "a");
    assert_null(said(s, MSG_bind, 1));
    assert_non_null(strstr(said(s, MSG_outcome, 0), "result=\"skipped\""));
    assert_int_equal(asked(MSG_shard_pod_gone), 1); /* r did not fit */
    settle(s);
    assert_bound(1, "r", "a");
    assert_null(said(s, MSG_bind, 2));
    assert_int_equal(worker_pods(), 2);
    assert_free(1000);
}

static void a_node_that_goes_takes_its_pods_back_into_the_line(void **state)
{
    (void)state;
    attempt("p", 100);
    attempt("q", 3000); /* only a is large enough */
    attempt("r", 800);
    tick(s);
    work(s);
    sees(s, "node_gone name=\"a\"");
    (void)answer(s, 1);
    assert_null(said(s, MSG_bind, 0));
    settle(s);
    assert_bound(0, "p", "b");
    assert_bound(1, "r", "b");
    assert_non_null(strstr(said(s, MSG_pod_failed, 0), "name=\"q\""));
    assert_int_equal(worker_pods(), 2);
}

static void a_node_that_went_and_came_back_has_its_pods(void **state)
{
    (void)state;
    three();
    work(s);
    sees(s, "node_gone name=\"a\"");
    add_node("a", 4000);
    (void)answer(s, 1);
    assert_bound(2, "r", "a");
    assert_int_equal(asked(MSG_shard_pod), 3);
    settle(s);
    assert_int_equal(worker_pods(), 3);
    assert_free(1000);
}

static void a_pod_that_somebody_else_bound_is_left_alone(void **state)
{
    (void)state;
    three();
    work(s);
    sees(s, "pod_set %s", pod_text("q", 1000, "node_name=\"b\""));
    (void)answer(s, 1);
    assert_bound(0, "p", "a");
    assert_null(said(s, MSG_bind, 1));
    settle(s);
    assert_non_null(strstr(said(s, MSG_outcome, 0), "result=\"skipped\""));
    assert_bound(1, "r", "a");
    assert_int_equal(worker_pods(), 3); /* q where it is */
    assert_free(2000);
}

static void a_lone_pod_that_somebody_else_bound_is_left_alone(void **state)
{
    (void)state;
    attempt("p", 1000);
    tick(s);
    work(s);
    sees(s, "pod_set %s", pod_text("p", 1000, "node_name=\"b\""));
    (void)answer(s, 1);
    assert_null(said(s, MSG_bind, 0));
    assert_non_null(strstr(said(s, MSG_outcome, 0), "result=\"skipped\""));
}

static void a_pod_that_changes_is_decided_as_it_is_now(void **state)
{
    (void)state;
    attempt("p", 1000);
    attempt("big", 9000);
    attempt("r", 9000);
    tick(s);
    work(s);
    sees(s, "pod_set %s", pod_text("r", 1000, "resource_version=9"));
    settle(s);
    assert_bound(1, "r", "a");
}

static void leadership_lost_makes_the_worker_forget(void **state)
{
    (void)state;
    three();
    work(s);
    hear(s, binder, "leadership lead_term=1 identity=\"me\" holder=\"other\"");
    assert_int_equal(asked(MSG_shard_pod_gone), 3);
    (void)answer(s, 1);
    assert_int_equal(counter(s, "late_answers"), 1);
    assert_null(said(s, MSG_bind, 0));
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(said(s, MSG_outcome, i), "result=\"skipped\""));
    settle(s);
    assert_int_equal(worker_pods(), 0);
    lead(s);
    assert_free(4000);
}

static void a_queue_that_goes_takes_the_batch_with_it(void **state)
{
    (void)state;
    three();
    work(s);
    hear(s, queue, "peer_down process=\"queue\"");
    settle(s);
    assert_null(said(s, MSG_bind, 0));
    assert_int_equal(worker_pods(), 0);
}

static void a_dead_workers_batch_is_asked_of_the_next(void **state)
{
    (void)state;
    three();
    work(s);
    worker_dies(s);
    settle(s);
    assert_bound(0, "p", "a");
    assert_bound(2, "r", "a");
    assert_null(said(s, MSG_bind, 3));
    assert_int_equal(worker_pods(), 3);
}

static void another_worker_in_the_middle_ends_the_batch(void **state)
{
    (void)state;
    three();
    work(s);
    struct message join = side_message(s, "worker_join instance=\"other\" capacity=1");
    hears(s, (struct address){WORKER, 77}, &join, false);
    assert_int_equal(asked(MSG_shard_pod_gone), 3);
    (void)answer(s, 1);
    assert_int_equal(counter(s, "late_answers"), 1);
    assert_null(said(s, MSG_bind, 0));
}

static void doubled_answers_change_nothing(void **state)
{
    (void)state;
    three();
    work(s);
    (void)answer(s, 2);
    settle(s);
    assert_int_equal(counter(s, "late_answers"), 1);
    assert_null(said(s, MSG_bind, 3));
    assert_int_equal(counter(s, "scheduled"), 3);
}

static void say_result(const char *more)
{
    struct message m = only_asked(MSG_map_batch);
    hear(s, (struct address){WORKER, s->worker_peer}, "map_batch_result cycle=%lld %s",
         (long long)m.map_batch.cycle, more);
}

static void answers_that_make_no_sense_do_no_harm(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "placed=-1", "placed=99", "", "placed=2 results=[{cycle=77 round=1}]",
        "placed=1 results=[{cycle=1 round=9 feasible=1 best_count=1 best_node=\"a\"}]"};
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        three();
        say_result(nonsense[i]);
        assert_null(said(s, MSG_bind, 0));
        assert_int_equal(counter(s, "scheduled"), 0);
        stop(NULL);
        start(NULL);
    }
    three();
    struct message m = only_asked(MSG_map_batch);
    char text[512];
    snprintf(text, sizeof(text),
             "placed=3 results=[{cycle=%lld round=1 nodes=2 evaluated=2 feasible=2 best_count=1 "
             "best_node=\"nowhere\"} {cycle=%lld round=1 feasible=-4}]",
             (long long)m.map_batch.cycle, (long long)m.map_batch.cycle + 1);
    say_result(text);
    assert_null(said(s, MSG_bind, 0)); /* no such node: once more */
    settle(s);
    assert_bound(2, "r", "a");
    assert_int_equal(worker_pods(), 3);
}

/* kube-scheduler looks no further when 47 % of 400 nodes fit; the best may be the last. */
static void all_nodes_are_looked_at(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof(name), "n%03d", i);
        add_node(name, i == 399 ? 64000 : 4000);
    }
    attempt("p", 1000);
    settle(s);
    assert_non_null(said(s, MSG_bind, 0));
    assert_non_null(strstr(said(s, MSG_bind, 0), "node_name=\"n399\""));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(what_waits_goes_in_one_exchange),
        TEST(pods_that_are_alike_are_told_by_their_names),
        TEST(the_first_of_a_batch_is_like_nobody),
        TEST(one_pod_is_asked_for_as_ever),
        TEST(batches_can_be_switched_off),
        TEST(alike_pods_run_over_several_workers),
        TEST(unlike_pods_are_picked_places_for_by_several_workers),
        TEST(pods_for_whom_others_count_do_not_run),
        TEST(a_run_ends_where_no_node_has_room),
        TEST(ranges_are_the_clusters),
        TEST(a_run_is_given_up_when_a_worker_dies),
        TEST(a_run_that_loses_leadership_leaves_nothing_behind),
        TEST(a_pod_of_a_run_that_goes_ends_it_there),
        TEST(nonsense_about_a_run_makes_its_pods_go_alone),
        TEST(it_stops_at_a_pod_that_fits_nowhere_and_does_not_ask_again),
        TEST(victims_are_asked_of_the_state_behind_the_batch),
        TEST(a_slow_worker_answers_what_it_has),
        TEST(pods_with_terms_are_seen_by_those_behind_them),
        TEST(what_has_to_do_with_more_than_nodes_goes_alone),
        TEST(others_claims_on_nodes_are_minded_one_at_a_time),
        TEST(an_attempt_on_a_newer_view_waits),
        TEST(the_next_batch_is_asked_before_the_first_is_answered),
        TEST(no_batch_follows_while_a_change_is_to_be_told),
        TEST(a_batch_behind_one_that_stops_is_left_alone),
        TEST(a_batch_behind_one_that_is_moot_is_decided_again),
        TEST(a_pod_of_the_second_batch_that_goes_leaves_the_first_alone),
        TEST(leadership_lost_makes_the_worker_forget_both),
        TEST(answers_in_the_wrong_order_are_not_taken),
        TEST(a_pod_that_goes_is_skipped_and_those_behind_it_are_decided_again),
        TEST(a_node_that_goes_takes_its_pods_back_into_the_line),
        TEST(a_node_that_went_and_came_back_has_its_pods),
        TEST(a_pod_that_somebody_else_bound_is_left_alone),
        TEST(a_lone_pod_that_somebody_else_bound_is_left_alone),
        TEST(a_pod_that_changes_is_decided_as_it_is_now),
        TEST(leadership_lost_makes_the_worker_forget),
        TEST(a_queue_that_goes_takes_the_batch_with_it),
        TEST(a_dead_workers_batch_is_asked_of_the_next),
        TEST(another_worker_in_the_middle_ends_the_batch),
        TEST(doubled_answers_change_nothing),
        TEST(answers_that_make_no_sense_do_no_harm),
        TEST(all_nodes_are_looked_at),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
