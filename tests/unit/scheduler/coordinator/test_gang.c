/* test_gang: a group is placed as a whole or not at all, with one worker and with several; what is
 * sent to binder and queue, what is undone, and what comes in between. */
#include "proto/base/log.h"
#include "proto/metrics.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

static struct side *s;

/* ---- playing ---- */

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
    static char texts[16][900];
    static unsigned next;
    char *text = texts[next++ % 16];
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 "
             "labels=[{key=\"app\" value=\"g\"}] %s}",
             name, name, cpu, cpu, cpu, cpu, more);
    return text;
}

#define CRD     "scheduling.x-k8s.io"
#define IN_TREE "scheduling.k8s.io"
#define OF_G    "gang=\"g\" gang_api=\"" IN_TREE "\""

static int64_t offered_at; /* the position that the queue has read; 0: not said */

/* Members g-0, g-1 … of so much, cycles from 1. */
static void group(const char *api, int count, int needed, int cpu, const char *more)
{
    static char text[32768];
    int len = snprintf(text, sizeof(text),
                       "gang_attempt group={api=\"%s\" namespace_name=\"default\" name=\"g\" "
                       "uid=\"u-group\" min_member=%d} needed=%d members=[",
                       api, needed, needed);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "g-%d", i);
        len += snprintf(text + len, sizeof(text) - (size_t)len, "{pod=%s attempts=1 cycle=%d} ",
                        pod_text(name, cpu, more), i + 1);
    }
    snprintf(text + len, sizeof(text) - (size_t)len, "] epoch=%d sequence=%lld",
             offered_at == 0 ? 0 : 7, (long long)offered_at);
    struct message m = side_message(s, text);
    hears(s, queue, &m, false);
}

static void attempt(const char *name, int cpu, int cycle)
{
    hear(s, queue, "attempt pod=%s attempts=1 cycle=%d", pod_text(name, cpu, ""), cycle);
}

static void begin_with(uint32_t workers, int64_t batch, int nodes, int cpu)
{
    s = side_new(batch, TIE_BREAK_first);
    for (uint32_t i = 1; i < workers; i++)
        other_begins(s);
    for (int i = 0; i < nodes; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%d", i);
        add_node(name, cpu);
    }
    side_begins(s);
}

static void begin(int nodes, int cpu)
{
    begin_with(1, 0, nodes, cpu);
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_in_tree = false;
    offered_at = 0;
    return 0;
}

/* ---- looking ---- */

static int count_said(enum message_type type, const char *part)
{
    int count = 0;
    const char *text;
    for (int i = 0; (text = said(s, type, i)) != NULL; i++)
        count += part == NULL || strstr(text, part) != NULL;
    return count;
}

static void expect_said(enum message_type type, const char *part, int count)
{
    int got = count_said(type, part);
    if (got == count)
        return;
    for (size_t i = 0; i < s->told_count; i++)
        print_message("%s %s\n", message_info[s->told[i].type].record->name, s->told[i].text);
    fail_msg("%d of %s, not %d", got, part, count);
}

/* ---- the tests ---- */

static void a_group_that_fits_is_bound_as_a_whole(void **state)
{
    (void)state;
    begin(3, 4000);
    group(CRD, 4, 4, 3000, "");
    settle(s);
    expect_said(MSG_bind, NULL, 0); /* three nodes have room for three */
    forget_told(s);
    add_node("n3", 4000);
    group(CRD, 4, 4, 3000, "");
    settle(s);
    expect_said(MSG_bind, NULL, 4);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    expect_said(MSG_group_failed, "4 of 4 pods have a place together, 4 were needed", 1);
    expect_said(MSG_outcome, NULL, 0); /* theirs come with the binds */
    assert_int_equal(counter(s, "assumed"), 4);
}

static void more_than_are_needed_are_bound_too_and_the_rest_fails(void **state)
{
    (void)state;
    begin(5, 4000);
    group(CRD, 6, 4, 3000, "");
    settle(s);
    expect_said(MSG_bind, NULL, 5);
    expect_said(MSG_outcome, "unschedulable", 1);
    expect_said(MSG_pod_failed, "0/5 nodes are available: 5 Insufficient cpu.", 1);
}

