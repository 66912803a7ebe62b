/* test_record: how a recording is asked for and ended, and how journals become one file. */
#include "ctl/child.h"
#include "ctl/record/control.h"
#include "ctl/record/gather.h"
#include "ctl/record/member.h"
#include "proto/base/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static struct control control;
static const struct moment start = {1000000000};

static int open_door(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/berth-record-XXXXXX");
    assert_non_null(mkdtemp(dir));
    control_open(&control, dir);
    assert_true(control_fd(&control) >= 0);
    return 0;
}

static int close_door(void **state)
{
    (void)state;
    control_close(&control, dir);
    gather_remove(dir);
    return access(dir, F_OK) == 0 ? -1 : 0; /* nothing is left in it */
}

static int call(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/" CONTROL_SOCKET, dir);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void say(int fd, const char *line)
{
    assert_int_equal(send(fd, line, strlen(line), 0), strlen(line));
}

/* What has come; "" when nothing has, "gone" when it hung up. */
static const char *heard(int fd)
{
    static char text[1024];
    ssize_t got = recv(fd, text, sizeof(text) - 1, 0);
    text[got > 0 ? got : 0] = 0;
    return got == 0 ? "gone" : text;
}

static struct moment at_s(double seconds)
{
    return moment_after(start, span_of_seconds(seconds));
}

static void it_lasts_as_long_as_its_caller(void **state)
{
    char line[128];
    (void)state;
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    int fd = call();
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    say(fd, "record 60 ");
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    snprintf(line, sizeof(line), "%s\n", dir);
    say(fd, line);
    assert_int_equal(control_look(&control, start, NULL), CONTROL_record);
    assert_string_equal(control.dir, dir);
    assert_string_equal(heard(fd), "recording\n");
    assert_int_equal(control_look(&control, at_s(59), NULL), CONTROL_nothing);
    close(fd);
    assert_int_equal(control_look(&control, at_s(59), NULL), CONTROL_end);
    assert_int_equal(control_look(&control, at_s(59), NULL), CONTROL_nothing);
}

static void a_directory_whose_name_is_too_long_is_refused(void **state)
{
    char line[CONTROL_LINE_MAX], name[CHILD_RECORD_DIR_MAX];
    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    snprintf(line, sizeof(line), "record 60 //%s\n", name); /* one byte more than it may have */
    int fd = call();
    say(fd, line);
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    assert_string_equal(heard(fd), "error the directory's name is too long\n");
    close(fd);
}

static void asked_again_it_begins_anew(void **state)
{
    char line[128];
    (void)state;
    int fd = call();
    say(fd, "record 60 /tmp\n");
    assert_int_equal(control_look(&control, start, NULL), CONTROL_record);
    assert_string_equal(heard(fd), "recording\n");
    snprintf(line, sizeof(line), "record 30 %s\n", dir);
    say(fd, line);
    assert_int_equal(control_look(&control, at_s(10), NULL), CONTROL_record);
    assert_string_equal(heard(fd), "recording\n");
    assert_string_equal(control.dir, dir);
    assert_int_equal(control_deadline(&control).ns, at_s(40).ns);
    say(fd, "record 30 /nowhere/at/all\n"); /* what is refused ends it */
    assert_int_equal(control_look(&control, at_s(20), NULL), CONTROL_end);
    assert_string_equal(heard(fd), "error No such file or directory\n");
    assert_string_equal(heard(fd), "gone");
    close(fd);
}

static void it_ends_when_its_time_is_over(void **state)
{
    char line[128];
    (void)state;
    int fd = call();
    snprintf(line, sizeof(line), "record 60 %s\n", dir);
    say(fd, line);
    assert_int_equal(control_look(&control, start, NULL), CONTROL_record);
    assert_string_equal(heard(fd), "recording\n");
    assert_int_equal(control_deadline(&control).ns, at_s(60).ns);
    assert_int_equal(control_look(&control, at_s(60), NULL), CONTROL_end);
    assert_string_equal(heard(fd), "ended\n");
    assert_string_equal(heard(fd), "gone");
    close(fd);
    fd = call(); /* and the next one may come */
    say(fd, line);
    assert_int_equal(control_look(&control, at_s(61), NULL), CONTROL_record);
    close(fd);
}

static void another_is_told_that_one_is_under_way(void **state)
{
    (void)state;
    int one = call();
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    int other = call(); /* the one may yet say nothing */
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    assert_int_equal(control_door_fd(&control), -1);
    assert_string_equal(heard(other), "");
    say(one, "record 60 /tmp\n");
    assert_int_equal(control_look(&control, start, NULL), CONTROL_record);
    assert_string_equal(heard(other), "error a recording is under way already\n");
    assert_string_equal(heard(other), "gone");
    close(other);
    other = call();
    assert_true(control_door_fd(&control) >= 0);
    say(other, "record 60 /tmp\n");
    close(one); /* at the same time: there is room again */
    assert_int_equal(control_look(&control, start, NULL), CONTROL_end);
    assert_int_equal(control_look(&control, start, NULL), CONTROL_record);
    assert_string_equal(heard(other), "recording\n");
    close(other);
}

static void what_cannot_be_is_refused_in_words(void **state)
{
    static const char *const wrong[] = {
        "hello\n",           "record 60\n",     "record 0 /tmp\n",     "record -1 /tmp\n",
        "record 1e9 /tmp\n", "record 60 tmp\n", "record 999999 /tmp\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int fd = call();
        say(fd, wrong[i]);
        assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
        assert_string_equal(heard(fd), "error this is understood: record SECONDS /DIR\n");
        assert_string_equal(heard(fd), "gone");
        close(fd);
    }
    int fd = call();
    say(fd, "record 60 /nowhere/at/all\n");
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    assert_string_equal(heard(fd), "error No such file or directory\n");
    close(fd);
    fd = call();
    say(fd, "record 60 /tmp\n");
    assert_int_equal(control_look(&control, start, "not now"), CONTROL_nothing);
    assert_string_equal(heard(fd), "error not now\n");
    close(fd);
}

static void who_says_nothing_or_too_much_is_hung_up_on(void **state)
{
    char much[CONTROL_LINE_MAX + 1] = "";
    (void)state;
    int fd = call();
    assert_int_equal(control_look(&control, start, NULL), CONTROL_nothing);
    assert_int_equal(control_look(&control, at_s(1.9), NULL), CONTROL_nothing);
    assert_string_equal(heard(fd), "");
    assert_int_equal(control_look(&control, at_s(2), NULL), CONTROL_nothing);
    assert_string_equal(heard(fd), "error nothing was asked\n");
    close(fd);
    fd = call();
    memset(much, 'x', CONTROL_LINE_MAX);
    say(fd, much);
    assert_int_equal(control_look(&control, at_s(3), NULL), CONTROL_nothing);
    assert_string_equal(heard(fd), "error a line is too long\n");
    close(fd);
}

static void the_door_is_for_its_owner_alone(void **state)
{
    struct stat s;
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/" CONTROL_SOCKET, dir);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
}

/* ---- gathering ---- */

static void add(struct buffer *out, enum journal_kind kind, int64_t wall_us, int64_t type)
{
    journal_put(out, &(struct journal_entry){
                         .kind = kind, .wall_us = wall_us, .type = type, .process = BINDER});
}

/* A life of the scheduler that has bound a pod, and preempted for another. */
static void write_life(const char *name, bool whole)
{
    char path[128];
    struct buffer bytes = {0};
    journal_put_head(&bytes, &(struct journal_head){.program = STR_LITERAL("0.1.0"),
                                                    .process = STR_LITERAL("scheduler")});
    add(&bytes, JOURNAL_turn, 1000000, 0);
    add(&bytes, JOURNAL_message, 0, MSG_bind);
    add(&bytes, JOURNAL_message, 0, MSG_pod_failed);
    add(&bytes, JOURNAL_turn, 2000000, 0);
    add(&bytes, JOURNAL_message, 0, MSG_preempt);
    if (whole)
        add(&bytes, JOURNAL_end, 0, 0);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.at, 1, bytes.len, f), bytes.len);
    assert_int_equal(fclose(f), 0);
    buffer_free(&bytes);
}

