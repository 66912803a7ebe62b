/* test_gang_release: groups of scheduling.k8s.io as kube-scheduler 1.37 tries them: what it asks of
 * them, and its words, which follow from a count. Where 1.36 differs it is looked at, too, also
 * with WorkloadAwarePreemption. */
#include "proto/base/log.h"
#include "proto/metrics.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define IN_TREE "scheduling.k8s.io"
#define OF_G    "gang=\"g\" gang_api=\"" IN_TREE "\" "
#define NOBODY  "pod group preemption: No preemption victims found for incoming preemptor"

#define VICTIMS_OF_GROUPS METRIC_scheduler_workload_preemption_victims
#define VICTIMS_OF_PODS   METRIC_scheduler_preemption_victims

static struct side *s;
static bool group_says_policy; /* PodGroupPreemptionPolicy */
static bool evicts_as_one;     /* WorkloadAwarePreemption, of 1.36 */
static bool spreads_hard;      /* by default over zones, where there is more than one */

static void shape(struct profile *p)
{
    p->features.group_preemption_policy = group_says_policy;
    p->features.group_preemption = evicts_as_one;
    if (spreads_hard) {
        static struct spread_constraint over_zones = {.max_skew = 1, .min_domains = 2};
        over_zones.topology_key = STR_LITERAL("zone");
        over_zones.when_unsatisfiable = STR_LITERAL("DoNotSchedule");
        p->spread_system_defaults = false;
        p->spread_defaults.count = 1;
        p->spread_defaults.at = &over_zones;
    }
}

static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char texts[16][900];
    static unsigned next;
    char *text = texts[next++ % 16];
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d}] usage=[{name=\"cpu\" amount=%d}] %s}",
             name, name, cpu, cpu, cpu, more);
    return text;
}

/* Nodes of 4000, with two pods of 2000 on each of the first ones. */
static void begin(int release, int nodes, int full)
{
    char name[32], more[64];
    batch_in_tree = true;
    batch_release = release;
    batch_shape = shape;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; i < nodes; i++)
        sees(s,
             "node_set node={name=\"n%d\" allocatable=[{name=\"cpu\" amount=4000} "
             "{name=\"memory\" amount=8589934592} {name=\"pods\" amount=110}]}",
             i);
    side_begins(s);
    for (int i = 0; i < 2 * full; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        snprintf(more, sizeof(more), "node_name=\"n%d\" resource_version=%d", i / 2, 10 + i);
        sees(s, "pod_set pod=%s", pod_text(name, 2000, more));
    }
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_in_tree = group_says_policy = evicts_as_one = spreads_hard = batch_claims = false;
    batch_shape = NULL;
    batch_release = 36;
    return 0;
}

/* Members g-0, g-1 … of 3000 each, of which so many are needed; of_group and of_pods: more of the
 * PodGroup, and of its pods. */