static void a_group_that_does_not_fit_holds_nothing_and_is_told_why(void **state)
{
    (void)state;
    begin(3, 4000);
    group(CRD, 6, 4, 3000, "");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    expect_said(MSG_outcome, "unschedulable", 6);
    expect_said(MSG_outcome, "Coscheduling", 3); /* those that have a place */
    expect_said(MSG_pod_failed,
                "message=\"PodGroup default/g gets rejected due to Pod g-3 is "
                "unschedulable even after PostFilter\"",
                3);
    expect_said(MSG_pod_failed, "0/3 nodes are available: 3 Insufficient cpu.", 3);
    expect_said(MSG_group_failed,
                "4 more pods have to be placed together, and 3 of 6 have no "
                "place: pod default/g-3: 0/3 nodes are available: 3 "
                "Insufficient cpu.",
                1);
    assert_int_equal(counter(s, "assumed"), 0);
    forget_told(s);
    for (int i = 0; i < 3; i++) { /* others use the room at once */
        char name[32];
        snprintf(name, sizeof(name), "p%d", i);
        attempt(name, 4000, 10 + i);
    }
    settle(s);
    expect_said(MSG_bind, NULL, 3);
}

static void the_api_in_the_tree_has_its_own_words(void **state)
{
    (void)state;
    begin(3, 4000);
    group(IN_TREE, 4, 4, 3000, "");
    settle(s);
    expect_said(MSG_pod_failed,
                "message=\"pod group is unschedulable, waiting for minCount pods from a gang to be "
                "scheduled, one or more plugins asked to wait and no plugin rejected pod\"",
                3);
    expect_said(MSG_pod_failed, "message=\"0/3 nodes are available: 3 Insufficient cpu.", 1);
    expect_said(MSG_group_failed, "message=\"pod group is unschedulable\"", 1);
}

static void nobody_is_decided_in_between(void **state)
{
    (void)state;
    begin_with(1, 1, 3, 4000);
    group(CRD, 3, 3, 3000, "");
    attempt("p", 1000, 9);
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    expect_said(MSG_bind, NULL, 0);
    settle(s);
    assert_non_null(said(s, MSG_bind, 3));
    assert_non_null(strstr(said(s, MSG_bind, 3), "name=\"p\""));
}

static void a_worker_lost_in_the_middle_begins_it_anew(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    group(CRD, 4, 4, 3000, "");
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    worker_dies(s);
    assert_int_equal(counter(s, "assumed"), 0);
    settle(s);
    expect_said(MSG_bind, NULL, 4);
    assert_int_equal(counter(s, "gangs_restarted"), 1);
}

static void a_member_that_goes_in_the_middle_takes_its_place_along(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    group(CRD, 4, 4, 3000, "");
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    sees(s, "pod_gone uid=\"u-g-0\" namespace_name=\"default\" name=\"g-0\"");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    expect_said(MSG_outcome, "skipped", 4); /* three are too few, whoever they are */
    assert_int_equal(counter(s, "assumed"), 0);
}

/* A member that is on a node already. */
static void sees_member_on_node(const char *name, const char *node)
{
    sees(s,
         "pod_set pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"%s\" "
         "scheduler_name=\"default-scheduler\" " OF_G "}",
         name, name, node);
}

static void member_goes(const char *name)
{
    sees(s, "pod_gone uid=\"u-%s\" namespace_name=\"default\" name=\"%s\"", name, name);
}

/* The queue has seen two of four on nodes, and offers the other two. */
static void the_other_two_are_offered(void)
{
    hear(s, queue,
         "gang_attempt group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
         "uid=\"u-group\" min_member=4} needed=2 placed=2 members=[{pod=%s attempts=1 cycle=1} "
         "{pod=%s attempts=1 cycle=2}]",
         pod_text("g-2", 3000, OF_G), pod_text("g-3", 3000, OF_G));
}

static void a_group_is_completed(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    sees_member_on_node("g-0", "n0");
    sees_member_on_node("g-1", "n1");
    the_other_two_are_offered();
    settle(s);
    expect_said(MSG_bind, NULL, 2);
}

/* It offers them on a view that is older than ours, in which a member has gone since. */
static void members_that_the_queue_has_not_seen_go_do_not_count(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    sees_member_on_node("g-0", "n0");
    sees_member_on_node("g-1", "n1");
    member_goes("g-1");
    the_other_two_are_offered();
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    expect_said(MSG_outcome, "skipped", 2); /* the queue finds out who is still there */
    assert_int_equal(counter(s, "assumed"), 0);
}

static void members_on_nodes_that_go_in_the_middle_do_not_count(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    sees_member_on_node("g-0", "n0");
    sees_member_on_node("g-1", "n1");
    the_other_two_are_offered();
    while (counter(s, "assumed") < 1) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    member_goes("g-1");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    expect_said(MSG_outcome, "skipped", 2);
    assert_int_equal(counter(s, "assumed"), 0);
}

