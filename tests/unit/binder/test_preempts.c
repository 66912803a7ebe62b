/* Preemption through the whole core: what is written to whom, in which order, and how often. */
#include "tests/unit/binder/preemption.h"

#include "binder/failing.h"
#include "proto/base/random.h"

#define MS 1000000LL

static void a_victim_is_looked_at_marked_deleted_and_told(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    reply(w, GET("a"), 200, PLAIN("a"));
    assert_string_equal(
        world_find(w, MARK("a"))->body,
        "{\"metadata\":{\"uid\":\"a\"},\"status\":{\"$setElementOrder/conditions\":[{\"type\":"
        "\"PodScheduled\"},{\"type\":\"DisruptionTarget\"}],\"conditions\":[{\"lastProbeTime\":"
        "null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"message\":\"default-scheduler: "
        "preempting to accommodate a higher priority pod\",\"observedGeneration\":1,\"reason\":"
        "\"PreemptionByScheduler\",\"status\":\"True\",\"type\":\"DisruptionTarget\"}]}}");
    assert_null(world_find(w, "DELETE"));
    reply(w, MARK("a"), 200, "{}");
    assert_string_equal(world_find(w, DELETE("a"))->body,
                        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{"
                        "\"uid\":\"a\"}}");
    assert_null(world_heard(w, MSG_preempt_result, 0));
    reply(w, DELETE("a"), 200, "{}");
    const struct preempt_result *result = preempted(w);
    assert_true(result->done && result->message.len == 0);
    assert_true(str_is(result->uid, "top") && str_is(result->node_name, "n1"));
    const char *event = world_find(w, "POST /apis/events.k8s.io/v1/namespaces/default")->body;
    assert_non_null(strstr(event,
                           "\"action\":\"Preempting\",\"reason\":\"Preempted\",\"regarding\":"
                           "{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"a\","
                           "\"uid\":\"a\",\"apiVersion\":\"v1\",\"resourceVersion\":\"7\"},"
                           "\"note\":\"Preempted by pod top on node n1\",\"type\":"
                           "\"Normal\""));
    assert_non_null(strstr(event, "\"reportingController\":\"default-scheduler\""));
    assert_null(strstr(event, "related"));
    world_free(w);
}

/* The body that a_victim_is_looked_at_marked_deleted_and_told expects. */
static void a_victim_that_the_scheduler_describes_is_marked_without_a_look(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    preempt(w, "former", "a");
    reply(w, GET("a"), 200, PLAIN("a"));
    char *looked = str_copy(str_of(world_find(w, MARK("a"))->body));
    reply(w, MARK("a"), 404, "");
    eviction_of(&e, "top", "a");
    eviction_describes(&e, 0);
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, GET("a")));
    assert_string_equal(world_find(w, MARK("a"))->body, looked);
    memory_free(looked);
    assert_null(world_find(w, "DELETE"));
    reply(w, MARK("a"), 200, PLAIN("a"));
    assert_null(world_find(w, GET("a")));
    reply(w, DELETE("a"), 200, "{}");
    assert_true(world_heard(w, MSG_preempt_result, 1)->preempt_result.done);
    const char *event = world_find(w, "POST /apis/events.k8s.io/v1/namespaces/default")->body;
    assert_non_null(strstr(event, "\"uid\":\"a\",\"apiVersion\":\"v1\",\"resourceVersion\":\"7\""));
    world_free(w);
}

static void who_terminates_in_the_answer_to_the_mark_is_left_alone(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a b");
    eviction_describes(&e, 0); /* b is looked at */
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    reply(w, MARK("a"), 200, TERMINATING("a"));
    reply(w, GET("b"), 200, PLAIN("b"));
    reply(w, MARK("b"), 200, TERMINATING("b"));
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "DELETE"));
    assert_int_equal(world_count(w, "events.k8s.io"), 0);
    world_free(w);
}

static void an_answer_to_the_mark_that_shows_no_pod_is_looked_after(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_describes(&e, 0);
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    reply(w, MARK("a"), 200, "{}");
    assert_null(world_find(w, "DELETE"));
    reply(w, GET("a"), 200, TERMINATING("a"));
    assert_true(preempted(w)->done);
    world_free(w);
}

