/* test_bus: two processes on real sockets: meeting, losing each other, meeting again, and who may
 * say what. Both ends run in this program, so every wait can be bounded and nothing sleeps. */
#include "proto/bus/endpoint.h"
#include "proto/metrics.h"
#include "tests/unit/bus/pair.h"

#include "proto/base/must.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void two_processes_meet(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct seen up = {0};
    assert_true(await(scheduler, queue, MSG_peer_up, &up));
    assert_int_equal(up.in.from.process, QUEUE);
    assert_string_equal(up.instance, "queue");
    assert_true(up.in.from.peer != 0);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 7}};
    send_message(scheduler, up.in.from, &pull);
    struct seen got = {0};
    assert_true(await(queue, scheduler, MSG_pull, &got));
    assert_int_equal(got.message.pull.credit, 7);
    assert_int_equal(got.in.from.process, SCHEDULER);
    assert_string_equal(got.instance, "scheduler");
    bus_close(&scheduler);
    bus_close(&queue);
    seen_free(&up);
    seen_free(&got);
}

static void a_connection_made_before_the_door_opens_is_used(void **state)
{
    struct scene *scene = *state;
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct delivery in;
    for (int i = 0; i < 3; i++) {
        struct moment now = moment_now();
        assert_false(bus_receive(scheduler, now, &in));
        bus_wait(scheduler, -1, now, bus_tick(scheduler, now));
    }
    struct bus *queue = open_door(scene, QUEUE);
    meet(queue, scheduler);
    bus_close(&queue);
    bus_close(&scheduler);
}

static bool saw_another_process(struct bus *bus, void *unused)
{
    (void)unused;
    return bus_refused(bus, "wrong_process") > 0;
}

static bool saw_a_handshake_fail(struct bus *bus, void *unused)
{
    (void)unused;
    return bus_handshakes_failed(bus) > 0;
}

/* It speaks another language; ZeroMQ alone would never connect again. */
static void a_stranger_had_the_address(void **state)
{
    struct scene *scene = *state;
    /* A greeting of ZMTP 3.0 for a mechanism that nobody asked for. */
    const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0PLAIN";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), reuse = 1;
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    char endpoint[64];
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    struct bus_options caller = options_for(scene, SCHEDULER), door = options_for(scene, QUEUE);
    add_peer(&caller, QUEUE);
    caller.peers[0].endpoint = door.listen = endpoint;
    struct bus *scheduler = open_bus(scene, &caller);
    int connection = accept(listener, NULL, NULL);
    assert_int_equal(write(connection, greeting, sizeof(greeting)), sizeof(greeting));
    assert_true(run_until(scheduler, NULL, saw_a_handshake_fail, NULL));
    close(connection);
    close(listener);
    struct bus *queue = open_bus(scene, &door);
    meet(queue, scheduler);
    bus_close(&queue);
    bus_close(&scheduler);
}

static void point_to(const struct scene *scene, const char *directory, const char *link)
{
    char next[128];
    snprintf(next, sizeof(next), "%s/next", scene->dir);
    assert_int_equal(symlink(directory, next), 0);
    assert_int_equal(rename(next, link), 0);
}

/* A door in a directory with its name. */
static struct bus *open_within(struct scene *scene, enum process process)
{
    char directory[128], door[160];
    snprintf(directory, sizeof(directory), "%s/%s", scene->dir, process_name(process));
    snprintf(door, sizeof(door), "ipc://%s/%s/door", scene->dir, process_name(process));
    assert_int_equal(mkdir(directory, 0700), 0);
    struct bus_options o = options_for(scene, process);
    o.listen = door;
    return open_bus(scene, &o);
}

/* As when a name that stood for another process's address comes to stand for the right one's: the
 * connection to the other one is as good as ever. */
