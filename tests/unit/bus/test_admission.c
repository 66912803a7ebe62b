/* test_admission: who may come in through a door, as what, and in whose place. The hostile peer is
 * a bare ZeroMQ socket, or bytes on a bare connection. */
#include "tests/unit/bus/pair.h"

#include "proto/bus/frame.h"
#include "proto/bus/inside.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

/* A caller that says what it likes. */
struct caller {
    void *context, *socket;
    int64_t link, session, term, incarnation;
    char told[256]; /* why it was refused, as the door said last */
};

static void caller_open(struct caller *c, const char *endpoint, const void *routing, size_t len)
{
    int linger = 0;
    *c = (struct caller){.incarnation = 4711};
    c->context = zmq_ctx_new();
    c->socket = zmq_socket(c->context, ZMQ_DEALER);
    zmq_setsockopt(c->socket, ZMQ_LINGER, &linger, sizeof(linger));
    if (len > 0)
        assert_int_equal(zmq_setsockopt(c->socket, ZMQ_ROUTING_ID, routing, len), 0);
    assert_int_equal(zmq_connect(c->socket, endpoint), 0);
}

static void caller_close(struct caller *c)
{
    zmq_close(c->socket);
    zmq_ctx_term(c->context);
}

static void put(struct caller *c, const struct message *m)
{
    struct buffer body = {0}, frame = {0};
    struct envelope envelope = {.type = m->type,
                                .link = ++c->link,
                                .term = c->term,
                                .generation = 1,
                                .incarnation = c->incarnation};
    codec_encode(message_info[m->type].record, message_body_const(m), &body);
    frame_build(&frame, &envelope, buffer_str(&body));
    assert_int_equal(zmq_send(c->socket, frame.at, frame.len, 0), frame.len);
    buffer_free(&body);
    buffer_free(&frame);
}

static void put_hello(struct caller *c, const char *process, const char *name)
{
    struct message hello = {.type = MSG_hello,
                            .hello = {.process = str_of(process),
                                      .instance = str_of(name),
                                      .incarnation = c->incarnation,
                                      .session = ++c->session}};
    c->link = 0;
    put(c, &hello);
}

/* Reads what the door has said; true when a hello of it was among that. */
static bool read_answers(struct caller *c, int64_t *session)
{
    zmq_msg_t m;
    bool any = false;
    zmq_msg_init(&m);
    while (zmq_msg_recv(&m, c->socket, ZMQ_DONTWAIT) >= 0) {
        struct envelope envelope;
        struct byte_cursor body;
        struct arena arena = {0};
        struct message message;
        struct str frame = {zmq_msg_data(&m), (uint32_t)zmq_msg_size(&m)};
        if (frame_open(frame, &envelope, &body) == REFUSED_nothing && envelope.type == MSG_hello &&
            frame_decode(&envelope, body, &message, &arena) == REFUSED_nothing) {
            any = true;
            *session = message.hello.session;
            snprintf(c->told, sizeof(c->told), "%.*s", STR_ARG(message.hello.refused));
        }
        arena_free(&arena);
    }
    zmq_msg_close(&m);
    return any;
}

/* Runs the door until it has answered the caller's hello; the answer's session. */
static int64_t answer_to(struct bus *door, struct bus *other, struct caller *c)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    int64_t session = -1;
    for (struct moment now = moment_now(); !moment_reached(now, end); now = moment_now()) {
        struct delivery in;
        while (bus_receive(door, now, &in))
            assert_int_not_equal(in.message->type, MSG_preempt);
        bus_tick(door, now);
        while (other && bus_receive(other, now, &in))
            continue;
        if (other)
            bus_tick(other, now);
        if (read_answers(c, &session))
            return session;
        bus_wait(door, -1, now, moment_after(now, span_of_ms(5)));
    }
    fail_msg("no answer");
    return -1;
}

static void assert_turned_away(struct bus *door, struct bus *other, struct caller *c,
                               const char *reason, const char *told)
{
    uint64_t before = bus_refused(door, reason);
    assert_int_equal(answer_to(door, other, c), 0);
    assert_string_equal(c->told, told);
    assert_true(bus_refused(door, reason) > before);
}

