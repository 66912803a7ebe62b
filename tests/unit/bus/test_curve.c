/* test_curve: who gets through a door that wants CURVE: the clients whose keys lie in its
 * directory, and nobody else. */
#include "tests/unit/bus/pair.h"

#include "proto/bus/curve.h"
#include "proto/bus/frame.h"
#include "proto/bus/inside.h"
#include "proto/bus/tap_reader.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

struct keyring {
    struct scene *scene;
    char ours[96], theirs[96];
};

static void make_keys(const char *dir)
{
    static const char *const names[] = {"server", "scheduler", "queue", "worker", "plugin", "tool"};
    char error[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!curve_make(dir, names[i], error, sizeof(error)))
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

/* The door's socket is asked whether it has something before the hello is taken out of it, as
 * happens when it arrives just as the process goes to sleep: who the caller is must not get lost.
 */
static void a_client_gets_in_whose_hello_was_looked_for(void **state)
{
    struct keyring *k = *state;
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->ours, bus_endpoint(queue));
    struct delivery in;
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (!wire_readable(&queue->door)) {
        struct moment now = moment_now();
        assert_false(moment_reached(now, end));
        bus_tick(queue, now);
        while (bus_receive(scheduler, now, &in))
            continue;
        bus_tick(scheduler, now);
        bus_wait(queue, -1, now, moment_after(now, span_of_ms(5)));
    }
    meet(queue, scheduler);
    assert_int_equal(bus_refused(queue, "wrong_key"), 0);
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

/* They know the server's public key, and have no server's key of their own. */
static void let_server_be_known(const struct keyring *k)
{
    char from[200], to[200];
    snprintf(from, sizeof(from), "%s/server.key", k->ours);
    snprintf(to, sizeof(to), "%s/server.key", k->theirs);
    copy_file(from, to);
    snprintf(to, sizeof(to), "%s/server.key_secret", k->theirs);
    assert_int_equal(unlink(to), 0);
}

static void let_guest_in(const struct keyring *k)
{
    char from[200], to[200];
    snprintf(from, sizeof(from), "%s/scheduler.key", k->theirs);
    snprintf(to, sizeof(to), "%s/scheduler-guest.key", k->ours);
    copy_file(from, to);
}

/* Knowing the server's public key is not enough; adding the client's to the directory is. */
static void an_unknown_client_is_refused_until_its_key_is_added(void **state)
{
    struct keyring *k = *state;
    let_server_be_known(k);
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    assert_refused(queue, scheduler);
    bus_close(&scheduler);
    let_guest_in(k);
    scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    meet(queue, scheduler);
    bus_close(&scheduler);
    bus_close(&queue);
}

/* One that was refused comes again by itself, as ZeroMQ alone does not: it takes a refusal for
 * good. */
static void who_was_refused_gets_in_when_its_key_is_added(void **state)
{
    struct keyring *k = *state;
    let_server_be_known(k);
    struct bus *queue = open_queue(k);
    struct bus *scheduler = open_scheduler(k, k->theirs, bus_endpoint(queue));
    assert_refused(queue, scheduler);
    let_guest_in(k);
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

static void set_file_limit(rlim_t most)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* CZMQ loses a handle of a file that it cannot write: what it takes here is not looked at. */
static bool make_in_room(const struct keyring *k, rlim_t room, char *error, size_t size)
{
    set_file_limit(room);
#ifdef __SANITIZE_ADDRESS__
    __lsan_disable();
#endif
    bool made = curve_make(k->ours, "binder", error, size);
#ifdef __SANITIZE_ADDRESS__
    __lsan_enable();
#endif
    set_file_limit(RLIM_INFINITY);
    return made;
}

/* As on a full disk: CZMQ itself says that all went well. */
static void keys_that_cannot_be_written_are_not_there(void **state)
{
    struct keyring *k = *state;
    char path[200], error[512];
    static const rlim_t rooms[] = {0, 100, 330}; /* within the public file, and the secret one */
    snprintf(path, sizeof(path), "%s/binder.key", k->ours);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        assert_false(make_in_room(k, rooms[i], error, sizeof(error)));
        assert_non_null(strstr(error, "cannot write"));
        assert_int_not_equal(access(path, F_OK), 0);
        assert_false(curve_exists(k->ours, "binder"));
    }
    assert_true(curve_make(k->ours, "binder", error, sizeof(error)));
}

static void make_empty(const struct keyring *k, const char *file)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", k->ours, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fclose(out), 0);
}

