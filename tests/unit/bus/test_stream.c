/* test_stream: a publisher and two subscribers in virtual time, over links that lose, double and
 * break as the test says. The one property behind all of it: once things are quiet, every
 * subscriber holds exactly what the publisher holds. */
#include "proto/bus/stream.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES 24
#define SIDES 2

/* One subscriber, its link and what it believes. */
struct side {
    struct subscriber s;
    enum process kind;
    uint32_t peer; /* of this life of the link, 0 = down */
    struct outbox up, down;
    int64_t value[NODES]; /* 0 = no such node */
    bool seen[NODES];     /* in the snapshot that is under way */
    uint64_t applied, barriers;
    uint64_t outstanding, outstanding_max; /* sent to it and not yet granted again */
};

struct world {
    struct publisher *p;
    struct publisher_options options;
    struct side side[SIDES];
    struct published objects[NODES];
    int64_t truth[NODES];
    struct moment now;
    uint32_t peers;
    int64_t stamp;
    struct random random;
    unsigned lose_percent, double_percent;
    struct arena arena;
};

static void open_world(struct world *w, size_t log_bytes, uint32_t window)
{
    *w = (struct world){.options = {1, log_bytes, 4}, .now = {1000000000}};
    w->p = publisher_new(&w->options);
    for (int i = 0; i < SIDES; i++) {
        w->side[i].kind = i ? SCHEDULER : QUEUE;
        subscriber_init(&w->side[i].s, window);
    }
    log_open("test", LOG_LEVEL_error);
}

static void close_world(struct world *w)
{
    publisher_free(&w->p);
    for (int i = 0; i < SIDES; i++) {
        outbox_free(&w->side[i].up);
        outbox_free(&w->side[i].down);
    }
    arena_free(&w->arena);
}

/* "n7" is node 7. */
static int node_of(struct str name)
{
    int64_t node;
    assert_true(str_to_i64((struct str){name.at + 1, name.len - 1}, &node));
    assert_true(node >= 0 && node < NODES);
    return (int)node;
}

static void take(struct world *w, struct side *side, const struct delivery *in)
{
    const struct message *m = in->message;
    if (subscriber_take(&side->s, w->now, in, &side->up) == STREAM_ignore)
        return;
    int node = -1;
    side->applied += in->epoch != 0;
    if (m->type == MSG_node_set)
        node = node_of(m->node_set.node.name);
    if (m->type == MSG_node_gone)
        node = node_of(m->node_gone.name);
    if (m->type == MSG_snapshot_begin)
        memset(side->seen, 0, sizeof(side->seen));
    if (m->type == MSG_barrier_reached)
        side->barriers++;
    if (m->type == MSG_node_set) {
        side->value[node] = m->node_set.node.resource_version;
        side->seen[node] = true;
    }
    if (m->type == MSG_node_gone)
        side->value[node] = 0;
    for (int i = 0; m->type == MSG_snapshot_end && i < NODES; i++)
        if (!side->seen[i])
            side->value[i] = 0;
}

static void tell(struct world *w, struct side *side, const struct message *m)
{
    struct delivery in = {.from = {WATCHER, side->peer}, .message = m};
    take(w, side, &in);
}

static void disconnect(struct world *w, struct side *side)
{
    if (side->peer == 0)
        return;
    struct message down = {.type = MSG_peer_down};
    publisher_handle(w->p, (struct address){side->kind, side->peer}, &down);
    tell(w, side, &down);
    side->peer = 0;
    side->outstanding = 0;
    outbox_reset(&side->up); /* what was on the link is lost with it */
    outbox_reset(&side->down);
}

static void connect_side(struct world *w, struct side *side)
{
    struct message up = {.type = MSG_peer_up};
    disconnect(w, side);
    side->peer = ++w->peers;
    tell(w, side, &up);
}

static bool chance(struct world *w, unsigned percent)
{
    return percent > 0 && random_below(&w->random, 100) < percent;
}

