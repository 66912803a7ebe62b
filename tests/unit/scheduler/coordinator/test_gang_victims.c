/* test_gang_victims: gangs in a preemptor's way under each value of gangVictims: on which node room
 * is made, who goes, and who goes along. */
#include "proto/base/log.h"
#include "scheduler/cluster/cache.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define LABEL     "scheduling.x-k8s.io/pod-group"
#define LABEL_OLD "pod-group.scheduling.sigs.k8s.io"
#define CRD       "scheduling.x-k8s.io"
#define CRD_OLD   "scheduling.sigs.k8s.io"
#define IN_TREE   "scheduling.k8s.io"

#define OF_GANG "labels=[{key=\"" LABEL "\" value=\"old\"}]"
#define PLAIN   "labels=[{key=\"app\" value=\"plain\"}]"

static struct side *s;

static const char *pod_text(const char *name, const char *more)
{
    static char texts[4][900];
    static unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=1000}] "
             "score_request=[{name=\"cpu\" amount=1000} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=1000}] usage_score_cpu=1000 "
             "usage_score_memory=209715200 %s}",
             name, name, more);
    return text;
}

static void add_node(const char *name, int cpu)
{
    sees(s,
         "node_set node={name=\"%s\" labels=[{key=\"kubernetes.io/hostname\" value=\"%s\"}] "
         "allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=8589934592} "
         "{name=\"pods\" amount=110}]}",
         name, name, cpu);
}

/* Two nodes with room for so many pods. */
static void begin(enum gang_victims victims, int pods)
{
    batch_gang_victims = victims;
    s = side_new(0, TIE_BREAK_first);
    add_node("n0", pods * 1000);
    add_node("n1", pods * 1000);
    side_begins(s);
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_gang_victims = GANG_VICTIMS_pods;
    return 0;
}

static void again(enum gang_victims victims, int pods)
{
    (void)stop(NULL);
    begin(victims, pods);
}

static void group(const char *api, int min_member)
{
    sees(s,
         "pod_group_set group={api=\"%s\" namespace_name=\"default\" name=\"old\" uid=\"uo\" "
         "min_member=%d}",
         api, min_member);
}

static void puts_on(const char *node, const char *prefix, int first, int count, const char *more)
{
    for (int i = first; i < first + count; i++) {
        char name[32], all[400];
        snprintf(name, sizeof(name), "%s-%d", prefix, i);
        snprintf(all, sizeof(all), "node_name=\"%s\" %s", node, more);
        sees(s, "pod_set pod=%s", pod_text(name, all));
    }
}

/* A pod of high priority comes; who is to go for it, and from where. */
static const char *preempts(void)
{
    hear(s, queue, "attempt pod=%s attempts=1 cycle=1", pod_text("high", "priority=9 " PLAIN));
    settle(s);
    const char *text = said(s, MSG_preempt, 0);
    assert_non_null(text);
    return text;
}

static int count_in(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void expect(const char *text, const char *node, int members, int plain)
{
    char where[64];
    snprintf(where, sizeof(where), "node_name=\"%s\" victims", node);
    if (strstr(text, where) == NULL || count_in(text, "uid=\"u-old-") != members ||
        count_in(text, "uid=\"u-plain-") != plain)
        fail_msg("not %d and %d on %s: %s", members, plain, node, text);
}

/* n0 has four of the gang, n1 four that are as good otherwise. */
static void both_nodes(const char *api, int min_member, const char *member)
{
    group(api, min_member);
    puts_on("n0", "old", 0, 4, member);
    puts_on("n1", "plain", 0, 4, PLAIN);
}

static void by_default_no_gang_is_looked_at(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_pods, 4);
    both_nodes(CRD, 4, OF_GANG);
    expect(preempts(), "n0", 1, 0);
}

static void a_gang_without_surplus_is_spared(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 4, OF_GANG);
    expect(preempts(), "n1", 0, 1);
    again(GANG_VICTIMS_whole, 4);
    both_nodes(CRD, 4, OF_GANG);
    expect(preempts(), "n1", 0, 1);
}

