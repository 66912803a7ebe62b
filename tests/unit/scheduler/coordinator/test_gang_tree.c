/* test_gang_tree: trees of groups (CompositePodGroup) that are tried as one, as kube-scheduler 1.37
 * does: a leaf or a group of groups that has not what it needs gets nothing, each group is tried
 * within the domain of those above it, and what is said of leaves and pods follows from that. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define IN_TREE "scheduling.k8s.io"
#define TREE    "scheduling.k8s.io/CompositePodGroup"
#define NOBODY  "pod group preemption: No preemption victims found for incoming preemptor"
#define NONE_OF "pod group is unschedulable, 0/1 placements are available, first placement status: "

static struct side *s;
static char attempt[32768];

static void shape(struct profile *p)
{
    static struct str generate[] = {{"TopologyPlacementGenerator", 26}};
    static struct score_plugin rate[] = {{{"NodeResourcesFit", 16}, 1},
                                         {{"PodGroupPodsCount", 17}, 1}};
    p->features.group_topology = p->features.group_trees = true;
    p->placement_generate = (struct strs){1, generate};
    p->placement_score.count = 2;
    p->placement_score.at = rate;
}

/* zones: a letter for each node of 4000. */
static void begin(const char *zones)
{
    batch_in_tree = true;
    batch_shape = shape;
    batch_release = 37;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; zones[i] != 0; i++)
        sees(s,
             "node_set node={name=\"n%d\" labels=[{key=\"rack\" value=\"%d\"} {key=\"zone\" "
             "value=\"%c\"}] allocatable=[{name=\"cpu\" amount=4000} {name=\"memory\" "
             "amount=8589934592} {name=\"pods\" amount=110}]}",
             i, i / 2, zones[i]);
    side_begins(s);
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_in_tree = false;
    batch_shape = NULL;
    batch_release = 36;
    return 0;
}

static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char texts[4][900];
    static unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d}] usage=[{name=\"cpu\" amount=%d}] %s}",
             name, name, cpu, cpu, cpu, more);
    return text;
}

static void see_pod(const char *name, int cpu, const char *more)
{
    static int version = 100;
    char text[300];
    snprintf(text, sizeof(text), "resource_version=%d %s", version++, more);
    sees(s, "pod_set pod=%s", pod_text(name, cpu, text));
}

/* A line of a tree: a group, and so many pods of it; a leaf unless it has children. */
struct row {
    const char *name;
    int parent; /* -1: the root */
    int least;
    int pods, cpu; /* -1: a CompositePodGroup */
    const char *more;
};

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
    size_t len = strlen(attempt);
    va_list args;
    va_start(args, format);
    vsnprintf(attempt + len, sizeof(attempt) - len, format, args);
    va_end(args);
}

static void add_group(const struct row *r)
{
    add("{api=\"%s\" namespace_name=\"default\" name=\"%s\" uid=\"u-%s\" min_member=%d %s}",
        r->pods < 0 ? TREE : IN_TREE, r->name, r->name, r->least, r->more);
}

static void tries(const struct row *rows, int count, const char *of_pods)
{
    int cycle = 1;
    attempt[0] = 0;
    add("gang_attempt group=");
    add_group(&rows[0]);
    add(" needed=1 members=[");
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < rows[i].pods; k++) {
            char name[32], more[200];
            snprintf(name, sizeof(name), "%s-%d", rows[i].name, k);
            snprintf(more, sizeof(more), "gang=\"%s\" gang_api=\"" IN_TREE "\" %s", rows[i].name,
                     of_pods);
            add("{pod=%s attempts=1 cycle=%d} ", pod_text(name, rows[i].cpu, more), cycle++);
        }
    }
    add("] tree=[");
    for (int i = 0; i < count; i++) {
        add("{group=");
        add_group(&rows[i]);
        add(" parent=%d} ", rows[i].parent);
    }
    add("]");
    struct message m = side_message(s, attempt);
    hears(s, queue, &m, false);
    settle(s);
}

#define TRIES(rows, of_pods) tries(rows, (int)(sizeof(rows) / sizeof((rows)[0])), of_pods)

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

static void a_tree_with_room_is_bound(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, ""},
                                      {"a", 0, 2, 2, 1000, ""},
                                      {"m", 0, 1, -1, 0, ""},
                                      {"b", 2, 0, 1, 1000, ""}};
    begin("ab");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 3);
    expect_said(MSG_pod_failed, "", 0);
    expect_said(MSG_group_failed, "scheduled=true", 2); /* the leaves alone */
    expect_said(MSG_group_failed, "api=\"" IN_TREE "\"", 2);
}

/* As many as are needed are enough; who is not among them is told why. */
static void a_group_without_room_holds_nobody_who_can_do_without(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"r", -1, 1, -1, 0, ""}, {"a", 0, 2, 2, 1000, ""}, {"b", 0, 2, 2, 3000, ""}};
    begin("a");
    TRIES(rows, "");
    expect_said(MSG_bind, "name=\"a-", 2);
    expect_said(MSG_group_failed, "name=\"a\"", 1);
    expect_said(MSG_group_failed,
                "message=\"" NONE_OF "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining\"",
                1);
    expect_said(MSG_pod_failed, "message=\"0/1 nodes are available: 1 Insufficient cpu.\"", 1);
    expect_said(MSG_pod_failed, "name=\"b-1\"", 1);
    expect_said(MSG_outcome, "result=\"unschedulable\"", 2);
}

