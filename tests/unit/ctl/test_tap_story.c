/* test_tap_story: a pod's messages as blocks, one an attempt: their order, headings, words, holes,
 * and what a query leaves of them; and the names that options of `berth tap` take. */
#include "ctl/recording.h"
#include "ctl/tap/brief.h"
#include "ctl/tap/names.h"
#include "ctl/tap/story.h"

#include "proto/bus/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define UID_1  "11111111-1111-4111-8111-111111111111"
#define UID_9  "99999999-9999-4999-8999-999999999999"
#define BEGIN  1767225600000000 /* 2026-01-01 */
#define SECOND ((int64_t)1000000)
#define STR(t)                                                                                     \
    {                                                                                              \
        t, sizeof(t) - 1                                                                           \
    }
#define WEB                                                                                        \
    {                                                                                              \
        .uid = STR(UID_1), .namespace_name = STR("default"), .name = STR("web")                    \
    }

struct bench {
    struct tap_view view;
    struct story *story;
    struct query *query;
    struct buffer body, frame, tapped, out;
    int64_t sequence, sent_us;
    bool received;   /* by the receiver's tap */
    uint32_t missed; /* before the next one */
};

static void bench_open(struct bench *b, struct story_options options, const char *where)
{
    struct buffer error = {0};
    uint32_t column;
    *b = (struct bench){.story = story_new(&options)};
    tap_view_init(&b->view);
    assert_true(tap_filter_pod(&b->view.filter, "default/web"));
    if (where != NULL)
        b->query = query_parse(where, &error, &column);
    b->view.filter.query = b->query;
    b->view.filter.query_marks = true;
    buffer_free(&error);
}

static void bench_close(struct bench *b)
{
    story_free(&b->story);
    tap_view_free(&b->view);
    query_free(&b->query);
    buffer_free(&b->body);
    buffer_free(&b->frame);
    buffer_free(&b->tapped);
    buffer_free(&b->out);
}

/* As the sender's tap mirrors it so long after the beginning. */
static struct str mirror(struct bench *b, int64_t after_us, const char *way,
                         const struct message *m)
{
    struct str to = str_of(way), from;
    assert_true(str_split(&to, ">", &from));
    struct envelope envelope = {.type = m->type, .sent_us = b->sent_us};
    buffer_reset(&b->body);
    codec_encode(message_info[m->type].record, message_body_const(m), &b->body);
    frame_build(&b->frame, &envelope, buffer_str(&b->body));
    struct tapped tapped = {.at_us = BEGIN + after_us,
                            .process = b->received ? to : from,
                            .instance = b->received ? to : from,
                            .sent = !b->received,
                            .peer_process = b->received ? from : to,
                            .peer_instance = b->received ? from : to,
                            .tap_sequence = ++b->sequence,
                            .frame = buffer_str(&b->frame)};
    buffer_reset(&b->tapped);
    codec_encode(&tapped_record, &tapped, &b->tapped);
    return buffer_str(&b->tapped);
}

static void say(struct bench *b, int64_t after_us, const char *way, const struct message *m)
{
    struct str tapped = mirror(b, after_us, way, m);
    bool shown = tap_view_take(&b->view, tapped);
    if (b->view.of_pod)
        story_take(b->story, &b->view, &(struct story_frame){tapped, shown, b->missed});
    b->missed = 0;
}

static enum story_step next(struct bench *b, int64_t until_us)
{
    buffer_reset(&b->out);
    buffer_add(&b->out, "", 0);
    return story_next(b->story, &b->view, until_us, &b->out);
}

#define ALL INT64_MAX

/* ---- an attempt that fails and one that does not ---- */

static const struct message
    set = {.type = MSG_pod_set, .pod_set.pod = WEB},
    other = {.type = MSG_pod_gone, .pod_gone = {.uid = STR(UID_9)}},
    ask = {.type = MSG_map_request,
           .map_request = {.cycle = 7, .round = 1, .step = MAP_STEP_map, .pod = WEB}},
    bind = {.type = MSG_bind, .bind = {.uid = STR(UID_1), .node_name = STR("node-3")}},
    bound = {.type = MSG_bind_result,
             .bind_result = {
                 .uid = STR(UID_1), .node_name = STR("node-3"), .bound = true, .elapsed_us = 2500}};

