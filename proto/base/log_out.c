/* log_out: one write that does not block, whatever standard error is. The one idea: flags of a
 * shared descriptor are not ours to change, so a pipe or a terminal is opened anew for the write,
 * a socket is told for each call, and only files, which never wait for a reader, are written as
 * they are. What must stay true: a line arrives whole or not at all, so what a partial write left
 * goes out before anything else. */
#include "proto/base/log_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char rest[LOG_OUT_MAX]; /* of a line that was begun */
static size_t rest_len;
static _Atomic uint64_t lost, untold;

/* Where the pipe is somebody else's it cannot be opened; then we look whether it has room, which
 * is as good unless others write to it as well. */
static ssize_t write_pipe(const char *at, size_t len)
{
    int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = write(fd, at, len);
        int why = errno;
        close(fd);
        errno = why;
        return n;
    }
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(STDERR_FILENO, at, len < 4096 ? len : 4096); /* so much is room for */
}

static ssize_t write_some(const char *at, size_t len)
{
    struct stat what;
    if (fstat(STDERR_FILENO, &what) != 0)
        return -1;
    if (S_ISSOCK(what.st_mode))
        return send(STDERR_FILENO, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (S_ISFIFO(what.st_mode) || S_ISCHR(what.st_mode))
        return write_pipe(at, len);
    return write(STDERR_FILENO, at, len);
}

/* How much of it went out. */
static size_t write_all(const char *at, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write_some(at + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static bool write_rest(void)
{
    size_t done = write_all(rest, rest_len);
    memmove(rest, rest + done, rest_len - done);
    rest_len -= done;
    return rest_len == 0;
}

static bool put(const char *line, size_t len)
{
    if (!write_rest())
        return false;
    size_t done = write_all(line, len);
    if (done == 0 || done == len)
        return done == len;
    memcpy(rest, line + done, len - done);
    rest_len = len - done;
    return true;
}

static bool put_locked(const char *line, size_t len)
{
    pthread_mutex_lock(&lock);
    bool good = put(line, len < LOG_OUT_MAX ? len : LOG_OUT_MAX);
    pthread_mutex_unlock(&lock);
    return good;
}

bool log_out(const char *line, size_t len)
{
    bool good = put_locked(line, len);
    if (!good) {
        atomic_fetch_add(&lost, 1);
        atomic_fetch_add(&untold, 1);
    }
    return good;
}

bool log_out_tell(const char *line, size_t len, uint64_t lines)
{
    bool good = put_locked(line, len);
    if (good)
        atomic_fetch_sub(&untold, lines);
    return good;
}

uint64_t log_out_untold(void)
{
    return atomic_load(&untold);
}

uint64_t log_out_lost(void)
{
    return atomic_load(&lost);
}