static void group(int count, int needed, const char *of_group, const char *of_pods)
{
    static char text[16384];
    int len = snprintf(text, sizeof(text),
                       "gang_attempt group={api=\"" IN_TREE "\" namespace_name=\"default\" "
                       "name=\"g\" uid=\"u-group\" min_member=%d %s} needed=%d members=[",
                       needed, of_group, needed);
    for (int i = 0; i < count; i++) {
        char name[32], more[400];
        snprintf(name, sizeof(name), "g-%d", i);
        snprintf(more, sizeof(more), OF_G "%s", of_pods);
        len += snprintf(text + len, sizeof(text) - (size_t)len, "{pod=%s attempts=1 cycle=%d} ",
                        pod_text(name, 3000, more), i + 1);
    }
    snprintf(text + len, sizeof(text) - (size_t)len, "]");
    struct message m = side_message(s, text);
    hears(s, queue, &m, false);
    settle(s);
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

static int64_t attempts(const char *result)
{
    return metric_series(METRIC_scheduler_workload_preemption_attempts_total,
                         METRIC_VALUES(str_of(result)))
        ->value;
}

static int64_t observed(enum metric metric, const char *label)
{
    return metric_series(metric, label == NULL ? NULL : METRIC_VALUES(str_of(label)))->value;
}

static void a_group_without_room_is_told_the_count(void **state)
{
    (void)state;
    int64_t nobody = attempts("UnschedulableAndUnresolvable");
    begin(37, 3, 0);
    group(4, 4, "", "");
    assert_int_equal(attempts("UnschedulableAndUnresolvable"), nobody + 1);
    expect_said(
        MSG_group_failed,
        "message=\"minCount (4) cannot be satisfied: 3 scheduled, 0 remaining, " NOBODY "\"", 1);
    expect_said(MSG_pod_failed,
                "message=\"pod group is unschedulable, minCount (4) cannot be satisfied: 3 "
                "scheduled, 0 remaining, " NOBODY "\"",
                3);
    expect_said(MSG_pod_failed, "message=\"0/3 nodes are available: 3 Insufficient cpu.\"", 1);
    expect_said(MSG_bind, "", 0);
}

static void who_is_not_looked_at_any_more_is_told_so(void **state)
{
    (void)state;
    begin(37, 3, 0);
    group(6, 6, "", "");
    expect_said(MSG_group_failed, "minCount (6) cannot be satisfied: 3 scheduled, 2 remaining, ",
                1);
    expect_said(MSG_pod_failed,
                "message=\"minCount (6) cannot be satisfied: 3 scheduled, 2 remaining\"", 2);
    expect_said(MSG_pod_failed, "message=\"pod group is unschedulable, minCount (6)", 3);
}

/* Who looks after claims speaks first, unless the other one ends it. */
static void both_plugins_speak(void **state)
{
    (void)state;
    batch_claims = true;
    begin(37, 2, 2);
    group(2, 2, "has_priority=true priority=9", "priority=9 preemption_policy=\"Never\"");
    expect_said(MSG_group_failed,
                "1 remaining, deallocation and deletion of ResourceClaims completed, pod group "
                "preemption: not eligible due to preemptionPolicy=Never.\"",
                1);
    forget_told(s);
    group(2, 2, "", "");
    expect_said(MSG_group_failed, "1 remaining, " NOBODY "\"", 1);
}

static void a_group_that_may_not_evict_says_so(void **state)
{
    (void)state;
    begin(37, 2, 2);
    group(2, 2, "has_priority=true priority=9", "priority=9 preemption_policy=\"Never\"");
    expect_said(MSG_group_failed,
                "message=\"minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, pod group "
                "preemption: not eligible due to preemptionPolicy=Never.\"",
                1);
    expect_said(MSG_preempt, "", 0);
}

static void see_group(const char *more)
{
    sees(s,
         "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
         "uid=\"u-group\" %s}",
         more);
}

static void a_group_that_evicts_says_how_many(void **state)
{
    (void)state;
    int64_t found_before = attempts("Success"), of_pods = observed(VICTIMS_OF_PODS, NULL);
    int64_t victims = observed(VICTIMS_OF_GROUPS, NULL);
    begin(37, 3, 2);
    see_group("min_member=3 has_priority=true priority=9");
    group(3, 3, "has_priority=true priority=9", "priority=9");
    const char *found = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining, pod group "
                        "preemption: found a placement for podgroup, preempting 4 victims\"";
    expect_said(MSG_group_failed, found, 1);
    expect_said(MSG_preempt, "", 1);
    expect_said(MSG_preempt, "group_uid=\"u-group\"", 1);
    expect_said(MSG_pod_failed, "nominated_node=\"n", 3);
    expect_said(MSG_pod_failed, found, 1); /* it has a place without evictions */
    expect_said(MSG_pod_failed, "message=\"0/3 nodes are available: 3 Insufficient cpu.\"", 1);
    expect_said(MSG_pod_failed,
                "message=\"minCount (3) cannot be satisfied: 1 scheduled, 1 remaining\"", 1);
    expect_said(MSG_pod_failed, "preemption: ", 1);
    assert_int_equal(attempts("Success"), found_before + 1);
    assert_int_equal(observed(VICTIMS_OF_GROUPS, NULL), victims + 4);
    assert_int_equal(observed(VICTIMS_OF_PODS, NULL), of_pods);
}

static void evictions_that_do_not_help_are_counted_out(void **state)
{
    (void)state;
    begin(37, 2, 2);
    group(3, 3, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_group_failed,
                "message=\"minCount (3) cannot be satisfied: 0 scheduled, 2 remaining, pod group "
                "preemption: minCount (3) cannot be satisfied: 2 scheduled, 0 remaining\"",
                1);
    expect_said(MSG_preempt, "", 0);
}

static void see_victim(const char *name, const char *more, int cpu)
{
    static int version = 100;
    char text[300];
    snprintf(text, sizeof(text), "resource_version=%d %s", version++, more);
    sees(s, "pod_set pod=%s", pod_text(name, cpu, text));
}

/* A pod by itself would go where the least important pod is in the way; a group is placed as if
 * nobody were. */
static void everybody_goes_and_then_comes_back(void **state)
{
    (void)state;
    for (int release = 36; release <= 37; release++) {
        begin(release, 2, 0);
        see_victim("dear", "node_name=\"n0\" priority=5", 4000);
        see_victim("cheap", "node_name=\"n1\" priority=1", 4000);
        group(1, 1, "has_priority=true priority=9", "priority=9");
        expect_said(MSG_preempt, "name=\"dear\"", release == 37);
        expect_said(MSG_preempt, "name=\"cheap\"", release == 36);
        stop(state);
    }
    begin(37, 1, 0);
}

/* The node has more memory taken than it has; who asks for none can stay there, and so can others.
 */
static void what_no_member_asks_for_is_in_nobodys_way(void **state)
{
    (void)state;
    begin(37, 1, 0);
    sees(s, "pod_set pod={uid=\"u-fat\" namespace_name=\"default\" name=\"fat\" "
            "node_name=\"n0\" priority=20 usage=[{name=\"memory\" amount=9663676416}]}");
    see_victim("large", "node_name=\"n0\" priority=2", 1000);
    see_victim("small", "node_name=\"n0\" priority=1", 500);
    group(1, 1, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_group_failed, "preempting 1 victims", 1);
    expect_said(MSG_preempt, "name=\"small\"", 1);
    expect_said(MSG_preempt, "name=\"large\"", 0);
}

/* On the node of 4000, beside a member of 3000, either of them can stay. */
static void two_for_one(const char *more)
{
    begin(37, 1, 0);
    see_victim("first",
               "node_name=\"n0\" priority=5 started=1000 labels=[{key=\"app\" value=\"a\"}]", 1000);
    see_victim("second",
               "node_name=\"n0\" priority=1 started=2000 labels=[{key=\"app\" value=\"b\"}]", 1000);
    see_victim("third", "node_name=\"n0\" priority=2 started=2000", 1000);
    if (more != NULL)
        sees(s, "%s", more);
    group(1, 1, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_group_failed, "preempting 2 victims", 1);
    expect_said(MSG_preempt, "name=\"third\"", 1);
}

static void the_most_important_come_back_first(void **state)
{
    (void)state;
    two_for_one(NULL);
    expect_said(MSG_preempt, "name=\"second\"", 1);
    expect_said(MSG_preempt, "name=\"first\"", 0);
}

static void those_that_a_budget_protects_come_back_before_them(void **state)
{
    (void)state;
    two_for_one("budget_set budget={namespace_name=\"default\" name=\"b\" allowed=0 "
                "selector={present=true labels=[{key=\"app\" value=\"b\"}]}}");
    expect_said(MSG_preempt, "name=\"second\"", 0);
    expect_said(MSG_preempt, "name=\"first\"", 1);
}

/* The one of its pods that is in nobody's way goes with the one that is. */
static void a_whole_group_comes_back_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    begin(37, 2, 0);
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"old\" "
            "uid=\"u-old\" has_priority=true priority=5 disrupted_whole=true}");
    see_victim("o-0", "node_name=\"n0\" priority=5 gang=\"old\" gang_api=\"" IN_TREE "\"", 2000);
    see_victim("o-1", "node_name=\"n1\" priority=5 gang=\"old\" gang_api=\"" IN_TREE "\"", 2000);
    see_victim("other", "node_name=\"n1\" priority=20", 1500);
    group(1, 1, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_preempt, "name=\"o-0\"", 1);
    expect_said(MSG_preempt, "name=\"o-1\"", 1);
    expect_said(MSG_group_failed, "preempting 2 victims", 1);
}