static void deliver_up(struct world *w, struct side *side)
{
    for (size_t i = 0; i < side->up.count; i++) {
        struct message m;
        arena_reset(&w->arena);
        assert_true(outbox_get(&side->up, i, &m, &w->arena));
        if (side->up.at[i].to.peer != side->peer || chance(w, w->lose_percent))
            continue;
        if (m.type == MSG_subscribe)
            side->outstanding = 0;
        if (m.type == MSG_credit)
            side->outstanding -= side->outstanding < (uint64_t)m.credit.count
                                     ? side->outstanding
                                     : (uint64_t)m.credit.count;
        publisher_handle(w->p, (struct address){side->kind, side->peer}, &m);
    }
    outbox_reset(&side->up);
}

/* Moves what the publisher wants to send onto the links. */
static void flush(struct world *w)
{
    struct outbox out = {0};
    publisher_flush(w->p, &out);
    for (size_t i = 0; i < out.count; i++)
        for (int s = 0; s < SIDES; s++) {
            struct side *side = &w->side[s];
            if (out.at[i].to.peer != side->peer || side->peer == 0)
                continue;
            outbox_put_encoded(&side->down, &out.at[i], outbox_body(&out, i));
            if (++side->outstanding > side->outstanding_max)
                side->outstanding_max = side->outstanding;
        }
    outbox_free(&out);
}

static void deliver_one(struct world *w, struct side *side, size_t i)
{
    struct message m;
    arena_reset(&w->arena);
    assert_true(outbox_get(&side->down, i, &m, &w->arena));
    struct delivery in = {.from = {WATCHER, side->peer},
                          .epoch = side->down.at[i].epoch,
                          .sequence = side->down.at[i].sequence,
                          .part = side->down.at[i].part,
                          .message = &m};
    take(w, side, &in);
}

/* Delivers the first count messages; the rest stays on the link. */
static void deliver_down(struct world *w, struct side *side, size_t count)
{
    struct outbox rest = {0};
    for (size_t i = 0; i < side->down.count; i++) {
        if (i >= count) {
            outbox_put_encoded(&rest, &side->down.at[i], outbox_body(&side->down, i));
            continue;
        }
        if (chance(w, w->lose_percent))
            continue;
        deliver_one(w, side, i);
        if (chance(w, w->double_percent))
            deliver_one(w, side, i);
    }
    outbox_free(&side->down);
    side->down = rest;
}

/* Until nothing moves any more. */
static void settle(struct world *w)
{
    for (bool moved = true; moved;) {
        moved = false;
        flush(w);
        for (int i = 0; i < SIDES; i++) {
            struct side *side = &w->side[i];
            moved = moved || side->down.count > 0 || side->up.count > 0;
            deliver_down(w, side, SIZE_MAX);
            deliver_up(w, side);
        }
    }
}

static void set_node(struct world *w, int i)
{
    char name[8];
    snprintf(name, sizeof(name), "n%d", i);
    w->truth[i] = ++w->stamp;
    struct message m = {.type = MSG_node_set,
                        .node_set.node = {.name = str_of(name), .resource_version = w->stamp}};
    assert_true(publisher_set(w->p, &w->objects[i], &m));
}

static void remove_node(struct world *w, int i)
{
    char name[8];
    snprintf(name, sizeof(name), "n%d", i);
    struct message m = {.type = MSG_node_gone, .node_gone.name = str_of(name)};
    assert_int_equal(publisher_remove(w->p, &w->objects[i], &m), w->truth[i] != 0);
    w->truth[i] = 0;
}

/* Another life of the publisher: it learns the same objects again, in another order. */
static void restart_publisher(struct world *w)
{
    for (int i = 0; i < SIDES; i++)
        disconnect(w, &w->side[i]);
    publisher_free(&w->p);
    memset(w->objects, 0, sizeof(w->objects));
    w->options.epoch++;
    w->p = publisher_new(&w->options);
    for (int i = NODES - 1; i >= 0; i--)
        if (w->truth[i])
            set_node(w, i);
}

static void assert_same(const struct world *w)
{
    for (int i = 0; i < SIDES; i++) {
        assert_true(w->side[i].s.synced);
        assert_false(w->side[i].s.in_snapshot);
        assert_memory_equal(w->side[i].value, w->truth, sizeof(w->truth));
    }
}