static struct message attempt(int64_t number)
{
    return (struct message){.type = MSG_attempt,
                            .attempt = {.pod = WEB, .attempts = number, .cycle = 100 + number}};
}

static struct message outcome(int64_t number, enum outcome_result result)
{
    static struct str plugins[] = {STR("NodeResourcesFit")};
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = STR(UID_1), .cycle = 100 + number, .result = result}};
    if (result == OUTCOME_unschedulable)
        m.outcome.plugins = (struct strs){1, plugins};
    return m;
}

/* The order is that of arrival: each tap is heard by itself. */
static void rejected(struct bench *b, int64_t at)
{
    static struct tally reasons[] = {{.text = STR("Insufficient cpu"), .count = 30},
                                     {.text = STR("Too many pods"), .count = 2}};
    static struct verdict verdicts[] = {
        {.node = STR("node-1"), .code = VERDICT_unschedulable, .plugin = STR("NodeResourcesFit")}};
    const struct message said = {.type = MSG_map_result,
                                 .map_result = {.cycle = 7,
                                                .nodes = 32,
                                                .evaluated = 32,
                                                .reasons = {2, reasons},
                                                .verdicts = {1, verdicts}}},
                         failed = {.type = MSG_pod_failed,
                                   .pod_failed = {.pod = WEB,
                                                  .reason = REASON_unschedulable,
                                                  .message = STR("0/32 nodes are available")}},
                         first = attempt(1), ended = outcome(1, OUTCOME_unschedulable);
    say(b, at + 1500, "scheduler>worker-0", &ask);
    say(b, at + 4000, "scheduler>binder", &failed);
    say(b, at + 4001, "scheduler>queue", &ended);
    say(b, at, "queue>scheduler", &first);
    say(b, at + 3000, "worker-0>scheduler", &said);
}

static void placed(struct bench *b, int64_t at)
{
    const struct message second = attempt(2), ended = outcome(2, OUTCOME_bound);
    say(b, at, "queue>scheduler", &second);
    say(b, at + 1000, "scheduler>binder", &bind);
    say(b, at + 3500, "binder>scheduler", &bound);
    say(b, at + 4000, "scheduler>queue", &ended);
}

static void an_attempt_is_a_block_in_order_of_time(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, (struct story_options){0}, NULL);
    say(&b, -5 * SECOND, "watcher>queue", &set);
    say(&b, -5 * SECOND, "watcher>queue", &other);
    rejected(&b, 0);
    placed(&b, 2 * SECOND);
    assert_int_equal(next(&b, ALL), STORY_between);
    assert_string_equal(b.out.at, "default/web  before attempt 1  2025-12-31T23:59:55.000000Z\n"
                                  "       0.000  watcher>queue         pod_set           version "
                                  "0\n\n");
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_string_equal(
        b.out.at,
        "default/web  attempt 1  unschedulable  in 4.001 ms  2026-01-01T00:00:00.000000Z\n"
        "       0.000  queue>scheduler       attempt           try it, priority 0\n"
        "       1.500  scheduler>worker-0    map_request       asks: map, round 1\n"
        "       3.000  worker-0>scheduler    map_result        0 of 32 nodes fit: 30 Insufficient "
        "cpu, 2 Too many pods\n"
        "       4.000  scheduler>binder      pod_failed        Unschedulable: 0/32 nodes are "
        "available\n"
        "       4.001  scheduler>queue       outcome           unschedulable, rejected by "
        "NodeResourcesFit\n\n");
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "default/web  attempt 2  bound on node-3  in 4.000 ms  "));
    assert_non_null(strstr(b.out.at, "bind_result       is on node node-3, after 2.500 ms\n"));
    assert_int_equal(next(&b, ALL), STORY_nothing);
    bench_close(&b);
}

