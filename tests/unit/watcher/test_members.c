/* test_members: PodGroups and their pods through the watcher's core, in virtual time, with the real
 * rows for pods, nodes and PodGroups. The test is the API server; what the stream says of groups is
 * compared as words. */
#include "proto/base/memory.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES, PODS, GROUPS, FINISHED, FINISHED_SIGS, PROBE, SOURCES };

struct fixture {
    struct watcher *w;
    struct moment now;
    struct outbox out;
    struct kube_resource kinds[3];
    struct reflector_request asked[SOURCES];
    bool open[SOURCES];
    char path[SOURCES][512];
    char words[4096];
};

static const struct kube_resource *row(const char *name)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (strcmp(kube_resources[i].name, name) == 0)
            return &kube_resources[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void pump(struct fixture *f)
{
    for (size_t i = 0; i < SOURCES; i++) {
        struct reflector_request r;
        if (!watcher_next(f->w, f->now, i, &r))
            continue;
        f->asked[i] = r;
        f->open[i] = true;
        snprintf(f->path[i], sizeof(f->path[i]), "%.*s", STR_ARG(r.path));
    }
}

static int setup(void **state)
{
    struct fixture *f = memory_take(sizeof(*f));
    struct message m = {.type = MSG_subscribe, .subscribe.credit = 1000};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
    f->now = (struct moment){5000000000};
    f->kinds[NODES] = *row("nodes");
    f->kinds[PODS] = *row("pods");
    f->kinds[GROUPS] = *row("podgroups.scheduling.x-k8s.io");
    f->w = watcher_new(
        &(struct watcher_options){.kinds = f->kinds, .kind_count = 3, .epoch = 7, .seed = 3});
    watcher_handle(f->w, f->now, &in, &f->out);
    pump(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    watcher_free(&f->w);
    outbox_free(&f->out);
    memory_free(f);
    return 0;
}

static void answer(struct fixture *f, size_t source, int status, const char *items)
{
    char body[4096];
    snprintf(body, sizeof(body), "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[%s]}",
             items);
    struct kube_response r = {
        .status = status, .body = str_of(body), .error = "", .retry_after_s = -1};
    assert_true(f->open[source]);
    f->open[source] = false;
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

static void event(struct fixture *f, size_t source, const char *type, const char *object)
{
    char line[2048];
    snprintf(line, sizeof(line), "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    assert_true(f->asked[source].watch);
    watcher_data(f->w, f->now, source, f->asked[source].number, str_of(line));
    pump(f);
}

static void pass_ms(struct fixture *f, int64_t ms)
{
    f->now = moment_after(f->now, span_of_ms(ms));
    pump(f);
}

static void add(struct fixture *f, const char *format, ...)
{
    size_t len = strlen(f->words);
    va_list arguments;
    va_start(arguments, format);
    if (len > 0)
        f->words[len++] = ' ';
    vsnprintf(f->words + len, sizeof(f->words) - len, format, arguments);
    va_end(arguments);
}

static void read_message(struct fixture *f, const struct message *m)
{
    const struct group_members *g = &m->group_members;
    const struct group_kinds *k = &m->group_kinds;
    if (m->type == MSG_group_members)
        add(f, "%.*s:%d/%d run%d ok%d bad%d by(%.*s)", STR_ARG(g->name), (int)g->assigned,
            (int)g->pods, (int)g->running, (int)g->succeeded, (int)g->failed, STR_ARG(g->owners));
    else if (m->type == MSG_group_kinds && k->unread.count == 0)
        add(f, "kinds:%u", k->apis.count);
    else if (m->type == MSG_group_kinds)
        add(f, "kinds:%u %.*s(%.*s)", k->apis.count,
            STR_ARG(words_text(&unread_state_words, k->unread.at[0].state)),
            STR_ARG(k->unread.at[0].message));
    else if (m->type == MSG_pod_group_set)
        add(f, "group:%.*s%s%.*s", STR_ARG(m->pod_group_set.group.name),
            m->pod_group_set.group.version.len > 0 ? "/" : "",
            STR_ARG(m->pod_group_set.group.version));
    else if (m->type == MSG_object_gone)
        add(f, "-group:%.*s", STR_ARG(m->object_gone.name));
}

/* What the stream says of groups. */
static const char *got(struct fixture *f)
{
    struct arena arena = {0};
    f->words[0] = 0;
    watcher_tick(f->w, f->now, &f->out);
    for (size_t i = 0; i < f->out.count; i++) {
        struct message m = {0};
        assert_true(outbox_get(&f->out, i, &m, &arena));
        read_message(f, &m);
    }
    outbox_reset(&f->out);
    arena_free(&arena);
    return f->words;
}

#define POD(name, version, node, phase)                                                            \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"u-" name                  \
    "\",\"resourceVersion\":\"" version                                                            \
    "\",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"name\":\"z\"" \
    "},{\"name\":\"job\"}]},\"spec\":{\"nodeName\":\"" node "\"},\"status\":{\"phase\":\"" phase   \
    "\"}}"
#define GROUP                                                                                      \
    "{\"metadata\":{\"name\":\"g\",\"namespace\":\"ns\",\"uid\":\"gu\",\"resourceVersion\":"       \
    "\"4\"},\"spec\":{\"minMember\":2}}"

/* Group g with pods a (Running on n) and b (Pending); c has succeeded. */
static void start(struct fixture *f)
{
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, POD("a", "5", "n", "Running") "," POD("b", "6", "", "Pending"));
    assert_false(f->open[FINISHED]); /* not yet known to be needed */
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), ""); /* finished pods are still to be listed */
    answer(f, FINISHED, 200, POD("c", "3", "n", "Succeeded"));
    /* Which kinds are served stands before all pods and groups: who reads a snapshot has to know.
     */
    assert_string_equal(got(f), "kinds:1 group:g g:2/3 run1 ok1 bad0 by(ns/job,ns/z)");
}

static void counts_are_in_the_first_snapshot(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_non_null(strstr(f->path[FINISHED], "&labelSelector=scheduling.x-k8s.io%2Fpod-group"));
    assert_non_null(strstr(f->path[FINISHED], "phase%21%3DPending"));
    assert_non_null(strstr(f->path[GROUPS], "/apis/scheduling.x-k8s.io/v1alpha1/podgroups?watch"));
    assert_false(f->open[FINISHED_SIGS]);
}

static void a_change_is_told_after_a_second(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, "MODIFIED", POD("b", "20", "n", "Pending"));
    assert_string_equal(got(f), "");
    pass_ms(f, 500);
    event(f, PODS, "MODIFIED", POD("b", "21", "n", "Running"));
    assert_string_equal(got(f), "");
    pass_ms(f, 499);
    assert_string_equal(got(f), "");
    pass_ms(f, 1);
    assert_string_equal(got(f), "g:3/3 run2 ok1 bad0 by(ns/job,ns/z)");
    pass_ms(f, 5000);
    assert_string_equal(got(f), "");
}