static void a_described_victim_that_was_replaced_is_looked_at_and_spared(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_describes(&e, 0);
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    reply(w, MARK("a"), 422, "{\"kind\":\"Status\",\"message\":\"field is immutable\"}");
    world_step(w, 20);
    reply(w, GET("a"), 200, PLAIN("another"));
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "DELETE"));
    world_free(w);
}

static void room_is_made_anywhere(bool for_tree, const char *kind)
{
    struct world *w = world_leading();
    struct eviction e;
    char part[128];
    eviction_of(&e, "top", "a");
    eviction_describes(&e, 0);
    e.m.preempt.node_name = (struct str){NULL, 0};
    e.m.preempt.group_uid = STR_LITERAL("of-g");
    e.m.preempt.for_tree = for_tree;
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    snprintf(part, sizeof(part), "to accommodate a higher priority %s\"", kind);
    assert_non_null(strstr(world_find(w, MARK("a"))->body, part));
    reply(w, MARK("a"), 200, PLAIN("a"));
    reply(w, DELETE("a"), 200, "{}");
    assert_true(preempted(w)->done);
    assert_int_equal(preempted(w)->node_name.len, 0);
    const char *event = world_find(w, "POST /apis/events.k8s.io/v1/namespaces/default")->body;
    snprintf(part, sizeof(part), "\"note\":\"Preempted by %s of-g on node cluster\"", kind);
    assert_non_null(strstr(event, part));
    world_free(w);
}

static void for_a_group_room_may_be_made_anywhere(void **state)
{
    (void)state;
    room_is_made_anywhere(false, "podgroup");
    room_is_made_anywhere(true, "compositepodgroup");
}

/* Sixteen requests are on the wire at most: a and b, and fourteen of the later preemption's. */
static void the_last_of_several_goes_ahead_of_later_preemptions(void **state)
{
    (void)state;
    struct world *w = world_leading();
    char names[256] = "";
    for (int i = 0; i < 30; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%sv%02d", i ? " " : "", i);
    preempt(w, "top", "a b c");
    preempt(w, "later", names);
    reply(w, GET("a"), 200, TERMINATING("a"));
    assert_non_null(world_find(w, GET("v14")));
    reply(w, GET("b"), 200, TERMINATING("b"));
    assert_non_null(world_find(w, GET("c")));
    assert_null(world_find(w, GET("v15")));
    world_free(w);
}

static void all_but_the_last_go_together_then_the_last(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b c");
    assert_non_null(world_find(w, GET("a")));
    assert_non_null(world_find(w, GET("b")));
    assert_null(world_find(w, GET("c")));
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, GET("b"), 200, IS_MARKED("b"));
    assert_null(world_find(w, "PATCH")); /* they have the condition already */
    reply(w, DELETE("a"), 200, "{}");
    assert_null(world_find(w, GET("c")));
    reply(w, DELETE("b"), 200, "{}");
    reply(w, GET("c"), 200, IS_MARKED("c"));
    assert_null(world_heard(w, MSG_preempt_result, 0));
    reply(w, DELETE("c"), 200, "{}");
    assert_true(preempted(w)->done);
    assert_int_equal(world_count(w, "events.k8s.io"), 3);
    world_free(w);
}

static void who_terminates_already_is_left_alone(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a b c d");
    e.victims[0].deleting = true;
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, GET("a")));
    reply(w, GET("b"), 200, TERMINATING("b"));
    reply(w, GET("c"), 404, "");
    reply(w, GET("d"), 200, PLAIN("another"));
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "PATCH"));
    assert_null(world_find(w, "DELETE"));
    assert_int_equal(world_count(w, "events.k8s.io"), 0);
    world_free(w);
}

/* Upstream returns before it clears anything. */
static void with_nobody_to_delete_nothing_is_done(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a");
    e.victims[0].deleting = true;
    eviction_clears(&e, "low", "n1");
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "pods/"));
    world_free(w);
}

static void gone_in_the_meantime_is_done_without_an_event(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b c");
    reply(w, GET("a"), 200, PLAIN("a"));
    reply(w, MARK("a"), 404, "");
    reply(w, GET("b"), 200, IS_MARKED("b"));
    reply(w, DELETE("b"), 404, "");
    reply(w, GET("c"), 200, IS_MARKED("c"));
    reply(w, DELETE("c"), 409, "{\"kind\":\"Status\",\"message\":\"the UID in the precondition\"}");
    world_step(w, 20);
    reply(w, GET("c"), 200, PLAIN("another"));
    assert_true(preempted(w)->done);
    assert_int_equal(world_count(w, "events.k8s.io"), 0);
    world_free(w);
}

