/* exec: runs a credential plugin as client-go does: KUBERNETES_EXEC_INFO in its environment, an
 * ExecCredential on its standard output.
 *
 * The one idea: a child with two non-blocking pipes and a pidfd in the client's epoll, so that the
 * loop goes on while the plugin thinks. What must stay true: the child is in a process group of its
 * own, is killed after a minute at most, and is always reaped. */
#include "proto/kube/access/exec.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/json_build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_LIMIT_S 60
#define ANSWER_MAX  (1u << 20)
#define LOOK_MS     50

struct exec_run {
    const struct kube_config *config;
    struct moment give_up, look_at; /* look_at: without a pidfd, when to look whether it ended */
    pid_t pid;                      /* 0: could not be started, or reaped */
    int pid_fd, out_fd, err_fd;
    struct buffer out, err;
    struct buffer error;
};

/* ---- what the plugin is told ---- */

static void add_cluster(cJSON *spec, const struct kube_config *config)
{
    struct buffer ca = {0}, encoded = {0};
    char ignored[256];
    if (config->ca.len > 0)
        buffer_add_str(&ca, buffer_str(&config->ca));
    else if (config->ca_file != NULL && !kube_file_read(config->ca_file, &ca, ignored, 256))
        buffer_reset(&ca);
    base64_encode(buffer_str(&ca), &encoded);
    cJSON *cluster = json_add_object(spec, "cluster");
    json_add_text(cluster, "server", str_of(config->server));
    json_add_text_if(cluster, "tls-server-name", str_of(config->server_name));
    if (config->insecure)
        json_add_bool(cluster, "insecure-skip-tls-verify", true);
    json_add_text_if(cluster, "certificate-authority-data", buffer_str(&encoded));
    buffer_free(&ca);
    buffer_free(&encoded);
}

void exec_info(const struct kube_config *config, struct buffer *out)
{
    cJSON *root = json_build();
    json_add_text(root, "kind", STR_LITERAL("ExecCredential"));
    json_add_text(root, "apiVersion", str_of(config->exec->api_version));
    cJSON *spec = json_add_object(root, "spec");
    json_add_bool(spec, "interactive", false);
    if (config->exec->cluster_info)
        add_cluster(spec, config);
    json_build_print(out, root);
}

/* ---- starting ---- */

static char **build_environment(const struct kube_config *config, struct buffer *info)
{
    size_t ours = 0, more = 0, n = 0;
    while (environ[ours] != NULL)
        ours++;
    while (config->exec->env[more] != NULL)
        more++;
    buffer_add_text(info, "KUBERNETES_EXEC_INFO=");
    exec_info(config, info);
    /* The plugin's own entries come first: getenv finds the first of two. */
    char **env = memory_take_array(ours + more + 2, sizeof(*env));
    env[n++] = info->at;
    for (size_t i = 0; i < more; i++)
        env[n++] = config->exec->env[i];
    for (size_t i = 0; i < ours; i++)
        env[n++] = environ[i];
    return env;
}

/* A group of its own, no blocked or ignored signals, nothing but the three standard files. */
static int spawn(struct exec_run *run, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    struct buffer info = {0};
    char **env = build_environment(run->config, &info);
    const struct kube_exec *exec = run->config->exec;
    int failed = posix_spawnp(&run->pid, exec->command, &files, &attributes, exec->args, env);
    if (failed != 0)
        run->pid = 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    memory_free(env);
    buffer_free(&info);
    return failed;
}