/* It leaves one watch and comes in another, in either order; it is never missing in between. */
static void a_pod_that_finishes_stays_counted(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, "DELETED", POD("a", "30", "n", "Running"));
    got(f);
    pass_ms(f, 300);
    event(f, FINISHED, "ADDED", POD("a", "30", "n", "Failed"));
    pass_ms(f, 700);
    assert_string_equal(got(f), "g:2/3 run0 ok1 bad1 by(ns/job,ns/z)");
    event(f, FINISHED, "ADDED", POD("b", "40", "n", "Succeeded"));
    got(f);
    event(f, PODS, "DELETED", POD("b", "40", "", "Pending"));
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:3/3 run0 ok2 bad1 by(ns/job,ns/z)");
    event(f, FINISHED, "DELETED", POD("a", "50", "n", "Failed"));
    event(f, FINISHED, "DELETED", POD("b", "51", "n", "Succeeded"));
    event(f, FINISHED, "DELETED", POD("c", "52", "n", "Succeeded"));
    got(f);
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:0/0 run0 ok0 bad0 by()");
}

static void a_list_of_finished_pods_reconciles(void **state)
{
    struct fixture *f = *state;
    start(f);
    answer(f, FINISHED, 410, "");
    answer(f, FINISHED, 200, POD("d", "3", "n", "Failed"));
    got(f);
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:2/3 run1 ok0 bad1 by(ns/job,ns/z)");
}

