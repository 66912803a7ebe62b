/* test_following: the coordinator decides as the API server's release: when it knows it, when
 * another one is told, and when none is. The test is the owner of the configuration, too. */
#define FOLLOWS       true
#define EXTRA_PROFILE " features={release=36}"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

static void read_as(int64_t minor, const char *left)
{
    struct outbox out = {0};
    char text[1024];
    snprintf(text, sizeof(text), "%s", profile_text);
    char *release = strstr(text, "release=36");
    assert_non_null(release);
    release[strlen("release=3")] = (char)('0' + minor % 10);
    struct message m = message(text);
    struct coordinator_config config = {.profiles = m.shard_reset.profiles.at,
                                        .profile_count = m.shard_reset.profiles.count,
                                        .hash = 42,
                                        .gates_left = left};
    coordinator_reconfigure(w.coordinator, w.now, &config, &out);
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

static bool binds(void)
{
    struct message m;
    return take(BINDER, MSG_bind, &m);
}

static void expect_status(const char *line)
{
    struct buffer lines = {0};
    coordinator_status(w.coordinator, &lines);
    if (strstr(lines.at, line) == NULL)
        fail_msg("no \"%s\" in %s", line, lines.at);
    buffer_free(&lines);
}

/* Another release is wanted: the configuration is read as of that one. */
static void expect_change_to(int64_t minor)
{
    assert_true(coordinator_release_changes(w.coordinator));
    assert_int_equal(coordinator_release(w.coordinator), minor);
    read_as(minor, NULL);
    assert_false(coordinator_release_changes(w.coordinator));
}

static void view_is_fresh(void)
{
    stream("view synced=true");
}

static void nothing_is_decided_before_the_release_is_known(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 500, 1);
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "the API server's version");
    expect_status("release=unknown\napi_server=unknown\n");
    assert_false(binds());
    stream("server_version major=1 minor=37 git_version=\"v1.37.2\"");
    assert_false(binds()); /* nor with what was read as of another release */
    expect_change_to(37);
    assert_true(binds());
    expect_status("release=1.37\napi_server=v1.37.2\n");
}

static void a_release_that_is_there_already_is_decided_as_at_once(void **state)
{
    (void)state;
    lead(5);
    attempt("p", 500, 1);
    stream("server_version major=1 minor=36");
    assert_false(coordinator_release_changes(w.coordinator));
    assert_true(binds());
    expect_status("release=1.36\napi_server=v1.36\n");
}

static void a_server_that_never_tells_it_is_taken_for_a_new_one(void **state)
{
    (void)state;
    lead(5);
    stream("server_version problem=\"the API server answers 404 to /version\"");
    tick_after(9900);
    assert_false(coordinator_release_changes(w.coordinator));
    tick_after(200);
    expect_change_to(37);
    expect_status("release_note=the API server does not tell its version, taken as 1.37\n");
    stream("server_version major=1 minor=36"); /* but it may yet */
    expect_change_to(36);
}

static void a_version_without_a_table_is_the_nearest_one(void **state)
{
    (void)state;
    lead(5);
    stream("server_version major=1 minor=39 git_version=\"v1.39.0\"");
    expect_change_to(37);
    expect_status("release_note=the API server is 1.39, taken as 1.37\n");
    tick_after(31000);
    stream("server_version major=1 minor=34 git_version=\"v1.34.0\"");
    expect_change_to(36);
    expect_status("release_note=the API server is 1.34, taken as 1.36\n");
}

/* Two API servers of different versions behind one address. */
static void it_does_not_change_to_and_fro_without_a_pause(void **state)
{
    (void)state;
    lead(5);
    stream("server_version major=1 minor=37");
    expect_change_to(37);
    stream("server_version major=1 minor=36");
    assert_false(coordinator_release_changes(w.coordinator));
    tick_after(29900);
    assert_false(coordinator_release_changes(w.coordinator));
    stream("server_version major=1 minor=37");
    tick_after(200); /* and by then it is none any more */
    assert_false(coordinator_release_changes(w.coordinator));
    stream("server_version major=1 minor=36");
    expect_change_to(36);
}

static void a_decision_under_way_begins_again_as_the_new_release(void **state)
{
    (void)state;
    lead(5);
    stream("server_version major=1 minor=36");
    w.paused = true; /* workers have been asked and do not answer */
    attempt("p", 500, 1);
    attempt("q", 500, 2);
    tick_after(31000);
    view_is_fresh();
    stream("server_version major=1 minor=37");
    expect_change_to(37);
    assert_false(binds());
    resume();
    tick_after(1);
    assert_true(binds());
    assert_true(binds());
    assert_false(binds()); /* each once */
}

static void a_configuration_that_the_release_refuses_leaves_the_former_one(void **state)
{
    (void)state;
    lead(5);
    stream("server_version major=1 minor=37");
    assert_true(coordinator_release_changes(w.coordinator));
    coordinator_config_refused(w.coordinator);
    assert_false(coordinator_release_changes(w.coordinator));
    assert_int_equal(coordinator_release(w.coordinator), 37); /* for the next file */
    attempt("p", 500, 1);
    assert_true(binds());
    expect_status("release=1.36\n");
    expect_status("release_note=the configuration is refused as of 1.37, taken as 1.36\n");
    read_as(37, NULL);
    expect_status("release=1.37\n");
}

static void gates_that_are_left_out_are_told(void **state)
{
    (void)state;
    stream("server_version major=1 minor=37");
    read_as(37, "GangScheduling=true");
    expect_status("release_note=feature gates without a place in 1.37 are left out: "
                  "GangScheduling=true\n");
    read_as(37, "");
    struct buffer lines = {0};
    coordinator_status(w.coordinator, &lines);
    assert_null(strstr(lines.at, "release_note"));
    buffer_free(&lines);
}

/* Another life of the watcher does not know it yet, and may hear nonsense first. */
static void what_was_known_stays(void **state)
{
    (void)state;
    lead(5);
    stream("server_version major=1 minor=36");
    stream("server_version problem=\"the API server answers 500 to /version\"");
    tick_after(20000);
    view_is_fresh();
    assert_false(coordinator_release_changes(w.coordinator));
    expect_status("release=1.36\napi_server=v1.36\n");
    attempt("p", 500, 1);
    assert_true(binds());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_decided_before_the_release_is_known),
        TEST(a_release_that_is_there_already_is_decided_as_at_once),
        TEST(a_server_that_never_tells_it_is_taken_for_a_new_one),
        TEST(a_version_without_a_table_is_the_nearest_one),
        TEST(it_does_not_change_to_and_fro_without_a_pause),
        TEST(a_decision_under_way_begins_again_as_the_new_release),
        TEST(a_configuration_that_the_release_refuses_leaves_the_former_one),
        TEST(gates_that_are_left_out_are_told),
        TEST(what_was_known_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
