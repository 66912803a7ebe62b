/* test_expiring: a pod whose binding has ended, and that nobody sees on its node, gives its room
 * back after the time that was set; no other pod does. */
#define ASSUMED_TTL_S 30
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void is_bound(const char *name)
{
    say(binder,
        "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"a\" "
        "bound=true code=201",
        name, name);
}

static bool binds(const char *name)
{
    struct message m;
    return take(BINDER, MSG_bind, &m) && str_is(m.bind.name, name);
}

static void later(int64_t ms)
{
    stream("view synced=true");
    tick_after(ms);
    stream("view synced=true");
}

/* Only a has room for one of them. */
static void who_is_not_seen_in_time_gives_its_room_back(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 4000, 1);
    assert_true(binds("p"));
    is_bound("p");
    later(29999);
    attempt("q", 4000, 2);
    assert_false(binds("q"));
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    later(1);
    assert_true(take(QUEUE, MSG_plugin_back, &m)); /* others may try again */
    attempt("q", 4000, 3);
    assert_true(binds("q"));
}

static void who_was_seen_stays(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 4000, 1);
    assert_true(binds("p"));
    is_bound("p");
    stream("pod_set %s", pod_text("p", 4000, "node_name=\"a\" resource_version=9"));
    later(40000);
    attempt("q", 4000, 2);
    assert_false(binds("q"));
}

static void a_binding_that_has_not_ended_has_all_the_time(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 4000, 1);
    assert_true(binds("p"));
    later(40000);
    is_bound("p");
    later(29999);
    attempt("q", 4000, 2);
    assert_false(binds("q"));
}

static void who_is_shown_late_counts_again(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 4000, 1);
    assert_true(binds("p"));
    is_bound("p");
    later(30000);
    stream("pod_set %s", pod_text("p", 4000, "node_name=\"a\" resource_version=9"));
    attempt("q", 4000, 2);
    assert_false(binds("q"));
}

/* Each has its own time, and the end leaves nothing behind (the sanitizers look). */
static void one_after_the_other(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    attempt("p", 1500, 1);
    assert_true(binds("p"));
    is_bound("p");
    later(20000);
    attempt("q", 1500, 2);
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder,
        "bind_result uid=\"u-q\" namespace_name=\"default\" name=\"q\" node_name=\"%.*s\" "
        "bound=true code=201",
        STR_ARG(m.bind.node_name));
    later(10000);
    assert_true(take(QUEUE, MSG_plugin_back, &m));
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    later(19999);
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    later(1);
    assert_true(take(QUEUE, MSG_plugin_back, &m));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(who_is_not_seen_in_time_gives_its_room_back),
        TEST(who_was_seen_stays),
        TEST(a_binding_that_has_not_ended_has_all_the_time),
        TEST(who_is_shown_late_counts_again),
        TEST(one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
