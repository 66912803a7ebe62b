/* test_catch_up: all that is true by now, of a kind with many objects: the newest version is asked
 * for, and a watch has to come up to it; whatever goes wrong is followed by a list. */
#include "tests/unit/kube/watch/watched.h"

static void set_up_from(void **state, uint32_t catch_up_from, bool protobuf)
{
    struct fixture *f = make(true, protobuf);
    reflector_free(&f->r);
    f->r = reflector_new(&(struct reflector_options){.name = "pods",
                                                     .kind = "Pod",
                                                     .path = "/api/v1/pods",
                                                     .field_selector = "status.phase!=Failed",
                                                     .required = true,
                                                     .protobuf = protobuf,
                                                     .page_size = 2,
                                                     .catch_up_from = catch_up_from,
                                                     .seed = 7,
                                                     .context = f,
                                                     .list_begin = on_begin,
                                                     .object = on_object,
                                                     .deleted = on_deleted,
                                                     .list_end = on_end});
    *state = f;
}

static int setup_one(void **state)
{
    set_up_from(state, 1, false);
    return 0;
}

static int setup_two(void **state)
{
    set_up_from(state, 2, false);
    return 0;
}

static int setup_never(void **state)
{
    set_up_from(state, UINT32_MAX, false);
    return 0;
}

static int setup_default(void **state)
{
    set_up_from(state, 0, false);
    return 0;
}

static int setup_binary(void **state)
{
    set_up_from(state, 1, true);
    return 0;
}

static void assert_asks_version(struct fixture *f)
{
    assert_string_equal(f->path, "/api/v1/pods?limit=1&fieldSelector=status.phase%21%3DFailed");
    assert_false(f->request.watch);
    assert_true(f->request.timeout.ns > 0);
    assert_string_equal(f->request.accept, "application/json");
}

static void assert_catches_up_from(struct fixture *f, const char *version)
{
    assert_watch_from(f, version);
    assert_non_null(strstr(f->path, "&timeoutSeconds=3&"));
}

static void assert_plain_watch_from(struct fixture *f, const char *version)
{
    assert_watch_from(f, version);
    assert_null(strstr(f->path, "&timeoutSeconds=3&"));
}

/* Up to the question for the version; a was told in version 10. */
static void ask(struct fixture *f)
{
    watch(f);
    assert_int_equal(reflector_catch_up(f->r), 2);
    assert_int_equal(reflector_catch_up(f->r), 2); /* not asked yet: shared */
    assert_true(next(f));
    assert_asks_version(f);
    assert_false(next(f));
}

/* Up to the watch that has to reach this version. */
#define CATCH_UP(f, version)                                                                       \
    do {                                                                                           \
        ask(f);                                                                                    \
        pass_ms(f, 5);                                                                             \
        answer(f, 200, LIST(version, "more", OBJECT("z", "9")));                                   \
        assert_told(f, "");                                                                        \
        assert_true(next(f));                                                                      \
        assert_catches_up_from(f, "10");                                                           \
    } while (0)

static void assert_ended(struct fixture *f, uint64_t lists, uint64_t catch_ups)
{
    struct reflector_status s = reflector_status(f->r);
    assert_int_equal(reflector_lists_ended(f->r), lists);
    assert_int_equal(s.catch_ups, catch_ups);
}

static void an_event_reaches_it(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_watching);
    stream(f, EVENT("ADDED", "b", "19"));
    assert_ended(f, 1, 0);
    stream(f, EVENT("DELETED", "a", "20") EVENT("ADDED", "c", "21"));
    assert_ended(f, 2, 1);
    assert_told(f, "+b -a +c"); /* and the watch goes on */
    assert_int_equal(reflector_status(f->r).lists, 1);
    pass_ms(f, 3000);
    answer(f, 200, "");
    assert_true(next(f));
    assert_plain_watch_from(f, "21");
    assert_int_equal(reflector_catch_up(f->r), 3); /* another one */
    assert_true(next(f));
    assert_asks_version(f);
}

static void a_bookmark_reaches_it(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    pass_ms(f, 2200);
    stream(f, EVENT("BOOKMARK", "", "25"));
    assert_ended(f, 2, 1);
    assert_int_equal(reflector_status(f->r).version, 25);
    pass_ms(f, 60000); /* it is late no more */
    assert_false(next(f));
    assert_told(f, "");
}

static void nothing_new_is_reached_at_once(void **state)
{
    struct fixture *f = *state;
    ask(f);
    assert_ended(f, 1, 0);
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    assert_ended(f, 2, 1);
    assert_told(f, "");
    assert_true(next(f));
    assert_plain_watch_from(f, "10");
}