static void pods_may_leave_their_group(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, "MODIFIED",
          "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":\"u-a\",\"resourceVersion\":"
          "\"20\",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"h\"}}}");
    event(f, PODS, "MODIFIED",
          "{\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\",\"uid\":\"u-b\",\"resourceVersion\":"
          "\"21\"}}");
    got(f);
    pass_ms(f, 1000);
    const char *words = got(f);
    assert_non_null(strstr(words, "g:1/1 run0 ok1 bad0 by(ns/job,ns/z)"));
    assert_non_null(strstr(words, "h:0/1 run0 ok0 bad0 by()"));
}

static void a_kind_that_is_not_served_has_no_groups(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, POD("a", "5", "n", "Running"));
    answer(f, GROUPS, 404, "");
    assert_string_equal(got(f), "kinds:0");
    assert_false(f->open[FINISHED]);
    pass_ms(f, 30000); /* the CustomResourceDefinition was created meanwhile */
    answer(f, GROUPS, 200, "");
    assert_true(f->open[FINISHED]);
    got(f);
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:1/1 run1 ok0 bad0 by(ns/job,ns/z)");
}

static void a_kind_that_goes_takes_its_groups_along(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 3; i++) { /* the watch ends, and lists say that there is no such kind */
        assert_string_equal(got(f), "");
        pass_ms(f, 3000);
        answer(f, GROUPS, 404, "");
    }
    assert_string_equal(got(f), "-group:g kinds:0");
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:0/0 run0 ok0 bad0 by()");
    pass_ms(f, 30000);
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "group:g kinds:1");
    pass_ms(f, 1000);
    assert_string_equal(got(f), "g:2/3 run1 ok1 bad0 by(ns/job,ns/z)");
}

/* Any answer but a list. A good one comes in pieces, as the client hands it on; its end has none.
 */
static void answer_with(struct fixture *f, size_t source, int status, const char *body)
{
    struct kube_response r = {
        .status = status, .body = str_of(body), .error = "", .retry_after_s = -1};
    uint64_t number = f->asked[source].number;
    assert_true(f->open[source]);
    f->open[source] = false;
    if (status == 200) {
        uint32_t half = r.body.len / 2;
        watcher_data(f->w, f->now, source, number, (struct str){r.body.at, 0});
        watcher_data(f->w, f->now, source, number, (struct str){r.body.at, half});
        watcher_data(f->w, f->now, source, number,
                     (struct str){r.body.at + half, r.body.len - half});
        r.body = (struct str){NULL, 0};
    }
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

#define FORBIDDEN "{\"message\":\"User \\\"u\\\" cannot list resource \\\"podgroups\\\"\"}"
#define NOT_ALLOWED                                                                                \
    "not allowed to list podgroups.scheduling.x-k8s.io: User \"u\" cannot list resource "          \
    "\"podgroups\""

/* A server refuses before it looks whether there is such a kind: its discovery is asked. */
static void refuse(struct fixture *f, int status, const char *discovery)
{
    answer_with(f, GROUPS, 403, FORBIDDEN);
    assert_string_equal(f->path[GROUPS], "/apis/scheduling.x-k8s.io/v1alpha1");
    assert_false(f->asked[GROUPS].watch);
    assert_string_equal(got(f), ""); /* no snapshot before it is known */
    answer_with(f, GROUPS, status, discovery);
}

static void what_is_served_and_may_not_be_read_is_told(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, POD("a", "5", "", "Pending"));
    refuse(f, 200, "{\"resources\":[{\"name\":\"podgroups/status\"},{\"name\":\"podgroups\"}]}");
    assert_string_equal(got(f), "kinds:0 served(" NOT_ALLOWED ")");
    pass_ms(f, 30000); /* the right was given meanwhile */
    assert_non_null(strstr(f->path[GROUPS], "/podgroups?limit"));
    answer(f, GROUPS, 200, GROUP);
    answer(f, FINISHED, 200, "");
    assert_string_equal(got(f), "group:g kinds:1");
}

