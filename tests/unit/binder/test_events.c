/* Events through the whole core: series, their refreshing and ending, and what the server refuses.
 */
#include "tests/unit/binder/world.h"

#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"

/* Leads without a lease, so that only events move. */
static struct world *quiet(uint32_t keys_max)
{
    struct lease_options lease = world_lease_options;
    lease.elect = false;
    struct world *w = world_new();
    w->binder = binder_new(&(struct binder_options){.lease = lease,
                                                    .api = world_api(w),
                                                    .hostname = "host",
                                                    .event_keys_max = keys_max,
                                                    .seed = 3});
    world_tick(w);
    return w;
}

static void say_failure(struct world *w, const char *uid, int64_t version, const char *text)
{
    struct message m = world_failed(uid, uid, text);
    m.pod_failed.pod.resource_version = version;
    m.pod_failed.event_only = true;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

static const char *body_of(struct world *w, const char *text)
{
    struct world_request *r = world_find(w, text);
    assert_non_null(r);
    return r->body;
}

static void a_failure_is_an_event_named_by_nanoseconds(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    assert_non_null(strstr(body_of(w, "POST " EVENTS), "\"name\":\"p.1886caf21c964970\""));
    assert_non_null(strstr(body_of(w, "POST"), "\"reason\":\"FailedScheduling\""));
    assert_non_null(strstr(body_of(w, "POST"), "\"note\":\"no room\",\"type\":\"Warning\""));
    assert_non_null(strstr(body_of(w, "POST"), "\"resourceVersion\":\"42\""));
    assert_non_null(strstr(body_of(w, "POST"), "\"reportingInstance\":\"default-scheduler-host\""));
    world_free(w);
}

static void a_percent_sign_stays_one(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "boom 100% x");
    assert_non_null(strstr(body_of(w, "POST"), "\"note\":\"boom 100% x\""));
    world_free(w);
}

static void the_second_is_a_series_and_the_third_only_counts(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    world_answer(w, "POST", 201, "{}");
    world_pass(w, 1000);
    say_failure(w, "p", 42, "another text");
    struct world_request *r = world_find(w, "PATCH " EVENTS "/p.1886caf21c964970");
    assert_non_null(r);
    assert_string_equal(
        r->body, "{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-01-02T03:04:06.000006Z\"}}");
    world_answer(w, "PATCH", 200, "{}");
    say_failure(w, "p", 42, "no room");
    assert_null(world_find(w, EVENTS));
    world_free(w);
}

static void another_version_of_the_pod_is_another_event(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    say_failure(w, "p", 43, "no room");
    assert_int_equal(world_count(w, EVENTS), 2);
    char first[2000];
    snprintf(first, sizeof(first), "%s", body_of(w, "POST"));
    world_answer(w, "POST", 201, "{}");
    assert_string_not_equal(first, body_of(w, "POST")); /* names differ within a microsecond */
    world_free(w);
}

static void a_second_one_while_the_first_is_on_the_wire_follows_it(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    say_failure(w, "p", 42, "no room");
    assert_int_equal(world_count(w, EVENTS), 1);
    world_answer(w, "POST", 201, "{}");
    world_tick(w);
    assert_non_null(strstr(body_of(w, "PATCH"), "\"count\":2"));
    world_free(w);
}

static void an_event_that_expired_is_written_anew_with_its_series(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    world_answer(w, "POST", 201, "{}");
    say_failure(w, "p", 42, "no room");
    world_answer(w, "PATCH", 404, "{}");
    world_tick(w);
    assert_non_null(strstr(body_of(w, "POST"), "\"series\":{\"count\":2"));
    world_answer(w, "POST", 409, "{}"); /* somebody made it in between: patch again */
    world_tick(w);
    assert_non_null(world_find(w, "PATCH"));
    world_answer(w, "PATCH", 200, "{}");
    world_tick(w);
    assert_null(world_find(w, EVENTS));
    world_free(w);
}