static void nodes_are_named_on_request(void **state)
{
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        struct bench b;
        bench_open(&b, (struct story_options){.nodes = nodes == 1}, NULL);
        rejected(&b, 0);
        assert_int_equal(next(&b, ALL), STORY_attempt);
        assert_int_equal(strstr(b.out.at, "; node-1 Unschedulable by NodeResourcesFit") != NULL,
                         nodes == 1);
        bench_close(&b);
    }
}

/* A block is told when it is sure that nothing more belongs to it, and not before. */
static void a_block_waits_for_its_end(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, (struct story_options){0}, NULL);
    rejected(&b, 0);
    assert_int_equal(next(&b, BEGIN + 4000), STORY_nothing);
    assert_int_equal(next(&b, BEGIN + 24001), STORY_nothing);
    say(&b, 10000, "watcher>queue", &set); /* the condition that was written */
    assert_int_equal(next(&b, BEGIN + 24002), STORY_attempt);
    assert_non_null(strstr(b.out.at, "      10.000  watcher>queue         pod_set"));
    say(&b, 100000, "watcher>queue", &set);
    assert_int_equal(next(&b, BEGIN + SECOND), STORY_nothing);
    assert_int_equal(next(&b, BEGIN + 2 * SECOND), STORY_between);
    assert_int_equal(strncmp(b.out.at, "default/web  after attempt 1  ", 30), 0);
    bench_close(&b);
}

static void an_attempt_without_end_or_begin_is_told_as_that(void **state)
{
    (void)state;
    struct bench b;
    const struct message first = attempt(1), third = attempt(3), ended = outcome(0, OUTCOME_error);
    bench_open(&b, (struct story_options){0}, NULL);
    say(&b, 0, "scheduler>worker-0", &ask);
    say(&b, 10, "scheduler>queue", &ended);
    say(&b, 1 * SECOND, "queue>scheduler", &first); /* then its scheduler died */
    say(&b, 2 * SECOND, "queue>scheduler", &third);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  an attempt whose begin was not heard  error  2026"));
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  attempt 1  without an outcome  2026"));
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  attempt 3  under way  2026"));
    bench_close(&b);
}

static void an_attempt_that_is_sent_again_is_the_same(void **state)
{
    (void)state;
    struct bench b;
    struct message first = attempt(1), again = attempt(1);
    const struct message ended = outcome(1, OUTCOME_unschedulable);
    first.attempt.cycle = 99; /* to a scheduler that has lost it */
    bench_open(&b, (struct story_options){0}, NULL);
    say(&b, 0, "queue>scheduler", &first);
    say(&b, 1000, "queue>scheduler", &again);
    say(&b, 3000, "scheduler>queue", &ended);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  attempt 1  unschedulable  in 3.000 ms  "));
    assert_int_equal(next(&b, ALL), STORY_nothing);
    bench_close(&b);
}