/* ---- who comes back on another node ---- */

#define APP(value) "labels=[{key=\"app\" value=\"" value "\"}] "
#define TERM(kind, value, key)                                                                     \
    kind "=[{selector={present=true labels=[{key=\"app\" value=\"" value "\"}]} "                  \
         "namespaces=[\"default\"] topology_key=\"" key "\"}] "

/* Over two zones at least; there is one, so that it may have one such pod. */
#define HARD_SPREAD(value)                                                                         \
    "spread=[{max_skew=1 topology_key=\"zone\" when_unsatisfiable=\"DoNotSchedule\" "              \
    "min_domains=2 "                                                                               \
    "selector={present=true labels=[{key=\"app\" value=\"" value "\"}]}}] "

/* Two nodes in one zone. The member fits only on n0, where "here" has to go for it; "there", on n1,
 * is in nobody's way but for what the terms say. */
static long beside(const char *of_pods, const char *here, const char *there)
{
    char more[300], pods[300];
    begin(37, 0, 0);
    for (int i = 0; i < 2; i++)
        sees(s,
             "node_set node={name=\"n%d\" labels=[{key=\"host\" value=\"n%d\"} {key=\"zone\" "
             "value=\"z\"}] allocatable=[{name=\"cpu\" amount=%d} {name=\"pods\" amount=110}]}",
             i, i, i == 0 ? 4000 : 2000);
    sees(s, "pod_set pod=%s",
         pod_text("anchor", 500, "node_name=\"n0\" resource_version=9 priority=20 " APP("anchor")));
    sees(s, "owner_set owner={kind=\"Service\" namespace_name=\"default\" name=\"g\" "
            "selector={present=true labels=[{key=\"app\" value=\"g\"}]}}");
    snprintf(more, sizeof(more), "node_name=\"n0\" %s", here);
    see_victim("here", more, 2000);
    snprintf(more, sizeof(more), "node_name=\"n1\" %s", there);
    see_victim("there", more, 1000);
    snprintf(pods, sizeof(pods), "priority=9 %s", of_pods);
    long before = counter(s, "cycles");
    group(1, 1, "has_priority=true priority=9", pods);
    expect_said(MSG_preempt, "name=\"here\"", 1);
    return counter(s, "cycles") - before;
}

