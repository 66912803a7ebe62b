/* endpoint: checks and claims socket addresses before ZeroMQ sees them, because ZeroMQ takes an ipc
 * path away from a living process without a word. What must stay true: who holds PATH.lock owns
 * PATH; the kernel lets the lock go when its holder dies, so nothing stale can keep anybody out. */
#include "proto/bus/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

bool endpoint_is_ipc(const char *endpoint)
{
    return strncmp(endpoint, "ipc://", 6) == 0;
}

bool endpoint_is_tcp(const char *endpoint)
{
    return strncmp(endpoint, "tcp://", 6) == 0;
}

bool endpoint_is_loopback(const char *endpoint)
{
    if (!endpoint_is_tcp(endpoint))
        return false;
    const char *host = endpoint + 6;
    if (strncmp(host, "localhost:", 10) == 0 || strncmp(host, "[::1]:", 6) == 0)
        return true;
    if (strncmp(host, "127.", 4) != 0)
        return false;
    /* Only digits and dots: 127.evil.example is a name. */
    size_t len = strspn(host, "0123456789.");
    return host[len] == ':';
}

bool endpoint_in_dir(char out[ENDPOINT_MAX], const char *dir, const char *name, const char *suffix)
{
    int len = snprintf(out, ENDPOINT_MAX, "ipc://%s/%s.%s", dir, name, suffix);
    return len > 0 && (size_t)len - 6 < sizeof(((struct sockaddr_un *)0)->sun_path);
}

bool endpoint_dir_fits(const char *dir)
{
    return strlen(dir) + sizeof("/worker-63.sock.new") <=
           sizeof(((struct sockaddr_un *)0)->sun_path);
}

bool endpoint_make_dir(const char *dir, bool visiting, char *error, size_t room)
{
    struct stat found;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        snprintf(error, room, "run directory %s: %s", dir, strerror(errno));
        return false;
    }
    if (stat(dir, &found) != 0 || !S_ISDIR(found.st_mode)) {
        snprintf(error, room, "run directory %s: not a directory", dir);
        return false;
    }
    /* Whose directory it is may put his own socket in a process's place, whatever the mode says. */
    if (found.st_uid != geteuid() && !(visiting && geteuid() == 0)) {
        snprintf(error, room, "run directory %s: belongs to user %ld, not to us (user %ld)", dir,
                 (long)found.st_uid, (long)geteuid());
        return false;
    }
    /* Whoever may write here may put his own socket in a process's place. */
    if (found.st_mode & 022) {
        snprintf(error, room, "run directory %s: others may write to it (mode %03o)", dir,
                 (unsigned)found.st_mode & 0777);
        return false;
    }
    return true;
}

/* The pid that the holder wrote, 0 if it cannot be read. */
static long lock_holder(int fd)
{
    char text[32] = {0};
    if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    return strtol(text, NULL, 10);
}

static void write_pid(int fd)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
        return; /* only the name in somebody's error message is lost */
}

/* The pid of a process that answers on the path without holding our lock, 0 if nobody does. */
static long living_listener(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return 0;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    bool answers = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                   getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    close(fd);
    return answers ? (long)peer.pid : 0;
}

/* Opens and tries to lock the file of that name. A lock on a file that was removed meanwhile is
 * worth nothing: then again. -1 when it cannot be opened. */
static int open_lock(const char *path, bool *locked)
{
    for (;;) {
        struct stat ours, named;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        *locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!*locked || (fstat(fd, &ours) == 0 && stat(path, &named) == 0 &&
                         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev))
            return fd;
        close(fd);
    }
}

int endpoint_claim(const char *endpoint, bool *in_use, char *error, size_t room)
{
    const char *path = endpoint + 6;
    char lock[ENDPOINT_MAX];
    *in_use = false;
    if ((size_t)snprintf(lock, sizeof(lock), "%s.lock", path) >= sizeof(lock) ||
        strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        snprintf(error, room, "%s: path too long for a socket", endpoint);
        return -1;
    }
    struct stat found;
    if (lstat(path, &found) == 0 && !S_ISSOCK(found.st_mode)) {
        snprintf(error, room, "%s: %s exists and is not a socket", endpoint, path);
        return -1;
    }
    bool locked;
    int fd = open_lock(lock, &locked);
    if (fd < 0) {
        snprintf(error, room, "%s: cannot make %s: %s", endpoint, lock, strerror(errno));
        return -1;
    }
    long holder = 0;
    if (!locked) {
        holder = lock_holder(fd);
        *in_use = true;
    } else if ((holder = living_listener(path)) > 0) {
        *in_use = true;
    }
    if (*in_use) {
        snprintf(error, room, "%s: address in use by process %ld", endpoint, holder);
        close(fd);
        return -1;
    }
    write_pid(fd);
    unlink(path);
    return fd;
}

void endpoint_release(const char *endpoint, int *lock_fd)
{
    char lock[ENDPOINT_MAX + 8];
    if (*lock_fd < 0)
        return;
    snprintf(lock, sizeof(lock), "%s.lock", endpoint + 6);
    unlink(endpoint + 6);
    unlink(lock); /* while we hold it, so that nobody else's is removed */
    close(*lock_fd);
    *lock_fd = -1;
}