static void a_node_that_goes_in_the_middle_begins_it_anew(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    group(CRD, 3, 3, 3000, "");
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    sees(s, "node_gone name=\"n0\"");
    settle(s);
    expect_said(MSG_bind, NULL, 3);
    expect_said(MSG_bind, "n0", 0);
    assert_int_equal(counter(s, "gangs_restarted"), 1);
}

static void lost_leadership_gives_everybody_back(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    group(CRD, 4, 4, 3000, "");
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    hear(s, binder, "leadership leading=false lead_term=2 identity=\"me\" holder=\"other\"");
    settle(s);
    expect_said(MSG_outcome, "skipped", 4);
    expect_said(MSG_bind, NULL, 0);
    assert_int_equal(counter(s, "assumed"), 0);
}

static void the_queue_that_is_gone_takes_its_groups_along(void **state)
{
    (void)state;
    begin_with(1, 1, 4, 4000);
    group(CRD, 4, 4, 3000, "");
    while (counter(s, "assumed") < 2) {
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    hear(s, queue, "peer_down");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    assert_int_equal(counter(s, "assumed"), 0);
    assert_int_equal(counter(s, "waiting"), 0);
    hear(s, queue, "peer_up process=\"queue\"");
    group(CRD, 4, 4, 3000, "");
    group(CRD, 4, 4, 3000, ""); /* doubled */
    settle(s);
    expect_said(MSG_bind, NULL, 4);
}

static void members_see_each_other(void **state)
{
    (void)state;
    begin(3, 4000);
    group(CRD, 4, 4, 100,
          "anti_affinity_required=[{selector={present=true labels=[{key=\"app\" value=\"g\"}]} "
          "namespaces=[\"default\"] topology_key=\"kubernetes.io/hostname\"}]");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    forget_told(s);
    group(CRD, 3, 3, 100,
          "anti_affinity_required=[{selector={present=true labels=[{key=\"app\" value=\"g\"}]} "
          "namespaces=[\"default\"] topology_key=\"kubernetes.io/hostname\"}]");
    settle(s);
    expect_said(MSG_bind, "n0", 1);
    expect_said(MSG_bind, "n1", 1);
    expect_said(MSG_bind, "n2", 1);
}

static void equal_members_go_in_few_exchanges(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        if (workers > 1)
            side_free(&s);
        begin_with(workers, 0, 20, 8000);
        forget_told(s);
        group(CRD, 32, 32, 3000, "");
        settle(s);
        expect_said(MSG_bind, NULL, 32);
        assert_true(counter(s, workers == 1 ? "batches" : "runs") <= 3);
    }
}

/* ---- evictions ---- */

static void fill(int nodes, int cpu)
{
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < 2; k++) {
            char name[32], more[64];
            snprintf(name, sizeof(name), "v%d-%d", i, k);
            snprintf(more, sizeof(more), "node_name=\"n%d\" resource_version=%d", i,
                     10 * i + k + 1);
            sees(s, "pod_set pod=%s", pod_text(name, cpu, more));
        }
}

static void victims_are_evicted_for_the_whole_group(void **state)
{
    (void)state;
    begin(3, 4000);
    fill(2, 2000);
    group(CRD, 3, 3, 3000, "priority=9");
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    expect_said(MSG_preempt, NULL, 2);
    expect_said(MSG_pod_failed, "nominated_node=\"n", 3);
    expect_said(MSG_pod_failed, "pod group is waiting for preemption to complete", 1);
    expect_said(MSG_group_failed, "4 pods of lower priority are evicted", 1);
    expect_said(MSG_outcome, NULL, 1); /* who needs no eviction; the others' when victims go */
    assert_int_equal(counter(s, "assumed"), 0);
    attempt("p", 3000, 20); /* the room is theirs */
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            sees(s, "pod_gone uid=\"u-v%d-%d\" namespace_name=\"default\" name=\"v%d-%d\"", i, k, i,
                 k);
    for (int i = 0; i < 3; i++) {
        hear(s, binder, "preempt_result uid=\"u-g-%d\" node_name=\"n0\" done=true", i);
        hear(s, binder, "preempt_result uid=\"u-g-%d\" node_name=\"n1\" done=true", i);
    }
    settle(s);
    expect_said(MSG_outcome, "u-g-", 3);
    group(CRD, 3, 3, 3000, "priority=9");
    settle(s);
    expect_said(MSG_bind, NULL, 3);
}