/* It is looked at while all are there and while nobody is, and not again for whoever comes back. */
static void who_cannot_matter_to_a_group_stays_without_a_trial(void **state)
{
    const char *const members[] = {"", TERM("affinity_required", "anchor", "host"),
                                   TERM("anti_affinity_required", "foe", "zone"),
                                   APP("g") TERM("affinity_required", "g", "zone"),
                                   HARD_SPREAD("g")};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        long cycles = beside(members[i], "", APP("other"));
        expect_said(MSG_preempt, "name=\"there\"", 0);
        assert_int_equal(cycles, 2);
        stop(state);
    }
    begin(37, 1, 0);
}

static void whom_a_member_wants_away_goes_from_its_zone(void **state)
{
    beside(TERM("anti_affinity_required", "foe", "zone"), "", APP("foe"));
    expect_said(MSG_preempt, "name=\"there\"", 1);
    stop(state);
    beside(TERM("anti_affinity_required", "foe", "host"), "", APP("foe"));
    expect_said(MSG_preempt, "name=\"there\"", 0);
}

static void who_wants_a_member_away_goes_from_its_zone(void **state)
{
    beside(APP("g"), "", TERM("anti_affinity_required", "g", "zone"));
    expect_said(MSG_preempt, "name=\"there\"", 1);
    stop(state);
    beside(APP("g"), "", TERM("anti_affinity_required", "g", "host"));
    expect_said(MSG_preempt, "name=\"there\"", 0);
}

/* With another of its kind about, elsewhere, the member could not be the first of it. */
static void another_of_its_kind_goes_for_the_first_of_it(void **state)
{
    beside(APP("g") TERM("affinity_required", "g", "host"), "", APP("g"));
    expect_said(MSG_preempt, "name=\"there\"", 1);
    stop(state);
    beside(APP("g") TERM("affinity_required", "g", "zone"), "", APP("g"));
    expect_said(MSG_preempt, "name=\"there\"", 0);
}

static void whom_hard_spreading_counts_goes_from_its_zone(void **state)
{
    beside(APP("g") HARD_SPREAD("g"), "", APP("g"));
    expect_said(MSG_preempt, "name=\"there\"", 1);
    stop(state);
    spreads_hard = true; /* pods of one Service */
    beside(APP("g"), "", APP("g"));
    expect_said(MSG_preempt, "name=\"there\"", 1);
}

