/* helper: starting, reading, ending. What must stay true: no helper is left behind as a zombie or
 * with an open pipe of ours, and nothing here waits but for the end of what was killed. */
#include "ctl/serve/helper.h"

#include "proto/base/log.h"
#include "proto/base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *other_program;

void helper_set_program(const char *path)
{
    other_program = path;
}

/* The program beside ours. */
static bool find_program(char *path, size_t room)
{
    if (other_program != NULL)
        return (size_t)snprintf(path, room, "%s", other_program) < room;
    ssize_t n = readlink("/proc/self/exe", path, room - 1);
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    if (slash == NULL || (size_t)(slash - path) + sizeof("/berth") > room)
        return false;
    memcpy(slash, "/berth", sizeof("/berth"));
    return true;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* With no signal blocked, as ours are. */
static int spawn(pid_t *pid, const char *program, char *const *argv, const int theirs[3])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, ignored;
    char *const environment[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &ignored);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&files, theirs[i], i);
    int failed = posix_spawn(pid, program, &files, &how, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return failed;
}

bool helper_start(struct helper *h, char *const *argv)
{
    int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    char program[512], name[] = "berth", *full[HELPER_ARGS_MAX + 2] = {name};
    *h = HELPER_NONE;
    for (int i = 0; i < HELPER_ARGS_MAX && argv[i] != NULL; i++)
        full[i + 1] = argv[i];
    bool good = find_program(program, sizeof(program));
    for (int i = 0; i < 3; i++)
        good = good && pipe2(ends[i], O_CLOEXEC) == 0;
    int failed = errno;
    if (good) {
        failed = spawn(&h->pid, program, full, (int[]){ends[0][0], ends[1][1], ends[2][1]});
        good = failed == 0;
    }
    close_end(&ends[0][0]);
    close_end(&ends[1][1]);
    close_end(&ends[2][1]);
    h->in = ends[0][1];
    h->out = ends[1][0];
    h->err = ends[2][0];
    if (good) {
        for (int i = 0; i < 3; i++)
            must(fcntl((int[]){h->in, h->out, h->err}[i], F_SETFL, O_NONBLOCK) == 0);
        return true;
    }
    log_error("cannot start a helper|error=\"%s\"", strerror(failed));
    close_end(&h->in);
    close_end(&h->out);
    close_end(&h->err);
    h->pid = 0;
    return false;
}

static bool read_end(int *fd, struct buffer *into, size_t most)
{
    char piece[16384];
    ssize_t n;
    bool fits = true;
    while (*fd >= 0 && (n = read(*fd, piece, sizeof(piece))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return fits;
        if (n < 0)
            break;
        fits = fits && into->len + (size_t)n <= most;
        if (fits)
            buffer_add(into, piece, (size_t)n);
    }
    close_end(fd);
    return fits;
}

bool helper_read(struct helper *h, struct buffer *out, struct buffer *err, size_t most)
{
    struct buffer said = {0};
    bool fits = read_end(&h->out, out, most);
    (void)read_end(&h->err, err != NULL ? err : &said, 4096);
    if (said.len > 0)
        log_warn("a helper complains|text=\"%.*s\"", (int)strcspn(said.at, "\n\""), said.at);
    buffer_free(&said);
    return fits;
}

bool helper_ended(struct helper *h, int *status)
{
    if (h->pid == 0)
        return true;
    pid_t got = waitpid(h->pid, status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    if (got < 0)
        *status = 1 << 8;
    h->pid = 0;
    close_end(&h->in);
    return true;
}

void helper_kill(struct helper *h)
{
    if (h->pid != 0)
        kill(h->pid, SIGKILL);
    close_end(&h->in);
    close_end(&h->out);
    close_end(&h->err);
}

void helper_free(struct helper *h)
{
    int status;
    helper_kill(h);
    while (h->pid != 0 && waitpid(h->pid, &status, 0) < 0 && errno == EINTR) {
    }
    *h = HELPER_NONE;
}
