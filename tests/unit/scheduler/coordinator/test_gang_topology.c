/* test_gang_topology: groups of scheduling.k8s.io whose pods have to be within one domain of a node
 * label: each domain is tried as if there were no other nodes, and the best one has the group. */
#include "proto/base/log.h"
#include "proto/metrics.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define IN_TREE "scheduling.k8s.io"
#define ZONE    "topology_key=\"zone\" "

#define GENERATED METRIC_scheduler_generated_placements_total
#define EVALUATED METRIC_scheduler_placement_evaluations_total

static struct side *s;
static bool evicts_as_one; /* WorkloadAwarePreemption, of 1.36 */

static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char texts[16][900];
    static unsigned next;
    char *text = texts[next++ % 16];
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d}] usage=[{name=\"cpu\" amount=%d}] "
             "usage_score_cpu=%d %s}",
             name, name, cpu, cpu, cpu, cpu, more);
    return text;
}

static void shape(struct profile *p)
{
    static struct str generate[] = {{"TopologyPlacementGenerator", 26}};
    static struct score_plugin rate[] = {{{"NodeResourcesFit", 16}, 1},
                                         {{"PodGroupPodsCount", 17}, 1}};
    p->features.group_topology = true;
    p->features.group_preemption = evicts_as_one;
    p->placement_generate = (struct strs){1, generate};
    p->placement_score.count = 2;
    p->placement_score.at = rate;
}

/* zones: a letter for each node of 4000; a blank: it has none. */
static void begin(int release, const char *zones)
{
    batch_in_tree = true;
    batch_shape = shape;
    batch_release = release;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; zones[i] != 0; i++) {
        char label[64] = "";
        if (zones[i] != ' ')
            snprintf(label, sizeof(label), "labels=[{key=\"zone\" value=\"%c\"}]", zones[i]);
        sees(s,
             "node_set node={name=\"n%d\" %s allocatable=[{name=\"cpu\" amount=4000} "
             "{name=\"memory\" amount=8589934592} {name=\"pods\" amount=110}]}",
             i, label);
    }
    side_begins(s);
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_in_tree = evicts_as_one = false;
    batch_shape = NULL;
    batch_release = 36;
    return 0;
}

static void see_pod(const char *name, int cpu, const char *more)
{
    static int version = 100;
    char text[300];
    snprintf(text, sizeof(text), "resource_version=%d %s", version++, more);
    sees(s, "pod_set pod=%s", pod_text(name, cpu, text));
}

/* Members g-0, g-1 … of which so many are needed; of_group and of_pods: more of both. */
static void group_of(int count, int needed, int cpu, const char *of_group, const char *of_pods)
{
    static char text[16384];
    int len = snprintf(text, sizeof(text),
                       "gang_attempt group={api=\"" IN_TREE "\" namespace_name=\"default\" "
                       "name=\"g\" uid=\"u-group\" min_member=%d %s} needed=%d members=[",
                       needed, of_group, needed);
    for (int i = 0; i < count; i++) {
        char name[32], more[600];
        snprintf(name, sizeof(name), "g-%d", i);
        snprintf(more, sizeof(more), "gang=\"g\" gang_api=\"" IN_TREE "\" %s", of_pods);
        len += snprintf(text + len, sizeof(text) - (size_t)len, "{pod=%s attempts=1 cycle=%d} ",
                        pod_text(name, cpu, more), i + 1);
    }
    snprintf(text + len, sizeof(text) - (size_t)len, "]");
    struct message m = side_message(s, text);
    hears(s, queue, &m, false);
    settle(s);
}

static void group(int count, int needed, const char *of_group)
{
    group_of(count, needed, 3000, of_group, "");
}

static void expect_said(enum message_type type, const char *part, int count)
{
    int got = 0;
    const char *text;
    for (int i = 0; (text = said(s, type, i)) != NULL; i++)
        got += strstr(text, part) != NULL;
    if (got == count)
        return;
    for (size_t i = 0; i < s->told_count; i++)
        print_message("%s %s\n", message_info[s->told[i].type].record->name, s->told[i].text);
    fail_msg("%d of %s, not %d", got, part, count);
}

static int64_t counted(enum metric metric, const char *result)
{
    struct str profile = STR_LITERAL("default-scheduler");
    return metric_series(metric, result == NULL ? METRIC_VALUES(profile)
                                                : METRIC_VALUES(str_of(result), profile))
        ->value;
}

static void a_group_goes_where_all_of_it_fits(void **state)
{
    (void)state;
    for (int release = 36; release <= 37; release++) {
        begin(release, "abb");
        group(2, 2, ZONE);
        expect_said(MSG_bind, "", 2);
        expect_said(MSG_bind, "node_name=\"n0\"", 0);
        stop(state);
        begin(release, "ab ");
        group(2, 2, ""); /* it is free */
        expect_said(MSG_bind, "", 2);
        stop(state);
    }
    begin(36, "a");
}

/* The more of it the better; else where it fills the nodes most. */
static void the_best_domain_has_it(void **state)
{
    (void)state;
    int64_t generated = counted(GENERATED, NULL), feasible = counted(EVALUATED, "feasible");
    begin(37, "abb");
    group(2, 1, ZONE);
    assert_int_equal(counted(GENERATED, NULL), generated + 2);
    assert_int_equal(counted(EVALUATED, "feasible"), feasible + 2);
    expect_said(MSG_bind, "", 2);
    expect_said(MSG_bind, "node_name=\"n0\"", 0);
    stop(state);
    begin(37, "aabcc");
    group_of(2, 2, 1000, ZONE, "");
    expect_said(MSG_bind, "node_name=\"n2\"", 2);
    stop(state);
    begin(37, "ab");
    see_pod("there", 1000, "node_name=\"n1\"");
    group_of(2, 2, 1000, ZONE, "");
    expect_said(MSG_bind, "node_name=\"n1\"", 2);
}

