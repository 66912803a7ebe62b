/* deadman: one timer, one signal, one flag. What must stay true: the handler does only what is
 * allowed in a handler, and the signal goes to the thread that writes, so that it cannot run on
 * before it has been handled. */
#include "binder/deadman.h"
#include "proto/base/must.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL SIGALRM

static volatile sig_atomic_t inside;
static bool opened;
static timer_t timer;
static struct moment armed;

static void on_deadline(int number)
{
    static const char line[] =
        "level=error proc=binder msg=\"woke up behind the lease's deadline while writing: ends\"\n";
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)number;
    if (!inside)
        return;
    /* Not if whoever reads the log has stopped: the end does not wait for that. */
    if (poll(&room, 1, 0) == 1 && write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
        _exit(DEADMAN_STATUS);
    _exit(DEADMAN_STATUS);
}

void deadman_open(void)
{
    struct sigaction action = {.sa_handler = on_deadline, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
    sigemptyset(&action.sa_mask);
    must(sigaction(SIGNAL, &action, NULL) == 0);
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    /* Suspended time counts: the lease runs out during it as well. */
    must(timer_create(CLOCK_BOOTTIME, &event, &timer) == 0);
    armed = (struct moment){0};
    inside = 0;
    opened = true;
}

void deadman_close(void)
{
    inside = 0;
    if (!opened)
        return;
    opened = false;
    timer_delete(timer);
    signal(SIGNAL, SIG_DFL);
}

/* The moment on the timer's clock, which runs on while the host is suspended. That clock is read
 * first: whatever stops us between the two makes the deadline earlier and never later. */
static int64_t on_timers_clock(struct moment at)
{
    int64_t boot_ns = moment_boot_ns();
    int64_t ns = moment_after(at, (struct span){boot_ns - moment_now().ns}).ns;
    return ns > 0 ? ns : 1; /* 0 would take the timer away */
}

/* Absolute, as a process can be stopped at any step of this. */
void deadman_arm(struct moment at)
{
    struct itimerspec spec;
    if (at.ns == MOMENT_NEVER.ns)
        at.ns = 0;
    if (!opened || at.ns == armed.ns)
        return;
    memset(&spec, 0, sizeof(spec));
    if (at.ns > 0) {
        int64_t ns = on_timers_clock(at);
        spec.it_value.tv_sec = ns / 1000000000;
        spec.it_value.tv_nsec = ns % 1000000000;
    }
    must(timer_settime(timer, TIMER_ABSTIME, &spec, NULL) == 0);
    armed = at;
}

void deadman_enter(void)
{
    inside = 1;
}

void deadman_leave(void)
{
    inside = 0;
}