static void a_marked_pod_that_was_replaced_is_not_deleted(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    reply(w, GET("a"), 200, PLAIN("a"));
    reply(w, MARK("a"), 422, "{\"kind\":\"Status\",\"message\":\"field is immutable\"}");
    world_step(w, 20);
    reply(w, GET("a"), 200, PLAIN("another"));
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "DELETE"));
    world_free(w);
}

static void a_lost_delete_is_looked_after(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    reply(w, GET("a"), 200, IS_MARKED("a"));
    world_lose(w, DELETE("a"), true);
    world_step(w, 20);
    assert_null(world_find(w, "DELETE"));
    reply(w, GET("a"), 200, IS_MARKED("a")); /* it never arrived */
    world_lose(w, DELETE("a"), true);
    world_step(w, 100);
    reply(w, GET("a"), 200, TERMINATING("a")); /* it did */
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "DELETE"));
    assert_int_equal(world_count(w, "events.k8s.io"), 1);
    world_free(w);
}

static void what_may_pass_is_tried_four_times(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    reply(w, GET("a"), 200, PLAIN("a"));
    reply(w, MARK("a"), 503, "");
    world_step(w, 12);
    reply(w, GET("a"), 500, "");
    world_step(w, 56);
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, DELETE("a"), 429, "");
    world_step(w, 276);
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, DELETE("a"), 503, "{\"kind\":\"Status\",\"message\":\"busy\"}");
    assert_false(preempted(w)->done);
    assert_true(str_is(preempted(w)->message, "evicting default/a: busy"));
    world_free(w);
}

static void fail_once(struct world *w, const char *preemptor, const char *victim, const char *why)
{
    char path[64], body[128];
    preempt(w, preemptor, victim);
    snprintf(path, sizeof(path), "GET " PODS "%s", victim);
    snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"message\":\"%s\"}", why);
    reply(w, path, 422, body);
}

static bool names_failing(struct world *w, const char *line)
{
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    const char *found = strstr(lines.at, "preempts_failing=");
    bool as_wanted =
        *line == 0 ? found == NULL : found != NULL && strncmp(found, line, strlen(line)) == 0;
    buffer_free(&lines);
    return as_wanted;
}

/* One of those who fail is named; who does so no more gives way to another. */
static void who_fails_again_and_again_is_named(void **state)
{
    (void)state;
    struct world *w = world_leading();
    fail_once(w, "top", "a", "no");
    assert_true(names_failing(w, ""));
    fail_once(w, "other", "b", "no");
    world_step(w, 7000);
    fail_once(w, "top", "a", "policy says no");
    assert_true(names_failing(w, "preempts_failing=pod=default/top times=2 for_ms=7000 "
                                 "why=evicting default/a: policy says no\n"));
    fail_once(w, "other", "b", "no");
    assert_true(names_failing(w, "preempts_failing=pod=default/top times=2 "));
    preempt(w, "top", "a");
    reply(w, GET("a"), 404, "");
    assert_true(names_failing(w, ""));
    fail_once(w, "other", "b", "no");
    fail_once(w, "other", "b", "no");
    assert_true(names_failing(w, "preempts_failing=pod=default/other times=2 for_ms=0 "));
    world_free(w);
}

/* A pod that is gone, or tried no more. */
static void who_has_not_failed_for_a_while_gives_way(void **state)
{
    (void)state;
    struct failing f = {0};
    struct buffer line = {0};
    const struct pod top = {.uid = STR_LITERAL("t"), .name = STR_LITERAL("top")},
                     other = {.uid = STR_LITERAL("o"), .name = STR_LITERAL("other")};
    failing_note(&f, (struct moment){0}, &top, "no");
    failing_note(&f, (struct moment){0}, &top, "no,\nnever");
    failing_print(&f, (struct moment){29999 * MS}, &line);
    assert_string_equal(line.at, "preempts_failing=pod=/top times=2 for_ms=29999 why=no, never\n");
    buffer_reset(&line);
    failing_print(&f, (struct moment){30000 * MS}, &line);
    assert_int_equal(line.len, 0);
    failing_note(&f, (struct moment){29999 * MS}, &other, "no");
    assert_string_equal(f.pod, "/top");
    failing_note(&f, (struct moment){30000 * MS}, &other, "");
    assert_string_equal(f.pod, "/top");
    failing_note(&f, (struct moment){30000 * MS}, &other, "no");
    assert_string_equal(f.pod, "/other");
    assert_int_equal(f.times, 1);
    buffer_free(&line);
}

