/* test_frames: what a hostile or broken peer can put on a connection, written by a bare ZeroMQ
 * socket. The property: each bad frame is refused under its own name, and the next good one gets
 * through. */
#include "tests/unit/bus/pair.h"

#include "proto/base/random.h"
#include "proto/bus/frame.h"
#include "proto/bus/options.h"
#include "proto/bus/wire.h"

#include <errno.h>
#include <fcntl.h>

/* A scheduler of our own making, connected to a queue's door. */
struct raw {
    struct scene *scene;
    struct bus *queue;
    void *context, *socket;
    int64_t link, session;
    struct buffer frame, body;
    const char *version; /* that its hello says */
    bool more;           /* what follows travels with it */
    bool packing, reads_packs;
    struct buffer pack; /* while packing, what is put goes in there */
};

static int raw_open(void **state)
{
    scene_open(state);
    struct raw *raw = memory_take(sizeof(*raw));
    raw->scene = *state;
    raw->version = OPTIONS_VERSION;
    /* The raw peer sends no heartbeats, and 100 MB take a busy machine seconds. */
    struct bus_options o = options_for(raw->scene, QUEUE);
    o.heartbeat = span_of_ms(PATIENCE_MS);
    raw->queue = open_bus(raw->scene, &o);
    raw->context = zmq_ctx_new();
    raw->socket = zmq_socket(raw->context, ZMQ_DEALER);
    int linger = 0;
    zmq_setsockopt(raw->socket, ZMQ_LINGER, &linger, sizeof(linger));
    assert_int_equal(zmq_connect(raw->socket, bus_endpoint(raw->queue)), 0);
    *state = raw;
    return 0;
}

static int raw_close(void **state)
{
    struct raw *raw = *state;
    zmq_close(raw->socket);
    zmq_ctx_term(raw->context);
    bus_close(&raw->queue);
    buffer_free(&raw->frame);
    buffer_free(&raw->body);
    buffer_free(&raw->pack);
    *state = raw->scene;
    memory_free(raw);
    return scene_close(state);
}

static void put_bytes(struct raw *raw, const void *bytes, size_t len)
{
    if (raw->packing) {
        pack_add(&raw->pack, (struct str){bytes, (uint32_t)len});
        return;
    }
    assert_int_equal(zmq_send(raw->socket, bytes, len, raw->more ? ZMQ_SNDMORE : 0), len);
}

static void put_frame(struct raw *raw, int64_t type, struct str body)
{
    struct envelope envelope = {
        .type = type, .link = ++raw->link, .generation = 1, .incarnation = 4711};
    frame_build(&raw->frame, &envelope, body);
    put_bytes(raw, raw->frame.at, raw->frame.len);
}

static void put_message(struct raw *raw, const struct message *m)
{
    buffer_reset(&raw->body);
    codec_encode(message_info[m->type].record, message_body_const(m), &raw->body);
    put_frame(raw, m->type, buffer_str(&raw->body));
}

static void put_hello(struct raw *raw, const char *process, const char *name)
{
    struct message hello = {.type = MSG_hello,
                            .hello = {.process = str_of(process),
                                      .instance = str_of(name),
                                      .incarnation = 4711,
                                      .session = ++raw->session,
                                      .version = str_of(raw->version),
                                      .packs = raw->reads_packs}};
    raw->link = 0;
    put_message(raw, &hello);
}

static void put_pull(struct raw *raw, int64_t credit)
{
    struct message pull = {.type = MSG_pull, .pull = {.credit = credit}};
    put_message(raw, &pull);
}

static void say_hello(struct raw *raw)
{
    put_hello(raw, "scheduler", "raw");
    assert_true(await(raw->queue, NULL, MSG_peer_up, NULL));
}

/* The door still takes a good frame, in order. */
static void assert_alive(struct raw *raw)
{
    static int64_t credit;
    struct seen seen = {0};
    put_pull(raw, ++credit);
    assert_true(await(raw->queue, NULL, MSG_pull, &seen));
    assert_int_equal(seen.message.pull.credit, credit);
    assert_string_equal(seen.instance, "raw");
    seen_free(&seen);
}