static void connect_both(struct world *w)
{
    for (int i = 0; i < SIDES; i++)
        connect_side(w, &w->side[i]);
    settle(w);
}

static void a_new_subscriber_gets_a_snapshot_then_changes(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    for (int i = 0; i < 5; i++)
        set_node(&w, i);
    connect_both(&w);
    assert_same(&w);
    assert_int_equal(publisher_snapshots(w.p), 2);
    set_node(&w, 2);
    remove_node(&w, 3);
    set_node(&w, 9);
    settle(&w);
    assert_same(&w);
    assert_int_equal(publisher_snapshots(w.p), 2);
    assert_int_equal(w.side[0].s.sequence, publisher_sequence(w.p));
    close_world(&w);
}

static void an_empty_publisher_still_has_a_snapshot(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 1);
    connect_both(&w);
    assert_same(&w);
    set_node(&w, 0);
    settle(&w);
    assert_same(&w);
    close_world(&w);
}

static void the_same_bytes_are_not_published_again(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    struct message m = {.type = MSG_node_set, .node_set.node = {.name = str_of("n1")}};
    assert_true(publisher_set(w.p, &w.objects[1], &m));
    assert_false(publisher_set(w.p, &w.objects[1], &m));
    assert_int_equal(publisher_sequence(w.p), 1);
    struct message gone = {.type = MSG_node_gone, .node_gone.name = str_of("n2")};
    assert_false(publisher_remove(w.p, &w.objects[2], &gone));
    assert_int_equal(publisher_objects(w.p), 1);
    close_world(&w);
}

static int64_t sent_of(const struct outbox *o, enum message_type type)
{
    int64_t count = 0;
    for (size_t i = 0; i < o->count; i++)
        count += o->at[i].type == type;
    return count;
}

/* Whoever wants pods once gets them within its credit, nothing else, and is forgotten. */
static void pods_once_are_a_snapshot_and_no_more(void **state)
{
    (void)state;
    struct world w;
    struct published pods[2] = {0};
    struct outbox out = {0};
    open_world(&w, 1 << 20, 10);
    set_node(&w, 0);
    for (int i = 0; i < 2; i++) {
        struct message m = {.type = MSG_pod_set, .pod_set.pod = {.name = str_of(i ? "b" : "a")}};
        publisher_set(w.p, &pods[i], &m);
    }
    struct message ask = {.type = MSG_subscribe, .subscribe = {.credit = 2, .pods_once = true}};
    struct message more = {.type = MSG_credit, .credit = {.count = 100}};
    publisher_handle(w.p, (struct address){TOOL, 9}, &ask);
    publisher_flush(w.p, &out);
    assert_int_equal(out.count, 2);
    assert_int_equal(publisher_subscribers(w.p), 1);
    publisher_handle(w.p, (struct address){TOOL, 9}, &more);
    publisher_flush(w.p, &out);
    assert_int_equal(out.count, 4);
    assert_int_equal(sent_of(&out, MSG_pod_set), 2);
    assert_int_equal(sent_of(&out, MSG_node_set), 0);
    assert_int_equal(sent_of(&out, MSG_snapshot_end), 1);
    assert_int_equal(publisher_subscribers(w.p), 0);
    set_node(&w, 1);
    publisher_flush(w.p, &out);
    assert_int_equal(out.count, 4);
    ask.subscribe = (struct subscribe){.credit = 100, .once = true};
    publisher_handle(w.p, (struct address){TOOL, 10}, &ask); /* or once of everything */
    publisher_flush(w.p, &out);
    assert_int_equal(out.count, 4 + 6);
    assert_int_equal(sent_of(&out, MSG_pod_set), 4);
    assert_int_equal(sent_of(&out, MSG_node_set), 2);
    assert_int_equal(publisher_subscribers(w.p), 0);
    ask.subscribe.once = false;
    ask.subscribe.pods_once = true;
    for (uint32_t peer = 20; peer < 40; peer++) { /* those that never come back for the rest */
        ask.subscribe.credit = 1;
        publisher_handle(w.p, (struct address){TOOL, peer}, &ask);
        publisher_flush(w.p, &out);
    }
    assert_int_equal(publisher_subscribers(w.p), 4);
    outbox_free(&out);
    close_world(&w);
}