static void what_is_refused_and_not_served_is_absent(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, POD("a", "5", "n", "Running"));
    refuse(f, 404, "");
    assert_string_equal(got(f), "kinds:0");
    pass_ms(f, 30000);
    answer_with(f, GROUPS, 403, FORBIDDEN);
    answer_with(f, GROUPS, 200, "{\"resources\":[{\"name\":\"elasticquotas\"}]}");
    assert_string_equal(got(f), "");
}

static void what_discovery_does_not_tell_is_unknown(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, POD("a", "5", "n", "Running"));
    refuse(f, 503, ""); /* tried again, and nobody gets a snapshot meanwhile */
    assert_string_equal(got(f), "");
    pass_ms(f, 2000);
    assert_string_equal(f->path[GROUPS], "/apis/scheduling.x-k8s.io/v1alpha1");
    answer_with(f, GROUPS, 403, "");
    assert_string_equal(got(f), "kinds:0 unknown(" NOT_ALLOWED ")");
    pass_ms(f, 30000);
    answer_with(f, GROUPS, 403, FORBIDDEN);
    answer_with(f, GROUPS, 200, "<html>Welcome</html>"); /* some proxy */
    assert_string_equal(got(f), "");                     /* still unknown, and not: not served */
}

/* A right is taken away while it runs: what was read stays, and that nothing new is read is told.
 */
static void what_may_not_be_read_any_more_is_told(void **state)
{
    struct fixture *f = *state;
    start(f);
    answer_with(f, GROUPS, 403, FORBIDDEN);
    answer_with(f, GROUPS, 200, "{\"resources\":[{\"name\":\"podgroups\"}]}");
    const char *words = got(f);
    assert_non_null(strstr(words, "kinds:1 served(not allowed to watch"));
    assert_null(strstr(words, "-group"));
}

/* A CustomResourceDefinition, its groups and their pods come within a second: before a pod is told,
 * it is told that its groups are looked for; what was asked before the pod came does not count. */
static void a_pod_has_its_groups_looked_for(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, "");
    answer(f, GROUPS, 404, "");
    assert_string_equal(got(f), "kinds:0");
    pass_ms(f, 5000);
    assert_false(f->open[GROUPS]);
    event(f, PODS, "ADDED", POD("a", "20", "n", "Running")); /* on a node already */
    assert_false(f->open[GROUPS]);
    event(f, PODS, "ADDED", POD("b", "21", "", "Pending"));
    assert_true(f->open[GROUPS]);
    assert_string_equal(got(f), "kinds:0 looking(not served so far, looked for again)");
    event(f, PODS, "ADDED", POD("c", "22", "", "Pending"));
    answer(f, GROUPS, 404, ""); /* was asked before c came */
    assert_false(f->open[GROUPS]);
    assert_string_equal(got(f), "");
    pass_ms(f, 250);
    answer(f, GROUPS, 404, "");
    assert_string_equal(got(f), "kinds:0");
    pass_ms(f, 1000);
    event(f, PODS, "ADDED", POD("d", "23", "", "Pending"));
    got(f);
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "group:g kinds:1");
}

