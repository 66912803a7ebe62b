/* test_child: a supervised process starts with a pid file, its output arrives, its end is noticed
 * and its restart waits longer each time until it has lived a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/child.h"
#include "ctl/ended.h"

static char folder[64];
static struct child child;
static const struct moment start = {1000000000};

static int make_child(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/berth-child-XXXXXX");
    assert_non_null(mkdtemp(folder));
    child = (struct child){.name = "worker-0", .output = -1};
    snprintf(child.pid_file, sizeof(child.pid_file), "%s/worker-0.pid", folder);
    child_arg(&child, "/bin/sh");
    child_arg(&child, "-c");
    return 0;
}

static int end_child(void **state)
{
    (void)state;
    if (child.pid != 0) {
        kill(child.pid, SIGKILL);
        waitpid(child.pid, NULL, 0);
    }
    child_free(&child);
    unlink(child.pid_file);
    rmdir(folder);
    return 0;
}

/* Waits for its end, at most 10 s, reading what it prints meanwhile. */
static int wait_for_end(void)
{
    for (int i = 0; i < 1000; i++) {
        int status;
        struct pollfd fd = {.fd = child.output, .events = POLLIN};
        if (waitpid(child.pid, &status, WNOHANG) == child.pid)
            return status;
        poll(&fd, 1, 10);
        if (fd.revents != 0)
            child_read(&child); /* closes at the end, and is then -1, which poll passes over */
    }
    fail_msg("the child did not end");
    return -1;
}

static void the_pid_file_tells_the_pid_while_it_runs(void **state)
{
    (void)state;
    child_arg(&child, "exec tail -f /dev/null"); /* until killed */
    assert_true(child_start(&child, start));
    FILE *f = fopen(child.pid_file, "r");
    char text[32] = "";
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    assert_int_equal(strtol(text, NULL, 10), child.pid);
    kill(child.pid, SIGKILL);
    child_ended(&child, wait_for_end(), start);
    assert_int_equal(child.pid, 0);
    assert_int_equal(access(child.pid_file, F_OK), -1);
}

/* Runs the body with standard error going to a file; returns what was written. */
static void captured(char *text, size_t room, void (*body)(void))
{
    char path[] = "/tmp/berth-stderr-XXXXXX";
    int fd = mkstemp(path), saved = dup(STDERR_FILENO);
    assert_true(fd >= 0 && saved >= 0);
    dup2(fd, STDERR_FILENO);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = pread(fd, text, room - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(fd);
    unlink(path);
}

static void run_to_end(void)
{
    assert_true(child_start(&child, start));
    child_ended(&child, wait_for_end(), start);
}

static void log_lines_pass_as_they_are_and_others_get_a_name(void **state)
{
    (void)state;
    char text[4096];
    child_arg(&child, "echo 'ts=1 level=info msg=\"mine\"' >&2; printf 'Segmentation \"fault\"'");
    captured(text, sizeof(text), run_to_end);
    assert_non_null(strstr(text, "ts=1 level=info msg=\"mine\"\n"));
    assert_non_null(strstr(text, "msg=\"output\" name=worker-0 text=\"Segmentation 'fault'\""));
    assert_non_null(strstr(text, "msg=\"process ended\" name=worker-0"));
}

static void restarts_wait_longer_each_time(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
    child_arg(&child, "exit 3");
    for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
        run_to_end();
        assert_int_equal(span_ms(moment_since(child.restart_at, start)), waits_ms[i]);
    }
    assert_true(child_start(&child, start));
    struct moment later = moment_after(start, span_of_ms(10000));
    child_ended(&child, wait_for_end(), later);
    assert_int_equal(span_ms(moment_since(child.restart_at, later)), 100);
}

/* What is noted in its folder; 0: nothing is. */
static size_t noted(struct ended *e)
{
    return ended_read(folder, e, 1);
}

