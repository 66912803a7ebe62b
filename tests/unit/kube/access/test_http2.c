/* Connections of our own, against a server of HTTP/2 inside the same loop: that the many requests
 * go over one of them, and that what goes wrong on it is told as curl would tell it. Every wait is
 * bounded by TURNS_MAX turns of the loop. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/access/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/kube/access/server_h2.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#define TURNS_MAX 2000 /* of at most 10 ms */
#define MANY      300

struct answer {
    unsigned done, created, doubts;
    int status, retry_after_s;
    bool maybe_done, silent;
    char body[64], error[256];
    char data[64]; /* of streams */
    unsigned pieces;
    struct fixture *f;
    uint64_t cancel; /* to be cancelled at the first piece with bytes */
};

struct fixture {
    struct h2_server server;
    struct kube_config *config;
    struct kube_client *client;
    char folder[64];
    struct answer a;
};

static void write_file(struct fixture *f, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void on_done(void *context, const struct kube_response *r)
{
    struct answer *a = context;
    a->done++;
    a->created += r->status == 201;
    a->doubts += r->maybe_done;
    a->status = r->status;
    a->retry_after_s = r->retry_after_s;
    a->maybe_done = r->maybe_done;
    a->silent = r->silent;
    snprintf(a->body, sizeof(a->body), "%.*s", STR_ARG(r->body));
    snprintf(a->error, sizeof(a->error), "%s", r->error);
}

static uint64_t post_within(struct fixture *f, const char *path, const char *body, int64_t ms)
{
    return kube_client_send(f->client, &(struct kube_request){.method = KUBE_POST,
                                                              .channel = KUBE_CHANNEL_write,
                                                              .content_type = "application/json",
                                                              .path = str_of(path),
                                                              .body = str_of(body),
                                                              .timeout = span_of_ms(ms),
                                                              .context = &f->a,
                                                              .done = on_done});
}

static uint64_t post(struct fixture *f, const char *path, const char *body)
{
    return post_within(f, path, body, 0);
}

static void on_data(void *context, struct str piece)
{
    struct answer *a = context;
    size_t len = strlen(a->data);
    a->pieces++;
    snprintf(a->data + len, sizeof(a->data) - len, "%.*s", STR_ARG(piece));
    if (piece.len > 0 && a->cancel != 0)
        kube_client_cancel(a->f->client, a->cancel);
}

static uint64_t watch(struct fixture *f, const char *path, int64_t idle_ms)
{
    return kube_client_send(f->client, &(struct kube_request){.method = KUBE_GET,
                                                              .channel = KUBE_CHANNEL_watch,
                                                              .path = str_of(path),
                                                              .idle_timeout = span_of_ms(idle_ms),
                                                              .context = &f->a,
                                                              .data = on_data,
                                                              .done = on_done});
}

static void turn(struct fixture *f)
{
    struct pollfd fds[2] = {{kube_client_fd(f->client), POLLIN, 0}, {f->server.fd, POLLIN, 0}};
    struct moment now = moment_now();
    int64_t due_ms = span_ms(moment_since(kube_client_deadline(f->client, now), now));
    poll(fds, 2, due_ms < 0 ? 0 : due_ms < 1 ? (int)due_ms : 1);
    kube_client_work(f->client, moment_now());
    server_work(&f->server);
}

static void wait_done(struct fixture *f, unsigned count)
{
    for (int i = 0; f->a.done < count && i < TURNS_MAX; i++)
        turn(f);
    assert_int_equal(f->a.done, count);
}

static void wait_requests(struct fixture *f, unsigned count)
{
    for (int i = 0; f->server.requests < count && i < TURNS_MAX; i++)
        turn(f);
    assert_int_equal(f->server.requests, count);
}

/* A client of the server, with this token in a file. */
static void reach(struct fixture *f)
{
    char text[1024], path[128], error[512] = "";
    snprintf(text, sizeof(text),
             "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
             "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d', "
             "insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {tokenFile: token}}]\n",
             f->server.port);
    write_file(f, "kc", text);
    write_file(f, "token", "old\n");
    snprintf(path, sizeof(path), "%s/kc", f->folder);
    f->config = kube_config_load(path, NULL, error, sizeof(error));
    assert_string_equal(error, "");
    f->client = kube_client_new(f->config, &(struct kube_client_options){0}, error, sizeof(error));
    assert_non_null(f->client);
}

/* Until requests go over a connection of our own, which is the server's second one. */
static void speed_up(struct fixture *f)
{
    for (int i = 0; f->server.links[1].requests == 0 && i < TURNS_MAX; i++) {
        post(f, "/first", "x");
        wait_done(f, f->a.done + 1);
    }
    assert_int_equal(f->server.connections, 2);
    assert_int_equal(f->a.created, f->a.done);
    f->a = (struct answer){0};
    f->server.requests = f->server.cancelled = 0;
}

static int setup(void **state)
{
    struct fixture *f = memory_take(sizeof(*f));
    strcpy(f->folder, "/tmp/berth-http2-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    server_open(&f->server);
    reach(f);
    speed_up(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"kc", "token"};
    kube_client_free(&f->client);
    kube_config_free(&f->config);
    server_close(&f->server);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", f->folder, names[i]);
        remove(path);
    }
    assert_int_equal(rmdir(f->folder), 0);
    memory_free(f);
    return 0;
}

static void many_requests_share_one_connection(void **state)
{
    struct fixture *f = *state;
    unsigned before = f->server.links[1].requests;
    for (int i = 0; i < MANY; i++) /* more than a server takes at once */
        post(f, "/made", "{\"a\":1}");
    wait_done(f, MANY);
    assert_int_equal(f->a.created, MANY);
    assert_string_equal(f->a.body, "{\"a\":1}");
    assert_string_equal(f->a.error, "");
    assert_int_equal(f->server.links[1].requests - before, MANY);
    assert_int_equal(f->server.connections, 2);
}

static void bodies_may_be_longer_than_a_window(void **state)
{
    struct fixture *f = *state;
    size_t len = 300000;
    char *body = memory_take(len + 1);
    memset(body, 'b', len);
    post(f, "/made", body);
    post(f, "/made", "short");
    wait_done(f, 2);
    assert_int_equal(f->a.created, 2);
    memory_free(body);
}

static void a_busy_server_says_when(void **state)
{
    struct fixture *f = *state;
    post(f, "/busy", "later");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 429);
    assert_int_equal(f->a.retry_after_s, 7);
    assert_string_equal(f->a.body, "later");
    assert_false(f->a.maybe_done);
}

