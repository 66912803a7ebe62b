/* test_tap_view: lines, filters and holes of `berth tap`, and recordings, without any socket. */
#include "ctl/recording.h"
#include "ctl/tap/names.h"
#include "ctl/tap/view.h"

#include "proto/bus/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define UID_0 "00000000-0000-4000-8000-000000000000"
#define UID_1 "11111111-1111-4111-8111-111111111111"
#define UID_2 "22222222-2222-4222-8222-222222222222"
#define UID_5 "55555555-5555-4555-8555-555555555555"
#define UID_9 "99999999-9999-4999-8999-999999999999"

struct bench {
    struct tap_view view;
    struct buffer body, frame, tapped, line;
    int64_t sequence;
    int64_t sent_us, incarnation; /* of the frames to come */
};

static void bench_open(struct bench *b)
{
    *b = (struct bench){.sequence = 0};
    tap_view_init(&b->view);
}

static void bench_close(struct bench *b)
{
    tap_view_free(&b->view);
    buffer_free(&b->body);
    buffer_free(&b->frame);
    buffer_free(&b->tapped);
    buffer_free(&b->line);
}

/* A frame as process's tap would mirror it. */
static struct str mirror(struct bench *b, const char *process, bool sent, const char *peer,
                         const struct message *m)
{
    struct envelope envelope = {.type = m->type,
                                .link = 3,
                                .term = 2,
                                .generation = 1,
                                .sent_us = b->sent_us,
                                .incarnation = b->incarnation};
    buffer_reset(&b->body);
    codec_encode(message_info[m->type].record, message_body_const(m), &b->body);
    frame_build(&b->frame, &envelope, buffer_str(&b->body));
    struct tapped tapped = {.at_us = 1767225600123456,
                            .process = str_of(process),
                            .instance = str_of(process),
                            .sent = sent,
                            .peer_process = str_of(peer),
                            .peer_instance = str_of(peer),
                            .tap_sequence = ++b->sequence,
                            .frame = buffer_str(&b->frame)};
    buffer_reset(&b->tapped);
    codec_encode(&tapped_record, &tapped, &b->tapped);
    return buffer_str(&b->tapped);
}

static bool shown(struct bench *b, const struct message *m)
{
    return tap_view_take(&b->view, mirror(b, "watcher", true, "queue", m));
}

static const char *line(struct bench *b, bool json)
{
    buffer_reset(&b->line);
    tap_view_print(&b->view, json, &b->line);
    return b->line.at;
}

static const struct message pod_gone = {
    .type = MSG_pod_gone,
    .pod_gone = {.uid = {UID_1, 36}, .namespace_name = {"default", 7}, .name = {"web", 3}}};

static void a_line_says_when_who_to_whom_and_what(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    assert_true(shown(&b, &pod_gone));
    assert_int_equal(strncmp(line(&b, false), "00:00:00.123456 watcher>queue pod_gone ", 39), 0);
    assert_non_null(strstr(b.line.at, "web"));
    assert_int_equal(b.line.at[b.line.len - 1], '\n');
    const char *json = line(&b, true);
    assert_non_null(strstr(json, "\"time\":\"2026-01-01T00:00:00.123456Z\""));
    assert_non_null(strstr(json, "\"from\":\"watcher\",\"to\":\"queue\""));
    assert_non_null(strstr(json, "\"message\":\"pod_gone\",\"term\":2"));
    assert_non_null(strstr(json, "\"uid\":\"" UID_1 "\""));
    bench_close(&b);
}

/* Taps are joined one after the other: what was sent before the sender's was is seen where it
 * arrived, and so is what a new life of the sender sends. */