static void ask_for_changes(struct world *w, struct outbox *out, int64_t epoch, int64_t sequence)
{
    struct message ask = {
        .type = MSG_subscribe,
        .subscribe = {.credit = 100, .changes_once = true, .epoch = epoch, .sequence = sequence}};
    publisher_handle(w->p, (struct address){TOOL, 9}, &ask);
    publisher_flush(w->p, out);
}

/* Whoever asks for changes gets those behind its position, or a snapshot, and is forgotten. */
static void changes_once_are_those_behind_the_position(void **state)
{
    (void)state;
    struct world w;
    struct outbox out = {0};
    open_world(&w, 1 << 20, 10);
    set_node(&w, 0);
    set_node(&w, 1);
    ask_for_changes(&w, &out, 0, 0);
    assert_int_equal(sent_of(&out, MSG_snapshot_begin), 1);
    assert_int_equal(sent_of(&out, MSG_snapshot_end), 1);
    assert_int_equal(publisher_subscribers(w.p), 0);
    int64_t epoch = out.at[0].epoch, sequence = out.at[0].sequence;
    size_t before = out.count;
    ask_for_changes(&w, &out, epoch, sequence);
    assert_int_equal(out.count, before);
    assert_int_equal(publisher_subscribers(w.p), 0);
    set_node(&w, 2);
    set_node(&w, 0);
    ask_for_changes(&w, &out, epoch, sequence);
    assert_int_equal(out.count, before + 2);
    assert_int_equal(out.at[before].sequence, sequence + 1);
    assert_int_equal(sent_of(&out, MSG_snapshot_begin), 1);
    assert_int_equal(publisher_subscribers(w.p), 0);
    set_node(&w, 1);
    publisher_flush(w.p, &out);
    assert_int_equal(out.count, before + 2);
    ask_for_changes(&w, &out, epoch + 1, sequence); /* of another life */
    assert_int_equal(sent_of(&out, MSG_snapshot_begin), 2);
    assert_int_equal(publisher_subscribers(w.p), 0);
    outbox_free(&out);
    close_world(&w);
}

static void a_broken_link_goes_on_from_its_position(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    set_node(&w, 1);
    connect_both(&w);
    disconnect(&w, &w.side[1]);
    set_node(&w, 2);
    remove_node(&w, 1);
    settle(&w);
    connect_side(&w, &w.side[1]);
    settle(&w);
    assert_same(&w);
    assert_int_equal(publisher_snapshots(w.p), 2); /* no third one */
    assert_int_equal(w.side[1].s.snapshots, 1);
    close_world(&w);
}

static void a_position_before_the_log_costs_a_snapshot(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 300, 10);
    connect_both(&w);
    disconnect(&w, &w.side[1]);
    for (int i = 0; i < NODES; i++)
        set_node(&w, i);
    remove_node(&w, 0);
    settle(&w);
    connect_side(&w, &w.side[1]);
    settle(&w);
    assert_same(&w);
    assert_int_equal(w.side[1].s.snapshots, 2);
    close_world(&w);
}

static void a_lost_change_is_asked_for_again(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    connect_both(&w);
    set_node(&w, 1);
    flush(&w);
    outbox_reset(&w.side[0].down); /* lost */
    set_node(&w, 2);
    set_node(&w, 3);
    settle(&w);
    assert_same(&w);
    assert_int_equal(w.side[0].s.gaps, 1);
    assert_int_equal(w.side[0].s.snapshots, 1);
    assert_int_equal(w.side[1].s.gaps, 0);
    close_world(&w);
}

