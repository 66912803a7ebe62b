/* The client against a server inside the same loop: what it sends, what it makes of bad answers,
 * and who has to wait. Every wait is bounded by TURNS_MAX turns of the loop; nothing measures
 * time. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/access/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/kube/access/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#define TURNS_MAX 2000 /* of at most 10 ms */

struct answer {
    unsigned done;
    int status, retry_after_s;
    bool maybe_done, silent;
    char body[256], error[512], data[256];
    unsigned pieces;
    struct fixture *f;
    uint64_t cancel; /* to be cancelled at the first piece */
};

struct fixture {
    struct server server;
    struct kube_config *config;
    struct kube_client *client;
    char folder[64];
    struct answer a;
};

static void write_file(struct fixture *f, const char *name, const char *text, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A client of the server with this user in its kubeconfig. */
static void reach(struct fixture *f, const char *user, const struct kube_client_options *options)
{
    char text[1024], path[128], error[512] = "";
    snprintf(text, sizeof(text),
             "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
             "users: [{name: u, user: {%s}}]\n",
             f->server.port, user);
    write_file(f, "kc", text, 0600);
    snprintf(path, sizeof(path), "%s/kc", f->folder);
    f->config = kube_config_load(path, NULL, error, sizeof(error));
    assert_string_equal(error, "");
    f->client = kube_client_new(f->config, options, error, sizeof(error));
    assert_non_null(f->client);
}

static int setup(void **state)
{
    struct fixture *f = memory_take(sizeof(*f));
    strcpy(f->folder, "/tmp/berth-client-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    server_open(&f->server);
    f->a.f = f;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"kc", "token", "plugin", "ran"};
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

static void on_done(void *context, const struct kube_response *r)
{
    struct answer *a = context;
    a->done++;
    a->status = r->status;
    a->retry_after_s = r->retry_after_s;
    a->maybe_done = r->maybe_done;
    a->silent = r->silent;
    snprintf(a->body, sizeof(a->body), "%.*s", STR_ARG(r->body));
    snprintf(a->error, sizeof(a->error), "%s", r->error);
}

static void on_data(void *context, struct str piece)
{
    struct answer *a = context;
    size_t len = strlen(a->data);
    a->pieces++;
    snprintf(a->data + len, sizeof(a->data) - len, "%.*s", STR_ARG(piece));
    if (a->cancel != 0 && piece.len > 0)
        kube_client_cancel(a->f->client, a->cancel);
}

static uint64_t ask(struct fixture *f, enum kube_method method, const char *path)
{
    return kube_client_send(f->client, &(struct kube_request){.method = method,
                                                              .channel = KUBE_CHANNEL_write,
                                                              .path = str_of(path),
                                                              .context = &f->a,
                                                              .done = on_done});
}

static uint64_t ask_stream(struct fixture *f, const char *path, int64_t idle_ms)
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
    poll(fds, 2, due_ms < 0 ? 0 : due_ms < 10 ? (int)due_ms + 1 : 10);
    kube_client_work(f->client, moment_now());
    server_work(&f->server);
}

/* Until so many requests have ended, in all. */
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

/* A few turns in which nothing more is expected to happen. */
static void settle(struct fixture *f)
{
    for (int i = 0; i < 20; i++)
        turn(f);
}

static const struct kube_client_options plain = {.user_agent = "test/1"};

static void a_request_says_who_and_what(void **state)
{
    struct fixture *f = *state;
    reach(f, "token: abc", &plain);
    kube_client_send(f->client, &(struct kube_request){.method = KUBE_PATCH,
                                                       .channel = KUBE_CHANNEL_write,
                                                       .path = STR_LITERAL("/x?y=z"),
                                                       .content_type = "application/merge-patch",
                                                       .body = STR_LITERAL("{\"a\":1}"),
                                                       .context = &f->a,
                                                       .done = on_done});
    wait_done(f, 1);
    assert_int_equal(f->a.status, 200);
    assert_string_equal(f->a.body, "{\"a\":1}");
    assert_string_equal(f->a.error, "");
    assert_false(f->a.maybe_done);
    assert_memory_equal(f->server.last, "PATCH /x?y=z HTTP/1.1\r\n", 23);
    assert_non_null(strstr(f->server.last, "\r\nAuthorization: Bearer abc\r\n"));
    assert_non_null(strstr(f->server.last, "\r\nContent-Type: application/merge-patch\r\n"));
    assert_non_null(strstr(f->server.last, "\r\nAccept: application/json\r\n"));
    assert_non_null(strstr(f->server.last, "\r\nUser-Agent: test/1\r\n"));
    assert_null(strstr(f->server.last, "Expect"));
}

static void every_method_goes_out_under_its_name(void **state)
{
    static const char *const names[] = {"GET ", "POST ", "PUT ", "PATCH ", "DELETE "};
    struct fixture *f = *state;
    reach(f, "username: me, password: secret", &plain);
    for (int m = KUBE_GET; m <= KUBE_DELETE; m++) {
        ask(f, (enum kube_method)m, "/x");
        wait_done(f, (unsigned)m + 1);
        assert_memory_equal(f->server.last, names[m], strlen(names[m]));
        assert_non_null(strstr(f->server.last, "\r\nAuthorization: Basic bWU6c2VjcmV0\r\n"));
    }
    assert_int_equal(f->server.connections, 1); /* kept alive */
}

static void a_busy_server_says_when(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask(f, KUBE_POST, "/busy");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 429);
    assert_int_equal(f->a.retry_after_s, 7);
    assert_string_equal(f->a.body, "{\"message\":\"busy\"}");
    assert_false(f->a.maybe_done);
    ask(f, KUBE_POST, "/gateway");
    wait_done(f, 2);
    assert_int_equal(f->a.status, 504);
    assert_true(f->a.maybe_done);
    assert_int_equal(f->a.retry_after_s, -1);
}

