/* test_tap: what an reader hears of two talking processes, and that nobody is slowed or loses
 * anything because somebody listens and does not read. */
#include "tests/unit/bus/pair.h"

#include "proto/bus/frame.h"
#include "proto/bus/tap_reader.h"
#include "proto/bus/wire.h"

#define LONG_PATIENCE_MS 60000

struct talk {
    struct scene *scene;
    struct bus *queue, *scheduler;
};

static int talk_open(void **state)
{
    scene_open(state);
    struct talk *talk = memory_take(sizeof(*talk));
    talk->scene = *state;
    talk->queue = open_door(talk->scene, QUEUE);
    talk->scheduler = open_caller(talk->scene, SCHEDULER, QUEUE);
    meet(talk->queue, talk->scheduler);
    *state = talk;
    return 0;
}

static int talk_close(void **state)
{
    struct talk *talk = *state;
    bus_close(&talk->scheduler);
    bus_close(&talk->queue);
    *state = talk->scene;
    memory_free(talk);
    return scene_close(state);
}

static void pull(struct talk *talk, int64_t credit)
{
    struct message m = {.type = MSG_pull, .pull = {.credit = credit}};
    send_message(talk->scheduler, (struct address){QUEUE, 0}, &m);
}

static void run_both(struct talk *talk)
{
    struct delivery in;
    struct moment now = moment_now();
    while (bus_receive(talk->queue, now, &in) || bus_receive(talk->scheduler, now, &in))
        continue;
    bus_tick(talk->queue, now);
    bus_tick(talk->scheduler, now);
}