#define NOT_SERVED "this door does not serve that kind of process"
#define WRONG_KEY  "its key is not one of that kind of process"
#define TAKEN      "another living process has its place"

/* ---- kinds ---- */

static void a_door_serves_its_kinds_alone(void **state)
{
    static const struct {
        enum process door;
        const char *refused[8], *served[4];
    } doors[] = {
        {SCHEDULER, {"binder", "queue", "watcher", "scheduler"}, {"worker", "extender", "plugin"}},
        {BINDER, {"worker", "extender", "queue", "watcher", "binder"}, {"scheduler", "plugin"}},
        {QUEUE, {"worker", "extender", "binder", "watcher", "queue"}, {"scheduler", "plugin"}},
        {WATCHER, {"worker", "plugin", "extender", "binder", "watcher"}, {"scheduler", "queue"}},
        {WORKER, {"scheduler", "binder", "worker", "plugin"}, {"tool"}},
    };
    for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
        struct bus *door = open_door(*state, doors[i].door);
        struct caller c;
        for (int j = 0; doors[i].refused[j]; j++) {
            caller_open(&c, bus_endpoint(door), NULL, 0);
            put_hello(&c, doors[i].refused[j], "x");
            assert_turned_away(door, NULL, &c, "not_served", NOT_SERVED);
            caller_close(&c);
        }
        for (int j = 0; j < 4 && doors[i].served[j]; j++) {
            caller_open(&c, bus_endpoint(door), NULL, 0);
            put_hello(&c, doors[i].served[j], "y");
            assert_int_equal(answer_to(door, NULL, &c), 1);
            caller_close(&c);
        }
        bus_close(&door);
    }
}

/* The binder is whom the scheduler connects to, whatever a caller says, before and after. */
static void a_false_binder_has_no_place_at_the_schedulers_door(void **state)
{
    struct bus *binder = open_door(*state, BINDER);
    struct bus *scheduler = open_caller(*state, SCHEDULER, BINDER);
    struct caller false_binder;
    struct message bind = {.type = MSG_bind, .bind = {.uid = str_of("a")}};
    meet(binder, scheduler);
    caller_open(&false_binder, bus_endpoint(scheduler), NULL, 0);
    put_hello(&false_binder, "binder", "binder");
    assert_turned_away(scheduler, binder, &false_binder, "not_served", NOT_SERVED);
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    assert_true(await(binder, scheduler, MSG_bind, NULL));
    caller_close(&false_binder);
    send_message(scheduler, (struct address){BINDER, 0}, &bind);
    assert_true(await(binder, scheduler, MSG_bind, NULL));
    assert_int_equal(bus_dropped(scheduler), 0);
    bus_close(&scheduler);
    bus_close(&binder);
}

/* ---- places ---- */

static void a_living_process_is_not_displaced(void **state)
{
    struct bus *queue = open_door(*state, QUEUE);
    struct bus *scheduler = open_caller(*state, SCHEDULER, QUEUE);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 7}};
    struct caller c;
    meet(queue, scheduler);
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    put_hello(&c, "scheduler", "scheduler");
    assert_turned_away(queue, scheduler, &c, "place_taken", TAKEN);
    send_message(scheduler, (struct address){QUEUE, 0}, &pull);
    assert_true(await(queue, scheduler, MSG_pull, NULL));
    caller_close(&c);
    bus_close(&scheduler);
    bus_close(&queue);
}

/* In a process of its own, as the kernel names it to the door. */
static pid_t start_scheduler(struct scene *scene)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct bus *scheduler = open_caller(scene, SCHEDULER, QUEUE);
        await(scheduler, NULL, MSG_attempt, NULL);
        _exit(0);
    }
    return child;
}

