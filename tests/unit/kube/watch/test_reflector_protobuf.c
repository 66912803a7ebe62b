/* test_reflector_protobuf: the same lists and watches when the server answers in protobuf, and how
 * it goes on in JSON where one does not. */
#include "tests/unit/kube/watch/watched.h"

#include "proto/kube/documents/protobuf_put.h"

static int setup_protobuf(void **state)
{
    *state = make(true, true);
    return 0;
}

static void put_envelope(struct buffer *out, const char *kind, const struct buffer *message)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("v1"), str_of(kind));
    buffer_add_str(out, buffer_str(message));
    protobuf_close(out, raw);
}

static void put_pod(struct buffer *out, const char *name, const char *version)
{
    size_t meta = protobuf_open(out, 1);
    protobuf_put_text(out, 1, str_of(name));
    protobuf_put_text(out, 6, str_of(version));
    protobuf_close(out, meta);
}

/* A page of one pod. */
static void answer_page(struct fixture *f, const char *version, const char *more, const char *name)
{
    struct buffer list = {0}, body = {0};
    size_t meta = protobuf_open(&list, 1);
    protobuf_put_text(&list, 2, str_of(version));
    protobuf_put_text(&list, 3, str_of(more));
    protobuf_close(&list, meta);
    size_t item = protobuf_open(&list, 2);
    put_pod(&list, name, "5");
    protobuf_close(&list, item);
    put_envelope(&body, "PodList", &list);
    struct kube_response response = {.status = 200, .body = buffer_str(&body), .error = ""};
    reflector_response(f->r, f->now, f->request.number, &response);
    buffer_free(&list);
    buffer_free(&body);
}

/* An event's frame in pieces of so many bytes. */
static void stream_event(struct fixture *f, const char *type, const char *kind,
                         const struct buffer *object, uint32_t piece)
{
    struct buffer event = {0}, frame = {0};
    protobuf_put_text(&event, 1, str_of(type));
    size_t raw = protobuf_open(&event, 2), inner = protobuf_open(&event, 1);
    put_envelope(&event, kind, object);
    protobuf_close(&event, inner);
    protobuf_close(&event, raw);
    unsigned char head[4] = {0, 0, (unsigned char)(event.len >> 8), (unsigned char)event.len};
    buffer_add(&frame, head, 4);
    buffer_add_str(&frame, buffer_str(&event));
    for (uint32_t at = 0; at < frame.len; at += piece) {
        uint32_t left = (uint32_t)frame.len - at;
        reflector_data(f->r, f->now, f->request.number,
                       (struct str){frame.at + at, left < piece ? left : piece});
    }
    buffer_free(&event);
    buffer_free(&frame);
}

static void stream_pod(struct fixture *f, const char *type, const char *name, const char *version,
                       uint32_t piece)
{
    struct buffer pod = {0};
    put_pod(&pod, name, version);
    stream_event(f, type, "Pod", &pod, piece);
    buffer_free(&pod);
}

static void assert_accepts(struct fixture *f, const char *types)
{
    assert_string_equal(f->request.accept, types);
}
#define BOTH "application/vnd.kubernetes.protobuf,application/json;q=0.9"

static void watch_protobuf(struct fixture *f)
{
    assert_true(next(f));
    assert_accepts(f, BOTH);
    answer_page(f, "10", "", "a");
    assert_true(next(f));
    assert_watch_from(f, "10");
    assert_accepts(f, BOTH);
    assert_told(f, "[ =a ]");
}

static void lists_and_watches_may_be_protobuf(void **state)
{
    for (uint32_t piece = 1; piece < 100; piece += 7) {
        struct fixture *f = make(true, true);
        assert_true(next(f));
        answer_page(f, "10", "more", "a");
        assert_true(next(f));
        assert_non_null(strstr(f->path, "continue=more"));
        answer_page(f, "11", "", "b");
        assert_true(next(f));
        assert_watch_from(f, "10");
        stream_pod(f, "ADDED", "c", "12", piece);
        stream_pod(f, "MODIFIED", "c", "13", piece);
        stream_pod(f, "DELETED", "c", "14", piece);
        stream_pod(f, "BOOKMARK", "", "20", piece);
        assert_told(f, "[ =a =b ] +c +c -c");
        struct reflector_status s = reflector_status(f->r);
        assert_true(s.protobuf && s.version == 20 && s.events == 3 && s.bookmarks == 1);
        reflector_free(&f->r);
        memory_free(f);
    }
    (void)state;
}

static void who_asks_for_protobuf_reads_json_as_well(void **state)
{
    struct fixture *f = *state;
    watch(f);
    stream(f, "\n" EVENT("ADDED", "b", "11"));
    assert_told(f, "+b");
    assert_false(reflector_status(f->r).protobuf);
    answer(f, 200, "");
    assert_true(next(f)); /* the next server may be another one */
    assert_accepts(f, BOTH);
    stream_pod(f, "ADDED", "c", "12", 100);
    assert_told(f, "+c");
}

static void an_error_event_in_protobuf_lists_again(void **state)
{
    struct fixture *f = *state;
    struct buffer status = {0};
    watch_protobuf(f);
    protobuf_put_text(&status, 3, STR_LITERAL("too old"));
    protobuf_put_number(&status, 6, 410);
    stream_event(f, "ERROR", "Status", &status, 1000);
    buffer_free(&status);
    assert_true(next(f));
    assert_list_starts(f);
    assert_accepts(f, BOTH);
}

static void a_failure_in_protobuf_says_why(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    static const char body[] = "k8s\0\x0a\x0c\x0a\2v1\x12\6Status\x12\5\x1a\3why";
    struct kube_response response = {
        .status = 500, .body = {body, sizeof(body) - 1}, .error = "", .retry_after_s = -1};
    reflector_response(f->r, f->now, f->request.number, &response);
    assert_error(f, "cannot list pods: HTTP 500: why");
}

static void protobuf_that_is_malformed_is_asked_for_no_more(void **state)
{
    struct fixture *f = *state;
    watch_protobuf(f);
    reflector_data(f->r, f->now, f->request.number, STR_LITERAL("\0\0\0\2\x0a\5"));
    assert_int_equal(reflector_status(f->r).malformed, 1);
    assert_true(next(f));
    assert_list_starts(f);
    assert_accepts(f, "application/json");
    answer(f, 200, LIST("12", "", OBJECT("a", "5")));
    assert_true(next(f));
    assert_accepts(f, "application/json");
    stream(f, EVENT("ADDED", "b", "13"));
    assert_told(f, "[ =a ] +b");
}

static void a_malformed_list_in_protobuf_is_asked_for_in_json(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    struct kube_response response = {.status = 200, .body = STR_LITERAL("k8s\0?"), .error = ""};
    reflector_response(f->r, f->now, f->request.number, &response);
    wait_for_next(f);
    assert_list_starts(f);
    assert_accepts(f, "application/json");
    assert_told(f, "");
}

static void a_server_that_does_not_do_protobuf_is_asked_for_json(void **state)
{
    struct fixture *f = *state;
    assert_true(next(f));
    refuse(f, 406, -1);
    wait_for_next(f);
    assert_accepts(f, "application/json");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_protobuf, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(lists_and_watches_may_be_protobuf),
        TEST(who_asks_for_protobuf_reads_json_as_well),
        TEST(an_error_event_in_protobuf_lists_again),
        TEST(a_failure_in_protobuf_says_why),
        TEST(protobuf_that_is_malformed_is_asked_for_no_more),
        TEST(a_malformed_list_in_protobuf_is_asked_for_in_json),
        TEST(a_server_that_does_not_do_protobuf_is_asked_for_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