/* It may serve what its predecessor did not, and pods that were told before wait for it. */
static void another_server_has_groups_looked_for(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, GROUPS, 404, "");
    answer(f, PODS, 200, "");
    got(f);
    pass_ms(f, 5000);
    answer_with(f, PROBE, 200, "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.3\"}");
    answer(f, GROUPS, 404, "");
    got(f);
    pass_ms(f, 5000);
    assert_false(f->open[GROUPS]);
    answer_with(f, PROBE, 200, "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.3\"}");
    assert_false(f->open[GROUPS]);
    pass_ms(f, 5000);
    answer_with(f, PROBE, 200, "{\"major\":\"1\",\"minor\":\"37\",\"gitVersion\":\"v1.37.2\"}");
    assert_non_null(strstr(got(f), "kinds:0 looking("));
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "group:g kinds:1");
}

/* Else a pod of a group of the second page would go by itself between the two. */
static void groups_are_looked_for_until_the_last_page_has_come(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, GROUPS, 404, "");
    answer(f, PODS, 200, POD("b", "21", "", "Pending"));
    pass_ms(f, 250);
    got(f);
    answer_with(f, GROUPS, 200,
                "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"30\",\"continue\":\"x\"},"
                "\"items\":[]}");
    assert_string_equal(got(f), "");
    event(f, PODS, "ADDED", POD("c", "31", "", "Pending"));
    assert_string_equal(got(f), "");
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "group:g kinds:1");
}

/* Pods that a list shows were there before it ended, and the groups' list may be older. */
static void pods_of_the_first_list_have_theirs_looked_for(void **state)
{
    struct fixture *f = *state;
    answer(f, NODES, 200, "");
    answer(f, GROUPS, 404, "");
    answer(f, PODS, 200, POD("b", "21", "", "Pending"));
    assert_non_null(strstr(got(f), "kinds:0 looking("));
    pass_ms(f, 250);
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "group:g kinds:1");
}

/* The built-in kind instead. */
static void serve_in_the_tree(struct fixture *f)
{
    struct message m = {.type = MSG_subscribe, .subscribe.credit = 1000};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
    watcher_free(&f->w);
    outbox_reset(&f->out);
    memset(f->open, 0, sizeof(f->open));
    f->kinds[GROUPS] = *row("podgroups");
    f->w = watcher_new(
        &(struct watcher_options){.kinds = f->kinds, .kind_count = 3, .epoch = 7, .seed = 3});
    watcher_handle(f->w, f->now, &in, &f->out);
    pump(f);
}

static void a_group_says_in_which_version_it_is_served(void **state)
{
    struct fixture *f = *state;
    serve_in_the_tree(f);
    answer(f, NODES, 200, "");
    answer(f, PODS, 200, "");
    assert_non_null(strstr(f->path[GROUPS], "/v1beta1/podgroups?limit"));
    answer(f, GROUPS, 404, "");
    answer(f, GROUPS, 404, "");
    answer(f, GROUPS, 200, GROUP);
    assert_string_equal(got(f), "kinds:1 group:g/v1alpha2");
    answer(f, GROUPS, 404, ""); /* the watch: the server is another release now */
    assert_non_null(strstr(f->path[GROUPS], "/v1beta1/podgroups?limit"));
    answer(f, GROUPS, 200, GROUP); /* the same object, at the same version of it */
    assert_string_equal(got(f), "group:g/v1beta1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(counts_are_in_the_first_snapshot),
        TEST(a_change_is_told_after_a_second),
        TEST(a_pod_that_finishes_stays_counted),
        TEST(a_list_of_finished_pods_reconciles),
        TEST(pods_may_leave_their_group),
        TEST(a_kind_that_is_not_served_has_no_groups),
        TEST(a_kind_that_goes_takes_its_groups_along),
        TEST(what_is_served_and_may_not_be_read_is_told),
        TEST(what_is_refused_and_not_served_is_absent),
        TEST(what_discovery_does_not_tell_is_unknown),
        TEST(what_may_not_be_read_any_more_is_told),
        TEST(a_pod_has_its_groups_looked_for),
        TEST(groups_are_looked_for_until_the_last_page_has_come),
        TEST(pods_of_the_first_list_have_theirs_looked_for),
        TEST(another_server_has_groups_looked_for),
        TEST(a_group_says_in_which_version_it_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
