/* Lists that come in pieces: objects are handed on one by one, whatever the page's size, and pages
 * that do not come through get shorter. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/watch/page.h"
#include "proto/kube/watch/reflector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- cutting ---- */

/* What text is cut into from pieces of step bytes, each in brackets; behind it what is left. */
static char *cut(struct str text, uint32_t step)
{
    struct page page = {.max = 4096};
    struct str part;
    struct buffer out = {0};
    enum page_step found = PAGE_more;
    while (text.len > 0 && found <= PAGE_item) {
        struct str piece = {text.at, text.len < step ? text.len : step};
        page_feed(&page, piece);
        while ((found = page_next(&page, &part)) == PAGE_head || found == PAGE_item)
            buffer_print(&out, "%s[%.*s]", found == PAGE_head ? "H" : "I", STR_ARG(part));
        text.at += piece.len;
        text.len -= piece.len;
    }
    if (found > PAGE_item)
        buffer_add_text(&out, found == PAGE_too_long ? "too long" : "malformed");
    else if (page_end(&page, &part))
        buffer_print(&out, "E[%.*s]", STR_ARG(part));
    page_free(&page);
    return out.at;
}

static void expect_cut(const char *text, const char *want)
{
    for (uint32_t step = 1; step <= strlen(text); step++) {
        char *found = cut(str_of(text), step);
        assert_string_equal(found, want);
        memory_free(found);
    }
}

static void a_page_is_cut_wherever_it_is_torn(void **state)
{
    (void)state;
    expect_cut(
        "{\"kind\": \"items\", \"metadata\":{\"x\":[{}],\"continue\":\"a]}\"}, \"items\" : "
        "[ {\"a\":\"]}\\\"\\\\\"} ,{\"b\":[{}]}\n], \"z\":1 } \n",
        "H[{\"kind\": \"items\", \"metadata\":{\"x\":[{}],\"continue\":\"a]}\"}, \"items\" : "
        "[]}]I[{\"a\":\"]}\\\"\\\\\"}]I[{\"b\":[{}]}]"
        "E[{\"kind\": \"items\", \"metadata\":{\"x\":[{}],\"continue\":\"a]}\"}, \"items\" : "
        "[], \"z\":1 }]");
    expect_cut("{\"metadata\":{},\"items\":[]}", "E[{\"metadata\":{},\"items\":[]}]");
    expect_cut("{\"metadata\":{},\"items\":null}", "E[{\"metadata\":{},\"items\":null}]");
    /* As lists of custom resources are: nothing can be told before its end. */
    expect_cut("{\"items\":[{\"a\":[1]},{}],\"metadata\":{\"continue\":\"\"}}",
               "E[{\"items\":[{\"a\":[1]},{}],\"metadata\":{\"continue\":\"\"}}]");
}

static void what_is_no_page_is_refused(void **state)
{
    (void)state;
    expect_cut("[]", "malformed");
    expect_cut("x", "malformed");
    expect_cut("{} {", "malformed");
    expect_cut("{\"metadata\":{},\"items\":[1]}", "malformed");
    expect_cut("{\"metadata\":{},\"items\":[{}],\"x", "H[{\"metadata\":{},\"items\":[]}]I[{}]");
}

/* A list of two, the second of them empty. */
static struct str protobuf_list(struct buffer *out)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("v1"), STR_LITERAL("PodList"));
    size_t meta = protobuf_open(out, 1);
    protobuf_put_text(out, 2, STR_LITERAL("7"));
    protobuf_close(out, meta);
    size_t item = protobuf_open(out, 2);
    for (int i = 0; i < 40; i++)
        protobuf_put_text(out, 9, STR_LITERAL("12345"));
    protobuf_close(out, item);
    buffer_add(out,
               "\x12\0\x18\x80\1\x21"
               "12345678\x2d"
               "1234",
               19); /* and other fields */
    protobuf_close(out, raw);
    buffer_add(out, "\x1a\0\x22\4json", 8);
    return buffer_str(out);
}

static void a_page_in_protobuf_is_cut_wherever_it_is_torn(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct str text = protobuf_list(&out);
    char *whole = cut(text, text.len);
    assert_non_null(strstr(whole, "I[]E["));
    for (uint32_t step = 1; step < text.len; step++) {
        char *found = cut(text, step);
        assert_string_equal(found, whole);
        memory_free(found);
    }
    for (uint32_t len = 0; len < text.len - 8; len++) {
        char *found = cut((struct str){text.at, len}, 7);
        assert_true(found == NULL || strstr(found, "E[") == NULL);
        memory_free(found);
    }
    memory_free(whole);
    buffer_free(&out);
    static const char *const wrong[] = {"kxs", "k8s\0\x1a\4gzip", "k8s\0\x0b", "k8s\0\x12\2\x12\5"};
    static const uint32_t lens[] = {3 + 1, 10, 5, 8};
    for (size_t i = 0; i < 4; i++) {
        char *found = cut((struct str){wrong[i], lens[i]}, 3);
        assert_non_null(strstr(found, "malformed"));
        memory_free(found);
    }
}

