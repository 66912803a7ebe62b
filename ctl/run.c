/* run: the supervisor behind `berth run`.
 *
 * It checks the configuration once, starts watcher, queue, scheduler, workers and binder from the
 * folder that berth itself lies in, passes their output on as one log, kills what hangs, restarts
 * what dies with backoff, and on SIGTERM or SIGINT ends them all and itself. What must stay true:
 * one supervisor a run directory (a lock on it), one identity for all lives of its binder,
 * and no child outlives it. */
#include "ctl/run.h"
#include "ctl/child.h"
#include "ctl/record/control.h"
#include "ctl/run_config.h"
#include "ctl/worker_count.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/bus/endpoint.h"
#include "proto/kube/config/tracing_config.h"
#include "proto/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS_MAX   RUN_WORKERS_MAX
#define CHILDREN_MAX  (WORKERS_MAX + 6)
#define STOP_LIMIT_MS 10000
/* Descriptors that any one process of ours may have open: API server, bus, readers of the tap;
 * and for each worker, in those that all workers talk to. */
#define FILES          128
#define FILES_A_WORKER 8

struct supervisor {
    struct run_options options;
    char identity[128], bin_dir[200];
    struct child children[CHILDREN_MAX];
    size_t count;
    struct child *scheduler, *workers[WORKERS_MAX];
    unsigned worker_count; /* of workers: so many were ever there */
    struct worker_count by_nodes;
    struct beats *beats;
    int lock, pid_file, signals; /* pid_file: -1 where it could not be made */
    struct run_config config;
    struct control control;
    bool has_extender, asked; /* SIGHUP came */
    bool stopping;
    struct moment stop_by;
};

/* ---- what to start ---- */

static void add_text(struct child *c, const char *flag, const char *value)
{
    if (value != NULL)
        child_arg(c, "--%s=%s", flag, value);
}

static struct child *add_child(struct supervisor *s, const char *program, const char *name)
{
    must(s->count < CHILDREN_MAX);
    struct child *c = &s->children[s->count++];
    const char *run_dir = s->options.run_dir;
    snprintf(c->name, sizeof(c->name), "%s", name);
    snprintf(c->pid_file, sizeof(c->pid_file), "%s/%s.pid", run_dir, name);
    c->output = -1;
    c->beats = s->beats;
    c->slot = s->count - 1;
    child_arg(c, "%s/%s", s->bin_dir, program);
    child_arg(c, "--run-dir=%s", run_dir);
    child_arg(c, "--name=%s", name);
    child_arg(c, "--log-level=%s", log_level_name());
    child_arg(c, "--logging-format=%s", log_format_name());
    add_text(c, "config", run_config_path(&s->config));
    if (s->beats != NULL)
        child_arg(c, "--beat=%d:%zu", beats_fd(s->beats), c->slot);
    return c;
}

static void add_time(struct child *c, const char *flag, bool given, struct span value)
{
    if (given)
        child_arg(c, "--%s=%lldms", flag, (long long)span_ms(value));
}

static void add_api_server(const struct supervisor *s, struct child *c)
{
    add_text(c, "kubeconfig", s->options.flags.kubeconfig);
    add_text(c, "master", s->options.flags.master);
    add_text(c, "kube-api-content-type", s->options.flags.content_type);
}

static void add_leader_election(const struct supervisor *s, struct child *c)
{
    const struct config_flags *f = &s->options.flags;
    if (f->has_leader_elect)
        child_arg(c, "--leader-elect=%s", f->leader_elect ? "true" : "false");
    add_time(c, "leader-elect-lease-duration", f->has_lease_duration, f->lease_duration);
    add_time(c, "leader-elect-renew-deadline", f->has_renew_deadline, f->renew_deadline);
    add_time(c, "leader-elect-retry-period", f->has_retry_period, f->retry_period);
    add_text(c, "leader-elect-resource-lock", f->resource_lock);
    add_text(c, "leader-elect-resource-name", f->resource_name);
    add_text(c, "leader-elect-resource-namespace", f->resource_namespace);
    add_text(c, "kube-api-qps", f->qps_text);
    add_text(c, "kube-api-burst", f->burst_text);
}