static void assert_refused(struct raw *raw, const char *reason, uint64_t times)
{
    assert_alive(raw);
    assert_int_equal(bus_refused(raw->queue, reason), times);
    assert_int_equal(bus_gaps(raw->queue), 0);
}

static void garbage_from_a_stranger_is_refused(void **state)
{
    struct raw *raw = *state;
    put_bytes(raw, "", 0);
    put_bytes(raw, "\x03\x80", 2);
    put_bytes(raw, "GET / HTTP/1.1\r\n", 16);
    put_bytes(raw, "\x01", 1);
    put_bytes(raw, "\x01\xdf\xff\xff\xff\xff", 6);
    put_bytes(raw, "\x01\xc1", 2);
    say_hello(raw);
    assert_refused(raw, "unknown_version", 3);
    assert_int_equal(bus_refused(raw->queue, "malformed_envelope"), 3);
}

static void a_stranger_who_does_not_say_hello_is_asked_to(void **state)
{
    struct raw *raw = *state;
    put_pull(raw, 1);
    zmq_msg_t answer;
    zmq_msg_init(&answer);
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (zmq_msg_recv(&answer, raw->socket, ZMQ_DONTWAIT) < 0) {
        struct delivery in;
        struct moment now = moment_now();
        assert_false(moment_reached(now, end));
        assert_false(bus_receive(raw->queue, now, &in));
        bus_tick(raw->queue, now);
        bus_wait(raw->queue, -1, now, moment_after(now, span_of_ms(5)));
    }
    struct envelope envelope;
    struct byte_cursor body;
    struct message m;
    struct arena arena = {0};
    struct str frame = {zmq_msg_data(&answer), (uint32_t)zmq_msg_size(&answer)};
    assert_int_equal(frame_open(frame, &envelope, &body), REFUSED_nothing);
    assert_int_equal(frame_decode(&envelope, body, &m, &arena), REFUSED_nothing);
    assert_int_equal(m.type, MSG_hello);
    assert_int_equal(m.hello.session, 0);
    assert_int_equal(envelope.link, 0);
    zmq_msg_close(&answer);
    arena_free(&arena);
    assert_int_equal(bus_refused(raw->queue, "before_hello"), 1);
}

static void unusable_hellos_are_refused(void **state)
{
    struct raw *raw = *state;
    char long_name[80];
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    put_hello(raw, "gardener", "raw");
    put_hello(raw, "", "raw");
    put_hello(raw, "scheduler", "");
    put_hello(raw, "scheduler", long_name);
    put_hello(raw, "scheduler", "two words");
    put_hello(raw, "scheduler", "\x1b[2J");
    put_hello(raw, "scheduler", "../../etc");
    say_hello(raw);
    assert_refused(raw, "malformed_hello", 7);
}

static void numbers_of_no_message_are_refused(void **state)
{
    struct raw *raw = *state;
    static const int64_t numbers[] = {0, -1, 39, 999, INT64_MAX, INT64_MIN};
    say_hello(raw);
    for (size_t i = 0; i < 6; i++)
        put_frame(raw, numbers[i], STR_LITERAL("\x80"));
    assert_refused(raw, "unknown_message", 6);
}

static void local_messages_never_come_from_outside(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    put_frame(raw, MSG_peer_up, STR_LITERAL("\x80"));
    put_frame(raw, MSG_peer_down, STR_LITERAL("\x80"));
    assert_refused(raw, "local_only", 2);
}

static void misdirected_messages_are_refused(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    put_frame(raw, MSG_shard_node, STR_LITERAL("\x80"));  /* to a worker */
    put_frame(raw, MSG_node_set, STR_LITERAL("\x80"));    /* from a watcher */
    put_frame(raw, MSG_bind_result, STR_LITERAL("\x80")); /* from a binder */
    assert_refused(raw, "misdirected", 3);
}

static void a_tool_can_only_ask(void **state)
{
    struct raw *raw = *state;
    put_hello(raw, "tool", "raw");
    put_pull(raw, 5);
    say_hello(raw);
    assert_refused(raw, "misdirected", 1);
}

