/* A claim that comes with its bind is written without being read before, in JSON and in protobuf.
 * Whatever is wrong with it, it is then read, and that alone is judged. */
#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"
#include "tests/unit/binder/preemption.h"

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define BINDING "POST " PODS "a/binding"
#define GPU     "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
#define KEEP    "resource.kubernetes.io/delete-protection"
#define META(uid, version, more)                                                                   \
    "\"metadata\":{\"name\":\"gpu\",\"namespace\":\"default\",\"uid\":\"" uid                      \
    "\",\"resourceVersion\":\"" version "\"" more "}"
#define CLAIM(meta, status) "{\"kind\":\"ResourceClaim\"," meta ",\"n\":1.0" status "}"
#define KEPT                ",\"finalizers\":[\"" KEEP "\"]"
#define OLD                 CLAIM(META("ug", "3", ""), "")
#define OLD_KEPT            CLAIM(META("ug", "3", KEPT), "")
#define NEW                 CLAIM(META("ug", "4", ""), "")
#define NEW_KEPT            CLAIM(META("ug", "5", KEPT), "")
#define GIVEN(device)                                                                              \
    ",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\","  \
    "\"pool\":\"p\",\"device\":\"" device "\"}]}}}"

static struct buffer text;

static int drop(void **state)
{
    (void)state;
    buffer_free(&text);
    return 0;
}