static void the_first_failure_stops_what_has_not_begun(void **state)
{
    (void)state;
    struct world *w = world_leading();
    char names[256] = "";
    for (int i = 0; i < 20; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%sv%02d", i ? " " : "", i);
    preempt(w, "top", names);
    assert_int_equal(world_count(w, "/pods/v"), 16); /* the lane's budget */
    reply(w, GET("v00"), 200, IS_MARKED("v00"));
    reply(w, GET("v01"), 200, IS_MARKED("v01"));
    reply(w, GET("v02"), 403, "{\"kind\":\"Status\",\"message\":\"no pods for you\"}");
    assert_null(world_find(w, GET("v18")));
    reply(w, DELETE("v00"), 200, "{}"); /* was on the wire: awaited, and told */
    for (int i = 3; i < 16; i++) {
        char path[64];
        snprintf(path, sizeof(path), "GET " PODS "v%02d", i);
        if (world_find(w, path) != NULL)
            reply(w, path, 200, PLAIN("x"));
    }
    assert_null(world_heard(w, MSG_preempt_result, 0));
    reply(w, DELETE("v01"), 200, "{}");
    assert_false(preempted(w)->done);
    assert_true(str_is(preempted(w)->message, "evicting default/v02: no pods for you"));
    assert_null(world_find(w, "/pods/"));
    assert_int_equal(world_count(w, "events.k8s.io"), 2);
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "forbidden=get pods\n"));
    assert_non_null(strstr(lines.at, "preempts=under_way=0 done=0 failed=1 doubled=0 deleted=2"));
    buffer_free(&lines);
    world_free(w);
}

static void events_stand_back_for_evictions(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b c d e f");
    static const char *const steps[][3] = {
        {GET("a"), IS_MARKED("a"), DELETE("a")}, {GET("b"), IS_MARKED("b"), DELETE("b")},
        {GET("c"), IS_MARKED("c"), DELETE("c")}, {GET("d"), IS_MARKED("d"), DELETE("d")},
        {GET("e"), IS_MARKED("e"), DELETE("e")},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        reply(w, steps[i][0], 200, steps[i][1]);
        reply(w, steps[i][2], 200, "{}");
    }
    assert_int_equal(world_count(w, "events.k8s.io"), 2); /* f is still to go */
    reply(w, GET("f"), 200, IS_MARKED("f"));
    reply(w, DELETE("f"), 200, "{}");
    assert_true(preempted(w)->done);
    assert_int_equal(world_count(w, "events.k8s.io"), 6);
    world_free(w);
}

/* ---- nominations ---- */

static void nominations_are_cleared_before_anybody_is_deleted(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_clears(&e, "low", "n1");
    eviction_clears(&e, "lower", ""); /* not set: nothing to clear */
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, MARK("lower")));
    assert_null(world_find(w, GET("a")));
    assert_string_equal(world_find(w, MARK("low"))->body,
                        "{\"status\":{\"nominatedNodeName\":null}}");
    reply(w, MARK("low"), 200, "{}");
    reply(w, GET("a"), 200, TERMINATING("a"));
    assert_true(preempted(w)->done);
    world_free(w);
}

static void a_nomination_that_stays_is_told_but_stops_nothing(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_clears(&e, "low", "n1");
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    reply(w, MARK("low"), 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, DELETE("a"), 200, "{}");
    assert_false(preempted(w)->done);
    assert_true(str_is(preempted(w)->message, "clearing the nomination of default/low: no"));
    world_free(w);
}

static struct message nominated(const char *name, const char *node)
{
    struct message m = world_failed(name, name, "no room");
    m.pod_failed.set_nominated = true;
    m.pod_failed.nominated_node = str_of(node);
    return m;
}