/* The queue, which has not read the snapshot yet, offers a member that has gone. */
static void no_room_is_made_for_a_member_that_the_snapshot_does_not_show(void **state)
{
    (void)state;
    begin(2, 4000);
    fill(2, 2000);
    offered_at = s->sequence++;
    s->numbered_from_zero = true; /* all of it has one position */
    sees(s, "snapshot_begin");
    add_node("n0", 4000);
    add_node("n1", 4000);
    fill(2, 2000);
    sees(s, "pod_set pod=%s", pod_text("g-0", 3000, "priority=9"));
    sees(s, "snapshot_end");
    s->numbered_from_zero = false;
    group(CRD, 2, 1, 3000, "priority=9");
    settle(s);
    expect_said(MSG_preempt, NULL, 1);
    expect_said(MSG_preempt, "name=\"g-0\"", 1);
    expect_said(MSG_outcome, "skipped", 1); /* g-1 */
    for (int i = 0; i < 2; i++)
        sees(s, "pod_gone uid=\"u-v%d-0\" namespace_name=\"default\" name=\"v%d-0\"", i, i);
    attempt("p", 2000, 20);
    settle(s);
    expect_said(MSG_bind, "name=\"p\"", 1);
}

/* As upstream's release, which looks at no gang when it chooses victims. */
static void of_a_gang_in_the_way_one_member_may_go(void **state)
{
    (void)state;
    begin(1, 4000);
    sees(s,
         "pod_group_set group={api=\"" CRD "\" namespace_name=\"default\" name=\"old\" uid=\"uo\" "
         "min_member=4}");
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "old-%d", i);
        sees(s, "pod_set pod=%s",
             pod_text(name, 1000, "node_name=\"n0\" gang=\"old\" gang_api=\"" CRD "\""));
    }
    hear(s, queue, "attempt pod=%s attempts=1 cycle=1", pod_text("high", 1000, "priority=9"));
    settle(s);
    expect_said(MSG_preempt, NULL, 1);
    expect_said(MSG_preempt, "uid=\"u-old-", 1);
    const char *text = said(s, MSG_preempt, 0);
    const char *first = strstr(text, "uid=\"u-old-");
    assert_null(strstr(first + 1, "uid=\"u-old-"));
}

static void room_that_comes_while_it_is_to_be_made_is_taken(void **state)
{
    (void)state;
    begin_with(1, 1, 2, 4000);
    fill(2, 2000);
    group(CRD, 2, 2, 3000, "priority=9");
    for (int i = 0; i < 2; i++) { /* both are told that they do not fit */
        tick(s);
        work(s);
        (void)answer(s, 1);
    }
    expect_said(MSG_outcome, NULL, 0);
    for (int i = 0; i < 4; i++)
        sees(s, "pod_gone uid=\"u-v%d-%d\" namespace_name=\"default\" name=\"v%d-%d\"", i / 2,
             i % 2, i / 2, i % 2);
    settle(s);
    expect_said(MSG_preempt, NULL, 0);
    expect_said(MSG_outcome, "unschedulable", 0);
    expect_said(MSG_bind, NULL, 2);
}

static void nobody_is_evicted_for_a_part_of_a_group(void **state)
{
    (void)state;
    begin(2, 4000);
    fill(2, 2000);
    group(CRD, 3, 3, 3000, "priority=9");
    settle(s);
    expect_said(MSG_preempt, NULL, 0);
    expect_said(MSG_outcome, "unschedulable", 3);
    expect_said(MSG_pod_failed, "nominated_node=", 0);
    assert_int_equal(counter(s, "assumed"), 0);
    forget_told(s);
    attempt("p", 1000, 20); /* the victims are still in the way */
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    attempt("q", 1, 21);
    settle(s);
    expect_said(MSG_bind, NULL, 0);
}

static void only_as_many_are_evicted_as_are_needed(void **state)
{
    (void)state;
    begin(5, 4000);
    fill(4, 2000);
    group(CRD, 5, 2, 3000, "priority=9");
    settle(s);
    expect_said(MSG_preempt, NULL, 1);
    expect_said(MSG_outcome, "unschedulable", 4);
}

