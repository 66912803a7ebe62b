/* test_recall: where a recorded life is cut to be asked something, and which time is meant. */
#include "ctl/explain/recorded.h"
#include "ctl/record/past.h"
#include "ctl/record/recall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct buffer bytes;
static size_t ends[16]; /* where the entries end */
static uint64_t count;

static void put(struct journal_entry e)
{
    journal_put(&bytes, &e);
    ends[count++] = bytes.len;
}

static void put_message(enum journal_kind kind, const struct message *m, enum process process)
{
    struct buffer body = {0};
    codec_encode(message_info[m->type].record, message_body_const(m), &body);
    put((struct journal_entry){.kind = kind,
                               .type = m->type,
                               .process = process,
                               .wall_us = kind == JOURNAL_delivery ? 10 : 0,
                               .body = buffer_str(&body)});
    buffer_free(&body);
}

/* Told at 100, where it reads a clock (105) and says something, at 150, at 1150; and its end. */
static struct member life_of(bool ended)
{
    count = 0;
    journal_put_head(&bytes, &(struct journal_head){.process = STR_LITERAL("queue")});
    put((struct journal_entry){.kind = JOURNAL_delivery, .wall_us = 100, .now_ns = 7});
    put((struct journal_entry){.kind = JOURNAL_clock, .wall_us = 5, .now_ns = 1});
    put((struct journal_entry){.kind = JOURNAL_send});
    put((struct journal_entry){.kind = JOURNAL_turn, .wall_us = 45});
    put((struct journal_entry){.kind = JOURNAL_delivery, .wall_us = 1000});
    put((struct journal_entry){.kind = JOURNAL_clock, .wall_us = 1});
    if (ended)
        put((struct journal_entry){.kind = JOURNAL_end});
    return (struct member){.fd = -1, .bytes = bytes.at, .len = bytes.len};
}

static int drop(void **state)
{
    (void)state;
    buffer_free(&bytes);
    return 0;
}

static void it_is_cut_before_something_is_told(void **state)
{
    struct member life = life_of(true);
    (void)state;
    for (int64_t until_us = 105; until_us < 150; until_us += 44) {
        struct recall_place at = recall_find(&life, until_us);
        assert_int_equal(at.entries, 3);
        assert_int_equal(at.bytes, ends[2]);
        assert_int_equal(at.wall_us, 105);
        assert_int_equal(at.now_ns, 8);
    }
    assert_int_equal(recall_find(&life, 99).entries, 0);
    assert_int_equal(recall_find(&life, 150).entries, 4);
    assert_int_equal(recall_find(&life, 1150).bytes, ends[5]);
    assert_int_equal(recall_find(&life, RECALL_END).entries, 6);
}

/* A life that was killed may have been in the middle of something. */
static void what_was_under_way_is_left_out(void **state)
{
    struct member life = life_of(false);
    (void)state;
    assert_int_equal(recall_find(&life, RECALL_END).entries, 4);
    life.len = ends[3] - 1;
    assert_int_equal(recall_find(&life, RECALL_END).entries, 0);
    life.len = 3;
    assert_int_equal(recall_find(&life, RECALL_END).bytes, 0);
}

static void a_time_is_meant_until_it_is_over(void **state)
{
    struct recorded r = {.path = "x"};
    (void)state;
    assert_true(recorded_take_time(&r, "1970-01-01T00:00:01Z"));
    assert_int_equal(r.at_us, 1999999);
    assert_true(recorded_take_time(&r, "1970-01-01T00:00:01.25Z"));
    assert_int_equal(r.at_us, 1259999);
    assert_true(recorded_take_time(&r, "1970-01-01T01:00:01.000123+01:00"));
    assert_int_equal(r.at_us, 1000123);
    assert_false(recorded_take_time(&r, "yesterday"));
    assert_false(recorded_take_time(&r, ""));
}

/* ---- a decision ---- */

static struct message attempt_of(const char *name, const char *uid)
{
    return (struct message){.type = MSG_attempt,
                            .attempt.pod = {.uid = str_of(uid),
                                            .name = str_of(name),
                                            .namespace_name = STR_LITERAL("default")}};
}

