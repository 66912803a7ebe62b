/* child: starting, reading and reaping one process. The one idea: a child's output goes through a
 * pipe of its own, so that a crash message that is no log line still gets a time and a name. What
 * must stay true: the child ends when the supervisor does (parent death signal), and its pid file
 * tells the pid of a process that runs; who ends again and again is noted where others look. */
#include "ctl/child.h"
#include "ctl/ended.h"
#include "proto/base/log.h"
#include "proto/base/log_out.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKOFF_FIRST_MS 100
#define BACKOFF_MAX_MS   10000
#define LINE_MAX_BYTES   65536

void child_arg(struct child *c, const char *format, ...)
{
    struct buffer text = {0};
    va_list args;
    static char piece[1 << 18]; /* more than the kernel lets an argument have */
    va_start(args, format);
    int len = vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);
    must(len >= 0 && (size_t)len < sizeof(piece) && c->argc + 1 < CHILD_ARGS_MAX);
    buffer_add(&text, piece, (size_t)len);
    c->argv[c->argc++] = text.at;
    c->argv[c->argc] = NULL;
}

void child_tell_falls(struct child *c)
{
    c->told_falls = true;
}

void child_record(struct child *c, const char *dir)
{
    must(dir == NULL || strlen(dir) <= CHILD_RECORD_DIR_MAX);
    c->record_dir = dir;
}

void child_record_now(struct child *c, const char *dir)
{
    child_record(c, dir);
    if (c->pid == 0)
        return;
    c->renewing = true;
    kill(c->pid, SIGTERM);
}

void child_record_end(struct child *c)
{
    c->record_dir = NULL;
    if (c->pid != 0)
        kill(c->pid, SIGUSR1);
}

/* It runs well, or nobody misses it. */
static void forget_ends(struct child *c)
{
    c->in_a_row = 0;
    ended_forget(c->pid_file);
}

void child_retire(struct child *c)
{
    forget_ends(c);
    c->retired = true;
    if (c->pid != 0)
        kill(c->pid, SIGTERM);
}

void child_want(struct child *c, struct moment now)
{
    c->retired = false;
    c->restart_at = now;
}

unsigned child_fell(const struct child *c, struct moment now)
{
    unsigned count = 0;
    for (unsigned i = 0; i < CHILD_FALLS && i < c->restarts; i++)
        count += !moment_reached(now, moment_after(c->falls[i], span_of_ms(CHILD_FALLS_MS)));
    return count;
}

static void add_record(struct child *c)
{
    char path[512];
    unsigned n = 0;
    do
        snprintf(path, sizeof(path), "%s/%s.%u.rec", c->record_dir, c->name, ++n);
    while (access(path, F_OK) == 0);
    child_arg(c, "--record=%s", path);
}

static void renew_arguments(struct child *c, struct moment now)
{
    if (c->fixed == 0)
        c->fixed = c->argc;
    while (c->argc > c->fixed)
        memory_free(c->argv[--c->argc]);
    c->argv[c->argc] = NULL;
    if (c->told_falls)
        child_arg(c, "--falls=%u", child_fell(c, now));
    if (c->record_dir != NULL)
        add_record(c);
}

/* Renamed into place, so that nobody reads half of it. */
static void write_pid(const struct child *c)
{
    char path[sizeof(c->pid_file) + 8];
    snprintf(path, sizeof(path), "%s.new", c->pid_file);
    FILE *f = fopen(path, "w");
    bool written = f != NULL && fprintf(f, "%d\n", (int)c->pid) > 0;
    if (f != NULL)
        written = fclose(f) == 0 && written;
    if (written && rename(path, c->pid_file) == 0)
        return;
    log_warn("cannot write the pid file| file=%s error=\"%s\"", c->pid_file, strerror(errno));
    unlink(path);
}