/* While victims of before go the group waits where its pods are nominated. */
static void a_group_waits_for_its_victims(void **state)
{
    (void)state;
    begin(37, 1, 0);
    see_victim("going", "node_name=\"n0\" deleting=true preempted=true", 4000);
    group(1, 1, "has_priority=true priority=9", "priority=9 nominated_node=\"n0\"");
    expect_said(MSG_group_failed, "pod group preemption: ongoing preemption on nominated nodes\"",
                1);
    expect_said(MSG_preempt, "", 0);
    expect_said(MSG_pod_failed, "nominated_node=\"n0\"", 1);
    forget_told(s);
    group(1, 1, "has_priority=true priority=9", "priority=9"); /* it is nominated to no node */
    expect_said(MSG_group_failed, "found a placement for podgroup, preempting 1 victims\"", 1);
}

static void see_nominated(const char *name, const char *node)
{
    char more[200];
    snprintf(more, sizeof(more), OF_G "priority=9 nominated_node=\"%s\"", node);
    sees(s, "pod_set pod=%s", pod_text(name, 3000, more));
}

/* Victims go one after the other, and the first that has gone makes room for the first member,
 * whose own ones still go; the second waits for these. */
static void nobody_else_goes_while_victims_go(void **state)
{
    (void)state;
    begin(36, 3, 0);
    see_victim("going", "node_name=\"n0\" deleting=true preempted=true", 4000);
    see_victim("stays", "node_name=\"n2\"", 4000);
    see_nominated("g-0", "n0");
    see_nominated("g-1", "n1");
    group(2, 2, "", "priority=9");
    expect_said(MSG_preempt, "", 0);
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_outcome, "unschedulable", 2);
    expect_said(MSG_pod_failed, "set_nominated=true", 0); /* both keep theirs */
    sees(s, "pod_gone uid=\"u-going\" namespace_name=\"default\" name=\"going\"");
    group(2, 2, "", "priority=9");
    expect_said(MSG_bind, "", 2);
}

/* Others of the group make room anew, and it has none this time. */
static void who_is_nominated_from_before_gives_its_node_back_in_time(void **state)
{
    (void)state;
    begin(36, 2, 2);
    see_nominated("g-2", "n0");
    group(3, 2, "", "priority=9");
    expect_said(MSG_preempt, "", 2);
    forget_told(s);
    s->now = moment_after(s->now, span_of_ms(120000));
    sees(s, "view synced=true");
    settle(s);
    expect_said(MSG_pod_failed, "gives its nominated nodes back", 3);
}

/* How it was until 1.36. */
static void the_former_release_keeps_its_words(void **state)
{
    (void)state;
    begin(36, 3, 0);
    group(4, 4, "has_priority=true priority=5", "");
    expect_said(MSG_group_failed, "minCount (", 0);
    expect_said(MSG_pod_failed, "waiting for minCount pods from a gang to be scheduled", 3);
    expect_said(MSG_pod_failed, "3 Insufficient cpu. preemption: ", 1);
}

static void all_pods_have_the_priority_of_their_group(void **state)
{
    (void)state;
    const char *fault = "message=\"all pods in a single pod group should have the same priority as "
                        "the pod group's priority, got 0 and 5\"";
    begin(37, 3, 0);
    group(2, 2, "has_priority=true priority=5", "");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_group_failed, fault, 1);
    expect_said(MSG_group_failed, "reason=\"SchedulerError\"", 1);
    expect_said(MSG_pod_failed, fault, 2);
    expect_said(MSG_outcome, "result=\"error\"", 2);
    forget_told(s);
    group(2, 2, "", "priority=7"); /* without one it is 0 */
    expect_said(MSG_group_failed, "priority, got 7 and 0\"", 1);
    forget_told(s);
    sees(s, "pod_set pod=%s",
         pod_text("old", 10, OF_G "priority=3 node_name=\"n0\" resource_version=40"));
    group(2, 2, "", "");
    expect_said(MSG_group_failed, "priority, got 3 and 0\"", 1);
    forget_told(s);
    sees(s, "pod_gone uid=\"u-old\" namespace_name=\"default\" name=\"old\"");
    group(2, 2, "", "");
    expect_said(MSG_bind, "", 2);
}

