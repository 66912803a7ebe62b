/* The PodScheduled patches through the whole core: when one is sent, replaced, retried or not. */
#include "tests/unit/binder/world.h"

#define PATCH_A "PATCH /api/v1/namespaces/default/pods/a/status"

static void say_failure(struct world *w, const char *uid, const char *text)
{
    struct message m = world_failed(uid, uid, text);
    world_say(w, &m, SCHEDULER);
}

static void a_failure_is_patched(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_failure(w, "a", "no room");
    world_tick(w);
    struct world_request *r = world_find(w, PATCH_A);
    assert_non_null(strstr(r->body, "\"message\":\"no room\",\"observedGeneration\":1"));
    assert_non_null(strstr(r->body, "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\""));
    world_free(w);
}

static void what_the_pod_has_already_is_not_written(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_failed("a", "a", "no room");
    m.pod_failed.pod.scheduled = (struct condition){.status = STR_LITERAL("False"),
                                                    .reason = STR_LITERAL("Unschedulable"),
                                                    .message = STR_LITERAL("no room")};
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    assert_non_null(world_find(w, "POST /apis/events.k8s.io")); /* the event is written */
    world_free(w);
}

static void a_newer_failure_replaces_one_that_waits(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 16; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "x%d", i);
        say_failure(w, uid, "no room");
    }
    say_failure(w, "a", "first");
    say_failure(w, "a", "second");
    world_tick(w);
    assert_null(world_find(w, PATCH_A));
    world_answer(w, "PATCH", 200, "{}");
    world_tick(w);
    assert_non_null(strstr(world_find(w, PATCH_A)->body, "second"));
    world_answer(w, PATCH_A, 200, "{}");
    world_tick(w);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void a_newer_failure_follows_one_on_the_wire(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_failure(w, "a", "first");
    world_tick(w);
    say_failure(w, "a", "second");
    say_failure(w, "a", "third");
    world_tick(w);
    assert_int_equal(world_count(w, "/status"), 1);
    world_answer(w, PATCH_A, 200, "{}");
    world_tick(w);
    assert_non_null(strstr(world_find(w, PATCH_A)->body, "third"));
    world_answer(w, PATCH_A, 200, "{}");
    world_tick(w);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void passing_errors_are_tried_four_times_with_upstreams_pauses(void **state)
{
    (void)state;
    static const int codes[] = {500, 503, 409};
    struct world *w = world_leading();
    say_failure(w, "a", "no room");
    world_tick(w);
    int64_t pauses[] = {10, 50, 250};
    for (int i = 0; i < 3; i++) {
        world_answer(w, PATCH_A, codes[i], "{}");
        world_step(w, pauses[i] - 1);
        assert_null(world_find(w, PATCH_A));
        world_step(w, pauses[i] / 10 + 2);
        assert_non_null(world_find(w, PATCH_A));
    }
    world_answer(w, PATCH_A, 500, "{}");
    world_step(w, 5000);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void other_errors_are_not_tried_again(void **state)
{
    (void)state;
    static const int codes[] = {400, 403, 404, 422};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct world *w = world_leading();
        say_failure(w, "a", "no room");
        world_tick(w);
        world_answer(w, PATCH_A, codes[i], "{}");
        world_step(w, 1000);
        assert_null(world_find(w, PATCH_A));
        say_failure(w, "a", "no room"); /* and the next failure is written as usual */
        world_tick(w);
        assert_non_null(world_find(w, PATCH_A));
        world_free(w);
    }
}

static void a_failed_patch_lets_the_bind_go(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("a", "a", "n1");
    say_failure(w, "a", "no room");
    world_tick(w);
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 0);
    world_answer(w, PATCH_A, 503, "{}"); /* not tried again: the bind is what matters now */
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    world_step(w, 1000);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void a_failure_behind_a_blocked_bind_is_sent_when_the_bind_fails(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("a", "a", "n1");
    say_failure(w, "a", "first");
    world_tick(w);
    world_say(w, &m, SCHEDULER);
    say_failure(w, "a", "second"); /* while the first patch is on the wire and the bind waits */
    world_answer(w, PATCH_A, 200, "{}");
    world_tick(w);
    assert_null(world_find(w, PATCH_A));
    world_answer(w, "/binding", 422, "{}");
    world_tick(w);
    assert_non_null(strstr(world_find(w, PATCH_A)->body, "second"));
    world_free(w);
}

static void say_cleared(struct world *w, const char *text, bool clears)
{
    struct message m = world_failed("a", "a", text);
    m.pod_failed.pod.nominated_node = STR_LITERAL("n2");
    m.pod_failed.set_nominated = clears;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

static bool clears(struct world *w)
{
    return strstr(world_find(w, PATCH_A)->body, "\"nominatedNodeName\":null") != NULL;
}

/* A failure is said again by the next attempt; that the pod is nominated no more is not. */
static void a_nomination_whose_answer_is_lost_is_written_again(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_cleared(w, "no room", true);
    assert_true(clears(w));
    world_lose(w, PATCH_A, true);
    world_step(w, 20);
    assert_true(clears(w));
    world_answer(w, PATCH_A, 200, "{}");
    say_failure(w, "a", "no room at all");
    world_tick(w);
    world_lose(w, PATCH_A, true);
    world_step(w, 1000);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void a_nomination_that_was_refused_goes_with_the_next_failure(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct world *w = world_leading();
        say_cleared(w, "first", true);
        say_cleared(w, "second", again == 1);
        world_answer(w, PATCH_A, 500, "{}");
        world_tick(w);
        assert_non_null(strstr(world_find(w, PATCH_A)->body, "second"));
        assert_true(clears(w));
        world_free(w);
    }
}

/* The pod is nominated to n2 by its status, to nothing by the patch on the wire, to n2 again by
 * the next failure. */
static struct world *world_renominated(void)
{
    struct world *w = world_leading();
    struct message m = world_failed("a", "a", "");
    m.pod_failed.pod.nominated_node = m.pod_failed.nominated_node = STR_LITERAL("n2");
    m.pod_failed.set_nominated = m.pod_failed.event_only = true;
    say_cleared(w, "first", true);
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static void a_nomination_that_is_back_is_written_when_the_patch_between_may_be_there(void **state)
{
    (void)state;
    struct world *w = world_renominated();
    world_lose(w, PATCH_A, true);
    world_tick(w);
    assert_non_null(strstr(world_find(w, PATCH_A)->body, "\"nominatedNodeName\":\"n2\""));
    world_answer(w, PATCH_A, 200, "{}");
    world_step(w, 1000);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

static void a_nomination_that_is_back_needs_no_patch_when_the_one_between_was_refused(void **state)
{
    (void)state;
    struct world *w = world_renominated();
    world_answer(w, PATCH_A, 429, "{}");
    world_tick(w); /* the failure's text is all that is left to be written */
    assert_non_null(strstr(world_find(w, PATCH_A)->body, "first"));
    assert_null(strstr(world_find(w, PATCH_A)->body, "nominatedNodeName"));
    world_free(w);
}

/* As above, but nothing else was to be written. */
static void what_is_there_again_is_not_written(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_failed("a", "a", "");
    m.pod_failed.pod.nominated_node = STR_LITERAL("n2");
    m.pod_failed.set_nominated = m.pod_failed.event_only = true;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_true(clears(w));
    m.pod_failed.nominated_node = STR_LITERAL("n2");
    world_say(w, &m, SCHEDULER);
    world_answer(w, PATCH_A, 429, "{}");
    world_step(w, 1000);
    assert_null(world_find(w, PATCH_A));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_patched),
        cmocka_unit_test(what_the_pod_has_already_is_not_written),
        cmocka_unit_test(a_newer_failure_replaces_one_that_waits),
        cmocka_unit_test(a_newer_failure_follows_one_on_the_wire),
        cmocka_unit_test(passing_errors_are_tried_four_times_with_upstreams_pauses),
        cmocka_unit_test(other_errors_are_not_tried_again),
        cmocka_unit_test(a_failed_patch_lets_the_bind_go),
        cmocka_unit_test(a_failure_behind_a_blocked_bind_is_sent_when_the_bind_fails),
        cmocka_unit_test(a_nomination_whose_answer_is_lost_is_written_again),
        cmocka_unit_test(a_nomination_that_was_refused_goes_with_the_next_failure),
        cmocka_unit_test(a_nomination_that_is_back_is_written_when_the_patch_between_may_be_there),
        cmocka_unit_test(a_nomination_that_is_back_needs_no_patch_when_the_one_between_was_refused),
        cmocka_unit_test(what_is_there_again_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