static void what_a_tap_came_too_late_for_is_shown_where_it_arrived(void **state)
{
    (void)state;
    for (int learned = 0; learned < 2; learned++) {
        struct bench b;
        bench_open(&b);
        b.sent_us = 500;
        if (learned) /* as in the first pass over a recording */
            tap_view_learn(&b.view, mirror(&b, "scheduler", true, "binder", &pod_gone));
        b.sent_us = 400;
        assert_true(tap_view_take(&b.view, mirror(&b, "binder", false, "scheduler", &pod_gone)));
        b.sent_us = 500;
        assert_true(tap_view_take(&b.view, mirror(&b, "scheduler", true, "binder", &pod_gone)));
        assert_false(tap_view_take(&b.view, mirror(&b, "binder", false, "scheduler", &pod_gone)));
        b.sent_us = 600;
        assert_false(tap_view_take(&b.view, mirror(&b, "binder", false, "scheduler", &pod_gone)));
        b.incarnation = 1;
        assert_true(tap_view_take(&b.view, mirror(&b, "binder", false, "scheduler", &pod_gone)));
        bench_close(&b);
    }
}

static bool takes(struct bench *b, const char *process, bool sent, const char *peer,
                  int64_t sent_us)
{
    b->sent_us = sent_us;
    return tap_view_take(&b->view, mirror(b, process, sent, peer, &pod_gone));
}

/* Of two taps either may be heard first. */
static void what_was_shown_where_it_arrived_is_not_shown_again(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct bench b;
        bench_open(&b);
        b.view.filter.both = both;
        assert_true(takes(&b, "binder", false, "scheduler", 400));
        assert_true(takes(&b, "binder", false, "scheduler", 500));
        assert_int_equal(takes(&b, "scheduler", true, "binder", 400), both);
        assert_int_equal(takes(&b, "scheduler", true, "binder", 500), both);
        assert_true(takes(&b, "scheduler", true, "queue", 500)); /* whose tap is not heard yet */
        assert_int_equal(takes(&b, "binder", false, "scheduler", 600), both);
        assert_true(takes(&b, "scheduler", true, "binder", 600));
        b.incarnation = 1;
        assert_true(takes(&b, "scheduler", true, "binder", 300)); /* another life */
        bench_close(&b);
    }
}

/* Each tap is mirrored at its own pace: a recording may have who names the pod by its UID alone
 * before anybody who says which name that is. */
static void a_recording_s_first_pass_learns_uids(void **state)
{
    (void)state;
    const struct message bind = {.type = MSG_bind, .bind = {.uid = {UID_1, 36}}};
    for (int learned = 0; learned < 2; learned++) {
        struct bench b;
        bench_open(&b);
        assert_true(tap_filter_pod(&b.view.filter, "default/web"));
        if (learned)
            tap_view_learn(&b.view, mirror(&b, "watcher", true, "queue", &pod_gone));
        assert_int_equal(tap_view_take(&b.view, mirror(&b, "scheduler", true, "binder", &bind)),
                         learned);
        bench_close(&b);
    }
}

/* What is printed behind the names can be parsed back into the message. */
static void a_line_can_be_parsed_back(void **state)
{
    (void)state;
    struct bench b;
    struct message again = {.type = MSG_pod_gone};
    struct arena arena = {0};
    struct str error;
    bench_open(&b);
    assert_true(shown(&b, &pod_gone));
    const char *at = strstr(line(&b, false), "pod_gone ") + 9;
    struct str text = {at, (uint32_t)strcspn(at, "\n")};
    assert_true(
        codec_parse(message_info[MSG_pod_gone].record, &again.pod_gone, text, &arena, &error));
    assert_true(
        codec_equal(message_info[MSG_pod_gone].record, &again.pod_gone, &pod_gone.pod_gone));
    arena_free(&arena);
    bench_close(&b);
}

