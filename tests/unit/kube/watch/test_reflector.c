/* test_reflector: lists, watches and all that goes wrong with them, in JSON. */
#include "tests/unit/kube/watch/watched.h"

static int setup_absent(void **state)
{
    *state = make_any(false, false, true);
    return 0;
}

static int setup_optional(void **state)
{
    *state = make(false, false);
    return 0;
}

static void lists_in_pages_and_then_watches(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    assert_list_starts(f);
    assert_false(next(f));
    answer(f, 200, LIST("10", "a/b=", OBJECT("a", "5") "," OBJECT("b", "6")));
    assert_false(reflector_status(f->r).listed);
    assert_true(next(f));
    assert_string_equal(f->path, "/api/v1/pods?limit=2&fieldSelector=status.phase%21%3DFailed"
                                 "&continue=a%2Fb%3D");
    answer(f, 200, LIST("10", "", OBJECT("c", "7")));
    assert_told(f, "[ =a =b =c ]");
    assert_true(reflector_status(f->r).listed);
    assert_int_equal(reflector_status(f->r).version, 10);
    assert_true(next(f));
    assert_watch_from(f, "10");
    assert_non_null(strstr(f->path, "&fieldSelector=status.phase%21%3DFailed"));
    const char *timeout = strstr(f->path, "timeoutSeconds=");
    assert_non_null(timeout);
    assert_in_range(strtol(timeout + strlen("timeoutSeconds="), NULL, 10), 300, 600);
}

static void an_empty_list_may_be_null(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    answer(f, 200, "{\"metadata\":{\"resourceVersion\":\"3\"},\"items\":null}");
    assert_told(f, "[ ]");
    assert_true(next(f));
    assert_watch_from(f, "3");
}

static void an_expired_continue_starts_the_list_again(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    answer(f, 200, LIST("10", "more", OBJECT("a", "5")));
    assert_true(next(f));
    answer(f, 410, "{\"kind\":\"Status\",\"code\":410}");
    assert_true(next(f)); /* the first time at once */
    assert_null(strstr(f->path, "continue="));
    answer(f, 200, LIST("20", "", OBJECT("b", "15")));
    assert_told(f, "[ =a [ =b ]");
    assert_int_equal(reflector_lists_ended(f->r), 2);
}

/* At once or when it wants to. */
static void soon(struct fixture *f)
{
    if (!next(f))
        wait_for_next(f);
}

/* Else a list that takes longer than the server keeps its version would never end. */
static void a_list_that_expires_goes_on_in_larger_pages(void **state)
{
    struct fixture *f = *state;
    static const char *const limits[] = {"?limit=8&", "?limit=32&", "?limit=128&", "?limit=512&",
                                         "?limit=512&"};
    soon(f);
    for (int i = 0; i < 5; i++) {
        answer(f, 200, LIST("10", "more", OBJECT("a", "5")));
        soon(f);
        assert_non_null(strstr(f->path, "&continue=more"));
        answer(f, 410, "{\"kind\":\"Status\",\"code\":410}");
        soon(f);
        assert_non_null(strstr(f->path, limits[i]));
        assert_null(strstr(f->path, "continue="));
    }
}

/* And back: one that is too much for the server must not be asked for again and again. */
static void larger_pages_last_until_one_fails_or_the_list_ends(void **state)
{
    struct fixture *f = *state;
    soon(f);
    for (int i = 0; i < 2; i++) {
        answer(f, 410, "");
        soon(f);
    }
    assert_non_null(strstr(f->path, "?limit=32&"));
    refuse(f, 504, -1);
    soon(f);
    assert_non_null(strstr(f->path, "?limit=8&"));
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    soon(f);
    stream(f, ERROR_EVENT("410"));
    soon(f);
    assert_list_starts(f);
}

static void a_page_that_failed_is_asked_again(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    answer(f, 200, LIST("10", "more", OBJECT("a", "5")));
    assert_true(next(f));
    refuse(f, 500, -1);
    wait_for_next(f);
    assert_non_null(strstr(f->path, "&continue=more"));
    answer(f, 200, LIST("10", "", OBJECT("b", "6")));
    assert_told(f, "[ =a =b ]");
}

