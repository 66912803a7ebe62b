/* requests: what a Binding costs its sender over HTTP/2 and TLS: by nghttp2 on a connection that
 * libcurl has made, and by libcurl's multi interface alone. The server is the tests' own, in a
 * process of its own; what is counted is this process's CPU time, encryption and kernel included.
 *
 * What must stay true: the server is forked before there is a client, every wait has a bound, and
 * who was started is stopped, by its pid. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/client.h"
#include "proto/kube/writes/writes.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/sections.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define assert_true(x)         must(x)
#define assert_int_equal(a, b) must((a) == (b))
#include "tests/unit/kube/access/server_h2.h"

#define WARM_UP     500   /* requests, at least: connections are opened meanwhile */
#define PATIENCE_MS 20000 /* without an answer */
#define LOOK_EVERY  256   /* answers between two looks at the clock */

struct sender {
    struct kube_config *config;
    struct kube_client *client;
    struct buffer path, body;
    uint32_t in_flight;
    uint64_t answers, failures;
    bool ending;
};

/* ---- the server ---- */

_Noreturn static void be_server(struct h2_server *server)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct pollfd fds[LINKS_MAX + 1] = {{server->fd, POLLIN, 0}};
        nfds_t count = 1;
        for (size_t i = 0; i < LINKS_MAX; i++)
            if (server->links[i].fd >= 0)
                fds[count++] = (struct pollfd){server->links[i].fd, POLLIN, 0};
        poll(fds, count, 1000);
        server_work(server);
    }
}

/* Its pid, and the port that it listens on. */
static pid_t start_server(int *port)
{
    static struct h2_server server;
    server_open(&server);
    *port = server.port;
    pid_t pid = fork();
    must(pid >= 0);
    if (pid == 0)
        be_server(&server);
    server_close(&server);
    return pid;
}

static void stop_server(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- the client ---- */

static void on_done(void *context, const struct kube_response *response);

static void send_one(struct sender *s)
{
    kube_client_send(s->client, &(struct kube_request){.method = KUBE_POST,
                                                       .channel = KUBE_CHANNEL_write,
                                                       .path = buffer_str(&s->path),
                                                       .content_type = WRITES_PROTOBUF,
                                                       .unread = true,
                                                       .body = buffer_str(&s->body),
                                                       .timeout = span_of_ms(PATIENCE_MS),
                                                       .context = s,
                                                       .done = on_done});
}

static void on_done(void *context, const struct kube_response *response)
{
    struct sender *s = context;
    s->answers++;
    s->failures += response->status != 201;
    if (!s->ending)
        send_one(s);
}

/* Until so many answers have come; false when none came for too long. */
static bool answered(struct sender *s, uint64_t answers)
{
    struct moment now = moment_now(), limit = moment_after(now, span_of_ms(PATIENCE_MS));
    uint64_t before = s->answers;
    while (s->answers < answers && !moment_reached(now, limit)) {
        struct pollfd fd = {kube_client_fd(s->client), POLLIN, 0};
        int64_t due_ms = span_ms(moment_since(kube_client_deadline(s->client, now), now));
        poll(&fd, 1, due_ms < 0 ? 0 : due_ms < 1000 ? (int)due_ms : 1000);
        now = moment_now();
        kube_client_work(s->client, now);
        if (s->answers > before)
            limit = moment_after(now, span_of_ms(PATIENCE_MS));
        before = s->answers;
    }
    return s->answers >= answers && s->failures == 0;
}

static bool open_client(struct sender *s, int port, bool curl_alone)
{
    char path[] = "/tmp/bench-core-XXXXXX", error[512];
    int fd = mkstemp(path);
    must(fd >= 0);
    dprintf(fd,
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d', "
            "insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {token: bench}}]\n",
            port);
    close(fd);
    s->config = kube_config_load(path, NULL, error, sizeof(error));
    unlink(path);
    struct kube_client_options with = {.user_agent = "bench-core", .curl_alone = curl_alone};
    s->client = s->config == NULL ? NULL : kube_client_new(s->config, &with, error, sizeof(error));
    if (s->client == NULL)
        fprintf(stderr, "bench-core: %s\n", error);
    return s->client != NULL;
}

static void close_client(struct sender *s)
{
    kube_client_free(&s->client);
    kube_config_free(&s->config);
    buffer_free(&s->path);
    buffer_free(&s->body);
}

static void fill_request(struct sender *s)
{
    const struct bind bind = {.uid = STR_LITERAL("7c1b5f1e-93ab-4a4e-8bb9-0f2a7d1e5c3d"),
                              .namespace_name = STR_LITERAL("default"),
                              .name = STR_LITERAL("web-7d4b9c6f5-x2x7p"),
                              .node_name = STR_LITERAL("node-000007")};
    writes_path(&s->path, "/api/v1", bind.namespace_name, "pods", bind.name);
    buffer_add_text(&s->path, "/binding");
    writes_binding_protobuf(&s->body, &bind);
}

/* CPU nanoseconds of one request of a client that has so many in flight; 0: it failed. */
static double cost(int port, bool curl_alone, uint32_t in_flight, double seconds)
{
    struct sender s = {.in_flight = in_flight};
    fill_request(&s);
    bool well = open_client(&s, port, curl_alone);
    send_one(&s); /* tells what the server speaks */
    for (uint32_t i = 1; well && i < in_flight; i++)
        send_one(&s);
    well = well && answered(&s, WARM_UP + in_flight);
    int64_t began = clock_cpu_ns(), spent = 0;
    uint64_t before = s.answers;
    while (well && (double)spent < seconds * 1e9) {
        well = answered(&s, s.answers + LOOK_EVERY);
        spent = clock_cpu_ns() - began;
    }
    double count = (double)(s.answers - before);
    s.ending = true; /* what is under way is answered: the server does not mind who hangs up */
    well = well && answered(&s, s.answers + kube_client_pending(s.client));
    if (!well)
        fprintf(stderr, "bench-core: requests: %llu of %llu answers are good\n",
                (unsigned long long)(s.answers - s.failures), (unsigned long long)s.answers);
    close_client(&s);
    return well ? (double)spent / count : 0;
}

bool requests_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"in_flight", 0}, {"nghttp2_us", 1}, {"curl_us", 1}, {"more_us", 1}};
    static const uint32_t windows[] = {1, 16, 128};
    int port;
    pid_t server = start_server(&port);
    bool well = true;
    report_section(r, "requests", "CPU time of the sender of a Binding over HTTP/2 and TLS",
                   columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; well && i < sizeof(windows) / sizeof(windows[0]); i++) {
        double ours = cost(port, false, windows[i], o->seconds / 4);
        double curls = cost(port, true, windows[i], o->seconds / 4);
        well = ours > 0 && curls > 0;
        report_row(r, (struct cell[]){NUMBER(windows[i]), NUMBER(ours / 1000), NUMBER(curls / 1000),
                                      NUMBER((curls - ours) / 1000)});
    }
    stop_server(server);
    return well;
}
