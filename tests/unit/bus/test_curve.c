/* test_curve: who gets through a door that wants CURVE: the clients whose keys lie in its
 * directory, and nobody else. */
#include "tests/unit/bus/pair.h"

#include "proto/bus/curve.h"

#include <sys/stat.h>

struct keyring {
    struct scene *scene;
    char ours[96], theirs[96];
};

static void make_keys(const char *dir)
{
    char error[512];
    if (!curve_make(dir, "server", error, sizeof(error)) ||
        !curve_make(dir, "client", error, sizeof(error)))
        fail_msg("%s", error);
}

static int keyring_open(void **state)
{
    scene_open(state);
    struct keyring *k = memory_take(sizeof(*k));
    k->scene = *state;
    snprintf(k->ours, sizeof(k->ours), "%s/ours", k->scene->dir);
    snprintf(k->theirs, sizeof(k->theirs), "%s/theirs", k->scene->dir);
    make_keys(k->ours);
    make_keys(k->theirs);
    *state = k;
    return 0;
}

static int keyring_close(void **state)
{
    struct keyring *k = *state;
    *state = k->scene;
    memory_free(k);
    return scene_close(state);
}

static struct bus *open_queue(struct keyring *k)
{
    struct bus_options o = options_for(k->scene, QUEUE);
    o.listen = "tcp://127.0.0.1:*";
    o.curve_dir = k->ours;
    return open_bus(k->scene, &o);
}

static struct bus *open_scheduler(struct keyring *k, const char *curve_dir, const char *endpoint)
{
    struct bus_options o = options_for(k->scene, SCHEDULER);
    o.peers[o.peer_count++] = (struct bus_peer_option){QUEUE, endpoint};
    o.curve_dir = curve_dir;
    return open_bus(k->scene, &o);
}

static bool handshake_failed(struct bus *bus, void *unused)
{
    (void)unused;
    return bus_handshakes_failed(bus) > 0;
}

/* The door refuses, and the core never hears of the caller. */
static void assert_refused(struct bus *queue, struct bus *scheduler)
{
    struct delivery in;
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (!handshake_failed(queue, NULL)) {
        struct moment now = moment_now();
        assert_false(moment_reached(now, end));
        assert_false(bus_receive(queue, now, &in));
        assert_false(bus_receive(scheduler, now, &in));
        bus_tick(queue, now);
        bus_tick(scheduler, now);
        bus_wait(queue, -1, now, moment_after(now, span_of_ms(5)));
    }
}

static void a_client_of_the_directory_gets_in(void **state)
{
    struct keyring *k = *state;
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->ours, bus_endpoint(queue));
    meet(queue, scheduler);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 7}};
    send_message(scheduler, (struct address){QUEUE, 0}, &pull);
    assert_true(await(queue, scheduler, MSG_pull, NULL));
    bus_close(&scheduler);
    bus_close(&queue);
}

static void a_client_with_other_keys_is_refused(void **state)
{
    struct keyring *k = *state;
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    assert_refused(queue, scheduler);
    bus_close(&scheduler);
    bus_close(&queue);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_true(in != NULL && out != NULL);
    size_t len = fread(bytes, 1, sizeof(bytes), in);
    assert_int_equal(fwrite(bytes, 1, len, out), len);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Knowing the server's public key is not enough; adding the client's to the directory is. */
static void an_unknown_client_is_refused_until_its_key_is_added(void **state)
{
    struct keyring *k = *state;
    char from[200], to[200];
    snprintf(from, sizeof(from), "%s/server.key", k->ours);
    snprintf(to, sizeof(to), "%s/server.key", k->theirs);
    copy_file(from, to);
    snprintf(to, sizeof(to), "%s/server.key_secret", k->theirs);
    assert_int_equal(unlink(to), 0);
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    assert_refused(queue, scheduler);
    bus_close(&scheduler);
    snprintf(from, sizeof(from), "%s/client.key", k->theirs);
    snprintf(to, sizeof(to), "%s/client-guest.key", k->ours);
    copy_file(from, to);
    scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    meet(queue, scheduler);
    bus_close(&scheduler);
    bus_close(&queue);
}

static void a_client_without_keys_is_refused(void **state)
{
    struct keyring *k = *state;
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, NULL, bus_endpoint(queue));
    assert_refused(queue, scheduler);
    bus_close(&scheduler);
    bus_close(&queue);
}

static void with_keys_tcp_may_listen_everywhere(void **state)
{
    struct keyring *k = *state;
    struct bus_options o = options_for(k->scene, QUEUE);
    o.listen = "tcp://0.0.0.0:*";
    o.curve_dir = k->ours;
    struct bus *queue = open_bus(k->scene, &o);
    bus_close(&queue);
}

static void keys_are_private_and_never_replaced(void **state)
{
    struct keyring *k = *state;
    char path[200], error[512];
    struct stat found;
    snprintf(path, sizeof(path), "%s/server.key_secret", k->ours);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_false(curve_make(k->ours, "server", error, sizeof(error)));
    assert_non_null(strstr(error, "exists already"));
}

static void a_missing_key_is_named(void **state)
{
    struct keyring *k = *state;
    struct bus_options o = options_for(k->scene, QUEUE);
    char error[512];
    o.curve_dir = k->scene->dir; /* no keys here */
    assert_null(bus_open(&o, error, sizeof(error)));
    assert_non_null(strstr(error, k->scene->dir));
    assert_non_null(strstr(error, "server.key"));
}

#define RING(test) cmocka_unit_test_setup_teardown(test, keyring_open, keyring_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING(a_client_of_the_directory_gets_in),
        RING(a_client_with_other_keys_is_refused),
        RING(an_unknown_client_is_refused_until_its_key_is_added),
        RING(a_client_without_keys_is_refused),
        RING(with_keys_tcp_may_listen_everywhere),
        RING(keys_are_private_and_never_replaced),
        RING(a_missing_key_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
