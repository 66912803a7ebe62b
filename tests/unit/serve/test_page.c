/* test_page: sessions give back what was signed in with and nothing else; readers of the stream get
 * each line whole, in order, or are told everything again; a helper cannot stay or flood. */
#include "ctl/serve/errands.h"
#include "ctl/serve/files.h"
#include "ctl/serve/helper.h"
#include "ctl/serve/live.h"
#include "ctl/serve/sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

static struct moment at_ms(int64_t ms)
{
    return moment_after((struct moment){1000000000}, span_of_ms(ms));
}

/* ---- sessions ---- */

static const char *cookie(const char *name)
{
    static char text[200];
    snprintf(text, sizeof(text), "a=b; " SESSION_COOKIE "=%s; c=d", name);
    return text;
}

static void a_session_is_its_token(void **state)
{
    (void)state;
    struct sessions *s = sessions_new();
    char one[SESSION_NAME], other[SESSION_NAME], wrong[SESSION_NAME];
    sessions_add(s, at_ms(0), STR_LITERAL("secret-1"), one);
    sessions_add(s, at_ms(0), STR_LITERAL("secret-2"), other);
    assert_int_equal(strlen(one), SESSION_NAME - 1);
    assert_string_not_equal(one, other);
    assert_true(str_is(sessions_token(s, at_ms(1), cookie(one)), "secret-1"));
    assert_true(str_is(sessions_token(s, at_ms(1), cookie(other)), "secret-2"));
    memcpy(wrong, one, sizeof(wrong));
    wrong[SESSION_NAME - 2] ^= 1;
    assert_int_equal(sessions_token(s, at_ms(1), cookie(wrong)).len, 0);
    assert_int_equal(sessions_token(s, at_ms(1), cookie("")).len, 0);
    assert_int_equal(sessions_token(s, at_ms(1), "").len, 0);
    assert_int_equal(sessions_token(s, at_ms(1), one).len, 0); /* without its cookie's name */
    sessions_end(s, cookie(one));
    assert_int_equal(sessions_token(s, at_ms(1), cookie(one)).len, 0);
    assert_true(str_is(sessions_token(s, at_ms(1), cookie(other)), "secret-2"));
    sessions_free(&s);
}

static void a_session_that_is_not_used_ends(void **state)
{
    (void)state;
    struct sessions *s = sessions_new();
    char name[SESSION_NAME];
    sessions_add(s, at_ms(0), STR_LITERAL("secret"), name);
    assert_int_not_equal(sessions_token(s, at_ms(SESSIONS_IDLE_MS - 1), cookie(name)).len, 0);
    assert_int_not_equal(sessions_token(s, at_ms(SESSIONS_IDLE_MS + 5), cookie(name)).len, 0);
    assert_int_equal(sessions_token(s, at_ms(2 * SESSIONS_IDLE_MS + 5), cookie(name)).len, 0);
    sessions_free(&s);
}

static void the_one_not_used_for_longest_gives_way(void **state)
{
    (void)state;
    struct sessions *s = sessions_new();
    static char names[SESSIONS_MAX + 1][SESSION_NAME];
    for (int i = 0; i < SESSIONS_MAX; i++)
        sessions_add(s, at_ms(i), STR_LITERAL("secret"), names[i]);
    (void)sessions_token(s, at_ms(5000), cookie(names[0])); /* it is used */
    sessions_add(s, at_ms(6000), STR_LITERAL("new"), names[SESSIONS_MAX]);
    assert_int_not_equal(sessions_token(s, at_ms(6001), cookie(names[0])).len, 0);
    assert_int_equal(sessions_token(s, at_ms(6001), cookie(names[1])).len, 0);
    assert_true(str_is(sessions_token(s, at_ms(6001), cookie(names[SESSIONS_MAX])), "new"));
    sessions_free(&s);
}

/* ---- errands ---- */

/* A shell stands in for `berth`: what it is to do is its argument. */
static bool run(const char *script, struct str input, struct errand_answer *answer)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    struct errands *e = errands_new(fd);
    const char *const argv[] = {"-c", script, NULL};
    struct epoll_event event;
    struct moment next, begun = moment_now();
    helper_set_program("/bin/sh");
    int64_t number = errands_add(e, begun, argv, input);
    bool there = false;
    while (!there && span_ms(moment_since(moment_now(), begun)) < 5000) {
        (void)errands_work(e, moment_now(), &next);
        there = errands_take(e, number, answer);
        if (!there)
            (void)epoll_wait(fd, &event, 1, 10);
    }
    errands_free(&e);
    close(fd);
    helper_set_program(NULL);
    return there;
}

