/* test_beat: what a process tells by its page is what its supervisor sees, and a page that is none
 * is refused. */
#include "proto/base/beat.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* In a process of its own: beats so often, then ends with how many lines were lost. */
static _Noreturn void be_a_process(const char *text, int beats)
{
    if (!beat_join(text))
        _exit(100);
    for (int i = 0; i < beats; i++)
        beat();
    beat_tell(1000 + (uint64_t)beats);
    _exit((int)beat_lost());
}

static int run_process(const char *text, int beats)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        be_a_process(text, beats);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static void a_beat_is_seen_in_its_slot_alone(void **state)
{
    (void)state;
    struct beats *beats = beats_new(70);
    char text[32];
    assert_non_null(beats);
    assert_true(fcntl(beats_fd(beats), F_GETFD) & FD_CLOEXEC);
    snprintf(text, sizeof(text), "%d:%d", beats_fd(beats), 69);
    beats_lost(beats, 69, 3);
    assert_int_equal(run_process(text, 5), 3);
    assert_int_equal(beats_turns(beats, 69), 5);
    assert_int_equal(beats_turns(beats, 68), 0);
    assert_int_equal(beats_size(beats, 69), 1005);
    assert_int_equal(beats_size(beats, 68), 0);
    beats_begin(beats, 69);
    assert_int_equal(beats_turns(beats, 69), 0);
    assert_int_equal(beats_size(beats, 69), 0);
    beats_lost(beats, 69, 4);
    assert_int_equal(run_process(text, 1), 7); /* of all its lives */
    beats_free(&beats);
    assert_null(beats);
}

static void what_is_no_page_is_refused(void **state)
{
    (void)state;
    struct beats *beats = beats_new(2);
    char text[32];
    static const char *const wrong[] = {"", "5", ":", "1:0", "0:0", "2:0", "-1:0", "x:0", "999:0"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(beat_join(wrong[i]));
    static const char *const slots[] = {"", "x", "1x", "2", "1000", "1024", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        snprintf(text, sizeof(text), "%d:%s", beats_fd(beats), slots[i]);
        assert_false(beat_join(text)); /* the page has two */
    }
    beat(); /* goes nowhere, and harms nobody */
    assert_int_equal(beats_turns(beats, 0) + beats_turns(beats, 1), 0);
    assert_int_equal(beat_lost(), 0);
    beats_free(&beats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beat_is_seen_in_its_slot_alone),
        cmocka_unit_test(what_is_no_page_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
