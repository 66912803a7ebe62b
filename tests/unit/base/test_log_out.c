/* test_log_out: lines to a pipe, a socket and a file whose reader does not read: no call waits,
 * what arrives is whole lines, and what does not is counted and told. */
#include "proto/base/log.h"
#include "proto/base/log_out.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LINES 3000 /* of 100 bytes: more than a pipe holds */

static char text[LINES * 200];
static int saved = -1, reader = -1;

static void replace_stderr(int writer, int reading)
{
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(writer, STDERR_FILENO) >= 0);
    close(writer);
    reader = reading;
    alarm(20); /* a call that waits would wait for ever */
}

static void restore_stderr(void)
{
    alarm(0);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(reader);
}

/* Adds all that is there to text; returns how long that is now. */
static size_t drain(size_t len)
{
    ssize_t n;
    while ((n = recv(reader, text + len, sizeof(text) - 1 - len, MSG_DONTWAIT)) > 0 ||
           (n < 0 && (n = read(reader, text + len, sizeof(text) - 1 - len)) > 0))
        len += (size_t)n;
    text[len] = 0;
    return len;
}

static uint64_t write_many(void)
{
    char line[128];
    uint64_t lost = 0;
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), "%06d %091d\n", i, i);
        assert_int_equal(strlen(line), 99);
        lost += !log_out(line, 99);
    }
    return lost;
}

/* Every line is whole and in its place; returns how many there are. */
static uint64_t count_lines(void)
{
    uint64_t count = 0;
    int former = -1;
    for (char *at = text; *at != 0; at = strchr(at, '\n') + 1, count++) {
        char *end = strchr(at, '\n');
        assert_non_null(end);
        assert_int_equal(end - at, 98);
        int number = (int)strtol(at, NULL, 10);
        assert_int_equal(strtol(at + 7, NULL, 10), number);
        assert_true(number > former);
        former = number;
    }
    return count;
}

static void lose_and_go_on(void)
{
    uint64_t before = log_out_lost(), lost = write_many();
    assert_true(lost > 0 && lost < LINES);
    assert_int_equal(log_out_lost() - before, lost);
    assert_int_equal(log_out_untold(), lost);
    size_t len = drain(0);
    assert_true(log_out_tell("", 0, lost)); /* also writes what a partial write left */
    drain(len);
    assert_int_equal(count_lines() + lost, LINES);
    assert_int_equal(log_out_untold(), 0);
}

static void a_full_pipe_loses_whole_lines(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    replace_stderr(ends[1], ends[0]);
    lose_and_go_on();
    assert_int_equal(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0); /* others write to it, too */
    restore_stderr();
}

static void a_full_socket_loses_whole_lines(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    replace_stderr(ends[1], ends[0]);
    lose_and_go_on();
    restore_stderr();
}

static void a_file_takes_everything(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-log-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    replace_stderr(fd, again);
    assert_int_equal(write_many(), 0);
    drain(0);
    assert_int_equal(count_lines(), LINES);
    restore_stderr();
    unlink(path);
}

static void nobody_at_the_other_end_is_survived(void **state)
{
    (void)state;
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    replace_stderr(ends[1], -1);
    assert_false(log_out("x\n", 2));
    assert_true(log_out_untold() > 0);
    restore_stderr();
    assert_true(log_out_tell("", 0, log_out_untold()));
}

static void the_next_line_is_preceded_by_how_many_were_lost(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    replace_stderr(ends[1], ends[0]);
    log_open("tester", LOG_LEVEL_info);
    for (int i = 0; i < LINES; i++)
        log_info("a line|number=%d", i);
    uint64_t lost = log_out_untold();
    assert_true(lost > 0);
    drain(0);
    log_info("the next");
    drain(0);
    char want[128];
    snprintf(want, sizeof(want),
             "level=warn proc=tester msg=\"log lines were lost: nobody read them\" lines=%llu\n",
             (unsigned long long)lost);
    char *told = strstr(text, want), *next = strstr(text, "msg=\"the next\"");
    assert_true(told != NULL && next != NULL && told < next);
    assert_int_equal(log_out_untold(), 0);
    log_catch_up();
    assert_int_equal(drain(0), 0); /* nothing more to tell */
    restore_stderr();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pipe_loses_whole_lines),
        cmocka_unit_test(a_full_socket_loses_whole_lines),
        cmocka_unit_test(a_file_takes_everything),
        cmocka_unit_test(nobody_at_the_other_end_is_survived),
        cmocka_unit_test(the_next_line_is_preceded_by_how_many_were_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