/* A bind of pod a, whose claim is given device v and has come as this. */
static struct world *asking_about(struct str document, uint32_t configs)
{
    static struct device_claim user_claim = {.name = TEXT("g"), .claim = TEXT("gpu")};
    static struct opaque_config config = {.driver = TEXT("d"), .parameters = TEXT("{}")};
    static struct allocated_device device = {
        .request = TEXT("r"), .driver = TEXT("d"), .pool = TEXT("p"), .device = TEXT("v")};
    struct device_allocation allocation = {.claim = TEXT("gpu"),
                                           .uid = TEXT("ug"),
                                           .devices = {1, &device},
                                           .config = {configs, &config},
                                           .document = document};
    struct message m = world_bind("ua", "a", "n1");
    m.bind.device_claims.at = &user_claim;
    m.bind.device_claims.count = 1;
    m.bind.allocations.at = &allocation;
    m.bind.allocations.count = 1;
    struct world *w = world_leading();
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static struct world *asking(const char *document)
{
    return asking_about(str_of(document), 0);
}

static bool has(struct world *w, const char *request, const char *part)
{
    const struct world_request *r = world_find(w, request);
    return r != NULL && memmem(r->bytes.at, r->bytes.len, part, strlen(part)) != NULL;
}

static void expect(struct world *w, const char *request, const char *part)
{
    if (!has(w, request, part))
        fail_msg("no %s in %s", part, request);
}

static void bound(struct world *w)
{
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    assert_int_equal(world_result(w)->allocated.count, 1);
    world_free(w);
}

/* It is read, found to be new and written as ever. */
static void read_and_written(struct world *w)
{
    assert_int_equal(world_count(w, "resourceclaims"), 1);
    reply(w, "GET " GPU, 200, NEW);
    expect(w, "PUT " GPU, "\"resourceVersion\":\"4\"");
    reply(w, "PUT " GPU, 200, NEW_KEPT);
    expect(w, "PUT " GPU "/status", "\"resourceVersion\":\"5\"");
    reply(w, "PUT " GPU "/status", 200, "{}");
    bound(w);
}

/* ---- it is as it was told ---- */

static void a_claim_that_is_known_is_not_read(void **state)
{
    (void)state;
    struct world *w = asking(OLD);
    assert_int_equal(world_count(w, "resourceclaims"), 1);
    expect(w, "PUT " GPU, "{\"kind\":\"ResourceClaim\"," META("ug", "3", KEPT) ",\"n\":1.0}");
    assert_string_equal(world_find(w, "PUT " GPU)->type, KUBE_TYPE_JSON);
    reply(w, "PUT " GPU, 200, NEW_KEPT);
    expect(w, "PUT " GPU "/status", "\"device\":\"v\"");
    expect(w, "PUT " GPU "/status", "\"uid\":\"ua\"");
    reply(w, "PUT " GPU "/status", 200, "{}");
    bound(w);
}

static void one_that_has_its_finalizer_is_written_once(void **state)
{
    (void)state;
    struct world *w = asking(OLD_KEPT);
    assert_int_equal(world_count(w, "resourceclaims"), 1);
    expect(w, "PUT " GPU "/status", META("ug", "3", KEPT));
    expect(w, "PUT " GPU "/status", "\"device\":\"v\"");
    reply(w, "PUT " GPU "/status", 200, "{}");
    bound(w);
}

static struct str in_protobuf(bool kept)
{
    struct buffer body = {0};
    size_t raw =
        protobuf_begin(&body, STR_LITERAL("resource.k8s.io/v1"), STR_LITERAL("ResourceClaim"));
    size_t meta = protobuf_open(&body, 1);
    protobuf_put_text(&body, 1, STR_LITERAL("gpu"));
    protobuf_put_text(&body, 3, STR_LITERAL("default"));
    protobuf_put_text(&body, 5, STR_LITERAL("ug"));
    protobuf_put_text(&body, 6, STR_LITERAL("3"));
    if (kept)
        protobuf_put_text(&body, 14, STR_LITERAL(KEEP));
    protobuf_close(&body, meta);
    protobuf_put_text(&body, 50, STR_LITERAL("nobody knows \xff\xfe"));
    protobuf_close(&body, raw);
    buffer_reset(&text);
    base64_encode(buffer_str(&body), &text);
    buffer_free(&body);
    return buffer_str(&text);
}

static void protobuf_goes_as_protobuf(void **state)
{
    (void)state;
    for (uint32_t configs = 0; configs < 2; configs++) {
        struct world *w = asking_about(in_protobuf(false), configs);
        assert_int_equal(world_count(w, "resourceclaims"), 1);
        assert_string_equal(world_find(w, "PUT " GPU)->type, KUBE_TYPE_PROTOBUF);
        assert_string_equal(world_find(w, "PUT " GPU)->accept, KUBE_ACCEPT_BOTH);
        expect(w, "PUT " GPU, KEEP);
        expect(w, "PUT " GPU, "nobody knows \xff\xfe");
        reply(w, "PUT " GPU, 200, NEW_KEPT);
        reply(w, "PUT " GPU "/status", 200, "{}");
        bound(w);
    }
    struct world *w = asking_about(in_protobuf(true), 0);
    assert_string_equal(world_find(w, "PUT " GPU "/status")->type, KUBE_TYPE_PROTOBUF);
    reply(w, "PUT " GPU "/status", 200, "{}");
    bound(w);
}

/* ---- it is not ---- */

static void what_is_no_document_is_read(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "",
        "{",
        "{}",
        "?",
        "azhzAA==",                        /* an envelope without anything */
        "eyJrI",                           /* torn */
        CLAIM(META("other", "3", ""), ""), /* another one of that name */
        CLAIM(META("", "3", ""), ""),      /* any */
        CLAIM("\"metadata\":{\"name\":\"gpu\",\"uid\":\"ug\"}",
              ""), /* without a version nothing would be refused */
        CLAIM(META("ug", "x", ""), ""),
        CLAIM(META("ug", "3", ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\""), ""),
        CLAIM(META("ug", "3", KEPT), GIVEN("v")),
        CLAIM(META("ug", "3", KEPT), GIVEN("other")),
    };
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        read_and_written(asking(documents[i]));
    /* through JSON the API server would change what is opaque */
    read_and_written(asking_about(STR_LITERAL(OLD), 1));
}