static void bodies_that_cannot_be_decoded_are_refused(void **state)
{
    struct raw *raw = *state;
    static const char *const bodies[] = {"",
                                         "\xc1",
                                         "\x81\x01",
                                         "\x81\x01\xa3xx",
                                         "\x81\x01\xc3",
                                         "\xdd\x0f\xff\xff\xff",
                                         "\xdf\xff\xff\xff\xff"};
    say_hello(raw);
    for (size_t i = 0; i < 7; i++)
        put_frame(raw, MSG_pull, str_of(bodies[i]));
    assert_refused(raw, "malformed_body", 7);
}

static void nesting_and_counts_are_bounded(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    buffer_reset(&raw->body);
    buffer_add(&raw->body, "\x81\x7f", 2); /* a tag that nobody knows, skipped if well formed */
    for (int i = 0; i < 100000; i++)
        buffer_add(&raw->body, "\x91", 1);
    buffer_add(&raw->body, "\xc0", 1);
    struct buffer deep = raw->body;
    raw->body = (struct buffer){0};
    put_frame(raw, MSG_pull, buffer_str(&deep));
    buffer_free(&deep);
    /* A list whose count says four billion, and one of as many elements as there are bytes. */
    put_frame(raw, MSG_outcome, STR_LITERAL("\x81\x06\xdd\xff\xff\xff\xff\xa0"));
    assert_refused(raw, "malformed_body", 2);
}

static void bytes_behind_the_body_are_refused(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    put_frame(raw, MSG_pull, STR_LITERAL("\x80\x80"));
    assert_refused(raw, "trailing_bytes", 1);
}

static void a_field_of_a_newer_version_is_skipped(void **state)
{
    struct raw *raw = *state;
    struct seen seen = {0};
    say_hello(raw);
    put_frame(raw, MSG_pull, STR_LITERAL("\x82\x01\x07\x64\x92\xa1z\x81\x01\x02"));
    assert_true(await(raw->queue, NULL, MSG_pull, &seen));
    assert_int_equal(seen.message.pull.credit, 7);
    seen_free(&seen);
}

static void a_gap_is_told_and_the_link_starts_over(void **state)
{
    struct raw *raw = *state;
    struct seen down = {0};
    say_hello(raw);
    raw->link++; /* as if one had been lost */
    put_pull(raw, 1);
    put_pull(raw, 2);
    assert_true(await(raw->queue, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "gap");
    assert_int_equal(bus_gaps(raw->queue), 1);
    say_hello(raw);
    assert_alive(raw);
    assert_int_equal(bus_gaps(raw->queue), 1);
    seen_free(&down);
}

static void frames_that_come_together_are_taken_one_by_one(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    raw->more = true;
    put_pull(raw, 101);
    put_frame(raw, MSG_pull, STR_LITERAL("\xc1")); /* one that is refused between good ones */
    put_pull(raw, 102);
    raw->more = false;
    put_pull(raw, 103);
    for (int64_t credit = 101; credit <= 103; credit++) {
        struct seen seen = {0};
        assert_true(await(raw->queue, NULL, MSG_pull, &seen));
        assert_int_equal(seen.message.pull.credit, credit);
        seen_free(&seen);
    }
    assert_refused(raw, "malformed_body", 1);
}

static void put_pack(struct raw *raw)
{
    raw->packing = false;
    put_bytes(raw, raw->pack.at, raw->pack.len);
    buffer_reset(&raw->pack);
}

static void assert_pulls(struct raw *raw, int64_t first, int64_t last)
{
    for (int64_t credit = first; credit <= last; credit++) {
        struct seen seen = {0};
        assert_true(await(raw->queue, NULL, MSG_pull, &seen));
        assert_int_equal(seen.message.pull.credit, credit);
        seen_free(&seen);
    }
}

static void frames_of_a_pack_are_taken_one_by_one(void **state)
{
    struct raw *raw = *state;
    raw->packing = true;
    put_hello(raw, "scheduler", "raw"); /* even that */
    put_pull(raw, 201);
    put_frame(raw, MSG_pull, STR_LITERAL("\xc1"));
    put_bytes(raw, "", 0);
    put_bytes(raw, "\x02\0\0\0\1\1", 6); /* no pack in a pack */
    put_pull(raw, 202);
    put_pull(raw, 203);
    put_pack(raw);
    put_pull(raw, 204);
    assert_pulls(raw, 201, 204);
    assert_refused(raw, "malformed_body", 1);
    assert_refused(raw, "unknown_version", 2);
}

/* What is behind the break is lost, and seen to be. */
static void a_pack_that_breaks_off_is_a_gap(void **state)
{
    const size_t cut[] = {1, 5};
    struct raw *raw = *state;
    for (int i = 0; i < 2; i++) {
        struct seen down = {0};
        say_hello(raw);
        raw->packing = true;
        put_pull(raw, 301);
        size_t first = raw->pack.len;
        put_pull(raw, 302);
        raw->pack.len = i == 0 ? raw->pack.len - cut[i] : first + 2;
        put_pack(raw);
        assert_pulls(raw, 301, 301);
        put_pull(raw, 303);
        assert_true(await(raw->queue, NULL, MSG_peer_down, &down));
        assert_string_equal(down.reason, "gap");
        assert_int_equal(bus_refused(raw->queue, "malformed_pack"), i + 1);
        seen_free(&down);
    }
    say_hello(raw);
    assert_alive(raw);
}

static void a_pack_of_too_many_is_cut(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    raw->packing = true;
    for (int i = 0; i < PACK_FRAMES_MAX + 9; i++)
        put_bytes(raw, "", 0);
    put_pack(raw);
    assert_refused(raw, "unknown_version", PACK_FRAMES_MAX);
    assert_int_equal(bus_refused(raw->queue, "malformed_pack"), 1);
    put_bytes(raw, "\x02", 1); /* and one of none */
    assert_refused(raw, "malformed_pack", 1);
}

/* What comes next from the queue, from behind its hello. */
static void next_bytes(struct raw *raw, zmq_msg_t *bytes)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (zmq_msg_recv(bytes, raw->socket, ZMQ_DONTWAIT) < 0) {
        struct moment now = moment_now();
        assert_false(moment_reached(now, end));
        bus_wait(raw->queue, -1, now, moment_after(now, span_of_ms(2)));
    }
}

