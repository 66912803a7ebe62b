/* test_links: a property of a link whatever happens to its ends. Both sides number what they send
 * from each peer_up on; both must receive, between a peer_up and its peer_down, exactly 1, 2, 3, …
 * without a hole: what was lost shows as peer_down, and nothing of another session slips in. */
#include "tests/unit/bus/pair.h"

#include "proto/base/random.h"

struct end {
    enum process kind;
    struct bus *bus;
    struct address peer; /* peer 0: nobody is up */
    int64_t sent, received, received_total;
    unsigned ups;
};

struct link {
    struct scene *scene;
    struct end door, caller;
    struct random random;
};

static void open_end(struct link *link, struct end *end)
{
    end->bus = end->kind == QUEUE ? open_door(link->scene, QUEUE)
                                  : open_caller(link->scene, SCHEDULER, QUEUE);
    end->peer.peer = 0;
}

static void send_next(struct end *end)
{
    if (end->peer.peer == 0)
        return;
    struct message pull = {.type = MSG_pull, .pull.credit = ++end->sent};
    struct message attempt = {.type = MSG_attempt, .attempt.cycle = end->sent};
    send_message(end->bus, end->peer, end->kind == QUEUE ? &attempt : &pull);
}

static void take_one(struct end *end, const struct delivery *in)
{
    const struct message *m = in->message;
    if (m->type == MSG_peer_up) {
        assert_int_equal(end->peer.peer, 0);
        end->peer = in->from;
        end->sent = end->received = 0;
        end->ups++;
    } else if (m->type == MSG_peer_down) {
        assert_int_equal(end->peer.peer, in->from.peer);
        end->peer.peer = 0;
    } else {
        int64_t number = m->type == MSG_pull ? m->pull.credit : m->attempt.cycle;
        assert_int_equal(in->from.peer, end->peer.peer);
        assert_int_equal(number, ++end->received);
        end->received_total++;
    }
}

static void run_end(struct end *end, int messages)
{
    struct delivery in;
    struct moment now = moment_now();
    while (messages-- > 0 && bus_receive(end->bus, now, &in))
        take_one(end, &in);
    bus_tick(end->bus, now);
}

static void restart(struct link *link, struct end *end)
{
    bus_close(&end->bus);
    open_end(link, end);
}

static void step(struct link *link)
{
    struct end *end = random_below(&link->random, 2) ? &link->door : &link->caller;
    uint64_t what = random_below(&link->random, 100);
    if (what < 2)
        restart(link, end);
    else if (what < 50)
        for (uint64_t i = random_below(&link->random, 30); i > 0; i--)
            send_next(end);
    else
        run_end(end, (int)random_below(&link->random, 40));
    if (what > 95)
        bus_wait(end->bus, -1, moment_now(), moment_after(moment_now(), span_of_ms(3)));
}

/* Runs both until each has received what the other sent. */
static void calm_down(struct link *link)
{
    struct moment limit = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    for (;;) {
        struct moment now = moment_now();
        assert_false(moment_reached(now, limit));
        run_end(&link->door, 1000);
        run_end(&link->caller, 1000);
        if (link->door.peer.peer && link->caller.peer.peer &&
            link->door.received == link->caller.sent && link->caller.received == link->door.sent)
            return;
        bus_wait(link->door.bus, -1, now, moment_after(now, span_of_ms(5)));
    }
}

static void nothing_is_lost_without_a_word(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct link link = {
            .scene = *state, .door.kind = QUEUE, .caller.kind = SCHEDULER, .random = {seed}};
        open_end(&link, &link.door);
        open_end(&link, &link.caller);
        calm_down(&link);
        for (int i = 0; i < 400; i++)
            step(&link);
        calm_down(&link);
        for (int i = 0; i < 50; i++) {
            send_next(&link.door);
            send_next(&link.caller);
        }
        calm_down(&link);
        assert_true(link.door.received_total >= 50 && link.caller.received_total >= 50);
        assert_true(link.door.ups > 1 || link.caller.ups > 1);
        bus_close(&link.caller.bus);
        bus_close(&link.door.bus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost_without_a_word, scene_open, scene_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
