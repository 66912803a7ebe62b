/* member: a life is unpacked into a file that has no name, which its program maps as any other
 * journal. What must stay true: nothing is left behind. */
#include "ctl/record/member.h"
#include "proto/base/moment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_FD  3 /* where a program finds its journal */
#define ANSWER_FD 4 /* and where it writes what it is asked at its end */
#define ASIDE_FD  8 /* from here on descriptors are in nobody's way */

/* ---- unpacking ---- */

int member_nameless(void)
{
    const char *dir = getenv("TMPDIR");
    char path[512];
    if (dir == NULL || *dir == 0)
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%s/berth-replay-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool write_all(int fd, struct str piece)
{
    while (piece.len > 0) {
        ssize_t done = write(fd, piece.at, piece.len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        piece = (struct str){piece.at + done, piece.len - (uint32_t)done};
    }
    return true;
}

static bool unpack(struct archive *a, struct member *m)
{
    m->fd = member_nameless();
    if (m->fd < 0)
        return false;
    for (struct str piece; (piece = archive_read(a)).len > 0; m->len += piece.len)
        if (!write_all(m->fd, piece))
            return false;
    if (m->len == 0)
        return true;
    void *at = mmap(NULL, m->len, PROT_READ, MAP_SHARED, m->fd, 0);
    m->bytes = at != MAP_FAILED ? at : NULL;
    return m->bytes != NULL;
}

/* ---- what is in it ---- */

void member_each(const struct member *m,
                 bool (*visit)(void *context, const struct journal_entry *e, int64_t wall_us),
                 void *context)
{
    struct journal_cursor c = {m->bytes, m->bytes + m->len};
    struct journal_head head;
    struct journal_entry e;
    struct arena memory = {.limit = 64 * m->len + 65536};
    int64_t wall_us = 0;
    bool on = m->len > 0 && journal_start(&c, &head, &memory) == NULL;
    while (on && journal_read(&c, &e) == JOURNAL_STEP_entry) {
        wall_us = (int64_t)((uint64_t)wall_us + (uint64_t)e.wall_us);
        on = visit(context, &e, wall_us);
    }
    arena_free(&memory);
}

bool member_decode(const struct journal_entry *e, struct str body, struct message *m,
                   struct arena *a)
{
    if (e->type <= MSG_none || e->type >= MSG_COUNT || message_info[e->type].record == NULL ||
        body.len == 0)
        return false;
    const uint8_t *at = (const uint8_t *)body.at;
    struct byte_cursor in = {at, at + body.len};
    *m = (struct message){.type = (enum message_type)e->type};
    a->limit = 64 * (size_t)body.len + 65536;
    return codec_decode(message_info[m->type].record, message_body(m), &in, a);
}

static bool count(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct member *m = context;
    m->entries += e->kind != JOURNAL_end && e->kind != JOURNAL_gap;
    m->decisions += e->kind == JOURNAL_message && (e->type == MSG_bind || e->type == MSG_preempt);
    if (m->began_us == 0)
        m->began_us = wall_us;
    m->ended_us = wall_us;
    return true;
}

static void look(struct member *m)
{
    struct journal_cursor c = {m->bytes, m->bytes + m->len};
    struct journal_head head;
    struct arena memory = {.limit = 64 * m->len + 65536};
    if (m->len > 0 && journal_start(&c, &head, &memory) == NULL) {
        m->process = process_of(head.process);
        m->ties_first = strs_hold(head.arguments, STR_LITERAL("--tie-break=first"));
        member_each(m, count, m);
    }
    arena_free(&memory);
}

bool member_next(struct archive *a, struct member *m, const char **error)
{
    *m = (struct member){.fd = -1};
    const char *name = archive_next(a);
    *error = archive_wrong(a);
    if (name == NULL)
        return false;
    snprintf(m->name, sizeof(m->name), "%s", name);
    bool unpacked = unpack(a, m);
    *error = archive_wrong(a);
    if (!unpacked && *error == NULL)
        *error = strerror(errno);
    if (*error == NULL)
        look(m);
    return *error == NULL;
}

void member_free(struct member *m)
{
    if (m->bytes != NULL)
        munmap(m->bytes, m->len);
    if (m->fd >= 0)
        close(m->fd);
    buffer_free(&m->said);
    *m = (struct member){.fd = -1};
}

/* ---- its program ---- */

static const char *program_of(enum process process)
{
    switch (process) {
    case WATCHER: return "berth-watcher";
    case QUEUE: return "berth-queue";
    case SCHEDULER:
    case WORKER: return "berth-scheduler";
    case BINDER: return "berth-binder";
    default: return NULL;
    }
}

bool member_programs(const char *command, char *folder, size_t room)
{
    struct stat s;
    if (folder[0] != 0) {
        errno = ENOTDIR;
        bool there = stat(folder, &s) == 0 && S_ISDIR(s.st_mode);
        if (!there)
            fprintf(stderr, "%s: --programs: %s: %s\n", command, folder, strerror(errno));
        return there;
    }
    ssize_t n = readlink("/proc/self/exe", folder, room - 1);
    char *slash = n > 0 ? memrchr(folder, '/', (size_t)n) : NULL;
    if (slash == NULL)
        fprintf(stderr, "%s: cannot find the folder of berth: %s\n", command, strerror(errno));
    else
        *slash = 0;
    return slash != NULL;
}

/* In the child, between fork and exec. */
static _Noreturn void become(const struct member *m, char *program, int output)
{
    static char argument[32], more[32], speed[48], from[48];
    char *argv[6] = {program, argument};
    int aside = m->answers > 0 ? m->answers : m->told > 0 ? m->told : -1, count = 2;
    int journal = fcntl(m->fd, F_DUPFD_CLOEXEC, ASIDE_FD);
    int written = aside >= 0 ? fcntl(aside, F_DUPFD_CLOEXEC, ASIDE_FD) : -1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(argument, sizeof(argument), "--replay=/dev/fd/%d", CHILD_FD);
    snprintf(more, sizeof(more), "--%s=/dev/fd/%d", m->answers > 0 ? "answers" : "said", ANSWER_FD);
    snprintf(speed, sizeof(speed), "--speed=%.9g", m->speed);
    snprintf(from, sizeof(from), "--from=%" PRId64, m->from_us);
    if (aside >= 0)
        argv[count++] = more;
    if (m->speed > 0) {
        argv[count++] = speed;
        argv[count++] = from;
    }
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(127);
    if (dup2(journal, CHILD_FD) < 0 || (written >= 0 && dup2(written, ANSWER_FD) < 0))
        _exit(127);
    execv(program, argv);
    dprintf(STDERR_FILENO, "cannot execute %s: %s\n", program, strerror(errno));
    _exit(127);
}

static void listen_to(struct member *m, int output)
{
    char piece[4096];
    ssize_t got;
    while ((got = read(output, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            buffer_add(&m->said, piece, (size_t)got);
    static const char path[] = "/dev/fd/3: ";
    size_t len = sizeof(path) - 1;
    if (m->said.len >= len && memcmp(m->said.at, path, len) == 0) {
        memmove(m->said.at, m->said.at + len, m->said.len - len + 1);
        m->said.len -= len;
    }
    while (m->said.len > 0 && m->said.at[m->said.len - 1] == '\n')
        m->said.at[--m->said.len] = 0;
}

static void run(struct member *m, char *program)
{
    int ends[2];
    m->began = moment_now();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        buffer_print(&m->said, "cannot be played: %s", strerror(errno));
        return;
    }
    m->pid = fork();
    if (m->pid == 0)
        become(m, program, ends[1]);
    close(ends[1]);
    m->output = ends[0];
    if (m->pid > 0)
        return;
    buffer_print(&m->said, "cannot be played: %s", strerror(errno));
    close(ends[0]);
    m->pid = 0;
}

void member_start(struct member *m, const char *folder)
{
    char path[512];
    const char *program = program_of(m->process);
    m->odd = true;
    if (program == NULL)
        buffer_print(&m->said, "is no journal of a process of berth");
    else if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, program) < sizeof(path))
        run(m, path);
}

void member_finish(struct member *m)
{
    int status = -1;
    if (m->pid == 0)
        return;
    listen_to(m, m->output);
    close(m->output);
    while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    m->pid = 0;
    m->seconds = (double)moment_since(moment_now(), m->began).ns / 1e9;
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    /* A program that says nothing has compared nothing, however it ends. */
    m->alike = well && m->said.len > 0 && strstr(m->said.at, ", identical") != NULL;
    m->odd = !m->alike && (well || !WIFEXITED(status) || WEXITSTATUS(status) > 1);
    if (m->odd && WIFSIGNALED(status))
        buffer_print(&m->said, "%sits program was ended by signal %d",
                     m->said.len > 0 ? "\n  " : "", WTERMSIG(status));
}
