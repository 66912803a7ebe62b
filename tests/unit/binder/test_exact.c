/* ResourceClaims are put back byte for byte: in protobuf whatever the settings are, in JSON where
 * the server has no protobuf for them, and as a whole where a patch would change what is opaque. */
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"
#include "tests/unit/binder/preemption.h"

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define BINDING "POST " PODS "a/binding"
#define GPU     "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
#define OPAQUE  "{ \"a\":\"&\\u0026\\ud800\", \"n\":[1.0,1e2,12345678901234567890]}"

static struct device_claim user_claim = {.name = TEXT("g"), .claim = TEXT("gpu")};
static struct buffer body;

static int drop(void **state)
{
    (void)state;
    buffer_free(&body);
    return 0;
}

/* The claim, with its devices and who may use it. */
static struct str in_protobuf(const char *user)
{
    buffer_reset(&body);
    size_t raw =
        protobuf_begin(&body, STR_LITERAL("resource.k8s.io/v1"), STR_LITERAL("ResourceClaim"));
    size_t meta = protobuf_open(&body, 1);
    protobuf_put_text(&body, 1, STR_LITERAL("gpu"));
    protobuf_put_text(&body, 3, STR_LITERAL("default"));
    protobuf_put_text(&body, 5, STR_LITERAL("ug"));
    protobuf_put_text(&body, 6, STR_LITERAL("3"));
    protobuf_close(&body, meta);
    size_t spec = protobuf_open(&body, 2);
    protobuf_put_text(&body, 50, STR_LITERAL(OPAQUE));
    protobuf_close(&body, spec);
    size_t status = protobuf_open(&body, 3), allocation = protobuf_open(&body, 1);
    protobuf_put_text(&body, 51, STR_LITERAL(OPAQUE));
    protobuf_close(&body, allocation);
    if (user != NULL) {
        size_t consumer = protobuf_open(&body, 2);
        protobuf_put_text(&body, 5, str_of(user));
        protobuf_close(&body, consumer);
    }
    protobuf_close(&body, status);
    protobuf_close(&body, raw);
    return buffer_str(&body);
}

#define IN_JSON                                                                                    \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"namespace\":\"default\","        \
    "\"uid\":\"ug\",\"resourceVersion\":\"3\"},\"spec\":" OPAQUE ",\"status\":{\"allocation\":{"   \
    "\"x\":" OPAQUE "}"

static void answer(struct world *w, const char *request, struct str with)
{
    world_respond(
        w, request,
        &(struct kube_response){.status = 200, .body = with, .error = "", .retry_after_s = -1});
    world_step(w, 0);
}

static struct world *reserving(void)
{
    struct message m = world_bind("ua", "a", "n1");
    m.bind.device_claims.at = &user_claim;
    m.bind.device_claims.count = 1;
    struct world *w = world_leading();
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static void expect_type(struct world *w, const char *request, const char *type, const char *accept)
{
    struct world_request *r = world_find(w, request);
    if (r == NULL)
        fail_msg("no %s", request);
    if (type != NULL)
        assert_string_equal(r->type, type);
    if (accept != NULL)
        assert_string_equal(r->accept, accept);
    else
        assert_null(r->accept);
}

/* The reader has found the pod in there, and twice what is opaque. */
static void expect_body(struct world *w, const char *request)
{
    struct arena a = {0};
    struct str bytes = world_find(w, request)->bytes;
    struct kube_json *claim = kube_protobuf_parse(bytes, NULL, &a);
    const struct kube_json *users = kube_json_path(claim, "status.reservedFor");
    assert_int_equal(kube_json_count(users), 1);
    assert_true(str_is(kube_json_text(kube_json_get(kube_json_first(users), "uid")), "ua"));
    const char *first = memmem(bytes.at, bytes.len, OPAQUE, sizeof(OPAQUE) - 1);
    assert_non_null(first);
    assert_non_null(
        memmem(first + 1, (size_t)(bytes.at + bytes.len - first - 1), OPAQUE, sizeof(OPAQUE) - 1));
    kube_json_free(&claim);
    arena_free(&a);
}

static void a_claim_goes_back_in_protobuf(void **state)
{
    (void)state;
    struct world *w = reserving();
    expect_type(w, "GET " GPU, NULL, KUBE_ACCEPT_BOTH);
    answer(w, "GET " GPU, in_protobuf(NULL));
    expect_type(w, "PUT " GPU "/status", KUBE_TYPE_PROTOBUF, KUBE_ACCEPT_BOTH);
    expect_body(w, "PUT " GPU "/status");
    answer(w, "PUT " GPU "/status", in_protobuf("ua"));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_server_without_protobuf_for_claims_gets_json(void **state)
{
    (void)state;
    struct world *w = reserving();
    answer(w, "GET " GPU, in_protobuf(NULL));
    reply(w, "PUT " GPU "/status", 415, "{}");
    expect_type(w, "GET " GPU, NULL, NULL);
    answer(w, "GET " GPU, STR_LITERAL(IN_JSON "}}"));
    expect_type(w, "PUT " GPU "/status", KUBE_TYPE_JSON, NULL);
    const char *sent = world_find(w, "PUT " GPU "/status")->body;
    static const char want[] =
        "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\","
        "\"namespace\":\"default\",\"uid\":\"ug\",\"resourceVersion\":\"3\"},"
        "\"spec\":" OPAQUE ",\"status\":{\"allocation\":{\"x\":" OPAQUE ",";
    assert_memory_equal(sent, want, sizeof(want) - 1);
    answer(w, "PUT " GPU "/status", STR_LITERAL("{}"));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* Through a patch the API server changes what is opaque in an allocation, and refuses it. */
static void a_reservation_that_no_patch_takes_back_is_put(void **state)
{
    (void)state;
    static const struct str order[] = {TEXT("ua"), TEXT("default"), TEXT("a"), TEXT("gpu"),
                                       TEXT("ug")};
    for (int uses = 0; uses < 2; uses++) {
        struct message m = {.type = MSG_claim_release,
                            .claim_release = {.what = CLAIM_unreserve,
                                              .uid = order[0],
                                              .namespace_name = order[1],
                                              .name = order[2],
                                              .claim = order[3],
                                              .claim_uid = order[4]}};
        struct world *w = world_leading();
        world_say(w, &m, SCHEDULER);
        world_tick(w);
        reply(w, "PATCH " GPU "/status", 422,
              "{\"kind\":\"Status\",\"message\":\"status.allocation: field is immutable\"}");
        answer(w, "GET " GPU, in_protobuf(uses ? "ua" : "ub"));
        if (uses) {
            struct arena a = {0};
            struct world_request *put = world_find(w, "PUT " GPU "/status");
            struct kube_json *claim = kube_protobuf_parse(put->bytes, NULL, &a);
            assert_int_equal(kube_json_count(kube_json_path(claim, "status.reservedFor")), 0);
            assert_non_null(kube_json_path(claim, "status.allocation"));
            kube_json_free(&claim);
            arena_free(&a);
            answer(w, "PUT " GPU "/status", STR_LITERAL(""));
        }
        assert_null(world_find(w, GPU));
        assert_true(world_heard(w, MSG_claim_released, 0)->claim_released.done);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_goes_back_in_protobuf),
        cmocka_unit_test(a_server_without_protobuf_for_claims_gets_json),
        cmocka_unit_test(a_reservation_that_no_patch_takes_back_is_put),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
