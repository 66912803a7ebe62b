/* live: the real berth-binder against a real API server over HTTP, driven over a real bus.
 *
 * The API server is the small one beside this program, or, when BERTH_LIVE names a directory made
 * by tests/controlplane (started with --audit), the real one. Time is the real clock; every wait
 * has an end, and nothing is asserted about how long things take. */
#ifndef TEST_BINDER_LIVE_H
#define TEST_BINDER_LIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/bus.h"
#include "proto/kube/client.h"
#include "proto/kube/writes.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 40000

/* One instance: its binder, and we as its scheduler. */
struct side {
    pid_t pid;
    char name; /* a or b */
    char run_dir[128];
    struct bus *bus;
    struct outbox out;
    bool leading;
    int64_t term;
    uint32_t in_flight, told;
    uint32_t bound, refused; /* bind_results */
    char last[256];          /* message of the last refusal */
};

struct live {
    char bin[PATH_MAX], dir[64], audit[PATH_MAX];
    char namespace_name[32];
    pid_t server;
    struct kube_config *config;
    struct kube_client *client;
    uint32_t open;      /* our own requests not answered */
    int status;         /* of the last one */
    struct buffer body; /* of the last one */
    struct side sides[2];
};

static inline pid_t live_spawn(const struct live *l, const char *const argv[], const char *log)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", l->dir, log);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing outlives the test */
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static inline void live_reap(pid_t *pid, int number)
{
    if (*pid <= 0)
        return;
    kill(*pid, number);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

/* ---- one round of everything ---- */

static inline void live_hear(struct side *s, const struct message *m)
{
    if (m->type == MSG_leadership) {
        s->leading = m->leadership.leading;
        s->term = m->leadership.lead_term;
        s->in_flight = m->leadership.in_flight.count;
        s->told++;
    } else if (m->type == MSG_bind_result) {
        if (m->bind_result.bound)
            s->bound++;
        else
            s->refused++;
        if (!m->bind_result.bound)
            snprintf(s->last, sizeof(s->last), "%.*s", STR_ARG(m->bind_result.message));
    }
}

static inline void live_round(struct live *l)
{
    struct moment now = moment_now(), soon = moment_after(now, span_of_ms(10));
    struct bus *waiter = NULL;
    for (int i = 0; i < 2; i++) {
        struct side *s = &l->sides[i];
        struct delivery in;
        if (s->bus == NULL)
            continue;
        while (bus_receive(s->bus, now, &in))
            live_hear(s, in.message);
        bus_send(s->bus, &s->out);
        bus_tick(s->bus, now);
        waiter = s->bus;
    }
    kube_client_work(l->client, now);
    soon = moment_earlier(soon, kube_client_deadline(l->client, now));
    if (waiter != NULL)
        bus_wait(waiter, kube_client_fd(l->client), now, soon);
}

/* Rounds until condition holds; fails the test when it never does. */
#define live_until(l, condition)                                                                   \
    do {                                                                                           \
        struct moment end_ = moment_after(moment_now(), span_of_ms(PATIENCE_MS));                  \
        while (!(condition)) {                                                                     \
            if (moment_reached(moment_now(), end_))                                                \
                fail_msg("never: %s", #condition);                                                 \
            live_round(l);                                                                         \
        }                                                                                          \
    } while (0)

/* ---- our own requests, as an administrator ---- */

static inline void live_answered(void *context, const struct kube_response *r)
{
    struct live *l = context;
    l->open--;
    l->status = r->status;
    buffer_reset(&l->body);
    buffer_add_str(&l->body, r->body);
}

static inline void live_send(struct live *l, enum kube_method method, const char *path,
                             const char *body)
{
    l->open++;
    kube_client_send(l->client, &(struct kube_request){.method = method,
                                                       .channel = KUBE_CHANNEL_write,
                                                       .path = str_of(path),
                                                       .content_type = body ? WRITES_JSON : NULL,
                                                       .body = str_of(body ? body : ""),
                                                       .timeout = span_of_ms(10000),
                                                       .context = l,
                                                       .done = live_answered});
}

static inline int live_call(struct live *l, enum kube_method method, const char *path,
                            const char *body)
{
    live_send(l, method, path, body);
    live_until(l, l->open == 0);
    return l->status;
}

/* How often text occurs in the answer to a GET. */
static inline int live_occurs(struct live *l, const char *path, const char *text)
{
    int count = 0;
    assert_int_equal(live_call(l, KUBE_GET, path, NULL), 200);
    for (const char *at = l->body.at; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* Creates a pod and writes its UID. */
static inline void live_pod(struct live *l, const char *name, char uid[64])
{
    char path[128], body[512];
    struct arena a = {0};
    struct writes_pod pod;
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods", l->namespace_name);
    snprintf(body, sizeof(body),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},\"spec\":"
             "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
             name);
    assert_int_equal(live_call(l, KUBE_POST, path, body), 201);
    assert_true(writes_pod_read(buffer_str(&l->body), &pod, &a));
    snprintf(uid, 64, "%.*s", STR_ARG(pod.uid));
    arena_free(&a);
}

static inline void live_bind(struct live *l, struct side *s, const char *name, const char *uid)
{
    struct message m = {.type = MSG_bind};
    m.bind = (struct bind){.uid = str_of(uid),
                           .namespace_name = str_of(l->namespace_name),
                           .name = str_of(name),
                           .node_name = STR_LITERAL("n1"),
                           .scheduler_name = STR_LITERAL("default-scheduler"),
                           .resource_version = 1};
    outbox_put(&s->out, (struct address){BINDER, 0}, &m);
}

/* ---- starting and ending ---- */

static inline void live_write(const struct live *l, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", l->dir, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void live_write_kubeconfig(const struct live *l, const char *user, int port)
{
    char text[1024], name[64];
    snprintf(name, sizeof(name), "%s.kubeconfig", user);
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    server: "
             "http://127.0.0.1:%d\nusers:\n- name: u\n  user:\n    token: token-of-%s\ncontexts:\n"
             "- name: x\n  context:\n    cluster: c\n    user: u\ncurrent-context: x\n",
             port, user);
    live_write(l, name, text);
}

static inline int live_port(const struct live *l)
{
    char path[PATH_MAX];
    int port = 0;
    snprintf(path, sizeof(path), "%s/port", l->dir);
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (port == 0 && !moment_reached(moment_now(), end)) {
        FILE *file = fopen(path, "re");
        if (file == NULL || fscanf(file, "%d", &port) != 1)
            port = 0;
        if (file != NULL)
            fclose(file);
        poll(NULL, 0, 5);
    }
    return port;
}

static inline void live_start_server(struct live *l)
{
    char program[PATH_MAX + 32], port[PATH_MAX], tokens[PATH_MAX];
    snprintf(program, sizeof(program), "%s/apiserver", l->bin);
    snprintf(port, sizeof(port), "--port-file=%s/port", l->dir);
    snprintf(tokens, sizeof(tokens), "--token-file=%s/tokens", l->dir);
    live_write(l, "tokens",
               "token-of-admin,admin,1,system:masters\ntoken-of-scheduler-a,scheduler-a,2\n"
               "token-of-scheduler-b,scheduler-b,3\n");
    char audit[PATH_MAX];
    snprintf(audit, sizeof(audit), "--audit-log=%.4000s", l->audit);
    const char *const argv[] = {program, "--listen=127.0.0.1:0", port, tokens,
                                audit,   "--kubelet=none",       NULL};
    l->server = live_spawn(l, argv, "apiserver.log");
    int number = live_port(l);
    if (number == 0)
        fail_msg("the API server %s did not start", program);
    live_write_kubeconfig(l, "admin", number);
    live_write_kubeconfig(l, "scheduler-a", number);
    live_write_kubeconfig(l, "scheduler-b", number);
}

static inline const char *live_given(void)
{
    return getenv("BERTH_LIVE");
}

static inline void live_kubeconfig(const struct live *l, const char *user, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s.kubeconfig", live_given() ? live_given() : l->dir, user);
}

static inline void live_start_binder(struct live *l, struct side *s)
{
    char program[PATH_MAX + 32], kubeconfig[PATH_MAX], user[16], config[PATH_MAX + 32], run[160];
    char name[80];
    snprintf(user, sizeof(user), "scheduler-%c", s->name);
    live_kubeconfig(l, user, kubeconfig);
    snprintf(program, sizeof(program), "%s/berth-binder", l->bin);
    snprintf(config, sizeof(config), "--kubeconfig=%s", kubeconfig);
    snprintf(run, sizeof(run), "--run-dir=%s", s->run_dir);
    snprintf(name, sizeof(name), "--leader-elect-resource-name=%s", l->namespace_name);
    /* A lease of its own, except where rights are by name. */
    if (live_given())
        snprintf(name, sizeof(name), "--leader-elect-resource-name=kube-scheduler");
    const char *const argv[] = {program,
                                config,
                                run,
                                name,
                                "--leader-elect-lease-duration=4s",
                                "--leader-elect-renew-deadline=3s",
                                "--leader-elect-retry-period=500ms",
                                NULL};
    char log[32];
    snprintf(log, sizeof(log), "binder-%c.log", s->name);
    s->pid = live_spawn(l, argv, log);
}

/* Starts a binder and connects to it as its scheduler. */
static inline struct side *live_side(struct live *l, char name)
{
    struct side *s = &l->sides[name - 'a'];
    char error[512];
    s->name = name;
    snprintf(s->run_dir, sizeof(s->run_dir), "%s/run-%c", l->dir, name);
    live_start_binder(l, s);
    struct bus_options options = {.process = SCHEDULER,
                                  .run_dir = s->run_dir,
                                  .generation = 1,
                                  .heartbeat = span_of_ms(200),
                                  .peers = {{.process = BINDER}},
                                  .peer_count = 1};
    s->bus = bus_open(&options, error, sizeof(error));
    if (s->bus == NULL)
        fail_msg("%s", error);
    live_until(l, s->told > 0);
    return s;
}

static inline void live_connect(struct live *l)
{
    char path[PATH_MAX], error[1024], body[128];
    live_kubeconfig(l, "admin", path);
    l->config = kube_config_load(path, NULL, error, sizeof(error));
    struct kube_client_options options = {.user_agent = "test"};
    l->client = l->config ? kube_client_new(l->config, &options, error, sizeof(error)) : NULL;
    if (l->client == NULL)
        fail_msg("%s", error);
    l->sides[0].bus = bus_open(
        &(struct bus_options){.process = TOOL, .run_dir = l->dir, .generation = 1, .no_door = true},
        error, sizeof(error));
    if (l->sides[0].bus == NULL) /* only to have something to wait with */
        fail_msg("%s", error);
    snprintf(body, sizeof(body),
             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
             l->namespace_name);
    assert_int_equal(live_call(l, KUBE_POST, "/api/v1/namespaces", body), 201);
    live_call(l, KUBE_DELETE,
              "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", NULL);
    bus_close(&l->sides[0].bus);
}

static inline int live_open(void **state)
{
    struct live *l = memory_take(sizeof(*l));
    char self[PATH_MAX] = "";
    log_open("test", LOG_LEVEL_error);
    signal(SIGPIPE, SIG_IGN);
    /* build/MODE/tests/binder/test_live: the programs are in build/MODE/bin */
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        dirname(self);
    snprintf(l->bin, sizeof(l->bin), "%.4000s/bin", self);
    snprintf(l->dir, sizeof(l->dir), "/tmp/berth-live-XXXXXX");
    if (mkdtemp(l->dir) == NULL)
        return -1;
    snprintf(l->audit, sizeof(l->audit), "%s/audit.log", live_given() ? live_given() : l->dir);
    snprintf(l->namespace_name, sizeof(l->namespace_name), "live-%llx",
             (unsigned long long)moment_wall_us());
    *state = l;
    if (!live_given())
        live_start_server(l);
    live_connect(l);
    return 0;
}

static inline int live_close(void **state)
{
    struct live *l = *state;
    char command[128];
    for (int i = 0; i < 2; i++) {
        if (l->sides[i].pid > 0)
            kill(l->sides[i].pid, SIGCONT);
        live_reap(&l->sides[i].pid, SIGKILL);
        bus_close(&l->sides[i].bus);
        outbox_free(&l->sides[i].out);
    }
    kube_client_free(&l->client);
    kube_config_free(&l->config);
    live_reap(&l->server, SIGTERM);
    buffer_free(&l->body);
    snprintf(command, sizeof(command), "%s '%s'", getenv("BERTH_KEEP") ? "echo kept" : "rm -r",
             l->dir);
    if (system(command) != 0)
        return -1;
    memory_free(l);
    return 0;
}

#endif