static void events_arrive_in_any_pieces(void **state)
{
    struct fixture *f = *state;
    watch(f);
    const char *text = EVENT("ADDED", "b", "11")
        EVENT("MODIFIED", "b", "12") "\n" EVENT("DELETED", "a", "13") EVENT("BOOKMARK", "", "20");
    for (const char *c = text; *c; c++)
        reflector_data(f->r, f->now, f->request.number, (struct str){c, 1});
    assert_told(f, "+b +b -a");
    assert_int_equal(reflector_status(f->r).version, 20);
    assert_int_equal(reflector_status(f->r).events, 3);
    assert_int_equal(reflector_status(f->r).bookmarks, 1);
}

static void a_clean_end_resumes_from_the_version_reached(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, EVENT("ADDED", "b", "11") EVENT("BOOKMARK", "", "42"));
    answer(f, 200, "");
    assert_true(next(f));
    assert_watch_from(f, "42");
    assert_told(f, "+b");
    assert_int_equal(reflector_lists_ended(f->r), 1);
}

static void a_watch_that_ends_as_it_begins_backs_off(void **state)
{
    struct fixture *f = *state;
    watch(f);
    answer(f, 200, "");
    int64_t first = wait_for_next(f);
    assert_in_range(first, 800, 1200);
    assert_watch_from(f, "10");
    answer(f, 200, "");
    assert_in_range(wait_for_next(f), 1600, 2400);
    pass_ms(f, 5000); /* this one lasts */
    answer(f, 200, "");
    assert_true(next(f));
}

static void a_broken_watch_waits_and_resumes(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, EVENT("ADDED", "b", "11") "{\"type\":\"ADD");
    breaks(f, 200);
    assert_error(f, "cannot watch pods: https://a: connection refused");
    assert_in_range(wait_for_next(f), 800, 1200);
    assert_watch_from(f, "11");
    stream(f, EVENT("ADDED", "c", "12"));
    assert_told(f, "+b +c");
    assert_error(f, "");
}

static void waits_grow_to_thirty_seconds_and_reset_after_success(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    int64_t longest = 0, before = 0;
    for (int i = 0; i < 12; i++) {
        breaks(f, 0);
        int64_t ms = wait_for_next(f);
        assert_in_range(ms, 800, 30000);
        assert_true(i > 4 || ms > before);
        before = ms;
        longest = ms > longest ? ms : longest;
    }
    assert_in_range(longest, 20000, 30000);
    answer(f, 200, LIST("10", "", ""));
    assert_true(next(f));
    stream(f, EVENT("BOOKMARK", "", "11"));
    breaks(f, 200);
    assert_in_range(wait_for_next(f), 800, 1200);
}

static void retry_after_is_honoured(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    refuse(f, 429, 17);
    assert_error(f, "cannot list pods: HTTP 429: because");
    assert_in_range(wait_for_next(f), 17000, 18000);
    refuse(f, 503, 100000);
    assert_in_range(wait_for_next(f), 600000, 601000); /* ten minutes at most */
}

static void a_watch_that_is_too_old_lists_again(void **state)
{
    struct fixture *f = *state;
    watch(f);
    refuse(f, 410, -1);
    assert_true(next(f));
    assert_list_starts(f);
    answer(f, 200, LIST("50", "", OBJECT("z", "49")));
    assert_told(f, "[ =z ]");
    assert_true(next(f));
    assert_watch_from(f, "50");
    stream(f, ERROR_EVENT("410"));
    wait_for_next(f); /* the second time in a row it waits */
    assert_list_starts(f);
}

static void nothing_behind_an_error_event_is_read(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, ERROR_EVENT("410") EVENT("ADDED", "late", "99"));
    stream(f, EVENT("ADDED", "later", "100"));
    assert_told(f, "");
    assert_int_equal(reflector_status(f->r).version, 10);
    answer(f, 200, ""); /* the end of the stream that was given up changes nothing */
    assert_true(next(f));
    assert_list_starts(f);
}