static void the_version_may_come_in_pieces(void **state)
{
    struct fixture *f = *state;
    ask(f);
    for (const char *c = LIST("20", "", ""); *c; c++)
        reflector_data(f->r, f->now, f->request.number, (struct str){c, 1});
    answer(f, 200, "");
    assert_true(next(f));
    assert_catches_up_from(f, "10");
}

static void older_answers_are_ignored(void **state)
{
    struct fixture *f = *state;
    watch(f);
    uint64_t watched = f->request.number;
    reflector_catch_up(f->r);
    reflector_data(f->r, f->now, watched, STR_LITERAL(EVENT("ADDED", "b", "11")));
    assert_true(next(f));
    assert_asks_version(f);
    uint64_t asked = f->request.number;
    reflector_data(f->r, f->now, watched, STR_LITERAL(EVENT("ADDED", "b", "11")));
    answer(f, 200, LIST("20", "", ""));
    assert_true(next(f));
    uint64_t now_number = f->request.number;
    for (uint64_t number = watched; number <= asked; number++) {
        f->request.number = number;
        stream(f, EVENT("ADDED", "b", "30"));
        answer(f, 200, LIST("10", "", OBJECT("x", "9")));
        breaks(f, 0);
    }
    f->request.number = now_number;
    assert_ended(f, 1, 0);
    assert_told(f, "");
    assert_false(next(f));
    stream(f, EVENT("ADDED", "b", "20"));
    assert_ended(f, 2, 1);
    assert_told(f, "+b");
}

/* Who asks while the version is asked for, or the watch is on its way, needs another one. */
static void what_is_asked_meanwhile_is_another_one(void **state)
{
    struct fixture *f = *state;
    ask(f);
    assert_int_equal(reflector_catch_up(f->r), 3);
    answer(f, 200, LIST("10", "", "")); /* at once */
    assert_ended(f, 2, 1);
    assert_true(next(f));
    assert_asks_version(f);
    assert_false(next(f));
    answer(f, 200, LIST("20", "", ""));
    assert_int_equal(reflector_catch_up(f->r), 4); /* before the watch has begun */
    assert_true(next(f));
    assert_int_equal(reflector_catch_up(f->r), 4);
    stream(f, EVENT("ADDED", "b", "20") EVENT("ADDED", "c", "21"));
    assert_ended(f, 3, 2);
    assert_told(f, "+b"); /* the next watch tells the other one */
    assert_true(next(f));
    assert_asks_version(f);
    answer(f, 200, LIST("21", "", ""));
    assert_true(next(f));
    assert_catches_up_from(f, "20");
    stream(f, EVENT("ADDED", "c", "21"));
    assert_ended(f, 4, 3);
    assert_false(next(f));
}

static void assert_lists_as_number(struct fixture *f, uint64_t number)
{
    assert_list_starts(f);
    assert_false(next(f));
    answer(f, 200, LIST("50", "", OBJECT("z", "49")));
    assert_told(f, "[ =z ]");
    assert_ended(f, number, 0);
    assert_true(next(f));
    assert_plain_watch_from(f, "50");
}

static void the_list_answers_who_asked_while_it_failed(void **state)
{
    struct fixture *f = *state;
    ask(f);
    assert_int_equal(reflector_catch_up(f->r), 3);
    refuse(f, 500, -1);
    wait_for_next(f);
    assert_lists_as_number(f, 3);
}

static void a_list_under_way_is_followed_by_a_catch_up(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    answer(f, 200, LIST("10", "more", OBJECT("a", "5")));
    assert_int_equal(reflector_catch_up(f->r), 2);
    assert_true(next(f));
    answer(f, 200, LIST("10", "", ""));
    assert_true(next(f));
    assert_asks_version(f);
    assert_int_equal(reflector_lists_ended(f->r), 1);
}

/* Who heals what the owner has missed needs each object. */
static void a_list_that_is_asked_for_is_one(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    assert_int_equal(reflector_relist(f->r), 3);
    assert_true(next(f));
    assert_list_starts(f);
    assert_int_equal(reflector_catch_up(f->r), 4);
    assert_int_equal(reflector_relist(f->r), 4);
    answer(f, 200, LIST("20", "", OBJECT("a", "5")));
    assert_ended(f, 3, 0);
    assert_true(next(f));
    assert_list_starts(f); /* for both */
    answer(f, 200, LIST("21", "", OBJECT("a", "5")));
    assert_true(next(f));
    assert_plain_watch_from(f, "21");
    reflector_catch_up(f->r);
    reflector_relist(f->r); /* before the version was asked for */
    assert_true(next(f));
    assert_list_starts(f);
}

