/* test_follow: what is told of a cluster that changes is what it is, once, and a stream with a hole
 * is not believed. */
#include "ctl/follow/picture.h"
#include "ctl/follow/rates.h"
#include "ctl/output.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct picture *picture;
static struct buffer said;
static int64_t sequence;

static enum picture_step hear_at(const struct message *m, int64_t at, int64_t part)
{
    struct delivery in = {
        .message = m, .epoch = 7, .sequence = at, .part = part, .sent_us = 5000000};
    return picture_take(picture, &in);
}

static enum picture_step hear(const struct message *m)
{
    return hear_at(m, ++sequence, 0);
}

static void snapshot(const struct message *first, const struct message *second)
{
    const struct message begin = {.type = MSG_snapshot_begin}, end = {.type = MSG_snapshot_end};
    sequence = 40;
    assert_int_equal(hear_at(&begin, 40, 1), PICTURE_applied);
    assert_int_equal(hear_at(first, 40, 2), PICTURE_applied);
    assert_int_equal(hear_at(second, 40, 3), PICTURE_applied);
    assert_int_equal(hear_at(&end, 40, 4), PICTURE_applied);
}

static struct message a_node(const char *name, int64_t cpu)
{
    static struct quantity room[4];
    static struct label zone;
    static int next;
    struct quantity *q = &room[next++ % 4];
    zone = (struct label){STR_LITERAL("topology.kubernetes.io/zone"), STR_LITERAL("z1")};
    *q = (struct quantity){STR_LITERAL("cpu"), cpu};
    return (struct message){
        .type = MSG_node_set,
        .node_set.node = {.name = str_of(name), .labels = {1, &zone}, .allocatable = {1, q}}};
}

static struct message a_pod(const char *name, const char *node, const char *why)
{
    static struct quantity ask;
    ask = (struct quantity){STR_LITERAL("cpu"), 500};
    return (struct message){.type = MSG_pod_set,
                            .pod_set.pod = {.uid = str_of(name),
                                            .namespace_name = STR_LITERAL("default"),
                                            .name = str_of(name),
                                            .node_name = str_of(node),
                                            .scheduled = {.status = str_of(*why ? "False" : ""),
                                                          .message = str_of(why)},
                                            .usage = {1, &ask}}};
}

static const char *tell(bool whole)
{
    buffer_reset(&said);
    picture_tell(picture, whole, 36, &said);
    return said.at;
}

static void expect(const char *text)
{
    if (strstr(said.at, text) == NULL)
        fail_msg("no %s in %s", text, said.at);
}

static void expect_not(const char *text)
{
    if (strstr(said.at, text) != NULL)
        fail_msg("%s in %s", text, said.at);
}

static int set_up(void **state)
{
    (void)state;
    picture = picture_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    picture_free(&picture);
    buffer_free(&said);
    return 0;
}

static void a_snapshot_is_told_whole(void **state)
{
    (void)state;
    struct message pod = a_pod("p", "n1", ""), node = a_node("n1", 4000);
    assert_false(picture_has_news(picture));
    snapshot(&pod, &node); /* the pod before its node */
    assert_true(picture_has_news(picture));
    assert_string_equal(
        tell(false),
        "{\"kind\":\"whole\",\"release\":36,\"nodes\":[{\"name\":\"n1\",\"zone\":\"z1\","
        "\"ready\":true,\"unschedulable\":false,\"taints\":0,\"pods\":1,\"resources\":{\"cpu\":"
        "{\"used\":500,\"allocatable\":4000}}}],\"decisions\":[],\"more\":0}\n");
    assert_false(picture_has_news(picture));
    tell(true);
    expect("{\"kind\":\"again\",");
    expect("\"used\":500");
}