static void a_long_item_is_refused_before_it_is_kept(void **state)
{
    (void)state;
    char text[8000] = "{\"metadata\":{},\"items\":[{\"a\":\"";
    memset(text + strlen(text), 'x', 6000);
    char *found = cut(str_of(text), 100);
    assert_string_equal(found, "H[{\"metadata\":{},\"items\":[]}]too long");
    memory_free(found);
    found = cut((struct str){"k8s\0\x12\xff\xff\x7f\x12\xf0\xff\x7f\n", 13}, 100);
    assert_non_null(strstr(found, "too long"));
    memory_free(found);
}

/* ---- the reflector ---- */

struct fixture {
    struct reflector *r;
    struct moment now;
    struct reflector_request request;
    uint64_t listed, begun, ended;
};

static void on_begin(void *context)
{
    ((struct fixture *)context)->begun++;
}

static void on_end(void *context)
{
    ((struct fixture *)context)->ended++;
}

static void on_object(void *context, const struct kube_json *object, bool listed)
{
    assert_true(listed && kube_json_is_object(object));
    ((struct fixture *)context)->listed++;
}

static void on_deleted(void *context, const struct kube_json *object)
{
    (void)context, (void)object;
    fail_msg("nothing was deleted");
}

static int setup_form(void **state, bool protobuf)
{
    struct fixture *f = memory_take(sizeof(*f));
    f->now = (struct moment){1000000000};
    f->r = reflector_new(&(struct reflector_options){.name = "pods",
                                                     .kind = "Pod",
                                                     .path = "/api/v1/pods",
                                                     .field_selector = "",
                                                     .required = true,
                                                     .protobuf = protobuf,
                                                     .page_size = 8,
                                                     .seed = 7,
                                                     .context = f,
                                                     .list_begin = on_begin,
                                                     .object = on_object,
                                                     .deleted = on_deleted,
                                                     .list_end = on_end});
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_form(state, false);
}

static int setup_protobuf(void **state)
{
    return setup_form(state, true);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    reflector_free(&f->r);
    memory_free(f);
    return 0;
}

/* Moves the time to the next request. */
static void next(struct fixture *f)
{
    struct moment at = reflector_deadline(f->r);
    if (!moment_reached(f->now, at))
        f->now = at;
    assert_true(reflector_next(f->r, f->now, &f->request));
}

static void data(struct fixture *f, const char *text)
{
    reflector_data(f->r, f->now, f->request.number, str_of(text));
}

static void ends(struct fixture *f, int status, const char *error, int64_t took_ms)
{
    struct kube_response response = {
        .status = status, .error = error, .retry_after_s = -1, .took = span_of_ms(took_ms)};
    reflector_response(f->r, f->now, f->request.number, &response);
}

static void expect_limit(struct fixture *f, unsigned limit)
{
    char text[64];
    snprintf(text, sizeof(text), "/api/v1/pods?limit=%u", limit);
    assert_memory_equal(f->request.path.at, text, strlen(text));
    assert_true(f->request.path.len == strlen(text) || f->request.path.at[strlen(text)] == '&');
}

#define HEAD(more) "{\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"" more "\"},\"items\":["
#define POD(name)  "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"5\"}}"

static void objects_are_told_before_their_page_has_ended(void **state)
{
    struct fixture *f = *state;
    next(f);
    data(f, "");
    data(f, HEAD("more"));
    assert_int_equal(f->begun, 0);
    data(f, POD("a") "," POD("b") ",{\"metadata\":");
    assert_int_equal(f->begun, 1);
    assert_int_equal(f->listed, 2);
    data(f, "{\"name\":\"c\"}}]}");
    assert_int_equal(f->listed, 3);
    ends(f, 200, "", 10);
    next(f);
    assert_non_null(memmem(f->request.path.at, f->request.path.len, "continue=more", 13));
    data(f, HEAD("") "]}\n");
    ends(f, 200, "", 10);
    assert_int_equal(f->ended, 1);
    assert_int_equal(reflector_status(f->r).version, 9);
}

static void a_page_that_is_cut_off_is_no_page(void **state)
{
    struct fixture *f = *state;
    next(f);
    data(f, HEAD("") POD("a") "]");
    ends(f, 200, "", 10);
    assert_int_equal(f->ended, 0);
    assert_string_equal(reflector_status(f->r).error,
                        "the list of pods is malformed: it ends too early");
    next(f);
    data(f, HEAD("") POD("a") "]}");
    ends(f, 200, "", 10);
    assert_int_equal(f->ended, 1);
}

static void a_list_whose_metadata_comes_last_is_read(void **state)
{
    struct fixture *f = *state;
    next(f);
    data(f, "{\"apiVersion\":\"x/v1\",\"items\":[" POD("a") "," POD("b") "],");
    data(f, "\"metadata\":{\"resourceVersion\":\"4\"}}");
    assert_int_equal(f->listed, 0);
    ends(f, 200, "", 10);
    assert_int_equal(f->listed, 2);
    assert_int_equal(f->ended, 1);
}

