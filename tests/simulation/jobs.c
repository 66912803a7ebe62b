/* jobs: forks, a counter in shared memory, and a lock around what is said. What must stay true: a
 * job that dies holds up nobody. */
#include "tests/simulation/jobs.h"

#include "proto/base/must.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX 256

static struct {
    struct shared {
        _Atomic uint64_t next;
        atomic_bool stopped;
    } * shared;
    int lock; /* a file that one job at a time has a record lock of */
    int said; /* where this job's output goes; -1: it is printed as it comes */
} jobs = {.said = -1};

void *jobs_memory(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(at != MAP_FAILED);
    return at;
}

static struct shared *shared(void)
{
    if (jobs.shared == NULL)
        jobs.shared = jobs_memory(sizeof(*jobs.shared));
    return jobs.shared;
}

uint64_t jobs_next(void)
{
    return atomic_fetch_add(&shared()->next, 1);
}

void jobs_stop(void)
{
    atomic_store(&shared()->stopped, true);
}

bool jobs_stopped(void)
{
    return atomic_load(&shared()->stopped);
}

static void lock(short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    must(fcntl(jobs.lock, F_SETLKW, &whole) == 0);
}

static void copy_out(void)
{
    char chunk[65536];
    ssize_t got;
    off_t at = 0;
    while ((got = pread(STDOUT_FILENO, chunk, sizeof(chunk), at)) > 0) {
        for (ssize_t done = 0, wrote; done < got; done += wrote) {
            wrote = write(jobs.said, chunk + done, (size_t)(got - done));
            if (wrote <= 0)
                return; /* nobody reads it any more */
        }
        at += got;
    }
}

void jobs_say(void)
{
    fflush(stdout);
    if (jobs.said < 0)
        return;
    lock(F_WRLCK);
    copy_out();
    lock(F_UNLCK);
    must(ftruncate(STDOUT_FILENO, 0) == 0 && lseek(STDOUT_FILENO, 0, SEEK_SET) == 0);
}

_Noreturn static void be(uint32_t job, void (*work)(void *context, uint32_t job), void *context)
{
    int output = memfd_create("said", MFD_CLOEXEC);
    jobs.said = dup(STDOUT_FILENO);
    must(output >= 0 && jobs.said >= 0 && dup2(output, STDOUT_FILENO) >= 0);
    work(context, job);
    jobs_say();
    _exit(0);
}

uint32_t jobs_run(uint32_t count, void (*work)(void *context, uint32_t job), void *context)
{
    pid_t children[JOBS_MAX];
    uint32_t died = 0;
    (void)shared();
    if (count <= 1) {
        work(context, 0);
        return 0;
    }
    must(count <= JOBS_MAX);
    jobs.lock = memfd_create("lock", MFD_CLOEXEC);
    must(jobs.lock >= 0);
    fflush(NULL);
    for (uint32_t i = 0; i < count; i++) {
        children[i] = fork();
        must(children[i] >= 0);
        if (children[i] == 0)
            be(i, work, context);
    }
    for (uint32_t i = 0; i < count; i++) {
        int status = 0;
        must(waitpid(children[i], &status, 0) == children[i]);
        died += status != 0;
    }
    close(jobs.lock);
    return died;
}