static void nominations_end_with_the_groups_timeout(void **state)
{
    (void)state;
    begin(2, 4000);
    fill(2, 2000);
    group(CRD, 2, 2, 3000, "priority=9");
    settle(s);
    expect_said(MSG_preempt, NULL, 2);
    for (int i = 0; i < 2; i++) {
        hear(s, binder, "preempt_result uid=\"u-g-%d\" node_name=\"n0\" done=true", i);
        hear(s, binder, "preempt_result uid=\"u-g-%d\" node_name=\"n1\" done=true", i);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            sees(s, "pod_gone uid=\"u-v%d-%d\" namespace_name=\"default\" name=\"v%d-%d\"", i, k, i,
                 k);
    forget_told(s);
    s->now = moment_after(s->now, span_of_ms(59000));
    sees(s, "view synced=true");
    attempt("p", 3000, 20);
    settle(s);
    expect_said(MSG_bind, NULL, 0);
    s->now = moment_after(s->now, span_of_ms(2000));
    sees(s, "view synced=true");
    settle(s);
    expect_said(MSG_pod_failed,
                "pod group gives its nominated nodes back: it was not placed "
                "within 60 seconds",
                2);
    expect_said(MSG_plugin_back, NULL, 1); /* no status may have shown them: nobody sees them go */
    attempt("q", 3000, 21);
    settle(s);
    expect_said(MSG_bind, "name=\"q\"", 1);
}

#define GIVEN_BACK "pod group gives its nominated nodes back: it was not placed within "

/* Members of the group g as the watch shows them, each nominated to a node of its own. */
static void nominated_elsewhere(int count)
{
    for (int i = 0; i < count; i++) {
        char name[32], more[200];
        snprintf(name, sizeof(name), "g-%d", i);
        snprintf(more, sizeof(more), "priority=9 gang=\"g\" gang_api=\"%s\" nominated_node=\"n%d\"",
                 CRD, i);
        sees(s, "pod_set pod=%s", pod_text(name, 3000, more));
    }
}

static void time_passes(int64_t ms)
{
    s->now = moment_after(s->now, span_of_ms(ms));
    sees(s, "view synced=true");
    settle(s);
}

/* The scheduler that nominated them was restarted, or leads no more; and their group has too few
 * members by now to be tried. */
static void nominations_of_a_former_life_end_as_well(void **state)
{
    (void)state;
    begin(2, 4000);
    nominated_elsewhere(2);
    attempt("p", 3000, 20);
    settle(s);
    expect_said(MSG_bind, NULL, 0); /* they keep it out */
    forget_told(s);
    time_passes(59000);
    expect_said(MSG_pod_failed, GIVEN_BACK, 0);
    time_passes(2000);
    expect_said(MSG_pod_failed, GIVEN_BACK "60 seconds", 2);
    attempt("q", 3000, 21);
    settle(s);
    expect_said(MSG_bind, "name=\"q\"", 1);
}

/* A standby has seen them for long; who led may have given them anew just now. */
static void nominations_seen_by_a_standby_have_their_time_from_its_term_on(void **state)
{
    (void)state;
    begin(2, 4000);
    hear(s, binder, "leadership lead_term=1 identity=\"me\" holder=\"other\"");
    nominated_elsewhere(2);
    time_passes(61000);
    expect_said(MSG_pod_failed, GIVEN_BACK, 0);
    hear(s, binder, "leadership leading=true lead_term=9 identity=\"me\" holder=\"me\"");
    forget_told(s);
    time_passes(59000);
    expect_said(MSG_pod_failed, GIVEN_BACK, 0);
    time_passes(2000);
    expect_said(MSG_pod_failed, GIVEN_BACK "60 seconds", 2);
}

static void see_group(int least)
{
    sees(s,
         "pod_group_set group={api=\"%s\" namespace_name=\"default\" name=\"g\" uid=\"u-group\" "
         "resource_version=%d min_member=%d}",
         CRD, least + 1, least);
}

static void late_member_makes_room(int cycle)
{
    hear(s, queue, "attempt pod=%s attempts=1 cycle=%d",
         pod_text("late", 3000, "priority=9 gang=\"g\" gang_api=\"" CRD "\""), cycle);
    settle(s);
    expect_said(MSG_preempt, "name=\"late\"", 1);
    hear(s, binder, "preempt_result uid=\"u-late\" node_name=\"n0\" done=true");
    forget_told(s);
}

/* Its siblings may have ended meanwhile: then nobody tries it again. */
static void the_nomination_of_a_late_member_ends_with_the_groups_timeout(void **state)
{
    (void)state;
    begin(1, 4000);
    fill(1, 2000);
    see_group(2);
    late_member_makes_room(20);
    time_passes(59000);
    expect_said(MSG_pod_failed, GIVEN_BACK, 0);
    time_passes(2000);
    expect_said(MSG_pod_failed, GIVEN_BACK "60 seconds", 1);
}

/* The group is placed without it, and its binds may fail: then it may be too small to be tried. */
static void who_is_left_over_gives_its_node_back_in_time(void **state)
{
    (void)state;
    begin(3, 4000);
    see_group(2);
    sees(s, "pod_set pod=%s", pod_text("v", 2000, "node_name=\"n2\" deleting=true"));
    sees(s, "pod_set pod=%s",
         pod_text("g-2", 3000, "priority=9 gang=\"g\" gang_api=\"" CRD "\" nominated_node=\"n2\""));
    group(CRD, 3, 2, 3000, "priority=9");
    settle(s);
    expect_said(MSG_bind, NULL, 2);
    forget_told(s);
    time_passes(59000);
    expect_said(MSG_pod_failed, GIVEN_BACK, 0);
    time_passes(2000);
    expect_said(MSG_pod_failed, GIVEN_BACK "60 seconds", 1);
}

static void who_goes_by_itself_keeps_its_nomination_whatever_group_it_names(void **state)
{
    (void)state;
    for (int basic = 0; basic < 2; basic++) {
        begin(1, 4000);
        fill(1, 2000);
        if (basic == 1)
            see_group(0);
        late_member_makes_room(20);
        time_passes(300000);
        expect_said(MSG_pod_failed, GIVEN_BACK, 0);
        if (basic == 0)
            side_free(&s);
    }
}

/* Upstream keeps a single pod's nomination, whoever made it, until the pod is tried. */
static void nominations_of_single_pods_stay(void **state)
{
    (void)state;
    begin(2, 4000);
    sees(s, "pod_set pod=%s", pod_text("single", 3000, "priority=9 nominated_node=\"n0\""));
    time_passes(300000);
    expect_said(MSG_pod_failed, NULL, 0);
}

static void groups_that_wait_are_told(void **state)
{
    (void)state;
    begin(1, 4000);
    hear(s, queue,
         "gang_waits group={name=\"g\" uid=\"u\" namespace_name=\"default\"} message=\"why\" "
         "members=[{pod=%s}] messages=[\"because\"]",
         pod_text("g-0", 1, ""));
    settle(s);
    expect_said(MSG_group_failed, "message=\"why\"", 1);
    expect_said(MSG_pod_failed,
                "message=\"0/1 nodes are available: because. preemption: 0/1 nodes are available: "
                "1 Preemption is not helpful for scheduling., PodGroup default/g gets rejected due "
                "to Pod g-0 is unschedulable even after PostFilter\"",
                1);
    hear(s, queue,
         "gang_waits group={name=\"g\" namespace_name=\"default\"} message=\"why\" "
         "members=[{pod=%s}] messages=[\"PodGroup not found\"]",
         pod_text("g-0", 1, ""));
    settle(s);
    expect_said(MSG_group_failed, NULL, 1); /* nobody to tell */
    expect_said(MSG_pod_failed, "message=\"0/1 nodes are available: 1 PodGroup not found.\"", 1);
    expect_said(MSG_outcome, NULL, 0);
}

/* A pod by itself of a group in the tree, whose PodGroup asks for nobody together. */
static void attempt_of_basic(const char *name, int cpu, int cycle)
{
    hear(s, queue, "attempt pod=%s attempts=1 cycle=%d",
         pod_text(name, cpu, "gang=\"b\" gang_api=\"" IN_TREE "\""), cycle);
}

static void see_basic(int version, const char *more)
{
    sees(s,
         "pod_group_set group={api=\"" IN_TREE
         "\" namespace_name=\"default\" name=\"b\" uid=\"ub\" "
         "generation=3 resource_version=%d %s}",
         version, more);
}

static int64_t group_attempts(const char *result)
{
    return metric_series(METRIC_scheduler_podgroup_schedule_attempts_total,
                         METRIC_VALUES(str_of(result), STR_LITERAL("default-scheduler")))
        ->value;
}

static void attempts_at_groups_in_the_tree_are_counted(void **state)
{
    (void)state;
    int64_t scheduled = group_attempts("scheduled");
    int64_t failed = group_attempts("unschedulable");
    begin(3, 4000);
    group(CRD, 4, 4, 3000, "");
    settle(s);
    assert_int_equal(group_attempts("unschedulable"), failed); /* upstream knows of no others */
    group(IN_TREE, 4, 4, 3000, "");
    settle(s);
    assert_int_equal(group_attempts("unschedulable"), failed + 1);
    add_node("n3", 4000);
    group(IN_TREE, 4, 4, 3000, "");
    settle(s);
    assert_int_equal(group_attempts("scheduled"), scheduled + 1);
    assert_int_equal(group_attempts("waiting_on_preemption"), 0);
}

/* In the tree every pod that names a group is an attempt at it, as upstream. */
static void a_group_without_a_minimum_is_scheduled_with_its_first_pod(void **state)
{
    (void)state;
    int64_t scheduled = group_attempts("scheduled");
    int64_t failed = group_attempts("unschedulable");
    batch_in_tree = true;
    begin(1, 4000);
    see_basic(1, "");
    attempt_of_basic("b-0", 5000, 1);
    settle(s);
    expect_said(MSG_group_failed, "reason=\"Unschedulable\" message=\"pod group is unschedulable\"",
                1);
    see_basic(2, "scheduled_condition={status=\"False\" reason=\"Unschedulable\" "
                 "message=\"pod group is unschedulable\"}");
    attempt_of_basic("b-1", 1000, 2);
    settle(s);
    expect_said(MSG_bind, NULL, 1);
    expect_said(MSG_group_failed, "scheduled=true reason=\"Scheduled\"", 1);
    attempt_of_basic("b-2", 1000, 3);
    attempt_of_basic("b-3", 9000, 4);
    settle(s);
    expect_said(MSG_bind, NULL, 2);
    expect_said(MSG_group_failed, NULL, 2); /* said, though not seen yet */
    see_basic(3, "scheduled_condition={status=\"True\" reason=\"Scheduled\"}");
    s->now = moment_after(s->now, span_of_ms(60000));
    sees(s, "view synced=true");
    attempt_of_basic("b-4", 9000, 5);
    settle(s);
    expect_said(MSG_group_failed, NULL, 2); /* not taken back */
    assert_int_equal(group_attempts("scheduled"), scheduled + 2);
    assert_int_equal(group_attempts("unschedulable"), failed + 3);
}

/* The group is placed, which the watch has yet to show, and a late member of it is not. */
static void a_late_member_takes_nothing_back(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(3, 4000);
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
            "uid=\"u-group\" min_member=2}");
    group(IN_TREE, 3, 2, 3000, "");
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    hear(s, queue, "attempt pod=%s attempts=1 cycle=9",
         pod_text("g-8", 9000, "gang=\"g\" gang_api=\"" IN_TREE "\""));
    settle(s);
    expect_said(MSG_pod_failed, "g-8", 1);
    expect_said(MSG_group_failed, NULL, 1);
}

