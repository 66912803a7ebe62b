/* test_own_worker: a real worker inside a scheduler whose coordinator is played here: what each
 * hears of the other, in which order, and what leaves the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/memory.h"
#include "scheduler/own_worker.h"

#define HEARD_MAX 32

static const struct address inside = {WORKER, PEER_INSIDE}, binder = {BINDER, 7}, tool = {TOOL, 9};

/* The coordinator that is played: what it hears, and what it says with its next tick. */
static struct played {
    struct own_worker both;
    struct worker *worker;
    struct outbox says, out;
    bool sends_between; /* whatever it says: sent at once, message by message */
    struct {
        struct address from;
        enum message_type type;
    } heard[HEARD_MAX];
    int count;
    char left[256]; /* what had been sent while a call was under way */
} t;

static void play_handle(void *state, struct moment now, const struct delivery *in,
                        struct outbox *out)
{
    struct played *p = state;
    (void)now;
    assert_true(p->count < HEARD_MAX);
    p->heard[p->count].from = in->from;
    p->heard[p->count++].type = in->message->type;
    if (in->message->type == MSG_holdings_request) {
        struct message m = {.type = MSG_holdings, .holdings = {.id = 1, .part = 1, .last = true}};
        outbox_put(out, in->from, &m);
    }
}

static struct moment play_tick(void *state, struct moment now, struct outbox *out)
{
    struct played *p = state;
    (void)now;
    for (size_t i = 0; i < p->says.count; i++) {
        outbox_put_encoded(out, &p->says.at[i], outbox_body(&p->says, i));
        if (p->sends_between)
            outbox_send(out);
    }
    outbox_reset(&p->says);
    return MOMENT_NEVER;
}

static void play_status(void *state, struct buffer *lines)
{
    (void)state;
    buffer_add_text(lines, "workers=1\n");
}

static int64_t play_term(const void *state)
{
    (void)state;
    return 3;
}

static void sent(void *context)
{
    struct played *p = context;
    for (size_t i = 0; i < p->out.count; i++)
        if (!p->out.at[i].handed) {
            strcat(p->left, message_info[p->out.at[i].type].record->name);
            strcat(p->left, " ");
        }
    outbox_reset(&p->out);
}

static int start(void **state)
{
    (void)state;
    t = (struct played){.worker = worker_new(OWN_WORKER, 1)};
    struct actor coordinator = {.state = &t,
                                .handle = play_handle,
                                .tick = play_tick,
                                .status = play_status,
                                .term = play_term};
    own_worker_init(&t.both, &coordinator, t.worker);
    t.out.send = sent;
    t.out.context = &t;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    worker_free(&t.worker);
    own_worker_free(&t.both);
    outbox_free(&t.says);
    outbox_free(&t.out);
    return 0;
}

static struct moment at(int64_t ms)
{
    return (struct moment){ms * 1000000};
}

static struct moment turn(int64_t ms)
{
    struct actor actor = own_worker_actor(&t.both);
    return actor.tick(actor.state, at(ms), &t.out);
}

static void hears(struct address from, const struct message *m)
{
    struct actor actor = own_worker_actor(&t.both);
    struct delivery in = {.from = from, .instance = STR_LITERAL("x"), .message = m};
    actor.handle(actor.state, at(1), &in, &t.out);
}

static void hears_type(struct address from, enum message_type type)
{
    hears(from, &(struct message){.type = type});
}

static void say(struct address to, enum message_type type)
{
    outbox_put(&t.says, to, &(struct message){.type = type});
}

static void say_question(int64_t cycle)
{
    struct message m = {.type = MSG_map_request, .map_request = {.cycle = cycle, .round = 1}};
    outbox_put(&t.says, inside, &m);
}

/* What the coordinator heard since the last look: "type type ". */
static const char *heard(void)
{
    static char text[512];
    text[0] = 0;
    for (int i = 0; i < t.count; i++) {
        strcat(text, message_info[t.heard[i].type].record->name);
        strcat(text, " ");
    }
    t.count = 0;
    return text;
}

/* What is in the outbox for the bus; what was handed over inside stands in brackets. */
static const char *leaves(void)
{
    static char text[512];
    text[0] = 0;
    for (size_t i = 0; i < t.out.count; i++) {
        bool handed = t.out.at[i].handed;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s ", handed ? "(" : "",
                 message_info[t.out.at[i].type].record->name, handed ? ")" : "");
    }
    outbox_reset(&t.out);
    return text;
}

static void get_ready(void)
{
    turn(0);
    say(inside, MSG_shard_reset);
    turn(1);
    heard();
    leaves();
}

/* ---- tests ---- */

static void they_meet_with_the_first_tick(void **state)
{
    (void)state;
    assert_false(own_worker_up(&t.both));
    assert_true(turn(0).ns == 0); /* there was something to say, so there may be more */
    assert_true(own_worker_up(&t.both));
    assert_true(same_address(t.heard[0].from, inside));
    assert_string_equal(heard(), "peer_up worker_join ");
    assert_string_equal(leaves(), "(worker_join) ");
}