static void add_server(struct supervisor *s)
{
    if (serve_port(&s->options.serve) == 0)
        return;
    struct child *c = add_child(s, "berth-serve", "serve");
    child_arg(c, "--workers=%ld", s->options.workers);
#define FLAG(member, name) add_text(c, name, s->options.serve.member);
    SERVE_FLAGS
#undef FLAG
#define FLAG(member, name)                                                                         \
    for (unsigned i = 0; i < s->options.serve.member.count; i++)                                   \
        add_text(c, name, s->options.serve.member.at[i]);
    SERVE_LISTS
#undef FLAG
    for (unsigned i = 0; i < s->options.serve.sni_count; i++)
        add_text(c, "tls-sni-cert-key", s->options.serve.tls_sni_cert_key[i]);
    for (size_t i = 0; i < s->options.given_count; i++)
        child_arg(c, "--given=%s", s->options.given[i]); /* for /flagz */
}

/* Started with the first extender that a configuration names; then it stays. */
static void add_extender(struct supervisor *s, bool named)
{
    if (named && !s->has_extender)
        add_api_server(s, add_child(s, "berth-extender", "extender"));
    s->has_extender |= named;
}

/* One with a core. */
static struct child *add_core(struct supervisor *s, const char *program, const char *name)
{
    struct child *c = add_child(s, program, name);
    c->core = true;
    child_record(c, s->options.record);
    return c;
}

/* So many workers are kept from now on. */
static void keep_workers(struct supervisor *s, unsigned count, struct moment now)
{
    for (unsigned i = s->worker_count; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "worker-%u", i);
        s->workers[i] = add_core(s, "berth-scheduler", name);
        child_arg(s->workers[i], "--worker");
        if (s->control.dir[0] != 0) /* as all others are by now */
            child_record(s->workers[i], s->control.dir);
        s->worker_count = i + 1;
    }
    for (unsigned i = 0; i < s->worker_count; i++) {
        struct child *c = s->workers[i];
        if (i >= count && !c->retired)
            child_retire(c);
        else if (i < count && c->retired)
            child_want(c, now);
    }
}

static void add_children(struct supervisor *s)
{
    struct child *watcher = add_core(s, "berth-watcher", "watcher");
    add_api_server(s, watcher);
    add_text(watcher, "feature-gates", s->options.kube.gates);
    struct child *queue = add_core(s, "berth-queue", "queue");
    add_text(queue, "pod-max-in-unschedulable-pods-duration", s->options.kube.unschedulable_max);
    add_text(queue, TRACING_FLAG, s->options.tracing_config);
    struct child *scheduler = s->scheduler = add_core(s, "berth-scheduler", "scheduler");
    if (s->options.kube.release != 0)
        child_arg(scheduler, "--release=%s", release_of(s->options.kube.release)->version);
    add_text(scheduler, "feature-gates", s->options.kube.gates);
    child_arg(scheduler, "--tie-break=%s", s->options.tie_break);
    child_arg(scheduler, "--assumed-pod-ttl=%s", s->options.assumed_ttl);
    if (s->options.flags.disable_preemption)
        child_arg(scheduler, "--disable-preemption");
    bool by_nodes = s->options.workers_by_nodes;
    if ((by_nodes || s->options.workers == 0) && !s->options.no_own_worker)
        child_arg(scheduler, "--own-worker");
    if (by_nodes)
        s->by_nodes.most = (unsigned)s->options.workers;
    else
        keep_workers(s, (unsigned)s->options.workers, moment_now());
    struct child *binder = add_core(s, "berth-binder", "binder");
    add_api_server(s, binder);
    child_arg(binder, "--identity=%s", s->identity);
    add_text(binder, TRACING_FLAG, s->options.tracing_config);
    add_leader_election(s, binder);
    child_tell_falls(binder);
    add_server(s);
    add_extender(s, s->config.extenders);
}

