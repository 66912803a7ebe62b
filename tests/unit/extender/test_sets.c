/* test_sets: questions about extenders of another configuration than the known one: they wait for
 * the file to say what they are about, and are refused when it does not. */
#include "scheduler/extender/sets.h"

#include "proto/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <stdio.h>

static char path[] = "/tmp/test_sets.XXXXXX";
static struct kube_config *way;
static struct kube_client *api;
static const struct address scheduler = {SCHEDULER, 7};

static int64_t write_file(const char *url)
{
    struct extender_set set;
    struct str why = {0};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "extenders: [{urlPrefix: '%s', filterVerb: filter, nodeCacheCapable: true}]\n",
            url);
    fclose(file);
    assert_true(extender_set_read(&set, path, &why));
    int64_t hash = set.hash;
    extender_set_free(&set);
    return hash;
}

static struct moment at(int64_t ms)
{
    return (struct moment){1000000000 + ms * 1000000};
}

static void ask(struct sets *s, int64_t ms, const char *url, int64_t hash)
{
    struct outbox out = {0};
    struct extender_ref ref = {0, str_of(url)};
    struct message m = {.type = MSG_extend,
                        .extend = {.id = 1,
                                   .uid = STR_LITERAL("u"),
                                   .namespace_name = STR_LITERAL("default"),
                                   .name = STR_LITERAL("p"),
                                   .step = EXTEND_STEP_nodes,
                                   .extenders = {1, &ref},
                                   .extenders_hash = hash}};
    sets_handle(s, at(ms), &(struct delivery){.from = scheduler, .message = &m}, &out);
    outbox_free(&out);
}

/* Answers that go out with this tick. */
static size_t tick(struct sets *s, int64_t ms)
{
    struct outbox out = {0};
    sets_tick(s, at(ms), &out);
    size_t count = out.count;
    outbox_free(&out);
    return count;
}

static void expect(struct sets *s, const char *line)
{
    struct buffer lines = {0};
    sets_status(s, &lines);
    if (strstr(lines.at, line) == NULL)
        fail_msg("no %s in\n%s", line, lines.at);
    buffer_free(&lines);
}

static struct sets *begin(void)
{
    char error[512];
    struct sets *s = sets_new(path, api, error, sizeof(error));
    assert_non_null(s);
    return s;
}

static void a_question_about_others_waits_for_the_file(void **state)
{
    (void)state;
    int64_t first = write_file("http://127.0.0.1:1");
    struct sets *s = begin();
    ask(s, 0, "http://127.0.0.1:1", first);
    expect(s, "under_way=1\n");
    int64_t second = write_file("http://127.0.0.1:2");
    write_file("http://127.0.0.1:1");
    ask(s, 10, "http://127.0.0.1:2", second);
    expect(s, "held=1\n");
    expect(s, "extenders_changed=0\n");
    assert_int_equal(tick(s, 100), 0);
    write_file("http://127.0.0.1:2");
    assert_int_equal(tick(s, 200), 0); /* not read that often */
    expect(s, "held=1\n");
    assert_int_equal(tick(s, 300), 0);
    expect(s, "extenders_changed=1\nheld=0\n");
    expect(s, "questions=1\nunder_way=1\n"); /* what was asked of the former is forgotten */
    expect(s, "extender_0=http://127.0.0.1:2");
    sets_free(&s);
}

static void one_that_the_file_never_tells_of_is_refused(void **state)
{
    (void)state;
    int64_t first = write_file("http://127.0.0.1:1");
    struct sets *s = begin();
    ask(s, 0, "http://127.0.0.1:2", first + 1);
    for (int64_t ms = 0; ms < SETS_WAIT_MS; ms += 500)
        assert_int_equal(tick(s, ms), 0);
    assert_int_equal(tick(s, SETS_WAIT_MS), 1);
    expect(s, "held=0\n");
    expect(s, "failed=1\n");
    sets_free(&s);
}

static void a_file_that_is_wrong_changes_nothing(void **state)
{
    (void)state;
    char error[512];
    int64_t first = write_file("http://127.0.0.1:1");
    struct sets *s = begin();
    FILE *file = fopen(path, "w");
    fputs("kind: x", file);
    fclose(file);
    ask(s, 0, "http://127.0.0.1:2", first + 1);
    expect(s, "held=1\n");
    ask(s, 10, "http://127.0.0.1:1", first);
    expect(s, "under_way=1\n");
    assert_null(sets_new(path, api, error, sizeof(error)));
    assert_non_null(strstr(error, path));
    sets_free(&s);
}

static void a_question_goes_with_who_asked(void **state)
{
    (void)state;
    int64_t first = write_file("http://127.0.0.1:1");
    struct sets *s = begin();
    struct outbox out = {0};
    struct message m = {.type = MSG_peer_down};
    ask(s, 0, "http://127.0.0.1:2", first + 1);
    sets_handle(s, at(1), &(struct delivery){.from = scheduler, .message = &m}, &out);
    expect(s, "held=0\n");
    outbox_free(&out);
    sets_free(&s);
}

static int open_all(void **state)
{
    (void)state;
    char error[512];
    int fd = mkstemp(path);
    close(fd);
    FILE *file = fopen(path, "w");
    fputs("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
          "'http://127.0.0.1:1'}}]\n"
          "users: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
          "current-context: x\n",
          file);
    fclose(file);
    way = kube_config_load(path, NULL, error, sizeof(error));
    api = kube_client_new(way, &(struct kube_client_options){.user_agent = "test"}, error,
                          sizeof(error));
    return api == NULL;
}

static int close_all(void **state)
{
    (void)state;
    kube_client_free(&api);
    kube_config_free(&way);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_about_others_waits_for_the_file),
        cmocka_unit_test(one_that_the_file_never_tells_of_is_refused),
        cmocka_unit_test(a_file_that_is_wrong_changes_nothing),
        cmocka_unit_test(a_question_goes_with_who_asked),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