static void an_error_event_of_a_busy_server_resumes_the_watch(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, "{\"type\":\"ERROR\",\"object\":{\"code\":429,\"message\":\"busy\","
              "\"details\":{\"retryAfterSeconds\":9}}}\n");
    assert_in_range(wait_for_next(f), 9000, 10000);
    assert_watch_from(f, "10");
    stream(f, ERROR_EVENT("500"));
    wait_for_next(f);
    assert_watch_from(f, "10");
    stream(f, ERROR_EVENT("400"));
    assert_true(next(f));
    assert_list_starts(f);
}

static void malformed_events_are_refused_and_listed_anew(void **state)
{
    static const char *const lines[] = {
        "{\"type\":\n",
        "[]\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"x1\"}}}\n",
        "{\"type\":\"MELTED\",\"object\":" OBJECT("x", "12") "}\n",
        "\x01\x02\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct fixture *f = *state;
        watch(f);
        stream(f, EVENT("ADDED", "good", "11"));
        stream(f, lines[i]);
        assert_told(f, "+good");
        assert_int_equal(reflector_status(f->r).malformed, 1);
        assert_true(next(f));
        assert_list_starts(f);
        teardown(state);
        setup(state);
    }
}

static void malformed_lists_are_refused_and_asked_again(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "[]",
        "{\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":{}}",
        "<html>",
    };
    struct fixture *f = *state;
    assert_true(next(f));
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        answer(f, 200, bodies[i]);
        assert_int_equal(reflector_status(f->r).malformed, i + 1);
        wait_for_next(f);
        assert_list_starts(f);
    }
    assert_told(f, "");
}

/* Without any change of a kind, the API server has no bookmarks for it. */
static void an_optional_kind_that_never_changes_may_be_silent(void **state)
{
    struct fixture *f = *state;
    watch(f);
    const char *seconds = strstr(f->path, "timeoutSeconds=");
    assert_non_null(seconds);
    int64_t watch_ms = strtol(seconds + strlen("timeoutSeconds="), NULL, 10) * 1000;
    pass_ms(f, watch_ms + 89999);
    assert_false(next(f));
    pass_ms(f, 1);
    assert_true(next(f)); /* the server did not even end it */
    assert_true(f->request.distrust);
    stream(f, EVENT("BOOKMARK", "", "30"));
    pass_ms(f, 90000);
    assert_true(next(f)); /* this one had something to say once */
}

static void a_silent_watch_is_made_anew_on_a_new_connection(void **state)
{
    struct fixture *f = *state;
    watch(f);
    pass_ms(f, 60000);
    stream(f, EVENT("BOOKMARK", "", "30"));
    pass_ms(f, 89999);
    assert_false(next(f));
    assert_int_equal(reflector_deadline(f->r).ns, f->now.ns + 1000000);
    pass_ms(f, 1);
    assert_true(next(f));
    assert_watch_from(f, "30");
    assert_true(f->request.distrust);
    assert_int_equal(reflector_status(f->r).stale, 1);
    stream(f, EVENT("BOOKMARK", "", "31"));
    answer(f, 200, "");
    assert_true(next(f));
    assert_false(f->request.distrust);
}

static void any_byte_counts_as_hearing(void **state)
{
    struct fixture *f = *state;
    watch(f);
    pass_ms(f, 10);
    stream(f, ""); /* the answer has begun */
    assert_int_equal(reflector_status(f->r).heard.ns, f->now.ns);
    for (int i = 0; i < 10; i++) {
        pass_ms(f, 80000);
        assert_false(next(f));
        stream(f, " ");
    }
}

