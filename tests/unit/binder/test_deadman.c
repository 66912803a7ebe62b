/* The dead man's timer on the real clock, in children that are to die of it. */
#include "binder/deadman.h"
#include "proto/base/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARMED_MS 200
#define SPARE_MS 50

static int64_t stalled_ms; /* before the kernel hears of the timer */

static void work_until(struct moment at)
{
    while (!moment_reached(moment_now(), at))
        ;
}

static struct moment in(int64_t ms)
{
    return moment_after(moment_now(), span_of_ms(ms));
}

/* In place of the C library's: the process is stopped on its way into the kernel. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    union {
        void *symbol;
        int (*call)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    } real = {.symbol = dlsym(RTLD_NEXT, "timer_settime")};
    must(real.symbol != NULL);
    work_until(in(stalled_ms));
    return real.call(timer, flags, value, old);
}

/* How a child ends that works until a little behind the deadline. */
static int status_of(int64_t stall_ms, bool enters, bool disarms)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        deadman_open();
        struct moment at = in(ARMED_MS);
        stalled_ms = stall_ms;
        deadman_arm(at);
        if (disarms)
            deadman_arm(MOMENT_NEVER);
        if (enters)
            deadman_enter();
        work_until(moment_after(at, span_of_ms(SPARE_MS)));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void it_ends_who_works_behind_the_deadline(void **state)
{
    (void)state;
    assert_int_equal(status_of(0, true, false), DEADMAN_STATUS);
}

static void it_leaves_others_alone(void **state)
{
    (void)state;
    assert_int_equal(status_of(0, false, false), 0);
    assert_int_equal(status_of(0, true, true), 0);
}

/* Whoever is stopped between knowing the deadline and setting the timer has no more time by that.
 */
static void a_stop_while_it_is_set_does_not_move_the_deadline(void **state)
{
    (void)state;
    assert_int_equal(status_of(ARMED_MS - SPARE_MS, true, false), DEADMAN_STATUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_who_works_behind_the_deadline),
        cmocka_unit_test(it_leaves_others_alone),
        cmocka_unit_test(a_stop_while_it_is_set_does_not_move_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