static void join(int epoll_fd, int fd, uint64_t tag)
{
    /* Edge-triggered: a pipe that was closed would be ready for ever. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = tag};
    must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void start_failed(struct exec_run *run, int cause)
{
    const struct kube_exec *exec = run->config->exec;
    buffer_print(&run->error, "exec plugin %s: cannot be started: %s", exec->command,
                 strerror(cause));
    if (exec->install_hint != NULL)
        buffer_print(&run->error, " (%s)", exec->install_hint);
}

struct exec_run *exec_start(const struct kube_config *config, int epoll_fd, uint64_t tag,
                            struct moment now)
{
    must(config->exec != NULL);
    struct exec_run *run = memory_take(sizeof(*run));
    *run = (struct exec_run){.config = config, .pid_fd = -1, .out_fd = -1, .err_fd = -1};
    run->give_up = moment_after(now, span_of_seconds(RUN_LIMIT_S));
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    int failed = pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ? errno : 0;
    if (failed == 0)
        failed = spawn(run, out[1], err[1]);
    run->out_fd = out[0];
    run->err_fd = err[0];
    if (out[1] >= 0)
        close(out[1]);
    if (err[1] >= 0)
        close(err[1]);
    if (failed == 0)
        run->pid_fd = pidfd_open(run->pid, 0); /* may be forbidden in a container: then we look */
    run->look_at = run->pid_fd < 0 ? moment_after(now, span_of_ms(LOOK_MS)) : MOMENT_NEVER;
    if (failed != 0) {
        start_failed(run, failed);
        return run;
    }
    fcntl(run->out_fd, F_SETFL, O_NONBLOCK);
    fcntl(run->err_fd, F_SETFL, O_NONBLOCK);
    join(epoll_fd, run->out_fd, tag);
    join(epoll_fd, run->err_fd, tag);
    if (run->pid_fd >= 0)
        join(epoll_fd, run->pid_fd, tag);
    return run;
}

/* ---- the answer ---- */

static bool refuse(struct buffer *error, const struct kube_exec *exec, const char *what)
{
    buffer_print(error, "exec plugin %s: %s", exec->command, what);
    return false;
}

static bool read_status(const struct kube_exec *exec, const struct kube_json *status,
                        struct kube_credential *credential, struct buffer *error)
{
    struct str token = kube_json_text(kube_json_get(status, "token"));
    struct str cert = kube_json_text(kube_json_get(status, "clientCertificateData"));
    struct str key = kube_json_text(kube_json_get(status, "clientKeyData"));
    struct str expires = kube_json_text(kube_json_get(status, "expirationTimestamp"));
    if (!kube_json_is_object(status))
        return refuse(error, exec, "status: is missing in its ExecCredential");
    if (token.len == 0 && cert.len == 0)
        return refuse(error, exec, "status: holds neither token nor clientCertificateData");
    if ((cert.len == 0) != (key.len == 0))
        return refuse(error, exec, "status: clientCertificateData and clientKeyData go together");
    if (expires.len > 0 && !moment_parse_wall(expires.at, expires.len, &credential->expires_us))
        return refuse(error, exec, "status.expirationTimestamp: is not an RFC 3339 time");
    for (uint32_t i = 0; i < token.len; i++)
        if ((unsigned char)token.at[i] <= 32 || (unsigned char)token.at[i] >= 127)
            return refuse(error, exec, "status.token: holds blanks or control characters");
    credential->token = token.len > 0 ? str_copy(token) : NULL;
    buffer_add_str(&credential->cert, cert);
    buffer_add_str(&credential->key, key);
    return true;
}

bool exec_read_answer(const struct kube_exec *exec, struct str text,
                      struct kube_credential *credential, struct buffer *error)
{
    struct arena arena = {0};
    struct str cause = {0};
    struct kube_json *json = kube_json_parse(text, &cause, &arena);
    struct str kind = kube_json_text(kube_json_get(json, "kind"));
    struct str version = kube_json_text(kube_json_get(json, "apiVersion"));
    bool ok = false;
    if (json == NULL)
        buffer_print(error, "exec plugin %s: its output is not JSON: %.*s", exec->command,
                     STR_ARG(cause));
    else if (!str_is(kind, "ExecCredential"))
        refuse(error, exec, "its output is not an ExecCredential");
    else if (!str_is(version, exec->api_version))
        buffer_print(error, "exec plugin %s: answers with apiVersion \"%.*s\" instead of %s",
                     exec->command, STR_ARG(version), exec->api_version);
    else
        ok = read_status(exec, kube_json_get(json, "status"), credential, error);
    kube_json_free(&json);
    arena_free(&arena);
    return ok;
}