static void a_probe_that_was_answered_is_no_sign_of_the_watch_itself(void **state)
{
    struct fixture *f = *state;
    watch(f);
    for (int i = 0; i < 17; i++) {
        pass_ms(f, 5000);
        reflector_alive(f->r, f->now);
        assert_int_equal(reflector_status(f->r).heard.ns, f->now.ns);
        assert_false(next(f));
    }
    pass_ms(f, 5000);
    assert_true(next(f));
    assert_true(f->request.distrust);
}

static void a_server_that_is_back_is_asked_soon(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    for (int i = 0; i < 8; i++) {
        breaks(f, 0);
        wait_for_next(f);
    }
    breaks(f, 0);
    reflector_alive(f->r, f->now);
    assert_in_range(wait_for_next(f), 0, 200);
    refuse(f, 503, 20); /* one that asked us to wait is not hurried */
    reflector_alive(f->r, f->now);
    assert_in_range(wait_for_next(f), 20000, 31000);
}

static void a_restarted_server_does_not_slow_down_the_list(void **state)
{
    struct fixture *f = *state;
    watch(f);
    breaks(f, 200);
    for (int i = 0; i < 4; i++) {
        wait_for_next(f);
        breaks(f, 0);
    }
    wait_for_next(f);
    refuse(f, 403, -1); /* its rules are not loaded yet */
    assert_in_range(wait_for_next(f), 800, 1200);
    stream(f, ERROR_EVENT("410"));
    assert_true(next(f)); /* at once, in spite of the failures before */
    assert_list_starts(f);
}

static void a_dead_connection_is_replaced_when_told(void **state)
{
    struct fixture *f = *state;
    watch(f);
    reflector_reconnect(f->r, f->now, "told");
    assert_true(next(f));
    assert_watch_from(f, "10");
}

/* Its own time-out is a minute. Where the server itself is slow, asking ever again would end never.
 */
static void a_page_on_a_dead_connection_is_asked_for_again_once(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    reflector_reconnect(f->r, f->now, "told");
    assert_true(next(f));
    assert_list_starts(f);
    reflector_reconnect(f->r, f->now, "told");
    assert_false(next(f));
    answer(f, 503, "");
    wait_for_next(f); /* the connection is well, and may die again */
    reflector_reconnect(f->r, f->now, "told");
    assert_true(next(f));
    answer(f, 200, LIST("10", "", ""));
    assert_true(next(f));
    assert_watch_from(f, "10");
    reflector_relist(f->r);
    assert_true(next(f)); /* another list may be asked for again */
    reflector_reconnect(f->r, f->now, "told");
    assert_true(next(f));
    assert_list_starts(f);
}

static void a_required_kind_that_is_forbidden_says_what_and_tries_on(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    refuse(f, 403, -1);
    assert_error(f, "not allowed to list pods: because");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_waiting);
    assert_in_range(wait_for_next(f), 800, 1200);
    answer(f, 200, LIST("10", "", ""));
    assert_error(f, "");
    assert_true(next(f));
    refuse(f, 403, -1);
    assert_error(f, "not allowed to watch pods: because");
    wait_for_next(f);
    assert_watch_from(f, "10");
}

static void an_optional_kind_that_is_forbidden_is_done_without(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    refuse(f, 403, -1);
    assert_error(f, "not allowed to list pods: because");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_degraded);
    for (int i = 0; i < 3; i++) {
        assert_in_range(wait_for_next(f), 60000, 65000);
        refuse(f, i == 0 ? 404 : 403, -1);
    }
    wait_for_next(f);
    answer(f, 200, LIST("10", "", ""));
    assert_true(next(f));
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_watching);
    assert_error(f, "");
}