/* The next mirrored frame of that message; *tapped and *m borrow from the reader and the arena. */
static bool hear(struct talk *talk, struct tap_reader *reader, enum message_type type, bool sent,
                 struct tapped *tapped)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (!moment_reached(moment_now(), end)) {
        struct str bytes;
        struct arena none = {.limit = 1};
        run_both(talk);
        while (tap_reader_next(reader, &bytes)) {
            struct envelope envelope;
            const uint8_t *at = (const uint8_t *)bytes.at;
            struct byte_cursor in = {at, at + bytes.len}, body;
            assert_true(codec_decode(&tapped_record, tapped, &in, &none));
            assert_int_equal(frame_open(tapped->frame, &envelope, &body), REFUSED_nothing);
            if (envelope.type == type && tapped->sent == sent)
                return true;
        }
        tap_reader_wait(reader, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    return false;
}

static struct tap_reader *open_tap_reader(struct talk *talk)
{
    struct tap_reader_options o = {.run_dir = talk->scene->dir};
    struct tap_reader *reader = tap_reader_open(&o, talk->scene->error, sizeof(talk->scene->error));
    if (reader == NULL)
        fail_msg("%s", talk->scene->error);
    return reader;
}

static void both_sides_are_heard(void **state)
{
    struct talk *talk = *state;
    struct tap_reader *reader = open_tap_reader(talk);
    struct tapped tapped;
    assert_int_equal(tap_reader_count(reader), 2);
    /* Subscriptions travel: the first heartbeats tell that they have arrived. */
    assert_true(hear(talk, reader, MSG_heartbeat, true, &tapped));
    assert_true(hear(talk, reader, MSG_heartbeat, false, &tapped));
    assert_true(hear(talk, reader, MSG_heartbeat, true, &tapped));
    pull(talk, 42);
    assert_true(hear(talk, reader, MSG_pull, true, &tapped));
    assert_true(str_is(tapped.process, "scheduler") && str_is(tapped.instance, "scheduler"));
    assert_true(str_is(tapped.peer_process, "queue") && str_is(tapped.peer_instance, "queue"));
    pull(talk, 43);
    assert_true(hear(talk, reader, MSG_pull, false, &tapped));
    assert_true(str_is(tapped.instance, "queue") && str_is(tapped.peer_instance, "scheduler"));
    assert_true(tapped.tap_sequence > 0 && tapped.at_us > 0);
    tap_reader_close(&reader);
}

static void a_tap_that_appears_later_is_found(void **state)
{
    struct talk *talk = *state;
    struct tap_reader *reader = open_tap_reader(talk);
    struct bus *binder = open_door(talk->scene, BINDER);
    assert_int_equal(tap_reader_count(reader), 2);
    tap_reader_discover(reader);
    assert_int_equal(tap_reader_count(reader), 3);
    tap_reader_discover(reader);
    assert_int_equal(tap_reader_count(reader), 3);
    bus_close(&binder);
    tap_reader_close(&reader);
}

/* A listener that never reads: its buffers fill, the tap drops, the messages flow. */
static void a_listener_that_does_not_read_costs_nothing_but_its_own_copy(void **state)
{
    struct talk *talk = *state;
    struct tap_reader *reader = open_tap_reader(talk);
    struct tapped tapped;
    assert_true(hear(talk, reader, MSG_heartbeat, true, &tapped));
    int64_t total = 40000, got = 0, next = 1;
    struct moment end = moment_after(moment_now(), span_of_ms(LONG_PATIENCE_MS));
    while (got < total) {
        struct moment now = moment_now();
        struct delivery in;
        assert_false(moment_reached(now, end));
        for (int i = 0; i < 500 && next <= total; i++)
            pull(talk, next++);
        while (bus_receive(talk->queue, now, &in))
            if (in.message->type == MSG_pull)
                assert_int_equal(in.message->pull.credit, ++got);
        while (bus_receive(talk->scheduler, now, &in))
            assert_int_not_equal(in.message->type, MSG_peer_down);
        bus_tick(talk->queue, now);
        bus_tick(talk->scheduler, now);
    }
    assert_int_equal(bus_dropped(talk->scheduler), 0);
    assert_int_equal(bus_gaps(talk->queue), 0);
    tap_reader_close(&reader);
}

/* Reads what waits, also what the socket's thread has yet to bring from the buffers behind it;
 * returns how many numbers were jumped over. */
static int64_t drain(void *slow, int64_t *last)
{
    int64_t lost = 0;
    zmq_msg_t m;
    zmq_msg_init(&m);
    zmq_pollitem_t more = {.socket = slow, .events = ZMQ_POLLIN};
    while (zmq_poll(&more, 1, 200) > 0 && zmq_msg_recv(&m, slow, ZMQ_DONTWAIT) >= 0) {
        struct tapped tapped;
        struct arena none = {.limit = 1};
        const uint8_t *at = zmq_msg_data(&m);
        struct byte_cursor in = {at, at + zmq_msg_size(&m)};
        assert_true(codec_decode(&tapped_record, &tapped, &in, &none));
        lost += *last > 0 ? tapped.tap_sequence - *last - 1 : 0;
        *last = tapped.tap_sequence;
    }
    zmq_msg_close(&m);
    return lost;
}

static void what_was_dropped_shows_in_the_sequence(void **state)
{
    struct talk *talk = *state;
    void *context = zmq_ctx_new(), *slow = zmq_socket(context, ZMQ_SUB);
    int few = 10, zero = 0;
    char endpoint[128];
    zmq_setsockopt(slow, ZMQ_RCVHWM, &few, sizeof(few));
    zmq_setsockopt(slow, ZMQ_LINGER, &zero, sizeof(zero));
    zmq_setsockopt(slow, ZMQ_SUBSCRIBE, "", 0);
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/scheduler.tap", talk->scene->dir);
    assert_int_equal(zmq_connect(slow, endpoint), 0);
    int64_t last = 0, lost = 0;
    struct moment end = moment_after(moment_now(), span_of_ms(LONG_PATIENCE_MS));
    while (last == 0) { /* until its subscription has arrived */
        assert_false(moment_reached(moment_now(), end));
        run_both(talk);
        pull(talk, 1);
        drain(slow, &last);
    }
    while (lost == 0) { /* more than all buffers hold, unread, and then what is left of it */
        assert_false(moment_reached(moment_now(), end));
        for (int i = 0; i < 30000; i++) {
            pull(talk, i);
            if (i % 1000 == 0)
                run_both(talk);
        }
        lost = drain(slow, &last);
    }
    assert_int_equal(bus_dropped(talk->scheduler), 0);
    zmq_close(slow);
    zmq_ctx_term(context);
}

#define TALK(test) cmocka_unit_test_setup_teardown(test, talk_open, talk_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(both_sides_are_heard),
        TALK(a_tap_that_appears_later_is_found),
        TALK(a_listener_that_does_not_read_costs_nothing_but_its_own_copy),
        TALK(what_was_dropped_shows_in_the_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