/* Sixteen patches are on the wire; what comes waits. */
static void fill_the_status_lane(struct world *w)
{
    for (int i = 0; i < 16; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "x%d", i);
        struct message m = world_failed(uid, uid, "no");
        world_say(w, &m, SCHEDULER);
    }
    world_tick(w);
}

/* The nomination was not written yet: the condition is, the nomination never. */
static void a_nomination_that_waits_is_taken_back(void **state)
{
    (void)state;
    struct world *w = world_leading();
    fill_the_status_lane(w);
    struct message m = nominated("low", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, MARK("low")));
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_clears(&e, "low", ""); /* the scheduler has not seen it */
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    const char *body = world_find(w, MARK("low"))->body; /* not behind the others any more */
    assert_non_null(strstr(body, "no room"));
    assert_null(strstr(body, "nominatedNodeName"));
    assert_null(world_find(w, GET("a")));
    reply(w, MARK("low"), 200, "{}");
    assert_non_null(world_find(w, GET("a")));
    world_free(w);
}

static void a_nomination_on_the_wire_is_cleared_behind_it(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = nominated("low", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    struct eviction e;
    eviction_of(&e, "top", "a");
    eviction_clears(&e, "low", "");
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, GET("a")));
    reply(w, MARK("low"), 200, "{}");
    assert_string_equal(world_find(w, MARK("low"))->body,
                        "{\"status\":{\"nominatedNodeName\":null}}");
    reply(w, MARK("low"), 200, "{}");
    assert_non_null(world_find(w, GET("a")));
    world_free(w);
}

/* A later failure that says nothing of the nomination leaves it as it is to become. */
static void a_newer_failure_keeps_a_nomination_that_waits(void **state)
{
    (void)state;
    struct world *w = world_leading();
    fill_the_status_lane(w);
    struct message m = nominated("low", "n1"), later = world_failed("low", "low", "later");
    world_say(w, &m, SCHEDULER);
    world_say(w, &later, SCHEDULER);
    reply(w, "PATCH", 200, "{}");
    const char *body = world_find(w, MARK("low"))->body;
    assert_non_null(strstr(body, "later"));
    assert_non_null(strstr(body, "\"nominatedNodeName\":\"n1\""));
    world_free(w);
}

static void a_bind_of_the_lower_pod_makes_clearing_needless(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    fill_the_status_lane(w);
    for (int i = 0; i < 8; i++) { /* and the lane of nominations is full */
        char name[16];
        snprintf(name, sizeof(name), "p%d", i);
        eviction_of(&e, name, "a");
        eviction_clears(&e, name + 1, "n1");
        world_say(w, &e.m, SCHEDULER);
        world_tick(w);
    }
    eviction_of(&e, "top", "b");
    eviction_clears(&e, "low", "n1");
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, MARK("low")));
    assert_null(world_find(w, GET("b")));
    struct message bind = world_bind("low", "low", "n2");
    world_say(w, &bind, SCHEDULER);
    world_tick(w);
    assert_non_null(world_find(w, GET("b")));
    world_free(w);
}

/* ---- several preemptions ---- */

static void two_that_want_the_same_pod_delete_it_once(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    preempt(w, "other", "a");
    reply(w, GET("a"), 200, PLAIN("a"));
    reply(w, MARK("a"), 200, "{}");
    reply(w, DELETE("a"), 200, "{}");
    assert_true(world_heard(w, MSG_preempt_result, 0)->preempt_result.done);
    assert_true(world_heard(w, MSG_preempt_result, 1)->preempt_result.done);
    assert_null(world_find(w, "/pods/"));
    assert_int_equal(world_count(w, "events.k8s.io"), 1);
    world_free(w);
}

static void who_shares_goes_on_when_the_other_fails(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b x");
    preempt(w, "other", "a");
    reply(w, GET("b"), 403, "");
    assert_null(world_heard(w, MSG_preempt_result, 0)); /* its look at a is on the wire */
    reply(w, GET("a"), 200, PLAIN("a"));
    assert_false(preempted(w)->done);
    reply(w, MARK("a"), 200, "{}");
    reply(w, DELETE("a"), 200, "{}");
    assert_true(world_heard(w, MSG_preempt_result, 1)->preempt_result.done);
    assert_non_null(strstr(world_find(w, "events.k8s.io")->body, "Preempted by pod other on"));
    world_free(w);
}

