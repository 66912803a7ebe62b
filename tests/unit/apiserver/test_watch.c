/* Lists, pages and watch streams over the store's history, of which these tests keep 8 changes. No
 * HTTP: a stream is read by asking it for its bytes. */
#include "harness.h"

static struct watcher *watch(const char *arguments)
{
    char target[256];
    snprintf(target, sizeof target, PODS "?watch=1&%s", arguments);
    struct reply reply = ask("GET", target, "");
    assert_int_equal(reply.code, 200);
    assert_non_null(reply.watcher);
    return reply.watcher;
}

static void expect_stream(struct watcher *watcher, const char *const *words)
{
    char *text = stream_text(watcher);
    const char *at = text;
    for (; *words != NULL; words++) {
        const char *found = strstr(at, *words);
        if (found == NULL)
            fail_msg("no %s in %s", *words, at);
        else
            at = found + strlen(*words);
    }
    memory_free(text);
}

static void expect_quiet(struct watcher *watcher)
{
    char byte;
    assert_int_equal(watcher_fill(watcher, &byte, 1), 0);
}

static void pages_of_one_version_agree(void **state)
{
    (void)state;
    const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        make_pod(names[i]);
    cJSON *first = expect(200, "GET", PODS "?limit=2", "");
    assert_int_equal(tree_number(first, "metadata.remainingItemCount", 0), 2);
    char target[256];
    snprintf(target, sizeof target, PODS "?limit=2&continue=%s",
             tree_string(first, "metadata.continue", ""));
    expect_only(200, "DELETE", PODS "/c", "");
    make_pod("bb");
    make_pod("e");
    cJSON *second = expect(200, "GET", target, "");
    const cJSON *items = tree_get(second, "items");
    assert_int_equal(cJSON_GetArraySize(items), 2);
    assert_string_equal(tree_string(items->child, "metadata.name", ""), "c");
    assert_string_equal(tree_string(items->child->next, "metadata.name", ""), "d");
    assert_string_equal(tree_string(first, "metadata.resourceVersion", "x"),
                        tree_string(second, "metadata.resourceVersion", "y"));
    for (int i = 0; i < 9; i++) {
        expect_only(200, "DELETE", PODS "/e", "");
        make_pod("e");
    }
    cJSON *late = expect(410, "GET", target, "");
    assert_string_equal(tree_string(late, "reason", ""), "Expired");
    cJSON_Delete(first);
    cJSON_Delete(second);
    cJSON_Delete(late);
}

static void exact_versions_of_the_past_are_listed(void **state)
{
    (void)state;
    make_pod("x");
    cJSON *now = expect(200, "GET", PODS, "");
    char target[128];
    snprintf(target, sizeof target, PODS "?resourceVersionMatch=Exact&resourceVersion=%s",
             tree_string(now, "metadata.resourceVersion", ""));
    expect_only(200, "DELETE", PODS "/x", "");
    cJSON *then = expect(200, "GET", target, "");
    assert_int_equal(cJSON_GetArraySize(tree_get(then, "items")), 1);
    cJSON *future = expect(504, "GET", PODS "?resourceVersion=99999999", "");
    assert_non_null(strstr(tree_string(future, "message", ""), "Too large resource version"));
    cJSON_Delete(now);
    cJSON_Delete(then);
    cJSON_Delete(future);
}

static void a_stream_starts_with_what_is_there(void **state)
{
    (void)state;
    make_pod("w1");
    struct watcher *w =
        watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    expect_stream(w, (const char *[]){"ADDED", "\"name\":\"w1\"", "BOOKMARK",
                                      "k8s.io/initial-events-end", NULL});
    make_pod("w2");
    expect_stream(w, (const char *[]){"{\"type\":\"ADDED\"", "\"name\":\"w2\"", "}\n", NULL});
    expect_only(200, "DELETE", PODS "/w2", "");
    expect_stream(w, (const char *[]){"{\"type\":\"DELETED\"", "\"name\":\"w2\"", NULL});
    expect_quiet(w);
    watcher_free(w);
}

static void a_stream_resumes_after_a_version(void **state)
{
    (void)state;
    make_pod("r1");
    cJSON *now = expect(200, "GET", PODS, "");
    char arguments[64];
    snprintf(arguments, sizeof arguments, "resourceVersion=%s",
             tree_string(now, "metadata.resourceVersion", ""));
    make_pod("r2");
    struct watcher *w = watch(arguments);
    expect_stream(w, (const char *[]){"ADDED", "\"name\":\"r2\"", NULL});
    expect_quiet(w);
    watcher_free(w);
    for (int i = 0; i < 9; i++) {
        expect_only(200, "DELETE", PODS "/r2", "");
        make_pod("r2");
    }
    w = watch(arguments);
    expect_stream(w, (const char *[]){"\"type\":\"ERROR\"", "\"code\":410",
                                      "too old resource version", "\"reason\":\"Expired\"", NULL});
    char byte;
    assert_int_equal(watcher_fill(w, &byte, 1), -1);
    watcher_free(w);
    cJSON_Delete(now);
}