/* Nor do late members that are tried as a group: with the event goes no condition. */
static void late_members_together_take_nothing_back(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(3, 4000);
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
            "uid=\"u-group\" min_member=2}");
    group(IN_TREE, 2, 2, 3000, OF_G);
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    hear(s, queue,
         "gang_attempt group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
         "uid=\"u-group\" min_member=2} needed=1 members=[{pod=%s attempts=1 cycle=8}]",
         pod_text("g-8", 9000, OF_G));
    settle(s);
    expect_said(MSG_group_failed, "scheduled_condition={status=\"True\"}} reason=\"Unschedulable\"",
                1);
}

static void what_was_said_and_not_seen_is_said_again(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(1, 4000);
    see_basic(1, "");
    attempt_of_basic("b-0", 1000, 1);
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    s->now = moment_after(s->now, span_of_ms(10000));
    sees(s, "view synced=true");
    attempt_of_basic("b-1", 1000, 2);
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 2);
}

/* Its own view may be behind what it said in an earlier term. */
static void another_term_takes_nothing_back(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(1, 4000);
    see_basic(1, "");
    attempt_of_basic("b-0", 1000, 1);
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    hear(s, binder, "leadership lead_term=2 identity=\"me\" holder=\"other\"");
    hear(s, binder, "leadership leading=true lead_term=9 identity=\"me\" holder=\"me\"");
    settle(s);
    sees(s, "barrier_reached id=%lld", (long long)s->barrier);
    attempt_of_basic("b-1", 9000, 2);
    settle(s);
    expect_said(MSG_pod_failed, "b-1", 1);
    expect_said(MSG_group_failed, NULL, 1);
}