static void nobody_listening_means_nothing_was_done(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    int port = f->server.port;
    server_close(&f->server);
    server_open(&f->server); /* elsewhere */
    char expected[80];
    snprintf(expected, sizeof(expected), "http://127.0.0.1:%d: Failed to connect to 127.0.0.1",
             port);
    ask(f, KUBE_POST, "/x");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_memory_equal(f->a.error, expected, strlen(expected));
    assert_false(f->a.maybe_done);
}

static void a_dropped_write_is_in_doubt_and_not_sent_twice(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask(f, KUBE_POST, "/drop");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_true(f->a.maybe_done);
    ask(f, KUBE_POST, "/ok");
    wait_done(f, 2);
    unsigned before = f->server.requests;
    ask(f, KUBE_POST, "/drop"); /* on a connection that was used before: curl would retry */
    wait_done(f, 3);
    settle(f);
    assert_int_equal(f->a.status, 0);
    assert_true(f->a.maybe_done);
    assert_int_equal(f->server.requests, before + 1);
}

static void half_an_answer_is_none(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask(f, KUBE_PUT, "/half");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_string_equal(f->a.body, "");
    assert_true(f->a.maybe_done);
}

static void a_hanging_server_costs_its_connection(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    kube_client_send(f->client, &(struct kube_request){.method = KUBE_PUT,
                                                       .channel = KUBE_CHANNEL_lease,
                                                       .path = STR_LITERAL("/hang"),
                                                       .timeout = span_of_ms(50),
                                                       .context = &f->a,
                                                       .done = on_done});
    wait_done(f, 1);
    assert_int_equal(f->a.status, 0);
    assert_true(f->a.maybe_done);
    assert_true(f->a.silent);
    assert_non_null(strstr(f->a.error, "timed out"));
    kube_client_send(f->client, &(struct kube_request){.method = KUBE_PUT,
                                                       .channel = KUBE_CHANNEL_lease,
                                                       .path = STR_LITERAL("/ok"),
                                                       .context = &f->a,
                                                       .done = on_done});
    wait_done(f, 2);
    assert_false(f->a.silent);
    assert_int_equal(f->a.status, 200);
    assert_int_equal(f->server.connections, 2);
}

static void a_stream_comes_in_pieces(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask_stream(f, "/stream", 0);
    wait_done(f, 1);
    assert_string_equal(f->a.data, "one\ntwo\n");
    assert_int_equal(f->a.status, 200);
    assert_string_equal(f->a.error, "");
    assert_string_equal(f->a.body, "");
    f->a.data[0] = 0;
    ask_stream(f, "/half-stream", 0);
    wait_done(f, 2);
    assert_string_equal(f->a.data, "one\n");
    assert_int_equal(f->a.status, 200);
    assert_true(f->a.error[0] != 0);
}

static void a_refused_stream_comes_whole(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask_stream(f, "/busy", 0);
    wait_done(f, 1);
    assert_int_equal(f->a.pieces, 0);
    assert_int_equal(f->a.status, 429);
    assert_string_equal(f->a.body, "{\"message\":\"busy\"}");
}

static void a_silent_stream_ends_and_gives_up_its_connection(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    ask_stream(f, "/silent", 60);
    wait_done(f, 1);
    assert_string_equal(f->a.data, "one\n");
    assert_non_null(strstr(f->a.error, ": no byte for 0.06 s"));
    ask_stream(f, "/stream", 0);
    wait_done(f, 2);
    assert_int_equal(f->server.connections, 2);
}

