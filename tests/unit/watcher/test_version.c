/* The API server's version, as the watcher's core asks for it and tells it, in virtual time: the
 * test is the API server and a subscriber. */
#include "proto/base/memory.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES, PROBE, SOURCES };

static bool node_of(const struct kube_json *o, struct message *m, struct str *key, struct arena *a,
                    struct str *error)
{
    (void)o;
    (void)error;
    m->type = MSG_node_set;
    m->node_set.node.name = STR_LITERAL("n");
    *key = arena_print(a, "node/n");
    return true;
}

static void node_gone(const struct message *last, struct message *m)
{
    m->type = MSG_node_gone;
    m->node_gone.name = last->node_set.node.name;
}

static const struct kube_resource kinds[] = {
    {"nodes", "Node", "/api/v1/nodes", "", true, node_of, node_gone, KUBE_always, NULL},
};

struct fixture {
    struct watcher *w;
    struct moment now;
    struct outbox out;
    struct reflector_request asked[SOURCES];
    bool open[SOURCES];
    char path[64]; /* of the probe's last question */
    char words[1024];
};

static int setup(void **state)
{
    struct fixture *f = memory_take(sizeof(*f));
    f->now = (struct moment){5000000000};
    f->w = watcher_new(
        &(struct watcher_options){.kinds = kinds, .kind_count = 1, .epoch = 7, .seed = 3});
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

static void pump(struct fixture *f)
{
    for (size_t i = 0; i < SOURCES; i++) {
        struct reflector_request r;
        if (!watcher_next(f->w, f->now, i, &r))
            continue;
        f->asked[i] = r;
        f->open[i] = true;
        if (i == PROBE)
            snprintf(f->path, sizeof(f->path), "%.*s", STR_ARG(r.path));
    }
}

static void answer(struct fixture *f, size_t source, int status, const char *body)
{
    struct kube_response r = {.status = status,
                              .body = str_of(body),
                              .error = status ? "" : "https://a: connection refused",
                              .retry_after_s = -1};
    assert_true(f->open[source]);
    f->open[source] = false;
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

/* As the client hands a good answer over: in pieces. */
static void version_is(struct fixture *f, const char *body)
{
    size_t half = strlen(body) / 2;
    assert_true(f->open[PROBE]);
    uint64_t number = f->asked[PROBE].number;
    watcher_data(f->w, f->now, PROBE, number, STR_LITERAL(""));
    watcher_data(f->w, f->now, PROBE, number, (struct str){body, (uint32_t)half});
    watcher_data(f->w, f->now, PROBE, number, str_of(body + half));
    answer(f, PROBE, 200, "");
}

static void pass_ms(struct fixture *f, int64_t ms)
{
    f->now = moment_after(f->now, span_of_ms(ms));
    pump(f);
}

/* What the subscriber got, but for the view. */
static const char *got(struct fixture *f)
{
    struct arena arena = {0};
    size_t len = 0;
    f->words[0] = 0;
    watcher_tick(f->w, f->now, &f->out);
    for (size_t i = 0; i < f->out.count; i++) {
        struct message m = {0};
        assert_true(outbox_get(&f->out, i, &m, &arena));
        const struct server_version *v = &m.server_version;
        char *at = f->words + len;
        size_t room = sizeof(f->words) - len;
        if (m.type == MSG_server_version)
            len +=
                (size_t)snprintf(at, room, "version:%lld.%lld:%.*s:%.*s ", (long long)v->major,
                                 (long long)v->minor, STR_ARG(v->git_version), STR_ARG(v->problem));
        else if (m.type != MSG_view)
            len += (size_t)snprintf(at, room, "%s ", message_info[m.type].record->name);
    }
    outbox_reset(&f->out);
    arena_free(&arena);
    return f->words;
}

static void subscribe(struct fixture *f)
{
    struct message m = {.type = MSG_subscribe, .subscribe.credit = 1000};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
    watcher_handle(f->w, f->now, &in, &f->out);
}

#define LIST "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}"
#define VERSION(minor, name)                                                                       \
    "{\"major\":\"1\",\"minor\":\"" minor "\",\"gitVersion\":\"" name "\",\"platform\":\"x\"}"

/* Everything is listed and told. */
static void start(struct fixture *f)
{
    pump(f);
    subscribe(f);
    answer(f, NODES, 200, LIST);
    assert_string_equal(got(f), "snapshot_begin snapshot_end ");
}

static void it_is_asked_for_at_once_and_stands_in_the_snapshot(void **state)
{
    struct fixture *f = *state;
    pump(f);
    assert_string_equal(f->path, "/version");
    subscribe(f);
    version_is(f, VERSION("37+", "v1.37.2-gke.1"));
    answer(f, NODES, 200, LIST);
    assert_string_equal(got(f), "snapshot_begin version:1.37:v1.37.2-gke.1: snapshot_end ");
    subscribe(f);
    assert_string_equal(got(f), "snapshot_begin version:1.37:v1.37.2-gke.1: snapshot_end ");
}

static void another_one_is_told_and_the_same_is_not(void **state)
{
    struct fixture *f = *state;
    start(f);
    version_is(f, VERSION("36", "v1.36.3"));
    assert_string_equal(got(f), "version:1.36:v1.36.3: ");
    pass_ms(f, 5000);
    version_is(f, VERSION("36", "v1.36.3"));
    assert_string_equal(got(f), "");
    pass_ms(f, 5000);
    version_is(f, VERSION("37", "v1.37.0"));
    assert_string_equal(got(f), "version:1.37:v1.37.0: ");
}

static void a_bad_answer_is_told_as_what_is_wrong_with_it(void **state)
{
    struct fixture *f = *state;
    static char huge[40000];
    memset(huge, ' ', sizeof(huge) - 1);
    const struct {
        int status;
        const char *body, *told;
    } cases[] = {
        {404, "404 page not found\n", "the API server answers 404 to /version"},
        {403, "{}", "the API server answers 403 to /version"},
        {200, "<html>", "the answer to /version is not understood: it is no JSON"},
        {200, "{\"kind\":\"APIGroupList\"}",
         "the answer to /version is not understood: it has no minor version"},
        {200, "{\"major\":\"1\",\"minor\":\"x\"}",
         "the answer to /version is not understood: it has no minor version"},
        {200, "{\"major\":\"1\",\"minor\":\"99999999999999999999\"}",
         "the answer to /version is not understood: it has no minor version"},
        {200, "{\"major\":\"2\",\"minor\":\"1\"}",
         "the answer to /version is not understood: its major version is not 1"},
        {200, huge, "the answer to /version is longer than 16384 bytes"},
    };
    start(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char told[200];
        snprintf(told, sizeof(told), "version:0.0::%s ", cases[i].told);
        if (cases[i].status == 200)
            version_is(f, cases[i].body);
        else
            answer(f, PROBE, cases[i].status, cases[i].body);
        bool again = i > 0 && strcmp(cases[i].told, cases[i - 1].told) == 0;
        assert_string_equal(got(f), again ? "" : told);
        pass_ms(f, 5000);
    }
    version_is(f, VERSION("37", "a name\\n that is none"));
    assert_string_equal(got(f), "version:1.37:: ");
}

static void what_was_known_stays_until_another_one_is(void **state)
{
    struct fixture *f = *state;
    struct buffer lines = {0};
    start(f);
    version_is(f, VERSION("37", "v1.37.0"));
    assert_string_equal(got(f), "version:1.37:v1.37.0: ");
    pass_ms(f, 5000);
    answer(f, PROBE, 500, "no");
    pass_ms(f, 5000);
    answer(f, PROBE, 0, "");
    assert_string_equal(got(f), "");
    watcher_status(f->w, f->now, &lines);
    assert_non_null(
        strstr(lines.at, "api_server=v1.37.0 error=the API server answers 500 to /version\n"));
    buffer_free(&lines);
}

/* Its server may have been replaced by another one. */
static void a_watch_that_breaks_asks_again_within_a_second(void **state)
{
    struct fixture *f = *state;
    start(f);
    version_is(f, VERSION("36", "v1.36.3"));
    got(f);
    pass_ms(f, 300);
    assert_false(f->open[PROBE]);
    answer(f, NODES, 0, ""); /* and again, and again: once a second */
    assert_false(f->open[PROBE]);
    pass_ms(f, 700);
    assert_true(f->open[PROBE]);
    version_is(f, VERSION("37", "v1.37.0"));
    assert_string_equal(got(f), "version:1.37:v1.37.0: ");
    pass_ms(f, 999);
    assert_false(f->open[PROBE]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_is_asked_for_at_once_and_stands_in_the_snapshot),
        TEST(another_one_is_told_and_the_same_is_not),
        TEST(a_bad_answer_is_told_as_what_is_wrong_with_it),
        TEST(what_was_known_stays_until_another_one_is),
        TEST(a_watch_that_breaks_asks_again_within_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