static void a_double_request_is_answered_once(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    preempt(w, "top", "a");
    struct eviction e;
    eviction_of(&e, "top", "b");
    e.m.preempt.node_name = STR_LITERAL("n2");
    for (int i = 0; i < 3; i++) {
        world_say(w, &e.m, SCHEDULER);
        world_tick(w);
    }
    assert_null(world_heard(w, MSG_preempt_result, 0)); /* else it would ask again at once */
    reply(w, GET("a"), 404, "");
    const struct preempt_result *first = &world_heard(w, MSG_preempt_result, 0)->preempt_result;
    assert_true(first->done);
    assert_true(str_is(first->node_name, "n1"));
    const struct preempt_result *other = &world_heard(w, MSG_preempt_result, 1)->preempt_result;
    assert_false(other->done);
    assert_true(str_is(other->node_name, "n2"));
    assert_null(world_heard(w, MSG_preempt_result, 2));
    assert_null(world_find(w, "/pods/"));
    world_free(w);
}

static void a_victim_named_twice_counts_once(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a a");
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, DELETE("a"), 200, "{}");
    assert_true(preempted(w)->done);
    world_free(w);
}

static void a_new_scheduler_hears_of_preemptions_under_way(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    outbox_reset(&w->out);
    struct message up = {.type = MSG_peer_up};
    world_say(w, &up, SCHEDULER);
    const struct leadership *l = &world_heard(w, MSG_leadership, 0)->leadership;
    assert_int_equal(l->preempting.count, 1);
    assert_true(str_is(l->preempting.at[0].uid, "top"));
    assert_true(str_is(l->preempting.at[0].node_name, "n1"));
    world_free(w);
}

/* ---- when writing ends ---- */

static void without_the_lease_nothing_is_written(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b c");
    reply(w, GET("a"), 200, PLAIN("a"));
    world_step(w, 10001);
    assert_false(binder_leading(w->binder));
    assert_false(preempted(w)->done);
    assert_true(str_is(preempted(w)->message, "lost leadership"));
    assert_null(world_find(w, "/pods/"));
    outbox_reset(&w->out);
    preempt(w, "top", "a");
    assert_true(str_is(preempted(w)->message, "lost leadership"));
    assert_null(world_find(w, "/pods/"));
    world_free(w);
}

static void a_closed_fence_takes_deletions_back(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a");
    reply(w, GET("a"), 200, IS_MARKED("a"));
    world_pass(w, 9700);
    assert_true(binder_exposed(w->binder));
    binder_guard(w->binder);
    assert_null(world_find(w, "DELETE"));
    world_tick(w);
    world_accept_lease(w, "PUT");
    world_step(w, 20);
    reply(w, GET("a"), 200, TERMINATING("a")); /* it had left */
    assert_true(preempted(w)->done);
    assert_int_equal(world_count(w, "events.k8s.io/v1/namespaces/default"), 1);
    world_free(w);
}

static void a_stop_waits_for_what_is_on_the_wire(void **state)
{
    (void)state;
    struct world *w = world_leading();
    preempt(w, "top", "a b");
    preempt(w, "other", "c");
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, GET("c"), 503, "");
    outbox_reset(&w->out);
    binder_stop(w->binder, w->at.now, &w->out);
    world_tick(w);
    assert_true(str_is(preempted(w)->message, "the binder is stopping"));
    assert_true(str_is(preempted(w)->uid, "other"));
    reply(w, DELETE("a"), 200, "{}");
    const struct preempt_result *r = &world_heard(w, MSG_preempt_result, 1)->preempt_result;
    assert_true(str_is(r->uid, "top") && !r->done);
    assert_null(world_find(w, "/pods/"));
    reply(w, "events.k8s.io", 201, "{}"); /* that a went is still told */
    reply(w, "/events", 201, "{}");
    assert_non_null(strstr(world_find(w, "PUT")->body, "\"holderIdentity\":\"\""));
    outbox_reset(&w->out);
    preempt(w, "late", "a");
    assert_true(str_is(preempted(w)->message, "the binder is stopping"));
    world_free(w);
}