/* `<hostname>_<random>`, as upstream; one for all lives of this instance's binder. */
static void choose_identity(struct supervisor *s)
{
    char host[64];
    if (gethostname(host, sizeof(host)) != 0)
        snprintf(host, sizeof(host), "localhost");
    host[sizeof(host) - 1] = 0;
    uint64_t a = random_seed(), b = random_seed();
    snprintf(s->identity, sizeof(s->identity), "%s_%08x-%04x-4%03x-%04x-%012llx", host,
             (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
             (unsigned)(0x8000 | (b >> 48 & 0x3fff)), (unsigned long long)(b & 0xffffffffffff));
}

static bool find_programs(struct supervisor *s)
{
    ssize_t n = readlink("/proc/self/exe", s->bin_dir, sizeof(s->bin_dir) - 1);
    char *slash = n > 0 ? memrchr(s->bin_dir, '/', (size_t)n) : NULL;
    if (slash == NULL) {
        log_error("cannot find the folder of berth| error=\"%s\"", strerror(errno));
        return false;
    }
    *slash = 0;
    return true;
}

/* The pid that the file tells, for a message. */
static void read_pid(const char *path, char *pid, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, pid, room - 1) : 0;
    pid[n > 0 ? n - (pid[n - 1] == '\n') : 0] = 0;
    if (fd >= 0)
        close(fd);
}

/* For people; nothing depends on it, so a directory without room is no reason to end. */
static void write_own_pid(const struct supervisor *s, const char *path)
{
    char pid[32];
    int len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
    if (s->pid_file < 0 || ftruncate(s->pid_file, 0) != 0 ||
        write(s->pid_file, pid, (size_t)len) != len)
        log_warn("cannot write the pid file| file=%s error=\"%s\"", path, strerror(errno));
}

/* Takes the run directory for this supervisor alone: by a lock on the directory itself, which needs
 * no room in it, and one on the pid file, which former versions look at. */
static bool take_run_dir(struct supervisor *s)
{
    const char *dir = s->options.run_dir;
    char path[256], pid[32] = "", error[512];
    if (!endpoint_dir_fits(dir)) {
        log_error("run directory is too long for the path of a socket| dir=%s", dir);
        return false;
    }
    if (!endpoint_make_dir(dir, false, error, sizeof(error))) {
        log_error("cannot use the run directory| dir=%s error=\"%s\"", dir, error);
        return false;
    }
    snprintf(path, sizeof(path), "%s/berth.pid", dir);
    read_pid(path, pid, sizeof(pid));
    s->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->lock < 0) {
        log_error("cannot open the run directory| dir=%s error=\"%s\"", dir, strerror(errno));
        return false;
    }
    bool ours = flock(s->lock, LOCK_EX | LOCK_NB) == 0;
    s->pid_file = ours ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    ours = ours && (s->pid_file < 0 || flock(s->pid_file, LOCK_EX | LOCK_NB) == 0);
    if (ours)
        write_own_pid(s, path);
    else
        log_error("run directory in use by another berth run| dir=%s pid=%s", dir, pid);
    return ours;
}

/* ---- the loop ---- */

static bool is_child(const struct supervisor *s, pid_t pid)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].pid == pid)
            return true;
    return false;
}

/* Others than these have their own who waits for them: an exec plugin, whose status counts. Only
 * the first process of a container is given orphans as well. */
static void reap(struct supervisor *s, struct moment now)
{
    int status;
    for (size_t i = 0; i < s->count; i++) {
        pid_t pid = s->children[i].pid;
        if (pid != 0 && waitpid(pid, &status, WNOHANG) == pid)
            child_ended(&s->children[i], status, now);
    }
    siginfo_t other = {0};
    while (getpid() == 1 && waitid(P_ALL, 0, &other, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           other.si_pid != 0 && !is_child(s, other.si_pid)) {
        waitpid(other.si_pid, &status, WNOHANG);
        other = (siginfo_t){0};
    }
}

static size_t running(const struct supervisor *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += s->children[i].pid != 0;
    return n;
}

static void signal_all(const struct supervisor *s, int signal)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->children[i].pid != 0)
            kill(s->children[i].pid, signal);
}