static void a_message_between_two_taps_is_shown_once(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    assert_true(tap_view_take(&b.view, mirror(&b, "watcher", true, "queue", &pod_gone)));
    assert_false(tap_view_take(&b.view, mirror(&b, "queue", false, "watcher", &pod_gone)));
    /* Nobody taps the scheduler: what it sent is seen where it arrives. */
    assert_true(tap_view_take(&b.view, mirror(&b, "queue", false, "scheduler", &pod_gone)));
    assert_non_null(strstr(line(&b, false), " scheduler>queue "));
    b.view.filter.both = true;
    assert_true(tap_view_take(&b.view, mirror(&b, "queue", false, "watcher", &pod_gone)));
    bench_close(&b);
}

static void heartbeats_are_shown_when_asked_for(void **state)
{
    (void)state;
    struct bench b;
    struct message beat = {.type = MSG_heartbeat};
    bench_open(&b);
    assert_false(shown(&b, &beat));
    assert_true(tap_filter_message(&b.view.filter, "pod_set,heartbeat"));
    assert_true(shown(&b, &beat));
    assert_false(shown(&b, &pod_gone));
    assert_false(tap_filter_message(&b.view.filter, "pod_set,nonsense"));
    assert_false(tap_filter_message(&b.view.filter, ""));
    bench_close(&b);
}

static void a_process_is_found_on_either_side(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    assert_true(tap_filter_process(&b.view.filter, "queue"));
    assert_true(tap_view_take(&b.view, mirror(&b, "watcher", true, "queue", &pod_gone)));
    assert_true(tap_view_take(&b.view, mirror(&b, "queue", true, "scheduler", &pod_gone)));
    assert_false(tap_view_take(&b.view, mirror(&b, "scheduler", true, "binder", &pod_gone)));
    bench_close(&b);
}

static bool mentions(const char *filter, const struct message *m)
{
    struct bench b;
    bench_open(&b);
    assert_true(tap_filter_pod(&b.view.filter, filter));
    bool found = shown(&b, m);
    bench_close(&b);
    return found;
}

static void a_pod_is_found_however_deep(void **state)
{
    (void)state;
    struct binding under_way[] = {{.uid = str_of(UID_0)}, {.uid = str_of(UID_1)}};
    struct pod other = {
        .uid = str_of(UID_9), .namespace_name = str_of("default"), .name = str_of("db")};
    struct pod web = {
        .uid = str_of(UID_1), .namespace_name = str_of("default"), .name = str_of("web")};
    struct message set = {.type = MSG_pod_set, .pod_set.pod = web};
    struct map_request requests[] = {{.pod = other}, {.pod = web}};
    struct message map = {.type = MSG_map_batch, .map_batch.requests = {2, requests}};
    struct message lead = {.type = MSG_leadership, .leadership.in_flight = {2, under_way}};
    struct message node = {.type = MSG_node_set, .node_set.node.name = str_of("web")};
    const struct message *const all[] = {&pod_gone, &set, &map};
    for (size_t i = 0; i < 3; i++) {
        assert_true(mentions(UID_1, all[i]));
        assert_true(mentions("default/web", all[i]));
        assert_false(mentions("kube-system/web", all[i]));
        assert_false(mentions(UID_2, all[i]));
    }
    assert_true(mentions("default/db", &map));
    assert_true(mentions(UID_1, &lead));
    assert_false(mentions(UID_5, &lead));
    assert_false(mentions("default/web", &node));
    struct tap_filter filter = {0};
    assert_false(tap_filter_pod(&filter, ""));
    assert_false(tap_filter_pod(&filter, "/web"));
    assert_false(tap_filter_pod(&filter, "default/"));
    assert_false(tap_filter_pod(&filter, "web")); /* no UID, so a namespace is missing */
    assert_false(tap_filter_pod(&filter, UID_1 "1"));
    assert_true(tap_filter_pod(&filter, UID_1));
}

/* A message between scheduler and worker, as both taps show it: once. */
static bool told(struct bench *b, bool asks, const struct message *m)
{
    const char *from = asks ? "scheduler" : "worker", *to = asks ? "worker" : "scheduler";
    bool shown_here = tap_view_take(&b->view, mirror(b, from, true, to, m));
    assert_false(tap_view_take(&b->view, mirror(b, to, false, from, m)));
    return shown_here;
}