static void what_the_server_refuses_is_read(void **state)
{
    (void)state;
    static const int statuses[] = {400, 403, 404, 409, 422};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct world *w = asking(OLD);
        reply(w, "PUT " GPU, statuses[i], "{}");
        read_and_written(w);
        w = asking(OLD_KEPT);
        reply(w, "PUT " GPU "/status", statuses[i], "{}");
        read_and_written(w);
    }
}

/* What is read after that decides. */
static void a_claim_that_was_given_away_is_refused(void **state)
{
    (void)state;
    struct world *w = asking(OLD);
    reply(w, "PUT " GPU, 409, "{}");
    reply(w, "GET " GPU, 200, CLAIM(META("ug", "4", KEPT), GIVEN("other")));
    const struct bind_result *result = world_result(w);
    assert_false(result->bound);
    assert_true(
        str_is(result->message, "claim default/gpu got allocated elsewhere in the meantime"));
    assert_int_equal(result->allocated.count, 0);
    world_free(w);
    w = asking(OLD);
    reply(w, "PUT " GPU, 404, "{}");
    reply(w, "GET " GPU, 404, "{}");
    assert_false(world_result(w)->bound);
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

static void wait_a_while(struct world *w)
{
    for (int i = 0; i < 30; i++) {
        world_step(w, 100);
        if (world_find(w, "PUT /apis/coordination") != NULL)
            world_accept_lease(w, "PUT /apis/coordination");
    }
}

/* Nobody knows whether it was written: it is found, and not given twice. */
static void a_lost_answer_is_looked_for(void **state)
{
    (void)state;
    struct world *w = asking(OLD_KEPT);
    world_lose(w, "PUT " GPU "/status", true);
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    wait_a_while(w);
    reply(w, "GET " GPU, 200,
          CLAIM(META("ug", "4", KEPT),
                ",\"status\":{\"reservedFor\":[{\"uid\":\"ua\"}],\"allocation\":{\"devices\":{"
                "\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":"
                "\"v\"}]}}}"));
    bound(w);
    w = asking(OLD);
    world_lose(w, "PUT " GPU, true);
    wait_a_while(w);
    read_and_written(w);
}

static void a_server_that_is_busy_is_asked_later(void **state)
{
    (void)state;
    struct world *w = asking(OLD);
    reply(w, "PUT " GPU, 429, "{}");
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    wait_a_while(w);
    read_and_written(w);
}

static void a_server_without_protobuf_is_told_in_json(void **state)
{
    (void)state;
    struct world *w = asking_about(in_protobuf(false), 0);
    reply(w, "PUT " GPU, 415, "{}");
    assert_null(world_find(w, "GET " GPU)->accept);
    read_and_written(w);
}

/* It is not known to be there, and nothing of it was written. */
static void a_bind_that_is_cancelled_leaves_nothing(void **state)
{
    (void)state;
    struct message m = {.type = MSG_bind_cancel,
                        .bind_cancel = {.uid = TEXT("ua"), .node_name = TEXT("n1")}};
    struct world *w = asking(OLD);
    world_say(w, &m, SCHEDULER);
    reply(w, "PUT " GPU, 200, NEW_KEPT);
    wait_a_while(w);
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    assert_false(world_result(w)->bound);
    assert_int_equal(world_result(w)->allocated.count, 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_that_is_known_is_not_read),
        cmocka_unit_test(one_that_has_its_finalizer_is_written_once),
        cmocka_unit_test(protobuf_goes_as_protobuf),
        cmocka_unit_test(what_is_no_document_is_read),
        cmocka_unit_test(what_the_server_refuses_is_read),
        cmocka_unit_test(a_claim_that_was_given_away_is_refused),
        cmocka_unit_test(a_lost_answer_is_looked_for),
        cmocka_unit_test(a_server_that_is_busy_is_asked_later),
        cmocka_unit_test(a_server_without_protobuf_is_told_in_json),
        cmocka_unit_test(a_bind_that_is_cancelled_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