/* In the child: only async-signal-safe calls between fork and exec. */
static _Noreturn void become(const struct child *c, int output, pid_t parent)
{
    sigset_t blocked;
    signal(SIGUSR2, SIG_IGN); /* until it can make something of it */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1); /* likewise, but not to be missed: it waits */
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    signal(SIGPIPE, SIG_DFL);
    /* A group of its own: Ctrl-C is for the supervisor, who ends us in order. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent || setpgid(0, 0) != 0)
        _exit(127);
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(127);
    if (c->beats != NULL && fcntl(beats_fd(c->beats), F_SETFD, 0) != 0)
        _exit(127);
    execv(c->argv[0], c->argv);
    dprintf(STDERR_FILENO, "cannot execute %s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

bool child_start(struct child *c, struct moment now)
{
    int ends[2];
    must(c->pid == 0);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        log_error("cannot start a process| name=%s error=\"%s\"", c->name, strerror(errno));
        c->restart_at = moment_after(now, span_of_ms(BACKOFF_MAX_MS));
        return false;
    }
    pid_t parent = getpid();
    renew_arguments(c, now);
    c->pulse = (struct pulse){0};
    if (c->beats != NULL)
        beats_begin(c->beats, c->slot);
    sigset_t ends_recording, before; /* which comes at any time, from the fork on */
    sigemptyset(&ends_recording);
    sigaddset(&ends_recording, SIGUSR1);
    sigprocmask(SIG_BLOCK, &ends_recording, &before);
    c->pid = fork();
    if (c->pid == 0)
        become(c, ends[1], parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (c->pid < 0) {
        log_error("cannot start a process| name=%s error=\"%s\"", c->name, strerror(errno));
        close(ends[0]);
        c->pid = 0;
        c->restart_at = moment_after(now, span_of_ms(BACKOFF_MAX_MS));
        return false;
    }
    must(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    c->output = ends[0];
    c->started = now;
    if (c->in_a_row == 0)
        forget_ends(c); /* what another supervisor left */
    write_pid(c);
    return true;
}

/* Log lines pass as they are; anything else gets a time, a level and the process's name. */
static void pass_on(const struct child *c, struct str line)
{
    if (line.len == 0)
        return;
    if (str_starts_with(line, "ts=") || str_starts_with(line, "{\"ts\":")) {
        struct buffer out = {0};
        buffer_add_str(&out, line);
        buffer_add_text(&out, "\n");
        log_catch_up();
        if (!log_out(out.at, out.len) && c->beats != NULL)
            beats_lost(c->beats, c->slot, 1);
        buffer_free(&out);
        return;
    }
    char *text = str_copy(line);
    for (char *at = text; *at != 0; at++)
        if (*at == '"')
            *at = '\''; /* it stands between quotes */
    log_error("output| name=%s text=\"%s\"", c->name, text);
    memory_free(text);
}

static void pass_lines(struct child *c)
{
    size_t from = 0;
    for (size_t i = 0; i < c->line.len; i++)
        if (c->line.at[i] == '\n') {
            pass_on(c, (struct str){c->line.at + from, (uint32_t)(i - from)});
            from = i + 1;
        }
    if (from == 0 && c->line.len < LINE_MAX_BYTES)
        return;
    if (from == 0) { /* a line without end: pass on what there is */
        pass_on(c, buffer_str(&c->line));
        from = c->line.len;
    }
    memmove(c->line.at, c->line.at + from, c->line.len - from);
    c->line.len -= from;
}

void child_read(struct child *c)
{
    char piece[8192];
    ssize_t n;
    while (c->output >= 0 && (n = read(c->output, piece, sizeof(piece))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        buffer_add(&c->line, piece, (size_t)n);
        pass_lines(c);
    }
    if (c->output >= 0) {
        close(c->output);
        c->output = -1;
    }
}

static bool has_lived(const struct child *c, struct moment now)
{
    return moment_since(now, c->started).ns >= span_of_ms(BACKOFF_MAX_MS).ns;
}

void child_look(struct child *c, struct moment now)
{
    if (c->pid != 0 && c->in_a_row > 0 && has_lived(c, now))
        forget_ends(c);
    bool due = c->pid != 0 && c->beats != NULL &&
               moment_reached(now, moment_after(c->pulse.looked, span_of_ms(PULSE_LOOK_MS)));
    struct pulse_sight sight = {0};
    if (!due || !pulse_see(c->pid, &sight))
        return;
    sight.turns = beats_turns(c->beats, c->slot);
    const char *why = pulse_look(&c->pulse, now, &sight);
    if (why == NULL || c->leaving)
        return;
    log_error("process hangs and is killed| name=%s pid=%d reason=\"%s\" silent_ms=%lld", c->name,
              (int)c->pid, why, (long long)span_ms(c->pulse.silent));
    kill(c->pid, SIGKILL);
    c->pulse = (struct pulse){.looked = now}; /* who cannot even die is named every few seconds */
}

static void log_end(const struct child *c, int status)
{
    int64_t wait_ms = span_ms(c->backoff);
    if (c->renewing && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        log_info("process begins anew, to be recorded| name=%s pid=%d", c->name, (int)c->pid);
    else if ((c->leaving || c->retired) && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        log_debug("process ended| name=%s pid=%d", c->name, (int)c->pid);
    else if (WIFSIGNALED(status))
        log_warn("process ended| name=%s pid=%d signal=%d restart_in_ms=%lld", c->name, (int)c->pid,
                 WTERMSIG(status), (long long)wait_ms);
    else
        log_warn("process ended| name=%s pid=%d status=%d restart_in_ms=%lld", c->name, (int)c->pid,
                 WEXITSTATUS(status), (long long)wait_ms);
}

void child_ended(struct child *c, int wait_status, struct moment now)
{
    child_read(c);
    if (c->line.len > 0) {
        pass_on(c, buffer_str(&c->line));
        buffer_reset(&c->line);
    }
    if (c->output >= 0)
        close(c->output);
    c->output = -1;
    unlink(c->pid_file);
    if (c->renewing) {
        log_end(c, wait_status);
        c->renewing = false;
        c->pid = 0;
        c->restart_at = now;
        return;
    }
    bool lived = has_lived(c, now);
    int64_t next_ms = lived || c->backoff.ns == 0 ? BACKOFF_FIRST_MS : span_ms(c->backoff) * 2;
    c->backoff = span_of_ms(next_ms < BACKOFF_MAX_MS ? next_ms : BACKOFF_MAX_MS);
    log_end(c, wait_status);
    c->pid = 0;
    c->falls[c->restarts++ % CHILD_FALLS] = now;
    c->restart_at = moment_after(now, c->backoff);
    c->in_a_row = lived ? 1 : c->in_a_row + 1;
    if (!c->leaving && !c->retired)
        ended_note(c->pid_file, c->in_a_row, wait_status);
}

void child_free(struct child *c)
{
    forget_ends(c);
    for (size_t i = 0; i < c->argc; i++)
        memory_free(c->argv[i]);
    buffer_free(&c->line);
    if (c->output >= 0)
        close(c->output);
}