static void answers_belong_to_the_pod_that_was_asked_about(void **state)
{
    (void)state;
    struct bench b;
    struct pod web = {
        .uid = str_of(UID_1), .namespace_name = str_of("default"), .name = str_of("web")};
    struct pod other = {
        .uid = str_of(UID_9), .namespace_name = str_of("default"), .name = str_of("db")};
    /* the second of a batch says only what is not as in the first */
    struct map_request requests[] = {{.cycle = 20, .pod = other},
                                     {.cycle = 21, .like_former = true, .pod.uid = str_of(UID_1)}};
    const struct message attempt = {.type = MSG_attempt, .attempt.pod = web},
                         ask = {.type = MSG_map_request, .map_request = {.cycle = 7, .pod = web}},
                         ask_other = {.type = MSG_map_request,
                                      .map_request = {.cycle = 8, .pod = other}},
                         said = {.type = MSG_map_result, .map_result.cycle = 7},
                         said_other = {.type = MSG_map_result, .map_result.cycle = 8},
                         batch = {.type = MSG_map_batch,
                                  .map_batch = {.cycle = 20, .requests = {2, requests}}},
                         done = {.type = MSG_map_batch_result, .map_batch_result.cycle = 20};
    bench_open(&b);
    b.view.told = true; /* two taps are numbered as one here */
    tap_view_learn(&b.view, mirror(&b, "worker", true, "scheduler", &pod_gone));
    tap_view_learn(&b.view, mirror(&b, "scheduler", true, "worker", &pod_gone));
    assert_true(tap_filter_pod(&b.view.filter, "default/web"));
    assert_true(tap_view_take(&b.view, mirror(&b, "scheduler", false, "queue", &attempt)));
    assert_true(told(&b, true, &ask));
    assert_false(told(&b, true, &ask_other));
    assert_true(told(&b, false, &said));
    assert_true(told(&b, false, &said)); /* of another worker */
    assert_false(told(&b, false, &said_other));
    assert_true(told(&b, true, &batch));
    assert_true(told(&b, false, &done));
    /* the same number of another scheduler is another question */
    assert_false(tap_view_take(&b.view, mirror(&b, "scheduler-2", false, "worker", &said)));
    bench_close(&b);
}

/* Each process has a tap of its own: an answer may be heard before what it answers. */
static void an_answer_may_come_before_its_question(void **state)
{
    (void)state;
    struct bench b;
    struct str held;
    const struct message ask = {.type = MSG_map_request,
                                .map_request = {.cycle = 7, .pod.uid = str_of(UID_1)}},
                         said = {.type = MSG_map_result, .map_result.cycle = 7};
    bench_open(&b);
    assert_true(tap_filter_pod(&b.view.filter, UID_1));
    assert_false(tap_view_take(&b.view, mirror(&b, "worker", true, "scheduler", &said)));
    assert_true(tap_view_take(&b.view, mirror(&b, "scheduler", true, "worker", &ask)));
    assert_true(tap_view_recall(&b.view, &held));
    assert_non_null(strstr(line(&b, false), " worker>scheduler map_result "));
    assert_false(tap_view_recall(&b.view, &held));
    bench_close(&b);
}