/* Live, who looks is not left without an answer while a pod waits for its claims. */
static void a_long_attempt_is_told_in_parts(void **state)
{
    (void)state;
    struct bench b;
    const struct message first = attempt(1), ended = outcome(1, OUTCOME_bound);
    bench_open(&b, (struct story_options){.patience_us = 10 * SECOND}, NULL);
    say(&b, 0, "queue>scheduler", &first);
    say(&b, 1000, "scheduler>binder", &bind);
    assert_int_equal(next(&b, BEGIN + 10 * SECOND), STORY_nothing);
    assert_int_equal(next(&b, BEGIN + 10 * SECOND + 1), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  attempt 1  under way  "));
    say(&b, 20 * SECOND, "watcher>queue", &set);
    assert_int_equal(next(&b, BEGIN + 22 * SECOND), STORY_between);
    assert_non_null(strstr(b.out.at, "  attempt 1, continued  under way  "));
    say(&b, 30 * SECOND, "binder>scheduler", &bound);
    say(&b, 30 * SECOND, "scheduler>queue", &ended);
    assert_int_equal(next(&b, BEGIN + 31 * SECOND), STORY_attempt);
    assert_non_null(strstr(b.out.at, "  attempt 1, continued  bound  in 30000.000 ms  "));
    say(&b, 40 * SECOND, "watcher>queue", &set);
    assert_int_equal(next(&b, ALL), STORY_between);
    assert_non_null(strstr(b.out.at, "  after attempt 1  "));
    bench_close(&b);
}

/* As the sender's tap was joined late, or is late. */
static void a_message_is_told_once(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct bench b;
        const struct message second = attempt(2), ended = outcome(2, OUTCOME_bound);
        bench_open(&b, (struct story_options){0}, NULL);
        b.view.filter.both = both == 1;
        b.sent_us = BEGIN;
        b.received = true;
        say(&b, 70, "queue>scheduler", &second);
        b.received = false;
        say(&b, 50, "queue>scheduler", &second);
        say(&b, 50, "queue>scheduler-2", &second);
        b.sent_us = BEGIN + 1000;
        say(&b, 1000, "scheduler>queue", &ended);
        b.received = true;
        say(&b, 1100, "scheduler>queue", &ended);
        assert_int_equal(next(&b, ALL), STORY_attempt);
        const char *at = strstr(b.out.at, "queue>scheduler   ");
        assert_int_equal(strstr(at + 1, "queue>scheduler   ") != NULL, both == 1);
        assert_non_null(strstr(b.out.at, "queue>scheduler-2 "));
        at = strstr(b.out.at, "scheduler>queue");
        assert_int_equal(strstr(at + 1, "scheduler>queue") != NULL, both == 1);
        bench_close(&b);
    }
}

/* Taps are late, each by as much as its process is busy. */
static void the_time_is_that_of_sending(void **state)
{
    (void)state;
    struct bench b;
    const struct message second = attempt(2), ended = outcome(2, OUTCOME_bound);
    bench_open(&b, (struct story_options){0}, NULL);
    b.sent_us = BEGIN;
    say(&b, 50, "queue>scheduler", &second);
    b.sent_us = BEGIN + 2000;
    say(&b, 2100, "scheduler>queue", &ended);
    b.sent_us = BEGIN + 1500;
    say(&b, 2200, "binder>scheduler", &bound);
    b.sent_us = BEGIN + 3600 * SECOND; /* a clock that is wrong */
    say(&b, 2300, "watcher>queue", &set);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "       0.000  queue>scheduler"));
    assert_non_null(strstr(b.out.at, "       1.500  binder>scheduler"));
    assert_true(strstr(b.out.at, " bind_result ") < strstr(b.out.at, " outcome "));
    assert_non_null(strstr(b.out.at, "       2.300  watcher>queue"));
    bench_close(&b);
}

static void a_query_chooses_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *where;
        bool first, second;
    } cases[] = {{"message == bind", false, true},
                 {"message == bind and node ~ '^node-' and attempt == 2", false, true},
                 {"reasons.text ~ cpu", true, false},
                 {"attempt > 1", false, true},
                 {"attempt < 9", true, true},
                 {"result == error", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        bench_open(&b, (struct story_options){0}, cases[i].where);
        rejected(&b, 0);
        placed(&b, SECOND);
        assert_int_equal(next(&b, ALL), STORY_attempt);
        assert_int_equal(b.out.len > 0, cases[i].first);
        assert_int_equal(next(&b, ALL), STORY_attempt);
        assert_int_equal(b.out.len > 0, cases[i].second);
        bench_close(&b);
    }
}

static void what_filters_leave_out_still_ends_a_block(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, (struct story_options){0}, NULL);
    assert_true(tap_filter_message(&b.view.filter, "bind,map_result"));
    rejected(&b, 0);
    placed(&b, SECOND);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_null(strstr(b.out.at, "scheduler>queue"));
    assert_non_null(strstr(b.out.at, "attempt 1  unschedulable  in 4.001 ms"));
    assert_non_null(strstr(b.out.at, "map_result"));
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "attempt 2  bound on node-3"));
    bench_close(&b);
}