static void pods_and_group_agree_about_evicting(void **state)
{
    (void)state;
    group_says_policy = true;
    begin(37, 3, 0);
    group(2, 2, "preemption_policy=\"Never\"", "");
    expect_said(MSG_pod_failed,
                "message=\"all pods in a single pod group should have the same preemption policy "
                "as the pod group's preemption policy, got PreemptLowerPriority and Never\"",
                2);
    forget_told(s);
    group(2, 2, "", "preemption_policy=\"PreemptLowerPriority\"");
    expect_said(MSG_bind, "", 2);
}

static void without_the_gate_only_pods_say_whether_they_evict(void **state)
{
    (void)state;
    begin(37, 3, 0);
    group(2, 2, "preemption_policy=\"Never\"", "");
    expect_said(MSG_bind, "", 2);
}

static void attempt(const char *name, int cpu, int cycle, const char *more)
{
    char text[200];
    snprintf(text, sizeof(text), OF_G "%s", more);
    hear(s, queue, "attempt pod=%s attempts=1 cycle=%d", pod_text(name, cpu, text), cycle);
    settle(s);
}

static void a_pod_by_itself_is_a_group_of_one(void **state)
{
    (void)state;
    begin(37, 1, 0);
    see_group("");
    attempt("b-0", 5000, 1, "");
    expect_said(
        MSG_group_failed,
        "message=\"minCount (1) cannot be satisfied: 0 scheduled, 0 remaining, " NOBODY "\"", 1);
    expect_said(MSG_pod_failed, "message=\"0/1 nodes are available: 1 Insufficient cpu.\"", 1);
    attempt("b-1", 1000, 2, "priority=4");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_pod_failed,
                "message=\"all pods in a single pod group should have the same priority as the pod "
                "group's priority, got 4 and 0\"",
                1);
    attempt("b-2", 1000, 3, "");
    expect_said(MSG_bind, "", 1);
    expect_said(MSG_group_failed, "scheduled=true", 1);
}

/* Two nodes of two pods each; the younger node's are one group that goes as a whole. */
static void groups_on_nodes(const char *mode, int release)
{
    char name[32], more[200];
    batch_in_tree = true;
    begin(release, 3, 0);
    sees(s,
         "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"old\" "
         "uid=\"u-old\" min_member=2 %s}",
         mode);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        snprintf(more, sizeof(more),
                 "node_name=\"n%d\" resource_version=%d started=%d priority=%d%s", i / 2, 20 + i,
                 1000 + i, i / 2 == 0 ? 0 : 1,
                 i % 2 == 0 ? " gang=\"old\" gang_api=\"" IN_TREE "\"" : "");
        sees(s, "pod_set pod=%s", pod_text(name, i % 2 == 0 ? 3000 : 500, more));
    }
}

static void preempt_by_one(void)
{
    hear(s, queue, "attempt pod=%s attempts=1 cycle=90", pod_text("p", 3000, "priority=9"));
    settle(s);
}

static void a_group_that_goes_as_a_whole_goes_from_all_nodes(void **state)
{
    (void)state;
    groups_on_nodes("disrupted_whole=true", 37);
    preempt_by_one();
    expect_said(MSG_preempt, "v0", 1);
    expect_said(MSG_preempt, "v2", 1);
    expect_said(MSG_preempt, "v4", 1);
    expect_said(MSG_preempt, "name=\"v1\"", 0);
}

static void one_that_does_not_loses_the_pod_in_the_way(void **state)
{
    (void)state;
    groups_on_nodes("", 37);
    preempt_by_one();
    expect_said(MSG_preempt, "name=\"v0\"", 1);
    expect_said(MSG_preempt, "name=\"v2\"", 0);
    stop(state);
    groups_on_nodes("disrupted_whole=true", 36);
    preempt_by_one();
    expect_said(MSG_preempt, "name=\"v0\"", 1);
    expect_said(MSG_preempt, "name=\"v2\"", 0);
}

/* A group on two nodes, and a pod that is worth more on a third; the budget is of the group's pod
 * on the second node, which goes with the one on the first. */