static void a_lost_part_of_a_snapshot_is_noticed(void **state)
{
    (void)state;
    struct world w;
    for (size_t lost = 0; lost < 7; lost++) {
        open_world(&w, 1 << 20, 100);
        for (int i = 0; i < 5; i++)
            set_node(&w, i);
        connect_side(&w, &w.side[0]);
        connect_side(&w, &w.side[1]);
        deliver_up(&w, &w.side[0]);
        flush(&w);
        assert_int_equal(w.side[0].down.count, 7);
        struct outbox kept = {0};
        for (size_t i = 0; i < 7; i++)
            if (i != lost)
                outbox_put_encoded(&kept, &w.side[0].down.at[i], outbox_body(&w.side[0].down, i));
        outbox_free(&w.side[0].down);
        w.side[0].down = kept;
        settle(&w);
        w.now = moment_after(w.now, span_of_ms(60000)); /* a lost end shows in silence */
        subscriber_tick(&w.side[0].s, w.now, &w.side[0].up);
        settle(&w);
        assert_same(&w);
        close_world(&w);
    }
}

static void changes_during_a_snapshot_follow_it(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 4);
    for (int i = 0; i < 12; i++)
        set_node(&w, i);
    connect_side(&w, &w.side[1]);
    settle(&w);
    connect_side(&w, &w.side[0]);
    deliver_up(&w, &w.side[0]);
    flush(&w); /* four messages of the snapshot */
    int64_t at = publisher_sequence(w.p);
    for (int i = 0; i < 12; i += 2)
        set_node(&w, i);
    remove_node(&w, 1);
    deliver_down(&w, &w.side[0], SIZE_MAX);
    assert_true(w.side[0].s.in_snapshot);
    assert_int_equal(w.side[0].s.sequence, at);
    settle(&w);
    assert_same(&w);
    assert_int_equal(w.side[0].s.snapshots, 1);
    assert_int_equal(w.side[0].applied, 14 + 7);
    close_world(&w);
}

static void nothing_is_sent_without_credit(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 6);
    for (int i = 0; i < NODES; i++)
        set_node(&w, i);
    connect_side(&w, &w.side[0]);
    connect_side(&w, &w.side[1]);
    deliver_up(&w, &w.side[0]);
    for (int i = 0; i < 10; i++)
        flush(&w);
    assert_int_equal(w.side[0].down.count, 6);
    settle(&w);
    assert_same(&w);
    for (int i = 0; i < SIDES; i++)
        assert_int_equal(w.side[i].outstanding_max, 6);
    close_world(&w);
}

static void a_slow_subscriber_does_not_hold_up_the_other(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 400, 4);
    connect_both(&w);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 4; i++)
            set_node(&w, i);
        flush(&w);
        deliver_down(&w, &w.side[1], SIZE_MAX); /* side 0 reads nothing */
        deliver_up(&w, &w.side[1]);
    }
    flush(&w);
    deliver_down(&w, &w.side[1], SIZE_MAX);
    assert_memory_equal(w.side[1].value, w.truth, sizeof(w.truth));
    assert_true(w.side[0].down.count <= 4);
    settle(&w);
    assert_same(&w); /* by a snapshot, the log having moved on */
    assert_true(w.side[0].s.snapshots > 1);
    close_world(&w);
}

/* Its clock may have been set back, or forward and back. */
static void nothing_follows_from_an_epochs_size(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    w.options.epoch = 500;
    restart_publisher(&w); /* 501 */
    set_node(&w, 1);
    connect_both(&w);
    const struct subscriber *s = &w.side[0].s;
    int64_t first = s->epoch;
    assert_true(subscriber_has_reached(s, first, s->sequence));
    assert_false(subscriber_has_reached(s, first, s->sequence + 1));
    assert_false(subscriber_has_reached(s, first - 1, 1)); /* may come yet */
    assert_false(subscriber_has_left(s, first));
    w.options.epoch = 20;
    restart_publisher(&w); /* 21 */
    set_node(&w, 2);
    connect_both(&w);
    assert_true(s->epoch < first);
    assert_true(subscriber_has_left(s, first));
    assert_true(subscriber_has_reached(s, first, 1000));
    assert_false(subscriber_has_reached(s, s->epoch + 1, 1));
    assert_true(subscriber_has_reached(s, 0, 0));
    assert_false(subscriber_has_left(s, 0));
    for (int i = 0; i < EPOCHS_LEFT; i++) { /* the ring goes round */
        restart_publisher(&w);
        set_node(&w, 3);
        connect_both(&w);
    }
    assert_false(subscriber_has_left(s, first));
    assert_true(subscriber_has_left(s, s->epoch - 1));
    close_world(&w);
}