static void a_silent_series_ends_with_its_final_count(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    world_answer(w, "POST", 201, "{}");
    say_failure(w, "p", 42, "no room");
    world_answer(w, "PATCH", 200, "{}");
    for (int i = 0; i < 5; i++)
        say_failure(w, "p", 42, "no room");
    world_step(w, 361000);
    world_step(w, 361000);
    assert_non_null(strstr(body_of(w, "PATCH"), "\"count\":7"));
    world_answer(w, "PATCH", 200, "{}");
    say_failure(w, "p", 42, "no room");
    assert_non_null(world_find(w, "POST")); /* forgotten: it begins again */
    world_free(w);
}

static void a_live_series_is_refreshed_every_half_hour(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    world_answer(w, "POST", 201, "{}");
    say_failure(w, "p", 42, "no room");
    world_answer(w, "PATCH", 200, "{}");
    for (int minute = 1; minute < 30; minute++) {
        world_pass(w, 60000);
        say_failure(w, "p", 42, "no room");
        assert_null(world_find(w, EVENTS));
    }
    world_step(w, 61000);
    assert_non_null(strstr(body_of(w, "PATCH"), "\"count\":31"));
    world_free(w);
}

static void no_answer_is_tried_twelve_times(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    int tries = 0;
    say_failure(w, "p", 42, "no room");
    for (int s = 0; s < 300; s++) {
        if (world_find(w, "POST") != NULL) {
            world_lose(w, "POST", true);
            tries++;
        }
        world_step(w, 1000);
    }
    assert_int_equal(tries, 12);
    world_free(w);
}

static void a_refused_event_is_not_tried_again(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    say_failure(w, "p", 42, "no room");
    world_answer(w, "POST", 422, "{}");
    for (int s = 0; s < 60; s++)
        world_step(w, 1000);
    assert_null(world_find(w, EVENTS));
    world_free(w);
}

static void the_cache_is_bounded_and_forgets_the_oldest(void **state)
{
    (void)state;
    struct world *w = quiet(10);
    for (int i = 0; i < 50; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "p%d", i);
        say_failure(w, uid, 42, "no room");
        world_answer(w, "POST", 201, "{}");
    }
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "events=keys=10 repeated=0 evicted=40 dropped=0"));
    buffer_free(&lines);
    say_failure(w, "p49", 42, "no room");
    assert_non_null(world_find(w, "PATCH"));
    say_failure(w, "p0", 42, "no room");
    assert_non_null(world_find(w, "POST"));
    world_free(w);
}

static void a_long_message_is_cut(void **state)
{
    (void)state;
    struct world *w = quiet(0);
    char text[3000];
    memset(text, 'x', sizeof(text));
    text[2999] = 0;
    say_failure(w, "p", 42, text);
    const char *note = strstr(body_of(w, "POST"), "\"note\":\"") + 8;
    assert_int_equal(strchr(note, '"') - note, 1024);
    assert_memory_equal(note + 1020, " ...", 4);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_an_event_named_by_nanoseconds),
        cmocka_unit_test(a_percent_sign_stays_one),
        cmocka_unit_test(the_second_is_a_series_and_the_third_only_counts),
        cmocka_unit_test(another_version_of_the_pod_is_another_event),
        cmocka_unit_test(a_second_one_while_the_first_is_on_the_wire_follows_it),
        cmocka_unit_test(an_event_that_expired_is_written_anew_with_its_series),
        cmocka_unit_test(a_silent_series_ends_with_its_final_count),
        cmocka_unit_test(a_live_series_is_refreshed_every_half_hour),
        cmocka_unit_test(no_answer_is_tried_twelve_times),
        cmocka_unit_test(a_refused_event_is_not_tried_again),
        cmocka_unit_test(the_cache_is_bounded_and_forgets_the_oldest),
        cmocka_unit_test(a_long_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