static void a_budget_of_a_pod_elsewhere_counts(void **state)
{
    for (int allowed = 0; allowed <= 1; allowed++) {
        begin(37, 3, 0);
        sees(s,
             "budget_set budget={namespace_name=\"default\" name=\"b\" allowed=%d "
             "selector={present=true labels=[{key=\"app\" value=\"b\"}]}}",
             allowed);
        sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"old\" "
                "uid=\"u-old\" min_member=2 disrupted_whole=true}");
        sees(s, "pod_set pod=%s",
             pod_text("here", 3000,
                      "node_name=\"n0\" resource_version=20 started=1000 gang=\"old\" "
                      "gang_api=\"" IN_TREE "\""));
        sees(s, "pod_set pod=%s",
             pod_text("there", 3000,
                      "node_name=\"n1\" resource_version=21 started=1000 gang=\"old\" "
                      "gang_api=\"" IN_TREE "\" labels=[{key=\"app\" value=\"b\"}]"));
        sees(s, "pod_set pod=%s",
             pod_text("alone", 3000,
                      "node_name=\"n2\" resource_version=22 started=1000 priority=1"));
        preempt_by_one();
        expect_said(MSG_preempt, "name=\"alone\"", allowed == 0);
        expect_said(MSG_preempt, "name=\"here\"", allowed == 1);
        stop(state);
    }
    begin(37, 1, 0);
}

/* Of pods of one priority those of groups are let stay first, though they are younger. */
static void a_pod_of_a_group_counts_for_more(void **state)
{
    (void)state;
    for (int release = 36; release <= 37; release++) {
        begin(release, 1, 0);
        sees(s, "pod_set pod=%s",
             pod_text("alone", 2000, "node_name=\"n0\" resource_version=20 started=1000"));
        sees(s, "pod_set pod=%s",
             pod_text("grouped", 2000,
                      "node_name=\"n0\" resource_version=21 started=2000 gang=\"old\" "
                      "gang_api=\"" IN_TREE "\""));
        hear(s, queue, "attempt pod=%s attempts=1 cycle=90", pod_text("p", 2000, "priority=9"));
        settle(s);
        expect_said(MSG_preempt, "name=\"alone\"", release == 37);
        expect_said(MSG_preempt, "name=\"grouped\"", release == 36);
        stop(state);
    }
    begin(37, 1, 0);
}

/* ---- 1.36 with WorkloadAwarePreemption ---- */

#define SPARES "preemption: not eligible due to workload aware preemption enabled"

static void begin_former(int nodes)
{
    evicts_as_one = true;
    begin(36, nodes, 0);
}

/* Who has a place while all are there is nominated there; nobody says where the others belong. */
static void with_its_gate_1_36_makes_room_for_the_group(void **state)
{
    (void)state;
    begin_former(2);
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
            "uid=\"u-group\" min_member=2 has_priority=true priority=9}");
    see_victim("cheap", "node_name=\"n1\"", 4000);
    group(2, 2, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_preempt, "name=\"cheap\"", 1);
    expect_said(MSG_preempt, "group_uid=\"u-group\"", 1);
    expect_said(MSG_group_failed, "message=\"pod group is unschedulable\"", 1);
    expect_said(MSG_pod_failed, "message=\"pod group is unschedulable\"", 1);
    expect_said(MSG_pod_failed, "nominated_node=\"n0\"", 1);
    expect_said(MSG_pod_failed, "2 Insufficient cpu. " SPARES, 1);
    expect_said(MSG_pod_failed, "nominated_node=\"n1\"", 0);
    expect_said(MSG_bind, "", 0);
}

static void nobody_need_have_a_place_for_that(void **state)
{
    (void)state;
    begin_former(1);
    see_victim("cheap", "node_name=\"n0\"", 4000);
    group(1, 1, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_preempt, "name=\"cheap\"", 1);
    expect_said(MSG_preempt, "node_name=\"\"", 0);
    expect_said(MSG_pod_failed, "set_nominated=true", 0);
    sees(s, "pod_gone uid=\"u-cheap\" namespace_name=\"default\" name=\"cheap\"");
    hear(s, binder, "preempt_result uid=\"u-g-0\" done=true");
    settle(s);
    expect_said(MSG_outcome, "unschedulable", 1);
    group(1, 1, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_bind, "", 1);
}

/* In 1.37 the group stays where it was placed with nobody there; here it may go elsewhere, so that
 * the more important one stays. */