/* Whoever made them was killed. */
static void empty_keys_are_made_and_half_a_pair_is_told(void **state)
{
    struct keyring *k = *state;
    char error[512];
    make_empty(k, "binder.key");
    make_empty(k, "binder.key_secret");
    assert_false(curve_exists(k->ours, "binder") || curve_broken(k->ours, "binder"));
    assert_true(curve_make(k->ours, "binder", error, sizeof(error)));
    assert_false(curve_broken(k->ours, "binder"));
    make_empty(k, "binder.key_secret");
    assert_true(curve_exists(k->ours, "binder") && curve_broken(k->ours, "binder"));
    assert_false(curve_make(k->ours, "binder", error, sizeof(error)));
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

/* ---- what a key permits ---- */

struct impostor {
    const char *key, *kind; /* the key it has, and what it says it is */
    enum process door;
    const char *reason; /* NULL: let in */
};

static struct bus *open_keyed(struct keyring *k, enum process process)
{
    struct bus_options o = options_for(k->scene, process);
    o.listen = "tcp://127.0.0.1:*";
    o.curve_dir = k->ours;
    return open_bus(k->scene, &o);
}

/* A directory in which the impostor's key has the name that its kind asks for. */
static void make_disguise(struct keyring *k, const char *key, enum process as, char dir[128])
{
    static const char *const endings[] = {"key", "key_secret"};
    static int count;
    char from[200], to[200];
    snprintf(dir, 128, "%s/disguise-%d", k->scene->dir, count++);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof(from), "%s/%s.%s", k->ours, key, endings[i]);
        snprintf(to, sizeof(to), "%s/%s.%s", dir, process_name(as), endings[i]);
        copy_file(from, to);
    }
    snprintf(from, sizeof(from), "%s/server.key", k->ours);
    snprintf(to, sizeof(to), "%s/server.key", dir);
    copy_file(from, to);
}

static bool turned_away(struct bus *door, void *reason)
{
    return bus_refused(door, reason) > 0;
}

static void a_key_permits_its_own_kind_alone(void **state)
{
    static const struct impostor impostors[] = {
        {"worker", "scheduler", BINDER, "wrong_key"},  {"plugin", "scheduler", BINDER, "wrong_key"},
        {"plugin", "worker", SCHEDULER, "wrong_key"},  {"worker", "plugin", SCHEDULER, "wrong_key"},
        {"queue", "worker", SCHEDULER, "wrong_key"},   {"scheduler", "scheduler", BINDER, NULL},
        {"worker", "worker", SCHEDULER, NULL},         {"plugin", "plugin", SCHEDULER, NULL},
        {"scheduler", "worker", BINDER, "not_served"}, {"worker", "tool", QUEUE, "wrong_key"},
    };
    struct keyring *k = *state;
    for (size_t i = 0; i < sizeof(impostors) / sizeof(impostors[0]); i++) {
        const struct impostor *it = &impostors[i];
        char dir[128];
        enum process as = process_of(str_of(it->kind));
        make_disguise(k, it->key, as, dir);
        struct bus *door = open_keyed(k, it->door);
        struct bus_options o = options_for(k->scene, as);
        o.no_door = true;
        o.peers[o.peer_count++] = (struct bus_peer_option){it->door, bus_endpoint(door)};
        o.curve_dir = dir;
        struct bus *caller = open_bus(k->scene, &o);
        if (it->reason != NULL) {
            char reason[32];
            snprintf(reason, sizeof(reason), "%s", it->reason);
            assert_true(run_until(door, caller, turned_away, reason));
        } else {
            meet(door, caller);
            assert_int_equal(bus_refused(door, "wrong_key"), 0);
        }
        bus_close(&caller);
        bus_close(&door);
    }
}

/* It may connect, but not as a scheduler, so that what it orders is not heard. */
static void a_plugins_key_orders_no_preemption(void **state)
{
    struct keyring *k = *state;
    char dir[128], reason[] = "wrong_key";
    make_disguise(k, "plugin", SCHEDULER, dir);
    struct bus *binder = open_keyed(k, BINDER);
    struct bus_options o = options_for(k->scene, SCHEDULER);
    o.no_door = true;
    o.peers[o.peer_count++] = (struct bus_peer_option){BINDER, bus_endpoint(binder)};
    o.curve_dir = dir;
    struct bus *false_scheduler = open_bus(k->scene, &o);
    assert_true(run_until(binder, false_scheduler, turned_away, reason));
    struct message preempt = {.type = MSG_preempt, .preempt = {.node_name = str_of("n1")}};
    send_message(false_scheduler, (struct address){BINDER, 0}, &preempt);
    assert_int_equal(bus_dropped(false_scheduler), 1); /* there is nobody up to send it to */
    /* The true one comes, beside it. */
    struct bus_options true_options = o;
    true_options.curve_dir = k->ours;
    struct bus *scheduler = open_bus(k->scene, &true_options);
    meet(binder, scheduler);
    send_message(scheduler, (struct address){BINDER, 0}, &preempt);
    assert_true(await(binder, scheduler, MSG_preempt, NULL));
    bus_close(&false_scheduler);
    bus_close(&scheduler);
    bus_close(&binder);
}