static void a_hole_is_told_where_it_is(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct bench b;
        bench_open(&b, (struct story_options){.json = json == 1}, NULL);
        b.missed = 12;
        placed(&b, 0);
        assert_int_equal(next(&b, ALL), STORY_attempt);
        assert_non_null(strstr(b.out.at, json ? "],\"missed\":12,"
                                              : "12 messages, of whatever pods, were missed here"));
        bench_close(&b);
    }
}

static void as_json_a_block_is_an_object(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, (struct story_options){.json = true}, NULL);
    placed(&b, 0);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    static const char head[] = "{\"time\":\"2026-01-01T00:00:00.000000Z\",\"pod\":\"default/web\","
                               "\"place\":\"attempt 2\",\"attempt\":2,\"result\":\"bound\","
                               "\"node\":\"node-3\",\"took_us\":4000,\"messages\":[{\"time\":";
    assert_int_equal(strncmp(b.out.at, head, sizeof(head) - 1), 0);
    assert_non_null(strstr(b.out.at, ",\"offset_us\":1000},{"));
    assert_string_equal(strchr(b.out.at, '\n'), "\n");
    bench_close(&b);
}

static void an_answer_in_a_batch_is_the_pods_own(void **state)
{
    (void)state;
    struct bench b;
    struct tally reasons[] = {{.text = STR("Insufficient memory"), .count = 4}};
    struct map_request requests[] = {{.cycle = 20}, {.cycle = 21, .pod.uid = STR(UID_1)}};
    struct map_result results[] = {{.cycle = 20, .feasible = 4, .nodes = 4, .best_node = STR("n1")},
                                   {.cycle = 21, .nodes = 4, .reasons = {1, reasons}}};
    const struct message first = attempt(1),
                         batch = {.type = MSG_map_batch,
                                  .map_batch = {.cycle = 20, .requests = {2, requests}}},
                         done = {.type = MSG_map_batch_result,
                                 .map_batch_result = {
                                     .cycle = 20, .placed = 1, .results = {2, results}}};
    bench_open(&b, (struct story_options){0}, NULL);
    say(&b, 0, "queue>scheduler", &first);
    say(&b, 10, "scheduler>worker-0", &batch);
    say(&b, 20, "worker-0>scheduler", &done);
    assert_int_equal(next(&b, ALL), STORY_attempt);
    assert_non_null(strstr(b.out.at, "asks about 2 pods in turn, this is number 2\n"));
    assert_non_null(strstr(b.out.at, "0 of 4 nodes fit: 4 Insufficient memory\n"));
    bench_close(&b);
}

/* Every message there is, with anything in it, has words. */
static void whatever_is_said_has_words(void **state)
{
    (void)state;
    uint64_t seed = 19;
    struct arena arena = {0};
    struct buffer out = {0};
    struct tap_filter filter = {.pod_uid = STR(UID_1)};
    for (int round = 0; round < 20; round++)
        for (int type = 1; type < MSG_COUNT; type++) {
            struct message m = {.type = (enum message_type)type};
            struct brief brief = {.filter = &filter, .nodes = round % 2 == 0};
            if (message_info[type].record == NULL)
                continue;
            arena_reset(&arena);
            buffer_reset(&out);
            codec_fill(message_info[type].record, message_body(&m), &seed, &arena);
            brief_print(&brief, &m, &out);
            assert_true(out.len < 1u << 20);
        }
    arena_free(&arena);
    buffer_free(&out);
}

/* ---- recordings with a filter ---- */

/* What the live tap does with one frame. */
static void record(struct bench *b, FILE *file, int64_t at, const char *way,
                   const struct message *m)
{
    struct str tapped = mirror(b, at, way, m);
    if (tap_view_take(&b->view, tapped))
        assert_true(recording_add(file, tapped, tap_view_missed_before(&b->view)));
}