static void whatever_its_api(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD_OLD, 4, "labels=[{key=\"" LABEL_OLD "\" value=\"old\"}]");
    expect(preempts(), "n1", 0, 1);
    again(GANG_VICTIMS_surplus, 4);
    both_nodes(IN_TREE, 4, "gang=\"old\" gang_api=\"" IN_TREE "\"");
    expect(preempts(), "n1", 0, 1);
    again(GANG_VICTIMS_surplus, 4); /* members of the newer group, that none was made of */
    both_nodes(CRD_OLD, 4,
               "labels=[{key=\"" LABEL_OLD "\" value=\"old\"} {key=\"" LABEL "\" value=\"x\"}]");
    expect(preempts(), "n0", 1, 0);
}

static void a_surplus_is_as_good_as_any_pod(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 3, OF_GANG);
    expect(preempts(), "n0", 1, 0);
    again(GANG_VICTIMS_whole, 4);
    both_nodes(CRD, 3, OF_GANG);
    expect(preempts(), "n0", 1, 0);
}

/* Members on all nodes count, those that terminate do not. */
static void a_surplus_is_counted_over_all_nodes(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 4, OF_GANG);
    add_node("n2", 1000);
    puts_on("n2", "old", 4, 1, OF_GANG " priority=9");
    expect(preempts(), "n0", 1, 0);
    again(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 4, OF_GANG);
    add_node("n2", 1000);
    puts_on("n2", "old", 4, 1, OF_GANG " priority=9");
    puts_on("n2", "old", 4, 1, OF_GANG " priority=9 deleting=true");
    expect(preempts(), "n1", 0, 1);
}

/* The most important one terminates; the next, old-0, is the one beyond the minimum. */
static void who_terminates_uses_up_no_surplus(void **state)
{
    static const struct {
        const char *api, *member;
    } cases[] = {{CRD, OF_GANG}, {IN_TREE, "gang=\"old\" gang_api=\"" IN_TREE "\""}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char going[300];
        if (i == 0)
            begin(GANG_VICTIMS_surplus, 4);
        else
            again(GANG_VICTIMS_surplus, 4);
        snprintf(going, sizeof(going), "%s priority=1 deleting=true", cases[i].member);
        group(cases[i].api, 2);
        puts_on("n0", "old", 0, 3, cases[i].member);
        puts_on("n0", "old", 3, 1, going);
        puts_on("n1", "mighty", 0, 4, PLAIN " priority=9");
        expect(preempts(), "n0", 1, 0);
        assert_non_null(strstr(said(s, MSG_preempt, 0), "uid=\"u-old-0\""));
    }
}

static void a_group_that_is_gone_or_no_gang_protects_nobody(void **state)
{
    (void)state;
    begin(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 4, OF_GANG);
    sees(s,
         "object_gone kind=\"PodGroup\" namespace_name=\"default\" name=\"old\" api=\"" CRD "\"");
    expect(preempts(), "n0", 1, 0);
    again(GANG_VICTIMS_surplus, 4);
    both_nodes(CRD, 0, OF_GANG);
    expect(preempts(), "n0", 1, 0);
}

/* On one node: the plain pod started first, so that a member would go by upstream's order. */
static void others_on_the_node_go_first(void **state)
{
    static const struct {
        enum gang_victims victims;
        int members, plain;
    } cases[] = {
        {GANG_VICTIMS_pods, 1, 0}, {GANG_VICTIMS_surplus, 0, 1}, {GANG_VICTIMS_whole, 0, 1}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        if (i == 0)
            begin(cases[i].victims, 4);
        else
            again(cases[i].victims, 4);
        group(CRD, 3);
        puts_on("n0", "plain", 0, 1, PLAIN " started=1");
        puts_on("n0", "old", 0, 3, OF_GANG " started=2");
        puts_on("n1", "mighty", 0, 4, PLAIN " priority=9");
        expect(preempts(), "n0", cases[i].members, cases[i].plain);
    }
}

/* Nobody else is in the way: three on n0, one on n1 beside pods of high priority. */
static const char *breaks_it(enum gang_victims victims, const char *far)
{
    if (s == NULL)
        begin(victims, 3);
    else
        again(victims, 3);
    group(CRD, 4);
    puts_on("n0", "old", 0, 3, OF_GANG);
    puts_on("n1", "mighty", 0, 2, PLAIN " priority=9");
    puts_on("n1", "old", 3, 1, far);
    return preempts();
}