static void start_stop(struct supervisor *s, struct moment now)
{
    if (s->stopping) { /* asked a second time: at once */
        signal_all(s, SIGKILL);
        return;
    }
    log_info("stopping");
    s->stopping = true;
    s->stop_by = moment_after(now, span_of_ms(STOP_LIMIT_MS));
    for (size_t i = 0; i < s->count; i++)
        s->children[i].leaving = true;
    signal_all(s, SIGTERM);
}

static void take_signals(struct supervisor *s, struct moment now)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap(s, now);
        else if (info.ssi_signo == SIGUSR2)
            signal_all(s, SIGUSR2); /* each logs what it holds */
        else if (info.ssi_signo == SIGHUP)
            s->asked = true; /* passed on behind a look at the configuration */
        else
            start_stop(s, now);
    }
}

static void look_at_config(struct supervisor *s, struct moment now)
{
    if (s->stopping)
        return;
    add_extender(s, run_config_look(&s->config, now, s->asked));
    if (s->asked)
        signal_all(s, SIGHUP); /* they read their configuration again */
    s->asked = false;
}

static void look_at_control(struct supervisor *s, struct moment now)
{
    const char *why = s->stopping                 ? "berth is stopping"
                      : s->options.record != NULL ? "every life is recorded already (--record)"
                                                  : NULL;
    enum control_wish wish = control_look(&s->control, now, why);
    if (wish == CONTROL_nothing)
        return;
    log_info(wish == CONTROL_record ? "recording begins" : "recording ends");
    for (size_t i = 0; i < s->count; i++) {
        struct child *c = &s->children[i];
        if (c->core && wish == CONTROL_record)
            child_record_now(c, s->control.dir);
        else if (c->core)
            child_record_end(c);
    }
}

/* As many workers as the nodes that the scheduler knows ask for, where nobody has said how many. */
static void look_at_nodes(struct supervisor *s, struct moment now)
{
    if (s->by_nodes.most == 0 || s->beats == NULL || s->stopping)
        return;
    uint64_t nodes = beats_size(s->beats, s->scheduler->slot);
    unsigned before = s->by_nodes.now, count = worker_count_look(&s->by_nodes, now, nodes);
    if (count == before)
        return;
    log_info("workers by the nodes| nodes=%" PRIu64 " workers=%u before=%u", nodes, count, before);
    keep_workers(s, count, now);
}

/* Starts what is due; returns when the next start is. */
static struct moment start_due(struct supervisor *s, struct moment now)
{
    struct moment next = MOMENT_NEVER;
    for (size_t i = 0; i < s->count && !s->stopping; i++) {
        struct child *c = &s->children[i];
        if (c->retired)
            continue;
        if (c->pid == 0 && moment_reached(now, c->restart_at))
            child_start(c, now);
        if (c->pid == 0)
            next = moment_earlier(next, c->restart_at);
    }
    return next;
}

static void look_at_children(struct supervisor *s, struct moment now)
{
    for (size_t i = 0; i < s->count; i++)
        child_look(&s->children[i], now);
    log_catch_up();
}

static void wait_for_work(struct supervisor *s, struct moment now, struct moment until)
{
    struct pollfd fds[CHILDREN_MAX + 4] = {{.fd = s->signals, .events = POLLIN}};
    until = moment_earlier(until, run_config_deadline(&s->config, now));
    for (size_t i = 0; i < s->count; i++)
        fds[i + 1] = (struct pollfd){.fd = s->children[i].output, .events = POLLIN};
    fds[s->count + 1] = (struct pollfd){.fd = run_config_fd(&s->config), .events = POLLIN};
    fds[s->count + 2] = (struct pollfd){.fd = control_fd(&s->control), .events = POLLIN};
    fds[s->count + 3] = (struct pollfd){.fd = control_door_fd(&s->control), .events = POLLIN};
    until = moment_earlier(until, control_deadline(&s->control));
    until = moment_earlier(until, moment_after(now, span_of_ms(PULSE_LOOK_MS)));
    int64_t ms = span_ms(moment_since(until, now)) + 1;
    poll(fds, s->count + 4, ms < 0 ? 0 : (int)ms);
    for (size_t i = 0; i < s->count; i++)
        if (fds[i + 1].revents != 0)
            child_read(&s->children[i]);
}