static void the_group_may_move_while_victims_come_back(void **state)
{
    (void)state;
    for (int release = 36; release <= 37; release++) {
        evicts_as_one = release == 36;
        begin(release, 2, 0);
        see_victim("dear", "node_name=\"n0\" priority=5", 4000);
        see_victim("cheap", "node_name=\"n1\" priority=1", 4000);
        group(1, 1, "has_priority=true priority=9", "priority=9");
        expect_said(MSG_preempt, "name=\"dear\"", release == 37);
        expect_said(MSG_preempt, "name=\"cheap\"", release == 36);
        stop(state);
    }
    begin(36, 1, 0);
}

static void what_a_group_of_1_36_says_that_has_no_room(void **state)
{
    (void)state;
    begin_former(1);
    group(2, 2, "", "");
    expect_said(MSG_group_failed,
                "message=\"pod group is unschedulable, No preemption victims found for incoming "
                "preemptor\"",
                1);
    expect_said(MSG_pod_failed, "waiting for minCount pods from a gang to be scheduled", 1);
    stop(state);
    begin_former(1);
    see_victim("cheap", "node_name=\"n0\"", 4000);
    group(2, 2, "has_priority=true priority=9", "priority=9");
    expect_said(MSG_group_failed,
                "message=\"pod group is unschedulable, pod group is unschedulable\"", 1);
    expect_said(MSG_pod_failed, SPARES, 2); /* all are looked at */
    forget_told(s);
    group(2, 1, "has_priority=true priority=9", "priority=9 preemption_policy=\"Never\"");
    expect_said(MSG_group_failed,
                "message=\"pod group is unschedulable, not eligible due to "
                "preemptionPolicy=Never.\"",
                1);
    expect_said(MSG_preempt, "", 0);
}

/* A group's priority is that of its pods only if all of it goes. */
static void a_pod_of_a_group_of_1_36_has_its_own_priority(void **state)
{
    (void)state;
    for (int whole = 0; whole <= 1; whole++) {
        begin_former(1);
        sees(s,
             "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" "
             "name=\"old\" uid=\"u-old\" has_priority=true priority=20 disrupted_whole=%s}",
             whole == 1 ? "true" : "false");
        see_victim("o-0", "node_name=\"n0\" priority=5 gang=\"old\" gang_api=\"" IN_TREE "\"",
                   4000);
        group(1, 1, "has_priority=true priority=9", "priority=9");
        expect_said(MSG_preempt, "name=\"o-0\"", whole == 0);
        stop(state);
    }
    begin(36, 1, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_group_without_room_is_told_the_count),
        TEST(who_is_not_looked_at_any_more_is_told_so),
        TEST(both_plugins_speak),
        TEST(a_group_that_may_not_evict_says_so),
        TEST(a_group_that_evicts_says_how_many),
        TEST(evictions_that_do_not_help_are_counted_out),
        TEST(everybody_goes_and_then_comes_back),
        TEST(what_no_member_asks_for_is_in_nobodys_way),
        TEST(the_most_important_come_back_first),
        TEST(those_that_a_budget_protects_come_back_before_them),
        TEST(a_whole_group_comes_back_as_a_whole_or_not_at_all),
        TEST(who_cannot_matter_to_a_group_stays_without_a_trial),
        TEST(whom_a_member_wants_away_goes_from_its_zone),
        TEST(who_wants_a_member_away_goes_from_its_zone),
        TEST(another_of_its_kind_goes_for_the_first_of_it),
        TEST(whom_hard_spreading_counts_goes_from_its_zone),
        TEST(a_group_waits_for_its_victims),
        TEST(nobody_else_goes_while_victims_go),
        TEST(who_is_nominated_from_before_gives_its_node_back_in_time),
        TEST(the_former_release_keeps_its_words),
        TEST(all_pods_have_the_priority_of_their_group),
        TEST(pods_and_group_agree_about_evicting),
        TEST(without_the_gate_only_pods_say_whether_they_evict),
        TEST(a_pod_by_itself_is_a_group_of_one),
        TEST(a_group_that_goes_as_a_whole_goes_from_all_nodes),
        TEST(one_that_does_not_loses_the_pod_in_the_way),
        TEST(a_budget_of_a_pod_elsewhere_counts),
        TEST(a_pod_of_a_group_counts_for_more),
        TEST(with_its_gate_1_36_makes_room_for_the_group),
        TEST(nobody_need_have_a_place_for_that),
        TEST(the_group_may_move_while_victims_come_back),
        TEST(what_a_group_of_1_36_says_that_has_no_room),
        TEST(a_pod_of_a_group_of_1_36_has_its_own_priority),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