static void a_restarted_publisher_is_another_epoch(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    for (int i = 0; i < 6; i++)
        set_node(&w, i);
    connect_both(&w);
    w.truth[4] = 0; /* deleted while nobody watched */
    restart_publisher(&w);
    connect_both(&w);
    assert_same(&w);
    assert_int_equal(w.side[0].s.epoch, 2);
    assert_int_equal(w.side[0].value[4], 0);
    close_world(&w);
}

static void doubled_messages_change_nothing(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    w.double_percent = 100;
    for (int i = 0; i < 6; i++)
        set_node(&w, i);
    connect_both(&w);
    for (int i = 0; i < 6; i++)
        set_node(&w, i);
    settle(&w);
    assert_same(&w);
    assert_int_equal(w.side[0].s.gaps, 0);
    assert_int_equal(w.side[0].applied, 8 + 6);
    close_world(&w);
}

static void a_note_stands_in_its_place_and_in_no_snapshot(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    struct message note = {.type = MSG_barrier_reached, .barrier_reached = {.id = 5}};
    connect_side(&w, &w.side[0]);
    settle(&w);
    set_node(&w, 1);
    publisher_note(w.p, &note);
    settle(&w);
    assert_int_equal(w.side[0].barriers, 1);
    connect_side(&w, &w.side[1]);
    settle(&w);
    assert_int_equal(w.side[1].barriers, 0);
    assert_int_equal(publisher_sequence(w.p), 2);
    assert_same(&w);
    close_world(&w);
}

static void a_lost_question_is_asked_again(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    set_node(&w, 1);
    connect_side(&w, &w.side[1]);
    connect_side(&w, &w.side[0]);
    outbox_reset(&w.side[0].up); /* lost */
    settle(&w);
    assert_false(w.side[0].s.synced);
    struct moment due = subscriber_tick(&w.side[0].s, w.now, &w.side[0].up);
    assert_int_equal(w.side[0].up.count, 0);
    w.now = due;
    subscriber_tick(&w.side[0].s, w.now, &w.side[0].up);
    assert_int_equal(w.side[0].up.count, 1);
    settle(&w);
    assert_same(&w);
    close_world(&w);
}

static void more_subscribers_than_allowed_are_refused(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    log_set_level(LOG_LEVEL_error);
    struct message m = {.type = MSG_subscribe, .subscribe = {.credit = 5}};
    for (uint32_t peer = 1; peer <= 9; peer++)
        publisher_handle(w.p, (struct address){QUEUE, peer}, &m);
    assert_int_equal(publisher_subscribers(w.p), 4);
    struct message down = {.type = MSG_peer_down};
    publisher_handle(w.p, (struct address){QUEUE, 1}, &down);
    publisher_handle(w.p, (struct address){QUEUE, 9}, &m);
    assert_int_equal(publisher_subscribers(w.p), 4);
    close_world(&w);
}

static void absurd_numbers_from_a_peer_are_harmless(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 1 << 20, 10);
    set_node(&w, 1);
    static const int64_t odd[] = {INT64_MIN, -1, 0, 1, 2, INT64_MAX};
    struct outbox out = {0};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            struct message ask = {.type = MSG_subscribe,
                                  .subscribe = {.epoch = 1, .sequence = odd[i], .credit = odd[j]}};
            struct message more = {.type = MSG_credit, .credit = {.count = odd[j]}};
            publisher_handle(w.p, (struct address){QUEUE, 7}, &ask);
            publisher_handle(w.p, (struct address){QUEUE, 7}, &more);
            publisher_flush(w.p, &out);
        }
    assert_true(out.count > 0 && out.count < 200);
    outbox_free(&out);
    close_world(&w);
}