/* 300 objects of 1 MiB in one page, as fast as they come. */
static void stream_page(struct fixture *f, struct str before, const struct buffer *item,
                        const char *between, uint32_t count)
{
    reflector_data(f->r, f->now, f->request.number, before);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            data(f, between);
        for (size_t at = 0; at < item->len; at += 256 << 10) {
            size_t left = item->len - at, len = left < 256 << 10 ? left : 256 << 10;
            reflector_data(f->r, f->now, f->request.number,
                           (struct str){item->at + at, (uint32_t)len});
        }
        assert_int_equal(f->listed, i + 1);
    }
}

static void a_page_may_be_of_any_length(void **state)
{
    struct fixture *f = *state;
    struct buffer item = {0};
    buffer_add_text(&item, "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"a\":\"");
    memset(buffer_reserve(&item, 1 << 20), 'x', 1 << 20);
    item.len += 1 << 20;
    buffer_add_text(&item, "\"}}}");
    next(f);
    stream_page(f, STR_LITERAL(HEAD("")), &item, ",", 300);
    data(f, "]}");
    ends(f, 200, "", 1000);
    assert_int_equal(f->ended, 1);
    buffer_free(&item);
}

static void a_page_in_protobuf_may_be_of_any_length(void **state)
{
    struct fixture *f = *state;
    struct buffer item = {0}, head = {0}, list = {0};
    const uint32_t count = 300;
    size_t pod = protobuf_open(&item, 2), meta = protobuf_open(&item, 1);
    protobuf_put_text(&item, 1, STR_LITERAL("a"));
    size_t text = protobuf_open(&item, 12);
    memset(buffer_reserve(&item, 1 << 20), 'x', 1 << 20);
    item.len += 1 << 20;
    item.at[item.len - (1 << 20)] = 0x1a; /* a field of its own that nobody reads */
    item.at[item.len - (1 << 20) + 1] = (char)0xfc;
    item.at[item.len - (1 << 20) + 2] = (char)0xff;
    item.at[item.len - (1 << 20) + 3] = 0x3f;
    protobuf_close(&item, text);
    protobuf_close(&item, meta);
    protobuf_close(&item, pod);
    size_t list_meta = protobuf_open(&list, 1);
    protobuf_put_text(&list, 2, STR_LITERAL("9"));
    protobuf_close(&list, list_meta);
    size_t type = (buffer_add(&head, "k8s\0", 4), protobuf_open(&head, 1));
    protobuf_put_text(&head, 2, STR_LITERAL("PodList"));
    protobuf_close(&head, type);
    buffer_add(&head, "\x12", 1);
    uint64_t length = list.len + (uint64_t)count * item.len;
    for (; length >= 0x80; length >>= 7)
        buffer_add(&head, &(char){(char)(length | 0x80)}, 1);
    buffer_add(&head, &(char){(char)length}, 1);
    buffer_add_str(&head, buffer_str(&list));
    next(f);
    stream_page(f, buffer_str(&head), &item, "", count);
    ends(f, 200, "", 1000);
    assert_int_equal(f->ended, 1);
    assert_true(reflector_status(f->r).protobuf);
    buffer_free(&item);
    buffer_free(&head);
    buffer_free(&list);
}

static void a_page_that_does_not_come_through_gets_shorter(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int status;
        const char *error;
        int64_t took_ms;
        unsigned limit; /* afterwards */
    } failures[] = {{0, "https://a: connection refused", 5, 8},
                    {429, "", 5, 8},
                    {503, "", 5, 8},
                    {0, "https://a: Timeout was reached", 60000, 4},
                    {504, "", 5, 2},
                    {413, "", 5, 1},
                    {500, "", 5, 1}};
    next(f);
    expect_limit(f, 8);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        ends(f, failures[i].status, failures[i].error, failures[i].took_ms);
        next(f);
        expect_limit(f, failures[i].limit);
    }
    /* It broke off on its way: the beginning is told again, and nothing is lost. */
    data(f, HEAD("more") POD("a"));
    ends(f, 200, "https://a: the connection broke", 5);
    next(f);
    expect_limit(f, 1);
    assert_int_equal(f->ended, 0);
    static const unsigned limits[] = {1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        data(f, HEAD("more") POD("b") "]}");
        ends(f, 200, "", 5);
        next(f);
        expect_limit(f, limits[i]);
    }
}

#define TEST(name)          cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_PROTOBUF(name) cmocka_unit_test_setup_teardown(name, setup_protobuf, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_cut_wherever_it_is_torn),
        cmocka_unit_test(what_is_no_page_is_refused),
        cmocka_unit_test(a_page_in_protobuf_is_cut_wherever_it_is_torn),
        cmocka_unit_test(a_long_item_is_refused_before_it_is_kept),
        TEST(objects_are_told_before_their_page_has_ended),
        TEST(a_page_that_is_cut_off_is_no_page),
        TEST(a_list_whose_metadata_comes_last_is_read),
        TEST(a_page_may_be_of_any_length),
        TEST_PROTOBUF(a_page_in_protobuf_may_be_of_any_length),
        TEST(a_page_that_does_not_come_through_gets_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