static void who_ends_again_and_again_is_noted_until_it_lives(void **state)
{
    (void)state;
    struct ended e;
    struct moment lived = moment_after(start, span_of_ms(10000));
    child_arg(&child, "test ! -e \"$0\" || exit 3; kill -9 $$");
    child_arg(&child, "%s/worker-0.ended", folder);
    assert_int_equal(noted(&e), 0);
    run_to_end(); /* by the signal; then the note is there */
    assert_int_equal(noted(&e), 1);
    assert_string_equal(e.name, "worker-0");
    assert_int_equal(e.times, 1);
    assert_string_equal(e.how, "by signal 9");
    run_to_end();
    run_to_end();
    assert_int_equal(noted(&e), 1);
    assert_int_equal(e.times, 3);
    assert_string_equal(e.how, "with status 3");
    assert_true(child_start(&child, start));
    child_look(&child, moment_after(start, span_of_ms(9999)));
    assert_int_equal(noted(&e), 1);
    child_look(&child, lived);
    assert_int_equal(noted(&e), 0);
    child_ended(&child, wait_for_end(), lived); /* the first in a row again */
    assert_int_equal(noted(&e), 1);
    assert_int_equal(e.times, 1);
    child_retire(&child);
    assert_int_equal(noted(&e), 0);
}

static void a_note_that_is_none_says_nothing(void **state)
{
    (void)state;
    static const char *const none[] = {"",         "\n",         "3",
                                       "3 status", "x status 1", "0 status 1",
                                       "3 sort 1", "3 status x", "-1 signal 9"};
    struct ended e;
    char path[128];
    snprintf(path, sizeof(path), "%s/worker-0.ended", folder);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(none[i], f);
        fclose(f);
        assert_int_equal(noted(&e), 0);
    }
    unlink(path);
}

static void what_a_former_supervisor_noted_is_gone(void **state)
{
    (void)state;
    struct ended e;
    ended_note(child.pid_file, 7, 3 << 8);
    assert_int_equal(noted(&e), 1);
    child_arg(&child, "true");
    assert_true(child_start(&child, start));
    assert_int_equal(noted(&e), 0);
    child.leaving = true; /* its end is wanted */
    child_ended(&child, wait_for_end(), start);
    assert_int_equal(noted(&e), 0);
}

static void each_life_is_told_how_often_former_ones_ended_lately(void **state)
{
    (void)state;
    static const int64_t starts_ms[] = {0, 1000, 2000, 3000, 62500, 200000};
    static const int falls[] = {0, 1, 2, 3, 1, 0};
    child_arg(&child, "test \"$0\" != --falls=0 || exit 10; exit ${0#--falls=}");
    child_tell_falls(&child);
    for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
        struct moment now = moment_after(start, span_of_ms(starts_ms[i]));
        assert_true(child_start(&child, now));
        int status = wait_for_end();
        child_ended(&child, status, now);
        assert_int_equal(WEXITSTATUS(status), falls[i] == 0 ? 10 : falls[i]);
    }
    assert_int_equal(child.argc, 4);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    (void)state;
    char text[4096];
    child_arg(&child, "true");
    free(child.argv[0]);
    child.argv[0] = strdup("/nowhere/berth-queue");
    captured(text, sizeof(text), run_to_end);
    assert_non_null(strstr(text, "cannot execute /nowhere/berth-queue: No such file"));
    assert_non_null(strstr(text, "status=127"));
}