/* As kube-apiserver: who is to come up to a version need not wait for a change. */
static void a_bookmark_comes_before_the_end(void **state)
{
    (void)state;
    make_pod("b1");
    cJSON *then = expect(200, "GET", PODS, "");
    char arguments[128], version[64];
    snprintf(arguments, sizeof arguments,
             "allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=%s",
             tree_string(then, "metadata.resourceVersion", ""));
    struct watcher *w = watch(arguments);
    expect_only(201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
    cJSON *now = expect(200, "GET", PODS, "");
    snprintf(version, sizeof version, "\"resourceVersion\":\"%s\"",
             tree_string(now, "metadata.resourceVersion", ""));
    watchers_sweep(&server, clock_ms() + 800);
    expect_quiet(w);
    watchers_sweep(&server, clock_ms() + 1000);
    expect_stream(w, (const char *[]){"BOOKMARK", version, NULL});
    watcher_free(w);
    snprintf(arguments, sizeof arguments,
             "allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=%s",
             tree_string(now, "metadata.resourceVersion", ""));
    w = watch(arguments); /* too short for one */
    watchers_sweep(&server, clock_ms() + 1500);
    expect_quiet(w);
    watcher_free(w);
    cJSON_Delete(then);
    cJSON_Delete(now);
}

static void selectors_turn_changes_into_arrivals_and_departures(void **state)
{
    (void)state;
    make_pod("s");
    struct watcher *w = watch("fieldSelector=spec.nodeName=n1");
    expect_quiet(w);
    expect_only(201, "POST", PODS "/s/binding", "{\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}");
    expect_stream(w, (const char *[]){"{\"type\":\"ADDED\"", "\"nodeName\":\"n1\"", NULL});
    watcher_free(w);
    w = watch("fieldSelector=status.phase!=Failed&resourceVersion=0&labelSelector=app=s");
    expect_stream(w, (const char *[]){"{\"type\":\"ADDED\"", NULL});
    cJSON_Delete(ask_as("application/merge-patch+json", "PATCH", PODS "/s/status",
                        "{\"status\":{\"phase\":\"Failed\"}}")
                     .tree);
    expect_stream(w, (const char *[]){"{\"type\":\"DELETED\"", "\"phase\":\"Pending\"", NULL});
    watcher_free(w);
}

static void a_stream_that_falls_behind_is_cut_off(void **state)
{
    (void)state;
    struct watcher *w = watch("resourceVersion=0");
    memory_free(stream_text(w));
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "behind-%d", i);
        make_pod(name);
    }
    assert_true(watcher_is_lost(w));
    char byte;
    assert_int_equal(watcher_fill(w, &byte, 1), -1);
    watcher_free(w);
}

static void faults_reach_running_streams(void **state)
{
    (void)state;
    struct watcher *w = watch("resourceVersion=0");
    memory_free(stream_text(w));
    expect_only(200, "PUT", "/faults", "[{\"resource\":\"pods\",\"watch_silence\":true}]");
    make_pod("hush");
    expect_quiet(w);
    expect_only(200, "DELETE", "/faults", "");
    expect_stream(w, (const char *[]){"\"name\":\"hush\"", NULL});
    expect_only(200, "PUT", "/faults", "[{\"resource\":\"pods\",\"watch_close\":true}]");
    char byte;
    assert_int_equal(watcher_fill(w, &byte, 1), -1);
    expect_only(200, "DELETE", "/faults", "");
    watcher_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_of_one_version_agree, server_setup, server_teardown),
        cmocka_unit_test_setup_teardown(exact_versions_of_the_past_are_listed, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(a_stream_starts_with_what_is_there, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(a_stream_resumes_after_a_version, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(a_bookmark_comes_before_the_end, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(selectors_turn_changes_into_arrivals_and_departures,
                                        server_setup, server_teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_falls_behind_is_cut_off, server_setup,
                                        server_teardown),
        cmocka_unit_test_setup_teardown(faults_reach_running_streams, server_setup,
                                        server_teardown),
    };
    return cmocka_run_group_tests_name("apiserver watch", tests, NULL, NULL);
}