static void a_version_that_is_not_told_is_listed(void **state)
{
    static const int statuses[] = {400, 401, 403, 404, 410, 429, 500, 503};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct fixture *f = *state;
        ask(f);
        refuse(f, statuses[i], -1);
        wait_for_next(f);
        assert_lists_as_number(f, 3);
        teardown(state);
        setup_one(state);
    }
    struct fixture *f = *state;
    ask(f);
    breaks(f, 0);
    wait_for_next(f);
    assert_lists_as_number(f, 3);
}

static void a_version_that_is_no_version_is_listed(void **state)
{
    static const char *const bodies[] = {"",
                                         "nonsense",
                                         "{}",
                                         "[]",
                                         "{\"metadata\":{\"resourceVersion\":\"x\"},\"items\":[]}",
                                         "{\"metadata\":{\"resourceVersion\":\"20\"},\"items\":7}",
                                         "{\"metadata\":{\"resourceVersion\":\"-1\"}}"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct fixture *f = *state;
        ask(f);
        answer(f, 200, bodies[i]);
        assert_error(f, "the list of one of the pods is malformed");
        assert_int_equal(reflector_status(f->r).malformed, 1);
        wait_for_next(f);
        assert_lists_as_number(f, 3);
        teardown(state);
        setup_one(state);
    }
}

static void an_older_version_is_listed(void **state)
{
    struct fixture *f = *state;
    ask(f);
    answer(f, 200, LIST("9", "", ""));
    assert_ended(f, 1, 0);
    assert_true(next(f));
    assert_list_starts(f);
    answer(f, 200, LIST("9", "", "")); /* not believed at first, like any list */
    wait_for_next(f);
    assert_lists_as_number(f, 4);
}

static void a_watch_that_is_too_old_lists(void **state)
{
    for (int event = 0; event < 2; event++) {
        struct fixture *f = *state;
        CATCH_UP(f, "20");
        if (event)
            stream(f, ERROR_EVENT("410"));
        else
            refuse(f, 410, -1);
        assert_true(next(f));
        assert_lists_as_number(f, 3);
        teardown(state);
        setup_one(state);
    }
}

/* Which says nothing of the server: the next one may be tried so. */
static void a_watch_that_fails_lists(void **state)
{
    static const int statuses[] = {400, 401, 403, 404, 429, 500, 503, 0, 200};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct fixture *f = *state;
        CATCH_UP(f, "20");
        if (statuses[i] % 200 == 0)
            breaks(f, statuses[i]);
        else
            refuse(f, statuses[i], -1);
        if (!next(f))
            wait_for_next(f);
        assert_lists_as_number(f, 3);
        reflector_catch_up(f->r);
        assert_true(next(f));
        assert_asks_version(f);
        teardown(state);
        setup_one(state);
    }
}

static void events_that_are_no_good_list(void **state)
{
    static const char *const events[] = {ERROR_EVENT("503"), ERROR_EVENT("429"), "garbage\n"};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct fixture *f = *state;
        CATCH_UP(f, "20");
        stream(f, events[i]);
        if (!next(f))
            wait_for_next(f);
        assert_lists_as_number(f, 3);
        teardown(state);
        setup_one(state);
    }
}

/* A server that tells no progress costs the seconds once. */
static void a_watch_that_ends_before_lists_and_is_not_tried_again(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    stream(f, EVENT("MODIFIED", "a", "15"));
    assert_told(f, "+a");
    pass_ms(f, 3000);
    answer(f, 200, "");
    assert_true(next(f));
    assert_lists_as_number(f, 3);
    reflector_catch_up(f->r);
    assert_true(next(f));
    assert_list_starts(f);
}

/* As when the server is stopped. */
static void a_watch_that_ends_too_early_lists_but_is_tried_again(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    pass_ms(f, 500);
    answer(f, 200, "");
    assert_true(next(f));
    assert_lists_as_number(f, 3);
    reflector_catch_up(f->r);
    assert_true(next(f));
    assert_asks_version(f);
}

static void a_watch_that_does_not_end_is_late(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    uint64_t late = f->request.number;
    assert_int_equal(wait_for_next(f), 4000);
    reflector_data(f->r, f->now, late, STR_LITERAL(EVENT("ADDED", "late", "20")));
    assert_lists_as_number(f, 3);
    reflector_catch_up(f->r);
    assert_true(next(f)); /* its connection may have been dead */
    assert_asks_version(f);
}