static void cancelled_requests_are_never_answered(void **state)
{
    struct fixture *f = *state;
    reach(f, "", &plain);
    kube_client_cancel(f->client, ask(f, KUBE_GET, "/ok")); /* still waiting */
    uint64_t hanging = ask(f, KUBE_GET, "/hang");
    wait_requests(f, 1);
    kube_client_cancel(f->client, hanging); /* on the wire */
    f->a.cancel = ask_stream(f, "/silent", 0);
    for (int i = 0; f->a.data[0] == 0 && i < TURNS_MAX; i++)
        turn(f);
    settle(f);
    assert_string_equal(f->a.data, "one\n"); /* cancelled from inside its own callback */
    assert_int_equal(f->a.done, 0);
    assert_int_equal(kube_client_pending(f->client), 0);
    kube_client_cancel(f->client, 12345);
}

static void connections_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct kube_client_options few = {.connections_max = 3};
    reach(f, "", &few);
    for (int i = 0; i < 40; i++)
        ask(f, KUBE_GET, "/ok");
    wait_done(f, 40);
    assert_in_range(f->server.connections, 1, 3);
}

static void requests_in_flight_are_bounded_but_for_the_lease(void **state)
{
    struct fixture *f = *state;
    struct kube_client_options few = {.in_flight_max = 2};
    reach(f, "", &few);
    ask(f, KUBE_GET, "/ok");
    wait_done(f, 1);
    for (int i = 0; i < 5; i++)
        ask(f, KUBE_GET, "/hang");
    wait_requests(f, 3);
    settle(f);
    assert_int_equal(f->server.requests, 3);
    assert_int_equal(kube_client_pending(f->client), 5);
    kube_client_send(f->client, &(struct kube_request){.method = KUBE_GET,
                                                       .channel = KUBE_CHANNEL_lease,
                                                       .path = STR_LITERAL("/ok"),
                                                       .context = &f->a,
                                                       .done = on_done});
    wait_done(f, 2);
}

static void the_rate_is_bounded_but_for_the_lease(void **state)
{
    struct fixture *f = *state;
    struct kube_client_options slow = {.qps = 0.001, .burst = 3};
    reach(f, "", &slow);
    for (int i = 0; i < 6; i++)
        ask(f, KUBE_GET, "/ok");
    wait_done(f, 3);
    settle(f);
    assert_int_equal(f->server.requests, 3);
    kube_client_send(f->client, &(struct kube_request){.method = KUBE_GET,
                                                       .channel = KUBE_CHANNEL_lease,
                                                       .path = STR_LITERAL("/ok"),
                                                       .context = &f->a,
                                                       .done = on_done});
    wait_done(f, 4);
    struct moment now = moment_now();
    assert_true(kube_client_deadline(f->client, now).ns > now.ns);
}

static void a_token_file_is_read_again_after_a_401(void **state)
{
    struct fixture *f = *state;
    write_file(f, "token", "old\n", 0600);
    reach(f, "tokenFile: token", &plain);
    ask(f, KUBE_POST, "/new");
    wait_done(f, 1);
    assert_int_equal(f->a.status, 401); /* tried twice, it is still the old one */
    assert_int_equal(f->server.requests, 2);
    write_file(f, "token", "new\n", 0600);
    ask(f, KUBE_POST, "/new");
    wait_done(f, 2);
    assert_int_equal(f->a.status, 200);
    write_file(f, "token", "", 0600); /* the last good one stays */
    ask(f, KUBE_POST, "/new");
    wait_done(f, 3);
    assert_int_equal(f->a.status, 200);
}

static const char plugin[] =
    "#!/bin/sh\n"
    "n=new; [ -e \"$MARK\" ] || n=old; : > \"$MARK\"\n"
    "case \"$KUBERNETES_EXEC_INFO\" in *ExecCredential*) ;; *) exit 9;; esac\n"
    "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
    "\"status\":{\"token\":\"'$n'\"}}'\n";

static void reach_by_plugin(struct fixture *f, const char *script)
{
    char user[512];
    write_file(f, "plugin", script, 0700);
    snprintf(user, sizeof(user),
             "exec: {command: ./plugin, apiVersion: client.authentication.k8s.io/v1, "
             "interactiveMode: Never, env: [{name: MARK, value: %s/ran}]}",
             f->folder);
    reach(f, user, &plain);
}

static void a_plugin_runs_again_after_a_401(void **state)
{
    struct fixture *f = *state;
    reach_by_plugin(f, plugin);
    for (int i = 0; i < 3; i++)
        ask(f, KUBE_GET, "/ok"); /* all wait for one run */
    wait_done(f, 3);
    assert_int_equal(f->a.status, 200);
    assert_non_null(strstr(f->server.last, "Bearer old"));
    /* A credential that was just renewed is not renewed for every refusal at once. */
    for (unsigned i = 4; f->a.status != 200 || i == 4; i++) {
        assert_true(i < TURNS_MAX);
        ask(f, KUBE_GET, "/new");
        wait_done(f, i);
        turn(f);
    }
    assert_non_null(strstr(f->server.last, "Bearer new"));
}