static void send_waits(struct raw *raw, int count)
{
    struct outbox out = {0};
    for (int i = 0; i < count; i++) {
        struct message m = {.type = MSG_gang_waits, .gang_waits = {.message = STR_LITERAL("none")}};
        outbox_put(&out, (struct address){SCHEDULER, 0}, &m);
    }
    bus_send(raw->queue, &out);
    outbox_free(&out);
}

/* Several that are sent at once are one pack to who reads packs, and parts of one message to who
 * does not. */
static void packs_go_to_who_reads_them(void **state)
{
    struct raw *raw = *state;
    for (int packs = 0; packs < 2; packs++) {
        zmq_msg_t bytes;
        zmq_msg_init(&bytes);
        raw->reads_packs = packs;
        say_hello(raw);
        next_bytes(raw, &bytes);
        send_waits(raw, PACK_FRAMES_MAX + 2);
        for (int i = 0; i < PACK_FRAMES_MAX + 2;) {
            next_bytes(raw, &bytes);
            struct str all = {zmq_msg_data(&bytes), (uint32_t)zmq_msg_size(&bytes)}, frame = all;
            assert_int_equal(is_pack(all), packs);
            assert_int_equal(zmq_msg_more(&bytes),
                             !packs && i != PACK_FRAMES_MAX - 1 && i != PACK_FRAMES_MAX + 1);
            struct str rest = {all.at + 1, all.len - 1};
            while (packs == 0 || (rest.len > 0 && pack_next(&rest, &frame))) {
                struct envelope envelope;
                struct byte_cursor body;
                assert_int_equal(frame_open(frame, &envelope, &body), REFUSED_nothing);
                assert_int_equal(envelope.link, 2 + i++);
                if (packs == 0)
                    break;
            }
            assert_true(packs == 0 || rest.len == 0);
        }
        zmq_msg_close(&bytes);
    }
}