static void a_link_leaves_whom_it_does_not_want(void **state)
{
    struct scene *scene = *state;
    char link[100], name[128];
    struct bus *buses[2], *scheduler;
    snprintf(link, sizeof(link), "%s/now", scene->dir);
    buses[0] = open_within(scene, BINDER);
    buses[1] = open_within(scene, QUEUE);
    struct bus_options caller = options_for(scene, SCHEDULER);
    add_peer(&caller, QUEUE);
    snprintf(name, sizeof(name), "ipc://%s/now/door", scene->dir);
    caller.peers[0].endpoint = name;
    caller.heartbeat = span_of_ms(20);
    point_to(scene, "binder", link);
    scheduler = open_bus(scene, &caller);
    assert_true(run_until(scheduler, buses[0], saw_another_process, NULL));
    point_to(scene, "queue", link);
    meet(buses[1], scheduler);
    bus_close(&scheduler);
    bus_close(&buses[0]);
    bus_close(&buses[1]);
}

static void address_zero_reaches_all_of_a_kind(void **state)
{
    struct scene *scene = *state;
    struct bus *scheduler = open_door(scene, SCHEDULER);
    struct bus *a = open_caller(scene, WORKER, SCHEDULER);
    struct bus *b = open_caller(scene, WORKER, SCHEDULER);
    meet(scheduler, a);
    meet(scheduler, b);
    struct message m = {.type = MSG_shard_node_gone, .shard_node_gone = {.name = str_of("n1")}};
    send_message(scheduler, (struct address){WORKER, 0}, &m);
    assert_true(await(a, scheduler, MSG_shard_node_gone, NULL));
    assert_true(await(b, scheduler, MSG_shard_node_gone, NULL));
    bus_close(&a);
    bus_close(&b);
    bus_close(&scheduler);
}

static void workers_without_a_name_take_the_first_that_is_free(void **state)
{
    struct scene *scene = *state;
    struct bus *scheduler = open_door(scene, SCHEDULER);
    struct bus *a = open_caller(scene, WORKER, SCHEDULER);
    struct bus *b = open_caller(scene, WORKER, SCHEDULER);
    meet(scheduler, a);
    struct seen up = {0};
    assert_non_null(strstr(bus_endpoint(a), "/worker-0.sock"));
    assert_non_null(strstr(bus_endpoint(b), "/worker-1.sock"));
    bus_close(&a);
    a = open_caller(scene, WORKER, SCHEDULER);
    assert_non_null(strstr(bus_endpoint(a), "/worker-0.sock"));
    bus_close(&a);
    bus_close(&b);
    bus_close(&scheduler);
    seen_free(&up);
}

static void a_message_without_a_receiver_is_dropped_and_counted(void **state)
{
    struct scene *scene = *state;
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 1}};
    send_message(scheduler, (struct address){QUEUE, 0}, &pull);
    assert_int_equal(bus_dropped(scheduler), 1);
    send_message(scheduler, (struct address){QUEUE, 99}, &pull);
    assert_int_equal(bus_dropped(scheduler), 2);
    bus_close(&scheduler);
}

static void a_clean_end_is_a_goodbye(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct seen down = {0};
    meet(queue, scheduler);
    bus_close(&scheduler);
    assert_true(await(queue, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "goodbye");
    assert_string_equal(down.instance, "scheduler");
    bus_close(&queue);
    seen_free(&down);
}

static void a_restarted_door_is_met_again(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct seen up = {0}, down = {0}, again = {0};
    assert_true(await(scheduler, queue, MSG_peer_up, &up));
    bus_close(&queue);
    queue = open_door(scene, QUEUE);
    assert_true(await(scheduler, queue, MSG_peer_down, &down));
    assert_int_equal(down.in.from.peer, up.in.from.peer);
    assert_true(await(scheduler, queue, MSG_peer_up, &again));
    assert_true(again.in.from.peer != up.in.from.peer);
    assert_true(again.message.peer_up.incarnation != up.message.peer_up.incarnation);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 3}};
    send_message(scheduler, again.in.from, &pull);
    assert_true(await(queue, scheduler, MSG_pull, NULL));
    bus_close(&queue);
    bus_close(&scheduler);
    seen_free(&up);
    seen_free(&down);
    seen_free(&again);
}