/* After a step of the clock, or of a plugin that keeps what it once got: the API server decides. */
static void what_has_expired_when_a_plugin_gives_it_is_used(void **state)
{
    struct fixture *f = *state;
    char ran[512];
    struct stat runs;
    reach_by_plugin(f, "#!/bin/sh\necho >> \"$MARK\"\n"
                       "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                       "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"late\","
                       "\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}}'\n");
    for (unsigned i = 1; i <= 5; i++) {
        ask(f, KUBE_GET, "/ok");
        wait_done(f, i);
        assert_int_equal(f->a.status, 200);
    }
    assert_non_null(strstr(f->server.last, "Bearer late"));
    snprintf(ran, sizeof(ran), "%s/ran", f->folder);
    assert_int_equal(stat(ran, &runs), 0);
    assert_true(runs.st_size < 5); /* once a second at most */
}

/* A supervisor waits for all that end: the status is lost, and what was said is not. */
static void a_plugin_that_somebody_else_has_waited_for_has_ended(void **state)
{
    struct fixture *f = *state;
    signal(SIGCHLD, SIG_IGN);
    reach_by_plugin(f, plugin);
    ask(f, KUBE_GET, "/ok");
    wait_done(f, 1);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(f->a.status, 200);
    assert_non_null(strstr(f->server.last, "Bearer old"));
}

static void a_plugin_that_fails_says_why(void **state)
{
    struct fixture *f = *state;
    char expected[512];
    reach_by_plugin(f, "#!/bin/sh\necho first >&2\necho no such user >&2\nexit 3\n");
    ask(f, KUBE_POST, "/ok");
    wait_done(f, 1);
    snprintf(expected, sizeof(expected),
             "http://127.0.0.1:%d: no credentials: exec plugin %s/./plugin: exited with status 3: "
             "no such user",
             f->server.port, f->folder);
    assert_string_equal(f->a.error, expected);
    assert_int_equal(f->a.status, 0);
    assert_false(f->a.maybe_done);
    assert_int_equal(f->server.requests, 0);
}

static void a_plugin_that_is_not_there_is_named(void **state)
{
    struct fixture *f = *state;
    reach(f,
          "exec: {command: berth-no-such-plugin, apiVersion: client.authentication.k8s.io/v1, "
          "interactiveMode: Never, installHint: get it}",
          &plain);
    ask(f, KUBE_POST, "/ok");
    wait_done(f, 1);
    assert_non_null(strstr(f->a.error, "exec plugin berth-no-such-plugin: cannot be started: No "
                                       "such file or directory (get it)"));
}

static void it_can_be_freed_at_any_time(void **state)
{
    struct fixture *f = *state;
    reach_by_plugin(f, "#!/bin/sh\nexec sleep 1000\n");
    ask(f, KUBE_GET, "/ok");
    turn(f); /* the plugin runs; it is killed with the client */
    kube_client_free(&f->client);
    kube_config_free(&f->config);
    reach(f, "", &plain);
    ask(f, KUBE_GET, "/hang");
    ask_stream(f, "/silent", 0);
    wait_requests(f, 2);
    ask(f, KUBE_GET, "/ok");
    kube_client_free(&f->client);
    assert_int_equal(f->a.done, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(a_request_says_who_and_what),
        TEST(every_method_goes_out_under_its_name),
        TEST(a_busy_server_says_when),
        TEST(nobody_listening_means_nothing_was_done),
        TEST(a_dropped_write_is_in_doubt_and_not_sent_twice),
        TEST(half_an_answer_is_none),
        TEST(a_hanging_server_costs_its_connection),
        TEST(a_stream_comes_in_pieces),
        TEST(a_refused_stream_comes_whole),
        TEST(a_silent_stream_ends_and_gives_up_its_connection),
        TEST(cancelled_requests_are_never_answered),
        TEST(connections_are_bounded),
        TEST(requests_in_flight_are_bounded_but_for_the_lease),
        TEST(the_rate_is_bounded_but_for_the_lease),
        TEST(a_token_file_is_read_again_after_a_401),
        TEST(a_plugin_runs_again_after_a_401),
        TEST(what_has_expired_when_a_plugin_gives_it_is_used),
        TEST(a_plugin_that_somebody_else_has_waited_for_has_ended),
        TEST(a_plugin_that_fails_says_why),
        TEST(a_plugin_that_is_not_there_is_named),
        TEST(it_can_be_freed_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