/* ---- the property ---- */

static void random_step(struct world *w)
{
    struct side *side = &w->side[random_below(&w->random, SIDES)];
    int node = (int)random_below(&w->random, NODES);
    switch (random_below(&w->random, 24)) {
    case 0: disconnect(w, side); break;
    case 1: connect_side(w, side); break;
    case 2:
        if (random_below(&w->random, 4) == 0)
            restart_publisher(w);
        break;
    case 3: w->now = moment_after(w->now, span_of_ms((int64_t)random_below(&w->random, 5000)));
    /* fall through */
    case 4:
        if (side->peer)
            subscriber_tick(&side->s, w->now, &side->up);
        break;
    case 5:
    case 6: remove_node(w, node); break;
    case 7:
    case 8: flush(w); break;
    case 9:
    case 10:
    case 11: deliver_down(w, side, random_below(&w->random, 8)); break;
    case 12:
    case 13: deliver_up(w, side); break;
    case 14: {
        struct message note = {.type = MSG_view, .view = {.synced = true}};
        publisher_note(w->p, &note);
        break;
    }
    default: set_node(w, node); break;
    }
}

static void calm_down(struct world *w)
{
    w->lose_percent = w->double_percent = 0;
    for (int second = 0; second < 30; second++) {
        struct message note = {.type = MSG_view, .view = {.age_ms = second}};
        publisher_note(w->p, &note);
        w->now = moment_after(w->now, span_of_ms(1000));
        for (int i = 0; i < SIDES; i++) {
            if (w->side[i].peer == 0)
                connect_side(w, &w->side[i]);
            subscriber_tick(&w->side[i].s, w->now, &w->side[i].up);
        }
        settle(w);
    }
}

static void every_interleaving_ends_in_the_publishers_state(void **state)
{
    (void)state;
    static const size_t logs[] = {1, 200, 1000, 1 << 20};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct world w;
        open_world(&w, logs[seed % 4], 1 + (uint32_t)(seed * 7 % 40));
        w.random.state = seed;
        w.lose_percent = seed % 3 ? (unsigned)(seed % 30) : 0;
        w.double_percent = (unsigned)(seed % 20);
        for (int i = 0; i < 500; i++)
            random_step(&w);
        calm_down(&w);
        for (int i = 0; i < SIDES; i++)
            if (memcmp(w.side[i].value, w.truth, sizeof(w.truth)) != 0 || !w.side[i].s.synced)
                fail_msg("side %d differs, seed=%llu", i, (unsigned long long)seed);
        assert_same(&w);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_subscriber_gets_a_snapshot_then_changes),
        cmocka_unit_test(an_empty_publisher_still_has_a_snapshot),
        cmocka_unit_test(the_same_bytes_are_not_published_again),
        cmocka_unit_test(pods_once_are_a_snapshot_and_no_more),
        cmocka_unit_test(changes_once_are_those_behind_the_position),
        cmocka_unit_test(a_broken_link_goes_on_from_its_position),
        cmocka_unit_test(a_position_before_the_log_costs_a_snapshot),
        cmocka_unit_test(a_lost_change_is_asked_for_again),
        cmocka_unit_test(a_lost_part_of_a_snapshot_is_noticed),
        cmocka_unit_test(changes_during_a_snapshot_follow_it),
        cmocka_unit_test(nothing_is_sent_without_credit),
        cmocka_unit_test(a_slow_subscriber_does_not_hold_up_the_other),
        cmocka_unit_test(a_restarted_publisher_is_another_epoch),
        cmocka_unit_test(nothing_follows_from_an_epochs_size),
        cmocka_unit_test(doubled_messages_change_nothing),
        cmocka_unit_test(a_note_stands_in_its_place_and_in_no_snapshot),
        cmocka_unit_test(a_lost_question_is_asked_again),
        cmocka_unit_test(more_subscribers_than_allowed_are_refused),
        cmocka_unit_test(absurd_numbers_from_a_peer_are_harmless),
        cmocka_unit_test(every_interleaving_ends_in_the_publishers_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