static void a_restarted_caller_is_met_again(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct seen up = {0}, down = {0}, again = {0};
    assert_true(await(queue, scheduler, MSG_peer_up, &up));
    bus_close(&scheduler);
    scheduler = open_caller(scene, SCHEDULER, QUEUE);
    assert_true(await(queue, scheduler, MSG_peer_down, &down));
    assert_int_equal(down.in.from.peer, up.in.from.peer);
    assert_true(await(queue, scheduler, MSG_peer_up, &again));
    assert_true(again.in.from.peer != up.in.from.peer);
    struct message m = {.type = MSG_attempt, .attempt = {.cycle = 5}};
    send_message(queue, again.in.from, &m);
    assert_true(await(scheduler, queue, MSG_attempt, NULL));
    bus_close(&queue);
    bus_close(&scheduler);
    seen_free(&up);
    seen_free(&down);
    seen_free(&again);
}

/* A child that was killed says no goodbye: its connection's end tells. */
static void a_killed_caller_is_noticed(void **state)
{
    struct scene *scene = *state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
        await(scheduler, NULL, MSG_attempt, NULL);
        _exit(0);
    }
    struct bus *queue = open_door(scene, QUEUE);
    struct seen down = {0};
    assert_true(await(queue, NULL, MSG_peer_up, NULL));
    kill(child, SIGKILL);
    assert_true(await(queue, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "disconnected");
    assert_int_equal(waitpid(child, NULL, 0), child);
    bus_close(&queue);
    seen_free(&down);
}

static void a_peer_that_falls_silent_is_down_and_comes_back(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct seen down = {0};
    meet(queue, scheduler);
    /* The queue does not run at all while the scheduler waits. */
    assert_true(await(scheduler, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "silent");
    meet(queue, scheduler);
    bus_close(&queue);
    bus_close(&scheduler);
    seen_free(&down);
}

/* Virtual time for one bus: its clock jumps as if the process had been stopped for a minute. */
static void a_process_that_was_stopped_blames_nobody(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    struct delivery in;
    meet(queue, scheduler);
    struct moment late = moment_after(moment_now(), span_of_ms(60000));
    bus_tick(scheduler, late);
    bool blamed = false;
    while (bus_receive(scheduler, late, &in))
        blamed = blamed || in.message->type == MSG_peer_down;
    assert_false(blamed);
    bus_close(&queue);
    bus_close(&scheduler);
}

static void an_older_term_is_refused_and_both_start_over_in_the_new_one(void **state)
{
    struct scene *scene = *state;
    struct bus *binder = open_door(scene, BINDER);
    struct bus *scheduler = open_caller(scene, SCHEDULER, BINDER);
    meet(binder, scheduler);
    bus_set_term(binder, 9);
    struct message bind = {.type = MSG_bind, .bind = {.uid = str_of("a")}};
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    struct seen down = {0}, got = {0};
    assert_true(await(scheduler, binder, MSG_peer_down, &down));
    assert_string_equal(down.reason, "gap");
    assert_int_equal(bus_refused(binder, "stale_term"), 1);
    meet(binder, scheduler);
    assert_int_equal(bus_term(scheduler), 9);
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    assert_true(await(binder, scheduler, MSG_bind, &got));
    assert_int_equal(got.in.term, 9);
    bus_close(&binder);
    bus_close(&scheduler);
    seen_free(&down);
    seen_free(&got);
}

static bool refused_a_generation(struct bus *bus, void *arg)
{
    (void)arg;
    return bus_refused(bus, "stale_generation") == 1;
}

static void an_older_generation_is_refused(void **state)
{
    struct scene *scene = *state;
    struct bus *binder = open_door(scene, BINDER);
    struct bus *scheduler = open_caller(scene, SCHEDULER, BINDER);
    meet(binder, scheduler);
    bus_set_generation(binder, 2);
    struct message bind = {.type = MSG_bind, .bind = {.uid = str_of("a")}};
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    assert_true(run_until(binder, scheduler, refused_a_generation, NULL));
    bus_set_generation(scheduler, 2);
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    assert_true(await(binder, scheduler, MSG_bind, NULL));
    bus_close(&binder);
    bus_close(&scheduler);
}

/* A scheduler follows its binder, also up only; what it was told itself stays when that one goes.
 */
static void a_term_follows_the_leader_and_never_goes_below_our_own(void **state)
{
    struct scene *scene = *state;
    struct bus *binder = open_door(scene, BINDER);
    struct bus *scheduler = open_caller(scene, SCHEDULER, BINDER);
    bus_set_term(binder, 4);
    meet(binder, scheduler);
    assert_int_equal(bus_term(scheduler), 4);
    bus_set_term(scheduler, 2);
    assert_int_equal(bus_term(scheduler), 4);
    bus_close(&binder);
    assert_true(await(scheduler, NULL, MSG_peer_down, NULL));
    assert_int_equal(bus_term(scheduler), 2);
    bus_close(&scheduler);
}

static void an_address_in_use_names_the_path_and_the_process(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus_options o = options_for(scene, QUEUE);
    char error[512], pid[32];
    assert_null(bus_open(&o, error, sizeof(error)));
    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(error, "queue.sock"));
    assert_non_null(strstr(error, "address in use"));
    assert_non_null(strstr(error, pid));
    bus_close(&queue);
}