static void a_dead_connection_is_replaced_once(void **state)
{
    struct fixture *f = *state;
    ask(f);
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_asks_version(f);
    reflector_reconnect(f->r, f->now, "a test");
    assert_false(next(f));
    answer(f, 200, LIST("20", "", ""));
    assert_true(next(f));
    assert_catches_up_from(f, "10");
    stream(f, EVENT("ADDED", "b", "15"));
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_catches_up_from(f, "15"); /* it still has to reach the same */
    stream(f, EVENT("ADDED", "c", "20"));
    assert_ended(f, 3, 1);
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_plain_watch_from(f, "20");
}

static void a_second_dead_connection_lists(void **state)
{
    struct fixture *f = *state;
    CATCH_UP(f, "20");
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_catches_up_from(f, "10");
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_list_starts(f);
    reflector_reconnect(f->r, f->now, "a test");
    assert_true(next(f));
    assert_lists_as_number(f, 4);
}

static void few_objects_are_listed(void **state)
{
    struct fixture *f = *state;
    watch(f);
    reflector_catch_up(f->r);
    assert_true(next(f));
    assert_list_starts(f);
}

static void objects_that_come_and_go_count(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, EVENT("ADDED", "b", "11") EVENT("MODIFIED", "b", "12"));
    reflector_catch_up(f->r);
    assert_true(next(f));
    assert_asks_version(f);
    answer(f, 200, LIST("12", "", ""));
    assert_true(next(f));
    stream(f, EVENT("DELETED", "b", "13"));
    reflector_catch_up(f->r);
    assert_true(next(f));
    assert_list_starts(f);
}

/* It waits as long as the watch would have: the server may be in trouble. */
static void a_watch_that_waits_is_replaced_when_it_may_be(void **state)
{
    struct fixture *f = *state;
    watch(f);
    refuse(f, 503, 7);
    reflector_catch_up(f->r);
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_waiting);
    assert_in_range(wait_for_next(f), 7000, 8000);
    assert_asks_version(f);
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_listing);
}

/* The version alone is always JSON. */
static void with_protobuf_too(void **state)
{
    struct fixture *f = *state;
    ask(f);
    answer(f, 200, LIST("20", "", ""));
    assert_true(next(f));
    assert_catches_up_from(f, "10");
    assert_non_null(strstr(f->request.accept, "protobuf"));
    stream(f, EVENT("BOOKMARK", "", "20"));
    assert_ended(f, 2, 1);
    reflector_catch_up(f->r);
    assert_true(next(f));
    answer(f, 200, "nonsense");
    wait_for_next(f);
    assert_list_starts(f);
    assert_non_null(strstr(f->request.accept, "protobuf")); /* which was not to blame */
}

#define TEST(name)       cmocka_unit_test_setup_teardown(name, setup_one, teardown)
#define WITH(name, from) cmocka_unit_test_setup_teardown(name, setup_##from, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(an_event_reaches_it),
        TEST(a_bookmark_reaches_it),
        TEST(nothing_new_is_reached_at_once),
        TEST(the_version_may_come_in_pieces),
        TEST(older_answers_are_ignored),
        TEST(what_is_asked_meanwhile_is_another_one),
        TEST(the_list_answers_who_asked_while_it_failed),
        TEST(a_list_under_way_is_followed_by_a_catch_up),
        TEST(a_list_that_is_asked_for_is_one),
        TEST(a_version_that_is_not_told_is_listed),
        TEST(a_version_that_is_no_version_is_listed),
        TEST(an_older_version_is_listed),
        TEST(a_watch_that_is_too_old_lists),
        TEST(a_watch_that_fails_lists),
        TEST(events_that_are_no_good_list),
        TEST(a_watch_that_ends_before_lists_and_is_not_tried_again),
        TEST(a_watch_that_ends_too_early_lists_but_is_tried_again),
        TEST(a_watch_that_does_not_end_is_late),
        TEST(a_dead_connection_is_replaced_once),
        TEST(a_second_dead_connection_lists),
        TEST(a_watch_that_waits_is_replaced_when_it_may_be),
        WITH(few_objects_are_listed, two),
        WITH(few_objects_are_listed, never),
        WITH(few_objects_are_listed, default),
        WITH(objects_that_come_and_go_count, two),
        WITH(with_protobuf_too, binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
