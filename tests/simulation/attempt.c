/* attempt: forks, runs, and reads what the child left in shared memory. */
#include "tests/simulation/attempt.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "tests/simulation/core.h"
#include "tests/simulation/trace.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct run_result *shared;

static struct run_result *share(void)
{
    if (shared == NULL) {
        shared =
            mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        must(shared != MAP_FAILED);
    }
    return shared;
}

_Noreturn static void run(const struct plan *plan, int level, int errors, uint32_t limit_s)
{
    trace_level = level;
    log_open("sim", level > 1 ? LOG_LEVEL_info : LOG_LEVEL_error);
    if (level == 0)
        dup2(errors, STDERR_FILENO);
    else
        dup2(STDOUT_FILENO, STDERR_FILENO);
    setvbuf(stdout, NULL, level > 1 ? _IOLBF : _IOFBF, 1 << 16);
    checks_into(&shared->finding);
    coverage_into(&shared->coverage);
    plan_known();
    core_known();
    alarm(limit_s);
    plan_run(plan);
    shared->virtual_ns = clock_now();
    shared->hash = trace_hash();
    shared->steps = clock_steps();
    fflush(NULL);
    _exit(0);
}

/* It died: the last line of what it said on the way. */
static void note_death(int status, int errors)
{
    struct finding *f = &shared->finding;
    char text[4096];
    ssize_t len = pread(errors, text, sizeof(text) - 1, 0);
    text[len > 0 ? len : 0] = 0;
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = 0;
    const char *last = strrchr(text, '\n');
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    f->found = true;
    snprintf(f->check, sizeof(f->check), "%s",
             signal_number == SIGALRM ? "no endless loop" : "no crash");
    snprintf(f->text, sizeof(f->text), "signal %d: %.300s", signal_number, last ? last + 1 : text);
}

const struct run_result *attempt_run(const struct plan *plan, int level, uint32_t limit_s)
{
    struct run_result *o = share();
    int status = 0;
    int errors = memfd_create("errors", MFD_CLOEXEC);
    must(errors >= 0);
    memset(o, 0, sizeof(*o));
    fflush(NULL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        run(plan, level, errors, limit_s);
    must(waitpid(child, &status, 0) == child);
    if (!o->finding.found && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        note_death(status, errors);
    close(errors);
    return o;
}