static void an_incomplete_request_is_refused(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct eviction e;
    for (int i = 0; i < 6; i++) {
        eviction_of(&e, i == 0 ? "" : "top", i == 5 ? "top" : "a");
        eviction_clears(&e, i == 4 ? "" : "low", "n1");
        if (i == 1)
            e.m.preempt.node_name = STR_LITERAL("");
        if (i == 2)
            e.victims[0].uid = STR_LITERAL("");
        if (i == 3)
            e.victims[0].namespace_name = STR_LITERAL("");
        world_say(w, &e.m, SCHEDULER);
        world_tick(w);
        assert_non_null(strstr(preempted(w)->message.at, "preempt: "));
        assert_null(world_find(w, "/pods/"));
        outbox_reset(&w->out);
    }
    world_free(w);
}

/* ---- binds ---- */

static void a_cancelled_bind_is_answered_once_with_the_reason(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 100; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "b%d", i);
        struct message m = world_bind(uid, uid, "n1");
        world_say(w, &m, SCHEDULER);
    }
    struct message waits = world_bind("ua", "a", "n1"), cancel = {.type = MSG_bind_cancel};
    world_say(w, &waits, SCHEDULER);
    world_tick(w);
    cancel.bind_cancel = (struct bind_cancel){.uid = STR_LITERAL("ua"),
                                              .node_name = STR_LITERAL("n2"),
                                              .reason = STR_LITERAL("no longer wanted")};
    world_say(w, &cancel, SCHEDULER);
    world_tick(w);
    assert_null(world_heard(w, MSG_bind_result, 0)); /* that is another bind */
    cancel.bind_cancel.node_name = STR_LITERAL("n1");
    world_say(w, &cancel, SCHEDULER);
    world_say(w, &cancel, SCHEDULER);
    world_tick(w);
    assert_false(world_result(w)->bound);
    assert_true(str_is(world_result(w)->message, "no longer wanted"));
    outbox_reset(&w->out);
    cancel.bind_cancel.uid = STR_LITERAL("b7"); /* its Binding was sent */
    world_say(w, &cancel, SCHEDULER);
    reply(w, "pods/b7/binding", 201, "{}");
    world_step(w, 2); /* it waits for others */
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* Upstream, too, deletes a pod whose Binding is under way. */
static void a_plain_bind_is_no_reason_to_spare_a_victim(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("a", "a", "n1");
    world_say(w, &m, SCHEDULER);
    preempt(w, "top", "a");
    assert_non_null(world_find(w, GET("a")));
    reply(w, GET("a"), 200, IS_MARKED("a"));
    reply(w, DELETE("a"), 200, "{}");
    assert_true(preempted(w)->done);
    world_free(w);
}

/* ---- chance ---- */

/* Ten pods; terminating ones stay terminating. shown: the binder was told so. */
struct cluster {
    bool terminating[10], shown[10];
};

static void answer_by_chance(struct world *w, struct cluster *c, struct random *r)
{
    static const int errors[] = {500, 503, 429, 409, 403, 404};
    struct world_request *request = world_find(w, "/pods/");
    uint64_t dice = random_below(r, 20);
    const char *path = request->path;
    int i = strstr(path, "/pods/")[6] - 'a';
    char body[512], line[600];
    bool deletes = request->method == KUBE_DELETE;
    snprintf(line, sizeof(line), "%s%s", deletes ? "DELETE " : "", path);
    assert_false(deletes && c->shown[i]);
    if (dice == 0) {
        c->terminating[i] = c->terminating[i] || (deletes && random_below(r, 2));
        world_lose(w, line, true);
    } else if (dice == 1) {
        world_answer(w, line, errors[random_below(r, 6)],
                     "{\"kind\":\"Status\",\"message\":\"chance\"}");
    } else {
        c->terminating[i] = c->terminating[i] || deletes;
        c->shown[i] = c->terminating[i];
        snprintf(body, sizeof(body),
                 "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"%c\"%s},\"status\":{}}", 'a' + i,
                 c->terminating[i] ? ",\"deletionTimestamp\":\"x\"" : "");
        world_answer(w, line, 200, body);
    }
    world_step(w, (int64_t)random_below(r, 40));
}