/* Such as a CustomResourceDefinition that is created, deleted and created again. */
static void a_kind_that_may_be_absent_comes_and_goes(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    refuse(f, 404, -1);
    assert_error(f, "");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_absent);
    assert_told(f, "");
    assert_in_range(wait_for_next(f), 25000, 30000);
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    assert_told(f, "[ =a ]");
    assert_true(next(f));
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_watching);
    for (int i = 0; i < 3; i++) { /* a server that starts may not know it yet */
        assert_int_not_equal(reflector_status(f->r).state, REFLECTOR_absent);
        refuse(f, 404, -1);
        assert_true(i == 2 || wait_for_next(f) < 3000);
    }
    assert_told(f, "[ ]");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_absent);
    assert_in_range(wait_for_next(f), 25000, 30000);
    refuse(f, 403, -1); /* that is another story */
    assert_error(f, "not allowed to list pods: because");
    assert_told(f, "");
    assert_in_range(wait_for_next(f), 25000, 30000);
}

/* Its definition, an object and a pod that names it come while the first list is under way. */
static void who_is_spoken_of_before_the_first_answer_is_looked_for_again(void **state)
{
    struct fixture *f = *state;
    reflector_look(f->r, f->now); /* in time for what is asked next */
    assert_true(next(f));
    refuse(f, 404, -1);
    assert_false(reflector_status(f->r).looking);
    assert_in_range(wait_for_next(f), 25000, 30000);
    teardown(state);
    assert_int_equal(setup_absent(state), 0);
    f = *state;
    assert_true(next(f));
    reflector_look(f->r, f->now);
    refuse(f, 404, -1);
    assert_true(reflector_status(f->r).looking);
    assert_in_range(wait_for_next(f), 0, 1000);
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    assert_told(f, "[ =a ]");
}

static const char *const other_paths[] = {"/apis/g/v2/things", "/apis/g/v1/things", NULL};

static int setup_versions(void **state)
{
    struct fixture *f = make_any(false, false, true);
    reflector_free(&f->r);
    f->r = reflector_new(&(struct reflector_options){.name = "things",
                                                     .kind = "Thing",
                                                     .path = "/apis/g/v3/things",
                                                     .others = other_paths,
                                                     .may_be_absent = true,
                                                     .discover = true,
                                                     .seed = 7,
                                                     .context = f,
                                                     .list_begin = on_begin,
                                                     .object = on_object,
                                                     .deleted = on_deleted,
                                                     .list_end = on_end});
    *state = f;
    return 0;
}

/* The next request goes there, at once. */
static void asks_at(struct fixture *f, const char *path)
{
    assert_true(next(f));
    assert_int_equal(strncmp(f->path, path, strlen(path)), 0);
}

static void a_kind_is_looked_for_in_each_version(void **state)
{
    struct fixture *f = *state;
    asks_at(f, "/apis/g/v3/things?limit");
    refuse(f, 404, -1);
    asks_at(f, "/apis/g/v2/things?limit");
    refuse(f, 404, -1);
    asks_at(f, "/apis/g/v1/things?limit");
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    asks_at(f, "/apis/g/v1/things?watch");
    assert_string_equal(reflector_status(f->r).path, "/apis/g/v1/things");
    assert_told(f, "[ =a ]");
    refuse(f, 404, -1); /* the server has become another release */
    asks_at(f, "/apis/g/v3/things?limit");
    assert_told(f, "");
    answer(f, 200, LIST("12", "", OBJECT("a", "5")));
    asks_at(f, "/apis/g/v3/things?watch");
    assert_told(f, "[ =a ]");
}

/* So many lists, each of the next path, and none of them is served. */
static void refuse_in_turn(struct fixture *f, int count, int from)
{
    static const char *const paths[] = {"/apis/g/v3/things", "/apis/g/v2/things",
                                        "/apis/g/v1/things"};
    for (int i = 0; i < count; i++) {
        asks_at(f, paths[(from + i) % 3]);
        refuse(f, 404, -1);
    }
}