static void what_is_said_without_room_in_any(void **state)
{
    (void)state;
    begin(37, "ab");
    group(2, 2, ZONE);
    expect_said(MSG_group_failed,
                "message=\"pod group is unschedulable, 0/2 placements are available, first "
                "placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod "
                "group preemption: No preemption victims found for incoming preemptor\"",
                1);
    expect_said(MSG_pod_failed, "message=\"0/1 nodes are available: 1 Insufficient cpu.\"", 1);
    stop(state);
    begin(36, "ab");
    see_pod("cheap", 2000, "node_name=\"n1\" priority=-1");
    group(2, 2, ZONE);
    expect_said(MSG_group_failed,
                "message=\"0/2 placements are available, first placement status: pod group is "
                "unschedulable\"",
                1);
    expect_said(MSG_pod_failed,
                "message=\"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible "
                "due to placement-based pod group scheduling limitation\"",
                1);
    expect_said(MSG_pod_failed, "waiting for minCount pods from a gang to be scheduled", 1);
    expect_said(MSG_preempt, "", 0);
    stop(state);
    begin(36, "ab"); /* one that is free is said to have one placement */
    group(3, 3, "");
    expect_said(MSG_group_failed, "message=\"0/1 placements are available, ", 1);
}

static void no_node_need_have_the_label(void **state)
{
    (void)state;
    begin(36, "  ");
    group(2, 2, ZONE);
    expect_said(MSG_group_failed, "message=\"no feasible placements found\"", 1);
    expect_said(MSG_pod_failed, "message=\"no feasible placements found\"", 2);
    stop(state);
    begin(37, "  ");
    see_pod("cheap", 2000, "node_name=\"n1\" priority=-1");
    group(2, 2, ZONE);
    expect_said(MSG_group_failed,
                "message=\"no feasible placements found, pod group preemption: no feasible "
                "placements found\"",
                1);
    expect_said(MSG_pod_failed, "message=\"no feasible placements found\"", 2);
    expect_said(MSG_preempt, "", 0);
}

static void the_rest_follows_those_that_are_there(void **state)
{
    (void)state;
    begin(37, "abb ");
    see_pod("g-9", 1000, "node_name=\"n0\" gang=\"g\" gang_api=\"" IN_TREE "\"");
    group(2, 1, ZONE);
    expect_said(MSG_bind, "node_name=\"n0\"", 1);
    expect_said(MSG_bind, "", 1);
    see_pod("g-8", 1000, "node_name=\"n3\" gang=\"g\" gang_api=\"" IN_TREE "\"");
    forget_told(s);
    group(2, 1, ZONE);
    expect_said(MSG_group_failed,
                "message=\"cannot determine domain for already scheduled pods: no topology domain "
                "found for pod default/g-8\"",
                1);
    expect_said(MSG_group_failed, "reason=\"SchedulerError\"", 1);
}

/* Nobody goes from another domain. */
static void room_is_made_in_one_domain(void **state)
{
    (void)state;
    begin(37, "abb");
    see_pod("of-a", 4000, "node_name=\"n0\"");
    see_pod("of-b", 2000, "node_name=\"n1\"");
    see_pod("dear", 2000, "node_name=\"n2\" priority=20");
    group_of(2, 2, 2000, ZONE "has_priority=true priority=9", "priority=9");
    expect_said(MSG_preempt, "name=\"of-", 0); /* there is room in b */
    expect_said(MSG_bind, "", 2);
    stop(state);
    begin(37, "ab");
    see_pod("of-a", 4000, "node_name=\"n0\" priority=20");
    see_pod("of-b", 4000, "node_name=\"n1\"");
    group_of(2, 2, 2000, ZONE "has_priority=true priority=9", "priority=9");
    expect_said(MSG_preempt, "name=\"of-b\"", 1);
    expect_said(MSG_pod_failed, "nominated_node=\"n1\"", 2);
    stop(state);
    evicts_as_one = true;
    begin(36, "ab");
    see_pod("of-b", 4000, "node_name=\"n1\"");
    group(2, 2, ZONE "has_priority=true priority=9");
    expect_said(MSG_preempt, "", 0);
    expect_said(MSG_group_failed,
                "message=\"0/2 placements are available, first placement status: pod group is "
                "unschedulable, workload aware preemption is not supported for pod groups with "
                "scheduling constraints\"",
                1);
}

/* As upstream: a filter that counts pods looks beyond the domain. */
static void filters_count_pods_of_all_domains(void **state)
{
    (void)state;
    static const char *const evenly =
        "labels=[{key=\"app\" value=\"a\"}] spread=[{max_skew=1 topology_key=\"zone\" "
        "when_unsatisfiable=\"DoNotSchedule\" selector={present=true labels=[{key=\"app\" "
        "value=\"a\"}]}}]";
    for (int workers = 1; workers <= 2; workers++) {
        begin(37, "abb");
        if (workers == 2)
            other_begins(s);
        see_pod("full", 4000, "node_name=\"n0\"");
        group_of(2, 2, 1500, ZONE, evenly); /* two more than in a */
        expect_said(MSG_bind, "", 0);
        expect_said(MSG_group_failed, "0/2 placements are available", 1);
        stop(state);
    }
    begin(36, "a");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_group_goes_where_all_of_it_fits),     TEST(the_best_domain_has_it),
        TEST(what_is_said_without_room_in_any),      TEST(no_node_need_have_the_label),
        TEST(the_rest_follows_those_that_are_there), TEST(room_is_made_in_one_domain),
        TEST(filters_count_pods_of_all_domains),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
