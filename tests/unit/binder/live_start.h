/* live_start: starting and ending what live.h drives: the API server, the binders, our own client.
 * A test's setup is live_open, its teardown live_close; live_side starts an instance. */
#ifndef TEST_BINDER_LIVE_START_H
#define TEST_BINDER_LIVE_START_H

#include "tests/unit/binder/live.h"

#include <ftw.h>
#include <libgen.h>
#include <poll.h>

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
    char path[PATH_MAX], text[16];
    snprintf(path, sizeof(path), "%s/port", l->dir);
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    long port = 0;
    while (port == 0 && !moment_reached(moment_now(), end)) {
        FILE *file = fopen(path, "re");
        if (file != NULL && fgets(text, sizeof(text), file) != NULL)
            port = strtol(text, NULL, 10);
        if (file != NULL)
            fclose(file);
        poll(NULL, 0, 5);
    }
    return (int)port;
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
    int status = 0;
    live_until(l, s->told > 0 || waitpid(s->pid, &status, WNOHANG) == s->pid);
    if (s->told == 0)
        fail_msg("berth-binder ended with status %d before it said anything", WEXITSTATUS(status));
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

static inline int live_unlink(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void live_remove(const char *dir)
{
    nftw(dir, live_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int live_close(void **state)
{
    struct live *l = *state;
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
    if (getenv("BERTH_KEEP") == NULL)
        live_remove(l->dir);
    else
        print_message("kept %s\n", l->dir);
    memory_free(l);
    return 0;
}

#endif