/* What came of the root is told to who had room, as often as upstream appends it. */
static void a_root_without_enough_gives_all_back(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, ""},
                                      {"a", 0, 1, 1, 1000, ""},
                                      {"b", 0, 1, 1, 9000, ""},
                                      {"c", 0, 1, 0, 0, ""}};
    begin("a");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_group_failed,
                "name=\"a\" uid=\"u-a\" min_member=1} reason=\"Unschedulable\" message=\"" NONE_OF
                "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, " NOBODY ", " NOBODY
                "\"",
                1);
    expect_said(MSG_group_failed,
                "message=\"" NONE_OF
                "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining, " NOBODY "\"",
                1);
    expect_said(MSG_group_failed, NONE_OF "pod group is unschedulable, " NOBODY "\"", 1);
    expect_said(MSG_pod_failed,
                "message=\"" NONE_OF "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining\"",
                1);
    expect_said(MSG_outcome, "result=\"unschedulable\"", 2);
}

/* Each within the domain of the one above it: zone a has a rack for each, b has none. */
static void domains_stand_within_each_other(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, "topology_key=\"zone\""},
                                      {"a", 0, 2, 2, 3000, "topology_key=\"rack\""},
                                      {"b", 0, 2, 2, 3000, "topology_key=\"rack\""}};
    begin("bbaaaa");
    see_pod("full", 2000, "node_name=\"n1\"");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 4);
    expect_said(MSG_bind, "node_name=\"n0\"", 0);
    expect_said(MSG_bind, "node_name=\"n2\"", 1);
    stop(state);
    begin("aabb"); /* a rack a zone */
    TRIES(rows, "");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_group_failed,
                "0/2 placements are available, first placement status: minCount "
                "(2) cannot be satisfied: 1 scheduled, 0 remaining",
                1); /* of the leaf that had room */
}

static void pods_on_nodes_say_which_domain_a_tree_is_in(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, "topology_key=\"zone\""},
                                      {"a", 0, 2, 1, 1000, ""},
                                      {"b", 0, 1, 1, 1000, ""}};
    begin("ab");
    see_pod("a-9", 2000, "node_name=\"n1\" gang=\"a\" gang_api=\"" IN_TREE "\"");
    TRIES(rows, "");
    expect_said(MSG_bind, "node_name=\"n1\"", 2);
}

/* The best domain is not the last one: what was found out there is done. */
static void the_best_domain_has_it(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 1, -1, 0, "topology_key=\"zone\""},
                                      {"a", 0, 1, 2, 3000, ""},
                                      {"b", 0, 1, 1, 3000, ""}};
    begin("aaabbcc");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 3);
    for (int i = 0; i < 3; i++) {
        char node[32];
        snprintf(node, sizeof(node), "node_name=\"n%d\"", i);
        expect_said(MSG_bind, node, 1);
    }
}

static void room_is_made_for_a_tree(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, "has_priority=true priority=9"},
                                      {"a", 0, 1, 1, 3000, ""},
                                      {"b", 0, 1, 1, 3000, ""}};
    begin("ab");
    sees(s, "pod_group_set group={api=\"" TREE "\" namespace_name=\"default\" name=\"r\" "
            "uid=\"u-r\" resource_version=7}");
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"a\" "
            "uid=\"u-a\" resource_version=8 parent=\"r\"}");
    see_pod("v0", 2000, "node_name=\"n0\"");
    see_pod("v1", 500, "node_name=\"n1\"");
    TRIES(rows, "priority=9");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_preempt, "name=\"v0\"", 1);
    expect_said(MSG_preempt, "group_uid=\"u-r\" for_tree=true", 1);
    expect_said(MSG_pod_failed, "nominated_node=", 2);
    expect_said(MSG_group_failed,
                "pod group preemption: found a placement for podgroup, preempting 1 victims", 2);
}

static void pods_that_differ_from_their_root_are_refused(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 1, -1, 0, "has_priority=true priority=9"},
                                      {"a", 0, 1, 1, 1000, ""}};
    begin("a");
    TRIES(rows, "priority=8");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_group_failed,
                "reason=\"SchedulerError\" message=\"all pods in a single pod group should have "
                "the same priority as the pod group's priority, got 8 and 9\"",
                1);
    expect_said(MSG_outcome, "result=\"error\"", 1);
}