static uint64_t missed_of(const char *path)
{
    char error[256];
    struct buffer tapped = {0};
    struct tap_view view;
    uint32_t missed;
    tap_view_init(&view);
    FILE *file = recording_open(path, &view.told, error, sizeof(error));
    while (recording_next(file, view.told, &tapped, &missed) == RECORDING_frame) {
        tap_view_count_missed(&view, missed);
        if (tapped.len > 0)
            (void)tap_view_take(&view, buffer_str(&tapped));
    }
    uint64_t all = view.missed;
    fclose(file);
    tap_view_free(&view);
    buffer_free(&tapped);
    return all;
}

static void what_was_not_asked_for_is_no_loss(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        char path[] = "/tmp/berth-recording-XXXXXX", error[256];
        int fd = mkstemp(path);
        struct bench b;
        close(fd);
        bench_open(&b, (struct story_options){0}, "message != pod_set");
        b.view.filter.query_marks = false;
        FILE *file = recording_create(path, error, sizeof(error));
        for (int i = 0; i < 5; i++) {
            const struct message first = attempt(i);
            record(&b, file, i, "queue>scheduler", &first);
            record(&b, file, i, "queue>scheduler", &other); /* of another pod */
            record(&b, file, i, "queue>scheduler", &set);   /* not what was asked for */
            b.sequence += lost == 1 && i == 2 ? 7 : 0;
        }
        assert_int_equal(b.view.missed, lost * 7);
        assert_true(recording_add(file, (struct str){0}, tap_view_missed_before(&b.view)));
        fclose(file);
        assert_int_equal(missed_of(path), lost * 7);
        unlink(path);
        bench_close(&b);
    }
}

/* ---- names ---- */

static void names_of_processes_and_pods_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
        bool complete, may;
    } cases[] = {
        {"worker-0", "", false, true},
        {"worker-7", "", false, true},
        {"queue", "", false, true},
        {"main", "", false, true},
        {"schedular", "there is no process \"schedular\", did you mean \"scheduler\"?", false,
         false},
        {"elsewhere", "there is no process \"elsewhere\" yet", false, true},
        {"main", "", true, true},
        {"worker-1", "there is no process \"worker-1\", did you mean \"worker-0\"?", true, false},
        {"elsewhere", "there is no process \"elsewhere\"; there are main, worker-0", true, false},
        {"queue", "there is no queue; there are main, worker-0", true, false}};
    struct tap_heard heard = {0};
    struct buffer why = {0};
    tap_heard_add(&heard, str_of("worker-0"));
    tap_heard_add(&heard, str_of("main"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buffer_reset(&why);
        buffer_add(&why, "", 0);
        assert_int_equal(tap_names_process(str_of(cases[i].name), &heard, cases[i].complete, &why),
                         cases[i].may);
        assert_string_equal(why.at, cases[i].why);
    }
    buffer_reset(&why);
    tap_heard_add(&heard, str_of("default/web"));
    tap_names_pod(str_of("default/wbe"), &heard, &why);
    assert_string_equal(why.at, "no message speaks of pod \"default/wbe\", did you mean "
                                "\"default/web\"?");
    buffer_free(&why);
    tap_heard_free(&heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_is_a_block_in_order_of_time),
        cmocka_unit_test(nodes_are_named_on_request),
        cmocka_unit_test(a_block_waits_for_its_end),
        cmocka_unit_test(an_attempt_without_end_or_begin_is_told_as_that),
        cmocka_unit_test(an_attempt_that_is_sent_again_is_the_same),
        cmocka_unit_test(a_long_attempt_is_told_in_parts),
        cmocka_unit_test(a_message_is_told_once),
        cmocka_unit_test(the_time_is_that_of_sending),
        cmocka_unit_test(a_query_chooses_blocks),
        cmocka_unit_test(what_filters_leave_out_still_ends_a_block),
        cmocka_unit_test(a_hole_is_told_where_it_is),
        cmocka_unit_test(as_json_a_block_is_an_object),
        cmocka_unit_test(an_answer_in_a_batch_is_the_pods_own),
        cmocka_unit_test(whatever_is_said_has_words),
        cmocka_unit_test(what_was_not_asked_for_is_no_loss),
        cmocka_unit_test(names_of_processes_and_pods_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