static void a_question_is_answered_within_the_tick(void **state)
{
    (void)state;
    get_ready();
    say_question(4);
    assert_true(turn(2).ns == at(2).ns);
    assert_string_equal(heard(), "map_result ");
    assert_string_equal(leaves(), "(map_request) (map_result) ");
    assert_true(turn(3).ns == MOMENT_NEVER.ns);
    assert_string_equal(heard(), "");
}

static void what_is_for_others_leaves(void **state)
{
    (void)state;
    get_ready();
    say(binder, MSG_bind);
    say_question(4);
    say(binder, MSG_preempt);
    turn(2);
    assert_string_equal(leaves(), "bind preempt (map_request) (map_result) ");
}

static void what_is_sent_in_the_middle_loses_nothing(void **state)
{
    (void)state;
    get_ready();
    t.sends_between = true;
    say_question(4);
    say(binder, MSG_bind);
    say_question(5);
    turn(2);
    assert_string_equal(t.left, "bind ");
    assert_string_equal(heard(), "map_result map_result ");
}

static void it_makes_way_for_worker_processes(void **state)
{
    (void)state;
    const struct address other = {WORKER, 5}, second = {WORKER, 6};
    get_ready();
    hears_type(other, MSG_peer_up);
    assert_string_equal(heard(), "peer_down peer_up ");
    assert_false(own_worker_up(&t.both));
    hears_type(second, MSG_peer_up);
    hears_type(other, MSG_peer_down);
    assert_string_equal(heard(), "peer_up peer_down ");
    turn(2);
    assert_string_equal(heard(), "");
    hears_type(second, MSG_peer_down);
    heard();
    turn(3);
    assert_string_equal(heard(), "peer_up worker_join ");
}

/* The coordinator has said it before it knew that the worker goes. */
static void what_is_owed_to_one_that_made_way_is_dropped(void **state)
{
    (void)state;
    get_ready();
    hears_type((struct address){WORKER, 5}, MSG_peer_up);
    heard();
    say_question(4);
    turn(2);
    assert_string_equal(heard(), "");
    assert_string_equal(leaves(), ""); /* nor does the tap show it as heard */
}

static void one_that_made_way_holds_nothing(void **state)
{
    (void)state;
    struct message m = {.type = MSG_shard_node, .shard_node = {.node = {.name = STR_LITERAL("n")}}};
    struct buffer lines = {0};
    get_ready();
    outbox_put(&t.says, inside, &m);
    turn(2);
    worker_status(t.worker, &lines);
    buffer_add(&lines, "", 1);
    assert_non_null(strstr(lines.at, "\nnodes=1\n"));
    hears_type((struct address){WORKER, 5}, MSG_peer_up);
    buffer_reset(&lines);
    worker_status(t.worker, &lines);
    buffer_add(&lines, "", 1);
    assert_non_null(strstr(lines.at, "\nnodes=0\n"));
    buffer_free(&lines);
}

static void a_tool_hears_both_the_worker_first(void **state)
{
    (void)state;
    struct message m;
    struct arena memory = {0};
    get_ready();
    hears(tool, &(struct message){.type = MSG_holdings_request, .holdings_request = {.id = 1}});
    assert_int_equal(t.out.count, 2);
    assert_true(same_address(t.out.at[0].to, tool) && !t.out.at[0].handed);
    assert_true(outbox_get(&t.out, 0, &m, &memory));
    assert_true(m.holdings.own_worker && m.holdings.last && m.holdings.whole);
    assert_true(outbox_get(&t.out, 1, &m, &memory));
    assert_false(m.holdings.own_worker);
    arena_free(&memory);
}

static void it_reads_anew_by_itself(void **state)
{
    (void)state;
    struct message m = {.type = MSG_reread, .reread = {.own_worker = true}};
    get_ready();
    hears(tool, &m);
    assert_string_equal(heard(), "worker_join ");
    m.reread.own_worker = false;
    hears(tool, &m);
    assert_string_equal(heard(), "reread ");
}

static void the_status_has_both(void **state)
{
    (void)state;
    struct buffer lines = {0};
    struct actor actor = own_worker_actor(&t.both);
    get_ready();
    actor.status(actor.state, &lines);
    buffer_add(&lines, "", 1);
    assert_non_null(strstr(lines.at, "workers=1\nown_worker=up=yes joined=yes "));
    assert_non_null(strstr(lines.at, " joins=1"));
    buffer_free(&lines);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(they_meet_with_the_first_tick),     TEST(a_question_is_answered_within_the_tick),
        TEST(what_is_for_others_leaves),         TEST(what_is_sent_in_the_middle_loses_nothing),
        TEST(it_makes_way_for_worker_processes), TEST(what_is_owed_to_one_that_made_way_is_dropped),
        TEST(one_that_made_way_holds_nothing),   TEST(a_tool_hears_both_the_worker_first),
        TEST(it_reads_anew_by_itself),           TEST(the_status_has_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