static void a_refused_stream_was_not_carried_out(void **state)
{
    struct fixture *f = *state;
    post(f, "/refuse", "x");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_false(f->a.maybe_done);
    post(f, "/reset", "x");
    wait_done(f, 2);
    assert_int_equal(f->a.status, 0);
    assert_true(f->a.maybe_done);
    assert_non_null(strstr(f->a.error, "https://127.0.0.1"));
    assert_int_equal(f->server.connections, 2);
}

static void a_broken_connection_leaves_all_in_doubt(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        post(f, "/hang", "x");
    wait_requests(f, 3);
    post(f, "/drop", "x");
    wait_done(f, 4);
    assert_int_equal(f->a.status, 0);
    assert_int_equal(f->a.doubts, 4);
    post(f, "/made", "again");
    wait_done(f, 5);
    assert_int_equal(f->a.created, 1);
}

static void cancelled_requests_are_never_answered(void **state)
{
    struct fixture *f = *state;
    uint64_t hanging = post(f, "/hang", "x");
    wait_requests(f, 1);
    uint64_t unsent = post(f, "/made", "x");
    kube_client_cancel(f->client, unsent);
    kube_client_cancel(f->client, hanging);
    post(f, "/made", "y");
    wait_done(f, 1);
    for (int i = 0; f->server.cancelled == 0 && i < TURNS_MAX; i++)
        turn(f);
    assert_int_equal(f->a.done, 1);
    assert_string_equal(f->a.body, "y");
    assert_int_equal(f->server.requests, 2);
    assert_int_equal(f->server.cancelled, 1);
    assert_int_equal(f->server.connections, 2);
}