static void drain(int fd, struct buffer *into)
{
    char piece[4096];
    ssize_t got;
    while (into->len <= ANSWER_MAX && (got = read(fd, piece, sizeof(piece))) > 0)
        buffer_add(into, piece, (size_t)got);
}

/* The last line that the plugin wrote to stderr usually says why. */
static void add_last_line(struct exec_run *run)
{
    struct str text = buffer_str(&run->err);
    while (text.len > 0 && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r'))
        text.len--;
    uint32_t start = text.len;
    while (start > 0 && text.at[start - 1] != '\n' && text.len - start < 400)
        start--;
    if (text.len > start)
        buffer_print(&run->error, ": %.*s", (int)(text.len - start), text.at + start);
}

static enum exec_step ended(struct exec_run *run, int status, struct kube_credential *credential)
{
    const struct kube_exec *exec = run->config->exec;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return exec_read_answer(exec, buffer_str(&run->out), credential, &run->error) ? EXEC_done
                                                                                      : EXEC_failed;
    if (WIFSIGNALED(status))
        buffer_print(&run->error, "exec plugin %s: was ended by signal %d", exec->command,
                     WTERMSIG(status));
    else
        buffer_print(&run->error, "exec plugin %s: exited with status %d", exec->command,
                     WEXITSTATUS(status));
    add_last_line(run);
    return EXEC_failed;
}

static void stop(struct exec_run *run)
{
    if (run->pid == 0)
        return;
    kill(-run->pid, SIGKILL);
    kill(run->pid, SIGKILL);
    while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    run->pid = 0;
}

enum exec_step exec_work(struct exec_run *run, struct moment now,
                         struct kube_credential *credential, struct str *error)
{
    enum exec_step step = EXEC_failed;
    int status = 0;
    if (run->error.len == 0) {
        pid_t got = waitpid(run->pid, &status, WNOHANG); /* before reading: then all is there */
        if (got < 0 && errno == ECHILD) { /* somebody waits for whoever ends: what it says counts */
            got = run->pid;
            status = 0;
        }
        drain(run->out_fd, &run->out);
        drain(run->err_fd, &run->err);
        if (run->out.len > ANSWER_MAX || run->err.len > ANSWER_MAX) {
            refuse(&run->error, run->config->exec, "its output is longer than 1 MiB");
        } else if (got == run->pid) {
            run->pid = 0;
            step = ended(run, status, credential);
        } else if (!moment_reached(now, run->give_up)) {
            if (run->pid_fd < 0)
                run->look_at = moment_after(now, span_of_ms(LOOK_MS));
            return EXEC_running;
        } else {
            buffer_print(&run->error, "exec plugin %s: gave no answer within %d s",
                         run->config->exec->command, RUN_LIMIT_S);
        }
    }
    *error = buffer_str(&run->error);
    return step;
}

struct moment exec_deadline(const struct exec_run *run)
{
    if (run->error.len > 0)
        return (struct moment){0};
    return moment_earlier(run->give_up, run->look_at);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd); /* leaves the epoll by itself: nobody else holds it */
}

void exec_free(struct exec_run **run)
{
    if (*run == NULL)
        return;
    stop(*run);
    close_fd((*run)->pid_fd);
    close_fd((*run)->out_fd);
    close_fd((*run)->err_fd);
    buffer_free(&(*run)->out);
    buffer_free(&(*run)->err);
    buffer_free(&(*run)->error);
    memory_free(*run);
    *run = NULL;
}

void kube_credential_free(struct kube_credential *credential)
{
    memory_free(credential->token);
    buffer_free(&credential->cert);
    buffer_free(&credential->key);
    *credential = (struct kube_credential){0};
}