/* A tree of two PodGroups, on n0 and n1, and a pod by itself on n0. */
static void tree_on_nodes(const char *mode)
{
    static const char *const leaves[] = {"old0", "old1"};
    char more[200];
    begin("ab");
    sees(s,
         "pod_group_set group={api=\"" TREE "\" namespace_name=\"default\" name=\"old\" "
         "uid=\"u-old\" resource_version=5 has_priority=true priority=1 %s}",
         mode);
    for (int i = 0; i < 2; i++) {
        sees(s,
             "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"%s\" "
             "uid=\"u-%s\" resource_version=6 parent=\"old\" has_priority=true priority=1}",
             leaves[i], leaves[i]);
        snprintf(more, sizeof(more),
                 "node_name=\"n%d\" priority=1 started=2000 gang=\"%s\" gang_api=\"" IN_TREE "\"",
                 i, leaves[i]);
        see_pod(i == 0 ? "t0" : "t1", 2000, more);
    }
    see_pod("alone", 2000, "node_name=\"n0\" priority=1 started=1000");
}

static void a_tree_that_goes_as_a_whole_does(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 2, -1, 0, "has_priority=true priority=9"},
                                      {"a", 0, 1, 1, 3000, ""},
                                      {"b", 0, 1, 1, 3000, ""}};
    for (int whole = 0; whole <= 1; whole++) {
        tree_on_nodes(whole ? "disrupted_whole=true" : "");
        hear(s, queue, "attempt pod=%s attempts=1 cycle=90", pod_text("p", 4000, "priority=9"));
        settle(s);
        expect_said(MSG_preempt, "name=\"t0\"", whole == 0 ? 0 : 1);
        expect_said(MSG_preempt, "name=\"t1\"", 1);
        stop(state);
    }
    for (int whole = 0; whole <= 1; whole++) {
        tree_on_nodes(whole ? "disrupted_whole=true" : "");
        TRIES(rows, "priority=9");
        expect_said(MSG_preempt, "name=\"t0\"", 1);
        expect_said(MSG_preempt, "name=\"t1\"", 1);
        stop(state);
    }
    begin("a");
}

/* Of the same priority a tree is let stay before a group, though that has more pods. */
static void a_tree_counts_for_more_than_a_group(void **state)
{
    (void)state;
    static const struct row rows[] = {{"r", -1, 1, -1, 0, "has_priority=true priority=9"},
                                      {"a", 0, 1, 1, 2000, ""}};
    char name[32];
    tree_on_nodes("disrupted_whole=true");
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
            "uid=\"u-g\" resource_version=7 has_priority=true priority=1 disrupted_whole=true}");
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        see_pod(name, 500,
                "node_name=\"n1\" priority=1 started=500 gang=\"g\" gang_api=\"" IN_TREE "\"");
    }
    see_pod("dear", 4000, "node_name=\"n0\" priority=20"); /* it is no room there */
    TRIES(rows, "priority=9");
    expect_said(MSG_preempt, "name=\"g0\"", 1);
    expect_said(MSG_preempt, "name=\"t1\"", 0);
    stop(state);
    begin("a");
}

/* A node that goes in the middle of it all: everything is tried anew. */
static void nothing_of_a_tree_is_bound_before_its_end(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"r", -1, 2, -1, 0, ""}, {"a", 0, 1, 1, 3000, ""}, {"b", 0, 1, 1, 3000, ""}};
    begin("a");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 0);
    sees(s, "node_set node={name=\"n9\" allocatable=[{name=\"cpu\" amount=4000} {name=\"memory\" "
            "amount=8589934592} {name=\"pods\" amount=110}]}");
    TRIES(rows, "");
    expect_said(MSG_bind, "", 2);
}

/* As one plain group it would be bound, though a group of groups is still to come. */
static void a_malformed_tree_is_not_tried(void **state)
{
    (void)state;
    static const struct row before_its_parent[] = {
        {"r", -1, 1, -1, 0, ""}, {"a", 2, 1, 1, 1000, ""}, {"m", 0, 1, -1, 0, ""}};
    static const struct row two_roots[] = {{"r", -1, 1, -1, 0, ""}, {"a", -1, 1, 1, 1000, ""}};
    static const struct row below_a_leaf[] = {
        {"r", -1, 1, -1, 0, ""}, {"a", 0, 1, 1, 1000, ""}, {"b", 1, 1, 1, 1000, ""}};
    begin("a");
    TRIES(before_its_parent, "");
    TRIES(two_roots, "");
    TRIES(below_a_leaf, "");
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_outcome, "", 0);
    static const struct row good[] = {{"r", -1, 1, -1, 0, ""}, {"a", 0, 1, 1, 1000, ""}};
    TRIES(good, "");
    expect_said(MSG_bind, "", 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_tree_with_room_is_bound),
        TEST(a_group_without_room_holds_nobody_who_can_do_without),
        TEST(a_root_without_enough_gives_all_back),
        TEST(domains_stand_within_each_other),
        TEST(pods_on_nodes_say_which_domain_a_tree_is_in),
        TEST(the_best_domain_has_it),
        TEST(room_is_made_for_a_tree),
        TEST(pods_that_differ_from_their_root_are_refused),
        TEST(nothing_of_a_tree_is_bound_before_its_end),
        TEST(a_tree_that_goes_as_a_whole_does),
        TEST(a_tree_counts_for_more_than_a_group),
        TEST(a_malformed_tree_is_not_tried),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