static void journals_become_one_file_in_their_order(void **state)
{
    static const char *const order[] = {"about", "queue.1", "scheduler.2", "scheduler.10",
                                        "worker-0.1"};
    char path[128], error[256];
    const char *wrong;
    struct buffer why = {0};
    struct gathered what;
    struct member m;
    (void)state;
    write_life("worker-0.1.rec", true);
    write_life("scheduler.10.rec", true);
    write_life("scheduler.2.rec", false); /* killed; not the last of its process */
    write_life("queue.1.rec", true);
    what = gather_look(dir);
    assert_int_equal(what.lives, 4);
    assert_int_equal(what.unended, 0);
    snprintf(path, sizeof(path), "%s.day", dir);
    assert_true(gather(dir, path, STR_LITERAL("{}"), &what, &why));
    assert_int_equal(what.lives, 4);
    struct archive *a = archive_open(path, error, sizeof(error));
    for (size_t i = 0; i < 5; i++) {
        assert_true(member_next(a, &m, &wrong));
        assert_string_equal(m.name, order[i]);
        assert_int_equal(m.process, i == 0 ? 0 : SCHEDULER);
        assert_int_equal(m.decisions, i == 0 ? 0 : 2);
        assert_int_equal(m.entries, i == 0 ? 0 : 5);
        assert_int_equal(m.ended_us - m.began_us, i == 0 ? 0 : 2000000);
        member_free(&m);
    }
    assert_false(member_next(a, &m, &wrong));
    assert_null(wrong);
    archive_free(&a);
    assert_false(gather(dir, path, STR_LITERAL("{}"), &what, &why));
    assert_non_null(strstr(why.at, "is there already"));
    buffer_free(&why);
    unlink(path);
}