static void preempt_by_chance(struct world *w, struct random *r, int number)
{
    static const char preemptors[] = "PQRST";
    struct eviction e;
    char victims[32] = "", name[2] = {preemptors[number % 5], 0};
    for (int i = 0; i < 4; i++)
        snprintf(victims + strlen(victims), sizeof(victims) - strlen(victims), "%s%c", i ? " " : "",
                 (char)('a' + (int)random_below(r, 10)));
    eviction_of(&e, name, victims);
    if (random_below(r, 2))
        eviction_clears(&e, name, random_below(r, 2) ? "n1" : "");
    e.lower[0].uid = e.lower[0].name = STR_LITERAL("j");
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
}

/* Whatever is answered: each request is, and no pod is deleted that is known to terminate. */
static void by_chance_every_request_is_answered_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world *w = world_leading();
        struct random r = {seed};
        struct cluster c = {0};
        int asked = 0;
        for (int i = 0; i < 400; i++) {
            world_step(w, (int64_t)random_below(&r, 30));
            if (world_find(w, "PUT") != NULL)
                world_accept_lease(w, "PUT");
            if (i < 200 && asked < 5 && random_below(&r, 10) == 0)
                preempt_by_chance(w, &r, asked++);
            if (world_find(w, "/pods/") != NULL)
                answer_by_chance(w, &c, &r);
        }
        for (int i = 0; i < asked; i++)
            assert_non_null(world_heard(w, MSG_preempt_result, i));
        assert_null(world_heard(w, MSG_preempt_result, asked));
        assert_null(world_find(w, "/pods/"));
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_victim_is_looked_at_marked_deleted_and_told),
        cmocka_unit_test(a_victim_that_the_scheduler_describes_is_marked_without_a_look),
        cmocka_unit_test(who_terminates_in_the_answer_to_the_mark_is_left_alone),
        cmocka_unit_test(an_answer_to_the_mark_that_shows_no_pod_is_looked_after),
        cmocka_unit_test(a_described_victim_that_was_replaced_is_looked_at_and_spared),
        cmocka_unit_test(for_a_group_room_may_be_made_anywhere),
        cmocka_unit_test(the_last_of_several_goes_ahead_of_later_preemptions),
        cmocka_unit_test(all_but_the_last_go_together_then_the_last),
        cmocka_unit_test(who_terminates_already_is_left_alone),
        cmocka_unit_test(with_nobody_to_delete_nothing_is_done),
        cmocka_unit_test(gone_in_the_meantime_is_done_without_an_event),
        cmocka_unit_test(a_marked_pod_that_was_replaced_is_not_deleted),
        cmocka_unit_test(a_lost_delete_is_looked_after),
        cmocka_unit_test(what_may_pass_is_tried_four_times),
        cmocka_unit_test(the_first_failure_stops_what_has_not_begun),
        cmocka_unit_test(events_stand_back_for_evictions),
        cmocka_unit_test(nominations_are_cleared_before_anybody_is_deleted),
        cmocka_unit_test(a_nomination_that_stays_is_told_but_stops_nothing),
        cmocka_unit_test(a_nomination_that_waits_is_taken_back),
        cmocka_unit_test(a_nomination_on_the_wire_is_cleared_behind_it),
        cmocka_unit_test(a_newer_failure_keeps_a_nomination_that_waits),
        cmocka_unit_test(a_bind_of_the_lower_pod_makes_clearing_needless),
        cmocka_unit_test(two_that_want_the_same_pod_delete_it_once),
        cmocka_unit_test(who_shares_goes_on_when_the_other_fails),
        cmocka_unit_test(a_double_request_is_answered_once),
        cmocka_unit_test(a_victim_named_twice_counts_once),
        cmocka_unit_test(a_new_scheduler_hears_of_preemptions_under_way),
        cmocka_unit_test(without_the_lease_nothing_is_written),
        cmocka_unit_test(a_closed_fence_takes_deletions_back),
        cmocka_unit_test(a_stop_waits_for_what_is_on_the_wire),
        cmocka_unit_test(who_fails_again_and_again_is_named),
        cmocka_unit_test(who_has_not_failed_for_a_while_gives_way),
        cmocka_unit_test(an_incomplete_request_is_refused),
        cmocka_unit_test(a_cancelled_bind_is_answered_once_with_the_reason),
        cmocka_unit_test(a_plain_bind_is_no_reason_to_spare_a_victim),
        cmocka_unit_test(by_chance_every_request_is_answered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