static void a_hanging_server_costs_its_connection(void **state)
{
    struct fixture *f = *state;
    post_within(f, "/hang", "x", 30);
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_true(f->a.maybe_done);
    assert_true(f->a.silent);
    assert_non_null(strstr(f->a.error, "no answer within 0.03 s"));
    post(f, "/made", "x");
    wait_done(f, 2);
    assert_int_equal(f->a.created, 1);
    assert_int_equal(f->server.connections, 3);
}

static void a_server_that_says_goodbye_is_left(void **state)
{
    struct fixture *f = *state;
    post(f, "/goaway", "x");
    wait_done(f, 1);
    assert_int_equal(f->a.created, 1);
    for (int i = 0; f->server.connections < 4 && i < TURNS_MAX; i++) {
        post(f, "/made", "x");
        wait_done(f, f->a.done + 1);
    }
    assert_int_equal(f->a.created, f->a.done);
    assert_int_equal(f->server.connections, 4); /* curl's and our own again */
}

static void newer_credentials_go_over_a_newer_connection(void **state)
{
    struct fixture *f = *state;
    write_file(f, "token", "new\n");
    post(f, "/new", "x");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 200);
    assert_int_equal(f->server.requests, 2); /* the first one got 401 */
    assert_true(f->server.connections > 2);
}

static void watches_share_a_connection_with_what_proves_them_alive(void **state)
{
    struct fixture *f = *state;
    watch(f, "/stream", 0); /* curl's: it tells what the server speaks */
    watch(f, "/stream", 0);
    watch(f, "/stream", 0);
    wait_done(f, 3);
    assert_int_equal(f->a.status, 201);
    assert_string_equal(f->a.body, "");
    assert_string_equal(f->a.data, "one\ntwo\none\ntwo\none\ntwo\n");
    assert_true(f->a.pieces >= 6); /* an empty one at the beginning of each */
    assert_int_equal(f->server.connections, 4);
    assert_int_equal(f->server.links[2].requests, 1);
    assert_int_equal(f->server.links[3].requests, 2);
}

static void a_watch_may_be_cancelled_by_what_it_says(void **state)
{
    struct fixture *f = *state;
    watch(f, "/stream", 0);
    wait_done(f, 1);
    f->a.f = f;
    f->a.data[0] = 0;
    f->a.cancel = watch(f, "/endless", 0);
    for (int i = 0; f->server.cancelled == 0 && i < TURNS_MAX; i++)
        turn(f);
    assert_string_equal(f->a.data, "one\ntwo\n");
    assert_int_equal(f->a.done, 1);
    assert_int_equal(f->server.cancelled, 1);
}

static void a_silent_watch_ends_and_gives_up_its_connection(void **state)
{
    struct fixture *f = *state;
    watch(f, "/stream", 0);
    wait_done(f, 1);
    watch(f, "/endless", 40);
    wait_done(f, 2);
    assert_int_equal(f->a.status, 201);
    assert_non_null(strstr(f->a.error, "no byte for 0.04 s"));
    assert_int_equal(f->server.connections, 4);
}

static void it_can_be_freed_at_any_time(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        post(f, "/hang", "x");
    wait_requests(f, 5);
    post(f, "/made", "x");
    kube_client_free(&f->client);
    assert_int_equal(f->a.done, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(many_requests_share_one_connection),
        CASE(bodies_may_be_longer_than_a_window),
        CASE(a_busy_server_says_when),
        CASE(a_refused_stream_was_not_carried_out),
        CASE(a_broken_connection_leaves_all_in_doubt),
        CASE(cancelled_requests_are_never_answered),
        CASE(a_hanging_server_costs_its_connection),
        CASE(a_server_that_says_goodbye_is_left),
        CASE(newer_credentials_go_over_a_newer_connection),
        CASE(watches_share_a_connection_with_what_proves_them_alive),
        CASE(a_watch_may_be_cancelled_by_what_it_says),
        CASE(a_silent_watch_ends_and_gives_up_its_connection),
        CASE(it_can_be_freed_at_any_time),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