/* In one batch after "other"; the last attempt has no end. */
static void the_last_decision_is_found(void **state)
{
    struct message one = attempt_of("one", "u1"), other = attempt_of("other", "u2"), m;
    struct map_request asked[2] = {{.pod = other.attempt.pod}, {.pod = one.attempt.pod}};
    (void)state;
    count = 0;
    journal_put_head(&bytes, &(struct journal_head){.process = STR_LITERAL("scheduler")});
    put_message(JOURNAL_delivery, &other, QUEUE);
    put_message(JOURNAL_delivery, &one, QUEUE);
    m = (struct message){.type = MSG_map_batch, .map_batch.requests = {2, asked}};
    put_message(JOURNAL_message, &m, WORKER);
    m = (struct message){.type = MSG_bind, .bind = {.uid = STR_LITERAL("u2")}};
    put_message(JOURNAL_message, &m, BINDER);
    m.bind.uid = STR_LITERAL("u1");
    put_message(JOURNAL_message, &m, BINDER);
    put_message(JOURNAL_message, &m, BINDER); /* once more, as to a binder that is new */
    put_message(JOURNAL_delivery, &one, QUEUE);
    const struct member life = {.fd = -1, .bytes = bytes.at, .len = bytes.len};
    struct past p = {
        .life = &life, .space = STR_LITERAL("default"), .name = STR_LITERAL("one"), .entries = 7};
    past_find(&p);
    assert_true(p.decided);
    assert_int_equal(p.asked, 2);
    assert_int_equal(p.said, 4);
    assert_int_equal(p.said_us, 20);
    assert_true(str_is(p.pod.uid, "u1"));
    past_free(&p);
    p = (struct past){.life = &life, .space = p.space, .name = p.name, .entries = 4};
    past_find(&p);
    assert_false(p.decided);
    past_free(&p);
}

/* Of its last attempt; the answer to another question is not it. */
static void what_extenders_said_is_found(void **state)
{
    struct message one = attempt_of("one", "u1"), m;
    struct str nodes[] = {STR_LITERAL("n1"), STR_LITERAL("n2")};
    (void)state;
    count = 0;
    journal_put_head(&bytes, &(struct journal_head){.process = STR_LITERAL("scheduler")});
    for (int64_t attempt = 1; attempt <= 2; attempt++) {
        put_message(JOURNAL_delivery, &one, QUEUE);
        m = (struct message){
            .type = MSG_extend,
            .extend = {.id = attempt, .uid = STR_LITERAL("u1"), .nodes = {2, nodes}}};
        put_message(JOURNAL_message, &m, EXTENDER);
        m = (struct message){.type = MSG_extended,
                             .extended = {.id = 7, .uid = STR_LITERAL("u1"), .all = true}};
        put_message(JOURNAL_delivery, &m, EXTENDER);
        m.extended.id = attempt;
        m.extended.all = false;
        m.extended.nodes = (struct strs){(uint32_t)attempt, nodes};
        put_message(JOURNAL_delivery, &m, EXTENDER);
        m = (struct message){.type = MSG_outcome,
                             .outcome = {.uid = STR_LITERAL("u1"), .result = OUTCOME_error}};
        put_message(JOURNAL_message, &m, QUEUE);
    }
    m = (struct message){.type = MSG_extend, .extend = {.id = 3, .uid = STR_LITERAL("u1")}};
    put_message(JOURNAL_message, &m, EXTENDER);
    const struct member life = {.fd = -1, .bytes = bytes.at, .len = bytes.len};
    struct past p = {.life = &life, .space = STR_LITERAL("default"), .name = STR_LITERAL("one")};
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        p.entries = (uint64_t)attempt * 5;
        past_find(&p);
        assert_true(p.decided);
        assert_int_equal(p.consulted_count, 1);
        assert_int_equal(p.consulted[0].question.id, attempt);
        assert_int_equal(p.consulted[0].question.nodes.count, 2);
        assert_int_equal(p.consulted[0].answer.nodes.count, attempt);
        assert_true(str_is(p.consulted[0].answer.nodes.at[0], "n1"));
        assert_int_equal(p.consulted[0].asked_us, 10 + (attempt - 1) * 30);
        assert_int_equal(p.consulted[0].answered_us, 30 + (attempt - 1) * 30);
    }
    p.entries = 11;
    past_find(&p);
    assert_int_equal(p.consulted_count, 1);
    assert_int_equal(p.consulted[0].question.id, 2);
    past_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_is_cut_before_something_is_told, drop),
        cmocka_unit_test_teardown(what_was_under_way_is_left_out, drop),
        cmocka_unit_test(a_time_is_meant_until_it_is_over),
        cmocka_unit_test_teardown(the_last_decision_is_found, drop),
        cmocka_unit_test_teardown(what_extenders_said_is_found, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