/* Its loop has turned, as its page says, and stands since. */
static void hang(void)
{
    int fd = fcntl(beats_fd(child.beats), F_DUPFD_CLOEXEC, 10), status;
    char page[32];
    snprintf(page, sizeof(page), "%d:0", fd);
    assert_true(child_start(&child, start));
    assert_true(beat_join(page)); /* in its place: tail has no loop of ours */
    beat();
    assert_int_equal(kill(child.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
    struct moment now = start;
    int looks = 0;
    while (waitpid(child.pid, &status, WNOHANG) == 0 && looks++ < 1000) {
        child_look(&child, now);
        if (looks > 2 * PULSE_STILL_MS / PULSE_LOOK_MS)
            poll(NULL, 0, 10); /* it was killed by now, and ends at any time */
        else
            now = moment_after(now, span_of_ms(PULSE_LOOK_MS));
    }
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    child_ended(&child, status, now);
}

static void one_that_hangs_is_killed(void **state)
{
    (void)state;
    char text[8192];
    child.beats = beats_new(1);
    assert_non_null(child.beats);
    child_arg(&child, "exec tail -f /dev/null");
    captured(text, sizeof(text), hang);
    assert_non_null(strstr(text, "msg=\"process hangs and is killed\" name=worker-0"));
    assert_non_null(strstr(text, "reason=\"its loop stands, and it does not run\""));
    assert_non_null(strstr(text, "silent_ms=5000"));
    beats_free(&child.beats);
}

static void one_that_nobody_needs_ends_until_it_is_wanted_again(void **state)
{
    (void)state;
    int status;
    child_arg(&child, "exec tail -f /dev/null");
    assert_true(child_start(&child, start));
    child_retire(&child);
    assert_true(child.retired);
    status = wait_for_end();
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    child_ended(&child, status, start);
    assert_int_equal(child.pid, 0);
    child_retire(&child); /* who has ended is told nothing */
    struct moment later = moment_after(start, span_of_seconds(100));
    child_want(&child, later);
    assert_false(child.retired);
    assert_true(moment_reached(later, child.restart_at));
}

/* Nobody reads our standard error, and it says more than a pipe holds. */
static void a_child_never_waits_for_who_reads_the_log(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDERR_FILENO);
    child.beats = beats_new(1);
    child_arg(&child, "for i in 0 1 2 3 4 5 6 7 8 9; do for k in 0 1 2 3 4 5 6 7 8 9; do "
                      "printf 'ts=1 level=info msg=\"%%2000d\"\\n' $i; done; done >&2; exit 7");
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    alarm(20);
    assert_true(child_start(&child, start));
    int status = wait_for_end();
    child_ended(&child, status, start);
    alarm(0);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(ends[0]);
    assert_int_equal(WEXITSTATUS(status), 7); /* it came to its end */
    beats_free(&child.beats);
}

static void each_life_has_a_recording_of_its_own(void **state)
{
    (void)state;
    char dir[] = "/tmp/berth-recordings-XXXXXX", path[128];
    assert_non_null(mkdtemp(dir));
    child_arg(&child,
              "touch ${1#--record=} && test \"$0\" = --falls=0"); /* sh has it as $0 and $1 */
    child_tell_falls(&child);
    child_record(&child, dir);
    for (int i = 1; i <= 3; i++) {
        child.restarts = 0;
        assert_true(child_start(&child, start));
        int status = wait_for_end();
        child_ended(&child, status, start);
        assert_int_equal(WEXITSTATUS(status), 0);
        snprintf(path, sizeof(path), "%s/worker-0.%d.rec", dir, i);
        assert_int_equal(access(path, F_OK), 0);
        snprintf(path, sizeof(path), "%s/worker-0.%d.rec", dir, i + 1);
        assert_int_equal(access(path, F_OK), -1);
    }
    for (int i = 1; i <= 3; i++) {
        snprintf(path, sizeof(path), "%s/worker-0.%d.rec", dir, i);
        unlink(path);
    }
    rmdir(dir);
}

/* Asked to end it ends, and its next life is recorded. */
static void a_recording_begins_with_a_new_life_at_once(void **state)
{
    (void)state;
    char path[128];
    child_arg(&child, "exec tail -f /dev/null");
    assert_true(child_start(&child, start));
    child_record_now(&child, folder);
    child_ended(&child, wait_for_end(), start);
    assert_int_equal(child.pid, 0);
    assert_int_equal(child.restart_at.ns, start.ns);
    assert_int_equal(child_fell(&child, start), 0);
    assert_int_equal(child.backoff.ns, 0);
    assert_true(child_start(&child, start));
    snprintf(path, sizeof(path), "--record=%s/worker-0.1.rec", folder);
    assert_string_equal(child.argv[child.argc - 1], path);
    child_record_end(&child); /* which waits until it is listened to */
    assert_int_equal(kill(child.pid, 0), 0);
    kill(child.pid, SIGKILL);
    int status = wait_for_end();
    assert_int_equal(WTERMSIG(status), SIGKILL);
    child_ended(&child, status, start);
    assert_int_equal(child_fell(&child, start), 1); /* this end was nobody's wish */
    assert_true(child_start(&child, start));
    assert_null(strstr(child.argv[child.argc - 1], "--record"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_child, end_child)
    const struct CMUnitTest tests[] = {
        TEST(the_pid_file_tells_the_pid_while_it_runs),
        TEST(log_lines_pass_as_they_are_and_others_get_a_name),
        TEST(restarts_wait_longer_each_time),
        TEST(who_ends_again_and_again_is_noted_until_it_lives),
        TEST(a_note_that_is_none_says_nothing),
        TEST(what_a_former_supervisor_noted_is_gone),
        TEST(each_life_is_told_how_often_former_ones_ended_lately),
        TEST(each_life_has_a_recording_of_its_own),
        TEST(a_recording_begins_with_a_new_life_at_once),
        TEST(a_program_that_is_not_there_is_named),
        TEST(one_that_hangs_is_killed),
        TEST(one_that_nobody_needs_ends_until_it_is_wanted_again),
        TEST(a_child_never_waits_for_who_reads_the_log),
    };
    return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