static void drop(struct errand_answer *answer)
{
    buffer_free(&answer->out);
    buffer_free(&answer->err);
}

static void an_errand_has_its_input_answer_and_status(void **state)
{
    (void)state;
    struct errand_answer answer;
    assert_true(run("cat; echo \"$HOME\" >&2; exit 3", STR_LITERAL("kind: Pod\n"), &answer));
    assert_true(answer.finished);
    assert_int_equal(answer.status, 3);
    assert_string_equal(answer.out.at, "kind: Pod\n");
    assert_string_equal(answer.err.at, "\n"); /* nothing of our environment */
    drop(&answer);
}

static void an_errand_may_not_flood(void **state)
{
    (void)state;
    struct errand_answer answer;
    assert_true(
        run("yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", (struct str){0}, &answer));
    assert_false(answer.finished);
    assert_true(answer.out.len <= ERRANDS_ANSWER);
    drop(&answer);
    assert_true(run("kill -9 $$", (struct str){0}, &answer));
    assert_false(answer.finished);
    drop(&answer);
}

/* Where there is no `berth` beside us. */

static void an_errand_that_cannot_be_started_has_not_finished(void **state)
{
    (void)state;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    struct errands *e = errands_new(fd);
    const char *const argv[] = {"queue", "-o=json", NULL};
    struct errand_answer answer;
    struct moment next;
    int64_t numbers[ERRANDS_MAX];
    for (int i = 0; i < ERRANDS_MAX; i++) {
        numbers[i] = errands_add(e, at_ms(0), argv, (struct str){0});
        assert_int_not_equal(numbers[i], 0);
    }
    assert_int_equal(errands_add(e, at_ms(0), argv, (struct str){0}), 0); /* too many */
    assert_false(errands_take(e, numbers[0], &answer));
    assert_true(errands_work(e, at_ms(1), &next));
    for (int i = 0; i < ERRANDS_MAX - 1; i++) {
        assert_true(errands_take(e, numbers[i], &answer));
        assert_false(answer.finished);
    }
    assert_true(errands_take(e, numbers[0], &answer)); /* it is not known any more */
    assert_int_not_equal(errands_add(e, at_ms(2), argv, (struct str){0}), 0);
    (void)errands_work(e, at_ms(3), &next);
    (void)errands_work(e, at_ms(3 + 2 * ERRANDS_KEEP_MS), &next); /* nobody has fetched it */
    assert_true(errands_take(e, numbers[ERRANDS_MAX - 1], &answer));
    for (int i = 0; i < ERRANDS_MAX; i++)
        assert_int_not_equal(errands_add(e, at_ms(30000), argv, (struct str){0}), 0);
    errands_free(&e);
    close(fd);
}

/* ---- the stream ---- */

struct stage {
    struct live_stream *live;
    int fd;
    char got[4096];
};

/* One line is everything, then one change for each line that it reads; "again" is everything. */
static char script[] = "n=1; echo '{\"kind\":\"whole\",\"n\":0}'; while read x; do "
                       "echo '{\"kind\":\"again\",\"n\":'$n'}'; "
                       "echo '{\"kind\":\"changes\",\"n\":'$n'}'; n=$((n+1)); done";
static char dash_c[] = "-c";
static char *const shell[] = {dash_c, script, NULL};

static void open_stage(struct stage *s)
{
    s->fd = epoll_create1(EPOLL_CLOEXEC);
    s->live = live_stream_new(shell, s->fd);
    helper_set_program("/bin/sh");
}

static void close_stage(struct stage *s)
{
    live_stream_free(&s->live);
    close(s->fd);
    helper_set_program(NULL);
}

/* What the reader gets until that text is in it, a few bytes at a time. */
static const char *read_until(struct stage *s, struct live_reader *r, const char *text)
{
    struct moment next, begun = moment_now();
    struct epoll_event event;
    size_t len = 0;
    s->got[0] = 0;
    while (strstr(s->got, text) == NULL && span_ms(moment_since(moment_now(), begun)) < 5000) {
        (void)live_work(s->live, moment_now(), &next);
        ssize_t n = live_read(s->live, r, moment_now(), s->got + len, 7);
        assert_true(n >= 0);
        len += (size_t)n;
        s->got[len] = 0;
        if (n == 0)
            (void)epoll_wait(s->fd, &event, 1, 10);
    }
    return s->got;
}