static void a_life_without_its_end_is_seen(void **state)
{
    (void)state;
    write_life("scheduler.1.rec", false);
    assert_int_equal(gather_look(dir).unended, 1);
    write_life("scheduler.2.rec", true);
    assert_int_equal(gather_look(dir).unended, 0);
    assert_true(gather_look(dir).raw > 100);
}

static void a_program_that_is_not_there_is_no_verdict(void **state)
{
    char path[128], error[256];
    const char *wrong;
    struct buffer why = {0};
    struct gathered what;
    struct member m;
    (void)state;
    write_life("scheduler.1.rec", true);
    snprintf(path, sizeof(path), "%s.day", dir);
    assert_true(gather(dir, path, STR_LITERAL("no journal"), &what, &why));
    struct archive *a = archive_open(path, error, sizeof(error));
    assert_true(member_next(a, &m, &wrong));
    member_start(&m, "/nowhere");
    member_finish(&m);
    assert_true(m.odd && !m.alike);
    assert_string_equal(m.said.at, "is no journal of a process of berth");
    member_free(&m);
    assert_true(member_next(a, &m, &wrong));
    member_start(&m, "/nowhere");
    member_finish(&m);
    assert_true(m.odd && !m.alike);
    assert_string_equal(m.said.at,
                        "cannot execute /nowhere/berth-scheduler: No such file or directory");
    member_free(&m);
    archive_free(&a);
    buffer_free(&why);
    unlink(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)
    const struct CMUnitTest tests[] = {
        TEST(it_lasts_as_long_as_its_caller),
        TEST(a_directory_whose_name_is_too_long_is_refused),
        TEST(asked_again_it_begins_anew),
        TEST(it_ends_when_its_time_is_over),
        TEST(another_is_told_that_one_is_under_way),
        TEST(what_cannot_be_is_refused_in_words),
        TEST(who_says_nothing_or_too_much_is_hung_up_on),
        TEST(the_door_is_for_its_owner_alone),
        TEST(journals_become_one_file_in_their_order),
        TEST(a_life_without_its_end_is_seen),
        TEST(a_program_that_is_not_there_is_no_verdict),
    };
    log_open("test", LOG_LEVEL_error);
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