/* Its last pod was placed, so nobody else will say it. */
static void what_was_said_and_not_seen_is_said_again_without_another_pod(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(1, 4000);
    see_basic(1, "");
    attempt_of_basic("b-0", 1000, 1);
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true", 1);
    s->now = moment_after(s->now, span_of_ms(9000));
    settle(s);
    expect_said(MSG_group_failed, NULL, 1);
    s->now = moment_after(s->now, span_of_ms(2000));
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true reason=\"Scheduled\"", 2);
    see_basic(2, "scheduled_condition={status=\"True\" reason=\"Scheduled\"}");
    s->now = moment_after(s->now, span_of_ms(600000));
    settle(s);
    expect_said(MSG_group_failed, NULL, 2);
}

/* The queue knew it already. */
static void a_group_that_is_not_seen_yet_is_told_of_when_it_is(void **state)
{
    (void)state;
    batch_in_tree = true;
    begin(1, 4000);
    sees(s, "group_members api=\"" IN_TREE "\" namespace_name=\"default\" name=\"b\" pods=1");
    attempt_of_basic("b-0", 1000, 1);
    settle(s);
    expect_said(MSG_bind, NULL, 1);
    expect_said(MSG_group_failed, NULL, 0);
    see_basic(1, "");
    s->now = moment_after(s->now, span_of_ms(10000));
    settle(s);
    expect_said(MSG_group_failed, "scheduled=true reason=\"Scheduled\"", 1);
}