static void expect(const char *got, const char *text, bool there)
{
    if ((strstr(got, text) != NULL) != there)
        fail_msg("\"%s\" is %sin: %s", text, there ? "not " : "", got);
}

static void readers_get_everything_first_then_changes(void **state)
{
    (void)state;
    struct stage s;
    open_stage(&s);
    struct live_reader *one = live_join(s.live, moment_now(), "");
    const char *got = read_until(&s, one, "\"n\":0}\n\n");
    expect(got, "retry: 500\nid: ", true);
    expect(got, "\ndata: {\"kind\":\"whole\",\"n\":0}\n\n", true);
    assert_false(live_has_more(s.live, one, moment_now()));
    struct live_reader *two = live_join(s.live, moment_now(), "");
    got = read_until(&s, two, "\"changes\",\"n\":1}\n\n");
    expect(got, "{\"kind\":\"again\",\"n\":1}", true);
    expect(got, "whole", false);
    char last[64];
    snprintf(last, sizeof(last), "%.18s", strstr(got, "id: ") + 4);
    got = read_until(&s, one, "\"changes\",\"n\":1}\n\n"); /* who has it is not told again */
    expect(got, "again", false);
    live_leave(s.live, &two);
    two = live_join(s.live, moment_now(), last); /* goes on behind the second line, "again" */
    got = read_until(&s, two, "\"changes\",\"n\":1}\n\n");
    expect(got, "again", false);
    live_leave(s.live, &two);
    live_leave(s.live, &one);
    close_stage(&s);
}

static void a_stream_ends_and_readers_are_few(void **state)
{
    (void)state;
    struct stage s;
    struct live_reader *readers[LIVE_READERS_MAX];
    struct moment later = moment_after(moment_now(), span_of_seconds(LIVE_SECONDS + 1));
    char to[64];
    open_stage(&s);
    for (int i = 0; i < LIVE_READERS_MAX; i++) {
        readers[i] = live_join(s.live, moment_now(), "nonsense-");
        assert_non_null(readers[i]);
    }
    assert_null(live_join(s.live, moment_now(), ""));
    assert_int_equal(live_read(s.live, readers[0], moment_now(), to, sizeof(to)), 0);
    struct moment quiet = moment_after(moment_now(), span_of_ms(LIVE_QUIET_MS + 1));
    assert_int_equal(live_read(s.live, readers[0], quiet, to, sizeof(to)), 4); /* a comment */
    assert_true(live_has_more(s.live, readers[0], later));
    assert_int_equal(live_read(s.live, readers[0], later, to, sizeof(to)), -1);
    live_leave(s.live, &readers[0]);
    assert_non_null(live_join(s.live, moment_now(), ""));
    close_stage(&s);
}

/* ---- files ---- */

static void pages_have_nothing_inline_and_nothing_from_elsewhere(void **state)
{
    (void)state;
    static const char *const paths[] = {"/ui/",       "/ui/page.css", "/ui/page.js", "/ui/state.js",
                                        "/ui/map.js", "/ui/plots.js", "/ui/ask.js"};
    struct file file;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_true(files_find(paths[i], &file));
        assert_int_not_equal(file.bytes.len, 0);
        static const char *const bad[] = {
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", " style=\"", "eval(",
            "https://",  "http://",   "<script>",           " onclick"};
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
            if (memmem(file.bytes.at, file.bytes.len, bad[k], strlen(bad[k])) != NULL)
                fail_msg("%s has %s", paths[i], bad[k]);
    }
    assert_false(files_find("/ui/page.png", &file));
    assert_false(files_find("/ui/../page.js", &file));
    assert_null(memmem(files_sign_in().at, files_sign_in().len, "<script", 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_its_token),
        cmocka_unit_test(a_session_that_is_not_used_ends),
        cmocka_unit_test(the_one_not_used_for_longest_gives_way),
        cmocka_unit_test(an_errand_has_its_input_answer_and_status),
        cmocka_unit_test(an_errand_may_not_flood),
        cmocka_unit_test(readers_get_everything_first_then_changes),
        cmocka_unit_test(a_stream_ends_and_readers_are_few),
        cmocka_unit_test(an_errand_that_cannot_be_started_has_not_finished),
        cmocka_unit_test(pages_have_nothing_inline_and_nothing_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