static void what_no_version_has_is_absent(void **state)
{
    struct fixture *f = *state;
    refuse_in_turn(f, 5, 0); /* all of them twice: between two the server may change */
    assert_int_not_equal(reflector_status(f->r).state, REFLECTOR_absent);
    refuse_in_turn(f, 1, 5);
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_absent);
    assert_in_range(wait_for_next(f), 25000, 30000);
    assert_non_null(strstr(f->path, "/v3/things"));
    reflector_look(f->r, f->now); /* too late for the path that is asked, not for the second time */
    refuse(f, 404, -1);
    refuse_in_turn(f, 4, 1);
    assert_true(reflector_status(f->r).looking);
    refuse_in_turn(f, 1, 5);
    assert_false(reflector_status(f->r).looking);
    assert_in_range(wait_for_next(f), 25000, 30000);
    refuse(f, 404, -1);
    refuse_in_turn(f, 2, 1);
    assert_true(next(f));
    reflector_look(f->r, f->now); /* too late for the second time as well */
    refuse(f, 404, -1);
    refuse_in_turn(f, 2, 1);
    assert_true(reflector_status(f->r).looking);
    assert_in_range(wait_for_next(f), 1, 250);
    refuse(f, 404, -1);
    refuse_in_turn(f, 5, 1);
    assert_false(reflector_status(f->r).looking);
}

/* A server that does not answer in between may be another one when it does: nothing that it did not
 * serve before counts. */
static void a_search_that_is_interrupted_begins_anew(void **state)
{
    struct fixture *f = *state;
    refuse_in_turn(f, 2, 0);
    asks_at(f, "/apis/g/v1/things");
    refuse(f, 503, -1);
    assert_in_range(wait_for_next(f), 1, 3000);
    assert_non_null(strstr(f->path, "/v3/things"));
    refuse(f, 404, -1);
    refuse_in_turn(f, 4, 1);
    assert_true(next(f));
    refuse(f, 503, -1);
    wait_for_next(f);
    refuse(f, 404, -1);
    refuse_in_turn(f, 4, 1);
    assert_int_not_equal(reflector_status(f->r).state, REFLECTOR_absent);
    refuse_in_turn(f, 1, 5);
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_absent);
}

/* Where lists are refused each version's discovery tells. */
static void a_version_that_may_not_be_listed_is_found(void **state)
{
    struct fixture *f = *state;
    asks_at(f, "/apis/g/v3/things?limit");
    refuse(f, 403, -1);
    asks_at(f, "/apis/g/v3");
    refuse(f, 404, -1);
    asks_at(f, "/apis/g/v2/things?limit");
    refuse(f, 403, -1);
    asks_at(f, "/apis/g/v2");
    answer(f, 200, "{\"resources\":[{\"name\":\"things\"}]}");
    assert_int_equal(reflector_status(f->r).state, REFLECTOR_degraded);
    assert_true(reflector_status(f->r).served);
    wait_for_next(f);
    assert_non_null(strstr(f->path, "/v2/things?limit"));
}

static void a_list_asked_for_replaces_the_watch(void **state)
{
    struct fixture *f = *state;
    watch(f);
    uint64_t before = f->request.number;
    assert_int_equal(reflector_relist(f->r), 2);
    assert_int_equal(reflector_relist(f->r), 2); /* not begun yet: shared */
    assert_true(next(f));
    assert_list_starts(f);
    reflector_data(f->r, f->now, before, STR_LITERAL(EVENT("ADDED", "late", "99")));
    assert_told(f, "");
    assert_int_equal(reflector_lists_ended(f->r), 1);
    answer(f, 200, LIST("60", "", ""));
    assert_int_equal(reflector_lists_ended(f->r), 2);
    assert_true(next(f));
    assert_watch_from(f, "60");
}

static void a_list_under_way_does_not_answer_a_later_question(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    answer(f, 200, LIST("10", "more", OBJECT("a", "5")));
    assert_int_equal(reflector_relist(f->r), 2); /* between two pages */
    assert_true(next(f));
    assert_int_equal(reflector_relist(f->r), 2);
    answer(f, 200, LIST("10", "", ""));
    assert_int_equal(reflector_lists_ended(f->r), 1);
    assert_true(next(f));
    assert_list_starts(f);
    breaks(f, 0); /* it survives failures */
    wait_for_next(f);
    answer(f, 200, LIST("11", "", ""));
    assert_true(reflector_lists_ended(f->r) >= 2);
    assert_true(next(f));
    assert_watch_from(f, "11");
}