static void a_whole_gang_goes_from_all_nodes(void **state)
{
    (void)state;
    s = NULL;
    expect(breaks_it(GANG_VICTIMS_surplus, OF_GANG " started=1"), "n0", 1, 0);
    const char *text = breaks_it(GANG_VICTIMS_whole, OF_GANG " started=1");
    expect(text, "n0", 4, 0);
    for (int i = 0; i < 4; i++) {
        char uid[32];
        snprintf(uid, sizeof(uid), "uid=\"u-old-%d\"", i);
        assert_int_equal(count_in(text, uid), 1);
    }
}

static void who_terminates_is_not_named_again(void **state)
{
    (void)state;
    s = NULL;
    expect(breaks_it(GANG_VICTIMS_whole, OF_GANG " deleting=true priority=9"), "n0", 3, 0);
}

static void a_gang_with_a_member_that_may_not_go_is_left(void **state)
{
    (void)state;
    s = NULL;
    expect(breaks_it(GANG_VICTIMS_whole, OF_GANG " priority=9"), "n0", 1, 0);
}

/* ---- the members that the cache knows ---- */

static void tells_nobody(void *context, uint32_t worker, const struct message *m)
{
    (void)context, (void)worker, (void)m;
}

static void sets(struct cache *c, const char *name, const char *group)
{
    struct label label = {STR_LITERAL(LABEL), str_of(group)};
    struct pod pod = {.uid = str_of(name),
                      .name = str_of(name),
                      .namespace_name = STR_LITERAL("default"),
                      .node_name = STR_LITERAL("n"),
                      .labels = {1, &label}};
    cache_pod_set(c, &pod);
}

static void members_are_kept_while_a_profile_asks(void **state)
{
    (void)state;
    struct profile profile = {.scheduler_name = STR_LITERAL("default-scheduler"),
                              .gangs = GANGS_off};
    struct cache_options options = {.profiles = &profile, .profile_count = 1, .tell = tells_nobody};
    const struct gang a = {.api = STR_LITERAL(CRD),
                           .namespace_name = STR_LITERAL("default"),
                           .name = STR_LITERAL("a")};
    struct gang b = a;
    b.name = STR_LITERAL("b");
    struct cache *c = cache_new(&options);
    sets(c, "p", "a");
    sets(c, "q", "a");
    assert_int_equal(cache_gang_placed(c, &a), 0); /* nobody asks */
    profile.gang_victims = GANG_VICTIMS_surplus;
    cache_reconfigure(c, &options);
    assert_int_equal(cache_gang_placed(c, &a), 2);
    sets(c, "q", "b"); /* its label has changed */
    assert_int_equal(cache_gang_placed(c, &a), 1);
    assert_int_equal(cache_gang_placed(c, &b), 1);
    assert_true(cache_hide(c, STR_LITERAL("p")));
    assert_int_equal(cache_gang_placed(c, &a), 0);
    assert_int_equal(cache_gang_on_nodes(c, &a), 1); /* it is there for all that */
    cache_show(c, STR_LITERAL("p"));
    assert_int_equal(cache_gang_placed(c, &a), 1);
    cache_pod_gone(c, STR_LITERAL("p"));
    assert_int_equal(cache_gang_placed(c, &a), 0);
    profile.gang_victims = GANG_VICTIMS_pods;
    cache_reconfigure(c, &options);
    assert_int_equal(cache_gang_placed(c, &b), 0);
    cache_free(&c);
}

#define TEST(function) cmocka_unit_test_teardown(function, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(by_default_no_gang_is_looked_at),
        TEST(a_gang_without_surplus_is_spared),
        TEST(whatever_its_api),
        TEST(a_surplus_is_as_good_as_any_pod),
        TEST(a_surplus_is_counted_over_all_nodes),
        TEST(who_terminates_uses_up_no_surplus),
        TEST(a_group_that_is_gone_or_no_gang_protects_nobody),
        TEST(others_on_the_node_go_first),
        TEST(a_whole_gang_goes_from_all_nodes),
        TEST(who_terminates_is_not_named_again),
        TEST(a_gang_with_a_member_that_may_not_go_is_left),
        cmocka_unit_test(members_are_kept_while_a_profile_asks),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests_name("gang_victims", tests, NULL, NULL);
}