static void stop_child(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Not even with what it may have read off a tap. */
static void a_stolen_incarnation_displaces_nobody(void **state)
{
    struct caller c;
    struct seen up = {0};
    pid_t child = start_scheduler(*state);
    struct bus *queue = open_door(*state, QUEUE);
    assert_true(await(queue, NULL, MSG_peer_up, &up));
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    c.incarnation = up.message.peer_up.incarnation;
    put_hello(&c, "scheduler", "scheduler");
    assert_turned_away(queue, NULL, &c, "place_taken", TAKEN);
    caller_close(&c);
    stop_child(child);
    bus_close(&queue);
    seen_free(&up);
}

/* As above, when the door's socket was asked for something before that hello was taken out of it:
 * what the kernel says of the caller must not get lost, or two strangers were one. */
static void a_caller_is_known_whose_hello_was_looked_for(void **state)
{
    pid_t child = start_scheduler(*state);
    struct bus *queue = open_door(*state, QUEUE);
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (!wire_readable(&queue->door)) {
        assert_false(moment_reached(moment_now(), end));
        bus_tick(queue, moment_now());
        bus_wait(queue, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    assert_true(await(queue, NULL, MSG_peer_up, NULL));
    assert_int_equal(queue->peer_count, 1);
    assert_int_equal(queue->peers[0]->pid, child);
    assert_memory_equal(queue->peers[0]->party, "uid ", 4);
    stop_child(child);
    bus_close(&queue);
}

static void a_restarted_process_is_back_at_once(void **state)
{
    pid_t child = start_scheduler(*state);
    struct bus *queue = open_door(*state, QUEUE);
    assert_true(await(queue, NULL, MSG_peer_up, NULL));
    for (int i = 0; i < 3; i++) {
        stop_child(child);
        struct moment killed = moment_now();
        child = start_scheduler(*state);
        assert_true(await(queue, NULL, MSG_peer_up, NULL));
        /* Far below what silence would take at the door's usual pace, on any machine. */
        assert_true(span_ms(moment_since(moment_now(), killed)) < PATIENCE_MS / 2);
    }
    stop_child(child);
    bus_close(&queue);
}

static void who_takes_the_place_first_keeps_it_only_while_it_lives(void **state)
{
    struct bus *queue = open_door(*state, QUEUE);
    struct caller c;
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    put_hello(&c, "scheduler", "scheduler");
    assert_int_equal(answer_to(queue, NULL, &c), 1);
    pid_t child = start_scheduler(*state);
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (bus_refused(queue, "place_taken") == 0 && !moment_reached(moment_now(), end)) {
        struct delivery in;
        struct message beat = {.type = MSG_heartbeat};
        put(&c, &beat);
        while (bus_receive(queue, moment_now(), &in))
            assert_int_not_equal(in.message->type, MSG_peer_down);
        bus_tick(queue, moment_now());
        bus_wait(queue, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    assert_true(bus_refused(queue, "place_taken") > 0);
    /* Now it stays, and is silent. */
    assert_true(await(queue, NULL, MSG_peer_up, NULL));
    caller_close(&c);
    stop_child(child);
    bus_close(&queue);
}

static void a_plugin_is_replaced_without_a_gap(void **state)
{
    struct bus *scheduler = open_door(*state, SCHEDULER);
    struct caller old, new;
    caller_open(&old, bus_endpoint(scheduler), NULL, 0);
    put_hello(&old, "plugin", "example");
    assert_int_equal(answer_to(scheduler, NULL, &old), 1);
    caller_open(&new, bus_endpoint(scheduler), NULL, 0);
    new.incarnation = 815;
    put_hello(&new, "plugin", "example");
    assert_int_equal(answer_to(scheduler, NULL, &new), 1);
    caller_close(&old);
    caller_close(&new);
    bus_close(&scheduler);
}

/* ---- terms ---- */

static void nobody_but_a_leader_raises_the_term(void **state)
{
    struct bus *scheduler = open_door(*state, SCHEDULER);
    struct caller c;
    struct message taken = {.type = MSG_shard_taken};
    caller_open(&c, bus_endpoint(scheduler), NULL, 0);
    c.term = 1000;
    put_hello(&c, "worker", "w");
    assert_int_equal(answer_to(scheduler, NULL, &c), 1);
    put(&c, &taken);
    assert_true(await(scheduler, NULL, MSG_shard_taken, NULL));
    assert_int_equal(bus_term(scheduler), 0);
    caller_close(&c);
    bus_close(&scheduler);
}

static void a_hello_reports_its_term(void **state)
{
    struct bus *binder = open_door(*state, BINDER);
    struct caller c;
    struct seen up = {0};
    caller_open(&c, bus_endpoint(binder), NULL, 0);
    c.term = 41;
    put_hello(&c, "scheduler", "s");
    assert_true(await(binder, NULL, MSG_peer_up, &up));
    assert_int_equal(up.message.peer_up.term, 41);
    assert_int_equal(bus_term(binder), 0); /* it is for the core to pass */
    caller_close(&c);
    bus_close(&binder);
    seen_free(&up);
}

/* A false scheduler's word does not outlast it: the true one is heard afterwards. */
static void what_a_peer_said_of_the_term_ends_with_it(void **state)
{
    struct bus *queue = open_door(*state, QUEUE);
    struct caller c;
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    c.term = INT32_MAX;
    put_hello(&c, "scheduler", "false");
    assert_int_equal(answer_to(queue, NULL, &c), 1);
    assert_int_equal(bus_term(queue), INT32_MAX);
    caller_close(&c);
    assert_true(await(queue, NULL, MSG_peer_down, NULL));
    assert_int_equal(bus_term(queue), 0);
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    c.term = 3;
    put_hello(&c, "scheduler", "true");
    assert_int_equal(answer_to(queue, NULL, &c), 1);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 7}};
    put(&c, &pull);
    assert_true(await(queue, NULL, MSG_pull, NULL));
    assert_int_equal(bus_term(queue), 3);
    c.term = 2; /* older than its own word */
    put(&c, &pull);
    assert_true(await(queue, NULL, MSG_peer_down, NULL));
    assert_int_equal(bus_refused(queue, "stale_term"), 1);
    caller_close(&c);
    bus_close(&queue);
}

static bool refused_a_wild_term(struct bus *bus, void *count)
{
    return bus_refused(bus, "wild_term") == *(uint64_t *)count;
}

static void a_term_beyond_any_lease_is_refused(void **state)
{
    struct bus *queue = open_door(*state, QUEUE);
    struct caller c;
    uint64_t count = 1;
    caller_open(&c, bus_endpoint(queue), NULL, 0);
    c.term = (int64_t)INT32_MAX + 1;
    put_hello(&c, "scheduler", "s");
    assert_true(run_until(queue, NULL, refused_a_wild_term, &count));
    c.term = 1;
    put_hello(&c, "scheduler", "s");
    assert_int_equal(answer_to(queue, NULL, &c), 2);
    struct message pull = {.type = MSG_pull, .pull = {.credit = 7}};
    c.term = INT64_MAX;
    count++;
    put(&c, &pull);
    assert_true(run_until(queue, NULL, refused_a_wild_term, &count));
    assert_int_equal(bus_term(queue), 1);
    caller_close(&c);
    bus_close(&queue);
}

/* ---- routing ids ---- */

static void routing_ids_may_have_255_bytes(void **state)
{
    static const size_t lengths[] = {1, 32, 33, 36, 255};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct bus *scheduler = open_door(*state, SCHEDULER);
        struct caller c;
        char routing[255];
        memset(routing, 'r', sizeof(routing));
        caller_open(&c, bus_endpoint(scheduler), routing, lengths[i]);
        put_hello(&c, "plugin", "go");
        assert_int_equal(answer_to(scheduler, NULL, &c), 1);
        assert_int_equal(bus_refused(scheduler, "too_many_peers"), 0);
        caller_close(&c);
        bus_close(&scheduler);
    }
}

static void write_all(int fd, const void *bytes, size_t len)
{
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

/* ZMTP 3.0 by hand: the greeting, a READY that names an identity of that length, one message. */
static int speak_zmtp(const char *endpoint, uint32_t identity)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", endpoint + 6);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    unsigned char greeting[64] = {0xff, [9] = 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    write_all(fd, greeting, sizeof(greeting));
    assert_int_equal(recv(fd, greeting, sizeof(greeting), MSG_WAITALL), sizeof(greeting));
    unsigned char head[] = "\x05READY\x0bSocket-Type\x00\x00\x00\x06"
                           "DEALER\x08Identity\x00\x00";
    size_t head_len = sizeof(head) - 1;
    uint64_t len = head_len + 2 + identity;
    unsigned char ready[2048] = {0x06, [7] = (unsigned char)(len >> 8), (unsigned char)len};
    memcpy(ready + 9, head, head_len);
    ready[9 + head_len] = (unsigned char)(identity >> 8);
    ready[9 + head_len + 1] = (unsigned char)identity;
    memset(ready + 9 + head_len + 2, 'i', identity);
    write_all(fd, ready, 9 + len);
    return fd;
}

static bool refused_a_routing_id(struct bus *bus, void *unused)
{
    (void)unused;
    return bus_refused(bus, "long_routing") == 1;
}

static void a_longer_routing_id_is_refused_by_its_true_name(void **state)
{
    struct bus *scheduler = open_door(*state, SCHEDULER);
    struct buffer frame = {0};
    struct envelope envelope = {.type = MSG_heartbeat, .link = 1, .incarnation = 1};
    int fd = speak_zmtp(bus_endpoint(scheduler), 256);
    frame_build(&frame, &envelope, (struct str){"\x80", 1});
    unsigned char head[] = {0x00, (unsigned char)frame.len};
    write_all(fd, head, sizeof(head));
    write_all(fd, frame.at, frame.len);
    assert_true(run_until(scheduler, NULL, refused_a_routing_id, NULL));
    assert_int_equal(bus_refused(scheduler, "too_many_peers"), 0);
    close(fd);
    buffer_free(&frame);
    bus_close(&scheduler);
}

/* ---- users ---- */

static void another_users_process_is_not_accepted(void **state)
{
    struct scene *scene = *state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(scene->dir, 0755), 0);
    char mine[128], error[512];
    snprintf(mine, sizeof(mine), "%s/mine", scene->dir);
    assert_int_equal(mkdir(mine, 0755), 0);
    assert_int_equal(chown(mine, 65533, 65533), 0);
    struct bus_options o = options_for(scene, SCHEDULER);
    o.run_dir = mine;
    assert_null(bus_open(&o, error, sizeof(error))); /* root does not live in another's either */
    assert_non_null(strstr(error, mine));
    assert_non_null(strstr(error, "belongs to user 65533"));
    /* The door's user and the caller's differ, and neither is root. */
    fflush(NULL);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        char path[160], byte;
        if (read(ready[0], &byte, 1) != 1 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        struct caller c;
        int64_t session;
        snprintf(path, sizeof(path), "ipc://%s/scheduler.sock", mine);
        caller_open(&c, path, NULL, 0);
        put_hello(&c, "plugin", "stranger");
        zmq_pollitem_t item = {.socket = c.socket, .events = ZMQ_POLLIN};
        zmq_poll(&item, 1, 3000);
        _exit(read_answers(&c, &session) ? 1 : 0);
    }
    assert_int_equal(seteuid(65533), 0);
    struct bus *scheduler = open_bus(scene, &o);
    assert_int_equal(chmod(bus_endpoint(scheduler) + 6, 0777), 0);
    assert_int_equal(write(ready[1], "x", 1), 1);
    int status = -1;
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (waitpid(child, &status, WNOHANG) == 0 && !moment_reached(moment_now(), end)) {
        struct delivery in;
        while (bus_receive(scheduler, moment_now(), &in))
            assert_int_not_equal(in.message->type, MSG_peer_up);
        bus_tick(scheduler, moment_now());
        bus_wait(scheduler, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    bus_close(&scheduler);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, 0);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(a_door_serves_its_kinds_alone),
        SCENE(a_false_binder_has_no_place_at_the_schedulers_door),
        SCENE(a_living_process_is_not_displaced),
        SCENE(a_stolen_incarnation_displaces_nobody),
        SCENE(a_caller_is_known_whose_hello_was_looked_for),
        SCENE(a_restarted_process_is_back_at_once),
        SCENE(who_takes_the_place_first_keeps_it_only_while_it_lives),
        SCENE(a_plugin_is_replaced_without_a_gap),
        SCENE(nobody_but_a_leader_raises_the_term),
        SCENE(a_hello_reports_its_term),
        SCENE(what_a_peer_said_of_the_term_ends_with_it),
        SCENE(a_term_beyond_any_lease_is_refused),
        SCENE(routing_ids_may_have_255_bytes),
        SCENE(a_longer_routing_id_is_refused_by_its_true_name),
        SCENE(another_users_process_is_not_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