/* The pods of a run are named at its end; then its question and answers are told after all. */
static void a_run_is_told_when_it_turns_out_to_have_had_the_pod(void **state)
{
    (void)state;
    struct bench b;
    struct str earlier;
    struct run_pod pods[] = {{.uid = str_of(UID_1)}};
    struct pod other = {.uid = str_of(UID_9)};
    const struct message run = {.type = MSG_map_run, .map_run.request = {.cycle = 5, .pod = other}},
                         places = {.type = MSG_map_run_result, .map_run_result.cycle = 5},
                         end = {.type = MSG_map_run_end,
                                .map_run_end = {.cycle = 5, .pods = {1, pods}}},
                         end_other = {.type = MSG_map_run_end, .map_run_end.cycle = 5};
    bench_open(&b);
    assert_true(tap_filter_pod(&b.view.filter, UID_1));
    for (int round = 0; round < 2; round++) {
        assert_false(tap_view_take(&b.view, mirror(&b, "scheduler", true, "w1", &run)));
        assert_false(tap_view_take(&b.view, mirror(&b, "scheduler", false, "w1", &places)));
        if (round == 0) {
            assert_false(tap_view_take(&b.view, mirror(&b, "scheduler", true, "w1", &end_other)));
            assert_false(tap_view_recall(&b.view, &earlier));
        }
    }
    assert_true(tap_view_take(&b.view, mirror(&b, "scheduler", true, "w1", &end)));
    assert_true(tap_view_recall(&b.view, &earlier));
    assert_non_null(strstr(line(&b, false), " scheduler>w1 map_run "));
    assert_true(tap_view_recall(&b.view, &earlier));
    assert_non_null(strstr(line(&b, false), " w1>scheduler map_run_result "));
    while (tap_view_recall(&b.view, &earlier)) {
    }
    tap_view_again(&b.view, buffer_str(&b.tapped));
    assert_non_null(strstr(line(&b, false), " map_run_end "));
    bench_close(&b);
}

static void holes_are_counted_for_each_process(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    b.sequence = 100;
    shown(&b, &pod_gone); /* what was before we came is not missed */
    assert_int_equal(b.view.missed, 0);
    b.sequence += 5;
    shown(&b, &pod_gone);
    assert_int_equal(b.view.missed, 5);
    b.sequence = 0; /* another life of the process */
    shown(&b, &pod_gone);
    shown(&b, &pod_gone);
    assert_int_equal(b.view.missed, 5);
    b.sequence = 40;
    tap_view_take(&b.view, mirror(&b, "binder", true, "queue", &pod_gone));
    assert_int_equal(b.view.missed, 5);
    bench_close(&b);
}

static void a_frame_that_cannot_be_decoded_is_still_shown(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    struct tapped tapped = {.instance = str_of("queue"),
                            .at_us = INT64_MAX,
                            .frame = STR_LITERAL("\x01\x81\x01\x11\xc1"),
                            .tap_sequence = 1};
    codec_encode(&tapped_record, &tapped, &b.tapped);
    assert_true(tap_view_take(&b.view, buffer_str(&b.tapped)));
    assert_non_null(strstr(line(&b, false), "?>queue pod_gone undecodable=malformed_body bytes=5"));
    assert_non_null(strstr(line(&b, true), "\"undecodable\":\"malformed_body\""));
    assert_false(tap_view_take(&b.view, STR_LITERAL("no record at all")));
    assert_int_equal(b.view.undecodable, 2);
    bench_close(&b);
}

/* A recording in a file of its own, cut to that length. */
static FILE *recorded(char path[], size_t keep, bool *told)
{
    char error[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    FILE *file = recording_create(path, error, sizeof(error));
    assert_non_null(file);
    assert_true(recording_add(file, STR_LITERAL("first"), 0));
    assert_true(recording_add(file, STR_LITERAL("other"), 3));
    assert_true(recording_add(file, STR_LITERAL(""), 70000));
    fclose(file);
    assert_int_equal(truncate(path, (off_t)keep), 0);
    file = recording_open(path, told, error, sizeof(error));
    assert_non_null(file);
    return file;
}

static void a_recording_gives_back_what_was_put_in(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-recording-XXXXXX", cut[] = "/tmp/berth-recording-XXXXXX";
    struct buffer b = {0};
    uint32_t missed;
    bool told;
    FILE *file = recorded(path, 10 + 8 + 5 + 8 + 5 + 8, &told);
    assert_true(told);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_frame);
    assert_string_equal(b.at, "first");
    assert_int_equal(missed, 0);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_frame);
    assert_int_equal(missed, 3);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_frame);
    assert_int_equal(b.len, 0);
    assert_int_equal(missed, 70000);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_end);
    fclose(file);
    file = recorded(cut, 10 + 8 + 5 + 8 + 3, &told);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_frame);
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_cut);
    fclose(file);
    buffer_free(&b);
    unlink(path);
    unlink(cut);
}