static void a_tcp_address_in_use_is_an_error(void **state)
{
    struct scene *scene = *state;
    struct bus_options o = options_for(scene, QUEUE), other = options_for(scene, QUEUE);
    char error[512];
    o.listen = "tcp://127.0.0.1:*";
    struct bus *queue = open_bus(scene, &o);
    other.listen = bus_endpoint(queue);
    other.instance = "second";
    assert_null(bus_open(&other, error, sizeof(error)));
    assert_non_null(strstr(error, bus_endpoint(queue)));
    assert_non_null(strstr(error, "address in use"));
    bus_close(&queue);
}

static void the_socket_of_a_dead_process_is_taken_over(void **state)
{
    struct scene *scene = *state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        open_door(scene, QUEUE);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    char path[128];
    snprintf(path, sizeof(path), "%s/queue.sock", scene->dir);
    assert_int_equal(access(path, F_OK), 0);
    struct bus *queue = open_door(scene, QUEUE);
    struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
    meet(queue, scheduler);
    bus_close(&queue);
    bus_close(&scheduler);
}

static void a_clean_end_leaves_no_files(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    bus_close(&queue);
    assert_int_equal(rmdir(scene->dir), 0);
    assert_int_equal(mkdir(scene->dir, 0700), 0);
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct scene *scene = *state;
    char path[128], error[512];
    snprintf(path, sizeof(path), "%s/queue.sock", scene->dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    struct bus_options o = options_for(scene, QUEUE);
    assert_null(bus_open(&o, error, sizeof(error)));
    assert_non_null(strstr(error, "not a socket"));
    assert_int_equal(access(path, F_OK), 0);
}

static void the_run_directory_is_made_private(void **state)
{
    struct scene *scene = *state;
    struct bus_options o = options_for(scene, QUEUE);
    char dir[128], error[512];
    struct stat found;
    snprintf(dir, sizeof(dir), "%s/run", scene->dir);
    o.run_dir = dir;
    struct bus *queue = open_bus(scene, &o);
    assert_int_equal(stat(dir, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0700);
    bus_close(&queue);
    assert_int_equal(chmod(dir, 0777), 0);
    assert_null(bus_open(&o, error, sizeof(error)));
    assert_non_null(strstr(error, dir));
}

static void plain_tcp_beyond_loopback_is_refused(void **state)
{
    struct scene *scene = *state;
    static const char *const far[] = {"tcp://0.0.0.0:0", "tcp://*:0", "tcp://127.example.org:5555",
                                      "tcp://[::]:0"};
    char error[512];
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        struct bus_options o = options_for(scene, QUEUE);
        o.listen = far[i];
        assert_null(bus_open(&o, error, sizeof(error)));
        assert_non_null(strstr(error, far[i]));
        assert_non_null(strstr(error, "--curve-dir"));
    }
    struct bus_options o = options_for(scene, QUEUE);
    o.listen = "tcp://0.0.0.0:*";
    o.allow_plain_tcp = true;
    struct bus *queue = open_bus(scene, &o);
    bus_close(&queue);
}

static void a_status_request_is_answered_by_the_bus(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus_options o = options_for(scene, TOOL);
    o.no_door = true;
    add_peer(&o, ANY);
    char endpoint[128];
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/queue.sock", scene->dir);
    o.peers[0].endpoint = endpoint;
    struct bus *tool = open_bus(scene, &o);
    struct seen up = {0}, status = {0};
    assert_true(await(tool, queue, MSG_peer_up, &up));
    assert_string_equal(bus_endpoint_of(tool, up.in.from), endpoint);
    struct message request = {.type = MSG_status_request};
    send_message(tool, up.in.from, &request);
    assert_true(await(tool, queue, MSG_status, &status));
    assert_true(str_is(status.message.status.process, "queue"));
    assert_int_equal(status.message.status.pid, getpid());
    assert_true(status.message.status.counters.count > 0);
    struct delivery in;
    assert_false(bus_receive(queue, moment_now(), &in)); /* tools do not come before the core */
    bus_close(&tool);
    bus_close(&queue);
    seen_free(&up);
    seen_free(&status);
}

static void a_metrics_request_is_answered_by_the_bus(void **state)
{
    struct scene *scene = *state;
    struct bus *queue = open_door(scene, QUEUE);
    struct bus_options o = options_for(scene, TOOL);
    char endpoint[128];
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/queue.sock", scene->dir);
    o.no_door = true;
    add_peer(&o, ANY);
    o.peers[0].endpoint = endpoint;
    struct bus *tool = open_bus(scene, &o);
    struct seen up = {0}, said = {0};
    metrics_reset();
    metric_check("sched-handler-sync", "not synced");
    assert_true(await(tool, queue, MSG_peer_up, &up));
    for (int only = 1; only >= 0; only--) {
        struct message request = {.type = MSG_metrics_request,
                                  .metrics_request = {.checks_only = only, .id = 40 + only}};
        send_message(tool, up.in.from, &request);
        assert_true(await(tool, queue, MSG_metrics, &said));
        assert_true(str_is(said.message.metrics.instance, "queue"));
        assert_int_equal(said.message.metrics.id, 40 + only);
        assert_int_equal(said.message.metrics.checks.count, 1);
        assert_int_equal(said.message.metrics.samples.count > 8, !only);
    }
    bus_close(&tool);
    bus_close(&queue);
    seen_free(&up);
    seen_free(&said);
    metrics_reset();
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

/* Whoever is told of a directory knows before anything starts whether all find room there. */
static void a_run_directory_fits_when_the_longest_of_its_sockets_does(void **state)
{
    (void)state;
    char dir[128] = "/", endpoint[ENDPOINT_MAX];
    for (size_t len = 1; len < sizeof(dir) - 1; len++) {
        bool longest = endpoint_in_dir(endpoint, dir, "worker-63", "sock.new");
        assert_int_equal(endpoint_dir_fits(dir), longest);
        dir[len] = 'x';
    }
    assert_false(endpoint_dir_fits(dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_directory_fits_when_the_longest_of_its_sockets_does),
        SCENE(two_processes_meet),
        SCENE(a_connection_made_before_the_door_opens_is_used),
        SCENE(a_stranger_had_the_address),
        SCENE(a_link_leaves_whom_it_does_not_want),
        SCENE(address_zero_reaches_all_of_a_kind),
        SCENE(workers_without_a_name_take_the_first_that_is_free),
        SCENE(a_message_without_a_receiver_is_dropped_and_counted),
        SCENE(a_clean_end_is_a_goodbye),
        SCENE(a_restarted_door_is_met_again),
        SCENE(a_restarted_caller_is_met_again),
        SCENE(a_killed_caller_is_noticed),
        SCENE(a_peer_that_falls_silent_is_down_and_comes_back),
        SCENE(a_process_that_was_stopped_blames_nobody),
        SCENE(an_older_term_is_refused_and_both_start_over_in_the_new_one),
        SCENE(an_older_generation_is_refused),
        SCENE(a_term_follows_the_leader_and_never_goes_below_our_own),
        SCENE(an_address_in_use_names_the_path_and_the_process),
        SCENE(a_tcp_address_in_use_is_an_error),
        SCENE(the_socket_of_a_dead_process_is_taken_over),
        SCENE(a_clean_end_leaves_no_files),
        SCENE(a_file_that_is_no_socket_is_left_alone),
        SCENE(the_run_directory_is_made_private),
        SCENE(plain_tcp_beyond_loopback_is_refused),
        SCENE(a_status_request_is_answered_by_the_bus),
        SCENE(a_metrics_request_is_answered_by_the_bus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