static void another_incarnation_on_a_link_is_a_restart(void **state)
{
    struct raw *raw = *state;
    struct seen down = {0};
    say_hello(raw);
    struct envelope envelope = {.type = MSG_pull, .link = 2, .generation = 1, .incarnation = 12};
    frame_build(&raw->frame, &envelope, STR_LITERAL("\x80"));
    put_bytes(raw, raw->frame.at, raw->frame.len);
    assert_true(await(raw->queue, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "restarted");
    seen_free(&down);
}

static void a_hello_said_twice_changes_nothing(void **state)
{
    struct raw *raw = *state;
    say_hello(raw);
    raw->session--;
    put_hello(raw, "scheduler", "raw");
    assert_alive(raw);
    assert_int_equal(bus_gaps(raw->queue), 0);
}

/* Runs part of a test with stderr going to a file; returns what was written there. */
static int stderr_to_file(struct raw *raw, char path[128])
{
    snprintf(path, 128, "%s/log", raw->scene->dir);
    fflush(stderr);
    int saved = dup(STDERR_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    close(file);
    log_set_level(LOG_LEVEL_warn);
    return saved;
}

static void stderr_back(int saved)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    log_set_level(LOG_LEVEL_error);
}

/* How often the door's log speaks of another version, when that says hello, and once more. */
static int times_told(struct raw *raw, const char *version)
{
    char path[128], log[4096] = {0};
    int saved = stderr_to_file(raw, path), times = 0;
    raw->version = version;
    say_hello(raw);
    put_hello(raw, "scheduler", "raw"); /* another session of the same life */
    bool there = await(raw->queue, NULL, MSG_peer_up, NULL);
    stderr_back(saved);
    assert_true(there);
    FILE *file = fopen(path, "r");
    size_t len = fread(log, 1, sizeof(log) - 1, file);
    fclose(file);
    log[len] = 0;
    for (const char *at = log; (at = strstr(at, "another version on the bus")) != NULL; at++)
        times++;
    assert_true(times == 0 || (strstr(log, "name=raw") != NULL && strstr(log, version) != NULL));
    return times;
}

static void another_version_is_let_in_and_told_once(void **state)
{
    struct raw *raw = *state;
    assert_int_equal(times_told(raw, "0.0.9"), 1);
    assert_alive(raw);
}

static void the_same_version_is_not_told(void **state)
{
    assert_int_equal(times_told(*state, OPTIONS_VERSION), 0);
}

static void a_100_mb_frame_is_refused_by_name(void **state)
{
    struct raw *raw = *state;
    char path[128], log[4096] = {0};
    say_hello(raw);
    uint32_t len = 100000000;
    char *big = memory_take(len);
    int saved = stderr_to_file(raw, path);
    put_frame(raw, MSG_pull, (struct str){big, len});
    put_pull(raw, 77);
    struct seen seen = {0};
    bool alive = await(raw->queue, NULL, MSG_pull, &seen);
    stderr_back(saved);
    memory_free(big);
    assert_true(alive);
    assert_int_equal(seen.message.pull.credit, 77);
    assert_int_equal(bus_refused(raw->queue, "oversized"), 1);
    FILE *file = fopen(path, "r");
    assert_true(fread(log, 1, sizeof(log) - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(log, "reason=oversized"));
    assert_non_null(strstr(log, "message=pull"));
    assert_non_null(strstr(log, "name=\"raw\""));
    assert_non_null(strstr(log, "peer=scheduler"));
    seen_free(&seen);
}

static void an_even_longer_frame_cuts_the_connection(void **state)
{
    struct raw *raw = *state;
    struct seen down = {0};
    say_hello(raw);
    uint32_t len = 140u << 20;
    char *big = memory_take(len);
    put_frame(raw, MSG_pull, (struct str){big, len});
    memory_free(big);
    assert_true(await(raw->queue, NULL, MSG_peer_down, &down));
    assert_string_equal(down.reason, "disconnected");
    say_hello(raw); /* on a new connection */
    assert_alive(raw);
    seen_free(&down);
}

/* A random message as a frame, then some of its bits turned over and its end cut off. Half of the
 * time the envelope is spared, so that the frame gets as far as the body. */
static void put_mutated(struct raw *raw, struct random *random, struct arena *arena)
{
    struct message m = {0};
    do
        m.type = (enum message_type)random_below(random, MSG_COUNT);
    while (message_info[m.type].record == NULL || m.type == MSG_goodbye);
    arena_reset(arena);
    codec_fill(message_info[m.type].record, message_body(&m), &random->state, arena);
    buffer_reset(&raw->body);
    codec_encode(message_info[m.type].record, message_body(&m), &raw->body);
    struct envelope envelope = {
        .type = m.type, .link = ++raw->link, .generation = 1, .incarnation = 4711};
    frame_build(&raw->frame, &envelope, buffer_str(&raw->body));
    size_t first = random_below(random, 2) ? 0 : raw->frame.len - raw->body.len;
    size_t len = raw->frame.len, room = len - first;
    for (uint64_t flips = random_below(random, 4); flips > 0 && room > 0; flips--) {
        char *at = &raw->frame.at[first + random_below(random, room)];
        *at = (char)((unsigned char)*at ^ (1u << random_below(random, 8)));
    }
    if (random_below(random, 2))
        len = first + random_below(random, room + 1);
    put_bytes(raw, raw->frame.at, len);
}

static void mutated_frames_do_no_harm(void **state)
{
    struct raw *raw = *state;
    struct random random = {20261};
    struct arena arena = {0};
    uint64_t delivered = 0;
    for (int round = 0; round < 6000; round++) {
        if (random_below(&random, 8) == 0)
            put_hello(raw, "scheduler", "raw");
        put_mutated(raw, &random, &arena);
        struct delivery in;
        while (bus_receive(raw->queue, moment_now(), &in)) {
            assert_true(message_info[in.message->type].to & QUEUE);
            delivered++;
        }
    }
    struct seen up = {0};
    put_hello(raw, "scheduler", "last"); /* behind all that is still under way */
    do
        assert_true(await(raw->queue, NULL, MSG_peer_up, &up));
    while (strcmp(up.instance, "last") != 0);
    seen_free(&up);
    say_hello(raw);
    assert_true(delivered > 0);
    assert_true(bus_refused(raw->queue, "malformed_body") > 0);
    assert_true(bus_refused(raw->queue, "malformed_envelope") > 0);
    uint64_t gaps = bus_gaps(raw->queue);
    assert_alive(raw);
    assert_int_equal(bus_gaps(raw->queue), gaps);
    arena_free(&arena);
}

static void another_kind_than_expected_is_never_up(void **state)
{
    struct raw *raw = *state;
    struct bus_options o = options_for(raw->scene, SCHEDULER);
    o.peers[o.peer_count++] = (struct bus_peer_option){WATCHER, bus_endpoint(raw->queue)};
    struct bus *scheduler = open_bus(raw->scene, &o);
    struct delivery in;
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (bus_refused(scheduler, "wrong_process") == 0) {
        struct moment now = moment_now();
        assert_false(moment_reached(now, end));
        assert_false(bus_receive(scheduler, now, &in));
        bus_tick(scheduler, now);
        while (bus_receive(raw->queue, now, &in))
            continue;
        bus_tick(raw->queue, now);
        bus_wait(scheduler, -1, now, moment_after(now, span_of_ms(5)));
    }
    bus_close(&scheduler);
}

#define RAW(test) cmocka_unit_test_setup_teardown(test, raw_open, raw_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RAW(garbage_from_a_stranger_is_refused),
        RAW(a_stranger_who_does_not_say_hello_is_asked_to),
        RAW(unusable_hellos_are_refused),
        RAW(numbers_of_no_message_are_refused),
        RAW(local_messages_never_come_from_outside),
        RAW(misdirected_messages_are_refused),
        RAW(a_tool_can_only_ask),
        RAW(bodies_that_cannot_be_decoded_are_refused),
        RAW(nesting_and_counts_are_bounded),
        RAW(bytes_behind_the_body_are_refused),
        RAW(a_field_of_a_newer_version_is_skipped),
        RAW(frames_that_come_together_are_taken_one_by_one),
        RAW(frames_of_a_pack_are_taken_one_by_one),
        RAW(a_pack_that_breaks_off_is_a_gap),
        RAW(a_pack_of_too_many_is_cut),
        RAW(packs_go_to_who_reads_them),
        RAW(a_gap_is_told_and_the_link_starts_over),
        RAW(another_incarnation_on_a_link_is_a_restart),
        RAW(a_hello_said_twice_changes_nothing),
        RAW(another_version_is_let_in_and_told_once),
        RAW(the_same_version_is_not_told),
        RAW(a_100_mb_frame_is_refused_by_name),
        RAW(an_even_longer_frame_cuts_the_connection),
        RAW(mutated_frames_do_no_harm),
        RAW(another_kind_than_expected_is_never_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