static void without_the_gates_nothing_is_said_of_groups_in_the_tree(void **state)
{
    (void)state;
    begin(1, 4000);
    see_basic(1, "");
    attempt_of_basic("b-0", 1000, 1);
    settle(s);
    expect_said(MSG_bind, NULL, 1);
    expect_said(MSG_group_failed, NULL, 0);
}

static void a_group_in_the_tree_that_waits_has_no_condition(void **state)
{
    (void)state;
    begin(1, 4000);
    hear(s, queue,
         "gang_waits group={api=\"" IN_TREE "\" name=\"g\" uid=\"u\" namespace_name=\"default\"} "
         "message=\"why\"");
    settle(s);
    expect_said(MSG_group_failed, NULL, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_group_that_fits_is_bound_as_a_whole),
        TEST(more_than_are_needed_are_bound_too_and_the_rest_fails),
        TEST(a_group_that_does_not_fit_holds_nothing_and_is_told_why),
        TEST(the_api_in_the_tree_has_its_own_words),
        TEST(nobody_is_decided_in_between),
        TEST(a_worker_lost_in_the_middle_begins_it_anew),
        TEST(a_member_that_goes_in_the_middle_takes_its_place_along),
        TEST(a_group_is_completed),
        TEST(members_that_the_queue_has_not_seen_go_do_not_count),
        TEST(members_on_nodes_that_go_in_the_middle_do_not_count),
        TEST(a_node_that_goes_in_the_middle_begins_it_anew),
        TEST(lost_leadership_gives_everybody_back),
        TEST(the_queue_that_is_gone_takes_its_groups_along),
        TEST(members_see_each_other),
        TEST(equal_members_go_in_few_exchanges),
        TEST(victims_are_evicted_for_the_whole_group),
        TEST(no_room_is_made_for_a_member_that_the_snapshot_does_not_show),
        TEST(of_a_gang_in_the_way_one_member_may_go),
        TEST(room_that_comes_while_it_is_to_be_made_is_taken),
        TEST(nobody_is_evicted_for_a_part_of_a_group),
        TEST(only_as_many_are_evicted_as_are_needed),
        TEST(nominations_end_with_the_groups_timeout),
        TEST(nominations_of_a_former_life_end_as_well),
        TEST(nominations_seen_by_a_standby_have_their_time_from_its_term_on),
        TEST(the_nomination_of_a_late_member_ends_with_the_groups_timeout),
        TEST(who_is_left_over_gives_its_node_back_in_time),
        TEST(who_goes_by_itself_keeps_its_nomination_whatever_group_it_names),
        TEST(nominations_of_single_pods_stay),
        TEST(groups_that_wait_are_told),
        TEST(a_group_without_a_minimum_is_scheduled_with_its_first_pod),
        TEST(attempts_at_groups_in_the_tree_are_counted),
        TEST(a_late_member_takes_nothing_back),
        TEST(late_members_together_take_nothing_back),
        TEST(what_was_said_and_not_seen_is_said_again),
        TEST(another_term_takes_nothing_back),
        TEST(what_was_said_and_not_seen_is_said_again_without_another_pod),
        TEST(a_group_that_is_not_seen_yet_is_told_of_when_it_is),
        TEST(without_the_gates_nothing_is_said_of_groups_in_the_tree),
        TEST(a_group_in_the_tree_that_waits_has_no_condition),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
