/* A claim that is to get devices is told together with itself as the API server sent it, whatever
 * it comes in: a list's item or an event, JSON or protobuf. Of all others nothing is added. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/objects/claim_document.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES, PODS, CLAIMS, KINDS, SOURCES = KINDS + 1 };

struct fixture {
    struct watcher *w;
    struct moment now;
    struct outbox out;
    struct arena arena; /* of what came last */
    struct reflector_request asked[SOURCES];
};

static void pump(struct fixture *f)
{
    struct reflector_request r;
    for (size_t i = 0; i < SOURCES; i++)
        if (watcher_next(f->w, f->now, i, &r))
            f->asked[i] = r;
}

static void answer(struct fixture *f, size_t source, struct str body)
{
    struct kube_response r = {.status = 200, .body = body, .error = "", .retry_after_s = -1};
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

static void hear(struct fixture *f, const void *bytes, size_t len)
{
    watcher_data(f->w, f->now, CLAIMS, f->asked[CLAIMS].number, (struct str){bytes, (uint32_t)len});
    pump(f);
}

static int setup(void **state)
{
    static struct kube_resource kinds[KINDS];
    struct fixture *f = memory_take(sizeof(*f));
    struct message m = {.type = MSG_subscribe, .subscribe.credit = 1000};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
    kinds[NODES] = *kube_resource_of(STR_LITERAL("Node"));
    kinds[PODS] = *kube_resource_of(STR_LITERAL("Pod"));
    kinds[CLAIMS] = *kube_resource_of(STR_LITERAL("ResourceClaim"));
    f->now = (struct moment){5000000000};
    f->w = watcher_new(&(struct watcher_options){
        .kinds = kinds, .kind_count = KINDS, .epoch = 7, .seed = 3, .protobuf = true});
    watcher_handle(f->w, f->now, &in, &f->out);
    pump(f);
    answer(f, NODES, STR_LITERAL("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}"));
    answer(f, PODS, STR_LITERAL("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    watcher_free(&f->w);
    outbox_free(&f->out);
    arena_free(&f->arena);
    memory_free(f);
    return 0;
}

/* The document of the claim that is told next. */
static struct str told(struct fixture *f)
{
    const struct resource_claim *found = NULL;
    arena_reset(&f->arena);
    watcher_tick(f->w, f->now, &f->out);
    for (size_t i = 0; i < f->out.count; i++) {
        struct message *m = arena_take(&f->arena, sizeof(*m));
        assert_true(outbox_get(&f->out, i, m, &f->arena));
        if (m->type == MSG_resource_claim_set)
            found = &m->resource_claim_set.resource_claim;
    }
    outbox_reset(&f->out);
    if (found == NULL)
        fail_msg("no claim was told");
    return found->document;
}

static void expect(struct fixture *f, const char *document)
{
    struct str is = told(f);
    if (!str_is(is, document))
        fail_msg("the document is %.*s", STR_ARG(is));
}

#define META(version, more)                                                                        \
    "\"metadata\":{\"name\":\"c\",\"namespace\":\"s\",\"uid\":\"u\",\"resourceVersion\":"          \
    "\"" version "\",\"managedFields\":[{\"f:x\":{}}]" more "}"
#define SPEC   "\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\"}], \"new\":1.0}}"
#define LISTED "\"metadata\":{\"resourceVersion\":\"9\"},\"items\":["
#define KIND   "\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\","
#define OPAQUE                                                                                     \
    "\"spec\":{\"devices\":{\"config\":[{\"opaque\":{\"driver\":\"d\",\"parameters\":{}}}]}}"

static void list_json(struct fixture *f, const char *item)
{
    struct buffer body = {0};
    buffer_print(&body, "{\"kind\":\"ResourceClaimList\",%s%s]}", LISTED, item);
    answer(f, CLAIMS, buffer_str(&body));
    buffer_free(&body);
}

static void event_json(struct fixture *f, const char *object)
{
    struct buffer line = {0};
    buffer_print(&line, "{\"type\":\"MODIFIED\",\"object\":%s}\n", object);
    hear(f, line.at, line.len);
    buffer_free(&line);
}

/* ---- protobuf ---- */

enum { PLAIN, GOING, ALLOCATED, LONG };

/* The claim without its envelope. */
static void put_claim(struct buffer *out, const char *version, int how)
{
    size_t meta = protobuf_open(out, 1);
    protobuf_put_text(out, 1, STR_LITERAL("c"));
    protobuf_put_text(out, 3, STR_LITERAL("s"));
    protobuf_put_text(out, 5, STR_LITERAL("u"));
    protobuf_put_text(out, 6, str_of(version));
    if (how == GOING)
        protobuf_put_time(out, 9, 1000000);
    protobuf_close(out, meta);
    size_t spec = protobuf_open(out, 2);
    protobuf_put_text(out, 50, STR_LITERAL("nobody knows \xff\xfe"));
    for (int i = 0; how == LONG && i < CLAIM_DOCUMENT_MAX / 10; i++)
        protobuf_put_text(out, 51, STR_LITERAL("0123456789"));
    protobuf_close(out, spec);
    if (how != ALLOCATED)
        return;
    size_t status = protobuf_open(out, 3), allocation = protobuf_open(out, 1);
    protobuf_close(out, allocation);
    protobuf_close(out, status);
}

static void put_body(struct buffer *out, const char *kind, struct str message)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("resource.k8s.io/v1"), str_of(kind));
    buffer_add_str(out, message);
    protobuf_close(out, raw);
}

static void list_protobuf(struct fixture *f, int how)
{
    struct buffer list = {0}, body = {0};
    size_t meta = protobuf_open(&list, 1);
    protobuf_put_text(&list, 2, STR_LITERAL("9"));
    protobuf_close(&list, meta);
    size_t item = protobuf_open(&list, 2);
    put_claim(&list, "5", how);
    protobuf_close(&list, item);
    put_body(&body, "ResourceClaimList", buffer_str(&list));
    answer(f, CLAIMS, buffer_str(&body));
    buffer_free(&list);
    buffer_free(&body);
}

static void event_protobuf(struct fixture *f, const char *version, int how)
{
    struct buffer claim = {0}, event = {0};
    put_claim(&claim, version, how);
    protobuf_put_text(&event, 1, STR_LITERAL("MODIFIED"));
    size_t raw = protobuf_open(&event, 2), inner = protobuf_open(&event, 1);
    put_body(&event, "ResourceClaim", buffer_str(&claim));
    protobuf_close(&event, inner);
    protobuf_close(&event, raw);
    unsigned char head[4] = {0, 0, (unsigned char)(event.len >> 8), (unsigned char)event.len};
    hear(f, head, sizeof(head));
    hear(f, event.at, event.len);
    buffer_free(&claim);
    buffer_free(&event);
}

/* What is told is the plain claim of that version in an envelope. */
static void expect_protobuf(struct fixture *f, const char *version)
{
    struct buffer claim = {0}, want = {0}, is = {0};
    put_claim(&claim, version, PLAIN);
    put_body(&want, "ResourceClaim", buffer_str(&claim));
    assert_true(base64_decode(told(f), &is));
    assert_true(str_equal(buffer_str(&is), buffer_str(&want)));
    buffer_free(&claim);
    buffer_free(&want);
    buffer_free(&is);
}

/* ---- the cases ---- */

static void json_is_told_as_it_came(void **state)
{
    struct fixture *f = *state;
    list_json(f, "{" META("5", "") ", " SPEC "}");
    expect(f, "{" KIND META("5", "") ", " SPEC "}"); /* a list leaves that out */
    event_json(f, "{ " KIND META("6", "") "," SPEC ",\"status\":{} }");
    expect(f, "{ " KIND META("6", "") "," SPEC ",\"status\":{} }");
}

static void a_list_may_say_of_its_items_what_they_are(void **state)
{
    struct fixture *f = *state;
    list_json(f, "{" META("5", "") "," KIND SPEC "}");
    expect(f, "{" META("5", "") "," KIND SPEC "}");
}

static void protobuf_is_told_as_it_came(void **state)
{
    struct fixture *f = *state;
    list_protobuf(f, PLAIN);
    expect_protobuf(f, "5");
    event_protobuf(f, "6", PLAIN);
    expect_protobuf(f, "6");
}

static void who_has_devices_or_goes_or_is_long_has_no_document(void **state)
{
    struct fixture *f = *state;
    list_protobuf(f, ALLOCATED);
    expect(f, "");
    event_protobuf(f, "6", GOING);
    expect(f, "");
    event_protobuf(f, "7", LONG);
    expect(f, "");
    event_protobuf(f, "8", PLAIN); /* it has lost them */
    expect_protobuf(f, "8");
    event_protobuf(f, "9", ALLOCATED);
    expect(f, "");
}

static void the_same_in_json(void **state)
{
    struct fixture *f = *state;
    struct buffer padded = {0};
    list_json(f, "{" META("5", "") "," SPEC ",\"status\":{\"allocation\":{}}}");
    expect(f, "");
    event_json(f, "{" KIND META("6", ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"") "}");
    expect(f, "");
    buffer_print(&padded, "{" KIND META("7", "") ",\"x\":\"%*s\"}", CLAIM_DOCUMENT_MAX, "");
    event_json(f, padded.at);
    buffer_free(&padded);
    expect(f, "");
    event_json(f, "{" KIND META("8", "") "," OPAQUE "}"); /* may have been changed already */
    expect(f, "");
}

/* As lists of custom resources are written; it is read, and nobody knows any more how it came. */
static void a_page_that_comes_whole_has_no_documents(void **state)
{
    struct fixture *f = *state;
    answer(f, CLAIMS,
           STR_LITERAL("{\"items\":[{" META("5", "") "}],"
                                                     "\"metadata\":{\"resourceVersion\":\"9\"}}"));
    expect(f, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(json_is_told_as_it_came),
        TEST(a_list_may_say_of_its_items_what_they_are),
        TEST(protobuf_is_told_as_it_came),
        TEST(who_has_devices_or_goes_or_is_long_has_no_document),
        TEST(the_same_in_json),
        TEST(a_page_that_comes_whole_has_no_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