static void supervise(struct supervisor *s)
{
    bool killed = false;
    for (;;) {
        struct moment now = moment_now();
        take_signals(s, now);
        look_at_config(s, now);
        look_at_control(s, now);
        reap(s, now);
        look_at_children(s, now);
        look_at_nodes(s, now);
        if (s->stopping && running(s) == 0)
            return;
        struct moment next = start_due(s, now);
        if (s->stopping && !killed && moment_reached(now, s->stop_by)) {
            log_warn("some processes did not end in time and are killed| running=%zu", running(s));
            signal_all(s, SIGKILL);
            killed = true;
        }
        wait_for_work(s, now, next);
    }
}

static bool open_signals(struct supervisor *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    s->signals = sigprocmask(SIG_BLOCK, &set, NULL) == 0
                     ? signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)
                     : -1;
    if (s->signals < 0)
        log_error("cannot watch signals| error=\"%s\"", strerror(errno));
    return s->signals >= 0;
}

/* Without it nobody who hangs is found, and all else is as ever. */
static void open_beats(struct supervisor *s)
{
    s->beats = beats_new(CHILDREN_MAX);
    if (s->beats == NULL)
        log_warn("processes that hang will not be found| error=\"%s\"", strerror(errno));
}

static void clean_up(struct supervisor *s)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/berth.pid", s->options.run_dir);
    unlink(path);
    control_close(&s->control, s->options.run_dir);
    for (size_t i = 0; i < s->count; i++)
        child_free(&s->children[i]); /* with their files, while the directory is ours */
    close(s->lock);
    if (s->pid_file >= 0)
        close(s->pid_file);
    close(s->signals);
    run_config_free(&s->config);
    beats_free(&s->beats);
}

/* Before anything is opened: what runs out later shows as something else, again and again. The
 * processes inherit what we may open. */
static bool may_open_enough(const struct supervisor *s)
{
    char error[256];
    bool may = process_allow_files(FILES + FILES_A_WORKER * (unsigned)s->options.workers, error,
                                   sizeof(error));
    if (!may)
        log_error("%s", error);
    return may;
}

/* Better refused here than by each process, again and again. */
static bool make_record_dir(const char *dir)
{
    if (dir == NULL)
        return true;
    if (strlen(dir) > CHILD_RECORD_DIR_MAX) {
        log_error("the directory of recordings has too long a name| dir=%s most=%d", dir,
                  CHILD_RECORD_DIR_MAX);
        return false;
    }
    bool there = mkdir(dir, 0700) == 0 || errno == EEXIST;
    bool usable = there && access(dir, W_OK | X_OK) == 0;
    if (!usable)
        log_error("cannot write into the directory of recordings| dir=%s error=\"%s\"", dir,
                  strerror(errno));
    return usable;
}

static bool is_good_tracing(const char *path)
{
    struct tracing_config tracing;
    struct arena memory = {0};
    struct str why = {0};
    bool good = tracing_config_load(path, &tracing, &memory, &why);
    if (!good)
        log_error("configuration of tracing refused|error=\"%.*s\"", STR_ARG(why));
    arena_free(&memory);
    return good;
}

int command_run(int argc, char **argv)
{
    static struct supervisor s; /* large, and there is one */
    run_options_parse(&s.options, argc, argv);
    if (!may_open_enough(&s))
        return 1;
    if (!serve_flags_agree(&s.options.serve) || !run_config_check(&s.config, &s.options))
        return 1;
    if (!is_good_tracing(s.options.tracing_config))
        return 1;
    if (s.options.print_config || s.options.kube.write_config_to != NULL)
        return 0;
    if (!make_record_dir(s.options.record) || !find_programs(&s) || !take_run_dir(&s) ||
        !run_config_place(&s.config) || !open_signals(&s))
        return 1;
    choose_identity(&s);
    open_beats(&s);
    control_open(&s.control, s.options.run_dir);
    add_children(&s);
    log_info("starting| run_dir=%s workers=%s%ld identity=%s", s.options.run_dir,
             s.options.workers_by_nodes ? "auto:" : "", s.options.workers, s.identity);
    supervise(&s);
    log_info("stopped");
    clean_up(&s);
    return 0;
}