static void changes_are_told_once(void **state)
{
    (void)state;
    struct message node = a_node("n1", 4000), other = a_node("n2", 2000);
    snapshot(&node, &other);
    tell(false);
    struct message waits = a_pod("p", "", "no <b>room</b>");
    hear(&waits);
    hear(&waits); /* the same again is no decision */
    tell(false);
    expect("\"kind\":\"changes\"");
    expect("\"name\":\"p\",\"message\":\"no <b>room</b>\"}]");
    expect("\"nodes\":[]");
    assert_true(str_is(picture_message(picture, STR_LITERAL("p")), "no <b>room</b>"));
    struct message bound = a_pod("p", "n2", "");
    hear(&bound);
    hear(&bound);
    tell(false);
    expect("{\"at\":5000,\"namespace\":\"default\",\"name\":\"p\",\"node\":\"n2\"}]");
    expect("\"used\":500,\"allocatable\":2000");
    expect_not("\"name\":\"n1\"");
    assert_false(picture_has_news(picture));
    struct message gone = {.type = MSG_pod_gone, .pod_gone = {.uid = STR_LITERAL("p")}};
    hear(&gone);
    tell(false);
    expect("\"pods\":0,\"resources\":{\"cpu\":{\"used\":0,");
    struct message less = {.type = MSG_node_gone, .node_gone = {.name = STR_LITERAL("n1")}};
    hear(&less);
    tell(false);
    expect("\"gone\":[\"n1\"]");
    tell(true);
    expect_not("\"name\":\"n1\"");
}

static void more_decisions_than_are_told_are_counted(void **state)
{
    (void)state;
    struct message node = a_node("n1", 4000), other = a_node("n2", 2000);
    char names[PICTURE_DECISIONS_MAX + 3][16];
    snapshot(&node, &other);
    tell(false);
    for (int i = 0; i < PICTURE_DECISIONS_MAX + 3; i++) {
        snprintf(names[i], sizeof(names[i]), "p%d", i);
        struct message pod = a_pod(names[i], "n1", "");
        hear(&pod);
    }
    tell(false);
    expect("\"more\":3}");
    expect("\"pods\":203,");
}

static void a_hole_is_not_believed(void **state)
{
    (void)state;
    struct message node = a_node("n1", 4000), other = a_node("n2", 2000);
    int64_t epoch, at;
    snapshot(&node, &other);
    tell(false);
    struct message pod = a_pod("p", "n1", "");
    assert_int_equal(hear_at(&pod, sequence + 2, 0), PICTURE_gap);
    picture_position(picture, &epoch, &at);
    assert_int_equal(epoch, 0);
    assert_false(picture_has_news(picture));
    snapshot(&other, &pod);
    assert_int_equal(hear_at(&node, 40, 0), PICTURE_ignored); /* said before */
    tell(false);
    expect("\"kind\":\"whole\"");
    expect_not("\"name\":\"n1\"");
}

static struct metric_sample attempts(int64_t value)
{
    static struct str result;
    result = STR_LITERAL("scheduled");
    return (struct metric_sample){.metric = STR_LITERAL("scheduler_schedule_attempts_total"),
                                  .labels = {1, &result},
                                  .value = value};
}

static void rates_are_differences_within_one_life(void **state)
{
    (void)state;
    struct rates r = {0};
    struct metric_sample sample = attempts(1000);
    struct metrics m = {
        .process = STR_LITERAL("scheduler"), .incarnation = 5, .samples = {1, &sample}};
    buffer_reset(&said);
    rates_take(&r, (struct moment){1000000000}, &m);
    rates_tell(&r, &said);
    expect("\"scheduled\":0");
    sample = attempts(1060);
    buffer_reset(&said);
    rates_take(&r, (struct moment){3000000000}, &m);
    rates_tell(&r, &said);
    expect("\"scheduled\":30");
    sample = attempts(5);
    m.incarnation = 6;
    buffer_reset(&said);
    rates_take(&r, (struct moment){4000000000}, &m);
    rates_tell(&r, &said);
    expect("\"scheduled\":0");
}

/* As with head -1. */
static void that_nobody_reads_any_more_is_no_failure(void **state)
{
    int ends[2], before = dup(STDOUT_FILENO);
    (void)state;
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    bool read = output_stream(STR_LITERAL("a line\n")), unread = output_is_unread();
    close(ends[0]);
    close(ends[1]);
    bool gone = !output_stream(STR_LITERAL("another\n"));
    int status = output_finish("follow", 0);
    dup2(before, STDOUT_FILENO);
    close(before);
    clearerr(stdout);
    assert_true(read && !unread);
    assert_true(gone && output_is_unread());
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_snapshot_is_told_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_are_told_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_decisions_than_are_told_are_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_hole_is_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rates_are_differences_within_one_life, set_up, tear_down),
        cmocka_unit_test(that_nobody_reads_any_more_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