static void only_a_tools_key_hears_taps(void **state)
{
    struct keyring *k = *state;
    char dir[128], error[512];
    struct bus_options o = options_for(k->scene, QUEUE);
    o.tap = "tcp://127.0.0.1:18173";
    o.curve_dir = k->ours;
    struct bus *queue = open_bus(k->scene, &o);
    const char *endpoints[] = {o.tap};
    make_disguise(k, "worker", TOOL, dir);
    const char *const dirs[] = {dir, k->ours};
    for (int i = 0; i < 2; i++) {
        struct tap_reader *reader = tap_reader_open(
            &(struct tap_reader_options){
                .endpoints = endpoints, .endpoint_count = 1, .curve_dir = dirs[i]},
            error, sizeof(error));
        assert_non_null(reader);
        uint64_t refused = bus_handshakes_failed(queue);
        struct bus *scheduler = open_caller(k->scene, SCHEDULER, QUEUE);
        struct str tapped;
        bool heard = false, may = dirs[i] == k->ours;
        struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
        /* What is counted of the one that was refused may still come while the other one listens.
         */
        while (!heard && (may || bus_handshakes_failed(queue) == refused) &&
               !moment_reached(moment_now(), end)) {
            struct delivery in;
            struct bus *both[] = {queue, scheduler};
            for (int j = 0; j < 2; j++) {
                while (bus_receive(both[j], moment_now(), &in))
                    continue;
                bus_tick(both[j], moment_now());
            }
            heard = tap_reader_next(reader, &tapped);
            bus_wait(queue, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
        }
        assert_int_equal(heard, may);
        assert_true(may || bus_handshakes_failed(queue) > refused);
        tap_reader_close(&reader);
        bus_close(&scheduler);
    }
    bus_close(&queue);
}

static void a_file_of_no_kind_lets_nobody_in(void **state)
{
    (void)state;
    assert_int_equal(curve_role("worker"), WORKER);
    assert_int_equal(curve_role("worker-far"), WORKER);
    assert_int_equal(curve_role("worker-"), WORKER);
    assert_int_equal(curve_role("workers"), 0);
    assert_int_equal(curve_role("client"), 0);
    assert_int_equal(curve_role("client-guest"), 0);
    assert_int_equal(curve_role("server"), 0);
    assert_int_equal(curve_role(""), 0);
    assert_int_equal(curve_role("-worker"), 0);
}

/* Keys of before had no kind. */
static void an_older_directory_is_named_with_what_to_do(void **state)
{
    struct keyring *k = *state;
    char dir[128], error[512], from[200], to[200];
    struct bus_options o = options_for(k->scene, WORKER);
    make_disguise(k, "tool", TOOL, dir);
    snprintf(from, sizeof(from), "%s/tool.key", dir);
    snprintf(to, sizeof(to), "%s/client.key", dir);
    assert_int_equal(rename(from, to), 0);
    o.peers[o.peer_count++] = (struct bus_peer_option){SCHEDULER, "tcp://127.0.0.1:1"};
    o.curve_dir = dir;
    assert_null(bus_open(&o, error, sizeof(error)));
    assert_non_null(strstr(error, "worker.key"));
    assert_non_null(strstr(error, "berth keys"));
    assert_non_null(strstr(error, "again"));
}

#define RING(test) cmocka_unit_test_setup_teardown(test, keyring_open, keyring_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING(a_client_of_the_directory_gets_in),
        RING(a_client_gets_in_whose_hello_was_looked_for),
        RING(a_client_with_other_keys_is_refused),
        RING(an_unknown_client_is_refused_until_its_key_is_added),
        RING(who_was_refused_gets_in_when_its_key_is_added),
        RING(a_client_without_keys_is_refused),
        RING(with_keys_tcp_may_listen_everywhere),
        RING(keys_are_private_and_never_replaced),
        RING(keys_that_cannot_be_written_are_not_there),
        RING(empty_keys_are_made_and_half_a_pair_is_told),
        RING(a_missing_key_is_named),
        RING(a_key_permits_its_own_kind_alone),
        RING(a_plugins_key_orders_no_preemption),
        RING(only_a_tools_key_hears_taps),
        RING(a_file_of_no_kind_lets_nobody_in),
        RING(an_older_directory_is_named_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