static void a_list_that_is_older_is_not_believed_at_first(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, EVENT("ADDED", "b", "80"));
    assert_told(f, "+b");
    reflector_relist(f->r);
    assert_true(next(f));
    for (int i = 0; i < 2; i++) {
        answer(f, 200, LIST("40", "", OBJECT("old", "39")));
        assert_told(f, "");
        assert_error(f, "the list of pods is older (40) than what was seen (80)");
        wait_for_next(f);
        assert_list_starts(f);
    }
    answer(f, 200, LIST("40", "", OBJECT("old", "39"))); /* restored from a backup */
    assert_told(f, "[ =old ]");
    assert_true(next(f));
    assert_watch_from(f, "40");
}

static void answers_to_old_requests_change_nothing(void **state)
{
    struct fixture *f = *state;
    watch(f);
    uint64_t now_number = f->request.number;
    f->request.number--;
    answer(f, 200, LIST("99", "", OBJECT("x", "98")));
    stream(f, EVENT("ADDED", "x", "99"));
    f->request.number = now_number;
    assert_told(f, "");
    assert_false(next(f));
    stream(f, EVENT("ADDED", "b", "11"));
    assert_told(f, "+b");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(lists_in_pages_and_then_watches),
        TEST(an_empty_list_may_be_null),
        TEST(an_expired_continue_starts_the_list_again),
        TEST(a_list_that_expires_goes_on_in_larger_pages),
        TEST(larger_pages_last_until_one_fails_or_the_list_ends),
        TEST(a_page_that_failed_is_asked_again),
        TEST(events_arrive_in_any_pieces),
        TEST(a_clean_end_resumes_from_the_version_reached),
        TEST(a_watch_that_ends_as_it_begins_backs_off),
        TEST(a_broken_watch_waits_and_resumes),
        TEST(waits_grow_to_thirty_seconds_and_reset_after_success),
        TEST(retry_after_is_honoured),
        TEST(a_watch_that_is_too_old_lists_again),
        TEST(nothing_behind_an_error_event_is_read),
        TEST(an_error_event_of_a_busy_server_resumes_the_watch),
        TEST(malformed_events_are_refused_and_listed_anew),
        TEST(malformed_lists_are_refused_and_asked_again),
        TEST(a_silent_watch_is_made_anew_on_a_new_connection),
        cmocka_unit_test_setup_teardown(an_optional_kind_that_never_changes_may_be_silent,
                                        setup_optional, teardown),
        TEST(any_byte_counts_as_hearing),
        TEST(a_probe_that_was_answered_is_no_sign_of_the_watch_itself),
        TEST(a_server_that_is_back_is_asked_soon),
        TEST(a_restarted_server_does_not_slow_down_the_list),
        TEST(a_dead_connection_is_replaced_when_told),
        TEST(a_page_on_a_dead_connection_is_asked_for_again_once),
        TEST(a_required_kind_that_is_forbidden_says_what_and_tries_on),
        cmocka_unit_test_setup_teardown(an_optional_kind_that_is_forbidden_is_done_without,
                                        setup_optional, teardown),
        cmocka_unit_test_setup_teardown(a_kind_is_looked_for_in_each_version, setup_versions,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_no_version_has_is_absent, setup_versions, teardown),
        cmocka_unit_test_setup_teardown(
            who_is_spoken_of_before_the_first_answer_is_looked_for_again, setup_absent, teardown),
        cmocka_unit_test_setup_teardown(a_search_that_is_interrupted_begins_anew, setup_versions,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_version_that_may_not_be_listed_is_found, setup_versions,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_kind_that_may_be_absent_comes_and_goes, setup_absent,
                                        teardown),
        TEST(a_list_asked_for_replaces_the_watch),
        TEST(a_list_under_way_does_not_answer_a_later_question),
        TEST(a_list_that_is_older_is_not_believed_at_first),
        TEST(answers_to_old_requests_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