/* Of a recording that says what was missed, jumps are what its filters have left out. */
static void what_filters_left_out_is_not_missed(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b);
    b.view.told = true;
    shown(&b, &pod_gone);
    b.sequence += 5;
    shown(&b, &pod_gone);
    assert_int_equal(b.view.missed, 0);
    tap_view_count_missed(&b.view, 2);
    assert_int_equal(tap_view_missed_before(&b.view), 2);
    assert_int_equal(tap_view_missed_before(&b.view), 0);
    bench_close(&b);
}

static void what_is_no_recording_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-recording-XXXXXX", error[256];
    int fd = mkstemp(path);
    bool told = true;
    uint32_t missed;
    assert_true(write(fd, "BERTHTAP1\n\xff\xff\xff\xff", 14) == 14);
    struct buffer b = {0};
    FILE *file = recording_open(path, &told, error, sizeof(error));
    assert_non_null(file);
    assert_false(told); /* the form of before */
    assert_int_equal(recording_next(file, told, &b, &missed), RECORDING_broken);
    fclose(file);
    assert_int_equal(pwrite(fd, "x", 1, 0), 1);
    assert_null(recording_open(path, &told, error, sizeof(error)));
    assert_non_null(strstr(error, path));
    close(fd);
    unlink(path);
    assert_null(recording_open(path, &told, error, sizeof(error)));
    buffer_free(&b);
}

static void names_of_messages_are_listed_and_suggested(void **state)
{
    (void)state;
    struct buffer text = {0};
    tap_names_list(&text);
    buffer_add(&text, "", 1);
    assert_non_null(strstr(text.at, "\nattempt                  queue > scheduler\n"));
    assert_non_null(strstr(text.at, "\nheartbeat                any > any\n"));
    buffer_reset(&text);
    tap_names_explain("pod_set,atempt,zzz", &text);
    buffer_add(&text, "", 1);
    assert_string_equal(text.at, "there is no message \"atempt\", did you mean \"attempt\"?; there "
                                 "is no message \"zzz\"");
    buffer_reset(&text);
    tap_names_explain("pod_set", &text);
    assert_int_equal(text.len, 0);
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_messages_are_listed_and_suggested),
        cmocka_unit_test(a_line_says_when_who_to_whom_and_what),
        cmocka_unit_test(a_line_can_be_parsed_back),
        cmocka_unit_test(a_message_between_two_taps_is_shown_once),
        cmocka_unit_test(what_a_tap_came_too_late_for_is_shown_where_it_arrived),
        cmocka_unit_test(what_was_shown_where_it_arrived_is_not_shown_again),
        cmocka_unit_test(a_recording_s_first_pass_learns_uids),
        cmocka_unit_test(heartbeats_are_shown_when_asked_for),
        cmocka_unit_test(a_process_is_found_on_either_side),
        cmocka_unit_test(a_pod_is_found_however_deep),
        cmocka_unit_test(answers_belong_to_the_pod_that_was_asked_about),
        cmocka_unit_test(an_answer_may_come_before_its_question),
        cmocka_unit_test(a_run_is_told_when_it_turns_out_to_have_had_the_pod),
        cmocka_unit_test(holes_are_counted_for_each_process),
        cmocka_unit_test(a_frame_that_cannot_be_decoded_is_still_shown),
        cmocka_unit_test(a_recording_gives_back_what_was_put_in),
        cmocka_unit_test(what_filters_left_out_is_not_missed),
        cmocka_unit_test(what_is_no_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
